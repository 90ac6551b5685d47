//! What is there in the copies of a lane before anything is sent: every RRset that a plan touches there, and the marker of
//! every fenced copy.
//!
//! Copies that go through the phases together form a lane: those of all pools of one target, and those of each target of
//! a pool of several. Comes in: a plan, and the writers of the copies. Goes out: for each unit whether it is done there
//! already, stale, out of reach, or to be written. Nothing is sent but questions.

use std::collections::{BTreeMap, HashSet};

use super::compare::{DeletedCnames, is_after, is_between, is_left, shown, shown_before};
use super::model::OutcomeCode;
use super::quorum::{LaneVotes, VoteTerms};
use crate::change::{Change, NoticeCode};
use crate::diag::Problem;
use crate::dns::{Name, NameRef, OwnerName, RrKey, Rrset, Rtype, Serial, Ttl, ZoneName};
use crate::parallel::side_by_side;
use crate::plan::{Plan, ZoneSeen};
use crate::rollout::listed::listed_anew;
use crate::rollout::{ChangeUnit, UnitStep};
use crate::target::{Answer, CopyId, Marker, Question, TargetId, WriteTarget, ZoneId, marker_key};

/// The way to a copy of a zone that a plan changes.
#[derive(Clone)]
pub struct CopyAccess<'a> {
    /// The copy.
    pub copy: CopyId,
    /// The writer of its target, or why there is none.
    pub writer: Result<&'a dyn WriteTarget, Problem>,
    /// Whether a marker fences it.
    pub is_fenced: bool,
    /// What its target counts in its pool; `None` where the pool has no other target.
    pub share: Option<PoolShare>,
}

/// What a target counts in a pool of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolShare {
    /// How many voters it is or feeds.
    pub votes: usize,
    /// What the pool needs.
    pub terms: VoteTerms,
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
    /// It did, and others may have written at the same time.
    Raced,
}

/// What was read of a copy: about itself, at the place of each change, and which names are not there that SRV are to list, each
/// with the place of the SRV.
type LookedAt<'a> = (SurveyedCopy<'a>, Vec<Answer>, Vec<(usize, Name)>);

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
    /// How long caches hold that a name in it does not exist, where its SOA says so.
    pub negative_ttl: Option<Ttl>,
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

/// All that is known about a lane before anything is sent.
pub struct LaneSurvey<'a> {
    /// The target whose copies these are; `None` for those of all pools of one target.
    pub target: Option<TargetId>,
    /// Its group, and what it counts there.
    pub votes: LaneVotes,
    /// The target of each of its zones.
    targets: BTreeMap<ZoneId, TargetId>,
    /// The changes of the plan.
    pub changes: &'a [Change],
    /// The places of the changes of each unit that are for this lane, ascending.
    pub places: Vec<Vec<usize>>,
    /// The places of changes of each unit that the plan left out here, because it did not know the copy.
    pub left_out: Vec<Vec<usize>>,
    /// Whether the data of the copies here block each unit, so that the plan has no change of some subject of it here.
    pub is_blocked: Vec<bool>,
    /// The CNAMEs that the plan deletes here.
    pub deleted_cnames: DeletedCnames<'a>,
    /// What the RRset of each change is read as; `None` of changes that are not for this lane.
    answers: Vec<Option<Result<Answer, Problem>>>,
    /// The state of each unit.
    pub standings: Vec<UnitStanding>,
    /// Whether an earlier part of this apply made each change.
    made_earlier: Vec<bool>,
    /// Whether others may have written at the same time as an earlier part of the apply made each change.
    pub raced_earlier: Vec<bool>,
    /// Whether an earlier part of this apply may have ended in the middle of each change.
    begun: Vec<bool>,
    /// Whether each change stays as it is in this step.
    stays: Vec<bool>,
    /// Either of them.
    pub made: Vec<bool>,
    /// The names that SRV of pods are to list, that the plan does not create, and that are not there; by the place of the change.
    absent: BTreeMap<usize, Name>,
    /// The copies that can be written, sorted by zone.
    pub copies: Vec<SurveyedCopy<'a>>,
    /// Why the others cannot, sorted by zone.
    pub problems: Vec<Problem>,
}

