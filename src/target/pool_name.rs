//! The name of a pool.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::document::text_in_documents;

/// The name of a pool: letters, digits, `-`, `_` and `.`. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolName(Arc<str>);

impl PoolName {
    /// The name of a pool that is not known: an earlier version did not keep it, or the zone is no
    /// longer configured.
    pub fn unknown() -> PoolName {
        PoolName("-".into())
    }

    /// The place of what DNS update records published that are no longer there under their names: any record may be one of them
    /// under another name, and no other pool. No pool can have this name.
    pub fn gone_record() -> PoolName {
        PoolName("=".into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PoolName {
    type Err = String;

    fn from_str(text: &str) -> Result<PoolName, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !text.is_empty() && text.chars().all(is_plain) {
            Ok(PoolName(text.into()))
        } else {
            Err(format!("`{text}` cannot be the name of a pool"))
        }
    }
}

text_in_documents!(PoolName, str::parse);
