//! What happens to a workspace between a plan, its apply and the next plan: what is own then, and what was lost or
//! spoiled.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use copy::copy;
use edit::edit;

/// The clock of all commands.
const NOW: &str = "2026-11-20T02:00:00Z";

/// A small workspace, where the state says what is own, and own records without a host are deleted; the records of one
/// name are still to be made.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    let settings = fs::read_to_string(folder.path().join("zonewright.toml")).expect("the settings");
    let settings = settings.replace("permission = \"full\"", "permission = \"own\"");
    fs::write(folder.path().join("zonewright.toml"), settings).expect("the settings");
    edit(folder.path(), "projects/web.yaml", "automation: true", "automation: true\npolicy: sync");
    edit(folder.path(), "zones/web.example.net.zone", "\nsas0-0001 AAAA 2001:db8:0:1:0:1478:0:101", "");
    let pointer = "1.0.1.0.0.0.0.0.8.7.4.1.0.0.0.0.1.0.0.0.0.0.0.0 PTR sas0-0001.web.example.net.\n";
    edit(folder.path(), "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone", pointer, "");
    folder
}

/// Runs a command in a workspace; gives the document that it prints.
fn run(workspace: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--format", "json", "-q", "--now", NOW, "-C"]).arg(workspace);
    let output = command.output().expect("the binary was built for this test");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// What a plan would change, sorted: `RULE TYPE BEFORE > AFTER`.
fn planned(workspace: &Path) -> Vec<String> {
    let side = |side: &Value| side["rdata"].as_array().map_or("-".to_owned(), |rdata| rdata[0].to_string());
    let plan = run(workspace, &["plan"]);
    let changes = plan["changes"].as_array().expect("a list").iter().map(|change| {
        let rule = change["reasons"][0]["rule"].as_str().expect("text");
        let (before, after) = (side(&change["before"]), side(&change["after"]));
        format!("{rule} {} {before} > {after}", change["type"].as_str().expect("text")).replace('"', "")
    });
    let mut changes: Vec<String> = changes.collect();
    changes.sort();
    changes
}

#[test]
fn what_an_apply_created_is_changed_by_the_next_and_removed_when_nobody_has_it() {
    let folder = workspace();
    let workspace = folder.path();
    let applied = run(workspace, &["apply", "--yes"]);
    assert_eq!(applied["counts"]["applied"], 1, "{applied}");
    assert!(planned(workspace).is_empty());

    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    edit(workspace, "racktables/hosts.csv", "102,sas0-0002.web.example.net,web", "102,,web");
    let (old, new) = ("2001:db8:0:1:0:1478:0:101", "2001:db8:0:9:0:1478:0:101");
    let expected = [
        format!("missing AAAA {old} > {new}"),
        "missing-ptr PTR - > sas0-0001.web.example.net.".to_owned(),
        "ptr-elsewhere PTR sas0-0001.web.example.net. > -".to_owned(),
    ];
    assert_eq!(planned(workspace), expected);
    run(workspace, &["apply", "--yes"]);
    assert!(planned(workspace).is_empty());

    let row = "101,sas0-0001.web.example.net,web,assigned,sas,q1,r1,sas-s1,ge1,\n";
    edit(workspace, "racktables/hosts.csv", row, "");
    let expected = [format!("orphan AAAA {new} > -"), "orphan PTR sas0-0001.web.example.net. > -".to_owned()];
    assert_eq!(planned(workspace), expected, "what it did not create stays");
    run(workspace, &["apply", "--yes"]);

    edit(workspace, "zones/web.example.net.zone", "\nsas0-0002 ", &format!("\nsas0-0001 AAAA {new}\nsas0-0002 "));
    assert!(planned(workspace).is_empty(), "what was deleted is no longer own");
}

/// Saves a plan of a workspace; gives its path.
fn saved(workspace: &Path) -> String {
    let path = workspace.join("plan.json").display().to_string();
    run(workspace, &["plan", "--out", &path]);
    path
}

#[test]
fn an_input_that_became_a_pipe_since_the_plan_is_told_and_not_waited_for() {
    let folder = workspace();
    let plan = saved(folder.path());
    let input = folder.path().join("racktables/ipv4-map.txt");
    fs::remove_file(&input).expect("the input");
    let made = Command::new("mkfifo").arg(&input).status().expect("every system has it");
    assert!(made.success());
    let applied = run(folder.path(), &["apply", &plan]);
    assert_eq!(applied["counts"]["applied"], 1, "{applied}");
    assert_eq!(applied["moved"], serde_json::json!(["racktables/ipv4-map.txt: no longer readable"]));
}

#[test]
fn what_is_wrong_with_a_zone_file_is_told_by_line_when_it_is_to_be_written() {
    let folder = workspace();
    let plan = saved(folder.path());
    edit(folder.path(), "zones/web.example.net.zone", "@ NS", "@ NZ");
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    let output = command.args(["apply", &plan, "-q", "--now", NOW, "-C"]).arg(folder.path()).output();
    let output = output.expect("the binary was built for this test");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("zones/web.example.net.zone:3:3: error["), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn without_memory_it_ends_with_1_and_a_sentence() {
    let folder = workspace();
    let hosts = folder.path().join("racktables/hosts.csv");
    let more = (0..400_000).map(|number| format!("{},,web,assigned,sas,q1,r1,sas-s1,ge1,\n", 1_000_000 + number));
    fs::write(&hosts, fs::read_to_string(&hosts).expect("the hosts") + &more.collect::<String>()).expect("the hosts");
    let limited = |kibibytes: u32| {
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" -C \"$1\" plan -q --now {NOW}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_zonewright")]).arg(folder.path());
        command.output().expect("every system has a shell")
    };
    for kibibytes in [100_000, 150_000] {
        let output = limited(kibibytes);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kibibytes}: {said}");
        assert!(said.contains("memory allocation of") || said.contains("the system gives no threads"), "{said}");
    }
}

