//! The outcome of an apply, in both forms.

use std::time::Duration;

use serde_json::{Value, json};

use super::WaveNews;
use super::{ApplyReport, text};
use crate::apply::{ApplyOutcome, OutcomeCode, SubjectOutcome, ZoneOutcome, ZoneWritten};
use crate::diag::{Code, Problem};
use crate::plan::{
    Change, DelayedRrset, Notice, NoticeCode, Plan, Rule, SealedPlan, WaitCode, WaitingSubject, ZoneAction, ZoneChange,
    fixture,
};
use crate::report::schema::tests::check_one;
use crate::report::{SchemaKind, TextOptions};
use crate::state::{ApplyId, StateNotes};

/// A host of the project `search`; orphans where `inv` is 0.
fn host(inv: u64, outcome: OutcomeCode, message: &str, hint: &str) -> SubjectOutcome {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SubjectOutcome {
        subject: fixture::subject((inv > 0).then_some(inv)),
        project: "search".to_owned(),
        name: format!("sas1-{inv:04}.search.example.net."),
        changes: 4,
        outcome,
        is_between: false,
        message: some(message),
        hint: some(hint),
        lacks: Vec::new(),
    }
}

/// Hosts of one outcome, without words.
fn hosts(range: std::ops::Range<u64>, outcome: OutcomeCode) -> Vec<SubjectOutcome> {
    range.map(|inv| host(inv, outcome, "", "")).collect()
}

/// The outcomes of these hosts, in two zones of which one was written.
fn applied(hosts: Vec<SubjectOutcome>, changes: usize) -> ApplyOutcome {
    let zone = |name, updates, changes, took| ZoneWritten {
        pool: crate::change::fixture::pool(),
        zone: fixture::zone(name),
        target: None,
        updates,
        changes,
        unknown: 0,
        took: Duration::from_millis(took),
    };
    let zones = vec![
        zone("0.0.8.b.6.0.2.0.a.2.ip6.arpa", 0, 0, 0),
        zone("search.example.net", usize::from(changes > 0), changes, 1_234),
    ];
    ApplyOutcome { hosts, zones, zone_changes: Vec::new(), problems: Vec::new() }
}

/// One in which every outcome occurs, with problems.
fn everything() -> ApplyOutcome {
    let is = "`AAAA sas1-0003.search.example.net.` is `2a02:6b8::3`, the plan saw `2a02:6b8::2`";
    let refused = "ns1.example.net:53 zone search.example.net.: the server answers REFUSED";
    let policy = "let `update-policy` grant the key this type";
    let mut all = hosts(1..3, OutcomeCode::Applied);
    all.push(host(3, OutcomeCode::Stale, is, ""));
    all.push(host(4, OutcomeCode::Stale, "there is a CNAME at `\u{1b}[31m`", ""));
    all.push(host(5, OutcomeCode::Partial, "stale in the reverse zone", "plan again"));
    all.push(host(6, OutcomeCode::NotApplied, "nothing was there; there is a CNAME", "remove it"));
    all.extend((7..20).map(|inv| host(inv, OutcomeCode::Failed, refused, policy)));
    all.push(host(0, OutcomeCode::Failed, "the answer was lost", ""));
    all.extend(hosts(20..27, OutcomeCode::NotReached));
    all.push(host(27, OutcomeCode::AlreadyApplied, "", ""));
    let problem = Problem::new("zones", "reload-failed", "`rndc` ended with 1: \u{1b}[2J")
        .hint("the file is written: load it by hand");
    ApplyOutcome { problems: vec![problem], ..applied(all, 8) }
}

/// A refusal.
fn refusal() -> Problem {
    Problem::new("plan.json", "plan-expired", "the plan was good until 2026-11-21T01:30:00Z").hint("plan again")
}

