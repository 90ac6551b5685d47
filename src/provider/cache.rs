//! Zones as they were transferred last, kept on disk: so that one whose serial has not moved is not transferred again.
//!
//! Comes in: a zone, and what it was read from. Goes out: what was kept of it, once every octet proved to be what was
//! written, or why there is nothing to go by. Whether the zone is still that one, a provider finds out. The folder may be
//! deleted at any time; whatever is wrong with it costs a transfer and nothing else.
//!
//! A file is a few lines that say what it holds, an empty one, and the octets of the contents. It is private, since a zone
//! may be.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::file_name;
use crate::disk::{self, private_file, private_folder};
use crate::dns::{ZoneContents, ZoneName};
use crate::inventory::value::Time;

/// What a run may make of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheUse {
    /// A zone that has not moved may come from it.
    Read,
    /// Every zone is transferred, and kept anew.
    Renew,
}

/// The cache of a workspace.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Its folder.
    folder: PathBuf,
    /// The clock that ages are measured against.
    now: Time,
    /// What a run may make of it.
    usage: CacheUse,
}

/// A zone that was kept.
#[derive(Debug)]
pub struct Kept {
    /// What it held.
    pub contents: ZoneContents,
    /// When it was last transferred whole.
    pub since: Time,
}

/// The name of the folder, beside the state.
const FOLDER: &str = "cache";

/// The format of the files: the first line of each.
const FORMAT: &str = "zonewright zone cache 1";

/// How long what stands before the contents may be: a name takes up to 1 004 characters, and a server's as many.
const MAX_HEAD: u64 = 8192;

/// The ending of a file that is being written.
const UNFINISHED: &str = "tmp";

/// How long a file may be unfinished: a run that wrote it since then was killed.
const FORSAKEN: Duration = Duration::from_secs(3600);

impl Cache {
    /// The cache beside the state of a workspace.
    pub fn beside(state: &Path, usage: CacheUse, now: Time) -> Cache {
        let folder = state.parent().unwrap_or(Path::new(""));
        Cache { folder: folder.join(FOLDER), now, usage }
    }

    /// The clock of the run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether anything may be kept of a zone, and used.
    pub fn may_have(&self, zone: &ZoneName) -> bool {
        self.usage == CacheUse::Read && self.file(zone).is_file()
    }

    /// What was kept of a zone as `origin` gave it, no longer ago than `max_age`.
    ///
    /// Errors: why there is nothing to go by; `None` where nothing was kept.
    pub fn load(&self, zone: &ZoneName, origin: &str, max_age: Duration) -> Result<Kept, Option<String>> {
        if !self.may_have(zone) {
            return Err(None);
        }
        let mut file = match File::open(self.file(zone)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(None),
            Err(error) => return Err(Some(error.to_string())),
        };
        let head = read_head(&mut file).map_err(|error| Some(error.to_string()))?;
        let head = Head::parse(&head, zone, origin).map_err(|what| Some(what.to_owned()))?;
        let is_fresh = self.now.since(head.since).is_some_and(|age| age.as_secs() <= max_age.as_secs());
        if !is_fresh {
            return Err(Some(format!("it was transferred at {}, which is too long ago", head.since)));
        }
        let octets = head.read_contents(&mut file).map_err(|error| Some(error.to_string()))?;
        if head.digest(&octets) != head.sha256 {
            return Err(Some("it is not what was written".to_owned()));
        }
        let contents = ZoneContents::from_octets(zone.clone(), octets).map_err(|error| Some(error.to_string()))?;
        if contents.record_count() as u64 != head.records {
            return Err(Some("it holds another number of records".to_owned()));
        }
        Ok(Kept { contents, since: head.since })
    }

    /// Keeps a zone as `origin` gave it, which was last transferred whole at a time; readers see the file before or this
    /// one.
    ///
    /// Nothing is synced: what a power cut makes of it, its digest finds out. Errors: the system's.
    pub fn keep(&self, contents: &ZoneContents, origin: &str, since: Time) -> io::Result<()> {
        self.prepare()?;
        let octets = contents.octets();
        let zone = contents.apex();
        let head = Head {
            zone: zone.to_string(),
            origin: origin.to_owned(),
            since,
            records: contents.record_count() as u64,
            octets: octets.len() as u64,
            sha256: String::new(),
        };
        let head = Head { sha256: head.digest(octets), ..head };
        let place = self.file(zone);
        let beside = self.folder.join(format!(".{}.{}.{UNFINISHED}", file_name(zone), std::process::id()));
        let written = private_file(OpenOptions::new().write(true).create(true).truncate(true))
            .open(&beside)
            .and_then(|mut file| {
                file.write_all(head.text().as_bytes())?;
                file.write_all(octets)
            })
            .and_then(|()| fs::rename(&beside, &place));
        written.inspect_err(|_| {
            // That it could not be removed either would hide why.
            let _ = fs::remove_file(&beside);
        })
    }

