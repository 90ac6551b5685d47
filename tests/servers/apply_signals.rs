//! Signals in the middle of an apply: what is in flight is finished, and nothing more is sent.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::relay::{Fate, Relay};
use crate::rig::{Applied, NOW, Rig, apply_command};
use crate::server::Kind;

/// How long anything here may take.
const LONG: Duration = Duration::from_secs(60);

/// How long a handler that has begun may take until it has noted its signal; a machine may be busy.
const NOTED: Duration = Duration::from_secs(1);

/// Waits until an apply has noted a signal: until then, what is on the way could arrive, and the rest be sent.
fn wait_until_noted(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let is_pending = |line: &str| {
        let mask = line.strip_prefix("ShdPnd:").map(str::trim);
        mask.is_some_and(|mask| mask.bytes().any(|digit| digit != b'0'))
    };
    let begun = Instant::now();
    while fs::read_to_string(&status).expect("it runs").lines().any(is_pending) {
        assert!(begun.elapsed() < LONG, "the signal is not taken");
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(NOTED);
}

/// Sends a signal to an apply.
fn send(signal: &str, child: &Child) {
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
}

/// Starts an apply of the demo, and lets `signal` send it signals while its first update is on the way; returns the
/// outcome.
fn interrupted(rig: &Rig, signal: impl FnOnce(&mut Child)) -> Applied {
    let (arrived, first) = mpsc::sync_channel(100);
    let (go_on, went_on) = mpsc::channel::<()>();
    let went_on = Mutex::new(went_on);
    let relay = Relay::start(&rig.server.address(), move |update| {
        if update == 1 {
            let _ = arrived.send(());
            let _ = went_on.lock().expect("one thread has the first update").recv();
        }
        Fate::Passes
    });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let mut command = apply_command(rig.workspace.path(), &plan.file, &[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    first.recv_timeout(LONG).expect("there is an update");
    signal(&mut child);
    drop(go_on);
    let applied = Applied::new(child.wait_with_output().expect("a child"));
    crate::workspace::edit(rig.workspace.path(), &relay.address(), &rig.server.address());
    applied
}

#[test]
fn an_apply_that_is_interrupted_finishes_what_is_in_flight_and_tells_what_is_left() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let Some(rig) = Rig::demo(Kind::Bind) else { return };
        let applied = interrupted(&rig, |child| {
            send(signal, child);
            wait_until_noted(child);
        });
        assert_eq!(applied.exit, Some(4), "{}", applied.said());
        assert!(!applied.hosts("not-reached").is_empty() && !applied.hosts("partial").is_empty(), "{}", applied.said());
        assert!(applied.said().contains("the apply was interrupted"), "{}", applied.said());
        let written = applied.document["zones"].as_array().expect("zones").iter();
        let updates: u64 = written.filter_map(|zone| zone["updates"].as_u64()).sum();
        assert!((1..=4).contains(&updates), "one update for each forward zone: {}", applied.said());
        assert!(!rig.status().contains("Unfinished"), "{}", rig.status());
        rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
        assert!(rig.plan().changes().is_empty());
    }
}

#[test]
fn a_second_signal_ends_an_apply_at_once() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    // Two that wait to be delivered at one moment are one to the system: sent until the process has ended, while the
    // update is still on its way.
    let applied = interrupted(&rig, |child| {
        let begun = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            assert!(begun.elapsed() < LONG, "no second signal ends the process");
            send("-INT", child);
            thread::sleep(Duration::from_millis(10));
        }
    });
    assert_eq!((applied.exit, applied.document.is_null()), (Some(1), true), "{}", applied.said());
    assert!(rig.status().contains("Unfinished"), "{}", rig.status());
}

#[test]
fn a_journal_that_may_not_grow_stops_an_apply_which_can_be_taken_up() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    let apply = apply_command(rig.workspace.path(), &plan.file, &[]);
    // 832 blocks of 512 octets: room for the plan, and for a part of what is to be kept of its updates.
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "ulimit -f 832; exec \"$@\"", "sh"]).arg(apply.get_program()).args(apply.get_args());
    let applied = Applied::new(limited.output().expect("it runs"));
    assert_eq!(applied.exit, Some(1), "{}", applied.said());
    assert!(applied.said().contains("the journal could not be completed"), "{}", applied.said());
    let mut resume = crate::workspace::zonewright();
    resume.args(["-q", "--now", NOW, "-C"]).arg(rig.workspace.path()).args(["resume", "--format", "json"]);
    Applied::new(resume.output().expect("it runs")).assert_all(0, "applied");
    assert!(rig.plan().changes().is_empty());
}
