//! Zones of PowerDNS: read by its API, written by UPDATE, or by the API alone.
//!
//! The API gives whole zones where no transfer is allowed, and says what no transfer shows: records that are switched off.
//! It compares nothing before it writes, so that updates go to the server by RFC 2136, with prerequisites and a marker, unless
//! the settings say that nothing else writes. Then each write is compared with what was read right before it, and its serial
//! says afterwards whether others wrote in between.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `document` | pure: what the API says of a zone, to its contents |
//! | `api` | asks the API |
//! | `patch` | pure: an update to a request, by what was read, and whether others wrote in between |
//! | `target` | reads, and writes by updates |
//! | `by_api` | writes by the API |
//! | `examine` | looks at what works |

mod api;
mod by_api;
mod document;
mod examine;
mod patch;
mod settings;
mod target;

use super::dns_server::settings::POWERDNS_TYPES;
use super::{OpenedReader, OpenedWriter, Provider, ProviderContext};
use crate::diag::Diagnostics;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::target::{
    AtomicUnit, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, ZoneFence, ZoneHome, ZoneMaking,
};

use self::api::PowerDnsApi;
use self::by_api::ApiWriter;
use self::examine::examine;
use self::settings::{PowerDnsSettings, PowerDnsWrites, endpoints, place, server_names, writes_by_api};
use self::target::{PowerDnsReader, PowerDnsWriter};

/// PowerDNS with its API. Any client of either may write to its zones.
pub const PROVIDER: Provider = Provider {
    capabilities,
    check,
    server_names,
    zone_ids: None,
    endpoints,
    place,
    open,
    open_writer,
    bounds,
    examine,
};

/// What UPDATE can do, or the API by itself; that makes and deletes zones.
fn capabilities(settings: &SettingsNode) -> TargetCapabilities {
    let by_update = (AtomicUnit::Message, super::dns_server::LIMITS, RrsetComparison::Records, ZoneFence::Marker);
    let by_api = (AtomicUnit::Request, patch::LIMITS, RrsetComparison::Nothing, ZoneFence::None);
    let (unit, limits, comparison, fence) = if writes_by_api(settings) { by_api } else { by_update };
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: ZoneMaking { creates: true, deletes: true, never: None },
        unit,
        limits,
        comparison,
        fence,
        bounds: RecordBounds::of_types(POWERDNS_TYPES),
        proof: PublicationProof::ReadBack,
        pace: None,
        marks: None,
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(settings, source).1
}

/// The settings, which [`check`] passed.
fn checked(settings: &SettingsNode, context: &ProviderContext<'_>) -> PowerDnsSettings {
    settings::parse(settings, context.source).0.expect("`check` passed the settings")
}

/// Opens a target; fetches the API's key.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    let api = PowerDnsApi::open(checked(settings, context).api, context.workspace)?;
    Ok(Box::new(PowerDnsReader { api }))
}

/// Opens a target to write to it; fetches the API's key and that of updates.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let PowerDnsSettings { api, writes } = checked(settings, context);
    let api = PowerDnsApi::open(api, context.workspace)?;
    Ok(match writes {
        PowerDnsWrites::Update(server) => {
            Box::new(PowerDnsWriter { api, primary: super::dns_server::open_primary(*server, context)? })
        }
        PowerDnsWrites::Api => Box::new(ApiWriter { api }),
    })
}

/// Which records the server takes; it need not be asked.
fn bounds(_: &SettingsNode, _: &ProviderContext<'_>) -> RecordBounds {
    RecordBounds::of_types(POWERDNS_TYPES)
}
