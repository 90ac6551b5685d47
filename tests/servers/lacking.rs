//! What targets of one pool lack, host by host: a host of which something changed at a target loses nothing there, and an
//! apply fails where too few targets have all of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::planted::PlantedFleet;
use crate::rig::{Edit, Planned, apply_in, plan_in};
use crate::trio::{PoolManner, Trio};

/// Two of three targets must agree.
const TWO_OF_THREE: PoolManner = PoolManner { threshold: 66, timeout: 20 };

/// The place of Knot among the copies.
const KNOT: usize = 1;

/// The place of PowerDNS among the copies.
const PDNS: usize = 2;

/// Three servers with a small fleet, and a plan; `None` where one is not installed.
fn planned() -> Option<(Trio, Planned)> {
    let trio = Trio::start(PlantedFleet::without_blocked(60, 1), TWO_OF_THREE)?;
    let plan = plan_in(trio.path(), &[]);
    Some((trio, plan))
}

/// Addresses that a plan publishes at a target for hosts that share nothing with others and of which something
/// is deleted there.
fn addresses_at(plan: &Planned, target: &str) -> Vec<Edit> {
    let changes = plan.document["changes"].as_array().expect("a list");
    let is_there = |change: &&Value| {
        let targets = change["targets"].as_array();
        targets.is_none_or(|targets| targets.iter().any(|own| own == target))
    };
    let there: Vec<Edit> = changes.iter().filter(is_there).map(Edit::of).collect();
    let is_meant = |change: &&Edit| {
        let is_alone = change.host.is_some_and(|host| plan.unit(host).len() == 1);
        let loses = there.iter().any(|other| other.host == change.host && other.after.is_empty());
        change.rtype == "AAAA" && !change.after.is_empty() && is_alone && loses
    };
    there.iter().filter(is_meant).cloned().collect()
}

/// Another person gives the name of a change an address, at one copy.
fn edit_at(trio: &Trio, copy: usize, change: &Edit) {
    let name = &change.name;
    let lines = format!("update delete {name} AAAA\nupdate add {name} 77 AAAA 2001:db8::bad");
    trio.rigs[copy].nsupdate(&change.zone, &lines);
}

#[test]
fn a_host_of_which_something_changed_at_a_target_loses_nothing_there() {
    let Some((trio, plan)) = planned() else { return };
    trio.gates[KNOT].set_shut(true);
    let applied = apply_in(trio.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    trio.gates[KNOT].set_shut(false);
    let edited = &addresses_at(&plan, "knot")[..2];
    edited.iter().for_each(|change| edit_at(&trio, KNOT, change));
    let hosts = [edited[0].host, edited[1].host];
    let of_host: Vec<Edit> = plan.changes().into_iter().filter(|change| hosts.contains(&change.host)).collect();
    let stays = |change: &&Edit| change.after.is_empty() || edited.iter().any(|own| own.key() == change.key());
    let held =
        || -> Vec<Vec<String>> { of_host.iter().filter(stays).map(|change| trio.held(KNOT, &change.key())).collect() };
    let before = held();

    let output = trio.run(&["sync"]);
    // Lines are broken anywhere.
    let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("holds something else than the change expects")
            && said.contains("something else of its host is left"),
        "{said}"
    );
    assert_eq!(held(), before, "{said}");
    let of_host: BTreeSet<&String> = of_host.iter().map(|change| &change.name).collect();
    let left = trio.lacks();
    let is_of_host = |line: &String| line.split(' ').nth(1).is_some_and(|name| of_host.contains(&name.to_owned()));
    assert!(!left.is_empty() && left.iter().all(is_of_host), "{left:#?}");

    // The next plan decides. What another person made meanwhile is no longer lacking, although the plan says nothing of it.
    let made = &edited[0];
    let lines: Vec<String> = made.after.iter().map(|line| format!("update add {line}")).collect();
    let lines = format!("update delete {} AAAA\n{}", made.name, lines.join("\n"));
    trio.rigs[KNOT].nsupdate(&made.zone, &lines);
    let plan = plan_in(trio.path(), &[]);
    assert!(plan.changes().iter().all(|change| change.key() != made.key()), "{:#?}", plan.changes());
    apply_in(trio.path(), &plan.file, &[]).assert_all(0, "applied");
    assert!(trio.lacks().is_empty(), "{:#?}", trio.lacks());
    assert!(trio.fleet.faults(&trio.before, &trio.copies(), true).is_empty());
}

#[test]
fn an_apply_fails_where_too_few_targets_have_all_of_it() {
    let Some((trio, plan)) = planned() else { return };
    // Each host is at two of three targets; but only BIND has both.
    edit_at(&trio, KNOT, &addresses_at(&plan, "knot")[0]);
    edit_at(&trio, PDNS, &addresses_at(&plan, "pdns")[0]);
    let applied = apply_in(trio.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert_eq!(applied.hosts("applied").len(), applied.outcomes().len(), "{}", applied.said());
    let zones = applied.document["publication"]["zones"].as_array().expect("zones");
    assert!(zones.iter().any(|zone| zone["status"] == "ERROR"), "{}", applied.said());
}
