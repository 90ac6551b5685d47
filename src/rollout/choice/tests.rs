//! Which units go, with budgets, batches, first waves and repairs.

use super::*;
use crate::change::fixture::change;
use crate::change::{BlockCode, BlockedSubject, Change, Notice, NoticeCode};
use crate::claim::EndpointSetName;
use crate::dns::{RrKey, Rtype};
use crate::inventory::rollout::SettleTime;
use crate::inventory::value::{Duration, Inv};
use crate::plan::{GroupSeen, HostSeen, Plan, PlanScope, fixture};
use crate::rollout::members::CacheTimes;
use crate::rollout::units::units;
use crate::rollout::via::add_via;
use crate::rollout::{ProbeResult, RolloutMemory};
use crate::target::ZoneId;

/// Caches hold nothing longer than the TTL, and five minutes that a name does not exist.
struct FewTimes;

impl CacheTimes for FewTimes {
    fn negative(&self, _: &ZoneId) -> Duration {
        Duration::from_secs(300)
    }

    fn former(&self, _: &RrKey) -> Option<Duration> {
        None
    }
}

/// So many seconds after the plan was made.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// A change of the address of a host with a TTL of 600 seconds; nothing where there is no address.
fn address(host: u64, before: &[&str], after: &[&str]) -> Change {
    let name = format!("h{host}.search.example.net");
    change(("search", Some(host)), (&name, Rtype::AAAA), ((600, before), (600, after)), &[])
}

/// The change of a host from one address to another.
fn moved(host: u64) -> Change {
    address(host, &["2001:db8::1"], &["2001:db8::2"])
}

/// A trial in which old and new addresses are there together for so many seconds.
fn overlapping(budget: usize, seconds: u64, changes: Vec<Change>) -> Trial {
    let mut trial = Trial::new(budget, None, changes);
    trial.terms.overlap = Some(Duration::from_secs(seconds));
    add_via(&mut trial.plan, &|_| true);
    trial
}

/// A rollout in a test: the terms, the plan, what is remembered, the clock.
struct Trial {
    /// What holds for the group.
    terms: GroupTerms,
    /// The plan.
    plan: Plan,
    /// What is remembered.
    memory: RolloutMemory,
    /// How many seconds passed.
    passed: u64,
    /// The groups whose gate did not pass, and why.
    shut: BTreeMap<String, String>,
    /// Who is down.
    down: BTreeMap<Subject, String>,
}

impl Trial {
    /// A plan with these changes; hosts below 10 are at `iva`, others at `sas`.
    fn new(budget: usize, canary: Option<usize>, changes: Vec<Change>) -> Trial {
        let seen = |inv: Inv| {
            let location = if inv.0 < 10 { "iva" } else { "sas" };
            (inv, HostSeen { location: location.to_owned(), ..HostSeen::default() })
        };
        let hosts = (0..20).map(|host| seen(Inv(host))).collect();
        let groups = vec![GroupSeen { group: "search".to_owned(), in_service: 100, unmet: None }];
        let terms = GroupTerms { budget, one_location: true, canary, settle: SettleTime::Ttl, overlap: None };
        let plan = Plan { hosts, groups, changes, ..fixture::empty() };
        Trial { terms, plan, memory: RolloutMemory::default(), passed: 0, shut: BTreeMap::new(), down: BTreeMap::new() }
    }

    /// What goes now, and why the others wait: `1 2; 3 budget`.
    fn choose(&self) -> RolloutChoice {
        let groups = [("search".to_owned(), self.terms)].into();
        let units = units(&self.plan.changes);
        let now = at(self.passed);
        let (known, unknown) = ([("search".to_owned(), "search".to_owned())].into(), BTreeMap::new());
        let view = RolloutView {
            plan: &self.plan,
            groups: &groups,
            memory: &self.memory,
            times: &FewTimes,
            is_open: &|_| true,
            step: &|unit| UnitStep::first(&self.plan.changes, unit),
            known: &known,
            unknown: &unknown,
            shut: &self.shut,
            down: &self.down,
            was_down: &BTreeSet::new(),
            unapproved: &BTreeMap::new(),
            fallen: &BTreeMap::new(),
            now,
        };
        choose(&view, &units, 0..units.len())
    }

