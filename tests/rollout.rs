//! Rollouts: what goes with each wave, what waits and why, and what passes.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use copy::copy;
use edit::edit;

/// What a command printed as a document, and its exit code.
struct Ran {
    /// The document.
    document: Value,
    /// The exit code.
    exit: i32,
}

impl Ran {
    /// The hosts with their outcomes: `101 applied, 102 waiting`.
    fn hosts(&self) -> String {
        let hosts = self.document["hosts"].as_array().expect("a list of hosts");
        let shown: Vec<String> = hosts.iter().map(|host| format!("{} {}", host["host"], host["outcome"])).collect();
        shown.join(", ").replace('"', "")
    }

    /// What waits: `host:102 budget 2026-11-20T03:00:00Z`.
    fn waiting(&self) -> Vec<String> {
        let waiting = self.document["waiting"].as_array().expect("a list of what waits");
        let shown = |own: &Value| format!("{} {} {}", own["subject"], own["code"], own["until"]).replace('"', "");
        waiting.iter().map(shown).collect()
    }
}

/// Runs a command in a workspace as of a time.
fn run(workspace: &Path, now: &str, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--format", "json", "-q", "--now", now, "-C"]).arg(workspace);
    let output = command.output().expect("the binary was built for this test");
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    Ran { document, exit: output.status.code().expect("an exit code") }
}

/// A time of the day on which all begins.
fn at(time: &str) -> String {
    format!("2026-11-20T{time}Z")
}

/// A workspace in which both hosts of a project have an address that is not theirs, and the project has this rollout.
fn moved(rollout: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = folder.path();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), workspace);
    let project = workspace.join("projects/web.yaml");
    let text = fs::read_to_string(&project).expect("a project");
    fs::write(&project, format!("{text}rollout: {{{rollout}}}\n")).expect("a project");
    for host in ["101", "102"] {
        let zone = "zones/web.example.net.zone";
        edit(
            workspace,
            zone,
            &format!("AAAA 2001:db8:0:1:0:1478:0:{host}\n"),
            &format!("AAAA 2001:db8:0:1::bad:{host}\n"),
        );
    }
    folder
}

/// Whether a host has its own address in the zone file.
fn is_right(workspace: &Path, host: &str) -> bool {
    let zone = fs::read_to_string(workspace.join("zones/web.example.net.zone")).expect("a zone");
    zone.contains(&format!("AAAA 2001:db8:0:1:0:1478:0:{host}\n"))
}

/// Saves the plan as of a time; gives its path.
fn saved(workspace: &Path, now: &str) -> String {
    let file = workspace.join("plan.json").display().to_string();
    assert_eq!(run(workspace, now, &["plan", "--out", &file]).exit, 0);
    file
}

#[test]
fn a_plan_says_what_waits_and_for_how_long() {
    let folder = moved("max_unavailable: 1");
    let plan = run(folder.path(), &at("02:00:00"), &["plan"]);
    assert_eq!(plan.waiting(), ["host:102 budget 2026-11-20T03:00:00Z"]);
    let waves = serde_json::json!([{ "group": "web", "seconds": 3600, "subjects": 2, "waves": 2 }]);
    assert_eq!(plan.document["waves"], waves);
    let groups = serde_json::json!([{ "group": "web", "in_service": 2 }]);
    assert_eq!(plan.document["groups"], groups);
    // Neither is part of what it does.
    let later = run(folder.path(), &at("02:10:00"), &["plan"]);
    assert_eq!(plan.document["effect"], later.document["effect"]);
}