#[test]
fn an_undo_refuses_a_journal_of_which_one_digit_was_changed() {
    let folder = workspace();
    let workspace = folder.path();
    run(workspace, &["apply", "--yes"]);
    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    assert_eq!(run(workspace, &["apply", "--yes"])["exit"], 0);
    let file = workspace.join(".zonewright/state.db");
    let whole = fs::read(&file).expect("the state");
    let before = b"\"before\":{\"rdata\":[\"2001:db8:0:1:0:1478:0:101\"";
    let mut places = (0..whole.len() - before.len()).filter(|at| whole[*at..].starts_with(before));
    let digit = places.next_back().expect("the journal says what was there before") + before.len() - 2;
    let mut changed = whole.clone();
    changed[digit] = b'2';
    fs::write(&file, changed).expect("the state");
    let zones = || fs::read_to_string(workspace.join("zones/web.example.net.zone")).expect("the zone");
    let undo = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        command.args(["undo", "2", "--yes", "--now", NOW, "-C"]).arg(workspace);
        command.output().expect("the binary was built for this test")
    };
    let (as_it_was, output) = (zones(), undo());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error[state-unreadable]: the list of changes of update"), "{said}");
    assert!(said.contains("restore the file from its last good copy"), "{said}");
    assert_eq!(zones(), as_it_was);

    fs::write(&file, whole).expect("the state");
    assert_eq!(undo().status.code(), Some(0));
    assert!(zones().contains("2001:db8:0:1:0:1478:0:101"));
}

