//! Causes of changes after applies: edits of others are distinguished from the inventory and our own applies.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::fleet::Fleet;
use crate::git::{causes, plan, run};
use crate::world::{EXPORTED, files, with_registry, write, zones};

/// A workspace whose live DNS was right before the apply that did nothing but a few changes.
struct Applied(TempDir);

impl Applied {
    /// Applies once, with the name of one host missing.
    fn new() -> Applied {
        Applied::of(&fleet())
    }

    /// The same of a fleet.
    fn of(fleet: &Fleet) -> Applied {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &files(fleet));
        let mut live = with_registry(&zones(fleet));
        remove(live.get_mut(ZONE).expect("a zone"), "sas-00001");
        write(folder.path(), &live);
        let applied = Applied(folder);
        applied.run(&["apply", "--yes"]);
        applied
    }

    /// The folder.
    fn at(&self) -> &Path {
        self.0.path()
    }

    /// Runs the binary, which succeeds.
    fn run(&self, args: &[&str]) {
        let (code, text, said) = run(self.at(), args, &[]);
        assert_eq!(code, 0, "{text}{said}");
    }

    /// Changes a file.
    fn edit(&self, name: &str, change: impl FnOnce(&mut String)) {
        let path = self.at().join(name);
        let mut text = fs::read_to_string(&path).expect("a file");
        change(&mut text);
        fs::write(path, text).expect("a file");
    }

    /// The causes of the plan's changes.
    fn told(&self) -> Vec<(String, String)> {
        let plan = plan(self.at(), &[]);
        if plan["review"].is_null() {
            return Vec::new();
        }
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        causes(&plan).into_iter().map(|(cause, _)| (text(&cause["kind"]), text(&cause["says"]))).collect()
    }
}

/// A fleet whose records are all own.
fn fleet() -> Fleet {
    let mut fleet = Fleet::new(10, 4, &[60, 40]);
    fleet.settings.top = "registry = \"noop\"".to_owned();
    fleet
}

/// The zone of the first project.
const ZONE: &str = "zones/p0.example.net.zone";

/// Removes the addresses of a name, in its project's zone.
fn remove(zone: &mut String, name: &str) {
    let is_left = |line: &&str| !(line.starts_with(name) && line.contains("AAAA"));
    *zone = zone.lines().filter(is_left).map(|line| format!("{line}\n")).collect();
}

/// Gives the first host the MAC of the second.
fn share_mac(reports: &mut String) {
    let mac = |line: &str| line.split("\"mac\":\"").nth(1).expect("a MAC")[..17].to_owned();
    let macs: Vec<String> = reports.lines().take(2).map(mac).collect();
    *reports = reports.replacen(&macs[0], &macs[1], 1);
}

#[test]
fn what_others_did_is_drift_be_it_written_by_an_apply_or_not() {
    let applied = Applied::new();
    assert_eq!(applied.told(), []);
    applied.edit(ZONE, |zone| remove(zone, "sas-00001"));
    let outside = "drift: changed outside zonewright since apply 1 (records of `p0`)";
    let told = [("drift".to_owned(), outside.to_owned())];
    assert_eq!(applied.told(), told);
    applied.edit(ZONE, |zone| remove(zone, "sas-00004"));
    assert_eq!(applied.told(), told);
    // Other exports that have nothing to do with it change nothing about that.
    applied.edit("agents/agent-1.jsonl", |text| *text = text.replace("01:00:00Z", "01:00:01Z"));
    assert_eq!(applied.told(), told);
}

#[test]
fn what_an_export_brings_about_is_no_drift() {
    let applied = Applied::new();
    // What a person accepted since was not what the apply went by.
    let tors = "racktables/l3-tors.txt";
    applied.edit(tors, |text| {
        let row = text.lines().find(|line| line.contains(" 600 ")).expect("a row").to_owned();
        let (start, _) = row.rsplit_once(' ').expect("a network");
        *text = text.replace(&row, &format!("{start} 2001:db8:0:aaaa::/64"));
    });
    assert!(applied.told().iter().all(|(kind, _)| kind == "network"), "{:?}", applied.told());
    applied.run(&["accept", "l3_tors", "--reason", "it is right"]);
    let told = applied.told();
    assert!(!told.is_empty() && told.iter().all(|(kind, _)| kind != "drift"), "{told:?}");
}

#[test]
fn a_host_that_an_apply_of_some_hosts_published_is_not_new_when_it_moves() {
    let mut fleet = fleet();
    let switch = fleet.add_switch(0, true);
    let applied = Applied::of(&fleet);
    let inv = fleet.add_host(0, 0);
    write(applied.at(), &fleet.exports(EXPORTED).into_iter().collect());
    assert!(applied.told().iter().all(|(kind, _)| kind == "new-host"), "{:?}", applied.told());
    applied.run(&["apply", "--yes", "--host", &inv.to_string()]);
    assert_eq!(applied.told(), []);
    // The exports of an apply of some hosts are not accepted, so that the accepted ones still lack the host.
    fleet.hosts.get_mut(&inv).expect("the host").switch = switch;
    write(applied.at(), &fleet.exports(EXPORTED).into_iter().collect());
    let told = applied.told();
    assert!(!told.is_empty() && told.iter().all(|(kind, _)| kind == "network"), "{told:?}");
}

#[test]
fn what_an_undo_brought_back_is_no_drift() {
    let applied = Applied::new();
    applied.run(&["undo", "1", "--yes"]);
    let told = applied.told();
    assert!(!told.is_empty() && told.iter().all(|(kind, _)| kind != "drift"), "{told:?}");
}

#[test]
fn what_another_row_held_up_is_no_drift() {
    let applied = Applied::new();
    // Two hosts have one MAC, and are blocked.
    let mut before = String::new();
    applied.edit("agents/agent-1.jsonl", |text| {
        before.clone_from(text);
        share_mac(text);
    });
    applied.edit(ZONE, |zone| {
        remove(zone, "sas-00002");
        remove(zone, "sas-00004");
    });
    applied.run(&["apply", "--yes"]);
    applied.edit("agents/agent-1.jsonl", |text| *text = before);
    let told = applied.told();
    assert!(!told.is_empty() && told.iter().all(|(kind, _)| kind != "drift"), "{told:?}");
}

#[test]
fn a_base_that_goes_by_the_journal_knows_what_is_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = tempfile::tempdir().expect("a folder");
    let fleet = Fleet::new(10, 4, &[60, 40]);
    let mut files = files(&fleet);
    let settings = files.get_mut("zonewright.toml").expect("settings");
    *settings = settings.replace("permission = \"full\"", "permission = \"own\"");
    write(base.path(), &files);
    write(folder.path(), &files);
    let empty = fleet.zones(&Default::default()).into_iter();
    write(folder.path(), &empty.map(|(apex, text)| (format!("zones/{apex}.zone"), text)).collect());
    let applied = Applied(folder);
    applied.run(&["apply", "--yes"]);
    applied.edit(ZONE, |zone| *zone = zone.replace("AAAA 2001:db8:0:11:", "AAAA 2001:db8:0:ffff:"));
    applied.edit("zonewright.toml", |text| *text = format!("registry = \"noop\"\n{text}"));
    let held = plan(applied.at(), &["--base", base.path().to_str().expect("UTF-8")]);
    let classes: Vec<&Value> = causes(&held).into_iter().map(|(cause, _)| &cause["class"]).collect();
    assert!(!classes.is_empty() && classes.iter().all(|class| *class == "pending"), "{}", held["review"]);
}
