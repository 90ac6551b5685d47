//! An undo restores what an apply changed, and leaves what another editor changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::apply_round::fleet;
use crate::relay::{Fate, Relay};
use crate::rig::{Applied, Edit, Planned, Rig, Zone, apply_command, folded, key_of, marker_name, quiet_in, text_of};
use crate::server::Kind;
use crate::workspace::edit;

on_every_primary! {
    what_an_apply_did_is_put_back_to_the_last_record
    without_a_fence_what_an_apply_did_is_put_back
    what_was_edited_since_is_kept_and_named_and_the_others_are_put_back
    an_undo_can_be_undone_and_a_saved_one_is_applied_like_any_plan
    what_is_own_by_the_journal_is_what_it_was
    an_apply_that_was_killed_is_undone_but_not_while_it_is_at_work
}

#[test]
fn a_ptr_that_stays_keeps_its_capitals_in_bind() {
    assert_keeps_capitals(Kind::Bind);
}

#[test]
fn a_ptr_that_stays_keeps_its_capitals_in_ours() {
    assert_keeps_capitals(Kind::Serve);
}

/// The apply removes one PTR of an RRset, and the undo adds it again; the other one has capitals all the time.
fn assert_keeps_capitals(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let is_fit = |change: &Edit| change.rtype == "PTR" && change.before.len() == 2 && change.after.len() == 1;
    let change = rig.plan().changes().into_iter().find(is_fit).expect("the demo has one");
    let stays = change.after.first().expect("one stays");
    let goes = change.before.difference(&change.after).next().expect("one goes");
    let (head, target) = stays.rsplit_once(' ').expect("a line ends in its data");
    let capitals = target.to_ascii_uppercase();
    rig.nsupdate(&change.zone, &format!("update delete {stays}\n"));
    rig.nsupdate(&change.zone, &format!("update add {head} {capitals}\n"));
    let pointers = || -> BTreeSet<String> {
        let output = rig.other("dig").args(["+short", &change.name, "PTR"]).output().expect("dig runs");
        text_of(&output.stdout).lines().map(str::to_owned).collect()
    };
    let both = BTreeSet::from([capitals.clone(), goes.rsplit(' ').next().expect("its data").to_owned()]);
    assert_eq!(pointers(), both);

    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    assert_eq!(pointers(), BTreeSet::from([capitals]));
    applied(undo(&rig, &["1", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(pointers(), both);
}

/// Markers, registry in TXT, all policies, hosts that share changes, orphans.
fn what_an_apply_did_is_put_back_to_the_last_record(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    assert_put_back(&rig, str::to_owned);
}

/// The same without markers.
fn without_a_fence_what_an_apply_did_is_put_back(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    rig.set_zones("fence = \"none\"");
    assert_put_back(&rig, str::to_owned);
}

/// Applies and undoes: the zones are as before, each record as `read` reads it, and so is the next plan.
fn assert_put_back(rig: &Rig, read: fn(&str) -> String) {
    let all = |rig: &Rig| -> BTreeSet<String> { records(rig).values().flatten().map(|line| read(line)).collect() };
    let before = all(rig);
    let plan = rig.plan();
    rig.apply(&plan, &[]).assert_all(0, "applied");
    let changed = all(rig);
    assert_ne!(changed, before);

    let shown = undo(rig, &["1", "--format", "json"]);
    assert_inverse(&plan, &document(&shown, 1));
    assert_eq!(all(rig), changed, "what is only shown changes nothing");

    let undone = applied(undo(rig, &["1", "--format", "json", "--yes"]));
    undone.assert_all(0, "applied");
    assert_eq!(undone.document["apply"], 2, "{}", undone.said());
    let after = all(rig);
    let differs: Vec<_> = before.symmetric_difference(&after).take(5).collect();
    assert!(differs.is_empty(), "{differs:#?}");
    assert_decides(&rig.plan(), &plan);

    let again = undo(rig, &["1"]);
    assert_eq!(again.status.code(), Some(0));
    let said = text_of(&again.stdout);
    assert!(said.starts_with("No changes: apply 1 needs no undo.\n"), "{said}");
    let empty = document(&undo(rig, &["1", "--format", "json"]), 0);
    assert_eq!((&empty["changes"], &empty["notices"]), (&Value::Array(Vec::new()), &Value::Array(Vec::new())));
}

/// The edits: another address, and only another TTL.
fn what_was_edited_since_is_kept_and_named_and_the_others_are_put_back(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let before = records(&rig);
    let plan = rig.plan();
    rig.apply(&plan, &[]).assert_all(0, "applied");
    let changed = records(&rig);
    let is_fit = |change: &&Edit| {
        let alone = change.host.is_some_and(|host| plan.unit(host).len() == 1);
        alone && change.rtype == "AAAA" && change.after.len() == 1
    };
    let mut fit = plan.changes().into_iter().filter(|change| is_fit(&change));
    let (first, second) = (fit.next().expect("one host"), fit.find(|other| other.before.is_empty()).expect("another"));
    assert_ne!(first.host, second.host);
    let line = second.after.first().expect("it has one");
    let rdata = line.rsplit(' ').next().expect("it ends in its address");
    for (change, ttl, rdata) in [(&first, 60, "2001:db8::bad"), (&second, 77, rdata)] {
        let name = &change.name;
        let lines = format!("update delete {name} AAAA\nupdate add {name} {ttl} AAAA {rdata}\n");
        rig.nsupdate(&change.zone, &lines);
    }
    let edited = records(&rig);
    let left: BTreeSet<u64> = [&first, &second].iter().filter_map(|change| change.host).collect();

    let shown = document(&undo(&rig, &["1", "--format", "json"]), 1);
    let named: BTreeSet<(&str, u64)> = notices(&shown, "edited-since");
    let expected = [&first, &second].map(|change| (change.name.as_str(), change.host.expect("it is no orphan")));
    assert_eq!(named, BTreeSet::from(expected));
    applied(undo(&rig, &["1", "--format", "json", "--yes"])).assert_all(0, "applied");

    let touched = |of: &dyn Fn(&Edit) -> bool| -> BTreeSet<(String, String)> {
        plan.changes().iter().filter(|change| of(change)).map(Edit::key).collect()
    };
    let kept = touched(&|change| !change.hosts.is_disjoint(&left));
    let now = records(&rig);
    for (zone, found) in &now {
        let of = |records: &BTreeSet<String>, is_kept: bool| -> BTreeSet<String> {
            records.iter().filter(|line| kept.contains(&key_of(line)) == is_kept).cloned().collect()
        };
        assert_eq!(of(found, true), of(&edited[zone], true), "{zone}: hosts that are left");
        assert_eq!(of(found, false), of(&before[zone], false), "{zone}: all others");
    }
    assert_ne!(edited, changed);

    // What is left is named again; where it is restored by hand, it is undone, too.
    let page = text_of(&undo(&rig, &["1", "--yes"]).stdout);
    assert!(page.starts_with("No changes: what is left of apply 1 was edited since, see the notices."), "{page}");
    let name = &first.name;
    let ttl = first.after.first().and_then(|line| line.split(' ').nth(1)).expect("a line has a TTL");
    let rdata = first.after.first().and_then(|line| line.rsplit(' ').next()).expect("a line has RDATA");
    rig.nsupdate(&first.zone, &format!("update delete {name} AAAA\nupdate add {name} {ttl} AAAA {rdata}\n"));
    let last = applied(undo(&rig, &["1", "--format", "json", "--yes"]));
    last.assert_all(0, "applied");
    assert_eq!(last.hosts("applied"), BTreeSet::from_iter(first.host));
}

/// By a file, and narrowed to a host.
fn an_undo_can_be_undone_and_a_saved_one_is_applied_like_any_plan(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let before = records(&rig);
    let plan = rig.plan();
    rig.apply(&plan, &[]).assert_all(0, "applied");
    let changed = records(&rig);

    let file = rig.workspace.path().join("undo.json");
    let path = file.display().to_string();
    let saved = undo(&rig, &["1", "--out", &path, "--format", "json"]);
    let planned = Planned { document: document(&saved, 0), file };
    assert_eq!(records(&rig), changed, "what is saved changes nothing");
    rig.apply(&planned, &[]).assert_all(0, "applied");
    assert_eq!(records(&rig), before);
    rig.apply(&planned, &[]).assert_all(0, "already-applied");

    // The exports may be broken: the undo is needed because of them.
    std::fs::remove_dir_all(rig.workspace.path().join("racktables")).expect("the exports");
    applied(undo(&rig, &["2", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), changed);

    let hosts: BTreeSet<u64> = plan.changes().iter().filter_map(|change| change.host).collect();
    let one = hosts.into_iter().find(|host| plan.unit(*host).len() == 1).expect("one that shares nothing");
    let narrowed = applied(undo(&rig, &["3", "--host", &one.to_string(), "--format", "json", "--yes"]));
    narrowed.assert_all(0, "applied");
    assert_eq!(narrowed.hosts("applied"), BTreeSet::from([one]));
    applied(undo(&rig, &["4", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), changed);
    // Apply 2 undid apply 1, and apply 3 did the same again: DNS is as 1 left it.
    applied(undo(&rig, &["1", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), before);
}

/// With the registry in the journal only the state knows what is own.
fn what_is_own_by_the_journal_is_what_it_was(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    edit(rig.workspace.path(), "registry = \"txt\"", "registry = \"journal\"");
    let (before, first) = (records(&rig), rig.plan());
    rig.apply(&first, &[]).assert_all(0, "applied");
    let (changed, second) = (records(&rig), rig.plan());

    applied(undo(&rig, &["1", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), before);
    assert_decides(&rig.plan(), &first);

    applied(undo(&rig, &["2", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), changed);
    assert_decides(&rig.plan(), &second);

    applied(undo(&rig, &["3", "--format", "json", "--yes"])).assert_all(0, "applied");
    assert_eq!(records(&rig), before);
    assert_decides(&rig.plan(), &first);
}

/// A random fleet, dense in trouble, on every kind of server; its registry is in the journal or in TXT.
#[test]
fn a_fleet_is_put_back_to_the_last_record() {
    for (kind, seed, registry) in [(Kind::Bind, 2, "txt"), (Kind::Knot, 3, "journal"), (Kind::PowerDns, 6, "journal")] {
        let Some(fleet) = fleet(seed, registry) else { return };
        let Some(rig) = Rig::of_files(kind, fleet.path()) else { continue };
        // The journal and plans do not keep capital letters in names.
        assert_put_back(&rig, folded);
    }
}

/// When it dies, some updates took effect and were answered, others took effect, and others never arrived.
fn an_apply_that_was_killed_is_undone_but_not_while_it_is_at_work(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    edit(rig.workspace.path(), "registry = \"txt\"", "registry = \"journal\"");
    let (sender, third) = mpsc::sync_channel(100);
    let relay = Relay::start(&rig.server.address(), move |update| match update {
        1 => Fate::Passes,
        2 => Fate::AnswerSwallowed,
        _ => {
            let _ = sender.send(update);
            Fate::Held
        }
    });
    rig.go_through(&relay.address());
    let (before, plan) = (records(&rig), rig.plan());
    let mut command = apply_command(rig.workspace.path(), &plan.file, &[]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    third.recv_timeout(Duration::from_secs(60)).expect("there are three updates");
    let refused = undo(&rig, &["1"]);
    child.kill().expect("it waits for an answer");
    child.wait().expect("a child");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text_of(&refused.stderr).contains("error: apply 1 is running"), "{}", text_of(&refused.stderr));

    edit(rig.workspace.path(), &relay.address(), &rig.server.address());
    let half = records(&rig);
    assert_ne!(half, before);
    for (id, expected) in [("1", &before), ("2", &half), ("3", &before)] {
        applied(undo(&rig, &[id, "--format", "json", "--yes"])).assert_all(0, "applied");
        assert_eq!(records(&rig), *expected);
    }
    assert_decides(&rig.plan(), &plan);
}

/// Runs `undo`.
fn undo(rig: &Rig, args: &[&str]) -> Output {
    quiet_in(rig.workspace.path()).arg("undo").args(args).output().expect("the program runs")
}

/// The result of an undo that was applied.
fn applied(output: Output) -> Applied {
    Applied::new(output)
}

/// The plan that was printed by a command that ended with this exit code.
fn document(output: &Output, exit: i32) -> Value {
    assert_eq!(output.status.code(), Some(exit), "{}", text_of(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text_of(&output.stdout)))
}

/// The records of all zones without serials and markers.
fn records(rig: &Rig) -> BTreeMap<String, BTreeSet<String>> {
    let rest = |(zone, Zone { mut records, .. }): (String, Zone)| {
        let marker = (marker_name(&zone), "TXT".to_owned());
        records.retain(|line| key_of(line) != marker);
        (zone, records)
    };
    rig.all_zones().into_iter().map(rest).collect()
}

/// Checks that a plan undoes all of another.
fn assert_inverse(plan: &Planned, undo: &Value) {
    assert_eq!(undo["undoes"], 1);
    assert_eq!(undo["notices"], Value::Array(Vec::new()));
    let sides = |document: &Value, before: &str, after: &str| -> BTreeSet<String> {
        let changes = document["changes"].as_array().expect("a list");
        let line = |change: &Value| {
            let part = |key: &str| change[key].to_string();
            [part("zone"), part("name"), part("type"), part("subject"), part("also"), part(before), part(after)]
                .join(" ")
        };
        changes.iter().map(line).collect()
    };
    assert_eq!(sides(undo, "before", "after"), sides(&plan.document, "after", "before"));
    for change in undo["changes"].as_array().expect("a list") {
        let reasons = change["reasons"].as_array().expect("a list");
        let evidence = reasons[0]["evidence"][0].as_str().expect("text");
        assert!(reasons.len() == 1 && reasons[0]["rule"] == "undo" && evidence.starts_with("apply:1:"), "{change:#}");
    }
}

/// Checks that two plans decide the same, whatever the zones' serials.
fn assert_decides(plan: &Planned, expected: &Planned) {
    for key in ["effect", "changes", "blocked", "skipped", "notices"] {
        assert_eq!(plan.document[key], expected.document[key], "{key}");
    }
}

/// The names and hosts of the notices with a code.
fn notices<'d>(document: &'d Value, code: &str) -> BTreeSet<(&'d str, u64)> {
    let notices = document["notices"].as_array().expect("a list").iter().filter(|notice| notice["code"] == code);
    let about = |notice: &'d Value| {
        (
            notice["name"].as_str().expect("text"),
            notice["subject"]
                .as_str()
                .and_then(|text| text.strip_prefix("host:"))
                .expect("a host")
                .parse()
                .expect("a number"),
        )
    };
    notices.map(about).collect()
}
