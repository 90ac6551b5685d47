//! Examines all targets in parallel.

use std::path::Path;

use super::findings::Findings;
use super::settings::{load_config, local_folder};
use super::{TOOL, name_servers};
use crate::diag::did_you_mean;
use crate::dns::ZoneName;
use crate::doctor::{Diagnosis, TargetDiagnosis};
use crate::inventory::value::Time;
use crate::progress::{Progress, RunStage};
use crate::provider::cache::{Cache, CacheUse};
use crate::provider::{self, ProviderContext};
use crate::reading::side_by_side::side_by_side;

/// Why nothing was examined.
#[derive(Debug)]
pub enum DoctorError {
    /// zonewright.toml cannot be used.
    Settings(Box<Findings>),
    /// The command line names a zone that is not configured.
    NoSuchZone {
        /// The zone.
        zone: ZoneName,
        /// The hint with similar names of configured zones.
        near: Option<String>,
    },
}

/// Examines all targets, for the zones in `only`; for all zones where that is empty. A target that has none of them is
/// skipped.
pub fn examine(
    workspace: &Path,
    now: Time,
    only: &[ZoneName],
    progress: &dyn Progress,
) -> Result<Diagnosis, DoctorError> {
    let (config, _) = load_config(workspace).map_err(DoctorError::Settings)?;
    let configured = |zone: &ZoneName| config.zones.iter().any(|spec| spec.name == *zone);
    if let Some(zone) = only.iter().find(|zone| !configured(zone)) {
        let known: Vec<String> = config.zones.iter().map(|spec| spec.name.to_string()).collect();
        let near = did_you_mean(&zone.to_string(), known.iter().map(String::as_str));
        return Err(DoctorError::NoSuchZone { zone: zone.clone(), near });
    }
    let zones_of = |pool: usize| {
        let of_pool = config.zones.iter().filter(move |spec| spec.pool == pool).map(|spec| &spec.name);
        of_pool.filter(|zone| only.is_empty() || only.contains(zone)).collect::<Vec<&ZoneName>>()
    };
    let pools = config.pools.iter().enumerate();
    let targets = pools.flat_map(|(number, pool)| pool.targets.iter().map(move |target| (target, zones_of(number))));
    let examined: Vec<_> = targets.filter(|(_, zones)| only.is_empty() || !zones.is_empty()).collect();
    progress.stage(RunStage::Targets, Some(examined.len() as u64));
    // What is looked at is always live: only the sizes of the kept zones are used.
    let cache = Cache::inside(&local_folder(workspace, &config), CacheUse::Renew, now);
    let context = ProviderContext { workspace, source: &config.source, now, cache: Some(&cache) };
    let targets = side_by_side(&vec![0; examined.len()], |place| {
        let (target, zones) = &examined[place];
        let facts = provider::examine(target, &context, zones);
        let diagnosis = TargetDiagnosis::new(
            target.id.pool.to_string(),
            target.provider.clone(),
            zones.iter().map(|zone| (*zone).clone()).collect(),
            facts,
        );
        // After the target: a name server that has the newer serial by then does follow.
        let followers = name_servers::examine(&config, &context, &target.id, &diagnosis);
        progress.step();
        diagnosis.with_followers(&followers)
    });
    Ok(Diagnosis { tool: TOOL.to_owned(), created: now, targets })
}
