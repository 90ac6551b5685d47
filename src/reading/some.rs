//! Some of the configured zones, examined one by one: none is kept.

use super::open::TargetReaders;
use super::side_by_side::side_by_side;
use crate::diag::{FileFindings, Problem};
use crate::dns::ZoneName;
use crate::inventory::model::Config;
use crate::progress::{Progress, RunStage};
use crate::snapshot::Snapshot;
use crate::target::{ReadTarget, ReadingManner, TargetId, ZoneRead};

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
    /// Which target is queried: its zones share its servers.
    pub target_id: &'t TargetId,
    /// The target.
    pub target: &'t dyn ReadTarget,
}

/// Where live DNS is read from.
#[derive(Clone, Copy)]
pub enum LiveSource<'t> {
    /// From the targets of the pools.
    Targets(&'t TargetReaders),
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
    look: impl Fn(&ZoneRead) -> T + Sync,
    progress: &dyn Progress,
) -> SomeZones<'t, T> {
    let specs: Vec<_> = config.listed_zones().filter(|spec| is_needed(&spec.name)).collect();
    progress.stage(RunStage::Zones, Some(specs.len() as u64));
    let targets: Vec<&TargetId> = specs.iter().map(|spec| &config.reference(spec).id).collect();
    let sights = side_by_side(&targets, |place| {
        let (zone, target_id) = (&specs[place].name, targets[place]);
        let whole = |read: ZoneRead| ZoneSight::Whole(look(&read), read.findings);
        let sight = match source {
            LiveSource::Snapshot(snapshot) => snapshot.read_zone(zone).map(|saved| match saved.knowledge {
                Some(_) => ZoneSight::InPart,
                None => whole(saved.read),
            }),
            LiveSource::Targets(readers) => match &readers.target(target_id).access {
                Ok(target) if target.manner() == ReadingManner::ByName => {
                    Ok(ZoneSight::Asked(AskedFor { zone, target_id, target: target.as_ref() }))
                }
                Ok(target) => target.read_zone(zone).map(whole),
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
