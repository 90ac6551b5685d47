//! Facts about applies, shown on a primary in memory; and many random ones, with faults and other editors.

mod listed;

mod pools;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

use super::judge;
use super::truth::{self, Numbers, edit, is_marker, made, put, standing};
use crate::apply::{
    ApplyEnding, ApplyEvent, ApplyOutcome, ApplyWatch, BatchOutcome, CopyAccess, Orders, OutcomeCode, SIDE_BY_SIDE,
    read_back, survey, write,
};
use crate::change::{Change, Rule};
use crate::dns::{Name, RrKey, Rrset, Rtype};
use crate::guard;
use crate::inventory::value::Inv;
use crate::plan::WaitCode;
use crate::plan::{Plan, SealedPlan, fixture};
use crate::provider::memory::primary::{MemoryPrimary, UpdateFault};
use crate::rollout::board::HeldBack;
use crate::rollout::{RolloutChoice, wave};
use crate::target::{CopyId, Marker, UpdateLimits, WriteTarget, ZoneId, marker_key};

/// What a journal noted: the markers of batches, and how each settled.
#[derive(Default)]
struct Journal {
    /// Batch number to marker and changes.
    sent: Mutex<Vec<(u64, Option<Marker>, usize)>>,
    /// Batch number to its outcome.
    settled: Mutex<HashMap<u64, BatchOutcome>>,
    /// From which batch on the disk is full.
    full_from: Option<u64>,
}

impl ApplyWatch for Journal {
    fn event(&self, event: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        match event {
            ApplyEvent::Sending(batch) if self.full_from.is_some_and(|full| batch.number >= full) => {
                return Err("the disk is full".into());
            }
            ApplyEvent::Sending(batch) => {
                let marker = batch.swap.as_ref().map(|swap| swap.after.clone());
                self.sent.lock().unwrap().push((batch.number, marker, batch.changes.len()));
            }
            ApplyEvent::Settled(batch, settled) => {
                let earlier = self.settled.lock().unwrap().insert(batch.number, settled.clone());
                assert_eq!(earlier, None, "a batch settles once");
            }
            ApplyEvent::Hosts(_) => {}
        }
        Ok(())
    }

    fn wait(&self, _: Duration) {}
}

/// A plan for so many hosts: each moves to another address, with its PTR; every fifth has an orphan neighbour that
/// goes.
fn plan(hosts: usize) -> Plan {
    let reasons = [fixture::reason(Rule::WrongAddress, None, &[])];
    let mut changes = Vec::new();
    for number in 0..hosts {
        let host = ("search", Some(number as u64));
        let name = format!("h{number}.search.example.net");
        let full_name = format!("{name}.");
        let (old, new) = (format!("2a02:6b8::1:{number:x}"), format!("2a02:6b8::2:{number:x}"));
        let (old_data, new_data, name_data) = ([old.as_str()], [new.as_str()], [full_name.as_str()]);
        let none: (u64, &[&str]) = (600, &[]);
        let mut push = |what: (&str, Rtype), before: (u64, &[&str]), after: (u64, &[&str])| {
            changes.push(fixture::change(host, what, (before, after), &reasons));
        };
        push((&name, Rtype::AAAA), (600, &old_data), (600, &new_data));
        push((&old, Rtype::PTR), (600, &name_data), none);
        push((&new, Rtype::PTR), none, (600, &name_data));
        if number % 5 == 0 {
            push((&format!("gone{number}.search.example.net"), Rtype::AAAA), (600, &new_data), none);
        }
    }
    Plan { changes, ..fixture::empty() }
}

/// A primary that holds what a plan saw, and takes updates of a few changes.
fn primary(plan: &Plan, window: usize) -> MemoryPrimary {
    truth::primary(plan).with_window(window).with_limits(UpdateLimits { edits: 8, ..UpdateLimits::NONE })
}

/// Another editor's change right before an update.
fn edited(plan: &Plan, key: &RrKey, rrset: &Rrset) -> UpdateFault {
    UpdateFault::Edited(edit(&truth::primary(plan).zones(), key, Some(rrset)))
}

