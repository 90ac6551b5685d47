//! All that is known before anything is sent: the units of a plan, and what each lane holds of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::lane::{CopyAccess, LaneParts, LaneSurvey, MadeBefore, SurveyedCopy, UnitStanding};
use super::model::Phase;
use super::order;
use super::quorum::{LaneVotes, VoteTerms};
use crate::change::Change;
use crate::diag::Problem;
use crate::parallel::side_by_side;
use crate::plan::Plan;
use crate::rollout::UnitStep;
use crate::rollout::listed::NameNeeds;
use crate::rollout::units::{self, ChangeTies, ChangeUnit};
use crate::target::{CopyId, PoolName, TargetId};

/// Keeps what of each change of a plan is made, for as long as a survey needs it.
#[derive(Debug, Default)]
pub struct StepRoom(OnceLock<Vec<Change>>);

/// All that is known before anything is sent.
pub struct Survey<'a> {
    /// The changes of the plan.
    pub changes: &'a [Change],
    /// What is made together or not at all, in the order of the plan.
    pub units: Vec<ChangeUnit>,
    /// The unit of each change, by its place among them.
    pub unit_of: Vec<usize>,
    /// Which part of each unit is made now.
    pub steps: Vec<UnitStep>,
    /// The phase of each change.
    pub phases: Vec<Phase>,
    /// What units need of one another, because SRV list names.
    pub needs: NameNeeds,
    /// The lanes: first that of all pools of one target, then those of the targets of other pools; never empty.
    pub lanes: Vec<LaneSurvey<'a>>,
    /// What each group of lanes needs; the first group is that of the first lane alone.
    pub terms: Vec<VoteTerms>,
    /// How many zones of a lane are read or written side by side.
    pub at_once: usize,
}

impl<'a> Survey<'a> {
    /// The same, with what an earlier part of the apply made of each change in each copy.
    pub fn with_made(mut self, made: &dyn Fn(&CopyId, &Change) -> MadeBefore) -> Self {
        self.lanes.iter_mut().for_each(|lane| lane.take_made(made));
        self
    }

    /// The same for what of each unit comes next, by what is live: the second step once enough targets have the first. What is
    /// made is kept in `room`.
    pub fn at_next_steps(self, plan: &Plan, room: &'a StepRoom) -> Self {
        let next = |unit: usize| match UnitStep::first(self.changes, &self.units[unit]) {
            UnitStep::ToVia if self.is_first_step_made(unit) => UnitStep::FromVia,
            first => first,
        };
        let steps = (0..self.units.len()).map(next).collect();
        self.with_steps(plan, steps, room)
    }

    /// Whether in each group the targets at which the first step of a unit was made reach the threshold.
    fn is_first_step_made(&self, unit: usize) -> bool {
        if !self.lanes.iter().any(|lane| lane.has(unit) && lane.is_past_first_step(unit)) {
            return false;
        }
        let mut votes = vec![0; self.terms.len()];
        for lane in self.lanes.iter().filter(|lane| !lane.has(unit) || lane.is_past_first_step(unit)) {
            votes[lane.votes.group] += lane.votes.votes;
        }
        self.terms.iter().zip(votes).all(|(terms, votes)| terms.is_reached(votes))
    }

    /// The same for a part of each unit alone, which is kept in `room`.
    pub fn with_steps(mut self, plan: &Plan, steps: Vec<UnitStep>, room: &'a StepRoom) -> Self {
        if self.steps == steps {
            return self;
        }
        let of_unit = |place: usize| steps[self.unit_of[place]];
        let parts = plan.changes.iter().enumerate().map(|(place, change)| of_unit(place).part(change));
        let (changes, stays): (Vec<Change>, Vec<bool>) = parts.map(|part| (part.change, part.stays)).unzip();
        let changes: &'a [Change] = room.0.get_or_init(|| changes);
        self.phases = order::phases(changes, &ChangeTies::of(changes));
        self.needs = NameNeeds::of(changes, &self.units);
        self.lanes.iter_mut().for_each(|lane| lane.take_parts(changes, &stays));
        Survey { changes, steps, ..self }
    }

