//! `--log-format json` of the built binary: standard output stays empty, and every outcome is an event that fits its schema.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use copy::copy;
use edit::edit;
use serde_json::Value;
use tempfile::TempDir;
use zonewright::report::{SchemaKind, schema};

/// The clock of all runs.
const NOW: &str = "2026-11-20T02:00:00Z";

/// A workspace whose live DNS is as desired.
struct Place {
    /// Where it is.
    folder: TempDir,
}

impl Place {
    /// A copy of the workspace that all cases start from.
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let base = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        copy(&base, folder.path());
        Place { folder }
    }

    /// The same, in which two hosts are to be changed.
    fn moved() -> Place {
        let place = Place::new();
        place.edit("racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
        place
    }

    /// The same, of which no server answers.
    fn dead() -> Place {
        let place = Place::new();
        let files = "type = \"zonefile\"\ndir = \"zones\"";
        place.edit("zonewright.toml", files, "type = \"rfc2136\"\nserver = \"127.0.0.1:1\"");
        place
    }

    /// Changes a file.
    fn edit(&self, file: &str, part: &str, by: &str) {
        edit(self.folder.path(), file, part, by);
    }

    /// Runs a command as an unattended run does.
    fn output(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["--log-format", "json", "--now", NOW])
            .args(args)
            .current_dir(self.folder.path())
            .env("ZONEWRIGHT_WHO", "deploy@runner")
            .stdin(Stdio::null())
            .output()
            .expect("the binary was built for this test")
    }

    /// Runs a command; gives its exit code and the events among the lines of standard error, each of which fits the schema.
    fn run(&self, args: &[&str]) -> (i32, Vec<Value>) {
        let output = self.output(args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{args:?}");
        let lines = lines(&output);
        let runs: Vec<&Value> = lines.iter().map(|line| &line["run"]).collect();
        assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
        let events: Vec<Value> = lines.into_iter().filter(|line| line.get("event").is_some()).collect();
        (output.status.code().expect("it ended by itself"), events)
    }
}

/// The lines of standard error, each of which is JSON and fits the schema.
fn lines(output: &Output) -> Vec<Value> {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let text = serde_json::from_str(schema(SchemaKind::Event)).expect("a schema is JSON");
    compiler.add_resource("file:///event.json", text).expect("a schema");
    let index = compiler.compile("file:///event.json", &mut schemas).expect("a schema");
    let text = String::from_utf8_lossy(&output.stderr);
    let parse = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{error:#}: {line}");
        }
        value
    };
    text.lines().map(parse).collect()
}

/// The words of events.
fn words(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().expect("a word")).collect()
}

#[test]
fn a_plan_is_one_event() {
    let (exit, events) = Place::moved().run(&["plan", "--out", "plan.json"]);
    assert_eq!((exit, words(&events)), (0, vec!["plan-made"]));
    let event = &events[0];
    assert_eq!((&event["verdict"], &event["file"], &event["hosts"]), (&"ready".into(), &"plan.json".into(), &2.into()));
    assert_eq!((&event["command"], &event["who"]), (&"plan".into(), &"deploy@runner".into()));
}

#[test]
fn documents_are_printed_all_the_same() {
    let output = Place::moved().output(&["plan", "--format", "json"]);
    let plan: Value = serde_json::from_slice(&output.stdout).expect("a plan is JSON");
    assert_eq!(plan["format"], "zonewright.plan/2");
    assert_eq!(words(&lines(&output)), ["plan-made"]);
}

