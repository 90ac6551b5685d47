//! Where the key is with which external-dns encrypted TXT of its registry.

use std::path::Path;
use std::time::Duration;

use super::secret::{SecretHints, SecretSource};
use crate::diag::{Diagnostics, Problem};
use crate::inventory::node::{SettingsNode, SourceText};

/// How long a command may take that gives the key.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a key is.
const HINT: &str = "`--txt-encrypt-aes-key` of external-dns has the key: 32 characters, or 32 bytes in base64";

/// Checks the settings of a key without using them.
pub fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    SecretSource::of_table(settings, source).1
}

/// Fetches the text of a key, whose settings [`check`] passed, and reads it with `read`.
///
/// Errors: it cannot be had, or is no key.
pub fn fetch<K>(
    settings: &SettingsNode,
    source: &SourceText,
    workspace: &Path,
    read: fn(&[u8]) -> Option<K>,
) -> Result<K, Problem> {
    let from = SecretSource::of_table(settings, source).0.expect("`check` passed the settings");
    let text = from.fetch_text(workspace, (PATIENCE, SecretHints { file: HINT, variable: HINT, command: HINT }))?;
    read(&text).ok_or_else(|| {
        let message = format!("the key from {from} is no key for AES-256");
        Problem::new(from.to_string(), "secret-malformed", message).hint(HINT)
    })
}
