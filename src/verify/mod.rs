//! What of a plan is in DNS: what was read back, compared with the plan.
//!
//! Comes in: what was written, and what its RRsets are read as. Goes out: an outcome for each host; and for an RRset
//! that a server said it wrote, but that is not there, the server's rule that probably prevented it. Pure.
//!
//! A server may ignore a part of an update that it answers with NOERROR (RFC 2136 sections 3.4.2.2 to 3.4.2.4), and
//! servers have further rules of their own.
//!
//! | part | what it does |
//! |---|---|
//! | `mismatch` | what is not as it was written, and why probably |
//! | `units` | a unit in all lanes together |

mod mismatch;

mod units;

use std::collections::{BTreeMap, HashSet};

use crate::apply::{ApplyOutcome, LaneSurvey, PlanWritten, ReadBack, SubjectOutcome, TargetLack};
use crate::change::{Change, ChangeKind};
use crate::diag::Problem;
use crate::dns::{RrKey, Rtype, reverse};
use crate::rollout::{UnitSubject, hosts_of, is_one};
use crate::target::{Answer, CopyId};

use self::units::{LackingChange, UnitJudgement, WrittenUnit};

/// Gives every host its outcome. `problems` are those of targets as a whole; what kept zones from being looked at or
/// read back is added, unless the other targets of the pool reach the threshold.
pub fn judge(written: &PlanWritten<'_>, read_back: &ReadBack, problems: Vec<Problem>) -> ApplyOutcome {
    let mut hosts: Vec<(usize, SubjectOutcome)> = Vec::new();
    for unit in 0..written.survey.units.len() {
        let judgement = WrittenUnit { written, read_back, unit }.judge();
        hosts.extend(outcomes(written, unit, &judgement));
    }
    hosts.sort_by_key(|(place, _)| *place);
    let (seen, unread) = lane_problems(written, read_back);
    let mut problems: Vec<Problem> = seen.into_iter().chain(problems).chain(unread).collect();
    let mut said = HashSet::new();
    problems.retain(|problem| said.insert(problem.to_string()));
    let hosts = hosts.into_iter().map(|(_, host)| host).collect();
    ApplyOutcome { hosts, zones: written.zones.clone(), zone_changes: Vec::new(), problems }
}

/// What kept zones from being looked at, and from being read back. Where the targets of a pool without any such problem
/// reach the threshold, those of the others are reported with what they lack.
fn lane_problems(written: &PlanWritten<'_>, read_back: &ReadBack) -> (Vec<Problem>, Vec<Problem>) {
    let survey = &written.survey;
    let unread: Vec<Vec<&Problem>> = (0..survey.lanes.len())
        .map(|lane| {
            read_back.get(lane).into_iter().flat_map(|read| read.values()).filter_map(|read| read.as_ref().err())
        })
        .map(Iterator::collect)
        .collect();
    let is_well = |(lane, unread): &(&LaneSurvey<'_>, &Vec<&Problem>)| lane.problems.is_empty() && unread.is_empty();
    let mut votes = vec![0; survey.terms.len()];
    for (lane, _) in survey.lanes.iter().zip(&unread).filter(is_well) {
        votes[lane.votes.group] += lane.votes.votes;
    }
    let counts = |lane: &LaneSurvey<'_>| {
        let group = lane.votes.group;
        lane.target.is_none() || !survey.terms[group].is_reached(votes[group])
    };
    let lanes = survey.lanes.iter().zip(unread).filter(|(lane, _)| counts(lane));
    let (mut seen, mut later) = (Vec::new(), Vec::new());
    for (lane, unread) in lanes {
        seen.extend(lane.problems.iter().cloned());
        later.extend(unread.into_iter().cloned());
    }
    (seen, later)
}

/// An RRset in a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPlace<'a> {
    /// The copy.
    pub copy: CopyId,
    /// The RRset.
    pub key: &'a RrKey,
}

/// The RRsets that a server said it created, but of whose type there is nothing.
pub fn never_created<'a>(written: &PlanWritten<'a>, read_back: &ReadBack) -> Vec<WrittenPlace<'a>> {
    let is_absent = |change: &Change, answer: &Answer| match answer {
        Answer::Holds(rtype, _) => *rtype != change.key.rtype,
        Answer::Nothing => true,
        // It may be there, although the server does not answer it.
        Answer::Delegated(..) | Answer::BelowDname(..) => false,
    };
    let changes = written.survey.changes;
    let mut absent = Vec::new();
    for ((lane, units), read) in written.survey.lanes.iter().zip(&written.lanes).zip(read_back) {
        for place in units.iter().flat_map(|unit| &unit.done) {
            let change = &changes[*place];
            if let (ChangeKind::Create { .. }, Some(Ok(answer))) = (&change.kind, read.get(place))
                && is_absent(change, answer)
            {
                absent.push(WrittenPlace { copy: lane.copy_of(change), key: &change.key });
            }
        }
    }
    absent
}