#[test]
fn servers_are_told_by_the_next_apply_of_what_a_killed_one_wrote() {
    let folder = workspace();
    let workspace = folder.path();
    let reload = "dir = \"zones\"\nreload = [\"sh\", \"-c\", \"echo >> told; [ -e quick ] || sleep 20\"]";
    edit(workspace, "zonewright.toml", "dir = \"zones\"", reload);
    let told = || fs::read_to_string(workspace.join("told")).unwrap_or_default().len();
    let plan = saved(workspace);
    let mut killed = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    killed.args(["apply", &plan, "-q", "--now", NOW, "-C"]).arg(workspace);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary");
    while told() == 0 {
        assert!(killed.try_wait().expect("it is ours").is_none(), "it waits for the servers");
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.kill().expect("it is ours");
    killed.wait().expect("it is ours");

    fs::write(workspace.join("quick"), "").expect("a file");
    assert!(planned(workspace).is_empty(), "all of it was written");
    assert_eq!(run(workspace, &["apply", "--yes"])["exit"], 0);
    assert_eq!(told(), 2);
    assert_eq!(run(workspace, &["status"])["unfinished"], serde_json::json!([]));
    assert_eq!(run(workspace, &["apply", "--yes"])["exit"], 0);
    assert_eq!(run(workspace, &["apply", &plan])["exit"], 0);
    assert_eq!(told(), 2, "once they know, there is nothing to tell");
}

#[test]
fn servers_are_told_by_the_next_apply_of_what_an_older_one_wrote_that_was_killed_when_it_was_taken_up() {
    let folder = workspace();
    let workspace = folder.path();
    edit(
        workspace,
        "zonewright.toml",
        "dir = \"zones\"",
        "dir = \"zones\"\nreload = [\"sh\", \"-c\", \"echo >> told\"]",
    );
    let told = || fs::read_to_string(workspace.join("told")).unwrap_or_default().len();
    run(workspace, &["apply", "--yes"]);
    edit(workspace, "projects/web.yaml", "policy: sync", "policy: sync\nttl: 600");
    run(workspace, &["apply", "--yes"]);
    let state = rusqlite::Connection::open(workspace.join(".zonewright/state.db")).expect("the state");
    // As if `resume 1` had ended before the servers reloaded.
    let broken = "UPDATE applies SET finished = finished - 1000000000;
                  UPDATE applies SET finished = NULL, outcomes = NULL WHERE id = 1;
                  INSERT INTO resumptions SELECT 1, finished, 'night', NULL FROM applies WHERE id = 2;";
    state.execute_batch(broken).expect("the tables");
    drop(state);
    assert_eq!(run(workspace, &["status"])["unfinished"][0]["id"], 1);
    let before = told();
    assert_eq!(run(workspace, &["apply", "--yes"])["exit"], 0);
    assert_eq!(told(), before + 1);
    assert_eq!(run(workspace, &["status"])["unfinished"], serde_json::json!([]));
}

#[test]
fn what_a_killed_apply_created_in_a_zone_without_a_marker_is_own_once_the_next_has_read_it() {
    let folder = workspace();
    let workspace = folder.path();
    run(workspace, &["apply", "--yes"]);
    let state = rusqlite::Connection::open(workspace.join(".zonewright/state.db")).expect("the state");
    // As if the process had ended after the files took their places, before any answer was kept.
    // A state of version 4, so that the rows get their digests anew.
    let forget = "DELETE FROM own_rrsets; UPDATE batches SET settled = NULL, settled_at = NULL;
                  UPDATE applies SET finished = NULL, outcomes = NULL;
                  ALTER TABLE batches DROP COLUMN seal; ALTER TABLE batch_changes DROP COLUMN seal;
                  ALTER TABLE own_rrsets DROP COLUMN seal; ALTER TABLE exports DROP COLUMN seal;
                  ALTER TABLE export_files DROP COLUMN seal; ALTER TABLE export_files DROP COLUMN content_seal;
                  DROP TABLE workspace; UPDATE schema_version SET version = 4;";
    let host_numbers = |inv: u64| {
        format!("UPDATE batch_changes SET changes = replace(changes, '\"subject\":\"host:{inv}\"', '\"host\":{inv}');")
    };
    let host_numbers: String = (101..=120).map(host_numbers).collect();
    let before_subjects = include_str!("../src/state/tests/v6.sql");
    state.execute_batch(&format!("{before_subjects}{host_numbers}{forget}")).expect("the tables");
    drop(state);
    edit(workspace, "racktables/l3-tors.txt", "sas-s1 604 2001:db8:0:1::/64", "sas-s1 604 2001:db8:0:9::/64");
    edit(workspace, "racktables/hosts.csv", "102,sas0-0002.web.example.net,web", "102,,web");
    assert!(planned(workspace).is_empty(), "nothing says whose the records are");
    run(workspace, &["apply", "--yes"]);
    assert_eq!(planned(workspace).len(), 3, "they are known as own");
}

#[test]
fn a_plan_of_a_snapshot_finds_its_files_where_the_snapshot_was_named() {
    let folder = workspace();
    let above = folder.path().parent().expect("a folder");
    let named = Path::new(folder.path().file_name().expect("a name"));
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        command.current_dir(above).args(args).args(["-q", "--now", NOW, "-C"]).arg(named);
        command.output().expect("the binary was built for this test")
    };
    let [snapshot, plan] = ["snapshot", "plan.json"].map(|file| named.join(file).display().to_string());
    run(&["snapshot", "--out", &snapshot]);
    run(&["plan", "--live-snapshot", &snapshot, "--out", &plan]);
    let applied: Value = serde_json::from_slice(&run(&["apply", &plan, "--format", "json"]).stdout).expect("JSON");
    assert_eq!(applied["counts"]["applied"], 1, "{applied}");
    assert_eq!(applied["moved"], serde_json::json!([]));
}

