//! Makes a snapshot from targets: each zone is saved as soon as it is read, so that few are in memory at once. Only
//! where zones are queried name by name are all of them read first, because the inventory says which names.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::TOOL;
use super::findings::Findings;
use super::inputs::load;
use super::record_zones;
use super::settings::load_config;
use crate::diag::{FileFindings, Problem};
use crate::diff::Selection;
use crate::diff::statements::KeptStatements;
use crate::dns::ZoneName;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::value::Time;
use crate::live::{LiveZone, ZoneIndex};
use crate::progress::Progress;
use crate::provider::outage;
use crate::reading::CreationTerms;
use crate::reading::open::{all_copies, each_copy, open_targets};
use crate::reading::{ReadingTerms, Zones, ZonesRequest, zones};
use crate::snapshot::{SavedCopy, SavedZone, SnapshotCounts, SnapshotWriter, UnreadZone, target_of_record};
use crate::target::{OpenedTarget, ReadTarget, ReadingManner, TargetId, ZoneRead};

/// What was saved, and what was found.
#[derive(Debug)]
pub struct SavedSnapshot {
    /// How much was saved.
    pub counts: SnapshotCounts,
    /// What was found in zone files, and with zones that could not be read.
    pub findings: Findings,
}

/// Why nothing was saved.
#[derive(Debug)]
pub enum SnapshotError {
    /// zonewright.toml cannot be used.
    Settings(Box<Findings>),
    /// The snapshot could not be written.
    Save(Problem),
    /// No zone could be read; says why, for each zone.
    Unread(Box<Findings>),
}

/// Reads all configured zones, each copy of them, and saves them as `target`.
pub fn save(
    workspace: &Path,
    now: Time,
    target: &Path,
    progress: &dyn Progress,
) -> Result<SavedSnapshot, SnapshotError> {
    let (mut config, files) = load_config(workspace).map_err(SnapshotError::Settings)?;
    let writer = SnapshotWriter::begin(target).map_err(SnapshotError::Save)?;
    let terms = ReadingTerms { workspace, now, cache: None };
    record_zones::find(&mut config, terms);
    let readers = open_targets(&config, &terms);
    let (known, mut findings) = if readers.opened().any(|target| target.manner() == ReadingManner::ByName) {
        save_known(terms, &writer, progress)?
    } else {
        (Vec::new(), Findings { files, ..Findings::default() })
    };
    let mut known: HashMap<usize, SaveOutcome> = known.into_iter().collect();
    let is_known: HashSet<usize> = known.keys().copied().collect();
    let outcomes = each_copy(&config, &readers, progress, |place, target| {
        let spec = &config.zones[place];
        let name = shown_target(&config, spec, &target.id);
        (!is_known.contains(&place)).then(|| save_whole(&writer, target, &spec.name, name.as_deref()))
    });
    let (mut saved, mut unread, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for ((place, target), outcome) in all_copies(&config).into_iter().zip(outcomes) {
        let spec = &config.zones[place];
        let outcome = outcome.or_else(|| known.remove(&place)).expect("a zone is known or was just read");
        match outcome {
            Ok(written) => {
                let (zone, found) = written.map_err(SnapshotError::Save)?;
                saved.push(zone);
                findings.zones.extend(found.map(|found| *found));
            }
            Err(error) => {
                unread.push(list(spec.name.clone(), shown_target(&config, spec, target).as_deref(), &error));
                errors.push(error);
            }
        }
    }
    findings.unread = outage::gather(errors.into_iter());
    if saved.is_empty() && !unread.is_empty() {
        // An earlier snapshot is worth more than one of nothing.
        return Err(SnapshotError::Unread(Box::new(findings)));
    }
    let records = saved.iter().map(|copy| copy.records as usize).sum();
    let zones = saved.chunk_by(|a, b| a.zone == b.zone).count();
    let counts = SnapshotCounts { zones, copies: saved.len(), records, unread: unread.len() };
    writer.finish(TOOL, now, saved, unread).map_err(SnapshotError::Save)?;
    Ok(SavedSnapshot { counts, findings })
}

/// What a snapshot calls a target, where its pool has several or is that of a DNS update record.
fn shown_target<'t>(config: &Config, spec: &ZoneSpec, target: &'t TargetId) -> Option<Cow<'t, str>> {
    if config.is_of_record(spec) {
        return Some(Cow::Owned(target_of_record(target.pool.as_str())));
    }
    config.pool(spec).has_several().then_some(Cow::Borrowed(target.name.as_str()))
}

