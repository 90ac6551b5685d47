//! A PowerDNS, looked at: whether its API answers, and what it says of zones.

use super::api::{ApiZone, PowerDnsApi};
use super::checked;
use super::settings::{PowerDnsSettings, PowerDnsWrites};
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::dns_server::examine::examine_key;
use crate::provider::examine::{TargetExamined, look_by_api, not_opened};

/// Looks at the API of a target, and at these zones there.
pub fn examine(settings: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let PowerDnsSettings { api, writes } = checked(settings, context);
    let place = api.url.clone();
    let place = match PowerDnsApi::open(api, context.workspace) {
        Err(fault) => not_opened(place, fault),
        Ok(api) => {
            let parts = |ApiZone { contents, opaque, octets, .. }| (contents, opaque, octets);
            look_by_api(place, zones, |zone| api.read(zone).map(parts))
        }
    };
    let (key, signs) = match writes {
        PowerDnsWrites::Update(server) => (examine_key(*server, context), true),
        PowerDnsWrites::Api => (None, false),
    };
    TargetExamined { key, signs, ..TargetExamined::by_api(place) }
}
