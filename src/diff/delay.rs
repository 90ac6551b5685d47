//! Names that no host has keep their records for some time: which removals are due, and which wait.
//!
//! Comes in: what the rules do, and when an apply first noted that an RRset is to lose records because no host has the
//! name. Goes out: what is done now, and what waits until `delete_after` has passed since then. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::act::{RrsetDeed, RuleAct, removes_unheld_name};
use super::context::RuleContext;
use crate::change::{DelayedRrset, Notice, NoticeCode};
use crate::dns::{Name, Rdata, RrKey, Rtype};
use crate::inventory::value::{Duration, Time};

/// Moves acts that are not due to `held`: removals by the rules for names that no host has, from RRsets that no apply
/// noted long enough ago.
///
/// A record that another rule removes, too, is removed at once. All other acts on such an RRset are done.
pub fn hold(context: &RuleContext<'_>, acts: Vec<RuleAct>, held: &mut Vec<RuleAct>) -> Vec<RuleAct> {
    if context.inventory.config.delete_after == Duration::from_secs(0) {
        return acts;
    }
    let removal = |act: &RuleAct| match &act.deed {
        RrsetDeed::Remove(rdata) => Some((act.owner.clone(), act.rtype, rdata.clone())),
        RrsetDeed::Add(_) | RrsetDeed::SetTtl(_) | RrsetDeed::SetMark(_) => None,
    };
    let by_others: BTreeSet<(Name, Rtype, Rdata)> =
        acts.iter().filter(|act| !removes_unheld_name(act.rule)).filter_map(removal).collect();
    let waits = |act: &RuleAct| {
        let goes_anyway = removal(act).is_some_and(|removal| by_others.contains(&removal));
        removes_unheld_name(act.rule) && !goes_anyway && !is_due(context, act)
    };
    let (waiting, due): (Vec<RuleAct>, Vec<RuleAct>) = acts.into_iter().partition(waits);
    held.extend(waiting);
    due
}

/// The RRsets of the held acts, each once.
pub fn waiting(context: &RuleContext<'_>, held: &[RuleAct]) -> Vec<DelayedRrset> {
    let mut rrsets: BTreeMap<(&Name, Rtype), &RuleAct> = BTreeMap::new();
    for act in held {
        // The first subject has it, as with changes.
        let first = rrsets.entry((&act.owner, act.rtype)).or_insert(act);
        if act.actor < first.actor {
            *first = act;
        }
    }
    rrsets.into_values().map(|act| waits(context, act)).collect()
}

/// Whether an apply noted the RRset of an act long enough ago.
fn is_due(context: &RuleContext<'_>, act: &RuleAct) -> bool {
    let age = credible(context, act).and_then(|since| context.now.since(since));
    age.is_some_and(|age| age >= context.inventory.config.delete_after)
}

/// Since when an RRset waits; none where this time is in the future, because the clock was set back: it is noted again.
fn credible(context: &RuleContext<'_>, act: &RuleAct) -> Option<Time> {
    context.waits.since(&act.owner, act.rtype).filter(|since| *since <= context.now)
}

/// The RRset of an act, as one that waits.
fn waits(context: &RuleContext<'_>, act: &RuleAct) -> DelayedRrset {
    let RuleAct { zone, owner, rtype, rule, actor, .. } = act;
    let pool = context.pool_of(*zone).clone();
    let zone = &context.zone_spec(*zone).name;
    let since = credible(context, act);
    let owner = zone.owner(owner.as_name()).expect("rules act on names in their zones");
    DelayedRrset {
        pool,
        zone: zone.clone(),
        key: RrKey { owner, rtype: *rtype },
        subject: actor.subject.clone(),
        project: context.project_id(actor.project).to_owned(),
        rule: *rule,
        since,
        due: since.map(|since| since.plus(context.inventory.config.delete_after)),
    }
}

/// The notice that waiting RRsets are not judged, where some wait and removals are paused.
pub fn resting(context: &RuleContext<'_>) -> Option<Notice> {
    let delays = context.inventory.config.delete_after > Duration::from_secs(0);
    let rests = delays && context.removals_rest() && !context.waits.is_empty();
    let count = context.waits.iter().count();
    let rrsets = if count == 1 { "1 RRset that waits".to_owned() } else { format!("{count} RRsets that wait") };
    rests.then(|| Notice {
        code: NoticeCode::RemovalsRest,
        name: "delete_after".to_owned(),
        subject: None,
        message: format!(
            "{rrsets} for `delete_after` cannot be judged while a row of hosts.csv or names.lock is bad, or a source \
             is not believed"
        ),
    })
}
