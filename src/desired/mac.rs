//! Which report gives a host's MAC.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::diag::Origin;
use crate::inventory::Inventory;
use crate::inventory::model::{Host, MacReport, Sighting};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Duration, Inv, Mac, Time};

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

/// The result of a host's reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MacChoice {
    /// The report that won, if any did.
    pub active: Option<ActiveMac>,
    /// A bad report that no good one makes up for: the host is frozen.
    pub frozen_by: Option<Origin>,
}

impl MacChoice {
    /// The switch of a host: the one that its winning report names, else that of hosts.csv.
    pub fn switch_of(&self, host: &Host) -> Option<Symbol> {
        self.active.and_then(|active| active.switch).or(host.switch)
    }
}

/// The reports of one host, in the inventory's order.
pub fn reports_of(inventory: &Inventory, inv: Inv) -> &[MacReport] {
    let reports = &inventory.reports;
    let from = reports.partition_point(|report| report.inv < inv);
    let length = reports[from..].partition_point(|report| report.inv == inv);
    &reports[from..from + length]
}

/// The outcome of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacVerdict {
    /// It gives the host's MAC.
    Won,
    /// It counts, but another is better, by this.
    Lost(BetterBy),
    /// It is older than its source allows.
    TooOld {
        /// What its source allows.
        max_age: Duration,
    },
    /// The report at this place, which is at least as new, says that the MAC is not in use.
    Withdrawn {
        /// That report.
        by: Origin,
    },
    /// It says itself that the MAC is not in use.
    Inactive,
    /// It is dated too far after the clock.
    Ahead,
    /// The line is bad.
    Bad {
        /// Whether no good report makes up for it, so that the host is frozen.
        freezes: bool,
    },
}

/// By what the report that won is better than another that counts; the first of these that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetterBy {
    /// It is newer by this much, penalties counted.
    Newer(Duration),
    /// Its source is named first.
    Source,
    /// Its MAC is lower.
    Mac,
    /// It names a switch.
    Switch,
    /// Its switch is lower.
    LowerSwitch,
    /// In nothing: it says the same and was read first.
    First,
}

/// Chooses among one host's reports.
///
/// Of the active reports that no later inactive one withdraws and that are not too old, the one with the latest
/// `time - penalty` wins; on a tie the source named first, then the lowest MAC, then one with a switch, then the lowest
/// switch.
pub fn choose(inventory: &Inventory, reports: &[MacReport], now: Time) -> MacChoice {
    let withdrawn = withdrawals(reports);
    let usable = |report: &&MacReport| is_active(&withdrawn, report) && is_fresh(inventory, report, now);
    let latest = reports.iter().filter(usable).map(|report| report.time).max();
    let winner = reports.iter().filter(usable).min_by(|a, b| rank(inventory, a).cmp(&rank(inventory, b)));
    let unanswered = |report: &&MacReport| is_unanswered(inventory, report, latest, now);
    MacChoice {
        active: winner.and_then(|report| match report.sighting {
            Sighting::Active { mac, switch } => Some(ActiveMac { mac, switch, origin: report.origin }),
            Sighting::Inactive { .. } | Sighting::Ahead { .. } | Sighting::Bad => None,
        }),
        frozen_by: reports.iter().find(unanswered).map(|report| report.origin),
    }
}