    /// The choice in words.
    fn shown(&self) -> String {
        let choice = self.choose();
        let host = |unit: &usize| units(&self.plan.changes)[*unit].changes[0];
        let number = |unit: &usize| self.plan.changes[host(unit)].subject.host().unwrap().0.to_string();
        let goes: Vec<String> = choice.goes.iter().map(number).collect();
        let waits: Vec<String> =
            choice.held.iter().map(|(unit, why)| format!("{} {}", number(unit), why.code)).collect();
        format!("{}; {}", goes.join(" "), waits.join(", "))
    }

    /// Applies what goes, as the state keeps it, and serves it at once; the plan loses it.
    fn apply(&mut self) {
        let RolloutChoice { flux, waits, between, batches, ended, goes, at_once, .. } = self.choose();
        let served = FluxStage::ServedSince(at(self.passed));
        self.memory.flux.extend(flux.into_iter().map(|row| FluxRow { stage: served, apply: self.passed + 1, ..row }));
        self.memory.flux.sort_by(|a, b| (&a.subject, a.apply).cmp(&(&b.subject, b.apply)));
        self.memory.end_replaced();
        self.memory.batches = batches;
        self.memory.waits.extend(waits.into_iter().chain(between));
        self.memory.waits.retain(|subject, _| !ended.contains(subject));
        let all = units(&self.plan.changes);
        let is_first = |unit: &&usize| {
            UnitStep::first(&self.plan.changes, &all[**unit]) == UnitStep::ToVia && !at_once.contains(unit)
        };
        let between: Vec<usize> = goes.iter().filter(is_first).flat_map(|unit| all[*unit].changes.clone()).collect();
        let gone: HashSet<usize> = goes.iter().flat_map(|unit| all[*unit].changes.clone()).collect();
        // The next plan is about what is live then.
        for place in &between {
            self.plan.changes[*place] = UnitStep::FromVia.part(&self.plan.changes[*place]).change;
        }
        let mut place = 0;
        self.plan.changes.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1)) || between.contains(&(place - 1))
        });
    }
}

#[test]
fn as_many_go_as_the_budget_lets_and_at_one_location() {
    let trial = Trial::new(2, None, [1, 2, 3, 11].map(moved).to_vec());
    assert_eq!(trial.shown(), "1 2; 3 budget, 11 budget");
    let roomy = Trial::new(4, None, [1, 2, 3, 11].map(moved).to_vec());
    assert_eq!(roomy.shown(), "1 2 3; 11 location");
}

#[test]
fn a_wave_waits_until_the_one_before_has_settled() {
    let mut trial = Trial::new(2, None, [1, 2, 3, 11].map(moved).to_vec());
    trial.apply();
    trial.passed = 599;
    assert_eq!(trial.shown(), "; 3 budget, 11 budget");
    trial.passed = 600;
    assert_eq!(trial.shown(), "3; 11 location");
    trial.apply();
    // A clock that is set back ends nothing.
    trial.passed = 10;
    assert_eq!(trial.shown(), "; 11 budget");
    trial.passed = 1200;
    assert_eq!(trial.shown(), "11; ");
}

#[test]
fn what_takes_no_live_value_goes_at_once() {
    let changes = vec![
        moved(1),
        address(2, &[], &["2001:db8::2"]),
        address(3, &["2001:db8::1"], &["2001:db8::1", "2001:db8::2"]),
        moved(4),
    ];
    let mut trial = Trial::new(1, None, changes);
    assert_eq!(trial.shown(), "1 2 3; 4 budget");
    // A new name has its row, too: caches may hold that it does not exist.
    trial.apply();
    let settle = |host: u64| trial.memory.rows_of(&Subject::Host(Inv(host))).next().unwrap().settle.as_secs();
    assert_eq!([1, 2, 3].map(settle), [600, 300, 600]);
}

