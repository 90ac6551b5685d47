//! How many hosts lose live records by a plan, in all and by one line of the inventory, whatever takes their place.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::breakers::GLOBAL;
use super::causes::LineKind;
use super::rules::LimitRules;
use super::shares::{PlanLimit, largest, part, places};
use crate::change::Change;
use crate::claim::Subject;
use crate::dns::{Rdata, Rrset, Rtype};
use crate::inventory::source::APPS;
use crate::inventory::value::{Inv, Percent};
use crate::plan::{LimitKind, LimitState, Plan};

/// The default of [`LimitRules::max_loss`]: half as much again as the largest ordinary change of a fleet, a VLAN of its
/// largest project that moves in one datacenter, which concerns a tenth of the hosts.
const MAX_LOSS: Percent = Percent::from_whole(15);

/// The smallest default of hosts that may lose records, in all or by one line. A rack has fewer, and so has the largest
/// project of a fleet of a hundred, which an ordinary change may move as a whole.
const LOSING: u64 = 50;

/// The share of the hosts that may lose records by one new line where [`LimitRules::max_by_cause`] is not set. The
/// largest ordinary line, of a VLAN in the L2 segments of a datacenter, concerns 3%.
const BY_LINE: Percent = Percent::from_whole(5);

/// How many hosts may lose records by one row of l3-tors where no other row changed with it: such a row is about one
/// rack, and networks that move on purpose move in all racks of a datacenter.
const BY_LONE_ROW: u64 = 10;

/// The live records that a change takes away, without those of the registry, whatever it puts in their place. What is only added, or gets
/// another TTL, takes nothing.
fn taken(change: &Change) -> impl Iterator<Item = &Rdata> {
    let kept = change.kind.after().map(Rrset::rdata).unwrap_or_default();
    let before = change.kind.before().map(Rrset::rdata).unwrap_or_default();
    let is_counted = !change.is_registry();
    before.iter().filter(move |record| is_counted && !kept.contains(record))
}

/// Whether a change takes any of them away.
fn takes(change: &Change) -> bool {
    taken(change).next().is_some()
}

/// The name of the source of pods.
const PODS: &str = "pods";

/// Who loses live records.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Loser {
    /// A host.
    Host(Inv),
    /// A pod, as a subject.
    Pod(String),
    /// A name that no host has, in presentation format.
    Name(String),
}

/// Who loses records by a change. An unclaimed name loses its AAAA, and the PTR that name it.
fn losers(change: &Change) -> Vec<Loser> {
    match change.subject.host() {
        Some(host) => vec![Loser::Host(host)],
        None if matches!(change.subject, Subject::Pod(_)) => vec![Loser::Pod(change.subject.to_string())],
        None if change.subject.is_stated() => vec![Loser::Name(change.key.owner.to_string())],
        None if change.key.rtype == Rtype::PTR => {
            taken(change).map(|record| Loser::Name(record.as_rdata(Rtype::PTR).to_string())).collect()
        }
        None => vec![Loser::Name(change.key.owner.to_string())],
    }
}

/// How many hosts, and unclaimed names, lose live records; none where none does, and where an apply is undone: what
/// it created is taken back, and the size of the fleet is not known.
///
/// Names count because a list of names that was cut, such as names.lock, takes the host from each of them.
pub(super) fn loss(plan: &Plan, rules: &LimitRules) -> Option<LimitState> {
    let fleet = plan.fleet?;
    let losing: BTreeSet<Loser> = plan.changes.iter().filter(|change| takes(change)).flat_map(losers).collect();
    // Where hosts.csv is empty, the names that lose their records are the fleet that was; and what files state is a part of
    // it.
    let names = losing.iter().filter(|loser| !matches!(loser, Loser::Host(_))).count() as u64;
    let fleet = fleet + names.max(stated(plan));
    let default = part(MAX_LOSS, fleet).max(LOSING);
    let max = rules.max_loss.map_or(default, |share| part(share, fleet).max(1));
    let setting = rules.setting(LimitKind::MaxLoss, rules.max_loss);
    let planned = losing.len() as u64;
    let limit = PlanLimit { counts: LimitKind::MaxLoss, setting, max, planned, of: fleet };
    (planned > 0).then(|| limit.state(GLOBAL.to_owned()))
}

