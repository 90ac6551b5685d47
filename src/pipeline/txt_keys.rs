//! The keys of encrypted TXT of the registry, fetched where the settings say.

use std::path::Path;

use crate::diag::Problem;
use crate::inventory::model::Config;
use crate::provider::txt_key;
use crate::registry::{Registry, TxtKey};

/// Fetches the keys, so that encrypted TXT can be read; where nothing says so, there is none.
///
/// Errors: a key cannot be had.
pub fn fetch(config: &mut Config, workspace: &Path) -> Result<(), Problem> {
    for pool in config.pools.iter_mut().filter(|pool| pool.marking.registry == Registry::Txt) {
        let settings = pool.txt_key.as_ref().or(config.txt_key.as_ref());
        let fetch = |settings| txt_key::fetch(settings, &config.source, workspace, TxtKey::parse);
        pool.marking.key = settings.map(fetch).transpose()?;
    }
    Ok(())
}
