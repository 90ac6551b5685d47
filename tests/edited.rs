//! What a person changes in live DNS after an apply: a plan says so, and leaves it where its project keeps edits.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use copy::copy;
use edit::edit;

/// The clock of all commands.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The forward zone.
const FORWARD: &str = "zones/web.example.net.zone";

/// The reverse zone.
const REVERSE: &str = "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone";

/// The host whose records an apply makes, and its address.
const NAME: &str = "sas0-0001.web.example.net.";

const ADDRESS: &str = "2001:db8:0:1:0:1478:0:101";

/// What the address is in the reverse zone.
const POINTER: &str = "1.0.1.0.0.0.0.0.8.7.4.1.0.0.0.0.1.0.0.0.0.0.0.0";

/// A small workspace with these words in place of others in its settings; the records of one host are still to be made.
fn workspace(settings: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    for (old, new) in settings {
        edit(folder.path(), "zonewright.toml", old, new);
    }
    edit(folder.path(), FORWARD, &format!("\nsas0-0001 AAAA {ADDRESS}"), "");
    edit(folder.path(), REVERSE, &format!("{POINTER} PTR {NAME}\n"), "");
    folder
}

/// The setting that lets a project keep edits.
const KEEPS: (&str, &str) =
    ("dns_domain = \"web.example.net\"\n", "dns_domain = \"web.example.net\"\nkeep_edits = true\n");

/// Runs a command in a workspace.
fn run(workspace: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--now", NOW, "-C"]).arg(workspace).env("COLUMNS", "200");
    command.output().expect("the binary was built for this test")
}

/// The document that a command prints, with its exit code.
fn document(workspace: &Path, args: &[&str]) -> (Value, Option<i32>) {
    let output = run(workspace, &[args, &["--format", "json"]].concat());
    let said = || format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said())), output.status.code())
}

