//! The vocabulary of DNS: names, RRsets, zone contents, reverse names.
//!
//! Comes in: octets or presentation text. Goes out: values that cannot be wrong. May not do input or output, and
//! imports from outside only `domain::base` (types of RFC 1035), `domain::rdata`, `ipnet`, and the two hash crates.

pub mod contents;

pub mod directory;

pub mod edits;

pub mod name;

pub mod reverse;

pub mod rrset;

pub mod ttl;

pub mod wire;

pub use contents::{RrsetRef, ZoneBuilder, ZoneContents, ZoneRoom};
pub use domain::base::Rtype;
pub use domain::base::Serial;
pub use edits::{Contradiction, Edits};
pub use name::{Name, NameError, NameRef, OwnerName, ZoneName};
pub use rrset::{Rdata, RdataRef, RrKey, Rrset};
pub use ttl::Ttl;
pub use wire::{NameBuffer, Wire, WireError};
