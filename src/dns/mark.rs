//! Whose an RRset is, as its target notes it at the RRset itself. Pure.

use serde::{Deserialize, Serialize};

/// What a target keeps with an RRset, next to its records: who owns it. No name server answers with it.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RrsetMark {
    /// The owner; never empty.
    pub owner: String,
    /// What it was made for, such as `crd/NAMESPACE/NAME` for a manifest, in the words of external-dns; none where nothing says it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::document::present")]
    pub resource: Option<String>,
}

impl RrsetMark {
    /// The mark of an owner, without more.
    pub fn of(owner: &str) -> RrsetMark {
        RrsetMark { owner: owner.to_owned(), resource: None }
    }

    /// The same of another owner.
    pub fn of_owner(&self, owner: &str) -> RrsetMark {
        RrsetMark { owner: owner.to_owned(), ..self.clone() }
    }
}
