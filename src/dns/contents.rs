//! What a zone holds, compactly: all records in one arena, ordered by a hash of the owner name.
//!
//! A million records are a handful of allocations. The order is the same whatever order the records came in, so that
//! the digest needs no other sort. Owner names are kept without the zone's own name, which is half of each below
//! ip6.arpa.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use domain::base::{Rtype, Serial};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use super::directory::HashDirectory;
use super::mark::RrsetMark;
use super::name::{Name, NameRef, ZoneName};
use super::record::{ArenaRecord, ContentsError, soa_serial};
use super::rrset::{RdataRef, Rrset};
use super::ttl::Ttl;

/// How many look-ups [`ZoneContents::look_up`] makes at once: somewhat more than a processor has requests to memory
/// under way.
const AT_ONCE: usize = 32;

/// Where a record is.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordPlace {
    /// The trailing half of the hash of its owner: it alone excludes most records of other owners.
    tag: u32,
    /// Its first octet in the arena.
    start: u32,
}

impl RecordPlace {
    /// The place of a record whose owner has this hash, at `start` of the arena.
    pub fn new(hash: u64, start: u32) -> RecordPlace {
        RecordPlace { tag: hash as u32, start }
    }
}

/// A record that replaces the one in its place, where there is one.
#[derive(Debug)]
pub(super) struct RecordReplacement {
    /// The hash of its owner.
    pub hash: u64,
    /// The number of the record in its place, or of that before which it belongs.
    pub number: u32,
    /// Whether there is one in its place.
    pub is_there: bool,
    /// The record as the arena has it; empty where only the one in its place goes.
    pub octets: Vec<u8>,
}

/// All records of one zone, each once, searchable by owner name.
#[derive(Debug)]
pub struct ZoneContents {
    /// The zone.
    apex: ZoneName,
    /// The records, in the order of `places`.
    arena: Vec<u8>,
    /// Where each record is, ordered by hash of the owner, then owner, type and RDATA.
    places: Vec<RecordPlace>,
    /// Where in `places` the records of an owner's hash are.
    directory: HashDirectory,
    /// The SOA's serial.
    serial: Serial,
    /// Whose RRsets are, by the numbers of their first records: where the target keeps that with them.
    marks: BTreeMap<u32, RrsetMark>,
}

impl ZoneContents {
    /// The contents of a zone with this serial: its records in order, where each is, and where those of each hash are.
    pub(super) fn of_ordered(
        apex: ZoneName,
        serial: Serial,
        arena: Vec<u8>,
        places: Vec<RecordPlace>,
        directory: HashDirectory,
    ) -> ZoneContents {
        ZoneContents { apex, arena, places, directory, serial, marks: BTreeMap::new() }
    }

    /// Notes whose an RRset is; nothing where it is not there.
    pub fn mark(&mut self, owner: NameRef<'_>, rtype: Rtype, mark: RrsetMark) {
        if let Some(first) = self.rrset(owner, rtype).map(|rrset| rrset.first) {
            self.marks.insert(first, mark);
        }
    }

