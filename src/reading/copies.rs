//! The copies of a zone that were read, to its reference copy; and the views of the targets of pools that have several. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::{FileFindings, Problem};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::Pool;
use crate::live::{Live, LiveZone, PoolCopies, TargetCopies, ZoneIndex};
use crate::plan::{ContentsSeen, ZoneSeen};
use crate::target::{CopyId, Marker, TargetId, marker_key};

/// A zone that was read completely, or taken from a snapshot.
pub struct KnownZone {
    /// The zone.
    pub live: LiveZone,
    /// How it was seen.
    pub seen: ContentsSeen,
    /// The files it was read from.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in them.
    pub findings: Option<Box<FileFindings>>,
}

/// What was read of one copy that was read whole, or why it was not.
pub type CopyReading = Result<Box<KnownZone>, Problem>;

/// What was read of the copies of the zones of pools that have several targets.
#[derive(Default)]
pub struct CopiesRead {
    /// The zones that are known, in the order of the configuration.
    zones: Vec<ZoneCopies>,
    /// How the copies were seen, each with its zone.
    pub seen: Vec<(ZoneIndex, ZoneSeen)>,
    /// The copies that could not be read, of zones that are known all the same.
    pub unread: Vec<(CopyId, Problem)>,
    /// The markers in the copies.
    pub markers: Vec<(CopyId, Marker)>,
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

impl CopiesRead {
    /// Takes what was read of the copies of a zone, in the order of the targets of its pool; gives the reference copy.
    ///
    /// Errors: the copies that are known do not reach the threshold, so that the zone is unknown; why the first is.
    pub fn take(&mut self, config: &Config, zone: ZoneIndex, readings: Vec<CopyReading>) -> Result<LiveZone, Problem> {
        let spec = &config.zones[zone.0 as usize];
        let pool = &config.pools[spec.pool];
        let known = pool.targets.iter().zip(&readings).filter(|(_, reading)| reading.is_ok());
        let is_reached = pool.is_reached(known.map(|(target, _)| &target.id));
        let reference = readings.iter().position(Result::is_ok).filter(|_| is_reached);
        let Some(reference) = reference else {
            return Err(readings.into_iter().find_map(Result::err).expect("where none is known, each has an error"));
        };
        let (mut live, mut digest, mut copies) = (None, String::new(), Vec::new());
        for (place, reading) in readings.into_iter().enumerate() {
            let target = &pool.targets[place].id;
            let copy = self.note(target, spec, zone, reading);
            if place == reference {
                let (known, of_reference) = copy.expect("the reference is known");
                (live, digest) = (Some(known), of_reference);
                copies.push(None);
                continue;
            }
            let (known, digest) = match copy {
                Some((known, digest)) => (known, Some(digest)),
                None => (LiveZone::unknown(spec.name.clone()), None),
            };
            copies.push(Some(OtherCopy { live: Arc::new(known), digest }));
        }
        self.zones.push(ZoneCopies { zone, reference, digest, copies });
        Ok(live.expect("the reference is among the copies"))
    }

    /// Takes what a snapshot says of a zone: it counts for all copies.
    ///
    /// Errors: the snapshot does not have the zone.
    pub fn take_saved(&mut self, config: &Config, zone: ZoneIndex, reading: CopyReading) -> Result<LiveZone, Problem> {
        let spec = &config.zones[zone.0 as usize];
        let KnownZone { live, seen, inputs, findings } = *reading?;
        self.note_marker(&config.reference(spec).id, &live);
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
    ) -> Option<(LiveZone, String)> {
        let KnownZone { live, seen, inputs, findings } = match reading {
            Ok(known) => *known,
            Err(problem) => {
                self.unread.push((CopyId { target: target.clone(), zone: spec.name.clone() }, problem));
                return None;
            }
        };
        self.note_marker(target, &live);
        let digest = seen.digest.clone();
        self.seen.push((zone, ZoneSeen::new(target, spec.name.clone(), seen)));
        self.inputs.extend(inputs);
        self.findings.extend(findings.map(|found| *found));
        Some((live, digest))
    }

    /// Notes the marker in a copy.
    fn note_marker(&mut self, target: &TargetId, live: &LiveZone) {
        let zone = live.name();
        let found = marker_key(zone).and_then(|key| live.contents()?.rrset(key.owner.as_name(), key.rtype));
        if let Some(marker) = found.and_then(|found| Marker::of_rrset(&found.to_rrset())) {
            self.markers.push((CopyId { target: target.clone(), zone: zone.clone() }, marker));
        }
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
