//! Applies that ended in the middle and are resumed: with any outcome of the update on the way, the whole plan is there
//! in the end, once, and nothing that changed since is overwritten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::carried_out::assert_carried_out;
use crate::relay::{Fate, Relay};
use crate::rig::{Applied, Edit, NOW, Planned, Rig, Zone, apply_command, plan_in};
use crate::server::Kind;
use crate::workspace::{edit, zonewright};

/// How long anything here may take.
const LONG: Duration = Duration::from_secs(60);

/// The kinds of servers that take updates.
const KINDS: [Kind; 3] = [Kind::Bind, Kind::Knot, Kind::PowerDns];

/// What `resume` says.
fn resume(workspace: &Path, args: &[&str]) -> Applied {
    let mut command = zonewright();
    command.args(["-q", "--color", "never", "-C"]).arg(workspace).args(["resume", "--format", "json"]).args(args);
    if !args.contains(&"--now") {
        command.args(["--now", NOW]);
    }
    Applied::new(command.output().expect("the program runs"))
}

/// Applies a plan through a relay, and kills the apply when its update of this number is on the way, which then meets
/// its fate.
fn killed(rig: &Rig, plan: &Planned, at: usize, fate: Fate) -> Relay {
    let (arrived, awaited) = mpsc::sync_channel(100);
    let (go_on, went_on) = mpsc::channel::<()>();
    let went_on = Mutex::new(went_on);
    let relay = Relay::start(&rig.server.address(), move |update| {
        if update != at {
            return if update < at { Fate::Passes } else { Fate::Lost };
        }
        let _ = arrived.send(());
        let _ = went_on.lock().expect("one thread has the update").recv();
        fate
    });
    rig.go_through(&relay.address());
    let mut command = apply_command(rig.workspace.path(), &plan.file, &[]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    awaited.recv_timeout(LONG).expect("there is such an update");
    kill(child);
    drop(go_on);
    let deadline = Instant::now() + LONG;
    // What is read next must not change while it is read.
    let is_over = || match fate {
        Fate::Late => relay.is_any_late(),
        Fate::Passes => relay.answered() >= at,
        _ => true,
    };
    while !is_over() {
        assert!(Instant::now() < deadline, "the relay has the update, or the server's answer");
        thread::sleep(Duration::from_millis(1));
    }
    edit(rig.workspace.path(), &relay.address(), &rig.server.address());
    relay
}

/// Kills a process at once.
fn kill(mut child: Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

/// Checks that the zones are what they were, with the plan carried out.
fn assert_completed(rig: &Rig, before: &BTreeMap<String, Zone>, plan: &Planned) {
    assert_carried_out(plan, (before, &rig.all_zones()));
}

/// How many updates of the one apply are known to be done.
fn done(rig: &Rig) -> usize {
    let status = rig.status();
    let (before, _) = status.split_once(" done").expect("an apply with updates");
    let words = before.rsplit([' ', '\n']).find(|word| word.parse::<usize>().is_ok());
    words.and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn a_killed_apply_is_completed_whatever_became_of_the_update_on_the_way() {
    for kind in KINDS {
        for (at, fate) in [(1, Fate::Lost), (1, Fate::Passes), (4, Fate::Passes), (6, Fate::Late)] {
            let Some(rig) = Rig::demo(kind) else { continue };
            let (before, plan) = (rig.all_zones(), rig.plan());
            let relay = killed(&rig, &plan, at, fate);
            assert!(rig.status().contains("zonewright resume"), "{}", rig.status());
            resume(rig.workspace.path(), &[]).assert_all(0, "applied");
            // A copy that comes late finds the marker moved.
            assert!(relay.deliver().iter().all(|rcode| *rcode != 0), "{kind:?}: {at} {fate:?}");
            assert_completed(&rig, &before, &plan);
            assert!(rig.plan().changes().is_empty());
            let again = resume(rig.workspace.path(), &[]);
            assert_eq!((again.exit, again.outcomes().len()), (Some(0), 0), "{}", again.said());
            assert!(!rig.status().contains("Unfinished"), "{}", rig.status());
        }
    }
}

#[test]
fn an_update_that_comes_late_before_it_is_taken_up_is_found_to_be_done() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let (before, plan) = (rig.all_zones(), rig.plan());
    let relay = killed(&rig, &plan, 2, Fate::Late);
    assert_eq!(relay.deliver(), [0]);
    resume(rig.workspace.path(), &["--reason", "the runner was killed"]).assert_all(0, "applied");
    assert_completed(&rig, &before, &plan);
}

#[test]
fn an_apply_that_was_done_in_part_goes_on_where_it_ended() {
    for kind in KINDS {
        let Some(rig) = Rig::demo(kind) else { continue };
        let (before, plan) = (rig.all_zones(), rig.plan());
        let relay = Relay::start(&rig.server.address(), |update| if update < 5 { Fate::Passes } else { Fate::Dead });
        rig.go_through(&relay.address());
        let applied = rig.apply(&plan, &[]);
        assert_eq!(applied.exit, Some(4), "{}", applied.said());
        edit(rig.workspace.path(), &relay.address(), &rig.server.address());
        resume(rig.workspace.path(), &[]).assert_all(0, "applied");
        assert_completed(&rig, &before, &plan);
    }
}

#[test]
fn what_changed_since_is_left_and_named() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    killed(&rig, &plan, 6, Fate::Passes);
    let is_made = |change: &&Edit| {
        change.rtype == "AAAA"
            && !change.after.is_empty()
            && rig.zone(&change.zone).rrset(&change.name, "AAAA") == change.after
    };
    let changes = plan.changes();
    let made = changes.iter().find(is_made).expect("one is made");
    let host = made.host.expect("a host's");
    rig.nsupdate(&made.zone, &format!("update add {} 60 AAAA 2001:db8::dead", made.name));
    let edited = rig.zone(&made.zone).rrset(&made.name, "AAAA");
    let resumed = resume(rig.workspace.path(), &[]);
    assert_eq!(resumed.exit, Some(4), "{}", resumed.said());
    let left: Vec<u64> = ["partial", "stale"].iter().flat_map(|word| resumed.hosts(word)).collect();
    assert_eq!(left.into_iter().collect::<BTreeSet<_>>(), plan.unit(host), "{}", resumed.said());
    assert!(resumed.said().contains("was made, but has changed since"), "{}", resumed.said());
    assert_eq!(rig.zone(&made.zone).rrset(&made.name, "AAAA"), edited);
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
}

#[test]
fn another_run_in_between_is_seen() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    killed(&rig, &plan, 3, Fate::Passes);
    // A run with a state of its own, which takes the markers for known.
    let other = rig.another_workspace();
    rig.adopt(other.path());
    let theirs = plan_in(other.path(), &[]);
    Applied::new(apply_command(other.path(), &theirs.file, &[]).output().expect("it runs")).assert_all(0, "applied");
    resume(rig.workspace.path(), &[]).assert_refused(3, "state-lost");
    // One with the same state: there is nothing left to be done, neither of the latest nor of the killed one.
    rig.adopt(rig.workspace.path());
    let resumed = resume(rig.workspace.path(), &[]);
    assert_eq!(resumed.exit, Some(0), "{}", resumed.said());
    assert!(rig.plan().changes().is_empty());
}

