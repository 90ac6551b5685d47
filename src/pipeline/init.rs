//! Makes the files of a workspace from a folder, or from the zones of a server. It writes only a snapshot, where the
//! caller asks for it.

mod look;

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::TOOL;
use crate::diag::{Diagnostics, Files, Problem};
use crate::dns::reverse::{is_reverse, reverse_zone};
use crate::dns::{Name, RdataRef, Rtype, ZoneContents, ZoneName};
use crate::inventory::config::toml;
use crate::inventory::node::SourceText;
use crate::inventory::pool::TargetSpec;
use crate::inventory::value::Time;
use crate::live::{Apexes, Live, LiveZone};
use crate::progress::{Progress, RunStage};
use crate::provider::{self, ProviderContext, outage, secret};
use crate::reading::side_by_side::side_by_side;
use crate::snapshot::{SavedCopy, SnapshotWriter};
use crate::starter::fleet::FoundFleet;
use crate::starter::imported::{self, ImportBasis, ImportSource, SNAPSHOT, subnet};
use crate::starter::{ImportTarget, KeyGiven, Starter, found, transferred};
use crate::target::{OpaqueRecords, PoolName, ReadTarget, TargetId, ZoneRead};

/// The usual name of an export of hosts.
const HOSTS: &str = "hosts.csv";

/// Why a file of that name is not such an export.
const UNLIKE_HOSTS: &str = "it has no rows, or its first line is not that of an export of hosts";

/// The algorithm of a key where no file or flag says it: the default of BIND's `tsig-keygen`.
const ALGORITHM: &str = "hmac-sha256";

/// Why no workspace is made.
#[derive(Debug)]
pub enum InitError {
    /// Zones that were asked for could not be read.
    Unread(Vec<Problem>),
    /// No name in the zones looks like a host's.
    NoHosts(Box<FoundFleet>),
    /// The key cannot be used.
    BadKey(Problem),
    /// The key has no name.
    UnnamedKey(PathBuf),
    /// The file of the key contradicts the command line: in which setting, and what the file says.
    OtherKey(&'static str, String),
    /// The server or the algorithm is not valid.
    BadTarget(Diagnostics),
    /// The folder cannot be read.
    Folder(PathBuf, io::Error),
}

/// Makes a workspace around the files of a folder; an example where no file describes a fleet or states records.
///
/// Where there are zones, and neither hosts.csv nor files that state records, the hosts are taken from the zones.
pub fn of_folder(folder: &Path, owner: &str, now: Time, progress: &dyn Progress) -> Result<Starter, InitError> {
    progress.stage(RunStage::Folder, None);
    let seen = look::look(folder).map_err(|error| InitError::Folder(folder.to_owned(), error))?;
    let folders = found::zone_folders(&seen);
    let has_hosts = found::has_hosts(&seen);
    if has_hosts || found::has_records(&seen) || folders.is_empty() {
        let mut starter = found::make(&seen, owner, now);
        if !has_hosts && folder.join(HOSTS).exists() {
            starter.remarks.insert(0, format!("`{HOSTS}` was not used: {UNLIKE_HOSTS}."));
        }
        return Ok(starter);
    }
    let all = folders.iter().flat_map(|(dir, zones)| zones.iter().map(move |zone| (dir, zone)));
    let read: Vec<_> = all.map(|(dir, zone)| provider::read_in(&folder.join(dir), zone)).collect();
    let live = live(contents(read)?);
    let basis = ImportBasis { live: &live, unread: &[], now, owner, origin: ImportSource::Folders(&folders) };
    imported::make(&basis).map_err(|fleet| InitError::NoHosts(Box::new(fleet)))
}

/// What is asked of a target.
#[derive(Debug)]
pub struct ImportRequest<'a> {
    /// The target, the files of its secrets as absolute paths.
    pub target: &'a ImportTarget,
    /// The target as the settings are to name it.
    pub named: &'a ImportTarget,
    /// The zones.
    pub zones: &'a [ZoneName],
    /// Who we are.
    pub owner: &'a str,
    /// The clock.
    pub now: Time,
    /// Whether the workspace is to state the zones' records; else it has their hosts.
    pub of_records: bool,
}

