//! A state that is put back from an earlier time. Where an apply wrote since, each run is refused until an operator brings the right
//! state back, or takes over the markers; else runs go on with it, and find tasks of which it knows nothing.

use super::dns::StoryWire;
use super::site::{accesses, zone_id};
use super::story::{KeptState, RightState, Story};
use super::world::{PROJECTS, zone};
use crate::dns::{Serial, ZoneName};
use crate::pipeline::apply::ApplyRun;
use crate::pipeline::state::read_marker;
use crate::plan::Plan;
use crate::state::{ApplyJournal as _, ApprovalRegister as _};

impl Story {
    /// The serials of the primary.
    pub fn serials(&self) -> Vec<Serial> {
        let serial =
            |project: &&str| self.stage.primary.with_zone(&zone_id(project).name, |zone| zone.serial()).unwrap();
        PROJECTS.iter().map(serial).collect()
    }

    /// A copy of the state is made.
    pub fn keep_state(&mut self) {
        if self.right.is_none() {
            let numbers = self.stage.cast().numbers;
            self.kept = Some(KeptState { state: self.state.copy(), serials: self.serials(), numbers });
            self.stage.cast().tell(|| "a copy of the state is made".to_owned());
        }
    }

    /// The copy takes the place of the state; where it did already, an operator does something about it.
    pub fn put_back(&mut self) {
        if self.right.is_some() {
            return self.recover();
        }
        let Some(KeptState { state, serials, numbers }) = self.kept.take() else { return };
        let changed = PROJECTS.iter().zip(serials.iter().zip(self.serials())).filter(|(_, (then, now))| *then != now);
        let zones: Vec<ZoneName> = changed.map(|(project, _)| zone(project)).collect();
        let (is_older, was) = (!zones.is_empty(), self.stage.cast().numbers);
        let right = RightState { state: std::mem::replace(&mut self.state, state), zones, numbers: was };
        self.right = is_older.then_some(right);
        self.take_state(numbers, is_older);
        self.stage.cast().was_restored = true;
        self.stage.cast().tell(|| format!("the copy of the state takes its place; an apply wrote since: {is_older}"));
    }

    /// The state is another one now.
    fn take_state(&mut self, numbers: u64, is_older: bool) {
        let memory = self.state.approvals().unwrap();
        let mut cast = self.stage.cast();
        cast.rows = memory.tasks().filter(|row| !row.is_built_in()).map(|row| row.id.clone()).collect();
        (cast.numbers, cast.is_older) = (numbers, is_older);
    }

    /// Whether no run of a plan shows that the state is of an earlier time, and it may change something: it reads no zone that was
    /// written since. Such runs are not made.
    pub fn hides_older(&self, plan: &Plan) -> bool {
        let is_read = |zone: &ZoneName| plan.changes.iter().any(|change| change.zone == *zone);
        !plan.changes.is_empty() && self.right.as_ref().is_some_and(|right| !right.zones.iter().any(is_read))
    }

    /// A run with a state of an earlier time is refused, unless it has nothing to do.
    pub fn is_refused_rightly(&self, ran: Option<&ApplyRun>, is_idle: bool) -> Result<(), String> {
        if self.right.is_none() || is_idle && ran.is_some_and(|ran| ran.refusal.is_none()) {
            return Ok(());
        }
        match ran.map(|ran| ran.refusal.as_ref().map(|refusal| refusal.code.as_str())) {
            None | Some(Some("state-lost")) => Ok(()),
            Some(other) => Err(format!("the state is of an earlier time, and a run is refused as {other:?}")),
        }
    }

    /// An operator brings the right state back, or takes over the markers.
    pub fn recover(&mut self) {
        let Some(RightState { state, numbers, .. }) = self.right.take() else { return };
        if self.stage.below(2) == 0 {
            self.state = state;
            self.take_state(numbers, false);
            self.stage.cast().tell(|| "an operator brings the right state back".to_owned());
            return;
        }
        let now = self.stage.cast().now;
        let wire = StoryWire { stage: &self.stage };
        let markers: Vec<_> = accesses(&wire)
            .into_iter()
            .map(|access| {
                let marker = read_marker(&access).unwrap();
                (access.copy, marker)
            })
            .collect();
        self.state.adopt_markers(&markers, "", "the right state is gone", now).unwrap();
        let numbers = self.stage.cast().numbers;
        self.take_state(numbers, false);
        let mut cast = self.stage.cast();
        // No state knows any longer who is busy.
        cast.hosts.iter_mut().flat_map(|host| &mut host.changes).for_each(|change| change.counts = false);
        cast.tell(|| "an operator takes over the markers".to_owned());
    }
}
