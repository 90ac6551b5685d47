//! Judges all hosts by one view of DNS, in parallel: their standings, what their rules do, and what that joins to.

use std::collections::HashSet;

use rayon::prelude::*;
use smallvec::SmallVec;

use super::act::RuleAct;
use super::compare::ClaimsResult;
use super::left_behind::{self, LeftOrphan};
use super::orphans::Orphan;
use super::pod_names::PodNameFate;
use super::refuse::{self, SettledActs};
use super::statements::RrsetStatement;
use super::unstated::NoteCheck;
use super::{
    RuleContext, SubjectBlock, SubjectStanding, SubjectStandings, delay, orphans, protect, released, standing,
};
use super::{endpoints, former_names, gone_endpoints, left_unstated, records, rules, unstated};
use crate::change::{AffectedHost, BlockedSubject, Change, DelayedRrset, Notice, SkippedSubject};
use crate::claim::Subject;
use crate::desired::records::{StatedClaim, StatedSubject};
use crate::inventory::model::Policy;
use crate::live::NameSpot;

/// All that was decided.
#[derive(Debug, Default)]
pub struct FleetDecisions {
    /// The changes.
    pub changes: Vec<Change>,
    /// The hosts whose names lose an address by changes that are not theirs.
    pub affected: Vec<AffectedHost>,
    /// The blocked hosts, each once.
    pub blocked: Vec<BlockedSubject>,
    /// The skipped hosts, each once.
    pub skipped: Vec<SkippedSubject>,
    /// What was found and left.
    pub notices: Vec<Notice>,
    /// The RRsets of names that no host has and that wait to be deleted.
    pub waiting: Vec<DelayedRrset>,
    /// The own records of names that no host has, and that stay.
    pub left_behind: Vec<LeftOrphan>,
    /// What an apply notes of what files state.
    pub statements: Vec<RrsetStatement>,
}

impl FleetDecisions {
    /// Adds what was decided elsewhere about other subjects.
    pub fn append(&mut self, mut other: FleetDecisions) {
        self.changes.append(&mut other.changes);
        self.affected.append(&mut other.affected);
        self.blocked.append(&mut other.blocked);
        self.skipped.append(&mut other.skipped);
        self.notices.append(&mut other.notices);
        self.waiting.append(&mut other.waiting);
        self.left_behind.append(&mut other.left_behind);
        self.statements.append(&mut other.statements);
    }
}

/// How many subjects of files are judged at a time.
const AT_ONCE: usize = 32;

/// Decides the standing of each subject, runs the rules, and joins what they do.
pub fn judge_all(context: &RuleContext<'_>) -> (SubjectStandings, FleetDecisions) {
    let judged = (0..context.inventory.hosts.len()).into_par_iter().map(|place| judge(context, place));
    let (hosts, mut outcomes): (Vec<SubjectStanding>, Vec<RuleOutcome>) = judged.unzip();
    let (stated, mut of_stated) = judge_all_stated(context);
    let mut standings = SubjectStandings { hosts, stated };
    // What an endpoint lists depends on what becomes live of its pods.
    let are_blocked = |place: usize| of_stated[place].as_ref().is_some_and(|outcome| !outcome.blocks.is_empty());
    let of_endpoints: Vec<(usize, RuleOutcome)> = context
        .stated
        .pods()
        .endpoints()
        .into_par_iter()
        .map(|place| (place, judge_endpoints(context, place, &standings, &are_blocked)))
        .collect();
    of_endpoints.into_iter().for_each(|(place, outcome)| of_stated[place] = outcome);
    outcomes.par_iter_mut().enumerate().for_each(|(place, outcome)| {
        if let Some(outcome) = outcome {
            rules::settle(context, &standings, place, outcome);
        }
    });
    let decided = collect(context, &mut standings, outcomes, of_stated);
    (standings, decided)
}

