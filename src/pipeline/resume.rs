//! Resumes an apply that did not do all of its plan.
//!
//! Comes in: the number of an apply, or none for the latest. Goes out: the outcome of every host of its plan. First it
//! settles what the journal and the markers prove. Then it sends what is missing, with the same prerequisites, so that
//! nothing is sent twice and nothing that changed since is overwritten.

use std::collections::{BTreeMap, HashMap};

use super::allowed::still_bound;
use super::apply::{ApplyRun, ApplyWork, ChosenWave, release_targets, still_waiting};
use super::approvals::access::ApprovalAccess;
use super::conduct::ApplyConduct;
use super::fits::{moved, state_lost, zones_of};
use super::guards::{ApplyGuards, rules_now};
use super::left_open::{settle_by_markers, settle_found};
use super::run_watch::{InterruptedWatch, NoWatch};
use super::settings::{OpenError, load_settings, state_address};
use super::targets::OpenedZones;
use super::wave_checks::ConfiguredChecks;
use super::wave_choice::WaveDecision;
use super::{approvals, pod_states, undo, waves};
use crate::apply::accept::{PlanTerms, accept};
use crate::apply::shape::PlanBounds;
use crate::apply::{self, ApplyEnding, MadeBefore, OutcomeCode, StepRoom, ZoneWritten};
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::{Name, Rtype, ZoneName};
use crate::guard::Allowance;
use crate::plan::{SealedPlan, document};
use crate::progress::{Progress, RunStage};
use crate::state::{
    self, ApplyId, ApplyJournal, ApplySummary, HeldState, Resumption, SentChange, SentFate, SentUpdate, State,
};
use crate::target::{CopyId, PoolName, TargetId};
use crate::verify;

/// How many rounds there are where an update of the apply took effect late and stopped the one sent now.
const ROUNDS: usize = 3;

/// The result of a resume.
#[derive(Debug)]
pub enum ResumeOutcome {
    /// The journal has no apply, or none of this number.
    NoSuchApply,
    /// The apply did all of its plan; with how many changes targets lack, of it and of others.
    Complete(ApplyId, usize),
    /// It was resumed; with its plan.
    Ran(Box<SealedPlan>, Box<ApplyRun>),
    /// It was not resumed, and why.
    Refused(Problem),
}

/// Resumes an apply, or the latest; nothing is derived again.
///
/// Errors: [`OpenError`]; nothing was sent then.
pub fn resume(
    id: Option<ApplyId>,
    request: &ApplyConduct<'_>,
    progress: &dyn Progress,
) -> Result<ResumeOutcome, OpenError> {
    let settings = load_settings(request.workspace)?;
    let config = &settings.config;
    let address = state_address(request.workspace, config);
    if state::open_to_read(&address)?.is_none() {
        return Ok(ResumeOutcome::NoSuchApply);
    }
    let mut held = HeldState::take(&address, request.who, request.now)?;
    let state = &mut *held.state;
    release_targets(config, state)?;
    let found = match id {
        Some(id) => state.apply(id)?,
        // What `sync` makes up is its own to go on with.
        None => state.last_of_plan()?,
    };
    let Some(found) = found else { return Ok(ResumeOutcome::NoSuchApply) };
    let place = format!("apply {}", found.id.0);
    let sealed = match state.document(found.id)?.map(|document| document::parse(&document)) {
        // What `sync` makes up says nothing of the fleet: no inventory was read.
        Some(Ok(sealed)) if sealed.plan().fleet.is_none() && sealed.plan().undoes.is_none() => {
            let refusal = Problem::new(place, "plan-not-kept", "it is a `sync`, which needs no plan to go on");
            return Ok(ResumeOutcome::Refused(refusal.hint("`zonewright sync` does what is missing")));
        }
        Some(Ok(sealed)) => sealed,
        Some(Err(error)) => {
            let refusal = Problem::new(place, error.code(), error.to_string());
            return Ok(ResumeOutcome::Refused(refusal.hint("plan again: a new plan starts from what DNS holds now")));
        }
        None if is_complete(&found) => return Ok(ResumeOutcome::Complete(found.id, state.lacks()?.len())),
        None => return Ok(ResumeOutcome::Refused(not_kept(place))),
    };
    let zones = still_bound(sealed.plan(), config, &place);
    let undone = undo::refusal(sealed.plan(), &place, config, state)?;
    let zones = undone.map_or(zones, Err);
    let zones = match zones.and_then(|()| zones_of(sealed.plan(), config, &place)) {
        Ok(zones) => zones,
        Err(refusal) => return Ok(ResumeOutcome::Ran(Box::new(sealed), Box::new(ApplyRun::refused(refusal)))),
    };
    // What is not known to be served may be of any zone, and so may be the hosts of tasks.
    let is_clear = state.unserved()?.is_empty() && !approvals::has_news(&settings, Some(&*state));
    let zones = if is_clear { zones } else { config.zones.iter().collect() };
    let opened = OpenedZones::open(config, zones, request.workspace, request.now);
    let targets = opened.targets();
    let bounds = PlanBounds::of(config, &settings.projects);
    let waves_expire = state.waves_expire(sealed.id())?;
    let (now, expires) = (request.now, config.plan_expires);
    let terms = PlanTerms { now, expires, waves_expire, expect: None, bounds: &bounds };
    let place = &place;
    let groups = waves::settings_for(sealed.plan(), &settings.projects, &settings.pod_sets);
    let checks = ConfiguredChecks::of(config, request, progress);
    let rules = rules_now(&settings, Some(sealed.plan()));
    let services = ApprovalAccess::of(&settings, request, state)?;
    let approver = services.approver();
    let work = ApplyWork {
        approver: Some(&approver),
        sealed: &sealed,
        place,
        terms,
        request,
        progress,
        targets: &targets,
        at_once: apply::SIDE_BY_SIDE,
        guards: ApplyGuards { rules, allow: request.allow, auto: request.auto },
        settings: &settings,
        groups: &groups,
        checks: &checks,
    };
    let mut ran = work.go_on(state, found.id)?;
    work.publish(held, &mut ran);
    Ok(ResumeOutcome::Ran(Box::new(sealed), Box::new(ran)))
}

