//! The same where pools have several targets: who gets what, and what the others lack.

use super::super::lack_news;
use super::*;
use crate::apply::{MadeBefore, PoolShare, VoteTerms};
use crate::diag::Problem;
use crate::plan::{Notice, NoticeCode, ZoneSeen};
use crate::target::{PoolName, TargetId};

/// A target of a pool: its name, and its primary where it can be reached.
pub(super) type Target<'p> = (&'static str, Option<&'p MemoryPrimary>);

/// A pool with its targets, of one vote each.
pub(super) struct TestPool<'p> {
    /// Its name.
    pub(super) name: PoolName,
    /// Its threshold in percent.
    pub(super) threshold: u32,
    /// The targets.
    pub(super) targets: Vec<Target<'p>>,
}

/// The pool of all zones.
pub(super) fn main<'p>(threshold: u32, targets: &[Target<'p>]) -> TestPool<'p> {
    TestPool { name: fixture::pool(), threshold, targets: targets.to_vec() }
}

/// What a target lacks: its name, the owner name, and why.
pub(super) type Lack = (String, String, String);

/// The ways to all copies that a plan changes.
pub(super) fn accesses<'p>(plan: &Plan, pools: &[TestPool<'p>]) -> Vec<CopyAccess<'p>> {
    let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
    let mut accesses = Vec::new();
    for zone in zones {
        let pool = pools.iter().find(|pool| pool.name == zone.pool).unwrap();
        let terms = VoteTerms { threshold: pool.threshold, voters: pool.targets.len() };
        let share = (pool.targets.len() > 1).then_some(PoolShare { votes: 1, terms });
        for (name, primary) in &pool.targets {
            let dead = || Problem::new(*name, "connect-failed", "no route");
            let writer = primary.map(|primary| primary as &dyn WriteTarget).ok_or_else(dead);
            let target = TargetId { pool: zone.pool.clone(), name: (*name).to_owned() };
            accesses.push(CopyAccess {
                copy: CopyId { target, zone: zone.name.clone() },
                writer,
                is_fenced: true,
                share,
            });
        }
    }
    accesses
}

