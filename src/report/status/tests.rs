//! A status in both forms.

use super::*;
use crate::approval::{Refusal, RefusalKind, TaskRow, TaskSaid};
use crate::claim::Subject;
use crate::cms::task::{TaskStatus, TaskType};
use crate::consensus::ZoneStatus;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::{Duration, Inv, Time};
use crate::plan::{LimitKind, WaitCode, WaitingSubject, ZoneAction, fixture};
use crate::report::SchemaKind;
use crate::report::schema::tests::check_one;
use crate::state::served::StatusCounts;
use crate::state::tallies::{PoolTally, ServedTally};
use crate::state::{
    Acceptance, ApplyId, ApplySummary, ApprovalStanding, Breaker, CmsFailure, KnownMarker, KnownMarkers, LockHolder,
    NewApply, Resumption, SourceStatus, StateFacts, ZoneActionRow,
};
use crate::target::{CopyId, Marker, TargetId};

/// So many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// A digest.
const PLAN: &str = "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// An apply that did not end.
fn begun(id: u64) -> ApplySummary {
    let new = NewApply {
        plan: PLAN.into(),
        effect: PLAN.into(),
        started: at(id * 60),
        who: "ops".into(),
        reason: None,
        inputs: [].into(),
        hosts: 40,
        undoes: None,
        is_whole: true,
    };
    ApplySummary {
        id: ApplyId(id),
        new,
        finished: None,
        outcomes: [].into(),
        updates_done: 2,
        updates_open: 1,
        is_sync: false,
        resumed: vec![],
    }
}

/// An apply that ended.
fn ended(id: u64) -> ApplySummary {
    let outcomes = [("applied".to_owned(), 39), ("stale".to_owned(), 1)].into();
    let new = NewApply { reason: Some("ticket 7\u{1b}[31m".into()), who: String::new(), ..begun(id).new };
    ApplySummary { new, finished: Some(at(id * 60 + 7)), outcomes, updates_open: 0, ..begun(id) }
}

/// A marker.
fn marker(epoch: u64, batch: u64) -> Marker {
    Marker { epoch, plan: PLAN.into(), batch }
}

/// A status, with or without a state.
fn status(holder: Option<LockHolder>, memory: Option<StateFacts>) -> Status {
    let (tool, place) = ("zonewright 0.1.0".to_owned(), ".zonewright/state.db".to_owned());
    let limits = if memory.as_ref().is_some_and(|memory| !memory.applies.is_empty()) {
        vec![limit("global", "1d", 1000, 118), limit("project:search", "1h", 20, 34)]
    } else {
        vec![]
    };
    Status {
        tool,
        created: at(999),
        place,
        holder,
        leader: None,
        sources: Vec::new(),
        memory,
        pools: vec![],
        limits,
        left_behind: vec![],
        pool: None,
    }
}

/// A limit of hosts.
fn limit(scope: &str, period: &str, max: u64, used: u64) -> LimitState {
    LimitState {
        scope: scope.into(),
        period: period.into(),
        counts: LimitKind::Hosts,
        max,
        used,
        planned: 0,
        exceeded: false,
        of: None,
        cause: None,
        frees: None,
        setting: None,
    }
}

/// A state of which there is much to say.
fn full() -> StateFacts {
    let known = KnownMarker { marker: Some(marker(7, 12)), open: vec![marker(8, 1)] };
    let fresh = KnownMarker { marker: None, open: vec![marker(1, 1)] };
    StateFacts {
        applies: vec![begun(4), begun(3), ended(2), begun(1)],
        unfinished: vec![begun(4), begun(3)],
        resumable: vec![ApplyId(4), ApplyId(3)],
        markers: KnownMarkers::from_iter([
            (fixture::copy("search.example.net"), known),
            (fixture::copy("example.net"), fresh),
        ]),
        waiting: vec![],
        in_flux: vec![],
        approvals: ApprovalStanding::default(),
        breakers: vec![Breaker { scope: "project:search".into(), tripped: at(1), why: "31 hosts, 20 allowed".into() }],
    }
}

