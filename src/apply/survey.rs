//! What is there before anything is sent: every RRset that a plan touches, and the marker of every fenced zone.
//!
//! Comes in: a plan, and the writers of its zones. Goes out: for each unit whether it is done already, stale, out of
//! reach, or to be written. Nothing is sent but questions.

use std::collections::BTreeMap;

use super::compare::{DeletedCnames, is_after, shown, shown_before};
use super::model::{OutcomeCode, Phase};
use super::order;
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::{RrKey, Rrset, Rtype, Serial, ZoneName};
use crate::parallel::side_by_side;
use crate::plan::Plan;
use crate::rollout::units::{self, ChangeTies, ChangeUnit};
use crate::target::{Answer, CopyId, Marker, Question, WriteTarget, ZoneId, marker_key};

/// The way to a copy of a zone that a plan changes.
#[derive(Clone)]
pub struct CopyAccess<'a> {
    /// The copy.
    pub copy: CopyId,
    /// The writer of its target, or why there is none.
    pub writer: Result<&'a dyn WriteTarget, Problem>,
    /// Whether a marker fences it.
    pub is_fenced: bool,
}

/// Why a unit is not written, or no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitVerdict {
    /// The outcome, as long as nothing of the unit was written.
    pub outcome: OutcomeCode,
    /// Why: lower case, no full stop.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
}

impl UnitVerdict {
    /// A host whose RRsets are not what the plan saw.
    pub fn stale(message: String) -> UnitVerdict {
        let hint = "plan again: the new plan starts from what is there now".to_owned();
        UnitVerdict { outcome: OutcomeCode::Stale, message, hint: Some(hint) }
    }

    /// What a target's error means for a unit.
    pub fn of_error(outcome: OutcomeCode, error: &Problem) -> UnitVerdict {
        UnitVerdict { outcome, message: error.to_string(), hint: error.hint.clone() }
    }
}

/// The state of a unit before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitStanding {
    /// All its RRsets are as planned.
    Already,
    /// All its RRsets are as the plan saw them.
    Open,
    /// It is left as it is.
    Left(UnitVerdict),
}

/// Whether an earlier part of an apply made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MadeBefore {
    /// It did not.
    No,
    /// It is unknown.
    Perhaps,
    /// It did.
    Yes,
}

/// What is known about a copy that can be written.
pub struct SurveyedCopy<'a> {
    /// The copy.
    pub copy: CopyId,
    /// The writer of its target.
    pub writer: &'a dyn WriteTarget,
    /// The place of its marker and what is there; `None` where the zone is not fenced.
    pub fence: Option<(RrKey, Option<Rrset>)>,
    /// The SOA's serial, where the target has one.
    pub serial: Option<u32>,
    /// How many RRsets the plan saw in it.
    pub rrsets: Option<u64>,
    /// The places of its changes in the plan, ascending; never empty.
    pub places: Vec<usize>,
}

impl SurveyedCopy<'_> {
    /// The marker that is in the zone.
    pub fn marker(&self) -> Option<Marker> {
        self.fence.as_ref()?.1.as_ref().and_then(Marker::of_rrset)
    }
}

/// All that is known before anything is sent.
pub struct Survey<'a> {
    /// The changes of the plan.
    pub changes: &'a [Change],
    /// What is made together or not at all, in the order of the plan.
    pub units: Vec<ChangeUnit>,
    /// The unit of each change, by its place among them.
    pub unit_of: Vec<usize>,
    /// The CNAMEs that the plan deletes.
    pub deleted_cnames: DeletedCnames<'a>,
    /// What each change's RRset is read as.
    answers: Vec<Result<Answer, Problem>>,
    /// The state of each unit.
    pub standings: Vec<UnitStanding>,
    /// The phase of each change.
    pub phases: Vec<Phase>,
    /// Whether each change was made already, by an earlier part of this apply.
    pub made: Vec<bool>,
    /// The copies that can be written, sorted by zone.
    pub copies: Vec<SurveyedCopy<'a>>,
    /// Why the others cannot, sorted by zone.
    pub problems: Vec<Problem>,
    /// How many zones are read or written side by side.
    pub at_once: usize,
}

