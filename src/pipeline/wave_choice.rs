//! Decides which units of a plan go now: reads what is remembered, asks probes who can be reached, and gates whether a
//! further wave may go.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::approvals::{ApprovalSettings, Approver, AskScope};
use super::probing::{DownCandidate, Prober};
use super::targets::Targets;
use super::wave_checks::WaveChecks;
use super::waves::{
    GroupSettings, KnownTimes, LONGEST_NEGATIVE, down_pods, fallen_pods, has_probe, surveyed_times, terms_of,
    unknown_places,
};
use crate::apply::Survey;
use crate::approval::between::HostsBetween;
use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::approvals::ApprovalTerms;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::parallel::side_by_side;
use crate::plan::Plan;
use crate::progress::{Progress, RunStage};
use crate::rollout::{
    ChangeUnit, RolloutChoice, RolloutView, UnitStep, choose, free_places, group_of, hosts_of, in_order,
};
use crate::state::{GateAsked, GateOutcome, State};

/// How many gates are asked at the same time.
const SIDE_BY_SIDE: usize = 8;

/// How long services are asked once more for further hosts, where some that were to go no longer may.
const LONGEST_CONFIRMING: Duration = Duration::from_secs(10);

/// What is done about gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateUse {
    /// They are asked.
    Ask,
    /// An operator goes on without them.
    Ignore,
    /// The plan undoes an apply: what made a gate fail may be what is undone.
    Undo,
}

/// A plan whose next wave is to be chosen.
pub struct WaveQuestion<'a> {
    /// The rollouts.
    pub groups: &'a GroupSettings,
    /// The groups whose file can be read, each with its project.
    pub known: &'a BTreeMap<String, String>,
    /// The plan.
    pub plan: &'a Plan,
    /// What is live.
    pub survey: &'a Survey<'a>,
    /// The settings.
    pub config: &'a Config,
    /// The targets of the zones that are open.
    pub targets: &'a Targets<'a>,
    /// Who is asked.
    pub checks: &'a dyn WaveChecks,
    /// What is done about gates.
    pub gates: GateUse,
    /// Shows the operator how far the run is.
    pub progress: &'a dyn Progress,
    /// The clock.
    pub now: Time,
    /// Who asks cluster-management services; none where no host needs an approval.
    pub approver: Option<&'a Approver<'a>>,
}

/// What was decided.
#[derive(Debug, Default)]
pub struct WaveDecision {
    /// What goes and what waits.
    pub choice: RolloutChoice,
    /// The gates that were asked for it, by group.
    pub gates: Vec<GateAsked>,
    /// Why gates and probes could not be asked.
    pub problems: Vec<Problem>,
    /// Whether a signal came before all gates had answered: nothing may go.
    pub is_interrupted: bool,
}

/// What gates said before a wave.
#[derive(Debug, Default)]
struct GatesKnown {
    /// Why groups may not go whose gates did not pass, in words.
    shut: BTreeMap<String, String>,
    /// What was said, by group.
    asked: BTreeMap<String, GateAsked>,
    /// Why gates could not be asked, by gate: one of several groups is one problem.
    unusable: BTreeMap<String, Problem>,
}

/// For how many hosts of a project services are asked at a time, where its rollout limits that.
fn limits(view: &RolloutView<'_>, projects: &ApprovalSettings, choice: &RolloutChoice) -> BTreeMap<String, usize> {
    let free = free_places(view);
    let limit = |(project, terms): (&String, &ApprovalTerms)| {
        let going = choice.flux.iter().filter(|row| row.group == *project).count();
        Some((project.clone(), (*free.get(project.as_str())?).max(going) + terms.ask_ahead))
    };
    projects.iter().filter_map(limit).collect()
}

/// The hosts that go now and take no room of their rollout: they have their places already, repair, or take no live value. One that
/// has its place, and is not asked for because others are, would keep it for ever.
fn free_of_room(view: &RolloutView<'_>, units: &[ChangeUnit], choice: &RolloutChoice) -> BTreeSet<Subject> {
    let takes_room = |subject: &Subject| {
        let mut rows = choice.flux.iter().filter(|row| row.subject == *subject && row.is_disruptive && !row.is_repair);
        rows.any(|row| view.memory.between(subject, &row.group).is_none())
    };
    let going = choice.goes.iter().flat_map(|unit| hosts_of(&view.plan.changes, &units[*unit]));
    going.filter_map(|(_, subject)| subject.counted()).filter(|subject| !takes_room(subject)).collect()
}

