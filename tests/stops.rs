//! What an administrator forbids after a plan was made holds when the plan is applied; and a plan is for one workspace.

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

/// The clock of all commands.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The forward zone of the hosts.
const ZONE: &str = "zones/web.example.net.zone";

/// A small workspace: two hosts of project `web` lack their AAAA.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    edit(folder.path(), ZONE, "\nsas0-0001 AAAA 2001:db8:0:1:0:1478:0:101", "");
    edit(folder.path(), ZONE, "\nsas0-0002 AAAA 2001:db8:0:1:0:1478:0:102", "");
    folder
}

/// Runs a command in a workspace; gives its exit code and the document that it prints.
fn run(workspace: &Path, args: &[&str]) -> (Option<i32>, Value) {
    run_at(workspace, NOW, args)
}

/// Runs a command in a workspace at a time, as [`run`] does.
fn run_at(workspace: &Path, now: &str, args: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--format", "json", "-q", "--now", now, "-C"]).arg(workspace);
    let output = command.output().expect("the binary was built for this test");
    let document = serde_json::from_slice(&output.stdout);
    (output.status.code(), document.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

/// Saves a plan of a workspace; gives its path.
fn saved(workspace: &Path) -> String {
    let path = workspace.join("plan.json").display().to_string();
    run(workspace, &["plan", "--out", &path]);
    path
}

/// The outcomes of the hosts, in the order of the plan.
fn outcomes(applied: &Value) -> Vec<&str> {
    applied["hosts"].as_array().expect("a list").iter().map(|host| host["outcome"].as_str().expect("text")).collect()
}

/// The forward zone as it is.
fn zone(workspace: &Path) -> String {
    fs::read_to_string(workspace.join(ZONE)).expect("the zone")
}

/// Edits a workspace after a plan was saved and checks that its apply leaves every host, with these words.
fn leaves_all(stop: impl Fn(&Path), words: &str) {
    let folder = workspace();
    let (plan, before) = (saved(folder.path()), zone(folder.path()));
    stop(folder.path());
    let (exit, applied) = run(folder.path(), &["apply", &plan]);
    assert_eq!((exit, outcomes(&applied)), (Some(3), vec!["no-longer-allowed"; 2]), "{applied}");
    assert!(applied["hosts"][0]["message"].as_str().is_some_and(|text| text.contains(words)), "{applied}");
    assert_eq!(zone(folder.path()), before);
}

#[test]
fn automation_that_is_forbidden_after_the_plan_stops_its_apply() {
    let forbidden = "[project.web]\ndns_domain = \"web.example.net\"\nautomation = \"forbidden\"";
    let allowed = "[project.web]\ndns_domain = \"web.example.net\"\nautomation = \"allowed\"";
    leaves_all(
        |workspace| edit(workspace, "zonewright.toml", allowed, forbidden),
        "`automation` of project `web` is `forbidden` now (zonewright.toml:",
    );
}

#[test]
fn a_project_file_that_is_removed_or_broken_after_the_plan_stops_its_apply() {
    let remove = |workspace: &Path| fs::remove_file(workspace.join("projects/web.yaml")).expect("the file");
    leaves_all(remove, "no project file has the id `web` now");
    leaves_all(
        |workspace| edit(workspace, "projects/web.yaml", "vlan_scheme: search", "vlan_scheme: searching"),
        "the file of project `web` has an error now (projects/web.yaml:",
    );
}

#[test]
fn names_that_are_protected_after_the_plan_stop_its_apply() {
    let spec = "name = \"web.example.net\"\npool = \"main\"\n";
    let protect = |what: &str| format!("{spec}protect = [\"{what}\"]\n");
    leaves_all(
        |workspace| edit(workspace, "zonewright.toml", spec, &protect("*")),
        "`protect` lists `*.web.example.net.` now (zonewright.toml:",
    );
    // One name alone: the other host goes on.
    let folder = workspace();
    let plan = saved(folder.path());
    edit(folder.path(), "zonewright.toml", spec, &protect("sas0-0001"));
    let (exit, applied) = run(folder.path(), &["apply", &plan]);
    assert_eq!((exit, outcomes(&applied)), (Some(4), vec!["no-longer-allowed", "applied"]), "{applied}");
    assert!(zone(folder.path()).contains("sas0-0002") && !zone(folder.path()).contains("\nsas0-0001"));
}

#[test]
fn a_permission_that_shrinks_after_the_plan_leaves_what_is_not_own() {
    let folder = workspace();
    edit(folder.path(), ZONE, "\nfb-sas0-0001", "\nsas0-0001 AAAA 2001:db8:0:1::bad\nfb-sas0-0001");
    let plan = saved(folder.path());
    let (full, own) = ("pool = \"main\"\npermission = \"full\"", "pool = \"main\"\npermission = \"own\"");
    let settings = fs::read_to_string(folder.path().join("zonewright.toml")).expect("the settings");
    fs::write(folder.path().join("zonewright.toml"), settings.replace(full, own)).expect("the settings");
    let (exit, applied) = run(folder.path(), &["apply", &plan]);
    assert_eq!((exit, outcomes(&applied)), (Some(4), vec!["no-longer-allowed", "applied"]), "{applied}");
    let message = applied["hosts"][0]["message"].as_str().expect("text");
    assert!(message.contains("AAAA of `sas0-0001.web.example.net.` is not own"), "{message}");
    assert!(zone(folder.path()).contains("2001:db8:0:1::bad"));
}

#[test]
fn undo_and_resume_obey_the_settings_of_today() {
    let folder = workspace();
    assert_eq!(run(folder.path(), &["apply", "--yes"]).0, Some(0));
    let after = zone(folder.path());
    let spec = "name = \"web.example.net\"\npool = \"main\"\n";
    edit(folder.path(), "zonewright.toml", spec, &format!("{spec}protect = [\"*\"]\n"));
    let (exit, undone) = run(folder.path(), &["undo", "1", "--yes"]);
    assert_eq!((exit, outcomes(&undone)), (Some(3), vec!["no-longer-allowed"; 2]), "{undone}");
    assert_eq!(zone(folder.path()), after);

    let folder = workspace();
    edit(folder.path(), ZONE, "\nfb-sas0-0001", "\nsas0-0001 AAAA 2001:db8:0:1::bad\nfb-sas0-0001");
    let plan = saved(folder.path());
    // One host is stale, so that the apply is in part and can be resumed.
    edit(folder.path(), ZONE, "2001:db8:0:1::bad", "2001:db8:0:1::2:1");
    assert_eq!(run(folder.path(), &["apply", &plan]).0, Some(4));
    edit(folder.path(), ZONE, "2001:db8:0:1::2:1", "2001:db8:0:1::bad");
    edit(folder.path(), "zonewright.toml", spec, &format!("{spec}protect = [\"*\"]\n"));
    let (_, resumed) = run(folder.path(), &["resume"]);
    assert!(outcomes(&resumed).contains(&"no-longer-allowed"), "{resumed}");
    assert!(zone(folder.path()).contains("2001:db8:0:1::bad"));
}

#[test]
fn a_plan_of_another_owner_or_registry_is_refused() {
    for (was, is) in [("owner = \"fleet-dns\"", "owner = \"other\""), ("registry = \"journal\"", "registry = \"noop\"")]
    {
        let folder = workspace();
        let (plan, before) = (saved(folder.path()), zone(folder.path()));
        edit(folder.path(), "zonewright.toml", was, is);
        let (exit, applied) = run(folder.path(), &["apply", &plan]);
        assert_eq!((exit, &applied["refused"]["code"]), (Some(3), &Value::from("no-longer-allowed")), "{applied}");
        assert_eq!(zone(folder.path()), before);
    }
}

#[test]
fn a_plan_of_another_workspace_is_refused() {
    let (one, other) = (workspace(), workspace());
    // Each has a state of its own from here on.
    for folder in [&one, &other] {
        assert_eq!(run(folder.path(), &["apply", "--yes", "--host", "101"]).0, Some(0));
    }
    let (plan, before) = (saved(one.path()), zone(other.path()));
    let (exit, applied) = run(other.path(), &["apply", &plan]);
    assert_eq!((exit, &applied["refused"]["code"]), (Some(3), &Value::from("other-workspace")), "{applied}");
    // One that was made elsewhere without any state, after this one had its first apply.
    let third = workspace();
    let path = third.path().join("plan.json").display().to_string();
    run_at(third.path(), "2026-11-20T03:00:00Z", &["plan", "--out", &path]);
    let (exit, applied) = run_at(other.path(), "2026-11-20T03:00:00Z", &["apply", &path]);
    assert_eq!((exit, &applied["refused"]["code"]), (Some(3), &Value::from("other-workspace")), "{applied}");
    assert_eq!(zone(other.path()), before);
    // In its own workspace it is applied, also after the workspace moved to another folder with its state.
    let moved = tempfile::tempdir().expect("a folder");
    copy(one.path(), moved.path());
    copy(&one.path().join(".zonewright"), &moved.path().join(".zonewright"));
    let (exit, applied) = run(moved.path(), &["apply", &plan]);
    assert_eq!((exit, outcomes(&applied)), (Some(0), vec!["applied"]), "{applied}");
}
