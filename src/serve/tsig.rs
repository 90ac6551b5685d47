//! Who signed a request, and what somebody is told whose signature is no good.
//!
//! The library (`domain` 0.12.3) checks and makes signatures. Two of its answers it gets wrong, so that they are made here:
//! it calls a wrong signature FORMERR in the field where BADSIG belongs, and it hashes eight octets of its clock where
//! BADTIME has six, so that nobody can verify that answer.
//!
//! Source: RFC 8945 sections 4.3 and 5.2.

use std::collections::HashMap;
use std::sync::Arc;

use domain::base::iana::{Class, Rcode, TsigRcode};
use domain::base::{Message, ParsedName, Ttl};
use domain::rdata::tsig::{Time48, Tsig};
use domain::tsig::{Algorithm, Key, KeyName, ServerTransaction};
use sha2::{Digest as _, Sha256};

use super::answer::{self, Building, Signature};
use crate::dns::Name;
use crate::provider::secret::Secret;

/// The block of SHA-256, in octets (RFC 2104 section 2, FIPS 180-4).
const BLOCK: usize = 64;

/// The one key of a server, of HMAC-SHA256.
#[derive(Debug)]
pub struct ServerKey {
    /// Its name.
    name: Name,
    /// Its secret.
    secret: Secret,
    /// What the library looks keys up in.
    store: HashMap<(KeyName, Algorithm), Arc<Key>>,
}

impl ServerKey {
    /// A key of this name.
    pub fn new(name: Name, secret: Secret) -> ServerKey {
        let library = KeyName::from_octets(name.as_wire().try_into().expect("a name fits into 255 octets"));
        let library = library.expect("names are wire format");
        let algorithm = Algorithm::Sha256;
        let key = Key::new(algorithm, secret.octets(), library.clone(), None, None).expect("no length is out of bounds");
        ServerKey { name, secret, store: HashMap::from([((library, algorithm), Arc::new(key))]) }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }
}

/// Checks the signature of a message and takes it off; gives with what to sign the answer, where there was one.
///
/// Errors: the answer to a message whose signature is no good.
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

/// Makes the answer to a message whose signature is no good.
fn refuse(key: Option<&ServerKey>, request: &Message<Vec<u8>>, error: TsigRcode, now: Time48) -> Building {
    let bare = |rcode| answer::begin(request, rcode).expect("a question fits");
    let Some(signed) = Signed::of(request) else { return bare(Rcode::FORMERR) };
    let mut message = bare(Rcode::NOTAUTH);
    match (error, key) {
        (TsigRcode::BADTIME, Some(key)) => {
            let clock = now.into_octets();
            let mac = signed.mac_of_answer(key, message.as_slice(), &clock);
            signed.push(&mut message, error, &mac, &clock);
        }
        // It could be read, so that this is what the library says of a signature that is not the right one.
        (TsigRcode::FORMERR, _) => signed.push(&mut message, TsigRcode::BADSIG, &[], &[]),
        (error, _) => signed.push(&mut message, error, &[], &[]),
    }
    message
}

/// The signature of a message.
struct Signed<'m> {
    /// The key's name, as it stands there.
    owner: ParsedName<&'m [u8]>,
    /// What is said of it.
    data: Tsig<&'m [u8], ParsedName<&'m [u8]>>,
}

impl<'m> Signed<'m> {
    /// Reads the signature of a message; `None` where it cannot be read.
    fn of(message: &'m Message<Vec<u8>>) -> Option<Signed<'m>> {
        let last = message.additional().ok()?.last()?.ok()?;
        let record = last.into_record::<Tsig<_, _>>().ok()??;
        let owner = record.owner().clone();
        Some(Signed { owner, data: record.into_data() })
    }

    /// Adds a signature that tells of an error.
    fn push(&self, message: &mut Building, error: TsigRcode, mac: &[u8], other: &[u8]) {
        let Tsig { .. } = &self.data;
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

    /// The signature of an answer that tells of a clock that is off (section 5.2.3).
    fn mac_of_answer(&self, key: &ServerKey, answer: &[u8], clock: &[u8; 6]) -> [u8; 32] {
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
        hmac(key.secret.octets(), &[before, variables.concat()].concat())
    }
}

/// HMAC-SHA256 (RFC 2104 section 2).
fn hmac(secret: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    match secret.len() > BLOCK {
        true => block[..32].copy_from_slice(&Sha256::digest(secret)),
        false => block[..secret.len()].copy_from_slice(secret),
    }
    let inner = Sha256::new().chain_update(block.map(|octet| octet ^ 0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(block.map(|octet| octet ^ 0x5c)).chain_update(inner).finalize().into()
}
