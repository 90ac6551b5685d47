//! How it is known which RRsets zonewright created, and the form of the TXT that say so. Pure.
//!
//! Comes in: `owner`, `registry` and the forms of names, as zonewright.toml and its pools set them. Goes out: the names of TXT,
//! and who the texts in them name. The TXT are those of external-dns, so that each of the two tools knows the other's records.

use crate::dns::{Rdata, RdataRef, Rtype};
use crate::document::words;

mod form;
mod label;
mod sealed;

pub use form::{AffixFault, MarkAffix, MarkForm};
pub use label::MarkLabels;
pub use sealed::TxtKey;

words! {
    /// How it is known which RRsets zonewright created.
    Registry {
        /// The state keeps them.
        Journal = "journal",
        /// A TXT record for each of them.
        Txt = "txt",
        /// Every RRset counts as own.
        Noop = "noop",
    }
}

/// How own RRsets are known, in the zones of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marking {
    /// Who we are, as the TXT say.
    pub owner: String,
    /// How own RRsets are known.
    pub registry: Registry,
    /// Where the TXT are.
    pub form: MarkForm,
    /// The key of TXT that external-dns encrypted; none where there are none to be read.
    pub key: Option<TxtKey>,
}

impl Marking {
    /// What a TXT says, also where it is encrypted with the key; none where it is of another kind.
    pub fn labels(&self, rdata: RdataRef<'_>) -> Option<MarkLabels> {
        MarkLabels::read_with(rdata, self.key.as_ref())
    }

    /// Whether a TXT may be one that external-dns encrypted, with another key than this one.
    pub fn is_unreadable(&self, rdata: RdataRef<'_>) -> bool {
        let text = rdata.strings().collect::<Vec<_>>().concat();
        self.labels(rdata).is_none() && sealed::may_be_sealed(label::unquoted(&text))
    }

    /// Whether the TXT at a name of the registry say that an RRset is ours, and none names another owner; none where no TXT
    /// there names an owner.
    pub fn is_ours(&self, records: &[Rdata]) -> Option<bool> {
        let mut said = records.iter().filter_map(|rdata| self.labels(rdata.as_rdata(Rtype::TXT))).peekable();
        said.peek()?;
        Some(said.all(|labels| labels.owner() == self.owner))
    }
}

#[cfg(test)]
impl Marking {
    /// Marks of an owner, in the form that is the default.
    pub fn sample(owner: &str, registry: Registry) -> Marking {
        Marking { owner: owner.to_owned(), registry, form: MarkForm::default(), key: None }
    }
}
