//! `ci/any/zonewright-ci`: what it leaves for reviewers, what it refuses, and how it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::copy::copy;
use crate::served::Served;
use crate::{NOW, PROGRAM, assert_ended, file, have, said};

/// A folder for results, and the script that works on some workspace.
struct Job {
    /// What holds the results.
    folder: TempDir,
    /// The workspace.
    workspace: PathBuf,
}

impl Job {
    /// A job on a workspace.
    fn on(workspace: &Path) -> Job {
        Job { folder: tempfile::tempdir().expect("a folder"), workspace: workspace.to_owned() }
    }

    /// Runs a mode of the script with more settings.
    fn run(&self, mode: &str, settings: &[(&str, &str)]) -> Output {
        let mut command = Command::new(file("ci/any/zonewright-ci"));
        command.arg(mode).env("ZONEWRIGHT", PROGRAM).env("ZONEWRIGHT_NOW", NOW);
        command.env("ZONEWRIGHT_WORKSPACE", &self.workspace).env("ZONEWRIGHT_OUT", self.folder.path().join("out"));
        command.envs(settings.iter().copied()).output().expect("a shell")
    }

    /// A result.
    fn result(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("out").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether there is a result of that name.
    fn has(&self, name: &str) -> bool {
        self.folder.path().join("out").join(name).exists()
    }
}

/// A copy of the demo.
fn demo() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = folder.path().join("inventory");
    copy(&file("inventory"), &workspace);
    (folder, workspace)
}

#[test]
fn a_plan_is_reviewed_and_its_effect_applied() {
    let (_folder, workspace) = demo();
    let job = Job::on(&workspace);
    let planned = job.run("plan", &[]);
    assert_ended(&planned, 0, "### ✅ Plan: 54 to create, 26 to modify, 30 to delete for 28 of 111 hosts");
    assert_eq!(job.result("result"), "changes\n");
    assert!(job.result("plan.md").starts_with("<!-- zonewright plan -->"));
    assert!(job.result("plan.html").contains("</html>"));
    assert!(job.result("check.txt").contains("error[not-a-64]"));
    let effect = job.result("effect").trim().to_owned();
    assert!(effect.starts_with("sha256:") && job.result("plan.json").contains(&effect), "{effect}");

    assert_ended(&job.run("apply", &[]), 1, "ZONEWRIGHT_EXPECT is not set");
    let first = ("ZONEWRIGHT_FIRST", "1");
    let other = format!("sha256:{}", "0".repeat(64));
    assert_ended(&job.run("apply", &[("ZONEWRIGHT_EXPECT", &other), first]), 3, "Plan and review again");
    assert!(!workspace.join(".zonewright/state.db").exists(), "nothing was applied");
    assert_ended(
        &job.run("apply", &[("ZONEWRIGHT_EXPECT", &effect)]),
        1,
        "the state of the last apply was not brought back",
    );
    let settings = [("ZONEWRIGHT_EXPECT", effect.as_str()), first, ("ZONEWRIGHT_REASON", "change 7")];
    assert_ended(&job.run("apply", &settings), 0, "28 hosts");
    assert!(job.result("apply.txt").contains("28 hosts"));
    let history = Command::new(PROGRAM).arg("-C").arg(&workspace).args(["history", "1"]).output().expect("it runs");
    assert_ended(&history, 0, "change 7");

    assert_ended(&job.run("plan", &[]), 0, "No changes");
    assert_eq!(job.result("result"), "none\n");
}

#[test]
fn a_saved_plan_is_applied_as_it_is() {
    let (_folder, workspace) = demo();
    let job = Job::on(&workspace);
    assert_ended(&job.run("plan", &[]), 0, "110 changes");
    let (effect, plan) = (job.result("effect"), job.folder.path().join("out/plan.json"));
    let plan = plan.to_str().expect("text");
    let settings = [("ZONEWRIGHT_EXPECT", effect.trim()), ("ZONEWRIGHT_FIRST", "1"), ("ZONEWRIGHT_PLAN", plan)];
    assert_ended(&job.run("apply", &settings), 0, "28 hosts");
}

#[test]
fn a_plan_from_a_snapshot_needs_no_server_and_no_secret() {
    let mut served = Served::start(&[]);
    let workspace = served.workspace();
    let snapshot = workspace.join("snapshot");
    let mut command = Command::new(PROGRAM);
    command.arg("-C").arg(&workspace).args(["--now", NOW, "snapshot", "--out"]).arg(&snapshot);
    assert_ended(&command.output().expect("it runs"), 0, "");
    served.end();
    fs::remove_dir_all(workspace.join("keys")).expect("the key was there");

    let job = Job::on(&workspace);
    let snapshot = snapshot.to_str().expect("text");
    let base = file("inventory");
    let settings = [("ZONEWRIGHT_SNAPSHOT", snapshot), ("ZONEWRIGHT_BASE", base.to_str().expect("text"))];
    assert_ended(&job.run("plan", &settings), 0, "### ✅ Plan: ");
    assert_eq!(job.result("result"), "changes\n");

    // Without it the server is asked, and is down. The output of an earlier run is not mistaken for that of this one.
    let live = job.run("plan", &[]);
    assert_eq!(live.status.code(), Some(1), "{}", said(&live));
    assert_eq!(job.result("result"), "error\n");
    assert_ended(&live, 1, "the plan is not whole, or there is none");
}