/// The text that a command prints, with its exit code.
fn text(workspace: &Path, args: &[&str]) -> (String, Option<i32>) {
    let output = run(workspace, args);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// Applies; every host is as planned.
fn apply(workspace: &Path) {
    let (applied, exit) = document(workspace, &["apply", "--yes"]);
    assert_eq!(exit, Some(0), "{applied:#}");
}

/// What a plan would change, sorted: `TYPE NAME RULES`.
fn planned(workspace: &Path) -> Vec<String> {
    changes(&document(workspace, &["plan"]).0)
}

/// The changes of a plan, sorted: `TYPE NAME RULES`.
fn changes(plan: &Value) -> Vec<String> {
    let changes = plan["changes"].as_array().expect("a list").iter().map(|change| {
        let rules = change["reasons"].as_array().expect("a list").iter();
        let rules: Vec<&str> = rules.map(|reason| reason["rule"].as_str().expect("text")).collect();
        let text = |key: &str| change[key].as_str().expect("text");
        format!("{} {} {}", text("type"), text("name"), rules.join(","))
    });
    let mut changes: Vec<String> = changes.collect();
    changes.sort();
    changes
}

/// The number of the host that something is about.
fn subject(own: &Value) -> u64 {
    let number = own["subject"].as_str().and_then(|text| text.split_once(':')).expect("a subject").1;
    number.parse().expect("a host")
}

/// The notices of a plan about edits: the name, the host, and the words.
fn notices(plan: &Value) -> Vec<(String, u64, String)> {
    let all = plan["notices"].as_array().expect("a list").iter();
    let edits = all.filter(|notice| notice["code"] == "edited-since");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    edits.map(|own| (text(&own["name"]), subject(own), text(&own["message"]))).collect()
}

/// The lines of a zone file that hold a text.
fn lines(workspace: &Path, file: &str, text: &str) -> Vec<String> {
    let zone = fs::read_to_string(workspace.join(file)).expect("the zone");
    zone.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

/// Changes the only line of a zone file that has both texts, as a person does.
fn by_hand(workspace: &Path, file: &str, [owner, rdata]: [&str; 2], change: impl Fn(&str) -> String) {
    let path: PathBuf = workspace.join(file);
    let zone = fs::read_to_string(&path).expect("the zone");
    let is_meant = |line: &&str| line.starts_with(owner) && line.contains(rdata);
    assert_eq!(zone.lines().filter(is_meant).count(), 1, "{owner} {rdata}: {zone}");
    let changed = zone.lines().map(|line| if is_meant(&line) { change(line) } else { format!("{line}\n") });
    fs::write(&path, changed.collect::<String>()).expect("the zone");
}

/// A line with another address.
fn other_address(line: &str) -> String {
    line.replace(ADDRESS, "2001:db8::bad") + "\n"
}

/// No line.
fn gone(_: &str) -> String {
    String::new()
}

/// A line with another TTL.
fn other_ttl(line: &str) -> String {
    let mut fields: Vec<&str> = line.split_whitespace().collect();
    assert!(fields.get(1).is_some_and(|ttl| ttl.parse::<u32>().is_ok()), "{line}");
    fields[1] = "77";
    fields.join(" ") + "\n"
}

/// An edit by hand: the file, the line, and what happens to it.
type ByHand<'a> = (&'a str, [&'a str; 2], fn(&str) -> String);

/// All kinds of edits of the records that the apply made, each with the change that the next plan then has.
fn edits() -> Vec<(ByHand<'static>, String)> {
    let (pointer, forward) = (format!("{POINTER}.8.b.d.0.1.0.0.2.ip6.arpa."), [NAME, ADDRESS]);
    vec![
        ((FORWARD, forward, other_address), format!("AAAA {NAME} edited-since,missing,wrong-address")),
        ((FORWARD, forward, gone), format!("AAAA {NAME} edited-since,missing")),
        ((FORWARD, forward, other_ttl), format!("AAAA {NAME} edited-since,ttl")),
        ((REVERSE, [POINTER, NAME], gone), format!("PTR {pointer} edited-since,missing-ptr")),
        ((REVERSE, [POINTER, NAME], other_ttl), format!("PTR {pointer} edited-since,ttl")),
        (
            (REVERSE, [POINTER, NAME], |line| line.replace("sas0-0001.", "sas0-0009.") + "\n"),
            format!("PTR {pointer} edited-since,missing-ptr,wrong-ptr"),
        ),
    ]
}

#[test]
fn a_plan_says_that_it_puts_back_what_was_edited_after_an_apply() {
    for registry in ["journal", "noop"] {
        let settings = format!("registry = \"{registry}\"");
        let folder = workspace(&[("registry = \"journal\"", &settings)]);
        let workspace = folder.path();
        apply(workspace);
        for ((file, line, change), expected) in edits() {
            assert_eq!(planned(workspace), [""; 0]);
            by_hand(workspace, file, line, change);
            assert_eq!(planned(workspace), [expected], "{registry}");
            apply(workspace);
        }
        assert_eq!(planned(workspace), [""; 0]);
    }
}

#[test]
fn an_edit_is_told_with_the_apply_that_it_came_after() {
    let folder = workspace(&[]);
    let workspace = folder.path();
    apply(workspace);
    by_hand(workspace, FORWARD, [NAME, ADDRESS], other_address);
    let (plan, _) = document(workspace, &["plan"]);
    let reason = &plan["changes"][0]["reasons"][0];
    let expected = serde_json::json!({
        "rule": "edited-since", "subject": "host:101", "evidence": ["apply:1:1", format!("sent:{NOW}")]
    });
    assert_eq!(*reason, expected);
    let causes = plan["review"]["causes"].as_array().expect("a list");
    assert_eq!((causes.len(), &causes[0]["kind"]), (1, &Value::from("drift")), "{causes:?}");
    let says = "was edited after apply 1 (2026-11-20 02:00)";
    for args in [&["plan"][..], &["plan", "-v"], &["explain", "101"], &["plan", "--format", "html"]] {
        let (said, _) = text(workspace, args);
        assert_eq!(said.matches(says).count(), 1, "{args:?}: {said}");
    }
    let (diff, _) = text(workspace, &["plan", "--format", "diff"]);
    assert!(diff.contains("edited since"), "{diff}");
}

#[test]
fn an_edit_is_told_although_the_inventory_changed_too() {
    let folder = workspace(&[]);
    let workspace = folder.path();
    apply(workspace);
    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    let is_edited = |change: &String| change.contains("edited-since");
    assert!(!planned(workspace).is_empty() && !planned(workspace).iter().any(is_edited), "{:?}", planned(workspace));
    by_hand(workspace, FORWARD, [NAME, ADDRESS], other_address);
    let edited: Vec<String> = planned(workspace).into_iter().filter(is_edited).collect();
    assert_eq!(edited, [format!("AAAA {NAME} edited-since,missing,wrong-address")]);
    apply(workspace);
    assert_eq!(planned(workspace), [""; 0]);
}

#[test]
fn what_an_undo_put_back_was_edited_by_nobody() {
    let folder = workspace(&[]);
    let workspace = folder.path();
    apply(workspace);
    assert_eq!(text(workspace, &["undo", "1", "--yes"]).1, Some(0));
    let expected = [format!("AAAA {NAME} missing"), format!("PTR {POINTER}.8.b.d.0.1.0.0.2.ip6.arpa. missing-ptr")];
    assert_eq!(planned(workspace), expected);
    apply(workspace);
    assert_eq!(planned(workspace), [""; 0]);
}

#[test]
fn live_data_that_are_older_than_the_apply_prove_no_edit() {
    let folder = workspace(&[]);
    let workspace = folder.path();
    let snapshot = workspace.join("snapshot").display().to_string();
    assert_eq!(run(workspace, &["snapshot", "--out", &snapshot]).status.code(), Some(0));
    apply(workspace);
    let (plan, _) = document(workspace, &["plan", "--live-snapshot", &snapshot]);
    assert_eq!(changes(&plan).len(), 2);
    assert!(changes(&plan).iter().all(|change| !change.contains("edited-since")), "{:?}", changes(&plan));
}

#[test]
fn a_project_that_keeps_edits_keeps_each_of_them_until_it_is_put_back_by_hand() {
    for ((file, line, change), _) in edits() {
        let folder = workspace(&[KEEPS]);
        let workspace = folder.path();
        apply(workspace);
        let before = fs::read_to_string(workspace.join(file)).expect("the zone");
        by_hand(workspace, file, line, change);
        let edited = fs::read_to_string(workspace.join(file)).expect("the zone");
        for _ in 0..2 {
            let (plan, exit) = document(workspace, &["plan", "--detailed-exitcode"]);
            assert_eq!((changes(&plan), exit), (Vec::new(), Some(0)));
            let [(name, host, says)] = notices(&plan).try_into().expect("one notice");
            assert!(name.starts_with(line[0]) && host == 101, "{name} {host}");
            assert!(says.contains(": apply 1 of 2026-11-20T02:00:00Z left "), "{says}");
            assert!(says.ends_with("; `keep_edits` of [project.web] leaves host 101 as it is"), "{says}");
            assert_eq!(text(workspace, &["apply", "--yes"]).1, Some(0));
            assert_eq!(fs::read_to_string(workspace.join(file)).expect("the zone"), edited);
        }
        let (explained, _) = text(workspace, &["explain", "101"]);
        assert!(explained.contains("nothing is done, because a record of it"), "{explained}");
        assert!(!explained.contains("Not everything could be read"), "{explained}");
        let (drifted, exit) = text(workspace, &["drift"]);
        assert_eq!(exit, Some(0), "{drifted}");
        fs::write(workspace.join(file), before).expect("the zone");
        let (plan, _) = document(workspace, &["plan"]);
        assert_eq!((changes(&plan), notices(&plan).len()), (Vec::new(), 0));
    }
}

#[test]
fn with_an_edit_that_is_kept_the_whole_host_stays_and_other_hosts_do_not() {
    let folder = workspace(&[KEEPS]);
    let workspace = folder.path();
    apply(workspace);
    by_hand(workspace, FORWARD, [NAME, ADDRESS], other_address);
    // Both hosts get another network; one of them is kept.
    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    let (plan, _) = document(workspace, &["plan"]);
    let hosts: Vec<&Value> = plan["changes"].as_array().expect("a list").iter().map(|own| &own["subject"]).collect();
    assert!(!hosts.is_empty() && hosts.iter().all(|host| **host == "host:102"), "{hosts:?}");
    assert_eq!(notices(&plan).len(), 1);
    apply(workspace);
    assert_eq!(lines(workspace, FORWARD, NAME), ["sas0-0001.web.example.net. 3600 AAAA 2001:db8::bad"]);
    assert_eq!(lines(workspace, REVERSE, POINTER).len(), 1);
    // `fix` and `--host` keep it, too.
    assert_eq!(planned(workspace), [""; 0]);
    let (fixed, exit) = text(workspace, &["fix", "101", "--yes"]);
    assert_eq!(exit, Some(0), "{fixed}");
    assert_eq!(lines(workspace, FORWARD, NAME), ["sas0-0001.web.example.net. 3600 AAAA 2001:db8::bad"]);
    // Without the setting the host is done.
    edit(workspace, "zonewright.toml", "keep_edits = true", "keep_edits = false");
    apply(workspace);
    assert_eq!(planned(workspace), [""; 0]);
    assert!(lines(workspace, FORWARD, NAME)[0].ends_with("2001:db8:0:9:0:1478:0:101"));
}

#[test]
fn an_orphan_that_was_edited_is_deleted_or_kept() {
    for keeps in [false, true] {
        let folder = workspace(if keeps { &[KEEPS] } else { &[] });
        let workspace = folder.path();
        edit(workspace, "projects/web.yaml", "automation: true", "automation: true\npolicy: sync");
        apply(workspace);
        by_hand(workspace, FORWARD, [NAME, ADDRESS], other_ttl);
        let row = "101,sas0-0001.web.example.net,web,assigned,sas,q1,r1,sas-s1,ge1,\n";
        edit(workspace, "racktables/hosts.csv", row, "");
        let (plan, _) = document(workspace, &["plan"]);
        let expected =
            [format!("AAAA {NAME} edited-since,orphan"), format!("PTR {POINTER}.8.b.d.0.1.0.0.2.ip6.arpa. orphan")];
        if keeps {
            assert_eq!(changes(&plan), [""; 0]);
            let says = format!("{:#}", plan["notices"]);
            assert!(says.contains("leaves the name as it is") && says.contains("has `keep_edits`"), "{says}");
        } else {
            assert_eq!(changes(&plan), expected);
        }
        apply(workspace);
        assert_eq!(lines(workspace, FORWARD, NAME).len(), usize::from(keeps));
    }
}

#[test]
fn the_texts_of_a_registry_can_be_edited_too() {
    let folder = workspace(&[("registry = \"journal\"", "registry = \"txt\"")]);
    let workspace = folder.path();
    apply(workspace);
    assert_eq!(planned(workspace), [""; 0]);
    by_hand(workspace, FORWARD, [NAME, ADDRESS], gone);
    assert!(planned(workspace).contains(&format!("AAAA {NAME} edited-since,missing")), "{:?}", planned(workspace));
    apply(workspace);
    assert_eq!(planned(workspace), [""; 0]);
}

#[test]
fn against_a_base_an_edit_is_drift_unless_the_change_set_causes_the_change() {
    let folder = workspace(&[]);
    let workspace = folder.path();
    apply(workspace);
    let base = tempfile::tempdir().expect("a folder");
    copy(workspace, base.path());
    by_hand(workspace, FORWARD, [NAME, ADDRESS], other_address);
    let base = base.path().display().to_string();
    let causes = || {
        let (plan, _) = document(workspace, &["plan", "--base", &base]);
        let is_edited = |place: &Value| {
            let change = &plan["changes"][place.as_u64().expect("a number") as usize];
            change["reasons"][0]["rule"] == "edited-since"
        };
        let causes = plan["review"]["causes"].as_array().expect("a list").iter();
        let edits = causes.filter(|cause| cause["changes"].as_array().expect("a list").iter().any(is_edited));
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        edits.map(|cause| format!("{} {}", text(&cause["class"]), text(&cause["kind"]))).collect::<Vec<_>>()
    };
    assert_eq!(causes(), ["pending drift"]);
    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    assert_eq!(causes(), ["mixed network"]);
}

#[test]
fn keep_edits_holds_for_a_plan_that_was_saved_before_it_was_set() {
    let workspace = workspace(&[]);
    let folder = workspace.path();
    apply(folder);
    by_hand(folder, FORWARD, ["sas0-0001", ADDRESS], other_address);
    let file = folder.join("plan.json").display().to_string();
    assert_eq!(text(folder, &["plan", "--out", &file]).1, Some(0));
    edit(folder, "zonewright.toml", KEEPS.0, KEEPS.1);
    let (applied, exit) = document(folder, &["apply", &file]);
    assert_eq!(exit, Some(3), "{applied:#}");
    let host = &applied["hosts"][0];
    assert_eq!(host["outcome"], "no-longer-allowed", "{applied:#}");
    let says = host["message"].as_str().expect("text");
    assert!(
        says.contains("was edited after an apply, and project `web` has `keep_edits` now (zonewright.toml:"),
        "{says}"
    );
    assert_eq!(lines(folder, FORWARD, "2001:db8::bad").len(), 1);
    // The next plan leaves the edit, and does not say that live DNS matches the inventory.
    let (plan, _) = text(folder, &["plan"]);
    assert!(plan.starts_with("No changes for 3 hosts; 1 RRset left as edited"), "{plan}");
}
