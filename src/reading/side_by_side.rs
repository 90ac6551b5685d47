//! Work on zones, a few of each target at once.

use std::collections::BTreeMap;

use crate::parallel;

/// How many zones of one target are read at the same time. Most of the time is spent waiting for a server or a disk, so
/// that more than the number of processors helps; a name server limits transfers to a client (BIND's `transfers-per-ns`
/// is 2, `transfers-out` 10).
const SIDE_BY_SIDE: usize = 4;

/// Runs `work` for each place in `targets`, a few of each target at once, and gives the answers in order.
pub fn side_by_side<K: Ord, T: Send>(targets: &[K], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut by_target: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
    for (place, target) in targets.iter().enumerate() {
        by_target.entry(target).or_default().push(place);
    }
    let count = by_target.len();
    let of_targets = parallel::side_by_side(by_target.into_values().collect(), count, |places: Vec<usize>| {
        parallel::side_by_side(places, SIDE_BY_SIDE, |place| (place, work(place)))
    });
    let mut done: Vec<(usize, T)> = of_targets.into_iter().flatten().collect();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, answer)| answer).collect()
}
