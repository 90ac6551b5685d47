//! Examines all targets in parallel.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use super::cms_access::client_of;
use super::findings::Findings;
use super::settings::{load_config, local_folder, state_address};
use super::targets::is_fenced;
use super::{TOOL, name_servers, record_zones, txt_keys, zone_changes};
use crate::cms::CmsCalls as _;
use crate::diag::did_you_mean;
use crate::dns::{ZoneComparison, ZoneContents, ZoneName};
use crate::doctor::approvals::health;
use crate::doctor::copies::CopyExamined;
use crate::doctor::{Diagnosis, LackedMeaning, LackedZone, ServiceHealth, TargetAbilities, TargetDiagnosis};
use crate::inventory::model::{Config, ZonePurpose, ZoneSpec};
use crate::inventory::pool::{Pool, TargetSpec};
use crate::inventory::value::Time;
use crate::live::differing_rrsets;
use crate::progress::{Progress, RunStage};
use crate::provider::cache::{Cache, CacheUse};
use crate::provider::{self, ProviderContext};
use crate::reading::side_by_side::side_by_side;
use crate::reading::{CreationTerms, ReadingTerms};
use crate::state::{self, CmsFailure};
use crate::target::{TargetCapabilities, TargetId, ZoneId};

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
    let (mut config, _) = load_config(workspace).map_err(DoctorError::Settings)?;
    record_zones::find(&mut config, ReadingTerms { workspace, now, cache: None });
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
    let of_keys = txt_keys::faults(&config, workspace);
    let terms = creation_terms(workspace, &config);
    // What is looked at is always live: only the sizes of the kept zones are used.
    let cache = Cache::inside(&local_folder(workspace, &config), CacheUse::Renew, now);
    let context = ProviderContext { workspace, source: &config.source, now, cache: Some(&cache), has_marks: false };
    let targets = side_by_side(&vec![0; examined.len()], |place| {
        let (target, zones) = &examined[place];
        let (zones, lacking) = there_and_lacking((&config, &terms), &context, target, zones);
        let facts = provider::examine(target, &context, &zones);
        let diagnosis = TargetDiagnosis::new(
            target.id.pool.to_string(),
            target.provider.clone(),
            zones.iter().map(|zone| (*zone).clone()).collect(),
            abilities(&config, target, &context, &zones),
            facts,
        )
        .with_lacking(lacking)
        .with_unreadable_registry(of_keys.get(&target.id.pool));
        // After the target: a name server that has the newer serial by then does follow.
        let followers = name_servers::examine(&config, &context, &target.id, &diagnosis);
        progress.step();
        diagnosis.with_followers(&followers)
    });
    let targets: Vec<(&TargetSpec, TargetDiagnosis)> =
        examined.iter().map(|(target, _)| *target).zip(targets).collect();
    let targets = with_copies(&config, &context, targets, &zones_of);
    let services = if only.is_empty() { services(workspace, &config) } else { Vec::new() };
    Ok(Diagnosis { tool: TOOL.to_owned(), created: now, targets, services })
}

/// The cluster-management services, each asked for its tasks, side by side.
fn services(workspace: &Path, config: &Config) -> Vec<ServiceHealth> {
    let state = state::open_to_read(&state_address(workspace, config)).ok().flatten();
    let failures = state.and_then(|state| state.cms_failures().ok()).unwrap_or_default();
    side_by_side(&vec![0; config.cms.len()], |place| {
        let service = &config.cms[place];
        let client = client_of(service, config, workspace);
        let begun = Instant::now();
        let listed = client.map(|client| client.list().map(|tasks| tasks.len()));
        let failed = failures.iter().find(|failure| failure.service == service.name);
        let silence = failed.map(|CmsFailure { since, last, count, message, .. }| {
            let requests = if *count == 1 { "1 request".to_owned() } else { format!("{count} requests") };
            format!("{requests} of runs got no answer from {since} to {last}: {message}")
        });
        health(service, (listed, begun.elapsed()), silence)
    })
}

