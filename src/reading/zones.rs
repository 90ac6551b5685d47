//! Reads the reference copies of all configured zones, in parallel.

use super::inquiry::{self, QueriedZone};
use super::needed::{NeededNames, ReadingCost};
use super::open::{ReadingTerms, TargetReaders, each_zone, open_targets};
use super::side_by_side::side_by_side;
use crate::diag::{FileFindings, Problem};
use crate::diff::Selection;
use crate::dns::ZoneName;
use crate::inventory::Inventory;
use crate::inventory::model::{Config, ZoneSpec};
use crate::live::asked::AskedZone;
use crate::live::{Apexes, Live, LiveZone, ZoneIndex, ZoneKnowledge, ZoneStructure};
use crate::parallel;
use crate::plan::{ContentsSeen, ZoneSeen};
use crate::progress::{Progress, RunStage};
use crate::snapshot::{SavedLive, Snapshot};
use crate::target::{ReadTarget, ReadingManner, ZoneRead};

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
    /// The answers of its target, so far about its apex.
    Asked(AskedOpening<'t>),
}

/// A zone that is queried name by name.
struct AskedOpening<'t> {
    /// The target.
    target: &'t dyn ReadTarget,
    /// Its answers, so far about the apex.
    asked: AskedZone,
    /// How many records the zone probably has, where the target may also transfer it.
    records: Option<u64>,
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
    /// The open targets.
    readers: TargetReaders,
    /// What could be read of each zone; none for those that are queried name by name.
    zones: Vec<Option<Result<Box<KnownZone>, Problem>>>,
}

impl EarlyZones {
    /// Reads all zones of a configuration that are read completely for a plan of all hosts.
    pub fn read(config: &Config, terms: &ReadingTerms<'_>, progress: &dyn Progress) -> EarlyZones {
        let readers = open_targets(config, terms);
        prepare(config, &readers, true);
        let zones = each_zone(config, &readers, progress, |target, zone| match target.manner() {
            ReadingManner::Whole | ReadingManner::Either => Ok(Some(known(target.read_zone(zone)?, None))),
            ReadingManner::ByName => Ok(None),
        });
        let zones = zones.into_iter().map(Result::transpose).collect();
        EarlyZones { source: config.source.text.clone(), readers, zones }
    }

    /// Whether they were read with these settings, and not with what the file said a moment earlier.
    fn are_by(&self, config: &Config) -> bool {
        self.source == config.source.text
    }
}

/// Which zones are read, and for whom.
#[derive(Clone, Copy)]
pub struct ZonesRequest<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// The hosts whose rules run: of zones that are queried name by name, what these need is read.
    pub selection: &'a Selection,
    /// Where and when.
    pub terms: ReadingTerms<'a>,
}

/// Reads all configured zones as they are now, except those that `early` has.
pub fn read(request: &ZonesRequest<'_>, early: Option<EarlyZones>, progress: &dyn Progress) -> Zones {
    let ZonesRequest { inventory, selection, terms } = *request;
    let config = &inventory.config;
    let zones = match early.filter(|early| early.are_by(config)) {
        Some(EarlyZones { readers, zones, .. }) => read_rest(request, &readers, zones, progress),
        None => {
            let readers = open_targets(config, &terms);
            if terms.cache.is_some() {
                prepare(config, &readers, selection.is_all());
            }
            read_from(request, &readers, progress)
        }
    };
    if let Some(cache) = terms.cache {
        cache.keep_only(config.zones.iter().map(|spec| &spec.name));
    }
    zones
}

/// Reads all configured zones from these targets, as [`read`] does.
pub fn read_from(request: &ZonesRequest<'_>, readers: &TargetReaders, progress: &dyn Progress) -> Zones {
    let none = request.inventory.config.zones.iter().map(|_| None).collect();
    read_rest(request, readers, none, progress)
}

