//! Rule 9: the records of released names are removed.

use super::act::RuleAct;
use super::compare::Claimant;
use super::context::RuleContext;
use super::protect::{self, is_untouchable};
use crate::claim::Subject;
use crate::desired::gone;
use crate::dns::NameRef;
use crate::inventory::model::{LockRow, Policy};
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

/// Removes the AAAA of a released name and of its fastbone name, and the PTR that name them; with addresses that the
/// inventory lists, the own A, too.
///
/// Nothing is removed while removals are paused, long after the release, or where the administrator, the policy, a
/// breaker or the host's restrictions forbid it. What blocks the host does not matter, and the owner's switch does not,
/// either.
pub fn release(context: &RuleContext<'_>, row: &LockRow) -> Vec<RuleAct> {
    let Some(backbone) = row.name.as_ref().filter(|_| spared_row(context, row).is_none()) else { return Vec::new() };
    let fastbone = fastbone_of(context.inventory, row.project, backbone.as_name());
    let names = std::iter::once(backbone).chain(&fastbone);
    let is_listed = context.inventory.lists_addresses(row.project);
    // `spared_row` tested the policy: it deletes.
    let mut claimant = Claimant::of_former(context, Subject::Released(row.inv), row.project, Policy::Repair);
    for name in names.filter(|name| spared_name(context, name.as_name()).is_none()) {
        gone::claims(name, row.origin, is_listed).for_each(|claim| claimant.compare(&claim));
    }
    claimant.finish().acts
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
