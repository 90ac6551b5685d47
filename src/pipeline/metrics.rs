//! What the state of a workspace says at the end of a run, for metrics. Writes nothing.

use std::path::Path;

use super::settings::{load_config, state_address};
use crate::diag::Problem;
use crate::guard::Breaker;
use crate::inventory::model::Config;
use crate::inventory::pool::Pool;
use crate::state::served::StatusCounts;
use crate::state::status::unfinished;
use crate::state::{ApplySummary, State, open_to_read};
use crate::target::PoolName;

/// What a state says.
#[derive(Debug, Default)]
pub struct StateMetrics {
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The apply that ended last; none where none did.
    pub last: Option<ApplySummary>,
    /// How many later applies did not end.
    pub unfinished: usize,
    /// How many RRsets of each pool that has name servers have each status.
    pub published: Vec<PoolCounts>,
}

/// How many RRsets of a pool have each status.
#[derive(Debug)]
pub struct PoolCounts {
    /// The pool.
    pub pool: PoolName,
    /// How many.
    pub rrsets: StatusCounts,
}

/// What the state of a workspace says; where there is no state yet, nothing is tripped and nothing was applied.
///
/// None where it cannot be read: the part of the run that needs the state has reported why.
pub fn standing(workspace: &Path) -> Option<StateMetrics> {
    let (config, _) = load_config(workspace).ok()?;
    match open_to_read(&state_address(workspace, &config)).ok()? {
        Some(state) => read(&*state, &config).ok(),
        None => Some(StateMetrics::default()),
    }
}

/// Reads it.
fn read(state: &dyn State, config: &Config) -> Result<StateMetrics, Problem> {
    let (breakers, last) = (state.breakers()?, state.last_finished()?);
    let tallies = state.rrset_tallies()?;
    let counts = |pool: &Pool| {
        let own = tallies.iter().filter(|tally| tally.pool == pool.name);
        let statuses = own.flat_map(|tally| std::iter::repeat_n(tally.status, tally.count));
        PoolCounts { pool: pool.name.clone(), rrsets: StatusCounts::of(statuses) }
    };
    let followed = config.pools.iter().filter(|pool| !pool.name_servers.is_empty());
    Ok(StateMetrics { breakers, last, unfinished: unfinished(state)?.len(), published: followed.map(counts).collect() })
}
