//! What waits to be deleted, between plans and the state.

use std::path::Path;

use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::state::{self, State, WaitNews};

/// Whether the apply of a plan, which begins `now`, must note RRsets that wait, even if it has nothing else to do.
///
/// If the state cannot be read, this is true where the plan lists RRsets that wait: the apply then reports the error.
pub fn has_news(plan: &Plan, file: &Path, now: Time) -> bool {
    let news = || match state::open_to_read(file)? {
        Some(state) => Ok::<_, Problem>(WaitNews::of(plan, &state.waits()?, now)),
        None => Ok(WaitNews::of(plan, &Default::default(), now)),
    };
    news().map_or(!plan.waiting.is_empty(), |news| !news.is_empty())
}

/// Notes which RRsets wait from now on and which no longer wait, by the plan that is about to be applied.
pub fn note(plan: &Plan, state: &mut dyn State, now: Time) -> Result<(), Problem> {
    let news = WaitNews::of(plan, &state.waits()?, now);
    if news.is_empty() { Ok(()) } else { state.note_waits(&news) }
}
