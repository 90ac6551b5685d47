//! In what two inventories differ about one host.

use std::net::{IpAddr, Ipv6Addr};

use super::side::SideFacts;
use crate::desired::network::Segment;
use crate::desired::{Interface, InterfaceKind};
use crate::diag::Origin;
use crate::inventory::model::{HostStatus, ProjectAdmin};
use crate::inventory::value::Vlan;
use crate::plan::CauseKind;

/// One thing in which two inventories differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostDifference {
    /// What of the host it is about.
    pub about: HostPart,
    /// What kind of cause it is.
    pub kind: CauseKind,
    /// In words that are the same for all hosts that it concerns.
    pub says: String,
    /// The line that says so now, or the file that no longer does.
    pub place: Option<String>,
}

/// What of a host something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPart {
    /// All of it.
    Host,
    /// The addresses of one interface.
    Interface(InterfaceKind),
    /// The TTLs of its records.
    Ttl,
}

/// In what two inventories differ about a host that either has, what explains most first.
pub fn differences(before: Option<&SideFacts<'_>>, now: Option<&SideFacts<'_>>) -> Vec<HostDifference> {
    match (before, now) {
        (None, None) => Vec::new(),
        (None, Some(now)) => vec![came(now, "are new in hosts.csv")],
        (Some(before), None) => {
            let says = format!("hosts of `{}` that hosts.csv no longer has", before.project().id);
            let place = Some(before.inventory.files.name(before.host.origin.file).to_owned());
            vec![HostDifference { about: HostPart::Host, kind: CauseKind::Released, says, place }]
        }
        (Some(before), Some(now)) => of_both(before, now),
    }
}

/// A host that was not in use before.
fn came(now: &SideFacts<'_>, how: &str) -> HostDifference {
    let says = format!("hosts of `{}` that {how}", now.project().id);
    HostDifference { about: HostPart::Host, kind: CauseKind::NewHost, says, place: Some(now.place(now.host.origin)) }
}

