//! The key of messages: from its settings, with its secret.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::dep::octseq::array::Array;
use domain::tsig::{Key, KeyName};

use super::settings::KeySettings;
use crate::diag::Problem;

/// Fetches the secret of a key; a command that gives it may take as long as `patience`.
///
/// Errors: the secret cannot be had; without a place.
pub fn fetch(settings: &KeySettings, workspace: &Path, patience: Duration) -> Result<Arc<Key>, Problem> {
    let secret = settings.secret.fetch(workspace, patience)?;
    let name = Array::try_from(settings.name.as_name().as_wire()).expect("names have at most 255 octets");
    let name = KeyName::from_octets(name).expect("names are wire format");
    // Full length both ways: no signature may be truncated.
    let key = Key::new(settings.algorithm, secret.octets(), name, None, None).expect("no length is out of bounds");
    Ok(Arc::new(key))
}
