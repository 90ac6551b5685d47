//! Incoming messages: octets to header, questions and records; only their form is checked. Pure.
//!
//! RDATA are not read until they are needed, so that a fault in them can be answered with a signature.
//!
//! Source: RFC 1035 section 4.1; RFC 6891 section 6.1 for EDNS; RFC 8945 section 5.1 for the place of TSIG.

use std::ops::Range;

use domain::base::iana::{Class, Opcode};

use crate::dns::{Name, NameBuffer, Rdata, RdataRef, Rtype, WireError, WireOctets};

/// The length of a header.
const HEADER: usize = 12;

/// What a record takes between its name and its RDATA.
const FIXED: usize = 10;

/// Why octets are not requests that could be dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageFault {
    /// They are not requests at all, and get no answer: too short for a header, or an answer.
    NoRequest,
    /// They begin like a request, and go wrong then (FORMERR).
    Malformed,
}

impl From<WireError> for MessageFault {
    fn from(_: WireError) -> MessageFault {
        MessageFault::Malformed
    }
}

/// A request.
#[derive(Debug)]
pub struct DnsRequest<'m> {
    /// The whole message.
    octets: &'m [u8],
    /// What is wanted.
    pub opcode: Opcode,
    /// The first section: questions, or the zone of an update.
    pub questions: Vec<RequestQuestion>,
    /// The second: prerequisites, where this is an update.
    pub answer: Vec<RequestRecord>,
    /// The third: what an update is to do.
    pub authority: Vec<RequestRecord>,
    /// What the sender says of its abilities.
    pub edns: Option<Edns>,
    /// Whether it is signed; by whom, and whether rightly, is another question.
    pub is_signed: bool,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestQuestion {
    /// The name.
    pub name: Name,
    /// The type.
    pub qtype: Rtype,
    /// The class.
    pub qclass: Class,
}

/// A record of a request; its RDATA are still in the message.
#[derive(Debug, Clone)]
pub struct RequestRecord {
    /// The owner name.
    pub owner: Name,
    /// The type.
    pub rtype: Rtype,
    /// The class.
    pub class: Class,
    /// The TTL as it is in the message.
    pub ttl: u32,
    /// Where its RDATA are.
    rdata: Range<usize>,
}

impl RequestRecord {
    /// Whether it has no RDATA.
    pub fn is_empty(&self) -> bool {
        self.rdata.is_empty()
    }
}

/// The abilities of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edns {
    /// The longest answer that it takes over UDP, in octets.
    pub payload: u16,
    /// The version of EDNS that it speaks.
    pub version: u8,
}

impl<'m> DnsRequest<'m> {
    /// Reads a message, to its last octet.
    pub fn parse(octets: &'m [u8]) -> Result<DnsRequest<'m>, MessageFault> {
        let header = octets.get(..HEADER).ok_or(MessageFault::NoRequest)?;
        if header[2] & 0x80 != 0 {
            return Err(MessageFault::NoRequest);
        }
        let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let mut reader = MessageReader { octets, at: HEADER, name: NameBuffer::default() };
        // No client asks for two things at once, or updates two zones (RFC 9619 section 4, RFC 2136 section 3.1.1).
        // Answers repeat the question, and what repeats many is longer than a message may be.
        if count(4) > 1 {
            return Err(MessageFault::Malformed);
        }
        let questions = (0..count(4)).map(|_| reader.question()).collect::<Result<_, _>>()?;
        let mut section = |at| (0..count(at)).map(|_| reader.record()).collect::<Result<Vec<_>, _>>();
        let (answer, authority, additional) = (section(6)?, section(8)?, section(10)?);
        let misplaced = |record: &RequestRecord| record.rtype == Rtype::TSIG;
        let signed = additional.iter().position(misplaced);
        let is_last = signed.is_none_or(|place| place + 1 == additional.len());
        let options: Vec<&RequestRecord> = additional.iter().filter(|record| record.rtype == Rtype::OPT).collect();
        if reader.at != octets.len() || !is_last || options.len() > 1 || answer.iter().chain(&authority).any(misplaced)
        {
            return Err(MessageFault::Malformed);
        }
        let edns =
            options.first().map(|record| Edns { payload: record.class.to_int(), version: (record.ttl >> 16) as u8 });
        let opcode = Opcode::from_int(header[2] >> 3 & 0x0f);
        Ok(DnsRequest { octets, opcode, questions, answer, authority, edns, is_signed: signed.is_some() })
    }

    /// The RDATA of one of its records, canonical.
    pub fn rdata(&self, record: &RequestRecord) -> Result<Rdata, WireError> {
        let mut octets = Vec::with_capacity(record.rdata.len());
        WireOctets::message(self.octets).append_rdata(record.rtype, record.rdata.clone(), &mut octets)?;
        Ok(RdataRef { rtype: record.rtype, octets: &octets }.to_rdata())
    }

    /// The RDATA of one of its records, names in the letters that they are written with.
    pub fn written(&self, record: &RequestRecord) -> Result<Rdata, WireError> {
        let mut octets = Vec::with_capacity(record.rdata.len());
        WireOctets::message(self.octets).append_written(record.rtype, record.rdata.clone(), &mut octets)?;
        Ok(RdataRef { rtype: record.rtype, octets: &octets }.to_rdata())
    }
}

/// Reads a message from front to back.
struct MessageReader<'m> {
    /// The message.
    octets: &'m [u8],
    /// The next octet.
    at: usize,
    /// Room for a name.
    name: NameBuffer,
}

