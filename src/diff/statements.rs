//! Which manifest or zone file claims which RRset, as applies noted it; and what an apply notes anew. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::dns::{Name, Rtype, rtype_text};

/// What is noted in the place of a manifest or zone file: an RRset was taken over from another owner.
pub const ADOPTED: &str = "adopted";

/// That a manifest or zone file claims an RRset.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RrsetStatement {
    /// What claims it: `SOURCE/NAMESPACE/NAME` of a manifest, `SOURCE/ZONE` of a zone file; or [`ADOPTED`].
    pub by: String,
    /// Whether it is claimed from now on, or no longer.
    pub is_kept: bool,
    /// The owner name.
    pub name: Name,
    /// The type.
    #[serde(rename = "type", with = "rtype_text")]
    pub rtype: Rtype,
}

/// What claims each RRset, as applies noted it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptStatements(BTreeMap<(Name, Rtype), BTreeSet<String>>);

impl KeptStatements {
    /// Each RRset with all that claims it, sorted by name and type.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, Rtype, &BTreeSet<String>)> {
        self.0.iter().map(|((name, rtype), by)| (name, *rtype, by))
    }

    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether anything is noted to claim an RRset.
    pub fn has_any(&self, name: &Name, rtype: Rtype) -> bool {
        self.0.contains_key(&(name.clone(), rtype))
    }

    /// Whether this is noted to claim an RRset.
    pub fn has(&self, name: &Name, rtype: Rtype, by: &str) -> bool {
        self.0.get(&(name.clone(), rtype)).is_some_and(|known| known.contains(by))
    }
}

impl FromIterator<(Name, Rtype, String)> for KeptStatements {
    fn from_iter<T: IntoIterator<Item = (Name, Rtype, String)>>(rows: T) -> KeptStatements {
        let mut kept = KeptStatements::default();
        for (name, rtype, by) in rows {
            kept.0.entry((name, rtype)).or_default().insert(by);
        }
        kept
    }
}
