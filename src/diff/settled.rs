//! Hosts of which everything stands as it should, told without running the rules.
//!
//! Nearly all hosts are such, and they are what a plan spends its time on. Less is looked at here than the rules look at;
//! where it is not plain that they would find nothing, they run.

use std::net::IpAddr;

use super::context::Ground;
use super::protect;
use crate::desired::{DesiredHost, Interface};
use crate::dns::reverse::ReverseName;
use crate::dns::{NameRef, RdataRef, Rtype};
use crate::inventory::model::{Host, ProjectIndex};

/// Whether the rules would find nothing to do for an open host, nothing to tell, and nothing that blocks it, under any
/// policy.
///
/// What it shares with other hosts is not looked at.
pub fn is_settled(ground: Ground<'_>, host: &Host, desired: &DesiredHost) -> bool {
    desired.faults.is_empty() && desired.interfaces.iter().all(|interface| stands(ground, host.project, interface))
}

/// Whether one acceptable address and nothing else stands at an interface's name, its PTR and nothing else at the reverse
/// name, nothing at those of the other acceptable addresses, and neither name nor address anywhere else.
fn stands(ground: Ground<'_>, project: ProjectIndex, interface: &Interface) -> bool {
    let (live, owner) = (ground.live, interface.owner.as_name());
    let kept = the_only(ground, project, owner, Rtype::AAAA).and_then(RdataRef::address);
    let Some(IpAddr::V6(kept)) = kept.filter(|kept| interface.is_at(*kept)) else { return false };
    if live.may_be_pointed_to_in_vain(owner) {
        return false;
    }
    interface.acceptable.iter().all(|(address, _)| {
        let reverse = ReverseName::of(IpAddr::V6(*address));
        let answers = match *address == kept {
            true => {
                let pointer = the_only(ground, project, reverse.as_name(), Rtype::PTR);
                pointer.and_then(RdataRef::target) == Some(owner)
            }
            false => is_bare(ground, reverse.as_name()),
        };
        answers && !live.may_be_held_unanswered(*address)
    })
}

/// The RDATA of the one record that stands at a name which nothing hides or protects, if it is of this type and has the
/// TTL that a project wants there.
fn the_only<'c>(ground: Ground<'c>, project: ProjectIndex, name: NameRef<'_>, rtype: Rtype) -> Option<RdataRef<'c>> {
    let (zone, mut rrsets) = ground.live.open_at(name)?;
    let rrset = rrsets.next().filter(|rrset| rrset.rtype() == rtype && rrset.record_count() == 1)?;
    let is_right = rrsets.next().is_none() && rrset.ttl() == ground.wanted_ttl(project, zone);
    let is_free = is_right && protect::protection_in(ground, zone, name).is_none();
    rrset.rdata().next().filter(|_| is_free)
}

/// Whether nothing stands at a name, as far as any configured zone could say.
fn is_bare(ground: Ground<'_>, name: NameRef<'_>) -> bool {
    match ground.live.open_at(name) {
        Some((_, mut rrsets)) => rrsets.next().is_none(),
        None => ground.live.zone_of(name).is_none(),
    }
}
