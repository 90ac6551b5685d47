//! Decides whether a host's rules run.

use std::net::IpAddr;

use super::block::SubjectBlock;
use super::choice::kept_or_added;
use super::context::RuleContext;
use super::subject_standing::{SubjectStanding, SubjectStandings};
use super::{own, words};
use crate::change::{BlockCode, SkipCode};
use crate::desired::{DesiredHost, Interface};
use crate::dns::reverse::ReverseName;
use crate::dns::{Name, NameRef, Rdata, Rtype, address_type};
use crate::inventory::model::{Host, HostStatus, Policy, ProjectFile, Trust};
use crate::live::{ContentsAbsence, LiveRrset, NamePlace, ZoneIndex};
use crate::names::HolderRow;

/// Decides the standing of one host from the inventory alone. Gives the policy under which its rules run if its names
/// permit it, or else the standing.
pub fn by_inventory(context: &RuleContext<'_>, place: usize) -> Result<Policy, SubjectStanding> {
    let host = &context.inventory.hosts[place];
    if host.status == HostStatus::Free {
        return Err(SubjectStanding::Free);
    }
    let policy = skip_or_policy(context, host).map_err(SubjectStanding::Skipped)?;
    match inventory_block(context, place) {
        Some(block) => Err(SubjectStanding::Blocked(block)),
        None => Ok(policy),
    }
}

/// Decides the standing of a host that the inventory lets run under a policy, from the zones that its names are in.
pub fn by_places(context: &RuleContext<'_>, place: usize, policy: Policy) -> SubjectStanding {
    match place_block(context, &context.desired[place], policy) {
        Some(block) => SubjectStanding::Blocked(block),
        None => SubjectStanding::Open(policy),
    }
}

/// The policy under which a host is planned, or why it is skipped.
pub fn skip_or_policy(context: &RuleContext<'_>, host: &Host) -> Result<Policy, SkipCode> {
    if !host.columns_are_known {
        // Its project is unknown, and so are the switches; the host is blocked because of its row.
        return Ok(Policy::CreateOnly);
    }
    let allowed = context.admin(host.project).is_some_and(|admin| admin.automation_allowed);
    if !allowed {
        return Err(SkipCode::AutomationOff);
    }
    let by_hand = context.selection.names_host(host.inv);
    let project = &context.inventory.projects[host.project.0 as usize];
    let policy = match &project.file {
        ProjectFile::Good(settings) if settings.automation || by_hand => settings.policy,
        ProjectFile::Good(_) if is_first_publication(context, host) => Policy::CreateOnly,
        ProjectFile::Good(_) => return Err(SkipCode::AutomationOff),
        // The switch and policy of the file are unknown; the host is blocked because of the file.
        ProjectFile::Missing | ProjectFile::Bad { .. } => Policy::CreateOnly,
    };
    if host.restricted && !by_hand {
        return Err(SkipCode::Restricted);
    }
    if context.is_tripped(host.project) && !by_hand {
        return Err(SkipCode::Breaker);
    }
    Ok(policy)
}

/// Whether a host has a current row in names.lock, and no AAAA at its name yet, as far as both can be known.
fn is_first_publication(context: &RuleContext<'_>, host: &Host) -> bool {
    let inventory = context.inventory;
    let Some((name, Some(row))) = crate::names::holders::name_of(inventory, host) else { return false };
    let known = !row.bad && inventory.trust.names_lock == Trust::Known;
    let place = context.live.place(name.as_name());
    let is_listed = inventory.lists_addresses(host.project);
    let types: &[Rtype] = if is_listed { &[Rtype::AAAA, Rtype::A] } else { &[Rtype::AAAA] };
    let is_bare = || types.iter().all(|rtype| context.live.rrset(name.as_name(), *rtype).is_none());
    known && !matches!(place, NamePlace::Unknown(_)) && is_bare()
}

/// Everything in the inventory, and every place of a host's names, that keeps its rules from running; in the order of codes.
pub fn obstacles(context: &RuleContext<'_>, place: usize, policy: Policy) -> Vec<SubjectBlock> {
    let mut blocks = words::fault_blocks(context, place);
    blocks.extend(words::shared_blocks(context, place));
    blocks.extend(context.stated.conflict_of_host(place).cloned());
    each_obstacle(context, &context.desired[place], policy, |code, name, place| {
        blocks.push(words::place_block(context, code, &name.to_name(), &place));
    });
    blocks.sort_by_key(|block| block.code);
    // Both names of a host may be in one zone that could not be read.
    blocks.dedup();
    blocks
}

/// The first code that the inventory gives: what the host's own lines say, or what it shares with others.
fn inventory_block(context: &RuleContext<'_>, place: usize) -> Option<SubjectBlock> {
    // A settled host has no fault, and its derived values were not kept.
    let fault = || context.desired[place].faults.first().map(|fault| fault.code);
    let fault = if context.settled[place] { None } else { fault() };
    let code = context.collisions.codes(place).chain(fault).min();
    let of_inventory = code.map(|code| words::inventory_block(context, place, code));
    of_inventory.or_else(|| context.stated.conflict_of_host(place).cloned())
}

/// The first code that the places of a host's names give: no zone, an unknown one, a delegation, a CNAME, what no RRset says.
fn place_block(context: &RuleContext<'_>, desired: &DesiredHost, policy: Policy) -> Option<SubjectBlock> {
    let mut first: Option<(BlockCode, Name, NamePlace)> = None;
    each_obstacle(context, desired, policy, |code, name, place| {
        if first.as_ref().is_none_or(|(earlier, _, _)| code < *earlier) {
            first = Some((code, name.to_name(), place));
        }
    });
    first.map(|(code, name, place)| words::place_block(context, code, &name, &place))
}

