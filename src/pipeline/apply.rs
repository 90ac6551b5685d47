//! Brings a plan to DNS: lock, state, survey, writing, reading back.
//!
//! Comes in: a plan, a workspace for its targets and state, and how it is to be applied. Goes out: the outcome of every
//! host, or why nothing was sent.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::allowed::{self, of_this_workspace, still_bound};
use super::approvals::access::ApprovalAccess;
use super::approvals::{Approver, doubtful};
use super::conduct::ApplyConduct;
use super::fits::{moved, state_lost, zones_of};
use super::guards::{ApplyGuards, idle_refusal, rules_now};
use super::left_open::{broken_off, settle_by_markers, settle_found, was_killed};
use super::listed_since::ListedSince;
use super::names_again::NamesAgain;
use super::open_lack::forget_made;
use super::publication::step::{self, ApplyTaken};
use super::publication::taken::TakingTargets;
use super::publication::{PoolRolls, PublicationWatch};
use super::run_watch::{InterruptedWatch, NoWatch, RunWatch};
use super::settings::{OpenError, WorkspaceSettings, load_settings, state_address};
use super::targets::{OpenedZones, Targets};
use super::undo_listed::ListedQuestion;
use super::wave_checks::{ConfiguredChecks, WaveChecks};
use super::wave_choice::{GateUse, WaveDecision, WaveQuestion};
use super::waves::GroupSettings;
use super::zone_making::{ZonePhase, ZoneWork};
use super::{
    acceptance, approvals, broken_off, lost_marks, name_servers, pod_states, statements, undo, waits, waves,
    zone_changes,
};
use crate::apply::accept::{PlanTerms, accept};
use crate::apply::shape::PlanBounds;
use crate::apply::{self, ApplyOutcome, Orders, OutcomeCode, SIDE_BY_SIDE, StepRoom, Survey, ZoneOutcome};
use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Rtype, ZoneName};
use crate::guard::{self, Allowance, Clearance};
use crate::inventory::model::Config;
use crate::inventory::value::{self, Time};
use crate::plan::{GroupWaves, Plan, SealedPlan, WaitingSubject, document};
use crate::progress::{Progress, RunStage};
use crate::reading::ReadingTerms;
use crate::rollout::wave::{self, Wave};
use crate::rollout::{RolloutChoice, UnitStep, hosts_of};
use crate::state::served::ServedOutcome;
use crate::state::{
    self, Acceptor, ApplyId, ChangeLedger, GateAsked, HeldState, KnownMarkers, LiftedLimit, NewApply, NewLack,
    PlanText, SentFate, State, StateNotes,
};
use crate::target::{Answer, CopyId, Marker, PoolName, Question, TargetId, marker_key};
use crate::verify::{self, LackNews, lack_news};

/// How long after it was sent an update without an answer may still take effect. A connection ends within minutes, also
/// where the run died; what did not take effect within an hour is lost.
const LATEST: value::Duration = value::Duration::from_secs(3600);

/// A plan to apply.
#[derive(Debug, Clone, Copy)]
pub struct PlanToApply<'a> {
    /// The plan.
    pub sealed: &'a SealedPlan,
    /// What messages call it.
    pub place: &'a str,
    /// The effect that the operator reviewed, where given.
    pub expect: Option<&'a str>,
}

/// The result of an apply.
#[derive(Debug, Default)]
pub struct ApplyRun {
    /// Its number in the journal; none where it did not begin.
    pub apply: Option<ApplyId>,
    /// Why nothing was sent, where the plan was refused.
    pub refusal: Option<Problem>,
    /// The outcome of its hosts; empty where the plan was refused.
    pub applied: ApplyOutcome,
    /// What the state notes of the plan, apart from changes.
    pub noted: StateNotes,
    /// The zones and input files that have changed since the plan was made, sorted.
    pub moved: Vec<String>,
    /// Whether the journal could be written to the end.
    pub is_journaled: bool,
    /// How long sending took, and reading back.
    pub took: (Duration, Duration),
    /// Whether what it changed is served; none where no pool of it has a name server.
    pub served: Option<ServedOutcome>,
    /// What waits for a later wave, sorted by subject.
    pub waiting: Vec<WaitingSubject>,
    /// In how many waves each group goes at least, from this one on.
    pub waves: Vec<GroupWaves>,
    /// What gates said before the wave, by group.
    pub gates: Vec<GateAsked>,
    /// Until when its later waves may go; none where nothing waits.
    pub waves_until: Option<Time>,
    /// Whether a signal came before it was decided what goes, so that nothing was sent.
    pub is_interrupted: bool,
}

