//! Zones in master files: a folder with one file NAME.zone for each zone.
//!
//! Comes in: the files. Goes out: the zone's contents with the digests of all files read, or all errors in them; and
//! files in which RRsets are edited and everything else is unchanged. No file outside the target's folder is opened.
//!
//! The library `domain` (0.12.3) has a parser of whole files, and a scanner of RDATA for each type that it knows. We
//! use the scanners, and cut entries ourselves (`dns::presentation`), for its parser, as tried:
//!
//! - panics when it is asked for more after most errors, so that a file with three errors would take three runs to fix;
//! - places an error after the token that is wrong, often in the next line, and does not place good records at all, which
//!   messages about a zone need (a CNAME next to other data), and an editor that keeps comments and order;
//! - refuses TTLs with units (`1h30m`), a record without a class if none had one before it, octets that are not ASCII,
//!   and a byte order mark; takes TTLs over 2^31 - 1, and gives 3600 to records whose TTL nothing says;
//! - leaves `$INCLUDE` to the caller, who can hand on the origin, but not `$TTL`;
//! - allocates for each record.
//!
//! One record that cannot be read makes its zone unknown, and blocks every host in it.
//!
//! What both lack: `$GENERATE`.

mod compare;
mod consistency;
mod edit;
mod examine;
mod layout;
mod load;
mod parse;
mod serial;
pub mod text;
mod writer;

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::exchange::ExchangeSettings;
use super::{OpenedReader, OpenedWriter, Provider, ProviderContext, TargetEndpoint};
use crate::diag::{Diagnostic, Diagnostics, FileFindings, Problem};
use crate::dns::{ContentsError, ZoneBuilder, ZoneContents, ZoneName};
use crate::inventory::config::shared::read_command;
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::process::BoundedCommand;
use crate::target::{
    AtomicUnit, PublicationProof, ReadTarget, RecordBounds, RrsetComparison, TargetCapabilities, UpdateLimits,
    ZoneFence, ZoneHome, ZoneMaking, ZoneRead,
};

use self::examine::examine;
use self::load::{FileLoader, TargetFolder};
use self::writer::FileWriter;

/// A folder of the workspace. A file has no writer except the one that replaces it.
pub const PROVIDER: Provider = Provider {
    capabilities,
    check,
    server_names: |_| Vec::new(),
    zone_ids: None,
    endpoints,
    place,
    open,
    open_writer,
    bounds,
    examine,
};

/// Files hold all records.
fn bounds(_: &SettingsNode, _: &ProviderContext<'_>) -> RecordBounds {
    RecordBounds::ALL
}

/// A server has what the files say once `reload` has loaded them.
fn capabilities(settings: &SettingsNode) -> TargetCapabilities {
    TargetCapabilities {
        home: ZoneHome::Workspace,
        making: ZoneMaking { creates: true, deletes: true, never: None },
        unit: AtomicUnit::ZoneFile,
        limits: UpdateLimits::NONE,
        comparison: RrsetComparison::RecordsAndTtl,
        fence: ZoneFence::None,
        bounds: RecordBounds::ALL,
        proof: settings.get("reload").map_or(PublicationProof::ReadBack, |_| PublicationProof::Reload),
        pace: None,
        marks: None,
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    read_settings(settings, source).1
}

/// The folder.
fn place(settings: &SettingsNode) -> String {
    settings.get("dir").and_then(SettingsNode::as_text).map(|dir| format!("the folder `{dir}`")).unwrap_or_default()
}

/// The folder, in one spelling.
fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let folder = settings.get("dir").and_then(|node| Some((node, node.as_text()?)));
    let endpoint = |(node, text)| {
        // `./zones/` is `zones`.
        let parts = Path::new(text).components().filter(|part| matches!(part, Component::Normal(_)));
        TargetEndpoint { identity: parts.collect::<PathBuf>().to_string_lossy().into_owned(), node }
    };
    folder.map(endpoint).into_iter().collect()
}

/// Finds the folder of a target.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    let FolderSettings { dir, .. } = read_settings(settings, context.source).0.expect("`check` passed the settings");
    Ok(Box::new(ZoneFiles { folder: TargetFolder::open(context.workspace, &dir)? }))
}

/// Finds the folder of a target to write to it.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let settings = read_settings(settings, context.source).0.expect("`check` passed the settings");
    let FolderSettings { dir, reload, timeout } = settings;
    let workspace = context.workspace.to_owned();
    Ok(Box::new(FileWriter {
        files: ZoneFiles { folder: TargetFolder::open(context.workspace, &dir)? },
        today: context.now.date(),
        reload: reload.map(|words| BoundedCommand { words, workspace, timeout }),
        dir,
        is_changed: AtomicBool::new(false),
    }))
}

/// Reads a zone from its file in a folder that no settings name.
///
/// Errors: as for a target whose folder it is.
pub fn read_in(folder: &Path, zone: &ZoneName) -> Result<ZoneRead, Problem> {
    ZoneFiles { folder: TargetFolder::open(folder, "")? }.read_zone(zone)
}

/// The settings of a target.
struct FolderSettings {
    /// The folder of the files, relative to the workspace.
    dir: String,
    /// What to run after files were written.
    reload: Option<Vec<String>>,
    /// How long that may take.
    timeout: Duration,
}

