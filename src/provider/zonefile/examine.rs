//! A folder of master files, looked at: what can be read, and what could be written.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::load::TargetFolder;
use super::{FolderSettings, ZoneFiles, file_name, read_settings};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::examine::{Capabilities, PlaceExamined, ServerClock, TargetExamined, ZoneExamined, ZoneMeasures};
use crate::target::ReadTarget as _;

/// Looks at the folder of a target, and at the files of these zones.
pub fn examine(settings: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let FolderSettings { dir, .. } = read_settings(settings, context.source).0.expect("`check` passed the settings");
    let mut place = PlaceExamined { place: dir.clone(), fault: None, clock: ServerClock::NotTold, zones: Vec::new() };
    match TargetFolder::open(context.workspace, &dir) {
        Err(error) => place.fault = Some(error),
        Ok(folder) => {
            let files = ZoneFiles { folder };
            place.zones = zones.iter().map(|zone| examine_zone(&files, context.workspace, zone)).collect();
        }
    }
    TargetExamined {
        key: None,
        signs: false,
        is_folder: true,
        transfers: true,
        places: vec![place],
        capabilities: Capabilities::NotAsked,
    }
}

/// Looks at the files of one zone.
fn examine_zone(files: &ZoneFiles, workspace: &Path, zone: &ZoneName) -> ZoneExamined {
    let (mut serial, mut writable) = (None, None);
    let read = files.read_zone(zone).map_err(explain).map(|read| {
        serial = Some(read.contents.serial().into_int());
        let first = workspace.join(files.folder.shown_file(&file_name(zone)));
        // Nothing is written: whether the system would let us is known once the file is open.
        writable = Some(OpenOptions::new().append(true).open(first).is_ok());
        let size = |(name, _): &(String, String)| fs::metadata(workspace.join(name)).map_or(0, |found| found.len());
        let octets = read.inputs.iter().map(size).sum();
        let warnings = read.findings.map_or(0, |findings| findings.1.warning_count());
        ZoneMeasures { warnings, ..ZoneMeasures::of(&read.contents, octets, None) }
    });
    ZoneExamined { zone: zone.clone(), authority: None, serial, read, without_key: None, writable }
}

/// The fault of a zone that cannot be read.
fn explain(error: Problem) -> Problem {
    let hint = "`zonewright check` shows where; until they are corrected the zone counts as unknown";
    if error.findings.is_some() { error.hint(hint) } else { error }
}
