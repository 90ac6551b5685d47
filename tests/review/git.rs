//! A pull request that changes one VLAN while records drifted: which change is whose.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::fleet::Fleet;
use crate::world::{Files, NOW, files, write, zones};

/// The VLAN that moves, at the first switch.
const ROW: &str = "sas-s0 600 ";

/// Its new network.
const NEW: &str = "2001:db8:0:aaaa::/64";

/// Runs git, without the settings of the user who runs the test; gives what it prints.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.net", "-c", "commit.gpgSign=false"]);
    command.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.stdin(Stdio::null()).output().expect("git is there");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs the binary in a workspace; gives the exit code, what it prints, and its standard error.
pub fn run(workspace: &Path, args: &[&str], envs: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--now", NOW, "-C"]).arg(workspace).env("NO_COLOR", "1").envs(envs.iter().copied());
    let output = command.output().expect("the binary was built for this test");
    let text = |octets| String::from_utf8(octets).expect("UTF-8");
    (output.status.code().expect("it ended by itself"), text(output.stdout), text(output.stderr))
}

/// Plans, as a document.
pub fn plan(workspace: &Path, args: &[&str]) -> Value {
    let (_, text, said) = run(workspace, &[&["plan", "--format", "json", "-q"], args].concat(), &[]);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{said}"))
}

/// Lets ten records of each of three zones drift: some are gone, some others, some under another TTL. Gives which.
fn drift(zones: &mut Files) -> BTreeSet<(String, String)> {
    let mut drifted = BTreeSet::new();
    for text in zones.values_mut() {
        let (mut kept, mut of_zone) = (String::new(), 0);
        for (number, line) in text.lines().enumerate() {
            let parts: Vec<&str> = line.split(' ').collect();
            let [owner, rtype @ ("AAAA" | "PTR"), data] = parts[..] else {
                kept += &format!("{line}\n");
                continue;
            };
            let other = if rtype == "AAAA" { "2001:db8:ffff::1" } else { "other.p0.example.net." };
            kept += &match (number % 4, of_zone) {
                (_, 10..) | (0, _) => {
                    kept += &format!("{line}\n");
                    continue;
                }
                (1, _) => String::new(),
                (2, _) => format!("{owner} {rtype} {other}\n"),
                _ => format!("{owner} 600 {rtype} {data}\n"),
            };
            of_zone += 1;
            drifted.insert((owner.to_owned(), rtype.to_owned()));
        }
        *text = kept;
    }
    drifted
}

/// The content of a folder: names and contents, without those of git.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path)
            } else {
                drop(found.insert(path.display().to_string(), fs::read(&path).expect("a file")))
            }
        }
    }
    found
}

/// A workspace in git on a branch that moves a VLAN, whose DNS drifted; MAC reports are not in git. Gives what drifted,
/// too, and the line of the VLAN.
fn workspace() -> (TempDir, BTreeSet<(String, String)>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fleet = Fleet::new(40, 4, &[60, 40]);
    let mut live = zones(&fleet);
    let drifted = drift(&mut live);
    assert_eq!(drifted.len(), 30);
    let files = files(&fleet);
    write(at, &files);
    write(at, &live);
    fs::write(at.join(".gitignore"), "agents/\nzones/\n").expect("a file");
    git(at, &["init", "-q", "-b", "main"]);
    git(at, &["add", "-A"]);
    git(at, &["commit", "-q", "-m", "as it was"]);
    git(at, &["checkout", "-q", "-b", "branch"]);
    let tors = &files["racktables/l3-tors.txt"];
    let line = tors.lines().position(|line| line.starts_with(ROW)).expect("the row is there");
    let mut lines: Vec<String> = tors.lines().map(str::to_owned).collect();
    lines[line] = format!("{ROW}{NEW}");
    lines.insert(1, "# moved".to_owned());
    fs::write(at.join("racktables/l3-tors.txt"), lines.join("\n") + "\n").expect("a file");
    git(at, &["commit", "-q", "-a", "-m", "move a VLAN"]);
    (folder, drifted, line + 2)
}

/// The causes of a document, each with the owners and types of its changes.
pub fn causes(plan: &Value) -> Vec<(&Value, Vec<(String, String)>)> {
    let list = |value: &'_ Value| value.as_array().expect("a list").clone();
    let changes = list(&plan["changes"]);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let of_cause = |cause: &Value| {
        let places = list(&cause["changes"]);
        let places = places.iter().map(|place| place.as_u64().expect("a number") as usize);
        places.map(|place| (text(&changes[place]["name"]), text(&changes[place]["type"]))).collect()
    };
    let causes = plan["review"]["causes"].as_array().expect("a list");
    causes.iter().map(|cause| (cause, of_cause(cause))).collect()
}

