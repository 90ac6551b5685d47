//! What servers refuse, and what they take and do not do.

use std::fs;

use crate::relay::{Fate, Relay};
use crate::rig::{Planned, Rig};
use crate::server::Kind;

#[test]
fn a_host_whose_names_were_delegated_since_is_stale() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    let host = host_of(&plan, "lab-001.lab.example.net.");
    rig.nsupdate("example.net.", "update add lab.example.net. 60 NS ns.example.org.");
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert!(applied.hosts("stale").contains(&host), "{}", applied.said());
    assert!(applied.said().contains("below the delegation `lab.example.net.`"), "{}", applied.said());
    assert!(applied.hosts("applied").len() > 10, "{}", applied.said());
}

/// `check-names` of BIND: an address at a name with an underscore.
#[test]
fn a_host_that_the_server_refuses_fails_alone() {
    let Some(rig) = Rig::demo_in_bind("check-names primary ignore;", "check-names primary fail;") else { return };
    for file in ["names.lock", "racktables/hosts.csv"] {
        let file = rig.workspace.path().join(file);
        let text = fs::read_to_string(&file).expect("a file");
        fs::write(&file, text.replace("sas0-0004", "sas0_0004")).expect("a file");
    }
    let plan = rig.plan();
    let host = host_of(&plan, "sas0_0004.search.example.net.");
    let before = rig.all_zones();
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert_eq!(applied.hosts("failed"), plan.unit(host), "{}", applied.said());
    let hosts = applied.document["hosts"].as_array().expect("a list");
    let found = hosts.iter().find(|found| found["host"] == host).expect("it is reported");
    assert!(found["message"].as_str().is_some_and(|message| message.contains("REFUSED")), "{found:#}");
    let after = rig.all_zones();
    for change in plan.changes() {
        let found = after[&change.zone].rrset(&change.name, &change.rtype);
        if change.hosts.contains(&host) {
            assert_eq!(found, before[&change.zone].rrset(&change.name, &change.rtype), "{change:?}")
        } else {
            assert_eq!(found, change.after, "{change:?}")
        }
    }
}

/// NOERROR, and nothing done: what servers do with data next to a CNAME (RFC 2136 section 3.4.2.2) and by some
/// policies.
#[test]
fn what_a_server_took_and_did_not_do_is_reported() {
    let Some(rig) = Rig::unsigned_demo(Kind::Bind) else { return };
    rig.set_zones("fence = \"none\"");
    let relay = Relay::start(&rig.server.address(), |update| if update == 2 { Fate::Pretended } else { Fate::Passes });
    rig.go_through(&relay.address());
    let plan = rig.plan();
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    let after = rig.all_zones();
    let is_done = |host: u64| {
        let mut changes = plan.changes();
        changes.retain(|change| change.hosts.contains(&host));
        changes.iter().all(|change| after[&change.zone].rrset(&change.name, &change.rtype) == change.after)
    };
    for (host, outcomes) in applied.outcomes() {
        let Some(host) = host else { continue };
        assert_eq!(outcomes.contains("applied"), is_done(host), "{host}: {}", applied.said());
        assert!(outcomes.iter().all(|outcome| ["applied", "not-applied", "partial"].contains(&outcome.as_str())));
    }
    assert!(!applied.hosts("not-applied").is_empty(), "{}", applied.said());
    eprintln!("{}", applied.said());
}

/// The host that gets an address at a name.
fn host_of(plan: &Planned, name: &str) -> u64 {
    let changes = plan.changes();
    let change = changes.iter().find(|change| change.name == name && change.rtype == "AAAA");
    change.unwrap_or_else(|| panic!("no address for {name}")).host.expect("a host's")
}
