//! The seeds of random fleets, worked through by several threads.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The seeds to run: those of `FLEETS` in the environment, as `1-2000`, else from 1 to `last`.
pub fn seeds(last: u64) -> RangeInclusive<u64> {
    let Ok(text) = std::env::var("FLEETS") else { return 1..=last };
    let (from, to) = text.split_once('-').expect("FLEETS is FROM-TO");
    from.parse().expect("a number")..=to.parse().expect("a number")
}

/// Runs `work` for each seed, with a folder of its own that does not exist yet.
pub fn each(seeds: RangeInclusive<u64>, work: impl Fn(u64, &Path) + Sync) {
    let folder = tempfile::tempdir().expect("a folder for the fleets");
    let next = AtomicU64::new(*seeds.start());
    let take = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > *seeds.end() {
                return;
            }
            work(seed, &folder.path().join(seed.to_string()));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(take);
        }
    });
}
