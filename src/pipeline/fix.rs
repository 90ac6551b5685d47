//! A few hosts: the plan for them alone, and why it is what it is.

use super::explain::{answer, with_notices};
use super::input_error::InputError;
use super::inputs::PlanRequest;
use super::inputs::{PlanInput, ReadFor, gather};
use super::notices::found_notices;
use super::plan::MadePlan;
use super::plan::{SelectedDecisions, guarded, made, workspace_seen};
use super::progress::{Progress, RunStage};
use super::targets::server_names;
use super::{edited, left_behind, published};
use crate::diag::Problem;
use crate::diff::Selection;
use crate::diff::decide::{self, DecisionInput, FleetDecisions};
use crate::diff::held::HeldEdits;
use crate::explain::{ExplainQuestion, Explanation};
use crate::inventory::value::Inv;
use crate::plan::Plan;
use crate::plan::PlanScope;
use edited::JournalContext;

/// Plans for the hosts that an operator names by number or name; explains each of them.
///
/// Errors: [`InputError`]; a text that names no host, too.
pub fn fix(
    request: &PlanRequest<'_>,
    hosts: &[String],
    progress: &dyn Progress,
) -> Result<(MadePlan, Vec<Explanation>), InputError> {
    let PlanInput { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, state, version } =
        gather(request, &ReadFor::Named(hosts), progress)?;
    progress.stage(RunStage::Compare, None);
    let named = published::find_named(&inventory, state.as_deref(), hosts)??;
    let selection = Selection { hosts: named, ..selection };
    let (notices, _) = found_notices(&inventory, &zones);
    let tripped = remembered.tripped(&inventory);
    let servers = server_names(&inventory);
    let nothing = HeldEdits::default();
    let given = DecisionInput {
        now: request.now,
        servers: &servers,
        selection: &selection,
        tripped: &tripped,
        waits: &waits,
        held: &nothing,
    };
    let past = JournalContext { state: state.as_deref(), version, zones: &zones, is_snapshot: snapshot.is_some() };
    let (held, kept) = edited::held(&inventory, given, past)?;
    let given = DecisionInput { held: &held, ..given };
    let decided: Result<(FleetDecisions, Vec<Explanation>), Problem> =
        decide::decide_and(&inventory, &zones.live, given, |context, standings, mut decided| {
            edited::mark(&mut decided.changes, past)?;
            decided.notices.extend(kept);
            let own = decided.notices.clone();
            let all = with_notices(notices, decided);
            let explain =
                |inv: &Inv| answer(context, standings, (&all, &diagnostics), (&ExplainQuestion::Host(*inv), &[]));
            let explanations = selection.hosts.iter().map(explain).collect();
            Ok((FleetDecisions { notices: own, ..all }, explanations))
        });
    let (mut decided, explanations) = decided?;
    let left = std::mem::take(&mut decided.left_behind);
    let chosen = SelectedDecisions { selection: &selection, decided };
    let workspace = workspace_seen(&inventory.config, state.as_deref())?;
    let mut made = made((request.now, workspace), (inventory, diagnostics), zones, snapshot, chosen);
    left_behind::list(&mut made.plan, left, (&selection, state.as_deref()))?;
    let only = PlanScope::new(selection.hosts.iter().copied(), &request.projects);
    let made = MadePlan { plan: Plan { only, ..made.plan }, ..made };
    Ok((guarded(made, forgotten, remembered, request.workspace), explanations))
}