    /// All copies that can be written.
    pub fn copies(&self) -> impl Iterator<Item = &SurveyedCopy<'a>> {
        self.lanes.iter().flat_map(|lane| &lane.copies)
    }

    /// The changes of all that is to be sent, each once, in the order of the plan.
    pub fn open(&self) -> Vec<&'a Change> {
        self.places_to_send().into_iter().map(|place| &self.changes[place]).collect()
    }

    /// The places of the changes that are to be sent in some lane.
    pub fn places_to_send(&self) -> BTreeSet<usize> {
        self.lanes.iter().flat_map(|lane| lane.open_places(&self.unit_of)).collect()
    }

    /// The places of the units of which something is to be sent, ascending. What an earlier part of the apply made is not
    /// sent again.
    pub fn open_units(&self) -> BTreeSet<usize> {
        self.places_to_send().into_iter().map(|place| self.unit_of[place]).collect()
    }

    /// Whether a unit is still to be written in some lane, or was made by an earlier part of the apply.
    pub fn is_open(&self) -> bool {
        let is_open = |lane: &LaneSurvey<'_>| lane.standings.contains(&UnitStanding::Open);
        self.lanes.iter().any(is_open)
    }

    /// Why copies cannot be written.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.lanes.iter().flat_map(|lane| &lane.problems)
    }
}

/// The ways to the copies of the targets of pools of several, each with what it counts.
type TargetLanes<'a> = BTreeMap<TargetId, Vec<CopyAccess<'a>>>;

/// Looks at all that a plan touches, so many zones of a lane side by side, and the lanes side by side.
pub fn survey<'a>(plan: &'a Plan, accesses: Vec<CopyAccess<'a>>, at_once: usize) -> Survey<'a> {
    let changes = &plan.changes;
    let tied = ChangeTies::of_plan(plan);
    let (units, phases) = (units::joined(changes, &tied), order::phases(changes, &tied));
    let mut unit_of = vec![0; changes.len()];
    for (number, unit) in units.iter().enumerate() {
        unit.changes.iter().for_each(|place| unit_of[*place] = number);
    }
    let (parts, terms) = lane_parts(accesses, at_once);
    let count = parts.len();
    let lanes = side_by_side(parts, count, |parts| LaneSurvey::of(plan, &units, parts));
    let steps = vec![UnitStep::Whole; units.len()];
    let needs = NameNeeds::of(changes, &units);
    let survey = Survey { changes, units, unit_of, steps, phases, needs, lanes, terms, at_once };
    let is_covered = |place| survey.lanes.iter().any(|lane| lane.is_own(place));
    assert!((0..changes.len()).all(is_covered), "every zone of the plan has a way to it");
    survey
}

/// Sorts the ways to copies into lanes, and gives what each group of lanes needs.
fn lane_parts(accesses: Vec<CopyAccess<'_>>, at_once: usize) -> (Vec<LaneParts<'_>>, Vec<VoteTerms>) {
    let mut terms = vec![VoteTerms::ALONE];
    let mut first = LaneParts { target: None, votes: LaneVotes { group: 0, votes: 1 }, accesses: Vec::new(), at_once };
    let (mut groups, mut targets): (BTreeMap<PoolName, usize>, TargetLanes<'_>) = Default::default();
    for access in accesses {
        let target = access.copy.target.clone();
        match access.share {
            None => first.accesses.push(access),
            Some(share) => {
                groups.entry(target.pool.clone()).or_insert_with(|| {
                    terms.push(share.terms);
                    terms.len() - 1
                });
                targets.entry(target).or_default().push(access);
            }
        }
    }
    let mut parts = vec![first];
    for (target, accesses) in targets {
        let votes = accesses[0].share.map_or(1, |share| share.votes);
        let votes = LaneVotes { group: groups[&target.pool], votes };
        parts.push(LaneParts { target: Some(target), votes, accesses, at_once });
    }
    (parts, terms)
}
