//! Zones as they were transferred last, kept on disk: so that a zone whose serial has not changed is not transferred
//! again.
//!
//! Comes in: a zone, and where it was read from. Goes out: the stored zone, if every octet proved to be what was
//! written, or why it cannot be used. A provider finds out whether the zone has changed since. The folder may be
//! deleted at any time; an error in it costs a transfer and nothing else.
//!
//! A file has a few lines that say what it holds, an empty line, and the octets of the contents. It is private, since a
//! zone may be.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3;

use super::file_name;
use crate::disk::{self, private_file, private_folder};
use crate::dns::{ZoneContents, ZoneName};
use crate::inventory::value::Time;
use crate::target::TargetId;

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
    /// What the names of its files begin with: nothing, or what names a target.
    prefix: String,
    /// The clock that ages are measured against.
    now: Time,
    /// What a run may make of it.
    usage: CacheUse,
}

/// A zone that was kept.
#[derive(Debug)]
pub struct CachedZone {
    /// What it held.
    pub contents: ZoneContents,
    /// When it was last transferred whole.
    pub since: Time,
}

/// How much a zone held when it was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptSize {
    /// Records.
    pub records: u64,
    /// Octets, each owner name written whole.
    pub octets: u64,
}

/// The name of the folder, next to the state.
const FOLDER: &str = "cache";

/// The format of the files: the first line of each.
const FORMAT: &str = "zonewright zone cache 3";

/// What the files of all formats begin with.
const FAMILY: &str = "zonewright zone cache ";

/// How long the part before the contents may be: a name takes up to 1 004 characters, and a server's as many.
const MAX_HEAD: u64 = 8192;

/// The ending of a file that is being written.
const UNFINISHED: &str = "tmp";

/// How many names are tried for it.
const ATTEMPTS: u32 = 100;

/// How long a file may be unfinished: a run that wrote it since then was killed.
const FORSAKEN: Duration = Duration::from_secs(3600);

impl Cache {
    /// The cache inside a folder on this machine.
    pub fn inside(folder: &Path, usage: CacheUse, now: Time) -> Cache {
        Cache { folder: folder.join(FOLDER), prefix: String::new(), now, usage }
    }

    /// The cache of the copies of one target, where several targets have copies of a zone.
    pub fn of_target(&self, target: &TargetId) -> Cache {
        Cache { prefix: format!("{}@{}@", target.name, target.pool), ..self.clone() }
    }

    /// The clock of the run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether anything may be kept of a zone, and used.
    pub fn may_have(&self, zone: &ZoneName) -> bool {
        self.usage == CacheUse::Read && self.file(zone).is_file()
    }

    /// How much a zone held last, from whichever server and however long ago; `None` where nothing says it.
    pub fn kept_size(&self, zone: &ZoneName) -> Option<KeptSize> {
        let mut file = File::open(self.file(zone)).ok()?;
        if !is_private(&file).ok()? {
            return None;
        }
        let head = CacheHead::read(&read_head(&mut file).ok()?).ok()?;
        // The contents leave the zone's own name out of each owner name.
        let left_out = head.records.saturating_mul(zone.as_name().as_wire().len() as u64);
        let octets = head.octets.saturating_add(left_out);
        (head.zone == zone.to_string()).then_some(KeptSize { records: head.records, octets })
    }

    /// When what was stored of a zone from `origin` was last transferred whole, if that is at most `max_age` ago; what it holds is not
    /// read.
    ///
    /// Errors: as for [`Cache::load`].
    pub fn since(&self, zone: &ZoneName, origin: &str, max_age: Duration) -> Result<Time, Option<String>> {
        self.open_fresh(zone, origin, max_age).map(|(head, _)| head.since)
    }

    /// What was stored of a zone from `origin`, if it is at most `max_age` old.
    ///
    /// Errors: why it cannot be used; `None` where nothing was stored.
    pub fn load(&self, zone: &ZoneName, origin: &str, max_age: Duration) -> Result<CachedZone, Option<String>> {
        let (head, mut file) = self.open_fresh(zone, origin, max_age)?;
        let octets = head.read_contents(&mut file).map_err(|error| Some(error.to_string()))?;
        if head.digest(&octets) != head.xxh3 {
            return Err(Some("it is not what was written".to_owned()));
        }
        let contents = ZoneContents::from_octets(zone.clone(), octets).map_err(|error| Some(error.to_string()))?;
        if contents.record_count() as u64 != head.records {
            return Err(Some("it holds another number of records".to_owned()));
        }
        Ok(CachedZone { contents, since: head.since })
    }

