//! Reads all copies of all configured zones, in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::copies::{ClosedCopy, CopiesRead, CopyReading, CreationTerms, KnownZone, ReadCopy};
use super::inquiry::{self, QueriedZone};
use super::needed::{NeededNames, ReadingCost};
use super::open::{ReadingTerms, TargetReaders, all_copies, each_copy, open_targets};
use super::side_by_side::side_by_side;
use crate::diag::{FileFindings, Problem};
use crate::diff::Selection;
use crate::diff::statements::KeptStatements;
use crate::dns::{Name, ZoneName};
use crate::inventory::Inventory;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::TargetSpec;
use crate::live::asked::AskedZone;
use crate::live::{Apexes, Live, LiveZone, OwnRrsets, PoolCopies, ZoneIndex, ZoneKnowledge, ZoneStructure};
use crate::parallel;
use crate::plan::{ContentsSeen, ZoneSeen};
use crate::progress::{Progress, RunStage};
use crate::snapshot::{SavedLive, Snapshot};
use crate::target::{
    CopyId, Marker, OpenedTarget, PoolName, ReadTarget, ReadingManner, TargetId, ZoneApex, ZoneId, ZoneRead,
};

/// The configured zones as they are live.
#[derive(Debug)]
pub struct Zones {
    /// What their reference copies hold.
    pub live: Live,
    /// The copies of the pools that have several targets, in the order of the configuration.
    pub copies: Vec<PoolCopies>,
    /// The copies that could be read, in the order of the configuration.
    pub seen: Vec<ZoneSeen>,
    /// Those of them that were queried name by name.
    pub asked: Vec<ZoneId>,
    /// Whether only the names that some hosts need were queried.
    pub for_some: bool,
    /// Those that could not be read, in the order of the configuration.
    pub unread: Vec<(ZoneIndex, Problem)>,
    /// The copies that could not be read, of zones that are known all the same; in the same order.
    pub unread_copies: Vec<(CopyId, Problem)>,
    /// The copies that do not exist and are to be made.
    pub missing: Vec<CopyId>,
    /// The copies that do not exist, and that their targets cannot make; each with what to do.
    pub not_made: Vec<(CopyId, Problem)>,
    /// The copies of zones in which nothing may be asked for.
    pub closed: Vec<ClosedCopy>,
    /// The copies that were read whole.
    pub read: Vec<ReadCopy>,
    /// The files they were read from, with their SHA-256.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in those that were read.
    pub findings: Vec<FileFindings>,
    /// What the state says of who created what in the zones of DNS update records, by record.
    pub own_of_records: BTreeMap<PoolName, OwnRrsets>,
}

impl Zones {
    /// The markers in the copies that were read whole.
    pub fn markers(&self) -> impl Iterator<Item = (&CopyId, Marker)> {
        self.read.iter().filter_map(|read| Some((&read.copy, Marker::of_rrset(read.stamp.marker.as_ref()?)?)))
    }
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

/// Zones that were read completely before the inventory was known.
pub struct EarlyZones {
    /// The settings that they were read with.
    source: String,
    /// The open targets.
    readers: TargetReaders,
    /// What could be read of each copy; none for those that are queried name by name.
    copies: Vec<Option<Result<Box<KnownZone>, Problem>>>,
}

impl EarlyZones {
    /// Reads all zones of a configuration that are read completely for a plan of all hosts; copies that are `known` only as far as
    /// they have moved.
    pub fn read(config: &Config, known: &[ReadCopy], terms: &ReadingTerms<'_>, progress: &dyn Progress) -> EarlyZones {
        let readers = open_targets(config, terms);
        prepare(config, &readers, true);
        let copies = each_copy(config, &readers, progress, |place, target| {
            let spec = &config.zones[place];
            let read = |access: &dyn ReadTarget| match access.manner() {
                ReadingManner::Whole | ReadingManner::Either => {
                    let known = known.iter().find(|own| own.copy.target == target.id && own.copy.zone == spec.name);
                    match known {
                        Some(known) => read_moved(access, spec, known).map(Some),
                        None => read_whole(access, spec).map(Some),
                    }
                }
                ReadingManner::ByName => Ok(None),
            };
            reader(target).and_then(read).transpose()
        });
        EarlyZones { source: config.source.text.clone(), readers, copies }
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
    /// What decides whether zones are made that targets lack.
    pub creation: &'a CreationTerms,
    /// What applies noted of the claims of files: what DNS update records published is looked for, too.
    pub statements: &'a KeptStatements,
}

/// Reads all configured zones as they are now, except those that `early` has.
pub fn read(request: &ZonesRequest<'_>, early: Option<EarlyZones>, progress: &dyn Progress) -> Zones {
    let ZonesRequest { inventory, selection, terms, .. } = *request;
    let config = &inventory.config;
    let zones = match early.filter(|early| early.are_by(config)) {
        Some(EarlyZones { readers, copies, .. }) => read_rest(request, &readers, copies, progress),
        None => {
            let readers = open_targets(config, &terms);
            if terms.cache.is_some() {
                prepare(config, &readers, selection.is_all());
            }
            read_from(request, &readers, progress)
        }
    };
    if let Some(cache) = terms.cache {
        let is_named = |place: usize| config.pools[config.zones[place].pool].names_targets();
        let copies = all_copies(config).into_iter();
        cache.keep_only(copies.map(|(place, target)| (is_named(place).then_some(target), &config.zones[place].name)));
    }
    zones
}

/// Reads all configured zones from these targets, as [`read`] does.
pub fn read_from(request: &ZonesRequest<'_>, readers: &TargetReaders, progress: &dyn Progress) -> Zones {
    let none = all_copies(&request.inventory.config).iter().map(|_| None).collect();
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
            let is_of_target = |spec: &&ZoneSpec| config.pools[spec.pool].name == target.id.pool;
            let zones: Vec<&ZoneName> = config.zones.iter().filter(is_of_target).map(|spec| &spec.name).collect();
            access.prepare(&zones);
        }
    });
}

