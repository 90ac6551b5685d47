//! Between plan and apply another editor writes to the zones: its changes are never overwritten.

use std::collections::{BTreeMap, BTreeSet};

use crate::rig::{Applied, Edit, Planned, Rig, Zone, folded, key_of, marker_name};
use crate::server::Kind;
use crate::workspace::edit;

on_every_primary! {
    hosts_that_somebody_changed_are_left_alone_and_the_others_are_done
    where_every_host_was_changed_nothing_is_done
    without_a_fence_hosts_that_somebody_changed_are_left_alone
    a_change_of_others_in_the_same_zones_holds_up_no_host
}

/// One host for each way to get in between.
fn hosts_that_somebody_changed_are_left_alone_and_the_others_are_done(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    assert_left_alone(&rig);
}

/// The same without markers.
fn without_a_fence_hosts_that_somebody_changed_are_left_alone(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    rig.set_zones("fence = \"none\"");
    assert_left_alone(&rig);
}

/// All of them, and the names that no host has.
fn where_every_host_was_changed_nothing_is_done(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let plan = rig.plan();
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    for change in plan.changes() {
        *lines.entry(change.zone.clone()).or_default() += &replaced(&change);
    }
    for (zone, lines) in lines {
        rig.nsupdate(&zone, &lines);
    }
    let before = rig.all_zones();
    rig.apply(&plan, &[]).assert_all(3, "stale");
    assert_eq!(rig.all_zones(), before);
}

/// Serials move, and nothing that the plan touches.
fn a_change_of_others_in_the_same_zones_holds_up_no_host(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let plan = rig.plan();
    for zone in &rig.zones {
        rig.nsupdate(zone, &format!("update add somebody-elses.{zone} 60 TXT \"news\""));
    }
    let applied = rig.apply(&plan, &[]);
    applied.assert_all(0, "applied");
    assert!(applied.document["moved"].as_array().is_some_and(|moved| !moved.is_empty()), "{}", applied.said());
    for (zone, found) in rig.all_zones() {
        assert_eq!(found.rrset(&format!("somebody-elses.{zone}"), "TXT").len(), 1);
    }
    assert!(rig.plan().changes().is_empty());
}

/// A way to get in between.
struct Trick {
    /// In words.
    what: &'static str,
    /// Which changes it is for.
    fits: fn(&Edit) -> bool,
    /// The commands for `nsupdate`.
    lines: fn(&Edit) -> String,
}

/// All ways.
const TRICKS: [Trick; 7] = [
    Trick { what: "another address", fits: |change| is(change, "AAAA", [1, 1]), lines: replaced },
    Trick { what: "another TTL", fits: |change| is(change, "AAAA", [1, 1]), lines: |change| same_with_ttl(change, 77) },
    Trick {
        what: "another record",
        fits: |change| is(change, "AAAA", [1, 1]),
        lines: |change| format!("update add {} {} AAAA 2001:db8::beef\n", change.name, ttl(change)),
    },
    Trick { what: "another pointer", fits: |change| is(change, "PTR", [0, 1]), lines: replaced },
    Trick {
        what: "another address where one is to be removed",
        fits: |change| is(change, "AAAA", [1, 0]),
        lines: replaced,
    },
    Trick {
        what: "a CNAME where a name is to be created",
        fits: |change| is(change, "AAAA", [0, 1]),
        lines: |change| format!("update add {} 60 CNAME www.example.net.\n", change.name),
    },
    Trick {
        what: "a registry text of another owner",
        fits: |change| is(change, "TXT", [0, 1]),
        lines: |change| {
            format!("update add {} 60 TXT \"heritage=external-dns,external-dns/owner=other\"\n", change.name)
        },
    },
];

/// Whether a change is of a host and of a type, and has so many records before and after: none, or some.
fn is(change: &Edit, rtype: &str, records: [usize; 2]) -> bool {
    let some = [&change.before, &change.after].map(|records| records.len().min(1));
    change.rtype == rtype && change.host.is_some() && some == records
}

/// What makes an RRset another.
fn replaced(change: &Edit) -> String {
    let (name, rtype) = (&change.name, &change.rtype);
    let rdata = match rtype.as_str() {
        "AAAA" => "2001:db8::bad",
        "PTR" => "somebody-elses.example.net.",
        _ => "\"another editor's\"",
    };
    format!("update delete {name} {rtype}\nupdate add {name} 60 {rtype} {rdata}\n")
}

/// The TTL that the plan saw.
fn ttl(change: &Edit) -> String {
    let line = change.before.first().expect("it is no create");
    line.split(' ').nth(1).expect("a line has a TTL").to_owned()
}

/// The same records with another TTL.
fn same_with_ttl(change: &Edit, ttl: u32) -> String {
    let (name, rtype) = (&change.name, &change.rtype);
    let add = |line: &String| {
        let rdata = line.splitn(4, ' ').nth(3).expect("a line has RDATA");
        format!("update add {name} {ttl} {rtype} {rdata}\n")
    };
    let adds: String = change.before.iter().map(add).collect();
    format!("update delete {name} {rtype}\n{adds}")
}

