//! How a unit came out in all lanes together: whether in each group the targets that have all of it reach the threshold,
//! and what the others lack.

use std::collections::BTreeSet;

use super::mismatch::unread;
use crate::apply::compare::is_after;
use crate::apply::{
    LaneReadBack, LaneSurvey, OutcomeCode, PlanWritten, ReadBack, UnitRace, UnitStanding, UnitState, UnitVerdict,
};
use crate::diag::Problem;
use crate::rollout::UnitStep;
use crate::target::TargetId;

/// What to do about a unit that others wrote to at the same time.
const AFTER_RACE: &str =
    "plan again, and find who else writes to this target: `exclusive = true` says that nothing else does";

/// How a unit came out in a lane.
enum LaneOutcome {
    /// It has nothing there.
    Absent,
    /// All of it is there: `applied`, `already-applied` or `raced`.
    Complete(UnitVerdict),
    /// Something of it is not there, and why.
    Lacks(UnitVerdict),
    /// It was given up there, because of other lanes.
    Ended,
}

/// A change that a target of a pool of several lacks, although another one has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LackingChange {
    /// The number of the target's lane.
    pub lane: usize,
    /// The place of the change.
    pub place: usize,
    /// Why: lower case, no full stop.
    pub why: String,
}

/// The outcome of a unit.
pub struct UnitJudgement {
    /// The outcome as a whole.
    pub verdict: UnitVerdict,
    /// Whether its first step was made, and its second one waits.
    pub is_between: bool,
    /// What targets lack.
    pub lacks: Vec<LackingChange>,
}

/// An outcome about which there is nothing to say.
fn fine(outcome: OutcomeCode) -> UnitVerdict {
    UnitVerdict { outcome, message: String::new(), hint: None }
}

/// The outcome of a unit of which the first step was made.
fn between() -> UnitVerdict {
    let message = "its new addresses are there; its old ones stay for `overlap`, and go with a later wave".to_owned();
    UnitVerdict { outcome: OutcomeCode::Waiting, message, hint: None }
}

/// A unit of what was written.
pub struct WrittenUnit<'w> {
    /// What was written.
    pub written: &'w PlanWritten<'w>,
    /// What was read back.
    pub read_back: &'w ReadBack,
    /// Its place among the units.
    pub unit: usize,
}

