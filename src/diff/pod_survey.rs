//! Derives all pods in parallel: which names they have, and which need no change.
//!
//! Nearly all pods of a fleet need none. They are processed some at a time, so that their look-ups stay in the processor's
//! cache, and what they claim is not kept.

use std::net::IpAddr;
use std::ops::Range;

use rayon::prelude::*;
use smallvec::SmallVec;

use super::context::RuleGround;
use super::pod_claims::HashOfClaim;
use super::protect;
use crate::desired::pod_subjects::PodSubjects;
use crate::desired::pods::{PodCase, PodNamesMade, addresses_of};
use crate::desired::records::StatedSubject;
use crate::dns::{Name, RdataRef, RrsetRef, Rtype, address_type};
use crate::inventory::pods::Pod;
use crate::live::{LiveRrset, NameSpot, PairedRecords, ZoneIndex};
use crate::target::PoolBounds;

/// How many pods are processed at a time.
const AT_ONCE: usize = 32;

/// What is noted of pods and endpoints as they are derived.
#[derive(Default)]
pub struct PodSurvey {
    /// Their names.
    pub names: Vec<HashOfClaim>,
    /// Whether live DNS holds just what a pod has, in the order of pods.
    pub settled: Vec<bool>,
    /// The places of the pods with faults.
    pub faulty: Vec<usize>,
}

impl PodSurvey {
    /// Notes the names of a subject.
    fn note(&mut self, place: usize, subject: &StatedSubject) {
        self.note_names(place, subject.names().chain(&subject.kept));
        if !subject.faults.is_empty() {
            self.faulty.push(place);
        }
    }

    /// Notes names of the subject at a place.
    fn note_names<'n>(&mut self, place: usize, names: impl Iterator<Item = &'n Name>) {
        self.names.extend(names.map(|name| HashOfClaim::new(name.as_name(), place)));
    }

    /// Takes what was noted of later pods.
    fn and(mut self, mut more: PodSurvey) -> PodSurvey {
        self.names.append(&mut more.names);
        self.settled.append(&mut more.settled);
        self.faulty.append(&mut more.faulty);
        self
    }
}

/// Where pods are looked for.
#[derive(Clone, Copy)]
pub struct SurveyGround<'a> {
    /// What is known before.
    pub ground: RuleGround<'a>,
    /// Which records the targets of pools hold.
    pub bounds: &'a PoolBounds,
    /// The subjects of pods and endpoints.
    pub subjects: &'a PodSubjects<'a>,
}

/// Surveys all pods and endpoints, and keeps the pods that have something to do. An address and a PTR that answer each other
/// are noted in `paired`.
pub fn all(survey: SurveyGround<'_>, paired: &PairedRecords) -> PodSurvey {
    let subjects = survey.subjects;
    let some = |mut noted: PodSurvey, places: Range<usize>| {
        survey.look_at(places, |place, seen| {
            noted.settled.push(seen.is_settled);
            match &seen.names {
                Some(names) => noted.note_names(place, names.all()),
                None => noted.note(place, &seen.case.subject()),
            }
            if seen.is_settled {
                survey.pair(seen, paired);
            } else if seen.names.is_some() {
                subjects.keep(place, seen.case.subject());
            }
        });
        noted
    };
    let pods = parts(subjects.pods()).fold(PodSurvey::default, some).reduce(PodSurvey::default, PodSurvey::and);
    let endpoint = |mut noted: PodSurvey, place| {
        noted.note(place, &subjects.outline(place));
        noted
    };
    let endpoints = subjects.endpoints().into_par_iter().fold(PodSurvey::default, endpoint);
    pods.and(endpoints.reduce(PodSurvey::default, PodSurvey::and))
}

/// Which pods need no change by another view of DNS, in the order of pods.
pub fn settled_there(survey: SurveyGround<'_>) -> Vec<bool> {
    let some = |places: Range<usize>| {
        let mut settled = Vec::with_capacity(AT_ONCE);
        survey.look_at(places, |_, seen| settled.push(seen.is_settled));
        settled
    };
    parts(survey.subjects.pods()).flat_map_iter(some).collect()
}

/// The places of pods, some at a time.
fn parts(Range { end, .. }: Range<usize>) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..end.div_ceil(AT_ONCE)).into_par_iter().map(move |part| part * AT_ONCE..end.min((part + 1) * AT_ONCE))
}

/// A pod that was looked at.
struct SeenPod<'a> {
    /// The pod.
    case: PodCase<'a>,
    /// Its names, where it has its addresses there.
    names: Option<PodNamesMade>,
    /// What was looked up at the names at which it has something.
    spots: SmallVec<[Option<NameSpot>; 4]>,
    /// Whether just that is live.
    is_settled: bool,
}

