//! What the reports say, and that they are what readers of JUnit's XML take, whatever the data.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use proptest::prelude::*;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::*;
use crate::claim::Subject;
use crate::diag::{Diagnostic, Diagnostics, FileId, Files, Origin, Problem};
use crate::inventory::value::Inv;
use crate::plan::{BlockCode, BlockedSubject, Notice, NoticeCode, Plan, SealedPlan, SkipCode, SkippedSubject, fixture};
use crate::report::{CheckReport, PlanOutlook};

/// The elements that the schema of Jenkins knows, with the attributes that each may have and those that it must.
const SCHEMA: &[(&str, &[&str], &[&str])] = &[
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &[]),
    (
        "testsuite",
        &["name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname", "id", "package", "file"],
        &["name", "tests", "failures", "errors"],
    ),
    ("properties", &[], &[]),
    ("property", &["name", "value"], &["name", "value"]),
    ("testcase", &["name", "time", "classname"], &["name"]),
    ("failure", &["type", "message"], &[]),
    ("skipped", &["type", "message"], &[]),
    ("system-out", &[], &[]),
];

/// Which element may be in which.
const INSIDE: &[(&str, &[&str])] = &[
    ("", &["testsuites"]),
    ("testsuites", &["testsuite"]),
    ("testsuite", &["properties", "testcase"]),
    ("properties", &["property"]),
    ("testcase", &["failure", "skipped", "system-out"]),
];

/// A test case as a reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Seen {
    /// `classname`.
    class: String,
    /// `name`.
    name: String,
    /// The element inside, and its `type`; empty where there is none.
    outcome: (String, String),
    /// The text inside.
    text: String,
}

/// The value of an attribute.
fn value(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.attributes().map(Result::unwrap).find(|own| own.key.as_ref() == name);
    found.map(|own| own.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned())
}

