//! How it is known which RRsets zonewright created, and the form of the TXT that say so. Pure.
//!
//! Comes in: `owner`, `registry` and the forms of names, as zonewright.toml and its pools set them. Goes out: the names of TXT,
//! and who the texts in them name. The TXT are those of external-dns, so that each of the two tools knows the other's records.

use crate::dns::{Rdata, RdataRef, RrsetMark, Rtype};
use crate::document::words;
use crate::target::MarkPlace;

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
        /// The metadata of each of them.
        Metadata = "metadata",
        /// The description of each of them.
        Description = "description",
        /// The owner of their keys.
        Owner = "owner",
    }
}

impl Registry {
    /// Where the targets of a pool keep the marks of RRsets with the RRsets; none where the registry is elsewhere.
    pub fn mark_place(self) -> Option<MarkPlace> {
        match self {
            Registry::Metadata => Some(MarkPlace::Metadata),
            Registry::Description => Some(MarkPlace::Description),
            Registry::Owner => Some(MarkPlace::Owner),
            Registry::Journal | Registry::Txt | Registry::Noop => None,
        }
    }

    /// Whether TXT next to RRsets may say whose they are: where keys have owners, those that external-dns wrote.
    pub fn reads_texts(self) -> bool {
        matches!(self, Registry::Txt | Registry::Owner)
    }
}

/// The longest owner, in octets, so that `heritage=external-dns,external-dns/owner=OWNER` fits one string of a TXT (RFC
/// 1035 section 3.3: 255 octets) with room for what external-dns appends.
const MAX_OWNER: usize = 100;

/// What an owner is, as the end of a sentence about a text that is none.
pub const OWNER_RULE: &str =
    "an owner has 1 to 100 bytes without commas, equals signs, quotes, backslashes, blanks and control characters";

/// Whether a text can be an owner: it is written into a heritage TXT unchanged.
pub fn is_owner(text: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, ',' | '=' | '"' | '\'' | '\\');
    !text.is_empty() && text.len() <= MAX_OWNER && text.chars().all(is_plain)
}

/// The longest resource of a mark, in octets: services take that much for one value (tags of Azure: 256 characters). A longer one is
/// left out, since the owner alone decides.
const MAX_RESOURCE: usize = 256;

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

    /// The mark of an RRset that is made for a manifest, or for anything else; none where the registry is not at RRsets.
    pub fn mark(&self, manifest: Option<(&str, &str)>) -> Option<RrsetMark> {
        let has_room = self.registry.mark_place()? != MarkPlace::Owner;
        let resource = label::resource(manifest).filter(|resource| has_room && resource.len() <= MAX_RESOURCE);
        Some(RrsetMark { owner: self.owner.clone(), resource })
    }

    /// Whether a mark says that an RRset is ours.
    pub fn has_marked(&self, mark: Option<&RrsetMark>) -> bool {
        mark.is_some_and(|mark| mark.owner == self.owner)
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