/// Decides the standing of all that files or rows state, and runs the rules, but for those of endpoints.
fn judge_all_stated(context: &RuleContext<'_>) -> (Vec<SubjectStanding>, Vec<RuleOutcome>) {
    let pods = context.stated.pods().pods().into_par_iter().map(|place| judge_pod(context, place));
    let endpoints = context
        .stated
        .pods()
        .endpoints()
        .into_par_iter()
        .map(|place| (records::standing(context, place, &context.stated.pods().outline(place), false), None));
    let of_files: Vec<(usize, &StatedSubject)> = context.stated.of_files().collect();
    let files = of_files.par_chunks(AT_ONCE).flat_map_iter(|subjects| {
        // Memory answers many look-ups together.
        let names = subjects.iter().flat_map(|(_, subject)| subject.names()).map(|name| name.as_name());
        let mut spots = context.live.look_up(names).into_iter();
        subjects.iter().map(move |(place, subject)| {
            let own: SmallVec<[Option<NameSpot>; 4]> = spots.by_ref().take(subject.names().count()).collect();
            let is_settled = records::is_settled(context.ground(), subject, &own);
            judge_stated(context, *place, subject, is_settled)
        })
    });
    let (mut standings, mut outcomes): (Vec<SubjectStanding>, Vec<RuleOutcome>) = pods.chain(endpoints).unzip();
    files.collect::<Vec<_>>().into_iter().for_each(|(standing, outcome)| {
        standings.push(standing);
        outcomes.push(outcome);
    });
    (standings, outcomes)
}

/// Decides the standing of a pod, and runs its rules. Of a settled one, as nearly all are, no claim is derived.
fn judge_pod(context: &RuleContext<'_>, place: usize) -> (SubjectStanding, RuleOutcome) {
    let pods = context.stated.pods();
    match pods.kept(place) {
        _ if context.settled_pods[place] => judge_stated(context, place, &pods.pod(place).bare(), true),
        Some(subject) => judge_stated(context, place, subject, false),
        None => judge_stated(context, place, &pods.derive(place), false),
    }
}

/// Decides the standing of what files or rows state, and runs its rules; of a settled subject the claims are not needed.
fn judge_stated(
    context: &RuleContext<'_>,
    place: usize,
    subject: &StatedSubject,
    is_settled: bool,
) -> (SubjectStanding, RuleOutcome) {
    // Every test with records of files thus tests the shortcut, too.
    debug_assert!(!is_settled || records::is_idle(context, place), "the rules find something at a settled name");
    let standing = records::standing(context, place, subject, is_settled);
    let outcome = match &standing {
        SubjectStanding::Open(policy) if !is_settled && is_selected(context, place) => {
            by_claims(context, subject, *policy, &subject.claims)
        }
        _ => None,
    };
    (standing, outcome)
}

/// Runs the rules of the endpoints of one name, once the pods are judged; `are_blocked` says whether the rules of a subject
/// found what blocks it.
fn judge_endpoints(
    context: &RuleContext<'_>,
    place: usize,
    standings: &SubjectStandings,
    are_blocked: &(dyn Fn(usize) -> bool + Sync),
) -> RuleOutcome {
    let SubjectStanding::Open(policy) = standings.stated[place] else { return None };
    if !is_selected(context, place) {
        return None;
    }
    // A pod whose names a server refuses would hold back all others of its set, each time.
    let failed = &context.recent.failed;
    let has_failed = |pod: usize| !failed.is_empty() && failed.contains(&context.stated.name_of(pod));
    let is_open = |pod: usize| {
        !has_failed(pod)
            && matches!(standings.stated[pod], SubjectStanding::Open(_))
            && !are_blocked(pod)
            && is_selected(context, pod)
    };
    let subject = context.stated.pods().outline(place);
    let claims = endpoints::claims(context, place, &is_open);
    by_claims(context, &subject, policy, &claims)
}

/// Compares the claims of a subject; none where there is nothing to do, which is nearly always so.
fn by_claims(
    context: &RuleContext<'_>,
    subject: &StatedSubject,
    policy: Policy,
    claims: &[StatedClaim],
) -> RuleOutcome {
    let result = records::reconcile(context, subject, policy, claims);
    let is_idle = result.acts.is_empty() && result.notices.is_empty() && result.blocks.is_empty();
    (!is_idle).then(|| Box::new(result))
}

/// Whether the command line lets the rules run of what files or rows state, by its place.
fn is_selected(context: &RuleContext<'_>, place: usize) -> bool {
    let (selection, stated) = (context.selection, context.stated);
    (!selection.picks_subjects() || selection.picks(&stated.name_of(place)))
        && selection.includes_project(stated.project_of(place))
}

