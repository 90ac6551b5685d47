//! What waits to be deleted, between plans and the state.

use std::path::Path;

use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::state::{self, State, StateError, WaitNews};

/// Whether the apply of a plan, which begins `now`, has something to note of what waits, be there nothing else to do.
///
/// A state that cannot be read says so where the plan lists what waits; otherwise when there is something to write.
pub fn has_news(plan: &Plan, file: &Path, now: Time) -> bool {
    let news = || match state::open_to_read(file)? {
        Some(state) => Ok::<_, StateError>(WaitNews::of(plan, &state.waits()?, now)),
        None => Ok(WaitNews::of(plan, &Default::default(), now)),
    };
    news().map_or(!plan.waiting.is_empty(), |news| !news.is_empty())
}

/// Notes what waits from now on, and what waits no more, as the plan has it that is about to be carried out.
pub fn note(plan: &Plan, state: &mut dyn State, now: Time) -> Result<(), StateError> {
    let news = WaitNews::of(plan, &state.waits()?, now);
    if news.is_empty() { Ok(()) } else { state.note_waits(&news) }
}
