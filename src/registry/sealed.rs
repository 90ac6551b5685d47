//! Texts of the registry that external-dns encrypted: they are read, and never written.
//!
//! A text is base64 of a nonce of 12 octets and what AES-256-GCM makes of the text in gzip. Source: external-dns v0.22,
//! endpoint/crypto.go.

use std::fmt;
use std::io::Read as _;

use domain::utils::base64;
use flate2::read::GzDecoder;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The length of a key, in octets.
const KEY: usize = 32;

/// The most octets that a text may have once it is unpacked: far more than TXT hold, and a bomb ends there.
const MAX_TEXT: u64 = 64 * 1024;

/// The key of encrypted texts. Nothing prints it, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct TxtKey([u8; KEY]);

impl fmt::Debug for TxtKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TxtKey(…)")
    }
}

impl TxtKey {
    /// Reads a key as external-dns takes it: 32 octets as they are, or in base64; none where it is something else.
    pub fn parse(text: &[u8]) -> Option<TxtKey> {
        let text = text.trim_ascii();
        let octets = match <[u8; KEY]>::try_from(text) {
            Ok(octets) => octets,
            Err(_) => base64::decode::<Vec<u8>>(str::from_utf8(text).ok()?).ok()?.try_into().ok()?,
        };
        Some(TxtKey(octets))
    }

    /// What a text says; none where it was not encrypted with this key.
    pub fn open(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut octets = base64::decode::<Vec<u8>>(str::from_utf8(text).ok()?).ok()?;
        let (nonce, sealed) = octets.split_at_mut_checked(NONCE_LEN)?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &self.0).expect("the key has its length"));
        let nonce = Nonce::try_assume_unique_for_key(nonce).expect("the nonce has its length");
        let packed = key.open_in_place(nonce, Aad::empty(), sealed).ok()?;
        let mut opened = Vec::new();
        GzDecoder::new(&*packed).take(MAX_TEXT).read_to_end(&mut opened).ok()?;
        Some(opened)
    }
}

/// Whether a text may be an encrypted one: base64 of more than a nonce and the tag of AES-256-GCM.
pub fn may_be_sealed(text: &[u8]) -> bool {
    let octets = str::from_utf8(text).ok().and_then(|text| base64::decode::<Vec<u8>>(text).ok());
    octets.is_some_and(|octets| octets.len() > NONCE_LEN + AES_256_GCM.tag_len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_octets_or_base64_and_is_not_printed() {
        let octets = b"0123456789abcdef0123456789abcdef";
        let base64 = format!("{}\n", base64::encode_string(octets));
        assert_eq!(TxtKey::parse(octets), TxtKey::parse(base64.as_bytes()));
        assert_eq!(format!("{:?}", TxtKey::parse(octets).unwrap()), "TxtKey(…)");
        for wrong in [&b""[..], b"short", b"0123456789abcdef0123456789abcde", "\u{e4}".as_bytes()] {
            assert!(TxtKey::parse(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn what_was_not_encrypted_with_the_key_is_not_opened() {
        let key = TxtKey::parse(b"0123456789abcdef0123456789abcdef").unwrap();
        for text in ["", "heritage=external-dns", "AAAA", &"A".repeat(64)] {
            assert_eq!(key.open(text.as_bytes()), None);
        }
    }
}