#[test]
fn the_history_tells_what_an_apply_did_for_whom_and_where() {
    let folder = workspace();
    let applied = run(folder.path(), &["apply", "--yes", "--reason", "ticket 7"]);
    assert_eq!(applied["apply"], 1);
    edit(folder.path(), "projects/web.yaml", "policy: sync", "policy: sync\nttl: 60");
    run(folder.path(), &["apply", "--yes"]);
    let list = run(folder.path(), &["history"]);
    let ids: Vec<u64> = entries(&list["applies"]).filter_map(|one| one["id"].as_u64()).collect();
    assert_eq!((ids, &list["more"]), (vec![2, 1], &Value::Bool(false)));
    assert_eq!((&list["applies"][1]["reason"], &list["applies"][1]["plan"]), (&"ticket 7".into(), &applied["plan"]));
    assert!(list["applies"][0]["updates"].is_null(), "a list does not tell what was changed");
    let told = |args: &[&str]| told(&run(folder.path(), args));
    let first = told(&["history", "1"]);
    let of_host: Vec<&String> = first.iter().filter(|line| line.contains("101")).collect();
    assert_eq!(of_host, ["1 done 101 AAAA", "1 done 101 PTR"]);
    for args in
        [["history", "101"].as_slice(), &["history", "--host", "101"], &["history", "sas0-0001.web.example.net"]]
    {
        let expected = ["2 done 101 AAAA", "2 done 101 PTR", "1 done 101 AAAA", "1 done 101 PTR"];
        assert_eq!(told(args), expected, "{args:?}");
    }
    assert_eq!(told(&["history", "101", "--zone", "web.example.net"]), ["2 done 101 AAAA", "1 done 101 AAAA"]);
    assert_eq!(told(&["history", "2001:db8:0:1:0:1478:0:101"]), ["2 done 101 PTR", "1 done 101 PTR"]);
    assert!(told(&["history", "1", "--project", "nobodys"]).is_empty());
}

/// The items of a list in a document.
fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().expect("a list").iter()
}

/// The changes that a history tells, in its order: `APPLY FATE HOST TYPE`.
fn told(history: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for apply in entries(&history["applies"]) {
        for update in entries(&apply["updates"]) {
            let fate = update["fate"].as_str().expect("a word");
            told.extend(entries(&update["changes"]).map(|change| {
                let rtype = change["type"].as_str().expect("a type");
                format!("{} {fate} {} {rtype}", apply["id"], change["host"])
            }));
        }
    }
    told
}

#[test]
fn who_resumed_an_apply_is_reported() {
    let folder = workspace();
    edit(folder.path(), "zonewright.toml", "dir = \"zones\"", "dir = \"zones\"\nreload = [\"false\"]");
    run(folder.path(), &["apply", "--yes"]);
    assert_eq!(run(folder.path(), &["status"])["resumable"], Value::from(vec![1]), "the `reload` did not work");
    edit(folder.path(), "zonewright.toml", "\nreload = [\"false\"]", "");
    run(folder.path(), &["resume", "--reason", "the server is back"]);
    let history = run(folder.path(), &["history", "1"]);
    assert_eq!(history["applies"][0]["resumed"][0]["reason"], "the server is back");
    assert_eq!((&history["resumable"], &history["applies"][0]["running"]), (&Value::Array(vec![]), &false.into()));
}

