//! Single messages: questions, and the parts of answers that transfers and queries read alike.
//!
//! Comes in: octets. Goes out: headers, records without their RDATA, and errors in words. Pure.
//!
//! Source: RFC 1035 section 4.1; RFC 8945.

use domain::base::iana::{Class, Rcode, TsigRcode};
use domain::base::message_builder::AdditionalBuilder;
use domain::base::name::Name as LibraryName;
use domain::base::{Message, MessageBuilder};
use domain::rdata::tsig::{Time48, Tsig};
use domain::tsig::ValidationError;

use super::failure::ServerFailure;
use crate::dns::{NameBuffer, NameRef, Rtype, Ttl, WireError, WireOctets};

/// The length of a message's header (RFC 1035 section 4.1.1).
pub const HEADER: usize = 12;

/// The header bits of an answer: bit QR, and neither an operation code nor bit TC (same source).
const ANSWER: u16 = 0x8000;

/// The bits that [`ANSWER`] is about.
const ANSWER_BITS: u16 = 0x8000 | 0x7800 | 0x0200;

/// A message with one question, to which a signature may be added.
pub fn question(name: NameRef<'_>, rtype: Rtype, id: u16) -> AdditionalBuilder<Vec<u8>> {
    let mut message = MessageBuilder::new_vec();
    message.header_mut().set_id(id);
    let mut message = message.question();
    let name = LibraryName::from_octets(name.as_wire()).expect("names are wire format");
    message.push((name, rtype, Class::IN)).expect("a question fits");
    message.additional()
}

/// Checks that the first question of a message is for this name and type; gives where it ends. `room` is for its
/// name.
pub fn check_question(
    octets: &[u8],
    name: NameRef<'_>,
    rtype: Rtype,
    room: &mut NameBuffer,
) -> Result<usize, ServerFailure> {
    let end = WireOctets::message(octets).read_name(HEADER, room).map_err(bad_wire)?;
    let kind = [rtype.to_int().to_be_bytes(), Class::IN.to_int().to_be_bytes()].concat();
    let same = room.as_name() == name && octets.get(end..end + 4) == Some(&*kind);
    if same { Ok(end + 4) } else { Err(bad("the answer to another question")) }
}

/// Reads the fields before the RDATA of the record at `at`; its name goes into `owner`.
pub fn read_record(octets: &[u8], at: usize, owner: &mut NameBuffer) -> Result<RecordHead, ServerFailure> {
    let at = WireOctets::message(octets).read_name(at, owner).map_err(bad_wire)?;
    read_fixed(octets, at)
}

/// Reads the fields between owner name and RDATA of the record at `at`; its name is skipped.
pub fn skim_record(octets: &[u8], at: usize) -> Result<RecordHead, ServerFailure> {
    read_fixed(octets, WireOctets::message(octets).skip_name(at).map_err(bad_wire)?)
}

/// Reads what of a record begins at `at`, behind its owner name, and ends before its RDATA.
fn read_fixed(octets: &[u8], at: usize) -> Result<RecordHead, ServerFailure> {
    let fixed: [u8; 10] = octets.get(at..at + 10).and_then(|fixed| fixed.try_into().ok()).ok_or_else(short)?;
    let [t0, t1, c0, c1, a, b, c, d, l0, l1] = fixed;
    let start = at + 10;
    let end = start + usize::from(u16::from_be_bytes([l0, l1]));
    if end > octets.len() {
        return Err(short());
    }
    Ok(RecordHead {
        rtype: Rtype::from_int(u16::from_be_bytes([t0, t1])),
        class: u16::from_be_bytes([c0, c1]),
        ttl: Ttl::from_wire(u32::from_be_bytes([a, b, c, d])),
        start,
        end,
    })
}

/// The header of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageHeader {
    /// The ID.
    pub id: u16,
    /// All bits between the ID and the counts.
    pub flags: u16,
    /// How many questions there are, and records in the three sections.
    pub counts: [u16; 4],
}