/// A run that holds the lock since a time.
fn holder(since: Time) -> LockHolder {
    LockHolder { pid: Some(4711), who: "ops".into(), since: Some(since) }
}

/// The text.
fn text(status: &Status) -> String {
    super::status(status, ReportFormat::Text, &TextOptions { width: 80, ..TextOptions::default() })
}

#[test]
fn text_says_who_is_at_work_and_what_is_left() {
    insta::assert_snapshot!(text(&status(Some(holder(at(240))), Some(full()))), @r"
    State: .zonewright/state.db
    Lock: held by process 4711 of ops, since 2026-11-20T02:04:00Z

    Unfinished
      apply 3, begun 2026-11-20T02:03:00Z by ops: 2 updates done, 1 perhaps done
      hint: `zonewright resume 3` finds out what took effect, and does what is
        missing

    Last applies
      4: begun 2026-11-20T02:04:00Z by ops, running
        40 hosts; 2 updates done, 1 perhaps done; plan sha256:001122334455
      3: begun 2026-11-20T02:03:00Z by ops, never ended
        40 hosts; 2 updates done, 1 perhaps done; plan sha256:001122334455
      2: begun 2026-11-20T02:02:00Z, ended 2026-11-20T02:02:07Z
        39 applied, 1 stale; 2 updates done; plan sha256:001122334455
        reason: ticket 7\u{1b}[31m
      1: begun 2026-11-20T02:01:00Z by ops, never ended
        40 hosts; 2 updates done, 1 perhaps done; plan sha256:001122334455

    Markers
      example.net.
        none known
        perhaps: epoch 1, update 1 of plan sha256:001122334455
      search.example.net.
        epoch 7, update 12 of plan sha256:001122334455
        perhaps: epoch 8, update 1 of plan sha256:001122334455

    Limits
       max  used  left  limit
      1000   118   882  global/1d
        20    34     0  project:search/1h

    Breakers
      project:search: tripped 2026-11-20T02:00:01Z: 31 hosts, 20 allowed
        hint: find out why, then run
          `zonewright status --reset project:search --reason TEXT`
    ");
}

/// Sources of all kinds: accepted and the same, not believed, and never accepted.
fn sources() -> Vec<SourceStatus> {
    let accepted = |apply, reason: Option<&str>| Acceptance {
        source: String::new(),
        rows: 400,
        dated: Some(at(0)),
        at: at(60),
        apply,
        who: "ops".into(),
        reason: reason.map(str::to_owned),
        files: [].into(),
    };
    let source = |source: &str, rows, accepted: Option<Acceptance>| SourceStatus {
        source: source.into(),
        rows,
        dated: None,
        doubt: None,
        is_accepted: accepted.is_some(),
        accepted,
    };
    let doubt = Some("source `l3_tors`: 240 of 400 rows are gone".to_owned());
    vec![
        SourceStatus { dated: Some(at(0)), ..source("hosts", 400, Some(accepted(Some(ApplyId(12)), None))) },
        SourceStatus { doubt, is_accepted: false, ..source("l3_tors", 160, Some(accepted(None, Some("ticket 7")))) },
        SourceStatus { dated: Some(at(5000)), ..source("net_layout", 1, Some(accepted(None, None))) },
        source("agent", 0, None),
    ]
}

#[test]
fn sources_are_told_with_what_was_accepted() {
    let status = Status { sources: sources(), ..status(None, None) };
    insta::assert_snapshot!(text(&status), @"
    State: none yet at .zonewright/state.db; the first `apply` creates it
    Lock: free

    Sources
      hosts: 400 rows, of 2026-11-20T02:00:00Z, 16m39s old
        accepted 2026-11-20T02:01:00Z by apply 12
      l3_tors: 160 rows, no date of its own
        not believed: 240 of 400 rows are gone
        another one, of 400 rows, was accepted 2026-11-20T02:01:00Z by ops: ticket 7
      net_layout: 1 row, of 2026-11-20T03:23:20Z, which is in the future
        accepted 2026-11-20T02:01:00Z by an apply of ops with nothing to do
      agent: 0 rows, no date of its own
        never accepted
    ");
    let document = super::status(&status, ReportFormat::Json, &TextOptions::default());
    assert_eq!(check_one(SchemaKind::Status, serde_json::from_str(&document).unwrap()), "");
}

#[test]
fn text_of_little_is_short() {
    insta::assert_snapshot!(text(&status(None, None)), @r"
    State: none yet at .zonewright/state.db; the first `apply` creates it
    Lock: free
    ");
    let empty = StateFacts {
        applies: vec![],
        unfinished: vec![],
        resumable: vec![],
        markers: KnownMarkers::default(),
        waiting: vec![],
        in_flux: vec![],
        approvals: ApprovalStanding::default(),
        breakers: vec![],
    };
    insta::assert_snapshot!(text(&status(None, Some(empty))), @r"
    State: .zonewright/state.db
    Lock: free
    Applies: none yet
    ");
    let unsigned = LockHolder { pid: None, who: String::new(), since: None };
    insta::assert_snapshot!(text(&status(Some(unsigned), None)), @r"
    State: none yet at .zonewright/state.db; the first `apply` creates it
    Lock: held by a process
    ");
}

#[test]
fn no_line_is_wider_than_the_page_and_none_is_a_command() {
    let long = ApplySummary { new: NewApply { reason: Some("why ".repeat(60)), ..ended(9).new }, ..ended(9) };
    let shown = text(&status(Some(holder(at(1))), Some(StateFacts { applies: vec![long, ended(2)], ..full() })));
    assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
    assert!(!shown.contains('\u{1b}') && shown.contains("\\u{1b}"));
}

#[test]
fn an_apply_is_at_work_only_while_the_lock_is_held_since_before_it() {
    for (holder, running) in [(Some(holder(at(240))), true), (Some(holder(at(241))), false), (None, false)] {
        let status = status(holder, Some(full()));
        assert_eq!(status.running(), running.then_some(ApplyId(4)), "there is one at a time");
        assert_eq!(status.resumable().any(|id| id == ApplyId(4)), !running);
        assert_eq!(text(&status).contains("  apply 4, begun"), !running);
    }
}

#[test]
fn the_document_fits_its_schema() {
    for status in [
        status(Some(holder(at(240))), Some(full())),
        status(None, None),
        status(Some(LockHolder { pid: None, who: String::new(), since: None }), None),
    ] {
        let json = super::status(&status, ReportFormat::Json, &TextOptions::default());
        assert_eq!(check_one(SchemaKind::Status, serde_json::from_str(&json).unwrap()), "");
    }
    let mut json: serde_json::Value =
        serde_json::from_str(&super::status(&status(None, Some(full())), ReportFormat::Json, &TextOptions::default()))
            .unwrap();
    assert_eq!(json["markers"][0]["open"][0], format!("e=1 p={PLAN} b=1"));
    json["applies"][0]["outcomes"]["odd"] = 1.into();
    assert_ne!(check_one(SchemaKind::Status, json), "");
}

#[test]
fn what_was_taken_for_known_is_told_by_zone() {
    let markers = [(fixture::copy("example.net"), Some(marker(7, 12))), (fixture::copy("web.example.net"), None)];
    let options = TextOptions { width: 80, ..TextOptions::default() };
    let unread = [fixture::zone("search.example.net")];
    insta::assert_snapshot!(adopted(".zonewright/state.db", &markers, &unread, &options), @"
    example.net.
      epoch 7, update 12 of plan sha256:001122334455
    web.example.net.
      no marker
    search.example.net.
      could not be read: its entry in the state stays as it was
    State .zonewright/state.db: the markers of 2 zones are known, 1 zone could not
      be read
    ");
}

#[test]
fn an_apply_that_is_taken_up_is_at_work_though_others_began_since() {
    let resumed = Resumption { at: at(600), who: "ops".into(), reason: Some("again".into()) };
    let first = ApplySummary { resumed: vec![resumed], ..begun(1) };
    let memory = StateFacts { applies: vec![ended(2), first.clone()], unfinished: vec![first], ..full() };
    let shown = text(&status(Some(holder(at(600))), Some(memory)));
    assert!(shown.contains("  1: begun 2026-11-20T02:01:00Z by ops, running\n"), "{shown}");
    assert!(
        shown.contains("    resumed 2026-11-20T02:10:00Z by ops: again\n") && !shown.contains("Unfinished"),
        "{shown}"
    );
}

#[test]
fn text_says_how_to_go_on_as_long_as_one_can() {
    let words = [("applied".to_owned(), 39), ("failed".to_owned(), 1)];
    let failed = ApplySummary { outcomes: words.into(), ..ended(2) };
    let shown = |applies: Vec<ApplySummary>, resumable: Vec<ApplyId>| {
        let unfinished = applies.iter().filter(|apply| apply.finished.is_none()).cloned().collect();
        text(&status(None, Some(StateFacts { applies, unfinished, resumable, ..full() })))
    };
    let both = vec![ApplyId(2)];
    insta::assert_snapshot!(shown(vec![failed.clone()], both.clone()).lines().skip(2).take(6).collect::<Vec<_>>().join("\n"), @"

    Done in part
      apply 2, begun 2026-11-20T02:02:00Z, ended 2026-11-20T02:02:07Z: 39 applied, 1
        failed
      hint: `zonewright resume` does what is missing, and leaves alone what changed
        since
    ");
    assert!(!shown(vec![failed.clone()], vec![]).contains("resume"), "its plan is kept no longer");
    assert!(!shown(vec![ended(2)], both.clone()).contains("resume"), "a stale host takes a new plan");
    assert!(
        !shown(vec![ended(3), failed], both).contains("resume"),
        "what an earlier one left was in the plan of the last"
    );
    let older = shown(vec![ended(5), begun(4)], vec![ApplyId(4)]);
    assert!(older.contains("hint: `zonewright resume 4` finds out what took effect"), "{older}");
    assert!(shown(vec![begun(4)], vec![]).contains("hint: its plan has expired: make a new plan and apply it"));
}

#[test]
fn what_is_open_in_pools_is_listed_and_copies_of_a_zone_are_told_apart() {
    let at_target = |name: &str| {
        let copy = fixture::copy("example.net");
        CopyId { target: TargetId { name: name.to_owned(), ..copy.target }, ..copy }
    };
    let known = KnownMarker { marker: Some(marker(7, 12)), open: vec![] };
    let markers = KnownMarkers::from_iter([(at_target("a"), known.clone()), (at_target("b"), known)]);
    let served = ServedTally {
        rrsets: StatusCounts::default(),
        zones: vec![ZoneStatus::Active, ZoneStatus::Pending, ZoneStatus::Deleted],
        voters: vec![],
    };
    let tally = |pool: &str, served, lacking| PoolTally { pool: pool.parse().unwrap(), served, lacking, made: vec![] };
    let failed = |name: &str| ZoneActionRow {
        copy: at_target(name),
        action: ZoneAction::Create,
        why: Some("the server is down".to_owned()),
        at: "2026-11-20T01:00:00Z".parse().unwrap(),
    };
    let pools = vec![
        tally("one", None, vec![]),
        tally("calm", None, vec![("a".to_owned(), 0), ("b".to_owned(), 0)]),
        tally("main", Some(served), vec![("a".to_owned(), 0), ("b".to_owned(), 3)]),
        PoolTally { made: ["a", "b"].map(failed).to_vec(), ..tally("new", None, vec![]) },
    ];
    let memory = StateFacts { markers, ..full() };
    let status = Status { pools, ..status(None, Some(memory)) };
    let text = text(&status);
    for line in [
        "  calm: nothing is open\n",
        "  main: 1 zone not served as changed; target b lacks 3 changes\n",
        "    hint: `zonewright sync` makes at targets what they lack;",
        "  new: 1 zone not made or deleted\n",
        "    hint: `zonewright sync` tries again;",
        "  example.net. at a\n",
        "  example.net. at b\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert!(!text.contains("one:"), "{text}");
    let document: serde_json::Value = serde_json::from_str(&json::render(&status)).unwrap();
    assert_eq!(check_one(SchemaKind::Status, document.clone()), "");
    assert_eq!(document["markers"][1]["target"], "b");
    assert_eq!(document["pools"][1]["zones_not_served"], 1);
    assert_eq!(document["pools"][1]["lacking"][1]["changes"], 3);
    assert_eq!(document["pools"][2]["zones_failed"], 1);
}

/// A task of a host at a service, asked for since some moment.
fn task(host: u64, service: &str, said: Option<(TaskStatus, &str)>) -> TaskRow {
    TaskRow {
        id: format!("fleet-dns.5f.{host}"),
        service: service.to_owned(),
        project: "search".to_owned(),
        subject: Subject::Host(Inv(host)),
        host: format!("h{host}.example.net"),
        action: CmsAction::TemporaryUnreachable,
        kind: TaskType::Automated,
        comment: "AAAA replaced".to_owned(),
        group: "fleet-dns.5f.1".to_owned(),
        since: at(0),
        tried: said.map(|_| at(60)),
        said: said.map(|(status, message)| TaskSaid { status, message: message.to_owned(), at: at(60) }),
        fault: None,
        is_used: false,
        is_ended: false,
    }
}

/// A state with something of each kind of approvals; these hosts are not through at `search-cms`.
fn with_approvals(open: impl Iterator<Item = u64>) -> StateFacts {
    let moving = Some((TaskStatus::InProcess, "2 shards are moving"));
    let mut tasks = vec![task(1, "default", Some((TaskStatus::Ok, ""))), task(2, "web-cms", None)];
    tasks.extend(open.map(|host| task(host, "search-cms", moving)));
    tasks
        .push(TaskRow { fault: Some("it did not answer within 10 s\u{1b}[31m".into()), ..task(90, "web-cms", moving) });
    tasks.push(TaskRow { is_ended: true, ..task(91, "search-cms", moving) });
    let refusal = |kind, service: &str, message: &str| {
        let change = "[]".to_owned();
        Refusal { kind, at: at(30), service: service.to_owned(), message: message.to_owned(), change }
    };
    let rejected = refusal(RefusalKind::Rejected, "search-cms", "it has the last replica");
    let refusals = vec![
        (Subject::Host(Inv(91)), rejected, Some(at(3630))),
        (Subject::Host(Inv(92)), refusal(RefusalKind::GaveUp, "", ""), None),
    ];
    let failures = vec![CmsFailure {
        service: "web-cms".into(),
        kind: "late".into(),
        message: "`cms.example.net` did not answer within 10 s".into(),
        since: at(10),
        last: at(60),
        count: 7,
    }];
    let waiting = [1, 2, 3, 91, 93].map(|host| WaitingSubject {
        code: if host == 1 { WaitCode::Budget } else { WaitCode::Approval },
        message: if host == 93 { "its services have not been asked yet" } else { "told elsewhere" }.into(),
        project: "search".into(),
        since: at(0),
        subject: Subject::Host(Inv(host)),
        until: None,
    });
    let approvals = ApprovalStanding { tasks, refusals, failures };
    StateFacts { waiting: waiting.into(), approvals, applies: vec![], unfinished: vec![], breakers: vec![], ..full() }
}

/// The lines of a text below some headings.
fn below(text: &str, headings: [&str; 2]) -> String {
    let parts = text.split("\n\n").filter(|part| headings.iter().any(|heading| part.starts_with(heading)));
    parts.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn approvals_are_told_by_service_and_each_host_once() {
    let shown = text(&status(None, Some(with_approvals(3..5))));
    insta::assert_snapshot!(below(&shown, ["Approvals", "Waiting"]), @r"
    Approvals
      `default`: 1 task, 1 ok
      `search-cms`: 3 tasks, 2 in process, 1 to be deleted
      `web-cms`: 2 tasks, 2 not answered
      2 hosts: `search-cms` does not allow it yet, asked since 2026-11-20T02:00:00Z:
        2 shards are moving
        host:3, host:4
      1 host: `web-cms` has not answered yet, asked since 2026-11-20T02:00:00Z
        host:2
      1 host: `web-cms` gives no answer, asked since 2026-11-20T02:00:00Z: it did
        not answer within 10 s\u{1b}[31m
        host:90
      1 host: `search-cms` rejected it at 2026-11-20T02:00:30Z, asked again from
        2026-11-20T03:00:30Z on: it has the last replica
        host:91
      1 host: asked for too long until 2026-11-20T02:00:30Z: all others are asked
        for first
        host:92
      `web-cms` does not answer since 2026-11-20T02:00:10Z, 7 requests:
        `cms.example.net` did not answer within 10 s
        hint: `zonewright cms check web-cms` finds out what is wrong

    Waiting for a later wave
      budget, 1 host: as many of their group may be unreachable as its budget allows
        the first since 2026-11-20T02:00:00Z
        told elsewhere
        host:1
      approval, 4 hosts: their cluster-management services have not let them through
        the first since 2026-11-20T02:00:00Z
        3 of them are under Approvals, with what services said
        its services have not been asked yet
        host:93
      hint: these times are of the last apply that looked; a new apply looks again
    Applies: none yet
    ");
    let hosts = |text: &str| text.split([' ', ',', '\n']).filter(|word| *word == "host:91").count();
    assert_eq!(hosts(&shown), 1, "a host is printed once: {shown}");
    let nothing =
        text(&status(None, Some(StateFacts { approvals: ApprovalStanding::default(), ..with_approvals(3..5) })));
    assert!(!nothing.contains("Approvals") && nothing.contains("told elsewhere"), "{nothing}");
}

#[test]
fn long_lists_of_approvals_are_cut_unless_somebody_asks_for_all() {
    let status = status(None, Some(with_approvals(3..40)));
    let shown = text(&status);
    assert!(shown.contains("  37 hosts: `search-cms` does not allow it yet"), "{shown}");
    assert!(shown.contains("    host:3, host:4, host:5, host:6, host:7 and 32 more (-v lists all)\n"), "{shown}");
    assert!(shown.lines().all(|line| line.len() <= 80) && !shown.contains('\u{1b}'), "{shown}");
    let verbose = TextOptions { verbose: true, ..TextOptions::default() };
    let whole = super::status(&status, ReportFormat::Text, &verbose);
    assert!(whole.contains("host:39") && !whole.contains("-v lists all"), "{whole}");
}

#[test]
fn approvals_are_in_the_document_and_fit_its_schema() {
    let whole = |memory| json::render(&status(None, Some(memory)));
    let document: serde_json::Value = serde_json::from_str(&whole(with_approvals(3..5))).unwrap();
    assert_eq!(check_one(SchemaKind::Status, document.clone()), "");
    let approvals = &document["approvals"];
    assert_eq!(approvals["tasks"].as_array().unwrap().len(), 6);
    let task = |place: usize| &approvals["tasks"][place];
    assert_eq!(
        (&task(0)["status"], &task(0)["message"], &task(0)["service"]),
        (&"ok".into(), &().into(), &"default".into())
    );
    assert_eq!(
        (&task(1)["status"], &task(1)["said"], &task(1)["subject"]),
        (&"not-answered".into(), &().into(), &"host:2".into())
    );
    assert_eq!((&task(2)["status"], &task(2)["message"]), (&"in-process".into(), &"2 shards are moving".into()));
    assert_eq!((&task(4)["status"], &task(5)["status"]), (&"not-answered".into(), &"to-be-deleted".into()));
    assert_eq!(
        (&approvals["refusals"][0]["service"], &approvals["refusals"][1]["kind"]),
        (&"search-cms".into(), &"gave-up".into())
    );
    assert_eq!(
        (&approvals["failures"][0]["fault"], &approvals["failures"][0]["requests"]),
        (&"late".into(), &7.into())
    );
    let without = StateFacts { approvals: ApprovalStanding::default(), ..with_approvals(3..5) };
    let document: serde_json::Value = serde_json::from_str(&whole(without)).unwrap();
    assert!(document.get("approvals").is_none());
    assert_eq!(check_one(SchemaKind::Status, document), "");
}