    /// Opens what was stored of a zone, at the place behind its head.
    ///
    /// Errors: as for [`Cache::load`].
    fn open_fresh(
        &self,
        zone: &ZoneName,
        origin: &str,
        max_age: Duration,
    ) -> Result<(CacheHead, File), Option<String>> {
        if !self.may_have(zone) {
            return Err(None);
        }
        let mut file = match File::open(self.file(zone)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(None),
            Err(error) => return Err(Some(error.to_string())),
        };
        if !is_private(&file).map_err(|error| Some(error.to_string()))? {
            return Err(Some("others may have written it".to_owned()));
        }
        let head = read_head(&mut file).map_err(|error| Some(error.to_string()))?;
        let head = CacheHead::parse(&head, zone, origin).map_err(|what| Some(what.to_owned()))?;
        let is_fresh = self.now.since(head.since).is_some_and(|age| age.as_secs() <= max_age.as_secs());
        if !is_fresh {
            return Err(Some(format!("it was transferred at {}, which is too long ago", head.since)));
        }
        Ok((head, file))
    }

    /// Keeps a zone as `origin` gave it, which was last transferred whole at a time; readers see the file before or
    /// this one.
    ///
    /// Nothing is synced: what a power cut makes of it, its digest finds out. Errors: the system's.
    pub fn keep(&self, contents: &ZoneContents, origin: &str, since: Time) -> io::Result<()> {
        self.prepare()?;
        let octets = contents.octets();
        let zone = contents.apex();
        let head = CacheHead {
            zone: zone.to_string(),
            origin: origin.to_owned(),
            since,
            records: contents.record_count() as u64,
            octets: octets.len() as u64,
            xxh3: String::new(),
        };
        let head = CacheHead { xxh3: head.digest(octets), ..head };
        let place = self.file(zone);
        if !may_be_kept(&place) {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                "a file that does not belong to the cache has its name",
            ));
        }
        let (temporary, mut file) = self.create_temporary(zone)?;
        let written = file.write_all(head.text().as_bytes()).and_then(|()| file.write_all(octets));
        let written = written.and_then(|()| fs::rename(&temporary, &place));
        written.inspect_err(|_| {
            // That it could not be removed either would hide why.
            let _ = fs::remove_file(&temporary);
        })
    }

    /// Removes all stored zones except these, each with the target whose copy it is where several have one; and temporary
    /// files of runs that were killed.
    pub fn keep_only<'a>(&self, zones: impl Iterator<Item = (Option<&'a TargetId>, &'a ZoneName)>) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let name = |(target, zone): (Option<&TargetId>, &ZoneName)| {
            target.map_or_else(|| self.clone(), |target| self.of_target(target)).file_name(zone)
        };
        let names: Vec<String> = zones.map(name).collect();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let ending = Path::new(&name).extension().and_then(OsStr::to_str);
            let age = || entry.metadata().and_then(|found| found.modified()).ok()?.elapsed().ok();
            let is_over = match ending {
                Some("zone") => !names.iter().any(|known| name == known.as_str()) && may_be_kept(&entry.path()),
                Some(UNFINISHED) => age().is_some_and(|age| age > FORSAKEN),
                _ => false,
            };
            if is_over && let Err(error) = fs::remove_file(entry.path()) {
                tracing::info!("{}: not removed: {error}", entry.path().display());
            }
        }
    }

    /// Creates a file in the folder that is to become that of a zone: never one that is there already, be it a link, or
    /// what a run has under way whose number is ours on another machine or in another container.
    fn create_temporary(&self, zone: &ZoneName) -> io::Result<(PathBuf, File)> {
        let mut attempt = 0;
        loop {
            let name = format!(".{}.{}-{attempt}.{UNFINISHED}", self.file_name(zone), std::process::id());
            let temporary = self.folder.join(name);
            match private_file(OpenOptions::new().write(true).create_new(true)).open(&temporary) {
                Ok(file) => return Ok((temporary, file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the folder where it is not there, its owner's alone and out of version control.
    ///
    /// Errors: the system's; the folder that it would be made in is another account's, which could not use it.
    fn prepare(&self) -> io::Result<()> {
        let ignored = self.folder.join(".gitignore");
        if self.folder.is_dir() {
            // A run that was killed may have made the folder alone.
            return if ignored.try_exists()? { Ok(()) } else { disk::replace(&ignored, b"*\n") };
        }
        if let Some(around) = self.folder.parent().filter(|around| !around.as_os_str().is_empty()) {
            create_private(around)?;
        }
        create_private(&self.folder)?;
        disk::replace(&ignored, b"*\n")
    }

    /// The file of a zone.
    fn file(&self, zone: &ZoneName) -> PathBuf {
        self.folder.join(self.file_name(zone))
    }

    /// The name of that file.
    fn file_name(&self, zone: &ZoneName) -> String {
        self.prefix.clone() + &file_name(zone)
    }
}

/// Makes a folder where there is none, in a folder of ours. If root made it in the folder of another account, that
/// account could not write to it, or make one there for its state.
fn create_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let around = folder.parent().filter(|around| !around.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !is_ours(around)? {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "the folder around it belongs to another account"));
    }
    match private_folder(&mut DirBuilder::new()).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }
}

/// Whether a folder belongs to the account that we run as.
#[cfg(unix)]
fn is_ours(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::metadata(folder)?.uid() == rustix::process::geteuid().as_raw())
}

