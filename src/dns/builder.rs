//! A zone that is being built from records in any order.
//!
//! Comes in: records, read or still in a message. Goes out: the zone's contents, or why they are not a zone.

use std::ops::Range;

use domain::base::{Rtype, Serial};
use xxhash_rust::xxh3::xxh3_64;

use super::contents::{RecordPlace, ZoneContents};
use super::directory::HashDirectory;
use super::mark::RrsetMark;
use super::name::{Name, NameRef, ZoneName};
use super::record::{ArenaRecord, ContentsError, soa_serial};
use super::ttl::Ttl;
use super::wire::{WireError, WireOctets};

/// Collects the records of one zone in any order.
#[derive(Debug)]
pub struct ZoneBuilder {
    /// The zone.
    apex: ZoneName,
    /// The records so far.
    room: ZoneRoom,
    /// The serial of the SOA, once seen.
    serial: Option<Serial>,
    /// Whose RRsets are, by their names and types.
    marks: Vec<(Name, Rtype, RrsetMark)>,
}

/// Memory for the records of a zone that is being built; the next zone may use it again.
#[derive(Debug, Default)]
pub struct ZoneRoom {
    /// Records one after another: see [`ArenaRecord`].
    arena: Vec<u8>,
    /// Each record.
    index: Vec<RecordSlot>,
}

impl ZoneRoom {
    /// How many octets are allocated.
    pub fn octets(&self) -> usize {
        self.arena.capacity() + self.index.capacity() * size_of::<RecordSlot>()
    }
}

/// The place of a record in a zone that is being built.
#[derive(Debug, Clone, Copy)]
struct RecordSlot {
    /// The hash of its owner name.
    hash: u64,
    /// Its first octet in the arena.
    start: u32,
    /// How many octets it has.
    length: u32,
}

/// A record that is still in a message.
#[derive(Debug, Clone)]
pub struct MessageRecord<'a> {
    /// The message.
    pub message: WireOctets<'a>,
    /// Where its owner name begins.
    pub at: usize,
    /// Its type.
    pub rtype: Rtype,
    /// Its TTL.
    pub ttl: Ttl,
    /// Where its RDATA are.
    pub rdata: Range<usize>,
}

/// Why a record of a message is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError {
    /// Its name or its RDATA cannot be read.
    Wire(WireError),
    /// It cannot be in the zone.
    Contents(ContentsError),
}

impl From<WireError> for PushError {
    fn from(error: WireError) -> PushError {
        PushError::Wire(error)
    }
}

impl From<ContentsError> for PushError {
    fn from(error: ContentsError) -> PushError {
        PushError::Contents(error)
    }
}

impl ZoneBuilder {
    /// Starts an empty zone.
    pub fn new(apex: ZoneName) -> ZoneBuilder {
        ZoneBuilder::within(ZoneRoom::default(), apex)
    }

    /// Starts an empty zone in the memory of another.
    pub fn within(mut room: ZoneRoom, apex: ZoneName) -> ZoneBuilder {
        room.arena.clear();
        room.index.clear();
        ZoneBuilder { apex, room, serial: None, marks: Vec::new() }
    }

    /// The zone that is being built.
    pub fn apex(&self) -> &ZoneName {
        &self.apex
    }

    /// Adds one record. `rdata` is uncompressed wire format with the names inside it in lower case.
    ///
    /// The same record twice counts once. Errors: [`ContentsError`], all but `NoSoa`.
    pub fn push(&mut self, owner: NameRef<'_>, rtype: Rtype, ttl: Ttl, rdata: &[u8]) -> Result<(), ContentsError> {
        let owner = owner.labels_above(self.apex.as_name()).ok_or(ContentsError::OutOfZone)?;
        let (rtype, ttl) = (rtype.to_int().to_be_bytes(), ttl.as_secs().to_be_bytes());
        let first = self.room.arena.len();
        ArenaRecord { owner, rtype, ttl, rdata }.append_to(&mut self.room.arena);
        self.enter(first)
    }