/// What targets of pools of several lack, and what they have; for the state.
#[derive(Debug, Default, PartialEq)]
pub struct LackNews<'a> {
    /// The changes that they lack, each with its copy and why.
    pub lacking: Vec<(CopyId, &'a Change, String)>,
    /// The changes that they have: an older lack of the same RRset is dropped.
    pub held: Vec<(CopyId, &'a Change)>,
}

/// What targets of pools of several lack of an apply, although another target of the pool has it.
pub fn lack_news<'a>(written: &PlanWritten<'a>, read_back: &ReadBack) -> LackNews<'a> {
    let survey = &written.survey;
    let mut news = LackNews::default();
    if survey.lanes.len() == 1 {
        return news;
    }
    for unit in 0..survey.units.len() {
        let own = WrittenUnit { written, read_back, unit };
        for (lane, of_lane) in survey.lanes.iter().enumerate().filter(|(_, lane)| lane.target.is_some()) {
            let held = of_lane.places[unit].iter().filter(|place| own.has(lane, **place));
            news.held.extend(held.map(|place| (of_lane.copy_of(&survey.changes[*place]), &survey.changes[*place])));
        }
        news.lacking.extend(own.judge().lacks.into_iter().map(|LackingChange { lane, place, why }| {
            let change = &survey.changes[place];
            (survey.lanes[lane].copy_of(change), change, why)
        }));
    }
    news
}

/// The outcome of a unit for each of its hosts, with the place of the host's first change.
fn outcomes(written: &PlanWritten<'_>, unit: usize, judgement: &UnitJudgement) -> Vec<(usize, SubjectOutcome)> {
    let (changes, unit) = (written.survey.changes, &written.survey.units[unit]);
    let verdict = &judgement.verdict;
    let host = |(project, subject): UnitSubject<'_>| {
        let is_own = |place: &usize| is_one(subject, &changes[*place].subject);
        let places: Vec<usize> = unit.changes.iter().copied().filter(is_own).collect();
        let shown = places.iter().copied().min_by_key(|place| obscurity(&changes[*place])).unwrap_or(places[0]);
        let outcome = SubjectOutcome {
            subject: subject.clone(),
            project: project.to_owned(),
            name: changes[shown].key.owner.to_string(),
            changes: places.len(),
            outcome: verdict.outcome,
            is_between: judgement.is_between,
            message: (!verdict.message.is_empty()).then(|| verdict.message.clone()),
            hint: verdict.hint.clone(),
            lacks: target_lacks(written, &places, &judgement.lacks),
        };
        (places[0], outcome)
    };
    hosts_of(changes, unit).into_iter().map(host).collect()
}

/// What each target lacks of the changes at these places.
fn target_lacks(written: &PlanWritten<'_>, places: &[usize], lacks: &[LackingChange]) -> Vec<TargetLack> {
    let mut by_lane: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    for LackingChange { lane, why, .. } in lacks.iter().filter(|lack| places.contains(&lack.place)) {
        by_lane.entry(*lane).or_insert((0, why)).0 += 1;
    }
    let lack = |(lane, (changes, why)): (usize, (usize, &str))| {
        let target = written.survey.lanes[lane].target.as_ref()?;
        Some(TargetLack { pool: target.pool.clone(), target: target.name.clone(), changes, message: why.to_owned() })
    };
    let mut lacks: Vec<TargetLack> = by_lane.into_iter().filter_map(lack).collect();
    lacks.sort();
    lacks
}

/// How little the owner name of a change says to people: a name that its host has then says most, the backbone's, which
/// is the shortest, before others; then one that it had; then the name of a TXT of the registry, and the reverse name
/// of an address.
fn obscurity(change: &Change) -> (bool, bool, bool, usize) {
    let is_reverse = reverse::is_reverse(change.zone.as_name());
    let length = change.key.owner.as_name().as_wire().len();
    (is_reverse, change.key.rtype == Rtype::TXT, change.kind.after().is_none(), length)
}

#[cfg(test)]
pub mod truth;

#[cfg(test)]
mod tests;