/// That a server ignores all changes of a plan.
fn swallowed(plan: &Plan) -> UpdateFault {
    UpdateFault::Swallowed(plan.changes.iter().map(|change| change.key.owner.as_name().to_name()).collect())
}

/// How a plan is applied that no limit is about.
fn orders(plan: &Plan, max_failures: Option<usize>) -> Orders {
    let clearance = guard::clear(&SealedPlan::new(plan.clone()), &[], &[]).unwrap();
    let wave = wave::next(&RolloutChoice::default(), clearance);
    Orders { wave, run: 7, sent: 0, epochs: BTreeMap::new(), max_failures }
}

/// Applies a plan to a primary.
fn run(
    plan: &Plan,
    primary: &MemoryPrimary,
    is_fenced: bool,
    journal: &Journal,
    max_failures: Option<usize>,
) -> ApplyOutcome {
    let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
    let writer = primary as &dyn WriteTarget;
    let access = |zone| CopyAccess { copy: CopyId::only(&zone), writer: Ok(writer), is_fenced, share: None };
    let survey = survey(plan, zones.into_iter().map(access).collect(), SIDE_BY_SIDE);
    let orders = orders(plan, max_failures);
    let written = write(survey, &orders, journal);
    judge(&written, &read_back(&written), Vec::new())
}

/// Applies a plan with faults; gives the outcomes and the primary.
fn with_faults(
    plan: &Plan,
    faults: &[UpdateFault],
    window: usize,
    is_fenced: bool,
) -> (ApplyOutcome, MemoryPrimary, Journal) {
    let (primary, journal) = (primary(plan, window), Journal::default());
    primary.expect(faults.to_vec());
    let applied = run(plan, &primary, is_fenced, &journal, None);
    (applied, primary, journal)
}

/// The outcomes and how often each was.
fn counts(applied: &ApplyOutcome) -> String {
    let all = OutcomeCode::ALL.iter().map(|outcome| (applied.count(*outcome), outcome));
    let some = all.filter(|(count, _)| *count > 0).map(|(count, outcome)| format!("{count} {outcome}"));
    some.collect::<Vec<_>>().join(", ")
}

/// The hosts of an outcome.
fn hosts(applied: &ApplyOutcome, outcome: OutcomeCode) -> Vec<u64> {
    applied
        .hosts
        .iter()
        .filter(|host| host.outcome == outcome)
        .filter_map(|host| Some(host.subject.host()?.0))
        .collect()
}

/// The AAAA RRset of a host.
fn address_key(plan: &Plan, host: usize) -> RrKey {
    let name = format!("h{host}.search.example.net.");
    let found = plan.changes.iter().find(|change| change.key.owner.to_string() == name);
    found.unwrap().key.clone()
}

/// Another editor's address.
fn foreign(number: u64) -> Rrset {
    fixture::rrset(Rtype::AAAA, 600, &[&format!("2a02:6b8::f:{number:x}")]).unwrap()
}

#[test]
fn all_is_applied_in_an_order_that_leaves_no_ptr_to_nothing() {
    let plan = plan(20);
    let (applied, primary, journal) = with_faults(&plan, &[], 1, true);
    assert_eq!(counts(&applied), "20 applied");
    assert_eq!(applied.ending(), ApplyEnding::Done);
    let done = made(&primary);
    let types: Vec<Vec<Rtype>> =
        done.iter().map(|changed| changed.iter().map(|difference| difference.rtype).collect()).collect();
    let is_phase = |rtype: Rtype, delete: bool| {
        done.iter().map(move |changed| {
            changed.iter().any(|difference| difference.rtype == rtype && difference.after.is_none() == delete)
        })
    };
    let last_address = is_phase(Rtype::AAAA, false).rposition_of_true();
    let first_ptr = types.iter().position(|types| types.contains(&Rtype::PTR)).unwrap();
    let last_ptr = types.iter().rposition(|types| types.contains(&Rtype::PTR)).unwrap();
    let first_delete = is_phase(Rtype::AAAA, true).position(|found| found).unwrap();
    assert!(last_address < first_ptr && last_ptr < first_delete);
    assert!(types.iter().all(|types| types.contains(&Rtype::TXT) && types.len() <= 9));
    let settled = journal.settled.lock().unwrap();
    assert_eq!(settled.len(), journal.sent.lock().unwrap().len());
    assert!(settled.values().all(|settled| *settled == BatchOutcome::Done));
    drop(settled);
    assert_eq!(counts(&run(&plan, &primary, true, &Journal::default(), None)), "20 already-applied");
}