/// The zones of a target that a workspace was made of.
#[derive(Debug)]
pub struct ImportedZones {
    /// The zones; none where files of the workspace state what is in them.
    live: Option<Live>,
}

impl ImportedZones {
    /// Whether there is something to save.
    pub fn has_snapshot(&self) -> bool {
        self.live.is_some()
    }

    /// Saves them below a folder, as a snapshot, where files do not have them already.
    pub fn save(&self, folder: &Path, now: Time) -> Result<(), Problem> {
        let Some(live) = &self.live else { return Ok(()) };
        let writer = SnapshotWriter::begin(&folder.join(SNAPSHOT))?;
        let zones = live.zones().filter_map(|(_, zone)| Some((zone.contents()?, zone.opaque())));
        let saved = zones.map(|(contents, opaque)| {
            writer.write_zone(SavedCopy { opaque: &opaque, ..SavedCopy::of(contents) }, None)
        });
        let saved = saved.collect::<Result<Vec<_>, _>>()?;
        writer.finish(TOOL, now, saved, Vec::new())?;
        Ok(())
    }
}

/// Finds the name of a key: from the command line, or from its file where that is a key of named.conf.
///
/// Errors: the file cannot be used, contradicts the command line, or does not say the name.
pub fn key_of(file: &Path, name: Option<&Name>, algorithm: Option<&str>) -> Result<KeyGiven, InitError> {
    let said = secret::look_at_file(file).map_err(InitError::BadKey)?;
    if let Some((own, own_algorithm)) = &said {
        if name.is_some_and(|name| name != own) {
            return Err(InitError::OtherKey("name", own.to_string()));
        }
        if algorithm.is_some_and(|algorithm| algorithm != own_algorithm) {
            return Err(InitError::OtherKey("algorithm", own_algorithm.clone()));
        }
    }
    let (own, own_algorithm) = said.unzip();
    let name = name.cloned().or(own).ok_or_else(|| InitError::UnnamedKey(file.to_owned()))?;
    let algorithm = algorithm.map(str::to_owned).or(own_algorithm).unwrap_or_else(|| ALGORITHM.to_owned());
    Ok(KeyGiven { name: name.to_string(), algorithm, file: file.display().to_string() })
}

/// Reads zones, and the reverse zones of the addresses in them that the target has; makes a workspace from them.
///
/// Gives all files except the snapshot, which the zones are saved as; there is none where the files state the records.
pub fn of_target(request: &ImportRequest<'_>, progress: &dyn Progress) -> Result<(Starter, ImportedZones), InitError> {
    let ImportRequest { target, named, zones: asked, owner, now, of_records } = request;
    let (target, source) = checked(target)?;
    let context =
        ProviderContext { workspace: Path::new("/"), source: &source, now: *now, cache: None, has_marks: false };
    let access = provider::open(&target, &context).map_err(|error| InitError::Unread(vec![error]))?;
    let access = access.as_ref();
    let mut all = contents(read(access, asked, RunStage::Zones, progress))?;
    let origin = ImportSource::Target(named);
    if *of_records {
        let live = live(all);
        let basis = ImportBasis { live: &live, unread: &[], now: *now, owner, origin };
        return Ok((transferred::make(&basis), ImportedZones { live: None }));
    }
    progress.stage(RunStage::FindReverse, None);
    let (reverse, mut unread) = match find_reverse(access, &all) {
        Ok(found) => (found, Vec::new()),
        Err(error) => (Vec::new(), vec![(None, error)]),
    };
    let outcomes = read(access, &reverse, RunStage::Reverse, progress);
    for (zone, outcome) in reverse.iter().zip(outcomes) {
        match outcome {
            Ok(read) => all.push((read.contents, read.opaque)),
            Err(error) => unread.push((Some(zone.clone()), error)),
        }
    }
    let unread: Vec<(Option<ZoneName>, String)> =
        unread.into_iter().map(|(zone, error)| (zone, reason(&error))).collect();
    let live = live(all);
    let starter = imported::make(&ImportBasis { live: &live, unread: &unread, now: *now, owner, origin })
        .map_err(|fleet| InitError::NoHosts(Box::new(fleet)))?;
    Ok((starter, ImportedZones { live: Some(live) }))
}