impl ApplyRun {
    /// A plan that is refused.
    pub(super) fn refused(refusal: Problem) -> ApplyRun {
        ApplyRun { refusal: Some(refusal), is_journaled: true, ..ApplyRun::default() }
    }
}

/// Applies a plan, or refuses it; nothing is derived again.
///
/// Errors: [`OpenError`]; nothing was sent then.
pub fn apply(
    given: &PlanToApply<'_>,
    request: &ApplyConduct<'_>,
    progress: &dyn Progress,
) -> Result<ApplyRun, OpenError> {
    let mut settings = load_settings(request.workspace)?;
    settings.config.add_record_zones(given.sealed.plan().changes.iter().map(Change::zone_id));
    let config = &settings.config;
    let bounds = PlanBounds::of(config, &settings.projects);
    let address = state_address(request.workspace, config);
    let kept = state::open_to_read(&address);
    // A state that cannot be read refuses nothing here: what follows reports it.
    let known = kept.as_ref().ok().and_then(Option::as_deref);
    let waves_expire = known.and_then(|state| state.waves_expire(given.sealed.id()).ok()).flatten();
    let terms = PlanTerms {
        now: request.now,
        expires: config.plan_expires,
        waves_expire,
        expect: given.expect,
        bounds: &bounds,
    };
    let plan = given.sealed.plan();
    // Another owner or registry gives other TXT, which the plan cannot have.
    let accepted = still_bound(plan, config, given.place)
        .and_then(|()| accept(given.sealed, given.place, &terms))
        .and_then(|()| zones_of(plan, config, given.place));
    let zones = match accepted {
        Ok(zones) => zones,
        Err(refusal) => return Ok(ApplyRun::refused(refusal)),
    };
    let identity = known.and_then(|state| state.identity().ok());
    let here = of_this_workspace(plan, identity.as_ref(), given.place);
    // Of an undo the journal says more: which apply it does not have.
    if let (Err(refusal), None) = (&here, plan.undoes) {
        return Ok(ApplyRun::refused(refusal.clone()));
    }
    let has_news = waits::has_news(plan, &kept, request.now)
        || statements::has_news(plan, known)
        || zone_changes::has_news(plan, config, known)
        || waves::has_news(known)
        || approvals::has_news(&settings, known);
    if plan.is_idle() && !was_killed(&address, known) && !has_news {
        if let Some(refusal) = known.and_then(|state| idle_refusal((plan, given.place), state)) {
            return Ok(ApplyRun::refused(refusal));
        }
        pod_states::note_idle((plan, &settings), request, (&address, &kept));
        acceptance::accept_idle((plan, &settings), request, (&address, kept));
        return Ok(ApplyRun { is_journaled: true, ..ApplyRun::default() });
    }
    drop(kept);
    let mut held = HeldState::take_patiently(&address, request.who, request.now, &|| request.waits_for_lock())?;
    let state = &mut *held.state;
    release_targets(config, state)?;
    if let Some(refusal) = undo::refusal(plan, given.place, &settings.config, state)?.or(here.err()) {
        return Ok(ApplyRun::refused(refusal));
    }
    progress.stage(RunStage::Survey, None);
    let killed = broken_off(state)?;
    // What died, or is not known to be served, may be of any zone, and so may be the hosts of tasks.
    let has_tasks = approvals::has_news(&settings, Some(&*state));
    let is_clear = killed.is_empty() && state.unserved()?.is_empty() && !has_tasks;
    let to_finish = if is_clear { zones.clone() } else { config.zones.iter().collect() };
    let opened = OpenedZones::open(config, to_finish, request.workspace, request.now);
    let targets = opened.targets();
    let groups = waves::settings_for(plan, &settings.projects, &settings.pod_sets);
    let checks = ConfiguredChecks::of(config, request, progress);
    let services = ApprovalAccess::of(&settings, request, state)?;
    let approver = services.approver();
    let work = ApplyWork {
        approver: Some(&approver),
        sealed: given.sealed,
        place: given.place,
        terms,
        request,
        progress,
        targets: &targets,
        at_once: SIDE_BY_SIDE,
        guards: ApplyGuards { rules: rules_now(&settings, Some(plan)), allow: request.allow, auto: request.auto },
        settings: &settings,
        groups: &groups,
        checks: &checks,
    };
    let mut ran = work.begin(state, &killed)?;
    work.publish(held, &mut ran);
    Ok(ran)
}

