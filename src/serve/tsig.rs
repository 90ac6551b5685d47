//! Who signed a request, and the answer to a bad signature.
//!
//! The library (`domain` 0.12.3) checks and makes signatures. Two of its answers are wrong, so they are made here: it
//! writes FORMERR for a wrong signature in the field where BADSIG belongs; and it hashes eight octets of its clock
//! where BADTIME has six, so that no client can verify that answer. It also compares signatures of any length with as much
//! of its own, and answers BADTRUNC without a signature.
//!
//! Source: RFC 8945 sections 4.3, 5.2 and 5.3.2.

use std::collections::HashMap;
use std::sync::Arc;

use domain::base::iana::{Class, Rcode, TsigRcode};
use domain::base::{Message, ParsedName, Ttl};
use domain::rdata::tsig::{Time48, Tsig};
use domain::tsig::{Algorithm, Key, KeyName, KeyStore, ServerTransaction};
use ring::hmac;

use super::answer::{self, AnswerDraft, AnswerSignature};
use crate::dns::Name;
use crate::provider::secret::Secret;

/// The length of a signature by HMAC-SHA256, in octets.
const MAC: usize = 32;

/// The length of the shortest part of a signature that may be sent: half of it (RFC 8945 section 5.2.2.1).
const SHORTEST_MAC: usize = MAC / 2;

/// The one key of a server, of HMAC-SHA256.
#[derive(Debug)]
pub struct ServerKey {
    /// Its name.
    name: Name,
    /// What the answers are signed with that the library cannot sign.
    hmac: hmac::Key,
    /// What the library looks keys up in.
    store: HashMap<(KeyName, Algorithm), Arc<Key>>,
}

impl ServerKey {
    /// A key of this name.
    pub fn new(name: Name, secret: &Secret) -> ServerKey {
        let library = KeyName::from_octets(name.as_wire().try_into().expect("a name fits into 255 octets"));
        let library = library.expect("names are wire format");
        let algorithm = Algorithm::Sha256;
        // The library checks the part of a signature, which is then refused as too short.
        let key = Key::new(algorithm, secret.octets(), library.clone(), Some(SHORTEST_MAC), None);
        let key = key.expect("no length is out of bounds");
        let hmac = hmac::Key::new(hmac::HMAC_SHA256, secret.octets());
        ServerKey { name, hmac, store: HashMap::from([((library, algorithm), Arc::new(key))]) }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }
}

/// Checks the signature of a message and takes it off; returns what signs the answer, if there was a signature.
///
/// Errors: the answer to a message with a bad signature.
pub fn check(
    key: Option<&ServerKey>,
    message: &mut Message<Vec<u8>>,
    now: Time48,
) -> Result<Option<AnswerSignature>, Vec<u8>> {
    let none = HashMap::new();
    let store = key.map_or(&none, |key| &key.store);
    let finish = |answer: AnswerDraft| answer.finish().into_target();
    let length = MessageSignature::of(message).and_then(|signed| signed.length_for(key?));
    match length {
        // BIND calls a signature of no octets wrong, and one that no sender may cut like this malformed.
        Some(0) => return Err(finish(refuse(key, message, TsigRcode::BADSIG, now))),
        Some(length) if !(SHORTEST_MAC..=MAC).contains(&length) => return Err(finish(bare(message, Rcode::FORMERR))),
        _ => {}
    }
    let cut = length.filter(|length| *length < MAC).map(|_| message.clone());
    let checked = ServerTransaction::request(store, message, now);
    let signature = checked.map_err(|error| finish(refuse(key, message, error.error(), now)))?;
    match cut {
        Some(request) => Err(finish(refuse(key, &request, TsigRcode::BADTRUNC, now))),
        None => Ok(signature),
    }
}

/// An answer with the same question, and without a signature.
fn bare(request: &Message<Vec<u8>>, rcode: Rcode) -> AnswerDraft {
    answer::begin(request, rcode).expect("a question fits")
}