/// Changes one host in each way; checks that these are left as they are, whole, and all others are done.
fn assert_left_alone(rig: &Rig) {
    let plan = rig.plan();
    let mut stale: BTreeSet<u64> = BTreeSet::new();
    for trick in TRICKS {
        let changes = plan.changes();
        let chosen = changes.iter().find(|change| (trick.fits)(change) && change.hosts.is_disjoint(&stale));
        // The demo has fewer hosts to be created or deleted than ways: the same host will do for two.
        let chosen = chosen.or_else(|| changes.iter().find(|change| (trick.fits)(change)));
        let chosen = chosen.unwrap_or_else(|| panic!("the demo has no host for {}", trick.what));
        rig.nsupdate(&chosen.zone, (trick.lines)(chosen).trim_end());
        stale.extend(plan.unit(chosen.host.expect("it is a host's")));
    }
    let before = rig.all_zones();
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    let hosts: BTreeSet<Option<u64>> = applied.outcomes().into_keys().collect();
    stale.retain(|host| hosts.contains(&Some(*host)));
    assert!(stale.len() >= 4 && stale.len() + 10 < hosts.len(), "{stale:?} of {hosts:?}");
    assert_eq!(applied.hosts("stale"), stale, "{}", applied.said());
    assert_eq!(applied.outcomes().len() - stale.len(), applied.count("applied"), "{}", applied.said());
    assert_only_stale_left(&plan, &applied, (&before, &rig.all_zones()));
    rig.apply(&plan, &[]).assert_left(&stale);
}

impl Applied {
    /// How many hosts, those that are none together, have this outcome alone.
    fn count(&self, outcome: &str) -> usize {
        self.outcomes().values().filter(|each| each.len() == 1 && each.contains(outcome)).count()
    }

    /// Checks that only these hosts are left, again.
    fn assert_left(&self, stale: &BTreeSet<u64>) {
        assert_eq!(&self.hosts("stale"), stale, "{}", self.said());
        assert_eq!(self.count("already-applied") + stale.len(), self.outcomes().len(), "{}", self.said());
    }
}

/// Checks each RRset of the plan: as it was where a host of it is stale, else as the plan says; and that all others are
/// as they were.
fn assert_only_stale_left(
    plan: &Planned,
    applied: &Applied,
    zones: (&BTreeMap<String, Zone>, &BTreeMap<String, Zone>),
) {
    let stale = applied.hosts("stale");
    let changes = plan.changes();
    for change in &changes {
        let [before, after] = [zones.0, zones.1].map(|zones| zones[&change.zone].rrset(&change.name, &change.rtype));
        let expected = if change.hosts.is_disjoint(&stale) { change.after.clone() } else { before };
        let after: BTreeSet<String> = after.iter().map(|line| folded(line)).collect();
        let expected: BTreeSet<String> = expected.iter().map(|line| folded(line)).collect();
        assert_eq!(after, expected, "{} {} of {:?}, stale {stale:?}", change.name, change.rtype, change.hosts);
    }
    let touched: BTreeSet<_> = changes.iter().map(Edit::key).collect();
    for (zone, before) in zones.0 {
        let marker = (marker_name(zone), "TXT".to_owned());
        let others = |zone: &Zone| -> BTreeSet<String> {
            let key = |line: &&String| !touched.contains(&key_of(line)) && key_of(line) != marker;
            zone.records.iter().filter(key).cloned().collect()
        };
        assert_eq!(others(before), others(&zones.1[zone]), "{zone}");
    }
}

/// A secondary that lags holds the zones of before an apply: a plan that was read from it has all changes once more, and
/// its apply meets the primary, where a person has changed one name since.
#[test]
fn what_a_lagging_server_says_overwrites_nothing() {
    let (Some(rig), Some(lagging)) = (Rig::unsigned_demo(Kind::Bind), Rig::unsigned_demo(Kind::Bind)) else { return };
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    rig.go_through(&lagging.server.address());
    let late = rig.plan();
    let created = late.changes().into_iter().find(|change| change.rtype == "AAAA" && change.before.is_empty());
    let edited = created.expect("a host that is new");
    edit(rig.workspace.path(), &lagging.server.address(), &rig.server.address());
    let by_hand = format!("update delete {0} AAAA\nupdate add {0} 600 AAAA 2001:db8::bad", edited.name);
    rig.nsupdate(&edited.zone, &by_hand);
    let held = rig.all_zones();
    let applied = rig.apply(&late, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert_eq!(rig.all_zones(), held, "{}", applied.said());
    assert_eq!(applied.hosts("stale"), edited.hosts, "{}", applied.said());
    assert!(applied.hosts("applied").is_empty(), "{}", applied.said());
}
