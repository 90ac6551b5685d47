//! Waves: the units that go now, with the leave to write them. Pure.

use std::collections::BTreeSet;

use crate::guard::Clearance;

/// The units that go together, and the leave to write them. Nothing else makes one, and `apply` writes no other unit.
#[derive(Debug)]
pub struct Wave {
    /// The leave that `guard` gave after it counted what is still to be made; each wave has its own.
    clearance: Clearance,
    /// The places of its units among those of the plan.
    units: BTreeSet<usize>,
}

impl Wave {
    /// The `id` of the plan whose units these are.
    pub fn plan(&self) -> &str {
        self.clearance.plan()
    }

    /// Whether a unit goes with it.
    pub fn includes(&self, unit: usize) -> bool {
        self.units.contains(&unit)
    }
}

/// The next wave of the units that are open, by their places among those of the plan. While nothing has a budget, all
/// of them go at once.
pub fn next(open: impl IntoIterator<Item = usize>, clearance: Clearance) -> Wave {
    Wave { clearance, units: open.into_iter().collect() }
}
