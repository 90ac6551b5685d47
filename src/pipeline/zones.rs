//! Reads all configured zones, in parallel.

use std::collections::BTreeSet;
use std::path::Path;

use super::inquiry::{self, QueriedZone};
use super::needed::{NeededNames, ReadingCost};
use super::pools::side_by_side;
use super::progress::{Progress, RunStage};
use super::settings::state_file;
use crate::diag::{FileFindings, Problem};
use crate::diff::Selection;
use crate::dns::{ZoneContents, ZoneName};
use crate::inventory::Inventory;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::live::asked::AskedZone;
use crate::live::{Apexes, Live, LiveZone, ZoneIndex, ZoneKnowledge, ZoneStructure};
use crate::parallel;
use crate::plan::{ContentsSeen, ZoneSeen};
use crate::provider::cache::{Cache, CacheUse};
use crate::provider::{self, AskZone, ProviderContext, ReadZone, TargetAccess, ZoneRead};
use crate::snapshot::{SavedLive, Snapshot};

/// The configured zones as they are live.
#[derive(Debug)]
pub struct Zones {
    /// What they hold.
    pub live: Live,
    /// Those that could be read, in the order of the configuration.
    pub seen: Vec<ZoneSeen>,
    /// Those of them that were queried name by name.
    pub asked: Vec<ZoneName>,
    /// Whether only the names that some hosts need were queried.
    pub for_some: bool,
    /// Those that could not be read, in the order of the configuration.
    pub unread: Vec<(ZoneName, Problem)>,
    /// The files they were read from, with their SHA-256.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in those that were read.
    pub findings: Vec<FileFindings>,
}

/// What could be read of one zone.
enum ZoneReading<'t> {
    /// All of it.
    Known(Box<KnownZone>),
    /// The answers of its server, so far about its apex; with the target that can also transfer it, and how many
    /// records it probably has.
    Asked(&'t dyn AskZone, AskedZone, Option<(&'t dyn ReadZone, u64)>),
}

/// A zone that was read completely, or taken from a snapshot.
struct KnownZone {
    /// The zone.
    live: LiveZone,
    /// How it was seen.
    seen: ContentsSeen,
    /// The files it was read from.
    inputs: Vec<(String, String)>,
    /// What is questionable in them.
    findings: Option<Box<FileFindings>>,
}

/// Zones that were read completely before the inventory was known.
pub struct EarlyZones {
    /// The settings that they were read with.
    source: String,
    /// The target of each pool.
    targets: Vec<Result<TargetAccess, Problem>>,
    /// What could be read of each zone; none for those that are queried name by name.
    zones: Vec<Option<Result<Box<KnownZone>, Problem>>>,
}

impl EarlyZones {
    /// Reads, through the cache, all zones of a configuration that are read completely for a plan of all hosts.
    pub fn read(
        config: &Config,
        workspace: &Path,
        (now, usage): (Time, CacheUse),
        progress: &dyn Progress,
    ) -> EarlyZones {
        let cache = Cache::next_to(&state_file(workspace, config), usage, now);
        let targets = open_targets(config, workspace, now, Some(&cache));
        prepare(config, &targets, true);
        let zones = each_zone(config, &targets, progress, |access, zone| match access {
            TargetAccess::Whole(target) => Ok(Some(known(target.read_zone(zone)?, None))),
            TargetAccess::Either(target) => Ok(Some(known(target.read_zone(zone)?, None))),
            TargetAccess::ByName(_) => Ok(None),
        });
        let zones = zones.into_iter().map(Result::transpose).collect();
        EarlyZones { source: config.source.text.clone(), targets, zones }
    }

    /// Whether they were read with these settings, and not with what the file said a moment earlier.
    fn are_by(&self, config: &Config) -> bool {
        self.source == config.source.text
    }
}

/// Reads all configured zones as they are now; of those that are queried name by name, what the rules of the selected
/// hosts need.
pub fn read_all(
    inventory: &Inventory,
    workspace: &Path,
    (selection, now): (&Selection, Time),
    progress: &dyn Progress,
) -> Zones {
    let targets = open_targets(&inventory.config, workspace, now, None);
    read_from(inventory, &targets, (selection, now), progress)
}

