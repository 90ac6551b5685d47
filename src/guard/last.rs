//! What the last accepted exports say where those of today do not, or may not be believed.
//!
//! Comes in: the inventory, and what is remembered of accepted exports. Goes out: the inventory with switches that stay in an
//! L3 segment, and with the hosts whose MAC a doubted source gave.

use std::collections::HashSet;

use crate::desired::mac;
use crate::inventory::Inventory;
use crate::inventory::model::{Report, Sighting};
use crate::inventory::sources::Draft;
use crate::inventory::symbol::Symbols;
use crate::inventory::value::{Inv, Time};

/// Keeps switches in an L3 segment that accepted exports listed, and that l3-tors does not.
pub fn keep_in_l3(inventory: &mut Inventory, accepted: &[String]) {
    for switch in accepted {
        let symbol = inventory.symbols.intern(switch);
        if !inventory.tors.switches.contains(&symbol) {
            inventory.tors.former.insert(symbol);
        }
    }
}

/// Finds the hosts whose MAC a doubted source gave when it was last accepted, and takes what it says of all others from the
/// inventory. `source` is its place in [`Inventory::mac_sources`]; `accepted` are the accepted exports of all sources of
/// MACs, and `at` is when that of the doubted one was accepted.
///
/// Reports of others that were made since count for nothing in that: they shall not take its place.
pub fn find_given(inventory: &mut Inventory, source: u16, accepted: Draft, at: Time) {
    let symbols = inventory.symbols.merge(&accepted.symbols);
    let place = |name: &str| inventory.mac_sources.iter().position(|own| own.name == name);
    let places: Vec<Option<usize>> = accepted.mac_sources.iter().map(|own| place(&own.name)).collect();
    let renumbered = |report: Report| {
        let sighting = match report.sighting {
            Sighting::Active { mac, switch } => {
                let switch = switch.map(|switch| symbols[Symbols::index(switch)]);
                Sighting::Active { mac, switch }
            }
            other => other,
        };
        let source = places[report.source as usize]? as u16;
        Some(Report { sighting, source, ..report })
    };
    let reports: Vec<Report> = accepted.reports.into_iter().filter_map(renumbered).collect();
    let is_from_it = |reports: &&[Report]| {
        let winner = mac::choose(inventory, reports, at).active.map(|active| active.origin);
        reports.iter().any(|report| Some(report.origin) == winner && report.source == source)
    };
    let gave: HashSet<Inv> =
        reports.chunk_by(|a, b| a.inv == b.inv).filter(is_from_it).map(|reports| reports[0].inv).collect();
    inventory.reports.retain(|report| report.source != source || gave.contains(&report.inv));
    inventory.mac_sources[source as usize].gave = Some(gave);
}
