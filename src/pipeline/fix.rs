//! A few hosts: the plan for them alone, and why it is what it is.

use super::explain::{answer, with_notices};
use super::input_error::InputError;
use super::inputs::Request;
use super::inputs::{Gathered, ReadFor, gather};
use super::notices::found_notices;
use super::plan::Made;
use super::plan::{Chosen, guarded, made, workspace_seen};
use super::progress::{Progress, RunStage};
use super::{decide, edited, left_behind, published};
use crate::diag::Problem;
use crate::diff::Selection;
use crate::diff::held::Held;
use crate::explain::{Explanation, Question};
use crate::inventory::value::Inv;
use crate::plan::Only;
use crate::plan::Plan;
use decide::{Decided, Given};
use edited::Past;

/// Plans for the hosts that an operator names by number or name; explains each of them.
///
/// Errors: [`InputError`]; a text that names no host, too.
pub fn fix(
    request: &Request<'_>,
    hosts: &[String],
    progress: &dyn Progress,
) -> Result<(Made, Vec<Explanation>), InputError> {
    let Gathered { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, state, version } =
        gather(request, &ReadFor::Named(hosts), progress)?;
    progress.stage(RunStage::Compare, None);
    let named = published::find_named(&inventory, state.as_deref(), hosts)??;
    let selection = Selection { hosts: named, ..selection };
    let (notices, _) = found_notices(&inventory, &zones);
    let tripped = remembered.tripped(&inventory);
    let nothing = Held::default();
    let given = Given { now: request.now, selection: &selection, tripped: &tripped, waits: &waits, held: &nothing };
    let past = Past { state: state.as_deref(), version, zones: &zones, is_snapshot: snapshot.is_some() };
    let (held, kept) = edited::held(&inventory, given, past)?;
    let given = Given { held: &held, ..given };
    let decided: Result<(Decided, Vec<Explanation>), Problem> =
        decide::decide_and(&inventory, &zones.live, given, |context, standings, mut decided| {
            edited::mark(&mut decided.changes, past)?;
            decided.notices.extend(kept);
            let own = decided.notices.clone();
            let all = with_notices(notices, decided);
            let explain = |inv: &Inv| answer(context, standings, (&all, &diagnostics), (&Question::Host(*inv), &[]));
            let explanations = selection.hosts.iter().map(explain).collect();
            Ok((Decided { notices: own, ..all }, explanations))
        });
    let (mut decided, explanations) = decided?;
    let left = std::mem::take(&mut decided.left_behind);
    let chosen = Chosen { selection: &selection, decided };
    let workspace = workspace_seen(&inventory.config, state.as_deref())?;
    let mut made = made((request.now, workspace), (inventory, diagnostics), zones, snapshot, chosen);
    left_behind::list(&mut made.plan, left, (&selection, state.as_deref()))?;
    let only = Only::new(selection.hosts.iter().copied(), &request.projects);
    let made = Made { plan: Plan { only, ..made.plan }, ..made };
    Ok((guarded(made, forgotten, remembered, request.workspace), explanations))
}
