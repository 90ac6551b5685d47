//! Changes in two steps: first the new addresses come, then the old ones go. Pure.
//!
//! Comes in: a change with what is there in between. Goes out: what of it is made in each step.

use super::units::ChangeUnit;
use crate::change::{Change, ChangeKind};
use crate::dns::Rrset;

/// Which part of a unit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitStep {
    /// All of it.
    Whole,
    /// What comes; what goes stays for now.
    ToVia,
    /// What goes; what comes is there.
    FromVia,
}

impl UnitStep {
    /// The first step of a unit, from what the plan saw.
    pub fn first(changes: &[Change], unit: &ChangeUnit) -> UnitStep {
        let has_via = unit.changes.iter().any(|place| changes[*place].via.is_some());
        if has_via { UnitStep::ToVia } else { UnitStep::Whole }
    }

    /// What is there before a change is made in this step, as the plan says.
    pub fn before(self, change: &Change) -> Option<&Rrset> {
        match (self, &change.via) {
            (UnitStep::FromVia, None) => change.kind.after(),
            (UnitStep::FromVia, via) => via.as_ref(),
            (UnitStep::Whole | UnitStep::ToVia, _) => change.kind.before(),
        }
    }

    /// What is there after it is made in this step.
    pub fn after(self, change: &Change) -> Option<&Rrset> {
        match (self, &change.via) {
            (UnitStep::ToVia, Some(via)) => Some(via),
            (UnitStep::Whole | UnitStep::ToVia | UnitStep::FromVia, _) => change.kind.after(),
        }
    }

    /// What of a change is made in this step.
    pub fn part(self, change: &Change) -> StepPart {
        let (before, after) = (self.before(change).cloned(), self.after(change).cloned());
        let with = |kind: ChangeKind| Change { kind, via: None, ..change.clone() };
        match (ChangeKind::between(before, after.clone()), after) {
            (Some(kind), _) => StepPart { change: with(kind), stays: false },
            (None, Some(rrset)) => {
                StepPart { change: with(ChangeKind::Modify { before: rrset.clone(), after: rrset }), stays: true }
            }
            // What is deleted at once is gone in the second step.
            (None, None) => StepPart { change: with(change.kind.clone()), stays: true },
        }
    }
}

/// What of a change is made in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPart {
    /// The change of this step. Where the RRset stays, it leaves what must be there.
    pub change: Change,
    /// Whether the RRset stays as it is in this step.
    pub stays: bool,
}
