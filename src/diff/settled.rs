//! Hosts of which everything stands as it should, told without running the rules.
//!
//! Nearly all hosts are such, and they are what a plan spends its time on. Less is looked at here than the rules look at;
//! where it is not plain that they would find nothing, they run.

use std::net::IpAddr;

use super::context::Context;
use super::protect;
use crate::desired::Interface;
use crate::dns::reverse::ReverseName;
use crate::dns::{NameRef, RdataRef, Rtype};
use crate::inventory::model::ProjectIndex;

/// Whether the rules would find nothing to do for an open host, nothing to tell, and nothing that blocks it, under any
/// policy.
pub fn is_settled(context: &Context<'_>, place: usize) -> bool {
    let project = context.inventory.hosts[place].project;
    context.desired[place].interfaces.iter().all(|interface| stands(context, project, interface))
}

/// Whether one acceptable address and nothing else stands at an interface's name, its PTR and nothing else at the reverse
/// name, nothing at those of the other acceptable addresses, and neither name nor address anywhere else.
fn stands(context: &Context<'_>, project: ProjectIndex, interface: &Interface) -> bool {
    let (live, owner) = (context.live, interface.owner.as_name());
    let kept = the_only(context, project, owner, Rtype::AAAA).and_then(RdataRef::address);
    let Some(IpAddr::V6(kept)) = kept.filter(|kept| interface.is_at(*kept)) else { return false };
    if live.may_be_pointed_to_in_vain(owner) {
        return false;
    }
    interface.acceptable.iter().all(|(address, _)| {
        let reverse = ReverseName::of(IpAddr::V6(*address));
        let answers = match *address == kept {
            true => {
                let pointer = the_only(context, project, reverse.as_name(), Rtype::PTR);
                pointer.and_then(RdataRef::target) == Some(owner)
            }
            false => is_bare(context, reverse.as_name()),
        };
        answers && !live.may_be_held_unanswered(*address)
    })
}

/// The RDATA of the one record that stands at a name which nothing hides or protects, if it is of this type and has the
/// TTL that a project wants there.
fn the_only<'c>(context: &Context<'c>, project: ProjectIndex, name: NameRef<'_>, rtype: Rtype) -> Option<RdataRef<'c>> {
    let (zone, mut rrsets) = context.live.open_at(name)?;
    let rrset = rrsets.next().filter(|rrset| rrset.rtype() == rtype && rrset.record_count() == 1)?;
    let is_right = rrsets.next().is_none() && rrset.ttl() == context.wanted_ttl(project, zone);
    let is_free = is_right && protect::protection(context, name).is_none();
    rrset.rdata().next().filter(|_| is_free)
}

/// Whether nothing stands at a name, as far as any configured zone could say.
fn is_bare(context: &Context<'_>, name: NameRef<'_>) -> bool {
    match context.live.open_at(name) {
        Some((_, mut rrsets)) => rrsets.next().is_none(),
        None => context.live.zone_of(name).is_none(),
    }
}
