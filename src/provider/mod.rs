//! Targets: where zones are read from, and later written to.
//!
//! Comes in: a target's settings and the name of a zone. Goes out: the zone's contents, whole, or an error that names the
//! cause. A new provider is a folder and a word in the list below; nothing elsewhere names one.

use std::fmt;
use std::path::Path;

use crate::diag::{Diagnostics, Files};
use crate::dns::{ZoneContents, ZoneName};
use crate::inventory::config::node::{Node, SourceText};

/// Declares the providers: each word is a module, and an entry of the table.
macro_rules! providers {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// All providers.
        const PROVIDERS: &[Provider] =
            &[$(Provider { name: stringify!($name), check: $name::check, open: $name::open },)*];
    };
}

providers! {
    rfc2136,
    zonefile,
}

/// One provider.
struct Provider {
    /// What `type` says.
    name: &'static str,
    /// Checks settings without using them.
    check: fn(&Node, &SourceText) -> Diagnostics,
    /// Makes a reader from settings.
    open: fn(&Node, &Context<'_>) -> Result<Box<dyn ReadZone>, ReadError>,
}

/// What a provider needs beside its settings.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The folder of the workspace: paths in settings are relative to it.
    pub workspace: &'a Path,
    /// The text of the settings file, for diagnostics.
    pub source: &'a SourceText,
}

/// Reads zones of one target. Zones may be read side by side.
pub trait ReadZone: Send + Sync {
    /// Reads one zone whole.
    ///
    /// Errors: whatever keeps the zone from being known; nothing is ever left out in silence.
    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, ReadError>;
}

/// A zone, read whole.
#[derive(Debug)]
pub struct ZoneRead {
    /// What it holds.
    pub contents: ZoneContents,
    /// The files that it was read from, by their names in messages, with their SHA-256 in hexadecimal; empty for servers.
    pub inputs: Vec<(String, String)>,
}

/// Why a zone could not be read.
#[derive(Debug)]
pub struct ReadError {
    /// Where: a file, or server and zone.
    pub place: String,
    /// A stable kebab-case code.
    pub code: &'static str,
    /// What happened: lower case, no full stop.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
    /// What was found in files, with the files.
    pub findings: Option<(Files, Diagnostics)>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: error[{}]: {}", self.place, self.code, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Checks the settings of a target of type `provider`; an unknown type is a finding too.
pub fn check(provider: &str, settings: &Node, source: &SourceText) -> Diagnostics {
    match PROVIDERS.iter().find(|known| known.name == provider) {
        Some(known) => (known.check)(settings, source),
        None => {
            let names: Vec<String> = PROVIDERS.iter().map(|known| format!("`{}`", known.name)).collect();
            let message = format!("`{provider}` is no type of target");
            let hint = format!("the types are {}", names.join(", "));
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(source.error("unknown-target", settings.origin, settings.width, message).hint(hint));
            diagnostics
        }
    }
}

/// Makes a reader for a target whose settings [`check`] passed.
///
/// Errors: settings that only use can judge, such as a secret that cannot be read.
pub fn open(provider: &str, settings: &Node, context: &Context<'_>) -> Result<Box<dyn ReadZone>, ReadError> {
    let known = PROVIDERS.iter().find(|known| known.name == provider);
    (known.expect("`check` passed the type").open)(settings, context)
}