#[test]
fn a_wave_says_when_each_of_the_others_goes_and_how_long_all_takes() {
    let trial = Trial::new(2, None, [1, 2, 3, 11, 12].map(moved).to_vec());
    let choice = trial.choose();
    let until: Vec<u64> =
        choice.waiting().iter().map(|own| own.until.unwrap().since(at(0)).unwrap().as_secs()).collect();
    assert_eq!(until, [600, 1200, 1200]);
    let waves = GroupWaves { group: "search".to_owned(), seconds: 1200, subjects: 5, waves: 3 };
    assert_eq!(choice.waves, [waves]);
}

#[test]
fn a_first_wave_goes_alone_and_what_comes_up_meanwhile_is_of_the_next_batch() {
    let mut trial = Trial::new(4, Some(1), [1, 2, 3].map(moved).to_vec());
    assert_eq!(trial.shown(), "1; 2 canary, 3 canary");
    trial.apply();
    trial.plan.changes.push(moved(4));
    assert_eq!(trial.shown(), "; 2 canary, 3 canary, 4 canary");
    trial.passed = 600;
    assert_eq!(trial.shown(), "2 3; 4 canary");
    trial.apply();
    // All of the batch has gone: the next one has a first wave of its own.
    trial.plan.changes.push(moved(5));
    assert_eq!(trial.shown(), "4; 5 canary");
}

#[test]
fn without_a_first_wave_what_comes_up_takes_the_room_that_is_left() {
    let mut trial = Trial::new(2, None, [1, 2, 3].map(moved).to_vec());
    trial.apply();
    trial.passed = 600;
    // It is tried after those that waited, although its number is lower.
    trial.plan.changes.insert(0, moved(0));
    assert_eq!(trial.shown(), "0 3; ");
    trial.terms.budget = 1;
    assert_eq!(trial.shown(), "3; 0 budget");
}

#[test]
fn hosts_that_share_a_change_go_together_or_fit_no_wave() {
    let mut shared = moved(1);
    shared.also = vec![Subject::Host(Inv(2))];
    let mut trial = Trial::new(1, None, vec![shared, moved(3)]);
    assert_eq!(trial.shown(), "3; 1 does-not-fit");
    let waits = trial.choose().waits;
    let wait = &waits[&Subject::Host(Inv(1))].wait;
    assert_eq!(wait.until, None);
    assert_eq!(
        wait.message,
        "2 of `search` share a change, and the budget is 1; `zonewright apply --auto --host 1 --host 2` \
         lets them go together"
    );
    // Named hosts pass; a pattern that happens to match them does not.
    trial.plan.only = PlanScope::new([Inv(1), Inv(2)], &[]);
    assert_eq!(trial.shown(), "1; 3 budget");
    trial.plan.only = Some(PlanScope { patterns: vec!["host:*".parse().unwrap()], ..PlanScope::default() });
    assert_eq!(trial.shown(), "3; 1 does-not-fit");
}

#[test]
fn what_goes_back_within_its_flux_or_is_changed_again_does_not_wait() {
    let mut trial = Trial::new(1, None, [1, 2].map(moved).to_vec());
    trial.apply();
    // Host 1 has its place in the budget: another change of it makes nothing worse.
    trial.plan.changes = vec![address(1, &["2001:db8::2"], &["2001:db8::3"]), moved(2)];
    assert_eq!(trial.shown(), "1; 2 budget");
    trial.apply();
    // That was a repair, so a further one needs to fit, unless it goes back to what was there.
    trial.plan.changes = vec![address(1, &["2001:db8::3"], &["2001:db8::2"])];
    trial.plan.undoes = Some(2);
    assert_eq!(trial.shown(), "1; ");
    trial.passed = 700;
    trial.plan.changes = vec![address(1, &["2001:db8::2"], &["2001:db8::1"]), moved(2)];
    trial.memory.flux[0].stage = FluxStage::ServedSince(at(650));
    assert_eq!(trial.shown(), "1; 2 budget");
}

