//! From targets to a snapshot: each zone is saved as soon as it is read, so that few are in memory at once.

use std::path::Path;

use super::{Findings, Progress, TOOL, each_once, load_config, zones};
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::provider::{Access, ReadError};
use crate::snapshot::{SaveError, UnreadZone, Writer};

/// What was saved, and what was found.
#[derive(Debug)]
pub struct Saved {
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
pub enum SaveFailure {
    /// zonewright.toml cannot be used.
    Config(Box<Findings>),
    /// The snapshot could not be written.
    Save(SaveError),
}

/// Reads all configured zones and saves them as `target`.
pub fn save(workspace: &Path, now: Time, target: &Path, progress: &dyn Progress) -> Result<Saved, SaveFailure> {
    let (config, files) = load_config(workspace).map_err(SaveFailure::Config)?;
    let writer = Writer::begin(target).map_err(SaveFailure::Save)?;
    let targets = zones::open_targets(&config, workspace);
    let outcomes = zones::each_zone(&config, &targets, progress, |access, zone| {
        let read = match access {
            Access::Whole(target) => target.read_zone(zone)?,
            Access::ByName(_) => return Err(read_by_name(zone)),
        };
        Ok(writer.write_zone(&read.contents).map(|saved| (saved, read.findings)))
    });
    let (mut saved, mut unread) = (Vec::new(), Vec::new());
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    for (spec, outcome) in config.zones.iter().zip(outcomes) {
        match outcome {
            Ok(written) => {
                let (zone, found) = written.map_err(SaveFailure::Save)?;
                saved.push(zone);
                findings.extend(found.map(|found| *found));
            }
            Err(error) => {
                unread.push(list(spec.name.clone(), &error));
                errors.push(error);
            }
        }
    }
    let records = saved.iter().map(|zone| zone.records as usize).sum();
    let (zones, unread_count) = (saved.len(), unread.len());
    writer.finish((TOOL, now), saved, unread).map_err(SaveFailure::Save)?;
    let findings = Findings { files, zones: findings, unread: each_once(errors.into_iter()), ..Findings::default() };
    Ok(Saved { zones, records, unread: unread_count, findings })
}

/// The error of a zone of which only names are asked for: which, hangs on the inventory.
fn read_by_name(zone: &ZoneName) -> ReadError {
    ReadError {
        place: format!("zone {zone}"),
        code: "read-by-name",
        message: "the zone is read name by name, and a snapshot holds whole zones only".to_owned(),
        hint: Some("let the server allow the transfer, and remove `read = \"query\"` from the target".to_owned()),
        findings: None,
    }
}

/// What the manifest says of a zone that could not be read.
fn list(zone: ZoneName, error: &ReadError) -> UnreadZone {
    let ReadError { place, code, message, hint, .. } = error;
    UnreadZone { zone, place: place.clone(), code: (*code).to_owned(), message: message.clone(), hint: hint.clone() }
}