/// Reads the settings, and what is wrong in them.
fn read_settings(settings: &SettingsNode, source: &SourceText) -> (Option<FolderSettings>, Diagnostics) {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let dir = reader.require("dir").and_then(|node| reader.text_of(node).map(|text| (node, text)));
    let dir = dir.and_then(|(node, text)| {
        let inside = Path::new(text).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if text.is_empty() || !inside {
            let error = source.error(
                "outside-workspace",
                node.origin,
                node.width,
                format!("`{text}` leads out of the workspace"),
            );
            reader.push(error.hint("give a folder in the workspace, relative to zonewright.toml and without `..`"));
            return None;
        }
        Some(text.to_owned())
    });
    let reload = reader.take("reload").and_then(|node| read_command(&mut reader, node));
    let ExchangeSettings { timeout, .. } = ExchangeSettings::parse(&mut reader);
    (dir.map(|dir| FolderSettings { dir, reload, timeout }), reader.finish())
}

/// A folder of master files.
#[derive(Debug)]
struct ZoneFiles {
    /// The folder.
    folder: TargetFolder,
}

impl ReadTarget for ZoneFiles {
    fn place(&self, zone: &ZoneName) -> String {
        self.folder.shown_file(&file_name(zone))
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let mut loader = FileLoader::new(&self.folder);
        let first = self.load(zone, &mut loader)?;
        read_loaded(zone, loader, first).map_err(|refused| self.explain(zone, refused))
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        let loaded = FileLoader::new(&self.folder).load(None, &file_name(zone));
        loaded.is_err_and(|error| error.is_missing()) && self.folder.is_there()
    }
}

impl ZoneFiles {
    /// Loads the file of a zone; gives its number.
    fn load(&self, zone: &ZoneName, loader: &mut FileLoader<'_>) -> Result<usize, Problem> {
        loader.load(None, &file_name(zone)).map_err(|error| {
            let (code, hint) = if error.is_missing() {
                ("missing-file", format!("put the zone's master file there, or let `{zone}` have another pool"))
            } else {
                ("unreadable-file", "the file must be readable, and be in the target's folder itself".to_owned())
            };
            let place = self.place(zone);
            Problem::new(place, code, error.to_string()).hint(hint)
        })
    }

    /// Says that the files of a zone are wrong.
    fn explain(&self, zone: &ZoneName, (findings, errors): CountedFindings) -> Problem {
        let message = format!("{errors} error{} in the files of `{zone}`", if errors == 1 { "" } else { "s" });
        Problem::new(self.place(zone), "bad-zone-file", message)
            .hint("correct the file; until then the zone counts as unknown")
            .findings(findings)
    }
}

/// The name of a zone's file. A slash, which RFC 2317 puts into names, would make a folder of the part before it.
pub fn file_name(zone: &ZoneName) -> String {
    let name = zone.to_string().replace('/', "\\047");
    format!("{}.zone", name.strip_suffix('.').unwrap_or(&name))
}

/// The findings, and how many of them are errors.
type CountedFindings = (Box<FileFindings>, usize);

/// Reads a zone whose first file is loaded.
fn read_loaded(zone: &ZoneName, mut loader: FileLoader<'_>, first: usize) -> Result<ZoneRead, CountedFindings> {
    let (contents, found) = read_noting(zone, &mut loader, first, &mut |_, _| ());
    let errors = found.error_count();
    let (files, inputs) = loader.finish();
    match contents {
        Some(contents) if errors == 0 => {
            let findings = (!found.is_empty()).then(|| Box::new((files, found)));
            Ok(ZoneRead { contents, opaque: Vec::new(), is_flat: false, inputs, findings })
        }
        _ => Err((Box::new((files, found)), errors)),
    }
}

/// Reads a zone whose first file is loaded, and calls `note` for each record; returns its contents, unless it is not a
/// zone, and the findings.
fn read_noting(
    zone: &ZoneName,
    loader: &mut FileLoader<'_>,
    first: usize,
    note: &mut dyn FnMut(&parse::FileRecord<'_>, &parse::EntryPlace<'_>),
) -> (Option<ZoneContents>, Diagnostics) {
    let mut builder = ZoneBuilder::new(zone.clone());
    let parse::ParsedZone { mut found, has_soa } = parse::parse_zone(zone, loader, first, &mut |record, place| {
        note(record, place);
        builder.push(record.owner, record.rtype, record.ttl, record.rdata)
    });
    let contents = match builder.finish() {
        Ok(contents) => {
            found.append(consistency::check(&contents, loader, first));
            Some(contents)
        }
        Err(error) => {
            // A wrong SOA was reported at its place; a missing SOA may have been made unreadable by another error.
            if !has_soa && found.error_count() == 0 {
                found.push(no_contents(error, loader, first));
            }
            None
        }
    };
    found.settle();
    (contents, found)
}

/// Why records are not a zone: they have no SOA.
fn no_contents(error: ContentsError, loader: &FileLoader<'_>, first: usize) -> Diagnostic {
    let file = loader.get(first).file;
    Diagnostic::file_error("no-soa", file, error.to_string())
        .hint("a zone file has a SOA at the zone's name; check that this is not the file of another zone")
}

#[cfg(test)]
mod tests;
