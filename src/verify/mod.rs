//! What of a plan is in DNS: what was read back, compared with the plan.
//!
//! Comes in: what was written, and what its RRsets are read as. Goes out: an outcome for each host; and for an RRset
//! that a server said it wrote, but that is not there, the server's rule that probably prevented it. Pure.
//!
//! A server may ignore a part of an update that it answers with NOERROR (RFC 2136 sections 3.4.2.2 to 3.4.2.4), and
//! servers have further rules of their own.

use std::collections::HashSet;

use crate::apply::compare::{is_after, is_before, shown};
use crate::apply::{
    ApplyOutcome, OutcomeCode, PlanWritten, ReadBack, SubjectOutcome, UnitStanding, UnitState, UnitVerdict,
};
use crate::change::{Change, ChangeKind};
use crate::diag::Problem;
use crate::dns::{NameRef, RrKey, Rtype, reverse};
use crate::rollout::{ChangeUnit, UnitSubject, hosts_of, is_one};
use crate::target::Answer;

/// From how many records on an RRset may be over a limit of the server (BIND's `max-records-per-type` is 100).
const MANY: usize = 100;

/// What is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mismatch {
    /// What differs, and why probably: lower case, no full stop.
    message: String,
    /// What to do.
    hint: String,
}

/// Gives every host its outcome. `problems` are those of targets as a whole; what kept zones from being looked at or
/// read back is added.
pub fn judge(written: &PlanWritten<'_>, read_back: &ReadBack, problems: Vec<Problem>) -> ApplyOutcome {
    let survey = &written.survey;
    let mut hosts: Vec<(usize, SubjectOutcome)> = Vec::new();
    for ((unit, standing), state) in survey.units.iter().zip(&survey.standings).zip(&written.units) {
        let verdict = verdict(survey.changes, unit, standing, state, read_back);
        hosts.extend(outcomes(survey.changes, unit, &verdict));
    }
    hosts.sort_by_key(|(place, _)| *place);
    let unread = read_back.values().filter_map(|read| read.as_ref().err());
    let mut problems: Vec<Problem> = survey.problems.iter().cloned().chain(problems).chain(unread.cloned()).collect();
    let mut said = HashSet::new();
    problems.retain(|problem| said.insert(problem.to_string()));
    let hosts = hosts.into_iter().map(|(_, host)| host).collect();
    ApplyOutcome { hosts, zones: written.zones.clone(), problems }
}

/// The RRsets that a server said it created, but of whose type there is nothing.
pub fn never_created<'a>(written: &PlanWritten<'a>, read_back: &ReadBack) -> Vec<&'a RrKey> {
    let is_absent = |change: &Change, answer: &Answer| match answer {
        Answer::Holds(rtype, _) => *rtype != change.key.rtype,
        Answer::Nothing => true,
        // It may be there, although the server does not answer it.
        Answer::Delegated(..) | Answer::BelowDname(..) => false,
    };
    let changes = written.survey.changes;
    let done = written.units.iter().flat_map(|unit| &unit.done).map(|place| (&changes[*place], read_back.get(place)));
    let absent = done.filter(|(change, read)| match (&change.kind, read) {
        (ChangeKind::Create { .. }, Some(Ok(answer))) => is_absent(change, answer),
        _ => false,
    });
    absent.map(|(change, _)| &change.key).collect()
}

/// The outcome of a unit as a whole.
fn verdict(
    changes: &[Change],
    unit: &ChangeUnit,
    standing: &UnitStanding,
    state: &UnitState,
    read_back: &ReadBack,
) -> UnitVerdict {
    let fine = |outcome| UnitVerdict { outcome, message: String::new(), hint: None };
    match (standing, &state.verdict) {
        (UnitStanding::Already, _) => fine(OutcomeCode::AlreadyApplied),
        (_, Some(verdict)) if state.done.is_empty() => verdict.clone(),
        // An earlier part of the apply made all of it, but some is no longer there, or cannot be read.
        (UnitStanding::Left(verdict), _) if state.done.len() == unit.changes.len() => verdict.clone(),
        // All may be done after all: an update that was given up may come late.
        (_, Some(verdict)) if state.done.len() < unit.changes.len() => {
            let (done, all) = (state.done.len(), unit.changes.len());
            let message = format!("{done} of {all} changes were made; then: {}", verdict.message);
            UnitVerdict { outcome: OutcomeCode::Partial, message, hint: verdict.hint.clone() }
        }
        _ => unread(changes, &state.done, read_back).unwrap_or(fine(OutcomeCode::Applied)),
    }
}

