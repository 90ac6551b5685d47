//! An etcd, looked at: whether it answers, and what is below the prefix.

use super::checked;
use super::client::EtcdClient;
use super::settings;
use super::target::{EtcdReader, EtcdZone};
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::examine::{TargetExamined, look_by_api, not_opened};

/// Looks at the etcd of a target, and at these zones there.
pub fn examine(node: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let (settings, place) = (checked(node, context), settings::place(node));
    let place = match EtcdClient::open(&settings, context.workspace) {
        Err(fault) => not_opened(place, fault),
        Ok(client) => {
            let reader = EtcdReader { client, settings, has_marks: context.has_marks };
            let parts = |EtcdZone { contents, opaque, octets, .. }| (contents, opaque, octets);
            look_by_api(place, zones, |zone| reader.read(zone).map(parts))
        }
    };
    TargetExamined::by_api(place)
}
