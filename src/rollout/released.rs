//! Who is in between and gives its place in the budget back, because it would hold back what it waits for. Pure.
//!
//! Once caches have the new addresses, and the overlap is over, clients reach a subject at its old and at its new ones: it needs
//! its place for its second step alone. It keeps it, so that this step has room. But where the step cannot go all the same, others
//! may need the place first: the pod that is to replace it, or one of several that have more places together than there are; or
//! the plan has no such step, since it is narrowed, or its row says that it is about to go. Then its second step waits for room as
//! any other change.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use super::flux::{FluxRow, FormerRrset, RolloutMemory, is_watched};
use super::members::{GroupTerms, RolloutView};
use super::present::groups;
use super::replaced::Replacements;
use super::units::ChangeUnit;
use crate::change::Change;
use crate::claim::Subject;
use crate::inventory::value::Duration;

/// The memory, without the places that are given back; `open` are the units that are still to be made.
pub fn release<'m>(
    view: &RolloutView<'m>,
    units: &[ChangeUnit],
    (open, replacements): (&[usize], &Replacements<'m>),
) -> Cow<'m, RolloutMemory> {
    let may_go = |row: &FluxRow| {
        let overlap = view.groups.get(&row.group).map_or(Duration::from_secs(0), GroupTerms::least_overlap);
        let is_past = row.passes(overlap).is_some_and(|passes| passes <= view.now);
        // What answered a probe may be an address that a later plan is to give it.
        row.is_between() && is_past && !row.is_silent() && (row.answer.is_none() || is_still_wanted(view, row))
    };
    if !view.memory.flux.iter().any(may_go) {
        return Cow::Borrowed(view.memory);
    }
    let subjects = |unit: &ChangeUnit| {
        let changes = unit.changes.iter().map(|place| &view.plan.changes[*place]);
        changes.flat_map(|change| change.subjects()).collect::<Vec<&Subject>>()
    };
    let open = || open.iter().map(|unit| &units[*unit]);
    let held: HashSet<&Subject> =
        open().filter(|unit| replacements.held(view, unit).is_some()).flat_map(subjects).collect();
    let mut memory = view.memory.clone();
    let changed: HashSet<&Subject> = open().flat_map(subjects).collect();
    let is_idle = |row: &FluxRow| held.contains(&row.subject) || !changed.contains(&row.subject);
    let own = memory.flux.iter_mut().filter(|row| may_go(row) && is_idle(row));
    own.for_each(|row| row.wanted = None);
    let crowded: BTreeSet<String> = {
        let view = RolloutView { memory: &memory, ..*view };
        groups(&view).into_iter().filter(|group| group.is_crowded()).map(|group| group.name.to_owned()).collect()
    };
    if !crowded.is_empty() {
        // What goes back to what it had needs no room.
        let members = open().flat_map(|unit| view.members(unit));
        let repairs: HashSet<&Subject> = members.filter(|member| member.repairs).map(|member| member.subject).collect();
        let is_one = |row: &FluxRow| crowded.contains(&row.group) && !repairs.contains(&row.subject);
        memory.flux.iter_mut().filter(|row| may_go(row) && is_one(row)).for_each(|row| row.wanted = None);
    }
    Cow::Owned(memory)
}

/// Whether the plan gives a subject what it is to have by a change that stopped in between.
fn is_still_wanted(view: &RolloutView<'_>, row: &FluxRow) -> bool {
    let wanted = row.wanted.as_deref().unwrap_or_default();
    let is_own = |change: &&Change| is_watched(change) && change.subjects().any(|subject| *subject == row.subject);
    view.plan.changes.iter().filter(is_own).all(|change| wanted.contains(&FormerRrset::after(change)))
}