/// The last place at which an iterator of truths is true.
trait LastTrue {
    /// That place.
    fn rposition_of_true(self) -> usize;
}

impl<I: Iterator<Item = bool>> LastTrue for I {
    fn rposition_of_true(self) -> usize {
        self.enumerate().filter(|(_, found)| *found).map(|(place, _)| place).last().unwrap()
    }
}

/// A plan in which a CNAME gives way to an address with its registry's text, or takes the place of both.
fn replacing(is_cname_gone: bool) -> Plan {
    let reasons = [fixture::reason(Rule::Undo, None, &[])];
    let none: (u64, &[&str]) = (600, &[]);
    let change = |host, name: &str, rtype, old: &[&str]| {
        let gives_way = is_cname_gone == (rtype == Rtype::CNAME);
        let sides = if gives_way { ((600, old), none) } else { (none, (600, old)) };
        fixture::change(("search", Some(host)), (name, rtype), sides, &reasons)
    };
    let changes = vec![
        change(1, "a.search.example.net", Rtype::CNAME, &["b.search.example.net"]),
        change(2, "a.search.example.net", Rtype::AAAA, &["2a02:6b8::1"]),
        change(2, "aaaa-a.search.example.net", Rtype::TXT, &["\"heritage=x\""]),
    ];
    Plan { changes, ..fixture::empty() }
}

#[test]
fn a_cname_gives_way_or_takes_the_place_of_others_in_one_update() {
    for (is_cname_gone, is_fenced) in [(true, true), (true, false), (false, true), (false, false)] {
        let plan = replacing(is_cname_gone);
        for fault in [UpdateFault::None, UpdateFault::LostAnswer, UpdateFault::Lost] {
            let (applied, primary, _) = with_faults(&plan, std::slice::from_ref(&fault), 1, is_fenced);
            assert_eq!(counts(&applied), "2 applied", "{fault:?}");
            assert_eq!(made(&primary).iter().filter(|changed| !changed.is_empty()).count(), 1);
            assert_eq!(counts(&run(&plan, &primary, is_fenced, &Journal::default(), None)), "2 already-applied");
        }
        // Without the CNAME that gives way, or with another one, the plan is not what is there.
        let cname = &plan.changes[0].key;
        let other = fixture::rrset(Rtype::CNAME, 600, &["c.search.example.net"]);
        for found in [None, other] {
            let primary = primary(&plan, 1);
            let aaaa = (&plan.changes[1].key, None);
            if !is_cname_gone {
                put(&primary, aaaa.0, aaaa.1);
            }
            put(&primary, cname, found.as_ref());
            assert_eq!(counts(&run(&plan, &primary, is_fenced, &Journal::default(), None)), "2 stale", "{found:?}");
        }
    }
}

#[test]
fn a_cname_takes_no_place_beside_what_the_plan_does_not_know() {
    for is_fenced in [true, false] {
        let plan = replacing(false);
        let primary = primary(&plan, 1);
        let RrKey { owner, .. } = plan.changes[0].key.clone();
        put(&primary, &RrKey { owner, rtype: Rtype::TXT }, fixture::rrset(Rtype::TXT, 600, &["\"x\""]).as_ref());
        assert_eq!(counts(&run(&plan, &primary, is_fenced, &Journal::default(), None)), "2 stale");
        let kept = plan.changes.iter().map(|change| truth::standing(&primary, &change.key));
        assert!(kept.eq(plan.changes.iter().map(|change| change.kind.before().cloned())), "nothing is lost");
    }
}