impl Survey<'_> {
    /// The same, with what an earlier part of the apply made, by the place of each change. It is not made again; a unit
    /// that lost some of it since is left as it is. A change with an unknown outcome counts as made if it is there.
    pub fn with_made(mut self, made: &[MadeBefore]) -> Self {
        let is_made = |(place, made): (usize, &MadeBefore)| match (made, &self.answers[place]) {
            (MadeBefore::Yes, _) => true,
            (MadeBefore::Perhaps, Ok(answer)) => is_after(&self.changes[place], answer),
            (MadeBefore::Perhaps, Err(_)) | (MadeBefore::No, _) => false,
        };
        let made: Vec<bool> = made.iter().enumerate().map(is_made).collect();
        self.made = made;
        self.find_standings();
        self
    }

    /// The same, without the units that are not to be written, although they could be; by the place of each change that
    /// is not allowed. What was made already stays made.
    pub fn without(mut self, refused: &BTreeMap<usize, UnitVerdict>) -> Self {
        for (place, verdict) in refused {
            let standing = &mut self.standings[self.unit_of[*place]];
            if *standing == UnitStanding::Open {
                *standing = UnitStanding::Left(verdict.clone());
            }
        }
        self
    }

    /// Finds the state of each unit.
    fn find_standings(&mut self) {
        self.standings = self.units.iter().map(|unit| self.standing(unit)).collect();
    }

    /// The state of a unit.
    fn standing(&self, unit: &ChangeUnit) -> UnitStanding {
        let mut read = Vec::new();
        for place in &unit.changes {
            match &self.answers[*place] {
                Ok(answer) => read.push((&self.changes[*place], self.made[*place], answer)),
                Err(error) => return UnitStanding::Left(UnitVerdict::of_error(OutcomeCode::Failed, error)),
            }
        }
        let is_as_planned = read.iter().all(|(change, _, answer)| is_after(change, answer));
        if is_as_planned && !read.iter().all(|(_, made, _)| *made) {
            return UnitStanding::Already;
        }
        let is_unchanged = |change: &Change, made: bool, answer: &Answer| {
            if made { is_after(change, answer) } else { self.deleted_cnames.is_before(change, answer) }
        };
        match read.into_iter().find(|(change, made, answer)| !is_unchanged(change, *made, answer)) {
            None => UnitStanding::Open,
            Some((change, true, answer)) => UnitStanding::Left(UnitVerdict::stale(undone_since(change, answer))),
            Some((change, false, answer)) => UnitStanding::Left(UnitVerdict::stale(differs(change, answer))),
        }
    }

    /// The places of the changes that are to be sent, ascending.
    pub fn open_places(&self) -> Vec<usize> {
        let is_open = |place: &usize| self.standings[self.unit_of[*place]] == UnitStanding::Open && !self.made[*place];
        (0..self.changes.len()).filter(is_open).collect()
    }

    /// The changes of all that is to be sent, in the order of the plan.
    pub fn open(&self) -> Vec<&Change> {
        self.open_places().into_iter().map(|place| &self.changes[place]).collect()
    }

    /// The places of the units that are still to be written, ascending.
    pub fn open_units(&self) -> impl Iterator<Item = usize> {
        let open = self.standings.iter().enumerate().filter(|(_, standing)| **standing == UnitStanding::Open);
        open.map(|(unit, _)| unit)
    }

    /// Whether there is anything to be sent.
    pub fn is_open(&self) -> bool {
        self.open_units().next().is_some()
    }
}