/// What a lane is made of.
pub struct LaneParts<'a> {
    /// The target whose copies these are; `None` for those of all pools of one target.
    pub target: Option<TargetId>,
    /// Its group, and what it counts there.
    pub votes: LaneVotes,
    /// The ways to its copies.
    pub accesses: Vec<CopyAccess<'a>>,
    /// How many copies are read side by side.
    pub at_once: usize,
}

impl<'a> LaneSurvey<'a> {
    /// Looks at all that a plan touches in a lane.
    pub fn of(plan: &'a Plan, units: &[ChangeUnit], parts: LaneParts<'a>) -> LaneSurvey<'a> {
        let changes = &plan.changes;
        let LaneParts { target, votes, accesses, at_once } = parts;
        let targets = accesses.iter().map(|own| (own.copy.zone_id(), own.copy.target.clone())).collect();
        let mut work: Vec<(CopyAccess<'a>, Vec<usize>)> = places_by_copy(changes, accesses);
        // In the order in which outcomes list zones: by name, whatever their pools.
        work.sort_by(|(a, _), (b, _)| (&a.copy.zone, &a.copy.target).cmp(&(&b.copy.zone, &b.copy.target)));
        let looked = side_by_side(work, at_once, |(access, places)| {
            let found = look(plan, &access, &places);
            (places, found)
        });
        let mut answers: Vec<Option<Result<Answer, Problem>>> = changes.iter().map(|_| None).collect();
        let (mut copies, mut problems, mut absent) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (places, found) in looked {
            match found {
                Ok((surveyed, found, lacking)) => {
                    absent.extend(lacking);
                    places.into_iter().zip(found).for_each(|(place, answer)| answers[place] = Some(Ok(answer)));
                    copies.push(surveyed);
                }
                Err(error) => {
                    places.into_iter().for_each(|place| answers[place] = Some(Err(error.clone())));
                    problems.push(error);
                }
            }
        }
        let own = |place: &usize| answers[*place].is_some();
        let places = units.iter().map(|unit| unit.changes.iter().copied().filter(own).collect()).collect();
        let left_out = units.iter().map(|unit| left_out(plan, target.as_ref(), unit)).collect();
        let is_blocked = units.iter().map(|unit| is_blocked(plan, target.as_ref(), unit)).collect();
        let deleted_cnames = DeletedCnames::of((0..changes.len()).filter(own).map(|place| &changes[place]));
        let made = vec![false; changes.len()];
        let (made_earlier, raced_earlier, stays, standings) = (made.clone(), made.clone(), made.clone(), Vec::new());
        let begun = made.clone();
        #[rustfmt::skip]
        let mut lane = LaneSurvey {
            target, votes, targets, changes, places, left_out, is_blocked, deleted_cnames, answers,
            standings, made_earlier, raced_earlier, begun, stays, made, absent, copies, problems,
        };
        lane.find_standings();
        lane
    }

    /// Whether it has anything to do with a unit.
    pub fn has(&self, unit: usize) -> bool {
        !self.places[unit].is_empty() || self.missed(unit).is_some()
    }

    /// Why the plan has not all of a unit here, where it has not: such a target does not count for the threshold.
    pub fn missed(&self, unit: usize) -> Option<UnitVerdict> {
        let (message, hint) = if !self.left_out[unit].is_empty() {
            ("its copy was unknown when the plan was made", "plan again once the target can be read")
        } else if self.is_blocked[unit] {
            ("the data of its copy blocked the host when the plan was made", "fix the data there, and plan again")
        } else {
            return None;
        };
        let (message, hint) = (message.to_owned(), Some(hint.to_owned()));
        Some(UnitVerdict { outcome: OutcomeCode::Failed, message, hint })
    }

    /// Whether a change is for this lane.
    pub fn is_own(&self, place: usize) -> bool {
        self.answers[place].is_some()
    }

    /// Whether the plan found that a change of a unit is not needed here: it knew the copies, and nothing in them blocked the unit.
    pub fn needs_none(&self, unit: usize, place: usize) -> bool {
        !self.is_own(place) && !self.left_out[unit].contains(&place) && !self.is_blocked[unit]
    }

    /// Whether the RRset of a change was already as planned when the copy was looked at.
    pub fn was_there(&self, place: usize) -> bool {
        matches!(&self.answers[place], Some(Ok(answer)) if is_after(&self.changes[place], answer))
    }

