//! Makes the explanation of one host, name or address from a workspace and its servers.

use super::targets::server_names;
use std::collections::BTreeSet;

use super::findings::Findings;
use super::input_error::InputError;
use super::inputs::{PlanInput, ReadFor, gather};
use super::inputs::{PlanRequest, SnapshotUsed};
use super::notices::found_notices;
use super::plan::are_believed;
use super::progress::{Progress, RunStage};
use super::{edited, published};
use crate::diag::{CallError, Diagnostics, Problem};
use crate::diff::decide::{self, DecisionInput, FleetDecisions};
use crate::diff::held::HeldEdits;
use crate::diff::{HostStandings, RuleContext, Selection};
use crate::explain::published::PublishedRrset;
use crate::explain::{self, ExplainCase, ExplainQuestion, Explanation, OtherDecision};
use crate::inventory::Inventory;
use crate::plan::{Notice, order};
use crate::provider::outage;
use crate::state::State;
use edited::JournalContext;

/// An explanation, and the findings of the same run.
#[derive(Debug)]
pub struct MadeExplanation {
    /// The explanation, or why there is none.
    pub explanation: Result<Explanation, CallError>,
    /// What was found.
    pub findings: Findings,
    /// Whether a zone or a source could not be read completely.
    pub is_partial: bool,
    /// The snapshot that is used in place of live DNS, where given.
    pub snapshot: Option<SnapshotUsed>,
}

/// Explains what `asked` names, by the decisions that a plan for the same request would make.
///
/// Errors: [`InputError`], as for a plan.
pub fn explain(request: &PlanRequest<'_>, asked: &str, progress: &dyn Progress) -> Result<MadeExplanation, InputError> {
    let PlanInput { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, state, version } =
        gather(request, &ReadFor::AllHosts, progress)?;
    progress.stage(RunStage::Compare, None);
    let (notices, is_partial) = found_notices(&inventory, &zones);
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
    let notices = notices.into_iter().chain(kept).collect();
    let given = DecisionInput { held: &held, ..given };
    let explanation: Result<Result<Explanation, CallError>, Problem> =
        decide::decide_and(&inventory, &zones.live, given, |context, standings, mut decided| {
            edited::mark(&mut decided.changes, past)?;
            let found = ExplainQuestion::find(context, asked);
            let found = with_journal(&inventory, state.as_deref(), asked, found)?;
            let decided = with_notices(notices, decided);
            let about = (&decided, &diagnostics);
            Ok(found.map(|(question, published)| answer(context, standings, about, (&question, &published))))
        });
    let explanation = explanation?;
    let files: BTreeSet<&String> = inventory.inputs.keys().chain(zones.inputs.iter().map(|(name, _)| name)).collect();
    let files_read = files.len();
    let unread = outage::gather(zones.unread.into_iter().map(|(_, error)| error));
    let are_exports_believed = are_believed(&inventory);
    let settings = inventory.settings_errors.into_keys().collect();
    let findings = Findings {
        files: inventory.files,
        diagnostics,
        settings,
        are_exports_believed,
        files_read,
        zones: zones.findings,
        unread,
        forgotten,
        base: Vec::new(),
    };
    Ok(MadeExplanation { explanation, findings, is_partial, snapshot })
}

/// A question with what the journal says about it; where the inventory and DNS do not know the subject, the journal
/// alone may.
fn with_journal(
    inventory: &Inventory,
    state: Option<&dyn State>,
    asked: &str,
    found: Result<ExplainQuestion, CallError>,
) -> Result<Result<(ExplainQuestion, Vec<PublishedRrset>), CallError>, Problem> {
    let Some(state) = state else { return Ok(found.map(|question| (question, Vec::new()))) };
    match found {
        Ok(question) => {
            let published = published::about(state, &question)?;
            Ok(Ok((question, published)))
        }
        Err(error) => Ok(published::question(state, inventory, asked)?.ok_or(error)),
    }
}

/// Adds earlier notices to what was decided; all are in the order of a plan, in whatever order zones and records are
/// kept.
pub(super) fn with_notices(mut found: Vec<Notice>, decided: FleetDecisions) -> FleetDecisions {
    found.extend(decided.notices);
    found.sort_by(order::notices);
    found.dedup();
    FleetDecisions { notices: found, ..decided }
}

/// Answers a question about what was decided.
pub(super) fn answer(
    context: &RuleContext<'_>,
    standings: &HostStandings,
    (decided, diagnostics): (&FleetDecisions, &Diagnostics),
    (question, published): (&ExplainQuestion, &[PublishedRrset]),
) -> Explanation {
    let again = |selection: &Selection| {
        let (standings, decided) = decide::judge_all(&RuleContext { selection, ..*context });
        OtherDecision { changes: decided.changes, standings }
    };
    let FleetDecisions { changes, blocked, skipped, notices, waiting, left_behind, .. } = decided;
    let decision = explain::ExplainedDecisions { changes, blocked, skipped, notices, waiting, left_behind };
    explain::explain(&ExplainCase { context, standings, decision, diagnostics, again: &again, published }, question)
}