/// Reads all configured zones as [`read_all`] does, except those that `early` has, and through the cache next to the
/// state.
pub fn read_cached(
    inventory: &Inventory,
    (workspace, early): (&Path, Option<EarlyZones>),
    (selection, now, usage): (&Selection, Time, CacheUse),
    progress: &dyn Progress,
) -> Zones {
    let config = &inventory.config;
    let cache = Cache::next_to(&state_file(workspace, config), usage, now);
    let zones = match early.filter(|early| early.are_by(config)) {
        Some(EarlyZones { targets, zones, .. }) => read_rest(inventory, &targets, zones, (selection, now), progress),
        None => {
            let targets = open_targets(config, workspace, now, Some(&cache));
            prepare(config, &targets, selection.is_all());
            read_from(inventory, &targets, (selection, now), progress)
        }
    };
    cache.keep_only(config.zones.iter().map(|spec| &spec.name));
    zones
}

/// Lets targets find out which of their cached zones are current, all at once; for a plan of all hosts, targets that
/// may choose use transfers.
fn prepare(config: &Config, targets: &[Result<TargetAccess, Problem>], is_whole: bool) {
    parallel::side_by_side(targets.iter().enumerate().collect(), targets.len(), |(pool, target)| {
        let zones = config.zones.iter().filter(|spec| spec.pool == pool).map(|spec| &spec.name);
        match target {
            Ok(TargetAccess::Whole(target)) => target.prepare(&zones.collect::<Vec<_>>()),
            Ok(TargetAccess::Either(target)) if is_whole => target.prepare(&zones.collect::<Vec<_>>()),
            Ok(TargetAccess::Either(_) | TargetAccess::ByName(_)) | Err(_) => {}
        }
    });
}

/// Reads all configured zones from the targets of the pools, as [`read_all`] does.
pub fn read_from(
    inventory: &Inventory,
    targets: &[Result<TargetAccess, Problem>],
    (selection, now): (&Selection, Time),
    progress: &dyn Progress,
) -> Zones {
    let none = inventory.config.zones.iter().map(|_| None).collect();
    read_rest(inventory, targets, none, (selection, now), progress)
}

/// Reads those of all configured zones that are not known already.
fn read_rest(
    inventory: &Inventory,
    targets: &[Result<TargetAccess, Problem>],
    early: Vec<Option<Result<Box<KnownZone>, Problem>>>,
    (selection, now): (&Selection, Time),
    progress: &dyn Progress,
) -> Zones {
    let config = &inventory.config;
    let apexes = Apexes::new(config.zones.iter().map(|spec| &spec.name));
    let asks = |access: &TargetAccess| match access {
        TargetAccess::Whole(_) => false,
        TargetAccess::ByName(_) => true,
        TargetAccess::Either(_) => !selection.is_all(),
    };
    let needed = targets.iter().flatten().any(asks).then(|| NeededNames::new(inventory, selection, now));
    let may_choose = targets.iter().flatten().any(|access| matches!(access, TargetAccess::Either(_)));
    let extents = needed.as_ref().filter(|_| may_choose).and_then(|needed| needed.extents(&apexes));
    let number = |zone: &ZoneName| apexes.zone_of(zone.as_name()).map(|number| number.0 as usize);
    let is_early = |zone: &ZoneName| number(zone).is_some_and(|number| early[number].is_some());
    let readings = if early.iter().all(Option::is_some) {
        early.iter().map(|_| Ok(None)).collect()
    } else {
        each_zone(config, targets, progress, |access, zone| {
            let extent = extents.as_ref().zip(number(zone)).map(|(extents, number)| extents[number]);
            if is_early(zone) { Ok(None) } else { read_one(access, zone, extent).map(Some) }
        })
    };
    let known = |early: Result<Box<KnownZone>, Problem>| early.map(ZoneReading::Known);
    let either = |(early, reading): (Option<_>, Result<Option<_>, _>)| early.map(known).or(reading.transpose());
    let readings = early.into_iter().zip(readings).map(|both| either(both).expect("a zone is known early or read now"));
    let readings = readings.collect();
    Zones { for_some: !selection.is_all(), ..join(inventory, needed, apexes, readings, progress) }
}

