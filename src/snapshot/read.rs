//! Reading a snapshot: only what its manifest proves is believed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::manifest::{Manifest, NamesFile, SavedMark, SavedOpaque, SavedZone, ZoneExtent};
use super::{MANIFEST, is_of_record, names, target_of_record, text};
use crate::diag::Problem;
use crate::disk::{DigestText, hex};
use crate::dns::{Name, ZoneContents, ZoneName};
use crate::inventory::value::Time;
use crate::live::ZoneKnowledge;
use crate::plan::ContentsSeen;
use crate::provider::{self};
use crate::target::{OpaqueRecords, ZoneRead};

/// The largest file, in octets: places in zone files are kept as 32 bits.
const MAX_FILE: u64 = u32::MAX as u64;

/// What to do about a snapshot that is damaged, or lacks something.
const TAKE_ANOTHER: &str = "take another with `zonewright snapshot --out DIR`, or plan without `--live-snapshot`";

/// What to do about a path that leads to something else.
const GIVE_SNAPSHOT: &str = "give the folder that `zonewright snapshot --out DIR` made, or the manifest.json in it";

/// A zone out of a snapshot.
#[derive(Debug)]
pub struct SavedLive {
    /// What it holds.
    pub read: ZoneRead,
    /// The names that it is known for; none where it was read whole.
    pub knowledge: Option<ZoneKnowledge>,
}

/// A snapshot whose manifest was read.
#[derive(Debug)]
pub struct Snapshot {
    /// Its folder.
    folder: PathBuf,
    /// The manifest.
    manifest: Manifest,
    /// The name of the manifest in messages, with its SHA-256 in hexadecimal.
    input: (String, String),
}

impl Snapshot {
    /// Reads the manifest of a snapshot, by the path of its folder or of the manifest itself.
    ///
    /// Errors: there is no snapshot, or another version's.
    pub fn open(path: &Path) -> Result<Snapshot, Problem> {
        let folder = if path.is_dir() { path.to_owned() } else { parent_of_manifest(path)? };
        let file = folder.join(MANIFEST);
        let fail = |message: String| Problem::new(shown(&file), "not-a-snapshot", message).hint(GIVE_SNAPSHOT);
        let text = read_regular(&file).map_err(|error| fail(lowered(&error)))?;
        let manifest = Manifest::parse(&text).map_err(|why| fail(format!("no manifest of a snapshot: {why}")))?;
        Ok(Snapshot { input: (shown(&file), hex(&Sha256::digest(&text))), manifest, folder })
    }

    /// When it was made.
    pub fn created(&self) -> Time {
        self.manifest.created
    }

    /// The zones that it has something about, read or not.
    pub fn zones(&self) -> impl Iterator<Item = &ZoneName> {
        let read = self.manifest.zones.iter().map(|saved| &saved.zone);
        read.chain(self.manifest.unread.iter().map(|unread| &unread.zone))
    }

    /// The zones of a DNS update record that it has something about.
    pub fn zones_of_record(&self, record: &str) -> impl Iterator<Item = &ZoneName> {
        let wanted = target_of_record(record);
        let read = self.manifest.zones.iter().map(|saved| (&saved.zone, &saved.target));
        let all = read.chain(self.manifest.unread.iter().map(|unread| (&unread.zone, &unread.target)));
        all.filter(move |(_, target)| target.as_deref() == Some(&*wanted)).map(|(zone, _)| zone)
    }

    /// The manifest by its name in messages, with its SHA-256.
    pub fn input(&self) -> &(String, String) {
        &self.input
    }

    /// Whether it has copies of a zone by their targets.
    pub fn has_copies(&self, zone: &ZoneName) -> bool {
        let saved = self.manifest.zones.iter().map(|saved| (&saved.zone, &saved.target));
        let mut all = saved.chain(self.manifest.unread.iter().map(|unread| (&unread.zone, &unread.target)));
        all.any(|(own, target)| own == zone && target.as_deref().is_some_and(|target| !is_of_record(target)))
    }

    /// Reads one zone, of several copies the first that could be read when it was made, and checks all that the manifest
    /// says of it.
    ///
    /// Errors: it is not in the snapshot, could not be read when that was made, or is damaged.
    pub fn read_zone(&self, zone: &ZoneName) -> Result<SavedLive, Problem> {
        self.read(zone, |own| own.is_none_or(|own| !is_of_record(own)))
    }

    /// Reads the zone of a DNS update record, as [`Snapshot::read_zone`] does.
    ///
    /// Errors: as for that.
    pub fn read_of_record(&self, zone: &ZoneName, record: &str) -> Result<SavedLive, Problem> {
        self.read(zone, |own| own == Some(&*target_of_record(record)))
    }

    /// Reads the copy of a zone at one of several targets, as [`Snapshot::read_zone`] does.
    ///
    /// Errors: as for that.
    pub fn read_copy(&self, zone: &ZoneName, target: &str) -> Result<SavedLive, Problem> {
        self.read(zone, |own| own == Some(target))
    }