/// The sources of which an export was accepted, each with the apply that did.
fn accepted(workspace: &Path) -> Vec<(String, Option<u64>)> {
    let status = run(workspace, &["status"]);
    let sources = status["sources"].as_array().expect("a list").iter().filter(|source| !source["accepted"].is_null());
    let named =
        |source: &Value| (source["source"].as_str().expect("text").to_owned(), source["accepted"]["apply"].as_u64());
    sources.map(named).collect()
}

#[test]
fn an_apply_that_is_taken_up_accepts_the_exports_that_did_not_change_since() {
    let folder = workspace();
    let workspace = folder.path();
    edit(workspace, "zonewright.toml", "dir = \"zones\"", "dir = \"zones\"\nreload = [\"false\"]");
    run(workspace, &["apply", "--yes"]);
    assert_eq!(accepted(workspace), [], "it did not end well");
    edit(workspace, "zonewright.toml", "\nreload = [\"false\"]", "");
    edit(workspace, "racktables/ipv4-map.txt", "192.0.2.0/24", "# another\n192.0.2.0/24");
    run(workspace, &["resume"]);
    let of = |names: &[&str], apply| names.iter().map(|name| ((*name).to_owned(), apply)).collect::<Vec<_>>();
    assert_eq!(accepted(workspace), of(&["hosts", "l3_tors", "net_layout", "agent", "eine"], Some(1)));
    undo_whole(workspace, "1");
    assert_eq!(accepted(workspace), of(&["hosts", "l3_tors", "net_layout", "agent", "eine"], Some(1)));
}

/// Runs `undo`; gives the exit code, the document, and its standard error.
fn undo(workspace: &Path, args: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.arg("undo").args(args).args(["--format", "json", "-q", "--now", NOW, "-C"]).arg(workspace);
    let output = command.output().expect("the binary was built for this test");
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), document, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Undoes an apply, all of which can be.
fn undo_whole(workspace: &Path, id: &str) {
    let (exit, applied, said) = undo(workspace, &[id, "--yes"]);
    assert_eq!(exit, Some(0), "{applied}{said}");
    assert_eq!(applied["counts"]["applied"], applied["hosts"].as_array().map_or(0, Vec::len), "{applied}");
}

/// The zones of a workspace without serials.
fn zones(workspace: &Path) -> Vec<String> {
    let read = |name| fs::read_to_string(workspace.join("zones").join(name)).expect("a zone");
    let lines = ["web.example.net.zone", "8.b.d.0.1.0.0.2.ip6.arpa.zone"].map(read).concat();
    let mut lines: Vec<String> = lines.lines().filter(|line| !line.contains("SOA")).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The messages of a plan's notices with a code.
fn notices<'d>(plan: &'d Value, code: &str) -> Vec<&'d str> {
    let notices = plan["notices"].as_array().expect("a list").iter().filter(|notice| notice["code"] == code);
    notices.map(|notice| notice["message"].as_str().expect("text")).collect()
}

#[test]
fn what_a_later_apply_changed_is_undone_after_that() {
    let folder = workspace();
    let workspace = folder.path();
    run(workspace, &["apply", "--yes"]);
    let first = zones(workspace);
    edit(workspace, "projects/web.yaml", "policy: sync", "policy: sync\nttl: 600");
    run(workspace, &["apply", "--yes"]);

    let (exit, plan, _) = undo(workspace, &["1"]);
    let named = notices(&plan, "edited-since");
    assert_eq!((exit, plan["changes"].as_array().map(Vec::len), named.len()), (Some(0), Some(0), 2), "{plan}");
    for message in named {
        assert!(
            message.contains("; apply 2 changed it since; undo that apply first; undo leaves host 101 as it is"),
            "{message}"
        );
    }
    undo_whole(workspace, "2");
    assert_eq!(zones(workspace), first);
    undo_whole(workspace, "1");
    assert_eq!(zones(workspace).len(), first.len() - 2);
    assert!(notices(&undo(workspace, &["2"]).1, "edited-since")[0].contains("; apply 4 changed it since"));
}

