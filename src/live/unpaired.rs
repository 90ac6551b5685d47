//! Addresses without the PTR that answers them, and PTR without the address.
//!
//! The AAAA record at X with the address A, and the PTR record at the reverse name of A that points to X, find each
//! other. In a fleet in order that is nearly every record, so that only the rest is listed: by address, and by the name
//! pointed to.

use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::bits::Bits;
use super::compared::is_shared;
use super::index::HashIndex;
use super::{ComparedViews, ComparedZone, Live, LiveRrset, LiveZone, ZoneIndex};
use crate::dns::comparison::AlikeRecords;
use crate::dns::reverse::{self, ReverseName};
use crate::dns::{Name, NameRef, RdataRef, RrsetRef, Rtype};

/// How many records one piece of work has.
const PART: u32 = 16 * 1024;

/// How many RRsets are looked up at a time.
const AT_ONCE: usize = 64;

/// Which records have a counterpart: for each zone a bit for each of its records, by number.
#[derive(Debug)]
pub struct PairedRecords(Vec<Bits>);

impl PairedRecords {
    /// Nothing is known of any record of the zones yet.
    pub fn none(live: &Live) -> PairedRecords {
        PairedRecords(live.zones().map(|(_, zone)| Bits::new(record_count(zone) as usize)).collect())
    }

    /// What of this is known of another view of DNS: its records that the reference has, too, if their counterparts are
    /// no others there. Both views must hide the same names.
    pub fn carried(compared: &ComparedViews<'_>) -> PairedRecords {
        let ComparedViews { reference, view, zones, .. } = compared;
        let (known, carried) = (&reference.unpaired().paired, PairedRecords::none(view));
        for (zone, own) in view.zones().filter(|(zone, _)| is_shared(reference, view, *zone)) {
            carried.take(zone, known, 0..record_count(own), 0);
        }
        zones.par_iter().for_each(|ComparedZone { zone, compared }| {
            for AlikeRecords { one, other } in &compared.alike {
                carried.take(*zone, known, one.clone(), *other);
            }
        });
        for rrset in zones.iter().flat_map(|zone| &zone.compared.differing).flat_map(|found| found.both()) {
            rrset.rdata().for_each(|rdata| carried.forget_counterpart(view, rrset.rtype(), rdata));
        }
        carried
    }

    /// Takes what is known of some records of a zone for as many others, of which the first has the number `own`.
    fn take(&self, zone: ZoneIndex, known: &PairedRecords, records: Range<u32>, own: u32) {
        let zone = zone.0 as usize;
        self.0[zone].take(&known.0[zone], records, own);
    }

    /// Forgets that the records that may be the counterparts of a record have one.
    fn forget_counterpart(&self, live: &Live, rtype: Rtype, rdata: RdataRef<'_>) {
        let counterpart = match (rdata.address(), rdata.target().filter(|_| rtype == Rtype::PTR)) {
            (Some(address), _) => live.rrset(ReverseName::of(address).as_name(), Rtype::PTR),
            (None, Some(target)) => live.rrset(target, Rtype::AAAA),
            (None, None) => None,
        };
        if let Some(found) = counterpart {
            found.rrset.numbers().for_each(|number| self.0[found.zone.0 as usize].clear(number));
        }
    }

    /// Forgets that an AAAA with an address and the PTR at its reverse name match each other: of the name no host may be the holder now.
    pub fn forget(&self, live: &Live, address: Ipv6Addr) {
        let Some(pointer) = live.rrset(ReverseName::of(IpAddr::V6(address)).as_name(), Rtype::PTR) else { return };
        let targets = pointer.rrset.rdata().filter_map(RdataRef::target);
        let addresses = targets.filter_map(|target| live.rrset(target, Rtype::AAAA));
        for found in addresses.chain([pointer]) {
            found.rrset.numbers().for_each(|number| self.0[found.zone.0 as usize].clear(number));
        }
    }

    /// Notes that the live AAAA and the live PTR that two RRsets of one record each are answer each other.
    pub fn note(&self, address: LiveRrset<'_>, pointer: LiveRrset<'_>) {
        for found in [address, pointer] {
            found.rrset.numbers().for_each(|number| self.set(found.zone, number));
        }
    }

