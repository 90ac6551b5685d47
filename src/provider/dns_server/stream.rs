//! The messages that answer a question for a transfer, whole or incremental: the checks of each message, and of any
//! record.
//!
//! Comes in: the messages of one connection, in order. Goes out: where the records of each begin, once the message
//! proved to be an answer to our question: the first and the last of them are signed, with at most 99 unsigned ones
//! between two signed ones (RFC 8945 section 5.3.1). Only the last signature proves them all
//! ([`AnswerStream::finish`]).
//!
//! Source: RFC 5936 section 2.2; RFC 8945.

use std::sync::Arc;

use domain::base::iana::{Class, Rcode};
use domain::base::message_builder::AdditionalBuilder;
use domain::base::{Message, Rtype};
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientSequence, Key};

use super::failure::ServerFailure;
use super::message::{self, HEADER, MessageHeader, RecordHead, bad, bad_wire, read_record};
use crate::dns::{NameBuffer, NameRef, WireOctets, is_zone_data};

/// The answers to one question.
pub struct AnswerStream {
    /// The ID of our question.
    id: u16,
    /// What it asks for.
    rtype: Rtype,
    /// The chain of signatures, where messages are signed.
    sequence: Option<ClientSequence<Arc<Key>>>,
    /// How many messages have come.
    pub messages: usize,
}

impl AnswerStream {
    /// Signs a question at the time `now`, where there is a key; gives it as it is sent.
    pub fn start(
        mut question: AdditionalBuilder<Vec<u8>>,
        rtype: Rtype,
        key: Option<Arc<Key>>,
        now: Time48,
    ) -> (AnswerStream, Vec<u8>) {
        let id = question.header().id();
        let sequence = key.map(|key| ClientSequence::request(key, &mut question, now).expect("a TSIG record fits"));
        (AnswerStream { id, rtype, sequence, messages: 0 }, question.finish())
    }

    /// Takes the next message, which came at the time `now`, without its records; returns its header, and where they
    /// begin.
    /// `name` is room for a name.
    pub fn open(
        &mut self,
        octets: &mut Vec<u8>,
        apex: NameRef<'_>,
        name: &mut NameBuffer,
        now: Time48,
    ) -> Result<(MessageHeader, usize), ServerFailure> {
        let header = MessageHeader::read(octets).ok_or_else(|| bad("a message shorter than its header"))?;
        self.verify(octets, now)?;
        self.messages += 1;
        self.check_header(&header, octets)?;
        let first = self.messages == 1;
        // Ours in the first message, ours or none in the others (RFC 5936 section 2.2.2).
        let at = match header.counts[0] {
            0 if !first => HEADER,
            1 => message::check_question(octets, apex, self.rtype, name)?,
            _ => return Err(bad("a number of questions other than one")),
        };
        Ok((header, at))
    }

    /// Checks that the last message was signed, where messages are.
    pub fn finish(self) -> Result<(), ServerFailure> {
        self.sequence.map_or(Ok(()), |sequence| sequence.done().map_err(|_| ServerFailure::Unsigned))
    }

    /// Checks the signature of a message, or that it needs none. The TSIG record stays where it is, uncounted.
    fn verify(&mut self, octets: &mut Vec<u8>, now: Time48) -> Result<(), ServerFailure> {
        let Some(sequence) = &mut self.sequence else { return Ok(()) };
        let mut message = Message::from_octets(std::mem::take(octets)).map_err(|_| bad("no message"))?;
        let checked = sequence.answer(&mut message, now);
        *octets = message.into_octets();
        checked.map_err(|error| message::explain_signature(error, octets, now))
    }

    /// Checks that a message is a good answer to our question. `before` is its header before the signature was taken
    /// off.
    fn check_header(&self, before: &MessageHeader, octets: &[u8]) -> Result<(), ServerFailure> {
        // Taking the signature off restored the ID that was signed.
        let header = MessageHeader::read(octets).ok_or_else(|| bad("no header"))?;
        if header.id != self.id {
            return Err(bad("the answer to another question"));
        }
        if !header.is_whole_answer() {
            return Err(bad("a message that is not a whole answer"));
        }
        if header.rcode() != Rcode::NOERROR {
            let keyed = self.sequence.is_some();
            return Err(ServerFailure::Refused { rcode: header.rcode(), keyed, proven: keyed });
        }
        if before.counts[2] != 0 {
            return Err(bad("records in the authority section"));
        }
        if before.counts[1] == 0 {
            return Err(bad("no record in it"));
        }
        Ok(())
    }
}

/// Reads the canonical RDATA of a record of the answer section into `rdata`, which is overwritten; the record must be
/// one that a zone may have.
pub fn read_rdata(octets: &[u8], record: &RecordHead, rdata: &mut Vec<u8>) -> Result<(), ServerFailure> {
    let RecordHead { rtype, start, end, .. } = *record;
    check_kind(record)?;
    rdata.clear();
    WireOctets::message(octets).append_rdata(rtype, start..end, rdata).map_err(bad_wire)
}

/// Checks that a record of the answer section is one that a zone may have.
pub fn check_kind(record: &RecordHead) -> Result<(), ServerFailure> {
    let RecordHead { rtype, class, .. } = *record;
    if class != Class::IN.to_int() {
        return Err(bad("a record of a class other than IN"));
    }
    if !is_zone_data(rtype) {
        return Err(bad(format!("a record of type {rtype}, which no zone has")));
    }
    Ok(())
}

/// Checks what follows the records of the answer section: the signature, and perhaps EDNS. They must be records, and
/// nothing may follow them.
pub fn check_end(
    header: &MessageHeader,
    octets: &[u8],
    mut at: usize,
    name: &mut NameBuffer,
) -> Result<(), ServerFailure> {
    for _ in 0..header.counts[3] {
        at = read_record(octets, at, name)?.end;
    }
    if at == octets.len() { Ok(()) } else { Err(bad("bytes after the last record")) }
}
