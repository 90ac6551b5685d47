//! How a plan is applied, resumed or undone: where, when, by whom, and how far.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::approval::CmsCall;
use crate::guard::Allowance;
use crate::inventory::value::{self, Time};

/// Gets what a run does, while it goes on.
pub trait RunLog: fmt::Debug + Sync {
    /// Requests to cluster-management services have ended, in this order.
    fn asked(&self, calls: &[CmsCall]);
}

/// Keeps nothing of it.
#[derive(Debug)]
pub struct NoLog;

impl RunLog for NoLog {
    fn asked(&self, _: &[CmsCall]) {}
}

/// How to apply: where, when, who, and how far.
#[derive(Debug, Clone, Copy)]
pub struct ApplyConduct<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock that the plan's age is measured against.
    pub now: Time,
    /// When that clock was read, so that later times are measured; none where the clock is set by hand, and does not
    /// run.
    pub read_at: Option<Instant>,
    /// When the command began, by a clock that runs on even where the other one is set by hand.
    pub began: Instant,
    /// Who applies it; empty where the system does not say.
    pub who: &'a str,
    /// Why, where the operator says so.
    pub reason: Option<&'a str>,
    /// After how many failed hosts nothing more is sent.
    pub max_failures: Option<usize>,
    /// A number that no other run is likely to have: 1 to 999 999 999.
    pub run: u64,
    /// Set once a signal asks the apply to end.
    pub interrupted: &'a AtomicBool,
    /// The limits that are lifted.
    pub allow: &'a [Allowance],
    /// Whether the run is unattended, so that a limit that is exceeded trips its breaker.
    pub auto: bool,
    /// Whether waves go without asking their gates.
    pub ignores_gates: bool,
    /// Whether hosts that are named go without the approvals that they need.
    pub ignores_approvals: bool,
    /// Whether name servers are waited for.
    pub waits: bool,
    /// Gets what the run does.
    pub log: &'a dyn RunLog,
    /// Whether it waits for the lock of the state as long as another command has it.
    pub is_patient: bool,
}

impl ApplyConduct<'_> {
    /// Whether the lock of the state is waited for.
    pub fn waits_for_lock(&self) -> bool {
        self.is_patient && !self.interrupted.load(Ordering::SeqCst)
    }

    /// The clock as it is now.
    pub fn clock(&self) -> Time {
        self.now.plus(value::Duration::measured(self.read_at.map_or(Duration::ZERO, |read_at| read_at.elapsed())))
    }

    /// The clock of waves, which runs on while the command runs.
    pub fn wave_clock(&self) -> Time {
        self.now.plus(value::Duration::measured(self.began.elapsed()))
    }
}