/// Lets what is own at targets that are no longer configured count at any target.
pub(super) fn release_targets(config: &Config, state: &mut dyn State) -> Result<(), Problem> {
    let records = &config.update_records;
    // A record that cannot be read may be there still, and one with a fault is.
    if records.has_unread {
        return Ok(());
    }
    let of_records = records.records.iter().filter_map(|record| record.name.parse().ok());
    let of_records = of_records.map(|pool: PoolName| TargetId::only(&pool));
    let present: Vec<TargetId> = config.targets().map(|target| target.id.clone()).chain(of_records).collect();
    state.release_targets(&present)
}

/// A plan to apply or to resume: all but the lock and the settings.
pub(super) struct ApplyWork<'a> {
    /// The plan.
    pub sealed: &'a SealedPlan,
    /// What messages call it.
    pub place: &'a str,
    /// The terms that it is compared with.
    pub terms: PlanTerms<'a>,
    /// How it is to be done.
    pub request: &'a ApplyConduct<'a>,
    /// Shows the operator how far the run is.
    pub progress: &'a dyn Progress,
    /// The targets of its zones.
    pub targets: &'a Targets<'a>,
    /// How many zones are read or written at the same time.
    pub at_once: usize,
    /// The guards that it must pass before anything is sent.
    pub guards: ApplyGuards<'a>,
    /// What people set, as it is now.
    pub settings: &'a WorkspaceSettings,
    /// The budgets of groups; without any all of a plan goes at once.
    pub groups: &'a GroupSettings,
    /// Who is asked before a wave.
    pub checks: &'a dyn WaveChecks,
    /// Who asks cluster-management services; none where no host needs an approval.
    pub approver: Option<&'a Approver<'a>>,
}

/// A wave that may be sent.
pub(super) struct ChosenWave {
    /// The wave.
    pub wave: Wave,
    /// How it was chosen.
    pub decision: WaveDecision,
}

