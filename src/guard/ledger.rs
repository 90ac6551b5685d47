//! The hosts that earlier applies changed, and how many of them are within a sliding period.

use std::collections::{BTreeMap, BTreeSet};

use super::breakers::GLOBAL;
use crate::claim::Subject;
use crate::inventory::value::{Duration, Time};

/// Which hosts a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope<'a> {
    /// Those of all projects.
    Global,
    /// Those of one.
    Project(&'a str),
}

impl<'a> LimitScope<'a> {
    /// Reads the scope as a plan and the state write it; none for scopes that are not about hosts.
    pub fn parse(text: &'a str) -> Option<LimitScope<'a>> {
        match text.strip_prefix("project:") {
            Some(project) => Some(LimitScope::Project(project)),
            None => (text == GLOBAL).then_some(LimitScope::Global),
        }
    }

    /// Whether a host of a project is in it.
    pub fn has(self, project: &str) -> bool {
        match self {
            LimitScope::Global => true,
            LimitScope::Project(own) => own == project,
        }
    }
}

/// What earlier applies changed: project, host, time. The order is any, and a host has one entry for each change.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Vec<(String, Subject, Time)>);

impl Ledger {
    /// Makes a ledger of the entries that the state gives.
    pub fn new(entries: Vec<(String, Subject, Time)>) -> Ledger {
        Ledger(entries)
    }

    /// When each change was made.
    pub fn times(&self) -> impl Iterator<Item = Time> {
        self.0.iter().map(|(_, _, at)| *at)
    }