/// Calls `with` with a report.
fn report<T>(
    applied: &ApplyOutcome,
    refusal: Option<&Problem>,
    exit: u8,
    with: impl FnOnce(&ApplyReport<'_>) -> T,
) -> T {
    let sealed = SealedPlan::new(fixture::fleet());
    let moved = ["racktables/hosts.csv".to_owned(), "zone search.example.net.".to_owned()];
    with(&ApplyReport {
        sealed: Some(&sealed),
        apply: refusal.is_none().then_some(ApplyId(12)),
        started: "2026-11-20T02:00:00Z".parse().unwrap(),
        is_resumed: false,
        refusal,
        applied,
        noted: StateNotes::default(),
        moved: if exit == 0 { &[] } else { &moved },
        served: None,
        waves: WaveNews::default(),
        is_interrupted: false,
        exit,
    })
}

/// The outcome of a plan as text.
fn shown(applied: &ApplyOutcome, exit: u8) -> String {
    report(applied, None, exit, |report| text(report, &TextOptions::default()))
}

/// The first paragraph of the text for these hosts, of which `changes` were written.
fn verdict(hosts: Vec<Vec<SubjectOutcome>>, changes: usize) -> String {
    shown(&applied(hosts.concat(), changes), 0).split("\n\n").next().unwrap().to_owned()
}

/// The outcome of a plan as a document.
fn document(applied: &ApplyOutcome, refusal: Option<&Problem>, exit: u8) -> Value {
    report(applied, refusal, exit, |report| serde_json::from_str(&super::json(report)).unwrap())
}

#[test]
fn hosts_with_both_old_and_new_addresses_are_counted() {
    let between = SubjectOutcome { is_between: true, ..host(1, OutcomeCode::Waiting, "", "") };
    let text = verdict(vec![vec![between], hosts(2..3, OutcomeCode::Waiting)], 3);
    let said =
        "Applied so far: 0 of 2 hosts; 1 host has both its old and its new addresses now;\n  2 wait for a later wave.";
    assert!(text.starts_with(said), "{text}");
}

#[test]
fn what_fits_no_wave_does_not_wait_for_a_later_one() {
    let misfit = |host: u64| WaitingSubject {
        code: WaitCode::DoesNotFit,
        message: String::new(),
        project: "web".to_owned(),
        since: "2026-11-20T02:00:00Z".parse().unwrap(),
        subject: fixture::subject(Some(host)),
        until: None,
    };
    let waiting = [misfit(1), misfit(2)];
    let said = |hosts: Vec<SubjectOutcome>, changes: usize| {
        let applied = applied(hosts, changes);
        let text = report(&applied, None, 5, |own| {
            let waves = WaveNews { waiting: &waiting, ..own.waves };
            text(&ApplyReport { waves, ..*own }, &TextOptions::default())
        });
        text.lines().next().unwrap().to_owned()
    };
    let hosts = |last: u64| hosts(1..last + 1, OutcomeCode::Waiting);
    assert_eq!(said(hosts(2), 0), "Nothing was changed: 2 hosts fit no wave.");
    assert_eq!(said(hosts(3), 0), "Nothing was changed: 1 waits for a later wave, 2 fit no wave.");
}

#[test]
fn the_verdict_stands_first() {
    use OutcomeCode::{AlreadyApplied, Applied, Failed, Partial, Stale};
    let lines = [
        verdict(vec![], 0),
        verdict(vec![hosts(1..2, AlreadyApplied)], 0),
        verdict(vec![hosts(1..29, AlreadyApplied)], 0),
        verdict(vec![hosts(1..29, Applied)], 110),
        verdict(vec![hosts(1..3, Applied), hosts(0..1, Applied), hosts(3..5, AlreadyApplied)], 1),
        verdict(vec![hosts(1..26, Applied), hosts(26..28, Stale), hosts(28..29, Failed)], 100),
        verdict(vec![hosts(1..26, Applied), hosts(26..28, AlreadyApplied), hosts(28..29, Failed)], 100),
        verdict(vec![hosts(1..29, Stale)], 0),
        verdict(vec![hosts(1..4, AlreadyApplied), hosts(4..29, Stale)], 0),
        verdict(vec![hosts(1..3, Partial)], 2),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    Nothing was changed: the plan has no changes.
    Nothing to do: 1 host was already as the plan says.
    Nothing to do: all 28 hosts were already as the plan says.
    Applied: 28 hosts changed (110 RRsets in 1 zone), nothing left.
    Applied: 2 hosts and 1 unclaimed name changed (1 RRset in 1 zone), 2 already
      done, nothing left.
    Applied in part: 25 of 28 hosts; 1 failed, 2 stale.
    Applied in part: 27 of 28 hosts, 2 of them before; 1 failed.
    None applied of 28 hosts: 28 stale.
    None applied of 28 hosts: 3 already as the plan says, 25 stale.
    Applied in part: 0 of 2 hosts; 2 partial.
    ");
}

#[test]
fn the_verdict_says_that_a_signal_ended_it_where_something_is_left() {
    use OutcomeCode::{Applied, NotReached};
    let said = |hosts: Vec<Vec<SubjectOutcome>>, changes: usize| {
        let applied = applied(hosts.concat(), changes);
        let text = report(&applied, None, 4, |own| {
            text(&ApplyReport { is_interrupted: true, ..*own }, &TextOptions::default())
        });
        text.split("\n\n").next().unwrap().to_owned()
    };
    let lines = [
        said(vec![hosts(1..3, NotReached)], 0),
        said(vec![hosts(1..3, Applied), hosts(3..5, NotReached)], 2),
        said(vec![hosts(1..3, Applied)], 2),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    None applied of 2 hosts: 2 not-reached; interrupted before anything was sent.
    Applied in part: 2 of 4 hosts; 2 not-reached; interrupted.
    Applied: 2 hosts changed (2 RRsets in 1 zone), nothing left.
    ");
}

#[test]
fn the_verdict_says_of_what_the_outcome_is_not_known() {
    let verdict = |done: Vec<SubjectOutcome>, changes| {
        let failed = hosts(20..37, OutcomeCode::Failed);
        let mut applied = applied([done, failed].concat(), changes);
        applied.zones[0].unknown = 3;
        assert_eq!(document(&applied, None, 1)["zones"][0]["unknown"], 3);
        assert_eq!(document(&applied, None, 1)["zones"][1]["unknown"], Value::Null);
        shown(&applied, 0).split("\n\n").next().unwrap().to_owned()
    };
    let lines = [verdict(vec![], 0), verdict(hosts(1..3, OutcomeCode::Applied), 4)];
    insta::assert_snapshot!(lines.join("\n"), @"
    None known to be applied of 17 hosts: 17 failed; 3 updates may have taken
      effect, or may still.
    Applied in part: 2 of 19 hosts; 17 failed; 3 updates may have taken effect, or
      may still.
    ");
}

#[test]
fn nothing_to_do_is_said_only_where_the_plan_is_whole_and_no_host_is_blocked() {
    let first_line = |plan: Plan, waits: usize| {
        let (sealed, applied) = (SealedPlan::new(plan), ApplyOutcome::default());
        let started = "2026-11-20T02:00:00Z".parse().unwrap();
        let (sealed, applied) = (Some(&sealed), &applied);
        let report = ApplyReport {
            sealed,
            apply: None,
            started,
            is_resumed: false,
            refusal: None,
            applied,
            noted: StateNotes { waits, statements: 3 },
            moved: &[],
            served: None,
            waves: WaveNews::default(),
            is_interrupted: false,
            exit: 0,
        };
        text(&report, &TextOptions::default()).lines().next().unwrap().to_owned()
    };
    let Plan { blocked, changes, notices, .. } = fixture::fleet();
    let unread = Notice { code: NoticeCode::ZoneUnknown, ..notices[0].clone() };
    let Change { zone, key, project, .. } = changes[0].clone();
    let waiting = DelayedRrset {
        pool: crate::change::fixture::pool(),
        zone,
        key,
        subject: fixture::subject(None),
        project,
        rule: Rule::Orphan,
        since: None,
        due: None,
    };
    assert!(!blocked.is_empty());
    assert_eq!(first_line(fixture::empty(), 0), "Nothing to do: the plan has no changes.");
    let waits = Plan { delayed: vec![waiting.clone()], ..fixture::empty() };
    assert_eq!(first_line(waits, 1), "Nothing was changed; 1 RRset begins to wait to be deleted.");
    for plan in [
        Plan { blocked, ..fixture::empty() },
        Plan { delayed: vec![waiting], ..fixture::empty() },
        Plan { notices: vec![unread], ..fixture::empty() },
    ] {
        assert_eq!(first_line(plan, 0), "Nothing was changed: the plan has no changes.");
    }
}

#[test]
fn the_verdict_counts_zones_that_are_made_and_those_that_are_left() {
    let outcome = |action, zone: &str, target: &str, why: Option<&str>| ZoneOutcome {
        change: ZoneChange {
            action,
            apex: None,
            catalog: None,
            pool: crate::change::fixture::pool(),
            target: target.to_owned(),
            zone: fixture::zone(zone),
        },
        why: why.map(|code| Problem::new("", Code::new("zone-not-made"), code.to_owned())),
    };
    let made = outcome(ZoneAction::Create, "a.example", "one", None);
    let not_made = outcome(ZoneAction::Create, "b.example", "one", Some("the disk is full"));
    let kept = |target| outcome(ZoneAction::Delete, "c.example", target, Some("no leave"));
    let verdict = |zone_changes: &[&ZoneOutcome], hosts: Vec<SubjectOutcome>| {
        let zone_changes = zone_changes.iter().map(|outcome| (*outcome).clone()).collect();
        shown(&ApplyOutcome { zone_changes, ..applied(hosts, 2) }, 0).split("\n\n").next().unwrap().to_owned()
    };
    let lines = [
        verdict(&[&kept("one"), &kept("two")], vec![]),
        verdict(&[&made, &not_made], vec![]),
        verdict(&[&made, &kept("one")], hosts(1..2, OutcomeCode::Applied)),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    Nothing was changed: 1 zone not deleted.
    Applied in part: 1 zone made; 1 zone not made.
    Applied: 1 host changed (2 RRsets in 1 zone), nothing left; 1 zone made; 1 zone
      not deleted.
    ");
}

#[test]
fn text_says_what_is_left_and_what_to_do() {
    insta::assert_snapshot!(shown(&everything(), 4), @r#"
    Applied in part: 3 of 27 hosts and 0 of 1 unclaimed name, 1 of them before; 1
      partial, 1 not-applied, 14 failed, 2 stale, 7 not-reached; 1 problem.

    Problems
      zones: error[reload-failed]: `rndc` ended with 1: \u{1b}[2J
        hint: the file is written: load it by hand

    partial, 1 host: some of their changes were made, others were not: see below
      host 5 of search, sas1-0005.search.example.net.: stale in the reverse zone
      hint: plan again

    not-applied, 1 host: the server accepted a change, but does not have it: see
      below
      host 6 of search, sas1-0006.search.example.net.: nothing was there; there is a
        CNAME
      hint: remove it

    failed, 13 hosts and 1 unclaimed name: their changes were not made, or it is not
      known: see below
      ns1.example.net:53 zone search.example.net.: the server answers REFUSED
        host 7 of search, sas1-0007.search.example.net.
        host 8 of search, sas1-0008.search.example.net.
        host 9 of search, sas1-0009.search.example.net.
        host 10 of search, sas1-0010.search.example.net.
        host 11 of search, sas1-0011.search.example.net.
        and 8 hosts more (-v lists all)
      hint: let `update-policy` grant the key this type
      unclaimed name in search, sas1-0000.search.example.net.: the answer was lost

    stale, 2 hosts: another editor changed their records after the plan: plan again
      host 3 of search, sas1-0003.search.example.net.:
        `AAAA sas1-0003.search.example.net.` is `2a02:6b8::3`, the plan saw
        `2a02:6b8::2`
      host 4 of search, sas1-0004.search.example.net.: there is a CNAME at
        `\u{1b}[31m`

    not-reached, 7 hosts: the apply stopped before it reached them
      host 20 of search, sas1-0020.search.example.net.
      host 21 of search, sas1-0021.search.example.net.
      host 22 of search, sas1-0022.search.example.net.
      host 23 of search, sas1-0023.search.example.net.
      host 24 of search, sas1-0024.search.example.net.
      and 2 hosts more (-v lists all)

    Written
      updates  changes  seconds  zone
            0        0     0.00  0.0.8.b.6.0.2.0.a.2.ip6.arpa.
            1        8     1.23  search.example.net.

    Changed since the plan was made; for information only: each host is compared by
      itself
      racktables/hosts.csv
      zone search.example.net.

    Apply 12 in the journal, begun 2026-11-20T02:00:00Z; plan sha256:62c02ab375cf.
    `zonewright resume 12` goes on with what is left.

    Applied in part: 3 of 27 hosts and 0 of 1 unclaimed name, 1 of them before; 1
      partial, 1 not-applied, 14 failed, 2 stale, 7 not-reached; 1 problem.
    "#);
}

#[test]
fn a_refused_plan_says_that_nothing_was_changed() {
    let refusal = refusal();
    let text = report(&ApplyOutcome::default(), Some(&refusal), 3, |report| text(report, &TextOptions::default()));
    insta::assert_snapshot!(text, @"
    Refused: plan.json: error[plan-expired]: the plan was good until
      2026-11-21T01:30:00Z
      hint: plan again
      Nothing was changed.

    Changed since the plan was made; for information only: each host is compared by
      itself
      racktables/hosts.csv
      zone search.example.net.

    Nothing was added to the journal; plan sha256:62c02ab375cf.
    ");
}

#[test]
fn nothing_is_cut_where_all_is_asked_for() {
    let options = TextOptions { verbose: true, ..TextOptions::default() };
    let text = report(&everything(), None, 4, |report| text(report, &options));
    for inv in 3..27 {
        assert!(text.contains(&format!("host {inv} of search")), "{inv}: {text}");
    }
    assert!(!text.contains(" more"), "{text}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let options = TextOptions { color: true, ..TextOptions::default() };
    let colored = report(&everything(), None, 4, |report| text(report, &options));
    let plain = shown(&everything(), 4);
    assert!(colored.contains('\u{1b}') && !plain.contains('\u{1b}'));
    let mut stripped = String::new();
    for part in colored.split('\u{1b}') {
        stripped
            .push_str(part.split_once('m').filter(|(code, _)| code.starts_with('[')).map_or(part, |(_, rest)| rest));
    }
    assert_eq!(stripped, plain);
}

#[test]
fn the_document_has_everything_and_fits_its_schema() {
    let document = document(&everything(), None, 4);
    assert_eq!(check_one(SchemaKind::Apply, document.clone()), "");
    let counts = json!({
        "applied": 2, "already-applied": 1, "stale": 2, "no-longer-allowed": 0, "partial": 1, "not-applied": 1, "raced": 0, "failed": 14, "not-reached": 7,
        "waiting": 0, "rejected": 0,
    });
    assert_eq!(document["counts"], counts);
    assert_eq!(document["hosts"].as_array().unwrap().len(), 28);
    let first = json!({
        "subject": "host:1", "host": 1, "project": "search", "name": "sas1-0001.search.example.net.", "changes": 4,
        "outcome": "applied",
    });
    assert_eq!(document["hosts"][0], first);
    assert_eq!(document["hosts"][19]["host"], Value::Null);
    assert_eq!(document["hosts"][6]["hint"], "let `update-policy` grant the key this type");
    assert_eq!(
        document["zones"][1],
        json!({"pool": "main", "zone": "search.example.net.", "updates": 1, "changes": 8})
    );
    assert_eq!(document["problems"][0]["code"], "reload-failed");
    assert_eq!((&document["exit"], &document["apply"], &document["refused"]), (&json!(4), &json!(12), &Value::Null));
    assert_eq!(document["moved"], json!(["racktables/hosts.csv", "zone search.example.net."]));
}

#[test]
fn the_document_of_a_refused_plan_fits_its_schema() {
    let document = document(&ApplyOutcome::default(), Some(&refusal()), 3);
    assert_eq!(check_one(SchemaKind::Apply, document.clone()), "");
    assert_eq!((&document["apply"], &document["hosts"]), (&Value::Null, &json!([])));
    assert_eq!(document["refused"]["code"], "plan-expired");
}

#[test]
fn two_documents_of_one_course_are_equal_however_long_it_took() {
    let mut slower = everything();
    slower.zones.iter_mut().for_each(|zone| zone.took *= 3);
    assert_eq!(document(&slower, None, 4), document(&everything(), None, 4));
}

#[test]
fn documents_with_anything_else_in_them_do_not_fit() {
    let whole = document(&everything(), None, 4);
    for (pointer, new) in [
        ("", json!("more")),
        ("/format", json!("zonewright.apply/2")),
        ("/plan", json!("sha256:12")),
        ("/exit", json!(2)),
        ("/apply", json!(0)),
        ("/counts/stale", json!(-1)),
        ("/hosts/0/outcome", json!("done")),
        ("/hosts/0/message", Value::Null),
        ("/hosts/0/host", json!("1")),
        ("/zones/0/seconds", json!(1)),
        ("/refused", json!({"code": "x"})),
        ("/problems/0/place", Value::Null),
    ] {
        let mut edited = whole.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap_or(("", "more"));
        edited.pointer_mut(parent).unwrap()[key] = new;
        assert_ne!(check_one(SchemaKind::Apply, edited), "", "{pointer}");
    }
}