impl WrittenUnit<'_> {
    /// Gives the unit its outcome.
    pub fn judge(&self) -> UnitJudgement {
        let outcomes: Vec<LaneOutcome> = (0..self.lanes().len()).map(|lane| self.outcome(lane)).collect();
        let waits = outcomes.iter().find_map(|own| match own {
            LaneOutcome::Lacks(verdict) if verdict.outcome == OutcomeCode::Waiting => Some(verdict.clone()),
            _ => None,
        });
        // It is the unit that waits, whatever the state of its targets.
        if let Some(verdict) = waits {
            return UnitJudgement { verdict, is_between: false, lacks: Vec::new() };
        }
        let mut present = outcomes.iter().zip(self.lanes()).filter(|(own, _)| !matches!(own, LaneOutcome::Absent));
        let verdict = match (present.next(), present.next()) {
            (Some((LaneOutcome::Complete(own) | LaneOutcome::Lacks(own), LaneSurvey { target: None, .. })), None) => {
                own.clone()
            }
            _ if self.is_reached(&outcomes) => self.reached(&outcomes),
            _ => self.missed(&outcomes),
        };
        let is_between = self.written.survey.steps[self.unit] == UnitStep::ToVia && verdict.outcome.is_done();
        let verdict = if is_between { between() } else { verdict };
        UnitJudgement { verdict, is_between, lacks: self.lacks(&outcomes) }
    }

    /// The lanes.
    fn lanes(&self) -> &[LaneSurvey<'_>] {
        &self.written.survey.lanes
    }

    /// What was done in a lane.
    fn state(&self, lane: usize) -> &UnitState {
        &self.written.lanes[lane][self.unit]
    }

    /// The outcome in a lane.
    fn outcome(&self, lane: usize) -> LaneOutcome {
        let (survey, state) = (&self.lanes()[lane], self.state(lane));
        let places = &survey.places[self.unit];
        if let Some(verdict) = survey.missed(self.unit) {
            return LaneOutcome::Lacks(verdict);
        }
        if places.is_empty() {
            return LaneOutcome::Absent;
        }
        let standing = &survey.standings[self.unit];
        if *standing == UnitStanding::Open && state.verdict.is_none() && state.done.len() < places.len() {
            return LaneOutcome::Ended;
        }
        let nothing = LaneReadBack::new();
        let read_back = self.read_back.get(lane).unwrap_or(&nothing);
        let verdict = verdict(survey, self.unit, state, read_back);
        // What raced is there: only what others wrote may not be.
        let has_all = verdict.outcome == OutcomeCode::Raced && places.iter().all(|place| self.has(lane, *place));
        if has_all || verdict.outcome.is_done() { LaneOutcome::Complete(verdict) } else { LaneOutcome::Lacks(verdict) }
    }

    /// Whether in a group the targets that have all of the unit reach the threshold.
    fn is_reached_in(&self, group: usize, outcomes: &[LaneOutcome]) -> bool {
        let has_all = |own: &LaneOutcome| matches!(own, LaneOutcome::Absent | LaneOutcome::Complete(_));
        let of_group = self.lanes().iter().zip(outcomes).filter(|(lane, _)| lane.votes.group == group);
        let votes = of_group.filter(|(_, own)| has_all(own)).map(|(lane, _)| lane.votes.votes).sum();
        self.written.survey.terms[group].is_reached(votes)
    }

    /// The same for all groups.
    fn is_reached(&self, outcomes: &[LaneOutcome]) -> bool {
        (0..self.written.survey.terms.len()).all(|group| self.is_reached_in(group, outcomes))
    }

    /// The outcome of a unit that is in DNS.
    fn reached(&self, outcomes: &[LaneOutcome]) -> UnitVerdict {
        let raced = outcomes.iter().zip(self.lanes()).find_map(|(own, lane)| match own {
            LaneOutcome::Complete(own) if own.outcome == OutcomeCode::Raced => {
                Some(UnitVerdict { message: at_target(lane, own), ..own.clone() })
            }
            _ => None,
        });
        if let Some(raced) = raced {
            return raced;
        }
        let was_written =
            |own: &LaneOutcome| matches!(own, LaneOutcome::Complete(UnitVerdict { outcome: OutcomeCode::Applied, .. }));
        let outcome = if outcomes.iter().any(was_written) { OutcomeCode::Applied } else { OutcomeCode::AlreadyApplied };
        fine(outcome)
    }

    /// The outcome of a unit that is not, or not at enough targets.
    fn missed(&self, outcomes: &[LaneOutcome]) -> UnitVerdict {
        let open: Vec<usize> = (0..outcomes.len())
            .filter(|lane| self.lanes()[*lane].standings[self.unit] != UnitStanding::Already)
            .collect();
        let of_step = |lane: &usize, places: &[usize]| of_step(&self.lanes()[*lane], places);
        let done: usize = open.iter().map(|lane| of_step(lane, &self.state(*lane).done)).sum();
        let all: usize = open.iter().map(|lane| of_step(lane, &self.lanes()[*lane].places[self.unit])).sum();
        let cause = self.cause(outcomes);
        if done == 0 || done == all {
            return cause;
        }
        let message = format!("{done} of {all} changes were made; then: {}", cause.message);
        UnitVerdict { outcome: OutcomeCode::Partial, message, hint: cause.hint }
    }

    /// Why a unit is not at enough targets.
    fn cause(&self, outcomes: &[LaneOutcome]) -> UnitVerdict {
        let mut failed: Vec<(&LaneSurvey<'_>, &UnitVerdict)> = outcomes
            .iter()
            .zip(self.lanes())
            .filter_map(|(outcome, lane)| match outcome {
                LaneOutcome::Lacks(verdict) => Some((lane, verdict)),
                LaneOutcome::Absent | LaneOutcome::Complete(_) | LaneOutcome::Ended => None,
            })
            .collect();
        // What broke the threshold comes first.
        failed.sort_by_key(|(lane, _)| self.is_reached_in(lane.votes.group, outcomes));
        let end = self.written.ends[self.unit].as_ref();
        let Some((_, first)) = failed.first() else { return end.cloned().unwrap_or(fine(OutcomeCode::NotReached)) };
        let outcome = end.unwrap_or(first).outcome;
        let mut said = BTreeSet::new();
        let told = failed.iter().filter(|(_, verdict)| said.insert(verdict.message.clone()));
        let told: Vec<String> = told.map(|(lane, verdict)| at_target(lane, verdict)).collect();
        let lost = |(lane, verdict): &&(&LaneSurvey<'_>, &UnitVerdict)| {
            let is_of_target = matches!(verdict.outcome, OutcomeCode::Failed | OutcomeCode::NotReached);
            lane.target.is_some() && is_of_target && !self.is_reached_in(lane.votes.group, outcomes)
        };
        let told = told.join("; ");
        let message = match failed.iter().find(lost) {
            Some((LaneSurvey { target: Some(target), votes, .. }, _)) => {
                let threshold = self.written.survey.terms[votes.group].threshold;
                no_consensus(target, threshold, &told).to_string()
            }
            _ => told,
        };
        UnitVerdict { outcome, message, hint: first.hint.clone() }
    }

    /// What targets of pools of several lack that another of the pool has: by this apply, or, of a unit that is in DNS, from
    /// before the plan, which has no change for that target then.
    fn lacks(&self, outcomes: &[LaneOutcome]) -> Vec<LackingChange> {
        let mut lacks = Vec::new();
        for (lane, survey) in self.lanes().iter().enumerate().filter(|(_, lane)| lane.target.is_some()) {
            let own = survey.places[self.unit].iter().copied().filter(|place| !self.has(lane, *place));
            let missing = own.chain(survey.left_out[self.unit].iter().copied());
            let is_elsewhere = |place: &usize| {
                let is_of_group = |(_, other): &(usize, &LaneSurvey<'_>)| other.votes.group == survey.votes.group;
                let mut others = self.lanes().iter().enumerate().filter(is_of_group);
                // What only brings a target in line is in the reference copy, whatever happens to the unit.
                let is_in_dns = || survey.changes[*place].brings_in_line() || self.is_reached(outcomes);
                others
                    .any(|(other, lane)| self.has(other, *place) || (lane.needs_none(self.unit, *place) && is_in_dns()))
            };
            let why = match &outcomes[lane] {
                LaneOutcome::Lacks(verdict) => verdict.message.clone(),
                _ => self.written.ends[self.unit].as_ref().map(|end| end.message.clone()).unwrap_or_default(),
            };
            let lacking = missing.filter(is_elsewhere);
            lacks.extend(lacking.map(|place| LackingChange { lane, place, why: why.clone() }));
        }
        lacks
    }

    /// Whether a change is in the copy of a lane: it was there before, or was read back.
    pub fn has(&self, lane: usize, place: usize) -> bool {
        let survey = &self.lanes()[lane];
        let is_read = || match self.read_back.get(lane).and_then(|read| read.get(&place)) {
            Some(Ok(answer)) => is_after(&survey.changes[place], answer),
            Some(Err(_)) | None => false,
        };
        let is_done = self.state(lane).done.contains(&place);
        survey.is_own(place) && if is_done { is_read() } else { survey.was_there(place) }
    }
}

/// Why something is not in a copy, with the target where its pool has several.
fn at_target(lane: &LaneSurvey<'_>, verdict: &UnitVerdict) -> String {
    match &lane.target {
        Some(target) => format!("target `{target}`: {}", verdict.message),
        None => verdict.message.clone(),
    }
}

/// The error of a pool in which too few targets can be written.
fn no_consensus(target: &TargetId, threshold: u32, told: &str) -> Problem {
    let message =
        format!("without target `{target}` the others do not reach the threshold of {threshold} percent; {told}");
    Problem::new(format!("pool `{}`", target.pool), "no-consensus", message)
}

/// How many of some changes are made in this step.
fn of_step(survey: &LaneSurvey<'_>, places: &[usize]) -> usize {
    places.iter().filter(|place| survey.is_of_step(**place)).count()
}

/// The outcome of a unit in a lane.
fn verdict(survey: &LaneSurvey<'_>, unit: usize, state: &UnitState, read_back: &LaneReadBack) -> UnitVerdict {
    let (all, done) = (of_step(survey, &survey.places[unit]), of_step(survey, &state.done));
    match (&survey.standings[unit], &state.verdict) {
        (UnitStanding::Already, _) => match &state.race {
            UnitRace::Seen(race) => race.clone(),
            UnitRace::Excluded | UnitRace::Possible => fine(OutcomeCode::AlreadyApplied),
        },
        (_, Some(verdict)) if done == 0 => verdict.clone(),
        // An earlier part of the apply made all of it, but some is no longer there, or cannot be read.
        (UnitStanding::Left(verdict), _) if done == all => verdict.clone(),
        // All may be done after all: an update that was given up may come late.
        (_, Some(verdict)) if done < all => {
            let raced = match &state.race {
                UnitRace::Seen(race) => format!("; {}", race.message),
                UnitRace::Excluded | UnitRace::Possible => String::new(),
            };
            let message = format!("{done} of {all} changes were made; then: {}{raced}", verdict.message);
            UnitVerdict { outcome: OutcomeCode::Partial, message, hint: verdict.hint.clone() }
        }
        _ => written(unread(survey.changes, &state.done, read_back), &state.race),
    }
}

/// The outcome of a unit of which all was made, with what is read otherwise.
fn written(unread: Option<UnitVerdict>, race: &UnitRace) -> UnitVerdict {
    match (race, unread) {
        (UnitRace::Seen(race), None) => race.clone(),
        (UnitRace::Seen(_) | UnitRace::Possible, Some(found)) if found.outcome == OutcomeCode::NotApplied => {
            let message = format!("others write at the same time: {}", found.message);
            UnitVerdict { outcome: OutcomeCode::Raced, message, hint: Some(AFTER_RACE.to_owned()) }
        }
        (_, unread) => unread.unwrap_or(fine(OutcomeCode::Applied)),
    }
}