/// The result of a host's rules, where they ran: nearly no host needs them.
type RuleOutcome = Option<Box<ClaimsResult>>;

/// Decides the standing of a host, and runs its rules.
fn judge(context: &RuleContext<'_>, place: usize) -> (SubjectStanding, RuleOutcome) {
    let policy = match policy(context, place) {
        Ok(policy) => policy,
        Err(standing) => return (standing, None),
    };
    if context.settled[place] {
        return (SubjectStanding::Open(policy), None);
    }
    let standing = standing::by_places(context, place, policy);
    let outcome = run_rules(context, &standing, place);
    (standing, outcome)
}

/// The policy under which a host's rules run if its names permit it, or else its standing: by the inventory, and by what
/// was decided by the reference where this is the view of a target.
fn policy(context: &RuleContext<'_>, place: usize) -> Result<Policy, SubjectStanding> {
    if let Some(view) = context.view {
        return match &view.standings.hosts[place] {
            SubjectStanding::Open(policy) => Ok(*policy),
            standing => Err(standing.clone()),
        };
    }
    let policy = standing::by_inventory(context, place)?;
    match context.by_copies.get(&Subject::Host(context.inventory.hosts[place].inv)) {
        Some(block) => Err(SubjectStanding::Blocked(block.clone())),
        None => Ok(policy),
    }
}

/// Runs the rules of one host, where they run.
fn run_rules(context: &RuleContext<'_>, standing: &SubjectStanding, place: usize) -> RuleOutcome {
    let host = &context.inventory.hosts[place];
    match standing {
        SubjectStanding::Open(policy) if context.selection.includes(host.inv, host.project) => {
            Some(Box::new(rules::reconcile(context, place, *policy)))
        }
        SubjectStanding::Free
        | SubjectStanding::Skipped(_)
        | SubjectStanding::Blocked(_)
        | SubjectStanding::Open(_) => None,
    }
}

/// Joins what the rules of all selected subjects do, and adds released names and orphans. Then blocks subjects whose
/// changes would break a rule of DNS.
fn collect(
    context: &RuleContext<'_>,
    standings: &mut SubjectStandings,
    of_hosts: Vec<RuleOutcome>,
    of_stated: Vec<RuleOutcome>,
) -> FleetDecisions {
    let (mut decided, mut acts) = join(context, standings, of_hosts, of_stated);
    let mut without_host: Vec<RuleAct> =
        context.inventory.lock.iter().flat_map(|row| released::release(context, row)).collect();
    let is_settling = |orphan: &Orphan<'_>| matches!(orphan.fate, PodNameFate::Settles(..));
    let (settling, mut orphans): (Vec<_>, Vec<_>) = orphans::find(context).into_iter().partition(is_settling);
    decided.notices.extend(former_names::settling(context, &settling));
    // What this plan lists in an SRV stays, although the pod is to be elsewhere: its change may wait.
    let listed: HashSet<&[u8]> = acts.iter().filter_map(RuleAct::listed_server).collect();
    orphans.retain(|orphan| orphan.fate.set().is_none() || !listed.contains(orphan.name.as_wire()));
    without_host.extend(orphans::remove(context, &orphans));
    let gone = gone_endpoints::find(context, &decided.blocked);
    without_host.extend(gone_endpoints::remove(context, &gone));
    let (without_host, left) = protect::leave(context, without_host);
    acts.extend(without_host);
    let check = NoteCheck::of(context);
    let resting = unstated::resting_names(context, standings, &decided.blocked);
    let (removed, kept) = unstated::remove(context, &resting, &check);
    acts.extend(removed);
    decided.notices.extend(kept);
    decided.statements = unstated::news(context, standings, &check);
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
    let of_endpoints = gone_endpoints::left(context, &gone, (&decided.changes, &decided.waiting));
    decided.left_behind.extend(of_endpoints);
    let resting = unstated::resting_names(context, standings, &decided.blocked);
    let unstated = left_unstated::left(context, &resting, (&decided.changes, &decided.waiting), &decided.left_behind);
    decided.left_behind.extend(unstated);
    let elsewhere = gone_endpoints::left_elsewhere(context, &decided.left_behind);
    decided.left_behind.extend(elsewhere);
    settle_subjects(&mut decided);
    decided
}