/// How many records the files state of which a change loses some.
fn stated(plan: &Plan) -> u64 {
    // What a DNS update record publishes follows from apps, unless a manifest states it.
    let is_export = |name: &str| plan.sources.iter().any(|seen| seen.source == name);
    let of_change = |change: &Change| match (change.subject.source(), change.subject.pod_set()) {
        (Some(name), _) if change.subject.manifest().is_some() && !is_export(name) => Some(APPS.to_owned()),
        (Some(name), _) => Some(name.to_owned()),
        (None, Some(_)) => Some(PODS.to_owned()),
        (None, None) => None,
    };
    let losing = plan.changes.iter().filter(|change| takes(change));
    let sources: BTreeSet<String> = losing.filter_map(of_change).collect();
    plan.sources.iter().filter(|seen| sources.contains(&seen.source)).map(|seen| seen.rows).sum()
}

/// How many hosts lose live records because of one new line, where one of them makes hosts do so. It holds where
/// `max_by_cause` is not set; `line` says what is known of a place, as `file:line`.
pub(super) fn by_line(plan: &Plan, rules: &LimitRules, line: &dyn Fn(&str) -> LineKind) -> Option<LimitState> {
    let fleet = plan.fleet?;
    let found = counted(new_lines(plan, line));
    let limit = |max: u64, (planned, cause)| {
        let setting = rules.setting(LimitKind::MaxByCause, None);
        let limit = PlanLimit { counts: LimitKind::MaxByCause, setting, max, planned, of: fleet };
        LimitState { cause: Some(cause), ..limit.state(GLOBAL.to_owned()) }
    };
    // Where networks move on purpose, no single row concerns most of the hosts.
    let of_networks: u64 = found.of_networks;
    let is_lone = |place: &str, count: u64| line(place) == LineKind::Replaced && count * 4 > of_networks * 3;
    let lone: BTreeMap<&str, u64> = found
        .counts
        .iter()
        .map(|(place, count)| (*place, *count))
        .filter(|(place, count)| is_lone(place, *count))
        .collect();
    let of_row = largest(&lone).map(|most| limit(BY_LONE_ROW, most)).filter(|limit| limit.exceeded);
    of_row.or_else(|| largest(&found.counts).map(|most| limit(part(BY_LINE, fleet).max(LOSING), most)))
}

/// The new lines because of which each host loses records, without those that are about one host; no host without.
fn new_lines<'p>(plan: &'p Plan, line: &dyn Fn(&str) -> LineKind) -> BTreeMap<Inv, BTreeMap<&'p str, LineKind>> {
    let mut known: HashMap<&str, LineKind> = HashMap::new();
    let mut lines: BTreeMap<Inv, BTreeMap<&str, LineKind>> = BTreeMap::new();
    for change in plan.changes.iter().filter(|change| takes(change)) {
        let Some(host) = change.subject.host() else { continue };
        for place in places(change) {
            let line = *known.entry(place).or_insert_with(|| line(place));
            if !matches!(line, LineKind::Old | LineKind::OfOneHost) {
                lines.entry(host).or_default().insert(place, line);
            }
        }
    }
    lines
}

/// How many hosts lose records by new lines.
struct LossCounts<'p> {
    /// By each line.
    counts: BTreeMap<&'p str, u64>,
    /// By any line of l3-tors and net-layout.
    of_networks: u64,
}

/// Counts the hosts of new lines.
///
/// A host counts for that of its lines that fewest hosts have: where networks move, these are the rows of the networks,
/// and not the project file in which something else was edited on the same day.
fn counted<'p>(lines: BTreeMap<Inv, BTreeMap<&'p str, LineKind>>) -> LossCounts<'p> {
    let mut hosts: HashMap<&str, u64> = HashMap::new();
    lines.values().flat_map(BTreeMap::keys).for_each(|place| *hosts.entry(place).or_default() += 1);
    let mut counted = LossCounts { counts: BTreeMap::new(), of_networks: 0 };
    for own in lines.values() {
        let fewest = own.keys().map(|place| hosts[place]).min().unwrap_or_default();
        let mut is_of_networks = false;
        for (place, line) in own.iter().filter(|(place, _)| hosts[*place] == fewest) {
            *counted.counts.entry(place).or_default() += 1;
            is_of_networks |= matches!(line, LineKind::Replaced | LineKind::Network);
        }
        counted.of_networks += u64::from(is_of_networks);
    }
    counted
}

#[cfg(test)]
mod tests;