    /// Notes whose an RRset is, as its target keeps it with the RRset.
    pub fn mark(&mut self, owner: NameRef<'_>, rtype: Rtype, mark: RrsetMark) {
        self.marks.push((owner.to_name(), rtype, mark));
    }

    /// Adds one record of a message.
    ///
    /// Has the effect of [`ZoneBuilder::push`] without copying. Errors:
    /// [`PushError`].
    pub fn push_from(&mut self, record: MessageRecord<'_>) -> Result<(), PushError> {
        let first = self.room.arena.len();
        let appended = self.append_from(record);
        appended.inspect_err(|_| self.room.arena.truncate(first))?;
        Ok(self.enter(first)?)
    }

    /// Appends a record of a message to the arena; after an error the octets at its end are undefined.
    fn append_from(&mut self, record: MessageRecord<'_>) -> Result<(), PushError> {
        let MessageRecord { message, at, rtype, ttl, rdata } = record;
        let arena = &mut self.room.arena;
        let first = arena.len();
        arena.push(0);
        let owner = arena.len();
        message.append_lower_name(at, arena)?;
        let labels = NameRef::trusted(&arena[owner..]).labels_above(self.apex.as_name());
        let length = labels.ok_or(ContentsError::OutOfZone)?.len();
        arena.truncate(owner + length);
        arena[first] = length as u8;
        let [t0, t1] = rtype.to_int().to_be_bytes();
        let [a, b, c, d] = ttl.as_secs().to_be_bytes();
        arena.extend_from_slice(&[t0, t1, a, b, c, d, 0, 0]);
        let data = arena.len();
        message.append_rdata(rtype, rdata, arena)?;
        let length = arena.len() - data;
        arena[data - 2..data].copy_from_slice(&(length as u16).to_be_bytes());
        Ok(())
    }

    /// Enters the record at `first`, which is the last in the arena, into the index; after an error removes it.
    fn enter(&mut self, first: usize) -> Result<(), ContentsError> {
        let end = self.room.arena.len();
        let place = u32::try_from(first).and_then(|start| Ok((start, u32::try_from(end)?)));
        let (start, end) =
            place.map_err(|_| ContentsError::TooLarge).inspect_err(|_| self.room.arena.truncate(first))?;
        let record = ArenaRecord::at(&self.room.arena, start);
        if record.rtype == Rtype::SOA.to_int().to_be_bytes() {
            let serial = soa_serial(record.owner, record.rdata).and_then(|serial| match self.serial.replace(serial) {
                Some(earlier) if earlier != serial => Err(ContentsError::TwoSoas),
                _ => Ok(()),
            });
            serial.inspect_err(|_| self.room.arena.truncate(first))?;
        }
        let hash = xxh3_64(ArenaRecord::at(&self.room.arena, start).owner);
        self.room.index.push(RecordSlot { hash, start, length: end - start });
        Ok(())
    }

    /// Orders the records, drops repeats, and makes them searchable.
    ///
    /// Errors: `NoSoa`, because every zone has one.
    pub fn finish(self) -> Result<ZoneContents, ContentsError> {
        self.finish_and_leave().map(|(contents, _)| contents)
    }