    /// Notes that a record has a counterpart.
    fn set(&self, zone: ZoneIndex, number: u32) {
        self.0[zone.0 as usize].set(number);
    }

    /// Whether a record is known to have a counterpart.
    fn has(&self, zone: ZoneIndex, number: u32) -> bool {
        self.0[zone.0 as usize].has(number)
    }
}

/// The live records without a counterpart.
#[derive(Debug)]
pub struct UnpairedRecords {
    /// AAAA and A RRsets, by each address in them whose PTR does not point back.
    by_address: HashIndex,
    /// PTR RRsets of whole addresses, by each name that they point to and that does not have the address.
    by_target: HashIndex,
    /// The records with a counterpart, all PTR among them.
    paired: PairedRecords,
}

/// The hash of a value, with the zone and the id of the RRset that holds it.
type HashEntry = (u64, u32, u32);

impl UnpairedRecords {
    /// Looks through all zones, for records of which it is not known already that they have a counterpart.
    pub fn find(live: &Live, known: PairedRecords) -> UnpairedRecords {
        let paired = known;
        let parts: Vec<RecordRange> = live.zones().flat_map(|(zone, known)| parts(zone, known)).collect();
        let addresses = parts.par_iter().flat_map_iter(|part| unanswered(live, part, &paired));
        let by_address = HashIndex::new(addresses.collect());
        let targets = parts.par_iter().flat_map_iter(|part| in_vain(live, part, &paired));
        let by_target = HashIndex::new(targets.collect());
        UnpairedRecords { by_address, by_target, paired }
    }

    /// The places, by zone and id, of AAAA or A RRsets that may hold an address.
    pub fn holding(&self, address: IpAddr) -> impl Iterator<Item = (u32, u32)> {
        self.by_address.find(match address {
            IpAddr::V4(address) => xxh3_64(&address.octets()),
            IpAddr::V6(address) => xxh3_64(&address.octets()),
        })
    }

    /// Whether all records of a PTR RRset point to names that have the address.
    pub fn is_answered(&self, zone: ZoneIndex, rrset: RrsetRef<'_>) -> bool {
        rrset.numbers().all(|number| self.paired.has(zone, number))
    }

    /// The places, by zone and id, of all PTR RRsets that point to a name which does not have the address.
    pub fn pointers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.by_target.all()
    }

    /// The names that pass a test, of those at which an AAAA or A is and of those that a PTR of a whole address points to;
    /// sorted. Pairs that were known beforehand are left out: of their names a host was found to be the holder.
    pub fn names(&self, live: &Live, is_wanted: impl Fn(NameRef<'_>) -> bool + Sync) -> Vec<Name> {
        let parts: Vec<RecordRange> = live.zones().flat_map(|(zone, known)| parts(zone, known)).collect();
        let found = parts.par_iter().flat_map_iter(|part| {
            let rrsets = live_in(live, part, &[Rtype::AAAA, Rtype::A, Rtype::PTR], &self.paired);
            let mut names = Vec::new();
            for rrset in rrsets {
                let owner = rrset.owner();
                if rrset.rtype() != Rtype::PTR {
                    names.extend(is_wanted(owner.as_name()).then_some(owner));
                } else if reverse::address_of(owner.as_name()).is_some() {
                    let targets = rrset.rdata().filter_map(RdataRef::target).filter(|target| is_wanted(*target));
                    names.extend(targets.map(NameRef::to_name));
                }
            }
            names
        });
        let mut names: Vec<Name> = found.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The places, by zone and id, of PTR RRsets that may point to a name.
    pub fn pointing_to(&self, name: NameRef<'_>) -> impl Iterator<Item = (u32, u32)> {
        self.by_target.find(xxh3_64(name.as_wire()))
    }
}

/// How many records of a zone are known.
fn record_count(zone: &LiveZone) -> u32 {
    zone.contents().map_or(0, |contents| contents.record_count() as u32)
}

/// Some of the records of a zone, by number.
type RecordRange = (ZoneIndex, Range<u32>);

/// The pieces of work that a zone is.
fn parts(zone: ZoneIndex, known: &LiveZone) -> impl Iterator<Item = RecordRange> {
    let records = record_count(known);
    (0..records).step_by(PART as usize).map(move |from| (zone, from..records.min(from.saturating_add(PART))))
}

/// The live RRsets of some types in a part of a zone, less those that are known to have a counterpart.
fn live_in<'l>(
    live: &'l Live,
    (zone, part): &RecordRange,
    rtypes: &'l [Rtype],
    paired: &'l PairedRecords,
) -> impl Iterator<Item = RrsetRef<'l>> {
    let (own, number) = (live.zone(*zone), *zone);
    let (part, start) = (part.clone(), part.start);
    let is_parent = live.apexes().is_parent(number);
    let is_own = move |rrset: &RrsetRef<'_>| !is_parent || live.zone_of(rrset.owner().as_name()) == Some(number);
    let open = &paired.0[number.0 as usize];
    let rrsets = own.contents().into_iter().flat_map(move |contents| {
        let mut from = part.start;
        let part = part.clone();
        std::iter::from_fn(move || {
            let rrset = contents.rrset_with(open.first_unset(from..part.end)?)?;
            from = rrset.numbers().end;
            Some(rrset)
        })
        // It belongs to the part of the first of its records of which nothing is known.
        .filter(move |rrset| open.first_unset(rrset.numbers()).is_some_and(|first| first >= start))
    });
    let meant = rrsets.filter(|rrset| rtypes.contains(&rrset.rtype()));
    meant.filter(is_own).filter(|rrset| !own.hides_any() || !own.hides(rrset.owner().as_name()))
}

