//! Whether zones are what they were, with a plan carried out: that alone, and all of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::rig::{Planned, Zone, folded, key_of, marker_name};

/// Checks each zone before and after: the plan's RRsets are as it says, and all other records but the marker are the same to
/// the last octet.
pub fn assert_carried_out(plan: &Planned, (before, after): (&BTreeMap<String, Zone>, &BTreeMap<String, Zone>)) {
    let changes = plan.changes();
    for (zone, before) in before {
        let of_zone: Vec<_> = changes.iter().filter(|change| change.zone == *zone).collect();
        let touched: BTreeSet<_> = of_zone.iter().map(|change| change.key()).collect();
        let marker = (marker_name(zone), "TXT".to_owned());
        let split = |zone: &Zone| -> (BTreeSet<String>, BTreeSet<String>) {
            let rest = zone.records.iter().filter(|line| key_of(line) != marker);
            rest.cloned().partition(|line| touched.contains(&key_of(line)))
        };
        let (_, others_before) = split(before);
        let (ours, others_after) = split(&after[zone]);
        assert_same(zone, "records outside the plan", &others_before, &others_after);
        let said = of_zone.iter().flat_map(|change| change.after.clone()).collect();
        assert_same(zone, "what the plan says", &said, &ours.iter().map(|line| folded(line)).collect());
    }
}

/// Checks that two sets of records are the same; a failure shows some of those that differ.
fn assert_same(zone: &str, what: &str, expected: &BTreeSet<String>, found: &BTreeSet<String>) {
    let missing: Vec<_> = expected.difference(found).take(5).collect();
    let surplus: Vec<_> = found.difference(expected).take(5).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "{zone} {what}: missing {missing:#?}, surplus {surplus:#?}");
}
