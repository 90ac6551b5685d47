//! An etcd, looked at: whether it answers, and what is below the prefix.

use super::checked;
use super::client::EtcdClient;
use super::settings;
use super::target::{EtcdReader, EtcdZone};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::examine::{Capabilities, PlaceExamined, ServerClock, TargetExamined, ZoneExamined, ZoneMeasures};

/// Looks at the etcd of a target, and at these zones there.
pub fn examine(node: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let settings = checked(node, context);
    let mut place =
        PlaceExamined { place: settings::place(node), fault: None, clock: ServerClock::NotTold, zones: Vec::new() };
    match EtcdClient::open(&settings, context.workspace) {
        Err(fault) => place.fault = Some(fault),
        Ok(client) => look_at(&EtcdReader { client, settings }, zones, &mut place),
    }
    TargetExamined {
        key: None,
        signs: false,
        transfers: true,
        is_folder: false,
        places: vec![place],
        capabilities: Capabilities::NotAsked,
    }
}

/// Looks at zones; one that is not answered is the last.
fn look_at(reader: &EtcdReader, zones: &[&ZoneName], place: &mut PlaceExamined) {
    for zone in zones {
        let read = reader.read(zone);
        if let Err(fault) = &read
            && matches!(fault.code.as_str(), "connect-failed" | "timeout" | "api-denied")
        {
            place.fault = Some(Problem { place: place.place.clone(), ..fault.clone() });
            return;
        }
        let serial = read.as_ref().ok().map(|read| read.contents.serial().into_int());
        let read = read.map(|EtcdZone { contents, opaque, octets, .. }| ZoneMeasures {
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
