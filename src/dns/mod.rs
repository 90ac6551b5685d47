//! The vocabulary of DNS: names, RRsets, zone contents, reverse names.
//!
//! Comes in: octets or presentation text. Goes out: values that cannot be wrong. May not do input or output, and
//! imports from outside only `domain::base` (types of RFC 1035), `domain::rdata`, `domain::utils`, `ipnet`, `memchr`, and the
//! two hash crates.

pub mod builder;

pub mod change_kind;

pub mod comparison;

pub mod contents;

pub mod directory;

pub mod edits;

pub mod mark;

pub mod name;

pub mod presentation;

pub mod record;

pub mod reverse;

pub mod rrset;

pub mod rtype_text;

pub mod rtypes;

pub mod ttl;

pub mod wire;

pub use builder::{MessageRecord, PushError, ZoneBuilder, ZoneRoom};
pub use change_kind::ChangeKind;
pub use comparison::{UnlikeRrset, ZoneComparison};
pub use contents::{RrsetRef, ZoneContents, same_octets};
pub use domain::base::Rtype;
pub use domain::base::Serial;
pub use edits::{EditContradiction, ZoneEdits};
pub use mark::RrsetMark;
pub use name::{Name, NameError, NameRef, OwnerName, ZoneName};
pub use record::ContentsError;
pub use rrset::{Rdata, RdataRef, RrKey, Rrset};
pub use rtypes::{address_type, is_of_signer, is_zone_data};
pub use ttl::Ttl;
pub use wire::{NameBuffer, WireError, WireOctets};
