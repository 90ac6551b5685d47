//! Refuses acts that would break a rule of DNS in the resulting zones.
//!
//! Comes in: the acts of all rules. Goes out: the changes that are left, the hosts that are blocked, and notices.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::act::{RrsetDeed, RuleAct, removes_unheld_name};
use super::{RuleContext, SubjectBlock, delay, merge};
use crate::change::{BlockCode, Change, DelayedRrset, Notice, NoticeCode, Rule};
use crate::claim::Subject;
use crate::dns::{Name, Rdata, Rtype};
use crate::live::{Live, ZoneIndex};
use crate::post_state::words::{self, notices};
use crate::post_state::{CausedFault, FoundFaults, PostCheck, ZoneFaultKind};

/// What is left of the acts.
#[derive(Debug)]
pub struct SettledActs {
    /// The changes; they cause no fault.
    pub changes: Vec<Change>,
    /// The subjects whose changes would cause one, with the first fault of each.
    pub blocked: BTreeMap<Subject, SubjectBlock>,
    /// What is left at names that no host has, and what was wrong before.
    pub notices: Vec<Notice>,
    /// The RRsets of names that no host has and that wait to be deleted.
    pub waiting: Vec<DelayedRrset>,
}

/// Joins acts, and drops those that cause a fault until the others cause none: the acts of one host may depend on those
/// of another.
///
/// Where the removal of names that no host has causes the fault, that RRset is left. Otherwise all hosts of the change
/// are blocked: hosts that share a change are refused together. A removal that does not wait because a host's rules
/// remove the record, too, must wait if that host is refused.
pub fn settle(context: &RuleContext<'_>, acts: Vec<RuleAct>) -> SettledActs {
    let max_rrset = context.inventory.config.limits.max_rrset;
    let mut refused = RefusedActs { max_rrset, blocked: BTreeMap::new(), left: BTreeMap::new() };
    let mut held = Vec::new();
    let mut acts = delay::hold(context, acts, &mut held);
    loop {
        let changes = merge::merge(context, &mut acts);
        let mut found = check(context.live, &changes, max_rrset);
        let waiting_pointers = waiting_pointers(&held);
        found.caused.retain(|caused| !is_for_a_while(caused, &changes, &waiting_pointers));
        if found.caused.is_empty() {
            let mut told: Vec<Notice> = refused.left.into_values().collect();
            if context.selection.is_all() {
                told.extend(notices(&found.standing, context.live, max_rrset));
            }
            let waiting = delay::waiting(context, &held);
            return SettledActs { changes, blocked: refused.blocked, notices: told, waiting };
        }
        refused.judge(&found, &changes);
        let before = acts.len();
        acts.retain(|act| !refused.holds(act));
        assert!(acts.len() < before, "a change that causes a fault has acts, and they are refused");
        acts = delay::hold(context, acts, &mut held);
    }
}

/// Checks the zones as changes would leave them, in parallel.
fn check<'a>(live: &'a Live, changes: &'a [Change], max_rrset: usize) -> FoundFaults<'a> {
    let check = PostCheck::new(live, changes, max_rrset);
    let zones: Vec<ZoneIndex> = live.zones().map(|(zone, _)| zone).collect();
    let look = || zones.into_par_iter().map(|zone| check.zone(zone)).collect::<Vec<FoundFaults<'a>>>();
    let (changed, rest) = rayon::join(|| check.changes(), look);
    FoundFaults::join(std::iter::once(changed).chain(rest))
}

/// The PTR to released names that wait to be deleted, each with its owner.
fn waiting_pointers(held: &[RuleAct]) -> BTreeSet<(&Name, &Rdata)> {
    let pointers = held.iter().filter(|act| act.rtype == Rtype::PTR && act.rule == Rule::Released);
    let pointer = |act| match act {
        &RuleAct { ref owner, deed: RrsetDeed::Remove(ref rdata), .. } => Some((owner, rdata)),
        _ => None,
    };
    pointers.filter_map(pointer).collect()
}

/// Whether a fault is a PTR to a released name that waits to be deleted, while a host's own rules remove the name's
/// addresses.
///
/// The records of its first name do not block a host that got another name. An orphan's PTR is found only by the
/// orphan's addresses, and so is removed with them.
fn is_for_a_while(caused: &CausedFault<'_>, changes: &[Change], waiting_pointers: &BTreeSet<(&Name, &Rdata)>) -> bool {
    let ZoneFaultKind::Dangling { target, is_new: false } = &caused.fault.kind else { return false };
    let by_host = |place: &usize| changes[*place].reasons.iter().any(|reason| !removes_unheld_name(reason.rule));
    waiting_pointers.contains(&(&caused.fault.owner, &Rdata::from_name(*target))) && caused.by.iter().any(by_host)
}

/// What is not done.
struct RefusedActs {
    /// How many records an RRset may have.
    max_rrset: usize,
    /// The subjects whose rules do nothing.
    blocked: BTreeMap<Subject, SubjectBlock>,
    /// The RRsets of names that no host has and that are left, with the notices about them.
    left: BTreeMap<(Name, Rtype), Notice>,
}

impl RefusedActs {
    /// Decides which hosts and RRsets are refused because of the faults.
    fn judge(&mut self, found: &FoundFaults<'_>, changes: &[Change]) {
        let is_clearing =
            |place: &&usize| changes[**place].reasons.iter().any(|reason| removes_unheld_name(reason.rule));
        for caused in &found.caused {
            let clearing: BTreeSet<&usize> = caused.by.iter().filter(is_clearing).collect();
            // The other faults may disappear with this one, so the next check decides about hosts.
            for place in &clearing {
                let change = &changes[**place];
                let clearing = change.reasons.iter().find(|reason| removes_unheld_name(reason.rule));
                let notice = Notice {
                    code: NoticeCode::PostState,
                    message: words::left(change, &caused.fault, self.max_rrset),
                    name: change.key.owner.to_string(),
                    subject: clearing.map(|reason| reason.subject.clone()),
                };
                let rrset = (change.key.owner.as_name().to_name(), change.key.rtype);
                self.left.entry(rrset).or_insert(notice);
            }
            if clearing.is_empty() {
                let (message, hint) = words::caused(&caused.fault, self.max_rrset);
                let block = SubjectBlock { code: BlockCode::PostState, message, hint };
                let subjects = caused.by.iter().flat_map(|place| changes[*place].subjects());
                for subject in subjects.filter_map(Subject::counted) {
                    let hint = words::hint_of_endpoint(&caused.fault, &subject).unwrap_or_else(|| block.hint.clone());
                    self.blocked.entry(subject).or_insert_with(|| SubjectBlock { hint, ..block.clone() });
                }
            }
        }
    }

    /// Whether an act is not done.
    fn holds(&self, act: &RuleAct) -> bool {
        if removes_unheld_name(act.rule) {
            self.left.contains_key(&(act.owner.clone(), act.rtype))
        } else {
            act.actor.subject.counted().is_some_and(|subject| self.blocked.contains_key(&subject))
        }
    }
}
