//! What waits to be deleted, between plans and the state.

use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::state::{OpenedState, WaitList, WaitNews};

/// Whether the apply of a plan, which begins `now`, must note RRsets that wait, even if it has nothing else to do.
///
/// If the state cannot be read, this is true where the plan lists RRsets that wait: the apply then reports the error.
pub fn has_news(plan: &Plan, kept: &OpenedState, now: Time) -> bool {
    let waits = match kept {
        Ok(Some(state)) => state.waits().ok(),
        Ok(None) => Some(Default::default()),
        Err(_) => None,
    };
    waits.map_or(!plan.delayed.is_empty(), |waits| !WaitNews::of(plan, &waits, now).is_empty())
}

/// Notes which RRsets wait from now on and which no longer wait, by the plan that is about to be applied; gives how many
/// begin to wait.
pub fn note(plan: &Plan, state: &mut dyn WaitList, now: Time) -> Result<usize, Problem> {
    let news = WaitNews::of(plan, &state.waits()?, now);
    if !news.is_empty() {
        state.note_waits(&news)?;
    }
    Ok(news.begun.len())
}
