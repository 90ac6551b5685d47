//! One fleet, as our own exports and as NetBox and RackTables write it, gives one plan; only its evidence differs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The cases whose workspaces hold the fleet of `_base` as another system writes it.
const SAME: [&str; 4] = ["netbox-json", "netbox-json-3-7", "netbox-csv", "racktables-mysql"];

/// The folder of the cases.
fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Copies all files of a folder over those of another.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the folder is there") {
        let path = entry.expect("the entry can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            fs::create_dir_all(&target).expect("a folder can be made");
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file can be copied");
        }
    }
}

/// Makes the one edit that the cases have: lines of zonewright.toml in place of others.
fn edit(edits: &str, settings: &Path) {
    let mut text = fs::read_to_string(settings).expect("the settings can be read");
    let mut old = Vec::new();
    let mut lines = edits.lines().filter(|line| !line.starts_with('@')).peekable();
    while let Some(line) = lines.next() {
        let (sign, line) = line.split_at(2);
        match sign {
            "- " => old.push(line),
            _ => {
                let mut new = vec![line];
                while let Some(next) = lines.next_if(|next| next.starts_with('+')) {
                    new.push(&next[2..]);
                }
                let old = std::mem::take(&mut old).join("\n");
                assert!(text.contains(&old), "{old}");
                text = text.replace(&old, &new.join("\n"));
            }
        }
    }
    fs::write(settings, text).expect("the settings can be written");
}

/// The plan of a workspace whose zones are still empty.
fn plan(workspace: &Path) -> Value {
    for entry in fs::read_dir(workspace.join("zones")).expect("there are zones") {
        let zone = entry.expect("the entry can be read").path();
        let text = fs::read_to_string(&zone).expect("the zone can be read");
        let kept = text.lines().filter(|line| !line.contains("AAAA") && !line.contains("PTR"));
        fs::write(&zone, kept.collect::<Vec<_>>().join("\n") + "\n").expect("the zone can be written");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(["plan", "--format", "json", "-q", "--now", "2026-11-20T02:00:00Z", "-C"])
        .arg(workspace)
        .output()
        .expect("the binary was built for this test");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A plan without its causes, and without what exports say of a host beyond its name: not all of them know racks.
fn without_evidence(mut plan: Value) -> Value {
    for key in ["id", "inputs", "created", "expires", "hosts", "review", "sources"] {
        plan.as_object_mut().expect("a plan is an object").remove(key);
    }
    for change in plan["changes"].as_array_mut().expect("changes are a list") {
        for reason in change["reasons"].as_array_mut().expect("reasons are a list") {
            reason["evidence"] = Value::Null;
        }
    }
    plan
}

/// Makes the workspace of a case.
fn workspace(case: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&cases().join("_base"), folder.path());
    if case != "_base" {
        copy(&cases().join(case).join("inventory"), folder.path());
        let edits = fs::read_to_string(cases().join(case).join("edits")).expect("the case has edits");
        edit(&edits, &folder.path().join("zonewright.toml"));
    }
    folder
}

/// Makes the plan of a case.
fn plan_of(case: &str) -> (Value, tempfile::TempDir) {
    let folder = workspace(case);
    (plan(folder.path()), folder)
}

#[test]
fn the_same_fleet_gives_the_same_plan() {
    let (own, _) = plan_of("_base");
    assert!(own["changes"].as_array().is_some_and(|changes| changes.len() > 6), "{own:#}");
    let own = without_evidence(own);
    for case in SAME {
        assert_eq!(without_evidence(plan_of(case).0), own, "{case}");
    }
}

#[test]
fn evidence_on_a_line_of_many_rows_names_the_column() {
    let (plan, folder) = plan_of("netbox-json");
    let mut count = 0;
    let changes = plan["changes"].as_array().expect("changes are a list").iter();
    let reasons = changes.flat_map(|change| change["reasons"].as_array().expect("reasons are a list"));
    for place in reasons.flat_map(|reason| reason["evidence"].as_array().expect("evidence is a list")) {
        let place = place.as_str().expect("a place is text");
        let Some((file, place)) = place.split_once(".json:") else { continue };
        let (line, col) = place.split_once(':').expect("line and column");
        let text = fs::read_to_string(folder.path().join(format!("{file}.json"))).expect("the file can be read");
        let col: usize = col.parse().expect("a number");
        assert_eq!((line, text[col - 1..].starts_with("{\"id\":")), ("1", true), "{place}");
        count += 1;
    }
    assert!(count > 3, "{count}");
}

#[test]
fn a_finding_is_about_the_row_that_it_stands_in() {
    for (case, place) in [("netbox-json", "netbox/devices.json:1:"), ("netbox-json-3-7", "netbox/devices.json:107 ")] {
        let folder = workspace(case);
        let file = folder.path().join("netbox/devices.json");
        let text = fs::read_to_string(&file).expect("the file can be read");
        let mut count = 0;
        let parts = text.split("\"active\"").map(str::to_owned);
        let text = parts.reduce(|before, behind| {
            count += 1;
            format!("{before}\"gone{count}\"{behind}")
        });
        fs::write(&file, text.expect("there is a status")).expect("the file can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["explain", "102", "--now", "2026-11-20T02:00:00Z", "-C"])
            .arg(folder.path())
            .output()
            .expect("the binary was built for this test");
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(said.contains(place) && said.contains("`gone2`"), "{said}");
        assert!(!said.contains("`gone1`") && !said.contains("`gone3`"), "{said}");
    }
}
