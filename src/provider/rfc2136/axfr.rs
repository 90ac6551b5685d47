//! Zone transfers without their input and output: messages in, a whole zone or an error out.
//!
//! Comes in: the messages of one connection, in order. Goes out: the zone's contents, once the stream is proven whole:
//! every message an answer to our question, the first and last of them signed and no more than 99 unsigned ones between
//! two signed (RFC 8945 section 5.3.1), one SOA at both ends and nothing after it. Nothing of a message is ever passed
//! over, and nothing of a transfer is to be used before [`Transfer::finish`] gives it: only the last signature proves it.
//!
//! Source: RFC 5936; RFC 8945.

use std::sync::Arc;

use domain::base::Message;
use domain::base::iana::{Class, Rcode};
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientSequence, Key};

use super::failure::{Failure, Progress};
use super::message::{self, HEADER, Header, Record, bad, bad_wire, read_record};
use crate::dns::contents::ContentsError;
use crate::dns::{NameBuffer, Rtype, Ttl, Wire, ZoneBuilder, ZoneContents, ZoneName};
use crate::provider::is_zone_data;

/// The transfer of one zone.
pub struct Transfer {
    /// What has come of the zone.
    builder: ZoneBuilder,
    /// The ID of our question.
    id: u16,
    /// The chain of signatures, where messages are signed.
    sequence: Option<ClientSequence<Arc<Key>>>,
    /// The TTL and RDATA of the SOA that it begins with.
    opening: Option<(Ttl, Vec<u8>)>,
    /// Whether the SOA came that it ends with.
    ended: bool,
    /// How much has come.
    progress: Progress,
    /// Room for an owner name.
    owner: NameBuffer,
    /// Room for RDATA.
    rdata: Vec<u8>,
}

impl Transfer {
    /// Starts a transfer: gives the question to send, signed at the time `now` where there is a key.
    pub fn start(zone: &ZoneName, key: Option<Arc<Key>>, id: u16, now: Time48) -> (Transfer, Vec<u8>) {
        let mut message = message::question(zone.as_name(), Rtype::AXFR, id);
        let sequence = key.map(|key| ClientSequence::request(key, &mut message, now).expect("a TSIG record fits"));
        let transfer = Transfer {
            builder: ZoneBuilder::new(zone.clone()),
            id,
            sequence,
            opening: None,
            ended: false,
            progress: Progress::default(),
            owner: NameBuffer::default(),
            rdata: Vec::new(),
        };
        (transfer, message.finish())
    }

    /// How much has come.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether the last message has come.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Takes the next message, which came at the time `now`; leaves `message` as room for another.
    pub fn accept(&mut self, message: &mut Vec<u8>, now: Time48) -> Result<(), Failure> {
        if self.ended {
            return Err(bad("a message after the last"));
        }
        let header = Header::read(message).ok_or_else(|| bad("a message shorter than its header"))?;
        self.verify(message, now)?;
        self.progress.messages += 1;
        self.check_header(&header, message)?;
        let end = self.read_question(&header, message)?;
        self.read_records(&header, message, end)
    }

    /// The zone, if all of it came.
    pub fn finish(self) -> Result<ZoneContents, Failure> {
        if !self.ended {
            return Err(Failure::Cut { progress: self.progress });
        }
        if let Some(sequence) = self.sequence {
            sequence.done().map_err(|_| Failure::Unsigned)?;
        }
        self.builder.finish().map_err(|error| bad(error.to_string()))
    }

    /// Checks the signature of a message, or that it needs none. The TSIG record stays where it is, uncounted.
    fn verify(&mut self, octets: &mut Vec<u8>, now: Time48) -> Result<(), Failure> {
        let Some(sequence) = &mut self.sequence else { return Ok(()) };
        let mut message = Message::from_octets(std::mem::take(octets)).map_err(|_| bad("no message"))?;
        let checked = sequence.answer(&mut message, now);
        *octets = message.into_octets();
        checked.map_err(|error| message::explain_signature(error, octets, now))
    }

    /// Checks that a message is a good answer to our question. `before` is its header before the signature was taken off.
    fn check_header(&self, before: &Header, octets: &[u8]) -> Result<(), Failure> {
        // Taking the signature off restored the ID that was signed.
        let header = Header::read(octets).ok_or_else(|| bad("no header"))?;
        if header.id != self.id {
            return Err(bad("the answer to another question"));
        }
        if !header.is_whole_answer() {
            return Err(bad("a message that is no whole answer"));
        }
        if header.rcode() != Rcode::NOERROR {
            let keyed = self.sequence.is_some();
            return Err(Failure::Refused { rcode: header.rcode(), keyed, proven: keyed });
        }
        if before.counts[2] != 0 {
            return Err(bad("records in the authority section"));
        }
        if before.counts[1] == 0 {
            return Err(bad("no record in it"));
        }
        Ok(())
    }

    /// Checks the question section: ours in the first message, ours or none in the others (RFC 5936 section 2.2.2).
    fn read_question(&mut self, header: &Header, octets: &[u8]) -> Result<usize, Failure> {
        let first = self.progress.messages == 1;
        match header.counts[0] {
            0 if !first => return Ok(HEADER),
            1 => {}
            _ => return Err(bad("another number of questions than one")),
        }
        message::check_question(octets, (self.builder.apex().as_name(), Rtype::AXFR), &mut self.owner)
    }

    /// Reads all records of a message, of which the first begins at `at`.
    fn read_records(&mut self, header: &Header, octets: &[u8], mut at: usize) -> Result<(), Failure> {
        for _ in 0..header.counts[1] {
            let record = read_record(octets, at, &mut self.owner)?;
            self.take_record(octets, &record)?;
            at = record.end;
            self.progress.records += 1;
        }
        // The signature, and perhaps EDNS; whatever they are, they must be records.
        for _ in 0..header.counts[3] {
            at = read_record(octets, at, &mut self.owner)?.end;
        }
        if at == octets.len() { Ok(()) } else { Err(bad("octets after the last record")) }
    }

    /// Takes one record of the answer section.
    fn take_record(&mut self, octets: &[u8], record: &Record) -> Result<(), Failure> {
        let Record { rtype, class, ttl, start, end } = *record;
        if self.ended {
            return Err(bad("a record after the closing SOA"));
        }
        if class != Class::IN.to_int() {
            return Err(bad("a record of another class than IN"));
        }
        if !is_zone_data(rtype) {
            return Err(bad(format!("a record of type {rtype}, which no zone has")));
        }
        self.rdata.clear();
        Wire::message(octets).append_rdata(rtype, start..end, &mut self.rdata).map_err(bad_wire)?;
        if rtype == Rtype::SOA && self.owner.as_name() == self.builder.apex().as_name() {
            match &self.opening {
                None => self.opening = Some((ttl, self.rdata.clone())),
                Some((opening_ttl, opening)) if *opening_ttl == ttl && *opening == self.rdata => {
                    self.ended = true;
                    return Ok(());
                }
                Some(_) => return Err(Failure::SoaChanged),
            }
        } else if self.opening.is_none() {
            return Err(bad("the first record is not the zone's SOA"));
        }
        self.builder.push(self.owner.as_name(), rtype, ttl, &self.rdata).map_err(|error| match error {
            ContentsError::OutOfZone => Failure::OutsideZone(self.owner.as_name().to_string()),
            other => bad(other.to_string()),
        })
    }
}