/// The way to read a target.
///
/// Errors: there is none.
fn reader(target: &OpenedTarget<dyn ReadTarget>) -> Result<&dyn ReadTarget, Problem> {
    target.access.as_deref().map_err(Problem::clone)
}

/// Reads those of all copies that are not known already.
fn read_rest(
    request: &ZonesRequest<'_>,
    readers: &TargetReaders,
    early: Vec<Option<Result<Box<KnownZone>, Problem>>>,
    progress: &dyn Progress,
) -> Zones {
    let ZonesRequest { inventory, selection, terms, creation, statements } = *request;
    let config = &inventory.config;
    let apexes = Apexes::new(config.listed_zones().map(|spec| &spec.name));
    let asks = |target: &dyn ReadTarget| match target.manner() {
        ReadingManner::Whole => false,
        ReadingManner::ByName => true,
        ReadingManner::Either => !selection.is_all(),
    };
    let needed = readers.opened().any(asks).then(|| NeededNames::new(inventory, selection, terms.now));
    let may_choose = readers.opened().any(|target| target.manner() == ReadingManner::Either);
    let extents = needed.as_ref().filter(|_| may_choose).and_then(|needed| needed.extents(&apexes));
    let copies = all_copies(config);
    let is_early: BTreeSet<(usize, &TargetId)> =
        copies.iter().zip(&early).filter(|(_, early)| early.is_some()).map(|(copy, _)| *copy).collect();
    let readings = if is_early.len() == copies.len() {
        early.iter().map(|_| Ok(None)).collect()
    } else {
        each_copy(config, readers, progress, |place, target| {
            if is_early.contains(&(place, &target.id)) {
                return Ok(None);
            }
            let spec = &config.zones[place];
            let target = reader(target)?;
            if config.pools[spec.pool].has_several() {
                // Copies are compared, and so read whole.
                return Ok(Some(ZoneReading::Known(read_whole(target, spec)?)));
            }
            // What DNS update records need is not counted by the names of hosts.
            let extent = extents.as_ref().filter(|_| !config.is_of_record(spec)).map(|extents| extents[place]);
            read_one(target, spec, extent).map(Some)
        })
    };
    let known = |early: Result<Box<KnownZone>, Problem>| early.map(ZoneReading::Known);
    let either = |(early, reading): (Option<_>, Result<Option<_>, _>)| early.map(known).or(reading.transpose());
    let readings = early.into_iter().zip(readings).map(|both| either(both).expect("a copy is known early or read now"));
    let readings = ZoneReadings::of_copies(config, readings.collect());
    Zones {
        for_some: !selection.is_all(),
        ..join((inventory, statements), CopiesRead::new(creation), (needed, apexes, readings), progress)
    }
}