#[test]
fn a_change_that_was_never_made_holds_nothing_back() {
    let mut trial = Trial::new(1, Some(1), [1, 2].map(moved).to_vec());
    trial.apply();
    assert_eq!(trial.shown(), "; 2 budget");
    trial.memory.flux[0].stage = FluxStage::NotMade;
    trial.plan.changes = vec![moved(1), moved(2)];
    assert_eq!(trial.shown(), "2; 1 budget");
    trial.memory.flux[0].stage = FluxStage::NotServed;
    trial.passed = 1_000_000;
    trial.plan.changes = vec![moved(2)];
    assert_eq!(trial.shown(), "; 2 budget", "until its outcome is known");
}

#[test]
fn what_a_plan_no_longer_changes_no_longer_waits() {
    let mut trial = Trial::new(1, None, [1, 2, 3].map(moved).to_vec());
    trial.apply();
    trial.passed = 600;
    trial.plan.changes = vec![moved(3)];
    let choice = trial.choose();
    assert_eq!(choice.ended, [Subject::Host(Inv(2)), Subject::Host(Inv(3))]);
    // A plan for some hosts says nothing of the others.
    trial.plan.only = PlanScope::new([Inv(3)], &[]);
    assert_eq!(trial.choose().ended, [Subject::Host(Inv(3))]);
}

#[test]
fn a_failure_that_is_not_about_a_group_leaves_no_batch_of_it_open() {
    let mut trial = Trial::new(1, Some(1), [1, 2].map(moved).to_vec());
    trial.apply();
    trial.passed = 600;
    // The second no longer moves, and a third does.
    trial.plan.changes = vec![moved(3)];
    let notice = |code, name: &str| Notice { code, name: name.to_owned(), subject: None, message: String::new() };
    for (code, name, shown) in [
        (NoticeCode::ZoneUnknown, "other.example.net.", "3; "),
        (NoticeCode::BadSettings, "projects/other.yaml", "3; "),
        (NoticeCode::SourceUnknown, "pods", "3; "),
        (NoticeCode::SourceUnknown, "hosts", "; 3 canary"),
    ] {
        trial.plan.notices = vec![notice(code, name)];
        assert_eq!(trial.shown(), shown, "{code} {name}");
        assert_eq!(trial.choose().ended.is_empty(), name == "hosts");
    }
    // What an unread zone keeps from its change waits on.
    trial.plan.notices.clear();
    let (hint, message, project) = (String::new(), String::new(), "search".to_owned());
    let second = BlockedSubject { code: BlockCode::BadInput, hint, message, project, subject: Subject::Host(Inv(2)) };
    for (code, shown) in [(BlockCode::ZoneUnknown, "; 3 canary"), (BlockCode::BadInput, "3; ")] {
        trial.plan.blocked = vec![BlockedSubject { code, ..second.clone() }];
        assert_eq!(trial.shown(), shown, "{code}");
    }
}

#[test]
fn who_is_in_between_gives_its_place_back_where_the_plan_has_no_second_step() {
    let mut trial = overlapping(1, 600, vec![moved(1), moved(2)]);
    trial.apply();
    trial.plan.changes.retain(|change| change.subject.host() == Some(Inv(2)));
    // The plan is narrowed: nothing says that the first is no longer to change.
    trial.plan.only = Some(PlanScope { patterns: vec!["host:*".parse().unwrap()], ..PlanScope::default() });
    for (passed, shown) in [(599, "; 2 budget"), (600, "2; ")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown, "{passed}");
    }
}

