//! NetBox's devices: the JSON of its REST API, and the CSV of its pages.
//!
//! Source: NetBox 3.7.8 and 4.0 to 4.6: `dcim/tables/devices.py`, `netbox/tables/`, `dcim/api/serializers_/devices.py`.

use super::meaning::{ExportRows, RowMeaning};
use super::other::hosts::{self, HostSystem};
use super::records::Dialect;
use super::{ExportFormat, RowContext, SourceInput, SourcePart, hosts_csv};
use crate::inventory::model::HostStatus;
use crate::inventory::source::{Occurrence, SourceKeys};

/// The word under `format`.
pub const WORD: &str = "netbox";

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "hosts",
    word: WORD,
    keys: KEYS,
    occurs: Occurrence::Required,
    gives_names: true,
    read,
    meanings,
};

/// The keys of its own, with the fields of NetBox.
const KEYS: SourceKeys = SourceKeys {
    fields: &[
        ("inv", "asset_tag"),
        ("name", "name"),
        ("project", "tenant"),
        ("location", "site"),
        ("status", "status"),
        ("restrictions", "tags"),
        ("switch", ""),
        ("rack", "rack"),
    ],
    has_only: true,
    has_statuses: true,
};

/// What is particular about it.
const SYSTEM: HostSystem = HostSystem {
    dialect: DIALECT,
    // A device in all but storage may have its name and its place still.
    statuses: &[
        ("active", HostStatus::Assigned),
        ("offline", HostStatus::Assigned),
        ("planned", HostStatus::Assigned),
        ("staged", HostStatus::Assigned),
        ("failed", HostStatus::Assigned),
        ("inventory", HostStatus::Free),
        ("decommissioning", HostStatus::Assigned),
    ],
    without_status: None,
    between_tags: &[','],
    no_name: Some("Unnamed device"),
    device: Some(("id", "asset_tag")),
};

/// How its files are written.
pub const DIALECT: Dialect = Dialect {
    header,
    tabs_of_mysql: false,
    hint: "export all data (not the current view), in English; or take the JSON of the API",
};

/// What the header of a CSV file calls a field: its columns have titles.
fn header(field: &str) -> Option<&'static [&'static str]> {
    Some(match field {
        "id" => &["ID"],
        "asset_tag" => &["Asset tag"],
        "serial" => &["Serial number"],
        "device_type" => &["Type"],
        "tenant_group" => &["Tenant Group"],
        "site_group" => &["Site Group"],
        "virtual_chassis" => &["Virtual Chassis"],
        "last_updated" => &["Last updated"],
        "mgmt_only" => &["Management Only"],
        // Before NetBox 4.2 an interface had one MAC; since then the column shows the primary one.
        "mac_address" => &["MAC address", "Primary MAC"],
        "mac_addresses" => &["MAC Addresses"],
        _ => return None,
    })
}

/// Reads the devices.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    hosts::read(input, context, &SYSTEM)
}

/// What each row says of its host.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    hosts_csv::meanings(said)
}
