//! What earlier applies left open: those that did not end, and their updates whose outcome is not known.

use super::targets::Targets;
use super::waves;
use crate::apply::Survey;
use crate::change::RrsetText;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::state::status::unfinished;
use crate::state::{ApplyId, ApplyJournal, State, StateAddress, StateLock};
use crate::target::{Answer, Question};

/// Settles updates that killed applies left open, where a marker proves that one took effect: the server may have done
/// it without an answer.
///
/// Gives how many updates it found to have taken effect.
pub fn settle_by_markers(state: &mut dyn ApplyJournal, survey: &Survey<'_>, now: Time) -> Result<usize, Problem> {
    let mut found = 0;
    for zone in survey.copies() {
        if let Some(live) = zone.marker() {
            found += state.note_standing(&zone.copy, &live, now)?;
        }
    }
    Ok(found)
}

/// Whether an apply was broken off and is not running: the servers may not know of all that it wrote, or it is not known whether
/// what is in flux was made.
///
/// A state that cannot be read counts as no; the error is reported when there is something to write.
pub fn was_killed(address: &StateAddress, state: Option<&dyn State>) -> bool {
    let killed = |state| broken_off(state).is_ok_and(|killed| !killed.is_empty());
    StateLock::holder(address).is_none() && state.is_some_and(|state| killed(state) || waves::has_open_flux(state))
}

/// Settles the updates without a marker that an apply left open, where the server now holds all that one of them wrote.
///
/// An update whose RRsets cannot be read now, or have changed since, stays open. Gives how many it found.
pub fn settle_found(
    state: &mut dyn ApplyJournal,
    id: ApplyId,
    targets: &Targets<'_>,
    now: Time,
) -> Result<usize, Problem> {
    let mut found = 0;
    for open in state.unsettled(id)? {
        let Some(writer) = targets.writer(&open.copy) else { continue };
        let questions: Vec<Question> = open.after.iter().map(|(question, _)| question.clone()).collect();
        let Ok(answers) = writer.observe(&open.copy.zone, &questions, None) else { continue };
        let is_there = |((question, after), answer): (&(Question, Option<RrsetText>), &Answer)| match (answer, after) {
            (Answer::Holds(rtype, rrset), Some(after)) => *rtype == question.rtype && after.is(*rtype, rrset),
            (answer, None) => *answer == Answer::Nothing,
            _ => false,
        };
        if open.after.iter().zip(&answers).all(is_there) {
            found += usize::from(state.note_found(&open, now)?);
        }
    }
    Ok(found)
}

/// The applies that did not end and that no later run finished, in the order in which they began.
pub fn broken_off(state: &dyn ApplyJournal) -> Result<Vec<ApplyId>, Problem> {
    Ok(unfinished(state)?.iter().rev().map(|apply| apply.id).collect())
}
