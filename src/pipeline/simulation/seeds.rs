//! Many seeds on all processors.

use std::ops::Range;
use std::sync::Mutex;

/// The seeds that show something, sorted, each with what it is; the search ends once `most` of them were found. Each thread has
/// a value of its own that `start` makes, for what is costly to make anew for each seed.
pub fn search<T: Send, S>(
    seeds: Range<u64>,
    most: usize,
    start: impl Fn() -> S + Sync,
    play: impl Fn(&mut S, u64) -> Option<T> + Sync,
) -> Vec<(u64, T)> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let found = Mutex::new(Vec::new());
    let search = |first: u64| {
        let mut own = start();
        for seed in (seeds.start + first..seeds.end).step_by(threads as usize) {
            let shows = play(&mut own, seed);
            let mut found = found.lock().unwrap();
            found.extend(shows.map(|shown| (seed, shown)));
            if found.len() >= most {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for first in 0..threads {
            let search = &search;
            scope.spawn(move || search(first));
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_unstable_by_key(|(seed, _)| *seed);
    found
}
