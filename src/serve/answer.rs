//! What goes out: answers as messages, owner names compressed, within the size that the sender accepts. Pure.
//!
//! Source: RFC 1035 section 4.1; RFC 6891 section 6.1.

use std::sync::Arc;

use domain::base::iana::{Class, OptRcode, Rcode};
use domain::base::message_builder::{AdditionalBuilder, HashCompressor, PushError};
use domain::base::name::Name as LibraryName;
use domain::base::rdata::UnknownRecordData;
use domain::base::{Message, MessageBuilder};
use domain::rdata::tsig::Time48;
use domain::tsig::{Key, ServerTransaction};

use super::lookup::{AnswerRrset, LookupAnswer};
use super::wire::Edns;
use crate::dns::{NameRef, Rdata, Rtype, Ttl};

/// The longest message over TCP (RFC 1035 section 4.2.2).
pub const MAX_TCP: usize = 65_535;

/// The longest answer over UDP where the sender says nothing (RFC 1035 section 4.2.1).
const MAX_PLAIN_UDP: usize = 512;

/// The longest answer over UDP, regardless of the size that the sender accepts, and the longest request that is
/// accepted (DNS Flag Day 2020, RFC 9715).
pub const MAX_UDP: u16 = 1232;

/// The size of EDNS in an answer: the root, type, class, TTL, length (RFC 6891 section 6.1.2).
const OPT_OCTETS: usize = 11;

/// The signature that an answer gets.
pub type AnswerSignature = ServerTransaction<Arc<Key>>;

/// A message in the making.
pub type AnswerDraft = AdditionalBuilder<HashCompressor<Vec<u8>>>;

/// How an answer is to be made.
#[derive(Debug)]
pub struct AnswerManner {
    /// Its signature, if it is signed.
    pub signature: Option<AnswerSignature>,
    /// What the sender said of its abilities.
    pub edns: Option<Edns>,
    /// Whether it goes over UDP.
    pub is_udp: bool,
}

impl AnswerManner {
    /// The longest message that may be made, in octets.
    fn limit(&self) -> usize {
        match (self.is_udp, self.edns) {
            (false, _) => MAX_TCP,
            (true, Some(edns)) => usize::from(edns.payload.min(MAX_UDP)).max(MAX_PLAIN_UDP),
            (true, None) => MAX_PLAIN_UDP,
        }
    }

    /// What of that is not for records.
    fn reserved(&self) -> usize {
        let signed = self.signature.as_ref().map_or(0, |signature| usize::from(signature.key().compose_len()));
        signed + self.edns.map_or(0, |_| OPT_OCTETS)
    }
}

/// Makes the message of an answer. One that is too long over UDP becomes a truncated answer (TC), which says to use
/// TCP; over TCP a SERVFAIL.
pub fn compose(request: &Message<Vec<u8>>, answer: &LookupAnswer, manner: AnswerManner) -> Vec<u8> {
    let (limit, reserved) = (manner.limit(), manner.reserved());
    let mut message = fill(request, answer, limit - reserved).unwrap_or_else(|_| {
        let rcode = if manner.is_udp { answer.rcode } else { Rcode::SERVFAIL };
        let short = LookupAnswer { is_authoritative: answer.is_authoritative, ..LookupAnswer::bare(rcode) };
        // A long name leaves no room for the signature of a key with a long name.
        let mut message =
            fill(request, &short, limit - reserved).unwrap_or_else(|_| headed(request, rcode).additional());
        message.header_mut().set_tc(manner.is_udp);
        message
    });
    message.clear_push_limit();
    if let Some(edns) = manner.edns {
        add_edns(&mut message, edns);
    }
    if let Some(signature) = manner.signature {
        signature.answer(&mut message, Time48::now()).expect("room was kept for the signature");
    }
    message.finish().into_target()
}

/// The answer to a message that begins like a request and is malformed later.
pub fn malformed(request: &Message<Vec<u8>>) -> Vec<u8> {
    headed(request, Rcode::FORMERR).finish().into_target()
}

/// The header of an answer, and nothing else.
fn headed(request: &Message<Vec<u8>>, rcode: Rcode) -> MessageBuilder<HashCompressor<Vec<u8>>> {
    let mut message = empty(MAX_TCP);
    let header = message.header_mut();
    header.set_id(request.header().id());
    header.set_qr(true);
    header.set_opcode(request.header().opcode());
    header.set_rd(request.header().rd());
    header.set_rcode(rcode);
    message
}

/// A message that begins as the answer to a request, with the same question.
pub fn begin(request: &Message<Vec<u8>>, rcode: Rcode) -> Result<AnswerDraft, PushError> {
    Ok(empty(MAX_TCP).start_answer(request, rcode)?.additional())
}

/// An empty message of at most so many octets.
pub fn empty(limit: usize) -> MessageBuilder<HashCompressor<Vec<u8>>> {
    let mut message = MessageBuilder::from_target(HashCompressor::new(Vec::new())).expect("a header fits");
    // The limit is the first length that is too long.
    message.set_push_limit(limit + 1);
    message
}

/// Puts an answer into a message of at most so many octets.
fn fill(request: &Message<Vec<u8>>, answer: &LookupAnswer, limit: usize) -> Result<AnswerDraft, PushError> {
    let mut message = empty(limit).start_answer(request, answer.rcode)?;
    message.header_mut().set_aa(answer.is_authoritative);
    each(&answer.answer, |row| message.push(row.to_record()))?;
    let mut message = message.authority();
    each(&answer.authority, |row| message.push(row.to_record()))?;
    let mut message = message.additional();
    each(&answer.additional, |row| message.push(row.to_record()))?;
    Ok(message)
}

/// Adds our EDNS: our longest message and, if the sender uses another version, that ours is the newest.
fn add_edns(message: &mut AnswerDraft, edns: Edns) {
    let added = message.opt(|opt| {
        opt.set_udp_payload_size(MAX_UDP);
        if edns.version > 0 {
            opt.set_rcode(OptRcode::BADVERS);
        }
        Ok(())
    });
    added.expect("room was kept for it");
}

/// Hands on every record.
fn each(rows: &[AnswerRrset], mut push: impl FnMut(AnswerRow<'_>) -> Result<(), PushError>) -> Result<(), PushError> {
    for AnswerRrset { owner, rtype, class, ttl, rdata } in rows {
        for rdata in rdata {
            push(AnswerRow { owner: owner.as_name(), rtype: *rtype, class: *class, ttl: *ttl, rdata })?;
        }
    }
    Ok(())
}

/// One record.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRow<'a> {
    /// The owner name.
    pub owner: NameRef<'a>,
    /// The type.
    pub rtype: Rtype,
    /// The class.
    pub class: Class,
    /// The TTL.
    pub ttl: Ttl,
    /// The RDATA.
    pub rdata: &'a Rdata,
}

impl<'a> AnswerRow<'a> {
    /// As the library composes it, the RDATA never compressed.
    pub fn to_record(self) -> (LibraryName<&'a [u8]>, Class, u32, UnknownRecordData<&'a [u8]>) {
        let owner = LibraryName::from_octets(self.owner.as_wire()).expect("names are wire format");
        let rdata = UnknownRecordData::from_octets(self.rtype, self.rdata.as_octets());
        (owner, self.class, self.ttl.as_secs(), rdata.expect("RDATA have at most 65 535 octets"))
    }
}