/// Systems without owners have other ways, which the folder hands on.
#[cfg(not(unix))]
fn is_ours(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Whether only the account that we run as can have written a file: its digest does not protect against an attacker.
#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let found = file.metadata()?;
    Ok(found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0)
}

/// Systems without owners have other ways, which the folder hands on.
#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Whether the entry at a place in the folder may be removed: nothing, a stored zone, or the rest of one after a power
/// cut. The folder may have had another purpose before, such as zone files of an operator.
fn may_be_kept(place: &Path) -> bool {
    let mut begin = [0; FAMILY.len()];
    let read = File::open(place).and_then(|mut file| file.read(&mut begin));
    match read {
        Ok(length) => begin[..length] == *FAMILY.as_bytes() || begin[..length].iter().all(|octet| *octet == 0),
        // A link that leads nowhere has nothing to be lost either.
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied),
    }
}

/// What a file says of the contents behind it.
#[derive(Debug)]
struct CacheHead {
    /// The zone.
    zone: String,
    /// Where it was read from.
    origin: String,
    /// When it was last transferred whole.
    since: Time,
    /// How many records there are.
    records: u64,
    /// How many octets they take.
    octets: u64,
    /// The digest of all of this and the octets, in hexadecimal: XXH3 of 128 bits. It detects damage. Against an
    /// attacker no digest next to the contents would help; therefore only files of our own account are used.
    xxh3: String,
}

