//! What `run` looks at before each pass: whether the settings can be used, and whose state it is about.

use std::path::Path;

use super::settings::{OpenError, load_settings, state_address};
use crate::state::StateAddress;

/// Where the state of a workspace is, by settings that can be used.
///
/// Errors: [`OpenError`].
pub fn state_of(workspace: &Path) -> Result<StateAddress, OpenError> {
    let settings = load_settings(workspace)?;
    Ok(state_address(workspace, &settings.config))
}
