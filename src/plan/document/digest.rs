//! SHA-256 in a document: `sha256:` and 64 hexadecimal digits. In memory the digits alone.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What comes before the digits.
const PREFIX: &str = "sha256:";

/// A digest as documents have it.
pub(super) struct DigestText<'a>(pub &'a str);

impl fmt::Display for DigestText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Serialize for DigestText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A digest that was read.
pub(super) struct HexDigest(pub String);

impl<'de> Deserialize<'de> for HexDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexDigest, D::Error> {
        deserialize(deserializer).map(HexDigest)
    }
}

/// Writes the digits of a digest.
pub fn serialize<S: Serializer>(digits: &str, serializer: S) -> Result<S::Ok, S::Error> {
    DigestText(digits).serialize(serializer)
}

/// Reads the digits of a digest.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text: std::borrow::Cow<'_, str> = Deserialize::deserialize(deserializer)?;
    let is_digit = |octet: u8| matches!(octet, b'0'..=b'9' | b'a'..=b'f');
    match text.strip_prefix(PREFIX) {
        Some(digits) if digits.len() == 64 && digits.bytes().all(is_digit) => Ok(digits.to_owned()),
        _ => Err(serde::de::Error::custom(format_args!("`{text}` is not `{PREFIX}` and 64 hexadecimal digits"))),
    }
}

/// SHA-256 as documents write it.
pub(super) fn shown(digest: &[u8]) -> String {
    let digits: String = digest.iter().map(|octet| format!("{octet:02x}")).collect();
    DigestText(&digits).to_string()
}
