//! Rule 9: names that were given up lose their records.

use super::act::{Act, Actor};
use super::context::Context;
use super::own;
use super::rules::is_untouchable;
use crate::change::Rule;
use crate::desired::names::fastbone_of;
use crate::dns::{NameRef, Rdata, RdataRef, Rtype};
use crate::inventory::model::{LockRow, Policy};
use crate::live::LiveRrset;

/// Removes the AAAA of a released name and of its fastbone name, and the PTR that name them.
///
/// Nothing is done while removals rest, long after the release, or where the administrator, the policy or the host's
/// restrictions forbid it. What blocks the host, and the owner's switch, do not matter.
pub fn release(context: &Context<'_>, row: &LockRow) -> Vec<Act> {
    let mut acts = Vec::new();
    if !is_due(context, row) {
        return acts;
    }
    let Some(backbone) = &row.name else { return acts };
    let fastbone = fastbone_of(context.inventory, row.project, backbone.as_name());
    for name in std::iter::once(backbone).chain(&fastbone) {
        let name = name.as_name();
        if !context.names.is_held(context.inventory, name) && !is_untouchable(context, name) {
            clear(context, row, name, &mut acts);
        }
    }
    acts
}

/// Whether a row's names are to be cleared now.
fn is_due(context: &Context<'_>, row: &LockRow) -> bool {
    let Some(released) = row.released else { return false };
    let recent = context.now.since(released).is_none_or(|age| age <= context.inventory.config.name_cooldown);
    let allowed = context.admin(row.project).is_some_and(|admin| admin.automation_allowed);
    let policy = context.settings(row.project).map(|settings| settings.policy);
    recent
        && allowed
        && !row.bad
        && matches!(policy, Some(Policy::Repair | Policy::Sync))
        && context.selection.includes(row.inv, row.project)
        && !is_restricted(context, row)
        && !context.removals_rest()
}

/// Whether the row's host keeps automation away, and nobody named it.
fn is_restricted(context: &Context<'_>, row: &LockRow) -> bool {
    let host = context.inventory.place_of(row.inv).map(|place| &context.inventory.hosts[place]);
    host.is_some_and(|host| host.restricted) && !context.selection.names_host(row.inv)
}

/// Removes what stands at one name and what points to it.
fn clear(context: &Context<'_>, row: &LockRow, name: NameRef<'_>, acts: &mut Vec<Act>) {
    let actor = Actor { host: Some(row.inv), project: row.project, by_right: false };
    let mut remove = |found: LiveRrset<'_>, rdata: Rdata| {
        acts.push(Act::removal(found, rdata, Rule::Released, actor, Some(row.origin)));
    };
    let may_clear = |found: &LiveRrset<'_>| {
        let LiveRrset { zone, rrset } = *found;
        own::is_writable(context, *found)
            && own::unknown_registry(context, zone, rrset.owner(), rrset.rtype()).is_none()
    };
    let addresses = context.live.rrset(name, Rtype::AAAA).filter(may_clear);
    if let Some(found) = addresses {
        found.rrset.rdata().map(RdataRef::to_rdata).for_each(|rdata| remove(found, rdata));
    }
    for found in context.live.pointing_to(name).filter(may_clear) {
        remove(found, Rdata::from_name(name));
    }
}
