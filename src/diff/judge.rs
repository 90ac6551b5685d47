//! Judges all hosts by one view of DNS, in parallel: their standings, what their rules do, and what that joins to.

use rayon::prelude::*;

use super::act::RuleAct;
use super::compare::ClaimsResult;
use super::left_behind::{self, LeftOrphan};
use super::refuse::{self, SettledActs};
use super::rules;
use super::{HostBlock, HostStanding, HostStandings, RuleContext, delay, orphans, protect, released, standing};
use crate::change::{BlockedSubject, Change, Notice, SkippedSubject, WaitingRrset};
use crate::claim::Subject;
use crate::inventory::model::Policy;

/// All that was decided.
#[derive(Debug, Default)]
pub struct FleetDecisions {
    /// The changes.
    pub changes: Vec<Change>,
    /// The blocked hosts, each once.
    pub blocked: Vec<BlockedSubject>,
    /// The skipped hosts, each once.
    pub skipped: Vec<SkippedSubject>,
    /// What was found and left.
    pub notices: Vec<Notice>,
    /// The RRsets of names that no host has and that wait to be deleted.
    pub waiting: Vec<WaitingRrset>,
    /// The own records of names that no host has, and that stay.
    pub left_behind: Vec<LeftOrphan>,
}

/// Decides the standing of each derived host, runs the rules, and joins what they do.
pub fn judge_all(context: &RuleContext<'_>) -> (HostStandings, FleetDecisions) {
    let judged = (0..context.inventory.hosts.len()).into_par_iter().map(|place| judge(context, place));
    let (standings, mut outcomes): (Vec<HostStanding>, Vec<RuleOutcome>) = judged.unzip();
    let mut standings = HostStandings(standings);
    outcomes.par_iter_mut().enumerate().for_each(|(place, outcome)| {
        if let Some(outcome) = outcome {
            rules::settle(context, &standings, place, outcome);
        }
    });
    let decided = collect(context, &mut standings, outcomes);
    (standings, decided)
}

/// The result of a host's rules, where they ran: nearly no host needs them.
type RuleOutcome = Option<Box<ClaimsResult>>;

/// Decides the standing of a host, and runs its rules.
fn judge(context: &RuleContext<'_>, place: usize) -> (HostStanding, RuleOutcome) {
    let policy = match policy(context, place) {
        Ok(policy) => policy,
        Err(standing) => return (standing, None),
    };
    if context.settled[place] {
        return (HostStanding::Open(policy), None);
    }
    let standing = standing::by_places(context, place, policy);
    let outcome = run_rules(context, &standing, place);
    (standing, outcome)
}

/// The policy under which a host's rules run if its names permit it, or else its standing: by the inventory, and by what
/// was decided by the reference where this is the view of a target.
fn policy(context: &RuleContext<'_>, place: usize) -> Result<Policy, HostStanding> {
    if let Some(view) = context.view {
        return match &view.standings.0[place] {
            HostStanding::Open(policy) => Ok(*policy),
            standing => Err(standing.clone()),
        };
    }
    let policy = standing::by_inventory(context, place)?;
    match context.by_copies.get(&context.inventory.hosts[place].inv) {
        Some(block) => Err(HostStanding::Blocked(block.clone())),
        None => Ok(policy),
    }
}

/// Runs the rules of one host, where they run.
fn run_rules(context: &RuleContext<'_>, standing: &HostStanding, place: usize) -> RuleOutcome {
    let host = &context.inventory.hosts[place];
    match standing {
        HostStanding::Open(policy) if context.selection.includes(host.inv, host.project) => {
            Some(Box::new(rules::reconcile(context, place, *policy)))
        }
        HostStanding::Free | HostStanding::Skipped(_) | HostStanding::Blocked(_) | HostStanding::Open(_) => None,
    }
}

