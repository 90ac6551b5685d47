//! What files state, between plans and the state.

use crate::diag::Problem;
use crate::diff::statements::{KeptStatements, RrsetStatement};
use crate::plan::Plan;
use crate::state::State;

/// Whether the apply of a plan must note what files state, even if it has nothing else to do.
pub fn has_news(plan: &Plan, state: Option<&dyn State>) -> bool {
    let kept = state.map_or_else(Default::default, |state| state.statements().unwrap_or_default());
    news(plan, &kept).next().is_some()
}

/// Notes which manifest or zone file claims which RRset, by the plan that is about to be applied; gives how many notes
/// are new.
pub fn note(plan: &Plan, state: &mut dyn State) -> Result<usize, Problem> {
    let kept = state.statements()?;
    let news: Vec<RrsetStatement> = news(plan, &kept).cloned().collect();
    if !news.is_empty() {
        state.note_statements(&news)?;
    }
    Ok(news.len())
}

/// What of a plan the state does not say yet.
fn news<'p>(plan: &'p Plan, kept: &'p KeptStatements) -> impl Iterator<Item = &'p RrsetStatement> {
    plan.stated.iter().filter(|own| kept.has(&own.name, own.rtype, &own.by) != own.is_kept)
}