#[test]
fn one_wave_goes_and_the_next_one_when_it_has_settled() {
    let folder = moved("max_unavailable: 1");
    let workspace = folder.path();
    let file = saved(workspace, &at("02:00:00"));
    let first = run(workspace, &at("02:05:00"), &["apply", &file]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 applied, 102 waiting"));
    assert_eq!(first.waiting(), ["host:102 budget 2026-11-20T03:05:00Z"]);
    assert!(is_right(workspace, "101") && !is_right(workspace, "102"));
    // The same plan, a new one, and a clock that was set back: the budget holds for all.
    for (now, args) in [
        ("03:04:59", &["resume"][..]),
        ("03:04:59", &["apply", &file]),
        ("03:04:59", &["apply", "--auto"]),
        ("01:00:00", &["resume"]),
    ] {
        let early = run(workspace, &at(now), args);
        assert_eq!(early.exit, if now < "02" { 3 } else { 5 }, "{args:?} at {now}: {}", early.document);
        assert!(!is_right(workspace, "102"), "{args:?} at {now}");
    }
    // A plan says that the clock is behind; one that is a little behind is as any other.
    let codes = |now: &str| -> Vec<String> {
        let plan = run(workspace, &at(now), &["plan"]);
        let notices = plan.document["notices"].as_array().expect("notices").iter();
        notices.map(|own| own["code"].to_string().replace('"', "")).collect()
    };
    assert!(codes("01:00:00").contains(&"clock-back".to_owned()));
    assert!(!codes("03:04:00").contains(&"clock-back".to_owned()));
    let status = run(workspace, &at("03:00:00"), &["status"]);
    assert_eq!(status.waiting(), ["host:102 budget 2026-11-20T03:05:00Z"]);
    let since = &status.document["waiting"][0]["since"];
    assert_eq!(since, "2026-11-20T02:05:00Z");
    let second = run(workspace, &at("03:05:00"), &["resume"]);
    assert_eq!((second.exit, second.hosts().as_str()), (0, "101 applied, 102 applied"));
    assert!(second.waiting().is_empty() && is_right(workspace, "102"));
    assert!(run(workspace, &at("03:06:00"), &["status"]).waiting().is_empty());
}

#[test]
fn an_undo_in_time_does_not_wait_and_a_later_one_does() {
    let folder = moved("max_unavailable: 1, settle: 1h");
    let workspace = folder.path();
    run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    run(workspace, &at("03:00:00"), &["apply", "--auto"]);
    assert!(is_right(workspace, "101") && is_right(workspace, "102"));
    // Host 102 is in flux, so that 101 would have to wait; its own change goes back at once.
    let undone = run(workspace, &at("03:30:00"), &["undo", "2", "--yes"]);
    assert_eq!((undone.exit, undone.hosts().as_str()), (0, "102 applied"));
    assert!(!is_right(workspace, "102"));
    let late = run(workspace, &at("03:40:00"), &["undo", "1", "--yes"]);
    assert_eq!((late.exit, late.hosts().as_str()), (5, "101 waiting"));
    assert!(is_right(workspace, "101"));
    let later = run(workspace, &at("04:30:00"), &["undo", "1", "--yes"]);
    assert_eq!((later.exit, later.hosts().as_str()), (0, "101 applied"));
}

/// Runs a command in a workspace as of a time; gives what it prints for people, in words with one space between.
fn page(workspace: &Path, now: &str, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    let output = command.args(args).args(["--now", now, "-C"]).arg(workspace).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_undo_says_that_the_next_plan_does_it_again() {
    let folder = moved("max_unavailable: 2");
    let workspace = folder.path();
    let hint = "hint: as long as the inventory asks for what was undone, the next plan does it again: correct the inventory or \
                the export before that, or hold the project back";
    let applied = page(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert!(applied.contains("Applied: 2 hosts changed") && !applied.contains(hint), "{applied}");
    let planned = page(workspace, &at("02:01:00"), &["undo", "1"]);
    assert!(!planned.contains(hint), "{planned}");
    let undone = page(workspace, &at("02:02:00"), &["undo", "1", "--yes"]);
    assert!(undone.contains("Applied: 2 hosts changed") && undone.contains(hint), "{undone}");
    let again = page(workspace, &at("02:03:00"), &["undo", "1", "--yes"]);
    assert!(!again.contains(hint), "nothing was put back: {again}");
}

#[test]
fn a_host_that_is_named_passes() {
    let folder = moved("max_unavailable: 1, canary: 1");
    let workspace = folder.path();
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 5);
    let named = run(workspace, &at("02:01:00"), &["apply", "--auto", "--host", "102"]);
    assert_eq!((named.exit, named.hosts().as_str()), (0, "102 applied"));
    assert!(is_right(workspace, "102"));
}

#[test]
fn a_first_wave_goes_alone_although_the_budget_has_room() {
    let folder = moved("max_unavailable: 2, canary: 1, settle: 10m");
    let workspace = folder.path();
    let first = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((first.exit, first.waiting()), (5, vec!["host:102 canary 2026-11-20T02:10:00Z".to_owned()]));
    assert_eq!(run(workspace, &at("02:09:59"), &["apply", "--auto"]).exit, 5);
    let second = run(workspace, &at("02:10:00"), &["apply", "--auto"]);
    assert_eq!((second.exit, second.hosts().as_str()), (0, "102 applied"));
}

#[test]
fn later_waves_may_go_longer_than_the_first_one() {
    let folder = moved("max_unavailable: 1");
    let workspace = folder.path();
    let file = saved(workspace, &at("02:00:00"));
    let expired = run(workspace, "2026-11-21T02:00:01Z", &["apply", &file]);
    assert_eq!((expired.exit, &expired.document["refused"]["code"]), (3, &Value::from("plan-expired")));
    assert_eq!(run(workspace, &at("02:05:00"), &["apply", &file]).exit, 5);
    let too_late = run(workspace, "2026-11-27T02:00:01Z", &["apply", &file]);
    assert_eq!((too_late.exit, &too_late.document["refused"]["code"]), (3, &Value::from("plan-expired")));
    let later = run(workspace, "2026-11-27T02:00:00Z", &["apply", &file]);
    assert_eq!((later.exit, later.hosts().as_str()), (0, "101 already-applied, 102 applied"));
}

#[test]
fn a_command_that_waits_sends_wave_after_wave() {
    let folder = moved("max_unavailable: 1, settle: 1s");
    let workspace = folder.path();
    let all = run(workspace, &at("02:00:00"), &["apply", "--auto", "--wait", "5m"]);
    assert_eq!((all.exit, all.hosts().as_str()), (0, "101 applied, 102 applied"), "{}", all.document);
    let folder = moved("max_unavailable: 1, settle: 1h");
    let short = run(folder.path(), &at("02:00:00"), &["apply", "--auto", "--wait", "1m"]);
    assert_eq!((short.exit, short.hosts().as_str()), (5, "101 applied, 102 waiting"));
}

#[test]
fn what_takes_no_live_address_goes_at_once() {
    let folder = moved("max_unavailable: 1");
    let workspace = folder.path();
    edit(workspace, "zones/web.example.net.zone", "sas0-0002 AAAA 2001:db8:0:1::bad:102\n", "");
    let all = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((all.exit, all.hosts().as_str()), (0, "101 applied, 102 applied"));
}

#[test]
fn a_budget_that_is_no_number_is_said_where_it_is() {
    for (rollout, code, exit) in [
        ("max_unavailable: 0", "bad-value", 1),
        ("max_unavailable: 0%", "bad-value", 1),
        ("canary: 1", "missing-key", 1),
        ("max_unavailable: 1, settle: soon", "bad-value", 1),
        ("max_unavailable: 1, canery: 1", "unknown-key", 1),
        ("max_unavailable: 2", "rollout-budget", 0),
        ("max_unavailable: 1%", "rollout-budget", 0),
        ("max_unavailable: 1, settle: 10s", "rollout-settle", 0),
    ] {
        let folder = moved(rollout);
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        command.args(["check", "--now", &at("02:00:00"), "-C"]).arg(folder.path());
        let output = command.output().expect("the binary was built for this test");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let found = said.lines().any(|line| line.starts_with("projects/web.yaml:6:") && line.contains(code));
        assert!(found, "{rollout}: {said}");
        assert_eq!(output.status.code(), Some(exit), "{rollout}: {said}");
    }
}

#[test]
fn an_undo_of_hosts_whose_locations_are_not_known_takes_one_after_another() {
    let folder = moved("max_unavailable: 2");
    let workspace = folder.path();
    let project = workspace.join("projects/web.yaml");
    let with_rollout = fs::read_to_string(&project).expect("a project");
    fs::write(&project, with_rollout.replace("rollout: {max_unavailable: 2}\n", "")).expect("a project");
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 0);
    fs::write(&project, with_rollout).expect("a project");
    let undone = run(workspace, &at("08:00:00"), &["undo", "1", "--yes"]);
    assert_eq!((undone.exit, undone.hosts().as_str()), (5, "101 applied, 102 waiting"));
    assert_eq!(undone.waiting(), ["host:102 location 2026-11-20T09:00:00Z"]);
}

#[test]
fn a_first_wave_that_was_put_back_does_not_count() {
    let folder = moved("max_unavailable: 2, canary: 1, settle: 10m");
    let workspace = folder.path();
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 5);
    let undone = run(workspace, &at("02:05:00"), &["undo", "1", "--yes"]);
    assert_eq!((undone.exit, undone.hosts().as_str()), (0, "101 applied"));
    // After it has settled the next wave is a first one again.
    let again = run(workspace, &at("02:20:00"), &["apply", "--auto"]);
    assert_eq!((again.exit, again.document["counts"]["applied"].as_u64()), (5, Some(1)), "{}", again.document);
    assert_eq!(again.waiting().len(), 1);
    assert!(again.waiting()[0].contains("canary"), "{:?}", again.waiting());
}

