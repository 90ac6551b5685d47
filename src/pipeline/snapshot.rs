//! From targets to a snapshot: each zone is saved as soon as it is read, so that few are in memory at once.

use std::path::Path;

use super::{Findings, Progress, TOOL, each_once, load_config, zones};
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::provider::{self, ReadError};
use crate::snapshot::{SaveError, SavedZone, UnreadZone, Writer};

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

/// One zone that was saved, with what is questionable in its files.
type SavedOne = (SavedZone, Option<Box<provider::Findings>>);

/// Reads all configured zones and saves them as `target`.
pub fn save(workspace: &Path, now: Time, target: &Path, progress: &dyn Progress) -> Result<Saved, SaveFailure> {
    let (config, files) = load_config(workspace).map_err(SaveFailure::Config)?;
    let writer = Writer::begin(target).map_err(SaveFailure::Save)?;
    let outcomes = zones::read_each(&config, workspace, progress, |zone, outcome| match outcome {
        Ok(read) => writer.write_zone(&read.contents).map(|saved| Ok((saved, read.findings))),
        Err(error) => Ok(Err((zone.clone(), error))),
    });
    let outcomes: Vec<Result<SavedOne, (ZoneName, ReadError)>> =
        outcomes.into_iter().collect::<Result<_, SaveError>>().map_err(SaveFailure::Save)?;
    let (mut saved, mut unread) = (Vec::new(), Vec::new());
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok((zone, found)) => {
                saved.push(zone);
                findings.extend(found.map(|found| *found));
            }
            Err((zone, error)) => {
                unread.push(list(zone, &error));
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

/// What the manifest says of a zone that could not be read.
fn list(zone: ZoneName, error: &ReadError) -> UnreadZone {
    let ReadError { place, code, message, hint, .. } = error;
    UnreadZone { zone, place: place.clone(), code: (*code).to_owned(), message: message.clone(), hint: hint.clone() }
}
