//! What the state says of the zones of one pool: whether what was applied is served. No server is asked.

use std::path::Path;

use super::publication::PoolRolls;
use super::settings::{load_config, state_address};
use super::sync::{SyncError, UnknownPool};
use super::zone_changes::without_zone;
use crate::consensus::ZoneStatus;
use crate::inventory::value::Time;
use crate::reading::ReadingTerms;
use crate::state::status::PoolStatus;
use crate::state::{self, State};

/// Reads all rows of a pool.
///
/// Errors: [`SyncError`].
pub fn pool_status(workspace: &Path, pool: &str, now: Time) -> Result<PoolStatus, SyncError> {
    let (config, _) = load_config(workspace)?;
    UnknownPool::check(&config, Some(pool)).map_err(SyncError::UnknownPool)?;
    let spec = config.pools.iter().find(|own| own.name.as_str() == pool).expect("the pool was found");
    let context = ReadingTerms { workspace, now, cache: None };
    let context = context.context(&config);
    let state: Option<Box<dyn State>> = state::open_to_read(&state_address(workspace, &config))?;
    let state = state.as_deref();
    let mut zones = state.map(|state| state.publications(&spec.name)).transpose()?.unwrap_or_default();
    let mut made = state.map(|state| state.zone_rows()).transpose()?.unwrap_or_default();
    made.retain(|row| row.copy.target.pool == spec.name);
    for zone in zones.iter_mut().filter(|zone| without_zone(spec, &zone.zone.name, &made)) {
        zone.status = ZoneStatus::Deleted;
    }
    let voters = PoolRolls::of(&config, context.source).of_pool(&spec.name);
    Ok(PoolStatus { name: spec.name.clone(), threshold: spec.threshold, voters, zones, made })
}
