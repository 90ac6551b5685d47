//! A history in both forms.

use super::*;
use crate::change::RrsetText;
use crate::dns::{Name, Rtype};
use crate::inventory::value::{Duration, Inv, Time};
use crate::plan::fixture;
use crate::plan::fixture::subject;
use crate::report::SchemaKind;
use crate::report::schema::tests::check_one;
use crate::state::{
    ApplyId, ApplySummary, ApprovalGiven, GivenStatus, HistoryAnswer, LeftSubject, LiftedLimit, NewApply, PastApply,
    Resumption, SentChange, SentFate, SentUpdate,
};
use crate::target::TargetId;

/// So many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// A digest.
const PLAN: &str = "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// An apply that undoes another, was taken up once, and ended.
fn summary(id: u64) -> ApplySummary {
    let new = NewApply {
        plan: PLAN.into(),
        effect: PLAN.into(),
        started: at(id * 60),
        who: "ops".into(),
        reason: Some("ticket 7\u{1b}[31m".into()),
        inputs: [].into(),
        hosts: 40,
        undoes: Some(ApplyId(1)),
        is_whole: true,
    };
    ApplySummary {
        id: ApplyId(id),
        new,
        finished: Some(at(id * 60 + 7)),
        outcomes: [("applied".to_owned(), 37), ("stale".to_owned(), 2), ("failed".to_owned(), 1)].into(),
        updates_done: 2,
        updates_open: 1,
        is_sync: false,
        resumed: vec![Resumption { at: at(id * 60 + 5), who: "night".into(), reason: Some("after the reboot".into()) }],
    }
}

/// One that did not end, and of which little is known.
fn begun(id: u64) -> ApplySummary {
    let new = NewApply { who: String::new(), reason: None, undoes: None, ..summary(id).new };
    ApplySummary { new, finished: None, outcomes: [].into(), resumed: vec![], ..summary(id) }
}

/// An RRset.
fn rrset(ttl: u32, rdata: &[&str]) -> Option<RrsetText> {
    Some(RrsetText { mark: None, ttl, rdata: rdata.iter().map(|text| (*text).to_owned()).collect() })
}

/// A change for host 7.
fn change(name: &str, rtype: Rtype, before: Option<RrsetText>, after: Option<RrsetText>) -> SentChange {
    let name = Name::parse(name).unwrap();
    SentChange {
        subject: subject(Some(7)),
        also: vec![],
        project: "search".into(),
        name,
        rtype,
        before,
        after,
        registers: None,
    }
}

/// An update.
fn sent(number: u64, fate: SentFate, changes: Vec<SentChange>) -> SentUpdate {
    let zone = fixture::zone(if changes[0].rtype == Rtype::PTR { "8.b.d.0.1.0.0.2.ip6.arpa" } else { "example.net" });
    let target = TargetId::only(&fixture::pool());
    SentUpdate {
        number,
        zone,
        target,
        is_of_several: false,
        phase: "forward".into(),
        at: at(number),
        fate,
        race: None,
        changes,
    }
}

/// A host that was left.
fn left(host: Option<u64>, outcome: &str, message: Option<&str>) -> LeftSubject {
    let name = format!("h{}.example.net.", host.unwrap_or_default());
    let message = message.map(str::to_owned);
    LeftSubject { subject: subject(host), project: "search".into(), name, outcome: outcome.into(), message }
}

/// An apply in which everything happened.
fn full() -> PastApply {
    let create = |name: &str| change(name, Rtype::AAAA, None, rrset(600, &["2a02::1"]));
    let modify = change("b.example.net", Rtype::AAAA, rrset(3600, &["2a02::8", "2a02::9"]), rrset(600, &["2a02::9"]));
    let delete =
        SentChange { subject: subject(None), ..change("c.example.net", Rtype::AAAA, rrset(60, &["2a02::3"]), None) };
    let pointer = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa";
    let pointer = change(pointer, Rtype::PTR, rrset(600, &["b.example.net."]), rrset(600, &["a.example.net."]));
    let shared = SentChange { also: vec![subject(Some(8)), subject(Some(9))], ..create("a.example.net") };
    let refused = || SentFate::Undone("the server refused the update (REFUSED)".into());
    PastApply {
        summary: summary(12),
        sent: vec![
            sent(1, refused(), vec![shared.clone(), modify.clone()]),
            sent(2, SentFate::Done, vec![shared]),
            sent(3, refused(), vec![modify.clone()]),
            sent(4, SentFate::Done, vec![modify, delete]),
            sent(5, SentFate::Unknown(Some("no answer".into())), vec![pointer]),
            sent(6, SentFate::Unknown(None), vec![create("d.example.net")]),
            sent(7, refused(), vec![create("e.example.net")]),
        ],
        left: vec![
            left(Some(70), "stale", Some("`h70.example.net.` AAAA is 2a02::5")),
            left(Some(71), "failed", Some("the server refused the update (REFUSED)")),
            left(Some(72), "failed", Some("the server refused the update (REFUSED)")),
            left(None, "not-reached", None),
        ],
        allowed: vec![LiftedLimit {
            allowance: "project:search/1h=34".parse().unwrap(),
            effect: PLAN.into(),
            at: at(1),
            who: "ops".into(),
        }],
        gates: Vec::new(),
        approvals: Vec::new(),
        published: Vec::new(),
    }
}