impl CacheHead {
    /// Reads one, which must be about this zone and origin.
    fn parse(text: &str, zone: &ZoneName, origin: &str) -> Result<CacheHead, &'static str> {
        let head = CacheHead::read(text)?;
        if head.zone == zone.to_string() && head.origin == origin {
            Ok(head)
        } else {
            Err("it is of another zone, server or key")
        }
    }

    /// Reads one, which must be written just as it would be written.
    fn read(text: &str) -> Result<CacheHead, &'static str> {
        let value = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).unwrap_or_default().to_owned()
        };
        let other = "it is of another format, or damaged";
        let head = CacheHead {
            zone: value("zone"),
            origin: value("from"),
            since: value("transferred").parse().map_err(|_| other)?,
            records: value("records").parse().map_err(|_| other)?,
            octets: value("octets").parse().map_err(|_| other)?,
            xxh3: value("xxh3"),
        };
        if head.text() == text { Ok(head) } else { Err(other) }
    }

    /// All lines, with the empty one.
    fn text(&self) -> String {
        format!("{}xxh3 {}\n\n", self.head(), self.xxh3)
    }

    /// The lines that the digest is of.
    fn head(&self) -> String {
        let CacheHead { zone, origin, since, records, octets, .. } = self;
        format!("{FORMAT}\nzone {zone}\nfrom {origin}\ntransferred {since}\nrecords {records}\noctets {octets}\n")
    }

    /// The digest of the lines and the octets, in hexadecimal.
    fn digest(&self, octets: &[u8]) -> String {
        let mut hasher = Xxh3::new();
        hasher.update(self.head().as_bytes());
        hasher.update(octets);
        format!("{:032x}", hasher.digest128())
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
    String::from_utf8(head).map_err(|_| io::Error::new(ErrorKind::InvalidData, "its head is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rtype, Ttl, ZoneBuilder};

    /// The server of all tests.
    const ORIGIN: &str = "127.0.0.1:53, key zonewright. hmac-sha256";

    /// A time.
    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    /// A small zone of this name.
    fn zone(name: &str) -> ZoneContents {
        let apex = Name::parse(name).unwrap();
        let mut builder = ZoneBuilder::new(ZoneName::new(apex.clone()));
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        for last in 0..4 {
            let owner = Name::prepend(b"a", apex.as_name()).unwrap();
            builder.push(owner.as_name(), Rtype::A, Ttl::DEFAULT, &[192, 0, 2, last]).unwrap();
        }
        builder.finish().unwrap()
    }

    /// The cache of a workspace in this folder at a time.
    fn cache(folder: &Path, usage: CacheUse, now: &str) -> Cache {
        Cache::inside(&folder.join(".zonewright"), usage, at(now))
    }

    /// The same at noon, with the zone `example.net.` in it.
    fn filled(folder: &Path) -> (Cache, ZoneContents) {
        let (cache, zone) = (cache(folder, CacheUse::Read, "2026-11-20T12:00:00Z"), zone("example.net"));
        cache.keep(&zone, ORIGIN, cache.now()).unwrap();
        (cache, zone)
    }

    /// An hour.
    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn what_was_kept_is_what_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, zone) = filled(folder.path());
        let kept = cache.load(zone.apex(), ORIGIN, HOUR).unwrap();
        assert_eq!((kept.contents.octets(), kept.since), (zone.octets(), cache.now()));
        let text = fs::read(cache.file(zone.apex())).unwrap();
        let head = String::from_utf8_lossy(&text).lines().take(6).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(head, @r"
        zonewright zone cache 3
        zone example.net.
        from 127.0.0.1:53, key zonewright. hmac-sha256
        transferred 2026-11-20T12:00:00Z
        records 5
        octets 91
        ");
    }

    #[test]
    fn how_much_a_zone_held_is_known_of_any_server_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let (_, zone) = filled(folder.path());
        let later = cache(folder.path(), CacheUse::Renew, "2027-11-20T12:00:00Z");
        // Each of the five owner names lacks the 13 octets of `example.net.`
        assert_eq!(later.kept_size(zone.apex()), Some(KeptSize { records: 5, octets: 91 + 5 * 13 }));
        fs::write(later.file(zone.apex()), "zonewright zone cache 3\n").unwrap();
        assert_eq!(later.kept_size(zone.apex()), None);
    }

    #[test]
    fn a_file_with_any_bit_flipped_or_any_octet_gone_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, zone) = filled(folder.path());
        let file = cache.file(zone.apex());
        let whole = fs::read(&file).unwrap();
        let load = |octets: &[u8]| {
            fs::write(&file, octets).unwrap();
            cache.load(zone.apex(), ORIGIN, HOUR)
        };
        for place in 0..whole.len() {
            for bit in 0..8 {
                let mut octets = whole.clone();
                octets[place] ^= 1 << bit;
                assert!(load(&octets).is_err(), "{place} {bit}");
            }
            assert!(load(&whole[..place]).is_err(), "{place}");
            assert!(load(&[&whole[..place], &whole[place + 1..]].concat()).is_err(), "{place}");
            assert!(load(&[&whole[..place], b"\n", &whole[place..]].concat()).is_err(), "{place}");
        }
        assert!(load(&[&whole[..], b"\0"].concat()).is_err());
        assert!(load(&vec![b'x'; 100_000]).is_err());
        assert!(load(&whole).is_ok());
    }

    #[test]
    fn only_the_same_zone_of_the_same_server_and_key_is_used_and_only_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let (_, zone) = filled(folder.path());
        let why = |now: &str, origin: &str| {
            let loaded = cache(folder.path(), CacheUse::Read, now).load(zone.apex(), origin, HOUR);
            loaded.map_err(|why| why.unwrap_or_default()).err()
        };
        assert_eq!(why("2026-11-20T13:00:00Z", ORIGIN), None);
        let old = why("2026-11-20T13:00:01Z", ORIGIN).unwrap();
        assert_eq!(old, "it was transferred at 2026-11-20T12:00:00Z, which is too long ago");
        assert!(why("2026-11-20T11:59:59Z", ORIGIN).is_some());
        let other = why("2026-11-20T12:00:00Z", "127.0.0.1:53, without a key");
        assert_eq!(other.unwrap(), "it is of another zone, server or key");
        let file = |name: &str| folder.path().join(".zonewright/cache").join(name);
        fs::rename(file("example.net.zone"), file("example.org.zone")).unwrap();
        let cache = cache(folder.path(), CacheUse::Read, "2026-11-20T12:00:00Z");
        assert!(cache.load(&ZoneName::new(Name::parse("example.org").unwrap()), ORIGIN, HOUR).is_err());
    }

    #[test]
    fn a_run_that_renews_finds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (_, zone) = filled(folder.path());
        let cache = cache(folder.path(), CacheUse::Renew, "2026-11-20T12:00:00Z");
        assert!(matches!(cache.load(zone.apex(), ORIGIN, HOUR), Err(None)));
        assert!(!cache.may_have(zone.apex()));
    }

    #[test]
    fn zones_that_are_not_configured_any_more_leave() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, first) = filled(folder.path());
        let slashed = zone("0/25.2.0.192.in-addr.arpa");
        cache.keep(&slashed, ORIGIN, cache.now()).unwrap();
        fs::write(cache.folder.join(".x.zone.1.tmp"), "").unwrap();
        fs::write(cache.folder.join("other"), "").unwrap();
        let names = || {
            let entries = fs::read_dir(&cache.folder).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        cache.keep_only([(None, first.apex()), (None, slashed.apex())].into_iter());
        let both = [".gitignore", ".x.zone.1.tmp", "0\\04725.2.0.192.in-addr.arpa.zone", "example.net.zone", "other"];
        assert_eq!(names(), both);
        cache.keep_only([(None, slashed.apex())].into_iter());
        assert_eq!(names(), [both[0], both[1], both[2], both[4]]);
    }

    #[test]
    fn files_that_are_not_the_caches_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, zone) = filled(folder.path());
        let others = ["example.net.zone", "example.org.zone", ".example.net.zone.1-0.tmp"];
        for name in others {
            fs::write(cache.folder.join(name), "$TTL 1h\n").unwrap();
        }
        assert!(cache.keep(&zone, ORIGIN, cache.now()).is_err());
        cache.keep_only(std::iter::empty());
        for name in others {
            assert_eq!(fs::read_to_string(cache.folder.join(name)).unwrap(), "$TTL 1h\n", "{name}");
        }
        // What a power cut leaves of a file has a length, and perhaps nothing else.
        for left in [&[][..], &[0; 500]] {
            fs::write(cache.folder.join(others[0]), left).unwrap();
            cache.keep(&zone, ORIGIN, cache.now()).unwrap();
            assert!(cache.load(zone.apex(), ORIGIN, HOUR).is_ok());
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_no_file_that_is_written_and_what_others_may_write_is_not_used() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (cache, zone) = filled(folder.path());
        let (elsewhere, own) = (folder.path().join("elsewhere"), std::process::id());
        fs::write(&elsewhere, "theirs").unwrap();
        symlink(&elsewhere, cache.folder.join(format!(".example.net.zone.{own}-0.tmp"))).unwrap();
        cache.keep(&zone, ORIGIN, cache.now()).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "theirs");
        let file = cache.file(zone.apex());
        let is_used = |mode: u32| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            cache.load(zone.apex(), ORIGIN, HOUR).is_ok()
        };
        assert_eq!([0o600, 0o644, 0o620, 0o602].map(is_used), [true, true, false, false]);
        assert!(cache.keep(&zone, ORIGIN, cache.now()).is_ok() && cache.load(zone.apex(), ORIGIN, HOUR).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn it_is_its_owners_alone_and_out_of_version_control() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (cache, zone) = filled(folder.path());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.file(zone.apex())), 0o600);
        assert_eq!((mode(&cache.folder), mode(cache.folder.parent().unwrap())), (0o700, 0o700));
        assert_eq!(fs::read_to_string(cache.folder.join(".gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let cache = Cache::inside(&folder.path().join("file"), CacheUse::Read, at("2026-11-20T12:00:00Z"));
        let zone = zone("example.net");
        assert!(cache.keep(&zone, ORIGIN, cache.now()).is_err());
        assert!(matches!(cache.load(zone.apex(), ORIGIN, HOUR), Err(None)));
        cache.keep_only(std::iter::empty());
    }
}
