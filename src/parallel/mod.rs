//! Work on several threads at once, for work that mostly waits: for servers and disks.
//!
//! Comes in: items, and what to do with each. Goes out: the outcomes, in the order of the items.

use std::sync::Mutex;
use std::thread::{self, Builder};

/// Why a lock can be taken.
pub const HELD: &str = "no thread panics while it holds the lock";

/// Runs `act` on all items, at most so many at once; the outcomes have the order of the items. Where one is the most,
/// all of it runs on the thread of the caller.
pub fn side_by_side<I: Send, T: Send>(items: Vec<I>, most: usize, act: impl Fn(I) -> T + Sync) -> Vec<T> {
    if most == 1 {
        return items.into_iter().map(act).collect();
    }
    let count = items.len();
    let waiting = Mutex::new(items.into_iter().enumerate());
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    let work = || {
        loop {
            let next = waiting.lock().expect(HELD).next();
            let Some((place, item)) = next else { return };
            let outcome = act(item);
            done.lock().expect(HELD).push((place, outcome));
        }
    };
    thread::scope(|scope| {
        // Where the system gives fewer threads, those that there are do all of it.
        let started = (0..count.min(most)).take_while(|_| Builder::new().spawn_scoped(scope, work).is_ok()).count();
        if started == 0 {
            work();
        }
    });
    let mut done = done.into_inner().expect(HELD);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn outcomes_have_the_order_of_their_items_and_as_many_run_as_may() {
        let (first, second) = (Barrier::new(3), Barrier::new(3));
        let outcomes = side_by_side((0..6).collect(), 3, |item| {
            if item < 3 {
                first.wait()
            } else {
                second.wait()
            };
            item * 10
        });
        assert_eq!(outcomes, [0, 10, 20, 30, 40, 50]);
        assert!(side_by_side(Vec::<()>::new(), 3, |()| ()).is_empty());
    }

    #[test]
    fn one_at_a_time_runs_on_the_thread_of_the_caller() {
        let here = std::thread::current().id();
        assert_eq!(side_by_side(vec![1, 2], 1, |item| (item, std::thread::current().id())), [(1, here), (2, here)]);
    }
}
