//! What there is to say of a state as a whole. Pure.

use std::collections::BTreeMap;

use super::{ApplySummary, Breaker, Holder, KnownMarker, State, StateError};
use crate::dns::ZoneName;
use crate::inventory::value::Time;

/// A state, looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The program that looked, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it looked.
    pub created: Time,
    /// Where the state is kept.
    pub place: String,
    /// Who is at work.
    pub holder: Option<Holder>,
    /// What the state says; none where there is no state yet.
    pub memory: Option<Memory>,
}

/// What a state says.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The latest applies, the latest first.
    pub applies: Vec<ApplySummary>,
    /// Those that did not end, the latest first; only such as began after the last that did.
    pub unfinished: Vec<ApplySummary>,
    /// The markers, by zone.
    pub markers: BTreeMap<ZoneName, KnownMarker>,
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
}

impl Memory {
    /// Asks a state for all of it, and for at most `count` applies.
    pub fn read(state: &dyn State, count: usize) -> Result<Memory, StateError> {
        let applies = state.applies(count)?;
        let last = applies.iter().filter(|apply| apply.finished.is_some()).map(|apply| apply.id).max();
        // Whatever an earlier one left was in the plan of those that came after it.
        let mut unfinished = state.unfinished()?;
        unfinished.retain(|apply| last.is_none_or(|last| apply.id > last));
        Ok(Memory { applies, unfinished, markers: state.markers()?, breakers: state.breakers()? })
    }
}

impl Status {
    /// Whether an apply is at work rather than broken off: the lock is held, and it began since.
    pub fn is_running(&self, apply: &ApplySummary) -> bool {
        let Some(Holder { since: Some(since), .. }) = &self.holder else { return false };
        let latest = self.memory.as_ref().and_then(|memory| memory.applies.first());
        apply.finished.is_none() && latest.is_some_and(|latest| latest.id == apply.id) && apply.new.started >= *since
    }
}