#[test]
fn what_a_moved_vlan_causes_is_told_from_what_drifted_before() {
    let (folder, drifted, line) = workspace();
    let at = folder.path();
    let before = contents(at);
    let held = plan(at, &["--base", "main"]);
    assert_eq!(contents(at), before, "nothing of the working tree or of git is touched");
    assert_eq!(plan(at, &[])["changes"], held["changes"]);
    let (mut caused, mut pending, mut mixed) = (0, 0, 0);
    for (cause, changes) in causes(&held) {
        let class = cause["class"].as_str().expect("a class");
        if class != "pending" {
            assert_eq!(cause["kind"], "network", "{cause}");
            assert_eq!(cause["places"], serde_json::json!([format!("racktables/l3-tors.txt:{line}")]), "{cause}");
            let says = cause["says"].as_str().expect("words");
            assert!(says.starts_with("VLAN 600 of switch `sas-s0` moved from `2001:db8:0:"), "{says}");
            assert!(says.ends_with(&format!("to `{NEW}`")), "{says}");
            assert_eq!(cause["explained"], true);
        }
        for change in changes {
            let has_drifted = drifted.contains(&change);
            match class {
                "caused" => caused += 1,
                "pending" => pending += 1,
                _ => mixed += 1,
            }
            // What drifted is never put down to the branch alone, and only where both met is it both.
            assert_eq!(class != "caused", has_drifted, "{class} {change:?}");
        }
    }
    assert!(caused >= 4 && pending > 20 && mixed >= 1, "{caused} {pending} {mixed}");

    let shown = plan(at, &["--base", "main", "--only-caused"]);
    assert!(causes(&shown).iter().all(|(cause, _)| cause["class"] != "pending"), "{}", shown["review"]);
    let of_both = shown["changes"].as_array().expect("a list").len();
    assert_eq!(of_both, caused + mixed);
}

#[test]
fn a_folder_is_a_base_as_a_revision_is() {
    let (folder, _, _) = workspace();
    let at = folder.path();
    let base = tempfile::tempdir().expect("a folder");
    for file in git(at, &["ls-tree", "-r", "--name-only", "main"]).lines() {
        let text = git(at, &["show", &format!("main:{file}")]);
        let path = base.path().join(file);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let of_revision = plan(at, &["--base", "main"]);
    let of_folder = plan(at, &["--base", base.path().to_str().expect("UTF-8")]);
    assert_eq!(of_revision["review"]["causes"], of_folder["review"]["causes"]);
    assert_eq!(of_revision["review"]["settled"], of_folder["review"]["settled"]);
    assert_eq!(of_revision["review"]["against"]["commit"], git(at, &["rev-parse", "main"]).trim_end());
}

#[test]
fn with_itself_for_a_base_a_workspace_causes_nothing() {
    let (folder, _, _) = workspace();
    let at = folder.path();
    for base in ["HEAD", at.to_str().expect("UTF-8")] {
        let held = plan(at, &["--base", base]);
        assert!(causes(&held).iter().all(|(cause, _)| cause["class"] == "pending"), "{base}: {}", held["review"]);
        let shown = plan(at, &["--base", base, "--only-caused"]);
        assert_eq!(shown["changes"], serde_json::json!([]));
    }
}

#[test]
fn the_repository_of_a_hook_does_not_mislead() {
    let (folder, _, _) = workspace();
    let at = folder.path();
    let other = tempfile::tempdir().expect("a folder");
    git(other.path(), &["init", "-q", "-b", "main"]);
    let dir = other.path().join(".git").display().to_string();
    let args = ["plan", "--format", "json", "-q", "--base", "main"];
    let index = other.path().join("index").display().to_string();
    let envs = [("GIT_DIR", dir.as_str()), ("GIT_WORK_TREE", "/"), ("GIT_INDEX_FILE", &index)];
    let (_, alone, _) = run(at, &args, &[]);
    let (_, of_hook, said) = run(at, &args, &envs);
    assert_eq!(alone, of_hook, "{said}");
}

#[test]
fn after_an_apply_what_drifted_is_drift_and_a_moved_vlan_is_told_against_the_accepted_export() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fleet = Fleet::new(40, 4, &[60, 40]);
    write(at, &files(&fleet));
    write(
        at,
        &fleet
            .zones(&Default::default())
            .into_iter()
            .map(|(apex, text)| (format!("zones/{apex}.zone"), text))
            .collect(),
    );
    let (code, text, said) = run(at, &["apply", "--yes"], &[]);
    assert_eq!(code, 0, "{text}{said}");
    let mut zones: Files = zones(&fleet)
        .into_keys()
        .map(|name| (name.clone(), fs::read_to_string(at.join(name)).expect("a zone")))
        .collect();
    let gone = "sas-00001.p0.example.net.";
    let of_p0 = zones.get_mut("zones/p0.example.net.zone").expect("a zone");
    let is_gone = |line: &str| {
        line.split_whitespace().next().is_some_and(|owner| gone.starts_with(owner) && owner.starts_with("sas-00001"))
    };
    assert!(of_p0.lines().any(is_gone), "{of_p0}");
    *of_p0 = of_p0.lines().filter(|line| !is_gone(line)).map(|line| format!("{line}\n")).collect();
    write(at, &zones);

    let alone = plan(at, &[]);
    let kinds: Vec<(&Value, usize)> =
        causes(&alone).into_iter().map(|(cause, changes)| (&cause["kind"], changes.len())).collect();
    assert_eq!(kinds, [(&Value::from("drift"), 1)], "{}", alone["review"]);

    let tors = fs::read_to_string(at.join("racktables/l3-tors.txt")).expect("a file");
    let row = tors.lines().find(|line| line.starts_with("myt-s1 600 ")).expect("a row").to_owned();
    fs::write(at.join("racktables/l3-tors.txt"), tors.replace(&row, &format!("myt-s1 600 {NEW}"))).expect("a file");
    let moved = plan(at, &[]);
    let old = row.rsplit(' ').next().expect("a network");
    let says: Vec<(&Value, &Value, &Value)> =
        causes(&moved).into_iter().map(|(cause, _)| (&cause["kind"], &cause["says"], &cause["class"])).collect();
    let words = Value::from(format!("VLAN 600 of switch `myt-s1` moved from `{old}` to `{NEW}`"));
    assert!(says.contains(&(&Value::from("network"), &words, &Value::Null)), "{says:?}");
    assert!(says.iter().any(|(kind, ..)| *kind == "drift") && says.len() == 2, "{says:?}");
}
