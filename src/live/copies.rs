//! The copies of the zones of a pool with several targets. Pure.
//!
//! The reference copy of a zone is that of the pool's first target whose copy is known whole. [`Live`] of the reference has it
//! for every zone; that of a target has the copies of the target in its own pool, and the reference of all other zones.

use std::collections::BTreeSet;

use super::{Live, ZoneIndex};
use crate::target::TargetId;

/// The copies of the zones of one pool that has several targets.
#[derive(Debug)]
pub struct PoolCopies {
    /// The pool, by its place in the settings.
    pub pool: usize,
    /// The targets whose copies hold what the reference holds, so that the same is to be done there.
    pub alike: Vec<TargetId>,
    /// The other targets, in the order of the settings.
    pub others: Vec<TargetCopies>,
    /// The zones that are known, of which the copy of the first target is not.
    pub without_first: BTreeSet<ZoneIndex>,
}

/// The copies of the zones of a pool at one target.
#[derive(Debug)]
pub struct TargetCopies {
    /// The target.
    pub target: TargetId,
    /// DNS as it is seen from there.
    pub live: Live,
}

impl PoolCopies {
    /// All targets of the pool.
    pub fn targets(&self) -> impl Iterator<Item = &TargetId> {
        self.alike.iter().chain(self.others.iter().map(|copies| &copies.target))
    }
}