    /// The RRsets that have a mark, in the order of all.
    pub fn marked_rrsets(&self) -> impl Iterator<Item = RrsetRef<'_>> {
        self.marks.keys().map(|first| self.rrset_by_id(*first))
    }

    /// Makes contents of what [`ZoneContents::octets`] gave for a zone of this name.
    ///
    /// The caller must know, by a digest, that the octets are the same. Everything that this type relies on is checked:
    /// whole records of names in the zone, in order, each once, and one SOA. Errors: `Disordered` and those of
    /// [`super::ZoneBuilder`].
    pub fn from_octets(apex: ZoneName, arena: Vec<u8>) -> Result<ZoneContents, ContentsError> {
        let all = u32::try_from(arena.len()).map_err(|_| ContentsError::TooLarge)?;
        let (mut places, mut hashes) = (Vec::new(), Vec::new());
        let (mut serial, mut before) = (None, None);
        let mut rest = arena.as_slice();
        while !rest.is_empty() {
            let (record, next) = ArenaRecord::split(rest).ok_or(ContentsError::Disordered)?;
            let hash = match before {
                Some((hash, ArenaRecord { owner, .. })) if owner == record.owner => hash,
                _ => {
                    if !apex.as_name().may_have_above(record.owner) {
                        return Err(ContentsError::Disordered);
                    }
                    xxh3_64(record.owner)
                }
            };
            let is_next = |(last, before): (u64, ArenaRecord<'_>)| {
                last < hash || (last == hash && before.identity() < record.identity())
            };
            if !before.is_none_or(is_next) {
                return Err(ContentsError::Disordered);
            }
            if record.rtype == Rtype::SOA.to_int().to_be_bytes()
                && serial.replace(soa_serial(record.owner, record.rdata)?).is_some()
            {
                return Err(ContentsError::TwoSoas);
            }
            places.push(RecordPlace::new(hash, all - rest.len() as u32));
            hashes.push(hash);
            before = Some((hash, record));
            rest = next;
        }
        let serial = serial.ok_or(ContentsError::NoSoa)?;
        let directory = HashDirectory::new(hashes.into_iter());
        Ok(ZoneContents { apex, arena, places, directory, serial, marks: BTreeMap::new() })
    }

    /// The number of a record, by the hash of its owner and what identifies it.
    ///
    /// Errors: it is not there; the number of the record before which it belongs.
    pub(super) fn number_of(&self, hash: u64, identity: (&[u8], [u8; 2], &[u8])) -> Result<u32, u32> {
        let Range { start, end } = self.directory.range(hash);
        for number in start..end {
            let record = self.record(number);
            match (xxh3_64(record.owner), record.identity()).cmp(&(hash, identity)) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(number),
                Ordering::Greater => return Err(number),
            }
        }
        Err(end)
    }

    /// The same zone with some records replaced, in the order of all; what stays is copied in large pieces.
    ///
    /// Errors: `TooLarge`, and those about SOA records.
    pub(super) fn with_replacements(&self, replaced: &[RecordReplacement]) -> Result<ZoneContents, ContentsError> {
        let serial = self.serial_with(replaced)?;
        let more: usize = replaced.iter().map(|record| record.octets.len()).sum();
        let mut arena = Vec::with_capacity(self.arena.len() + more);
        let mut places = Vec::with_capacity(self.places.len() + replaced.len());
        let mut at = 0;
        let keep = |at: u32, to: u32, arena: &mut Vec<u8>, places: &mut Vec<RecordPlace>| {
            // Offsets beyond 4 GiB are found out at the end.
            let ahead = (arena.len() as u32).wrapping_sub(self.start_of(at) as u32);
            let moved = |place: &RecordPlace| RecordPlace { start: place.start.wrapping_add(ahead), ..*place };
            places.extend(self.places[at as usize..to as usize].iter().map(moved));
            arena.extend_from_slice(&self.arena[self.start_of(at)..self.start_of(to)]);
        };
        for RecordReplacement { hash, number, is_there, octets } in replaced {
            keep(at, *number, &mut arena, &mut places);
            if !octets.is_empty() {
                places.push(RecordPlace::new(*hash, arena.len() as u32));
                arena.extend_from_slice(octets);
            }
            at = number + u32::from(*is_there);
        }
        keep(at, self.places.len() as u32, &mut arena, &mut places);
        u32::try_from(arena.len()).map_err(|_| ContentsError::TooLarge)?;
        let more = |record: &RecordReplacement| {
            (record.hash, i32::from(!record.octets.is_empty()) - i32::from(record.is_there))
        };
        let directory = self.directory.with(replaced.iter().map(more));
        Ok(ZoneContents::of_ordered(self.apex.clone(), serial, arena, places, directory))
    }

    /// The serial of the SOA with some records replaced.
    ///
    /// Errors: there is none at the apex, or there are two, or one elsewhere.
    fn serial_with(&self, replaced: &[RecordReplacement]) -> Result<Serial, ContentsError> {
        let (mut serial, mut count) = (self.serial, 1);
        for RecordReplacement { number, is_there, octets, .. } in replaced {
            let is_soa = |record: &ArenaRecord<'_>| record.rtype == Rtype::SOA.to_int().to_be_bytes();
            if *is_there && is_soa(&self.record(*number)) {
                count -= 1;
            }
            if let Some((record, _)) = ArenaRecord::split(octets).filter(|(record, _)| is_soa(record)) {
                serial = soa_serial(record.owner, record.rdata)?;
                count += 1;
            }
        }
        match count {
            1 => Ok(serial),
            count if count < 1 => Err(ContentsError::NoSoa),
            _ => Err(ContentsError::TwoSoas),
        }
    }

    /// All records, one behind the other, in an order that depends on nothing but the contents: for
    /// [`ZoneContents::from_octets`].
    pub fn octets(&self) -> &[u8] {
        &self.arena
    }

    /// The zone.
    pub fn apex(&self) -> &ZoneName {
        &self.apex
    }

    /// The serial of the SOA.
    pub fn serial(&self) -> Serial {
        self.serial
    }

    /// All RRsets, in an order that depends on nothing but the contents.
    pub fn rrsets(&self) -> impl Iterator<Item = RrsetRef<'_>> {
        self.rrsets_from(0, self.places.len() as u32)
    }

    /// The RRset that has the record with this number; none past the last record.
    pub fn rrset_with(&self, number: u32) -> Option<RrsetRef<'_>> {
        let mut first = number;
        while self.goes_on(first) {
            first -= 1;
        }
        self.rrset_from(first)
    }

    /// The RRset whose first record has this number; none past the last record.
    pub(super) fn rrset_from(&self, number: u32) -> Option<RrsetRef<'_>> {
        self.rrsets_from(number, self.places.len() as u32).next()
    }

    /// How many records this copy has from the number `at` on, and the other from `other_at` on, with the same octets: of
    /// whole RRsets. Both numbers are those of first records. Where RRsets have marks, these are to be compared one by one.
    pub(super) fn same_from(&self, at: u32, other: &ZoneContents, other_at: u32) -> u32 {
        if !self.marks.is_empty() || !other.marks.is_empty() {
            return 0;
        }
        let (from, other_from) = (self.start_of(at), other.start_of(other_at));
        let same = from + same_octets(&self.arena[from..], &other.arena[other_from..]);
        let next = self.places[at as usize..].partition_point(|place| (place.start as usize) < same);
        let mut count = next as u32;
        while count > 0
            && (self.start_of(at + count) > same || self.goes_on(at + count) || other.goes_on(other_at + count))
        {
            count -= 1;
        }
        count
    }

    /// Looks up many owner names at once, each in its zone; returns the numbers of the records of each.
    ///
    /// A look-up waits for memory three times, and each answer says where to read next. Here the first places of all
    /// names are read, then the second ones, so that memory answers many requests at a time. No branch depends on these
    /// reads until the reads of all names are under way: a processor that guesses a branch wrong waits for each read
    /// alone.
    pub fn look_up(names: &[(&ZoneContents, NameRef<'_>)]) -> Vec<Range<u32>> {
        let mut found = Vec::with_capacity(names.len());
        let (mut hashes, mut ranges, mut tags) = ([0; AT_ONCE], [const { 0..0 }; AT_ONCE], [None; AT_ONCE]);
        let mut lengths = [0; AT_ONCE];
        for names in names.chunks(AT_ONCE) {
            for ((zone, name), hash) in names.iter().zip(&mut hashes) {
                *hash = zone.hash_of(*name);
            }
            for (((zone, _), hash), range) in names.iter().zip(&hashes).zip(&mut ranges) {
                *range = zone.directory.range(*hash);
            }
            for (((zone, _), range), tag) in names.iter().zip(&ranges).zip(&mut tags) {
                *tag = zone.places.get(range.start as usize).map(|place| place.tag);
            }
            for ((((zone, _), hash), tag), range) in names.iter().zip(&hashes).zip(&tags).zip(&mut ranges) {
                let is_first = *tag == Some(*hash as u32);
                // Most ranges have one record.
                *range = match range.len() {
                    0 => 0..0,
                    1 if is_first => range.clone(),
                    1 => 0..0,
                    _ => zone.of_tag(*hash as u32, range.clone()),
                };
            }
            for (((zone, _), range), length) in names.iter().zip(&ranges).zip(&mut lengths) {
                *length = zone.touch(range.clone());
            }
            for (((zone, name), range), length) in names.iter().zip(&ranges).zip(&lengths) {
                // Records of one hash are sorted by owner, so that nearly always the first is the right one.
                let is_first = usize::from(*length) == zone.labels_of(*name).len() || range.len() > 1;
                found.push(if is_first { zone.of_owner(*name, range.clone()) } else { 0..0 });
            }
        }
        found
    }

    /// The first octet of the first of some records, which says how long its owner is; touches the last record, too.
    fn touch(&self, records: Range<u32>) -> u8 {
        if records.is_empty() {
            return 0;
        }
        let begin =
            |number: u32| self.places.get(number as usize).map_or(self.arena.len(), |place| place.start as usize);
        std::hint::black_box(self.arena[begin(records.end) - 1]);
        self.arena[begin(records.start)]
    }

    /// The owner labels that this zone stores for a name in it; for a name outside the zone the octets are undefined.
    fn labels_of<'n>(&self, name: NameRef<'n>) -> &'n [u8] {
        let name = name.as_wire();
        &name[..name.len().saturating_sub(self.apex.as_name().as_wire().len())]
    }

    /// The hash of an owner name, by which records are ordered.
    fn hash_of(&self, owner: NameRef<'_>) -> u64 {
        xxh3_64(self.labels_of(owner))
    }

    /// The RRsets of one owner name, by type.
    pub fn at_owner(&self, owner: NameRef<'_>) -> impl Iterator<Item = RrsetRef<'_>> {
        let hash = self.hash_of(owner);
        let same_tag = self.of_tag(hash as u32, self.directory.range(hash));
        self.rrsets_of(self.of_owner(owner, same_tag))
    }

    /// The RRsets of an owner name, by type; [`ZoneContents::look_up`] gave the numbers of its records.
    pub fn rrsets_of(&self, owner: Range<u32>) -> impl Iterator<Item = RrsetRef<'_>> {
        self.rrsets_from(owner.start, owner.end)
    }

    /// The records within `part` from the first to the last of a tag.
    ///
    /// Records are sorted by whole hashes, so that a record with another tag may be between two with this tag.
    fn of_tag(&self, tag: u32, Range { start, end }: Range<u32>) -> Range<u32> {
        let has_tag = |number: &u32| self.places[*number as usize].tag == tag;
        let from = (start..end).find(has_tag).unwrap_or(end);
        let last = (from..end).rfind(has_tag);
        from..last.map_or(from, |last| last + 1)
    }

    /// Which records within `part` have an owner; those are neighbours.
    fn of_owner(&self, owner: NameRef<'_>, Range { start, end }: Range<u32>) -> Range<u32> {
        let labels = self.labels_of(owner);
        // Where all octets are the same, so are the labels.
        if owner.as_wire()[labels.len()..] != *self.apex.as_name().as_wire() {
            return start..start;
        }
        let is_owners = |number: &u32| self.record(*number).owner == labels;
        let from = (start..end).find(is_owners).unwrap_or(end);
        let to = (from..end).find(|number| !is_owners(number)).unwrap_or(end);
        from..to
    }

    /// One RRset.
    pub fn rrset(&self, owner: NameRef<'_>, rtype: Rtype) -> Option<RrsetRef<'_>> {
        self.at_owner(owner).find(|rrset| rrset.rtype() == rtype)
    }

    /// The RRset whose first record has this number, as [`RrsetRef::id`] gave it.
    pub fn rrset_by_id(&self, id: u32) -> RrsetRef<'_> {
        self.rrsets_from(id, self.places.len() as u32).next().expect("an id that this zone gave")
    }

    /// How many records there are.
    pub fn record_count(&self) -> usize {
        self.places.len()
    }

    /// SHA-256 over all RRsets that `included` takes, with their marks, whatever order they were read in; it is called once for each.
    pub fn digest(&self, mut included: impl FnMut(RrsetRef<'_>) -> bool) -> [u8; 32] {
        let mut hasher = Sha256::new_with_prefix(self.apex.as_name().as_wire());
        // Nearly all records are in the arena as they are hashed, one behind another: such runs are hashed in one
        // piece.
        let mut run = 0..0;
        let mut marks = Vec::new();
        for rrset in self.rrsets() {
            if !included(rrset) {
                continue;
            }
            marks.extend(rrset.mark().map(|mark| (rrset, mark)));
            if rrset.has_one_ttl() {
                let octets = self.octets_of(rrset);
                if octets.start != run.end {
                    hasher.update(&self.arena[std::mem::replace(&mut run, octets.start..octets.start)]);
                }
                run.end = octets.end;
                continue;
            }
            hasher.update(&self.arena[std::mem::take(&mut run)]);
            let ttl = rrset.ttl().as_secs().to_be_bytes();
            for rdata in rrset.rdata() {
                let owner = self.record(rrset.first).owner;
                hasher.update([owner.len() as u8]);
                hasher.update(owner);
                hasher.update(rrset.rtype().to_int().to_be_bytes());
                hasher.update(ttl);
                hasher.update((rdata.octets.len() as u16).to_be_bytes());
                hasher.update(rdata.octets);
            }
        }
        hasher.update(&self.arena[run]);
        for (rrset, mark) in marks {
            hasher.update([rrset.labels().len() as u8]);
            hasher.update(rrset.labels());
            hasher.update(rrset.rtype().to_int().to_be_bytes());
            for text in [Some(&mark.owner), mark.resource.as_ref()] {
                let text = text.map_or("", String::as_str);
                hasher.update((text.len() as u64).to_be_bytes());
                hasher.update(text);
            }
        }
        hasher.finalize().into()
    }

    /// Where the records of an RRset are in the arena.
    fn octets_of(&self, rrset: RrsetRef<'_>) -> Range<usize> {
        self.start_of(rrset.first)..self.start_of(rrset.end)
    }

    /// Where a record begins in the arena; where the arena ends, for the number after the last.
    fn start_of(&self, number: u32) -> usize {
        self.places.get(number as usize).map_or(self.arena.len(), |place| place.start as usize)
    }

    /// Whether a record is of the RRset of the record before it.
    fn goes_on(&self, number: u32) -> bool {
        number > 0 && (number as usize) < self.places.len() && self.is_same_rrset(number - 1, number)
    }

    /// The RRsets among the records numbered `from` to `to`.
    fn rrsets_from(&self, mut from: u32, to: u32) -> impl Iterator<Item = RrsetRef<'_>> {
        std::iter::from_fn(move || {
            if from >= to {
                return None;
            }
            let first = from;
            from += 1;
            while from < to && self.is_same_rrset(from - 1, from) {
                from += 1;
            }
            Some(RrsetRef { zone: self, first, end: from })
        })
    }

    /// Whether two records are of one RRset. Different hashes exclude most pairs without a look at the records.
    fn is_same_rrset(&self, one: u32, other: u32) -> bool {
        let tag = |number: u32| self.places[number as usize].tag;
        tag(one) == tag(other) && self.record(one).rrset() == self.record(other).rrset()
    }

    /// The record with this number.
    fn record(&self, number: u32) -> ArenaRecord<'_> {
        ArenaRecord::at(&self.arena, self.places[number as usize].start)
    }
}