impl ApplyWork<'_> {
    /// Reads live DNS, and writes the changes that are still to be made; `killed` are earlier applies that never ended.
    pub fn begin(&self, state: &mut dyn State, killed: &[ApplyId]) -> Result<ApplyRun, Problem> {
        let plan = self.sealed.plan();
        if !killed.is_empty() {
            self.targets.doubt();
        }
        for killed in killed {
            settle_found(state, *killed, self.targets, self.request.now)?;
        }
        let zones_made = match self.make_zones(state, &[])? {
            Ok(zones_made) => zones_made,
            Err(refusal) => return Ok(ApplyRun::refused(refusal)),
        };
        let survey = self.survey();
        let known = self.markers(state)?;
        if let Some(refusal) = state_lost(&survey, &known) {
            return Ok(ApplyRun::refused(refusal));
        }
        settle_by_markers(state, &survey, self.request.now)?;
        self.collect_tasks((&survey, &known), state)?;
        let pods = pod_states::note((plan, self.settings), self.request, state)?;
        let moved = moved(plan, &survey, self.request.workspace);
        let rooms = [StepRoom::default(), StepRoom::default()];
        let survey = self.still_allowed(survey.at_next_steps(plan, &rooms[0]), state)?;
        let ChosenWave { wave, decision } = match self.next_wave(state, &survey, &[])? {
            Ok(chosen) => chosen,
            Err(refusal) => return Ok(ApplyRun::refused(refusal)),
        };
        let WaveDecision { mut choice, gates, problems, is_interrupted } = decision;
        let survey = self.repaired_at_once(survey, &choice, &rooms[1], state)?;
        let orders = self.orders(wave, &known, 0);
        let noted = StateNotes {
            waits: waits::note(plan, state, self.request.now)?,
            statements: statements::note(plan, state)?,
        };
        zone_changes::note_seen(plan, &self.settings.config, state, self.request.now)?;
        let (waiting, waves) = (choice.waiting_after(), std::mem::take(&mut choice.waves));
        if is_interrupted && killed.is_empty() && plan.zone_changes.is_empty() {
            // What waits is not known: it is left as the state has it.
            let applied = self.not_begun((survey, &orders), problems);
            let ran = ApplyRun { applied, noted, moved, waiting, waves, gates, ..ApplyRun::default() };
            return Ok(ApplyRun { is_journaled: true, is_interrupted, ..ran });
        }
        if choice.goes.is_empty() && killed.is_empty() && plan.zone_changes.is_empty() {
            state.note_waves(&choice)?;
            let written = apply::write(survey, &orders, &NoWatch);
            let applied = verify::judge(&written, &apply::ReadBack::new(), problems).with_names(plan);
            self.end_tasks(&applied, state)?;
            pod_states::note_moved(pods.as_ref(), &applied, state);
            let accepting = if did_all(&applied) {
                acceptance::of_plan((plan, self.settings), self.request, state)
            } else {
                Vec::new()
            };
            if !accepting.is_empty() {
                state.accept(&accepting, &Acceptor::IdleApply(self.request.who), self.request.now)?;
            }
            let is_journaled = true;
            return Ok(ApplyRun { applied, noted, moved, waiting, waves, gates, is_journaled, ..ApplyRun::default() });
        }
        let document = document::to_json(self.sealed);
        let blocked: Vec<Subject> = plan.blocked.iter().map(|blocked| blocked.subject.clone()).collect();
        let Plan { created: made, expires, .. } = *plan;
        // The later waves have more time, and the plan is kept for them.
        let waves_until = (!waiting.is_empty()).then(|| made.plus(self.settings.config.waves_expire).max(expires));
        let expires = waves_until.unwrap_or(expires);
        let text = PlanText { document: &document, made, expires, blocked: &blocked };
        self.take_up(state, killed)?;
        let id = state.begin(&new_apply(self.sealed, self.request, &survey), &text, &choice)?;
        self.note_allowed(state, id)?;
        state.note_gates(id, &gates)?;
        let mut ran = self.run((id, survey, &orders), state);
        ran.applied.problems.extend(problems);
        pod_states::note_moved(pods.as_ref(), &ran.applied, state);
        let waiting = still_waiting(waiting, &choice, &ran.applied);
        for killed in killed {
            // One of its updates may have taken effect after it was examined and before the survey.
            ran.is_journaled &= settle_found(state, *killed, self.targets, self.request.now).is_ok();
            ran.is_journaled &= self.note_steps_of(state, *killed).is_ok();
        }
        self.finish_zones(state, &mut ran, zones_made);
        Ok(ApplyRun { noted, moved, waiting, waves, gates, waves_until, ..ran })
    }

    /// Makes and lists the zones of the plan, before anything is read from them; the limits of `earlier` were lifted for the
    /// plan before. Gives what happened to each, or why the whole plan is refused.
    pub fn make_zones(
        &self,
        state: &mut dyn State,
        earlier: &[Allowance],
    ) -> Result<Result<Vec<ZoneOutcome>, Problem>, Problem> {
        let plan = self.sealed.plan();
        if plan.zone_changes.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        // A plan that exceeds a limit makes no zone, either.
        let changes: Vec<&Change> = plan.changes.iter().collect();
        if let Err(refusal) =
            self.guards.clear((self.sealed, self.place, &changes), earlier, state, self.request.now)?
        {
            return Ok(Err(refusal));
        }
        self.progress.stage(RunStage::MakeZones, None);
        let made = self.zone_work(self.guards.allow).run(&plan.zone_changes, ZonePhase::Before, state)?;
        Ok(Ok(made))
    }

    /// Deletes the zones of the plan, after all else, and joins what happened to zones to the outcome.
    pub fn finish_zones(&self, state: &mut dyn State, ran: &mut ApplyRun, made: Vec<ZoneOutcome>) {
        let plan = self.sealed.plan();
        if plan.zone_changes.is_empty() || ran.refusal.is_some() {
            return;
        }
        let work = self.zone_work(self.guards.allow);
        let deleted = work.run(&plan.zone_changes, ZonePhase::After, state);
        let mut outcomes = made;
        match deleted {
            Ok(deleted) => outcomes.extend(deleted),
            Err(problem) => ran.applied.problems.push(problem),
        }
        ran.applied.problems.extend(work.without_consensus(&outcomes));
        // Files that were made or deleted after the last update may need the target's last step, too.
        ran.applied.problems.extend(self.targets.finish(self.request.interrupted));
        ran.applied.zone_changes = outcomes;
    }

    /// How zones are made and deleted.
    fn zone_work<'w>(&'w self, lets: &'w [Allowance]) -> ZoneWork<'w> {
        let planned = Some(self.sealed.plan().created);
        ZoneWork { config: &self.settings.config, targets: self.targets, request: self.request, lets, planned }
    }

    /// Reads all that the plan touches.
    pub fn survey(&self) -> Survey<'_> {
        let plan = self.sealed.plan();
        apply::survey(plan, self.targets.of_plan(plan), self.at_once)
    }

    /// What the state knows of the markers, for the targets that there are now.
    pub fn markers(&self, state: &dyn State) -> Result<KnownMarkers, Problem> {
        Ok(state.markers()?.among(self.settings.config.targets().map(|target| &target.id)))
    }

    /// Leaves what the settings no longer allow, names that an SRV lists or a pod has since the plan was made, and what lost its
    /// TXT of the registry since.
    pub fn still_allowed<'s>(&self, mut survey: Survey<'s>, state: &dyn State) -> Result<Survey<'s>, Problem> {
        let ApplyConduct { workspace, now, .. } = *self.request;
        let question = ListedQuestion { state, config: &self.settings.config, workspace, now };
        let plan = self.sealed.plan();
        let listed = ListedSince::read((plan, &survey), &question, self.settings, &self.targets.copies)?;
        let again = NamesAgain::read((plan, &survey), &self.targets.copies);
        for lane in &mut survey.lanes {
            let open = lane.open_places(&survey.unit_of);
            let (listed, again) = (listed.refused(plan, lane, &open), again.refused(lane, &open));
            let unmarked = lost_marks::refused(plan, (lane, &open), self.terms.bounds);
            let refused = allowed::refused(plan, (lane, open), self.settings, state)?;
            lane.refuse(&refused, &survey.unit_of);
            lane.refuse(&listed, &survey.unit_of);
            lane.refuse(&again, &survey.unit_of);
            lane.refuse(&unmarked, &survey.unit_of);
        }
        Ok(survey)
    }

    /// The same, where what repairs is made in one step although the plan has two.
    pub fn repaired_at_once<'s>(
        &self,
        survey: Survey<'s>,
        choice: &RolloutChoice,
        room: &'s StepRoom,
        state: &dyn State,
    ) -> Result<Survey<'s>, Problem> {
        if choice.at_once.is_empty() {
            return Ok(survey);
        }
        let step =
            |(unit, step): (usize, &UnitStep)| if choice.at_once.contains(&unit) { UnitStep::Whole } else { *step };
        let steps = survey.steps.iter().enumerate().map(step).collect();
        self.still_allowed(survey.with_steps(self.sealed.plan(), steps, room), state)
    }

    /// Counts what is still to be made again, and chooses what of it goes now; the limits of `earlier` were lifted for the
    /// plan before.
    pub fn next_wave(
        &self,
        state: &mut dyn State,
        survey: &Survey<'_>,
        earlier: &[Allowance],
    ) -> Result<Result<ChosenWave, Problem>, Problem> {
        self.settle_earlier(state)?;
        let clearance = match self.clear(state, survey, earlier)? {
            Ok(clearance) => clearance,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let decision = self.decide(state, survey)?;
        Ok(Ok(ChosenWave { wave: wave::next(&decision.choice, clearance), decision }))
    }

    /// Gives the leave to write what is still to be made.
    fn clear(
        &self,
        state: &mut dyn ChangeLedger,
        survey: &Survey<'_>,
        earlier: &[Allowance],
    ) -> Result<Result<Clearance, Problem>, Problem> {
        if !survey.is_open() {
            // Nothing will be sent, so nothing is counted.
            return Ok(Ok(guard::clear(self.sealed, &[], &[]).expect("no limit is counted")));
        }
        self.guards.clear((self.sealed, self.place, &survey.open()), earlier, state, self.request.now)
    }

    /// Writes to the state which limits are lifted for an apply, and by whom.
    pub fn note_allowed(&self, state: &mut dyn ChangeLedger, id: ApplyId) -> Result<(), Problem> {
        if self.guards.allow.is_empty() {
            return Ok(());
        }
        let ApplyConduct { who, now, .. } = *self.request;
        let allowed = self.guards.allow.iter().map(|allowance| LiftedLimit {
            allowance: allowance.clone(),
            effect: self.sealed.effect().to_owned(),
            at: now,
            who: who.to_owned(),
        });
        state.allow(id, &allowed.collect::<Vec<_>>())
    }

    /// The outcome of a plan that a signal ended before an apply began.
    fn not_begun(&self, (survey, orders): (Survey<'_>, &Orders), problems: Vec<Problem>) -> ApplyOutcome {
        let written = apply::write(survey, orders, &InterruptedWatch);
        let mut applied = verify::judge(&written, &apply::ReadBack::new(), problems).with_names(self.sealed.plan());
        for host in applied.hosts.iter_mut().filter(|host| host.outcome == OutcomeCode::NotReached) {
            // There is nothing in the journal to resume.
            host.hint = Some("apply the plan again".to_owned());
        }
        applied
    }

    /// How a wave is to be applied; `sent` updates of it were sent before.
    pub fn orders(&self, wave: Wave, known: &KnownMarkers, sent: u64) -> Orders {
        Orders {
            wave,
            run: self.request.run,
            sent,
            epochs: self.targets.copies.iter().map(|own| (own.copy.clone(), known.epoch(&own.copy))).collect(),
            max_failures: self.request.max_failures,
        }
    }

    /// Writes the changes that are still to be made, reads them back, and writes all of it to the journal.
    pub fn run(&self, (id, survey, orders): (ApplyId, Survey<'_>, &Orders), state: &mut dyn State) -> ApplyRun {
        let ApplyWork { request, progress, .. } = *self;
        progress.stage(RunStage::Send, Some(host_count(&survey) as u64));
        let journal = RunWatch { state: Mutex::new(&mut *state), id, request, progress };
        let written = apply::write(survey, orders, &journal);
        let took = written.took;
        progress.stage(RunStage::ReadBack, None);
        let mut problems = self.targets.finish(self.request.interrupted);
        let begun_reading = Instant::now();
        let read_back = apply::read_back(&written);
        let read_for = begun_reading.elapsed();
        let now = journal.now();
        let never = verify::never_created(&written, &read_back);
        let never: Vec<_> = never.iter().map(|place| (&place.copy.target, place.key)).collect();
        let noted = state.disown(&never).and_then(|()| note_lacks(state, id, &lack_news(&written, &read_back), now));
        let noted = noted.and_then(|()| forget_made(state, self.targets, id));
        let stepped = noted.and_then(|()| self.note_steps(state, id, (&written, &read_back)));
        problems.extend(self.notify(&written, stepped.as_deref().unwrap_or_default()));
        let applied = verify::judge(&written, &read_back, problems).with_names(self.sealed.plan());
        // While the journal lacks the outcome of an update, the apply can be resumed.
        let accepts = did_all(&applied) && written.halted.is_none();
        let now = request.clock();
        let accepted = accepts.then(|| acceptance::of_plan((self.sealed.plan(), self.settings), request, state));
        let finished = state.finish(id, &applied, accepted.as_deref(), now);
        let finished = finished.and_then(|()| self.end_tasks(&applied, state));
        let is_journaled = written.halted.is_none() && stepped.is_ok() && finished.is_ok();
        ApplyRun { apply: Some(id), applied, is_journaled, took: (took, read_for), ..ApplyRun::default() }
    }
}

impl ApplyWork<'_> {
    /// Waits until the name servers serve what a run changed, or tells what is known where it does not wait. The state is
    /// given back meanwhile.
    pub fn publish(&self, held: HeldState, ran: &mut ApplyRun) {
        let Some(apply) = ran.apply.filter(|_| ran.is_journaled) else { return };
        let ApplyConduct { workspace, now, who, interrupted, waits, .. } = *self.request;
        let config = &self.settings.config;
        let terms = ReadingTerms { workspace, now, cache: None };
        let (context, clock, progress) = (terms.context(config), || self.request.clock(), self.progress);
        let watch = PublicationWatch { config, context: &context, interrupted, clock: &clock, who, progress };
        match watch.of_apply(held, apply, waits) {
            Ok(served) => ran.served = served,
            Err(problem) => ran.applied.problems.push(problem),
        }
    }

    /// Records the steps of an apply; gives the copies that took something in them.
    fn note_steps(
        &self,
        state: &mut dyn State,
        id: ApplyId,
        (written, read_back): (&apply::PlanWritten<'_>, &apply::ReadBack),
    ) -> Result<Vec<CopyId>, Problem> {
        let lacking: BTreeSet<CopyId> = state.lacks()?.into_iter().map(|lack| lack.copy).collect();
        let rolls = self.rolls();
        let zones = self.taking(&rolls).of_plan(written, read_back, &lacking);
        step::record(state, ApplyTaken { apply: id, zones }, &rolls, self.request.clock())
    }

    /// Notes what applies that were broken off changed, and what targets may lack of it.
    pub fn take_up(&self, state: &mut dyn State, killed: &[ApplyId]) -> Result<(), Problem> {
        killed.iter().try_for_each(|killed| {
            self.note_lacks_of(state, *killed)?;
            self.note_steps_of(state, *killed)
        })
    }

    /// Decides which of the units that are still to be written go now. What `sync` makes up says nothing of what waits.
    fn decide(&self, state: &mut dyn State, survey: &Survey<'_>) -> Result<WaveDecision, Problem> {
        let known = waves::known_groups(&self.settings.projects, &self.settings.pod_sets);
        let ApplyWork { groups, targets, checks, progress, .. } = *self;
        let (plan, now) = (self.sealed.plan(), self.request.now);
        let gates = match plan.undoes {
            Some(_) => GateUse::Undo,
            None if self.request.ignores_gates => GateUse::Ignore,
            None => GateUse::Ask,
        };
        let config = &self.settings.config;
        let approver = self.approver;
        WaveQuestion { groups, known: &known, plan, survey, config, targets, checks, gates, progress, now, approver }
            .decide(state)
    }

    /// Lets services and the state agree on which tasks there are.
    pub fn collect_tasks(
        &self,
        (survey, markers): (&Survey<'_>, &KnownMarkers),
        state: &mut dyn State,
    ) -> Result<(), Problem> {
        let Some(approver) = self.approver else { return Ok(()) };
        if !approver.may_have_tasks(state)? {
            return Ok(());
        }
        let known = waves::known_groups(&self.settings.projects, &self.settings.pod_sets);
        self.settle_earlier(state)?;
        if approver.is_needed() {
            self.progress.stage(RunStage::Approvals, None);
        }
        let seen: BTreeSet<&CopyId> = survey.copies().map(|copy| &copy.copy).collect();
        let doubtful = |hosts: &BTreeSet<String>| doubtful::hosts(hosts, (&self.targets.copies, &seen), markers);
        approver.collect((self.sealed.plan(), &known), state, self.request.wave_clock(), &doubtful)
    }

    /// Ends the tasks of hosts whose turn is over.
    pub fn end_tasks(&self, applied: &ApplyOutcome, state: &mut dyn State) -> Result<(), Problem> {
        self.approver
            .map_or(Ok(()), |approver| approver.end((self.sealed.plan(), applied), state, self.request.wave_clock()))
    }

    /// Finds out what earlier applies did that is not known to be served: what a run changed that died, and that no later one
    /// took up, has no step yet, and would be in flux for ever.
    fn settle_earlier(&self, state: &mut dyn State) -> Result<(), Problem> {
        for earlier in state.unserved()? {
            let is_read = self.settle_marked(state, earlier)?;
            settle_found(state, earlier, self.targets, self.request.now)?;
            if is_read {
                state.give_up(earlier, self.request.now.minus(LATEST))?;
            }
            self.note_steps_of(state, earlier)?;
        }
        state.settle_flux(self.request.now)
    }

    /// Settles the updates of an apply whose outcome is not known by the markers of their zones, which the plan may not be
    /// about. Gives whether all of these zones could be read.
    fn settle_marked(&self, state: &mut dyn State, earlier: ApplyId) -> Result<bool, Problem> {
        let sent = state.sent(earlier)?;
        let open = sent.iter().filter(|sent| matches!(sent.fate, SentFate::Unknown(_)));
        let zones: BTreeSet<&ZoneName> = open.map(|sent| &sent.zone).collect();
        let mut is_read = true;
        for access in self.targets.copies.iter().filter(|own| zones.contains(&own.copy.zone)) {
            let zone = &access.copy.zone;
            let key = marker_key(zone).filter(|_| access.is_fenced);
            let question = key.as_ref().map_or_else(|| Question::soa(zone), Question::of);
            let answers = access.writer.as_ref().ok().and_then(|writer| writer.observe(zone, &[question], None).ok());
            let Some(answer) = answers.and_then(|answers| answers.into_iter().next()) else {
                is_read = false;
                continue;
            };
            if let (Some(_), Answer::Holds(Rtype::TXT, rrset)) = (key, &answer)
                && let Some(live) = Marker::of_rrset(rrset)
            {
                state.note_standing(&access.copy, &live, self.request.now)?;
            }
        }
        Ok(is_read)
    }

    /// Records what an apply that was broken off changed, and that no step has yet.
    fn note_steps_of(&self, state: &mut dyn State, killed: ApplyId) -> Result<(), Problem> {
        let lacking = state.lacks()?.into_iter().map(|lack| lack.copy).collect();
        let zones = self.taking(&self.rolls()).of_journal(&state.sent(killed)?, &lacking);
        step::record(state, ApplyTaken { apply: killed, zones }, &self.rolls(), self.request.now).map(drop)
    }

    /// Keeps what an apply that was broken off left undone at some targets, as it would have done at its end.
    fn note_lacks_of(&self, state: &mut dyn State, killed: ApplyId) -> Result<(), Problem> {
        let Some(Ok(sealed)) = state.document(killed)?.map(|document| document::parse(&document)) else {
            return Ok(());
        };
        let sent = state.sent(killed)?;
        let lacking = broken_off::lacking(sealed.plan(), &sent, &self.targets.copies);
        let lacking: Vec<NewLack<'_>> = lacking
            .iter()
            .map(|(copy, change)| NewLack { copy, change, why: "the apply was broken off before it was made here" })
            .collect();
        state.add_lacks(killed, &lacking, self.request.now)
    }

    /// The voters of all pools.
    fn rolls(&self) -> PoolRolls<'_> {
        let ApplyConduct { workspace, now, .. } = *self.request;
        let config = &self.settings.config;
        PoolRolls::of(config, ReadingTerms { workspace, now, cache: None }.context(config).source)
    }

    /// The targets of the zones.
    fn taking<'r>(&'r self, rolls: &'r PoolRolls<'r>) -> TakingTargets<'r> {
        TakingTargets { copies: &self.targets.copies, rolls }
    }

    /// Sends NOTIFY for the copies in which something was changed, or that took part in a new step: an earlier part of an
    /// apply that is resumed may have changed them, and then ended.
    fn notify(&self, written: &apply::PlanWritten<'_>, stepped: &[CopyId]) -> Vec<Problem> {
        let copies = written.copies().chain(stepped.iter().cloned()).collect();
        let ApplyConduct { workspace, now, .. } = *self.request;
        let terms = ReadingTerms { workspace, now, cache: None };
        let config = &self.settings.config;
        name_servers::notify(config, &terms.context(config), &copies)
    }
}

