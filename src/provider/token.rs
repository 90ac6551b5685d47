//! Where the bearer token of a service is.

use std::path::Path;
use std::time::Duration;

use super::secret::{SecretHints, SecretSource};
use crate::diag::{Diagnostics, Problem};
use crate::inventory::node::{SettingsNode, SourceText};

/// How long a command may take that gives the token.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be there.
const HINTS: SecretHints = SecretHints {
    file: "make the file with the token alone, as its service gave it, and run `chmod 600` on it",
    variable: "set it to the token alone, as its service gave it",
    command: "run it by hand: it must print the token alone and exit with 0",
};

/// Checks the settings of a token without using them.
pub fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    SecretSource::of_table(settings, source).1
}

/// Fetches a token, whose settings [`check`] passed.
///
/// Errors: it cannot be had, or has characters that no token has (RFC 6750 section 2.1).
pub fn fetch(settings: &SettingsNode, source: &SourceText, workspace: &Path) -> Result<String, Problem> {
    let from = SecretSource::of_table(settings, source).0.expect("`check` passed the settings");
    fetch_word(&from, workspace, ("token", HINTS))
}

/// Fetches a secret of one word; `what` is what it is called, with what is to be there.
///
/// Errors: as for [`fetch`].
pub fn fetch_word(from: &SecretSource, workspace: &Path, what: (&str, SecretHints)) -> Result<String, Problem> {
    let octets = from.fetch_text(workspace, (PATIENCE, what.1))?;
    let text = String::from_utf8_lossy(&octets);
    let word = text.trim();
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_graphic()) {
        let message = format!("what is in {from} is no {}: one word of letters, digits and signs of ASCII", what.0);
        let hint = format!("put the {} alone into it, as its service gave it", what.0);
        return Err(Problem::new(from.to_string(), "secret-malformed", message).hint(hint));
    }
    Ok(word.to_owned())
}