#[test]
fn what_is_not_in_the_wave_is_not_written() {
    let plan = plan(3);
    let (primary, journal) = (primary(&plan, 1), Journal::default());
    let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
    let writer = &primary as &dyn WriteTarget;
    let access = |zone| CopyAccess { copy: CopyId::only(&zone), writer: Ok(writer), is_fenced: true, share: None };
    let surveyed = survey(&plan, zones.into_iter().map(access).collect(), SIDE_BY_SIDE);
    let clearance = guard::clear(&SealedPlan::new(plan.clone()), &[], &[]).unwrap();
    let why = HeldBack { code: WaitCode::Budget, message: "one at a time".to_owned() };
    let held = RolloutChoice { held: [(1, why.clone()), (2, why)].into(), ..RolloutChoice::default() };
    // What waits is no failure.
    let orders = Orders { wave: wave::next(&held, clearance), ..orders(&plan, Some(1)) };
    let written = write(surveyed, &orders, &journal);
    let applied = judge(&written, &read_back(&written), Vec::new());
    assert_eq!(counts(&applied), "1 applied, 2 waiting");
    for change in plan.changes.iter().filter(|change| change.subject.host() != Some(Inv(0))) {
        assert_eq!(truth::standing(&primary, &change.key).as_ref(), change.kind.before(), "{:?}", change.key);
    }
}

#[test]
fn a_host_that_changed_before_is_stale_and_left_whole() {
    let plan = plan(10);
    let (primary, key) = (primary(&plan, 1), address_key(&plan, 3));
    put(&primary, &key, Some(&foreign(1)));
    let applied = run(&plan, &primary, true, &Journal::default(), None);
    assert_eq!(counts(&applied), "9 applied, 1 stale");
    assert_eq!(applied.ending(), ApplyEnding::InPart);
    insta::assert_snapshot!(applied.hosts[3].message.as_deref().unwrap(), @"AAAA of `h3.search.example.net.` changed since the plan: it was AAAA 2a02:6b8::1:3 with TTL 600, and is AAAA 2a02:6b8::f:1 with TTL 600");
    assert_eq!(standing(&primary, &key), Some(foreign(1)));
}

#[test]
fn a_ttl_that_changed_makes_a_host_stale() {
    let plan = plan(2);
    let (primary, key) = (primary(&plan, 1), address_key(&plan, 0));
    put(&primary, &key, fixture::rrset(Rtype::AAAA, 601, &["2a02:6b8::1:0"]).as_ref());
    let applied = run(&plan, &primary, true, &Journal::default(), None);
    assert_eq!(hosts(&applied, OutcomeCode::Stale), [0]);
}

#[test]
fn a_host_that_changes_meanwhile_stands_alone_in_the_end() {
    let plan = plan(20);
    let key = address_key(&plan, 5);
    for window in [1, 4] {
        let (applied, primary, _) = with_faults(&plan, &[edited(&plan, &key, &foreign(2))], window, true);
        assert_eq!((counts(&applied), hosts(&applied, OutcomeCode::Stale)), ("19 applied, 1 stale".into(), vec![5]));
        assert_eq!(standing(&primary, &key), Some(foreign(2)));
    }
}

#[test]
fn what_is_behind_a_refused_batch_waits_until_the_stale_host_stands_alone() {
    let plan = plan(80);
    let sent = |faults: &[UpdateFault]| with_faults(&plan, faults, 4, true).2.sent.lock().unwrap().len();
    let edited = edited(&plan, &address_key(&plan, 1), &foreign(2));
    // The batch and the three in flight behind it are made anew, and so are the halves and quarters of its eight hosts.
    assert_eq!(sent(&[edited]) - sent(&[]), 3 + 2 + 2 + 2);
}

#[test]
fn a_host_that_changes_between_phases_is_partial() {
    let plan = plan(1);
    let new_ptr = plan.changes[2].key.clone();
    let other = fixture::rrset(Rtype::PTR, 600, &["other.example.net."]).unwrap();
    let (applied, _, _) = with_faults(&plan, &[UpdateFault::None, edited(&plan, &new_ptr, &other)], 1, true);
    assert_eq!(counts(&applied), "1 partial");
    assert!(applied.hosts[0].message.as_deref().unwrap().starts_with("1 of 4 changes were made; then: PTR of"));
}

