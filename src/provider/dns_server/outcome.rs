//! What the answer to an update proves.
//!
//! Comes in: a message. Goes out: the outcome of the update, or that it is unknown. Pure.
//!
//! With a key only a signed answer proves anything; without one every answer counts, as nothing could be proven. An
//! error in the answer means that nothing took effect (RFC 2136 section 3.8).

use std::sync::Arc;

use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::failure::ServerFailure;
use super::message::{self, MessageHeader, bad};
use super::read_error;
use crate::dns::{NameBuffer, Rtype, ZoneName};
use crate::target::UpdateReply;

/// What a header says of the answer to an update: bit QR and the operation code UPDATE (RFC 2136 section 2.2).
const UPDATE_ANSWER: u16 = 0x8000 | 5 << 11;

/// The bits that [`UPDATE_ANSWER`] is about.
const UPDATE_ANSWER_BITS: u16 = 0x8000 | 0x7800;

/// What an answer is compared with.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedAnswer<'a> {
    /// The zone of the update.
    pub zone: &'a ZoneName,
    /// What signatures are checked with, where there is a key.
    pub transaction: Option<&'a ClientTransaction<Arc<Key>>>,
}

impl ExpectedAnswer<'_> {
    /// The outcome of an update from its answer, which came at the time `now`. `place` is for errors.
    pub fn read(self, octets: Vec<u8>, now: Time48, place: String) -> UpdateReply {
        let rcode = match self.proven_rcode(octets, now) {
            Ok(rcode) => rcode,
            Err(failure) => return UpdateReply::Unknown(read_error(place, &failure, "")),
        };
        let refused = || read_error(place, &ServerFailure::UpdateRefused { rcode, unproven: false }, "");
        match (rcode, unmet(rcode)) {
            (Rcode::NOERROR, _) => UpdateReply::Done,
            (_, Some(words)) => UpdateReply::Prerequisite(format!("the server answers {rcode}: {words}")),
            (Rcode::SERVFAIL, None) => UpdateReply::Failed(refused()),
            (_, None) => UpdateReply::Refused(refused()),
        }
    }

    /// The error that an answer proves, NOERROR among them.
    fn proven_rcode(self, mut octets: Vec<u8>, now: Time48) -> Result<Rcode, ServerFailure> {
        if let Some(transaction) = self.transaction {
            let mut message = Message::from_octets(octets).map_err(|_| bad("no message"))?;
            let checked = transaction.answer(&mut message, now);
            octets = message.into_octets();
            checked.map_err(|error| explain(message::explain_signature(error, &octets, now)))?;
        }
        let header = MessageHeader::read(&octets).ok_or_else(|| bad("a message shorter than its header"))?;
        if header.flags & UPDATE_ANSWER_BITS != UPDATE_ANSWER {
            return Err(bad("a message that is not an answer to an update"));
        }
        // The zone may be said again or not (RFC 2136 section 3.8).
        match header.counts[0] {
            0 => {}
            1 => {
                message::check_question(&octets, self.zone.as_name(), Rtype::SOA, &mut NameBuffer::default())?;
            }
            _ => return Err(bad("more zones than one")),
        }
        Ok(header.rcode())
    }
}

/// A failure of the signature, in words about updates.
fn explain(failure: ServerFailure) -> ServerFailure {
    match failure {
        // A server that refuses an update does not answer with the rcode of a prerequisite.
        ServerFailure::Refused { rcode, .. } if unmet(rcode).is_some() => ServerFailure::Unsigned,
        ServerFailure::Refused { rcode, .. } => ServerFailure::UpdateRefused { rcode, unproven: true },
        failure => failure,
    }
}

