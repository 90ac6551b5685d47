//! A person changes by `nsupdate` what an apply wrote: the plan says so, and keeps it where the project says so.

use std::collections::BTreeSet;

use crate::rig::{Edit, Planned, Rig, Zone, quiet_in, resume_in, text_of};
use crate::server::Kind;
use crate::workspace::edit;

on_every_primary! {
    hand_edits_are_told_put_back_or_kept
    hand_edits_are_told_without_a_fence
    what_zonewright_did_itself_is_no_hand_edit
}

/// The RRsets that a plan says were edited since, with what it names as evidence.
fn edited(plan: &Planned) -> Vec<(String, String, String)> {
    let changes = plan.document["changes"].as_array().expect("a list").iter();
    let mut found = Vec::new();
    for change in changes {
        let text = |key: &str| change[key].as_str().expect("text").to_owned();
        for reason in change["reasons"].as_array().expect("a list") {
            if reason["rule"] == "edited-since" {
                found.push((text("name"), text("type"), reason["evidence"][0].as_str().expect("text").to_owned()));
            }
        }
    }
    found
}

/// The RRsets of the notices about edits.
fn kept(plan: &Planned) -> BTreeSet<String> {
    let notices = plan.document["notices"].as_array().expect("a list").iter();
    let edits = notices.filter(|notice| notice["code"] == "edited-since");
    edits.map(|notice| notice["name"].as_str().expect("text").to_owned()).collect()
}

/// What a person does to four hosts: another address, another TTL, nothing left, another pointer.
fn by_hand(rig: &Rig, plan: &Planned) -> Vec<Edit> {
    // The policies of these projects put everything back.
    let is_of = |change: &Edit| ["cloud.", "search.", "0.0.8.b."].iter().any(|start| change.zone.starts_with(start));
    let is_fit = |change: &Edit| {
        let alone = change.host.is_some_and(|host| plan.unit(host).len() == 1);
        alone && is_of(change) && change.after.len() == 1
    };
    let mut hosts: BTreeSet<u64> = BTreeSet::new();
    let mut edits = Vec::new();
    for (rtype, kind) in [("AAAA", "address"), ("AAAA", "ttl"), ("AAAA", "gone"), ("PTR", "pointer")] {
        let fits = |change: &Edit| change.rtype == rtype && is_fit(change) && change.hosts.is_disjoint(&hosts);
        let found = plan.changes().into_iter().find(fits).unwrap_or_else(|| panic!("no host for {kind}"));
        hosts.extend(found.host);
        let name = &found.name;
        let line = found.after.first().expect("it has one").clone();
        let (ttl, rdata) = (line.split(' ').nth(1).expect("a TTL"), line.rsplit(' ').next().expect("its data"));
        let add = match kind {
            "address" => format!("update add {name} {ttl} AAAA 2001:db8::bad\n"),
            "ttl" => format!("update add {name} 77 AAAA {rdata}\n"),
            "gone" => String::new(),
            _ => format!("update add {name} {ttl} PTR somebody-elses.example.net.\n"),
        };
        rig.nsupdate(&found.zone, &format!("update delete {name} {rtype}\n{add}"));
        edits.push(found);
    }
    edits
}

/// The records of the zones, without markers and serials.
fn records(rig: &Rig) -> BTreeSet<String> {
    let zones = rig.all_zones();
    let lines = zones.values().flat_map(|Zone { records, .. }| records.iter().cloned());
    lines.filter(|line| !line.contains(" SOA ") && !line.starts_with("_zonewright.")).collect()
}

/// Lets the projects of the workspace keep edits, or not.
fn keep_edits(rig: &Rig, keeps: bool) {
    let file = rig.workspace.path().join("zonewright.toml");
    let text = std::fs::read_to_string(&file).expect("the settings");
    let text = text.replace("keep_edits = true\n", "");
    let line = "automation = \"allowed\"\n";
    assert!(text.contains(line));
    let text = if keeps { text.replace(line, &format!("{line}keep_edits = true\n")) } else { text };
    std::fs::write(&file, text).expect("the settings");
}

