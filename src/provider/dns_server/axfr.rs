//! Zone transfers without their input and output: messages in, a whole zone or an error out.
//!
//! Comes in: the messages of one connection, in order. Goes out: the zone's contents, once the stream is proven whole:
//! every message is an answer to our question, the first and the last of them are signed with at most 99 unsigned ones
//! between two signed ones (RFC 8945 section 5.3.1), there is one SOA at both ends and nothing after it. No part of a
//! message is ignored, and no part of a transfer is used before [`ZoneTransfer::finish`] returns it: only the last
//! signature proves it.
//!
//! Source: RFC 5936; RFC 8945.

use std::sync::Arc;

use domain::rdata::tsig::Time48;
use domain::tsig::Key;

use super::failure::{ServerFailure, TransferProgress};
use super::message::{self, MessageHeader, RecordHead, bad, bad_wire, read_record, skim_record};
use super::stream::{self, AnswerStream};
use crate::dns::{
    ContentsError, MessageRecord, NameBuffer, PushError, Rtype, Ttl, WireOctets, ZoneBuilder, ZoneContents, ZoneName,
    ZoneRoom,
};

/// The transfer of one zone.
pub struct ZoneTransfer {
    /// The part of the zone that has arrived.
    builder: ZoneBuilder,
    /// The answers to our question.
    stream: AnswerStream,
    /// The TTL and RDATA of the SOA that it begins with.
    opening: Option<(Ttl, Vec<u8>)>,
    /// Whether the SOA came that it ends with.
    ended: bool,
    /// How much has come.
    progress: TransferProgress,
    /// Room for an owner name.
    owner: NameBuffer,
    /// Room for RDATA.
    rdata: Vec<u8>,
}

impl ZoneTransfer {
    /// Starts a transfer: gives the question to send, signed at the time `now` where there is a key.
    pub fn start(zone: &ZoneName, key: Option<Arc<Key>>, id: u16, now: Time48) -> (ZoneTransfer, Vec<u8>) {
        let question = message::question(zone.as_name(), Rtype::AXFR, id);
        let (stream, question) = AnswerStream::start(question, Rtype::AXFR, key, now);
        (ZoneTransfer::of(zone, stream), question)
    }

    /// Takes the answers to a question that was asked already.
    pub fn of(zone: &ZoneName, stream: AnswerStream) -> ZoneTransfer {
        ZoneTransfer {
            builder: ZoneBuilder::new(zone.clone()),
            stream,
            opening: None,
            ended: false,
            progress: TransferProgress::default(),
            owner: NameBuffer::default(),
            rdata: Vec::new(),
        }
    }

    /// Has the zone built in room that another left; nothing may have come yet.
    pub fn within(self, room: ZoneRoom) -> ZoneTransfer {
        ZoneTransfer { builder: ZoneBuilder::within(room, self.builder.apex().clone()), ..self }
    }

    /// How much has come.
    pub fn progress(&self) -> TransferProgress {
        self.progress
    }

    /// Whether the last message has come.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Takes the next message, which came at the time `now`; leaves `message` as room for another.
    pub fn accept(&mut self, message: &mut Vec<u8>, now: Time48) -> Result<(), ServerFailure> {
        if self.ended {
            return Err(bad("a message after the last"));
        }
        let opened = self.stream.open(message, self.builder.apex().as_name(), &mut self.owner, now);
        self.progress.messages = self.stream.messages;
        let (header, end) = opened?;
        self.read_records(&header, message, end)
    }

    /// The zone, if all of it came.
    pub fn finish(self) -> Result<ZoneContents, ServerFailure> {
        self.finish_and_leave().map(|(contents, _)| contents)
    }

    /// The zone, if all of it came, with the room that it was built in.
    pub fn finish_and_leave(self) -> Result<(ZoneContents, ZoneRoom), ServerFailure> {
        if !self.ended {
            return Err(ServerFailure::Cut { progress: self.progress });
        }
        self.stream.finish()?;
        self.builder.finish_and_leave().map_err(|error| bad(error.to_string()))
    }

    /// Reads all records of a message, of which the first begins at `at`.
    fn read_records(&mut self, header: &MessageHeader, octets: &[u8], mut at: usize) -> Result<(), ServerFailure> {
        for _ in 0..header.counts[1] {
            let record = skim_record(octets, at)?;
            match record.rtype {
                Rtype::SOA => self.take_soa(octets, at)?,
                _ => self.take_record(octets, at, &record)?,
            }
            at = record.end;
            self.progress.records += 1;
        }
        stream::check_end(header, octets, at, &mut self.owner)
    }

    /// Takes one record of the answer section, which begins at `at` and is not a SOA.
    fn take_record(&mut self, octets: &[u8], at: usize, record: &RecordHead) -> Result<(), ServerFailure> {
        let RecordHead { rtype, ttl, start, end, .. } = *record;
        self.check_place()?;
        stream::check_kind(record)?;
        if self.opening.is_none() {
            return Err(bad("the first record is not the zone's SOA"));
        }
        let message = WireOctets::message(octets);
        let record = MessageRecord { message, at, rtype, ttl, rdata: start..end };
        self.builder.push_from(record).map_err(|error| match error {
            PushError::Wire(error) => bad_wire(error),
            PushError::Contents(ContentsError::OutOfZone) => {
                // It was read before.
                let read = message.read_name(at, &mut self.owner);
                read.map_or_else(bad_wire, |_| ServerFailure::OutsideZone(self.owner.as_name().to_string()))
            }
            PushError::Contents(other) => bad(other.to_string()),
        })
    }

    /// Checks that the transfer has not ended.
    fn check_place(&self) -> Result<(), ServerFailure> {
        if self.ended { Err(bad("a record after the closing SOA")) } else { Ok(()) }
    }

    /// Takes a SOA of the answer section, which begins at `at`: that of the zone opens and closes the transfer.
    fn take_soa(&mut self, octets: &[u8], at: usize) -> Result<(), ServerFailure> {
        let record = read_record(octets, at, &mut self.owner)?;
        let RecordHead { rtype, ttl, .. } = record;
        self.check_place()?;
        stream::read_rdata(octets, &record, &mut self.rdata)?;
        if self.owner.as_name() == self.builder.apex().as_name() {
            match &self.opening {
                None => self.opening = Some((ttl, self.rdata.clone())),
                Some((opening_ttl, opening)) if *opening_ttl == ttl && *opening == self.rdata => {
                    self.ended = true;
                    return Ok(());
                }
                Some(_) => return Err(ServerFailure::SoaChanged),
            }
        } else if self.opening.is_none() {
            return Err(bad("the first record is not the zone's SOA"));
        }
        self.builder.push(self.owner.as_name(), rtype, ttl, &self.rdata).map_err(|error| match error {
            ContentsError::OutOfZone => ServerFailure::OutsideZone(self.owner.as_name().to_string()),
            other => bad(other.to_string()),
        })
    }
}