/// The first change of a unit that was made but is not there, or could not be read back.
fn unread(changes: &[Change], done: &[usize], read_back: &ReadBack) -> Option<UnitVerdict> {
    done.iter().find_map(|place| match &read_back[place] {
        Ok(answer) => check(&changes[*place], answer).map(|Mismatch { message, hint }| UnitVerdict {
            outcome: OutcomeCode::NotApplied,
            message,
            hint: Some(hint),
        }),
        Err(error) => {
            let message = format!("it was written, but could not be read back: {error}");
            Some(UnitVerdict { outcome: OutcomeCode::Failed, message, hint: error.hint.clone() })
        }
    })
}

/// A unit's verdict for each of its hosts, with the place of the host's first change.
fn outcomes(changes: &[Change], unit: &ChangeUnit, verdict: &UnitVerdict) -> Vec<(usize, SubjectOutcome)> {
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
            message: (!verdict.message.is_empty()).then(|| verdict.message.clone()),
            hint: verdict.hint.clone(),
        };
        (places[0], outcome)
    };
    hosts_of(changes, unit).into_iter().map(host).collect()
}

/// How little the owner name of a change says to people: a name that its host has then says most, the backbone's, which
/// is the shortest, before others; then one that it had; then the name of a TXT of the registry, and the reverse name
/// of an address.
fn obscurity(change: &Change) -> (bool, bool, bool, usize) {
    let is_reverse = reverse::is_reverse(change.zone.as_name());
    let length = change.key.owner.as_name().as_wire().len();
    (is_reverse, change.key.rtype == Rtype::TXT, change.kind.after().is_none(), length)
}

/// Compares a change that was made with what its RRset is read as; `None` where it is there.
fn check(change: &Change, answer: &Answer) -> Option<Mismatch> {
    if is_after(change, answer) {
        return None;
    }
    let RrKey { owner, rtype } = &change.key;
    let (why, hint) = likely_rule(change, answer);
    let message = format!("{rtype} of `{owner}` is not as it was written: there is {}; {why}", shown(answer));
    Some(Mismatch { message, hint: hint.to_owned() })
}

/// The rule that a change probably fell to, and what to do.
fn likely_rule(change: &Change, answer: &Answer) -> (String, &'static str) {
    match answer {
        Answer::Holds(Rtype::CNAME, _) => (
            "a server ignores data where there is a CNAME (RFC 2136 section 3.4.2.2)".to_owned(),
            "remove the CNAME, or give the host another name",
        ),
        Answer::Delegated(cut, _) => (
            format!("`{cut}` is delegated, and a server never answers for names at or below a delegation"),
            "write it into the child zone, or remove the delegation",
        ),
        Answer::BelowDname(owner, _) => (
            format!("the DNAME at `{owner}` hides all names below it (RFC 6672 section 2.4)"),
            "remove the DNAME, or give the host another name",
        ),
        answer if is_before(change, answer) => unchanged(change),
        _ => (
            "another editor probably changed it right after the update".to_owned(),
            "plan again: the new plan starts from what is there now",
        ),
    }
}

/// Why a server leaves an RRset as it was although it says otherwise.
fn unchanged(change: &Change) -> (String, &'static str) {
    let after = change.kind.after().map_or(0, |after| after.rdata().len());
    if after >= MANY {
        return (
            format!("the server probably limits how many records an RRset has, and this one would have {after}"),
            "raise its limit (BIND: `max-records-per-type`)",
        );
    }
    if !matches!(change.kind, ChangeKind::Delete { .. }) && !is_host_name(change.key.owner.as_name()) {
        return (
            "the server probably checks names, and this one is not a host name (RFC 952)".to_owned(),
            "make the server accept it (BIND: `check-names primary ignore;`)",
        );
    }
    (
        "the server reported success but did not change it: its update policy probably ignored the change".to_owned(),
        "make the server's policy allow this name and type for the key",
    )
}

/// Whether every label is of letters, digits and hyphens, as `check-names` requires.
fn is_host_name(name: NameRef<'_>) -> bool {
    name.labels().flatten().all(|octet| octet.is_ascii_alphanumeric() || *octet == b'-')
}

#[cfg(test)]
pub mod truth;

#[cfg(test)]
mod tests;
