//! In which order hosts are asked for, and for how many at a time. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::HostAsk;
use super::tasks::{ApprovalMemory, Refusal, RefusalKind};
use crate::claim::Subject;
use crate::cms::task::TaskType;
use crate::inventory::value::{Duration, Time};

/// How long a host is not asked for after it was rejected: 1 hour.
pub const REJECTED_FOR: Duration = Duration::from_secs(3_600);

/// Until when a rejection holds, whatever is asked for; none where the host went to the end, or where it no longer holds.
pub fn holds_until(refusal: &Refusal, now: Time) -> Option<Time> {
    let until = refusal.at.plus(REJECTED_FOR);
    (refusal.kind == RefusalKind::Rejected && now < until).then_some(until)
}

/// Until when a rejection holds for a change of a host; none where it does not, or no longer.
pub fn rejected_until(refusal: &Refusal, ask: &HostAsk, now: Time) -> Option<Time> {
    let is_of_it = refusal.change == ask.change && ask.kind == TaskType::Automated;
    holds_until(refusal, now).filter(|_| is_of_it)
}

/// The units of which a host was rejected. Hosts that share a change go together, or not at all: services are asked for all of them,
/// or for none.
pub fn shut_units(asks: &[HostAsk], memory: &ApprovalMemory, now: Time) -> BTreeSet<usize> {
    let is_rejected = |ask: &&HostAsk| {
        memory.refusals.get(&ask.subject).is_some_and(|refusal| rejected_until(refusal, ask, now).is_some())
    };
    asks.iter().filter(is_rejected).map(|ask| ask.unit).collect()
}

/// The hosts that are asked for now, in the order in which they are to be. `asks` are those that the plan changes, in the order
/// of waves; `limits` says for how many of a project services are asked at a time, where that is limited; `free` are hosts that go
/// now whatever room there is, so that no limit holds for them.
///
/// Hosts that have tasks keep their place, those in flux take none, and those that went to the end come last.
pub fn asked_now(
    asks: Vec<HostAsk>,
    memory: &ApprovalMemory,
    (limits, free): (&BTreeMap<String, usize>, &BTreeSet<Subject>),
    now: Time,
) -> Vec<HostAsk> {
    let mut with_tasks: BTreeSet<&Subject> = BTreeSet::new();
    let mut used: BTreeSet<&Subject> = BTreeSet::new();
    for row in memory.tasks().filter(|row| !row.is_ended) {
        with_tasks.insert(&row.subject);
        if row.is_used {
            used.insert(&row.subject);
        }
    }
    let at_end = |ask: &HostAsk| {
        let refusal = memory.refusals.get(&ask.subject);
        refusal.filter(|refusal| refusal.kind == RefusalKind::GaveUp).map(|refusal| refusal.at)
    };
    let shut = shut_units(&asks, memory, now);
    let mut asks: Vec<HostAsk> = asks.into_iter().filter(|ask| !shut.contains(&ask.unit)).collect();
    // The sort keeps the order of waves among those of which it says nothing.
    asks.sort_by_key(at_end);
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let has_task = |ask: &&HostAsk| with_tasks.contains(&ask.subject) && !used.contains(&ask.subject);
    for ask in asks.iter().filter(has_task).filter(|ask| !ask.is_affected) {
        *taken.entry(ask.project.clone()).or_default() += 1;
    }
    let is_known = |ask: &HostAsk| with_tasks.contains(&ask.subject) || free.contains(&ask.subject);
    // No budget counts a host that only loses an address of its name: it is asked for with those that go with it.
    let is_counted = |ask: &&HostAsk| !ask.is_affected;
    let counted: BTreeSet<usize> = asks.iter().filter(is_counted).map(|ask| ask.unit).collect();
    let is_asked = |ask: &&HostAsk| is_known(ask) || !counted.contains(&ask.unit);
    let mut asked: BTreeSet<usize> = asks.iter().filter(is_asked).map(|ask| ask.unit).collect();
    for ask in asks.iter().filter(is_counted) {
        let taken = taken.entry(ask.project.clone()).or_default();
        let has_place = limits.get(&ask.project).is_none_or(|limit| *taken < *limit);
        let is_asked = asked.contains(&ask.unit) || has_place && asked.insert(ask.unit);
        *taken += usize::from(is_asked && !is_known(ask));
    }
    asks.retain(|ask| asked.contains(&ask.unit));
    asks
}