#[test]
fn lost_answers_are_resolved_whether_the_update_was_done_or_not() {
    let plan = plan(20);
    for fault in
        [UpdateFault::LostAnswer, UpdateFault::Lost, UpdateFault::Late, UpdateFault::Slow, UpdateFault::ServFail]
    {
        for (window, is_fenced) in [(1, true), (4, true), (1, false)] {
            let (applied, primary, journal) = with_faults(&plan, &[fault.clone(), fault.clone()], window, is_fenced);
            assert_eq!(counts(&applied), "20 applied", "{fault:?} {window} {is_fenced}");
            let changes: usize = made(&primary).iter().map(Vec::len).sum();
            let messages = if is_fenced { made(&primary).len() } else { 0 };
            assert_eq!(changes - messages, plan.changes.len(), "everything once");
            let settled = journal.settled.lock().unwrap();
            let found = settled.values().filter(|settled| **settled == BatchOutcome::Found).count();
            // Without a marker, another editor may have written what is there when an answer was lost.
            let expected = match fault {
                UpdateFault::LostAnswer if !is_fenced => 2,
                // The second fault is that of the copy.
                UpdateFault::Late | UpdateFault::Slow if !is_fenced => 1,
                _ => 0,
            };
            assert_eq!(found, expected, "{fault:?} {window} {is_fenced}");
            let done = settled.values().filter(|settled| **settled == BatchOutcome::Done).count();
            assert_eq!(found + done, settled.len());
        }
    }
}

/// A plan of two hosts of which each RRset is written by itself and without a marker, with these faults.
fn one_by_one(faults: Vec<UpdateFault>) -> (ApplyOutcome, MemoryPrimary, Journal) {
    let plan = plan(2);
    let limits = UpdateLimits { edits: 1, ..UpdateLimits::NONE };
    let (primary, journal) = (truth::primary(&plan).with_limits(limits), Journal::default());
    primary.expect(faults);
    let applied = run(&plan, &primary, false, &journal, None);
    (applied, primary, journal)
}

#[test]
fn without_a_marker_an_update_that_may_be_late_is_unknown_whatever_else_is_written() {
    let faults = [UpdateFault::Stuck, UpdateFault::ServFail, UpdateFault::ServFail, UpdateFault::ServFail];
    let (applied, primary, journal) = one_by_one(faults.to_vec());
    assert_eq!(counts(&applied), "1 applied, 1 failed");
    let message = applied.hosts[0].message.as_deref().unwrap();
    assert_eq!(message, "an answer was lost, and its update may take effect late");
    let before = made(&primary).len();
    primary.arrive();
    assert_eq!(made(&primary).len(), before + 1, "it does");
    assert!(matches!(journal.settled.lock().unwrap()[&1], BatchOutcome::Unknown(_)));
}

#[test]
fn without_a_marker_what_is_there_after_a_lost_answer_may_be_of_an_update_before_it() {
    let failed = [UpdateFault::ServFail, UpdateFault::ServFail, UpdateFault::ServFail];
    let faults: Vec<UpdateFault> =
        [UpdateFault::Stuck].into_iter().chain(failed).chain([UpdateFault::LostAnswer]).collect();
    let (applied, _, journal) = with_faults(&plan(2), &faults, 1, false);
    assert_eq!(counts(&applied), "2 applied");
    let settled = journal.settled.lock().unwrap();
    // The first was halved, and of its halves one has no answer.
    assert!(matches!(settled[&1], BatchOutcome::Unknown(_)), "{:?}", settled[&1]);
    assert_eq!((&settled[&2], &settled[&3]), (&BatchOutcome::Found, &BatchOutcome::Done));
}