    /// Whether none of its copies can be written, although some should be.
    pub fn is_out_of_reach(&self) -> bool {
        self.copies.is_empty() && !self.problems.is_empty()
    }

    /// The copy that a change is made in.
    pub fn copy_of(&self, change: &Change) -> CopyId {
        let target = self.targets.get(&change.zone_id()).cloned();
        CopyId { target: target.unwrap_or_else(|| TargetId::only(&change.pool)), zone: change.zone.clone() }
    }

    /// Takes over what an earlier part of the apply made. It is not made again; a unit that lost some of it since is left
    /// as it is. A change with an unknown outcome counts as made if it is there.
    pub fn take_made(&mut self, made: &dyn Fn(&CopyId, &Change) -> MadeBefore) {
        let said: Vec<MadeBefore> = self.changes.iter().map(|change| made(&self.copy_of(change), change)).collect();
        let is_made = |(place, change): (usize, &Change)| {
            let Some(answer) = &self.answers[place] else { return false };
            match (said[place], answer) {
                (MadeBefore::Yes | MadeBefore::Raced, _) => true,
                (MadeBefore::Perhaps, Ok(answer)) => is_after(change, answer),
                (MadeBefore::Perhaps, Err(_)) | (MadeBefore::No, _) => false,
            }
        };
        self.made_earlier = self.changes.iter().enumerate().map(is_made).collect();
        self.raced_earlier = said.iter().map(|made| *made == MadeBefore::Raced).collect();
        let divisible: HashSet<&CopyId> =
            self.copies.iter().filter(|copy| copy.writer.is_divisible()).map(|copy| &copy.copy).collect();
        let is_begun = |(made, change): (&MadeBefore, &Change)| {
            *made == MadeBefore::Perhaps && divisible.contains(&self.copy_of(change))
        };
        self.begun = said.iter().zip(self.changes).map(is_begun).collect();
        self.find_standings();
    }

    /// Whether the first step of a unit was made here, perhaps with some of the second or all of it.
    pub fn is_past_first_step(&self, unit: usize) -> bool {
        let is_past = |place: &usize| {
            let (change, answer) =
                (&self.changes[*place], self.answers[*place].as_ref().and_then(|own| own.as_ref().ok()));
            let is_at = |step: UnitStep| answer.is_some_and(|answer| is_left(change, step.after(change), answer));
            is_at(UnitStep::ToVia) || is_at(UnitStep::Whole)
        };
        self.places[unit].iter().all(is_past)
    }

    /// Whether a change is made in this step: otherwise it stays as it is.
    pub fn is_of_step(&self, place: usize) -> bool {
        !self.stays[place]
    }

    /// Takes what of each change is made now, in the order of the plan; with what stays as it is.
    pub fn take_parts(&mut self, changes: &'a [Change], stays: &[bool]) {
        self.changes = changes;
        let own = (0..changes.len()).filter(|place| self.answers[*place].is_some());
        self.deleted_cnames = DeletedCnames::of(own.map(|place| &changes[place]));
        self.stays = stays.to_vec();
        self.find_standings();
    }

    /// Leaves the units that are not to be written, although they could be; by the place of each change that is not
    /// allowed. What was made already stays made.
    pub fn refuse(&mut self, refused: &BTreeMap<usize, UnitVerdict>, unit_of: &[usize]) {
        for (place, verdict) in refused {
            let standing = &mut self.standings[unit_of[*place]];
            if *standing == UnitStanding::Open {
                *standing = UnitStanding::Left(verdict.clone());
            }
        }
    }

    /// Finds the state of each unit.
    fn find_standings(&mut self) {
        self.made = self.made_earlier.iter().zip(&self.stays).map(|(made, stays)| *made || *stays).collect();
        self.standings = self.places.iter().map(|places| self.standing(places)).collect();
    }

