//! How much of each limit is used, and how much a plan would add.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::breakers::GLOBAL;
use super::causes::Line;
use super::ledger::{Ledger, Scope, frees};
use super::loss::{by_line, loss};
use crate::change::{Change, ChangeKind, Rule};
use crate::diag::{Files, Origin};
use crate::dns::Rtype;
use crate::inventory::model::{HostLimit, Limits};
use crate::inventory::value::{Duration, Inv, Percent, Time};
use crate::plan::{LimitKind, LimitSetting, LimitState, Plan, ZoneSeen};

/// The default of [`Rules::max_delete`]: one plan may delete a tenth of a zone's names (no official source).
const MAX_DELETE: Percent = Percent::from_whole(10);

/// The default of [`Rules::max_modify`]: three times as many, because a modified RRset can be restored (no official
/// source).
const MAX_MODIFY: Percent = Percent::from_whole(30);

/// The smallest default of RRsets of a zone that may be deleted: a person can read so many (no official source).
const LOST: u64 = 50;

/// The smallest default of RRsets that may be modified, or deleted where as many are created. In a small fleet one
/// project is the whole zone, and an ordinary change, another VLAN or TTL, changes all of it. Only the administrator
/// can say what is ordinary there (no official source).
const MOVED: u64 = 1000;

/// How many lines are listed where they cause the same number of changes.
const TOGETHER: usize = 3;

/// The smallest number of changes for which the cause is limited: one row may easily cause most of a few.
const MANY: u64 = 20;

/// The period of limits that are about one plan.
const THIS_PLAN: &str = "plan";

/// The limits in force.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How many hosts may change within a period, the global ones first.
    pub hosts: Vec<HostRule>,
    /// The share of a zone's managed RRsets that one plan may delete.
    pub max_delete: Option<Percent>,
    /// The share of them that it may modify.
    pub max_modify: Option<Percent>,
    /// The share of its changes that one row or setting may cause.
    pub max_by_cause: Option<Percent>,
    /// The share of the hosts from which one plan may take live records.
    pub max_loss: Option<Percent>,
    /// Where each share is set, as `file:line`; those that are not set have none.
    pub places: BTreeMap<LimitKind, String>,
}

/// How many hosts of a scope may change within a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    /// `global`, or `project:` and the id.
    pub scope: String,
    /// The period.
    pub period: Duration,
    /// How many.
    pub max: u64,
    /// Where it is set; none where only an earlier plan says it.
    pub place: Option<String>,
}

impl Rules {
    /// The limits that zonewright.toml and project files set.
    pub fn new<'a>(
        global: &Limits,
        projects: impl IntoIterator<Item = (&'a str, &'a [HostLimit])>,
        files: &Files,
    ) -> Rules {
        let place = |origin: Origin| files.place(origin).to_string();
        let rule = |scope: &str, limit: &HostLimit| {
            let HostLimit { period, max, origin } = *limit;
            HostRule { scope: scope.to_owned(), period, max, place: Some(place(origin)) }
        };
        let mut hosts: Vec<HostRule> = global.hosts.iter().map(|limit| rule(GLOBAL, limit)).collect();
        for (project, limits) in projects {
            let scope = format!("project:{project}");
            hosts.extend(limits.iter().map(|limit| rule(&scope, limit)));
        }
        let Limits { max_delete, max_modify, max_by_cause, max_loss, .. } = *global;
        let shares = [
            (LimitKind::MaxDelete, max_delete),
            (LimitKind::MaxModify, max_modify),
            (LimitKind::MaxByCause, max_by_cause),
            (LimitKind::MaxLoss, max_loss),
        ];
        let places = shares.into_iter().filter_map(|(kind, set)| Some((kind, place(set?.origin)))).collect();
        let [max_delete, max_modify, max_by_cause, max_loss] = shares.map(|(_, set)| set.map(|set| set.share));
        Rules { hosts, max_delete, max_modify, max_by_cause, max_loss, places }
    }

    /// What sets a limit that is a share: `share` where it is set, else the default.
    pub(super) fn setting(&self, kind: LimitKind, share: Option<Percent>) -> LimitSetting {
        match share {
            None => LimitSetting::Default,
            Some(share) => LimitSetting::Written {
                says: format!("{kind} = \"{share}\""),
                place: self.places.get(&kind).cloned().unwrap_or_default(),
            },
        }
    }

    /// The longest period of any limit: older changes do not count.
    pub fn longest(&self) -> Duration {
        self.hosts.iter().map(|rule| rule.period).max().unwrap_or(Duration::from_secs(0))
    }
}