#[test]
fn an_rrset_that_another_editor_wrote_over_a_lost_answer_is_not_told_to_be_as_it_was() {
    let plan = plan(2);
    // The first is done right before its copy, and then the other editor writes.
    let (applied, primary, _) = one_by_one(vec![UpdateFault::Slow, edited(&plan, &address_key(&plan, 0), &foreign(1))]);
    assert_eq!(made(&primary)[0][0].name, address_key(&plan, 0).owner.as_name().to_name());
    assert_eq!(counts(&applied), "1 applied, 1 failed");
    let message = applied.hosts[0].message.as_deref().unwrap();
    assert!(message.starts_with("it is unknown whether its update took effect: an answer was lost"), "{message}");
}

#[test]
fn a_host_is_told_by_a_name_of_its_own_and_not_by_that_of_a_text() {
    let reasons = [fixture::reason(Rule::Registry, None, &[])];
    let create = |what: (&str, Rtype), data: &str| {
        fixture::change(("search", Some(1)), what, ((600, &[]), (600, &[data])), &reasons)
    };
    let changes = vec![
        create(("2a02:6b8::1:1", Rtype::PTR), "h1.search.example.net."),
        create(("aaaa-h1.search.example.net", Rtype::TXT), "\"heritage\""),
        create(("h1.search.example.net", Rtype::AAAA), "2a02:6b8::1:1"),
    ];
    let (applied, ..) = with_faults(&Plan { changes, ..fixture::empty() }, &[], 1, true);
    assert_eq!(applied.hosts[0].name, "h1.search.example.net.");
}

#[test]
fn a_chain_that_comes_late_is_known_again() {
    let plan = plan(20);
    let mut faults = vec![UpdateFault::Stuck; 2];
    // The copies, until they are given up.
    faults.extend(vec![UpdateFault::ServFail; 6]);
    faults.push(UpdateFault::Freed);
    let (applied, _, journal) = with_faults(&plan, &faults, 2, true);
    assert_eq!(counts(&applied), "20 applied");
    let settled = journal.settled.lock().unwrap();
    assert_eq!((&settled[&1], &settled[&2]), (&BatchOutcome::Done, &BatchOutcome::Done));
}

#[test]
fn what_a_server_swallows_is_not_applied() {
    let plan = plan(1);
    let (applied, _, _) = with_faults(&plan, &[swallowed(&plan)], 1, true);
    assert_eq!(counts(&applied), "1 not-applied");
    insta::assert_snapshot!(applied.hosts[0].message.as_deref().unwrap(), @"AAAA of `h0.search.example.net.` is not as it was written: there is AAAA 2a02:6b8::1:0 with TTL 600; the server reported success but did not change it: its update policy probably ignored the change");
}

#[test]
fn a_create_that_a_server_swallows_was_never_made() {
    let create = |name: &str, data: &str| {
        fixture::change(("search", Some(1)), (name, Rtype::AAAA), ((600, &[]), (600, &[data])), &[])
    };
    let changes = vec![
        create("a.search.example.net", "2a02:6b8::1:1"),
        create("b.search.example.net", "2a02:6b8::1:2"),
        create("c.search.example.net", "2a02:6b8::1:3"),
    ];
    let plan = Plan { changes, ..fixture::empty() };
    let primary = primary(&plan, 1);
    let names = plan.changes[1..].iter().map(|change| change.key.owner.as_name().to_name());
    primary.expect([UpdateFault::Swallowed(names.collect())]);
    let copy = CopyId::only(&plan.changes[0].zone_id());
    let access = CopyAccess { copy, writer: Ok(&primary as &dyn WriteTarget), is_fenced: false, share: None };
    let orders = orders(&plan, None);
    let written = write(survey(&plan, vec![access], SIDE_BY_SIDE), &orders, &Journal::default());
    let never = super::never_created(&written, &read_back(&written));
    let never: Vec<_> = never.iter().map(|place| place.key).collect();
    assert_eq!(never, [&plan.changes[1].key, &plan.changes[2].key]);
}

#[test]
fn a_server_that_refuses_everything_is_left_after_a_few_tries() {
    let plan = plan(40);
    let (applied, primary, journal) = with_faults(&plan, &vec![UpdateFault::Refused; 1000], 1, true);
    assert_eq!(counts(&applied), "3 failed, 37 not-reached");
    assert_eq!(applied.ending(), ApplyEnding::Error);
    assert!(primary.with_log(<[_]>::is_empty) && journal.sent.lock().unwrap().len() < 20);
}

