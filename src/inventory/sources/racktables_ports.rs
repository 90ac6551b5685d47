//! RackTables' ports with the objects that they belong to: what `mysql --batch` prints of them.
//!
//! Source: RackTables 0.22.0: `wwwroot/inc/install.php` for the tables.

use super::meaning::{ExportRows, RowMeaning};
use super::other::macs::{self, MacSystem};
use super::racktables_objects::{DIALECT, WORD};
use super::{ExportFormat, RowContext, SourceInput, SourcePart, mac_reports};
use crate::inventory::source::{Occurrence, SourceKeys};

/// The format.
pub const FORMAT: ExportFormat =
    ExportFormat { key: "mac", word: WORD, keys: KEYS, occurs: Occurrence::Listed, gives_names: false, read, meanings };

/// The keys of its own.
const KEYS: SourceKeys = SourceKeys { fields: &[("inv", "asset_no")], has_only: true, has_statuses: false };

/// What is particular about it: a port has no date, so the query adds its own time.
const SYSTEM: MacSystem = MacSystem {
    dialect: DIALECT,
    device: None,
    macs: &["l2address"],
    time: "exported",
    enabled: None,
    management: None,
    switch: "remote_object",
    connection: None,
};

/// Reads the ports.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    macs::read(input, context, &SYSTEM)
}

/// The MAC and the switch of each host.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    mac_reports::meanings(said)
}