    /// The hosts of a scope that were changed within the period before `now`, each with the latest time.
    ///
    /// A change that is exactly one period old no longer counts. A change after `now` counts: the clock was set back,
    /// and the change was made.
    pub fn used(&self, scope: LimitScope<'_>, period: Duration, now: Time) -> BTreeMap<Subject, Time> {
        let since = now.minus(period);
        let mut used = BTreeMap::new();
        for (_, host, at) in self.0.iter().filter(|(project, _, at)| scope.has(project) && *at > since) {
            let latest = used.entry(host.clone()).or_insert(*at);
            *latest = (*latest).max(*at);
        }
        used
    }
}

/// The earliest time at which the planned hosts fit the limit, if no other host changes; none where they fit already,
/// or are too many even alone.
pub fn frees(used: &BTreeMap<Subject, Time>, planned: &BTreeSet<Subject>, max: u64, period: Duration) -> Option<Time> {
    let room = usize::try_from(max).unwrap_or(usize::MAX).checked_sub(planned.len())?;
    let others = used.iter().filter(|(host, _)| !planned.contains(host));
    let mut others: Vec<Time> = others.map(|(_, at)| *at).collect();
    others.sort_unstable();
    let too_many = others.len().checked_sub(room).filter(|too_many| *too_many > 0)?;
    Some(others[too_many - 1].plus(period))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::inventory::value::Inv;

    /// A time so many seconds after, or before, some moment.
    fn at(seconds: i64) -> Time {
        Time::from_nanos((1_800_000_000 + seconds) * 1_000_000_000)
    }

    /// A ledger of project, host and seconds.
    fn ledger(entries: &[(&str, u64, i64)]) -> Ledger {
        Ledger::new(
            entries
                .iter()
                .map(|(project, host, second)| ((*project).to_owned(), Subject::Host(Inv(*host)), at(*second)))
                .collect(),
        )
    }

    /// The hosts that a scope used within so many seconds.
    fn used(ledger: &Ledger, scope: LimitScope<'_>, period: u64, now: i64) -> Vec<u64> {
        ledger
            .used(scope, Duration::from_secs(period), at(now))
            .into_keys()
            .map(|host| host.host().unwrap().0)
            .collect()
    }

    #[test]
    fn what_is_exactly_a_period_old_is_free_again() {
        let ledger = ledger(&[("a", 1, 0)]);
        assert_eq!(used(&ledger, LimitScope::Global, 3600, 3599), [1]);
        assert_eq!(used(&ledger, LimitScope::Global, 3600, 3600), [0; 0]);
    }

    #[test]
    fn what_lies_after_the_clock_counts() {
        let ledger = ledger(&[("a", 1, 90_000), ("a", 2, 10)]);
        assert_eq!(used(&ledger, LimitScope::Global, 60, 20), [1, 2]);
        assert_eq!(
            used(&ledger, LimitScope::Global, 60, -100_000),
            [1, 2],
            "a clock that is stepped back frees nothing"
        );
    }

    #[test]
    fn a_project_is_counted_by_itself_and_a_host_once() {
        let ledger = ledger(&[("a", 1, 0), ("b", 2, 0), ("a", 1, 5), ("b", 1, 6)]);
        assert_eq!(used(&ledger, LimitScope::Project("a"), 60, 10), [1]);
        assert_eq!(used(&ledger, LimitScope::Project("b"), 60, 10), [1, 2]);
        assert_eq!(used(&ledger, LimitScope::Global, 60, 10), [1, 2]);
    }

    #[test]
    fn an_hour_is_an_hour_while_the_clocks_on_the_wall_are_set_back() {
        // In Amsterdam it was half past two twice on 2026-10-25.
        let first: Time = "2026-10-25T02:30:00+02:00".parse().unwrap();
        let ledger = Ledger::new(vec![("a".to_owned(), Subject::Host(Inv(1)), first)]);
        let hour = Duration::from_secs(3600);
        let count = |now: &str| ledger.used(LimitScope::Global, hour, now.parse().unwrap()).len();
        assert_eq!(count("2026-10-25T02:59:59+02:00"), 1);
        assert_eq!(count("2026-10-25T02:29:59+01:00"), 1);
        assert_eq!(count("2026-10-25T02:30:00+01:00"), 0);
        // And in spring an hour of the wall is missing.
        let spring =
            Ledger::new(vec![("a".to_owned(), Subject::Host(Inv(1)), "2026-03-29T01:59:00+01:00".parse().unwrap())]);
        assert_eq!(spring.used(LimitScope::Global, hour, "2026-03-29T03:58:59+02:00".parse().unwrap()).len(), 1);
        assert_eq!(spring.used(LimitScope::Global, hour, "2026-03-29T03:59:00+02:00".parse().unwrap()).len(), 0);
    }

    /// Entries of two projects and few hosts, around the clock and after it.
    fn entries() -> impl Strategy<Value = Vec<(String, Subject, Time)>> {
        let entry = (prop::sample::select(vec!["a", "b"]), 1..8_u64, -50..50_i64);
        prop::collection::vec(
            entry.prop_map(|(project, host, second)| (project.to_owned(), Subject::Host(Inv(host)), at(second))),
            0..30,
        )
    }

    /// The hosts in use, found by asking of each host whether any entry of it is young enough.
    fn brute(entries: &[(String, Subject, Time)], scope: LimitScope<'_>, period: u64, now: i64) -> Vec<u64> {
        let is_young = |at: &Time| {
            i128::from(now) - i128::from(at.as_nanos() / 1_000_000_000 - 1_800_000_000) < i128::from(period)
        };
        let of_scope = |project: &str| matches!(scope, LimitScope::Global) || scope == LimitScope::Project(project);
        (1..8)
            .filter(|host| {
                entries
                    .iter()
                    .any(|(project, inv, at)| inv.host() == Some(Inv(*host)) && is_young(at) && of_scope(project))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_window_is_what_a_count_by_hand_gives(mut entries in entries(), period in 1..60_u64, now in -60..60_i64, seed in any::<u64>()) {
            for scope in [LimitScope::Global, LimitScope::Project("a"), LimitScope::Project("c")] {
                let expected = brute(&entries, scope, period, now);
                prop_assert_eq!(used(&Ledger::new(entries.clone()), scope, period, now), expected.clone());
                // The order of entries means nothing.
                entries.sort_by_key(|(_, host, at)| (host.host().unwrap().0 ^ seed).wrapping_mul(at.as_nanos() as u64 ^ seed));
                prop_assert_eq!(used(&Ledger::new(entries.clone()), scope, period, now), expected);
            }
        }

        #[test]
        fn a_clock_that_goes_on_only_frees(entries in entries(), period in 1..60_u64, now in -60..60_i64, step in 0..60_i64) {
            let ledger = Ledger::new(entries);
            let before = used(&ledger, LimitScope::Global, period, now);
            prop_assert!(used(&ledger, LimitScope::Global, period, now + step).iter().all(|host| before.contains(host)));
        }

        #[test]
        fn what_frees_up_is_the_first_second_at_which_it_fits(
            entries in entries(),
            planned in prop::collection::btree_set((1..10_u64).prop_map(|inv| Subject::Host(Inv(inv))), 0..5),
            (period, max) in (1..60_u64, 0..8_u64),
        ) {
            let ledger = Ledger::new(entries);
            let period = Duration::from_secs(period);
            let fits = |now: i64| {
                let used = ledger.used(LimitScope::Global, period, at(now));
                used.keys().chain(&planned).collect::<BTreeSet<_>>().len() as u64 <= max
            };
            let found = frees(&ledger.used(LimitScope::Global, period, at(-60)), &planned, max, period);
            let expected = if fits(-60) { None } else { (-60..200).find(|second| fits(*second)).map(at) };
            prop_assert_eq!(found, expected);
        }
    }
}