#[test]
fn a_server_that_is_lost_is_sent_nothing_more_in_other_zones() {
    let plan = plan(20);
    // The third is the last of the forward zone.
    let (applied, primary, journal) =
        with_faults(&plan, &[UpdateFault::None, UpdateFault::None, UpdateFault::Dead], 1, true);
    assert_eq!(counts(&applied), "16 partial, 4 failed");
    assert_eq!(made(&primary).len(), 2);
    assert_eq!(journal.sent.lock().unwrap().len(), 3);
    assert!(matches!(journal.settled.lock().unwrap()[&3], BatchOutcome::Unknown(_)));
    let message = applied.hosts[0].message.as_deref().unwrap();
    assert!(message.contains("changes were made; then: memory zone"), "{message}");
    assert!(message.contains("error[connect-failed]"), "{message}");
}

#[test]
fn an_apply_stops_after_as_many_failures_as_were_allowed() {
    let plan = plan(40);
    let (primary, journal) = (primary(&plan, 1), Journal::default());
    put(&primary, &address_key(&plan, 0), Some(&foreign(1)));
    assert_eq!(counts(&run(&plan, &primary, true, &journal, Some(1))), "1 stale, 39 not-reached");
    assert_eq!(journal.sent.lock().unwrap().len(), 0);
}

#[test]
fn nothing_is_sent_that_the_journal_does_not_hold() {
    let plan = plan(40);
    let (primary, journal) = (primary(&plan, 1), Journal { full_from: Some(3), ..Journal::default() });
    let applied = run(&plan, &primary, true, &journal, None);
    assert_eq!(made(&primary).len(), 2);
    assert_eq!(applied.count(OutcomeCode::Applied), 0);
    assert!(applied.count(OutcomeCode::Partial) > 0 && applied.count(OutcomeCode::NotReached) > 0);
    assert!(applied.hosts[39].message.as_deref().unwrap().contains("the disk is full"));
}

#[test]
fn another_run_that_takes_the_fence_ends_this_one_in_that_zone() {
    let plan = plan(20);
    let key = marker_key(&plan.changes[0].zone).unwrap();
    let other = Marker { epoch: 9, plan: "sha256:other".into(), batch: 1 };
    let faults = [UpdateFault::None, edited(&plan, &key, &other.to_rrset())];
    let (applied, primary, _) = with_faults(&plan, &faults, 1, true);
    assert_eq!(counts(&applied), "6 applied, 2 partial, 12 not-reached");
    assert!(applied.hosts[19].message.as_deref().unwrap().contains("error[fence-lost]"));
    assert_eq!(standing(&primary, &key), Some(other.to_rrset()));
}

#[test]
fn no_connection_is_kept_for_another_phase() {
    let (applied, primary, _) = with_faults(&plan(20), &[], 1, true);
    assert_eq!(counts(&applied), "20 applied");
    // Forward and reverse zone are written one after the other, and the forward zone again.
    assert_eq!(primary.connections(), (0, 1));
}

/// Some faults of a seed: losses, failures, and editors that write what no other writer does.
fn faults(plan: &Plan, numbers: &mut Numbers) -> Vec<UpdateFault> {
    // On some servers nearly nothing goes well.
    let kinds = [17, 17, 17, 11][numbers.below(4)];
    let fault = |number: usize, numbers: &mut Numbers| match numbers.below(kinds) {
        0 => UpdateFault::LostAnswer,
        1 => UpdateFault::Lost,
        2 => UpdateFault::Late,
        3 => UpdateFault::ServFail,
        4 => UpdateFault::Refused,
        5 => UpdateFault::Slow,
        6 => UpdateFault::Stuck,
        7 => UpdateFault::Freed,
        8 | 9 => {
            let host = numbers.below(plan.changes.len());
            let key = plan.changes[host].key.clone();
            let rrset = match key.rtype {
                Rtype::PTR => fixture::rrset(Rtype::PTR, 600, &[&format!("foreign{number}.example.net.")]).unwrap(),
                _ => foreign(number as u64),
            };
            edited(plan, &key, &rrset)
        }
        _ => UpdateFault::None,
    };
    (0..60).map(|number| fault(number, numbers)).collect()
}

