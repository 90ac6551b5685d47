//! `sync`: tries again what targets lack, and asks the name servers that did not serve the last changes yet.
//!
//! Comes in: a workspace, and perhaps a pool. Goes out: what its name servers show. No inventory is read, no plan made.

use std::collections::BTreeSet;

use super::conduct::ApplyConduct;
use super::lacking::LackWork;
use super::publication::taken::serial;
use super::publication::{PoolRolls, PublicationWatch};
use super::settings::{OpenError, load_settings, state_address};
use super::targets::OpenedZones;
use super::zone_changes::without_zone;
use super::{name_servers, zone_making};
use crate::apply::ZoneOutcome;
use crate::consensus::{SerialSeen, ZoneRecord};
use crate::diag::Problem;
use crate::inventory::model::{Config, ZoneSpec};
use crate::progress::{Progress, RunStage};
use crate::reading::ReadingTerms;
use crate::state::lacks::LackOutcome;
use crate::state::served::ServedOutcome;
use crate::state::{self, HeldState, RecordedZone, State};
use crate::target::{CopyId, TargetId, ZoneId};

/// Why nothing was asked.
#[derive(Debug)]
pub enum SyncError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The settings have no pool of this name.
    UnknownPool(UnknownPool),
}

impl<E: Into<OpenError>> From<E> for SyncError {
    fn from(error: E) -> SyncError {
        SyncError::Open(error.into())
    }
}

/// A pool that the settings do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPool {
    /// What was asked for.
    pub name: String,
    /// The pools that there are, in the order of the settings.
    pub pools: Vec<String>,
}

impl SyncRun {
    /// Nothing was to be done.
    fn idle() -> SyncRun {
        SyncRun {
            served: ServedOutcome::none(),
            lacks: LackOutcome::default(),
            zone_changes: Vec::new(),
            problems: Vec::new(),
        }
    }
}

impl UnknownPool {
    /// Refuses a pool that the settings do not have.
    pub fn check(config: &Config, name: Option<&str>) -> Result<(), UnknownPool> {
        let pools: Vec<String> = config.pools.iter().map(|pool| pool.name.to_string()).collect();
        match name.filter(|name| !pools.iter().any(|pool| pool == name)) {
            Some(name) => Err(UnknownPool { name: name.to_owned(), pools }),
            None => Ok(()),
        }
    }
}

/// What a `sync` did.
#[derive(Debug)]
pub struct SyncRun {
    /// What the zones that it asked for show.
    pub served: ServedOutcome,
    /// What happened to what targets lacked.
    pub lacks: LackOutcome,
    /// What happened to zones that could not be made or deleted before.
    pub zone_changes: Vec<ZoneOutcome>,
    /// What went wrong with targets and name servers as a whole.
    pub problems: Vec<Problem>,
}

/// Tries again what targets lack, and asks the name servers of every zone that a voter does not show at its newest step.
///
/// Errors: [`SyncError`]; nothing was asked then.
pub fn sync(request: &ApplyConduct<'_>, pool: Option<&str>, progress: &dyn Progress) -> Result<SyncRun, SyncError> {
    let ApplyConduct { workspace, who, now, interrupted, .. } = *request;
    let settings = load_settings(workspace)?;
    let config = &settings.config;
    UnknownPool::check(config, pool).map_err(SyncError::UnknownPool)?;
    let address = state_address(workspace, config);
    if state::open_to_read(&address)?.is_none() {
        return Ok(SyncRun::idle());
    }
    let mut held = HeldState::take_patiently(&address, who, now, &|| request.waits_for_lock())?;
    let state = &mut *held.state;
    let terms = ReadingTerms { workspace, now, cache: None };
    let context = terms.context(config);
    let rolls = PoolRolls::of(config, context.source);
    progress.stage(RunStage::Survey, None);
    let zone_changes = zone_making::retry(config, request, state, pool)?;
    let lacks = LackWork { settings: &settings, request, rolls: &rolls, progress }.retry(state, pool)?;
    let zones = open_zones(state, config, &rolls, pool)?;
    if zones.is_empty() && lacks.is_empty() && zone_changes.is_empty() {
        return Ok(SyncRun::idle());
    }
    let problems = look_again(state, config, &rolls, (&zones, request))?;
    let copies = zones.iter().filter_map(|zone| config.zone(zone)).flat_map(|spec| config.copies(spec)).collect();
    let untold = name_servers::notify(config, &context, &copies);
    let clock = || request.clock();
    let watch = PublicationWatch { config, context: &context, interrupted, clock: &clock, who, progress };
    let served = watch.of_zones(held, &zones)?;
    Ok(SyncRun { served, lacks, zone_changes, problems: problems.into_iter().chain(untold).collect() })
}

/// The zones of the settings that a voter does not show at the newest step; of one pool, or of all.
fn open_zones(
    state: &dyn State,
    config: &Config,
    rolls: &PoolRolls<'_>,
    pool: Option<&str>,
) -> Result<BTreeSet<ZoneId>, Problem> {
    let made = state.zone_rows()?;
    // No server has a zone that was deleted.
    let is_there =
        |zone: &ZoneId| config.zone(zone).is_some_and(|spec| !without_zone(config.pool(spec), &zone.name, &made));
    let mut open = BTreeSet::new();
    for zone in state.zones_with_steps()? {
        let is_meant = is_there(&zone) && pool.is_none_or(|pool| zone.pool.as_str() == pool);
        let Some(roll) = rolls.roll(&zone).filter(|_| is_meant) else { continue };
        let record = state.zone_record(&zone)?;
        if !roll.voters.iter().all(|voter| record.is_at_newest(voter)) {
            open.insert(zone);
        }
    }
    Ok(open)
}

/// Reads the serials of targets again that are set back or not known, so that their name servers can show a step; gives
/// which cannot be read.
fn look_again(
    state: &mut dyn State,
    config: &Config,
    rolls: &PoolRolls<'_>,
    (zones, request): (&BTreeSet<ZoneId>, &ApplyConduct<'_>),
) -> Result<Vec<Problem>, Problem> {
    let mut unclear: Vec<(&ZoneId, ZoneRecord)> = Vec::new();
    for zone in zones.iter().filter(|zone| rolls.is_asked(&zone.pool)) {
        let record = state.zone_record(zone)?;
        if record.targets.values().any(|standing| standing.is_unclear()) {
            unclear.push((zone, record));
        }
    }
    let specs: Vec<&ZoneSpec> = unclear.iter().filter_map(|(zone, _)| config.zone(zone)).collect();
    let opened = OpenedZones::open(config, specs, request.workspace, request.now);
    let targets = opened.targets();
    let mut kept = Vec::new();
    for (zone, mut record) in unclear {
        let Some(roll) = rolls.roll(zone) else { continue };
        let names: Vec<String> =
            record.targets.iter().filter(|(_, own)| own.is_unclear()).map(|(name, _)| name.clone()).collect();
        for target in &names {
            let id = TargetId { pool: zone.pool.clone(), name: target.clone() };
            let writer = targets.writer(&CopyId { target: id, zone: zone.name.clone() });
            if let Some(serial) = writer.and_then(|writer| serial(writer, &zone.name)) {
                record.look_again(&SerialSeen { target, serial }, roll, request.clock());
            }
        }
        kept.push(RecordedZone { zone: zone.clone(), record, begun: None });
    }
    state.keep_records(&kept, request.clock())?;
    let unread = targets.copies.iter().filter_map(|access| access.writer.as_ref().err().cloned());
    Ok(unread.collect())
}
