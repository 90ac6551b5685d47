//! The order of everything in a plan, so that the same inputs give the same bytes.
//!
//! Numbers compare as numbers and all else as text: the order is that of the printed values.

use std::cmp::Ordering;

use super::{Blocked, Change, LeftBehind, LimitState, Notice, Plan, Reason, Skipped, SourceSeen, Waiting, ZoneSeen};
use crate::inventory::value::Inv;

/// Sorts everything in a plan, and drops what a change has twice.
pub fn settle(plan: &mut Plan) {
    for change in &mut plan.changes {
        change.also.sort_unstable();
        change.also.dedup();
        change.reasons.sort_by(reasons);
        change.reasons.dedup();
    }
    // Without hosts and projects it narrows nothing.
    plan.only.take_if(|only| only.hosts.is_empty() && only.projects.is_empty());
    if let Some(only) = &mut plan.only {
        only.hosts.sort_unstable();
        only.hosts.dedup();
        only.projects.sort_unstable();
        only.projects.dedup();
    }
    plan.changes.sort_by(changes);
    plan.waiting.sort_by(waiting);
    plan.left_behind.sort_by_cached_key(left_behind_key);
    plan.blocked.sort_by(blocked);
    plan.skipped.sort_by(skipped);
    plan.notices.sort_by(notices);
    plan.notices.dedup();
    plan.limits.sort_by(limits);
    plan.sources.sort_by(sources);
    plan.zones.sort_by(zones);
}

/// By project, host (none last), zone, name, type.
pub fn changes(a: &Change, b: &Change) -> Ordering {
    // Names are printed only where project and host are equal, which is among the few changes of one host.
    let texts = || {
        let zones = if a.zone == b.zone { Ordering::Equal } else { a.zone.to_string().cmp(&b.zone.to_string()) };
        let owners = || a.key.owner.to_string().cmp(&b.key.owner.to_string());
        zones.then_with(owners).then_with(|| a.key.rtype.to_string().cmp(&b.key.rtype.to_string()))
    };
    a.project.cmp(&b.project).then_with(|| none_last(a.host).cmp(&none_last(b.host))).then_with(texts)
}

/// By rule, host (none last), evidence.
pub fn reasons(a: &Reason, b: &Reason) -> Ordering {
    let rules = a.rule.as_str().cmp(b.rule.as_str());
    rules.then_with(|| (none_last(a.host), &a.evidence).cmp(&(none_last(b.host), &b.evidence)))
}

/// By project, host (none last), zone, name, type.
pub fn waiting(a: &Waiting, b: &Waiting) -> Ordering {
    let key = |waiting: &Waiting| {
        let Waiting { zone, key, host, project, .. } = waiting;
        (project.clone(), none_last(*host), zone.to_string(), key.owner.to_string(), key.rtype.to_string())
    };
    key(a).cmp(&key(b))
}

/// By the name that no host has, zone, name, type.
pub fn left_behind(a: &LeftBehind, b: &LeftBehind) -> Ordering {
    left_behind_key(a).cmp(&left_behind_key(b))
}

/// What RRsets that are left are sorted by.
fn left_behind_key(left: &LeftBehind) -> [String; 4] {
    let LeftBehind { zone, key, name, .. } = left;
    [name.to_string(), zone.to_string(), key.owner.to_string(), key.rtype.to_string()]
}

/// By host.
pub fn blocked(a: &Blocked, b: &Blocked) -> Ordering {
    a.host.cmp(&b.host)
}

/// By host.
pub fn skipped(a: &Skipped, b: &Skipped) -> Ordering {
    a.host.cmp(&b.host)
}

/// By code, name, host (none last), message.
pub fn notices(a: &Notice, b: &Notice) -> Ordering {
    let codes = a.code.as_str().cmp(b.code.as_str());
    codes.then_with(|| (&a.name, none_last(a.host), &a.message).cmp(&(&b.name, none_last(b.host), &b.message)))
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

/// By name.
pub fn zones(a: &ZoneSeen, b: &ZoneSeen) -> Ordering {
    a.zone.to_string().cmp(&b.zone.to_string())
}

/// Sorts a missing host behind all others.
fn none_last(host: Option<Inv>) -> (bool, Option<Inv>) {
    (host.is_none(), host)
}