/// Whether an apply did all of its plan, and the journal has the outcome of each update.
fn is_complete(apply: &ApplySummary) -> bool {
    let is_fine = |word: &String| OutcomeCode::parse(word).is_some_and(OutcomeCode::is_done);
    apply.finished.is_some() && apply.updates_open == 0 && apply.outcomes.keys().all(is_fine)
}

/// The refusal of an apply whose plan is no longer kept.
fn not_kept(place: String) -> Problem {
    Problem::new(
        place,
        "plan-not-kept",
        "it is not known whether all of it was done, and the state no longer has its plan",
    )
    .hint("plan again: a new plan starts from what DNS holds now")
}

impl ApplyWork<'_> {
    /// Settles open updates, and does what is missing.
    pub fn go_on(&self, state: &mut dyn State, id: ApplyId) -> Result<ApplyRun, Problem> {
        let plan = self.sealed.plan();
        let made = plan.zone_changes.iter().map(|change| &change.zone);
        self.targets.doubt_at(&plan.changes.iter().map(|change| &change.zone).chain(made).collect());
        let earlier: Vec<Allowance> = state.allowed(id)?.into_iter().map(|allowed| allowed.allowance).collect();
        let made = match self.make_zones(state, &earlier)? {
            Ok(made) => made,
            Err(refusal) => return Ok(ApplyRun::refused(refusal)),
        };
        let pods = pod_states::note((plan, self.settings), self.request, state)?;
        let mut ran = self.round(state, id, true)?;
        for _ in 1..ROUNDS {
            if ran.refusal.is_some() || !ran.is_journaled {
                break;
            }
            let Some(next) = self.again(state, id, &ran).transpose() else { break };
            ran = after(ran, next);
        }
        pod_states::note_moved(pods.as_ref(), &ran.applied, state);
        self.finish_zones(state, &mut ran, made);
        Ok(ran)
    }

    /// Does what is still missing, where an earlier update of the apply took effect late, so that the server refused
    /// the one sent now.
    fn again(&self, state: &mut dyn State, id: ApplyId, ran: &ApplyRun) -> Result<Option<ApplyRun>, Problem> {
        if ran.applied.ending() == ApplyEnding::Done && !is_open(state, id)? {
            return Ok(None);
        }
        let (_, found) = self.look(state, id)?;
        if found == 0 {
            return Ok(None);
        }
        self.round(state, id, false).map(Some)
    }

    /// Reads live DNS, and settles the updates that it proves; gives how many updates it found to have taken effect.
    fn look(&self, state: &mut dyn ApplyJournal, id: ApplyId) -> Result<(apply::Survey<'_>, usize), Problem> {
        self.progress.stage(RunStage::Survey, None);
        let now = self.request.now;
        let found = settle_found(state, id, self.targets, now)?;
        let survey = self.survey();
        let found = found + settle_by_markers(state, &survey, now)?;
        Ok((survey, found))
    }

    /// Reads live DNS, settles open updates, and sends what is missing.
    fn round(&self, state: &mut dyn State, id: ApplyId, is_first: bool) -> Result<ApplyRun, Problem> {
        let ApplyConduct { workspace, now, who, reason, .. } = *self.request;
        let plan = self.sealed.plan();
        let known = self.markers(state)?;
        let (survey, _) = self.look(state, id)?;
        if let Some(refusal) = state_lost(&survey, &known) {
            return Ok(ApplyRun::refused(refusal));
        }
        if let Err(refusal) = accept(self.sealed, self.place, &self.terms) {
            return Ok(ApplyRun::refused(refusal));
        }
        if is_first {
            self.collect_tasks((&survey, &known), state)?;
        }
        let moved = moved(plan, &survey, workspace);
        let sent = state.sent(id)?;
        let made = MadeChanges::of(&sent);
        let rooms = [StepRoom::default(), StepRoom::default()];
        let survey = survey.at_next_steps(plan, &rooms[0]).with_made(&|copy, change| made.get(copy, change));
        let survey = self.still_allowed(survey, state)?;
        // Limits that were lifted for this apply are still lifted.
        let earlier: Vec<Allowance> = state.allowed(id)?.into_iter().map(|allowed| allowed.allowance).collect();
        let ChosenWave { wave, decision } = match self.next_wave(state, &survey, &earlier)? {
            Ok(chosen) => chosen,
            Err(refusal) => return Ok(ApplyRun::refused(refusal)),
        };
        let WaveDecision { mut choice, gates, problems, is_interrupted } = decision;
        let survey = self.repaired_at_once(survey, &choice, &rooms[1], state)?;
        let (waiting, waves) = (choice.waiting_after(), std::mem::take(&mut choice.waves));
        let waves_until = self.terms.waves_expire.filter(|_| !waiting.is_empty());
        let numbers = sent.iter().map(|sent| sent.number).max().unwrap_or(0);
        let orders = self.orders(wave, &known, numbers);
        state.note_gates(id, &gates)?;
        if is_interrupted {
            // What waits is not known: the journal keeps that the apply ended as it did before.
            let written = apply::write(survey, &orders, &InterruptedWatch);
            let applied = verify::judge(&written, &apply::read_back(&written), problems).with_names(plan);
            let ran = ApplyRun { applied, moved, waiting, waves, gates, waves_until, ..ApplyRun::default() };
            // An earlier round may have sent something.
            return Ok(ApplyRun { apply: Some(id), is_journaled: true, is_interrupted: is_first, ..ran });
        }
        if choice.goes.is_empty() && !waiting.is_empty() {
            // Nothing can go yet: the journal keeps that the apply ended as it did.
            state.note_waves(&choice)?;
            let written = apply::write(survey, &orders, &NoWatch);
            let applied = verify::judge(&written, &apply::read_back(&written), problems).with_names(plan);
            self.end_tasks(&applied, state)?;
            let ran = ApplyRun { applied, moved, waiting, waves, gates, waves_until, ..ApplyRun::default() };
            return Ok(ApplyRun { apply: Some(id), is_journaled: true, ..ran });
        }
        if is_first {
            let (who, reason) = (who.to_owned(), reason.map(str::to_owned));
            state.resume(id, &Resumption { at: now, who, reason }, &choice)?;
            self.note_allowed(state, id)?;
        } else {
            state.begin_wave(id, &choice)?;
        }
        let mut ran = self.run((id, survey, &orders), state);
        ran.applied.problems.extend(problems);
        let waiting = still_waiting(waiting, &choice, &ran.applied);
        Ok(ApplyRun { moved, waiting, waves, gates, waves_until, ..ran })
    }
}

