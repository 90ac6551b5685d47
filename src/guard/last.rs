//! What the last accepted exports say, where the present ones do not say it or are not believed.
//!
//! Comes in: the inventory, and what the state has of accepted exports. Goes out: the inventory with switches that stay
//! in an L3 segment, and with the hosts whose MAC a source in doubt gave.

use std::collections::HashSet;

use crate::desired::mac;
use crate::inventory::Inventory;
use crate::inventory::model::{MacReport, Sighting};
use crate::inventory::reports;
use crate::inventory::sources::Draft;
use crate::inventory::symbol::Symbols;
use crate::inventory::value::{Inv, Time};

/// Keeps switches in an L3 segment that accepted exports listed and that l3-tors no longer lists.
pub fn keep_in_l3(inventory: &mut Inventory, accepted: &[String]) {
    for switch in accepted {
        let symbol = inventory.symbols.intern(switch);
        if !inventory.tors.switches.contains(&symbol) {
            inventory.tors.former.insert(symbol);
        }
    }
}

/// Finds the hosts whose MAC a source in doubt gave when it was last accepted, and removes its reports about all other
/// hosts from the inventory. `source` is its place in [`Inventory::mac_sources`]; `accepted` are the accepted exports
/// of all sources of MACs, and `at` is when that of the source in doubt was accepted.
///
/// Later reports of other sources do not count: they must not replace those of the source in doubt.
pub fn find_given(inventory: &mut Inventory, source: u16, accepted: Draft, at: Time) {
    let symbols = inventory.symbols.merge(&accepted.symbols);
    let place = |name: &str| inventory.mac_sources.iter().position(|own| own.name == name);
    let places: Vec<Option<usize>> = accepted.mac_sources.iter().map(|own| place(&own.name)).collect();
    let renumbered = |report: MacReport| {
        let sighting = match report.sighting {
            Sighting::Active { mac, switch } => {
                let switch = switch.map(|switch| symbols[Symbols::index(switch)]);
                Sighting::Active { mac, switch }
            }
            other => other,
        };
        let source = places[report.source as usize]? as u16;
        Some(MacReport { sighting, source, ..report })
    };
    let reports: Vec<MacReport> = reports::in_order(accepted.reports).into_iter().filter_map(renumbered).collect();
    let is_from_it = |reports: &&[MacReport]| {
        let winner = mac::choose(inventory, reports, at).active.map(|active| active.origin);
        reports.iter().any(|report| Some(report.origin) == winner && report.source == source)
    };
    let gave: HashSet<Inv> =
        reports.chunk_by(|a, b| a.inv == b.inv).filter(is_from_it).map(|reports| reports[0].inv).collect();
    inventory.reports.retain(|report| report.source != source || gave.contains(&report.inv));
    inventory.mac_sources[source as usize].gave = Some(gave);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::desired::network::{Segment, segment};
    use crate::inventory::load_workspace;
    use crate::inventory::sources::meaning::{self, EarlierExport};

    /// When the exports were accepted: an hour after the reports of the base.
    const AT: &str = "2026-11-20T02:00:00Z";

    /// The workspace that the cases start from: `agent` reports 101, 102 and 201, and `eine` 101.
    fn inventory() -> Inventory {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        load_workspace(&workspace, AT.parse().unwrap(), &|_| {}).inventory.unwrap()
    }

    /// A report of an active MAC.
    fn report(time: &str, inv: u64, mac: u8) -> String {
        format!(
            "{{\"time\":\"2026-11-20T{time}Z\",\"inv\":{inv},\"mac\":\"02:00:00:00:00:{mac:02}\",\"switch\":\"new-s1\"}}\n"
        )
    }

    /// The hosts whose MAC `agent` gave, by what it and `eine` said when they were accepted; and how many reports of it are
    /// left.
    fn given(agent: &str, eine: &str) -> (Vec<u64>, usize) {
        let mut inventory = inventory();
        let spec = |name: &str| {
            let mut specs = inventory.exports.iter().map(|export| export.spec.clone());
            specs.find(|spec| spec.name == name).unwrap()
        };
        let (first, second) = (spec("agent"), spec("eine"));
        let (agent, eine) = ([("a", agent.as_bytes())], [("e", eine.as_bytes())]);
        let exports = [EarlierExport { spec: &first, files: &agent }, EarlierExport { spec: &second, files: &eine }];
        let at = AT.parse().unwrap();
        let draft = meaning::read(&inventory, &exports, at);
        find_given(&mut inventory, 0, draft, at);
        let mut gave: Vec<u64> = inventory.mac_sources[0].gave.as_ref().unwrap().iter().map(|inv| inv.0).collect();
        gave.sort();
        (gave, inventory.reports.iter().filter(|report| report.source == 0).count())
    }

    #[test]
    fn a_switch_that_an_accepted_export_listed_stays_in_an_l3_segment() {
        let mut inventory = inventory();
        keep_in_l3(&mut inventory, &["sas-s1".into(), "sas-s2".into()]);
        let symbol = |text: &str| inventory.symbols.find(text);
        assert_eq!(inventory.tors.former.iter().copied().collect::<Vec<_>>(), [symbol("sas-s2").unwrap()]);
        for (switch, expected) in [("sas-s1", Segment::L3), ("sas-s2", Segment::L3), ("sas-s9", Segment::L2)] {
            assert_eq!(segment(&inventory, symbol(switch)), expected, "{switch}");
        }
    }

    #[test]
    fn a_source_gave_what_won_when_it_was_accepted() {
        let agent = report("01:00:00", 101, 1) + &report("00:10:00", 102, 2) + &report("01:00:00", 103, 3);
        let eine = report("00:30:00", 101, 11) + &report("00:30:00", 102, 12) + &report("01:00:00", 201, 13);
        assert_eq!(given(&agent, &eine), (vec![101, 103], 1), "of its reports that of 101 is left");
        assert_eq!(given("", &eine), (vec![], 0));
        assert_eq!(given(&agent, ""), (vec![101, 102, 103], 2));
    }

    #[test]
    fn reports_of_others_that_were_made_since_do_not_take_its_place() {
        let agent = report("01:00:00", 101, 1);
        assert_eq!(given(&agent, &report("02:30:00", 101, 11)).0, [101]);
        assert_eq!(given(&agent, &report("01:30:00", 101, 11)).0, [] as [u64; 0], "which was there before");
    }
}
