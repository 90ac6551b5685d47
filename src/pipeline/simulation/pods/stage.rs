//! What the runs of one seed share: the truth, dice that say where a run dies, and what is switched off.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::cast::Journaled;
use super::super::stage::Crash;
use super::super::wires::RunPoints;
use super::sets::{TrueSet, ZONES};
use super::world::{NAME_SERVERS, World};
use crate::provider::memory::primary::UpdateFault;
use crate::state::ApplyId;
use crate::verify::truth::Numbers;

/// Which protection is switched off, to see that the simulation finds the faults that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Nothing.
    None,
    /// No set has a budget.
    NoRollout,
    /// Records of a pod that another replaces do not wait for that one.
    NoReplacedWait,
    /// A name counts as listed only while an SRV lists it at the primary.
    NoListedLately,
    /// Pods that are down do not count in the budget.
    NoDown,
    /// SRV list new names of pods whether these are there or not.
    NamesAfterSrv,
    /// It is forgotten that old and new addresses are there together.
    NoOverlap,
}

/// What dice decide.
struct Cast {
    /// The dice.
    dice: Numbers,
    /// Whether a run may die.
    is_deadly: bool,
}

/// The stage.
pub struct PodStage {
    /// What is switched off.
    pub weakness: Weakness,
    /// What dice decide.
    cast: Mutex<Cast>,
    /// The truth.
    world: Mutex<World>,
    /// Whether answers and updates are lost.
    is_stormy: Arc<AtomicBool>,
}

impl PodStage {
    /// The stage of a seed.
    pub fn new(seed: u64, weakness: Weakness) -> PodStage {
        let mut dice = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d);
        dice.below(2);
        let world = World::new(TrueSet::all(&mut dice));
        let is_stormy = Arc::new(AtomicBool::new(dice.below(2) == 0));
        let (mut faults, storm) = (Numbers(dice.below(1 << 30) as u64), Arc::clone(&is_stormy));
        world.primary.decide(move |_| match faults.below(12) {
            0 if storm.load(Ordering::SeqCst) => UpdateFault::LostAnswer,
            1 if storm.load(Ordering::SeqCst) => UpdateFault::Lost,
            _ => UpdateFault::None,
        });
        PodStage { weakness, cast: Mutex::new(Cast { dice, is_deadly: false }), world: Mutex::new(world), is_stormy }
    }

    /// The truth.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// A number below another.
    pub fn below(&self, bound: usize) -> usize {
        self.cast.lock().unwrap().dice.below(bound)
    }

    /// Draws whether something happens that happens once in so many.
    pub fn one_of(&self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Loses nothing from now on.
    pub fn end_faults(&self) {
        self.is_stormy.store(false, Ordering::SeqCst);
    }

    /// Lets runs die from now on, or not.
    pub fn set_deadly(&self, is_deadly: bool) {
        self.cast.lock().unwrap().is_deadly = is_deadly;
    }
}

impl RunPoints for PodStage {
    fn point(&self, _: usize, _: &str) {
        {
            let mut world = self.world();
            world.step();
            if self.one_of(16) {
                world.catch_up(self.below(NAME_SERVERS), self.below(ZONES.len()));
            }
        }
        let is_deadly = self.cast.lock().unwrap().is_deadly;
        if is_deadly && self.one_of(24) {
            resume_unwind(Box::new(Crash));
        }
    }

    fn pool_point(&self, run: usize, what: &str) {
        self.point(run, what);
    }

    fn note_begun(&self, _: ApplyId, _: &str) {}

    fn note_journaled(&self, _: Journaled) {}

    fn remembers_overlaps(&self) -> bool {
        self.weakness != Weakness::NoOverlap
    }

    fn remembers_listed(&self) -> bool {
        self.weakness != Weakness::NoListedLately
    }
}