    /// Does what [`ZoneBuilder::finish`] does, and returns its memory.
    pub fn finish_and_leave(self) -> Result<(ZoneContents, ZoneRoom), ContentsError> {
        let ZoneBuilder { apex, room: ZoneRoom { arena, mut index }, serial, marks } = self;
        let serial = serial.ok_or(ContentsError::NoSoa)?;
        let record = |start: u32| ArenaRecord::at(&arena, start);
        index.sort_unstable_by_key(|record| record.hash);
        for same_hash in index.chunk_by_mut(|a, b| a.hash == b.hash) {
            if same_hash.len() > 1 {
                same_hash.sort_unstable_by(|a, b| record(a.start).sort_key().cmp(&record(b.start).sort_key()));
            }
        }
        index.dedup_by(|b, a| a.hash == b.hash && record(a.start).identity() == record(b.start).identity());
        let directory = HashDirectory::new(index.iter().map(|record| record.hash));
        // Records that are next to each other in order are read together, so they are laid side by side.
        let mut ordered = Vec::with_capacity(arena.len());
        let mut places = Vec::with_capacity(index.len());
        for RecordSlot { hash, start, length } in &index {
            let (start, length) = (*start as usize, *length as usize);
            places.push(RecordPlace::new(*hash, ordered.len() as u32));
            ordered.extend_from_slice(&arena[start..start + length]);
        }
        let mut contents = ZoneContents::of_ordered(apex, serial, ordered, places, directory);
        for (owner, rtype, mark) in marks {
            contents.mark(owner.as_name(), rtype, mark);
        }
        Ok((contents, ZoneRoom { arena, index }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::name::Name;

    #[test]
    fn a_record_out_of_a_message_is_taken_as_one_that_was_read() {
        let apex = Name::parse("1.0.0.2.ip6.arpa").unwrap();
        // The apex at 0, a name of the zone at 19, one outside at 40, and RDATA of a PTR behind it.
        let mut message = apex.as_wire().to_vec();
        let pointer = |place: usize| [0xc0, place as u8];
        let inside = message.len();
        message.extend_from_slice(b"\x01A\x01b\x01C\x01d\x01e");
        message.extend_from_slice(&pointer(0));
        let outside = message.len();
        message.extend_from_slice(b"\x01x");
        message.extend_from_slice(&pointer(2));
        let rdata = message.len()..message.len() + 7;
        message.extend_from_slice(b"\x04Host");
        message.extend_from_slice(&pointer(inside + 4));
        let wire = WireOctets::message(&message);
        let mut builders = [(); 2].map(|()| ZoneBuilder::new(ZoneName::new(apex.clone())));
        let mut push = |at: usize, rtype: Rtype, rdata: Range<usize>| {
            let [one, other] = &mut builders;
            let mut name = crate::dns::NameBuffer::default();
            let mut canonical = Vec::new();
            let read =
                wire.read_name(at, &mut name).and_then(|_| wire.append_rdata(rtype, rdata.clone(), &mut canonical));
            let read = read.map_err(PushError::Wire);
            let pushed = read.and_then(|()| Ok(one.push(name.as_name(), rtype, Ttl::DEFAULT, &canonical)?));
            assert_eq!(other.push_from(MessageRecord { message: wire, at, rtype, ttl: Ttl::DEFAULT, rdata }), pushed);
            assert_eq!((&one.room.arena, one.room.index.len()), (&other.room.arena, other.room.index.len()));
            pushed
        };
        assert_eq!(push(inside, Rtype::PTR, rdata.clone()), Ok(()));
        assert_eq!(push(inside + 2, Rtype::PTR, rdata.clone()), Ok(()));
        assert_eq!(push(0, Rtype::TXT, rdata.start..rdata.start + 5), Ok(()));
        assert_eq!(push(outside, Rtype::PTR, rdata.clone()), Err(PushError::Contents(ContentsError::OutOfZone)));
        assert_eq!(push(inside, Rtype::PTR, rdata.start..rdata.end - 1), Err(PushError::Wire(WireError::Short)));
        assert_eq!(push(inside, Rtype::A, rdata.clone()), Err(PushError::Wire(WireError::Trailing)));
        assert_eq!(push(1, Rtype::A, 0..4), Err(PushError::Wire(WireError::Short)));
        assert!(push(inside, Rtype::SOA, 0..message.len()).is_err());
        assert_eq!(builders[1].room.index.len(), 3);
    }

    #[test]
    fn data_outside_and_a_second_soa_are_refused() {
        let apex = Name::parse("example.net").unwrap();
        let mut builder = ZoneBuilder::new(ZoneName::new(apex.clone()));
        let outside = Name::parse("example.org").unwrap();
        assert_eq!(builder.push(outside.as_name(), Rtype::A, Ttl::DEFAULT, &[0; 4]), Err(ContentsError::OutOfZone));
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        assert_eq!(builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[1; 22]), Err(ContentsError::TwoSoas));
        assert_eq!(ZoneBuilder::new(ZoneName::new(apex)).finish().err(), Some(ContentsError::NoSoa));
    }
}
