//! NetBox's addresses: the primary ones of devices, and those of interfaces, from the JSON of its REST API and the CSV of
//! its pages.
//!
//! Source: as for devices, and `ipam/api/serializers_/ip.py`, `ipam/tables/ip.py`.

use super::addresses_csv;
use super::meaning::{ExportRows, RowMeaning};
use super::netbox_devices::{DIALECT, WORD};
use super::other::addresses::{self, AddressSystem};
use super::records::Dialect;
use super::{ExportFormat, RowContext, SourceInput, SourcePart};
use crate::inventory::source::{Occurrence, SourceKeys};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "addresses",
    word: WORD,
    keys: KEYS,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// The keys of its own: a device has an inventory number, and an address names the device.
const KEYS: SourceKeys = SourceKeys { fields: &[("inv", "asset_tag")], has_only: true, has_statuses: false };

/// What is particular about it.
const SYSTEM: AddressSystem = AddressSystem {
    dialect: Dialect { header, ..DIALECT },
    primary: &[&["primary_ip4.address", "primary_ip4"], &["primary_ip6.address", "primary_ip6"]],
    own_device: ("id", "name"),
    address: "address",
    interface: &["assigned_object.name", "assigned_object"],
    device_id: "assigned_object.device.id",
    device: &["assigned_object.device.name", "assigned_object_parent"],
};

/// What the header of a CSV file calls a field.
fn header(field: &str) -> Option<&'static [&'static str]> {
    Some(match field {
        "primary_ip4" => &["IPv4 Address"],
        "primary_ip6" => &["IPv6 Address"],
        "address" => &["IP Address"],
        "assigned_object" => &["Interface"],
        "assigned_object_parent" => &["Parent"],
        other => return (DIALECT.header)(other),
    })
}

/// Reads the addresses.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    addresses::read(input, context, &SYSTEM)
}

/// The addresses of each interface.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    addresses_csv::meanings(said)
}
