//! The same with two or three targets in one pool: under random seeds the run dies at any step, a target dies, loses answers,
//! refuses or is edited by another editor at any step, and copies are unknown when a plan is made. Then the apply is resumed,
//! `sync` is said, or a new plan is applied. All is compared with the logs of the primaries, which are the truth.
//!
//! Targets are written side by side, by threads. A seed decides what happens at each step of each target, but not which of
//! two targets is faster: a seed that shows a fault may have to be played a few times.
//!
//! `POOL_SIMULATION_SEEDS=N cargo test --lib simulation::pools` plays so many seeds, from `SIMULATION_FROM` on.

mod check;

mod stage;

mod story;

mod wires;

use std::time::Instant;

use self::story::play;
use super::number;
use super::seed_play::Weakness;
use super::story::Violation;

#[test]
fn whatever_happens_to_targets_of_a_pool_nothing_is_overwritten_and_all_come_to_hold_the_same() {
    let (from, count) = (number("SIMULATION_FROM", 0), number("POOL_SIMULATION_SEEDS", 300));
    let begun = Instant::now();
    let found: Vec<(u64, Violation)> =
        (from..from + count).filter_map(|seed| Some((seed, play(seed, Weakness::None).err()?))).take(10).collect();
    println!("{count} seeds, {:.0} a second", count as f64 / begun.elapsed().as_secs_f64());
    let faults: Vec<String> =
        found.iter().map(|(seed, own)| format!("seed {seed}: {}", own.faults.join("; "))).collect();
    if let Some((first, violation)) = found.first() {
        panic!("{}\n\nseed {first}:\n{}", faults.join("\n"), violation.history.join("\n"));
    }
}

#[test]
fn in_pools_too_what_protects_is_missed_where_it_is_switched_off() {
    let weakness = Weakness::Prerequisites;
    let found = (0..1_000).find_map(|seed| Some((seed, play(seed, weakness).err()?)));
    let (seed, violation) = found.unwrap_or_else(|| panic!("{weakness:?} is not missed"));
    println!("{weakness:?} is missed after {} seeds: {}", seed + 1, violation.faults[0]);
}
