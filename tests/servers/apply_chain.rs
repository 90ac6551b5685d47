//! Zones that take many updates, each naming its predecessor's marker, and where the server gains by it several in
//! flight.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use crate::fleet::{self, ZONE, host_name};
use crate::relay::{Fate, Relay};
use crate::rig::Rig;
use crate::server::Kind;

on_every_primary! {
    a_chain_of_updates_of_which_some_are_lost_is_done_once
    a_host_that_changes_while_updates_are_in_flight_is_left_alone
}

/// Hosts: each zone takes three updates of up to 500 changes.
const HOSTS: usize = 1010;

/// The fleet, served; its target waits a few seconds for an answer.
fn rig(kind: Kind) -> Option<Rig> {
    let files = tempfile::tempdir().expect("a folder");
    fleet::write(files.path(), HOSTS);
    let rig = Rig::of_files(kind, files.path())?;
    rig.set_target("timeout = \"3s\"");
    Some(rig)
}

/// All that can be lost, in the middle of a chain, and what was sent again too.
fn a_chain_of_updates_of_which_some_are_lost_is_done_once(kind: Kind) {
    let Some(rig) = rig(kind) else { return };
    let relay = Relay::start(&rig.server.address(), |update| match update {
        2 => Fate::AnswerLost,
        4 => Fate::Lost,
        6 => Fate::Late,
        8 => Fate::AnswerSwallowed,
        _ => Fate::Passes,
    });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    assert_eq!(plan.changes().len(), 2 * HOSTS);
    let applied = rig.apply(&plan, &[]);
    applied.assert_all(0, "applied");
    assert!(relay.updates() >= 8, "{} updates", relay.updates());
    let after = rig.all_zones();
    for change in plan.changes() {
        assert_eq!(after[&change.zone].rrset(&change.name, &change.rtype), change.after);
    }
    let rcodes = relay.deliver();
    assert!(!rcodes.is_empty() && rcodes.iter().all(|rcode| matches!(rcode, 7 | 8)), "{rcodes:?}");
    assert_eq!(rig.all_zones(), after);
}

/// When the second update arrives, another editor changes two hosts that it, or one behind it, is about.
fn a_host_that_changes_while_updates_are_in_flight_is_left_alone(kind: Kind) {
    let Some(rig) = rig(kind) else { return };
    let foreign = [HOSTS / 2, HOSTS - 1];
    let lines = foreign.map(|host| {
        let name = host_name(host);
        format!("update delete {name} AAAA\nupdate add {name} 600 AAAA 2001:db8::bad\n")
    });
    let script = rig.server.folder().join("script");
    std::fs::write(&script, rig.update_script(ZONE, lines.concat().trim_end())).expect("a file");
    let key = rig.server.folder().join("key");
    let relay = Relay::start(&rig.server.address(), move |update| {
        if update == 2 {
            let mut command = Command::new("/usr/bin/nsupdate");
            let status = command.arg("-v").arg("-k").arg(&key).arg(&script).stdin(Stdio::null()).status();
            assert!(status.expect("nsupdate runs").success());
        }
        Fate::Passes
    });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    let stale: BTreeSet<u64> = foreign.iter().map(|host| *host as u64 + 1).collect();
    assert_eq!(applied.hosts("stale"), stale, "{}", applied.said());
    assert_eq!(applied.hosts("applied").len(), HOSTS - stale.len(), "{}", applied.said());
    let after = rig.all_zones();
    for change in plan.changes() {
        let found = after[&change.zone].rrset(&change.name, &change.rtype);
        match change.hosts.is_disjoint(&stale) {
            true => assert_eq!(found, change.after),
            false if change.rtype == "PTR" => assert!(found.is_empty(), "{found:?}"),
            false => assert_eq!(found, BTreeSet::from([format!("{} 600 AAAA 2001:db8::bad", change.name)])),
        }
    }
}
