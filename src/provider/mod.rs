//! Targets: where zones are read from and written to.
//!
//! Comes in: a target's settings and the name of a zone. Goes out: the zone's contents, whole, or an error that names
//! the cause; and the outcomes of the updates that were sent to it ([`mod@write`]). A new provider is a folder and a
//! word in the list below; no other code names a provider.

pub mod answers;

pub mod cache;

mod entries;

pub mod examine;

pub mod memory;

pub mod outage;

pub mod secret;

pub mod write;

use std::path::Path;
use std::time::Duration;

use crate::diag::{Diagnostics, FileFindings, Origin, Problem};
use crate::dns::{Name, Rtype, ZoneContents, ZoneName};
use crate::inventory::config::node::{SettingsNode, SourceText, TableReader};
use crate::inventory::value::{self, Time};
use crate::live::asked::{Answer, NameExistence, Question};

/// Declares the providers: each word is a module, and an entry of the table.
macro_rules! providers {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// All providers.
        const PROVIDERS: &[Provider] =
            &[$(Provider {
                name: stringify!($name),
                check: $name::check,
                server_names: $name::server_names,
                place: $name::place,
                is_local: $name::IS_LOCAL,
                is_fenced: $name::IS_FENCED,
                open: $name::open,
                open_writer: $name::open_writer,
                examine: $name::examine,
            },)*];
    };
}

providers! {
    rfc2136,
    zonefile,
}

use self::cache::Cache;
use self::examine::{Capabilities, TargetExamined};
use self::write::WriteZone;
pub use rfc2136::find_apexes;
pub use zonefile::text::{RdataCheck, parse_text};
pub use zonefile::{file_name, read_in};

