//! What `run` looks at before each pass: whether the settings can be used, and whose state it is about.

use std::path::Path;

use super::findings::Findings;
use super::settings::{load_config, state_address};
use crate::inventory::value::Duration;
use crate::state::StateAddress;

/// What settings that can be used say of a workspace.
pub struct RunningSettings {
    /// Where its state is.
    pub state: StateAddress,
    /// How often what targets lack is tried again, and name servers are asked: the shortest time of any pool.
    pub sync_interval: Duration,
}

/// Looks at the settings of a workspace.
///
/// Errors: what is wrong, where they cannot be used.
pub fn running_settings(workspace: &Path) -> Result<RunningSettings, Box<Findings>> {
    let (config, _) = load_config(workspace)?;
    let intervals = config.pools.iter().map(|pool| pool.sync_interval);
    Ok(RunningSettings {
        state: state_address(workspace, &config),
        sync_interval: intervals.min().unwrap_or(Duration::from_secs(0)),
    })
}