/// The result of an earlier round and the next one together. Where the next round was refused or failed, the result of
/// the earlier one stays, and the cause is added as a problem. It is no refusal, because updates were sent.
pub(super) fn after(earlier: ApplyRun, next: Result<ApplyRun, Problem>) -> ApplyRun {
    let (problem, is_journaled) = match next {
        Ok(ApplyRun { refusal: Some(refusal), .. }) => (refusal, earlier.is_journaled),
        Err(error) => (error, false),
        Ok(mut next) => {
            next.applied.zones = both(earlier.applied.zones, next.applied.zones);
            next.took = (earlier.took.0 + next.took.0, earlier.took.1 + next.took.1);
            return next;
        }
    };
    let mut applied = earlier.applied;
    applied.problems.push(problem);
    ApplyRun { applied, is_journaled, ..earlier }
}

/// What was sent to each copy in two rounds, sorted by the name of the zone, and by target.
fn both(earlier: Vec<ZoneWritten>, next: Vec<ZoneWritten>) -> Vec<ZoneWritten> {
    let place = |written: &ZoneWritten| (written.zone.clone(), written.pool.clone(), written.target.clone());
    let mut zones: BTreeMap<(ZoneName, PoolName, Option<String>), ZoneWritten> =
        earlier.into_iter().map(|written| (place(&written), written)).collect();
    for written in next {
        zones
            .entry(place(&written))
            .and_modify(|sum| {
                sum.updates += written.updates;
                sum.changes += written.changes;
                // The later round found out what the earlier one had to leave open.
                sum.unknown = written.unknown;
                sum.took += written.took;
            })
            .or_insert(written);
    }
    zones.into_values().collect()
}

