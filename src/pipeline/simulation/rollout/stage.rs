//! What the runs of one seed share: dice that say where a run dies, and what is switched off.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::cast::Journaled;
use super::super::stage::Crash;
use super::super::wires::RunPoints;
use crate::state::ApplyId;
use crate::verify::truth::Numbers;

/// Which protection is switched off, to see that the simulation finds the faults that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Nothing.
    None,
    /// No project has a rollout.
    NoRollout,
    /// What is in flux is not on disk before the first message.
    RowAfterMessage,
    /// Name servers count as current as soon as the primary was read back.
    SettleFromReadBack,
    /// The journal is not asked for TTLs that were lowered.
    NoFormerTtls,
    /// No project has a probe, although exports are wrong.
    NoProbe,
    /// It is forgotten that old and new addresses are there together.
    NoOverlap,
    /// The zone has no marker.
    NoMarker,
}

/// The dice.
pub struct RolloutStage {
    /// What is switched off.
    pub weakness: Weakness,
    /// The dice, and whether a run may die.
    dice: Mutex<(Numbers, bool)>,
    /// Whether all gates pass.
    is_well: AtomicBool,
}

impl RolloutStage {
    /// The dice of a seed.
    pub fn new(seed: u64, weakness: Weakness) -> RolloutStage {
        RolloutStage { weakness, dice: Mutex::new((Numbers(seed), false)), is_well: AtomicBool::new(false) }
    }

    /// A number below another.
    pub fn below(&self, bound: usize) -> usize {
        self.dice.lock().unwrap().0.below(bound)
    }

    /// Lets all gates pass from now on.
    pub fn end_faults(&self) {
        self.is_well.store(true, Ordering::SeqCst);
    }

    /// Whether a gate passes now.
    pub fn gate_passes(&self) -> bool {
        self.is_well.load(Ordering::SeqCst) || self.below(4) > 0
    }

    /// Lets runs die from now on, or not.
    pub fn set_deadly(&self, is_deadly: bool) {
        self.dice.lock().unwrap().1 = is_deadly;
    }
}

impl RunPoints for RolloutStage {
    fn point(&self, _: usize, _: &str) {
        let dies = {
            let mut dice = self.dice.lock().unwrap();
            dice.1 && dice.0.below(12) == 0
        };
        if dies {
            resume_unwind(Box::new(Crash));
        }
    }

    fn pool_point(&self, run: usize, what: &str) {
        self.point(run, what);
    }

    fn note_begun(&self, _: ApplyId, _: &str) {}

    fn note_journaled(&self, _: Journaled) {}

    fn keeps_waves(&self) -> bool {
        self.weakness != Weakness::RowAfterMessage
    }

    fn knows_former_ttls(&self) -> bool {
        self.weakness != Weakness::NoFormerTtls
    }

    fn remembers_overlaps(&self) -> bool {
        self.weakness != Weakness::NoOverlap
    }
}
