//! A zone as the messages of a transfer. Pure except for the clock of its signatures.
//!
//! Source: RFC 5936 section 2.2; RFC 8945 section 5.3.1 for signatures, which every message has here.

use std::sync::Arc;

use domain::base::Message;
use domain::base::iana::{Class, Rcode};
use domain::base::message_builder::{AnswerBuilder, HashCompressor, PushError};
use domain::rdata::tsig::Time48;
use domain::tsig::{Key, ServerSequence};

use super::answer::{self, AnswerManner, AnswerRow, AnswerSignature, MAX_TCP};
use super::letters::WrittenRdata;
use super::lookup::LookupAnswer;
use crate::dns::Rtype;
use crate::provider::memory::zone::MemoryZone;

/// Where a message is long enough: names further on cannot be pointed to (RFC 1035 section 4.1.4).
const FULL: usize = 16 * 1024;

/// The messages of one transfer.
struct TransferAnswer<'r> {
    /// The question.
    request: &'r Message<Vec<u8>>,
    /// The signer, if messages are signed.
    signatures: Option<ServerSequence<Arc<Key>>>,
    /// The message in the making.
    building: AnswerBuilder<HashCompressor<Vec<u8>>>,
    /// Those that are done.
    done: Vec<Vec<u8>>,
}

/// Makes the messages that transfer a zone: its SOA, all else, and the SOA again. Where a record is too long for any
/// message, one that says so (SERVFAIL).
pub fn messages(
    request: &Message<Vec<u8>>,
    zone: &MemoryZone,
    letters: &WrittenRdata,
    signature: Option<AnswerSignature>,
) -> Vec<Vec<u8>> {
    match transfer(request, zone, letters, signature.clone()) {
        Ok(messages) => messages,
        Err(_) => {
            let manner = AnswerManner { signature, edns: None, is_udp: false };
            vec![answer::compose(request, &LookupAnswer::bare(Rcode::SERVFAIL), manner)]
        }
    }
}

/// Makes the messages.
///
/// Errors: a record that no message has room for.
fn transfer(
    request: &Message<Vec<u8>>,
    zone: &MemoryZone,
    letters: &WrittenRdata,
    signature: Option<AnswerSignature>,
) -> Result<Vec<Vec<u8>>, PushError> {
    let signatures: Option<ServerSequence<_>> = signature.map(Into::into);
    let building = begin(request, reserved(signatures.as_ref()))?;
    let mut transfer = TransferAnswer { request, signatures, building, done: Vec::new() };
    let apex = zone.apex().as_name();
    let soa = zone.rrset(apex, Rtype::SOA).expect("a zone has a SOA");
    let soa = AnswerRow { owner: apex, rtype: Rtype::SOA, class: Class::IN, ttl: soa.ttl(), rdata: &soa.rdata()[0] };
    transfer.push(soa)?;
    for (owner, rtype, rrset) in zone.rrsets().filter(|(_, rtype, _)| *rtype != Rtype::SOA) {
        for rdata in rrset.rdata() {
            // Most zones have no letters, and no copy is made to look for some.
            let written = (!letters.is_empty()).then(|| letters.get(&(owner.to_name(), rtype, rdata.clone())));
            let rdata = written.flatten().unwrap_or(rdata);
            transfer.push(AnswerRow { owner, rtype, class: Class::IN, ttl: rrset.ttl(), rdata })?;
        }
    }
    transfer.push(soa)?;
    transfer.next()?;
    Ok(transfer.done)
}

impl TransferAnswer<'_> {
    /// Adds a record, in the next message where this one has no room.
    fn push(&mut self, row: AnswerRow<'_>) -> Result<(), PushError> {
        let is_full = self.building.as_slice().len() >= FULL;
        if is_full || self.building.push(row.to_record()).is_err() {
            self.next()?;
            self.building.push(row.to_record())?;
        }
        Ok(())
    }

    /// Ends a message, and begins the next.
    fn next(&mut self) -> Result<(), PushError> {
        let next = begin(self.request, reserved(self.signatures.as_ref()))?;
        let mut message = std::mem::replace(&mut self.building, next).additional();
        message.clear_push_limit();
        if let Some(signatures) = &mut self.signatures {
            signatures.answer(&mut message, Time48::now())?;
        }
        self.done.push(message.finish().into_target());
        Ok(())
    }
}

/// Begins a message.
fn begin(request: &Message<Vec<u8>>, reserved: usize) -> Result<AnswerBuilder<HashCompressor<Vec<u8>>>, PushError> {
    let mut message = answer::empty(MAX_TCP - reserved).start_answer(request, Rcode::NOERROR)?;
    message.header_mut().set_aa(true);
    Ok(message)
}

/// What of a message is for its signature.
fn reserved(signatures: Option<&ServerSequence<Arc<Key>>>) -> usize {
    signatures.map_or(0, |signatures| usize::from(signatures.key().compose_len()))
}