/// Joins what the rules of all selected hosts do, and adds released names and orphans. Then blocks hosts whose changes
/// would break a rule of DNS.
fn collect(context: &RuleContext<'_>, standings: &mut HostStandings, outcomes: Vec<RuleOutcome>) -> FleetDecisions {
    let mut decided = FleetDecisions::default();
    let mut acts = Vec::new();
    for ((host, standing), outcome) in context.inventory.hosts.iter().zip(&standings.0).zip(outcomes) {
        if !context.selection.includes(host.inv, host.project) {
            continue;
        }
        let project = || context.project_id(host.project).to_owned();
        let block = match standing {
            HostStanding::Blocked(block) => Some(block.clone()),
            HostStanding::Skipped(code) => {
                decided.skipped.push(SkippedSubject {
                    code: *code,
                    project: project(),
                    subject: Subject::Host(host.inv),
                });
                None
            }
            HostStanding::Free | HostStanding::Open(_) => outcome.as_ref().and_then(|outcome| outcome.block()),
        };
        if let Some(HostBlock { code, message, hint }) = block {
            decided.blocked.push(BlockedSubject {
                code,
                hint,
                message,
                project: project(),
                subject: Subject::Host(host.inv),
            });
        }
        if let Some(outcome) = outcome {
            acts.extend(outcome.acts);
            decided.notices.extend(outcome.notices);
        }
    }
    let mut without_host: Vec<RuleAct> =
        context.inventory.lock.iter().flat_map(|row| released::release(context, row)).collect();
    let orphans = orphans::find(context);
    without_host.extend(orphans::remove(context, &orphans));
    let (without_host, left) = protect::leave(context, without_host);
    acts.extend(without_host);
    if !context.held.is_empty() {
        acts.retain(|act| !context.held.holds(act));
    }
    refuse_faults(context, standings, acts, &mut decided);
    // What a host's own rules leave, too, is reported once.
    let is_known = |left: &Notice| {
        let mut known = decided.notices.iter();
        known.any(|own| (own.code, &own.name, &own.message) == (left.code, &left.name, &left.message))
    };
    let left: Vec<Notice> = left.into_iter().filter(|left| !is_known(left)).collect();
    // A block of a host does not stop the removal of its former names, or the notices about them.
    decided.notices.extend(left);
    decided.notices.extend(delay::resting(context));
    decided.left_behind = left_behind::left(context, &orphans, &decided.changes, &decided.waiting);
    // An inventory number that several rows claim is one host.
    let FleetDecisions { blocked, skipped, .. } = &mut decided;
    let key = |own: &BlockedSubject| (own.subject.clone(), own.project.clone(), own.code, own.message.clone());
    blocked.sort_by_cached_key(key);
    blocked.dedup_by(|a, b| a.subject == b.subject);
    skipped.retain(|own| blocked.binary_search_by(|blocked| blocked.subject.cmp(&own.subject)).is_err());
    skipped.sort_by(|a, b| (&a.subject, &a.project, a.code).cmp(&(&b.subject, &b.project, b.code)));
    skipped.dedup_by(|a, b| a.subject == b.subject);
    decided
}

/// Makes changes from acts that are due, and blocks the hosts whose changes would break a rule of DNS in the resulting
/// zones.
fn refuse_faults(
    context: &RuleContext<'_>,
    standings: &mut HostStandings,
    acts: Vec<RuleAct>,
    decided: &mut FleetDecisions,
) {
    let SettledActs { changes, blocked, notices, waiting } = refuse::settle(context, acts);
    decided.changes = changes;
    decided.waiting = waiting;
    // A host that is blocked here gets no notices, like every other blocked host.
    decided.notices.retain(|notice| notice.host().is_none_or(|inv| !blocked.contains_key(&inv)));
    decided.notices.extend(notices);
    for (inv, block) in blocked {
        let place = context.inventory.place_of(inv).expect("rules run for hosts of the inventory");
        let project = context.project_id(context.inventory.hosts[place].project).to_owned();
        let HostBlock { code, message, hint } = block.clone();
        decided.blocked.push(BlockedSubject { code, hint, message, project, subject: Subject::Host(inv) });
        standings.0[place] = HostStanding::Blocked(block);
    }
}
