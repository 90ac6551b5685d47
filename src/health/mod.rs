//! Asks gates and probes.
//!
//! Comes in: what the settings say of one, and for whom it is asked. Goes out: whether it passed, and what it said. The
//! time-outs are the machine's.

pub mod gate;

pub mod probe;

use std::time::Duration;

/// How long to wait before another attempt: a service that restarts is back after some seconds.
const PAUSE: Duration = Duration::from_secs(1);
