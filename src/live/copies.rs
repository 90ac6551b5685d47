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
    /// The targets whose copies the references may be: where they are of several, what is done at a target is not decided by
    /// them.
    pub fn references(&self) -> impl Iterator<Item = &TargetId> {
        let others = self.others.iter().map(|copies| &copies.target);
        self.alike.iter().take(1).chain(others.filter(|_| self.alike.is_empty()))
    }

    /// A target whose copies the references are; none where they are of several targets.
    pub fn reference(&self) -> Option<&TargetId> {
        self.alike.first()
    }
}
