//! What earlier applies left of pods that a plan is to know: names of placements that clients may not see as live DNS has them,
//! since a change of them, or of an SRV that lists them, has not reached all caches and name servers yet; and pods that could
//! not be changed.

use std::collections::BTreeSet;

use crate::claim::Subject;
use crate::dns::Name;

/// What earlier applies left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentPods {
    /// The names that SRV of pods listed until lately: caches may still hold the SRV.
    pub listed: BTreeSet<Name>,
    /// The names that were made lately: a name server may lack them, and a cache may hold that they are not there.
    pub made: BTreeSet<Name>,
    /// The pods that the latest applies could not change: they may fail again.
    pub failed: BTreeSet<Subject>,
}
