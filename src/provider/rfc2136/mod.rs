//! Zones of authoritative name servers that take UPDATE (RFC 2136), read by transfer or name by name.

use super::dns_server::examine::examine;
use super::dns_server::settings::{self, POWERDNS_TYPES, endpoints, place, server_names, zone_making};
use super::dns_server::version::{ServerSoftware, software};
use super::dns_server::{LIMITS, open_primary, open_servers};
use super::{OpenedReader, OpenedWriter, Provider, ProviderContext};
use crate::diag::Diagnostics;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::target::{
    AtomicUnit, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, ZoneFence, ZoneHome,
};

/// Name servers that take UPDATE. Any client with a key may write to their zones.
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

/// Prerequisites name no TTL (RFC 2136 section 2.4.2).
fn capabilities(settings: &SettingsNode) -> TargetCapabilities {
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: zone_making(settings),
        unit: AtomicUnit::Message,
        limits: LIMITS,
        comparison: RrsetComparison::Records,
        fence: ZoneFence::Marker,
        bounds: RecordBounds::of_types(settings::types(settings)),
        proof: PublicationProof::ReadBack,
        pace: None,
        marks: None,
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(settings, source).1
}

/// Opens a target; fetches the key's secret, unless a command gives it: that runs when the first message is signed.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    let settings = settings::parse(settings, context.source).0.expect("`check` passed the settings");
    Ok(Box::new(open_servers(settings, context)?))
}

/// Which records the server takes that is written to. One that does not say what it is takes all, as far as is known.
fn bounds(settings: &SettingsNode, context: &ProviderContext<'_>) -> RecordBounds {
    let said = RecordBounds::of_types(settings::types(settings));
    if settings.get("software").is_some() {
        return said;
    }
    let settings = settings::parse(settings, context.source).0.expect("`check` passed the settings");
    match software(&settings.servers[0], settings.exchange.timeout) {
        ServerSoftware::PowerDns => RecordBounds::of_types(POWERDNS_TYPES),
        ServerSoftware::Bind | ServerSoftware::Knot | ServerSoftware::Other => said,
    }
}

/// Opens a target to write to it; fetches the key's secret as [`open`] does.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let mut settings = settings::parse(settings, context.source).0.expect("`check` passed the settings");
    // One primary is fenced by its markers, not any of several.
    settings.servers.truncate(1);
    Ok(Box::new(open_primary(settings, context)?))
}
