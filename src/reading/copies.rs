//! The copies of a zone that were read, to its reference copy; and the views of the targets of pools that have several. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::{Code, FileFindings, Problem};
use crate::dns::{ZoneContents, ZoneName};
use crate::inventory::model::{Config, ZonePurpose, ZoneSpec};
use crate::inventory::pool::{Pool, TargetSpec};
use crate::live::{ContentsAbsence, Live, LiveZone, PoolCopies, TargetCopies, ZoneIndex};
use crate::plan::{ContentsSeen, ZoneSeen};
use crate::provider;
use crate::target::{CopyId, TargetId, ZoneStamp};

/// A zone that was read completely, or taken from a snapshot.
pub struct KnownZone {
    /// The zone.
    pub live: Arc<LiveZone>,
    /// How it was seen.
    pub seen: ContentsSeen,
    /// The files it was read from.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in them.
    pub findings: Option<Box<FileFindings>>,
    /// Whether the target has no such zone: then `live` is the zone as it would be made.
    pub is_missing: bool,
}

/// A copy that was read whole.
#[derive(Debug)]
pub struct ReadCopy {
    /// Which.
    pub copy: CopyId,
    /// By what it is known not to have moved.
    pub stamp: ZoneStamp,
    /// What it holds.
    pub live: Arc<LiveZone>,
    /// How it was seen.
    pub seen: ContentsSeen,
}

/// What decides whether a zone that a target lacks is made there.
#[derive(Debug)]
pub struct CreationTerms {
    /// The copies that an earlier apply saw.
    pub seen: BTreeSet<CopyId>,
    /// The zones that are made although they were seen.
    pub allowed: BTreeSet<ZoneName>,
}

impl CreationTerms {
    /// Nothing was seen, and nothing is allowed.
    pub const NONE: CreationTerms = CreationTerms { seen: BTreeSet::new(), allowed: BTreeSet::new() };

    /// Whether a zone that a target lacks is made there.
    ///
    /// Errors: it is not: an earlier apply saw it (`zone-gone`), or the target cannot make it (`zone-missing`).
    pub fn check(&self, target: &TargetSpec, zone: &ZoneName) -> Result<(), Problem> {
        let copy = CopyId { target: target.id.clone(), zone: zone.clone() };
        if self.seen.contains(&copy) && !self.allowed.contains(zone) {
            return Err(no_longer_there(&copy));
        }
        let creates = provider::capabilities(target).is_some_and(|able| able.making.creates);
        if creates { Ok(()) } else { Err(cannot_be_made(&copy)) }
    }
}

/// A copy of a zone in which nothing may be asked for: one to delete, or a catalog.
#[derive(Debug)]
pub struct ClosedCopy {
    /// Which.
    pub copy: CopyId,
    /// What it holds.
    live: Arc<LiveZone>,
}

impl ClosedCopy {
    /// What it holds.
    pub fn contents(&self) -> &ZoneContents {
        self.live.contents().expect("a copy is noted as closed where it was read")
    }
}

/// The code of a zone that does not exist, and that its target cannot make.
const ZONE_MISSING: Code = Code::new("zone-missing");

/// What was read of one copy that was read whole, or why it was not.
pub type CopyReading = Result<Box<KnownZone>, Problem>;

/// What was read of the copies of the zones.
pub struct CopiesRead<'a> {
    /// What decides whether zones are made.
    terms: &'a CreationTerms,
    /// The zones that are known, in the order of the configuration.
    zones: Vec<ZoneCopies>,
    /// How the copies were seen, each with its zone.
    pub seen: Vec<(ZoneIndex, ZoneSeen)>,
    /// The copies that could not be read, of zones that are known all the same.
    pub unread: Vec<(CopyId, Problem)>,
    /// The copies that do not exist and are to be made.
    pub missing: Vec<CopyId>,
    /// The copies that do not exist, and that their targets cannot make; each with what to do.
    pub not_made: Vec<(CopyId, Problem)>,
    /// The copies of zones in which nothing may be asked for.
    pub closed: Vec<ClosedCopy>,
    /// The copies that were read, those that do not exist left out.
    pub read: Vec<ReadCopy>,
    /// The files they were read from, with their SHA-256.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in them.
    pub findings: Vec<FileFindings>,
}

/// The copies of one zone.
struct ZoneCopies {
    /// The zone.
    zone: ZoneIndex,
    /// The place among the targets of the one whose copy is the reference.
    reference: usize,
    /// The digest of the reference.
    digest: String,
    /// The copies, in the order of the targets; none for the reference.
    copies: Vec<Option<OtherCopy>>,
}

/// A copy that is not the reference.
struct OtherCopy {
    /// What it holds; unknown where it could not be read.
    live: Arc<LiveZone>,
    /// Its digest, where it could be read.
    digest: Option<String>,
}

