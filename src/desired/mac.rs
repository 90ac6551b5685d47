//! Which report gives a host's MAC.

use std::collections::HashMap;

use crate::diag::Origin;
use crate::inventory::Inventory;
use crate::inventory::model::{Report, Sighting};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Inv, Mac, Time};

/// The report that won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveMac {
    /// The MAC.
    pub mac: Mac,
    /// The switch, where the report names one.
    pub switch: Option<Symbol>,
    /// The report.
    pub origin: Origin,
}

/// What a host's reports come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MacChoice {
    /// The report that won, if any did.
    pub active: Option<ActiveMac>,
    /// A bad report that no good one makes up for: the host is frozen.
    pub frozen_by: Option<Origin>,
}

/// The reports of one host, in the inventory's order.
pub fn reports_of(inventory: &Inventory, inv: Inv) -> &[Report] {
    let reports = &inventory.reports;
    let from = reports.partition_point(|report| report.inv < inv);
    let length = reports[from..].partition_point(|report| report.inv == inv);
    &reports[from..from + length]
}

/// Chooses among one host's reports.
///
/// Of the active reports that no later inactive one withdraws and that are not too old, the one with the latest
/// `time - penalty` wins; on a tie the source named first, then the lowest MAC, then one with a switch, then the lowest
/// switch.
pub fn choose(inventory: &Inventory, reports: &[Report], now: Time) -> MacChoice {
    let withdrawn = withdrawals(reports);
    let usable = |report: &&Report| is_active(&withdrawn, report) && is_fresh(inventory, report, now);
    let latest = reports.iter().filter(usable).map(|report| report.time).max();
    let winner = reports.iter().filter(usable).min_by(|a, b| rank(inventory, a).cmp(&rank(inventory, b)));
    let unanswered = |report: &&Report| {
        report.sighting == Sighting::Bad
            && is_fresh(inventory, report, now)
            && latest.is_none_or(|latest| latest < report.time)
    };
    MacChoice {
        active: winner.and_then(|report| match report.sighting {
            Sighting::Active { mac, switch } => Some(ActiveMac { mac, switch, origin: report.origin }),
            Sighting::Inactive { .. } | Sighting::Bad => None,
        }),
        frozen_by: reports.iter().find(unanswered).map(|report| report.origin),
    }
}

/// When each MAC of a host was last reported not to be in use.
pub fn withdrawals(reports: &[Report]) -> HashMap<Mac, Time> {
    let mut latest = HashMap::new();
    for report in reports {
        if let Sighting::Inactive { mac } = report.sighting {
            let time = latest.entry(mac).or_insert(report.time);
            *time = report.time.max(*time);
        }
    }
    latest
}

/// Whether a report says that a MAC is in use, and no report that is as new withdraws it.
pub fn is_active(withdrawn: &HashMap<Mac, Time>, report: &Report) -> bool {
    match report.sighting {
        Sighting::Active { mac, .. } => withdrawn.get(&mac).is_none_or(|time| *time < report.time),
        Sighting::Inactive { .. } | Sighting::Bad => false,
    }
}

/// Whether a report is no older than its source allows.
pub fn is_fresh(inventory: &Inventory, report: &Report, now: Time) -> bool {
    let limit = inventory.mac_sources[report.source as usize].max_age;
    limit.is_none_or(|limit| now.since(report.time).is_none_or(|age| age <= limit))
}

/// Orders reports: the best first.
fn rank<'r>(inventory: &'r Inventory, report: &'r Report) -> impl Ord + 'r {
    let penalty = inventory.mac_sources[report.source as usize].penalty;
    let (mac, switch) = match report.sighting {
        Sighting::Active { mac, switch } => (Some(mac), switch),
        Sighting::Inactive { mac } => (Some(mac), None),
        Sighting::Bad => (None, None),
    };
    let switch = switch.map(|symbol| inventory.symbols.text(symbol));
    (std::cmp::Reverse(report.time.minus(penalty)), report.source, mac, switch.is_none(), switch)
}