#[test]
fn a_gate_that_does_not_pass_holds_back_all_but_repairs() {
    let added = address(3, &[], &["2001:db8::2"]);
    let mut trial = Trial::new(2, None, vec![moved(1), moved(2), added, moved(4)]);
    trial.shut = [("search".to_owned(), "the gate `health` did not pass: 2 errors".to_owned())].into();
    trial.down = [(Subject::Host(Inv(4)), "search".to_owned())].into();
    assert_eq!(trial.shown(), "3 4; 1 gate, 2 gate");
    let wait = &trial.choose().waits[&Subject::Host(Inv(1))].wait;
    assert_eq!((wait.message.as_str(), wait.until), ("the gate `health` did not pass: 2 errors", None));
    // Who is named passes the budget, and not the gate.
    trial.plan.only = Some(PlanScope { subjects: vec![Subject::Host(Inv(1))], ..PlanScope::default() });
    assert_eq!(trial.shown(), "3 4; 1 gate, 2 gate");
    assert!(trial.choose().asking_groups().is_empty(), "only repairs go");
    trial.shut.clear();
    assert_eq!(trial.shown(), "1 3 4; 2 budget");
    assert_eq!(trial.choose().asking_groups(), ["search"].into());
}

#[test]
fn who_is_down_repairs_at_once_and_has_a_place_in_the_budget() {
    let mut trial = Trial::new(1, None, vec![moved(1), moved(2), moved(12)]);
    trial.down = [(Subject::Host(Inv(12)), "search".to_owned())].into();
    assert_eq!(trial.shown(), "12; 1 budget, 2 budget");
    // A budget of two leaves room for one more, at any location: a repair has none.
    trial.terms.budget = 2;
    assert_eq!(trial.shown(), "1 12; 2 budget");
}

#[test]
fn who_does_not_answer_stays_in_flux() {
    let mut trial = Trial::new(1, None, vec![moved(1), moved(2)]);
    trial.apply();
    trial.passed = 601;
    assert_eq!(trial.shown(), "2; ");
    let row = &mut trial.memory.flux[0];
    assert_eq!(row.gave, ["2001:db8::2".parse::<std::net::IpAddr>().unwrap()]);
    assert!(row.is_to_be_asked(at(601)) && !row.is_to_be_asked(at(599)));
    row.answer = Some(false);
    assert_eq!(trial.shown(), "; 2 budget");
    let apply = trial.memory.flux[0].apply;
    let answered = ProbeResult { subject: Subject::Host(Inv(1)), apply, answered: true };
    trial.memory.note_answers(&[answered]);
    assert_eq!(trial.shown(), "2; ");
    trial.memory.flux[0].answer = Some(false);
    trial.memory.forget_answers(|_| false);
    assert_eq!(trial.shown(), "2; ");
}

#[test]
fn who_is_named_and_held_by_a_gate_does_not_pass_the_first_wave_later() {
    let mut trial = Trial::new(2, Some(1), vec![moved(1), moved(2)]);
    while !trial.plan.changes.is_empty() {
        trial.apply();
        trial.passed += 601;
    }
    trial.plan.changes =
        vec![address(1, &["2001:db8::2"], &["2001:db8::3"]), address(2, &["2001:db8::2"], &["2001:db8::3"])];
    trial.plan.only =
        Some(PlanScope { subjects: vec![Subject::Host(Inv(1)), Subject::Host(Inv(2))], ..PlanScope::default() });
    trial.shut = [("search".to_owned(), "the gate did not pass".to_owned())].into();
    assert_eq!(trial.shown(), "; 1 gate, 2 gate");
    trial.apply();
    (trial.plan.only, trial.shut) = (None, BTreeMap::new());
    assert_eq!(trial.shown(), "1; 2 canary");
}