/// In what they differ about a host that both have.
fn of_both(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Vec<HostDifference> {
    let whole = [use_of(before, now), project(before, now), automation(before, now), name(before, now)];
    let mut found: Vec<HostDifference> = whole.into_iter().flatten().collect();
    found.extend(moved(before, now));
    for kind in [InterfaceKind::Backbone, InterfaceKind::Fastbone] {
        found.extend(addresses(before, now, kind));
    }
    found.extend(policy(before, now));
    found.extend(ttl(before, now));
    found
}

/// Whether the host came into use, or is free now.
fn use_of(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    match (before.host.status, now.host.status) {
        (HostStatus::Free, HostStatus::Assigned) => Some(came(now, "came into use")),
        (HostStatus::Assigned, HostStatus::Free) => {
            let says = format!("hosts of `{}` that are free now", before.project().id);
            let place = Some(now.place(now.host.origin));
            Some(HostDifference { about: HostPart::Host, kind: CauseKind::Released, says, place })
        }
        _ => None,
    }
}

/// Whether the host moved to another project.
fn project(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    let (old, new) = (&before.project().id, &now.project().id);
    (old != new).then(|| HostDifference {
        about: HostPart::Host,
        kind: CauseKind::Moved,
        says: format!("hosts that moved from project `{old}` to `{new}`"),
        place: Some(now.place(now.host.origin)),
    })
}

/// Whether automation may do now what it might not.
fn automation(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    let is_allowed =
        |facts: &SideFacts<'_>| facts.project().admin.as_ref().is_some_and(|admin| admin.automation_allowed);
    let is_on = |facts: &SideFacts<'_>| facts.settings().is_some_and(|settings| settings.automation);
    let id = &now.project().id;
    let setting = |says: String, place: Option<Origin>| {
        let place = place.map(|place| now.place(place));
        Some(HostDifference { about: HostPart::Host, kind: CauseKind::Setting, says, place })
    };
    if before.project().admin.is_none() && now.project().admin.is_some() {
        return setting(format!("project `{id}` is configured now"), admin_origin(now.project().admin.as_ref()));
    }
    if !is_allowed(before) && is_allowed(now) {
        let place = admin_origin(now.project().admin.as_ref());
        return setting(format!("automation is allowed for project `{id}` now"), place);
    }
    if !is_on(before) && is_on(now) {
        let file = now.settings().map(|settings| Origin::line(settings.vlans_origin.file, 1));
        return setting(format!("automation is switched on for project `{id}` now"), file);
    }
    (before.host.restricted && !now.host.restricted).then(|| HostDifference {
        about: HostPart::Host,
        kind: CauseKind::Unblocked,
        says: format!("hosts of `{id}` that are no longer restricted"),
        place: Some(now.place(now.host.origin)),
    })
}

/// Where the administrator speaks of a project.
fn admin_origin(admin: Option<&ProjectAdmin>) -> Option<Origin> {
    admin.map(|admin| admin.origin)
}

/// Whether the host has another name, or its first, or no longer a name.
fn name(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    let id = &now.project().id;
    let (kind, says) = match (before.name, now.name) {
        (old, new) if old == new => return None,
        (None, _) => (CauseKind::NewHost, format!("hosts of `{id}` that got a name")),
        (Some(_), Some(_)) => (CauseKind::Renamed, format!("hosts of `{id}` that have another name")),
        (Some(_), None) => (CauseKind::Released, format!("hosts of `{id}` that gave up their names")),
    };
    let place = now.desired.name_origin.unwrap_or(now.host.origin);
    Some(HostDifference { about: HostPart::Host, kind, says, place: Some(now.place(place)) })
}

/// Whether the host is elsewhere, if an interface has other networks because of that: a move from port to port of a
/// segment changes nothing.
fn moved(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Vec<HostDifference> {
    let said_by = now.desired.mac.active.filter(|active| active.switch.is_some()).map(|active| active.origin);
    let (says, place) = match (before.switch(), now.switch()) {
        (old, new) if old != new => {
            let words = |switch: Option<&str>| switch.map_or("no switch".to_owned(), |text| format!("`{text}`"));
            (format!("hosts that moved from switch {} to {}", words(old), words(new)), said_by)
        }
        _ if before.location() != now.location() => {
            (format!("hosts that moved from datacenter `{}` to `{}`", before.location(), now.location()), None)
        }
        _ => return Vec::new(),
    };
    let place = Some(now.place(place.unwrap_or(now.host.origin)));
    let is_concerned = |kind: &InterfaceKind| match vlan(now, *kind) {
        // An IPv4 host's networks are those of its datacenter.
        _ if is_of_ipv4(now, *kind) => before.location() != now.location(),
        Some(vlan) => before.networks(vlan) != now.networks(vlan),
        None => false,
    };
    let kinds = [InterfaceKind::Backbone, InterfaceKind::Fastbone].into_iter().filter(is_concerned);
    let difference = |kind| HostDifference {
        about: HostPart::Interface(kind),
        kind: CauseKind::Moved,
        says: says.clone(),
        place: place.clone(),
    };
    kinds.map(difference).collect()
}

/// Whether an interface has its addresses for the A records at its name.
fn is_of_ipv4(facts: &SideFacts<'_>, kind: InterfaceKind) -> bool {
    facts.interface(kind).is_some_and(Interface::is_by_ipv4)
}

/// What changed in how the addresses of an interface are made.
fn addresses(before: &SideFacts<'_>, now: &SideFacts<'_>, kind: InterfaceKind) -> Vec<HostDifference> {
    let mut found = Vec::new();
    let id = &now.project().id;
    let about = HostPart::Interface(kind);
    let mut push = |kind, says: String, place: Option<Origin>| {
        found.push(HostDifference { about, kind, says, place: place.map(|place| now.place(place)) });
    };
    let are_listed = [before, now].map(|facts| facts.settings().is_some_and(|settings| settings.listed().is_some()));
    if are_listed[1] {
        return listed(before, now, kind, are_listed[0]).into_iter().collect();
    }
    let vlans = [before, now].map(|facts| vlan(facts, kind));
    let vlans_origin = now.settings().map(|settings| settings.vlans_origin);
    if vlans[0] != vlans[1] {
        let words = |vlan: Option<Vlan>| vlan.map_or("none".to_owned(), |vlan| vlan.to_string());
        let what = if kind == InterfaceKind::Backbone { "VLAN" } else { "fastbone VLAN" };
        let says = format!("the {what} of project `{id}` is {}, no longer {}", words(vlans[1]), words(vlans[0]));
        push(CauseKind::Setting, says, vlans_origin);
    }
    let ids = [before, now].map(|facts| facts.settings().and_then(|settings| settings.hbf_project_id));
    if ids[0].map(|(id, _)| id) != ids[1].map(|(id, _)| id) && !is_of_ipv4(now, kind) {
        let words = |of: Option<_>| of.map_or("none".to_owned(), |(id, _): (_, Origin)| format!("{id}"));
        let says = format!("the project id of `{id}` in addresses is {}, no longer {}", words(ids[1]), words(ids[0]));
        push(CauseKind::Setting, says, ids[1].map(|(_, origin)| origin).or(vlans_origin));
    }
    let templates = [before, now].map(|facts| facts.settings().map(|settings| settings.fastbone_name.label(b"x")));
    if kind == InterfaceKind::Fastbone && vlans[0].is_some() && templates[0] != templates[1] {
        let origin = now.settings().map(|settings| settings.fastbone_origin);
        push(CauseKind::Setting, format!("the template of the fastbone names of project `{id}` changed"), origin);
    }
    if let Some((says, place)) = networks(before, now, kind) {
        push(CauseKind::Network, says, place);
    }
    let macs = [before, now].map(|facts| facts.desired.mac.active.map(|active| active.mac));
    if macs[0] != macs[1] && !is_of_ipv4(now, kind) {
        let says = match macs {
            [None, _] => format!("hosts of `{id}` whose MAC is known now"),
            _ => format!("hosts of `{id}` that have another MAC"),
        };
        push(CauseKind::Mac, says, now.desired.mac.active.map(|active| active.origin));
    }
    found
}

/// What changed in the addresses that the inventory lists for an interface; `was_listed` says whether it listed any before.
fn listed(
    before: &SideFacts<'_>,
    now: &SideFacts<'_>,
    kind: InterfaceKind,
    was_listed: bool,
) -> Option<HostDifference> {
    let id = &now.project().id;
    let about = HostPart::Interface(kind);
    if !was_listed {
        let says = format!("the addresses of project `{id}` are those that the inventory lists, and no longer derived");
        let place = now.settings().and_then(|settings| settings.listed()).map(|listed| now.place(listed.origin));
        return Some(HostDifference { about, kind: CauseKind::Setting, says, place });
    }
    let [old, new] = [before, now].map(|facts| {
        let interface = facts.interface(kind);
        interface.map(|interface| interface.addresses().collect::<Vec<_>>()).unwrap_or_default()
    });
    let is_in = |list: &[(IpAddr, Origin)], address: IpAddr| list.iter().any(|(own, _)| *own == address);
    let fresh = new.iter().find(|(address, _)| !is_in(&old, *address));
    let gone = old.iter().any(|(address, _)| !is_in(&new, *address));
    let place = match fresh {
        Some((_, row)) => *row,
        None if gone => new.first().map(|(_, row)| *row).or(now.desired.name_origin).unwrap_or(now.host.origin),
        None => return None,
    };
    let says = format!("hosts of `{id}` for which the inventory lists other addresses");
    Some(HostDifference { about, kind: CauseKind::Network, says, place: Some(now.place(place)) })
}

/// The VLAN of an interface.
fn vlan(facts: &SideFacts<'_>, kind: InterfaceKind) -> Option<Vlan> {
    let vlans = facts.settings()?.vlans;
    match kind {
        InterfaceKind::Backbone => vlans.main(),
        InterfaceKind::Fastbone => vlans.fastbone(),
    }
}

/// Whether one and the same VLAN of one and the same site is another network now.
fn networks(before: &SideFacts<'_>, now: &SideFacts<'_>, kind: InterfaceKind) -> Option<(String, Option<Origin>)> {
    let vlan = vlan(now, kind)?;
    let site = now.site();
    let segments = [before, now].map(SideFacts::segment);
    let is_same_place = before.switch() == now.switch() && before.location() == now.location();
    if !is_same_place || self::vlan(before, kind) != Some(vlan) {
        return None;
    }
    let of_ipv4 = is_of_ipv4(now, kind);
    let of = |facts: &SideFacts<'_>| {
        if of_ipv4 {
            facts.interface(kind).map(|interface| interface.acceptable.to_vec()).unwrap_or_default()
        } else {
            facts.networks(vlan)
        }
    };
    let (old, new) = (of(before), of(now));
    let words = |list: &[(Ipv6Addr, Origin)]| list.iter().map(|(address, _)| network(*address)).collect::<Vec<_>>();
    let (old_networks, new_networks) = (words(&old), words(&new));
    if old_networks == new_networks || new_networks.is_empty() {
        return None;
    }
    let fresh = new_networks.iter().position(|network| !old_networks.contains(network)).unwrap_or(0);
    let place = new.get(fresh).map(|(_, origin)| *origin);
    let what = if of_ipv4 { "the IPv4 networks of VLAN" } else { "VLAN" };
    let now_is = new_networks.join(" and ");
    let says = match old_networks.as_slice() {
        _ if segments[0] != segments[1] && !of_ipv4 => {
            let is = if segments[1] == Segment::L3 { "is now" } else { "is no longer" };
            let switch = now.switch().unwrap_or_default();
            format!("switch `{switch}` {is} in an L3 segment: its VLAN {vlan} is {now_is}")
        }
        [] => format!("{what} {vlan} of {site} is {now_is} now"),
        _ => format!("{what} {vlan} of {site} moved from {} to {now_is}", old_networks.join(" and ")),
    };
    Some((says, place))
}

/// The /64 of an address, in backticks.
pub fn network(address: Ipv6Addr) -> String {
    let upper = u128::from(address) & !u128::from(u64::MAX);
    format!("`{}/64`", Ipv6Addr::from(upper))
}

/// Whether more may be done to the project's records.
fn policy(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    let (old, new) = (before.settings()?, now.settings()?);
    (old.policy != new.policy).then(|| HostDifference {
        about: HostPart::Host,
        kind: CauseKind::Setting,
        says: format!(
            "the policy of project `{}` is `{}`, no longer `{}`",
            now.project().id,
            new.policy.as_str(),
            old.policy.as_str()
        ),
        place: Some(now.place(new.policy_origin)),
    })
}

/// Whether the project's records have another TTL.
fn ttl(before: &SideFacts<'_>, now: &SideFacts<'_>) -> Option<HostDifference> {
    let (old, new) = (before.settings()?.ttl, now.settings()?.ttl);
    let words = |ttl: Option<_>| ttl.map_or("that of the zone".to_owned(), |(ttl, _): (_, Origin)| format!("{ttl}"));
    (old.map(|(ttl, _)| ttl) != new.map(|(ttl, _)| ttl)).then(|| HostDifference {
        about: HostPart::Ttl,
        kind: CauseKind::Ttl,
        says: format!("the TTL of project `{}` is {}, no longer {}", now.project().id, words(new), words(old)),
        place: Some(
            now.place(new.map_or(now.settings().map_or(now.host.origin, |own| own.vlans_origin), |(_, origin)| origin)),
        ),
    })
}