impl MessageReader<'_> {
    /// Reads a name.
    fn name(&mut self) -> Result<Name, MessageFault> {
        self.at = WireOctets::message(self.octets).read_name(self.at, &mut self.name)?;
        Ok(self.name.as_name().to_name())
    }

    /// Takes so many octets.
    fn take(&mut self, length: usize) -> Result<Range<usize>, MessageFault> {
        let range = self.at..self.at + length;
        self.octets.get(range.clone()).ok_or(MessageFault::Malformed)?;
        self.at = range.end;
        Ok(range)
    }

    /// Reads a number of 16 bits.
    fn number(&mut self) -> Result<u16, MessageFault> {
        let at = self.take(2)?.start;
        Ok(u16::from_be_bytes([self.octets[at], self.octets[at + 1]]))
    }

    /// Reads a question.
    fn question(&mut self) -> Result<RequestQuestion, MessageFault> {
        let name = self.name()?;
        Ok(RequestQuestion { name, qtype: Rtype::from_int(self.number()?), qclass: Class::from_int(self.number()?) })
    }

    /// Reads a record.
    fn record(&mut self) -> Result<RequestRecord, MessageFault> {
        let owner = self.name()?;
        if self.octets.len() < self.at + FIXED {
            return Err(MessageFault::Malformed);
        }
        let (rtype, class) = (Rtype::from_int(self.number()?), Class::from_int(self.number()?));
        let ttl = u32::from(self.number()?) << 16 | u32::from(self.number()?);
        let length = self.number()?;
        Ok(RequestRecord { owner, rtype, class, ttl, rdata: self.take(usize::from(length))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question for `a. A` with these counts of the other sections.
    fn question(counts: [u8; 3]) -> Vec<u8> {
        [&[0, 7, 1, 0, 0, 1, 0, counts[0], 0, counts[1], 0, counts[2]][..], b"\x01A\0\0\x01\0\x01"].concat()
    }

    /// An OPT record, or a TSIG record of no content.
    fn pseudo(rtype: u8) -> [u8; 11] {
        [0, 0, rtype, 4, 208, 0, 1, 0, 0, 0, 0]
    }

    #[test]
    fn a_question_is_read_to_its_end() {
        let octets = [&question([0, 0, 1])[..], &pseudo(41)].concat();
        let request = DnsRequest::parse(&octets).unwrap();
        assert_eq!(request.opcode, Opcode::QUERY);
        let name = Name::parse("a.").unwrap();
        assert_eq!(request.questions, [RequestQuestion { name, qtype: Rtype::A, qclass: Class::IN }]);
        assert_eq!(request.edns, Some(Edns { payload: 1232, version: 1 }));
        assert!(!request.is_signed);
    }

    #[test]
    fn what_is_no_request_is_not_answered() {
        assert_eq!(DnsRequest::parse(b"").unwrap_err(), MessageFault::NoRequest);
        assert_eq!(DnsRequest::parse(&[0; 11]).unwrap_err(), MessageFault::NoRequest);
        let mut answer = question([0, 0, 0]);
        answer[2] |= 0x80;
        assert_eq!(DnsRequest::parse(&answer).unwrap_err(), MessageFault::NoRequest);
    }

    #[test]
    fn every_cut_and_every_octet_too_many_is_malformed() {
        let whole = [&question([0, 0, 2])[..], &pseudo(41), &pseudo(250)].concat();
        assert!(DnsRequest::parse(&whole).unwrap().is_signed);
        for length in HEADER..whole.len() {
            assert_eq!(DnsRequest::parse(&whole[..length]).unwrap_err(), MessageFault::Malformed, "{length}");
        }
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(DnsRequest::parse(&longer).unwrap_err(), MessageFault::Malformed);
    }

    #[test]
    fn two_questions_are_malformed() {
        let mut octets = [&question([0, 0, 0])[..], b"\x01A\0\0\x01\0\x01"].concat();
        octets[5] = 2;
        assert_eq!(DnsRequest::parse(&octets).unwrap_err(), MessageFault::Malformed);
    }

    #[test]
    fn a_signature_stands_last_and_alone() {
        for records in [[pseudo(250), pseudo(41)], [pseudo(250), pseudo(250)], [pseudo(41), pseudo(41)]] {
            let octets = [&question([0, 0, 2])[..], &records.concat()].concat();
            assert_eq!(DnsRequest::parse(&octets).unwrap_err(), MessageFault::Malformed);
        }
        let octets = [&question([1, 0, 0])[..], &pseudo(250)].concat();
        assert_eq!(DnsRequest::parse(&octets).unwrap_err(), MessageFault::Malformed);
    }
}
