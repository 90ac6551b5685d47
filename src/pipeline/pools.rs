//! Work on zones, a few of each pool at once.

use std::collections::BTreeMap;

use crate::parallel;

/// How many zones of one target are read at the same time. Most of the time is spent waiting for a server or a disk, so
/// that more than the number of processors helps; a name server limits transfers to a client (BIND's `transfers-per-ns`
/// is 2, `transfers-out` 10).
const SIDE_BY_SIDE: usize = 4;

/// Runs `work` for each place in `pools`, a few of each pool at once, and gives the answers in order.
pub fn side_by_side<T: Send>(pools: &[usize], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut by_pool: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, pool) in pools.iter().enumerate() {
        by_pool.entry(*pool).or_default().push(place);
    }
    let count = by_pool.len();
    let of_pools = parallel::side_by_side(by_pool.into_values().collect(), count, |places: Vec<usize>| {
        parallel::side_by_side(places, SIDE_BY_SIDE, |place| (place, work(place)))
    });
    let mut done: Vec<(usize, T)> = of_pools.into_iter().flatten().collect();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, answer)| answer).collect()
}