/// Counts a plan against all limits, when it is made; `line` says what is known of a place, as `file:line`.
pub fn count(plan: &Plan, rules: &Rules, ledger: &Ledger, now: Time, line: &dyn Fn(&str) -> Line) -> Vec<LimitState> {
    let mut counted = of_hosts(plan.changes.iter(), rules, ledger, now);
    counted.extend(shares(plan, rules));
    counted.extend(loss(plan, rules));
    counted.extend(match rules.max_by_cause {
        Some(_) => by_cause(plan, rules, line),
        None => by_line(plan, rules, line),
    });
    counted
}

/// Counts a plan again, when it is applied: for hosts, the changes that are still to be made; shares as they were
/// planned. The causes of its changes were found when it was made, and are the same now.
pub fn recount((plan, open): (&Plan, &[&Change]), rules: &Rules, ledger: &Ledger, now: Time) -> Vec<LimitState> {
    let mut counted = of_hosts(open.iter().copied(), rules, ledger, now);
    counted.extend(shares(plan, rules));
    counted.extend(loss(plan, rules));
    let caused = plan.limits.iter().find(|limit| limit.counts == LimitKind::MaxByCause);
    counted.extend(caused.and_then(|caused| match caused.setting {
        Some(LimitSetting::Default) => Some(caused.clone()),
        _ => cause_limit(rules, caused.planned, caused.of?, caused.cause.clone()?),
    }));
    counted
}

/// The limits of hosts, with how much of each is used, and how much changes would add.
pub fn of_hosts<'a>(
    changes: impl Iterator<Item = &'a Change> + Clone,
    rules: &Rules,
    ledger: &Ledger,
    now: Time,
) -> Vec<LimitState> {
    let state = |rule: &HostRule| {
        let scope = Scope::parse(&rule.scope).expect("rules are about all hosts or those of a project");
        let of_scope = changes.clone().filter(|change| scope.has(&change.project));
        let planned: BTreeSet<Inv> = of_scope.filter_map(|change| change.host).collect();
        let used = ledger.used(scope, rule.period, now);
        let added = planned.iter().filter(|host| !used.contains_key(host)).count() as u64;
        // A plan that adds no host is not refused because of a limit that earlier applies exceeded.
        let exceeded = added > 0 && used.len() as u64 + added > rule.max;
        let frees = exceeded.then(|| frees(&used, &planned, rule.max, rule.period)).flatten();
        LimitState {
            scope: rule.scope.clone(),
            period: rule.period.to_string(),
            counts: LimitKind::Hosts,
            max: rule.max,
            used: used.len() as u64,
            planned: added,
            exceeded,
            of: None,
            cause: None,
            frees,
            setting: rule
                .place
                .clone()
                .map(|place| LimitSetting::Written { says: format!("max {} within {}", rule.max, rule.period), place }),
        }
    };
    rules.hosts.iter().map(state).collect()
}

