//! NetBox's interfaces: the JSON of its REST API, and the CSV of its pages.
//!
//! Source: as for devices, and `dcim/api/serializers_/device_components.py`.

use super::meaning::{Meaning, Said};
use super::netbox_devices::{DIALECT, WORD};
use super::other::macs::{self, System};
use super::{Context, Format, Input, Part, mac_reports};
use crate::inventory::source::{Keys, Occurs};

/// The format.
pub const FORMAT: Format =
    Format { key: "mac", word: WORD, keys: KEYS, occurs: Occurs::Listed, gives_names: false, read, meanings };

/// The keys of its own: an interface names its device, and seldom an inventory number.
const KEYS: Keys = Keys { fields: &[("inv", "")], has_only: true, has_statuses: false };

/// What is particular about it.
const SYSTEM: System = System {
    dialect: DIALECT,
    device: Some(("device.id", "device")),
    macs: &["mac_address", "primary_mac_address.mac_address", "mac_addresses"],
    time: "last_updated",
    enabled: Some("enabled"),
    management: Some("mgmt_only"),
    switch: "connected_endpoints.device",
    connection: Some("connection"),
};

/// Reads the interfaces.
fn read(input: &Input<'_>, context: &Context<'_>) -> Part {
    macs::read(input, context, &SYSTEM)
}

/// The MAC and the switch of each host.
fn meanings(said: &Said<'_>) -> Vec<Meaning> {
    mac_reports::meanings(said)
}
