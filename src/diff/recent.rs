//! What earlier applies left of pods that a plan is to know: names of placements that clients may not see as live DNS has them,
//! since a change of them, or of an SRV that lists them, has not reached all caches and name servers yet; and pods that could
//! not be changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::claim::Subject;
use crate::dns::Name;
use crate::inventory::value::Time;

/// What earlier applies left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentPods {
    /// The names that SRV of pods listed until lately: caches may still hold the SRV; with the time until which they do, where
    /// it is known.
    pub listed: BTreeMap<Name, Option<Time>>,
    /// The names that were made lately: a name server may lack them, and a cache may hold that they are not there; with the
    /// time until which it does, where it is known.
    pub made: BTreeMap<Name, Option<Time>>,
    /// The SRV of endpoints that are not there, because an apply took them: what they listed no longer was to be listed.
    pub gone: BTreeSet<Name>,
    /// The pods that the latest applies could not change: they may fail again.
    pub failed: BTreeSet<Subject>,
}
