//! How much of each limit is used, and how much a plan would add.

use std::collections::BTreeSet;

use super::causes::LineKind;
use super::ledger::{Ledger, LimitScope, frees};
use super::loss::{by_line, loss};
use super::rules::{HostRule, LimitRules};
use super::shares::{by_cause, cause_limit, shares};
use crate::change::Change;
use crate::claim::Subject;
use crate::inventory::value::Time;
use crate::plan::{LimitKind, LimitSetting, LimitState, Plan};

/// Counts a plan against all limits, when it is made; `line` says what is known of a place, as `file:line`.
pub fn count(
    plan: &Plan,
    rules: &LimitRules,
    ledger: &Ledger,
    now: Time,
    line: &dyn Fn(&str) -> LineKind,
) -> Vec<LimitState> {
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
pub fn recount(plan: &Plan, open: &[&Change], rules: &LimitRules, ledger: &Ledger, now: Time) -> Vec<LimitState> {
    let mut counted = of_hosts(open.iter().copied(), rules, ledger, now);
    counted.extend(shares(plan, rules));
    counted.extend(loss(plan, rules));
    let caused = plan.limits.iter().find(|limit| limit.counts == LimitKind::MaxByCause);
    counted.extend(caused.and_then(|caused| match caused.setting {
        None => Some(caused.clone()),
        Some(_) => cause_limit(rules, caused.planned, caused.of?, caused.cause.clone()?),
    }));
    counted
}

/// The limits of hosts, with how much of each is used, and how much changes would add.
pub fn of_hosts<'a>(
    changes: impl Iterator<Item = &'a Change> + Clone,
    rules: &LimitRules,
    ledger: &Ledger,
    now: Time,
) -> Vec<LimitState> {
    let state = |rule: &HostRule| {
        let scope = LimitScope::parse(&rule.scope).expect("rules are about all hosts or those of a project");
        let of_scope = changes.clone().filter(|change| scope.has(&change.project));
        let planned: BTreeSet<Subject> = of_scope.filter_map(|change| change.subject.counted()).collect();
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
                .map(|place| LimitSetting { place, says: format!("max {} within {}", rule.max, rule.period) }),
        }
    };
    rules.hosts.iter().map(state).collect()
}

#[cfg(test)]
mod tests;
