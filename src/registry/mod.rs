//! How it is known which RRsets zonewright created, and the form of the TXT that say so. Pure.
//!
//! Comes in: `owner`, `registry` and the forms of names, as zonewright.toml and its pools set them. Goes out: the names of TXT,
//! and who the texts in them name. The TXT are those of external-dns, so that each of the two tools knows the other's records.

use crate::document::words;

mod form;
mod label;

pub use form::{AffixFault, MarkAffix, MarkForm};
pub use label::{MarkLabels, names_owner};

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
}

#[cfg(test)]
impl Marking {
    /// Marks of an owner, in the form that is the default.
    pub fn sample(owner: &str, registry: Registry) -> Marking {
        Marking { owner: owner.to_owned(), registry, form: MarkForm::default() }
    }
}
