//! Records of names that no host has: when they wait, how long, and what ends that.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use copy::copy;
use edit::edit;

/// Adds lines at the end of a file.
fn append(workspace: &Path, file: &str, lines: &str) {
    let text = fs::read_to_string(workspace.join(file)).expect("a file of the workspace");
    fs::write(workspace.join(file), text + lines).expect("a file of the workspace");
}

/// Runs a command in a workspace as of a time; gives the document that it prints.
fn run(workspace: &Path, now: &str, args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--format", "json", "-q", "--now", now, "-C"]).arg(workspace);
    let output = command.output().expect("the binary was built for this test");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Which RRsets wait, as a plan of a time says, and since when, sorted: `TYPE SINCE`.
fn waiting(workspace: &Path, now: &str) -> Vec<String> {
    let plan = run(workspace, now, &["plan"]);
    let list = plan["delayed"].as_array().cloned().unwrap_or_default();
    let mut waiting: Vec<String> =
        list.iter().map(|waits| format!("{} {}", waits["type"], waits["since"]).replace('"', "")).collect();
    waiting.sort();
    waiting
}

/// A workspace in which a host has just given up a name, whose records wait for a day.
fn released() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = folder.path();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), workspace);
    edit(workspace, "zonewright.toml", "owner =", "delete_after = \"1d\"\nowner =");
    let (name, reverse) = ("zones/web.example.net.zone", "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone");
    append(workspace, name, "sas0-0007 AAAA 2001:db8:0:1::7\n");
    let pointer = "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0 PTR sas0-0007.web.example.net.\n";
    append(workspace, reverse, pointer);
    fs::write(workspace.join("names.lock"), LOCK).expect("the lock");
    folder
}

/// A host that gave up one name for another.
const LOCK: &str = "101\tsas0-0007.web.example.net\tweb\t2026-11-01T00:00:00Z\t2026-11-19T00:00:00Z\n\
                    101\tsas0-0001.web.example.net\tweb\t2026-11-19T00:00:00Z\t-\n";

/// Whether the records of the name that was given up are live, forward and reverse.
fn are_there(workspace: &Path) -> (bool, bool) {
    let holds = |file: &str, part: &str| fs::read_to_string(workspace.join(file)).expect("a zone").contains(part);
    let forward = holds("zones/web.example.net.zone", "2001:db8:0:1::7");
    (forward, holds("zones/8.b.d.0.1.0.0.2.ip6.arpa.zone", "PTR sas0-0007.web"))
}

#[test]
fn what_nobody_has_is_deleted_by_the_first_apply_a_while_after_one_that_wanted_it() {
    let folder = released();
    let workspace = folder.path();
    assert_eq!(waiting(workspace, "2026-11-20T01:00:00Z"), ["AAAA null", "PTR null"]);
    assert!(!workspace.join(".zonewright/state.db").exists(), "a plan notes nothing");
    assert_eq!(run(workspace, "2026-11-20T02:00:00Z", &["apply", "--yes"])["exit"], 0);
    let since = ["AAAA 2026-11-20T02:00:00Z", "PTR 2026-11-20T02:00:00Z"];
    assert_eq!(waiting(workspace, "2026-11-20T03:00:00Z"), since);
    assert_eq!(run(workspace, "2026-11-20T03:00:00Z", &["apply", "--yes"])["apply"], Value::Null);
    assert_eq!(waiting(workspace, "2026-11-21T01:59:59Z"), since);
    assert_eq!(are_there(workspace), (true, true));
    assert_eq!(waiting(workspace, "2026-11-21T02:00:00Z"), [""; 0]);
    let applied = run(workspace, "2026-11-21T02:00:00Z", &["apply", "--yes"]);
    assert_eq!(applied["counts"]["applied"], 1, "{applied}");
    assert_eq!(are_there(workspace), (false, false));
    assert_eq!(left(workspace), 0);
}

/// How many RRsets the state says wait.
fn left(workspace: &Path) -> i64 {
    let state = rusqlite::Connection::open(workspace.join(".zonewright/state.db")).expect("the state");
    state.query_row("SELECT count(*) FROM waits", [], |row| row.get(0)).expect("the table")
}

#[test]
fn a_name_that_somebody_had_in_between_waits_anew() {
    let folder = released();
    let workspace = folder.path();
    run(workspace, "2026-11-20T02:00:00Z", &["apply", "--yes"]);
    assert_eq!(left(workspace), 2);
    // A host has the name again, with the address that is there.
    let rows = "racktables/hosts.csv";
    let held = "900,sas0-0007.web.example.net,web,free,sas,q1,r1,sas-s1,ge3,\n";
    append(workspace, rows, held);
    run(workspace, "2026-11-20T03:00:00Z", &["apply", "--yes", "--host", "102"]);
    assert_eq!(left(workspace), 2, "a plan of one host does not tell");
    assert_eq!(run(workspace, "2026-11-20T03:00:00Z", &["apply", "--yes"])["exit"], 0);
    assert_eq!(left(workspace), 0);
    edit(workspace, rows, held, "");
    run(workspace, "2026-11-20T04:00:00Z", &["apply", "--yes"]);
    let since = ["AAAA 2026-11-20T04:00:00Z", "PTR 2026-11-20T04:00:00Z"];
    assert_eq!(waiting(workspace, "2026-11-21T03:59:59Z"), since);
    assert_eq!(waiting(workspace, "2026-11-21T04:00:00Z"), [""; 0]);
}

#[test]
fn what_waits_goes_on_waiting_while_removals_rest_or_the_clock_steps_back() {
    let folder = released();
    let workspace = folder.path();
    run(workspace, "2026-11-20T02:00:00Z", &["apply", "--yes"]);
    let bad = "900,sas0-0009.web.example.net,web,assigned\n";
    let rows = "racktables/hosts.csv";
    append(workspace, rows, bad);
    let plan = run(workspace, "2026-11-20T03:00:00Z", &["plan"]);
    let notices: Vec<&Value> = plan["notices"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert_eq!(notices, ["removals-rest"]);
    run(workspace, "2026-11-20T03:00:00Z", &["apply", "--yes"]);
    edit(workspace, rows, bad, "");
    let since = |time: &str| [format!("AAAA {time}"), format!("PTR {time}")];
    assert_eq!(waiting(workspace, "2026-11-20T04:00:00Z"), since("2026-11-20T02:00:00Z"));

    assert_eq!(waiting(workspace, "2026-11-20T01:30:00Z"), since("null"), "that apply is still to come");
    run(workspace, "2026-11-20T01:30:00Z", &["apply", "--yes"]);
    assert_eq!(waiting(workspace, "2026-11-20T04:00:00Z"), since("2026-11-20T01:30:00Z"));
}

#[test]
fn what_a_saved_plan_wanted_waits_from_its_apply_on() {
    let folder = released();
    let workspace = folder.path();
    let saved = workspace.join("plan.json");
    let saved = saved.to_str().expect("UTF-8");
    run(workspace, "2026-11-20T02:00:00Z", &["plan", "--out", saved]);
    run(workspace, "2026-11-20T20:00:00Z", &["apply", saved, "--yes"]);
    let since = ["AAAA 2026-11-20T20:00:00Z", "PTR 2026-11-20T20:00:00Z"];
    assert_eq!(waiting(workspace, "2026-11-21T19:59:59Z"), since);
    assert_eq!(waiting(workspace, "2026-11-21T20:00:00Z"), [""; 0]);
}