#[test]
fn a_new_plan_with_the_same_state_leaves_nothing_to_an_older_apply() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    killed(&rig, &plan, 3, Fate::Passes);
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    let latest = resume(rig.workspace.path(), &[]);
    assert_eq!((latest.exit, latest.outcomes().len()), (Some(0), 0), "{}", latest.said());
    let first = resume(rig.workspace.path(), &["1"]);
    assert_eq!(first.exit, Some(0), "{}", first.said());
    assert!(rig.plan().changes().is_empty());
}

#[test]
fn what_has_expired_is_settled_and_not_gone_on_with() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    assert_eq!(killed(&rig, &plan, 3, Fate::Late).deliver(), [0]);
    let late = ["--now", "2026-11-22T02:00:00Z"];
    let known = done(&rig);
    let before = rig.all_zones();
    resume(rig.workspace.path(), &late).assert_refused(3, "plan-expired");
    assert_eq!(before, rig.all_zones());
    assert!(done(&rig) > known, "{}", rig.status());
}

#[test]
fn there_may_be_nothing_to_take_up() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let never = resume(rig.workspace.path(), &[]);
    assert_eq!((never.exit, never.outcomes().len()), (Some(0), 0), "{}", never.said());
    assert!(!rig.workspace.path().join(".zonewright").exists());
    assert_eq!(resume(rig.workspace.path(), &["7"]).exit, Some(1));
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    let done = resume(rig.workspace.path(), &["1"]);
    assert_eq!((done.exit, done.outcomes().len()), (Some(0), 0), "{}", done.said());
}