    /// Removes what is kept of all zones but these, and what runs left that were killed.
    pub fn keep_only<'a>(&self, zones: impl Iterator<Item = &'a ZoneName>) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let names: Vec<String> = zones.map(file_name).collect();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let ending = Path::new(&name).extension().and_then(OsStr::to_str);
            let age = || entry.metadata().and_then(|found| found.modified()).ok()?.elapsed().ok();
            let is_over = match ending {
                Some("zone") => !names.iter().any(|known| name == known.as_str()),
                Some(UNFINISHED) => age().is_some_and(|age| age > FORSAKEN),
                _ => false,
            };
            if is_over && let Err(error) = fs::remove_file(entry.path()) {
                tracing::info!("{}: not removed: {error}", entry.path().display());
            }
        }
    }

    /// Makes the folder where it is not there, its owner's alone and out of version control.
    fn prepare(&self) -> io::Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        let create = |folder: &Path| match private_folder(&mut DirBuilder::new()).create(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            outcome => outcome,
        };
        if let Some(around) = self.folder.parent().filter(|around| !around.as_os_str().is_empty()) {
            create(around)?;
        }
        create(&self.folder)?;
        disk::replace(&self.folder.join(".gitignore"), b"*\n")
    }

    /// The file of a zone.
    fn file(&self, zone: &ZoneName) -> PathBuf {
        self.folder.join(file_name(zone))
    }
}

/// What a file says of the contents behind it.
#[derive(Debug)]
struct Head {
    /// The zone.
    zone: String,
    /// What it was read from.
    origin: String,
    /// When it was last transferred whole.
    since: Time,
    /// How many records there are.
    records: u64,
    /// How many octets they take.
    octets: u64,
    /// The SHA-256 of all of this and the octets, in hexadecimal.
    sha256: String,
}

impl Head {
    /// Reads one, which must be about this zone and origin, and written just as it would be written.
    fn parse(text: &str, zone: &ZoneName, origin: &str) -> Result<Head, &'static str> {
        let value = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).unwrap_or_default().to_owned()
        };
        let other = "it is of another format, or damaged";
        let head = Head {
            zone: value("zone"),
            origin: value("from"),
            since: value("transferred").parse().map_err(|_| other)?,
            records: value("records").parse().map_err(|_| other)?,
            octets: value("octets").parse().map_err(|_| other)?,
            sha256: value("sha256"),
        };
        if head.text() != text {
            return Err(other);
        }
        match head.zone == zone.to_string() && head.origin == origin {
            true => Ok(head),
            false => Err("it is of another zone, server or key"),
        }
    }

    /// All lines, with the empty one.
    fn text(&self) -> String {
        format!("{}sha256 {}\n\n", self.told(), self.sha256)
    }

    /// The lines that the digest is of.
    fn told(&self) -> String {
        let Head { zone, origin, since, records, octets, .. } = self;
        format!("{FORMAT}\nzone {zone}\nfrom {origin}\ntransferred {since}\nrecords {records}\noctets {octets}\n")
    }

    /// The SHA-256 of the lines and the octets, in hexadecimal.
    fn digest(&self, octets: &[u8]) -> String {
        let digest = Sha256::new().chain_update(self.told()).chain_update(octets);
        disk::hex(&digest.finalize())
    }

    /// Reads the contents that follow in a file, and no more than that.
    fn read_contents(&self, file: &mut File) -> io::Result<Vec<u8>> {
        let all = file.metadata()?.len();
        let length = usize::try_from(self.octets).unwrap_or(usize::MAX);
        if all != (self.text().len() as u64).saturating_add(self.octets) {
            return Err(io::Error::new(ErrorKind::InvalidData, "it is longer or shorter than it says"));
        }
        let mut octets = Vec::with_capacity(length);
        file.read_to_end(&mut octets)?;
        if octets.len() != length {
            return Err(io::Error::new(ErrorKind::InvalidData, "it is longer or shorter than it says"));
        }
        Ok(octets)
    }
}

/// Reads the lines that a file begins with, up to the empty one.
fn read_head(file: &mut File) -> io::Result<String> {
    let mut head = Vec::new();
    let mut octets = io::BufReader::new(file.try_clone()?.take(MAX_HEAD)).bytes();
    while !head.ends_with(b"\n\n") {
        match octets.next() {
            Some(octet) => head.push(octet?),
            None => return Err(io::Error::new(ErrorKind::InvalidData, "it has no end of its head")),
        }
    }
    io::Seek::seek(file, io::SeekFrom::Start(head.len() as u64))?;
    String::from_utf8(head).map_err(|_| io::Error::new(ErrorKind::InvalidData, "its head is no text"))
}
