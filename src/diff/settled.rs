//! Finds hosts that need no change, without running the rules.
//!
//! Nearly all hosts need no change, and a plan spends most of its time on them. This test reads less than the rules
//! read. Where it cannot prove that the rules would find nothing, the rules run.

use std::net::IpAddr;

use super::context::RuleGround;
use super::protect;
use crate::desired::{DesiredHost, Interface};
use crate::dns::reverse::ReverseName;
use crate::dns::{NameRef, RdataRef, Rtype};
use crate::inventory::model::{Host, ProjectIndex};
use crate::live::{LiveRrset, NameSpot, PairedRecords};

/// What was looked up at the names of a host.
#[derive(Debug, Clone, Copy)]
pub struct HostSights<'s> {
    /// At the name of each interface.
    pub names: &'s [Option<NameSpot>],
    /// At the reverse name of each acceptable address, interface by interface.
    pub reverse: &'s [Option<NameSpot>],
}

/// Whether the rules would find nothing to do for an open host, nothing to report, and nothing that blocks it, under
/// any policy, as far as its own names and addresses are concerned.
///
/// It does not test what the host shares with other hosts, or whether its names and addresses are anywhere else. An
/// AAAA and a PTR that match each other are noted in `paired`.
pub fn is_settled(
    ground: RuleGround<'_>,
    host: &Host,
    desired: &DesiredHost,
    HostSights { names, mut reverse }: HostSights<'_>,
    paired: &PairedRecords,
) -> bool {
    let mut is_settled = desired.faults.is_empty();
    for (interface, name) in desired.interfaces.iter().zip(names) {
        let (own, others) = reverse.split_at(interface.acceptable.len());
        reverse = others;
        let sights = InterfaceSights { name: name.as_ref(), reverse: own };
        is_settled &= is_as_desired(ground, host.project, interface, sights, paired);
    }
    is_settled
}

/// What was looked up at the names of an interface.
#[derive(Clone, Copy)]
struct InterfaceSights<'s> {
    /// At its name.
    name: Option<&'s NameSpot>,
    /// At the reverse name of each acceptable address.
    reverse: &'s [Option<NameSpot>],
}

/// Whether an interface's name holds one acceptable address and nothing else, the reverse name of this address holds
/// its PTR and nothing else, and the reverse names of the other acceptable addresses hold nothing.
fn is_as_desired(
    ground: RuleGround<'_>,
    project: ProjectIndex,
    interface: &Interface,
    sights: InterfaceSights<'_>,
    paired: &PairedRecords,
) -> bool {
    let owner = interface.owner.as_name();
    if interface.is_listed() && (interface.acceptable.len() != 1 || !interface.own_a.is_empty()) {
        // All of several addresses are to be there.
        return false;
    }
    let Some((found, held)) = the_only(ground, project, owner, sights.name, Rtype::AAAA) else { return false };
    let mut is_right = false;
    for ((address, _), spot) in interface.acceptable.iter().zip(sights.reverse) {
        let address = IpAddr::V6(*address);
        let reverse = ReverseName::of(address);
        if held.address() != Some(address) {
            if !is_bare(ground, reverse.as_name(), spot.as_ref()) {
                return false;
            }
            continue;
        }
        let pointer = the_only(ground, project, reverse.as_name(), spot.as_ref(), Rtype::PTR);
        match pointer.filter(|(_, rdata)| rdata.target() == Some(owner)) {
            Some((pointer, _)) => paired.note(found, pointer),
            None => return false,
        }
        is_right = true;
    }
    is_right
}

/// The only record at a name that is not protected, if it is of this type and has the TTL that the project's records
/// have there.
fn the_only<'c>(
    ground: RuleGround<'c>,
    project: ProjectIndex,
    name: NameRef<'_>,
    spot: Option<&NameSpot>,
    rtype: Rtype,
) -> Option<(LiveRrset<'c>, RdataRef<'c>)> {
    let zone = spot?.zone;
    let mut rrsets = ground.live.at(spot?);
    let rrset = rrsets.next().filter(|rrset| rrset.rtype() == rtype && rrset.record_count() == 1)?;
    let is_right =
        rrsets.next().is_none() && rrset.ttl() == ground.inventory.wanted_ttl(project, ground.zone_spec(zone));
    let is_free = is_right && protect::protection_in(ground, zone, name).is_none();
    Some((LiveRrset { zone, rrset }, rrset.rdata().next()?)).filter(|_| is_free)
}

/// Whether a name is known to hold nothing, or is in no configured zone.
fn is_bare(ground: RuleGround<'_>, name: NameRef<'_>, spot: Option<&NameSpot>) -> bool {
    match spot {
        Some(spot) => ground.live.at(spot).next().is_none() && ground.live.zone(spot.zone).opaque_at(name).is_none(),
        None => ground.live.zone_of(name).is_none(),
    }
}