/// Reads all configured zones from a snapshot: no target is opened.
pub fn read_snapshot(inventory: &Inventory, snapshot: &Snapshot, progress: &dyn Progress) -> Zones {
    let specs = &inventory.config.zones;
    progress.stage(RunStage::Snapshot, Some(specs.len() as u64));
    let apexes = Apexes::new(specs.iter().map(|spec| &spec.name));
    let readings = side_by_side(&vec![0; specs.len()], |place| {
        let read = snapshot.read_zone(&specs[place].name);
        progress.step();
        read.map(|SavedLive { read, knowledge }| ZoneReading::Known(known(read, knowledge)))
    });
    let mut zones = join(inventory, None, apexes, readings, progress);
    zones.inputs.push(snapshot.input().clone());
    zones
}

/// Some of the configured zones, examined one by one: none is kept.
pub struct SomeZones<'t, T> {
    /// What was seen in those that could be read completely, in the order of the configuration.
    pub seen: Vec<T>,
    /// Those that could not be read, in the order of the configuration.
    pub unread: Vec<Problem>,
    /// Those that are queried name by name, in the order of the configuration.
    pub asked: Vec<AskedFor<'t>>,
    /// Those of which the snapshot has only the names that were queried.
    pub in_part: Vec<ZoneName>,
    /// What is questionable in those that were read.
    pub findings: Vec<FileFindings>,
}

/// A zone that is queried name by name.
#[derive(Clone, Copy)]
pub struct AskedFor<'t> {
    /// The zone.
    pub zone: &'t ZoneName,
    /// The pool of its target: zones of one pool share its servers.
    pub pool: usize,
    /// The target that is queried.
    pub target: &'t dyn AskZone,
}

/// Where live DNS is read from.
#[derive(Clone, Copy)]
pub enum LiveSource<'t> {
    /// From the targets of the pools.
    Targets(&'t [Result<TargetAccess, Problem>]),
    /// From a snapshot.
    Snapshot(&'t Snapshot),
}

/// What was seen of one zone.
enum ZoneSight<'t, T> {
    /// All of it, with what is questionable in it.
    Whole(T, Option<Box<FileFindings>>),
    /// Nothing yet.
    Asked(AskedFor<'t>),
    /// Only names that were queried.
    InPart,
}

/// Reads the zones that `is_needed` picks, and examines each that can be read completely.
pub fn look_at_some<'t, T: Send>(
    config: &'t Config,
    source: LiveSource<'t>,
    is_needed: impl Fn(&ZoneName) -> bool,
    look: impl Fn(&ZoneContents) -> T + Sync,
    progress: &dyn Progress,
) -> SomeZones<'t, T> {
    let specs: Vec<_> = config.zones.iter().filter(|spec| is_needed(&spec.name)).collect();
    progress.stage(RunStage::Zones, Some(specs.len() as u64));
    let pools: Vec<usize> = specs.iter().map(|spec| spec.pool).collect();
    let sights = side_by_side(&pools, |place| {
        let (zone, pool) = (&specs[place].name, specs[place].pool);
        let whole = |ZoneRead { contents, findings, .. }| ZoneSight::Whole(look(&contents), findings);
        let sight = match source {
            LiveSource::Snapshot(snapshot) => snapshot.read_zone(zone).map(|saved| match saved.knowledge {
                Some(_) => ZoneSight::InPart,
                None => whole(saved.read),
            }),
            LiveSource::Targets(targets) => match &targets[pool] {
                Ok(TargetAccess::Whole(target)) => target.read_zone(zone).map(whole),
                Ok(TargetAccess::Either(target)) => target.read_zone(zone).map(whole),
                Ok(TargetAccess::ByName(target)) => {
                    Ok(ZoneSight::Asked(AskedFor { zone, pool, target: target.as_ref() }))
                }
                Err(error) => Err(error.clone()),
            },
        };
        progress.step();
        sight
    });
    let mut some = SomeZones { seen: vec![], unread: vec![], asked: vec![], in_part: vec![], findings: vec![] };
    for (spec, sight) in specs.iter().zip(sights) {
        match sight {
            Ok(ZoneSight::Whole(looked, found)) => {
                some.seen.push(looked);
                some.findings.extend(found.map(|found| *found));
            }
            Ok(ZoneSight::Asked(zone)) => some.asked.push(zone),
            Ok(ZoneSight::InPart) => some.in_part.push(spec.name.clone()),
            Err(error) => some.unread.push(error),
        }
    }
    some
}

