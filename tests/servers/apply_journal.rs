//! What an apply remembers, and what happens when it, its answers, its server or its memory is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::relay::{Fate, Relay};
use crate::rig::{Applied, Planned, Rig, Zone, apply_command, folded, marker_name, text_of};
use crate::server::Kind;
use crate::workspace::{copy, stderr};

on_every_primary! {
    lost_updates_and_answers_are_made_good_and_nothing_is_done_twice
    without_a_fence_lost_updates_and_answers_are_made_good_too
    an_update_that_comes_when_all_is_over_does_nothing
    a_server_that_is_lost_on_the_way_leaves_hosts_as_they_were_or_as_planned
    an_apply_that_was_killed_is_told_and_another_completes_it
    without_its_memory_an_apply_is_refused_until_somebody_says_why
}

/// Shows what a program asks of the system.
const STRACE: &str = "/usr/bin/strace";

/// Reads the state as nothing of ours does.
const SQLITE: &str = "/usr/bin/sqlite3";

/// Each of the first updates is lost, or its answer.
fn lost_updates_and_answers_are_made_good_and_nothing_is_done_twice(kind: Kind) {
    for fate in [Fate::Lost, Fate::AnswerLost, Fate::AnswerSwallowed] {
        let Some(rig) = Rig::demo(kind) else { return };
        assert_made_good(kind, &rig, fate);
    }
}

/// The records there show which it was.
fn without_a_fence_lost_updates_and_answers_are_made_good_too(kind: Kind) {
    for fate in [Fate::Lost, Fate::AnswerLost] {
        let Some(rig) = Rig::demo(kind) else { return };
        rig.set_zones("fence = \"none\"");
        assert_made_good(kind, &rig, fate);
    }
}

/// The original of an update that was sent again: meanwhile another editor has put everything back, so that everything
/// except the marker is as the update requires.
fn an_update_that_comes_when_all_is_over_does_nothing(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let relay = Relay::start(&rig.server.address(), |update| if update < 3 { Fate::Late } else { Fate::Passes });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    rig.apply(&plan, &[]).assert_all(0, "applied");
    let mut back: BTreeMap<String, String> = BTreeMap::new();
    for change in plan.changes() {
        let lines = back.entry(change.zone.clone()).or_default();
        writeln!(lines, "update delete {} {}", change.name, change.rtype).expect("a String grows");
        for line in &change.before {
            writeln!(lines, "update add {line}").expect("a String grows");
        }
    }
    for (zone, lines) in back {
        rig.nsupdate(&zone, lines.trim_end());
    }
    let before = rig.all_zones();
    let rcodes = relay.deliver();
    assert_eq!(rcodes.len(), 2);
    // NXRRSET, or YXRRSET where there was no marker before (RFC 2136 section 3.2).
    assert!(rcodes.iter().all(|rcode| matches!(rcode, 7 | 8)), "{rcodes:?}");
    assert_eq!(rig.all_zones(), before);
}

/// Applies the demo while the first updates meet a fate; checks that all of it is done, once.
fn assert_made_good(kind: Kind, rig: &Rig, fate: Fate) {
    let relay = Relay::start(&rig.server.address(), move |update| if update < 4 { fate } else { Fate::Passes });
    rig.go_through(&relay.address());
    rig.set_target("timeout = \"1s\"");
    let plan = rig.plan();
    let before = rig.all_zones();
    let applied = rig.apply(&plan, &[]);
    applied.assert_all(0, "applied");
    assert!(relay.updates() > 4, "{fate:?}");
    if kind == Kind::Bind {
        // It raises the serial by one for each update that changes anything.
        assert_serials(&applied, &before, &rig.all_zones());
    }
    assert!(rig.plan().changes().is_empty(), "{fate:?}");
}

/// Checks that each zone took as many updates as were reported.
fn assert_serials(applied: &Applied, before: &BTreeMap<String, Zone>, after: &BTreeMap<String, Zone>) {
    for zone in applied.document["zones"].as_array().expect("a list") {
        let name = zone["zone"].as_str().expect("text");
        let moved = u64::from(after[name].serial - before[name].serial);
        assert_eq!(zone["updates"].as_u64(), Some(moved), "{name}: {}", applied.said());
    }
}

/// Before the server has an update, and with its answer.
fn a_server_that_is_lost_on_the_way_leaves_hosts_as_they_were_or_as_planned(kind: Kind) {
    for (fate, at) in [(Fate::Dead, 4), (Fate::LastBreath, 3)] {
        let Some(rig) = Rig::demo(kind) else { return };
        let relay = Relay::start(&rig.server.address(), move |update| if update < at { Fate::Passes } else { fate });
        let direct = rig.server.address();
        rig.go_through(&relay.address());
        rig.set_target("timeout = \"1s\"");
        let plan = rig.plan();
        let before = rig.all_zones();
        let applied = rig.apply(&plan, &[]);
        assert!(matches!(applied.exit, Some(1 | 4)), "{fate:?} {at}: {}", applied.said());
        assert_as_reported(&plan, &applied, (&before, &rig.all_zones()));

        crate::workspace::edit(rig.workspace.path(), &relay.address(), &direct);
        let rest = rig.plan();
        assert!(!rest.changes().is_empty(), "{fate:?} {at}");
        rig.apply(&rest, &[]).assert_all(0, "applied");
        assert!(rig.plan().changes().is_empty(), "{fate:?} {at}");
    }
}