impl<'a> SurveyGround<'a> {
    /// Looks at the pods at some places.
    fn look_at(self, places: Range<usize>, mut note: impl FnMut(usize, &SeenPod<'a>)) {
        let unseen = |case: PodCase<'a>| {
            let (names, spots) = (case.names_with_addresses(), SmallVec::new());
            SeenPod { case, names, spots, is_settled: false }
        };
        let mut some: Vec<SeenPod<'a>> = places.clone().map(|place| unseen(self.subjects.pod(place))).collect();
        // Memory answers many look-ups together.
        let names = some.iter().filter_map(|seen| seen.names.as_ref()).flat_map(PodNamesMade::claimed);
        let mut spots = self.ground.live.look_up(names.map(Name::as_name)).into_iter();
        for (place, seen) in places.zip(&mut some) {
            if let Some(names) = &seen.names {
                seen.spots = spots.by_ref().take(names.claimed().count()).collect();
                seen.is_settled = self.is_settled(seen.case, names, &seen.spots);
            }
            note(place, seen);
        }
    }

    /// Whether the rules would find nothing to do for a pod, nothing to report, and nothing that blocks it, as
    /// [`records::is_settled`] says it of its claims, without deriving them.
    ///
    /// [`records::is_settled`]: super::records::is_settled
    fn is_settled(self, case: PodCase<'_>, names: &PodNamesMade, spots: &[Option<NameSpot>]) -> bool {
        let is_address = |name: &Name| name == &names.transient || name == &names.constant;
        names.claimed().zip(spots).all(|(name, spot)| {
            let Some(spot) = spot else { return false };
            let ttl = case.ttl_at(name.as_name());
            let mut live = self.ground.live.at(spot);
            let has_ttl = |rrset: &RrsetRef<'_>| ttl.is_none_or(|ttl| ttl == rrset.ttl());
            let is_right = if is_address(name) {
                let mut left = families(case.pod);
                let is_right = live.all(|rrset| has_ttl(&rrset) && left.take(rrset, &case.pod.addresses));
                is_right && left.is_empty() && self.is_held(spot.zone, &[Rtype::AAAA, Rtype::A])
            } else {
                let only = live.next().filter(|only| has_ttl(only) && points_to(*only, &names.transient));
                only.is_some() && live.next().is_none() && self.is_held(spot.zone, &[Rtype::PTR])
            };
            is_right && protect::protection_in(self.ground, spot.zone, name.as_name()).is_none()
        })
    }

    /// Whether all targets of a zone hold some types.
    fn is_held(self, zone: ZoneIndex, rtypes: &[Rtype]) -> bool {
        let mut targets = self.bounds.get(self.ground.pool_of(zone)).into_iter().flatten();
        targets.all(|(_, bounds)| rtypes.iter().all(|rtype| bounds.types.holds(*rtype)))
    }

    /// Notes that the one address of a settled pod and its PTR answer each other.
    fn pair(self, seen: &SeenPod<'_>, paired: &PairedRecords) {
        let only = |spot: &Option<NameSpot>| {
            let spot = spot.as_ref()?;
            Some(LiveRrset { zone: spot.zone, rrset: self.ground.live.at(spot).next()? })
        };
        // The name of the placement comes before the reverse name.
        if let ([_], [name, reverse, ..]) = (&seen.case.pod.addresses[..], &seen.spots[..])
            && let (Some(address), Some(pointer)) = (only(name), only(reverse))
        {
            paired.note(address, pointer);
        }
    }
}

/// The families of which a pod has addresses that are still to be found.
struct LeftFamilies(SmallVec<[Rtype; 2]>);

/// The families of which a pod has addresses.
fn families(pod: &Pod) -> LeftFamilies {
    LeftFamilies(
        [Rtype::AAAA, Rtype::A].into_iter().filter(|rtype| addresses_of(pod, *rtype).next().is_some()).collect(),
    )
}

impl LeftFamilies {
    /// Takes the family of an RRset that has just the addresses of it; whether there was such a family.
    fn take(&mut self, rrset: RrsetRef<'_>, addresses: &[IpAddr]) -> bool {
        let Some(place) = self.0.iter().position(|rtype| *rtype == rrset.rtype()) else { return false };
        let count = addresses.iter().filter(|address| address_type(**address) == rrset.rtype()).count();
        let is_one = |rdata: RdataRef<'_>| rdata.address().is_some_and(|address| addresses.contains(&address));
        self.0.remove(place);
        rrset.record_count() == count && rrset.rdata().all(is_one)
    }

    /// Whether all were found.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether an RRset is the PTR to a name alone.
fn points_to(rrset: RrsetRef<'_>, name: &Name) -> bool {
    let points = |rdata: RdataRef<'_>| rdata.target() == Some(name.as_name());
    rrset.rtype() == Rtype::PTR && rrset.record_count() == 1 && rrset.rdata().all(points)
}
