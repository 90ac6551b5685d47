//! The copies of the zones of a pool with several targets. Pure.
//!
//! The reference copy of a zone is that of the pool's first target whose copy is known whole. [`Live`] of the reference has it
//! for every zone; that of a target has the copies of the target in its own pool, and the reference of all other zones.

use std::collections::BTreeSet;

use super::{Live, ZoneIndex};
use crate::dns::{NameRef, RrKey, RrsetRef, Rtype, ZoneComparison, ZoneName, is_of_signer};
use crate::target::{TargetId, marker_key};

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
    /// The same copies, as [`Live::only`] sees them.
    pub fn only(&self, is_seen: impl Fn(ZoneIndex) -> bool) -> PoolCopies {
        let of_target = |own: &TargetCopies| TargetCopies { target: own.target.clone(), live: own.live.only(&is_seen) };
        PoolCopies {
            pool: self.pool,
            alike: self.alike.clone(),
            others: self.others.iter().map(of_target).collect(),
            without_first: self.without_first.clone(),
        }
    }

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

/// The RRsets that two copies of a zone do not have alike, sorted; without SOA, NS of the apex, what a signer makes, and the
/// marker.
pub fn differing_rrsets(apex: &ZoneName, compared: &ZoneComparison<'_>) -> Vec<RrKey> {
    let key = |rrset: RrsetRef<'_>| {
        let (owner, rtype) = (rrset.owner(), rrset.rtype());
        let owner = apex.owner(owner.as_name()).filter(|_| !is_of_one_copy(apex, owner.as_name(), rtype))?;
        Some(RrKey { owner, rtype })
    };
    let mut keys: Vec<RrKey> = compared.differing.iter().filter_map(|found| key(found.both().next()?)).collect();
    keys.sort_unstable();
    keys
}

/// Whether each copy of a zone has an RRset of its own: SOA, NS of the apex, what a signer makes, the marker.
pub fn is_of_one_copy(apex: &ZoneName, owner: NameRef<'_>, rtype: Rtype) -> bool {
    let of_apex = matches!(rtype, Rtype::SOA | Rtype::NS) && owner == apex.as_name();
    let is_marker = || marker_key(apex).is_some_and(|key| key.rtype == rtype && key.owner.as_name() == owner);
    of_apex || is_of_signer(rtype) || is_marker()
}
