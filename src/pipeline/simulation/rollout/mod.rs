//! Rollouts under random seeds: hosts whose addresses move, name servers that lag, resolvers that keep what they heard
//! for its TTL, runs that die at any point, clocks that are set back, gates that do not pass, exports that are wrong, hosts
//! that move by themselves, plans whose runs take turns with one state, and a state that is put back from an earlier time.
//! After each event it is counted whom a client may not reach; where old and new addresses overlap, also who hears a wrong
//! address next to a right one, and no client may hear wrong ones alone.
//!
//! The old address of a host ends in the moment in which the new one is written. That is the worst case: a client that
//! still hears the old one, from a cache or from a name server that lags, does not reach the host because of zonewright.
//! Where the export is wrong, the host stays at the old one. A host that moved by itself is not counted, and must not wait.
//!
//! | part | what it does |
//! |---|---|
//! | `world` | the truth: hosts, name servers and resolvers |
//! | `stage` | dice, and where a run dies |
//! | `site` | the zone, its name servers, and what people set |
//! | `runs` | plans and applies |
//! | `restore` | a state of an earlier time |
//! | `story` | the order of all that |
//!
//! `ROLLOUT_SEEDS=N cargo test --lib simulation::rollout` runs so many seeds, from `SIMULATION_FROM` on.

mod restore;

mod runs;

mod site;

mod stage;

mod story;

mod world;

use std::time::Instant;

use self::stage::Weakness;
use self::story::{play, tell};
use super::number;
use super::seeds::search;

#[test]
fn no_more_hosts_than_the_budget_are_unreachable_at_once_whatever_happens() {
    let (from, count) = (number("SIMULATION_FROM", 0), number("ROLLOUT_SEEDS", 400));
    let begun = Instant::now();
    let found = search(from..from + count, 1, || (), |(), seed| play(seed, Weakness::None).err()).into_iter().next();
    println!("{count} seeds, {:.0} a second", count as f64 / begun.elapsed().as_secs_f64());
    if let Some((seed, history)) = found {
        panic!("seed {seed}:\n{}", history.join("\n"));
    }
}

#[test]
fn a_seed_tells_the_same_story_each_time() {
    for seed in 0..40 {
        let told = tell(seed, Weakness::None);
        assert_eq!(tell(seed, Weakness::None), told, "seed {seed}");
    }
}

#[test]
fn what_keeps_the_budget_is_missed_where_it_is_switched_off() {
    let all = [
        Weakness::NoRollout,
        Weakness::RowAfterMessage,
        Weakness::SettleFromReadBack,
        Weakness::NoFormerTtls,
        Weakness::NoProbe,
        Weakness::NoOverlap,
        Weakness::NoMarker,
    ];
    for weakness in all {
        let found = (0..400).find_map(|seed| Some((seed, play(seed, weakness).err()?)));
        let (seed, history) = found.unwrap_or_else(|| panic!("{weakness:?} is not missed"));
        println!("{weakness:?} is missed after {} seeds: {}", seed + 1, history.last().unwrap());
    }
}
