//! What the state of a workspace says at the end of a run, for metrics. Writes nothing.

use std::path::Path;

use super::settings::{load_config, state_address};
use crate::diag::Problem;
use crate::guard::Breaker;
use crate::state::status::unfinished;
use crate::state::{ApplySummary, State, open_to_read};

/// What a state says.
#[derive(Debug, Default)]
pub struct StateMetrics {
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The apply that ended last; none where none did.
    pub last: Option<ApplySummary>,
    /// How many later applies did not end.
    pub unfinished: usize,
}

/// What the state of a workspace says; where there is no state yet, nothing is tripped and nothing was applied.
///
/// None where it cannot be read: the part of the run that needs the state has reported why.
pub fn standing(workspace: &Path) -> Option<StateMetrics> {
    let (config, _) = load_config(workspace).ok()?;
    match open_to_read(&state_address(workspace, &config)).ok()? {
        Some(state) => read(&*state).ok(),
        None => Some(StateMetrics::default()),
    }
}

/// Reads it.
fn read(state: &dyn State) -> Result<StateMetrics, Problem> {
    let (breakers, last) = (state.breakers()?, state.last_finished()?);
    Ok(StateMetrics { breakers, last, unfinished: unfinished(state)?.len() })
}
