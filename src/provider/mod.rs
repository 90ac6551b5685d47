//! Providers: how targets of each type are read and written.
//!
//! Comes in: a target's settings. Goes out: the target, opened as `target` describes it. A new provider is a folder and a
//! word in the list below; no other code names a provider.

pub mod at_once;

mod aws;

mod azure_dns;

pub mod cache;

mod credentials;

pub mod dns_server;

#[cfg(test)]
pub mod double_asker;

#[cfg(test)]
mod each_right;

mod entra;

mod entries;

pub mod examine;

mod exchange;

mod in_turn;

mod limits;

pub mod memory;

pub mod outage;

mod pace;

mod record_sets;

pub mod secret;

pub mod txt_key;

mod surroundings;

pub mod token;

mod url;

mod zone_ids;

mod id_ends;

use std::path::Path;

use crate::diag::{Diagnostics, Origin, Problem};
use crate::dns::{Name, ZoneName};
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, SourceText};
use crate::inventory::pool::TargetSpec;
use crate::inventory::value::Time;
use crate::target::{NameServer, OpenedTarget, ReadTarget, RecordBounds, TargetCapabilities, TargetSet, WriteTarget};

/// Declares the providers: each word is a module with a `PROVIDER`, and what `type` says, unless a text behind it does.
macro_rules! providers {
    ($($(#[$attribute:meta])* $name:ident $(= $word:literal)?,)*) => {
        $($(#[$attribute])* mod $name;)*

        /// All providers, each with what `type` says.
        const PROVIDERS: &[(&str, Provider)] =
            &[$($(#[$attribute])* (providers!(@word $name $($word)?), $name::PROVIDER),)*];
    };
    (@word $name:ident) => { stringify!($name) };
    (@word $name:ident $word:literal) => { $word };
}

providers! {
    azure,
    azure_private = "azure-private",
    cloudmap,
    etcd,
    powerdns,
    rfc2136,
    route53,
    zonefile,
    #[cfg(test)]
    sample,
}

#[cfg(test)]
pub use azure_dns::testing as azure_double;
#[cfg(test)]
pub use cloudmap::testing as cloudmap_double;
#[cfg(test)]
pub use route53::testing as route53_double;
#[cfg(test)]
pub use sample::primary as sample_primary;

use self::cache::Cache;
use self::examine::{Capabilities, TargetExamined};
pub use zonefile::text::parse_text;
pub use zonefile::{file_name, read_in};

/// One provider.
struct Provider {
    /// What a target can do, by settings that may be wrong.
    capabilities: fn(&SettingsNode) -> TargetCapabilities,
    /// Checks settings without using them.
    check: fn(&SettingsNode, &SourceText) -> Diagnostics,
    /// The names of servers in the settings, each with its place; without addresses.
    server_names: fn(&SettingsNode) -> Vec<(Name, Origin)>,
    /// The key of the table that gives ids to zones by their names, where there is one.
    zone_ids: Option<&'static str>,
    /// Where the target's copies are, for settings that [`check`] passed.
    endpoints: for<'s> fn(&'s SettingsNode) -> Vec<TargetEndpoint<'s>>,
    /// What people call the target: a server, a folder.
    place: fn(&SettingsNode) -> String,
    /// Opens a target to read it.
    open: fn(&SettingsNode, &ProviderContext<'_>) -> OpenedReader,
    /// Opens a target to write to it.
    open_writer: fn(&SettingsNode, &ProviderContext<'_>) -> OpenedWriter,
    /// Which records a target takes; where its settings do not say, it is asked.
    bounds: fn(&SettingsNode, &ProviderContext<'_>) -> RecordBounds,
    /// Looks at a target and some of its zones.
    examine: fn(&SettingsNode, &ProviderContext<'_>, &[&ZoneName]) -> TargetExamined,
}

/// One place where the copies of a target are, so that two targets are found that share them.
#[derive(Debug)]
pub struct TargetEndpoint<'s> {
    /// The place in one spelling, with the key that is used there where that decides what is seen.
    pub identity: String,
    /// The setting that names it.
    pub node: &'s SettingsNode,
}

/// The way to read a target, or why there is none.
pub type OpenedReader = Result<Box<dyn ReadTarget>, Problem>;

/// The way to write to a target, or why there is none.
pub type OpenedWriter = Result<Box<dyn WriteTarget>, Problem>;

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
    /// Whether marks at RRsets of the target tell who owns them: [`crate::target::MarkPlace`].
    pub has_marks: bool,
}

impl<'a> ProviderContext<'a> {
    /// The same for one target.
    fn of(&self, target: &TargetSpec) -> ProviderContext<'a> {
        ProviderContext { has_marks: target.has_marks, ..*self }
    }
}

/// The provider of a type; none where the type is unknown.
fn named(provider: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|(name, _)| *name == provider).map(|(_, provider)| provider)
}

/// The provider of a target whose settings [`check`] passed.
fn of_target(target: &TargetSpec) -> &'static Provider {
    named(&target.provider).expect("`check` passed the type")
}

/// Which records a target takes whose settings [`check`] passed; where they do not say, its server is asked.
pub fn bounds(target: &TargetSpec, context: &ProviderContext<'_>) -> RecordBounds {
    (of_target(target).bounds)(&target.settings, &context.of(target))
}

/// Checks the settings of a target; an unknown type is a finding too.
pub fn check(target: &TargetSpec, source: &SourceText) -> Diagnostics {
    let TargetSpec { provider, settings, .. } = target;
    match named(provider) {
        Some(known) => (known.check)(settings, source),
        None => {
            let names: Vec<String> = PROVIDERS.iter().map(|(name, _)| format!("`{name}`")).collect();
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
pub fn server_names(target: &TargetSpec) -> Vec<(Name, Origin)> {
    named(&target.provider).map_or_else(Vec::new, |known| (known.server_names)(&target.settings))
}

/// The zones to which the settings of a target give ids, as they are written there.
pub fn zones_with_ids(target: &TargetSpec) -> Vec<&SettingsKey> {
    let node = named(&target.provider).and_then(|known| target.settings.get(known.zone_ids?));
    let Some(SettingsValue::Table(entries)) = node.map(|node| &node.value) else { return Vec::new() };
    entries.iter().map(|(zone, _)| zone).collect()
}

/// Where the copies of a target are; an unknown type has no place.
pub fn endpoints(target: &TargetSpec) -> Vec<TargetEndpoint<'_>> {
    named(&target.provider).map_or_else(Vec::new, |known| (known.endpoints)(&target.settings))
}

/// What people call a target: the first of its servers, or its folder; empty for an unknown type.
pub fn place(target: &TargetSpec) -> String {
    named(&target.provider).map_or_else(String::new, |known| (known.place)(&target.settings))
}

/// What a target can do by its type and its settings; none where the type is unknown.
pub fn capabilities(target: &TargetSpec) -> Option<TargetCapabilities> {
    named(&target.provider).map(|known| (known.capabilities)(&target.settings))
}

/// Opens a target whose settings [`check`] passed, to read it.
///
/// Errors: settings that only use can judge, such as a secret that cannot be read.
pub fn open(target: &TargetSpec, context: &ProviderContext<'_>) -> OpenedReader {
    (of_target(target).open)(&target.settings, &context.of(target))
}

/// Opens a target whose settings [`check`] passed, to write to it.
///
/// Errors: as for [`open`].
pub fn open_writer(target: &TargetSpec, context: &ProviderContext<'_>) -> OpenedWriter {
    (of_target(target).open_writer)(&target.settings, &context.of(target))
}

/// Opens targets as [`open`] does.
pub fn open_all<'s>(
    targets: impl Iterator<Item = &'s TargetSpec>,
    context: &ProviderContext<'_>,
) -> TargetSet<dyn ReadTarget> {
    targets.map(|target| OpenedTarget { id: target.id.clone(), access: open(target, context) }).collect()
}

/// Opens targets as [`open_writer`] does.
pub fn open_all_writers<'s>(
    targets: impl Iterator<Item = &'s TargetSpec>,
    context: &ProviderContext<'_>,
) -> TargetSet<dyn WriteTarget> {
    targets.map(|target| OpenedTarget { id: target.id.clone(), access: open_writer(target, context) }).collect()
}

/// Checks the settings of a name server of a pool, which is asked and never written to.
pub fn check_name_server(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    dns_server::name_server::check(settings, source)
}

/// The address of a name server whose settings [`check_name_server`] passed.
pub fn name_server_place(settings: &SettingsNode, source: &SourceText) -> String {
    dns_server::name_server::address(settings, source)
}

/// Opens a name server whose settings [`check_name_server`] passed.
///
/// Errors: settings that only use can judge, such as a secret that cannot be read.
pub fn open_name_server(
    settings: &SettingsNode,
    context: &ProviderContext<'_>,
) -> Result<Box<dyn NameServer>, Problem> {
    dns_server::name_server::open(settings, context)
}

/// Looks at a target whose settings [`check`] passed, and at these zones on it; what does not work is among the facts.
pub fn examine(target: &TargetSpec, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let known = of_target(target);
    let examined = (known.examine)(&target.settings, &context.of(target), zones);
    let is_reached = examined.places.first().is_some_and(|primary| primary.fault.is_none());
    let can_sign = examined.key.as_ref().is_none_or(|key| key.fault.is_none());
    let capabilities = match open_writer(target, context) {
        Ok(writer) if is_reached && can_sign => {
            let updates = zones.iter().map(|zone| examine::try_update(&*writer, zone)).collect();
            let pace = zones.first().map(|zone| writer.open(zone).window());
            Capabilities::Asked { updates, pace }
        }
        _ => Capabilities::NotAsked,
    };
    TargetExamined { capabilities, ..examined }
}