#[test]
fn an_apply_done_in_part_is_taken_up_again() {
    // So many that what is sent again in smaller parts is refused too.
    let faults: Vec<String> = (1..=20).map(|number| format!("refused={number}")).collect();
    let served = Served::start(&faults.iter().map(String::as_str).collect::<Vec<_>>());
    let job = Job::on(&served.workspace());
    assert_ended(&job.run("plan", &[]), 0, "110 changes");
    let effect = job.result("effect");
    let settings = [("ZONEWRIGHT_EXPECT", effect.trim()), ("ZONEWRIGHT_FIRST", "1")];
    assert_ended(&job.run("apply", &settings), 4, "run `zonewright-ci resume` once the cause is gone");
    assert_ended(&job.run("resume", &[]), 0, "");
    assert_ended(&job.run("plan", &[]), 0, "No changes");
}

#[test]
fn a_refused_plan_says_so() {
    let (_folder, workspace) = demo();
    let settings = fs::read_to_string(workspace.join("zonewright.toml")).expect("the settings");
    assert!(settings.contains("max = 200 }"));
    fs::write(workspace.join("zonewright.toml"), settings.replace("max = 200 }", "max = 20 }")).expect("the settings");
    let job = Job::on(&workspace);
    assert_ended(&job.run("plan", &[]), 3, "an apply would be refused");
    assert_eq!(job.result("result"), "refused\n");
    let effect = job.result("effect");
    let settings = [("ZONEWRIGHT_EXPECT", effect.trim()), ("ZONEWRIGHT_FIRST", "1")];
    assert_ended(&job.run("apply", &settings), 3, "refused");
}

#[test]
fn wrong_settings_are_named() {
    let (_folder, workspace) = demo();
    let job = Job::on(&workspace);
    let strict = job.run("plan", &[("ZONEWRIGHT_CHECK", "strict")]);
    assert_ended(&strict, 1, "the files have errors, and ZONEWRIGHT_CHECK is strict");
    assert!(said(&strict).contains("error[not-a-64]") && !job.has("plan.json"));
    assert_ended(&job.run("plan", &[("ZONEWRIGHT_CHECK", "no")]), 1, "report, strict or off");
    // What an earlier run left is gone, whatever this one fails of.
    assert_ended(&job.run("plan", &[]), 0, "110 changes");
    assert_ended(&job.run("plan", &[("ZONEWRIGHT", "no-such-zonewright")]), 1, "no-such-zonewright is not installed");
    assert!(job.result("result") == "error\n" && !job.has("effect") && !job.has("plan.json"));
    assert_ended(&job.run("plan", &[("ZONEWRIGHT_WORKSPACE", "/nowhere")]), 1, "/nowhere has no zonewright.toml");
    assert_ended(&job.run("undo", &[]), 1, "usage: zonewright-ci plan|apply|resume");
}

#[test]
fn a_state_that_a_change_set_brings_is_none() {
    let (_folder, workspace) = demo();
    fs::create_dir(workspace.join(".zonewright")).expect("a folder");
    fs::write(workspace.join(".zonewright/state.db"), "").expect("a file");
    for args in [&["init", "-q"][..], &["add", "-f", "."]] {
        assert_ended(&Command::new("git").current_dir(&workspace).args(args).output().expect("git runs"), 0, "");
    }
    let job = Job::on(&workspace);
    for mode in ["plan", "apply", "resume"] {
        let effect = format!("sha256:{}", "0".repeat(64));
        assert_ended(&job.run(mode, &[("ZONEWRIGHT_EXPECT", &effect)]), 1, ".zonewright is in git");
    }
    assert!(!job.has("plan.json"));
}

#[test]
fn the_scripts_are_clean() {
    if !have("shellcheck") {
        return;
    }
    let scripts = [
        "any/zonewright-ci",
        "check",
        "debian/postrm",
        "pre-commit/check",
        "release",
        "release-check",
        "test",
        "verdict",
    ];
    let mut command = Command::new("shellcheck");
    let output = command.args(scripts.map(|script| file("ci").join(script))).output().expect("it runs");
    assert_ended(&output, 0, "");
}