/// The shares of zones in which a plan deletes or modifies something; none for zones that were not read completely.
fn shares(plan: &Plan, rules: &Rules) -> Vec<LimitState> {
    let mut counts: HashMap<String, [u64; 3]> = HashMap::new();
    for change in plan.changes.iter().filter(|change| matches!(change.key.rtype, Rtype::AAAA | Rtype::PTR)) {
        let place = match change.kind {
            ChangeKind::Delete { .. } => 0,
            ChangeKind::Modify { .. } => 1,
            ChangeKind::Create { .. } => 2,
        };
        counts.entry(change.zone.to_string()).or_default()[place] += 1;
    }
    let of_zone = |zone: &ZoneSeen| {
        let name = zone.zone.to_string();
        let [deleted, modified, created] = counts.get(&name).copied().unwrap_or_default();
        let deletes = part(MAX_DELETE, zone.managed).max(LOST).max(created.min(MOVED));
        let kinds = [
            (LimitKind::MaxDelete, deleted, rules.max_delete, deletes),
            (LimitKind::MaxModify, modified, rules.max_modify, part(MAX_MODIFY, zone.managed).max(MOVED)),
        ];
        let state = |(counts, planned, share, default): (LimitKind, u64, Option<Percent>, u64)| {
            let max = share.map_or(default, |share| part(share, zone.managed).max(1));
            let setting = rules.setting(counts, share);
            (planned > 0).then(|| of_plan(&format!("zone:{name}"), (counts, setting), (max, planned, zone.managed)))
        };
        kinds.map(state).into_iter().flatten().collect::<Vec<_>>()
    };
    plan.zones.iter().flat_map(of_zone).collect()
}

/// The share of the changes that one new row or setting causes, where one does.
fn by_cause(plan: &Plan, rules: &Rules, line: &dyn Fn(&str) -> Line) -> Option<LimitState> {
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for change in &plan.changes {
        for place in places(change) {
            *causes.entry(place).or_default() += 1;
        }
    }
    causes.retain(|place, _| line(place) != Line::Old);
    let (most, cause) = largest(&causes)?;
    cause_limit(rules, most, plan.changes.len() as u64, cause)
}

/// The largest count, and the places that have it. The lines of one setting are shown together, because it is not known
/// which was edited; of many rows only the first.
pub(super) fn largest(counts: &BTreeMap<&str, u64>) -> Option<(u64, String)> {
    let most = counts.values().copied().max()?;
    let alike: Vec<&str> = counts.iter().filter(|(_, count)| **count == most).map(|(place, _)| *place).collect();
    Some((most, if alike.len() > TOGETHER { alike[0].to_owned() } else { alike.join(", ") }))
}

/// The lines that a change is based on. The updates of applies do not count.
pub(super) fn places(change: &Change) -> BTreeSet<&str> {
    let reasons = change.reasons.iter().filter(|reason| !matches!(reason.rule, Rule::Undo | Rule::EditedSince));
    reasons.flat_map(|reason| reason.evidence.iter().map(String::as_str)).collect()
}

/// The limit for one cause, where it is set and there are enough changes.
fn cause_limit(rules: &Rules, planned: u64, of: u64, cause: String) -> Option<LimitState> {
    let share = rules.max_by_cause.filter(|_| of >= MANY)?;
    let setting = rules.setting(LimitKind::MaxByCause, Some(share));
    let limit = of_plan(GLOBAL, (LimitKind::MaxByCause, setting), (part(share, of).max(1), planned, of));
    Some(LimitState { cause: Some(cause), ..limit })
}

/// A limit that is about one plan.
pub(super) fn of_plan(
    scope: &str,
    (counts, setting): (LimitKind, LimitSetting),
    (max, planned, of): (u64, u64, u64),
) -> LimitState {
    LimitState {
        scope: scope.to_owned(),
        period: THIS_PLAN.to_owned(),
        counts,
        max,
        used: 0,
        planned,
        exceeded: planned > max,
        of: Some(of),
        cause: None,
        frees: None,
        setting: Some(setting),
    }
}

/// A share of a number, rounded down.
pub(super) fn part(share: Percent, of: u64) -> u64 {
    share.of(usize::try_from(of).unwrap_or(usize::MAX)) as u64
}

#[cfg(test)]
mod tests;