/// How many octets two slices begin with alike.
pub fn same_octets(one: &[u8], other: &[u8]) -> usize {
    /// How many octets are compared at a time.
    const BLOCK: usize = 4096;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK)).take_while(|(one, other)| one == other);
    let whole = blocks.count() * BLOCK;
    whole + one[whole..].iter().zip(&other[whole..]).take_while(|(one, other)| one == other).count()
}

/// One RRset inside a zone; never empty.
#[derive(Debug, Clone, Copy)]
pub struct RrsetRef<'a> {
    /// The zone that holds it.
    zone: &'a ZoneContents,
    /// The number of its first record.
    first: u32,
    /// The number after that of its last record.
    end: u32,
}

impl<'a> RrsetRef<'a> {
    /// A number that finds this RRset again in its zone.
    pub fn id(self) -> u32 {
        self.first
    }

    /// The owner name.
    pub fn owner(self) -> Name {
        Name::above(self.labels(), self.zone.apex.as_name())
    }

    /// Whether this is its owner name.
    pub fn is_at(self, name: NameRef<'_>) -> bool {
        name.as_wire().strip_suffix(self.zone.apex.as_name().as_wire()) == Some(self.labels())
    }

    /// The labels of the owner name above the apex, in wire format without the root: none at the apex itself.
    pub fn labels(self) -> &'a [u8] {
        self.zone.record(self.first).owner
    }

    /// The type.
    pub fn rtype(self) -> Rtype {
        Rtype::from_int(u16::from_be_bytes(self.zone.record(self.first).rtype))
    }

    /// The TTL: the lowest, where a server or file gives several (RFC 2181 section 5.2).
    pub fn ttl(self) -> Ttl {
        let lowest = (self.first..self.end).map(|number| self.zone.record(number).ttl).min();
        Ttl::from_wire(u32::from_be_bytes(lowest.expect("an RRset has a record")))
    }

    /// Whether all its records came with the same TTL, as RFC 2181 section 5.2 demands.
    pub fn has_one_ttl(self) -> bool {
        let ttl = |number: u32| self.zone.record(number).ttl;
        (self.first + 1..self.end).all(|number| ttl(number) == ttl(self.first))
    }

    /// Which of two RRsets, perhaps of two zones of one name, comes first in the order of all: by the hash of the owner,
    /// the owner, and the type.
    pub(super) fn cmp_place(self, other: RrsetRef<'_>) -> Ordering {
        let (one, two) = (self.zone.record(self.first), other.zone.record(other.first));
        if one.owner == two.owner {
            return one.rtype.cmp(&two.rtype);
        }
        (xxh3_64(one.owner), one.owner).cmp(&(xxh3_64(two.owner), two.owner))
    }

    /// All its records, as the arena has them.
    fn octets(self) -> &'a [u8] {
        &self.zone.arena[self.zone.octets_of(self)]
    }

    /// Whether two RRsets of one owner and type have the same TTL, RDATA and mark.
    pub(super) fn has_content_of(self, other: RrsetRef<'_>) -> bool {
        let has_records = || self.ttl() == other.ttl() && self.rdata().eq(other.rdata());
        self.mark() == other.mark() && (self.octets() == other.octets() || has_records())
    }

    /// Whose it is, where its target keeps that with it.
    pub fn mark(self) -> Option<&'a RrsetMark> {
        self.zone.marks.get(&self.first)
    }

    /// How many records it has.
    pub fn record_count(self) -> usize {
        (self.end - self.first) as usize
    }

    /// The numbers of its records in the zone, in the order of [`RrsetRef::rdata`].
    pub fn numbers(self) -> Range<u32> {
        self.first..self.end
    }

    /// The RDATA, sorted by octets.
    pub fn rdata(self) -> impl Iterator<Item = RdataRef<'a>> {
        let rtype = self.rtype();
        (self.first..self.end).map(move |number| RdataRef { rtype, octets: self.zone.record(number).rdata })
    }

    /// The records, each with the TTL that it came with, sorted by the octets of their RDATA.
    pub fn records(self) -> impl Iterator<Item = (Ttl, RdataRef<'a>)> {
        let ttls = (self.first..self.end).map(move |number| self.zone.record(number).ttl);
        ttls.map(|ttl| Ttl::from_wire(u32::from_be_bytes(ttl))).zip(self.rdata())
    }

    /// An owned copy.
    pub fn to_rrset(self) -> Rrset {
        let rdata = self.rdata().map(RdataRef::to_rdata).collect();
        Rrset::new(self.ttl(), rdata).expect("an RRset has a record").marked(self.mark().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::ZoneBuilder;

    /// A zone `example.net.` of a SOA and the given (owner, TTL, last octet of an AAAA), in that order.
    fn zone(records: &[(&str, u64, u8)]) -> ZoneContents {
        let mut builder = ZoneBuilder::new(ZoneName::new(Name::parse("example.net").unwrap()));
        let apex = Name::parse("example.net").unwrap();
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        for (owner, ttl, last) in records {
            let owner = Name::parse(owner).unwrap();
            let rdata = [[0; 15].as_slice(), &[*last]].concat();
            builder.push(owner.as_name(), Rtype::AAAA, Ttl::from_secs(*ttl).unwrap(), &rdata).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn order_of_arrival_and_repeats_do_not_matter() {
        let a = zone(&[("a.example.net", 60, 1), ("b.example.net", 60, 2), ("a.example.net", 60, 3)]);
        let b = zone(&[
            ("a.example.net", 60, 3),
            ("a.example.net", 60, 1),
            ("b.example.net", 60, 2),
            ("b.example.net", 60, 2),
        ]);
        assert_eq!(a.digest(|_| true), b.digest(|_| true));
        assert_eq!(a.record_count(), 4);
        assert_ne!(a.digest(|_| true), zone(&[("a.example.net", 60, 1)]).digest(|_| true));
    }

    #[test]
    fn a_digest_is_over_each_record_with_the_lowest_ttl_of_its_rrset() {
        let apart = zone(&[("a.example.net", 600, 1), ("b.example.net", 60, 2), ("a.example.net", 300, 3)]);
        let level = zone(&[("a.example.net", 300, 1), ("b.example.net", 60, 2), ("a.example.net", 300, 3)]);
        assert_eq!(apart.digest(|_| true), level.digest(|_| true));
        let all_but_a = |rrset: RrsetRef<'_>| rrset.owner().to_string() != "a.example.net.";
        assert_eq!(apart.digest(all_but_a), zone(&[("b.example.net", 60, 2)]).digest(|_| true));
    }

    #[test]
    fn an_rrset_is_found_by_each_of_its_records() {
        let zone = zone(&[
            ("a.example.net", 60, 1),
            ("b.example.net", 60, 2),
            ("a.example.net", 60, 3),
            ("c.example.net", 60, 1),
        ]);
        for rrset in zone.rrsets() {
            let found: Vec<u32> =
                rrset.numbers().filter_map(|number| zone.rrset_with(number)).map(RrsetRef::id).collect();
            assert_eq!(found, vec![rrset.id(); rrset.record_count()]);
        }
        assert!(zone.rrset_with(zone.record_count() as u32).is_none());
    }

    #[test]
    fn an_rrset_is_found_by_its_owner_and_has_the_lowest_ttl() {
        let zone = zone(&[("a.example.net", 600, 1), ("b.example.net", 60, 2), ("a.example.net", 300, 3)]);
        let owner = Name::parse("a.example.net").unwrap();
        let rrset = zone.rrset(owner.as_name(), Rtype::AAAA).unwrap();
        assert_eq!((rrset.record_count(), rrset.ttl().as_secs()), (2, 300));
        assert_eq!(zone.rrset_by_id(rrset.id()).to_rrset(), rrset.to_rrset());
        assert!(zone.rrset(Name::parse("c.example.net").unwrap().as_name(), Rtype::AAAA).is_none());
        assert_eq!(zone.rrsets().count(), 3);
    }

    #[test]
    fn names_of_one_tag_are_found_beside_another_between_them() {
        let owners = ["h235544", "h24", "h596224"].map(|label| Name::parse(&format!("{label}.example.net")).unwrap());
        let zone = zone(&[("h235544.example.net", 60, 1), ("h24.example.net", 60, 2), ("h596224.example.net", 60, 3)]);
        let [first, between, last] = owners.each_ref().map(|owner| zone.hash_of(owner.as_name()));
        assert!(first < between && between < last && first >> 61 == last >> 61);
        assert_eq!(first as u32, last as u32);
        let names: Vec<_> = owners.iter().map(|owner| (&zone, owner.as_name())).collect();
        let found = ZoneContents::look_up(&names);
        for ((owner, numbers), octet) in owners.iter().zip(found).zip(1..) {
            let rrset = zone.rrset(owner.as_name(), Rtype::AAAA).expect("it is there");
            assert_eq!(rrset.rdata().next().map(|rdata| rdata.octets[15]), Some(octet), "{owner}");
            assert_eq!(numbers, rrset.numbers(), "{owner}");
        }
    }

    #[test]
    fn octets_make_the_same_contents_again() {
        let zone = zone(&[("a.example.net", 60, 1), ("b.example.net", 60, 2), ("a.example.net", 30, 3)]);
        let again = ZoneContents::from_octets(zone.apex().clone(), zone.octets().to_vec()).unwrap();
        assert_eq!(again.octets(), zone.octets());
        assert_eq!((again.record_count(), again.serial()), (4, zone.serial()));
        assert_eq!(again.digest(|_| true), zone.digest(|_| true));
        for rrset in zone.rrsets() {
            let same = again.rrset(rrset.owner().as_name(), rrset.rtype()).unwrap();
            assert_eq!((same.to_rrset(), same.id()), (rrset.to_rrset(), rrset.id()));
        }
    }

    #[test]
    fn octets_that_are_no_zone_are_refused() {
        let zone = zone(&[("a.example.net", 60, 1), ("b.example.net", 60, 2), ("a.example.net", 60, 3)]);
        let read = |octets: &[u8]| ZoneContents::from_octets(zone.apex().clone(), octets.to_vec()).err();
        let mut records = Vec::new();
        let mut rest = zone.octets();
        while let Some((_, next)) = ArenaRecord::split(rest) {
            records.push(&rest[..rest.len() - next.len()]);
            rest = next;
        }
        assert_eq!(records.len(), 4);
        for end in 1..zone.octets().len() {
            // Between two records the zone lacks one, and has a SOA or none.
            let whole = records.iter().scan(0, |at, record| Some(std::mem::replace(at, *at + record.len())));
            let is_between = whole.collect::<Vec<_>>().contains(&end);
            assert!(is_between || read(&zone.octets()[..end]).is_some(), "{end}");
        }
        for first in 0..4 {
            for second in 0..4 {
                let mut other = records.clone();
                other.swap(first, second);
                assert_eq!(read(&other.concat()).is_some(), first != second, "{first} {second}");
            }
            let twice = [&records[..=first], &records[first..]].concat().concat();
            assert!(read(&twice).is_some(), "{first}");
        }
        assert_eq!(read(&[]), Some(ContentsError::NoSoa));
        // Two octets of a label do not fit in front of a name of 254.
        let long = [&["a".repeat(63)][..], &["b".repeat(63), "c".repeat(63), "d".repeat(60)]].concat().join(".");
        let long = ZoneName::new(Name::parse(&long).unwrap());
        assert_eq!(long.as_name().as_wire().len(), 254);
        let found = ZoneContents::from_octets(long, zone.octets().to_vec());
        assert_eq!(found.err(), Some(ContentsError::Disordered));
        // No flipped bit makes it panic.
        for at in 0..zone.octets().len() {
            for bit in 0..8 {
                let mut octets = zone.octets().to_vec();
                octets[at] ^= 1 << bit;
                if let Ok(other) = ZoneContents::from_octets(zone.apex().clone(), octets) {
                    assert!(other.rrsets().all(|rrset| !rrset.owner().to_string().is_empty()));
                }
            }
        }
    }
}