/// What waits after a wave: without what went, and then did not come out as it should.
pub(super) fn still_waiting(
    mut waiting: Vec<WaitingSubject>,
    choice: &RolloutChoice,
    applied: &ApplyOutcome,
) -> Vec<WaitingSubject> {
    let waits = applied.hosts.iter().filter(|host| host.outcome == OutcomeCode::Waiting);
    // A host is one with the names that it had.
    let waits: BTreeSet<Option<Subject>> = waits.map(|host| host.subject.counted()).collect();
    waiting.retain(|own| !choice.between.contains_key(&own.subject) || waits.contains(&own.subject.counted()));
    waiting
}

/// Keeps what targets lack after an apply, and drops what they no longer lack.
fn note_lacks(state: &mut dyn State, id: ApplyId, news: &LackNews<'_>, now: Time) -> Result<(), Problem> {
    let held: Vec<_> = news.held.iter().map(|(copy, change)| (copy, *change)).collect();
    state.drop_replaced(&held)?;
    let lacking = news.lacking.iter().map(|(copy, change, why)| NewLack { copy, change, why });
    state.add_lacks(id, &lacking.collect::<Vec<_>>(), now)
}

/// Whether all hosts are as the plan says, and nothing went wrong.
pub(super) fn did_all(applied: &ApplyOutcome) -> bool {
    applied.done() == applied.hosts.len() && applied.problems.is_empty()
}

/// How many hosts a plan changes.
fn host_count(survey: &Survey<'_>) -> usize {
    survey.units.iter().map(|unit| hosts_of(survey.changes, unit).len()).sum()
}

/// What the journal keeps of an apply that begins.
fn new_apply(sealed: &SealedPlan, request: &ApplyConduct<'_>, survey: &Survey<'_>) -> NewApply {
    NewApply {
        plan: sealed.id().to_owned(),
        effect: sealed.effect().to_owned(),
        started: request.now,
        who: request.who.to_owned(),
        reason: request.reason.map(str::to_owned),
        inputs: sealed.plan().inputs.clone(),
        hosts: host_count(survey),
        undoes: sealed.plan().undoes.map(ApplyId),
        is_whole: acceptance::is_whole(sealed.plan()),
    }
}
