//! Rule 9: the records of released names are removed.

use super::act::{RuleAct, RuleActor};
use super::context::RuleContext;
use super::own;
use super::protect;
use super::rules::is_untouchable;
use crate::change::Rule;
use crate::claim::Subject;
use crate::dns::{NameRef, Rdata, RdataRef, Rtype};
use crate::inventory::model::{LockRow, Policy};
use crate::live::LiveRrset;
use crate::names::holders::fastbone_of;

/// Why the records of a name are not removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpareReason {
    /// The row is bad, or its host still has the name.
    NotReleased,
    /// It was released longer ago than zonewright removes the records of such names.
    LongAgo,
    /// The administrator does not allow automation.
    Forbidden,
    /// The project has no valid file, so that its policy is unknown.
    PolicyUnknown,
    /// The project's policy removes nothing.
    Policy(Policy),
    /// The command names other hosts.
    LeftOut,
    /// The row's host has the restriction `automated-dns`, and the command line does not name the host.
    Restricted,
    /// A breaker has tripped, and the command line does not name the row's host.
    Breaker,
    /// Removals are paused.
    Resting,
    /// A host or a current row has the name again.
    Held,
    /// No rule may change the name.
    Untouchable,
    /// The name is protected.
    Protected,
}

/// Removes the AAAA of a released name and of its fastbone name, and the PTR that name them.
///
/// Nothing is removed while removals are paused, long after the release, or where the administrator, the policy, a
/// breaker or the host's restrictions forbid it. What blocks the host does not matter, and the owner's switch does not,
/// either.
pub fn release(context: &RuleContext<'_>, row: &LockRow) -> Vec<RuleAct> {
    let mut acts = Vec::new();
    if spared_row(context, row).is_some() {
        return acts;
    }
    let Some(backbone) = &row.name else { return acts };
    let fastbone = fastbone_of(context.inventory, row.project, backbone.as_name());
    for name in std::iter::once(backbone).chain(&fastbone) {
        let name = name.as_name();
        if spared_name(context, name).is_none() {
            clear(context, row, name, &mut acts);
        }
    }
    acts
}

/// Why the records of the name that a row gives are not removed now; none where they are.
pub fn spared(context: &RuleContext<'_>, row: &LockRow) -> Option<SpareReason> {
    let of_name = |name: NameRef<'_>| {
        let is_protected = || protect::protection(context, name).is_some();
        spared_name(context, name).or_else(|| is_protected().then_some(SpareReason::Protected))
    };
    spared_row(context, row).or_else(|| row.name.as_ref().and_then(|name| of_name(name.as_name())))
}

/// Why no records of a row's names are removed now.
fn spared_row(context: &RuleContext<'_>, row: &LockRow) -> Option<SpareReason> {
    let Some(released) = row.released.filter(|_| !row.bad) else { return Some(SpareReason::NotReleased) };
    // The removal itself may wait for `delete_after`.
    let until = released.plus(context.inventory.config.name_cooldown).plus(context.inventory.config.delete_after);
    let is_recent = context.now <= until;
    let is_allowed = context.admin(row.project).is_some_and(|admin| admin.automation_allowed);
    match context.settings(row.project).map(|settings| settings.policy) {
        _ if !is_recent => Some(SpareReason::LongAgo),
        _ if !is_allowed => Some(SpareReason::Forbidden),
        None => Some(SpareReason::PolicyUnknown),
        Some(policy @ (Policy::CreateOnly | Policy::UpsertOnly)) => Some(SpareReason::Policy(policy)),
        Some(_) if !context.selection.includes(row.inv, row.project) => Some(SpareReason::LeftOut),
        Some(_) if is_restricted(context, row) => Some(SpareReason::Restricted),
        Some(_) if context.is_tripped(row.project) && !context.selection.names_host(row.inv) => {
            Some(SpareReason::Breaker)
        }
        Some(_) => context.removals_rest().then_some(SpareReason::Resting),
    }
}

/// Why the records of one name are not removed, whatever its row says.
fn spared_name(context: &RuleContext<'_>, name: NameRef<'_>) -> Option<SpareReason> {
    if context.names.is_held(context.inventory, name) {
        Some(SpareReason::Held)
    } else {
        is_untouchable(context, name).then_some(SpareReason::Untouchable)
    }
}

/// Whether the row's host has the restriction `automated-dns`, and the command line does not name the host.
fn is_restricted(context: &RuleContext<'_>, row: &LockRow) -> bool {
    let hosts = &context.inventory.hosts[context.inventory.places_of(row.inv)];
    hosts.iter().any(|host| host.restricted) && !context.selection.names_host(row.inv)
}

/// Removes the AAAA at one name and the PTR that point to it.
fn clear(context: &RuleContext<'_>, row: &LockRow, name: NameRef<'_>, acts: &mut Vec<RuleAct>) {
    let actor = RuleActor { subject: Subject::Released(row.inv), project: row.project, by_right: false };
    let mut remove = |found: LiveRrset<'_>, rdata: Rdata| {
        acts.push(RuleAct::removal(found, rdata, Rule::Released, actor.clone(), Some(row.origin)));
    };
    let may_clear = |found: &LiveRrset<'_>| {
        let LiveRrset { zone, rrset } = *found;
        own::is_writable(context, *found)
            && own::unknown_registry(context, zone, rrset.owner().as_name(), rrset.rtype()).is_none()
    };
    let addresses = context.live.rrset(name, Rtype::AAAA).filter(may_clear);
    if let Some(found) = addresses {
        found.rrset.rdata().map(RdataRef::to_rdata).for_each(|rdata| remove(found, rdata));
    }
    for found in context.live.pointing_to(name).filter(may_clear) {
        remove(found, Rdata::from_name(name));
    }
}
