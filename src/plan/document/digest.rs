//! SHA-256 in a plan: read and written as documents have it.

use serde::{Deserialize, Deserializer, Serializer};

use crate::disk::{DigestText, SHA256};

/// A digest that was read.
pub(super) struct HexDigest(pub String);

impl<'de> Deserialize<'de> for HexDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexDigest, D::Error> {
        deserialize(deserializer).map(HexDigest)
    }
}

/// Writes the digits of a digest.
pub fn serialize<S: Serializer>(digits: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&DigestText(digits))
}

/// Reads the digits of a digest.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text: std::borrow::Cow<'_, str> = Deserialize::deserialize(deserializer)?;
    let is_digit = |octet: u8| matches!(octet, b'0'..=b'9' | b'a'..=b'f');
    match text.strip_prefix(SHA256) {
        Some(digits) if digits.len() == 64 && digits.bytes().all(is_digit) => Ok(digits.to_owned()),
        _ => Err(serde::de::Error::custom(format_args!("`{text}` is not `{SHA256}` and 64 hexadecimal digits"))),
    }
}
