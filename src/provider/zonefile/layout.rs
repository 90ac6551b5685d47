//! The places of a zone's records in its files, and the fields that they leave out.
//!
//! Comes in: each record of the zone with its place, as the files are read. Goes out: what an edit of the main file
//! needs to know. Pure.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::parse::{EntryPlace, FileRecord, TtlFrom};
use crate::diag::{FileId, Origin};
use crate::dns::{Name, Rdata, RdataRef, Rtype, Ttl};

/// The owner name and type of an RRset.
pub type LayoutKey = (Name, Rtype);

/// The records of one zone, by their places.
#[derive(Debug)]
pub struct ZoneLayout {
    /// The zone's main file.
    main: FileId,
    /// The RRsets of which the data, and the places in included files, are kept.
    wanted: HashSet<LayoutKey>,
    /// The records of the main file, in its order.
    pub lines: Vec<RecordLine>,
    /// The places of records of the wanted RRsets, or of the SOA, in an included file: the first of each.
    pub included: HashMap<LayoutKey, Origin>,
    /// The TTL that a record of an included file said last, since the last record of the main file.
    included_ttl: Option<Ttl>,
}

/// One record of the main file: its lines, and its parts.
#[derive(Debug)]
pub struct RecordLine {
    /// The octets of its lines, the last end of line included.
    pub range: Range<usize>,
    /// The owner name.
    pub owner: Name,
    /// The type.
    pub rtype: Rtype,
    /// The TTL, given or taken over.
    pub ttl: Ttl,
    /// Which of these.
    pub ttl_from: TtlFrom,
    /// The octets of the owner name; none where it is that of the record before.
    pub owner_at: Option<Range<usize>>,
    /// The octets of the TTL; none where it is taken over.
    pub ttl_at: Option<Range<usize>>,
    /// The first octet after the owner name that is not a blank: of TTL, class or type.
    pub head_at: usize,
    /// The octets of the type.
    pub rtype_at: Range<usize>,
    /// Whether the class is said.
    pub has_class: bool,
    /// The first octet of the data, its quote included, or the one after the type, where there are no data.
    pub rdata_at: usize,
    /// The octets of the serial, in a SOA whose data are fields.
    pub serial_at: Option<Range<usize>>,
    /// The TTL that a record said last in the files that are included right before this one.
    pub included_ttl: Option<Ttl>,
    /// The data, where the RRset is to be edited.
    pub rdata: Option<Rdata>,
}

/// The number of the serial among the fields of a SOA (RFC 1035 section 3.3.13).
const SERIAL: usize = 2;

/// How many fields a SOA has.
const SOA_FIELDS: usize = 7;

impl ZoneLayout {
    /// Starts with no records; `wanted` are the RRsets that are to be edited.
    pub fn new(main: FileId, wanted: HashSet<LayoutKey>) -> ZoneLayout {
        ZoneLayout { main, wanted, lines: Vec::new(), included: HashMap::new(), included_ttl: None }
    }

    /// Takes the next record.
    pub fn note(&mut self, record: &FileRecord<'_>, place: &EntryPlace<'_>) {
        let key = (record.owner.to_name(), record.rtype);
        if place.file() == self.main {
            let is_wanted = self.wanted.contains(&key);
            let mut line = RecordLine::new(key.0, record, place);
            line.included_ttl = self.included_ttl.take();
            line.rdata = is_wanted.then(|| RdataRef { rtype: record.rtype, octets: record.rdata }.to_rdata());
            self.lines.push(line);
            return;
        }
        if record.ttl_from == TtlFrom::Record {
            self.included_ttl = Some(record.ttl);
        }
        if record.rtype == Rtype::SOA || self.wanted.contains(&key) {
            self.included.entry(key).or_insert(place.origin());
        }
    }
}

impl RecordLine {
    /// Keeps the needed fields of a record.
    fn new(owner: Name, record: &FileRecord<'_>, place: &EntryPlace<'_>) -> RecordLine {
        let head = place.head();
        let rtype_at = head.rtype.range();
        let first = [head.ttl, head.class, Some(head.rtype)].into_iter().flatten().map(|token| token.range().start);
        let is_soa = record.rtype == Rtype::SOA && head.rdata.len() == SOA_FIELDS;
        RecordLine {
            range: place.range(),
            owner,
            rtype: record.rtype,
            ttl: record.ttl,
            ttl_from: record.ttl_from,
            owner_at: head.owner.map(|token| token.range()),
            ttl_at: head.ttl.map(|token| token.range()),
            head_at: first.min().expect("a record has a type"),
            has_class: head.class.is_some(),
            rdata_at: head.rdata.first().map_or(rtype_at.end, |token| token.range().start - usize::from(token.quoted)),
            rtype_at,
            serial_at: head.rdata.get(SERIAL).filter(|_| is_soa).map(|token| token.range()),
            included_ttl: None,
            rdata: None,
        }
    }
}
