//! Azure DNS, looked at: who asks, and what it says of zones.

use super::service::AzureKind;
use super::settings;
use super::target::AzureContents;
use super::{checked, reader};
use crate::dns::ZoneName;
use crate::inventory::node::SettingsNode;
use crate::provider::ProviderContext;
use crate::provider::examine::{TargetExamined, look_by_api, not_opened};

/// Looks at the subscription of a target, and at these zones there.
pub fn examine(
    kind: AzureKind,
    node: &SettingsNode,
    context: &ProviderContext<'_>,
    zones: &[&ZoneName],
) -> TargetExamined {
    let place = match reader(kind, checked(kind, node, context), context, settings::place(kind, node)) {
        Err(problem) => not_opened(settings::place(kind, node), problem),
        Ok(reader) => {
            let place = format!("{}, asked by {}", reader.place, reader.client.login.source());
            let parts = |AzureContents { contents, opaque, octets, .. }| (contents, opaque, octets);
            look_by_api(place, zones, |zone| reader.read(zone).map(parts))
        }
    };
    TargetExamined::by_api(place)
}