#[test]
fn a_sync_is_one_event() {
    let place = Place::moved();
    let (exit, events) = place.run(&["sync"]);
    assert_eq!((exit, words(&events)), (0, vec!["sync-finished"]));
    assert_eq!((&events[0]["zones"], &events[0]["attention"]), (&0.into(), &Value::Null));
    let output = place.output(&["sync", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!((&document["format"], words(&lines(&output))), (&"zonewright.sync/1".into(), vec!["sync-finished"]));
    let (exit, events) = place.run(&["sync", "--pool", "nowhere"]);
    assert_eq!((exit, words(&events)), (1, vec!["run-failed"]));
}

#[test]
fn an_apply_its_undo_and_a_resume_are_events() {
    let place = Place::moved();
    let (exit, events) = place.run(&["apply", "--auto"]);
    assert_eq!((exit, words(&events)), (0, vec!["plan-made", "apply-finished"]));
    let done = &events[1];
    assert_eq!((&done["apply"], &done["hosts"], &done["outcomes"]["applied"]), (&1.into(), &2.into(), &2.into()));
    assert_eq!((&done["exit"], &done["attention"]), (&0.into(), &Value::Null));
    let (exit, events) = place.run(&["resume"]);
    assert_eq!((exit, words(&events)), (0, vec!["resume-finished"]));
    let (exit, events) = place.run(&["undo", "1", "--yes"]);
    assert_eq!((exit, words(&events)), (0, vec!["plan-made", "undo-finished"]));
    let (exit, events) = place.run(&["fix", "101", "--yes"]);
    assert_eq!((exit, words(&events)), (0, vec!["plan-made", "apply-finished"]));
}

#[test]
fn a_refused_plan_and_its_breaker_need_a_person() {
    let place = Place::moved();
    let file = place.folder.path().join("projects/web.yaml");
    let text = fs::read_to_string(&file).expect("a project file");
    fs::write(&file, text + "limits: {hosts: [{period: 1h, max: 1}]}\n").expect("a project file");
    let (exit, events) = place.run(&["apply", "--auto", "-q"]);
    assert_eq!((exit, words(&events)), (3, vec!["plan-refused", "breaker-tripped"]));
    assert_eq!((&events[0]["code"], &events[0]["attention"]), (&"limit-exceeded".into(), &"refused".into()));
    assert_eq!((&events[1]["scope"], &events[1]["attention"]), (&"project:web".into(), &"breaker".into()));
}

#[test]
fn drift_is_an_event() {
    let place = Place::moved();
    assert_eq!(place.run(&["apply", "--auto"]).0, 0);
    let zone = place.folder.path().join("zones/web.example.net.zone");
    let text = fs::read_to_string(&zone).expect("a zone file");
    fs::write(&zone, text.replace("2001:db8:0:9:", "2001:db8:0:8:")).expect("a zone file");
    let (exit, events) = place.run(&["drift"]);
    assert_eq!((exit, words(&events)), (2, vec!["drift-checked"]));
    assert_eq!(events[0]["attention"], "drift");
}

#[test]
fn a_run_without_an_outcome_says_so() {
    let place = Place::new();
    place.edit("zonewright.toml", "owner", "owners");
    let (exit, events) = place.run(&["apply", "--auto"]);
    assert_eq!((exit, words(&events)), (1, vec!["run-failed"]));
    assert_eq!(events[0]["attention"], "outage");
    let (exit, events) = Place::moved().run(&["apply"]);
    assert_eq!((exit, words(&events)), (1, vec!["plan-made", "run-failed"]));
    let says = "run failed: with `--log-format json` no operator is asked: nothing was changed";
    assert_eq!(events[1]["message"], says);
}

#[test]
fn an_outage_is_named_by_every_event() {
    let place = Place::dead();
    let why = "4 of 4 zones could not be read; 127.0.0.1:1 refuses connections";
    let says = format!("no plan: {why}");
    let check = |event: &Value, says: &str| {
        assert_eq!((&event["message"], &event["attention"]), (&says.into(), &"outage".into()));
        assert_eq!((&event["level"], &event["unread"]), (&"ERROR".into(), &4.into()));
        let outage = serde_json::json!([
            {"server": "127.0.0.1:1", "code": "connect-failed", "cause": "the server refuses connections"}
        ]);
        assert_eq!(event["outages"], outage);
    };
    for (args, expected) in [
        (&["plan", "--out", "plan.json"][..], &["plan-made"][..]),
        (&["apply", "--auto"], &["plan-made", "apply-finished"]),
        (&["apply", "plan.json"], &["apply-finished"]),
        (&["fix", "101", "--yes"], &["plan-made", "apply-finished"]),
    ] {
        let (exit, events) = place.run(args);
        assert_eq!((exit, words(&events)), (1, expected.to_vec()), "{args:?}");
        events.iter().for_each(|event| check(event, &says));
    }
    let (exit, events) = place.run(&["drift"]);
    assert_eq!((exit, words(&events)), (1, vec!["drift-checked"]));
    check(&events[0], &format!("nothing could be compared: {why}"));
}

#[test]
fn a_mistake_of_the_call_needs_no_other_person() {
    let place = Place::moved();
    assert_eq!(place.run(&["apply", "--auto"]).0, 0);
    for args in [
        &["undo", "77", "--yes"][..],
        &["undo", "1"],
        &["apply", "nofile.json"],
        &["apply", "--auto", "--zone", "x."],
        &["apply", "--auto", "--host", "nope"],
        &["fix", "nope", "--yes"],
        &["resume", "77"],
    ] {
        let (exit, events) = place.run(args);
        let last = events.last().expect("an event");
        assert_eq!((exit, &last["event"], &last["level"]), (1, &"run-failed".into(), &"ERROR".into()), "{args:?}");
        assert_eq!(last["attention"], Value::Null, "{args:?}");
    }
}

#[test]
fn messages_that_cannot_be_written_change_no_exit_code() {
    let place = Place::moved();
    let run = |args: &[&str]| {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["--log-format", "json", "-vv", "--now", NOW])
            .args(args)
            .current_dir(place.folder.path())
            .stdin(Stdio::null())
            .stderr(full)
            .status()
            .expect("the binary was built for this test")
            .code()
    };
    assert_eq!(run(&["plan", "--detailed-exitcode"]), Some(2));
    assert_eq!(run(&["apply", "--auto"]), Some(0));
    assert_eq!(run(&["plan", "--detailed-exitcode"]), Some(0));
}