/// Applies a plan to the targets of pools; gives the outcome and what targets lack.
pub(super) fn run_in(plan: &Plan, pools: &[TestPool<'_>]) -> (ApplyOutcome, Vec<Lack>) {
    let survey = survey(plan, accesses(plan, pools), SIDE_BY_SIDE);
    let orders = orders(plan, None);
    let written = write(survey, &orders, &Journal::default());
    let read_back = read_back(&written);
    let news = lack_news(&written, &read_back);
    let lack = |(copy, change, why): (CopyId, &Change, String)| (copy.target.name, change.key.owner.to_string(), why);
    (judge(&written, &read_back, Vec::new()), news.lacking.into_iter().map(lack).collect())
}

/// How many RRsets of a plan are as planned.
fn done(plan: &Plan, primary: &MemoryPrimary) -> usize {
    plan.changes.iter().filter(|change| standing(primary, &change.key).as_ref() == change.kind.after()).count()
}

/// The plan for so many hosts; it saw the copies of these targets.
fn plan_of(hosts: usize, targets: &[&str]) -> Plan {
    let plan = plan(hosts);
    let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
    let seen = |zone: ZoneId, target: &str| ZoneSeen {
        digest: "0".repeat(64),
        managed: 0,
        pool: zone.pool,
        rrsets: 10,
        serial: Some(0),
        target: target.to_owned(),
        zone: zone.name,
    };
    let zones = zones.iter().flat_map(|zone| targets.iter().map(move |target| seen(zone.clone(), target)));
    let zones = zones.collect();
    Plan { zones, ..plan }
}

/// The message of the outcome of a host.
fn message(applied: &ApplyOutcome, host: usize) -> &str {
    applied.hosts[host].message.as_deref().unwrap_or_default()
}

#[test]
fn all_targets_get_all_with_markers_of_their_own() {
    let plan = plan_of(20, &["a", "b", "c"]);
    let [a, b, c] = [1, 2, 4].map(|window| primary(&plan, window));
    let (applied, lacks) = run_in(&plan, &[main(100, &[("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))])]);
    assert_eq!((counts(&applied).as_str(), applied.ending()), ("20 applied", ApplyEnding::Done));
    assert!(lacks.is_empty() && applied.hosts.iter().all(|host| host.lacks.is_empty()));
    let key = marker_key(&plan.changes[0].zone).unwrap();
    let markers: HashSet<String> = [&a, &b, &c]
        .iter()
        .map(|primary| {
            assert_eq!(done(&plan, primary), plan.changes.len());
            Marker::of_rrset(&standing(primary, &key).unwrap()).unwrap().to_string()
        })
        .collect();
    assert_eq!(markers.len(), 3, "every update has its own number");
    let targets: Vec<_> = applied.zones.iter().filter_map(|zone| zone.target.as_deref()).collect();
    assert_eq!(targets, ["a", "b", "c", "a", "b", "c"]);
    let (again, _) = run_in(&plan, &[main(100, &[("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))])]);
    assert_eq!(counts(&again), "20 already-applied");
}

#[test]
fn a_dead_target_lacks_all_where_the_others_reach_the_threshold() {
    let plan = plan_of(10, &["a", "b", "c"]);
    let (a, b) = (primary(&plan, 1), primary(&plan, 1));
    let (applied, lacks) = run_in(&plan, &[main(66, &[("a", Some(&a)), ("b", Some(&b)), ("c", None)])]);
    assert_eq!((counts(&applied).as_str(), applied.ending()), ("10 applied", ApplyEnding::Done));
    assert_eq!([&a, &b].map(|primary| done(&plan, primary)), [plan.changes.len(); 2]);
    assert_eq!(lacks.len(), plan.changes.len());
    assert!(lacks.iter().all(|(target, _, why)| target == "c" && why.contains("error[connect-failed]")));
    let lack = &applied.hosts[1].lacks[0];
    assert_eq!((lack.target.as_str(), lack.changes), ("c", 3));
}

#[test]
fn nothing_is_sent_where_the_others_do_not_reach_the_threshold() {
    let plan = plan_of(10, &["a", "b", "c"]);
    let (a, b) = (primary(&plan, 1), primary(&plan, 1));
    let (applied, lacks) = run_in(&plan, &[main(67, &[("a", Some(&a)), ("b", Some(&b)), ("c", None)])]);
    assert_eq!((counts(&applied).as_str(), applied.ending()), ("10 failed", ApplyEnding::Error));
    assert!(made(&a).is_empty() && made(&b).is_empty() && lacks.is_empty());
    insta::assert_snapshot!(message(&applied, 0), @"pool `main`: error[no-consensus]: without target `c` the others do not reach the threshold of 67 percent; target `c`: c: error[connect-failed]: no route");
}

#[test]
fn a_host_that_is_stale_at_one_target_goes_on_at_the_others_or_nowhere() {
    let plan = plan_of(6, &["a", "b", "c"]);
    let key = address_key(&plan, 3);
    for (threshold, outcomes) in [(66, "6 applied"), (100, "5 applied, 1 stale")] {
        let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
        put(&b, &key, Some(&foreign(1)));
        let pool = main(threshold, &[("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))]);
        let (applied, lacks) = run_in(&plan, &[pool]);
        assert_eq!(counts(&applied), outcomes);
        assert_eq!(standing(&b, &key), Some(foreign(1)));
        let of_host = plan.changes.iter().filter(|change| change.subject.host() == Some(Inv(3))).count();
        assert_eq!(done(&plan, &b), plan.changes.len() - of_host, "it is left whole");
        if threshold == 66 {
            assert_eq!(done(&plan, &a), plan.changes.len());
            assert_eq!(lacks.len(), of_host);
            assert!(lacks[0].2.starts_with("AAAA of `h3.search.example.net.` changed since the plan"), "{lacks:?}");
        } else {
            assert_eq!(done(&plan, &a), plan.changes.len() - of_host);
            assert!(message(&applied, 3).starts_with("target `b`: AAAA of"), "{}", message(&applied, 3));
            assert!(lacks.is_empty());
        }
    }
}

#[test]
fn a_target_that_refuses_all_stops_the_others_only_where_it_counts() {
    let plan = plan_of(20, &["a", "b", "c"]);
    for threshold in [66, 100] {
        let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
        b.expect(vec![UpdateFault::Refused; 1_000]);
        let pool = main(threshold, &[("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))]);
        let (applied, lacks) = run_in(&plan, &[pool]);
        assert!(made(&b).is_empty());
        if threshold == 66 {
            assert_eq!(counts(&applied), "20 applied");
            assert_eq!(lacks.len(), plan.changes.len());
        } else {
            assert_eq!(applied.count(OutcomeCode::Applied), 0);
            assert!((0..20).all(|host| message(&applied, host).contains("error[no-consensus]")));
        }
    }
}

#[test]
fn a_target_that_the_plan_did_not_know_lacks_what_the_others_get() {
    let mut plan = plan_of(1, &["a", "b"]);
    plan.changes.iter_mut().for_each(|change| change.targets = vec!["a".to_owned(), "b".to_owned()]);
    let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
    let targets: [Target<'_>; 3] = [("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))];
    let (applied, lacks) = run_in(&plan, &[main(66, &targets)]);
    assert_eq!(counts(&applied), "1 applied");
    assert!(made(&c).is_empty());
    assert_eq!(lacks.len(), plan.changes.len());
    assert_eq!((lacks[0].0.as_str(), lacks[0].2.as_str()), ("c", "its copy was unknown when the plan was made"));
    // Where it counts, nothing is sent.
    let [a, b] = [1, 1].map(|window| primary(&plan, window));
    let (applied, _) = run_in(&plan, &[main(100, &[("a", Some(&a)), ("b", Some(&b)), ("c", None)])]);
    assert_eq!(counts(&applied), "1 failed");
    assert!(made(&a).is_empty() && made(&b).is_empty());
}

#[test]
fn a_target_whose_data_block_a_host_lacks_nothing_and_does_not_count() {
    for (threshold, outcome) in [(66, "1 applied"), (100, "1 failed")] {
        let mut plan = plan_of(1, &["a", "b", "c"]);
        plan.changes.iter_mut().for_each(|change| change.targets = vec!["a".to_owned(), "b".to_owned()]);
        plan.notices.push(Notice {
            code: NoticeCode::CopyBlocked,
            message: "a CNAME".to_owned(),
            name: "c".to_owned(),
            subject: Some(plan.changes[0].subject.clone()),
        });
        let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
        let targets: [Target<'_>; 3] = [("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))];
        let (applied, lacks) = run_in(&plan, &[main(threshold, &targets)]);
        assert_eq!((counts(&applied).as_str(), lacks.len()), (outcome, 0));
        assert!(made(&c).is_empty());
    }
}

#[test]
fn changes_of_one_rrset_for_different_targets_are_each_sent_to_their_own() {
    let mut plan = plan_of(1, &["a", "b"]);
    let mut of_b = plan.changes[0].clone();
    of_b.kind = crate::dns::ChangeKind::between(Some(foreign(1)), of_b.kind.after().cloned()).unwrap();
    of_b.targets = vec!["b".to_owned()];
    plan.changes[0].targets = vec!["a".to_owned()];
    let (a, b) = (primary(&plan, 1), primary(&plan, 1));
    put(&b, &of_b.key, Some(&foreign(1)));
    plan.changes.insert(1, of_b);
    let (applied, lacks) = run_in(&plan, &[main(100, &[("a", Some(&a)), ("b", Some(&b))])]);
    assert_eq!((counts(&applied).as_str(), lacks.len()), ("1 applied", 0));
    assert_eq!(standing(&a, &plan.changes[0].key), standing(&b, &plan.changes[0].key));
}

#[test]
fn a_change_that_one_target_alone_needs_is_lacking_there() {
    let mut plan = plan_of(1, &["a", "b", "c"]);
    plan.changes.iter_mut().for_each(|change| change.targets = vec!["b".to_owned()]);
    for (threshold, outcome, lacking) in [(66, "1 already-applied", plan.changes.len()), (100, "1 stale", 0)] {
        let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
        put(&b, &plan.changes[0].key, Some(&foreign(1)));
        let targets: [Target<'_>; 3] = [("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))];
        let (applied, lacks) = run_in(&plan, &[main(threshold, &targets)]);
        assert_eq!((counts(&applied).as_str(), lacks.len()), (outcome, lacking));
        assert!(made(&b).is_empty() && lacks.iter().all(|(target, ..)| target == "b"));
    }
}

#[test]
fn what_a_target_swallows_that_only_brings_it_in_line_is_lacking_there() {
    let mut plan = plan_of(1, &["a", "b", "c"]);
    for change in &mut plan.changes {
        change.targets = vec!["b".to_owned()];
        change.reasons = vec![fixture::reason(Rule::CopyDiffers, None, &[])];
    }
    for (threshold, outcome) in [(66, "1 already-applied"), (100, "1 not-applied")] {
        let [a, b, c] = [1, 1, 1].map(|window| primary(&plan, window));
        b.decide({
            let plan = plan.clone();
            move |_| swallowed(&plan)
        });
        let targets: [Target<'_>; 3] = [("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))];
        let (applied, lacks) = run_in(&plan, &[main(threshold, &targets)]);
        assert_eq!((counts(&applied).as_str(), lacks.len()), (outcome, plan.changes.len()), "{threshold}");
        assert!(lacks.iter().all(|(target, ..)| target == "b"));
    }
}

#[test]
fn what_was_made_at_one_target_is_made_at_the_others_alone() {
    let plan = plan_of(2, &["a", "b"]);
    let (a, b) = (primary(&plan, 1), primary(&plan, 1));
    plan.changes.iter().for_each(|change| put(&a, &change.key, change.kind.after()));
    put(&a, &address_key(&plan, 0), Some(&foreign(1)));
    let pools = [main(50, &[("a", Some(&a)), ("b", Some(&b))])];
    let is_of_a = |copy: &CopyId, _: &Change| if copy.target.name == "a" { MadeBefore::Yes } else { MadeBefore::No };
    let survey = survey(&plan, accesses(&plan, &pools), SIDE_BY_SIDE).with_made(&is_of_a);
    let orders = orders(&plan, None);
    let written = write(survey, &orders, &Journal::default());
    let read_back = read_back(&written);
    let applied = judge(&written, &read_back, Vec::new());
    assert_eq!((counts(&applied).as_str(), made(&a).len()), ("2 applied", 0));
    assert_eq!(done(&plan, &b), plan.changes.len());
    let lack = &applied.hosts[0].lacks[0];
    assert_eq!((lack.target.as_str(), lack.changes), ("a", 1));
    assert!(lack.message.starts_with("AAAA of `h0.search.example.net.` was made, but has changed since"), "{lack:?}");
    assert!(applied.hosts[1].lacks.is_empty());
}

/// The plan with its reverse zone in another pool.
fn in_two_pools(hosts: usize) -> (Plan, PoolName) {
    let (mut plan, rev) = (plan_of(hosts, &["a", "b"]), "rev".parse::<PoolName>().unwrap());
    let ptrs = plan.changes.iter_mut().filter(|change| change.key.rtype == Rtype::PTR);
    ptrs.for_each(|change| change.pool = rev.clone());
    (plan, rev)
}

#[test]
fn a_subject_in_two_pools_waits_for_the_threshold_of_the_other() {
    let (plan, name) = in_two_pools(10);
    let key = address_key(&plan, 5);
    for threshold in [50, 100] {
        let [a, b, rev] = [1, 1, 1].map(|window| primary(&plan, window));
        // Its address changes at one target just before its update.
        let edit = edited(&plan, &key, &foreign(2));
        b.expect(vec![edit.clone(), edit]);
        let main = main(threshold, &[("a", Some(&a)), ("b", Some(&b))]);
        let other = TestPool { name: name.clone(), threshold: 100, targets: vec![("rev", Some(&rev))] };
        let (applied, _) = run_in(&plan, &[main, other]);
        let ptrs = plan.changes.iter().filter(|change| change.key.rtype == Rtype::PTR);
        let of_host = ptrs.filter(|change| change.subject.host() == Some(Inv(5)));
        let is_pointed =
            of_host.map(|change| standing(&rev, &change.key).as_ref() == change.kind.after()).collect::<Vec<_>>();
        assert_eq!(standing(&b, &key), Some(foreign(2)));
        if threshold == 50 {
            assert_eq!((counts(&applied).as_str(), is_pointed), ("10 applied", vec![true; 2]));
        } else {
            assert_eq!(applied.count(OutcomeCode::Applied), 9, "{}", counts(&applied));
            assert_eq!(is_pointed, [false; 2], "no phase came after the one that failed");
        }
    }
}

#[test]
fn a_pool_that_is_out_of_reach_stops_its_subjects_in_the_other() {
    let (plan, name) = in_two_pools(3);
    let (a, b) = (primary(&plan, 1), primary(&plan, 1));
    let other = TestPool { name, threshold: 100, targets: vec![("rev", None)] };
    let (applied, _) = run_in(&plan, &[main(50, &[("a", Some(&a)), ("b", Some(&b))]), other]);
    assert_eq!(counts(&applied), "3 failed");
    assert!(made(&a).is_empty() && made(&b).is_empty());
}

#[test]
fn whatever_happens_at_three_targets_nothing_foreign_is_overwritten_and_applied_means_at_two() {
    let plan = plan_of(8, &["a", "b", "c"]);
    let mut seen = HashSet::new();
    for seed in 0..150 {
        let mut numbers = Numbers(seed);
        let primaries = [0; 3].map(|_| primary(&plan, [1, 2, 4][numbers.below(3)]));
        let stormy = numbers.below(4);
        for (place, primary) in primaries.iter().enumerate() {
            if stormy == 3 || stormy == place {
                primary.expect(faults(&plan, &mut numbers));
            }
        }
        let [a, b, c] = &primaries;
        let (applied, lacks) = run_in(&plan, &[main(66, &[("a", Some(a)), ("b", Some(b)), ("c", Some(c))])]);
        for (name, primary) in ["a", "b", "c"].into_iter().zip(&primaries) {
            check_copy(&plan, &applied, &lacks, (name, primary), seed);
        }
        for (place, host) in applied.hosts.iter().enumerate().filter(|(_, host)| host.outcome == OutcomeCode::Applied) {
            let whole = 3 - host.lacks.len();
            assert!(whole >= 2, "seed {seed}: host {place}");
        }
        seen.extend(applied.hosts.iter().map(|host| host.outcome.as_str()));
    }
    assert!(seen.contains("applied") && seen.contains("partial"), "{seen:?}");
}

/// Checks what must hold at a target after any apply.
fn check_copy(plan: &Plan, applied: &ApplyOutcome, lacks: &[Lack], (name, primary): (&str, &MemoryPrimary), seed: u64) {
    primary.arrive();
    let foreign: HashMap<(Name, Rtype), Option<Rrset>> = truth::foreign(primary)
        .into_iter()
        .flatten()
        .map(|difference| ((difference.name, difference.rtype), difference.after))
        .collect();
    let done = made(primary);
    for change in &plan.changes {
        let key = (change.key.owner.as_name().to_name(), change.key.rtype);
        let times = done.iter().flatten().filter(|made| made.name == key.0 && made.rtype == key.1).count();
        assert!(times <= 1, "seed {seed}: {name}: {key:?} was written {times} times");
        let found = standing(primary, &change.key);
        if let Some(theirs) = foreign.get(&key) {
            assert_eq!(found, *theirs, "seed {seed}: {name}: a foreign change was overwritten");
        }
        let host = applied.hosts.iter().find(|host| host.subject == change.subject).unwrap();
        let owner = change.key.owner.to_string();
        let is_lacking = lacks.iter().any(|(target, lacked, _)| target == name && *lacked == owner);
        if host.outcome == OutcomeCode::Applied && !is_lacking {
            assert_eq!(found.as_ref(), change.kind.after(), "seed {seed}: {name}: {key:?}");
        }
        if matches!(host.outcome, OutcomeCode::Stale | OutcomeCode::NotReached) {
            assert_eq!(times, 0, "seed {seed}: {name}: {key:?} {}", host.outcome);
        }
    }
}
