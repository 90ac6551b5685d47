//! What gates said before waves. Pure.

use serde::Serialize;

use crate::document::words;
use crate::inventory::value::Time;

words! {
    /// The result of asking a gate.
    GateOutcome {
        /// It passed.
        Passed = "passed",
        /// It did not, so that its group waits.
        Failed = "failed",
        /// It was not asked: an operator said to go on without it.
        Ignored = "ignored",
    }
}

/// That a gate was asked before a wave, or was to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateAsked {
    /// When.
    pub at: Time,
    /// The group.
    pub group: String,
    /// The name of the gate in zonewright.toml.
    pub gate: String,
    /// The result.
    pub outcome: GateOutcome,
    /// What it printed, as one line; where it failed, why, too.
    pub said: String,
}
