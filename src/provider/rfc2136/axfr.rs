//! Zone transfers without their input and output: messages in, a whole zone or an error out.
//!
//! Comes in: the messages of one connection, in order. Goes out: the zone's contents, once the stream is proven whole:
//! every message an answer to our question, the first and last of them signed and no more than 99 unsigned ones between
//! two signed (RFC 8945 section 5.3.1), one SOA at both ends and nothing after it. Nothing of a message is ever passed
//! over, and nothing of a transfer is to be used before [`Transfer::finish`] gives it: only the last signature proves it.
//!
//! Source: RFC 5936; RFC 8945.

use std::sync::Arc;

use domain::base::iana::{Class, Rcode, TsigRcode};
use domain::base::name::Name as LibraryName;
use domain::base::{Message, MessageBuilder};
use domain::rdata::tsig::{Time48, Tsig};
use domain::tsig::{ClientSequence, Key, ValidationError};

use super::failure::{Failure, Progress};
use crate::dns::contents::ContentsError;
use crate::dns::{NameBuffer, Rtype, Ttl, Wire, WireError, ZoneBuilder, ZoneContents, ZoneName};
use crate::provider::is_zone_data;

/// The length of a message's header (RFC 1035 section 4.1.1).
const HEADER: usize = 12;

/// What a header says of a message that is an answer: bit QR, and neither an operation code nor bit TC (same source).
const ANSWER: u16 = 0x8000;

/// The bits that [`ANSWER`] is about.
const ANSWER_BITS: u16 = 0x8000 | 0x7800 | 0x0200;

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
        let mut message = MessageBuilder::new_vec();
        message.header_mut().set_id(id);
        let mut message = message.question();
        let name = LibraryName::from_octets(zone.as_name().as_wire()).expect("names are wire format");
        message.push((name, Rtype::AXFR, Class::IN)).expect("a question fits");
        let mut message = message.additional();
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
        checked.map_err(|error| explain_signature(error, octets, now))
    }

    /// Checks that a message is a good answer to our question. `before` is its header before the signature was taken off.
    fn check_header(&self, before: &Header, octets: &[u8]) -> Result<(), Failure> {
        // Taking the signature off restored the ID that was signed.
        let header = Header::read(octets).ok_or_else(|| bad("no header"))?;
        if header.id != self.id {
            return Err(bad("the answer to another question"));
        }
        if header.flags & ANSWER_BITS != ANSWER {
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
        let end = Wire::message(octets).read_name(HEADER, &mut self.owner).map_err(bad_wire)?;
        let ours = [Rtype::AXFR.to_int().to_be_bytes(), Class::IN.to_int().to_be_bytes()].concat();
        let same = self.owner.as_name() == self.builder.apex().as_name() && octets.get(end..end + 4) == Some(&*ours);
        if same { Ok(end + 4) } else { Err(bad("the answer to another question")) }
    }

    /// Reads all records of a message, of which the first begins at `at`.
    fn read_records(&mut self, header: &Header, octets: &[u8], mut at: usize) -> Result<(), Failure> {
        for _ in 0..header.counts[1] {
            let record = self.read_record(octets, at)?;
            self.take_record(octets, &record)?;
            at = record.end;
            self.progress.records += 1;
        }
        // The signature, and perhaps EDNS; whatever they are, they must be records.
        for _ in 0..header.counts[3] {
            at = self.read_record(octets, at)?.end;
        }
        if at == octets.len() { Ok(()) } else { Err(bad("octets after the last record")) }
    }

    /// Reads what comes before the RDATA of the record at `at`; its name goes into `owner`.
    fn read_record(&mut self, octets: &[u8], at: usize) -> Result<Record, Failure> {
        let at = Wire::message(octets).read_name(at, &mut self.owner).map_err(bad_wire)?;
        let fixed: [u8; 10] = octets.get(at..at + 10).and_then(|fixed| fixed.try_into().ok()).ok_or_else(short)?;
        let [t0, t1, c0, c1, a, b, c, d, l0, l1] = fixed;
        let start = at + 10;
        let end = start + usize::from(u16::from_be_bytes([l0, l1]));
        if end > octets.len() {
            return Err(short());
        }
        Ok(Record {
            rtype: Rtype::from_int(u16::from_be_bytes([t0, t1])),
            class: u16::from_be_bytes([c0, c1]),
            ttl: Ttl::from_wire(u32::from_be_bytes([a, b, c, d])),
            start,
            end,
        })
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

/// The header of a message.
#[derive(Debug, Clone, Copy)]
struct Header {
    /// The ID.
    id: u16,
    /// All bits between the ID and the counts.
    flags: u16,
    /// How many questions there are, and records in the three sections.
    counts: [u16; 4],
}

impl Header {
    /// Reads it; `None` where the message is shorter.
    fn read(octets: &[u8]) -> Option<Header> {
        let number = |at: usize| Some(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]));
        let counts = [number(4)?, number(6)?, number(8)?, number(10)?];
        Some(Header { id: number(0)?, flags: number(2)?, counts })
    }

    /// The answer's error.
    fn rcode(&self) -> Rcode {
        Rcode::masked_from_int((self.flags & 0xf) as u8)
    }
}

