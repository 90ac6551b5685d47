//! The order of everything in a plan, so that the same inputs give the same bytes.
//!
//! Numbers compare as numbers and all else as text: the order is that of the printed values.

use std::cmp::Ordering;

use super::{
    BlockedSubject, Change, DelayedRrset, LeftBehindRrset, LimitState, Notice, Plan, PlanScope, Reason, SkippedSubject,
    SourceSeen, ZoneChange, ZoneSeen,
};
use crate::claim::Subject;

/// Sorts everything in a plan, and drops what a change has twice.
pub fn settle(plan: &mut Plan) {
    for change in &mut plan.changes {
        change.targets.sort_unstable();
        change.targets.dedup();
        change.also.sort_unstable();
        change.also.dedup();
        change.reasons.sort_by(reasons);
        change.reasons.dedup();
    }
    plan.only = plan.only.take().and_then(PlanScope::if_any);
    if let Some(only) = &mut plan.only {
        only.patterns.sort_unstable();
        only.patterns.dedup();
        only.subjects.sort_unstable();
        only.subjects.dedup();
        only.projects.sort_unstable();
        only.projects.dedup();
    }
    plan.affected.sort_unstable();
    plan.affected.dedup();
    plan.changes.sort_by(changes);
    plan.delayed.sort_by(delayed);
    plan.groups.sort_by(|a, b| a.group.cmp(&b.group));
    plan.pods.sort_by(|a, b| a.subject.cmp(&b.subject));
    plan.waiting.sort_by(|a, b| a.subject.cmp(&b.subject));
    plan.waves.sort_by(|a, b| a.group.cmp(&b.group));
    plan.left_behind.sort_by_cached_key(left_behind_key);
    plan.blocked.sort_by(blocked);
    plan.skipped.sort_by(skipped);
    plan.notices.sort_by(notices);
    plan.notices.dedup();
    plan.limits.sort_by(limits);
    plan.sources.sort_by(sources);
    plan.zone_changes.sort_by(zone_changes);
    plan.zones.sort_by(zones);
}

/// By project, subject, pool, zone, name, type, targets.
pub fn changes(a: &Change, b: &Change) -> Ordering {
    // Names are printed only where project and subject are equal, which is among the few changes of one host.
    let texts = || {
        let zones = if a.zone == b.zone { Ordering::Equal } else { a.zone.to_string().cmp(&b.zone.to_string()) };
        let owners = || a.key.owner.to_string().cmp(&b.key.owner.to_string());
        let types = || a.key.rtype.to_string().cmp(&b.key.rtype.to_string());
        zones.then_with(owners).then_with(types).then_with(|| a.targets.cmp(&b.targets))
    };
    let pools = || a.pool.cmp(&b.pool);
    a.project.cmp(&b.project).then_with(|| a.subject.cmp(&b.subject)).then_with(pools).then_with(texts)
}

/// By rule, subject, evidence.
pub fn reasons(a: &Reason, b: &Reason) -> Ordering {
    let rules = a.rule.as_str().cmp(b.rule.as_str());
    rules.then_with(|| (&a.subject, &a.evidence).cmp(&(&b.subject, &b.evidence)))
}

/// By project, subject, pool, zone, name, type.
pub fn delayed(a: &DelayedRrset, b: &DelayedRrset) -> Ordering {
    let rrset = |delayed: &DelayedRrset| {
        let DelayedRrset { pool, zone, key, .. } = delayed;
        (pool.clone(), zone.to_string(), key.owner.to_string(), key.rtype.to_string())
    };
    (&a.project, &a.subject).cmp(&(&b.project, &b.subject)).then_with(|| rrset(a).cmp(&rrset(b)))
}

/// By the name that no host has, pool, zone, name, type.
pub fn left_behind(a: &LeftBehindRrset, b: &LeftBehindRrset) -> Ordering {
    left_behind_key(a).cmp(&left_behind_key(b))
}

/// What RRsets that are left are sorted by.
fn left_behind_key(left: &LeftBehindRrset) -> [String; 5] {
    let LeftBehindRrset { pool, zone, key, name, .. } = left;
    [name.to_string(), pool.to_string(), zone.to_string(), key.owner.to_string(), key.rtype.to_string()]
}

/// By subject.
pub fn blocked(a: &BlockedSubject, b: &BlockedSubject) -> Ordering {
    a.subject.cmp(&b.subject)
}

/// By subject.
pub fn skipped(a: &SkippedSubject, b: &SkippedSubject) -> Ordering {
    a.subject.cmp(&b.subject)
}

/// By code, name, subject (none last), message.
pub fn notices(a: &Notice, b: &Notice) -> Ordering {
    let codes = a.code.as_str().cmp(b.code.as_str());
    codes.then_with(|| (&a.name, none_last(&a.subject), &a.message).cmp(&(&b.name, none_last(&b.subject), &b.message)))
}

/// By scope, period, what is counted, size.
pub fn limits(a: &LimitState, b: &LimitState) -> Ordering {
    let key = |limit: &LimitState| (limit.scope.clone(), limit.period.clone(), limit.counts.as_str(), limit.max);
    key(a).cmp(&key(b))
}

/// By source.
pub fn sources(a: &SourceSeen, b: &SourceSeen) -> Ordering {
    a.source.cmp(&b.source)
}

/// By pool, name, target.
pub fn zones(a: &ZoneSeen, b: &ZoneSeen) -> Ordering {
    let key = |seen: &ZoneSeen| (seen.pool.clone(), seen.zone.to_string(), seen.target.clone());
    key(a).cmp(&key(b))
}

/// By pool, zone, target.
pub fn zone_changes(a: &ZoneChange, b: &ZoneChange) -> Ordering {
    let key = |change: &ZoneChange| (change.pool.clone(), change.zone.to_string(), change.target.clone());
    key(a).cmp(&key(b))
}

/// Sorts a missing subject behind all others.
fn none_last(subject: &Option<Subject>) -> (bool, &Option<Subject>) {
    (subject.is_none(), subject)
}
