//! What tests of plans and applies share.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::conduct::{ApplyConduct, NoLog};
use crate::inventory::value::Time;
use crate::progress::{Progress, RunStage};

/// Shows no progress.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}
}

/// How a run applies where nothing is said on the command line.
pub fn conduct<'a>(workspace: &'a Path, now: Time, run: u64, interrupted: &'a AtomicBool) -> ApplyConduct<'a> {
    ApplyConduct {
        workspace,
        now,
        read_at: None,
        began: Instant::now(),
        who: "",
        reason: None,
        max_failures: None,
        run,
        interrupted,
        allow: &[],
        auto: false,
        ignores_gates: false,
        ignores_approvals: false,
        waits: false,
        log: &NoLog,
        is_patient: false,
    }
}