/// Lets targets find out which of their cached zones are current, all at once; for a plan of all hosts, targets that
/// may choose use transfers.
fn prepare(config: &Config, readers: &TargetReaders, is_whole: bool) {
    let targets = readers.targets();
    parallel::side_by_side(targets.iter().collect(), targets.len(), |target| {
        let Ok(access) = &target.access else { return };
        let is_read = match access.manner() {
            ReadingManner::Whole => true,
            ReadingManner::Either => is_whole,
            ReadingManner::ByName => false,
        };
        if is_read {
            let is_of_target = |spec: &&ZoneSpec| config.reference(spec).id == target.id;
            let zones: Vec<&ZoneName> = config.zones.iter().filter(is_of_target).map(|spec| &spec.name).collect();
            access.prepare(&zones);
        }
    });
}

/// Reads those of all configured zones that are not known already.
fn read_rest(
    request: &ZonesRequest<'_>,
    readers: &TargetReaders,
    early: Vec<Option<Result<Box<KnownZone>, Problem>>>,
    progress: &dyn Progress,
) -> Zones {
    let ZonesRequest { inventory, selection, terms } = *request;
    let config = &inventory.config;
    let apexes = Apexes::new(config.zones.iter().map(|spec| &spec.name));
    let asks = |target: &dyn ReadTarget| match target.manner() {
        ReadingManner::Whole => false,
        ReadingManner::ByName => true,
        ReadingManner::Either => !selection.is_all(),
    };
    let needed = readers.opened().any(asks).then(|| NeededNames::new(inventory, selection, terms.now));
    let may_choose = readers.opened().any(|target| target.manner() == ReadingManner::Either);
    let extents = needed.as_ref().filter(|_| may_choose).and_then(|needed| needed.extents(&apexes));
    let number = |zone: &ZoneName| apexes.zone_of(zone.as_name()).map(|number| number.0 as usize);
    let is_early = |zone: &ZoneName| number(zone).is_some_and(|number| early[number].is_some());
    let readings = if early.iter().all(Option::is_some) {
        early.iter().map(|_| Ok(None)).collect()
    } else {
        each_zone(config, readers, progress, |target, zone| {
            let extent = extents.as_ref().zip(number(zone)).map(|(extents, number)| extents[number]);
            if is_early(zone) { Ok(None) } else { read_one(target, zone, extent).map(Some) }
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

/// Reads one zone, or what its server says about its apex; `extent` is what reading it would take, where the plan is
/// not about all hosts.
fn read_one<'t>(
    target: &'t dyn ReadTarget,
    zone: &ZoneName,
    extent: Option<ReadingCost>,
) -> Result<ZoneReading<'t>, Problem> {
    let records = match (target.manner(), extent) {
        (ReadingManner::ByName, _) => None,
        (ReadingManner::Either, Some(extent)) if extent.is_asked() => Some(extent.records),
        (ReadingManner::Either | ReadingManner::Whole, _) => {
            return Ok(ZoneReading::Known(known(target.read_zone(zone)?, None)));
        }
    };
    let mut asked = AskedZone::new(zone.clone());
    asked.open(target.ask(zone, &asked.opening())?);
    Ok(ZoneReading::Asked(AskedOpening { target, asked, records }))
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
    let config = &inventory.config;
    let mut asking = Vec::new();
    let mut failed: Vec<(ZoneIndex, Problem)> = Vec::new();
    for (place, (spec, reading)) in config.zones.iter().zip(readings).enumerate() {
        let zone = ZoneIndex(place as u32);
        zones.push(match reading {
            Ok(ZoneReading::Known(known)) => {
                seen.push((zone, known.seen));
                inputs.extend(known.inputs);
                findings.extend(known.findings.map(|found| *found));
                known.live
            }
            Ok(ZoneReading::Asked(AskedOpening { target, asked, records })) => {
                let target_id = &config.reference(spec).id;
                asking.push(QueriedZone { zone, target_id, target, records, asked, failed: None });
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
    let of_zone = |(zone, seen): (ZoneIndex, ContentsSeen)| {
        let spec = &config.zones[zone.0 as usize];
        ZoneSeen::new(&config.pools[spec.pool].name, spec.name.clone(), seen)
    };
    let seen = seen.into_iter().map(of_zone).collect();
    let unread = failed.into_iter().map(|(zone, error)| (live.zone(zone).name().clone(), error)).collect();
    Zones { live, seen, asked, for_some: false, unread, inputs, findings }
}