    /// The state of a unit with changes at these places; one without changes here has nothing to be written.
    fn standing(&self, places: &[usize]) -> UnitStanding {
        let mut read = Vec::new();
        for place in places {
            match &self.answers[*place] {
                Some(Ok(answer)) => read.push((*place, self.made[*place], answer)),
                Some(Err(error)) => return UnitStanding::Left(UnitVerdict::of_error(OutcomeCode::Failed, error)),
                None => {}
            }
        }
        let is_as_planned = read.iter().all(|(place, _, answer)| is_after(&self.changes[*place], answer));
        if is_as_planned && (places.is_empty() || !read.iter().all(|(_, made, _)| *made)) {
            return UnitStanding::Already;
        }
        let is_unchanged = |place: usize, made: bool, answer: &Answer| {
            let change = &self.changes[place];
            let is_before = || self.deleted_cnames.is_before(change, answer);
            let is_on_its_way = || self.begun[place] && is_between(change, answer);
            if made { is_after(change, answer) } else { is_before() || is_on_its_way() }
        };
        let absent = || places.iter().filter(|place| !self.made[**place]).find_map(|place| self.absent.get(place));
        match read.into_iter().find(|(place, made, answer)| !is_unchanged(*place, *made, answer)) {
            None => absent().map_or(UnitStanding::Open, |name| UnitStanding::Left(UnitVerdict::stale(lost(name)))),
            Some((place, true, answer)) => {
                UnitStanding::Left(UnitVerdict::stale(undone_since(&self.changes[place], answer)))
            }
            Some((place, false, answer)) => {
                UnitStanding::Left(UnitVerdict::stale(differs(&self.changes[place], answer)))
            }
        }
    }

    /// The places of the changes that are to be sent, ascending.
    pub fn open_places(&self, unit_of: &[usize]) -> Vec<usize> {
        let is_open = |place: &usize| {
            self.is_own(*place) && self.standings[unit_of[*place]] == UnitStanding::Open && !self.made[*place]
        };
        (0..self.changes.len()).filter(is_open).collect()
    }
}