/// The zones that a target has, and those that it lacks although the settings allow for that.
fn there_and_lacking<'z>(
    (config, terms): (&Config, &CreationTerms),
    context: &ProviderContext<'_>,
    target: &TargetSpec,
    zones: &[&'z ZoneName],
) -> (Vec<&'z ZoneName>, Vec<LackedZone>) {
    let spec = |zone: &ZoneName| config.zone(&ZoneId { pool: target.id.pool.clone(), name: zone.clone() });
    let may_be_missing = |zone: &ZoneName| spec(zone).is_some_and(ZoneSpec::may_be_missing);
    let any = zones.iter().any(|zone| may_be_missing(zone));
    let access = any.then(|| provider::open(target, context).ok()).flatten();
    let is_lacking =
        |zone: &&&ZoneName| may_be_missing(zone) && access.as_ref().is_some_and(|access| access.lacks_zone(zone));
    let (lacking, there): (Vec<&ZoneName>, Vec<&ZoneName>) = zones.iter().partition(is_lacking);
    let meaning = |zone: &ZoneName| match spec(zone) {
        Some(spec) if spec.purpose == ZonePurpose::Absent => LackedMeaning::Absent,
        _ => terms.check(target, zone).map_or_else(LackedMeaning::NotMade, |()| LackedMeaning::ToBeMade),
    };
    let of_zone = |zone: &ZoneName| LackedZone { zone: zone.clone(), meaning: meaning(zone) };
    (there, lacking.into_iter().map(of_zone).collect())
}

/// What decides whether zones are made that targets lack; nothing was seen where the state cannot be read.
fn creation_terms(workspace: &Path, config: &Config) -> CreationTerms {
    let state = state::open_to_read(&state_address(workspace, config)).ok().flatten();
    zone_changes::terms(state.as_deref(), &[]).unwrap_or(CreationTerms::NONE)
}

/// What a target can do in these zones.
fn abilities(
    config: &Config,
    target: &TargetSpec,
    context: &ProviderContext<'_>,
    zones: &[&ZoneName],
) -> TargetAbilities {
    let is_here = |spec: &&ZoneSpec| config.pool(spec).name == target.id.pool && zones.contains(&&spec.name);
    let fenced = config.zones.iter().filter(is_here).filter(|spec| is_fenced(spec, target));
    let capabilities = provider::capabilities(target).expect("`check` passed the type");
    // Where the settings do not say which records it takes, its server does.
    let capabilities = TargetCapabilities { bounds: provider::bounds(target, context), ..capabilities };
    TargetAbilities { capabilities, fenced: fenced.map(|spec| spec.name.clone()).collect() }
}

/// Adds to the targets of pools with several what their copies differ in.
fn with_copies<'c>(
    config: &'c Config,
    context: &ProviderContext<'_>,
    targets: Vec<(&TargetSpec, TargetDiagnosis)>,
    zones_of: &dyn Fn(usize) -> Vec<&'c ZoneName>,
) -> Vec<TargetDiagnosis> {
    let mut copies: HashMap<TargetId, Vec<CopyExamined>> = HashMap::new();
    for (number, pool) in config.pools.iter().enumerate().filter(|(_, pool)| pool.has_several()) {
        for (target, copy) in compared(pool, context, &zones_of(number)) {
            copies.entry(target).or_default().push(copy);
        }
    }
    let has_several =
        |target: &TargetSpec| config.pools.iter().any(|pool| pool.name == target.id.pool && pool.has_several());
    let with = |(target, diagnosis): (&TargetSpec, TargetDiagnosis)| {
        if !has_several(target) {
            return diagnosis;
        }
        let of_target = copies.get(&target.id).map(Vec::as_slice).unwrap_or_default();
        diagnosis.with_copies(target.id.name.clone(), of_target)
    };
    targets.into_iter().map(with).collect()
}

/// The copies of zones that a pool has at more than one target, compared with the first of them that can be read.
///
/// Each zone is read once more for this, so that memory holds the copies of a few zones, and not of all.
fn compared(pool: &Pool, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> Vec<(TargetId, CopyExamined)> {
    let readers = provider::open_all(pool.targets.iter(), context);
    let of_zone = |place: usize| {
        let zone = zones[place];
        let read = |target: &TargetSpec| {
            let access = readers.target(&target.id).access.as_ref().ok()?;
            Some((target.id.clone(), access.read_zone(zone).ok()?.contents))
        };
        let mut known = pool.targets.iter().filter_map(read);
        let Some((reference, contents)) = known.next() else { return Vec::new() };
        let compare = |(target, copy): (TargetId, ZoneContents)| {
            let differing = differing_rrsets(zone, &ZoneComparison::of(&contents, &copy));
            (target, CopyExamined { zone: zone.clone(), reference: reference.name.clone(), differing })
        };
        known.map(compare).collect::<Vec<_>>()
    };
    side_by_side(&vec![0; zones.len()], of_zone).into_iter().flatten().collect()
}