/// What happened, with what to do about it.
fn reason(error: &Problem) -> String {
    let hint = error.hint.as_ref().map(|hint| format!(". What to do: {hint}"));
    format!("{}{}", error.message, hint.unwrap_or_default())
}

/// The settings of a target, checked.
fn checked(target: &ImportTarget) -> Result<(TargetSpec, SourceText), InitError> {
    let mut files = Files::default();
    let text: String = target.settings().iter().map(|(line, _)| format!("{line}\n")).collect();
    let source = SourceText { file: files.add(target.option()), text };
    let parsed = toml::parse(&source);
    let mut found = parsed.faults;
    let id = TargetId::only(&PoolName::unknown());
    let target = TargetSpec { id, provider: target.provider().to_owned(), settings: parsed.root, has_marks: false };
    found.append(provider::check(&target, &source));
    match found.error_count() {
        0 => Ok((target, source)),
        _ => Err(InitError::BadTarget(found)),
    }
}

/// Reads zones in parallel; the results are in their order.
fn read(
    target: &dyn ReadTarget,
    asked: &[ZoneName],
    what: RunStage,
    progress: &dyn Progress,
) -> Vec<Result<ZoneRead, Problem>> {
    progress.stage(what, Some(asked.len() as u64));
    side_by_side(&vec![0; asked.len()], |place| {
        let read = target.read_zone(&asked[place]);
        progress.step();
        read
    })
}

/// The contents of a zone, and what no RRset says.
type ReadContents = (ZoneContents, Vec<OpaqueRecords>);

/// The contents of zones; a zone that could not be read is an error.
fn contents(read: Vec<Result<ZoneRead, Problem>>) -> Result<Vec<ReadContents>, InitError> {
    let (mut contents, mut errors) = (Vec::new(), Vec::new());
    for outcome in read {
        match outcome {
            Ok(read) => contents.push((read.contents, read.opaque)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(contents) } else { Err(InitError::Unread(outage::gather(errors.into_iter()))) }
}

/// Zones as live DNS.
fn live(all: Vec<ReadContents>) -> Live {
    let names: Vec<ZoneName> = all.iter().map(|(contents, _)| contents.apex().clone()).collect();
    let apexes = Apexes::new(names.iter());
    let zones = all.into_iter().map(|(contents, opaque)| LiveZone::known(contents).with_opaque(opaque)).collect();
    Live::new(zones, apexes)
}

/// The reverse zones of the addresses in zones that the server has authority for, and that are not among them.
fn find_reverse(target: &dyn ReadTarget, all: &[ReadContents]) -> Result<Vec<ZoneName>, Problem> {
    let all = || all.iter().map(|(contents, _)| contents);
    let forward = all().filter(|contents| !is_reverse(contents.apex().as_name()));
    let rrsets = forward.flat_map(ZoneContents::rrsets).filter(|rrset| matches!(rrset.rtype(), Rtype::A | Rtype::AAAA));
    let addresses: BTreeSet<IpAddr> = rrsets.flat_map(|rrset| rrset.rdata()).filter_map(RdataRef::address).collect();
    let subnets: BTreeSet<_> = addresses.into_iter().map(subnet).collect();
    let names = subnets.into_iter().filter_map(reverse_zone).map(|zone| zone.as_name().to_name());
    let names: Vec<Name> = names.collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let found = target.find_apexes(&names)?;
    let found: BTreeSet<ZoneName> = found.into_iter().flatten().collect();
    let is_new = |zone: &ZoneName| !all().any(|contents| contents.apex() == zone);
    Ok(found.into_iter().filter(|zone| is_reverse(zone.as_name()) && is_new(zone)).collect())
}
