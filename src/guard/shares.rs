//! Limits that are about one plan: the shares of a zone that it may delete and modify, and the share of its changes that
//! one cause may have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::breakers::GLOBAL;
use super::causes::LineKind;
use super::rules::LimitRules;
use crate::change::{Change, ChangeKind, Rule};
use crate::claim::Subject;
use crate::dns::{Rtype, ZoneName};
use crate::inventory::value::Percent;
use crate::plan::{LimitKind, LimitSetting, LimitState, Plan, ZoneSeen};
use crate::target::PoolName;

/// The default of [`LimitRules::max_delete`]: one plan may delete a tenth of a zone's names.
const MAX_DELETE: Percent = Percent::from_whole(10);

/// The default of [`LimitRules::max_modify`]: three times as many, because a modified RRset can be restored.
const MAX_MODIFY: Percent = Percent::from_whole(30);

/// The smallest default of RRsets of a zone that may be deleted: a person can read so many.
const LOST: u64 = 50;

/// The smallest default of RRsets that may be modified, or deleted where as many are created. In a small fleet one
/// project is the whole zone, and an ordinary change, another VLAN or TTL, changes all of it. Only the administrator
/// can say what is ordinary there.
const MOVED: u64 = 1000;

/// How many lines are listed where they cause the same number of changes.
const TOGETHER: usize = 3;

/// The smallest number of changes for which the cause is limited: one row may easily cause most of a few.
const MANY: u64 = 20;

/// What limits of a zone begin with.
const ZONE: &str = "zone:";

/// The period of limits that are about one plan.
const THIS_PLAN: &str = "plan";

/// The shares of zones in which a plan deletes or modifies something; none for zones that were not read completely. They
/// hold for each copy of a zone, and the one of which most is used counts for all. Where a file states what changes in a
/// zone, they are shares of all its RRsets, else of those that hosts have.
pub(super) fn shares(plan: &Plan, rules: &LimitRules) -> Vec<LimitState> {
    let mut changed: HashMap<(&PoolName, &ZoneName), Vec<&Change>> = HashMap::new();
    for change in plan.changes.iter().filter(|change| !change.is_of_owner()) {
        changed.entry((&change.pool, &change.zone)).or_default().push(change);
    }
    let mut limits: Vec<LimitState> = Vec::new();
    for seen in &plan.zones {
        let Some(changes) = changed.get(&(&seen.pool, &seen.zone)) else { continue };
        for limit in of_copy((seen, scope(plan, seen)), changes, rules) {
            // The copies of a zone follow one another, and each has two limits at most.
            let mut latest = limits.iter_mut().rev().take(2);
            let same = latest.find(|other| other.scope == limit.scope && other.counts == limit.counts);
            match same {
                Some(other) if is_fuller(&limit, other) => *other = limit,
                Some(_) => {}
                None => limits.push(limit),
            }
        }
    }
    limits
}

/// Whether more of a limit is used than of another one.
fn is_fuller(limit: &LimitState, other: &LimitState) -> bool {
    u128::from(limit.planned) * u128::from(other.max) > u128::from(other.planned) * u128::from(limit.max)
}

/// What limits of a zone are about: zones whose name several pools have are named with their pools.
pub(super) fn scope(plan: &Plan, seen: &ZoneSeen) -> String {
    if plan.zones.iter().all(|other| other.zone != seen.zone || other.pool == seen.pool) {
        format!("{ZONE}{}", seen.zone)
    } else {
        format!("{ZONE}{}/{}", seen.pool, seen.zone)
    }
}

/// The shares of one copy of a zone, with what limits of the zone are about; `changes` are those of all its copies.
fn of_copy((seen, scope): (&ZoneSeen, String), changes: &[&Change], rules: &LimitRules) -> Vec<LimitState> {
    let mut counts = [0u64; 3];
    // Where more types are managed than AAAA and PTR, the share is one of all RRsets.
    let is_stated = changes.iter().any(|change| change.subjects().any(Subject::is_stated));
    let has_ipv4 = changes.iter().any(|change| change.key.rtype == Rtype::A);
    let of = if is_stated || has_ipv4 { seen.rrsets } else { seen.managed };
    let is_own = |change: &&&Change| change.pool == seen.pool && change.is_at(&seen.target);
    for change in changes.iter().filter(is_own) {
        let place = match change.kind {
            ChangeKind::Delete { .. } => 0,
            ChangeKind::Modify { .. } => 1,
            ChangeKind::Create { .. } => 2,
        };
        counts[place] += 1;
    }
    let [deleted, modified, created] = counts;
    let deletes = part(MAX_DELETE, of).max(LOST).max(created.min(MOVED));
    let kinds = [
        (LimitKind::MaxDelete, deleted, rules.max_delete, deletes),
        (LimitKind::MaxModify, modified, rules.max_modify, part(MAX_MODIFY, of).max(MOVED)),
    ];
    let state = |(counts, planned, share, default): (LimitKind, u64, Option<Percent>, u64)| {
        let max = share.map_or(default, |share| part(share, of).max(1));
        let setting = rules.setting(counts, share);
        let limit = PlanLimit { counts, setting, max, planned, of };
        (planned > 0).then(|| limit.state(scope.clone()))
    };
    kinds.map(state).into_iter().flatten().collect()
}

/// The share of the changes that one new row or setting causes, where one does.
pub(super) fn by_cause(plan: &Plan, rules: &LimitRules, line: &dyn Fn(&str) -> LineKind) -> Option<LimitState> {
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for change in &plan.changes {
        for place in places(change) {
            *causes.entry(place).or_default() += 1;
        }
    }
    causes.retain(|place, _| line(place) != LineKind::Old);
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
    let reasons = change.reasons.iter().filter(|reason| reason.rule != Rule::Undo && !reason.rule.is_remark());
    reasons.flat_map(|reason| reason.evidence.iter().map(String::as_str)).collect()
}

/// The limit for one cause, where it is set and there are enough changes.
pub(super) fn cause_limit(rules: &LimitRules, planned: u64, of: u64, cause: String) -> Option<LimitState> {
    let share = rules.max_by_cause.filter(|_| of >= MANY)?;
    let setting = rules.setting(LimitKind::MaxByCause, Some(share));
    let limit = PlanLimit { counts: LimitKind::MaxByCause, setting, max: part(share, of).max(1), planned, of };
    Some(LimitState { cause: Some(cause), ..limit.state(GLOBAL.to_owned()) })
}

/// A limit that is about one plan.
pub(super) struct PlanLimit {
    /// What it counts.
    pub(super) counts: LimitKind,
    /// The setting that it follows from, where one does.
    pub(super) setting: Option<LimitSetting>,
    /// How many there may be.
    pub(super) max: u64,
    /// How many the plan has.
    pub(super) planned: u64,
    /// Of how many.
    pub(super) of: u64,
}

impl PlanLimit {
    /// The state of the limit in a scope.
    pub(super) fn state(self, scope: String) -> LimitState {
        let PlanLimit { counts, setting, max, planned, of } = self;
        LimitState {
            scope,
            period: THIS_PLAN.to_owned(),
            counts,
            max,
            used: 0,
            planned,
            exceeded: planned > max,
            of: Some(of),
            cause: None,
            frees: None,
            setting,
        }
    }
}

/// A share of a number, rounded down.
pub(super) fn part(share: Percent, of: u64) -> u64 {
    share.of(usize::try_from(of).unwrap_or(usize::MAX)) as u64
}
