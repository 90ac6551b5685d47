//! Steps: each apply that changes a zone is one; and which of them a serial shows. Pure.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dns::Serial;

/// The number of a step of a zone, from 1; 0 is before all steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepNumber(pub u64);

impl StepNumber {
    /// Before all steps.
    pub const NONE: StepNumber = StepNumber(0);

    /// The one before it.
    pub fn before(self) -> StepNumber {
        StepNumber(self.0.saturating_sub(1))
    }

    /// The one after it.
    pub fn next(self) -> StepNumber {
        StepNumber(self.0 + 1)
    }
}

impl fmt::Display for StepNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The serial that a target served once it had reached a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSerial {
    /// The step.
    pub step: StepNumber,
    /// The serial of the SOA.
    pub serial: Serial,
}

/// Whether a serial is after another. Two serials that are 2^31 apart have no order (RFC 1982 section 3.2).
pub fn is_past(serial: Serial, other: Serial) -> bool {
    serial.partial_cmp(&other) == Some(Ordering::Greater)
}

/// Whether a serial is another one or after it.
pub fn is_at_or_past(serial: Serial, other: Serial) -> bool {
    serial == other || is_past(serial, other)
}

/// What is kept of one target for one zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServedSteps {
    /// The highest step of which, and of all before it, the target lacks nothing.
    pub reached: StepNumber,
    /// The serials that it served, step by step.
    pub serials: Vec<StepSerial>,
}

impl ServedSteps {
    /// The step that a server has reached which serves this serial: the highest that the target has reached and whose
    /// serial this one is at or past.
    pub fn shown_by(&self, serial: Serial) -> StepNumber {
        let reached = self.serials.iter().filter(|kept| kept.step <= self.reached);
        let shown = reached.filter(|kept| is_at_or_past(serial, kept.serial));
        shown.map(|kept| kept.step).max().unwrap_or(StepNumber::NONE)
    }

    /// Whether a target that serves this serial after a change went back behind one that it served before.
    pub fn is_set_back(&self, serial: Serial) -> bool {
        !self.serials.iter().all(|kept| is_past(serial, kept.serial))
    }
}