/// Reads all configured zones from a snapshot: no target is opened.
pub fn read_snapshot(inventory: &Inventory, snapshot: &Snapshot, progress: &dyn Progress) -> Zones {
    let specs = &inventory.config.zones;
    progress.stage(RunStage::Snapshot, Some(specs.len() as u64));
    let apexes = Apexes::new(inventory.config.listed_zones().map(|spec| &spec.name));
    let readings = side_by_side(&vec![0; specs.len()], |place| {
        let ZoneSpec { name: zone, pool, .. } = &specs[place];
        let known = |SavedLive { read, knowledge }| known(read, knowledge);
        let pool = &inventory.config.pools[*pool];
        let readings = if pool.is_of_record {
            ZoneReadings::Saved(snapshot.read_of_record(zone, pool.name.as_str()).map(known))
        } else if pool.has_several() && snapshot.has_copies(zone) {
            let copy = |target: &TargetSpec| snapshot.read_copy(zone, &target.id.name).map(known);
            ZoneReadings::Copies(pool.targets.iter().map(copy).collect())
        } else {
            ZoneReadings::Saved(snapshot.read_zone(zone).map(known))
        };
        progress.step();
        readings
    });
    let terms = CreationTerms::NONE;
    let copies = CopiesRead::new(&terms);
    let statements = KeptStatements::default();
    let mut zones = join((inventory, &statements), copies, (None, apexes, readings), progress);
    zones.inputs.push(snapshot.input().clone());
    zones
}

/// Reads one zone, or what its server says about its apex; `extent` is what reading it would take, where the plan is
/// not about all hosts.
fn read_one<'t>(
    target: &'t dyn ReadTarget,
    spec: &ZoneSpec,
    extent: Option<ReadingCost>,
) -> Result<ZoneReading<'t>, Problem> {
    let zone = &spec.name;
    let records = match (target.manner(), extent) {
        (ReadingManner::ByName, _) => None,
        (ReadingManner::Either, Some(extent)) if extent.is_asked() => Some(extent.records),
        (ReadingManner::Either | ReadingManner::Whole, _) => {
            return Ok(ZoneReading::Known(read_whole(target, spec)?));
        }
    };
    let mut asked = AskedZone::new(zone.clone());
    match target.ask(zone, &asked.opening()) {
        Ok(answers) => asked.open(answers),
        Err(problem) => return missing(target, spec).map(ZoneReading::Known).ok_or(problem),
    }
    Ok(ZoneReading::Asked(AskedOpening { target, asked, records }))
}

/// Reads one zone whole; one that the target lacks, and that may be made, is as it would be made.
fn read_whole(target: &dyn ReadTarget, spec: &ZoneSpec) -> Result<Box<KnownZone>, Problem> {
    let read = target.read_zone(&spec.name).map(|read| known(read, None));
    read.or_else(|problem| missing(target, spec).ok_or(problem))
}

/// Reads one zone whole, as [`read_whole`] does; what it is known to hold is taken where it has not moved.
fn read_moved(target: &dyn ReadTarget, spec: &ZoneSpec, copy: &ReadCopy) -> Result<Box<KnownZone>, Problem> {
    let contents = copy.live.contents().expect("a copy that was read has contents");
    match target.read_if_moved(contents) {
        Ok(Some(read)) => Ok(known(read, None)),
        Ok(None) => Ok(Box::new(KnownZone {
            live: Arc::clone(&copy.live),
            seen: copy.seen.clone(),
            inputs: Vec::new(),
            findings: None,
            is_missing: false,
        })),
        Err(problem) => missing(target, spec).ok_or(problem),
    }
}

/// A zone that the target lacks, and that may be missing, as it would be made; none where it is there, or where it is no
/// more than not readable.
fn missing(target: &dyn ReadTarget, spec: &ZoneSpec) -> Option<Box<KnownZone>> {
    if !spec.may_be_missing() || !target.lacks_zone(&spec.name) {
        return None;
    }
    // One that is to be deleted may have no apex to be made with; nothing looks at what it would hold.
    let apex = spec.create.clone().unwrap_or_else(|| {
        let root = Name::root();
        ZoneApex { mname: root.clone(), ns: vec![root.clone()], rname: root }
    });
    let read = ZoneRead {
        contents: apex.contents(&spec.name),
        opaque: Vec::new(),
        is_flat: target.is_flat(),
        inputs: Vec::new(),
        findings: None,
    };
    let known = known(read, None);
    Some(Box::new(KnownZone { is_missing: true, ..*known }))
}

