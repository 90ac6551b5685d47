//! Live DNS on disk: a folder with one master file for each zone, and a manifest that proves them.
//!
//! Comes in: the contents of zones, whole or for some names, or why they could not be read. Goes out: a folder, whole
//! or not at all; and again from such a folder the same contents, octet for octet, or what is damaged. None of this
//! needs a server or a secret.

mod folder;

mod manifest;

mod names;

pub mod read;

mod text;

pub mod write;

use sha2::{Digest as _, Sha256};

use crate::disk::hex;
use crate::dns::ZoneName;

pub use manifest::{SavedZone, UnreadZone};
pub use read::{SavedLive, Snapshot};
pub use write::{SavedCopy, SnapshotWriter};

/// How much a snapshot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotCounts {
    /// Zones.
    pub zones: usize,
    /// Copies of them: more, where a pool has several targets.
    pub copies: usize,
    /// Records of all copies.
    pub records: usize,
    /// Copies that could not be read.
    pub unread: usize,
}

/// The name of the manifest in the folder.
const MANIFEST: &str = "manifest.json";

/// How the names of zone files end.
const SUFFIX: &str = ".zone";

/// How the names of files end that say which names a zone is known for.
const NAMES_SUFFIX: &str = ".names";

/// The longest stem of a file's name: most file systems take 255 octets, and a temporary name is longer.
const MAX_STEM: usize = 200;

/// What the target of a zone that a DNS update record publishes to begins with: no name of a target has a colon.
const OF_RECORD: &str = "record:";

/// What a snapshot calls the target of a DNS update record.
pub fn target_of_record(record: &str) -> String {
    format!("{OF_RECORD}{record}")
}

/// Whether a target is that of a DNS update record.
fn is_of_record(target: &str) -> bool {
    target.starts_with(OF_RECORD)
}

/// What the names of a zone's files begin with: letters, digits, hyphens, underscores and dots unchanged, other octets
/// as `%` and two hexadecimal digits; then `@` and the target, where one is given. A long name is cut, with a digest behind
/// a tilde. No two copies have the same file name.
fn file_stem(zone: &ZoneName, target: Option<&str>) -> String {
    let labels = zone.as_name().labels().map(|label| {
        let shown = label.iter().map(|octet| match octet {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(*octet).to_string(),
            other => format!("%{other:02x}"),
        });
        shown.collect::<String>()
    });
    let labels: Vec<String> = labels.collect();
    // Not every file system takes a colon.
    let at_target = target.map(|target| format!("@{}", target.replace(':', "@"))).unwrap_or_default();
    match labels.join(".") + &at_target {
        // A percent sign alone has no other meaning.
        root if labels.is_empty() => format!("%{root}"),
        long if long.len() > MAX_STEM => {
            let digest = hex(&Sha256::digest([zone.as_name().as_wire(), at_target.as_bytes()].concat()));
            format!("{}~{}", &long[..MAX_STEM - 33], &digest[..32])
        }
        stem => stem,
    }
}

#[cfg(test)]
mod tests;