/// Whether the outcome of an update is not known: it may have taken effect after it was examined and before the survey.
fn is_open(state: &dyn ApplyJournal, id: ApplyId) -> Result<bool, Problem> {
    Ok(state.apply(id)?.is_some_and(|apply| apply.updates_open > 0))
}

/// The changes that took effect or may have, as the journal says: by target, owner name and type; with what each left.
struct MadeChanges<'s>(HashMap<TargetRrset<'s>, Vec<(&'s SentChange, MadeBefore)>>);

/// An RRset at a target.
type TargetRrset<'s> = (&'s TargetId, &'s Name, Rtype);

impl<'s> MadeChanges<'s> {
    /// Those of the updates of an apply.
    fn of(sent: &'s [SentUpdate]) -> MadeChanges<'s> {
        let mut made: HashMap<TargetRrset<'_>, Vec<(&SentChange, MadeBefore)>> = HashMap::new();
        for SentUpdate { fate, race, changes, target, .. } in sent {
            let of_all = match fate {
                SentFate::Done if race.is_some() => MadeBefore::Raced,
                SentFate::Done => MadeBefore::Yes,
                SentFate::Unknown(_) => MadeBefore::Perhaps,
                SentFate::Undone(_) => MadeBefore::No,
            };
            for change in changes {
                made.entry((target, &change.name, change.rtype)).or_default().push((change, of_all));
            }
        }
        MadeChanges(made)
    }

    /// Whether a change was made in a copy: what another step of it left is not what it leaves. What an older version sent
    /// names no target.
    fn get(&self, copy: &CopyId, change: &Change) -> MadeBefore {
        let (name, rtype) = (change.key.owner.as_name().to_name(), change.key.rtype);
        let any = TargetId::only(&PoolName::unknown());
        let leaves_it = |sent: &SentChange| match (&sent.after, change.kind.after()) {
            (Some(sent), Some(after)) => sent.is(rtype, after),
            (sent, after) => sent.is_none() && after.is_none(),
        };
        let of = |target: &TargetId| {
            let sent = self.0.get(&(target, &name, rtype)).into_iter().flatten();
            sent.filter(|(sent, _)| leaves_it(sent)).map(|(_, made)| *made).max()
        };
        of(&copy.target).max(of(&any)).unwrap_or(MadeBefore::No)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::fixture;

    /// The result of a round that sent so many updates to a zone.
    fn round(sent: &[(&str, usize)]) -> ApplyRun {
        let zone = |(name, updates): &(&str, usize)| ZoneWritten {
            pool: crate::change::fixture::pool(),
            zone: fixture::zone(name),
            target: None,
            updates: *updates,
            changes: 10 * updates,
            unknown: 0,
            took: Duration::from_secs(1),
        };
        let applied = apply::ApplyOutcome { zones: sent.iter().map(zone).collect(), ..apply::ApplyOutcome::default() };
        ApplyRun { apply: Some(ApplyId(7)), applied, is_journaled: true, ..ApplyRun::default() }
    }

    /// How many updates each zone got.
    fn updates(ran: &ApplyRun) -> Vec<(String, usize, usize)> {
        ran.applied.zones.iter().map(|zone| (zone.zone.to_string(), zone.updates, zone.changes)).collect()
    }

    #[test]
    fn what_an_earlier_round_sent_is_told_with_the_next() {
        let ran = after(round(&[("b.example", 1), ("a.example", 2)]), Ok(round(&[("b.example", 3)])));
        assert_eq!(updates(&ran), [("a.example.".to_owned(), 2, 20), ("b.example.".to_owned(), 4, 40)]);
    }

    #[test]
    fn a_later_round_that_is_refused_or_fails_does_not_say_that_nothing_was_sent() {
        let refusal = Problem::new("here", "state-lost", "another run");
        let refused = after(round(&[("a.example", 2)]), Ok(ApplyRun::refused(refusal)));
        let failed = Problem::new("here", "state-unwritable", "another run");
        let failed = after(round(&[("a.example", 2)]), Err(failed));
        for (ran, code, is_journaled) in [(&refused, "state-lost", true), (&failed, "state-unwritable", false)] {
            assert_eq!((ran.apply, ran.refusal.is_none(), ran.is_journaled), (Some(ApplyId(7)), true, is_journaled));
            assert_eq!(updates(ran), [("a.example.".to_owned(), 2, 20)]);
            assert_eq!(ran.applied.problems.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), [code]);
        }
    }
}
