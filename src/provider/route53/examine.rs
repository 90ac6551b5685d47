//! Route 53, looked at: who asks, and what it says of zones.

use super::settings;
use super::target::Route53Zone;
use super::{checked, reader};
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::examine::{TargetExamined, look_by_api, not_opened};

/// Looks at the account of a target, and at these zones there.
pub fn examine(node: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let place = match reader(checked(node, context), context, settings::place(node)) {
        Err(problem) => not_opened(settings::place(node), problem),
        Ok(reader) => {
            let place = reader.client.0.login.asked_at(&reader.place);
            let parts = |Route53Zone { contents, opaque, octets, .. }| (contents, opaque, octets);
            look_by_api(place, zones, |zone| reader.read(zone).map(parts))
        }
    };
    TargetExamined::by_api(place)
}
