//! RackTables' ports with the objects that they belong to: what `mysql --batch` prints of them.
//!
//! Source: RackTables 0.22.0: `wwwroot/inc/install.php` for the tables.

use super::meaning::{Meaning, Said};
use super::other::macs::{self, System};
use super::racktables_objects::{DIALECT, WORD};
use super::{Context, Format, Input, Part, mac_reports};
use crate::inventory::source::{Keys, Occurs};

/// The format.
pub const FORMAT: Format =
    Format { key: "mac", word: WORD, keys: KEYS, occurs: Occurs::Listed, gives_names: false, read, meanings };

/// The keys of its own.
const KEYS: Keys = Keys { fields: &[("inv", "asset_no")], has_only: true, has_statuses: false };

/// What is particular about it: a port has no date, so the query adds its own time.
const SYSTEM: System = System {
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
fn read(input: &Input<'_>, context: &Context<'_>) -> Part {
    macs::read(input, context, &SYSTEM)
}

/// The MAC and the switch of each host.
fn meanings(said: &Said<'_>) -> Vec<Meaning> {
    mac_reports::meanings(said)
}
