//! A record type in documents: its mnemonic. The type is of another crate, so that its fields name this module.

use serde::{Deserializer, Serializer};

use super::Rtype;
use crate::document::read_exact;

/// Writes its mnemonic.
pub fn serialize<S: Serializer>(rtype: &Rtype, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(rtype)
}

/// Reads its mnemonic.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rtype, D::Error> {
    read_exact(deserializer, |text| text.parse().map_err(|_| format!("`{text}` is not a type of records")))
}
