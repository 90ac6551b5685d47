//! The manifest: which zones a snapshot holds, and what proves each of them.

use serde::{Deserialize, Serialize};

use super::is_of_record;
use crate::dns::{Name, RrsetMark, Rtype, ZoneName};
use crate::document::pretty;
use crate::inventory::value::Time;

/// What `format` says.
pub const FORMAT: &str = "zonewright.snapshot/1";

/// The document, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// The program that made it, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it was made.
    #[serde(with = "as_text")]
    pub created: Time,
    /// The copies of zones that were read, in the order of the configuration.
    pub zones: Vec<SavedZone>,
    /// The zones that could not be read, in the same order.
    pub unread: Vec<UnreadZone>,
}

/// How much of a zone was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZoneExtent {
    /// All of it.
    Whole,
    /// The records at some names, which this file lists.
    Asked(NamesFile),
}

/// The file of the names that a zone is known for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamesFile {
    /// Its name in the folder.
    pub file: String,
    /// Its digest.
    pub sha256: String,
}

/// A zone that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedZone {
    /// Its name.
    #[serde(with = "zone_name")]
    pub zone: ZoneName,
    /// The name of the target that has this copy, where its pool has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The name of its file in the folder.
    pub file: String,
    /// The digest of the file.
    pub sha256: String,
    /// How much of it was read.
    pub extent: ZoneExtent,
    /// The SOA's serial.
    pub serial: u32,
    /// How many RRsets it has.
    pub rrsets: u64,
    /// How many records it has.
    pub records: u64,
    /// The digest of its content, as plans have it.
    pub digest: String,
    /// What no RRset says; not in the file, and left out where there is nothing of that kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<SavedOpaque>,
    /// Whose RRsets are, where the target keeps that with them; not in the file, and left out where it keeps nothing of that kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<SavedMark>,
    /// Whether no name may be below another, since its server would answer with both; left out where it may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_flat: bool,
}

/// What is in a zone that no RRset says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedOpaque {
    /// The name that has it.
    pub name: String,
    /// What it is.
    pub what: String,
}

/// Whose an RRset is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedMark {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    pub rtype: Rtype,
    /// The mark.
    pub mark: RrsetMark,
}

/// A zone that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnreadZone {
    /// Its name.
    #[serde(with = "zone_name")]
    pub zone: ZoneName,
    /// The name of the target that has this copy, where its pool has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it went wrong: a file, or server and zone.
    pub place: String,
    /// The code of the error.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
}

impl Manifest {
    /// The text for a file, with a final newline.
    pub fn to_json(&self) -> String {
        pretty(self)
    }

    /// Reads a document.
    ///
    /// Errors: why it cannot be read, in lower case.
    pub fn parse(text: &[u8]) -> Result<Manifest, String> {
        match format_of(text).as_deref() {
            Some(FORMAT) => {}
            Some(other) => return Err(format!("its format is `{other}`, but this version reads only `{FORMAT}`")),
            None => return Err("it is not a JSON object with a `format`".to_owned()),
        }
        let manifest: Manifest = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let mut copies: Vec<_> = manifest.zones.iter().map(|saved| (&saved.zone, &saved.target)).collect();
        copies.extend(manifest.unread.iter().map(|unread| (&unread.zone, &unread.target)));
        copies.sort_unstable();
        // A zone without a target counts for all of its copies, and those of DNS update records are no copies of it.
        let is_copy = |target: &Option<String>| target.as_deref().is_some_and(|target| !is_of_record(target));
        let is_twice = |pair: &&[(&ZoneName, &Option<String>)]| {
            pair[0] == pair[1] || pair[0].0 == pair[1].0 && pair[0].1.is_none() && is_copy(pair[1].1)
        };
        match copies.windows(2).find(is_twice) {
            Some(pair) => Err(format!("the zone `{}` is in it twice", pair[0].0)),
            None => Ok(manifest),
        }
    }
}

/// What a document says its format is; `None` where it is not an object with a text of that name.
pub fn format_of(text: &[u8]) -> Option<String> {
    /// The one field that all versions have.
    #[derive(Deserialize)]
    struct AnyFormat {
        /// The format.
        format: String,
    }
    serde_json::from_slice(text).ok().map(|AnyFormat { format }| format)
}

/// Times as RFC 3339.
mod as_text {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::inventory::value::Time;

    /// Writes a time.
    pub fn serialize<S: Serializer>(time: &Time, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(time)
    }

    /// Reads a time.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|()| D::Error::custom(format!("`{text}` is not a time as in RFC 3339")))
    }
}

/// Zones by their names.
mod zone_name {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{Name, ZoneName};

    /// Writes a name.
    pub fn serialize<S: Serializer>(zone: &ZoneName, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(zone)
    }

    /// Reads a name.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ZoneName, D::Error> {
        let text = String::deserialize(from)?;
        Name::parse(&text)
            .map(ZoneName::new)
            .map_err(|error| D::Error::custom(format!("`{text}` is not a name: {error}")))
    }
}