/// A copy of a zone that was saved, with what is questionable in it; or why it could not be saved; or why it could not
/// be read.
type SaveOutcome = Result<Result<(SavedZone, Option<Box<FileFindings>>), Problem>, Problem>;

/// Reads and saves one copy of a zone; `name` is that of the target, where its pool has several.
fn save_whole(
    writer: &SnapshotWriter,
    target: &OpenedTarget<dyn ReadTarget>,
    zone: &ZoneName,
    name: Option<&str>,
) -> SaveOutcome {
    let read = target.access.as_deref().map_err(Problem::clone)?.read_zone(zone)?;
    let saved = writer.write(name, copy_of(&read), None);
    Ok(saved.map(|saved| (saved, read.findings)))
}

/// Reads all zones and saves what is known about those of pools of one target, each with its place in the settings:
/// which names are queried depends on the inventory.
fn save_known(
    terms: ReadingTerms<'_>,
    writer: &SnapshotWriter,
    progress: &dyn Progress,
) -> Result<(Vec<(usize, SaveOutcome)>, Findings), SnapshotError> {
    let (inventory, diagnostics) = load(terms.workspace, terms.now, progress).map_err(SnapshotError::Settings)?;
    let (selection, statements) = (&Selection::default(), &KeptStatements::default());
    let request = ZonesRequest { inventory: &inventory, selection, terms, creation: &CreationTerms::NONE, statements };
    let Zones { live, unread, missing, findings, .. } = zones::read(&request, None, progress);
    let mut unread: HashMap<ZoneIndex, Problem> = unread.into_iter().collect();
    let missing: HashSet<&ZoneName> = missing.iter().map(|copy| &copy.zone).collect();
    let config = &inventory.config;
    // Others are read whole afterwards: what would be made is not live, and a closed zone is not kept in `live`.
    let save = |(number, zone): (ZoneIndex, &LiveZone)| {
        let place = number.0 as usize;
        let spec = &config.zones[place];
        let has_one = !config.pool(spec).has_several();
        let contents = zone.contents().filter(|_| has_one && !missing.contains(zone.name()));
        let saved = contents.map(|contents| {
            let copy = SavedCopy { contents, opaque: &zone.opaque(), is_flat: zone.is_flat() };
            let target = shown_target(config, spec, &config.reference(spec).id);
            writer.write(target.as_deref(), copy, zone.knowledge())
        });
        let error = has_one.then(|| unread.remove(&number)).flatten();
        let outcome = saved.map(|saved| Ok(saved.map(|saved| (saved, None)))).or(error.map(Err))?;
        Some((place, outcome))
    };
    let outcomes = live.zones().filter_map(save).collect();
    Ok((outcomes, Findings { files: inventory.files, diagnostics, zones: findings, ..Findings::default() }))
}

/// What is saved of a copy that was read.
fn copy_of(read: &ZoneRead) -> SavedCopy<'_> {
    SavedCopy { contents: &read.contents, opaque: &read.opaque, is_flat: read.is_flat }
}

/// What the manifest says about a copy of a zone that could not be read.
fn list(zone: ZoneName, target: Option<&str>, error: &Problem) -> UnreadZone {
    let Problem { place, code, message, hint, .. } = error;
    UnreadZone {
        zone,
        target: target.map(str::to_owned),
        place: place.clone(),
        code: code.to_string(),
        message: message.clone(),
        hint: hint.clone(),
    }
}