/// The places of the changes of each copy, without copies that get none.
fn places_by_copy<'a>(changes: &[Change], accesses: Vec<CopyAccess<'a>>) -> Vec<(CopyAccess<'a>, Vec<usize>)> {
    let mut by_copy: BTreeMap<CopyId, (CopyAccess<'a>, Vec<usize>)> =
        accesses.into_iter().map(|access| (access.copy.clone(), (access, Vec::new()))).collect();
    let mut of_zone: BTreeMap<_, Vec<CopyId>> = BTreeMap::new();
    for copy in by_copy.keys() {
        of_zone.entry(copy.zone_id()).or_default().push(copy.clone());
    }
    for (place, change) in changes.iter().enumerate() {
        let copies = of_zone.get(&change.zone_id()).into_iter().flatten();
        for copy in copies.filter(|copy| change.is_for(&copy.target)) {
            by_copy.get_mut(copy).expect("both hold the same copies").1.push(place);
        }
    }
    by_copy.into_values().filter(|(_, places)| !places.is_empty()).collect()
}

/// The places of the changes of a unit that a plan left out at a target, because it did not know the copy there: of that
/// zone, or of another that the subject needs. An undo, and what `sync` makes, lists no zones: it names such targets in notices
/// alone.
fn left_out(plan: &Plan, target: Option<&TargetId>, unit: &ChangeUnit) -> Vec<usize> {
    let Some(target) = target else { return Vec::new() };
    let is_known = |zone: &ZoneName| {
        let mut seen = plan.zones.iter().filter(|seen| seen.zone == *zone && seen.pool == target.pool);
        plan.zones.is_empty() || seen.any(|seen| seen.target == target.name)
    };
    let is_left_out = |place: &usize| {
        let change = &plan.changes[*place];
        let is_unknown = || !is_known(&change.zone) || is_noticed(plan, NoticeCode::TargetUnknown, target, change);
        change.pool == target.pool && !change.is_for(target) && is_unknown()
    };
    unit.changes.iter().copied().filter(is_left_out).collect()
}

/// Whether a plan left out a change of a unit at a target, because the data of the copies there block its subject.
fn is_blocked(plan: &Plan, target: Option<&TargetId>, unit: &ChangeUnit) -> bool {
    let is_blocked = |target: &TargetId, change: &Change| {
        change.pool == target.pool
            && !change.is_for(target)
            && is_noticed(plan, NoticeCode::CopyBlocked, target, change)
    };
    target.is_some_and(|target| unit.changes.iter().any(|place| is_blocked(target, &plan.changes[*place])))
}

/// Whether a plan has a notice of this code about a target and a subject of a change.
fn is_noticed(plan: &Plan, code: NoticeCode, target: &TargetId, change: &Change) -> bool {
    let mut notices = plan.notices.iter().filter(|notice| notice.code == code && notice.name == target.name);
    notices.any(|notice| change.subjects().any(|own| notice.subject.as_ref() == Some(own)))
}

/// The names that SRV of pods begin to list, of those that are in a zone and that no change creates; each with the place of the
/// SRV. A run that went since the plan was made may have taken one.
fn listed_uncreated(plan: &Plan, zone: &ZoneName, places: &[usize]) -> Vec<(usize, OwnerName)> {
    let changes = &plan.changes;
    let of_change = |place: &usize| {
        let place = *place;
        listed_anew(&changes[place]).into_iter().map(move |name| (place, name))
    };
    let anew: Vec<(usize, NameRef<'_>)> = places.iter().flat_map(of_change).collect();
    if anew.is_empty() {
        return Vec::new();
    }
    let is_given = |change: &&Change| {
        let is_address = matches!(change.key.rtype, Rtype::A | Rtype::AAAA);
        is_address && change.zone == *zone && change.kind.after().is_some()
    };
    let given: HashSet<NameRef<'_>> = changes.iter().filter(is_given).map(|own| own.key.owner.as_name()).collect();
    let left = anew.into_iter().filter(|(_, name)| !given.contains(name));
    left.filter_map(|(place, name)| Some((place, zone.owner(name)?))).collect()
}

/// Reads what a plan touches in one zone, and what must be known about the zone; the answers have the order of
/// `places`. Gives the names that SRV are to list and that are not there, too.
fn look<'a>(plan: &Plan, access: &CopyAccess<'a>, places: &[usize]) -> Result<LookedAt<'a>, Problem> {
    let (zone, writer) = (&access.copy.zone, access.writer.clone()?);
    let marker = if access.is_fenced { Some(marker_key(zone).ok_or_else(|| no_room(writer, zone))?) } else { None };
    let mut questions = vec![Question::soa(zone)];
    questions.extend(marker.iter().map(Question::of));
    questions.extend(places.iter().map(|place| Question::of(&plan.changes[*place].key)));
    let anew = listed_uncreated(plan, zone, places);
    let types = [Rtype::AAAA, Rtype::A];
    let addresses = |owner: &OwnerName| types.map(|rtype| Question::of(&RrKey { owner: owner.clone(), rtype }));
    questions.extend(anew.iter().flat_map(|(_, owner)| addresses(owner)));
    // How much there is in a zone of which names were asked the plan does not know.
    let in_part = plan.was_asked(zone);
    let is_it = |seen: &ZoneSeen| {
        let is_target = access.share.is_none() || seen.target == access.copy.target.name;
        seen.zone == *zone && seen.pool == access.copy.target.pool && !in_part && is_target
    };
    let rrsets = plan.zones.iter().find(|seen| is_it(seen)).map(|seen| seen.rrsets);
    let mut answers = writer.observe(zone, &questions, rrsets)?.into_iter();
    let soa = answers.next();
    let soa = soa.as_ref().and_then(Answer::soa);
    let serial = soa.and_then(|(soa, _)| soa.serial()).map(Serial::into_int);
    let negative_ttl = soa.and_then(|(soa, ttl)| soa.negative_ttl(ttl));
    let fence = match marker {
        None => None,
        Some(key) => Some((key, standing_marker(writer, zone, answers.next())?)),
    };
    let found = answers.by_ref().take(places.len()).collect();
    let mut absent = Vec::new();
    for (place, owner) in anew {
        let of_name: Vec<Answer> = answers.by_ref().take(types.len()).collect();
        if of_name.iter().all(|answer| matches!(answer, Answer::Nothing)) {
            absent.push((place, owner.as_name().to_name()));
        }
    }
    let places = places.to_vec();
    let copy = access.copy.clone();
    Ok((SurveyedCopy { copy, writer, fence, serial, negative_ttl, rrsets, places }, found, absent))
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

/// That a name went which an SRV is to list, in words.
fn lost(name: &Name) -> String {
    format!("its SRV is to list `{name}`, which is no longer there")
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