impl WaveQuestion<'_> {
    /// Decides, and keeps who answered a probe.
    ///
    /// Errors: the state cannot be read or written.
    pub fn decide(&self, state: &mut dyn State) -> Result<WaveDecision, Problem> {
        let mut memory = state.rollouts()?;
        memory.forget_answers(|group| has_probe(self.groups, group));
        let now = memory.now(self.now);
        if self.groups.is_empty() && memory.waits.is_empty() {
            return Ok(self.without_groups());
        }
        if self.groups.values().any(|terms| terms.probe.is_some()) {
            self.progress.stage(RunStage::Probes, None);
        }
        let prober = Prober::new(self.groups, self.checks);
        let mut answers = prober.ask_changed(self.plan, (&memory, now), (self.config, self.targets));
        // A probe that a signal ended says of nothing that it does not answer.
        let is_over = self.checks.is_over();
        answers.retain(|answer| answer.answered || !is_over);
        state.note_answers(&answers)?;
        memory.note_answers(&answers);
        let times = self.known_times(state, now)?;
        let groups = terms_of(self.groups, self.plan, &memory);
        let (places, unknown) = (self.survey.places_to_send(), unknown_places(self.plan, &memory));
        let pods_down = state.pods_down()?;
        let was_down = pods_down.keys().cloned().collect();
        let (by_export, fallen) = (down_pods(self.plan), fallen_pods(self.plan, &pods_down));
        let step = |unit: &ChangeUnit| self.survey.steps[self.survey.unit_of[unit.changes[0]]];
        let units_open = self.survey.open_units();
        // Of what has a first step, the second is still to be made.
        let is_left = |place: usize| {
            let unit = self.survey.unit_of[place];
            let has_via = self.plan.changes[place].via.is_some();
            has_via && self.survey.steps[unit] == UnitStep::ToVia && units_open.contains(&unit)
        };
        let view = RolloutView {
            plan: self.plan,
            groups: &groups,
            memory: &memory,
            times: &times,
            is_open: &|place| places.contains(&place) || is_left(place),
            step: &step,
            known: self.known,
            unknown: &unknown,
            shut: &BTreeMap::new(),
            down: &by_export,
            was_down: &was_down,
            unapproved: &BTreeMap::new(),
            fallen: &fallen,
            now,
        };
        let mut down = prober.ask_down(&self.down_candidates(&view), self.targets);
        down.extend(by_export.clone());
        let view = RolloutView { down: &down, ..view };
        let mut decision = match self.approver.filter(|approver| approver.is_needed()) {
            Some(approver) => self.approve(&view, approver, state)?,
            None => self.pass_gates(&view, &mut GatesKnown::default()),
        };
        decision.problems.extend(prober.problems());
        Ok(decision)
    }

    /// What goes where no host or pod is of any group, and nothing waits: all.
    fn without_groups(&self) -> WaveDecision {
        // No group overlaps any longer.
        let goes: Vec<usize> = self.survey.open_units().into_iter().collect();
        let is_first = |unit: &&usize| self.survey.steps[**unit] == UnitStep::ToVia;
        let at_once = goes.iter().filter(is_first).copied().collect();
        WaveDecision { choice: RolloutChoice { goes, at_once, ..RolloutChoice::default() }, ..WaveDecision::default() }
    }

    /// How long caches keep what was live of the names that are still to be changed.
    ///
    /// Errors: the state cannot be read.
    fn known_times(&self, state: &dyn State, now: Time) -> Result<KnownTimes, Problem> {
        let open = self.survey.open();
        let is_counted = |change: &Change| {
            let mut groups = change.subjects().filter_map(|subject| group_of(change, subject));
            groups.any(|group| self.groups.contains_key(group)) || self.plan.affected(change).next().is_some()
        };
        let asked = open.iter().filter(|change| is_counted(change));
        let keys = asked.map(|change| (change.key.owner.to_string(), change.key.rtype.to_string())).collect();
        let former = state.former_ttls(&keys, now)?;
        Ok(KnownTimes { negative: surveyed_times(self.survey), unknown: LONGEST_NEGATIVE, former })
    }

    /// Chooses among the hosts that are allowed to go, and asks their services once more, right before they do; chooses again
    /// without those that no longer are.
    fn approve(
        &self,
        view: &RolloutView<'_>,
        approver: &Approver<'_>,
        state: &mut dyn State,
    ) -> Result<WaveDecision, Problem> {
        let units = &self.survey.units;
        let open = self.survey.open_units();
        let foreseen = choose(view, units, open.iter().copied());
        let order = in_order(view, units, &foreseen);
        let (limits, id) = (limits(view, approver.projects, &foreseen), state.identity()?.id);
        let free = free_of_room(view, units, &foreseen);
        self.progress.stage(RunStage::Approvals, None);
        let between = HostsBetween::of(&view.memory_of_what_is_left(), view.now);
        let scope = AskScope {
            plan: self.plan,
            units,
            open: &open,
            order: &order,
            limits: &limits,
            free: &free,
            between: &between,
        };
        let mut approvals = approver.ask(&scope, (state, &id), view.now)?;
        let (begun, open_units) = (Instant::now(), open.iter().copied().collect::<Vec<usize>>());
        let mut confirmed = BTreeSet::new();
        let mut unapproved = approvals.unapproved(&confirmed);
        let mut gates = GatesKnown::default();
        loop {
            let view = RolloutView { unapproved: &unapproved, ..*view };
            let mut decision = self.pass_gates(&view, &mut gates);
            let going = approvals.hosts_of(&decision.choice.goes);
            let open: BTreeSet<Subject> = going.difference(&confirmed).cloned().collect();
            if decision.is_interrupted || open.is_empty() {
                decision.choice.ignored = approvals.ignored(&decision.choice.goes);
                decision.choice.refused = approvals.rejected().clone();
                decision.choice.approved = going;
                return Ok(decision);
            }
            approver.confirm(&mut approvals, &open, state)?;
            confirmed.extend(open);
            // Services that are slow now would make the run wait for each further host: those go with the next run.
            if begun.elapsed() > LONGEST_CONFIRMING {
                confirmed.extend(approvals.hosts_of(&open_units));
            }
            unapproved = approvals.unapproved(&confirmed);
        }
    }

    /// The subjects that would have to wait, and that may be down.
    fn down_candidates<'v>(&self, view: &RolloutView<'v>) -> Vec<DownCandidate<'v>> {
        let mut candidates = Vec::new();
        if self.groups.values().all(|terms| terms.probe.is_none()) {
            return candidates;
        }
        for unit in self.survey.open_units() {
            let unit = &self.survey.units[unit];
            let open = unit.changes.iter().filter(|place| (view.is_open)(**place));
            let changes: Vec<&Change> = open.map(|place| &view.plan.changes[*place]).collect();
            let members = view.members(unit);
            let asked = members.iter().filter(|member| member.is_disruptive && !member.repairs);
            candidates.extend(asked.map(|member| DownCandidate::of(member, &changes, (view.step)(unit))));
        }
        candidates
    }

    /// Chooses, and asks the gates of what would go; chooses again without the groups whose gates did not pass, until all
    /// gates of what goes have passed. After a signal no gate is asked, and one that it ended has no outcome.
    fn pass_gates(&self, view: &RolloutView<'_>, known: &mut GatesKnown) -> WaveDecision {
        let GatesKnown { shut, asked, unusable } = known;
        loop {
            let view = RolloutView { shut, ..*view };
            let choice = choose(&view, &self.survey.units, self.survey.open_units());
            let gate = |group: &str| self.groups.get(group).and_then(|terms| terms.gate.clone());
            let to_ask = choice.asking_groups().into_iter().filter(|group| !asked.contains_key(*group));
            let to_ask: Vec<(String, String)> =
                to_ask.filter_map(|group| Some((group.to_owned(), gate(group)?))).collect();
            let is_interrupted = self.checks.is_over();
            if to_ask.is_empty() || self.gates == GateUse::Undo || is_interrupted {
                return WaveDecision {
                    choice,
                    gates: asked.values().cloned().collect(),
                    problems: unusable.values().cloned().collect(),
                    is_interrupted,
                };
            }
            let answers = self.ask(to_ask, &choice, view.now);
            for (GateAsked { group, gate, outcome, said, .. }, is_usable) in &answers {
                if *outcome == GateOutcome::Failed {
                    shut.insert(group.clone(), format!("the gate `{gate}` did not pass: {said}"));
                }
                if !is_usable {
                    let problem = Problem::new(format!("[gate.{gate}]"), "gate-unusable", said.clone());
                    let hint = "correct it in zonewright.toml; until then no wave of its projects goes";
                    unusable.insert(gate.clone(), problem.hint(hint));
                }
            }
            asked.extend(answers.into_iter().map(|(answer, _)| (answer.group.clone(), answer)));
        }
    }

    /// Asks the gates of groups, by their names; gives with each answer whether the gate could be asked. One that a signal
    /// ended has no answer.
    fn ask(&self, gates: Vec<(String, String)>, choice: &RolloutChoice, now: Time) -> Vec<(GateAsked, bool)> {
        if self.gates == GateUse::Ask {
            self.progress.stage(RunStage::Gates, Some(gates.len() as u64));
        }
        let answers = side_by_side(gates, SIDE_BY_SIDE, |(group, gate)| {
            if self.gates == GateUse::Ignore {
                let outcome = GateOutcome::Ignored;
                return Some((GateAsked { at: now, group, gate, outcome, said: String::new() }, true));
            }
            let goes = choice.flux.iter().filter(|row| row.is_disruptive && row.group == group);
            let subjects: Vec<String> = goes.map(|row| row.subject.to_string()).collect();
            let input = serde_json::json!({ "gate": gate, "group": group, "subjects": subjects });
            let answer = self.checks.gate(&gate, &format!("{input}\n"));
            self.progress.step();
            let outcome = if answer.passed { GateOutcome::Passed } else { GateOutcome::Failed };
            // What a signal ended has not failed.
            let is_answer = answer.passed || !self.checks.is_over();
            is_answer.then_some((GateAsked { at: now, group, gate, outcome, said: answer.said }, answer.is_usable))
        });
        answers.into_iter().flatten().collect()
    }
}
