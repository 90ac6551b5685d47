//! Names of placements that clients may not see as live DNS has them: a change of them, or of an SRV that lists them, has not
//! reached all caches and name servers yet.

use std::collections::BTreeSet;

use crate::dns::Name;

/// Such names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentNames {
    /// The names that SRV of pods listed until lately: caches may still hold the SRV.
    pub listed: BTreeSet<Name>,
    /// The names that were made lately: a name server may lack them, and a cache may hold that they are not there.
    pub made: BTreeSet<Name>,
}