/// What an error says of the prerequisites; none where it is about something else (RFC 2136 section 3.2).
fn unmet(rcode: Rcode) -> Option<&'static str> {
    match rcode {
        Rcode::NXDOMAIN => Some("a name does not exist, but the update needs it"),
        Rcode::YXDOMAIN => Some("a name exists, but the update needs it to be free"),
        Rcode::NXRRSET => Some("an RRset is not as the plan saw it"),
        Rcode::YXRRSET => Some("an RRset exists now, but the plan saw none"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lower::lower;
    use super::super::tests::{Signer, apex, reader};
    use super::*;
    use crate::dns::{ChangeKind, Name, Rdata, RrKey, Rrset, Ttl};
    use crate::target::{RrsetEdit, Update};

    /// An answer to the update with ID 7: these flags, and the zone section in these octets.
    fn answer(flags: [u8; 2], zones: u8, zone: &[u8]) -> Vec<u8> {
        [&[0, 7], &flags[..], &[0, zones, 0, 0, 0, 0, 0, 0], zone].concat()
    }

    /// An answer with an error, without a zone section.
    fn error(rcode: u8) -> Vec<u8> {
        answer([0xa8, rcode], 0, &[])
    }

    /// The outcome of an answer to a signed or unsigned update: its kind, and its code or words.
    fn outcome(keyed: bool, answer: impl FnOnce(&[u8]) -> Vec<u8>) -> (&'static str, String) {
        let after = Rrset::new(Ttl::DEFAULT, vec![Rdata::from_text("x").unwrap()]).unwrap();
        let owner = apex().owner(Name::parse("a.example.net").unwrap().as_name()).unwrap();
        let (key, kind) = (RrKey { owner, rtype: Rtype::TXT }, ChangeKind::Create { after });
        let update = Update { zone: &apex(), edits: vec![RrsetEdit { key: &key, kind: &kind }] };
        let lowered = lower(&update, 7, reader(vec![], keyed).key().unwrap(), Time48::now()).unwrap();
        let expected = ExpectedAnswer { zone: &apex(), transaction: lowered.transaction.as_ref() };
        match expected.read(answer(&lowered.octets), Time48::now(), "here".into()) {
            UpdateReply::Done => ("done", String::new()),
            UpdateReply::Prerequisite(words) => ("prerequisite", words),
            UpdateReply::Refused(error) => ("refused", error.code.to_string()),
            UpdateReply::Failed(error) => ("failed", error.code.to_string()),
            UpdateReply::Unknown(error) => ("unknown", error.code.to_string()),
            UpdateReply::Raced(error) => ("raced", error.code.to_string()),
            UpdateReply::RefusedInPart(error) => ("refused in part", error.code.to_string()),
        }
    }

    /// The errors that are not about prerequisites, and what they mean.
    const ERRORS: [(u8, &str, &str); 7] = [
        (1, "refused", "update-rejected"),
        (2, "failed", "server-failure"),
        (4, "refused", "update-not-implemented"),
        (5, "refused", "update-refused"),
        (9, "refused", "zone-not-served"),
        (10, "refused", "update-rejected"),
        (15, "refused", "update-rejected"),
    ];

    #[test]
    fn a_signed_answer_says_what_became_of_the_update() {
        let signed = |rcode| outcome(true, move |update| Signer::new(update).sign(error(rcode)));
        assert_eq!(signed(0).0, "done");
        for (rcode, name) in [(3, "NXDOMAIN"), (6, "YXDOMAIN"), (7, "YXRRSET"), (8, "NXRRSET")] {
            let (kind, words) = signed(rcode);
            assert_eq!(kind, "prerequisite");
            assert!(words.starts_with(&format!("the server answers {name}: ")), "{words}");
        }
        for (rcode, kind, code) in ERRORS {
            assert_eq!(signed(rcode), (kind, code.to_owned()));
        }
    }

    #[test]
    fn an_unsigned_answer_to_a_signed_update_proves_nothing() {
        let unsigned = |rcode| outcome(true, move |_| error(rcode));
        for rcode in [0, 3, 6, 7, 8] {
            assert_eq!(unsigned(rcode), ("unknown", "tsig-unsigned".to_owned()));
        }
        for (rcode, _, code) in ERRORS {
            // Nothing says that it is about the zone.
            let code = if rcode == 9 { "update-refused" } else { code };
            assert_eq!(unsigned(rcode), ("unknown", code.to_owned()));
        }
    }

    #[test]
    fn without_a_key_every_answer_counts() {
        let unsigned = |rcode| outcome(false, move |_| error(rcode));
        assert_eq!((unsigned(0).0, unsigned(8).0), ("done", "prerequisite"));
        for (rcode, kind, code) in ERRORS {
            assert_eq!(unsigned(rcode), (kind, code.to_owned()));
        }
    }

    #[test]
    fn a_signature_that_is_wrong_proves_nothing() {
        let changed = |at: usize| {
            outcome(true, move |update| {
                let mut answer = Signer::new(update).sign(error(5));
                answer[at] ^= 5;
                answer
            })
        };
        // REFUSED made NOERROR.
        assert_eq!(changed(3), ("unknown", "tsig-bad-sig".to_owned()));
        let late = outcome(true, |update| {
            let mut signer = Signer::new(update);
            signer.skew = 1000;
            signer.sign(error(0))
        });
        assert_eq!(late, ("unknown", "tsig-bad-time".to_owned()));
        let of_another = outcome(true, |_| {
            let (_, question) = crate::provider::dns_server::axfr::ZoneTransfer::start(
                &apex(),
                reader(vec![], true).key().unwrap(),
                7,
                Time48::now(),
            );
            Signer::new(&question).sign(error(0))
        });
        assert_eq!(of_another, ("unknown", "tsig-bad-sig".to_owned()));
    }

    #[test]
    fn only_an_answer_to_an_update_of_this_zone_counts() {
        let kind = |octets: Vec<u8>| outcome(false, move |_| octets);
        let zone = b"\x07example\x03net\0\0\x06\0\x01";
        assert_eq!(kind(answer([0xa8, 0], 1, zone)).0, "done");
        for bad in [
            answer([0xa8, 0], 1, b"\x07example\x03org\0\0\x06\0\x01"),
            answer([0xa8, 0], 1, &zone[..12]),
            answer([0xa8, 0], 2, &[&zone[..], zone].concat()),
            answer([0x28, 0], 0, &[]),
            answer([0x80, 0], 0, &[]),
            vec![0, 7, 0xa8],
        ] {
            assert_eq!(kind(bad.clone()), ("unknown", "bad-message".to_owned()), "{bad:?}");
        }
    }
}
