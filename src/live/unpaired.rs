//! Addresses without the PTR that answers them, and PTR without the address.
//!
//! Where the AAAA at X holds A, and the PTR at the reverse name of A points to X, each finds the other. In a fleet in order
//! that is nearly every record, so that only what is left need be listed: by address, and by the name pointed to.

use std::net::Ipv6Addr;
use std::ops::Range;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::bits::Bits;
use super::index::HashIndex;
use super::{Live, LiveRrset, ZoneIndex};
use crate::dns::reverse::{self, ReverseName};
use crate::dns::{NameRef, RdataRef, RrsetRef, Rtype, ZoneContents};

/// How many records one piece of work has.
const PART: u32 = 16 * 1024;

/// How many RRsets are looked up at a time.
const AT_ONCE: usize = 64;

/// The live records without a counterpart.
#[derive(Debug, Default)]
pub struct Unpaired {
    /// AAAA RRsets, by each address in them whose PTR does not point back.
    by_address: HashIndex,
    /// PTR RRsets of whole addresses, by each name that they point to and that does not have the address.
    by_target: HashIndex,
    /// For each zone, which of its records, by number, are PTR to names that have the address.
    answered: Vec<Bits>,
}

/// The hash of a value, with the zone and the id of the RRset that holds it.
type Entry = (u64, u32, u32);

impl Unpaired {
    /// Looks through all zones.
    pub fn find(live: &Live) -> Unpaired {
        let parts: Vec<(ZoneIndex, Range<u32>)> =
            live.zones().flat_map(|(zone, known)| parts(zone, known.contents())).collect();
        let records = live.zones().map(|(_, zone)| zone.contents().map_or(0, ZoneContents::record_count));
        let answered: Vec<Bits> = records.map(Bits::new).collect();
        let addresses = parts.par_iter().flat_map_iter(|(zone, part)| unanswered(live, *zone, part.clone(), &answered));
        let by_address = HashIndex::new(addresses.collect());
        let targets = parts.par_iter().flat_map_iter(|(zone, part)| pointless(live, *zone, part.clone(), &answered));
        let by_target = HashIndex::new(targets.collect());
        Unpaired { by_address, by_target, answered }
    }

    /// The places, by zone and id, of AAAA RRsets that may hold an address.
    pub fn holding(&self, address: Ipv6Addr) -> impl Iterator<Item = (u32, u32)> {
        self.by_address.find(xxh3_64(&address.octets()))
    }

    /// Whether all records of a PTR RRset point to names that have the address.
    pub fn is_answered(&self, zone: ZoneIndex, rrset: RrsetRef<'_>) -> bool {
        let answered = &self.answered[zone.0 as usize];
        rrset.numbers().all(|number| answered.has(number))
    }

    /// The places, by zone and id, of PTR RRsets that may point to a name.
    pub fn pointing_to(&self, name: NameRef<'_>) -> impl Iterator<Item = (u32, u32)> {
        self.by_target.find(xxh3_64(name.as_wire()))
    }
}

/// The pieces of work that a zone is.
fn parts(zone: ZoneIndex, contents: Option<&ZoneContents>) -> impl Iterator<Item = (ZoneIndex, Range<u32>)> {
    let records = contents.map_or(0, |contents| contents.record_count() as u32);
    (0..records).step_by(PART as usize).map(move |from| (zone, from..records.min(from.saturating_add(PART))))
}

/// The live RRsets in a part of a zone.
fn live_in(live: &Live, zone: ZoneIndex, part: Range<u32>) -> impl Iterator<Item = RrsetRef<'_>> {
    let own = live.zone(zone);
    let contents = own.contents().into_iter();
    let is_parent = live.apexes().is_parent(zone);
    let is_own = move |rrset: &RrsetRef<'_>| !is_parent || live.zone_of(rrset.owner()) == Some(zone);
    contents
        .flat_map(move |contents| contents.rrsets_in(part.clone()))
        .filter(is_own)
        .filter(|rrset| !own.hides(rrset.owner()))
}

/// The AAAA in a part of a zone to whose names no PTR points back; marks the PTR that do as answered, those of A too.
fn unanswered(live: &Live, zone: ZoneIndex, part: Range<u32>, answered: &[Bits]) -> Vec<Entry> {
    let held = live_in(live, zone, part).filter(|rrset| matches!(rrset.rtype(), Rtype::AAAA | Rtype::A));
    let values = held.flat_map(|rrset| rrset.rdata().map(move |rdata| (rrset, rdata)));
    let mut with_reverse = values.filter_map(|(rrset, rdata)| Some((rrset, rdata, ReverseName::of(rdata.address()?))));
    let mut unanswered = Vec::new();
    loop {
        let some: Vec<(RrsetRef<'_>, RdataRef<'_>, ReverseName)> = with_reverse.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return unanswered;
        }
        live.read_ahead(some.iter().map(|(_, _, reverse)| reverse.as_name()));
        for (rrset, rdata, reverse) in &some {
            match live.rrset(reverse.as_name(), Rtype::PTR).and_then(|found| pointer(found, rrset.owner())) {
                Some((zone, number)) => answered[zone.0 as usize].set(number),
                None if rdata.rtype == Rtype::AAAA => unanswered.push((xxh3_64(rdata.octets), zone.0, rrset.id())),
                None => {}
            }
        }
    }
}

/// The zone and number of the record of a PTR RRset that points to a name.
fn pointer(found: LiveRrset<'_>, name: NameRef<'_>) -> Option<(ZoneIndex, u32)> {
    let mut records = found.rrset.numbers().zip(found.rrset.rdata());
    records.find(|(_, rdata)| rdata.target() == Some(name)).map(|(number, _)| (found.zone, number))
}

/// The PTR of whole addresses in a part of a zone that are not marked as answered.
fn pointless(live: &Live, zone: ZoneIndex, part: Range<u32>, answered: &[Bits]) -> Vec<Entry> {
    let answered = &answered[zone.0 as usize];
    let mut entries = Vec::new();
    for rrset in live_in(live, zone, part).filter(|rrset| rrset.rtype() == Rtype::PTR) {
        let left = rrset.numbers().zip(rrset.rdata()).filter(|(number, _)| !answered.has(*number));
        let is_whole = || reverse::address_of(rrset.owner()).is_some();
        let before = entries.len();
        entries.extend(left.map(|(_, rdata)| (xxh3_64(rdata.octets), zone.0, rrset.id())));
        if entries.len() > before && !is_whole() {
            entries.truncate(before);
        }
    }
    entries
}
