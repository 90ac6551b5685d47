//! A state that is put back from an earlier time, as from a backup: where an apply wrote since, the marker of the zone shows it, and
//! each run is refused until an operator brings the right state back, or takes over the marker.

use super::site::access;
use super::story::{KeptState, OlderState, Story};
use super::world::NAME_SERVERS;
use crate::dns::Serial;
use crate::pipeline::apply::ApplyRun;
use crate::pipeline::state::read_marker;
use crate::state::{ApplyJournal, Sqlite};

/// Longer than caches hold anything, in seconds.
const LONGEST: u64 = 901;

impl Story {
    /// The serial of the primary.
    fn serial(&self) -> Serial {
        self.world.primary.with_zone(&self.world.zone, |zone| zone.serial()).unwrap()
    }

    /// The state that knows all that was written.
    pub fn right_state(&self) -> &Sqlite {
        self.older.as_ref().map_or(&self.state, |older| &older.right)
    }

    /// A copy of the state is made.
    pub fn keep_state(&mut self) {
        if self.older.is_none() {
            self.kept = Some(KeptState { state: self.state.copy(), serial: self.serial() });
            self.history.push("a copy of the state is made".to_owned());
        }
    }

    /// The copy takes the place of the state; where it did already, an operator does something about it.
    pub fn put_back(&mut self) -> Result<(), String> {
        if self.older.is_some() {
            return self.recover();
        }
        let Some(KeptState { state, serial }) = self.kept.take() else { return Ok(()) };
        let right = std::mem::replace(&mut self.state, state);
        let now = self.serial();
        let is_known = serial == now;
        self.history.push(format!("the copy of the state takes its place, and knows all that was written: {is_known}"));
        self.older = (!is_known).then_some(OlderState { right, serial: now });
        Ok(())
    }

    /// A run with a state of an earlier time is refused, and writes nothing.
    pub fn is_refused_rightly(&self, ran: Option<&ApplyRun>) -> Result<(), String> {
        let Some(older) = &self.older else { return Ok(()) };
        if self.serial() != older.serial {
            return Err("a run wrote to the zone, although the state is of an earlier time".to_owned());
        }
        let refusal = ran.map(|ran| ran.refusal.as_ref().map(|refusal| refusal.code.as_str()));
        match refusal {
            None | Some(Some("state-lost")) => Ok(()),
            Some(other) => Err(format!("the state is of an earlier time, and a run is refused as {other:?}")),
        }
    }

    /// An operator brings the right state back; or waits until all has settled that was written, and takes over the marker.
    pub fn recover(&mut self) -> Result<(), String> {
        if self.older.is_none() {
            return Ok(());
        }
        let takes_over = self.stage.below(2) == 0;
        if takes_over {
            (0..NAME_SERVERS).for_each(|name_server| self.world.catch_up(name_server));
            self.poll();
            self.check()?;
            self.pass(LONGEST);
        }
        let Some(OlderState { right, .. }) = self.older.take() else { return Ok(()) };
        // Where a host cannot be reached, the right state alone knows that it has a place in the budget.
        if !takes_over || !self.world.unreachable_in_part().is_empty() {
            self.state = right;
            self.history.push("an operator brings the right state back".to_owned());
            return Ok(());
        }
        let access = access(&self.world, self.stage.weakness);
        let marker = read_marker(&access).unwrap();
        let markers = [(access.copy, marker)];
        self.state.adopt_markers(&markers, "", "the right state is gone", self.world.now).unwrap();
        self.history.push("an operator takes over the marker".to_owned());
        Ok(())
    }
}