impl MessageHeader {
    /// Reads it; `None` where the message is shorter.
    pub fn read(octets: &[u8]) -> Option<MessageHeader> {
        let number = |at: usize| Some(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]));
        let counts = [number(4)?, number(6)?, number(8)?, number(10)?];
        Some(MessageHeader { id: number(0)?, flags: number(2)?, counts })
    }

    /// Whether the message is an answer, to a question of the kind we ask, and not cut short.
    pub fn is_whole_answer(&self) -> bool {
        self.flags & ANSWER_BITS == ANSWER
    }

    /// Whether it is an answer that was cut short (bit TC).
    pub fn is_cut(&self) -> bool {
        self.flags & ANSWER_BITS == ANSWER | 0x0200
    }

    /// Whether the server is the authority for what it says (bit AA).
    pub fn is_authoritative(&self) -> bool {
        self.flags & 0x0400 != 0
    }

    /// The answer's error.
    pub fn rcode(&self) -> Rcode {
        Rcode::masked_from_int((self.flags & 0xf) as u8)
    }
}

/// The fields before the RDATA of a record, without its owner name.
#[derive(Debug, Clone, Copy)]
pub struct RecordHead {
    /// The type.
    pub rtype: Rtype,
    /// The class.
    pub class: u16,
    /// The TTL.
    pub ttl: Ttl,
    /// Where the RDATA begin.
    pub start: usize,
    /// Where the record ends.
    pub end: usize,
}

/// The failure of a message that breaks the rules.
pub fn bad(what: impl Into<String>) -> ServerFailure {
    ServerFailure::BadMessage(what.into())
}

/// The failure of a message that ends too early.
fn short() -> ServerFailure {
    bad_wire(WireError::Short)
}

/// The failure of a name or RDATA.
pub fn bad_wire(error: WireError) -> ServerFailure {
    bad(error.to_string())
}

/// Says what is wrong with a signature.
///
/// An answer that reports an error about our signature is often unsigned, and one that reports our clock does not
/// verify with this library (0.12.3 hashes the server's time with two octets too many). It is only used for the text of
/// our message.
pub fn explain_signature(error: ValidationError, octets: &[u8], now: Time48) -> ServerFailure {
    let header = MessageHeader::read(octets);
    let rcode = header.map_or(Rcode::NOERROR, |header| header.rcode());
    let tsig = signature(octets);
    let said = tsig.as_ref().filter(|_| rcode == Rcode::NOTAUTH).map(|tsig| tsig.error);
    match (said, error) {
        (Some(TsigRcode::BADKEY), _) => ServerFailure::BadKey { by_server: true },
        (Some(TsigRcode::BADSIG), _) => ServerFailure::BadSignature { by_server: true },
        (Some(TsigRcode::BADTIME), _) => {
            let server = tsig.and_then(|tsig| tsig.server_time);
            ServerFailure::BadTime { ahead: server.map(|server| seconds(server) - seconds(now)) }
        }
        (_, ValidationError::ServerUnsigned) if rcode != Rcode::NOERROR => {
            ServerFailure::Refused { rcode, keyed: true, proven: false }
        }
        (_, ValidationError::ServerUnsigned | ValidationError::TooManyUnsigned) => ServerFailure::Unsigned,
        (_, ValidationError::BadTime) => {
            ServerFailure::BadTime { ahead: tsig.map(|tsig| seconds(tsig.time_signed) - seconds(now)) }
        }
        (_, ValidationError::BadKey | ValidationError::BadAlg) => ServerFailure::BadKey { by_server: false },
        (_, ValidationError::BadSig | ValidationError::BadTrunc) => ServerFailure::BadSignature { by_server: false },
        (_, other) => bad(format!("its signature: {other}")),
    }
}

/// The time at which a message was signed; `None` where it is not. It is proven only once the signature is.
pub fn time_signed(octets: &[u8]) -> Option<Time48> {
    signature(octets).map(|tsig| tsig.time_signed)
}

/// What a TSIG record says, unverified.
struct UnverifiedTsig {
    /// The error.
    error: TsigRcode,
    /// When the message was signed.
    time_signed: Time48,
    /// The server's time, where the error is about ours.
    server_time: Option<Time48>,
}

/// The TSIG record of a message.
fn signature(octets: &[u8]) -> Option<UnverifiedTsig> {
    let message = Message::from_octets(octets).ok()?;
    let record = message.additional().ok()?.filter_map(Result::ok).last()?;
    let record = record.into_record::<Tsig<_, _>>().ok()??;
    let tsig = record.data();
    Some(UnverifiedTsig { error: tsig.error(), time_signed: tsig.time_signed(), server_time: tsig.other_time() })
}

/// A time of 48 bits in seconds.
fn seconds(time: Time48) -> i64 {
    u64::from(time) as i64
}