/// Plans by the command line; gives the exit code.
fn detailed(rig: &Rig) -> Option<i32> {
    let mut command = quiet_in(rig.workspace.path());
    command.args(["plan", "--detailed-exitcode"]).output().expect("the program runs").status.code()
}

/// Through plan, apply and a second run, with and without the setting.
fn hand_edits_are_told_put_back_or_kept(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    assert_told_put_back_or_kept(&rig);
}

/// The same without markers.
fn hand_edits_are_told_without_a_fence(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    rig.set_zones("fence = \"none\"");
    assert_told_put_back_or_kept(&rig);
}

/// Edits four hosts, keeps them, then puts them back.
fn assert_told_put_back_or_kept(rig: &Rig) {
    let first = rig.plan();
    rig.apply(&first, &[]).assert_all(0, "applied");
    let done = records(rig);
    assert!(rig.plan().changes().is_empty());
    let edits = by_hand(rig, &first);
    let names: BTreeSet<String> = edits.iter().map(|own| own.name.clone()).collect();
    let edited_records = records(rig);
    assert_ne!(edited_records, done);

    keep_edits(rig, true);
    for _ in 0..2 {
        let plan = rig.plan();
        assert!(plan.changes().is_empty(), "{:?}", plan.changes());
        assert_eq!(kept(&plan), names);
        assert_eq!(detailed(rig), Some(0));
        let applied = rig.apply(&plan, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        assert_eq!(records(rig), edited_records);
    }

    keep_edits(rig, false);
    let plan = rig.plan();
    assert!(kept(&plan).is_empty());
    let told = edited(&plan);
    assert_eq!(told.iter().map(|(name, ..)| name.clone()).collect::<BTreeSet<_>>(), names);
    assert!(told.iter().all(|(.., evidence)| evidence.starts_with("apply:1:")), "{told:?}");
    assert_eq!(plan.changes().len(), names.len(), "{:?}", plan.changes());
    assert_eq!(detailed(rig), Some(2));
    rig.apply(&plan, &[]).assert_all(0, "applied");
    assert_eq!(records(rig), done);
    assert!(rig.plan().changes().is_empty());
}

/// Applies of which hosts were stale, undo, the next apply, an apply to other networks: no plan has `edited-since`, except
/// for what another editor did.
fn what_zonewright_did_itself_is_no_hand_edit(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let workspace = rig.workspace.path();
    let told = |what: &str| {
        let plan = rig.plan();
        assert!(edited(&plan).is_empty(), "{what}: {:?}", edited(&plan));
        plan
    };
    let first = told("before the first apply");
    // Another editor comes in between: the host is stale, and no apply wrote its RRsets.
    let stale = first.changes().into_iter().find(|change| change.rtype == "AAAA" && change.before.is_empty());
    let stale = stale.expect("an address is new");
    rig.nsupdate(&stale.zone, &format!("update add {} 60 AAAA 2001:db8::bad", stale.name));
    let applied = rig.apply(&first, &[]);
    assert!(!applied.hosts("stale").is_empty(), "{}", applied.said());
    let second = told("after an apply in which a host was stale");
    rig.apply(&second, &[]).assert_all(0, "applied");
    assert!(told("after the second apply").changes().is_empty());
    assert_eq!(resume_in(workspace).exit, Some(0));
    for apply in ["2", "1"] {
        let output = quiet_in(workspace).args(["undo", apply, "--yes"]).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{}", text_of(&output.stdout));
        assert!(!told("after an undo").changes().is_empty());
    }
    let last = told("after all were undone");
    rig.apply(&last, &[]).assert_all(0, "applied");
    assert!(told("after the last apply").changes().is_empty());
    edit(workspace, "ttl = 1800\n", "ttl = 1801\n");
    let retimed = told("after a setting changed");
    assert!(!retimed.changes().is_empty());
    let before = rig.all_zones();
    rig.apply(&retimed, &["--allow", "zone:cloud.example.net./max_modify=18"]).assert_all(0, "applied");
    assert!(told("after the apply of that").changes().is_empty());
    // The zones come back from an older copy, their markers too: that is no edit of single records.
    rig.restore(&rig.all_zones(), &before);
    assert!(!told("after a restore").changes().is_empty());
}
