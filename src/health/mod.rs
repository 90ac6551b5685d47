//! Asks gates and probes.
//!
//! Comes in: what the settings say of one, and for whom it is asked. Goes out: whether it passed, and what it said. The
//! time-outs are the machine's.

pub mod gate;

pub mod probe;

use std::path::Path;
use std::time::Duration;

/// What gates and probes are asked with.
#[derive(Clone, Copy)]
pub struct AskContext<'a> {
    /// The folder in which a command runs.
    pub workspace: &'a Path,
    /// Waits between two attempts, and says whether to go on.
    pub pause: &'a dyn Fn(Duration) -> bool,
    /// Whether the answer is no longer needed.
    pub is_over: &'a dyn Fn() -> bool,
}

/// How long to wait before another attempt: a service that restarts is back after some seconds.
const PAUSE: Duration = Duration::from_secs(1);
