//! The verdicts say what the choice does, and why.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::inventory::load_workspace;
use crate::inventory::model::{MacSource, Trust};

/// The clock.
const NOW: &str = "2026-11-20T02:00:00Z";

/// An inventory whose sources of MACs are: one without limits, one whose reports count an hour older, and one whose
/// reports count for two hours.
fn inventory() -> Inventory {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
    let loaded = load_workspace(&workspace, NOW.parse().unwrap(), &|_| {});
    let mut inventory = loaded.inventory.expect("the base of the cases is a workspace");
    let source = |name: &str, max_age, penalty| MacSource {
        name: name.into(),
        max_age,
        penalty,
        gave: None,
        trust: Trust::Known,
    };
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    inventory.mac_sources = vec![
        source("agent", None, hours(0)),
        source("penalised", None, hours(1)),
        source("short", Some(hours(2)), hours(0)),
    ];
    inventory.symbols.intern("s1");
    inventory.symbols.intern("s2");
    inventory
}

/// Reports of one host: source, hours before the clock, kind, MAC, switch; few values, so that ties are common.
type ReportDraft = (u16, u64, u8, u8, u8);

/// Makes reports of drafts, in the inventory's order.
fn reports(inventory: &mut Inventory, mut drafts: Vec<ReportDraft>) -> Vec<MacReport> {
    drafts.sort_by_key(|(source, ..)| *source);
    let file = inventory.files.add("drafts");
    let now: Time = NOW.parse().unwrap();
    let made = |(line, (source, hours, kind, mac, switch)): (usize, ReportDraft)| {
        let mac = Mac::from_octets([2, 0, 0, 0, 0, mac]).unwrap();
        let switch = ["", "s1", "s2"].get(usize::from(switch)).and_then(|text| inventory.symbols.find(text));
        MacReport {
            inv: Inv(1),
            time: now.minus(Duration::from_secs(hours * 3600)),
            sighting: match kind {
                0 => Sighting::Bad,
                1 => Sighting::Inactive { mac },
                _ => Sighting::Active { mac, switch },
            },
            source,
            origin: Origin::line(file, line as u32 + 1),
        }
    };
    drafts.into_iter().enumerate().map(made).collect()
}

proptest! {
    #[test]
    fn the_verdicts_are_those_of_the_choice(
        drafts in proptest::collection::vec((0u16..3, 0u64..5, 0u8..6, 1u8..4, 0u8..3), 0..8)
    ) {
        let mut inventory = inventory();
        let reports = reports(&mut inventory, drafts);
        let now = NOW.parse().unwrap();
        let choice = choose(&inventory, &reports, now);
        let verdicts = verdicts(&inventory, &reports, now);
        let places = |wanted: fn(&MacVerdict) -> bool| -> Vec<Origin> {
            let found = reports.iter().zip(&verdicts).filter(|(_, verdict)| wanted(verdict));
            found.map(|(report, _)| report.origin).collect()
        };
        let won = places(|verdict| *verdict == MacVerdict::Won);
        prop_assert_eq!(won, choice.active.into_iter().map(|active| active.origin).collect::<Vec<_>>());
        let freezes = places(|verdict| *verdict == MacVerdict::Bad { freezes: true });
        prop_assert_eq!(freezes.first().copied(), choice.frozen_by);
        // A report that is said to have lost would win if the winner were not there.
        if let Some(active) = choice.active {
            let rest: Vec<MacReport> = reports.iter().filter(|report| report.origin != active.origin).cloned().collect();
            let lost = !places(|verdict| matches!(verdict, MacVerdict::Lost(_))).is_empty();
            prop_assert_eq!(lost, choose(&inventory, &rest, now).active.is_some());
        }
    }
}

/// The verdicts on drafts.
fn judged(drafts: &[ReportDraft]) -> Vec<MacVerdict> {
    let mut inventory = inventory();
    let reports = reports(&mut inventory, drafts.to_vec());
    verdicts(&inventory, &reports, NOW.parse().unwrap())
}

#[test]
fn what_breaks_a_tie_is_named() {
    let second = |drafts: &[ReportDraft]| judged(drafts)[1];
    assert_eq!(
        second(&[(0, 1, 2, 1, 0), (1, 1, 2, 1, 0)]),
        MacVerdict::Lost(BetterBy::Newer(Duration::from_secs(3600)))
    );
    assert_eq!(second(&[(0, 1, 2, 1, 0), (1, 0, 2, 1, 0)]), MacVerdict::Lost(BetterBy::Source));
    assert_eq!(second(&[(0, 1, 2, 1, 0), (0, 1, 2, 2, 0)]), MacVerdict::Lost(BetterBy::Mac));
    assert_eq!(second(&[(0, 1, 2, 1, 1), (0, 1, 2, 1, 0)]), MacVerdict::Lost(BetterBy::Switch));
    assert_eq!(second(&[(0, 1, 2, 1, 1), (0, 1, 2, 1, 2)]), MacVerdict::Lost(BetterBy::LowerSwitch));
    assert_eq!(second(&[(0, 1, 2, 1, 1), (0, 1, 2, 1, 1)]), MacVerdict::Lost(BetterBy::First));
}

#[test]
fn what_does_not_count_says_why() {
    assert_eq!(judged(&[(2, 2, 2, 1, 0)]), [MacVerdict::Won]);
    assert_eq!(judged(&[(2, 3, 2, 1, 0)]), [MacVerdict::TooOld { max_age: Duration::from_secs(7200) }]);
    let withdrawn = judged(&[(0, 2, 2, 1, 0), (0, 1, 1, 1, 0)]);
    assert!(
        matches!(withdrawn[..], [MacVerdict::Withdrawn { by }, MacVerdict::Inactive] if by.line == 2),
        "{withdrawn:?}"
    );
}