/// The outcome of each of one host's reports, in their order: [`choose`], with the reasons.
pub fn verdicts(inventory: &Inventory, reports: &[MacReport], now: Time) -> Vec<MacVerdict> {
    let chosen = choose(inventory, reports, now).active.map(|active| active.origin);
    let winner = reports.iter().find(|report| Some(report.origin) == chosen);
    let withdrawn = withdrawals(reports);
    let usable = |report: &&MacReport| is_active(&withdrawn, report) && is_fresh(inventory, report, now);
    let latest = reports.iter().filter(usable).map(|report| report.time).max();
    let verdict = |report: &MacReport| match (report.sighting, inventory.mac_sources[report.source as usize].max_age) {
        (Sighting::Bad, _) => MacVerdict::Bad { freezes: is_unanswered(inventory, report, latest, now) },
        (Sighting::Ahead { .. }, _) => MacVerdict::Ahead,
        (Sighting::Inactive { .. }, _) => MacVerdict::Inactive,
        (Sighting::Active { mac, .. }, _) if !is_active(&withdrawn, report) => {
            let withdraws =
                |other: &&MacReport| other.sighting == (Sighting::Inactive { mac }) && other.time >= report.time;
            let by = reports.iter().find(withdraws).expect("a report that withdraws it is among them");
            MacVerdict::Withdrawn { by: by.origin }
        }
        (Sighting::Active { .. }, Some(max_age)) if !is_fresh(inventory, report, now) => MacVerdict::TooOld { max_age },
        (Sighting::Active { .. }, _) => match winner {
            Some(winner) if winner.origin != report.origin => MacVerdict::Lost(better(inventory, winner, report)),
            _ => MacVerdict::Won,
        },
    };
    reports.iter().map(verdict).collect()
}

/// By what one report is better than another; both count.
fn better(inventory: &Inventory, winner: &MacReport, other: &MacReport) -> BetterBy {
    let (winner, other) = (rank(inventory, winner), rank(inventory, other));
    match winner.counted.0.since(other.counted.0) {
        Some(newer) if winner.counted != other.counted => BetterBy::Newer(newer),
        _ if winner.source != other.source => BetterBy::Source,
        _ if winner.mac != other.mac => BetterBy::Mac,
        _ if winner.no_switch != other.no_switch => BetterBy::Switch,
        _ if winner.switch != other.switch => BetterBy::LowerSwitch,
        _ => BetterBy::First,
    }
}

/// Whether a report is bad, fresh, and newer than the `latest` that counts.
fn is_unanswered(inventory: &Inventory, report: &MacReport, latest: Option<Time>, now: Time) -> bool {
    report.sighting == Sighting::Bad
        && is_fresh(inventory, report, now)
        && latest.is_none_or(|latest| latest < report.time)
}

/// When each MAC of a host was last reported not to be in use.
pub fn withdrawals(reports: &[MacReport]) -> HashMap<Mac, Time> {
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
pub fn is_active(withdrawn: &HashMap<Mac, Time>, report: &MacReport) -> bool {
    match report.sighting {
        Sighting::Active { mac, .. } => withdrawn.get(&mac).is_none_or(|time| *time < report.time),
        Sighting::Inactive { .. } | Sighting::Ahead { .. } | Sighting::Bad => false,
    }
}

/// Whether a report is at most as old as its source allows.
pub fn is_fresh(inventory: &Inventory, report: &MacReport, now: Time) -> bool {
    let limit = inventory.mac_sources[report.source as usize].max_age;
    limit.is_none_or(|limit| now.since(report.time).is_none_or(|age| age <= limit))
}

/// When a report counts as made: its time, less the penalty of its source.
pub fn counted_time(inventory: &Inventory, report: &MacReport) -> Time {
    report.time.minus(inventory.mac_sources[report.source as usize].penalty)
}

/// What reports are ordered by, one field after another: the best first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ReportRank<'r> {
    /// When it counts as made; the latest first.
    counted: Reverse<Time>,
    /// The place of its source.
    source: u16,
    /// The MAC.
    mac: Option<Mac>,
    /// Whether it names no switch.
    no_switch: bool,
    /// The switch.
    switch: Option<&'r str>,
}

/// The rank of a report among others.
fn rank<'r>(inventory: &'r Inventory, report: &MacReport) -> ReportRank<'r> {
    let mac = report.sighting.mac();
    let switch = report.sighting.switch().map(|symbol| inventory.symbols.text(symbol));
    let counted = Reverse(counted_time(inventory, report));
    ReportRank { counted, source: report.source, mac, no_switch: switch.is_none(), switch }
}

#[cfg(test)]
mod tests;