/// Looks at all that a plan touches, so many zones side by side.
pub fn survey<'a>(plan: &'a Plan, accesses: Vec<CopyAccess<'a>>, at_once: usize) -> Survey<'a> {
    let changes = &plan.changes;
    let mut by_zone: BTreeMap<ZoneId, Vec<usize>> = BTreeMap::new();
    for (place, change) in changes.iter().enumerate() {
        by_zone.entry(change.zone_id()).or_default().push(place);
    }
    let mut accesses: BTreeMap<ZoneId, CopyAccess<'a>> =
        accesses.into_iter().map(|access| (access.copy.zone_id(), access)).collect();
    let mut work: Vec<(CopyAccess<'a>, Vec<usize>)> = by_zone
        .into_iter()
        .map(|(zone, places)| (accesses.remove(&zone).expect("every zone of the plan has a way to it"), places))
        .collect();
    // In the order in which outcomes list zones: by name, whatever their pools.
    work.sort_by(|(a, _), (b, _)| (&a.copy.zone, &a.copy.target).cmp(&(&b.copy.zone, &b.copy.target)));
    let looked = side_by_side(work, at_once, |(access, places)| {
        let found = look(plan, &access, &places);
        (places, found)
    });
    let mut answers: Vec<Option<Result<Answer, Problem>>> = changes.iter().map(|_| None).collect();
    let (mut copies, mut problems) = (Vec::new(), Vec::new());
    for (places, found) in looked {
        match found {
            Ok((surveyed, found)) => {
                places.into_iter().zip(found).for_each(|(place, answer)| answers[place] = Some(Ok(answer)));
                copies.push(surveyed);
            }
            Err(error) => {
                places.into_iter().for_each(|place| answers[place] = Some(Err(error.clone())));
                problems.push(error);
            }
        }
    }
    let tied = ChangeTies::of(changes);
    let (units, phases) = (units::joined(changes, &tied), order::phases(changes, &tied));
    let answers: Vec<Result<Answer, Problem>> =
        answers.into_iter().map(|answer| answer.expect("every change is in a zone of the plan")).collect();
    let made = vec![false; changes.len()];
    let mut unit_of = vec![0; changes.len()];
    for (number, unit) in units.iter().enumerate() {
        unit.changes.iter().for_each(|place| unit_of[*place] = number);
    }
    let (deleted_cnames, standings) = (DeletedCnames::of(changes), Vec::new());
    let mut survey =
        Survey { changes, units, unit_of, deleted_cnames, answers, standings, phases, made, copies, problems, at_once };
    survey.find_standings();
    survey
}

/// Reads what a plan touches in one zone, and what must be known about the zone; the answers have the order of
/// `places`.
fn look<'a>(
    plan: &Plan,
    access: &CopyAccess<'a>,
    places: &[usize],
) -> Result<(SurveyedCopy<'a>, Vec<Answer>), Problem> {
    let (zone, writer) = (&access.copy.zone, access.writer.clone()?);
    let marker = if access.is_fenced { Some(marker_key(zone).ok_or_else(|| no_room(writer, zone))?) } else { None };
    let mut questions = vec![Question::soa(zone)];
    questions.extend(marker.iter().map(Question::of));
    questions.extend(places.iter().map(|place| Question::of(&plan.changes[*place].key)));
    // How much there is in a zone of which names were asked the plan does not know.
    let in_part = plan.was_asked(zone);
    let rrsets = plan.zones.iter().find(|seen| seen.zone == *zone && !in_part).map(|seen| seen.rrsets);
    let mut answers = writer.observe(zone, &questions, rrsets)?.into_iter();
    let serial = answers.next().and_then(|answer| serial(&answer));
    let fence = match marker {
        None => None,
        Some(key) => Some((key, standing_marker(writer, zone, answers.next())?)),
    };
    let places = places.to_vec();
    let copy = access.copy.clone();
    Ok((SurveyedCopy { copy, writer, fence, serial, rrsets, places }, answers.collect()))
}

/// The serial of a SOA.
fn serial(answer: &Answer) -> Option<u32> {
    let Answer::Holds(Rtype::SOA, rrset) = answer else { return None };
    rrset.rdata().first()?.as_rdata(Rtype::SOA).serial().map(Serial::into_int)
}

/// What is at a marker's place.
///
/// Errors: something that no update can replace by a marker.
pub fn standing_marker(
    writer: &dyn WriteTarget,
    zone: &ZoneName,
    answer: Option<Answer>,
) -> Result<Option<Rrset>, Problem> {
    match answer {
        Some(Answer::Holds(Rtype::TXT, rrset)) => Ok(Some(rrset)),
        Some(Answer::Nothing) | None => Ok(None),
        Some(other) => {
            let message = format!("no marker can be at `_zonewright.{zone}`: there is {}", shown(&other));
            Err(marker_error(writer, zone, message))
        }
    }
}

/// The error of a zone whose name is too long for a marker below it.
fn no_room(writer: &dyn WriteTarget, zone: &ZoneName) -> Problem {
    marker_error(writer, zone, format!("`{zone}` is too long for a marker at `_zonewright.{zone}`"))
}

/// The error of a zone that cannot be fenced.
fn marker_error(writer: &dyn WriteTarget, zone: &ZoneName, message: String) -> Problem {
    let hint = "delete the records at that name, or write the zone without a marker: `fence = \"none\"`".to_owned();
    Problem::new(writer.place(zone), "no-marker", message).hint(hint)
}

/// What is there instead of what an earlier part of the apply made, in words.
fn undone_since(change: &Change, answer: &Answer) -> String {
    let RrKey { owner, rtype } = &change.key;
    format!("{rtype} of `{owner}` was made, but has changed since: there is {}", shown(answer))
}

/// What is there instead of what the plan saw, in words.
pub fn differs(change: &Change, answer: &Answer) -> String {
    let RrKey { owner, rtype } = &change.key;
    let (was, is) = (shown_before(change), shown(answer));
    if is_after(change, answer) {
        format!("{rtype} of `{owner}` is already as planned: {is}; other RRsets of the host are not")
    } else {
        format!("{rtype} of `{owner}` changed since the plan: it was {was}, and is {is}")
    }
}
