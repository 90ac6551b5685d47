//! RackTables' objects: what `mysql --batch` prints of them, and the CSV of the custom report of racktables-contribs.
//!
//! Source: RackTables 0.22.0: `wwwroot/inc/install.php` for the tables; racktables-contribs,
//! `reports/custom-report.php`
//! 0.4.0. RackTables itself exports nothing.

use super::meaning::{ExportRows, RowMeaning};
use super::other::hosts::{self, HostSystem};
use super::records::Dialect;
use super::{ExportFormat, RowContext, SourceInput, SourcePart, hosts_csv};
use crate::inventory::model::HostStatus;
use crate::inventory::source::{Occurrence, SourceKeys};

/// The word under `format`.
pub const WORD: &str = "racktables";

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

/// The keys of its own, with the columns of the query in docs/netbox.md.
const KEYS: SourceKeys = SourceKeys {
    fields: &[
        ("inv", "asset_no"),
        ("name", "name"),
        ("project", "project"),
        ("location", "location"),
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
    statuses: &[("assigned", HostStatus::Assigned), ("free", HostStatus::Free)],
    // Objects have no status of their own.
    without_status: Some(HostStatus::Assigned),
    // The report puts blanks between tags, and those that tags imply in parentheses.
    between_tags: &[',', ' ', '(', ')'],
    no_name: None,
    device: None,
};

/// How its files are written.
pub const DIALECT: Dialect =
    Dialect { header, tabs_of_mysql: true, hint: "select the columns of the query, or name other columns" };

/// What the header of the custom report calls a field.
fn header(field: &str) -> Option<&'static [&'static str]> {
    match field {
        "asset_no" => Some(&["Asset Tag"]),
        "l2address" => Some(&["MACs"]),
        _ => None,
    }
}

/// Reads the objects.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    hosts::read(input, context, &SYSTEM)
}

/// What each row says of its host.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    hosts_csv::meanings(said)
}
