//! Runs against a primary in memory under random seeds: losses, late originals, doubles, crashes at any point, other
//! editors, and resumed runs. Then everything is compared with the truth, which is the log of the primary.
//!
//! Everything is as in an apply, except the server, the network and the clock: the same rooms decide what is sent,
//! journaled and read. One thread runs at a time. The dice of the seed say which, so that a seed always gives the same
//! result.
//!
//! `SIMULATION_SEEDS=N cargo test --lib simulation` runs so many seeds, from `SIMULATION_FROM` on.

mod approvals;

mod cast;

mod check;

mod clouds;

mod effects;

mod fleet;

mod journals;

mod marks;

mod pods;

mod pools;

mod rollout;

mod run_wire;

mod stage;

mod steps;

mod story;

mod seed_play;

mod seeds;

mod telling;

mod wires;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use self::seed_play::{PrimaryKind, SeedPlay, Weakness};
use self::seeds::search;

use self::story::{Violation, play};
use crate::inventory::value::Time;
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::fixture;
use crate::state::Sqlite;
use crate::target::PoolName;

/// How a run of a story applies: as nothing is said on the command line.
fn conduct(now: Time, run: u64, interrupted: &AtomicBool) -> ApplyConduct<'_> {
    fixture::conduct(Path::new("."), now, run, interrupted)
}

/// The pool of all zones.
fn pool() -> PoolName {
    "main".parse().unwrap()
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// What a seed shows.
fn shown(own: &SeedPlay) -> Option<Violation> {
    play(own, &mut [Sqlite::in_memory(), Sqlite::in_memory()]).err()
}

/// The seeds that show a violation, sorted; the search ends once `most` of them were found.
fn violations(seeds: Range<u64>, (kind, weakness): (PrimaryKind, Weakness), most: usize) -> Vec<u64> {
    let states = || [Sqlite::in_memory(), Sqlite::in_memory()];
    let found = search(seeds, most, states, |states, seed| {
        play(&SeedPlay { seed, kind, weakness, has_history: false }, states).err()
    });
    found.into_iter().map(|(seed, _)| seed).collect()
}

/// Plays so many seeds, of which none may show a violation.
fn hold(kind: PrimaryKind, count: u64) {
    let (from, count) = (number("SIMULATION_FROM", 0), number("SIMULATION_SEEDS", count));
    let begun = Instant::now();
    let found = violations(from..from + count, (kind, Weakness::None), 20);
    println!("{kind:?}: {count} seeds, {:.0} a second", count as f64 / begun.elapsed().as_secs_f64());
    let play = |seed: u64, has_history| SeedPlay { seed, kind, weakness: Weakness::None, has_history };
    let faults: Vec<String> = found
        .iter()
        .map(|seed| format!("seed {seed}: {}", shown(&play(*seed, false)).unwrap().faults.join("; ")))
        .collect();
    if let Some(first) = found.first() {
        let history = shown(&play(*first, true)).unwrap().history;
        panic!("{}\n\nseed {first}:\n{}", faults.join("\n"), history.join("\n"));
    }
}

/// Looks for a violation with each of some protections switched off.
fn miss(kind: PrimaryKind, weaknesses: &[Weakness]) {
    for weakness in weaknesses.iter().copied() {
        let found = violations(0..3_000, (kind, weakness), 1);
        let seed = *found.first().unwrap_or_else(|| panic!("{weakness:?} is not missed"));
        let fault = &shown(&SeedPlay { seed, kind, weakness, has_history: false }).unwrap().faults[0];
        println!("{weakness:?} is missed after {} seeds: {fault}", seed + 1);
    }
}

#[test]
fn whatever_happens_nothing_is_lost_or_told_wrong() {
    hold(PrimaryKind::Memory, 1_500);
}

#[test]
fn whatever_happens_at_route_53_nothing_is_lost_or_told_wrong() {
    hold(PrimaryKind::Route53, 200);
}

#[test]
fn whatever_happens_at_azure_nothing_is_lost_or_told_wrong() {
    hold(PrimaryKind::Azure, 100);
}

#[test]
fn whatever_happens_at_cloud_map_nothing_is_lost_or_told_wrong() {
    hold(PrimaryKind::CloudMap, 80);
}

#[test]
fn what_protects_is_missed_where_it_is_switched_off() {
    miss(PrimaryKind::Memory, &[Weakness::Prerequisites, Weakness::Marker, Weakness::PreRead]);
}

#[test]
fn what_protects_at_route_53_is_missed_where_it_is_switched_off() {
    // What only a look before the first message finds, a TTL that changed, the service compares.
    miss(PrimaryKind::Route53, &[Weakness::Prerequisites, Weakness::Marker]);
}

#[test]
fn what_protects_at_azure_is_missed_where_it_is_switched_off() {
    // Without a marker and with all compared by the service, these two are left.
    miss(PrimaryKind::Azure, &[Weakness::Prerequisites, Weakness::Order]);
}

#[test]
fn what_protects_at_cloud_map_is_missed_where_it_is_switched_off() {
    // Nothing is compared, and there is no marker.
    miss(PrimaryKind::CloudMap, &[Weakness::Order, Weakness::Wait]);
}