/// Joins the standings of all selected subjects, and what their rules found and do.
fn join(
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    of_hosts: Vec<RuleOutcome>,
    of_stated: Vec<RuleOutcome>,
) -> (FleetDecisions, Vec<RuleAct>) {
    let (mut decided, mut acts) = (FleetDecisions::default(), Vec::new());
    let mut note = |subject: &dyn Fn() -> Subject, project, standing: &SubjectStanding, outcome: RuleOutcome| {
        let project = || context.project_id(project).to_owned();
        let block = match standing {
            SubjectStanding::Blocked(block) => Some(block.clone()),
            SubjectStanding::Skipped(code) => {
                decided.skipped.push(SkippedSubject { code: *code, project: project(), subject: subject() });
                None
            }
            SubjectStanding::Free | SubjectStanding::Open(_) => outcome.as_ref().and_then(|outcome| outcome.block()),
        };
        if let Some(SubjectBlock { code, message, hint }) = block {
            decided.blocked.push(BlockedSubject { code, hint, message, project: project(), subject: subject() });
        }
        if let Some(outcome) = outcome {
            acts.extend(outcome.acts);
            decided.notices.extend(outcome.notices);
        }
    };
    for ((host, standing), outcome) in context.inventory.hosts.iter().zip(&standings.hosts).zip(of_hosts) {
        if context.selection.includes(host.inv, host.project) {
            note(&|| Subject::Host(host.inv), host.project, standing, outcome);
        }
    }
    for (place, (standing, outcome)) in standings.stated.iter().zip(of_stated).enumerate() {
        let is_plain = matches!(standing, SubjectStanding::Open(_)) && outcome.is_none();
        if !is_plain && is_selected(context, place) {
            note(&|| context.stated.name_of(place), context.stated.project_of(place), standing, outcome);
        }
    }
    (decided, acts)
}

/// Puts blocked and skipped subjects in order, each once.
fn settle_subjects(decided: &mut FleetDecisions) {
    // An inventory number that several rows claim is one host.
    let FleetDecisions { blocked, skipped, .. } = decided;
    let key = |own: &BlockedSubject| (own.subject.clone(), own.project.clone(), own.code, own.message.clone());
    blocked.sort_by_cached_key(key);
    blocked.dedup_by(|a, b| a.subject == b.subject);
    skipped.retain(|own| blocked.binary_search_by(|blocked| blocked.subject.cmp(&own.subject)).is_err());
    skipped.sort_by(|a, b| (&a.subject, &a.project, a.code).cmp(&(&b.subject, &b.project, b.code)));
    skipped.dedup_by(|a, b| a.subject == b.subject);
}

/// Makes changes from acts that are due, and blocks the hosts whose changes would break a rule of DNS in the resulting
/// zones.
fn refuse_faults(
    context: &RuleContext<'_>,
    standings: &mut SubjectStandings,
    acts: Vec<RuleAct>,
    decided: &mut FleetDecisions,
) {
    let SettledActs { changes, blocked, notices, waiting } = refuse::settle(context, acts);
    decided.changes = changes;
    decided.waiting = waiting;
    // A subject that is blocked here gets no notices, like every other blocked subject.
    let is_blocked = |notice: &Notice| {
        let subject = notice.subject.as_ref().and_then(Subject::counted);
        subject.is_some_and(|subject| blocked.contains_key(&subject))
    };
    decided.notices.retain(|notice| !is_blocked(notice));
    decided.notices.extend(notices);
    for (subject, block) in blocked {
        let (standing, project) = match subject.host() {
            Some(inv) => {
                let place = context.inventory.place_of(inv).expect("rules run for hosts of the inventory");
                (&mut standings.hosts[place], context.inventory.hosts[place].project)
            }
            None => {
                let place = context.stated.place_of(&subject).expect("rules run for what files state");
                (&mut standings.stated[place], context.stated.project_of(place))
            }
        };
        let project = context.project_id(project).to_owned();
        let SubjectBlock { code, message, hint } = block.clone();
        decided.blocked.push(BlockedSubject { code, hint, message, project, subject });
        *standing = SubjectStanding::Blocked(block);
    }
}
