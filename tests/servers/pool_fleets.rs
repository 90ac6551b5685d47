//! Random fleets in one pool with BIND, Knot and PowerDNS, each with differences of its own: one plan and one apply bring all
//! copies to what is claimed, and leave all else as it is. Copies that are out of reach in turn never flap.
//!
//! `POOL_HOSTS=2000 POOL_SEEDS=5 cargo test --test servers pool_fleets` makes larger fleets, and more of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::time::Instant;

use crate::planted::{Copies, Dice, Place, PlantedFleet, rrsets_of};
use crate::rig::{apply_in, plan_in};
use crate::trio::{PoolManner, Trio};

/// How long a target may be silent here: long enough for a loaded machine.
const PATIENT: PoolManner = PoolManner { threshold: 100, timeout: 60 };

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn one_plan_and_apply_bring_all_copies_to_what_is_claimed_and_leave_all_else() {
    let (hosts, seeds) = (number("POOL_HOSTS", 60), number("POOL_SEEDS", 1));
    for seed in 1..=seeds {
        let begun = Instant::now();
        let Some(trio) = Trio::start(PlantedFleet::new(hosts as usize, seed), PATIENT) else { return };
        let plan = plan_in(trio.path(), &[]);
        let changes = plan.document["changes"].as_array().expect("a list").len();
        apply_in(trio.path(), &plan.file, &[]).assert_all(0, "applied");
        let after = trio.copies();
        let faults = trio.fleet.faults(&trio.before, &after, true);
        assert!(faults.is_empty(), "seed {seed}: {} faults: {:#?}", faults.len(), &faults[..faults.len().min(20)]);
        let again = plan_in(trio.path(), &[]).changes();
        assert!(again.is_empty(), "seed {seed}: {again:#?}");
        if seeds > 1 {
            let unclaimed = rrsets_of(&after[0]).len();
            let took = begun.elapsed();
            writeln!(
                std::io::stderr(),
                "seed {seed}: {hosts} hosts, {changes} changes, {unclaimed} RRsets in a copy, {took:.1?}"
            )
            .expect("stderr");
        }
    }
}

/// What RRsets held over time, copy by copy: each value once in a row.
#[derive(Default)]
struct Past([BTreeMap<Place, Vec<BTreeSet<String>>>; 3]);

impl Past {
    /// Adds what the copies hold now.
    fn note(&mut self, copies: &Copies) {
        for (past, copy) in self.0.iter_mut().zip(copies) {
            let mut now = rrsets_of(copy);
            let gone: Vec<Place> = past.keys().filter(|place| !now.contains_key(*place)).cloned().collect();
            now.extend(gone.into_iter().map(|place| (place, BTreeSet::new())));
            let is_first = past.is_empty();
            for (place, lines) in now {
                // What is new was nothing at first.
                let first = || if is_first { Vec::new() } else { vec![BTreeSet::new()] };
                let values = past.entry(place).or_insert_with(first);
                if values.last() != Some(&lines) {
                    values.push(lines);
                }
            }
        }
    }

    /// The RRsets that hold again what an apply made of them before, and another one changed since. What was planted does not
    /// count: an address that a host may have can be right by the reference copy, and not by what another copy held at first.
    fn flapping(&self) -> Vec<String> {
        let is_flapping = |values: &&[BTreeSet<String>]| {
            let distinct: BTreeSet<&BTreeSet<String>> = values.iter().collect();
            distinct.len() < values.len()
        };
        let mut flapping = Vec::new();
        for (copy, past) in self.0.iter().enumerate() {
            let made = past.iter().map(|(place, values)| (place, &values[1..]));
            let back = made.filter(|(_, values)| is_flapping(values));
            flapping.extend(back.map(|(place, values)| format!("copy {copy}: {place:?}: {values:?}")));
        }
        flapping
    }
}

#[test]
fn copies_that_are_out_of_reach_in_turn_never_flap() {
    const PASSES: usize = 12;
    let manner = PoolManner { threshold: 33, ..PATIENT };
    for seed in 1..=number("POOL_SEEDS", 8) {
        // Hosts of which copies hold other A records are blocked only while both copies are known.
        let fleet = PlantedFleet::without_blocked(30, 100 + seed);
        let Some(trio) = Trio::start(fleet, manner) else { return };
        let (mut past, mut dice) = (Past::default(), Dice(seed));
        past.note(&trio.before);
        for pass in 0..PASSES {
            // In turn one of them, and sometimes another one with it.
            let away = BTreeSet::from([pass % 3, dice.below(3)]);
            away.iter().for_each(|copy| trio.gates[*copy].set_shut(true));
            let plan = plan_in_part(&trio);
            let applied = apply_in(trio.path(), &plan, &[]);
            assert!(applied.exit.is_some_and(|exit| [0, 4].contains(&exit)), "pass {pass}: {}", applied.said());
            away.iter().for_each(|copy| trio.gates[*copy].set_shut(false));
            past.note(&trio.copies());
            if dice.below(3) == 0 {
                let synced = trio.run(&["sync"]);
                // Where a copy was unknown, and differs from what the reference was, the next plan decides.
                let is_right = synced.status.code().is_some_and(|code| [0, 4].contains(&code));
                assert!(is_right, "{}", String::from_utf8_lossy(&synced.stdout));
                past.note(&trio.copies());
            }
            let flapping = past.flapping();
            assert!(flapping.is_empty(), "seed {seed}, pass {pass}: {flapping:#?}");
        }
        let plan = plan_in(trio.path(), &[]);
        apply_in(trio.path(), &plan.file, &[]);
        past.note(&trio.copies());
        assert!(past.flapping().is_empty(), "seed {seed}: {:#?}", past.flapping());
        let faults = trio.fleet.faults(&trio.before, &trio.copies(), false);
        assert!(faults.is_empty(), "seed {seed}: {faults:#?}");
        let again = plan_in(trio.path(), &[]).changes();
        assert!(again.is_empty(), "seed {seed}: {again:#?}");
    }
}

/// Plans while targets are away, and saves the plan.
fn plan_in_part(trio: &Trio) -> std::path::PathBuf {
    let file = trio.path().join("plan-in-part.json");
    let output = trio.run(&["plan", "--format", "json", "--out", file.to_str().expect("UTF-8")]);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    file
}
