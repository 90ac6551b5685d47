//! What is the same for all that one process does: its number, its clock, and what it has to report.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use crate::inventory::config::notify::AttentionReason;

/// How many numbers of runs there are: nine digits, since a marker holds the number with that of an update.
const NUMBERS: u64 = 999_999_999;

/// One run of the program.
#[derive(Debug)]
pub struct ProcessRun {
    /// A number that no other run is likely to have: 1 to 999 999 999. Markers and all events of the run have it.
    pub run: u64,
    /// When it began.
    pub began: Instant,
    /// The command; empty until it is known.
    pub command: &'static str,
    /// Whether an outcome was reported, so that the end of the run needs no event of its own.
    pub has_outcome: Cell<bool>,
    /// What went wrong, in words, as far as it was printed.
    pub problems: RefCell<Vec<String>>,
    /// The events that need a person, as lines, for the end of the run.
    pub for_people: RefCell<Vec<(AttentionReason, String)>>,
}

impl ProcessRun {
    /// Notes what went wrong.
    pub fn note_problem(&self, problem: impl Into<String>) {
        self.problems.borrow_mut().push(problem.into());
    }

    /// Whether it is a pass of `run`: it waits for its turn at the state, and one that does nothing says nothing.
    pub fn is_pass(&self) -> bool {
        self.command == "run"
    }

    /// How long it has been running.
    pub fn took(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Default for ProcessRun {
    /// A run that begins now.
    fn default() -> ProcessRun {
        ProcessRun {
            run: 1 + RandomState::new().hash_one(()) % NUMBERS,
            began: Instant::now(),
            command: "",
            has_outcome: Cell::new(false),
            problems: RefCell::default(),
            for_people: RefCell::default(),
        }
    }
}
