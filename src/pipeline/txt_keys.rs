//! The keys of encrypted TXT of the registry, fetched where the settings say.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diag::Problem;
use crate::inventory::model::Config;
use crate::provider::txt_key;
use crate::registry::TxtKey;
use crate::target::PoolName;

/// The pools in which TXT of the registry are read, and whose key cannot be had, and why.
pub fn faults(config: &Config, workspace: &Path) -> BTreeMap<PoolName, Problem> {
    let pools = config.pools.iter().filter(|pool| pool.marking.registry.reads_texts());
    let faults = pools.filter_map(|pool| {
        let settings = pool.txt_key.as_ref().or(config.txt_key.as_ref())?;
        let key = txt_key::fetch(settings, &config.source, workspace, TxtKey::parse);
        Some((pool.name.clone(), key.err()?))
    });
    faults.collect()
}

/// Fetches the keys, so that encrypted TXT can be read; where nothing says so, there is none.
///
/// Errors: a key cannot be had.
pub fn fetch(config: &mut Config, workspace: &Path) -> Result<(), Problem> {
    let (source, of_all) = (&config.source, config.txt_key.as_ref());
    let fetch = |settings| txt_key::fetch(settings, source, workspace, TxtKey::parse);
    // A command may give it: it runs once for all pools.
    let mut shared: Option<TxtKey> = None;
    for pool in config.pools.iter_mut().filter(|pool| pool.marking.registry.reads_texts()) {
        pool.marking.key = match (&pool.txt_key, of_all) {
            (Some(own), _) => Some(fetch(own)?),
            (None, Some(of_all)) => {
                let key = shared.take().map_or_else(|| fetch(of_all), Ok)?;
                shared = Some(key.clone());
                Some(key)
            }
            (None, None) => None,
        };
    }
    Ok(())
}
