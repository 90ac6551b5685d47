//! From targets to live DNS: the copies of all zones, whole or name by name.
//!
//! Comes in: settings, and the targets that they name; where a zone is asked name by name, the hosts whose rules run.
//! Goes out: [`crate::live::Live`] with what was seen of each zone, and why others are unknown. Zones are read in
//! parallel here. Nothing is written but the cache.

mod copies;

mod inquiry;

pub mod local;

mod needed;

pub mod open;

pub mod side_by_side;

pub mod some;

pub mod zones;

pub use copies::{ClosedCopy, CreationTerms, ReadCopy};
pub use open::{ReadingTerms, TargetReaders};
pub use zones::{EarlyZones, Zones, ZonesRequest};
