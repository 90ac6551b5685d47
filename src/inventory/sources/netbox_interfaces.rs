//! NetBox's interfaces: the JSON of its REST API, and the CSV of its pages.
//!
//! Source: as for devices, and `dcim/api/serializers_/device_components.py`.

use super::meaning::{ExportRows, RowMeaning};
use super::netbox_devices::{DIALECT, WORD};
use super::other::macs::{self, MacSystem};
use super::{ExportFormat, RowContext, SourceInput, SourcePart, mac_reports};
use crate::inventory::source::{Occurrence, SourceKeys};

/// The format.
pub const FORMAT: ExportFormat =
    ExportFormat { key: "mac", word: WORD, keys: KEYS, occurs: Occurrence::Listed, gives_names: false, read, meanings };

/// The keys of its own: an interface names its device, and seldom an inventory number.
const KEYS: SourceKeys = SourceKeys { fields: &[("inv", "")], has_only: true, has_statuses: false };

/// What is particular about it.
const SYSTEM: MacSystem = MacSystem {
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
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    macs::read(input, context, &SYSTEM)
}

/// The MAC and the switch of each host.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    mac_reports::meanings(said)
}
