//! A few hosts: the plan for them alone, and why it is what it is.

use super::explain::{AnswerBasis, with_notices};
use super::input_error::InputError;
use super::inputs::{PlanRequest, ReadFor, gather};
use super::notices::found_notices;
use super::plan::{MadePlan, made};
use super::{edited, published};
use crate::diag::Problem;
use crate::diff::decide::{self, DecisionInput};
use crate::diff::judge::FleetDecisions;
use crate::explain::{ExplainQuestion, Explanation};
use crate::inventory::value::Inv;
use crate::progress::{Progress, RunStage};

/// Plans for the hosts that an operator names by number or name; explains each of them.
///
/// Errors: [`InputError`]; a text that names no host, too.
pub fn fix(
    request: &PlanRequest<'_>,
    hosts: &[String],
    progress: &dyn Progress,
) -> Result<(MadePlan, Vec<Explanation>), InputError> {
    let mut input = gather(request, &ReadFor::Named(hosts), progress)?;
    progress.stage(RunStage::Compare, None);
    input.selection.hosts = published::find_named(&input.inventory, input.state.as_deref(), hosts)??;
    let (notices, _) = found_notices(&input.inventory, &input.zones);
    let (held, kept) = edited::held(&input)?;
    let given = DecisionInput { held: &held, ..input.decision() };
    let decided: Result<(FleetDecisions, Vec<Explanation>), Problem> =
        decide::decide_and(&input.inventory, &input.zones.live, given, |context, standings, mut decided| {
            edited::mark(&mut decided.changes, &input)?;
            decided.notices.extend(kept);
            let own = decided.notices.clone();
            let all = with_notices(notices, decided);
            let basis = AnswerBasis {
                context,
                standings,
                copies: &input.zones.copies,
                records: &[],
                decided: &all,
                diagnostics: &input.diagnostics,
            };
            let explain = |inv: &Inv| basis.answer(&ExplainQuestion::Host(*inv), &[]);
            let explanations = input.selection.hosts.iter().map(explain).collect();
            Ok((FleetDecisions { notices: own, ..all }, explanations))
        });
    let (decided, explanations) = decided?;
    Ok((made(&mut input, request, decided, None)?, explanations))
}