/// Makes the answer to a message with a bad signature.
fn refuse(key: Option<&ServerKey>, request: &Message<Vec<u8>>, error: TsigRcode, now: Time48) -> AnswerDraft {
    let Some(signed) = MessageSignature::of(request) else { return bare(request, Rcode::FORMERR) };
    let mut message = bare(request, Rcode::NOTAUTH);
    match (error, key) {
        (TsigRcode::BADTIME | TsigRcode::BADTRUNC, Some(key)) => {
            let clock = now.into_octets();
            let other = if error == TsigRcode::BADTIME { &clock[..] } else { &[] };
            let mac = signed.mac_of_answer(key, message.as_slice(), error, other);
            signed.push(&mut message, error, mac.as_ref(), other);
        }
        // It could be read, so that this is what the library says of a signature that is not the right one.
        (TsigRcode::FORMERR, _) => signed.push(&mut message, TsigRcode::BADSIG, &[], &[]),
        (error, _) => signed.push(&mut message, error, &[], &[]),
    }
    message
}

/// The signature of a message.
struct MessageSignature<'m> {
    /// The key's name, as it is written there.
    owner: ParsedName<&'m [u8]>,
    /// Its data.
    data: Tsig<&'m [u8], ParsedName<&'m [u8]>>,
}

impl<'m> MessageSignature<'m> {
    /// Reads the signature of a message; `None` where it cannot be read.
    fn of(message: &'m Message<Vec<u8>>) -> Option<MessageSignature<'m>> {
        let last = message.additional().ok()?.last()?.ok()?;
        let record = last.into_record::<Tsig<_, _>>().ok()??;
        let owner = *record.owner();
        Some(MessageSignature { owner, data: record.into_data() })
    }

    /// The length of the signature, in octets; `None` where it is not by this key.
    fn length_for(&self, key: &ServerKey) -> Option<usize> {
        let algorithm = Algorithm::from_name(self.data.algorithm())?;
        key.store.get_key(&self.owner, algorithm).map(|_| self.data.mac_slice().len())
    }

    /// Adds a signature that reports an error.
    fn push(&self, message: &mut AnswerDraft, error: TsigRcode, mac: &[u8], other: &[u8]) {
        let data = Tsig::new(
            self.data.algorithm(),
            self.data.time_signed(),
            self.data.fudge(),
            mac,
            self.data.original_id(),
            error,
            other,
        );
        let data = data.expect("a signature is shorter than RDATA may be");
        message.push((&self.owner, Class::ANY, Ttl::ZERO, data)).expect("a question leaves room for a signature");
    }

    /// The signature of an answer that reports an error, with its other data: a wrong clock (section 5.2.3), or a part of
    /// a signature that is too short (section 5.2.4).
    fn mac_of_answer(&self, key: &ServerKey, answer: &[u8], error: TsigRcode, other: &[u8]) -> hmac::Tag {
        let request_mac = self.data.mac_slice();
        let variables = [
            key.name.as_wire(),
            b"\0\xff\0\0\0\0\x0bhmac-sha256\0",
            &self.data.time_signed().into_octets(),
            &self.data.fudge().to_be_bytes(),
            &error.to_int().to_be_bytes(),
            &(other.len() as u16).to_be_bytes(),
            other,
        ];
        let before = [&(request_mac.len() as u16).to_be_bytes()[..], request_mac, answer].concat();
        hmac::sign(&key.hmac, &[before, variables.concat()].concat())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    /// The secret of all tests.
    static SECRET: LazyLock<Secret> = LazyLock::new(|| Secret::random().unwrap().0);

    /// The key of all tests.
    fn key() -> ServerKey {
        ServerKey::new(Name::parse("k.").unwrap(), &SECRET)
    }

    /// The digest of a message with these variables, after some octets.
    fn digest(before: &[u8], message: &[u8], (time, error, other): (u64, u16, &[u8])) -> Vec<u8> {
        let variables = [
            &b"\x01k\0\0\xff\0\0\0\0\x0bhmac-sha256\0"[..],
            &time.to_be_bytes()[2..],
            &300u16.to_be_bytes(),
            &error.to_be_bytes(),
            &(other.len() as u16).to_be_bytes(),
            other,
        ];
        let octets = [before, message, &variables.concat()].concat();
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.octets()), &octets).as_ref().to_vec()
    }

