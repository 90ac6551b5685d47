//! The cause of a change where nothing is known to be new: the rows and settings that it is derived from.

use std::net::{IpAddr, Ipv6Addr};

use super::concern::ChangeConcern;
use super::difference::network;
use super::side::{InventorySide, SideFacts};
use crate::change::{Change, Rule};
use crate::desired::InterfaceKind;
use crate::diag::Origin;
use crate::dns::reverse::address_of;
use crate::dns::{Rdata, Rtype};
use crate::inventory::value::Inv;
use crate::plan::CauseKind;

/// The kind of what a change is derived from, the words, and the line; `facts` knows its hosts.
pub fn of<'f, 'a: 'f>(
    side: &InventorySide<'_>,
    change: &Change,
    facts: impl Fn(Inv) -> Option<&'f SideFacts<'a>>,
) -> (CauseKind, String, Option<String>) {
    let rules = || change.rules();
    let first_line = || change.lines().next().cloned();
    let project = &change.project;
    if let Some(says) = change.subject.stated_by_in_words() {
        return (CauseKind::Other, says, first_line());
    }
    if rules().all(|rule| rule == Rule::Ttl) {
        let ttl = change.kind.after().map(|after| after.ttl().to_string()).unwrap_or_default();
        return (CauseKind::Ttl, format!("the TTL of `{project}`, {ttl}"), first_line());
    }
    if rules().all(|rule| matches!(rule, Rule::Released | Rule::Registry)) && change.kind.after().is_none() {
        return (CauseKind::Released, format!("names that hosts of `{project}` gave up"), first_line());
    }
    if rules().any(|rule| rule == Rule::NoPod) {
        return (CauseKind::Released, format!("names of pods of `{project}` that no pod has any longer"), first_line());
    }
    if rules().any(|rule| rule == Rule::Orphan) {
        return (CauseKind::Released, format!("names of `{project}` that no host and no file has"), first_line());
    }
    let known = change
        .subject
        .host()
        .or_else(|| change.reasons.iter().find_map(|reason| reason.subject.host()))
        .and_then(facts);
    let Some(known) = known else {
        return (CauseKind::Other, format!("the names of hosts of `{project}`"), first_line());
    };
    if let Some((says, place)) = listed(change, known) {
        return (CauseKind::Other, says, Some(side.place(place)));
    }
    match on_network(change, known) {
        Some((says, place)) => (CauseKind::Network, says, Some(side.place(place))),
        None => {
            let place = known.desired.name_origin.map(|origin| known.place(origin));
            (CauseKind::Other, format!("the names of hosts of `{project}`"), place.or_else(first_line))
        }
    }
}

/// That the inventory lists the addresses of the interface that a change is about, in words, and the line: that of the
/// address, where it is about one.
fn listed(change: &Change, facts: &SideFacts<'_>) -> Option<(String, Origin)> {
    let listed = facts.settings()?.listed()?;
    let kind = ChangeConcern::of(change, [Some(facts), None], false).interface?;
    let interface = facts.interface(kind)?;
    let meant = interface.addresses().find(|(address, _)| concerns(change, *address));
    let place = meant.map_or(listed.origin, |(_, line)| line);
    Some((format!("the addresses that the inventory lists for hosts of `{}`", facts.project().id), place))
}

/// The network that a change depends on, in words, and its line: that of the address that it is about, where it is
/// about one.
fn on_network(change: &Change, facts: &SideFacts<'_>) -> Option<(String, Origin)> {
    let kind = ChangeConcern::of(change, [Some(facts), None], false).interface?;
    let interface = facts.interface(kind)?;
    let is_meant = |(address, _): &&(Ipv6Addr, Origin)| concerns(change, IpAddr::V6(*address));
    let (address, origin) = interface.acceptable.iter().find(is_meant).or(interface.acceptable.first())?;
    let vlans = facts.settings()?.vlans;
    let vlan = if kind == InterfaceKind::Backbone { vlans.main()? } else { vlans.fastbone()? };
    Some((format!("VLAN {vlan} of {}: {}", facts.site(), network(*address)), *origin))
}

/// Whether a change is about an address: of a PTR at it, or of AAAA or A that hold it before or after.
fn concerns(change: &Change, address: IpAddr) -> bool {
    match change.key.rtype {
        Rtype::PTR => address_of(change.key.owner.as_name()) == Some(address),
        _ => [change.kind.after(), change.kind.before()].into_iter().flatten().any(|rrset| {
            let held = |rdata: &Rdata| rdata.as_rdata(change.key.rtype).address();
            rrset.rdata().iter().any(|rdata| held(rdata) == Some(address))
        }),
    }
}
