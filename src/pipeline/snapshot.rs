//! Makes a snapshot from targets: each zone is saved as soon as it is read, so that few are in memory at once. Only
//! where zones are queried name by name are all of them read first, because the inventory says which names.

use std::path::Path;

use super::TOOL;
use super::findings::Findings;
use super::inputs::load;
use super::settings::load_config;
use crate::diag::{FileFindings, Problem};
use crate::diff::Selection;
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::provider::outage;
use crate::reading::CreationTerms;
use crate::reading::open::{each_zone, open_targets};
use crate::reading::{ReadingTerms, Zones, ZonesRequest, zones};
use crate::snapshot::{SavedZone, SnapshotWriter, UnreadZone};
use crate::target::{ReadTarget, ReadingManner};

/// What was saved, and what was found.
#[derive(Debug)]
pub struct SavedSnapshot {
    /// How many zones were saved.
    pub zones: usize,
    /// How many records they have.
    pub records: usize,
    /// How many zones could not be read.
    pub unread: usize,
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

/// Reads all configured zones and saves them as `target`.
pub fn save(
    workspace: &Path,
    now: Time,
    target: &Path,
    progress: &dyn Progress,
) -> Result<SavedSnapshot, SnapshotError> {
    let (config, files) = load_config(workspace).map_err(SnapshotError::Settings)?;
    let writer = SnapshotWriter::begin(target).map_err(SnapshotError::Save)?;
    let terms = ReadingTerms { workspace, now, cache: None };
    let readers = open_targets(&config, &terms);
    let (outcomes, findings) = if readers.opened().any(|target| target.manner() == ReadingManner::ByName) {
        save_known(terms, &writer, progress)?
    } else {
        let outcomes = each_zone(&config, &readers, progress, |target, zone| save_whole(&writer, target, zone));
        (outcomes, Findings { files, ..Findings::default() })
    };
    let (mut saved, mut unread, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut findings = findings;
    for (spec, outcome) in config.zones.iter().zip(outcomes) {
        match outcome {
            Ok(written) => {
                let (zone, found) = written.map_err(SnapshotError::Save)?;
                saved.push(zone);
                findings.zones.extend(found.map(|found| *found));
            }
            Err(error) => {
                unread.push(list(spec.name.clone(), &error));
                errors.push(error);
            }
        }
    }
    findings.unread = outage::gather(errors.into_iter());
    if saved.is_empty() && !unread.is_empty() {
        // An earlier snapshot is worth more than one of nothing.
        return Err(SnapshotError::Unread(Box::new(findings)));
    }
    let records = saved.iter().map(|zone| zone.records as usize).sum();
    let (zones, unread_count) = (saved.len(), unread.len());
    writer.finish(TOOL, now, saved, unread).map_err(SnapshotError::Save)?;
    Ok(SavedSnapshot { zones, records, unread: unread_count, findings })
}

/// A zone that was saved, with what is questionable in it; or why it could not be saved; or why it could not be read.
type SaveOutcome = Result<Result<(SavedZone, Option<Box<FileFindings>>), Problem>, Problem>;

/// Reads and saves one zone.
fn save_whole(writer: &SnapshotWriter, target: &dyn ReadTarget, zone: &ZoneName) -> SaveOutcome {
    let read = target.read_zone(zone)?;
    Ok(writer.write_zone(&read.contents, None).map(|saved| (saved, read.findings)))
}

/// Reads all zones and saves what is known about them: which names are queried depends on the inventory.
fn save_known(
    terms: ReadingTerms<'_>,
    writer: &SnapshotWriter,
    progress: &dyn Progress,
) -> Result<(Vec<SaveOutcome>, Findings), SnapshotError> {
    let (inventory, diagnostics) = load(terms.workspace, terms.now, progress).map_err(SnapshotError::Settings)?;
    let request =
        ZonesRequest { inventory: &inventory, selection: &Selection::default(), terms, creation: &CreationTerms::NONE };
    let Zones { live, unread, findings, .. } = zones::read(&request, None, progress);
    let mut unread = unread.into_iter().map(|(_, error)| error);
    let outcomes = live.zones().map(|(_, zone)| match zone.contents() {
        Some(contents) => Ok(writer.write_zone(contents, zone.knowledge()).map(|saved| (saved, None))),
        None => Err(unread.next().expect("a zone without contents has an error")),
    });
    let outcomes = outcomes.collect();
    Ok((outcomes, Findings { files: inventory.files, diagnostics, zones: findings, ..Findings::default() }))
}

/// What the manifest says about a zone that could not be read.
fn list(zone: ZoneName, error: &Problem) -> UnreadZone {
    let Problem { place, code, message, hint, .. } = error;
    UnreadZone { zone, place: place.clone(), code: code.to_string(), message: message.clone(), hint: hint.clone() }
}