/// Reads a report as an XML parser does. Fails where it is not what the schema says, or where counts are wrong.
fn read(xml: &str) -> Vec<Seen> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut path = vec![String::new()];
    let (mut seen, mut told): (Vec<Seen>, Vec<(usize, Vec<usize>)>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
            Event::Start(element) => {
                let name = element.name().as_ref().to_owned();
                let parent = path.last().unwrap();
                assert!(
                    INSIDE.iter().any(|(outer, inner)| outer == parent && inner.contains(&&*name)),
                    "{name}: {xml}"
                );
                let (_, may, must) = SCHEMA.iter().find(|(known, ..)| *known == name).unwrap();
                let names: Vec<String> = element.attributes().map(|own| own.unwrap().key.as_ref().to_owned()).collect();
                assert!(names.iter().all(|name| may.contains(&&**name)), "{names:?}");
                assert!(must.iter().all(|name| names.iter().any(|own| own == name)), "{names:?}");
                let number = |what: &str| value(&element, what).map(|count| count.parse::<usize>().unwrap());
                match &*name {
                    "testsuite" => told.push((
                        seen.len(),
                        ["tests", "failures", "errors", "skipped"].map(|what| number(what).unwrap()).to_vec(),
                    )),
                    "testsuites" => told
                        .push((seen.len(), ["tests", "failures", "errors"].map(|what| number(what).unwrap()).to_vec())),
                    "testcase" => seen.push(Seen {
                        class: value(&element, "classname").unwrap(),
                        name: value(&element, "name").unwrap(),
                        ..Seen::default()
                    }),
                    "failure" | "skipped" | "system-out" => {
                        let outcome = &mut seen.last_mut().unwrap().outcome;
                        assert_eq!(outcome.0, "");
                        *outcome = (name.clone(), value(&element, "type").unwrap_or_default());
                    }
                    _ => {}
                }
                path.push(name);
            }
            Event::End(element) => {
                let name = path.pop().unwrap();
                assert_eq!(element.name().as_ref(), name);
                if name.starts_with("testsuite") {
                    let (from, counts) = told.pop().unwrap();
                    let count = |kind: &str| seen[from..].iter().filter(|case| case.outcome.0 == kind).count();
                    let found = [seen.len() - from, count("failure"), 0, count("skipped")];
                    assert_eq!(counts, found[..counts.len()], "{name}");
                }
            }
            Event::Text(text) if path.len() == 5 => seen.last_mut().unwrap().text.push_str(&text),
            Event::Text(text) => assert_eq!(text.trim(), ""),
            Event::GeneralRef(reference) => {
                let plain = quick_xml::escape::resolve_xml_entity(&reference).unwrap();
                seen.last_mut().unwrap().text.push_str(plain);
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(path, [""]);
    let names: HashSet<(&str, &str)> = seen.iter().map(|case| (&*case.class, &*case.name)).collect();
    assert_eq!(names.len(), seen.len(), "GitLab keeps only the first of test cases that are called alike");
    let is_legal = |c: char| c == '\n' || (!c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    assert!(xml.chars().all(is_legal) && !xml.contains("##["), "{xml}");
    seen
}

/// The report of a plan.
fn of_plan(plan: Plan, outlook: &PlanOutlook) -> Vec<Seen> {
    read(&super::plan(&SealedPlan::new(plan), outlook))
}

/// The cases of a class, each as one line.
fn lines(seen: &[Seen], class: &str) -> String {
    let of_class = seen.iter().filter(|case| case.class == class);
    let line = |Seen { name, outcome: (kind, code), text, .. }: &Seen| format!("{name} | {kind} {code} | {text}\n");
    of_class.map(line).collect()
}

#[test]
fn a_plan_fails_where_somebody_must_put_something_right() {
    let seen = of_plan(fixture::reviewed(), &PlanOutlook::default());
    insta::assert_snapshot!(lines(&seen, "zonewright.inputs"), @r"
    source agent | system-out  | 41022 rows, of 2026-11-20T01:15:00Z
    source eine | failure source-unknown | source `eine`: agents/eine-1.jsonl was cut: its last line has no end
    hint: The source was cut, empty, unreadable, or wrong in too many rows. Hosts that need it are blocked `source-untrusted`. Renew the export.
    source hosts | system-out  | 20611 rows, of 2026-11-19T22:00:00Z
    source l3_tors | system-out  | 1904 rows, of 2026-11-19T20:10:00Z
    source net_layout | system-out  | 812 rows
    zone 0.0.8.b.6.0.2.0.a.2.ip6.arpa. | system-out  | serial 2026112007, 81240 RRsets
    zone search.example.net. | system-out  | serial 2026112001, 62018 RRsets
    zone web.example.net. | system-out  | serial 417, 9114 RRsets
    ");
    insta::assert_snapshot!(lines(&seen, "zonewright.limits"), @r"
    global/1d | system-out  | global/1d: 118 used + 5 planned = 123 hosts, but at most 1000 may change
    project:search/1h | failure limit-exceeded | project:search/1h: 18 used + 3 planned = 21 hosts, but at most 20 may change
    hint: look at what it would do; if that is right, `--allow project:search/1h=21` lets this plan through
    ");
    insta::assert_snapshot!(lines(&seen, "zonewright.project.web"), @"
    host myt2-web-0017.web.example.net. (200017) | system-out  | create 2, modify 1
    host 200100 | failure no-mac | no source reports a MAC of host 200100
    hint: see whether the host's agent runs and reports
    host 200101 | failure no-mac | no source reports a MAC of host 200101
    hint: see whether the host's agent runs and reports
    host 200102 | failure no-mac | no source reports a MAC of host 200102
    hint: see whether the host's agent runs and reports
    host 200103 | failure no-mac | no source reports a MAC of host 200103
    hint: see whether the host's agent runs and reports
    host 200104 | failure no-mac | no source reports a MAC of host 200104
    hint: see whether the host's agent runs and reports
    host 200105 | failure no-mac | no source reports a MAC of host 200105
    hint: see whether the host's agent runs and reports
    host 200106 | failure no-mac | no source reports a MAC of host 200106
    hint: see whether the host's agent runs and reports
    host 200107 | failure no-mac | no source reports a MAC of host 200107
    hint: see whether the host's agent runs and reports
    host 200108 | failure no-mac | no source reports a MAC of host 200108
    hint: see whether the host's agent runs and reports
    host 200400 | skipped restricted | restricted: the inventory keeps automation away from them
    ");
    let lab = lines(&seen, "zonewright.project.lab");
    insta::assert_snapshot!(lab.lines().take(4).collect::<Vec<_>>().join("\n"), @r"
    host 300007 | failure not-owner | AAAA at `lab-7.example.net.` is wrong and was not created by us
    hint: `adopt` the name, or remove the record by hand
    host 300044 | system-out  | delete 1
    host 300100 | skipped automation-off | automation-off: automation is not allowed, or not switched on, for their project
    ");
    assert_eq!(seen.iter().filter(|case| case.class == "zonewright.project.search").count(), 38 + 2 + 1 + 3 + 1);
}

#[test]
fn what_changes_of_a_host_that_is_left_is_told() {
    let mut plan = fixture::fleet();
    let host = plan.changes.iter().find_map(|change| change.subject.host()).unwrap();
    let project = plan.changes.iter().find(|change| change.subject.host() == Some(host)).unwrap().project.clone();
    plan.blocked.clear();
    plan.skipped =
        vec![SkippedSubject { subject: Subject::Host(host), project: project.clone(), code: SkipCode::AutomationOff }];
    let seen = of_plan(plan, &PlanOutlook::default());
    let told = seen.iter().find(|case| case.outcome.0 == "skipped").unwrap();
    assert!(told.text.contains("; changed all the same: create "), "{}", told.text);
}

#[test]
fn all_that_could_not_be_read_of_a_source_is_told() {
    let notice = |message: &str| Notice {
        code: NoticeCode::SourceUnknown,
        name: "agent".to_owned(),
        subject: None,
        message: message.to_owned(),
    };
    let notices = vec![notice("agents/1.jsonl was cut"), notice("agents/2.jsonl is empty")];
    let seen = of_plan(Plan { notices, ..fixture::reviewed() }, &PlanOutlook::default());
    let failed: Vec<&str> =
        seen.iter().filter(|case| case.outcome.1 == "source-unknown").map(|case| &*case.name).collect();
    assert_eq!(failed, ["source agent", "source agent (2)"]);
}

#[test]
fn whatever_refuses_a_plan_beside_limits_is_told() {
    let refusal = Problem::new("the plan", "breaker-tripped", "the breaker `global` is tripped").hint("reset it");
    let seen = of_plan(fixture::empty(), &PlanOutlook { refusal: Some(refusal), ..PlanOutlook::default() });
    insta::assert_snapshot!(lines(&seen, "zonewright.limits"), @r"
    the plan | failure breaker-tripped | the breaker `global` is tripped
    hint: reset it
    ");
}

#[test]
fn a_plan_is_laid_out_as_readers_want_it() {
    let mut plan = fixture::empty();
    plan.zones.truncate(1);
    plan.skipped =
        vec![SkippedSubject { subject: Subject::Host(Inv(7)), project: "a<b".to_owned(), code: SkipCode::Restricted }];
    plan.blocked = vec![BlockedSubject {
        subject: Subject::Host(Inv(8)),
        project: "a<b".to_owned(),
        code: BlockCode::NoMac,
        message: "no source reports \"a\" MAC & all".to_owned(),
        hint: "see".to_owned(),
    }];
    let outlook = PlanOutlook { file: Some("plan.json".to_owned()), ..PlanOutlook::default() };
    let xml = super::plan(&SealedPlan::new(plan), &outlook);
    let xml: Vec<&str> = xml.lines().filter(|line| !line.contains("sha256:")).collect();
    insta::assert_snapshot!(xml.join("\n"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="No changes for 62000 hosts; 1 blocked, 1 skipped" tests="3" failures="1" errors="0">
      <testsuite name="zonewright.inputs" tests="1" failures="0" errors="0" skipped="0" timestamp="2026-11-20T01:30:00Z">
        <properties>
          <property name="verdict" value="No changes for 62000 hosts; 1 blocked, 1 skipped"/>
          <property name="file" value="plan.json"/>
        </properties>
        <testcase classname="zonewright.inputs" name="zone 0.0.8.b.6.0.2.0.a.2.ip6.arpa.">
          <system-out>serial 2026112007, 81240 RRsets</system-out>
        </testcase>
      </testsuite>
      <testsuite name="zonewright.project.a&lt;b" tests="2" failures="1" errors="0" skipped="1" timestamp="2026-11-20T01:30:00Z">
        <testcase classname="zonewright.project.a&lt;b" name="host 7">
          <skipped type="restricted" message="restricted: the inventory keeps automation away from them">restricted: the inventory keeps automation away from them</skipped>
        </testcase>
        <testcase classname="zonewright.project.a&lt;b" name="host 8">
          <failure type="no-mac" message="no source reports &quot;a&quot; MAC &amp; all">no source reports &quot;a&quot; MAC &amp; all
    hint: see</failure>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

/// Some files, and what is wrong in them.
fn found(list: Vec<(usize, Diagnostic)>, names: &[&str]) -> (Files, Diagnostics) {
    let mut files = Files::default();
    let ids: Vec<FileId> = names.iter().map(|name| files.add(*name)).collect();
    let mut diagnostics = Diagnostics::default();
    for (file, mut diagnostic) in list {
        diagnostic.origin.file = ids[file];
        diagnostics.push(diagnostic);
    }
    (files, diagnostics)
}

/// Any place in the first file.
fn at(line: u32, col: u32) -> Origin {
    Origin { file: Files::default().add("x"), line, col }
}

#[test]
fn a_check_fails_where_there_are_errors() {
    let error = Diagnostic::error("bad-mac", at(3, 5), "`zz` is no MAC").excerpt("a,b,zz", 2).hint("correct it");
    let list = vec![
        (0, error.clone()),
        (0, Diagnostic { message: "another".to_owned(), ..error }),
        (0, Diagnostic::warning("odd", at(4, 0), "odd")),
        (1, Diagnostic::warning("old", at(0, 0), "the file is old")),
    ];
    let (files, diagnostics) = found(list, &["racktables/hosts.csv", "names.lock"]);
    let read_files: BTreeSet<String> = ["names.lock", "zones/a.zone"].map(str::to_owned).into();
    let unread = Problem::new("zones/b.zone", "zone-missing", "there is no such file");
    let found = vec![(&files, &diagnostics)];
    let xml = check(&CheckReport { folder: Path::new("dns"), read: &read_files, found, unread: vec![&unread] });
    read(&xml);
    insta::assert_snapshot!(xml, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="zonewright check" tests="6" failures="3" errors="0">
      <testsuite name="dns/names.lock" tests="1" failures="0" errors="0" skipped="0" file="dns/names.lock">
        <testcase classname="zonewright.check" name="dns/names.lock old">
          <system-out>names.lock: warning[old]: the file is old</system-out>
        </testcase>
      </testsuite>
      <testsuite name="dns/racktables/hosts.csv" tests="3" failures="2" errors="0" skipped="0" file="dns/racktables/hosts.csv">
        <testcase classname="zonewright.check" name="dns/racktables/hosts.csv:3:5 bad-mac">
          <failure type="bad-mac" message="`zz` is no MAC">racktables/hosts.csv:3:5: error[bad-mac]: `zz` is no MAC
      3 | a,b,zz
        |     ^^
        = hint: correct it</failure>
        </testcase>
        <testcase classname="zonewright.check" name="dns/racktables/hosts.csv:3:5 bad-mac (2)">
          <failure type="bad-mac" message="another">racktables/hosts.csv:3:5: error[bad-mac]: another
      3 | a,b,zz
        |     ^^
        = hint: correct it</failure>
        </testcase>
        <testcase classname="zonewright.check" name="dns/racktables/hosts.csv:4 odd">
          <system-out>racktables/hosts.csv:4: warning[odd]: odd</system-out>
        </testcase>
      </testsuite>
      <testsuite name="dns/zones/a.zone" tests="1" failures="0" errors="0" skipped="0" file="dns/zones/a.zone">
        <testcase classname="zonewright.check" name="dns/zones/a.zone"/>
      </testsuite>
      <testsuite name="not read" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="zonewright.check" name="zones/b.zone zone-missing">
          <failure type="zone-missing" message="there is no such file">there is no such file</failure>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn findings_that_were_not_kept_are_told() {
    let many = (1..=300).map(|line| (0, Diagnostic::error("bad", at(line, 0), "wrong"))).collect();
    let (files, mut diagnostics) = found(many, &["x"]);
    diagnostics.settle();
    let read_files = BTreeSet::new();
    let seen = read(&check(&CheckReport {
        folder: Path::new("."),
        read: &read_files,
        found: vec![(&files, &diagnostics)],
        unread: Vec::new(),
    }));
    assert_eq!(seen.len(), 201);
    assert_eq!(lines(&seen[200..], CLASS), "x more | failure more-findings | 100 more findings are not shown\n");
}

/// What cases of a check are grouped by.
const CLASS: &str = "zonewright.check";

/// Texts that would be more than text, were they not escaped.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("]]>".to_owned()),
        Just("</failure>".to_owned()),
        Just("<!--".to_owned()),
        Just("&amp;".to_owned()),
        Just("\" x=\"".to_owned()),
        Just("##[error]".to_owned()),
        Just("\u{fffe}\u{ffff}\u{0}\u{1b}\u{85}\r\n".to_owned()),
        "\\PC{0,4}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_data_of_a_plan_leave_their_place(text in hostile(), other in hostile()) {
        let blocked = |host, project: &str| BlockedSubject {
            subject: Subject::Host(Inv(host)),
            project: project.to_owned(),
            code: BlockCode::BadInput,
            message: text.clone(),
            hint: other.clone(),
        };
        let notice = |code| Notice { code, name: text.clone(), subject: None, message: other.clone() };
        let plan = Plan {
            blocked: vec![blocked(1, &text), blocked(2, &other)],
            notices: vec![notice(NoticeCode::ZoneUnknown), notice(NoticeCode::SourceUntrusted)],
            ..fixture::empty()
        };
        let seen = of_plan(plan, &PlanOutlook { file: Some(text.clone()), url: Some(other.clone()), ..PlanOutlook::default() });
        let failed: Vec<&Seen> = seen.iter().filter(|case| case.outcome.1 == "bad-input").collect();
        prop_assert_eq!(failed.len(), 2);
        let hint = if other.is_empty() { String::new() } else { format!("\nhint: {}", sanitize(&other)) };
        let body = format!("{}{hint}", sanitize(&text)).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}");
        prop_assert!(failed.iter().all(|case| case.text == body), "{:?}", failed);
    }

    #[test]
    fn no_data_of_a_finding_leave_their_place(text in hostile(), other in hostile()) {
        let error = Diagnostic::error("bad", at(1, 2), text.as_str()).excerpt(&other, 3).also(&*other).hint(&*text);
        let name = format!("a{text}");
        let (files, diagnostics) = found(vec![(0, error.clone()), (0, error)], &[&name]);
        let read_files = [other.clone()].into();
        let found = vec![(&files, &diagnostics)];
        let unread = Problem::new(text.clone(), "zone-missing", other.clone());
        let seen = read(&check(&CheckReport { folder: Path::new("d"), read: &read_files, found, unread: vec![&unread] }));
        prop_assert_eq!(seen.len(), 4);
        prop_assert_eq!(seen.iter().filter(|case| case.outcome.0 == "failure").count(), 3);
    }
}
