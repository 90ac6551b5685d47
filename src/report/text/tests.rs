//! What a plan looks like.

use std::collections::BTreeMap;

use super::*;
use crate::dns::Rtype;
use crate::dns::reverse::reverse_name;
use crate::inventory::value::Inv;
use crate::plan::fixture::{self, fleet};
use crate::plan::{BlockCode, BlockedSubject, Change, DelayedRrset, Notice, NoticeCode, Rule, document};
use crate::report::{PlanFormat, PlanOutlook, plan};

/// A plan as text with the embedded templates.
fn shown(plan_value: Plan, options: &TextOptions) -> String {
    let templates = Templates::load(BTreeMap::new()).unwrap();
    plan(&SealedPlan::new(plan_value), &PlanOutlook::default(), PlanFormat::Text, &templates, options).unwrap()
}

#[test]
fn a_plan_reads_well_at_eighty_columns() {
    insta::assert_snapshot!(shown(fleet(), &TextOptions::default()), @r#"
    Refused by the limit `project:search/1h`.
    Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked,
      1205 skipped; no plan for what needs source `eine`, which could not be read.

    Summary
      project  hosts  create  modify  delete  blocked  skipped
      lab          1       -       -       1        1     1203
      search       3       4       3       3       40        1
      web          1       2       1       -        9        1
      total        5       6       4       4       50     1205

    Project search
      sas1-0001.search.example.net. (100001)
        modify AAAA 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398  ttl 3600 -> 600
                 -> 2a02:6b8:0:160b:0:1478:b508:9398
          other TTL, wrong address (projects/search.yaml:9, +3)
        create PTR of 2a02:6b8:0:160b:0:1478:b508:9398  ttl 600
        delete PTR of 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
      sas1-0007.search.example.net. (100007)
        create AAAA 2a02:6b8:0:160b:0:1478:b508:93a0  ttl 600
          missing address (agents/agent-1.jsonl:23, racktables/l3-tors.txt:412, +1)
        modify PTR of 2a02:6b8:0:160b:0:1478:b508:93a0  ttl 600
          - sas1-0002.search.example.net.
          + sas1-0007.search.example.net.
        create AAAA fb-sas1-0007.search.example.net.  ttl 600
          + 2a02:6b8:0:3f02:0:1478:b508:93a0
          missing address (racktables/net-layout.xml:88, +1)
        create PTR of 2a02:6b8:0:3f02:0:1478:b508:93a0  ttl 600
        delete AAAA sas1-0002.search.example.net. 2a02:6b8:0:160b:0:1478:b508:93a0
          address elsewhere; shared with 100008 (agents/agent-2.jsonl:9)
      sas1-0012.search.example.net. (100012)
        modify AAAA  ttl 3600 -> 600
          other TTL (projects/search.yaml:9)

    Project web
      myt2-web-0017.web.example.net. (200017)
        modify AAAA  ttl 3600
            2a02:6b8:0:51a::b29a:845b
          - 2a02:6b8:0:51a::b29a:845c
          wrong address (racktables/ipv4-map.txt:31, projects/web.yaml:3)
        create TXT aaaa-myt2-web-0017.web.example.net.  ttl 3600
          + "heritage=external-dns,external-dns/owner=fleet-dns"
          registry (zonewright.toml:2)
        create PTR of 178.154.132.91  ttl 3600

    Deleted: no host and no file has the name
      host 300044 of lab
        delete AAAA lab-old-3.example.net. 2a02:6b8:0:77::1
          released name (names.lock:902)
      no host, project search
        delete AAAA sas1-0931.search.example.net. 2a02:6b8:0:160b:0:1478:b508:1111
          orphan (projects/search.yaml:11)

    Notices
      source-unknown: a source could not be read completely
        source `eine`: agents/eine-1.jsonl was cut: its last line has no end

    Blocked (-v says why, and what to do)
      bad-input       38  100100, 100101, 100102, 100103, 100104, 100105, 100106 +31
      duplicate-name   2  100300, 100301
      no-mac           9  200100, 200101, 200102, 200103, 200104, 200105, 200106 +2
      not-owner        1  300007

    Skipped
      automation-off  1203  300100, 300101, 300102, 300103, 300104, 300105 +1197
      restricted         2  100400, 200400

    Notices (-v says more)
      foreign-name  1  www.example.net.

    Limits: the plan exceeds 1, and is refused without `--allow`
      max  used  planned  limit
       20    18        3  project:search/1h, exceeded
      project:search/1h: 18 used + 3 planned = 21 hosts, but at most 20 may change
        `--allow project:search/1h=21` lets this plan through

    Refused by the limit `project:search/1h`.
    Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked,
      1205 skipped; no plan for what needs source `eine`, which could not be read.
    Nothing was changed. An apply of this plan is refused.
    "#);
}

#[test]
fn a_plan_without_changes_says_so_in_one_line() {
    insta::assert_snapshot!(shown(fixture::empty(), &TextOptions::default()), @"No changes: live DNS matches the inventory.");
    let blocked = Plan { blocked: fleet().blocked, ..fixture::empty() };
    let first = shown(blocked, &TextOptions::default());
    assert_eq!(first.lines().next(), Some("No changes for 62000 hosts; 50 blocked."));
}

#[test]
fn a_saved_plan_says_when_it_expires() {
    let options = TextOptions { purpose: TextPurpose::Saved, ..TextOptions::default() };
    let text = shown(fixture::empty(), &options);
    assert!(text.ends_with("\nThe plan is valid until 2026-11-21T01:30:00Z.\n"));
}

#[test]
fn verbose_lists_what_is_only_counted_otherwise() {
    let options = TextOptions { verbose: true, ..TextOptions::default() };
    let text = shown(fleet(), &options);
    assert!(text.contains("host 200108 of web: no source reports a MAC of host 200108"));
    assert!(text.contains("301302") && !text.contains(" more"), "{text}");
}

#[test]
fn hosts_over_the_limit_are_counted() {
    let options = TextOptions { max_hosts: Some(1), ..TextOptions::default() };
    let text = shown(fleet(), &options);
    assert!(text.contains("\n  and 6 more changes of 2 more hosts (-v lists all)\n\nProject web\n"), "{text}");
    assert!(text.contains("(100001)") && !text.contains("(100012)"));
}

#[test]
fn colour_marks_what_differs_and_is_ended_in_each_line() {
    let mut plan = fixture::empty();
    plan.changes = vec![fleet().changes.remove(0)];
    let options = TextOptions { color: true, ..TextOptions::default() };
    let text = shown(plan, &options);
    assert!(
        text.contains("\u{1b}[32m2a02:6b8:0:160b:\u{1b}[1m\u{1b}[4m0:1478:b508\u{1b}[0m\u{1b}[32m:9398\u{1b}[0m\n")
    );
    assert!(!text.contains('^'));
    assert!(!shown(fleet(), &TextOptions::default()).contains('\u{1b}'));
}

/// A plan in which every text that an input can hold is hostile.
fn hostile() -> Plan {
    let bad = "\u{1b}]0;x\u{7}\r\u{9b}31m\u{202e}\n".to_owned();
    let mut plan = fleet();
    plan.tool = bad.clone();
    plan.changes = vec![fixture::change(
        ("search", Some(1)),
        ("\\027[31m.search.example.net", Rtype::TXT),
        ((1, &["\"\u{1b}[31m\""]), (1, &["\"\u{1b}[32m\""])),
        &[fixture::reason(Rule::Ttl, Some(1), &[&bad])],
    )];
    plan.changes[0].project = bad.clone();
    plan.blocked.iter_mut().for_each(|blocked| {
        (blocked.project, blocked.message, blocked.hint) = (bad.clone(), bad.clone(), bad.clone());
    });
    plan.skipped.iter_mut().for_each(|skipped| skipped.project = bad.clone());
    plan.notices.iter_mut().for_each(|notice| (notice.name, notice.message) = (bad.clone(), "x".to_owned()));
    plan.limits.iter_mut().for_each(|limit| (limit.scope, limit.period) = (bad.clone(), bad.clone()));
    plan.only = PlanScope::new([], std::slice::from_ref(&bad));
    let waiting = waits(("\\027[31m.search.example.net", Rtype::AAAA), None, None);
    plan.delayed = vec![DelayedRrset { project: bad, ..waiting }];
    plan
}

#[test]
fn nothing_in_a_plan_reaches_the_terminal_as_a_command() {
    for purpose in [TextPurpose::Look, TextPurpose::Saved, TextPurpose::Apply] {
        let text = shown(hostile(), &TextOptions { purpose, ..TextOptions::default() });
        let harmless = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(text.chars().all(harmless), "{text:?}");
        assert!(text.contains("\\u{1b}]0;x\\u{7}\\u{d}"));
    }
}

#[test]
fn lines_keep_within_the_width_where_blanks_let_them() {
    for width in [60, 80, 120] {
        let text = shown(fleet(), &TextOptions { width, ..TextOptions::default() });
        // Names, addresses, digests and tables are never cut; all of them are narrower than 80 columns here.
        assert!(text.lines().all(|line| line.len() <= width.max(80)), "{width}");
    }
}

#[test]
fn a_long_name_sticks_out_whole() {
    let name = format!("{}.search.example.net.", ["a".repeat(63), "b".repeat(63), "c".repeat(63)].join("."));
    let mut plan = fixture::empty();
    plan.changes = vec![fixture::change(
        ("search", Some(1)),
        (&name, Rtype::AAAA),
        ((1, &["::1"]), (0, &[])),
        &[fixture::reason(Rule::Released, Some(1), &["names.lock:1"])],
    )];
    assert!(shown(plan, &TextOptions::default()).contains(&format!("    delete AAAA {name}\n      - ::1\n")));
}

#[test]
fn a_template_of_the_workspace_is_used() {
    let overrides = [
        ("plan-host.txt", "{{ host }}: {% for change in changes %}{{ change.verb }} {% endfor %}.\n"),
        (
            "plan.txt",
            "{% for project in projects %}{{ project.text }}{% endfor %}{{ unclaimed.text }}{{ zones | table('rl', 1) }}",
        ),
    ];
    let overrides = overrides.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let templates = Templates::load(overrides.into()).unwrap();
    let sealed = SealedPlan::new(fleet());
    let text = plan(&sealed, &PlanOutlook::default(), PlanFormat::Text, &templates, &TextOptions::default()).unwrap();
    assert!(text.starts_with("100001: modify create delete .\n100007: "), "{text}");
    let templates = Templates::load([("plan-host.txt".to_owned(), "\n{{ hosts }}\n".to_owned())].into()).unwrap();
    let error =
        plan(&sealed, &PlanOutlook::default(), PlanFormat::Text, &templates, &TextOptions::default()).unwrap_err();
    assert_eq!((error.name.as_str(), error.line), ("plan-host.txt", Some(2)));
}

#[test]
fn the_document_is_printed_as_it_is_saved() {
    let sealed = SealedPlan::new(fleet());
    let templates = Templates::load(BTreeMap::new()).unwrap();
    let json = plan(&sealed, &PlanOutlook::default(), PlanFormat::Json, &templates, &TextOptions::default()).unwrap();
    assert_eq!(document::parse(&json), Ok(sealed));
}

#[test]
fn records_of_the_registry_are_next_to_what_they_record() {
    let registry = |name: &str| {
        fixture::change(
            ("web", Some(1)),
            (name, Rtype::TXT),
            ((0, &[]), (60, &["\"heritage=external-dns,external-dns/owner=me\""])),
            &[fixture::reason(Rule::Registry, Some(1), &[])],
        )
    };
    let data = |name: &str, rtype, rdata: &str, rule| {
        let reasons = [fixture::reason(rule, Some(1), &[])];
        fixture::change(("web", Some(1)), (name, rtype), ((0, &[]), (60, &[rdata])), &reasons)
    };
    let (first, second) = ("b.web.example.net.", "fb-b.web.example.net.");
    let mut plan = fixture::empty();
    plan.zones.clear();
    let nibbles = reverse_name("2a02:6b8::1".parse().unwrap()).to_string();
    plan.changes = vec![
        registry(&format!("ptr-{nibbles}")),
        registry("aaaa-b.web.example.net."),
        registry("aaaa-fb-b.web.example.net."),
        data("2a02:6b8::1", Rtype::PTR, first, Rule::MissingPtr),
        data(first, Rtype::AAAA, "2a02:6b8::1", Rule::Missing),
        data(second, Rtype::AAAA, "2a02:6b8::2", Rule::Missing),
    ];
    let verbose = TextOptions { verbose: true, ..TextOptions::default() };
    let folded = shown(plan.clone(), &TextOptions::default());
    assert!(
        folded.contains("    create AAAA 2a02:6b8::1  ttl 60 (+ TXT)\n") && !folded.contains("heritage"),
        "{folded}"
    );
    let text = shown(plan, &verbose);
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    create ")).collect();
    assert_eq!(
        titles,
        [
            "AAAA b.web.example.net.  ttl 60",
            "TXT aaaa-b.web.example.net.  ttl 60",
            "PTR of 2a02:6b8::1  ttl 60",
            "TXT for PTR of 2a02:6b8::1  ttl 60",
            "AAAA fb-b.web.example.net.  ttl 60",
            "TXT aaaa-fb-b.web.example.net.  ttl 60",
        ]
    );
}

#[test]
fn a_plan_that_undoes_an_apply_says_so() {
    let undo = |name: &str, rtype, before, after| {
        let reasons = [fixture::reason(Rule::Undo, Some(100_007), &["apply:12:3"])];
        fixture::change(("search", Some(100_007)), (name, rtype), (before, after), &reasons)
    };
    let (name, heritage) = ("sas1-0007.search.example.net.", "\"heritage=external-dns,external-dns/owner=me\"");
    let mut plan = Plan { undoes: Some(12), ..fixture::empty() };
    plan.zones.clear();
    plan.changes = vec![
        undo("sas1-old.search.example.net.", Rtype::AAAA, (0, &[][..]), (600, &["2a02:6b8::1"][..])),
        undo(name, Rtype::AAAA, (600, &["2a02:6b8::1"]), (0, &[])),
        undo("aaaa-sas1-0007.search.example.net.", Rtype::TXT, (600, &[heritage]), (0, &[])),
        undo("2a02:6b8::1", Rtype::PTR, (600, &[name]), (600, &["sas1-old.search.example.net."])),
    ];
    insta::assert_snapshot!(shown(plan.clone(), &TextOptions::default()), @"
    Undo of apply 12: 1 to create, 1 to modify, 2 to delete for 1 of 62000 hosts.

    Project search
      sas1-0007.search.example.net. (100007)
        delete AAAA 2a02:6b8::1 (+ TXT)
          undo (apply:12:3)
        create AAAA sas1-old.search.example.net. 2a02:6b8::1  ttl 600
        modify PTR of 2a02:6b8::1  ttl 600
          - sas1-0007.search.example.net.
          + sas1-old.search.example.net.

    Undo of apply 12: 1 to create, 1 to modify, 2 to delete for 1 of 62000 hosts.
    Nothing was changed. `--yes` applies this plan; `--out FILE` saves it.
    ");
    plan.changes.clear();
    let first = |plan: &Plan| shown(plan.clone(), &TextOptions::default()).lines().next().map(str::to_owned);
    let nothing = "No changes: apply 12 needs no undo.";
    assert_eq!(first(&plan).as_deref(), Some(nothing));
    assert!(!shown(plan.clone(), &TextOptions::default()).contains("--yes"));
    plan.notices = vec![Notice { code: NoticeCode::EditedSince, ..fleet().notices.remove(0) }];
    let edited = "No changes: what is left of apply 12 was edited since, see the notices.";
    assert_eq!(first(&plan).as_deref(), Some(edited));
}

/// An RRset that waits, since and until some time.
fn waits((name, rtype): (&str, Rtype), host: Option<u64>, times: Option<(&str, &str)>) -> DelayedRrset {
    let data = if rtype == Rtype::PTR { "a.search.example.net." } else { "::1" };
    let change = fixture::change(("search", host), (name, rtype), ((60, &[data]), (0, &[])), &[]);
    let rule = if host.is_some() { Rule::Released } else { Rule::Orphan };
    let (since, due) = times.map(|(since, due)| (since.parse().unwrap(), due.parse().unwrap())).unzip();
    DelayedRrset {
        zone: change.zone,
        key: change.key,
        pool: change.pool.clone(),
        subject: change.subject.clone(),
        project: change.project,
        rule,
        since,
        due,
    }
}

#[test]
fn names_without_a_host_are_shown_apart_whether_they_go_or_wait() {
    let deleted = |name: &str, host| {
        let reasons = [fixture::reason(Rule::Released, host, &["names.lock:7"])];
        fixture::change(("search", host), (name, Rtype::AAAA), ((60, &["::1"]), (0, &[])), &reasons)
    };
    let first = Some(("2026-11-20T01:00:00Z", "2026-11-27T01:00:00Z"));
    let mut plan = fixture::empty();
    plan.zones.clear();
    plan.only = PlanScope::new([Inv(7), Inv(8)], &["search".into()]);
    plan.changes = vec![deleted("sas1-0009.search.example.net.", Some(7))];
    plan.delayed = vec![
        waits(("sas1-0008.search.example.net.", Rtype::AAAA), None, None),
        waits(("sas1-0007.search.example.net.", Rtype::AAAA), Some(7), first),
        waits(("2a02:6b8::7", Rtype::PTR), Some(7), first),
    ];
    insta::assert_snapshot!(shown(plan.clone(), &TextOptions::default()), @"
    Plan: 0 to create, 0 to modify, 1 to delete for 1 of 62000 hosts; 3 RRsets
      waiting.
    Narrowed to hosts 7, 8 of project search.

    Deleted: no host and no file has the name
      host 7 of search
        delete AAAA sas1-0009.search.example.net. ::1
          released name (names.lock:7)

    Waits to be deleted: no host and no file has the name
      since 2026-11-20T01:00:00Z, due 2026-11-27T01:00:00Z
        PTR of 2a02:6b8::7: released name of host 7 of search
        AAAA sas1-0007.search.example.net.: released name of host 7 of search
      the wait begins when this plan is applied
        AAAA sas1-0008.search.example.net.: orphan of search

    Plan: 0 to create, 0 to modify, 1 to delete for 1 of 62000 hosts; 3 RRsets
      waiting.
    Nothing was changed. `plan --out FILE` saves the plan, `apply FILE` applies it.
    ");
    plan.changes.clear();
    plan.only = None;
    let text = shown(plan, &TextOptions::default());
    assert!(text.starts_with("No changes for 62000 hosts; 3 RRsets waiting.\n\nWaits to be "), "{text}");
}

#[test]
fn the_txt_of_the_registry_is_with_its_rrset() {
    let change = |name: &str, rtype, rule, rdata| {
        let host = if name.contains("a.web") { Some(6) } else { Some(7) };
        let reasons = [fixture::reason(rule, host, &[])];
        fixture::change(("web", host), (name, rtype), ((60, &[rdata]), (0, &[])), &reasons)
    };
    let heritage = "\"heritage=external-dns,external-dns/owner=me\"";
    let mut plan = fixture::empty();
    plan.changes = vec![
        change("a.web.example.net.", Rtype::AAAA, Rule::Released, "2a02:6b8::1"),
        change("aaaa-a.web.example.net.", Rtype::TXT, Rule::Registry, heritage),
        change("b.web.example.net.", Rtype::AAAA, Rule::AddressElsewhere, "2a02:6b8::1"),
        change("aaaa-b.web.example.net.", Rtype::TXT, Rule::Registry, heritage),
    ];
    let text = shown(plan, &TextOptions { verbose: true, ..TextOptions::default() });
    let (others, unclaimed) = text.split_once("Deleted: no host and no file has the name").unwrap();
    let names = |part: &str| -> Vec<String> {
        let titles = part.lines().filter_map(|line| line.strip_prefix("    delete "));
        titles.map(|title| title.split(' ').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(names(others), ["b.web.example.net.", "aaaa-b.web.example.net."]);
    assert_eq!(names(unclaimed), ["a.web.example.net.", "aaaa-a.web.example.net."]);
}

/// A change by one rule of host 7 in a project.
fn of_7(project: &str, (name, rtype): (&str, Rtype), rule: Rule, sides: (&[&str], &[&str])) -> Change {
    let reasons = [fixture::reason(rule, Some(7), &[])];
    fixture::change((project, Some(7)), (name, rtype), ((60, sides.0), (60, sides.1)), &reasons)
}

#[test]
fn a_rename_is_one_change_of_its_host_wherever_the_old_name_was() {
    let (old, new) = ("old1.search.example.net.", "new1.web.example.net.");
    let mut plan = fixture::empty();
    plan.zones.clear();
    plan.changes = vec![
        of_7("search", ("fb-old1.search.example.net.", Rtype::AAAA), Rule::Released, (&["2a02:6b8::2"], &[])),
        of_7("search", (old, Rtype::AAAA), Rule::Released, (&["2a02:6b8::1"], &[])),
        of_7("search", ("aaaa-old1.search.example.net.", Rtype::TXT), Rule::Registry, (&["\"heritage=a\""], &[])),
        of_7("search", ("2a02:6b8::9", Rtype::PTR), Rule::Released, (&[old], &[])),
        of_7("web", (new, Rtype::AAAA), Rule::Missing, (&[], &["2a02:6b8::1"])),
        of_7("web", ("2a02:6b8::1", Rtype::PTR), Rule::WrongPtr, (&[old], &[new])),
    ];
    insta::assert_snapshot!(shown(plan.clone(), &TextOptions::default()), @"
    Plan: 1 to create, 1 to modify, 4 to delete for 1 of 62000 hosts.

    Summary
      project  hosts  create  modify  delete  blocked  skipped
      search       1       -       -       4        -        -
      web          1       1       1       -        -        -
      total        1       1       1       4        -        -

    Project web
      new1.web.example.net. (7), was old1.search.example.net.
        create AAAA 2a02:6b8::1  ttl 60
          missing address
        modify PTR of 2a02:6b8::1  ttl 60
          - old1.search.example.net.
          + new1.web.example.net.
        delete AAAA fb-old1.search.example.net. 2a02:6b8::2
          released name
        delete AAAA old1.search.example.net. 2a02:6b8::1 (+ TXT)
        delete PTR of 2a02:6b8::9

    Plan: 1 to create, 1 to modify, 4 to delete for 1 of 62000 hosts.
    Nothing was changed. `plan --out FILE` saves the plan, `apply FILE` applies it.
    ");
    // Both of its former names are shown; a name that another host gave up is not its own.
    plan.changes.push(of_7("web", ("older.web.example.net.", Rtype::AAAA), Rule::Released, (&["2a02:6b8::1"], &[])));
    let text = shown(plan.clone(), &TextOptions::default());
    assert!(
        text.contains("  new1.web.example.net. (7), was old1.search.example.net.,\n    older.web.example.net.\n"),
        "{text}"
    );
    plan.changes.retain(|change| change.reasons[0].rule != Rule::Released);
    assert!(!shown(plan, &TextOptions::default()).contains(", was "));
}

#[test]
fn hints_are_said_where_all_is_shown() {
    let mut plan = fixture::empty();
    let blocked = |host| BlockedSubject {
        subject: fixture::subject(Some(host)),
        project: "web".into(),
        code: BlockCode::NoName,
        message: "it has no name".into(),
        hint: format!("give it `web{host}`"),
    };
    plan.blocked = (1..=9).map(blocked).collect();
    let few = shown(plan.clone(), &TextOptions::default());
    assert!(few.contains("\n  no-name  9  1, 2, 3, 4, 5, 6, 7, 8, 9\n") && !few.contains("give it"), "{few}");
    let all = shown(plan, &TextOptions { verbose: true, ..TextOptions::default() });
    assert!(all.contains("    host 9 of web: it has no name\n    hint: give it `web9`\n"), "{all}");
}

/// The part of a plan from its causes to its changes.
fn causes(text: &str) -> &str {
    let from = ["Caused by", "Causes"].iter().find_map(|start| text.find(start)).unwrap();
    &text[from..from + text[from..].find("\nProject ").unwrap()]
}

#[test]
fn what_differs_from_a_base_comes_before_what_was_pending() {
    insta::assert_snapshot!(causes(&shown(fixture::reviewed(), &TextOptions::default())), @"
    Caused by the differences from origin/main: 6 changes
      VLAN 604 of switch `sas1-s12` moved from `2a02:6b8:0:1600::/64` to
        `2a02:6b8:0:160b::/64` (racktables/l3-tors.txt:412): 1 host, 5 changes
      nothing that differs explains this: 1 host, 1 change

    Caused in part, and pending before: 3 changes
      VLAN 604 of switch `sas1-s12` moved from `2a02:6b8:0:1600::/64` to
        `2a02:6b8:0:160b::/64` (racktables/l3-tors.txt:412): 1 host, 3 changes

    Pending before: 5 changes
      another editor changed or removed records that apply 12 wrote
        (2026-11-18T04:00:00Z): 1 host, 3 changes
      names that no host has (projects/search.yaml:11): 1 change
      the TTL of project `search` is 600, no longer 3600 (projects/search.yaml:9): 1
        host, 1 change

    2 more changes were pending before, and are no longer needed
    host 100002 is blocked because of the differences
    ");
}