#[test]
fn a_host_keeps_its_place_from_its_new_address_until_its_old_one_has_settled() {
    let mut trial = overlapping(1, 900, vec![moved(1), moved(2)]);
    assert_eq!(trial.shown(), "1; 2 budget");
    let waves = trial.choose().waves;
    assert_eq!((waves[0].waves, waves[0].seconds), (2, 900 + 600 + 900));
    trial.apply();
    assert_eq!(trial.plan.changes[0].kind.before().unwrap().rdata().len(), 2);
    // The TTL is shorter than the overlap.
    for (passed, shown) in [(899, "; 1 overlap, 2 budget"), (900, "1; 2 budget")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
    trial.apply();
    for (passed, shown) in [(1499, "; 2 budget"), (1500, "2; ")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
}

#[test]
fn old_addresses_stay_until_caches_have_the_new_ones_where_the_overlap_is_shorter() {
    let mut trial = overlapping(1, 60, vec![moved(1)]);
    trial.apply();
    for (passed, shown) in [(599, "; 1 overlap"), (600, "1; ")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
}

#[test]
fn the_gate_is_asked_again_before_old_addresses_go() {
    let mut trial = overlapping(1, 600, vec![moved(1)]);
    trial.apply();
    trial.passed = 600;
    trial.shut = [("search".to_owned(), "no".to_owned())].into();
    assert_eq!(trial.shown(), "; 1 gate");
}

#[test]
fn a_new_address_that_does_not_answer_keeps_the_old_one_there() {
    let mut trial = overlapping(1, 600, vec![moved(1)]);
    trial.apply();
    trial.passed = 600;
    trial.memory.flux[0].answer = Some(false);
    assert_eq!(trial.shown(), "; 1 overlap");
    trial.memory.flux[0].answer = Some(true);
    assert_eq!(trial.shown(), "1; ");
}

#[test]
fn another_wish_begins_an_overlap_anew_in_the_same_place() {
    let mut trial = overlapping(1, 900, vec![moved(1), moved(2)]);
    trial.apply();
    trial.passed = 100;
    trial.plan.changes[0] = address(1, &["2001:db8::1", "2001:db8::2"], &["2001:db8::3"]);
    add_via(&mut trial.plan, &|_| true);
    assert_eq!(trial.plan.changes[0].via.as_ref().unwrap().rdata().len(), 3);
    assert_eq!(trial.shown(), "1; 2 budget");
    trial.apply();
    for (passed, shown) in [(999, "; 1 overlap, 2 budget"), (1000, "1; 2 budget")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
}

#[test]
fn who_is_in_between_gives_its_place_back_where_its_second_step_has_no_room() {
    let mut trial = overlapping(2, 600, vec![moved(1), moved(2)]);
    trial.apply();
    // A third is down meanwhile, so that more have places than there are.
    trial.down = [(Subject::Host(Inv(3)), "search".to_owned())].into();
    trial.passed = 599;
    assert_eq!(trial.shown(), "; 1 overlap, 2 overlap");
    trial.passed = 600;
    assert_eq!(trial.shown(), "1; 2 budget");
    trial.apply();
    for (passed, shown) in [(1199, "; 2 budget"), (1200, "2; ")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
}

#[test]
fn who_is_in_between_at_another_location_gives_its_place_back() {
    let mut trial = overlapping(3, 600, vec![moved(1), moved(2)]);
    trial.apply();
    // One of them is to be elsewhere.
    trial.memory.flux[1].location = "sas".to_owned();
    trial.plan.hosts.get_mut(&Inv(2)).unwrap().location = "sas".to_owned();
    trial.passed = 600;
    assert_eq!(trial.shown(), "1; 2 location");
}

#[test]
fn what_repairs_does_not_overlap() {
    let mut trial = overlapping(1, 900, vec![moved(1)]);
    trial.down = [(Subject::Host(Inv(1)), "search".to_owned())].into();
    assert_eq!(trial.choose().at_once, [0].into());
    assert!(trial.choose().flux[0].wanted.is_none());
    // Back to what it had, while both are there.
    let mut trial = overlapping(1, 900, vec![moved(1)]);
    trial.apply();
    trial.plan.changes[0] = address(1, &["2001:db8::1", "2001:db8::2"], &["2001:db8::1"]);
    assert_eq!(trial.shown(), "1; ");
    assert!(trial.choose().flux[0].is_repair);
}

#[test]
fn a_first_wave_has_settled_when_its_old_addresses_have_gone() {
    let mut trial = overlapping(5, 900, vec![moved(1), moved(2)]);
    trial.terms.canary = Some(1);
    trial.apply();
    trial.passed = 900;
    assert_eq!(trial.shown(), "1; 2 canary");
    trial.apply();
    for (passed, shown) in [(1499, "; 2 canary"), (1500, "2; ")] {
        trial.passed = passed;
        assert_eq!(trial.shown(), shown);
    }
}

#[test]
fn an_address_of_the_other_family_overlaps_too_and_a_ptr_goes_with_the_old_one() {
    let name = "h1.search.example.net";
    let ptr = |address: &str, (before, after): (&[&str], &[&str])| {
        change(("search", Some(1)), (address, Rtype::PTR), ((600, before), (600, after)), &[])
    };
    let other = change(("search", Some(1)), (name, Rtype::A), ((600, &["178.154.0.1"]), (600, &[])), &[]);
    let changes = vec![
        other,
        address(1, &[], &["2a02:6b8::2"]),
        ptr("178.154.0.1", (&[name], &[])),
        ptr("2a02:6b8::2", (&[], &[name])),
    ];
    let trial = overlapping(1, 900, changes);
    let via: Vec<bool> = trial.plan.changes.iter().map(|change| change.via.is_some()).collect();
    assert_eq!(via, [true, false, true, false]);
    let parts = |step: UnitStep| -> Vec<bool> { trial.plan.changes.iter().map(|own| step.part(own).stays).collect() };
    assert_eq!(parts(UnitStep::ToVia), [true, false, true, false]);
    assert_eq!(parts(UnitStep::FromVia), [false, true, false, true]);
}

#[test]
fn an_srv_waits_with_the_name_that_it_is_to_list() {
    let srv = |before: &[&str], after: &[&str]| {
        let name = EndpointSetName { set: "search".into(), name: "http".into() };
        let sides = ((600, before), (600, after));
        let change = change(("search", Some(3)), ("_http._tcp.search.example.net", Rtype::SRV), sides, &[]);
        Change { subject: Subject::Endpoints(Box::new(name)), ..change }
    };
    let name = |before: &[&str], after: &[&str]| {
        let sides = ((600, before), (600, after));
        change(("search", Some(2)), ("t.search.example.net", Rtype::AAAA), sides, &[])
    };
    let (address, listed) = (["2001:db8::2"], ["0 0 80 t.search.example.net."]);
    let coming = vec![moved(1), moved(2), name(&[], &address), srv(&[], &listed)];
    let mut trial = Trial::new(1, None, coming);
    let choice = trial.choose();
    let messages: Vec<&str> = choice.waits.values().map(|record| record.wait.message.as_str()).collect();
    assert_eq!((choice.goes.len(), choice.flux.len()), (1, 1));
    insta::assert_snapshot!(messages.join("\n"), @r"
    the budget of `search` is 1, and 1 is in flux or goes now
    its SRV is to list `t.search.example.net.`, which is not there: host:2: the budget of `search` is 1, and 1 is in flux or goes now
    ");
    // Without the wait both go.
    trial.terms.budget = 2;
    assert_eq!(trial.choose().goes.len(), 3);
    // The name does not go before the SRV that lists it: that waits for nothing.
    let going = vec![moved(1), moved(2), name(&address, &[]), srv(&listed, &[])];
    assert_eq!(Trial::new(1, None, going).choose().goes, [0, 2]);
}