    /// Reads the first copy of a zone at a target that `is_wanted` takes.
    fn read(&self, zone: &ZoneName, is_wanted: impl Fn(Option<&str>) -> bool) -> Result<SavedLive, Problem> {
        let is_it = |own: &ZoneName, target: &Option<String>| own == zone && is_wanted(target.as_deref());
        if let Some(saved) = self.manifest.zones.iter().find(|saved| is_it(&saved.zone, &saved.target)) {
            return self.read_saved(saved);
        }
        let place = format!("{} zone {zone}", self.input.0);
        let Some(unread) = self.manifest.unread.iter().find(|unread| is_it(&unread.zone, &unread.target)) else {
            return Err(Problem::new(
                place,
                "snapshot-lacks-zone",
                "the zone is configured, but the snapshot does not have it",
            )
            .hint(TAKE_ANOTHER));
        };
        let error = format!("{}: error[{}]: {}", unread.place, unread.code, unread.message);
        Err(Problem::new(
            place,
            "snapshot-unread",
            format!("the zone could not be read when the snapshot was made: {error}"),
        )
        .maybe_hint(unread.hint.clone()))
    }

    /// Reads the files of one zone.
    fn read_saved(&self, saved: &SavedZone) -> Result<SavedLive, Problem> {
        let place = shown(&self.folder.join(&saved.file));
        let (text, input) = self.read_file(&saved.file, &saved.sha256)?;
        let mut contents = provider::parse_text(&saved.zone, &place, text).map_err(|findings| {
            let message = format!("{} errors in the file", findings.1.error_count());
            Problem { findings: Some(findings), ..damaged(&place, message) }
        })?;
        for SavedMark { name, rtype, mark } in &saved.marks {
            let owner = Name::parse(name).map_err(|_| damaged(&place, format!("`{name}` is not a name")))?;
            contents.mark(owner.as_name(), *rtype, mark.clone());
        }
        check(saved, &contents).map_err(|message| damaged(&place, message))?;
        let mut inputs = vec![input];
        let mut knowledge = None;
        if let ZoneExtent::Asked(NamesFile { file, sha256 }) = &saved.extent {
            let (text, input) = self.read_file(file, sha256)?;
            let known = String::from_utf8(text).ok().and_then(|text| names::parse(&saved.zone, &text));
            let no_names = || damaged(&input.0, "a line is not a name that was asked for".to_owned());
            knowledge = Some(known.ok_or_else(no_names)?);
            inputs.push(input);
        }
        let opaque = |own: &SavedOpaque| {
            let owner = Name::parse(&own.name).map_err(|_| damaged(&place, format!("`{}` is not a name", own.name)))?;
            Ok(OpaqueRecords { owner, what: own.what.clone() })
        };
        let opaque = saved.opaque.iter().map(opaque).collect::<Result<_, Problem>>()?;
        Ok(SavedLive { read: ZoneRead { contents, opaque, is_flat: saved.is_flat, inputs, findings: None }, knowledge })
    }

    /// Reads a file that the manifest names; gives it with its name in messages and its SHA-256.
    fn read_file(&self, name: &str, sha256: &str) -> Result<(Vec<u8>, (String, String)), Problem> {
        let path = self.folder.join(name);
        let place = shown(&path);
        if !matches!(Path::new(name).components().collect::<Vec<_>>()[..], [Component::Normal(_)]) {
            return Err(damaged(&place, "the manifest names a file outside the folder".to_owned()));
        }
        let text = read_regular(&path).map_err(|error| damaged(&place, lowered(&error)))?;
        let digest = hex(&Sha256::digest(&text));
        if !text.ends_with(text::END.as_bytes()) {
            return Err(damaged(&place, "the file was cut: its last line is missing".to_owned()));
        }
        if sha256 != DigestText(&digest).to_string() {
            return Err(damaged(&place, "the file was changed: its SHA-256 is not that of the manifest".to_owned()));
        }
        Ok((text, (place, digest)))
    }
}

/// The error of a file that is not what was saved.
fn damaged(place: &str, message: String) -> Problem {
    Problem::new(place, "snapshot-damaged", message).hint(TAKE_ANOTHER)
}

/// Checks contents against what the manifest says of them.
fn check(saved: &SavedZone, contents: &ZoneContents) -> Result<(), String> {
    let SavedZone { serial, rrsets, records, digest, .. } = saved;
    let seen = ContentsSeen::of(contents);
    let differs = |what: &str, here: &dyn std::fmt::Display, there: &dyn std::fmt::Display| {
        Err(format!("{what} of its contents is {here}, but the manifest says {there}"))
    };
    match () {
        () if seen.serial != *serial => differs("the serial", &seen.serial, serial),
        () if seen.rrsets != *rrsets => differs("the number of RRsets", &seen.rrsets, rrsets),
        () if contents.record_count() as u64 != *records => {
            differs("the number of records", &contents.record_count(), records)
        }
        () if DigestText(&seen.digest).to_string() != *digest => {
            Err("the digest of its contents is not that of the manifest".to_owned())
        }
        () => Ok(()),
    }
}

/// The folder of a manifest.
///
/// Errors: the path ends otherwise, so another file was meant.
fn parent_of_manifest(path: &Path) -> Result<PathBuf, Problem> {
    let missing = fs::metadata(path).err();
    if missing.is_none() && path.file_name().is_some_and(|name| name == MANIFEST) {
        return Ok(path.parent().unwrap_or(Path::new("")).to_owned());
    }
    Err(Problem::new(
        shown(path),
        "not-a-snapshot",
        missing.map_or(format!("this is not a folder or a `{MANIFEST}`"), |error| lowered(&error)),
    )
    .hint(GIVE_SNAPSHOT))
}

/// Reads a regular file only: opening a pipe could wait for ever.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    if metadata.len() > MAX_FILE {
        return Err(io::Error::other("the file is larger than 4 GiB"));
    }
    let mut text = Vec::with_capacity(metadata.len() as usize);
    File::open(path)?.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(text)
}

/// A path for messages.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The text of an error of the system.
fn lowered(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}