#[test]
fn what_an_undo_brings_back_is_own_where_it_was() {
    let folder = workspace();
    let workspace = folder.path();
    run(workspace, &["apply", "--yes"]);
    let row = "101,sas0-0001.web.example.net,web,assigned,sas,q1,r1,sas-s1,ge1,\n";
    edit(workspace, "racktables/hosts.csv", row, "");
    let (orphans, before) = (planned(workspace), zones(workspace));
    assert_eq!(orphans.len(), 2, "{orphans:?}");
    run(workspace, &["apply", "--yes"]);
    assert!(planned(workspace).is_empty());
    undo_whole(workspace, "2");
    assert_eq!((planned(workspace), zones(workspace)), (orphans, before));
    undo_whole(workspace, "1");
    assert!(planned(workspace).is_empty());
}

#[test]
fn hosts_of_zones_that_cannot_be_read_are_left_and_an_undo_says_so() {
    let folder = workspace();
    let workspace = folder.path();
    edit(workspace, "zones/db.example.net.zone", "db-sas1 AAAA 2001:db8:0:3:0:ff:fe00:201\n", "");
    let pointer = "1.0.2.0.0.0.e.f.f.f.0.0.0.0.0.0.3.0.0.0.0.0.0.0 PTR db-sas1.db.example.net.\n";
    edit(workspace, "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone", pointer, "");
    let before = zones(workspace);
    let applied = run(workspace, &["apply", "--yes"]);
    assert_eq!(applied["counts"]["applied"], 2, "{applied}");

    let file = workspace.join("zones/db.example.net.zone");
    let text = fs::read(&file).expect("the zone");
    fs::remove_file(&file).expect("the zone");
    let (exit, plan, said) = undo(workspace, &["1"]);
    assert_eq!((exit, notices(&plan, "zone-unknown").len()), (Some(1), 1), "{plan}{said}");
    assert!(said.contains("zones/db.example.net.zone"), "{said}");
    assert_eq!(
        (&plan["blocked"][0]["subject"], &plan["blocked"][0]["code"]),
        (&"host:201".into(), &"zone-unknown".into())
    );
    let hosts: Vec<&Value> =
        plan["changes"].as_array().expect("a list").iter().map(|change| &change["subject"]).collect();
    assert_eq!(hosts, ["host:101", "host:101"]);
    let (exit, applied, said) = undo(workspace, &["1", "--yes"]);
    assert_eq!((exit, &applied["counts"]["applied"]), (Some(1), &1.into()), "{applied}{said}");

    // The settings no longer say where the zone is.
    fs::write(&file, text).expect("the zone");
    let settings = "[[zone]]\nname = \"db.example.net\"\npool = \"main\"\npermission = \"own\"\n";
    edit(workspace, "zonewright.toml", settings, "");
    let (exit, plan, said) = undo(workspace, &["1"]);
    let message = "zonewright.toml: error[unknown-zone]: the apply changed the zone `db.example.net.`, which is not in \
                   zonewright.toml";
    assert_eq!((exit, notices(&plan, "zone-unknown")), (Some(1), vec![message]), "{plan}{said}");
    assert!(said.starts_with(message), "{said}");

    let text = fs::read_to_string(workspace.join("zonewright.toml")).expect("the settings");
    fs::write(workspace.join("zonewright.toml"), text + settings).expect("the settings");
    undo_whole(workspace, "1");
    assert_eq!(zones(workspace), before);
}

#[test]
fn an_undo_of_another_journal_is_refused() {
    let (folder, other) = (workspace(), workspace());
    run(folder.path(), &["apply", "--yes"]);
    let path = folder.path().join("undo.json").display().to_string();
    assert_eq!(undo(folder.path(), &["1", "--out", &path]).0, Some(0));
    let before = zones(other.path());
    let applied = run(other.path(), &["apply", &path]);
    assert_eq!((&applied["exit"], &applied["refused"]["code"]), (&3.into(), &"unknown-apply".into()), "{applied}");
    assert_eq!(zones(other.path()), before);
}
