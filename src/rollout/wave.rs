//! Waves: the units that go now, with the leave to write them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::board::HeldBack;
use super::choice::RolloutChoice;
use crate::guard::Clearance;

/// The units that go together, and the leave to write them. Nothing else makes one, and `apply` writes no other unit.
#[derive(Debug)]
pub struct Wave {
    /// The leave that `guard` gave after it counted what is still to be made; each wave has its own.
    clearance: Clearance,
    /// Why units wait, by their places among those of the plan; all other open ones go.
    held: BTreeMap<usize, HeldBack>,
    /// The units of those that a service rejected.
    rejected: BTreeSet<usize>,
}

impl Wave {
    /// The `id` of the plan whose units these are.
    pub fn plan(&self) -> &str {
        self.clearance.plan()
    }

    /// Why a unit does not go with it; none where it does.
    pub fn held(&self, unit: usize) -> Option<&HeldBack> {
        self.held.get(&unit)
    }

    /// Whether a unit does not go with it because a service rejected it.
    pub fn is_rejected(&self, unit: usize) -> bool {
        self.rejected.contains(&unit)
    }
}

/// The wave of what was chosen.
pub fn next(choice: &RolloutChoice, clearance: Clearance) -> Wave {
    Wave { clearance, held: choice.held.clone(), rejected: choice.rejected.clone() }
}