/// Checks what must hold after any apply.
fn check_invariants(plan: &Plan, applied: &ApplyOutcome, primary: &MemoryPrimary, journal: &Journal, seed: u64) {
    let of_host: HashMap<u64, OutcomeCode> =
        applied.hosts.iter().map(|host| (host.subject.host().unwrap().0, host.outcome)).collect();
    primary.arrive();
    let done = made(primary);
    let mut times: HashMap<(&Name, Rtype), usize> = HashMap::new();
    for difference in done.iter().flatten() {
        *times.entry((&difference.name, difference.rtype)).or_default() += 1;
    }
    let foreign: HashMap<(Name, Rtype), Option<Rrset>> = truth::foreign(primary)
        .into_iter()
        .flatten()
        .map(|difference| ((difference.name, difference.rtype), difference.after))
        .collect();
    for change in &plan.changes {
        let (name, key) = (change.key.owner.as_name().to_name(), &change.key);
        let (standing, made) = (standing(primary, key), times.get(&(&name, key.rtype)).copied().unwrap_or(0));
        assert!(made <= 1, "seed {seed}: {key:?} was written {made} times");
        let outcome = of_host[&change.subject.host().unwrap().0];
        if let Some(theirs) = foreign.get(&(name, key.rtype)) {
            assert_eq!(standing, *theirs, "seed {seed}: a foreign change was overwritten");
        }
        match outcome {
            OutcomeCode::Applied => {
                assert_eq!(made, 1, "seed {seed}: {key:?}");
                assert_eq!(standing.as_ref(), change.kind.after(), "seed {seed}: {key:?}");
            }
            OutcomeCode::Stale | OutcomeCode::NotReached => assert_eq!(made, 0, "seed {seed}: {key:?} {outcome}"),
            _ => {}
        }
    }
    let swaps = done.iter().flatten().filter(|difference| is_marker(&difference.name));
    let markers: HashSet<String> =
        swaps.filter_map(|swap| Some(Marker::of_rrset(swap.after.as_ref()?)?.to_string())).collect();
    let (sent, settled) = (journal.sent.lock().unwrap(), journal.settled.lock().unwrap());
    for (number, marker, _) in &*sent {
        let was_done = marker.as_ref().is_some_and(|marker| markers.contains(&marker.to_string()));
        match settled.get(number).expect("every batch settles") {
            BatchOutcome::Raced(_) => panic!("the primary compares"),
            BatchOutcome::Done | BatchOutcome::Found => assert!(was_done, "seed {seed}: batch {number}"),
            BatchOutcome::Undone(why) => assert!(!was_done, "seed {seed}: batch {number}: {why}"),
            BatchOutcome::Unknown(_) => {}
        }
    }
    assert_eq!(sent.len(), settled.len());
}

#[test]
fn whatever_is_lost_or_changed_meanwhile_nothing_foreign_is_overwritten_and_nothing_is_told_wrong() {
    let plan = plan(12);
    let seeds = std::env::var("APPLY_SEEDS").map_or(400, |count| count.parse().unwrap());
    let mut seen = HashSet::new();
    for seed in 0..seeds {
        let mut numbers = Numbers(seed);
        let faults = faults(&plan, &mut numbers);
        let window = [1, 1, 2, 4][numbers.below(4)];
        let (applied, primary, journal) = with_faults(&plan, &faults, window, true);
        check_invariants(&plan, &applied, &primary, &journal, seed);
        seen.extend(applied.hosts.iter().map(|host| host.outcome.as_str()));
    }
    let mut seen: Vec<&str> = seen.into_iter().collect();
    seen.sort_unstable();
    assert_eq!(seen, ["applied", "failed", "not-applied", "not-reached", "partial", "stale"]);
}