/// A history of these applies.
fn history(told: HistoryAnswer) -> History {
    History {
        tool: "zonewright 0.1.0".into(),
        created: at(9999),
        place: ".zonewright/state.db".into(),
        running: Some(ApplyId(13)),
        resumable: vec![ApplyId(12)],
        projects: vec![],
        zones: vec![],
        told,
    }
}

/// The text.
fn text(told: HistoryAnswer) -> String {
    super::history(&history(told), ReportFormat::Text, &TextOptions { width: 80, ..TextOptions::default() })
}

/// The document.
fn json(history: &History) -> serde_json::Value {
    serde_json::from_str(&super::history(history, ReportFormat::Json, &TextOptions::default())).unwrap()
}

#[test]
fn a_list_says_who_when_and_what_became_of_it() {
    insta::assert_snapshot!(text(HistoryAnswer::Applies(vec![begun(13), summary(12)], true)), @r"
    Last applies
      13: begun 2026-11-20T02:13:00Z, running
        40 hosts; 2 updates done, 1 perhaps done; plan sha256:001122334455
      12: begun 2026-11-20T02:12:00Z by ops, ended 2026-11-20T02:12:07Z
        37 applied, 1 failed, 2 stale; 2 updates done, 1 perhaps done; plan
          sha256:001122334455
        reason: ticket 7\u{1b}[31m
        undoes apply 1
        resumed 2026-11-20T02:12:05Z by night: after the reboot
      and earlier ones (-v lists all)
    ");
    assert_eq!(text(HistoryAnswer::Applies(vec![], false)), "Nothing was ever applied.\n");
}

#[test]
fn one_apply_is_told_in_full() {
    insta::assert_snapshot!(text(HistoryAnswer::Apply(Box::new(full()))), @r"
    Apply 12: begun 2026-11-20T02:12:00Z by ops, ended 2026-11-20T02:12:07Z
      37 applied, 1 failed, 2 stale; 2 updates done, 1 perhaps done
      reason: ticket 7\u{1b}[31m
      undoes apply 1
      resumed 2026-11-20T02:12:05Z by night: after the reboot
      allowed project:search/1h=34 2026-11-20T02:00:01Z by ops
      plan sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
      effect sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
      hint: `zonewright resume 12` continues it

    Zones
      created  modified  deleted  perhaps  not made  zone
            -         -        -        1         -  8.b.d.0.1.0.0.2.ip6.arpa.
            1         1        1        1         1  example.net.

    Hosts that are not as the plan says
      failed, 2 hosts: the server refused the update (REFUSED)
        host 71 of search, h71.example.net.
        host 72 of search, h72.example.net.
      stale, 1 host: `h70.example.net.` AAAA is 2a02::5
        host 70 of search, h70.example.net.
      not-reached, 1 unclaimed name
        unclaimed name in search, h0.example.net.

    Changes
      create AAAA a.example.net. ttl 600
        + 2a02::1
        host 7 of search, also hosts 8, 9; update 2 to example.net.: done
      modify AAAA b.example.net. ttl 3600 -> 600
          2a02::9
        - 2a02::8
        host 7 of search; update 4 to example.net.: done
      delete AAAA c.example.net. ttl 60
        - 2a02::3
        unclaimed name in search; update 4 to example.net.: done
      modify PTR of 2001:db8::1 ttl 600
        - b.example.net.
        + a.example.net.
          ^
        host 7 of search; update 5 to 8.b.d.0.1.0.0.2.ip6.arpa.: perhaps made: no
          answer
      create AAAA d.example.net. ttl 600
        + 2a02::1
        host 7 of search; update 6 to example.net.: perhaps made: the apply ended
          before it knew
      create AAAA e.example.net. ttl 600
        + 2a02::1
        host 7 of search; update 7 to example.net.: not made: the server refused the
          update (REFUSED)
    ");
}

#[test]
fn what_was_done_for_a_host_is_told_apply_by_apply() {
    let PastApply { summary, mut sent, mut left, .. } = full();
    sent.truncate(1);
    left.truncate(1);
    let earlier = PastApply {
        summary: begun(3),
        sent: vec![sent[0].clone()],
        left: vec![],
        allowed: vec![],
        gates: vec![],
        approvals: vec![],
        published: vec![],
    };
    insta::assert_snapshot!(text(HistoryAnswer::Hosts(vec![Inv(7), Inv(70)], vec![PastApply { summary, sent: vec![], left, allowed: vec![], gates: vec![], approvals: vec![], published: vec![] }, earlier])), @r"
    What was done for hosts 7, 70, the latest apply first

    Apply 12: begun 2026-11-20T02:12:00Z by ops, ended 2026-11-20T02:12:07Z
      reason: ticket 7\u{1b}[31m
      undoes apply 1
      resumed 2026-11-20T02:12:05Z by night: after the reboot
      left stale: host 70 of search, h70.example.net.: `h70.example.net.` AAAA is
        2a02::5

    Apply 3: begun 2026-11-20T02:03:00Z, never ended
      create AAAA a.example.net. ttl 600
        + 2a02::1
        host 7 of search, also hosts 8, 9; update 1 to example.net.: not made: the
          server refused the update (REFUSED)
      modify AAAA b.example.net. ttl 3600 -> 600
          2a02::9
        - 2a02::8
        host 7 of search; update 1 to example.net.: not made: the server refused the
          update (REFUSED)
    ");
    let name = Name::parse("a.example.net").unwrap();
    let shown = text(HistoryAnswer::Name(name, vec![full()]));
    assert!(shown.starts_with("What was done at a.example.net., the latest apply first\n\nApply 12: begun"), "{shown}");
}

#[test]
fn long_lists_are_cut_unless_somebody_asks_for_all() {
    let names: Vec<String> = (0..30).map(|number| format!("h{number}.example.net")).collect();
    let changes = names.iter().map(|name| change(name, Rtype::AAAA, None, rrset(600, &["2a02::1"]))).collect();
    let many = (0..30).map(|host| left(Some(host), "failed", Some("refused"))).collect();
    let past = PastApply {
        summary: summary(12),
        sent: vec![sent(1, SentFate::Done, changes)],
        left: many,
        allowed: vec![],
        gates: vec![],
        approvals: vec![],
        published: vec![],
    };
    let told = HistoryAnswer::Apply(Box::new(past));
    let shown = text(told.clone());
    assert_eq!(shown.matches("and 25 more (-v lists all)").count(), 2, "{shown}");
    assert!(shown.contains("       30         -        -        -         -  example.net.\n"), "{shown}");
    let verbose = TextOptions { verbose: true, ..TextOptions::default() };
    let whole = super::history(&history(told.clone()), ReportFormat::Text, &verbose);
    assert!(
        whole.contains("host 29 of search") && whole.contains("h29.example.net.") && !whole.contains("-v lists all")
    );
    assert_eq!(json(&history(told))["applies"][0]["updates"][0]["changes"].as_array().unwrap().len(), 30);
}

#[test]
fn no_line_is_wider_than_the_page_and_none_is_a_command() {
    let mut past = full();
    past.summary.new.reason = Some("why\u{1b}[31m ".repeat(60));
    past.summary.resumed[0].who = "\u{1b}]0;me".into();
    past.sent[6].fate = SentFate::Undone("\u{7}because ".repeat(30));
    past.sent[6].changes[0].project = "\u{1b}[2J".into();
    past.sent[6].changes[0].after = rrset(60, &["\u{1b}[2J"]);
    past.left[0].message = Some("\u{1b}[2J".into());
    past.left[0].name = "\u{9b}31m".into();
    for told in [
        HistoryAnswer::Applies(vec![past.summary.clone()], false),
        HistoryAnswer::Hosts(vec![Inv(7)], vec![past.clone()]),
    ] {
        let shown = text(told);
        assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
    let shown = text(HistoryAnswer::Apply(Box::new(past)));
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n') && shown.contains("\\u{1b}"), "{shown:?}");
}

/// What a service said of a host.
fn given(host: u64, service: &str, status: GivenStatus, message: &str) -> ApprovalGiven {
    let (service, message) = (service.to_owned(), message.to_owned());
    ApprovalGiven { subject: subject(Some(host)), service, status, message, at: at(1) }
}

#[test]
fn what_services_said_before_waves_is_told() {
    let mut approvals = vec![
        given(7, "a", GivenStatus::Allowed, ""),
        given(7, "default", GivenStatus::Allowed, "1 of 2 is busy"),
        given(8, "a", GivenStatus::Allowed, ""),
        given(9, "a", GivenStatus::Allowed, ""),
        given(9, "default", GivenStatus::Allowed, ""),
        given(70, "a", GivenStatus::Rejected, "it has the last replica"),
        given(71, "a", GivenStatus::Rejected, ""),
        given(72, "-", GivenStatus::Ignored, ""),
    ];
    let past = PastApply { approvals: approvals.clone(), ..full() };
    let shown = text(HistoryAnswer::Apply(Box::new(past.clone())));
    let lines: Vec<&str> = shown.lines().collect();
    let first = lines.iter().position(|line| line.contains("approved by")).expect("a line");
    insta::assert_snapshot!(lines[first..first + 5].join("\n"), @r#"
      approved by `a`: host 8
      approved by `a`, `default`: hosts 7, 9
      rejected by `a`: host 71
      rejected by `a`, which said "it has the last replica": host 70
      sent without approvals, as `--ignore-cms` says: host 72
    "#);
    let of_host = text(HistoryAnswer::Hosts(vec![Inv(7)], vec![past.clone()]));
    assert!(of_host.contains("  approved by `a`, `default`: hosts 7, 9\n"), "{of_host}");
    let document = json(&history(HistoryAnswer::Apply(Box::new(past.clone()))));
    assert_eq!(check_one(SchemaKind::History, document.clone()), "");
    let told = &document["applies"][0]["approvals"];
    assert_eq!((&told[1]["service"], &told[1]["message"]), (&"default".into(), &"1 of 2 is busy".into()));
    assert_eq!(
        (&told[7]["service"], &told[7]["status"], &told[7]["message"]),
        (&().into(), &"ignored".into(), &().into())
    );
    let without = json(&history(HistoryAnswer::Apply(Box::new(full()))));
    assert!(without["applies"][0].get("approvals").is_none());
    approvals.extend((100..140).map(|host| given(host, "a", GivenStatus::Allowed, "")));
    let many = text(HistoryAnswer::Apply(Box::new(PastApply { approvals, ..full() })));
    assert!(many.contains("approved by `a`: hosts 8, 100, 101, 102, 103 and 36 more (-v lists all)"), "{many}");
}

#[test]
fn a_narrowed_history_says_so() {
    let zones = vec![fixture::zone("example.net"), fixture::zone("web.example.net")];
    let narrowed = |told| History { projects: vec!["search".into()], zones: zones.clone(), ..history(told) };
    for told in [HistoryAnswer::Apply(Box::new(full())), HistoryAnswer::Hosts(vec![Inv(7)], vec![full()])] {
        let shown = super::history(&narrowed(told.clone()), ReportFormat::Text, &TextOptions::default());
        assert!(shown.contains("Only what concerns the project search is shown.\n"), "{shown}");
        assert!(shown.contains("Only what concerns the zone example.net. or web.example.net. is shown.\n"), "{shown}");
        let json = json(&narrowed(told));
        assert_eq!(
            (json["projects"][0].as_str(), json["zones"][1].as_str()),
            (Some("search"), Some("web.example.net."))
        );
    }
}

#[test]
fn the_document_fits_its_schema() {
    for told in [
        HistoryAnswer::Applies(vec![], false),
        HistoryAnswer::Applies(vec![begun(13), summary(12)], true),
        HistoryAnswer::Apply(Box::new(full())),
        HistoryAnswer::Hosts(vec![Inv(7), Inv(u64::MAX)], vec![full(), PastApply { sent: vec![], ..full() }]),
        HistoryAnswer::Name(Name::parse("a.example.net").unwrap(), vec![full()]),
    ] {
        assert_eq!(check_one(SchemaKind::History, json(&history(told))), "");
    }
    let mut odd = json(&history(HistoryAnswer::Apply(Box::new(full()))));
    assert_eq!(odd["applies"][0]["resumed"][0]["who"], "night");
    assert_eq!((&odd["applies"][0]["undoes"], &odd["asked"]["apply"]), (&1.into(), &12.into()));
    assert_eq!(odd["applies"][0]["updates"][0]["why"], "the server refused the update (REFUSED)");
    odd["applies"][0]["updates"][0]["fate"] = "lost".into();
    assert_ne!(check_one(SchemaKind::History, odd), "");
}