/// Visits those of a host's names, and of the reverse names of the addresses that they keep or get, that are not open.
fn each_obstacle(
    context: &RuleContext<'_>,
    desired: &DesiredHost,
    policy: Policy,
    mut visit: impl FnMut(BlockCode, NameRef<'_>, NamePlace),
) {
    let mut note = |name: NameRef<'_>| {
        let place = context.live.place(name);
        let code = match place {
            NamePlace::Open(_) => return,
            NamePlace::NoZone => BlockCode::NoZone,
            NamePlace::Unknown(zone) => unknown_code(context, zone),
            NamePlace::Delegated(..) => BlockCode::Delegated,
            NamePlace::BelowDname(..) | NamePlace::Cname(_) => BlockCode::Cname,
            NamePlace::Opaque(_) => BlockCode::Opaque,
        };
        visit(code, name, place);
    };
    for interface in &desired.interfaces {
        if interface.is_listed() && !interface.has_addresses() {
            // It claims nothing.
            continue;
        }
        note(interface.owner.as_name());
        if !interface.is_read {
            // Which addresses it keeps is not known.
            continue;
        }
        for address in kept_or_gained(context, interface, policy) {
            note(ReverseName::of(address).as_name());
        }
    }
}

/// The addresses that an interface keeps or gets at its name.
pub fn kept_or_gained(context: &RuleContext<'_>, interface: &Interface, policy: Policy) -> Vec<IpAddr> {
    if interface.is_listed() {
        let is_kept = |address: &IpAddr| {
            let found = context.live.rrset(interface.owner.as_name(), address_type(*address));
            // Under `create-only` an RRset that exists gets none.
            policy != Policy::CreateOnly
                || found.is_none_or(|found| found.rrset.rdata().any(|rdata| rdata.address() == Some(*address)))
        };
        return interface.addresses().map(|(address, _)| address).filter(is_kept).collect();
    }
    let acceptable = interface.acceptable.iter().map(|(address, _)| Rdata::from_address(IpAddr::V6(*address)));
    let rrset = (interface.owner.as_name(), Rtype::AAAA);
    let places = kept_or_added(context, rrset, &acceptable.collect::<Vec<Rdata>>(), policy);
    places.into_iter().map(|place| IpAddr::V6(interface.acceptable[place].0)).collect()
}

/// The addresses that stay at the name of an interface though the inventory does not list them: of a family of which it
/// lists none, where the RRset is not own.
pub fn spared_addresses(context: &RuleContext<'_>, interface: &Interface) -> Vec<IpAddr> {
    if !interface.is_listed() {
        return Vec::new();
    }
    let is_unlisted = |found: &LiveRrset<'_>| {
        let is_v4 = found.rrset.rtype() == Rtype::A;
        !interface.addresses().any(|(address, _)| address.is_ipv4() == is_v4)
    };
    let live = [Rtype::AAAA, Rtype::A].into_iter();
    let live = live.filter_map(|rtype| context.live.rrset(interface.owner.as_name(), rtype));
    // What a file states there is not the host's either.
    let is_of_file = |found: &LiveRrset<'_>| {
        let (name, rtype) = (interface.owner.as_name(), found.rrset.rtype());
        context.stated.on(name, rtype).next().is_some() || context.stated.holds(name, rtype)
    };
    let stays = |found: &LiveRrset<'_>| !own::is_own(context, *found) || is_of_file(found);
    let spared = live.filter(is_unlisted).filter(stays);
    spared.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.address()).collect()
}

/// The code of what needs a zone that is not known.
pub fn unknown_code(context: &RuleContext<'_>, zone: ZoneIndex) -> BlockCode {
    match context.live.zone(zone).absence() {
        Some(ContentsAbsence::Missing) => BlockCode::ZoneMissing,
        _ => BlockCode::ZoneUnknown,
    }
}

impl SubjectStandings {
    /// Whether no other host's rules may change a host's records: zonewright does not manage the host, or not all of it
    /// is known.
    fn protects(&self, context: &RuleContext<'_>, place: usize) -> bool {
        let unknown = |interface: &Interface| {
            let place = context.live.place(interface.owner.as_name());
            matches!(place, NamePlace::Unknown(_))
        };
        match &self.hosts[place] {
            SubjectStanding::Free => false,
            SubjectStanding::Skipped(_) => true,
            SubjectStanding::Blocked(block) => {
                matches!(block.code, BlockCode::BadInput | BlockCode::SourceUntrusted)
                    || block.code.is_of_zone()
                    || context.desired[place].interfaces.iter().any(unknown)
            }
            SubjectStanding::Open(_) => false,
        }
    }

    /// The host, other than the one at `own`, that protects the records of a name: AAAA at the name, PTR to it.
    pub fn protector(&self, context: &RuleContext<'_>, own: usize, name: NameRef<'_>) -> Option<usize> {
        let inventory = context.inventory;
        let own_inv = inventory.hosts[own].inv;
        let holders = context.names.holders(inventory, name).filter(|holder| holder.now);
        let hosts = holders.flat_map(|holder| match holder.by {
            // All rows of the host's number count, whichever gives the name. Of several current rows of names.lock,
            // those that do not give the name count, too.
            HolderRow::Host(place) => inventory.places_of(inventory.hosts[place as usize].inv),
            HolderRow::Lock(row) => inventory.places_of(inventory.lock[row as usize].inv),
        });
        let mut others = hosts.filter(|place| inventory.hosts[*place].inv != own_inv);
        others.find(|place| self.protects(context, *place))
    }
}