/// Checks that each RRset is as before or as planned, and that the outcomes of hosts are true.
fn assert_as_reported(plan: &Planned, applied: &Applied, zones: (&BTreeMap<String, Zone>, &BTreeMap<String, Zone>)) {
    let outcomes = applied.outcomes();
    let every_host: BTreeSet<_> = plan.changes().iter().map(|change| change.host).collect();
    assert_eq!(outcomes.keys().copied().collect::<BTreeSet<_>>(), every_host);
    for change in plan.changes() {
        let found = |zones: &BTreeMap<String, Zone>| -> BTreeSet<String> {
            zones[&change.zone].rrset(&change.name, &change.rtype).iter().map(|line| folded(line)).collect()
        };
        let (before, after) = (found(zones.0), found(zones.1));
        assert!(after == before || after == change.after, "{change:?}: {after:?}");
        let Some(host) = change.host else { continue };
        let outcome = outcomes[&Some(host)].first().expect("every host has an outcome").as_str();
        match outcome {
            "applied" => assert_eq!(after, change.after, "{host} is reported as applied"),
            "stale" => assert_eq!(after, before, "{host} is reported as stale"),
            "partial" | "failed" | "not-reached" | "not-applied" => {}
            other => panic!("{host}: {other}"),
        }
    }
}

/// The second update took effect, and its answer is awaited when the process dies.
fn an_apply_that_was_killed_is_told_and_another_completes_it(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let direct = rig.server.address();
    let (sender, second) = mpsc::sync_channel(100);
    let relay = Relay::start(&direct, move |update| {
        if update < 2 {
            return Fate::Passes;
        }
        let _ = sender.send(update);
        // That of the other zone may come before the process dies.
        if update == 2 { Fate::AnswerSwallowed } else { Fate::Lost }
    });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let mut command = apply_command(rig.workspace.path(), &plan.file, &[]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    second.recv_timeout(Duration::from_secs(60)).expect("there are two updates");
    child.kill().expect("it waits for an answer");
    child.wait().expect("a child");

    assert!(rig.status().contains("\nUnfinished\n  apply 1,"), "{}", rig.status());
    crate::workspace::edit(rig.workspace.path(), &relay.address(), &direct);
    let rest = rig.plan();
    assert!(!rest.changes().is_empty() && rest.changes().len() < plan.changes().len());
    rig.apply(&rest, &[]).assert_all(0, "applied");
    assert!(rig.plan().changes().is_empty());
    // The first plan no longer changes anything. A host that is only published because it had no address yet is skipped
    // by the second plan once it has one, and stays without its PTR: the first plan finds it stale.
    let again = rig.apply(&plan, &[]);
    let others = again.outcomes().into_values().flatten().find(|each| each != "already-applied" && each != "stale");
    assert_eq!(others, None, "{}", again.said());
}

/// No state, and a state of yesterday.
fn without_its_memory_an_apply_is_refused_until_somebody_says_why(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let state = rig.workspace.path().join(".zonewright");
    let plan = rig.plan();
    rig.apply(&plan, &[]).assert_all(0, "applied");
    let older = tempfile::tempdir().expect("a folder");
    copy(&state, &older.path().join("state"));
    let undo = |rig: &Rig| {
        let change = plan.changes().into_iter().find(|change| change.rtype == "AAAA" && !change.after.is_empty());
        let change = change.expect("the demo has one");
        let zone = &change.zone;
        rig.nsupdate(
            zone,
            &format!("update delete {} AAAA\nupdate add {} 60 AAAA 2001:db8::1", change.name, change.name),
        );
    };

    fs::remove_dir_all(&state).expect("the state");
    undo(&rig);
    assert_refused_until_adopted(&rig);

    undo(&rig);
    fs::remove_dir_all(&state).expect("the state");
    copy(&older.path().join("state"), &state);
    assert_refused_until_adopted(&rig);
}

/// Checks that a plan is refused, and applied once its markers are known again.
fn assert_refused_until_adopted(rig: &Rig) {
    let plan = rig.plan();
    assert!(!plan.changes().is_empty());
    let before = rig.all_zones();
    rig.apply(&plan, &[]).assert_refused(3, "state-lost");
    assert_eq!(rig.all_zones(), before);
    rig.adopt(rig.workspace.path());
    rig.apply(&plan, &[]).assert_all(0, "applied");
}

#[test]
fn of_two_applies_in_one_workspace_the_second_says_that_it_is_locked() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let (sender, first) = mpsc::sync_channel(100);
    let relay = Relay::start(&rig.server.address(), move |_| {
        let _ = sender.send(());
        Fate::Held
    });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let mut command = apply_command(rig.workspace.path(), &plan.file, &[]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    let _ended = Ended(child);
    first.recv_timeout(Duration::from_secs(60)).expect("there is an update");
    let before = rig.all_zones();
    rig.apply(&plan, &[]).assert_refused(1, "locked");
    assert_eq!(rig.all_zones(), before);
}

/// A child that ends when this is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_state_is_synced_after_each_answer_and_before_the_next_update() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    if !crate::have(Path::new(STRACE)) {
        return;
    }
    let plan = rig.plan();
    let trace = rig.server.folder().join("trace");
    let apply = apply_command(rig.workspace.path(), &plan.file, &[]);
    let mut command = Command::new(STRACE);
    command.args(["-f", "-yy", "-xx", "-s", "8", "-e", "trace=fsync,fdatasync,read,recvfrom,write,sendto", "-o"]);
    command.arg(&trace).arg(apply.get_program()).args(apply.get_args());
    Applied::new(command.output().expect("strace runs")).assert_all(0, "applied");
    let text = fs::read_to_string(&trace).expect("the trace");
    let updates = assert_synced(&text, &rig.server.address());
    let zones: BTreeSet<String> = plan.changes().into_iter().map(|change| change.zone).collect();
    assert!(updates >= zones.len(), "{updates} updates");
}

