//! What the answer to an update proves.
//!
//! Comes in: a message. Goes out: what became of the update, or that nobody knows. Pure.
//!
//! With a key only a signed answer proves anything; without one every answer counts, as nothing could be proven. An error
//! in the answer means that nothing took effect (RFC 2136 section 3.8).

use std::sync::Arc;

use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::failure::Failure;
use super::message::{self, Header, bad};
use super::read_error;
use crate::dns::{NameBuffer, Rtype, ZoneName};
use crate::provider::write::Reply;

/// What a header says of the answer to an update: bit QR and the operation code UPDATE (RFC 2136 section 2.2).
const UPDATE_ANSWER: u16 = 0x8000 | 5 << 11;

/// The bits that [`UPDATE_ANSWER`] is about.
const UPDATE_ANSWER_BITS: u16 = 0x8000 | 0x7800;

/// What an answer is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The zone of the update.
    pub zone: &'a ZoneName,
    /// What signatures are checked with, where there is a key.
    pub transaction: Option<&'a ClientTransaction<Arc<Key>>>,
}

impl Expected<'_> {
    /// What became of an update by its answer, which came at the time `now`. `place` is for errors.
    pub fn read(self, octets: Vec<u8>, now: Time48, place: String) -> Reply {
        let rcode = match self.proven_rcode(octets, now) {
            Ok(rcode) => rcode,
            Err(failure) => return Reply::Unknown(read_error(place, &failure, "")),
        };
        let refused = || read_error(place, &Failure::UpdateRefused { rcode, unproven: false }, "");
        match (rcode, unmet(rcode)) {
            (Rcode::NOERROR, _) => Reply::Done,
            (_, Some(words)) => Reply::Prerequisite(format!("the server answers {rcode}: {words}")),
            (Rcode::SERVFAIL, None) => Reply::Failed(refused()),
            (_, None) => Reply::Refused(refused()),
        }
    }

    /// The error that an answer proves, NOERROR among them.
    fn proven_rcode(self, mut octets: Vec<u8>, now: Time48) -> Result<Rcode, Failure> {
        if let Some(transaction) = self.transaction {
            let mut message = Message::from_octets(octets).map_err(|_| bad("no message"))?;
            let checked = transaction.answer(&mut message, now);
            octets = message.into_octets();
            checked.map_err(|error| explain(message::explain_signature(error, &octets, now)))?;
        }
        let header = Header::read(&octets).ok_or_else(|| bad("a message shorter than its header"))?;
        if header.flags & UPDATE_ANSWER_BITS != UPDATE_ANSWER {
            return Err(bad("a message that is no answer to an update"));
        }
        // The zone may be said again or not (RFC 2136 section 3.8).
        match header.counts[0] {
            0 => {}
            1 => {
                let question = (self.zone.as_name(), Rtype::SOA);
                message::check_question(&octets, question, &mut NameBuffer::default())?;
            }
            _ => return Err(bad("more zones than one")),
        }
        Ok(header.rcode())
    }
}

/// A failure of the signature, in words about updates.
fn explain(failure: Failure) -> Failure {
    match failure {
        // Nobody refuses by saying so of a prerequisite.
        Failure::Refused { rcode, .. } if unmet(rcode).is_some() => Failure::Unsigned,
        Failure::Refused { rcode, .. } => Failure::UpdateRefused { rcode, unproven: true },
        failure => failure,
    }
}

/// What an error says of the prerequisites; none where it is about something else (RFC 2136 section 3.2).
fn unmet(rcode: Rcode) -> Option<&'static str> {
    match rcode {
        Rcode::NXDOMAIN => Some("a name that must be there is not"),
        Rcode::YXDOMAIN => Some("a name is there that must not be"),
        Rcode::NXRRSET => Some("an RRset is not there as it was seen"),
        Rcode::YXRRSET => Some("an RRset stands where none was seen"),
        _ => None,
    }
}