/// Makes the live zone from what was read; `knowledge` says which names are known, where it was not read completely.
fn known(read: ZoneRead, knowledge: Option<ZoneKnowledge>) -> Box<KnownZone> {
    let mut structure = ZoneStructure::of(read.is_flat);
    let apex = read.contents.apex().as_name();
    structure.note_opaque(apex, read.opaque);
    let seen = ContentsSeen::with_each(&read.contents, |rrset| structure.note(apex, rrset));
    let live = LiveZone::made_of(read.contents, structure);
    let live = match knowledge {
        Some(knowledge) => live.with_knowledge(knowledge),
        None => live,
    };
    Box::new(KnownZone { live: Arc::new(live), seen, inputs: read.inputs, findings: read.findings, is_missing: false })
}

/// What was read of one zone.
enum ZoneReadings<'t> {
    /// The answers of the one target of its pool, so far about its apex.
    Asked(AskedOpening<'t>),
    /// Each of its copies, in the order of the targets of its pool.
    Copies(Vec<CopyReading>),
    /// What a snapshot without targets says of all of them.
    Saved(CopyReading),
}

impl<'t> ZoneReadings<'t> {
    /// The readings of the zones, from those of their copies in the same order.
    fn of_copies(config: &Config, readings: Vec<Result<ZoneReading<'t>, Problem>>) -> Vec<ZoneReadings<'t>> {
        let mut readings = readings.into_iter();
        let of_zone = |spec: &ZoneSpec| {
            let count = config.pools[spec.pool].targets.len();
            let mut copies = Vec::with_capacity(count);
            for reading in readings.by_ref().take(count) {
                match reading {
                    // Only a pool of one target is asked name by name.
                    Ok(ZoneReading::Asked(asked)) => return ZoneReadings::Asked(asked),
                    Ok(ZoneReading::Known(known)) => copies.push(Ok(known)),
                    Err(problem) => copies.push(Err(problem)),
                }
            }
            ZoneReadings::Copies(copies)
        };
        config.zones.iter().map(of_zone).collect()
    }
}

/// Joins what could be read, and queries names where zones are read name by name.
fn join(
    (inventory, statements): (&Inventory, &KeptStatements),
    mut copies: CopiesRead<'_>,
    (needed, apexes, readings): (Option<NeededNames<'_>>, Apexes, Vec<ZoneReadings<'_>>),
    progress: &dyn Progress,
) -> Zones {
    let config = &inventory.config;
    let mut zones = Vec::new();
    let mut asking = Vec::new();
    let mut failed: Vec<(ZoneIndex, Problem)> = Vec::new();
    for (place, (spec, readings)) in config.zones.iter().zip(readings).enumerate() {
        let zone = ZoneIndex(place as u32);
        let reading = match readings {
            ZoneReadings::Copies(readings) => copies.take(config, zone, readings),
            ZoneReadings::Saved(reading) => copies.take_saved(config, zone, reading),
            ZoneReadings::Asked(AskedOpening { target, asked, records }) => {
                let target_id = &config.reference(spec).id;
                asking.push(QueriedZone { zone, target_id, target, records, asked, failed: None });
                Ok(Arc::new(asking.last_mut().expect("just pushed").known()))
            }
        };
        zones.push(reading.unwrap_or_else(|error| {
            failed.push((zone, error));
            Arc::new(LiveZone::unknown(spec.name.clone()))
        }));
    }
    let mut live = Live::draft(zones, apexes);
    if let Some(mut needed) = needed.filter(|_| !asking.is_empty()) {
        live = inquiry::follow((inventory, statements), &mut needed, live, &mut asking, progress);
    }
    let live = live.finish();
    let views = copies.views(config, &live);
    let CopiesRead { mut seen, unread: unread_copies, missing, not_made, closed, read, inputs, findings, .. } = copies;
    for QueriedZone { zone, target_id, failed: failure, .. } in asking {
        let known = live.zone(zone);
        let found = known.contents().map(ContentsSeen::of);
        seen.extend(found.map(|found| (zone, ZoneSeen::new(target_id, known.name().clone(), found))));
        failed.extend(failure.map(|failure| (zone, failure)));
    }
    let asked = live.zones().filter(|(_, zone)| zone.knowledge().is_some());
    let asked = asked.map(|(number, _)| config.zone_id(&config.zones[number.0 as usize])).collect();
    seen.sort_by_key(|(zone, _)| *zone);
    failed.sort_by_key(|(zone, _)| *zone);
    let seen = seen.into_iter().map(|(_, seen)| seen).collect();
    #[rustfmt::skip]
    let zones = Zones {
        live, copies: views, seen, asked, for_some: false, unread: failed, unread_copies, missing, not_made, closed, read,
        inputs, findings, own_of_records: BTreeMap::new(),
    };
    zones
}
