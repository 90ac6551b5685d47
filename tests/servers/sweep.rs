//! Many cases tried on a few yards side by side, and which of them are tried.

use std::fmt::Debug;
use std::sync::Mutex;
use std::thread;

use crate::yard::Yard;

/// How many yards of a sweep run at a time.
const YARDS: usize = 2;

/// Whether a variable of the environment asks for all cases of a sweep.
pub fn wants_all(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|which| which == "all")
}

/// So many cases, or all where there are fewer, evenly from first to last.
pub fn sample<C: Clone>(cases: &[C], count: usize) -> Vec<C> {
    let count = count.min(cases.len());
    (0..count).map(|place| cases[place * cases.len() / count].clone()).collect()
}

/// Tries cases, each in a yard that was put back, as its number among them; gives what did not hold. The first yard is
/// at hand, others are made.
pub fn over<C: Debug + Sync>(
    first: &Yard,
    another: &(impl Fn() -> Option<Yard> + Sync),
    cases: &[C],
    attempt: impl Fn(&Yard, usize, &C) -> Result<(), String> + Sync,
) -> Vec<String> {
    let (queue, divergences) = (Mutex::new(cases.iter().enumerate()), Mutex::new(Vec::new()));
    let next = || queue.lock().expect("nothing panics with it").next();
    let work = |yard: &Yard| {
        while let Some((number, case)) = next() {
            yard.put_back();
            if let Err(divergence) = attempt(yard, number, case) {
                divergences.lock().expect("nothing panics with it").push(format!("{case:?}: {divergence}"));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..YARDS {
            scope.spawn(|| another().iter().for_each(work));
        }
        work(first);
    });
    divergences.into_inner().expect("nothing panics with it")
}
