//! Who signed a request, and the answer to a bad signature.
//!
//! The library (`domain` 0.12.3) checks and makes signatures. Two of its answers are wrong, so they are made here: it
//! writes FORMERR for a wrong signature in the field where BADSIG belongs; and it hashes eight octets of its clock
//! where BADTIME has six, so that no client can verify that answer.
//!
//! Source: RFC 8945 sections 4.3 and 5.2.

use std::collections::HashMap;
use std::sync::Arc;

use domain::base::iana::{Class, Rcode, TsigRcode};
use domain::base::{Message, ParsedName, Ttl};
use domain::rdata::tsig::{Time48, Tsig};
use domain::tsig::{Algorithm, Key, KeyName, ServerTransaction};
use ring::hmac;

use super::answer::{self, Building, Signature};
use crate::dns::Name;
use crate::provider::secret::Secret;

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
        let key =
            Key::new(algorithm, secret.octets(), library.clone(), None, None).expect("no length is out of bounds");
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
) -> Result<Option<Signature>, Vec<u8>> {
    let none = HashMap::new();
    let store = key.map_or(&none, |key| &key.store);
    let checked = ServerTransaction::request(store, message, now);
    checked.map_err(|error| refuse(key, message, error.error(), now).finish().into_target())
}

/// Makes the answer to a message with a bad signature.
fn refuse(key: Option<&ServerKey>, request: &Message<Vec<u8>>, error: TsigRcode, now: Time48) -> Building {
    let bare = |rcode| answer::begin(request, rcode).expect("a question fits");
    let Some(signed) = Signed::of(request) else { return bare(Rcode::FORMERR) };
    let mut message = bare(Rcode::NOTAUTH);
    match (error, key) {
        (TsigRcode::BADTIME, Some(key)) => {
            let clock = now.into_octets();
            let mac = signed.mac_of_answer(key, message.as_slice(), &clock);
            signed.push(&mut message, error, mac.as_ref(), &clock);
        }
        // It could be read, so that this is what the library says of a signature that is not the right one.
        (TsigRcode::FORMERR, _) => signed.push(&mut message, TsigRcode::BADSIG, &[], &[]),
        (error, _) => signed.push(&mut message, error, &[], &[]),
    }
    message
}

/// The signature of a message.
struct Signed<'m> {
    /// The key's name, as it is written there.
    owner: ParsedName<&'m [u8]>,
    /// Its data.
    data: Tsig<&'m [u8], ParsedName<&'m [u8]>>,
}

impl<'m> Signed<'m> {
    /// Reads the signature of a message; `None` where it cannot be read.
    fn of(message: &'m Message<Vec<u8>>) -> Option<Signed<'m>> {
        let last = message.additional().ok()?.last()?.ok()?;
        let record = last.into_record::<Tsig<_, _>>().ok()??;
        let owner = *record.owner();
        Some(Signed { owner, data: record.into_data() })
    }

    /// Adds a signature that reports an error.
    fn push(&self, message: &mut Building, error: TsigRcode, mac: &[u8], other: &[u8]) {
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

    /// The signature of an answer that reports a wrong clock (section 5.2.3).
    fn mac_of_answer(&self, key: &ServerKey, answer: &[u8], clock: &[u8; 6]) -> hmac::Tag {
        let request_mac = self.data.mac_slice();
        let variables = [
            key.name.as_wire(),
            b"\0\xff\0\0\0\0\x0bhmac-sha256\0",
            &self.data.time_signed().into_octets(),
            &self.data.fudge().to_be_bytes(),
            &TsigRcode::BADTIME.to_int().to_be_bytes(),
            &(clock.len() as u16).to_be_bytes(),
            clock,
        ];
        let before = [&(request_mac.len() as u16).to_be_bytes()[..], request_mac, answer].concat();
        hmac::sign(&key.hmac, &[before, variables.concat()].concat())
    }
}