/// Checks of each update in a trace that the thread that sent it synced the state after the last thing that came in
/// over the same connection; gives the number of updates.
fn assert_synced(trace: &str, server: &str) -> usize {
    let mut synced: BTreeMap<&str, bool> = BTreeMap::new();
    // In the trace all names are octets in hexadecimal.
    let state: String = b".zonewright/state.db".iter().map(|octet| format!("\\x{octet:02x}")).collect();
    let mut updates = 0;
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').expect("strace names the thread");
        let call = call.trim_start();
        // A peek only asks whether the connection is still open.
        let receives = (call.starts_with("read(") || call.starts_with("recvfrom(")) && !call.contains("MSG_PEEK");
        if call.contains(&state) && (call.starts_with("fdatasync(") || call.starts_with("fsync(")) {
            synced.insert(thread, true);
        } else if call.contains(server) && receives {
            synced.insert(thread, false);
        } else if call.contains(server) && is_update(call) {
            assert!(synced.get(thread).is_some_and(|synced| *synced), "nothing was synced before:\n{line}");
            synced.insert(thread, false);
            updates += 1;
        }
    }
    updates
}

/// Whether a call sends an update: two octets of length, two of ID, and then opcode 5.
fn is_update(call: &str) -> bool {
    let sends = call.starts_with("write(") || call.starts_with("sendto(");
    let octets = call.split_once('"').map_or("", |(_, octets)| octets);
    let flags = octets.split("\\x").nth(5).and_then(|octet| u8::from_str_radix(octet.get(..2)?, 16).ok());
    sends && flags.is_some_and(|flags| flags >> 3 & 0xf == 5)
}

#[test]
fn the_journal_lists_what_was_sent() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    if !crate::have(Path::new(SQLITE)) {
        return;
    }
    let relay = Relay::start(&rig.server.address(), |_| Fate::Passes);
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let applied = rig.apply(&plan, &[]);
    applied.assert_all(0, "applied");
    let rows = |statement: &str| -> BTreeSet<String> {
        let file = rig.workspace.path().join(".zonewright/state.db");
        let output = Command::new(SQLITE).arg(file).arg(statement).output().expect("sqlite3 runs");
        assert!(output.status.success(), "{}", stderr(&output));
        text_of(&output.stdout).lines().map(str::to_owned).collect()
    };
    let count = |number: usize| BTreeSet::from([number.to_string()]);
    assert_eq!(rows("SELECT count(*) FROM batches"), count(relay.updates()));
    assert_eq!(rows("SELECT count(*) FROM batches WHERE settled = 'done'"), count(relay.updates()));
    let names = "SELECT json_extract(value, '$.name') || ' ' || json_extract(value, '$.type') \
                 FROM batch_changes, json_each(changes)";
    let sent: BTreeSet<String> =
        plan.changes().iter().map(|change| format!("{} {}", change.name, change.rtype)).collect();
    assert_eq!(rows(names), sent);
    let markers: BTreeSet<String> = plan.changes().iter().map(|change| change.zone.clone()).collect();
    let markers = markers.iter().map(|zone| {
        let line = rig.zone(zone).rrset(&marker_name(zone), "TXT").into_iter().next().expect("a marker");
        let text = line.split('"').nth(1).expect("a text").to_owned();
        format!("{zone}|{text}")
    });
    assert_eq!(rows("SELECT zone, marker FROM markers"), markers.collect());
}
