//! Saving a snapshot: into a temporary folder next to its place, which gets its name when all of it is on disk.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::manifest::{FORMAT, Manifest, NamesFile, SavedMark, SavedOpaque, SavedZone, UnreadZone, ZoneExtent};
use super::{MANIFEST, NAMES_SUFFIX, SUFFIX, file_stem, folder, names, text};
use crate::diag::Problem;
use crate::disk::{DigestText, hex};
use crate::dns::{RrsetRef, ZoneContents};
use crate::inventory::value::Time;
use crate::live::ZoneKnowledge;
use crate::plan::ContentsSeen;
use crate::target::OpaqueRecords;

/// The error of something on disk.
fn not_saved(place: &Path, error: &io::Error) -> Problem {
    let message = format!("the snapshot could not be saved: {}", error.to_string().to_lowercase());
    Problem::new(place.to_string_lossy(), "snapshot-not-saved", message).hint(
        "give `--out` a new folder or an earlier snapshot; this user must be able to write to the folder around it",
    )
}

/// The error of a folder that is not to be replaced.
fn taken(place: &Path, why: &str) -> Problem {
    let message = format!("this is not a snapshot, so it is not replaced: {why}");
    Problem::new(place.to_string_lossy(), "not-a-snapshot", message)
        .hint("give `--out` a name that is free, or that of an earlier snapshot")
}

/// What is saved of a copy of a zone.
#[derive(Debug, Clone, Copy)]
pub struct SavedCopy<'c> {
    /// What it holds.
    pub contents: &'c ZoneContents,
    /// What of it no RRset says.
    pub opaque: &'c [OpaqueRecords],
    /// Whether no name may be below another.
    pub is_flat: bool,
}

impl SavedCopy<'_> {
    /// A copy of plain RRsets.
    pub fn of(contents: &ZoneContents) -> SavedCopy<'_> {
        SavedCopy { contents, opaque: &[], is_flat: false }
    }
}

/// Saves the zones of one snapshot, in any order and side by side.
#[derive(Debug)]
pub struct SnapshotWriter {
    /// What the snapshot will be called.
    target: PathBuf,
    /// Where it is until then; removed with all in it unless it was renamed.
    temporary: PathBuf,
    /// Whether an earlier snapshot has the name.
    replaces: bool,
}

impl Drop for SnapshotWriter {
    fn drop(&mut self) {
        // After the renaming there is nothing to remove, and an earlier failure is reported.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

impl SnapshotWriter {
    /// Begins a snapshot in the place of `target`: a free name, or an earlier snapshot.
    pub fn begin(target: &Path) -> Result<SnapshotWriter, Problem> {
        let replaces = match fs::symlink_metadata(target) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(not_saved(target, &error)),
        };
        if replaces {
            folder::check_is_snapshot(target).map_err(|why| taken(target, &why))?;
        }
        // A link stays, and its target is replaced.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let temporary = folder::create_temporary(&target).map_err(|error| not_saved(&target, &error))?;
        Ok(SnapshotWriter { target, temporary, replaces })
    }

    /// Saves one zone, or what is known about it; returns what the manifest says about it.
    pub fn write_zone(&self, copy: SavedCopy<'_>, knowledge: Option<&ZoneKnowledge>) -> Result<SavedZone, Problem> {
        self.write(None, copy, knowledge)
    }

    /// Saves a copy of a zone, or what is known about it; with its target, where the zone alone does not say which copy it is.
    pub fn write(
        &self,
        target: Option<&str>,
        SavedCopy { contents, opaque, is_flat }: SavedCopy<'_>,
        knowledge: Option<&ZoneKnowledge>,
    ) -> Result<SavedZone, Problem> {
        let ContentsSeen { serial, rrsets, digest, .. } = ContentsSeen::of(contents);
        let zone = contents.apex().clone();
        let stem = file_stem(&zone, target);
        let file = format!("{stem}{SUFFIX}");
        let sha256 = self.write_file(&file, |out| text::write_zone(contents, out))?;
        let extent = match knowledge {
            None => ZoneExtent::Whole,
            Some(knowledge) => {
                let file = stem + NAMES_SUFFIX;
                let sha256 = self.write_file(&file, |out| out.write_all(names::to_text(knowledge).as_bytes()))?;
                ZoneExtent::Asked(NamesFile { file, sha256 })
            }
        };
        let records = contents.record_count() as u64;
        let digest = DigestText(&digest).to_string();
        let opaque = opaque.iter().map(|own| SavedOpaque { name: own.owner.to_string(), what: own.what.clone() });
        let (target, opaque) = (target.map(str::to_owned), opaque.collect());
        let mark = |rrset: RrsetRef<'_>| {
            let (name, rtype) = (rrset.owner().to_string(), rrset.rtype());
            Some(SavedMark { name, rtype, mark: rrset.mark()?.clone() })
        };
        let mut marks: Vec<SavedMark> = contents.marked_rrsets().filter_map(mark).collect();
        marks.sort_unstable();
        Ok(SavedZone { zone, target, file, sha256, extent, serial, rrsets, records, digest, opaque, marks, is_flat })
    }

    /// Writes and syncs a file; gives its digest.
    fn write_file(
        &self,
        name: &str,
        write: impl FnOnce(&mut DigestWriter<BufWriter<File>>) -> io::Result<()>,
    ) -> Result<String, Problem> {
        let written = File::create_new(self.temporary.join(name)).and_then(|file| {
            let mut out = DigestWriter { out: BufWriter::new(file), hasher: Sha256::new() };
            write(&mut out)?;
            let DigestWriter { out, hasher } = out;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            Ok(DigestText(&hex(&hasher.finalize())).to_string())
        });
        written.map_err(|error| not_saved(&self.target.join(name), &error))
    }

    /// Writes the manifest, and gives the snapshot its name.
    pub fn finish(
        &self,
        tool: &str,
        created: Time,
        zones: Vec<SavedZone>,
        unread: Vec<UnreadZone>,
    ) -> Result<(), Problem> {
        let manifest = Manifest { format: FORMAT.to_owned(), tool: tool.to_owned(), created, zones, unread };
        let place = |error: io::Error| not_saved(&self.target, &error);
        let mut file = File::create_new(self.temporary.join(MANIFEST)).map_err(place)?;
        file.write_all(manifest.to_json().as_bytes()).and_then(|()| file.sync_all()).map_err(place)?;
        folder::sync(&self.temporary).map_err(place)?;
        if self.replaces {
            folder::replace(&self.temporary, &self.target)
        } else {
            fs::rename(&self.temporary, &self.target)
        }
        .map_err(place)?;
        folder::sync(folder::parent(&self.target)).map_err(place)
    }
}

/// Digests what passes through.
struct DigestWriter<W> {
    /// The output.
    out: W,
    /// The digest so far.
    hasher: Sha256,
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let written = self.out.write(octets)?;
        self.hasher.update(&octets[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
