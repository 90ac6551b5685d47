//! Applies that were killed and are resumed after, or during, the work of others.

use std::process::Stdio;

use zonewright::inventory::value::Time;
use zonewright::state::{StateAddress, StateLock};

use crate::rig::{Applied, NOW, apply_in, plan_in};
use crate::server::Kind;
use crate::syscalls::{self, Fault};
use crate::yard::{COMING, STATE, Yard, short, write_macs};

on_every_primary! {
    what_another_apply_did_meanwhile_is_found_done
    what_another_apply_made_otherwise_is_left
    of_two_resumptions_at_once_one_does_all
}

/// Kills the apply when one of its phases is done: its reverse zone is still to be written, and what it deletes.
fn killed(kind: Kind) -> Option<Yard> {
    if !syscalls::are_possible() {
        return None;
    }
    let yard = Yard::served(kind)?;
    let point = yard.before_updates(2);
    yard.put_back();
    let output = point.of(&yard.apply_command(), Fault::Kill).output().expect("it runs");
    assert!(!output.status.success());
    assert!(yard.has_begun());
    yard.differ_from_after(&yard.zones()).expect_err("something is left");
    Some(yard)
}

/// A new plan has the rest.
fn what_another_apply_did_meanwhile_is_found_done(kind: Kind) {
    let Some(yard) = killed(kind) else { return };
    let rest = plan_in(yard.workspace(), &[]);
    apply_in(yard.workspace(), &rest.file, &[]).assert_all(0, "applied");
    let zones = yard.zones();
    yard.differ_from_after(&zones).expect("both together made all of it");
    let resumed = yard.resume_of(COMING);
    assert_eq!(resumed.exit, Some(0), "{}", resumed.said());
    assert_eq!(yard.zones(), zones);
    assert_eq!(yard.state().apply(COMING).expect("the journal").expect("the apply").updates_open, 0);
}

/// Meanwhile a host got another MAC.
fn what_another_apply_made_otherwise_is_left(kind: Kind) {
    let Some(yard) = killed(kind) else { return };
    write_macs(yard.workspace(), &[(2, short(2).1, "ac1f6bfffffe".to_owned()), short(3), short(4)]);
    let other = plan_in(yard.workspace(), &["--host", "2"]);
    apply_in(yard.workspace(), &other.file, &[]).assert_all(0, "applied");
    let zones = yard.zones();
    let resumed = yard.resume_of(COMING);
    assert_eq!(resumed.exit, Some(4), "{}", resumed.said());
    assert_eq!(resumed.hosts("stale").into_iter().chain(resumed.hosts("partial")).collect::<Vec<_>>(), [2]);
    for change in other.changes() {
        let rrset = |zones: &std::collections::BTreeMap<String, crate::rig::Zone>| {
            zones[&change.zone].rrset(&change.name, &change.rtype)
        };
        assert_eq!(rrset(&yard.zones()), rrset(&zones), "it is as the other apply made it");
    }
}

/// While one holds the lock another says so; without that, whatever comes first, all is done once.
fn of_two_resumptions_at_once_one_does_all(kind: Kind) {
    let Some(yard) = killed(kind) else { return };
    let before = yard.zones();
    let now: Time = NOW.parse().expect("a time");
    let lock = StateLock::take(&StateAddress::of_file(&yard.workspace().join(STATE), "state.db"), "operator", now)
        .expect("no process has it");
    yard.resume().assert_refused(1, "locked");
    assert_eq!(yard.zones(), before);
    drop(lock);
    let start = || {
        let mut command = yard.resume_command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
    };
    let both = [start(), start()].map(|child| Applied::new(child.wait_with_output().expect("a child")));
    for resumed in &both {
        let is_locked = resumed.refused() == Some("locked");
        assert!(resumed.exit == Some(0) || is_locked && resumed.exit == Some(1), "{}", resumed.said());
    }
    assert!(both.iter().any(|resumed| resumed.exit == Some(0)), "{}", both[0].said());
    yard.check_rest(true).expect("all is done once");
}