#[test]
fn what_waits_is_not_forgotten_where_the_project_cannot_be_read() {
    let folder = moved("max_unavailable: 1");
    let workspace = folder.path();
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 5);
    let project = workspace.join("projects/web.yaml");
    let good = fs::read_to_string(&project).expect("a project");
    fs::write(&project, format!("{good}ttl: soon\n")).expect("a project");
    run(workspace, &at("02:10:00"), &["apply", "--auto"]);
    fs::write(&project, good).expect("a project");
    let status = run(workspace, &at("02:20:00"), &["status"]);
    assert_eq!(status.document["waiting"][0]["since"], "2026-11-20T02:00:00Z");
}

/// Adds a gate and a probe to a workspace: each runs a script, which the workspace gets, too.
fn with_checks(workspace: &Path, gate: &str, probe: &str) {
    let settings = workspace.join("zonewright.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    let terms = "retries = 0\n";
    let tables = format!(
        "\n[gate.health]\ncommand = [\"sh\", \"gate.sh\"]\n{terms}\n[probe.ssh]\ncommand = [\"sh\", \"probe.sh\"]\n{terms}"
    );
    fs::write(&settings, format!("{text}{tables}")).expect("settings");
    fs::write(workspace.join("gate.sh"), gate).expect("a script");
    fs::write(workspace.join("probe.sh"), probe).expect("a script");
}

#[test]
fn a_gate_is_asked_before_each_wave_and_what_it_printed_is_in_the_journal() {
    let folder = moved("max_unavailable: 1, settle: 1h, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "cat >> asked\necho all is well\n", "");
    let file = saved(workspace, &at("02:00:00"));
    assert!(!workspace.join("asked").exists(), "a plan asks no gate");
    let first = run(workspace, &at("02:05:00"), &["apply", &file]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 applied, 102 waiting"));
    let asked = fs::read_to_string(workspace.join("asked")).expect("the gate was asked");
    assert_eq!(asked, "{\"gate\":\"health\",\"group\":\"web\",\"subjects\":[\"host:101\"]}\n");
    let passed = |at: &str| serde_json::json!({ "at": at, "group": "web", "gate": "health", "outcome": "passed", "said": "all is well" });
    assert_eq!(first.document["gates"], serde_json::json!([passed("2026-11-20T02:05:00Z")]));
    // It is not asked where nothing can go.
    assert_eq!(run(workspace, &at("02:30:00"), &["resume"]).document["gates"], serde_json::json!([]));
    fs::write(workspace.join("gate.sh"), "echo 3 servers are down; exit 7\n").expect("a script");
    let held = run(workspace, &at("03:05:00"), &["resume"]);
    assert_eq!((held.exit, held.waiting()), (5, vec!["host:102 gate null".to_owned()]));
    let said = "`sh` failed: exit status: 7; it said: 3 servers are down";
    assert_eq!(held.document["waiting"][0]["message"], format!("the gate `health` did not pass: {said}"));
    let history = run(workspace, &at("03:06:00"), &["history", "1"]);
    let failed = serde_json::json!({ "at": "2026-11-20T03:05:00Z", "group": "web", "gate": "health", "outcome": "failed", "said": said });
    assert_eq!(history.document["applies"][0]["gates"], serde_json::json!([passed("2026-11-20T02:05:00Z"), failed]));
    assert!(!is_right(workspace, "102"));
    // An undo passes.
    let undone = run(workspace, &at("03:10:00"), &["undo", "1", "--yes"]);
    assert_eq!((undone.exit, undone.hosts().as_str()), (0, "101 applied"));
}

#[test]
fn a_gate_is_passed_by_who_says_why() {
    let folder = moved("max_unavailable: 1, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "exit 1", "");
    let held = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((held.exit, held.document["apply"].is_null()), (5, true));
    assert_eq!(held.waiting(), ["host:101 gate null", "host:102 gate null"]);
    let named = run(workspace, &at("02:00:00"), &["apply", "--auto", "--host", "101"]);
    assert_eq!((named.exit, named.waiting()), (5, vec!["host:101 gate null".to_owned()]));
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    let refused = command.args(["apply", "--auto", "--ignore-gate", "-C"]).arg(workspace).output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.starts_with("error: `--ignore-gate` needs `--reason TEXT`"), "{said}");
    let ignored = run(workspace, &at("02:00:00"), &["apply", "--auto", "--ignore-gate", "--reason", "a false alarm"]);
    assert_eq!((ignored.exit, ignored.hosts().as_str()), (5, "101 applied, 102 waiting"));
    assert_eq!(ignored.document["gates"][0]["outcome"], "ignored");
}

#[test]
fn a_changed_host_stays_in_flux_until_it_answers() {
    let folder = moved("max_unavailable: 1, settle: 1h, probe: ssh");
    let workspace = folder.path();
    // An address answers if it is in a list.
    with_checks(workspace, "", "grep -qx \"$1\" answers\n");
    let answers = |list: &str| fs::write(workspace.join("answers"), list).expect("a list");
    answers("2001:db8:0:1::bad:101\n2001:db8:0:1::bad:102\n");
    let first = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 applied, 102 waiting"));
    // The export lied: the host is still where it was.
    let held = run(workspace, &at("04:00:00"), &["apply", "--auto"]);
    assert_eq!((held.exit, held.waiting()), (5, vec!["host:102 budget null".to_owned()]));
    answers("2001:db8:0:1:0:1478:0:101\n2001:db8:0:1::bad:102\n");
    let second = run(workspace, &at("04:01:00"), &["apply", "--auto"]);
    assert_eq!((second.exit, second.hosts().as_str()), (0, "102 applied"));
}

#[test]
fn a_host_that_answers_only_where_the_plan_puts_it_goes_at_once() {
    let folder = moved("max_unavailable: 1, probe: ssh");
    let workspace = folder.path();
    with_checks(workspace, "", "grep -qx \"$1\" answers\n");
    fs::write(workspace.join("answers"), "2001:db8:0:1::bad:101\n2001:db8:0:1:0:1478:0:102\n").expect("a list");
    let ran = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((ran.exit, ran.hosts().as_str()), (5, "101 waiting, 102 applied"));
    assert!(is_right(workspace, "102"));
}

#[test]
fn a_probe_that_cannot_be_run_is_a_problem_and_counts_as_no_answer() {
    let folder = moved("max_unavailable: 1, settle: 1h, probe: ssh");
    let workspace = folder.path();
    with_checks(workspace, "", "");
    edit(workspace, "zonewright.toml", "\"sh\", \"probe.sh\"", "\"./no-such-program\"");
    let ran = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((ran.exit, ran.hosts().as_str()), (1, "101 applied, 102 waiting"));
    assert_eq!(ran.document["problems"][0]["code"], "probe-unusable");
}

/// Serves one answer after another, each to one connection; gives the port.
fn answering(answers: Vec<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for answer in answers {
            let (mut client, _) = listener.accept().expect("a connection");
            let mut reader = BufReader::new(client.try_clone().expect("a handle"));
            let mut line = String::new();
            while reader.read_line(&mut line).expect("a line") > 2 {
                line.clear();
            }
            let head = format!("HTTP/1.1 {answer}\r\nContent-Length: 9\r\nConnection: close\r\n\r\n");
            write!(client, "{head}two lines").expect("a client that listens");
        }
    });
    port
}

#[test]
fn a_url_passes_with_status_200_alone_and_is_asked_again() {
    let folder = moved("max_unavailable: 1, settle: 1h, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "", "");
    let port = answering(vec!["204 No Content", "503 Service Unavailable", "200 OK"]);
    let url = |retries: u64| format!("url = \"http://127.0.0.1:{port}/shop?token=secret\"\nretries = {retries}\n");
    edit(workspace, "zonewright.toml", "command = [\"sh\", \"gate.sh\"]\nretries = 0\n", &url(0));
    let held = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((held.exit, held.waiting()[0].as_str()), (5, "host:101 gate null"));
    let said = "the gate `health` did not pass: `127.0.0.1` answers with status 204";
    assert_eq!(held.document["waiting"][0]["message"], said);
    edit(workspace, "zonewright.toml", &url(0), &url(1));
    let passed = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((passed.exit, passed.hosts().as_str()), (5, "101 applied, 102 waiting"));
    assert_eq!(passed.document["gates"][0]["said"], "two lines");
}

#[test]
fn a_host_that_is_silent_and_has_no_address_any_longer_frees_its_place() {
    let folder = moved("max_unavailable: 1, settle: 1h, probe: ssh");
    let workspace = folder.path();
    with_checks(workspace, "", "grep -qx \"$1\" answers\n");
    fs::write(workspace.join("answers"), "2001:db8:0:1::bad:102\n").expect("a list");
    let first = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 applied, 102 waiting"));
    let silent = run(workspace, &at("04:00:00"), &["apply", "--auto"]);
    assert_eq!((silent.exit, silent.waiting()), (5, vec!["host:102 budget null".to_owned()]));
    let why =
        "the budget of `web` is 1, and 1 is in flux or goes now; host:101 has settled, and does not answer its probe";
    assert_eq!(silent.document["waiting"][0]["message"], why);
    let status = run(workspace, &at("04:00:00"), &["status"]);
    assert_eq!(status.document["in_flux"][0]["until"], Value::Null);
    // It was taken away, and its record with it: no plan is to give it an address.
    edit(
        workspace,
        "racktables/hosts.csv",
        "101,sas0-0001.web.example.net,web,assigned",
        "101,a.free.invalid,web,free",
    );
    let zone = workspace.join("zones/web.example.net.zone");
    let text = fs::read_to_string(&zone).expect("a zone file");
    let rest: String = text.lines().filter(|line| !line.contains(":101")).map(|line| format!("{line}\n")).collect();
    fs::write(&zone, rest).expect("a zone file");
    let freed = run(workspace, &at("04:01:00"), &["apply", "--auto"]);
    assert!(freed.waiting().is_empty() && is_right(workspace, "102"), "{}", freed.document);
}

/// Runs a command whose gate would take ten minutes, and ends it by Ctrl-C once the gate runs; gives its exit code and what
/// it printed on both outputs.
fn interrupted(workspace: &Path, now: &str, args: &[&str]) -> (Option<i32>, String, String) {
    fs::write(workspace.join("gate.sh"), "touch asked; sleep 600").expect("a script");
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--now", now, "-C"]).arg(workspace);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    while !workspace.join("asked").exists() {
        thread::sleep(Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    fs::remove_file(workspace.join("asked")).expect("it was asked");
    let output = child.wait_with_output().expect("it ends");
    // Lines are as wide as a terminal.
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_signal_ends_a_gate_that_is_asked() {
    let folder = moved("max_unavailable: 1, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "", "");
    edit(workspace, "zonewright.toml", "\"gate.sh\"]\n", "\"gate.sh\"]\ntimeout = \"10m\"\n");
    for wait in [&["--wait", "1h"][..], &[]] {
        let args = [&["apply", "--auto", "--format", "json"], wait].concat();
        let (exit, printed, said) = interrupted(workspace, &at("02:00:00"), &args);
        assert!(said.contains("note: interrupted: nothing is sent; nothing more is asked"), "{said}");
        let document: Value = serde_json::from_str(&printed).expect("a document");
        // It has not failed: that is not known.
        assert_eq!((exit, &document["gates"], &document["apply"]), (Some(1), &serde_json::json!([]), &Value::Null));
        let ran = Ran { document, exit: 1 };
        assert_eq!(ran.hosts(), "101 not-reached, 102 waiting");
        assert_eq!(ran.document["hosts"][0]["message"], "the apply was interrupted");
        assert!(!is_right(workspace, "101"));
    }
    let status = run(workspace, &at("02:01:00"), &["status"]);
    assert_eq!(status.waiting(), [""; 0]);
    let (exit, printed, _) = interrupted(workspace, &at("02:02:00"), &["apply", "--auto"]);
    let verdict = "None applied of 2 hosts: 1 not-reached, 1 waiting; interrupted before anything was sent.";
    assert!(printed.contains(verdict) && !printed.contains("did not pass"), "{printed}");
    assert_eq!(exit, Some(1), "{printed}");
}

/// What `apply --wait` says on standard error until it waits for the next wave, in lines; it is ended by Ctrl-C then.
fn notes_until_it_waits(workspace: &Path) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(["apply", "--auto", "--wait", "1h", "--now", &at("02:00:00"), "-C"]).arg(workspace);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let mut notes = Vec::new();
    while !notes.last().is_some_and(|line: &String| line.contains(" for a later wave")) {
        notes.push(lines.next().expect("it waits").expect("text"));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    lines.for_each(|line| drop(line.expect("text")));
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
    notes.retain(|line| line.starts_with("note: "));
    notes
}

#[test]
fn a_command_that_waits_says_what_went_and_why_the_rest_does_not_go() {
    let folder = moved("max_unavailable: 1, settle: 1h, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "echo looking; echo 3 servers are down; exit 7", "");
    let [shut] = &notes_until_it_waits(workspace)[..] else { panic!("nothing went") };
    let why = "note: 2 wait for a later wave; the gate `health` of web did not pass: 3 servers are down; it is asked again at ";
    assert!(shut.starts_with(why), "{shut}");
    fs::write(workspace.join("gate.sh"), "").expect("a script");
    let [went, waits] = &notes_until_it_waits(workspace)[..] else { panic!("a wave went") };
    assert_eq!(went, "note: wave 1: 1 host changed, 1 waits");
    let why = "note: 1 waits for a later wave (host:102: the budget of `web` is 1, and 1 is in flux or goes now); the next one can go from 2026-11-20T03:";
    assert!(waits.starts_with(why), "{waits}");
}

#[test]
fn a_gate_of_a_later_wave_that_a_signal_ends_leaves_the_journal_as_it_was() {
    let folder = moved("max_unavailable: 1, settle: 1h, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "echo well", "");
    edit(workspace, "zonewright.toml", "\"gate.sh\"]\n", "\"gate.sh\"]\ntimeout = \"10m\"\n");
    let file = saved(workspace, &at("02:00:00"));
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", &file]).exit, 5);
    let before = run(workspace, &at("03:00:00"), &["status"]);
    let (exit, printed, _) = interrupted(workspace, &at("03:00:00"), &["resume"]);
    assert!(printed.contains("interrupted before anything was sent"), "{printed}");
    assert_eq!(exit, Some(1), "{printed}");
    let history = run(workspace, &at("03:01:00"), &["history", "1"]);
    let gates = history.document["applies"][0]["gates"].as_array().expect("a list");
    assert_eq!((gates.len(), &gates[0]["outcome"]), (1, &Value::from("passed")));
    let after = run(workspace, &at("03:00:00"), &["status"]);
    assert_eq!((after.waiting(), before.waiting().len()), (before.waiting(), 1));
    assert!(!is_right(workspace, "102"));
}

#[test]
fn a_gate_that_cannot_be_run_is_a_problem() {
    let folder = moved("max_unavailable: 1, gate: health");
    let workspace = folder.path();
    with_checks(workspace, "", "");
    edit(workspace, "zonewright.toml", "\"sh\", \"gate.sh\"", "\"./no-such-program\"");
    let ran = run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!((ran.exit, ran.hosts().as_str()), (1, "101 waiting, 102 waiting"));
    assert_eq!(ran.document["problems"][0]["code"], "gate-unusable");
}

/// The addresses of a host in the zone file, each by its last group.
fn addresses(workspace: &Path, host: &str) -> String {
    let zone = fs::read_to_string(workspace.join("zones/web.example.net.zone")).expect("a zone");
    let all =
        [("new", format!("AAAA 2001:db8:0:1:0:1478:0:{host}\n")), ("old", format!("AAAA 2001:db8:0:1::bad:{host}\n"))];
    all.iter().filter(|(_, record)| zone.contains(record)).map(|(word, _)| *word).collect::<Vec<_>>().join("+")
}

#[test]
fn with_overlap_new_addresses_come_before_old_ones_go() {
    let folder = moved("max_unavailable: 1, settle: 5m, overlap: 10m");
    let workspace = folder.path();
    let file = saved(workspace, &at("02:00:00"));
    let plan: Value = serde_json::from_slice(&fs::read(&file).expect("a plan")).expect("JSON");
    let change = &plan["changes"].as_array().expect("changes").iter().find(|change| change["subject"] == "host:101");
    let via = &change.expect("a change of the host")["via"];
    assert_eq!(via["rdata"], serde_json::json!(["2001:db8:0:1:0:1478:0:101", "2001:db8:0:1::bad:101"]));
    // Ten minutes together, five more until the old one has settled, and then the same for the other host.
    let waves = serde_json::json!([{ "group": "web", "seconds": 25 * 60, "subjects": 2, "waves": 2 }]);
    assert_eq!(plan["waves"], waves);
    let first = run(workspace, &at("02:00:00"), &["apply", &file]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 waiting, 102 waiting"));
    assert_eq!(first.waiting(), ["host:101 overlap 2026-11-20T02:10:00Z", "host:102 budget 2026-11-20T02:15:00Z"]);
    assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new+old", "old"]);
    for args in [&["resume"][..], &["apply", &file], &["apply", "--auto"]] {
        let early = run(workspace, &at("02:09:59"), args);
        assert_eq!(early.exit, 5, "{args:?}: {}", early.document);
        assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new+old", "old"], "{args:?}");
    }
    let status = run(workspace, &at("02:09:59"), &["status"]);
    assert_eq!(status.waiting(), ["host:101 overlap 2026-11-20T02:10:00Z", "host:102 budget 2026-11-20T02:15:00Z"]);
    let between = page(workspace, &at("02:09:59"), &["status"]);
    let said = "In flux: these hosts have both their old and their new addresses web, the old ones can go from 2026-11-20T02:10:00Z on: host:101";
    assert!(between.contains(said) && !between.contains("clients may not reach"), "{between}");
    let second = run(workspace, &at("02:10:00"), &["resume"]);
    assert_eq!((second.exit, second.hosts().as_str()), (5, "101 applied, 102 waiting"), "{}", second.document);
    assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new", "old"]);
    let settling = page(workspace, &at("02:11:00"), &["status"]);
    let said = "In flux: clients may not reach these hosts yet web, until 2026-11-20T02:15:00Z at the latest: host:101";
    assert!(settling.contains(said) && !settling.contains("both their old"), "{settling}");
    assert_eq!(second.waiting(), ["host:102 budget 2026-11-20T02:15:00Z"]);
    assert_eq!(run(workspace, &at("02:14:59"), &["resume"]).exit, 5);
    assert_eq!(addresses(workspace, "102"), "old");
    let third = run(workspace, &at("02:15:00"), &["resume"]);
    assert_eq!((third.exit, addresses(workspace, "102").as_str()), (5, "new+old"), "{}", third.document);
    let last = run(workspace, &at("02:25:00"), &["resume"]);
    assert_eq!((last.exit, last.hosts().as_str()), (0, "101 applied, 102 applied"), "{}", last.document);
    assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new", "new"]);
    assert!(run(workspace, &at("02:26:00"), &["status"]).waiting().is_empty());
    let undone = run(workspace, &at("02:26:00"), &["undo", "1", "--yes"]);
    assert_eq!(addresses(workspace, "102"), "old", "what has not settled goes back at once: {}", undone.document);
}

#[test]
fn a_new_plan_goes_on_with_an_overlap_and_the_gate_is_asked_before_old_addresses_go() {
    let folder = moved("max_unavailable: 2, settle: 1m, overlap: 10m, gate: health");
    let workspace = folder.path();
    let settings = workspace.join("zonewright.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    fs::write(&settings, format!("{text}\n[gate.health]\ncommand = [\"test\", \"-e\", \"well\"]\nretries = 0\n"))
        .expect("settings");
    fs::write(workspace.join("well"), "").expect("a file");
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 5);
    assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new+old", "new+old"]);
    let plan = run(workspace, &at("02:05:00"), &["plan"]);
    assert_eq!(plan.waiting(), ["host:101 overlap 2026-11-20T02:10:00Z", "host:102 overlap 2026-11-20T02:10:00Z"]);
    assert!(plan.document["changes"].as_array().expect("changes").iter().all(|change| change.get("via").is_none()));
    fs::remove_file(workspace.join("well")).expect("a file");
    let shut = run(workspace, &at("02:10:00"), &["apply", "--auto"]);
    assert_eq!(shut.waiting(), ["host:101 gate null", "host:102 gate null"], "{}", shut.document);
    assert_eq!(addresses(workspace, "101"), "new+old");
    fs::write(workspace.join("well"), "").expect("a file");
    let last = run(workspace, &at("02:11:00"), &["apply", "--auto"]);
    assert_eq!((last.exit, last.hosts().as_str()), (0, "101 applied, 102 applied"), "{}", last.document);
    assert_eq!([addresses(workspace, "101"), addresses(workspace, "102")], ["new", "new"]);
}

#[test]
fn a_changed_wish_starts_its_overlap_again_and_a_wish_back_goes_at_once() {
    let folder = moved("max_unavailable: 1, settle: 1m, overlap: 10m");
    let workspace = folder.path();
    run(workspace, &at("02:00:00"), &["apply", "--auto"]);
    assert_eq!(addresses(workspace, "101"), "new+old");
    // Another editor replaces the new address: the wish is the same, and begins again from what is live.
    edit(workspace, "zones/web.example.net.zone", "AAAA 2001:db8:0:1:0:1478:0:101\n", "AAAA 2001:db8:0:1::f00:101\n");
    let again = run(workspace, &at("02:05:00"), &["apply", "--auto"]);
    assert_eq!(again.exit, 5, "{}", again.document);
    assert_eq!(addresses(workspace, "101"), "new+old");
    let waiting = again.waiting();
    assert_eq!(waiting[0], "host:101 overlap 2026-11-20T02:15:00Z");
    // It goes back to what it had.
    assert_eq!(run(workspace, &at("02:06:00"), &["undo", "2", "--yes"]).exit, 0);
    assert_eq!(addresses(workspace, "101"), "old");
}

/// The same workspace with both families of facts wrong: the PTR of each host is at the old address, too.
fn moved_with_pointers(rollout: &str) -> TempDir {
    let folder = moved(rollout);
    let zone = "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone";
    for (digits, host) in [("1.0.1.0", "101"), ("2.0.1.0", "102")] {
        let new = format!("{digits}.0.0.0.0.8.7.4.1.0.0.0.0.1.0.0.0.0.0.0.0 PTR");
        let old = format!("{digits}.d.a.b.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0 PTR");
        edit(folder.path(), zone, &new, &old);
        assert!(fs::read_to_string(folder.path().join(zone)).expect("a zone").contains(&old), "{host}");
    }
    folder
}

#[test]
fn what_waits_is_not_made_in_part_although_its_old_ptr_stays() {
    let folder = moved_with_pointers("max_unavailable: 1, settle: 5m, overlap: 10m");
    let workspace = folder.path();
    let file = saved(workspace, &at("02:00:00"));
    let first = run(workspace, &at("02:00:00"), &["apply", &file]);
    assert_eq!((first.exit, first.hosts().as_str()), (5, "101 waiting, 102 waiting"), "{}", first.document);
    let early = run(workspace, &at("02:05:00"), &["resume"]);
    assert_eq!((early.exit, early.hosts().as_str()), (5, "101 waiting, 102 waiting"), "{}", early.document);
    let reverse = || fs::read_to_string(workspace.join("zones/8.b.d.0.1.0.0.2.ip6.arpa.zone")).expect("a zone");
    let of_host = |text: &str| text.matches("PTR sas0-0001.web.example.net.").count();
    assert_eq!(of_host(&reverse()), 2, "the PTR of the old address stays next to the new one");
    let second = run(workspace, &at("02:10:00"), &["resume"]);
    assert_eq!((second.exit, second.hosts().as_str()), (5, "101 applied, 102 waiting"), "{}", second.document);
    assert_eq!(of_host(&reverse()), 1);
}

#[test]
fn an_overlap_is_not_forgotten_while_a_plan_knows_nothing_of_the_host() {
    let folder = moved("max_unavailable: 1, settle: 5m, overlap: 10m");
    let workspace = folder.path();
    assert_eq!(run(workspace, &at("02:00:00"), &["apply", "--auto"]).exit, 5);
    assert_eq!(addresses(workspace, "101"), "new+old");
    let agents: Vec<_> = ["agent", "eine"].iter().map(|name| workspace.join(format!("agents/{name}.jsonl"))).collect();
    let texts: Vec<String> = agents.iter().map(|file| fs::read_to_string(file).expect("an export")).collect();
    for (file, text) in agents.iter().zip(&texts) {
        let left: String = text.lines().filter(|line| !line.contains("101")).map(|line| format!("{line}\n")).collect();
        fs::write(file, left).expect("an export");
    }
    run(workspace, &at("02:01:00"), &["apply", "--auto"]);
    for (file, text) in agents.iter().zip(&texts) {
        fs::write(file, text).expect("an export");
    }
    let early = run(workspace, &at("02:02:00"), &["apply", "--auto"]);
    assert_eq!(addresses(workspace, "101"), "new+old", "{}", early.document);
    let late = run(workspace, &at("02:10:00"), &["apply", "--auto"]);
    assert_eq!(addresses(workspace, "101"), "new", "{}", late.document);
}

/// Starts `apply --wait` for a rollout whose second wave has to settle first, and sends it SIGHUP once it waits; with
/// `ignores` it is started with that signal ignored. None where the tests themselves were started so.
fn hung_up(rollout: &str, ignores: bool) -> Option<Ran> {
    let ignored = Command::new("sh").args(["-c", "kill -HUP $$"]).status().expect("a shell");
    if ignored.success() && !ignores {
        return None;
    }
    let folder = moved(rollout);
    let mut command = Command::new("sh");
    let trap = if ignores { "trap '' HUP; exec \"$@\"" } else { "exec \"$@\"" };
    command.args(["-c", trap, "sh", env!("CARGO_BIN_EXE_zonewright"), "apply", "--auto", "--wait", "1h"]);
    command.args(["--format", "json", "--now", &at("02:00:00"), "-C"]).arg(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    assert!(said.any(|line| line.expect("text").contains("1 waits for a later wave")), "the first wave went");
    let sent = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    said.for_each(|line| drop(line.expect("text")));
    let output = child.wait_with_output().expect("it ends");
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Some(Ran { document, exit: output.status.code().unwrap_or(-1) })
}

#[test]
fn a_session_that_is_lost_ends_the_wait_with_the_outcome_of_what_went() {
    let Some(ran) = hung_up("max_unavailable: 1, settle: 1h", false) else { return };
    assert_eq!(ran.exit, 5, "{}", ran.document);
    assert_eq!(ran.hosts(), "101 applied, 102 waiting");
}

#[test]
fn a_command_that_was_started_to_outlive_its_session_goes_on() {
    let ran = hung_up("max_unavailable: 1, settle: 2s", true).expect("the signal is ignored");
    assert_eq!((ran.exit, ran.hosts().as_str()), (0, "101 applied, 102 applied"), "{}", ran.document);
}