impl<'a> CopiesRead<'a> {
    /// Nothing was read yet.
    pub fn new(terms: &'a CreationTerms) -> CopiesRead<'a> {
        CopiesRead {
            terms,
            zones: Vec::new(),
            seen: Vec::new(),
            unread: Vec::new(),
            missing: Vec::new(),
            not_made: Vec::new(),
            closed: Vec::new(),
            read: Vec::new(),
            inputs: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Takes what was read of the copies of a zone, in the order of the targets of its pool; gives the reference copy.
    ///
    /// Errors: the copies that are known do not reach the threshold, so that the zone is unknown; why the first is.
    pub fn take(
        &mut self,
        config: &Config,
        zone: ZoneIndex,
        readings: Vec<CopyReading>,
    ) -> Result<Arc<LiveZone>, Problem> {
        let spec = &config.zones[zone.0 as usize];
        let pool = &config.pools[spec.pool];
        let judged =
            pool.targets.iter().zip(readings).map(|(target, reading)| self.judge_missing(spec, target, reading));
        let readings: Vec<CopyReading> = judged.collect();
        let known = pool.targets.iter().zip(&readings).filter(|(_, reading)| reading.is_ok());
        let is_reached = pool.is_reached(known.map(|(target, _)| &target.id));
        let exists = |reading: &CopyReading| reading.as_ref().is_ok_and(|known| !known.is_missing);
        // What is live somewhere is chosen from, and not what would be made.
        let first = readings.iter().position(exists).or_else(|| readings.iter().position(Result::is_ok));
        let Some(reference) = first.filter(|_| is_reached) else {
            if readings.iter().any(|reading| reading.as_ref().is_err_and(|problem| problem.code == ZONE_MISSING)) {
                return Ok(Arc::new(LiveZone::without_contents(spec.name.clone(), ContentsAbsence::Missing)));
            }
            return Err(readings.into_iter().find_map(Result::err).expect("where none is known, each has an error"));
        };
        let (mut live, mut digest, mut copies) = (None, String::new(), Vec::new());
        for (place, reading) in readings.into_iter().enumerate() {
            let target = &pool.targets[place].id;
            let is_not_made = reading.as_ref().is_err_and(|problem| problem.code == ZONE_MISSING);
            let copy = self.note(target, spec, zone, reading);
            if place == reference {
                let (known, of_reference) = copy.expect("the reference is known");
                (live, digest) = (Some(known), of_reference);
                copies.push(None);
                continue;
            }
            let (known, digest) = match copy {
                Some((known, digest)) => (known, Some(digest)),
                None if is_not_made => {
                    (Arc::new(LiveZone::without_contents(spec.name.clone(), ContentsAbsence::Missing)), None)
                }
                None => (Arc::new(LiveZone::unknown(spec.name.clone())), None),
            };
            copies.push(Some(OtherCopy { live: known, digest }));
        }
        self.zones.push(ZoneCopies { zone, reference, digest, copies });
        Ok(live.expect("the reference is among the copies"))
    }

    /// Whether a zone that a target lacks counts as it would be made there.
    ///
    /// Errors: it is not made there: an earlier apply saw it, or the target cannot make it.
    fn judge_missing(&mut self, spec: &ZoneSpec, target: &TargetSpec, reading: CopyReading) -> CopyReading {
        let known = reading?;
        if !known.is_missing || spec.purpose == ZonePurpose::Absent {
            return Ok(known);
        }
        let copy = CopyId { target: target.id.clone(), zone: spec.name.clone() };
        match self.terms.check(target, &spec.name) {
            Ok(()) => {
                self.missing.push(copy);
                Ok(known)
            }
            Err(problem) => {
                if problem.code == ZONE_MISSING {
                    self.not_made.push((copy, problem.clone()));
                }
                Err(problem)
            }
        }
    }

    /// Takes what a snapshot without targets says of a zone: it counts for all copies.
    ///
    /// Errors: the snapshot does not have the zone.
    pub fn take_saved(
        &mut self,
        config: &Config,
        zone: ZoneIndex,
        reading: CopyReading,
    ) -> Result<Arc<LiveZone>, Problem> {
        let spec = &config.zones[zone.0 as usize];
        let KnownZone { live, seen, inputs, findings, is_missing: _ } = *reading?;
        self.note_read(&config.reference(spec).id, &live, &seen);
        for target in &config.pools[spec.pool].targets {
            self.seen.push((zone, ZoneSeen::new(&target.id, spec.name.clone(), seen.clone())));
        }
        self.inputs.extend(inputs);
        self.findings.extend(findings.map(|found| *found));
        Ok(live)
    }

    /// Notes how a copy was seen, or why not; gives what it holds, with its digest.
    fn note(
        &mut self,
        target: &TargetId,
        spec: &ZoneSpec,
        zone: ZoneIndex,
        reading: CopyReading,
    ) -> Option<(Arc<LiveZone>, String)> {
        let KnownZone { live, seen, inputs, findings, is_missing } = match reading {
            Ok(known) => *known,
            Err(problem) if problem.code == ZONE_MISSING => return None,
            Err(problem) => {
                self.unread.push((CopyId { target: target.clone(), zone: spec.name.clone() }, problem));
                return None;
            }
        };
        if !is_missing {
            self.note_read(target, &live, &seen);
        }
        let digest = seen.digest.clone();
        let mut seen = ZoneSeen::new(target, spec.name.clone(), seen);
        if is_missing {
            seen.serial = None;
        }
        if !is_missing || spec.create.is_some() && spec.purpose != ZonePurpose::Absent {
            self.seen.push((zone, seen));
        }
        self.inputs.extend(inputs);
        self.findings.extend(findings.map(|found| *found));
        if !spec.is_closed() {
            return Some((live, digest));
        }
        let copy = CopyId { target: target.clone(), zone: spec.name.clone() };
        let closed = || ClosedCopy { copy, live: Arc::clone(&live) };
        self.closed.extend((!is_missing && live.contents().is_some()).then(closed));
        Some((Arc::new(LiveZone::without_contents(spec.name.clone(), ContentsAbsence::Closed)), digest))
    }

    /// Notes a copy that was read.
    fn note_read(&mut self, target: &TargetId, live: &Arc<LiveZone>, seen: &ContentsSeen) {
        let Some(stamp) = live.contents().map(ZoneStamp::of) else { return };
        let copy = CopyId { target: target.clone(), zone: live.name().clone() };
        self.read.push(ReadCopy { copy, stamp, live: Arc::clone(live), seen: seen.clone() });
    }

    /// The views of the targets; `live` has the references.
    pub fn views(&self, config: &Config, live: &Live) -> Vec<PoolCopies> {
        let several = config.pools.iter().enumerate().filter(|(_, pool)| pool.has_several());
        several.map(|(place, pool)| self.of_pool(config, (place, pool), live)).collect()
    }

    /// The views of the targets of one pool.
    fn of_pool(&self, config: &Config, (place, pool): (usize, &Pool), live: &Live) -> PoolCopies {
        let is_own = |zone: &&ZoneCopies| config.zones[zone.zone.0 as usize].pool == place;
        let own: Vec<&ZoneCopies> = self.zones.iter().filter(is_own).collect();
        let is_without_first = |zone: &&&ZoneCopies| zone.reference > 0;
        let without_first: BTreeSet<ZoneIndex> = own.iter().filter(is_without_first).map(|zone| zone.zone).collect();
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for (number, target) in pool.targets.iter().enumerate() {
            let is_like = |zone: &&ZoneCopies| match &zone.copies[number] {
                None => true,
                Some(copy) => copy.digest.as_ref() == Some(&zone.digest),
            };
            if own.iter().all(is_like) {
                alike.push(target.id.clone());
                continue;
            }
            let copies =
                own.iter().filter_map(|zone| Some((zone.zone, Arc::clone(&zone.copies[number].as_ref()?.live))));
            others.push(TargetCopies { target: target.id.clone(), live: live.with_copies(copies) });
        }
        PoolCopies { pool: place, alike, others, without_first }
    }
}

/// The error of a copy that an earlier apply saw, and that is not there now.
fn no_longer_there(copy: &CopyId) -> Problem {
    let CopyId { target, zone } = copy;
    let message = format!("an earlier apply saw `{zone}` at `{target}`, and the target has no such zone now");
    let hint = format!(
        "find out why it is gone, and restore it with all that it held; `plan --allow zone-create:{zone}=1` makes it \
         anew, with no more than zonewright knows of"
    );
    Problem::new(target.name.clone(), "zone-gone", message).hint(hint)
}

/// The error of a copy that its target cannot make.
fn cannot_be_made(copy: &CopyId) -> Problem {
    let CopyId { target, zone } = copy;
    let name = zone.as_name().to_dotless_text();
    let message = format!("`{zone}` does not exist at `{target}`, which has no `create_command`");
    let hint = format!(
        "add `create_command = [\"/usr/local/sbin/create-zone\", \"{{zone}}\"]` to the target; or make the zone by hand, \
         on BIND: `rndc addzone {name} '{{ type primary; file \"{name}.zone\"; }};'` \
         (`zonewright help zone-missing` has more)"
    );
    Problem::new(target.name.clone(), ZONE_MISSING, message).hint(hint)
}
