//! In which order the units of a plan come: those that go now, then those of later waves. Pure.

use super::choice::{RolloutChoice, joins_next};
use super::members::{RolloutView, place_of};
use super::units::{ChangeUnit, hosts_of};
use crate::inventory::value::Time;

/// Where a unit comes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TurnOfUnit<'p> {
    /// Whether it does not go now, and whether it is not known when it does.
    is_late: (bool, bool),
    /// When it goes at the earliest.
    until: Option<Time>,
    /// Its location.
    location: &'p str,
    /// Its rack.
    rack: &'p str,
    /// Its place in the plan.
    unit: usize,
}

/// The units that were chosen from, in the order of waves; without those that fit no wave, or wait for what no wave changes. The choice
/// was made as if all approvals were there.
pub fn in_order(view: &RolloutView<'_>, units: &[ChangeUnit], choice: &RolloutChoice) -> Vec<usize> {
    let held = choice.held.iter().filter(|(_, why)| !joins_next(why.code));
    let all = choice.goes.iter().map(|unit| (*unit, true)).chain(held.map(|(unit, _)| (*unit, false)));
    let mut turns: Vec<TurnOfUnit<'_>> = all
        .map(|(unit, goes)| {
            let first = hosts_of(&view.plan.changes, &units[unit]).into_iter().next().map(|(_, subject)| subject);
            let wait = first.and_then(|subject| choice.waits.get(subject)).and_then(|record| record.wait.until);
            let place = first.and_then(|subject| place_of(view.plan, subject));
            let (location, rack) = place.map_or(("", ""), |(location, rack)| (location, rack.unwrap_or_default()));
            TurnOfUnit {
                is_late: (!goes, !goes && wait.is_none()),
                until: wait.filter(|_| !goes),
                location,
                rack,
                unit,
            }
        })
        .collect();
    turns.sort_unstable();
    turns.into_iter().map(|turn| turn.unit).collect()
}