/// Opens the target of each pool; zones may come from the cache where one is given.
pub fn open_targets(
    config: &Config,
    workspace: &Path,
    now: Time,
    cache: Option<&Cache>,
) -> Vec<Result<TargetAccess, Problem>> {
    let context = ProviderContext { workspace, source: &config.source, now, cache };
    let targets = config.pools.iter().map(|pool| &pool.target);
    targets.map(|target| provider::open(&target.provider, &target.settings, &context)).collect()
}

/// Runs `act` for each configured zone and its target, in parallel; the answers are in the order of the configuration.
pub fn each_zone<'t, T: Send>(
    config: &Config,
    targets: &'t [Result<TargetAccess, Problem>],
    progress: &dyn Progress,
    act: impl Fn(&'t TargetAccess, &ZoneName) -> Result<T, Problem> + Sync,
) -> Vec<Result<T, Problem>> {
    let specs = &config.zones;
    progress.stage(RunStage::Zones, Some(specs.len() as u64));
    let pools: Vec<usize> = specs.iter().map(|spec| spec.pool).collect();
    side_by_side(&pools, |place| {
        let outcome = match &targets[specs[place].pool] {
            Ok(access) => act(access, &specs[place].name),
            Err(error) => Err(error.clone()),
        };
        progress.step();
        outcome
    })
}

/// Reads one zone, or what its server says about its apex; `extent` is what reading it would take, where the plan is
/// not about all hosts.
fn read_one<'t>(
    access: &'t TargetAccess,
    zone: &ZoneName,
    extent: Option<ReadingCost>,
) -> Result<ZoneReading<'t>, Problem> {
    let open = |target: &'t dyn AskZone, whole| {
        let mut asked = AskedZone::new(zone.clone());
        asked.open(target.ask(zone, &asked.opening())?);
        Ok(ZoneReading::Asked(target, asked, whole))
    };
    match (access, extent) {
        (TargetAccess::ByName(target), _) => open(target.as_ref(), None),
        (TargetAccess::Either(target), Some(extent)) if extent.is_asked() => {
            open(target.as_ref(), Some((target.as_ref(), extent.records)))
        }
        (TargetAccess::Either(target), _) => Ok(ZoneReading::Known(known(target.read_zone(zone)?, None))),
        (TargetAccess::Whole(target), _) => Ok(ZoneReading::Known(known(target.read_zone(zone)?, None))),
    }
}

/// Makes the live zone from what was read; `knowledge` says which names are known, where it was not read completely.
fn known(read: ZoneRead, knowledge: Option<ZoneKnowledge>) -> Box<KnownZone> {
    let mut structure = ZoneStructure::default();
    let apex = read.contents.apex().as_name();
    let seen = ContentsSeen::with_each(&read.contents, |rrset| structure.note(apex, rrset));
    let live = LiveZone::made_of(read.contents, structure);
    let live = match knowledge {
        Some(knowledge) => live.with_knowledge(knowledge),
        None => live,
    };
    Box::new(KnownZone { live, seen, inputs: read.inputs, findings: read.findings })
}

