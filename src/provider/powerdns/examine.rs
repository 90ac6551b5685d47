//! A PowerDNS, looked at: whether its API answers, and what it says of zones.

use super::api::{ApiZone, PowerDnsApi};
use super::checked;
use super::settings::PowerDnsSettings;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::dns_server::examine::examine_key;
use crate::provider::examine::{Capabilities, PlaceExamined, ServerClock, TargetExamined, ZoneExamined, ZoneMeasures};

/// Looks at the API of a target, and at these zones there.
pub fn examine(settings: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let PowerDnsSettings { api, server } = checked(settings, context);
    let mut place = PlaceExamined { place: api.url.clone(), fault: None, clock: ServerClock::NotTold, zones: vec![] };
    match PowerDnsApi::open(api, context.workspace) {
        Err(fault) => place.fault = Some(fault),
        Ok(api) => look_at(&api, zones, &mut place),
    }
    TargetExamined {
        key: examine_key(server, context),
        signs: true,
        is_folder: false,
        transfers: true,
        places: vec![place],
        capabilities: Capabilities::NotAsked,
    }
}

/// Looks at zones; one that is not answered is the last.
fn look_at(api: &PowerDnsApi, zones: &[&ZoneName], place: &mut PlaceExamined) {
    for zone in zones {
        let read = api.read(zone);
        if let Err(fault) = &read
            && is_of_server(fault)
        {
            place.fault = Some(Problem { place: api.url().to_owned(), ..fault.clone() });
            return;
        }
        let serial = read.as_ref().ok().map(|read| read.contents.serial().into_int());
        let read = read.map(|ApiZone { contents, opaque, octets }| ZoneMeasures {
            opaque,
            ..ZoneMeasures::of(&contents, octets, None)
        });
        place.zones.push(ZoneExamined {
            zone: (*zone).clone(),
            authority: None,
            serial,
            read,
            without_key: None,
            writable: None,
        });
    }
}

/// Whether a fault is that of the server, and not of a zone.
fn is_of_server(fault: &Problem) -> bool {
    let code = fault.code.to_string();
    matches!(code.as_str(), "connect-failed" | "timeout" | "api-denied")
}