/// The AAAA and A in a part of a zone to whose names no PTR points back; notes of the PTR that do that they are answered.
fn unanswered(live: &Live, part: &RecordRange, paired: &PairedRecords) -> Vec<HashEntry> {
    let zone = part.0;
    let held = live_in(live, part, &[Rtype::AAAA, Rtype::A], paired);
    let values = held.flat_map(|rrset| rrset.rdata().map(move |rdata| (rrset, rdata)));
    let mut with_reverse = values.filter_map(|(rrset, rdata)| Some((rrset, rdata, ReverseName::of(rdata.address()?))));
    let mut unanswered = Vec::new();
    loop {
        let some: Vec<(RrsetRef<'_>, RdataRef<'_>, ReverseName)> = with_reverse.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return unanswered;
        }
        live.look_up(some.iter().map(|(_, _, reverse)| reverse.as_name()));
        for (rrset, rdata, reverse) in &some {
            match live.rrset(reverse.as_name(), Rtype::PTR).and_then(|found| pointer(found, *rrset)) {
                Some((zone, number)) => paired.set(zone, number),
                None => unanswered.push((xxh3_64(rdata.octets), zone.0, rrset.id())),
            }
        }
    }
}

/// The zone and number of the record of a PTR RRset that points to the owner name of an RRset.
fn pointer(found: LiveRrset<'_>, named: RrsetRef<'_>) -> Option<(ZoneIndex, u32)> {
    let mut records = found.rrset.numbers().zip(found.rrset.rdata());
    records
        .find(|(_, rdata)| rdata.target().is_some_and(|target| named.is_at(target)))
        .map(|(number, _)| (found.zone, number))
}

/// The PTR of whole addresses in a part of a zone that no address answers.
fn in_vain(live: &Live, part: &RecordRange, paired: &PairedRecords) -> Vec<HashEntry> {
    let zone = part.0;
    let mut entries = Vec::new();
    for rrset in live_in(live, part, &[Rtype::PTR], paired)
        .filter(|rrset| reverse::address_of(rrset.owner().as_name()).is_some())
    {
        let left = rrset.numbers().zip(rrset.rdata()).filter(|(number, _)| !paired.has(zone, *number));
        entries.extend(left.map(|(_, rdata)| (xxh3_64(rdata.octets), zone.0, rrset.id())));
    }
    entries
}