/// What comes before the RDATA of a record, but its owner name.
#[derive(Debug, Clone, Copy)]
struct Record {
    /// The type.
    rtype: Rtype,
    /// The class.
    class: u16,
    /// The TTL.
    ttl: Ttl,
    /// Where the RDATA begin.
    start: usize,
    /// Where the record ends.
    end: usize,
}

/// The failure of a message that breaks the rules.
fn bad(what: impl Into<String>) -> Failure {
    Failure::BadMessage(what.into())
}

/// The failure of a message that ends too early.
fn short() -> Failure {
    bad_wire(WireError::Short)
}

/// The failure of a name or RDATA.
fn bad_wire(error: WireError) -> Failure {
    bad(error.to_string())
}

/// Says what is wrong with a signature.
///
/// An answer that tells an error about our signature is often unsigned, and one that tells of our clock does not verify
/// with this library (0.12.3 hashes the server's time with two octets too many). What it says is taken for the text of
/// our message and nothing else.
fn explain_signature(error: ValidationError, octets: &[u8], now: Time48) -> Failure {
    let header = Header::read(octets);
    let rcode = header.map_or(Rcode::NOERROR, |header| header.rcode());
    let tsig = signature(octets);
    let said = tsig.as_ref().filter(|_| rcode == Rcode::NOTAUTH).map(|tsig| tsig.error);
    match (said, error) {
        (Some(TsigRcode::BADKEY), _) => Failure::BadKey { by_server: true },
        (Some(TsigRcode::BADSIG), _) => Failure::BadSignature { by_server: true },
        (Some(TsigRcode::BADTIME), _) => {
            let server = tsig.and_then(|tsig| tsig.server_time);
            Failure::BadTime { ahead: server.map(|server| seconds(server) - seconds(now)) }
        }
        (_, ValidationError::ServerUnsigned) if rcode != Rcode::NOERROR => {
            Failure::Refused { rcode, keyed: true, proven: false }
        }
        (_, ValidationError::ServerUnsigned | ValidationError::TooManyUnsigned) => Failure::Unsigned,
        (_, ValidationError::BadTime) => {
            Failure::BadTime { ahead: tsig.map(|tsig| seconds(tsig.time_signed) - seconds(now)) }
        }
        (_, ValidationError::BadKey | ValidationError::BadAlg) => Failure::BadKey { by_server: false },
        (_, ValidationError::BadSig | ValidationError::BadTrunc) => Failure::BadSignature { by_server: false },
        (_, other) => bad(format!("its signature: {other}")),
    }
}

/// What a TSIG record says, unverified.
struct Signature {
    /// The error.
    error: TsigRcode,
    /// When the message was signed.
    time_signed: Time48,
    /// The server's time, where the error is about ours.
    server_time: Option<Time48>,
}

/// The TSIG record of a message.
fn signature(octets: &[u8]) -> Option<Signature> {
    let message = Message::from_octets(octets).ok()?;
    let record = message.additional().ok()?.filter_map(Result::ok).last()?;
    let record = record.into_record::<Tsig<_, _>>().ok()??;
    let tsig = record.data();
    Some(Signature { error: tsig.error(), time_signed: tsig.time_signed(), server_time: tsig.other_time() })
}

/// A time of 48 bits in seconds.
fn seconds(time: Time48) -> i64 {
    u64::from(time) as i64
}