/// One provider.
struct Provider {
    /// What `type` says.
    name: &'static str,
    /// Checks settings without using them.
    check: fn(&SettingsNode, &SourceText) -> Diagnostics,
    /// The names of servers in the settings, each with its place; without addresses.
    server_names: fn(&SettingsNode) -> Vec<(Name, Origin)>,
    /// What people call the target: a server, a folder.
    place: fn(&SettingsNode) -> String,
    /// Whether zones are files of the workspace, so that reading them asks no server.
    is_local: bool,
    /// Whether others may write at the same time, so that a marker fences each zone unless its settings say otherwise.
    is_fenced: bool,
    /// Opens a target by its settings.
    open: fn(&SettingsNode, &ProviderContext<'_>) -> OpenedTarget,
    /// Opens a target to write to it.
    open_writer: fn(&SettingsNode, &ProviderContext<'_>) -> OpenedWriter,
    /// Looks at a target and some of its zones.
    examine: fn(&SettingsNode, &ProviderContext<'_>, &[&ZoneName]) -> TargetExamined,
}

/// The way into a target, or why there is none.
type OpenedTarget = Result<TargetAccess, Problem>;

/// The way to write to a target, or why there is none.
type OpenedWriter = Result<Box<dyn WriteZone>, Problem>;

/// How the zones of a target are read.
pub enum TargetAccess {
    /// Each is read whole.
    Whole(Box<dyn ReadZone>),
    /// Names are asked for one by one.
    ByName(Box<dyn AskZone>),
    /// Each is read whole, or where few names of it are wanted these are asked for.
    Either(Box<dyn ReadOrAsk>),
}

/// What a provider needs in addition to its settings.
#[derive(Debug, Clone, Copy)]
pub struct ProviderContext<'a> {
    /// The folder of the workspace: paths in settings are relative to it.
    pub workspace: &'a Path,
    /// The text of the settings file, for diagnostics.
    pub source: &'a SourceText,
    /// The clock, for serials that contain dates.
    pub now: Time,
    /// Where zones are kept from run to run, and how large each was last; `None` where that is not to be known.
    pub cache: Option<&'a Cache>,
}

/// Reads zones of one target. Zones may be read side by side.
pub trait ReadZone: Send + Sync {
    /// Reads one zone whole.
    ///
    /// Errors: any reason why the zone is not fully known; nothing is left out in silence.
    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem>;

    /// Gets the zones that are about to be read, so that it can ask about all of them at once.
    fn prepare(&self, _zones: &[&ZoneName]) {}
}

/// Asks for single names in the zones of one target. Zones may be asked side by side.
pub trait AskZone: Send + Sync {
    /// Where a zone is asked for, as errors name it.
    fn place(&self, zone: &ZoneName) -> String;

    /// Asks for names of one zone; gives the answers in the order of the questions.
    ///
    /// Errors: any reason why the authority for the zone did not answer a question.
    fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem>;

    /// Asks whether names of one zone exist; gives the answers in the order of the names.
    ///
    /// Errors: as for [`AskZone::ask`].
    fn find(&self, zone: &ZoneName, names: &[Name]) -> Result<Vec<NameExistence>, Problem>;
}

/// Reads zones of one target whole, or asks for single names in them.
pub trait ReadOrAsk: ReadZone + AskZone {}

/// What a question costs a server, and what a record of a transfer does, in microseconds (BIND 9.18, measured).
const COSTS: (u64, u64) = (11, 2);

/// Whether a transfer of so many records costs a server less than so many questions.
pub fn transfer_is_cheaper(questions: u64, records: u64) -> bool {
    let (question, record) = COSTS;
    record.saturating_mul(records) < question.saturating_mul(questions)
}

/// A zone, read whole.
#[derive(Debug)]
pub struct ZoneRead {
    /// What it holds.
    pub contents: ZoneContents,
    /// The files that it was read from, by their names in messages, with their SHA-256 in hexadecimal; empty for
    /// servers.
    pub inputs: Vec<(String, String)>,
    /// Warnings about those files, with the files; `None` where there are no files.
    pub findings: Option<Box<FileFindings>>,
}

/// Checks the settings of a target of type `provider`; an unknown type is a finding too.
pub fn check(provider: &str, settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    match PROVIDERS.iter().find(|known| known.name == provider) {
        Some(known) => (known.check)(settings, source),
        None => {
            let names: Vec<String> = PROVIDERS.iter().map(|known| format!("`{}`", known.name)).collect();
            let message = format!("`{provider}` is not a type of target");
            let hint = format!("the types are {}", names.join(", "));
            let mut diagnostics = Diagnostics::default();
            let place = settings.get("type").unwrap_or(settings);
            diagnostics.push(source.error("unknown-target", place.origin, place.width, message).hint(hint));
            diagnostics
        }
    }
}

/// The names of the servers of a target, each with its place in the settings; an unknown type has none.
pub fn server_names(provider: &str, settings: &SettingsNode) -> Vec<(Name, Origin)> {
    let known = PROVIDERS.iter().find(|known| known.name == provider);
    known.map_or_else(Vec::new, |known| (known.server_names)(settings))
}

/// What people call a target: the first of its servers, or its folder; empty for an unknown type.
pub fn place(provider: &str, settings: &SettingsNode) -> String {
    let known = PROVIDERS.iter().find(|known| known.name == provider);
    known.map_or_else(String::new, |known| (known.place)(settings))
}

/// Whether the zones of a target of this type are files of the workspace; an unknown type has none.
pub fn is_local(provider: &str) -> bool {
    PROVIDERS.iter().any(|known| known.name == provider && known.is_local)
}

/// Opens a target whose settings [`check`] passed.
///
/// Errors: settings that only use can judge, such as a secret that cannot be read.
pub fn open(provider: &str, settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedTarget {
    let known = PROVIDERS.iter().find(|known| known.name == provider);
    (known.expect("`check` passed the type").open)(settings, context)
}

/// Opens a target whose settings [`check`] passed, to write to it.
///
/// Errors: as for [`open`].
pub fn open_writer(provider: &str, settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let known = PROVIDERS.iter().find(|known| known.name == provider);
    (known.expect("`check` passed the type").open_writer)(settings, context)
}

/// Whether a marker fences the zones of a target of this type where their settings do not say.
pub fn is_fenced(provider: &str) -> bool {
    PROVIDERS.iter().any(|known| known.name == provider && known.is_fenced)
}

/// Looks at a target whose settings [`check`] passed, and at these zones on it; what does not work is among the facts.
pub fn examine(
    provider: &str,
    settings: &SettingsNode,
    context: &ProviderContext<'_>,
    zones: &[&ZoneName],
) -> TargetExamined {
    let known = PROVIDERS.iter().find(|known| known.name == provider).expect("`check` passed the type");
    let examined = (known.examine)(settings, context, zones);
    let is_reached = examined.places.first().is_some_and(|primary| primary.fault.is_none());
    let can_sign = examined.key.as_ref().is_none_or(|key| key.fault.is_none());
    let capabilities = match (known.open_writer)(settings, context) {
        Ok(writer) if is_reached && can_sign => {
            Capabilities::Asked(zones.iter().map(|zone| examine::try_update(&*writer, zone)).collect())
        }
        _ => Capabilities::NotAsked,
    };
    TargetExamined { capabilities, ..examined }
}

/// How records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMethod {
    /// The zone is transferred whole.
    Axfr,
    /// Names are asked for one by one.
    Query,
    /// The zone is transferred whole, unless few names of it are wanted.
    Auto,
}

/// Settings of the exchange with a target, which targets of all types may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExchangeSettings {
    /// How long one message may take.
    timeout: Duration,
    /// How records are read.
    read: ReadMethod,
    /// How many messages may be in flight, where that is said.
    window: Option<u16>,
}

/// How long one message may take where the settings say nothing: 30 s, as BIND waits for an idle client
/// (`tcp-idle-timeout`).
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest `timeout`: an hour, beyond which a slip of the pen is likelier than a server.
const MAX_TIMEOUT: u64 = 3600;

/// The most messages in flight: more than message IDs are there for (RFC 1035 section 4.1.1).
const MAX_WINDOW: u16 = u16::MAX;

impl ExchangeSettings {
    /// Reads `timeout`, `window` and `read`.
    fn parse(reader: &mut TableReader<'_>) -> ExchangeSettings {
        let timeout = reader.take("timeout").and_then(|node| {
            let timeout = reader.parse_node::<value::Duration>(node, "a length of time such as `30s`")?.as_secs();
            if !(1..=MAX_TIMEOUT).contains(&timeout) {
                reader.error(node, "bad-value", "a deadline must be between `1s` and `1h`");
                return None;
            }
            Some(Duration::from_secs(timeout))
        });
        let methods = [("axfr", ReadMethod::Axfr), ("query", ReadMethod::Query), ("auto", ReadMethod::Auto)];
        let read = reader.choice("read", &methods).unwrap_or(ReadMethod::Axfr);
        let window = reader.integer("window").and_then(|(node, window)| {
            let valid = u16::try_from(window).ok().filter(|window| *window > 0);
            if valid.is_none() {
                reader.error(node, "bad-value", format!("`{window}` is not a number of 1 to {MAX_WINDOW}"));
            }
            valid
        });
        ExchangeSettings { timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), read, window }
    }
}

/// Whether records of a type can be in a zone (RFC 6895 section 3.1: 128 to 255 are types of questions and messages,
/// and
/// 41 is EDNS).
pub fn is_zone_data(rtype: Rtype) -> bool {
    !matches!(rtype.to_int(), 0 | 41 | 128..=255)
}