/// Joins what could be read, and queries names where zones are read name by name.
fn join(
    inventory: &Inventory,
    needed: Option<NeededNames<'_>>,
    apexes: Apexes,
    readings: Vec<Result<ZoneReading<'_>, Problem>>,
    progress: &dyn Progress,
) -> Zones {
    let (mut inputs, mut findings, mut zones, mut seen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut asking = Vec::new();
    let mut failed: Vec<(ZoneIndex, Problem)> = Vec::new();
    for (place, (spec, reading)) in inventory.config.zones.iter().zip(readings).enumerate() {
        let zone = ZoneIndex(place as u32);
        zones.push(match reading {
            Ok(ZoneReading::Known(known)) => {
                seen.push((zone, known.seen));
                inputs.extend(known.inputs);
                findings.extend(known.findings.map(|found| *found));
                known.live
            }
            Ok(ZoneReading::Asked(target, asked, whole)) => {
                asking.push(QueriedZone { zone, pool: spec.pool, target, whole, asked, failed: None });
                asking.last_mut().expect("just pushed").known()
            }
            Err(error) => {
                failed.push((zone, error));
                LiveZone::unknown(spec.name.clone())
            }
        });
    }
    let mut live = Live::draft(zones, apexes);
    if let Some(mut needed) = needed.filter(|_| !asking.is_empty()) {
        live = inquiry::follow(inventory, &mut needed, live, &mut asking, progress);
    }
    let live = live.finish();
    for QueriedZone { zone, failed: failure, .. } in asking {
        seen.extend(live.zone(zone).contents().map(|contents| (zone, ContentsSeen::of(contents))));
        failed.extend(failure.map(|failure| (zone, failure)));
    }
    let asked = live.zones().filter(|(_, zone)| zone.knowledge().is_some()).map(|(_, zone)| zone.name().clone());
    let asked = asked.collect();
    seen.sort_by_key(|(zone, _)| *zone);
    failed.sort_by_key(|(zone, _)| *zone);
    let config = &inventory.config;
    let of_zone = |(zone, seen): (ZoneIndex, ContentsSeen)| {
        let spec = &config.zones[zone.0 as usize];
        ZoneSeen::new(&config.pools[spec.pool].name, spec.name.clone(), seen)
    };
    let seen = seen.into_iter().map(of_zone).collect();
    let unread = failed.into_iter().map(|(zone, error)| (live.zone(zone).name().clone(), error)).collect();
    Zones { live, seen, asked, for_some: false, unread, inputs, findings }
}

/// What a check of the zones that are files found.
#[derive(Debug, Default)]
pub struct LocalZones {
    /// The files of zones that could be read.
    pub read: BTreeSet<String>,
    /// What is questionable in zones that can be read.
    pub findings: Vec<FileFindings>,
    /// The zones that cannot be read.
    pub unread: Vec<Problem>,
}

/// Reads the zones that are files, to find errors in them.
pub fn check_local(inventory: &Inventory, workspace: &Path, now: Time, progress: &dyn Progress) -> LocalZones {
    let config = &inventory.config;
    let local = |pool: usize| provider::is_local(&config.pools[pool].target.provider);
    let specs: Vec<_> = config.zones.iter().filter(|spec| local(spec.pool)).collect();
    progress.stage(RunStage::ZoneFiles, Some(specs.len() as u64));
    let context = ProviderContext { workspace, source: &config.source, now, cache: None };
    let pools: Vec<usize> = specs.iter().map(|spec| spec.pool).collect();
    let outcomes = side_by_side(&pools, |place| {
        let target = &config.pools[specs[place].pool].target;
        let outcome = provider::open(&target.provider, &target.settings, &context);
        let zone = &specs[place].name;
        let read = outcome.and_then(|access| match access {
            TargetAccess::ByName(_) => Ok(None),
            TargetAccess::Either(target) => target.read_zone(zone).map(Some),
            TargetAccess::Whole(target) => target.read_zone(zone).map(Some),
        });
        let outcome = read.map(|read| read.map(|read| (read.inputs, read.findings)).unwrap_or_default());
        progress.step();
        outcome
    });
    let mut local = LocalZones::default();
    for outcome in outcomes {
        match outcome {
            Ok((inputs, found)) => {
                // A file that several zones include is one file.
                local.read.extend(inputs.into_iter().map(|(name, _)| name));
                local.findings.extend(found.map(|found| *found));
            }
            Err(error) => local.unread.push(error),
        }
    }
    local
}
