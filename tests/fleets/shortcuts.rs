//! What plans leave out to be quick: it may change nothing.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use zonewright::pipeline::targets::server_names;
use zonewright::target::PoolBounds;

use zonewright::diff::decide::{self, DecisionInput};
use zonewright::diff::held::HeldEdits;
use zonewright::diff::judge::{self, FleetDecisions};
use zonewright::diff::recent::RecentPods;
use zonewright::diff::statements::KeptStatements;
use zonewright::diff::waits::RrsetWaits;
use zonewright::diff::{RuleContext, Selection, SubjectStandings, TrippedHosts};
use zonewright::dns::{Name, NameRef, RdataRef, Rtype, reverse};
use zonewright::inventory::value::Time;
use zonewright::inventory::{self, Inventory};
use zonewright::live::{Live, LiveRrset};

use super::{on_fleets, plan_of};

/// A fleet's inventory and zones; none where its settings are refused.
pub fn read(fleet: &Path, now: Time) -> Option<(Inventory, Live)> {
    plan_of(fleet)?;
    let inventory = inventory::load_workspace(fleet, now, &|_| {}).inventory.expect("settings that `plan` took");
    let live = crate::read_zones(&inventory, fleet, now).live;
    Some((inventory, live))
}

/// The clock of the fleets.
pub fn now() -> Time {
    "2026-11-20T02:00:00Z".parse().expect("a time")
}

/// Where RRsets are: zone and number.
fn places<'l>(found: impl Iterator<Item = LiveRrset<'l>>) -> Vec<(u32, u32)> {
    found.map(|found| (found.zone.0, found.rrset.id())).collect()
}

/// The live RRsets of a type that a value is in, found by looking at all.
fn all_with<'l>(live: &'l Live, rtype: Rtype, is_meant: impl Fn(RdataRef<'l>) -> bool) -> Vec<(u32, u32)> {
    let is_whole =
        |found: &LiveRrset<'_>| rtype != Rtype::PTR || reverse::address_of(found.rrset.owner().as_name()).is_some();
    places(live.rrsets_of(rtype).filter(is_whole).filter(|found| found.rrset.rdata().any(&is_meant)))
}

/// Looks up every address and every name of the zones, and compares with a look at all records.
pub fn compare_look_ups(live: &Live, seed: u64) {
    let rdata = |rtype| live.rrsets_of(rtype).flat_map(|found| found.rrset.rdata());
    let addresses: BTreeSet<IpAddr> =
        rdata(Rtype::AAAA).chain(rdata(Rtype::A)).filter_map(|rdata| rdata.address()).collect();
    for address in addresses {
        let rtype = if address.is_ipv4() { Rtype::A } else { Rtype::AAAA };
        let all = all_with(live, rtype, |rdata| rdata.address() == Some(address));
        assert_eq!(places(live.holding(address)), all, "fleet {seed}: {address}");
    }
    let owners = [Rtype::AAAA, Rtype::A, Rtype::PTR].into_iter().flat_map(|rtype| live.rrsets_of(rtype));
    let targets = rdata(Rtype::PTR).filter_map(|rdata| rdata.target());
    let names: BTreeSet<Name> = owners.map(|found| found.rrset.owner()).chain(targets.map(NameRef::to_name)).collect();
    for name in names {
        let all = all_with(live, Rtype::PTR, |rdata| rdata.target() == Some(name.as_name()));
        assert_eq!(places(live.pointing_to(name.as_name())), all, "fleet {seed}: {name}");
    }
}

/// What decisions about a fleet depend on, where nothing is selected and there is no state.
pub fn decision_input(inventory: &Inventory, decide: impl FnOnce(DecisionInput<'_>)) {
    let (selection, tripped, waits) = (Selection::default(), TrippedHosts::default(), RrsetWaits::default());
    decide(DecisionInput {
        servers: &server_names(inventory),
        bounds: &PoolBounds::new(),
        now: now(),
        selection: &selection,
        tripped: &tripped,
        waits: &waits,
        statements: &KeptStatements::default(),
        held: &HeldEdits::default(),
        recent: &RecentPods::default(),
        copies: &[],
        own_of_records: &BTreeMap::new(),
        survey: None,
    });
}

/// Decides for all hosts, and shows `look` what this is based on.
pub fn decide_all(
    inventory: &Inventory,
    live: &Live,
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions),
) {
    decision_input(inventory, |given| decide::decide_and(inventory, live, given, look));
}

#[test]
fn the_rules_find_nothing_to_do_for_hosts_that_are_told_without_them() {
    let settled = Cell::new(0);
    on_fleets(|seed, fleet| {
        let Some((inventory, live)) = read(fleet, now()) else { return };
        decide_all(&inventory, &live, |context, standings, decided| {
            settled.set(settled.get() + context.settled.iter().filter(|is_settled| **is_settled).count());
            let unsettled = vec![false; inventory.hosts.len()];
            let (all_standings, all) = judge::judge_all(&RuleContext { settled: &unsettled, ..*context });
            assert_eq!(standings.hosts, all_standings.hosts, "fleet {seed}");
            assert_eq!(decided.changes, all.changes, "fleet {seed}");
            assert_eq!(decided.blocked, all.blocked, "fleet {seed}");
            assert_eq!(decided.skipped, all.skipped, "fleet {seed}");
            assert_eq!(decided.notices, all.notices, "fleet {seed}");
            assert_eq!(decided.waiting, all.waiting, "fleet {seed}");
        });
    });
    // Without Python there are no fleets, which is reported.
    assert!(crate::support::python().is_none() || settled.get() > 100, "{} hosts are settled", settled.get());
}

#[test]
fn what_holds_an_address_or_points_to_a_name_is_found_as_by_a_look_at_all_records() {
    on_fleets(|seed, fleet| {
        let Some((inventory, live)) = read(fleet, now()) else { return };
        compare_look_ups(&live, seed);
        // Deciding tells beforehand what it found to be in order.
        let (_, live) = read(fleet, now()).expect("as before");
        decide_all(&inventory, &live, |_, _, _| {});
        compare_look_ups(&live, seed);
    });
}