    /// A question for `a. A`, signed at a time; `alter` changes the signature.
    fn request(time: u64, alter: impl Fn(Vec<u8>) -> Vec<u8>) -> (Message<Vec<u8>>, Vec<u8>) {
        let mut octets = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01".to_vec();
        let mac = alter(digest(b"", &octets, (time, 0, b"")));
        let rdata = [
            &b"\x0bhmac-sha256\0"[..],
            &time.to_be_bytes()[2..],
            &300u16.to_be_bytes(),
            &(mac.len() as u16).to_be_bytes(),
            &mac,
            b"\0\x07\0\0\0\0",
        ];
        let rdata = rdata.concat();
        octets.extend_from_slice(b"\x01k\0\0\xfa\0\xff\0\0\0\0");
        octets.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        octets.extend_from_slice(&rdata);
        octets[11] = 1;
        (Message::from_octets(octets).unwrap(), mac)
    }

    /// What an answer says: rcode, error of its signature, and whether it is signed rightly.
    fn said(answer: Vec<u8>, request_mac: &[u8]) -> String {
        let message = Message::from_octets(answer).unwrap();
        let Some(signed) = MessageSignature::of(&message) else { return message.header().rcode().to_string() };
        let mut bare = b"\0\x07\x81\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01".to_vec();
        bare[3] = message.as_slice()[3];
        let before = [&(request_mac.len() as u16).to_be_bytes()[..], request_mac].concat();
        let (error, other) = (signed.data.error(), signed.data.other().to_vec());
        let time = u64::from(signed.data.time_signed());
        let right = digest(&before, &bare, (time, error.to_int(), &other));
        let state = match signed.data.mac_slice() {
            [] => "unsigned",
            mac if mac == right => "signed",
            _ => "wrong",
        };
        format!("{} {error} {state}", message.header().rcode())
    }

    #[test]
    fn the_length_of_a_signature_is_looked_at_before_its_octets() {
        let now = 1_800_000_000;
        let check = |time: u64, alter: &dyn Fn(Vec<u8>) -> Vec<u8>| {
            let (mut message, mac) = request(time, alter);
            match super::check(Some(&key()), &mut message, Time48::from_u64(now)) {
                Ok(signature) => format!("good {}", signature.is_some()),
                Err(answer) => said(answer, &mac),
            }
        };
        let cut = |length: usize| move |mac: Vec<u8>| mac[..length].to_vec();
        assert_eq!(check(now, &|mac| mac), "good true");
        assert_eq!(check(now, &cut(0)), "NOTAUTH BADSIG(16) unsigned");
        for length in 1..16 {
            assert_eq!(check(now, &cut(length)), "FORMERR", "{length}");
        }
        assert_eq!(check(now, &|mac| [mac, vec![0]].concat()), "FORMERR");
        for length in 16..32 {
            assert_eq!(check(now, &cut(length)), "NOTAUTH BADTRUNC(22) signed", "{length}");
        }
        // The signature itself comes first, then the clock.
        let wrong = |length: usize| {
            move |mut mac: Vec<u8>| {
                mac[0] ^= 1;
                mac[..length].to_vec()
            }
        };
        assert_eq!(check(now, &wrong(32)), "NOTAUTH BADSIG(16) unsigned");
        assert_eq!(check(now, &wrong(16)), "NOTAUTH BADSIG(16) unsigned");
        assert_eq!(check(now - 301, &|mac| mac), "NOTAUTH BADTIME(18) signed");
        assert_eq!(check(now - 301, &cut(16)), "NOTAUTH BADTIME(18) signed");
    }
}
