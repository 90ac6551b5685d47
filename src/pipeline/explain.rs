//! Makes the explanation of one host, name or address from a workspace and its servers.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::input_error::InputError;
use super::inputs::{PlanInput, ReadFor, gather};
use super::inputs::{PlanRequest, SnapshotUsed};
use super::notices::found_notices;
use super::subjects::check_known;
use super::{edited, explain_waits, published};
use crate::claim::Subject;
use crate::diag::{CallError, Diagnostics, Problem};
use crate::diff::decide::{self, DecisionInput};
use crate::diff::judge::{self, FleetDecisions};
use crate::diff::{RuleContext, Selection, SubjectStandings};
use crate::explain::published::PublishedRrset;
use crate::explain::{self, ExplainCase, ExplainQuestion, Explanation, OtherDecision};
use crate::inventory::Inventory;
use crate::inventory::model::Config;
use crate::inventory::pool::Pool;
use crate::live::{Live, PoolCopies};
use crate::plan::{Notice, order};
use crate::progress::{Progress, RunStage};
use crate::provider::outage;
use crate::state::State;

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
    let input = gather(request, &ReadFor::AllHosts, progress)?;
    progress.stage(RunStage::Compare, None);
    let (notices, is_partial) = found_notices(&input.inventory, &input.zones);
    let (held, kept) = edited::held(&input)?;
    let notices = notices.into_iter().chain(kept).collect();
    let given = DecisionInput { held: &held, ..input.decision() };
    let records = seen_by_records(&input.inventory.config, &input.zones.live);
    let explanation: Result<Result<(Explanation, BTreeSet<Subject>), CallError>, Problem> =
        decide::decide_and(&input.inventory, &input.zones.live, given, |context, standings, mut decided| {
            edited::mark(&mut decided.changes, &input)?;
            let found = ExplainQuestion::find(context, asked);
            let found = with_journal(&input.inventory, input.state.as_deref(), asked, found)?;
            let found = found.and_then(|found| known_pod(context, asked, found));
            let decided = &with_notices(notices, decided);
            let basis = AnswerBasis {
                context,
                standings,
                copies: &input.zones.copies,
                records: &records,
                decided,
                diagnostics: &input.diagnostics,
            };
            let answer = |(question, published): (ExplainQuestion, Vec<PublishedRrset>)| {
                (basis.answer(&question, &published), explain_waits::subjects_of(&question, &decided.changes))
            };
            Ok(found.map(answer))
        });
    let explanation = match explanation? {
        Ok((explained, subjects)) => Ok(explain_waits::with_waits(explained, &subjects, input.state.as_deref())?),
        Err(error) => Err(error),
    };
    let PlanInput { inventory, diagnostics, zones, forgotten, snapshot, .. } = input;
    let files: BTreeSet<&String> = inventory.inputs.keys().chain(zones.inputs.iter().map(|(name, _)| name)).collect();
    let files_read = files.len();
    let unread = outage::gather(zones.unread.into_iter().map(|(_, error)| error));
    let are_exports_believed = inventory.is_believed();
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

/// A question with what the journal says about it, where it is not about a pod of which nothing is known.
///
/// Errors: no row has the pod, nothing is live at its name, and no apply published the name.
fn known_pod(
    context: &RuleContext<'_>,
    asked: &str,
    (question, published): (ExplainQuestion, Vec<PublishedRrset>),
) -> Result<(ExplainQuestion, Vec<PublishedRrset>), CallError> {
    let subject = asked.parse().ok().filter(|subject| matches!(subject, Subject::Pod(_)));
    if let (Some(subject), ExplainQuestion::Name(name)) = (subject, &question) {
        let is_live = context.live.rrsets_at(name.as_name()).next().is_some();
        if !is_live && published.is_empty() {
            check_known(context.inventory, context.statements, &subject)?;
        }
    }
    Ok((question, published))
}

/// Adds earlier notices to what was decided; all are in the order of a plan, in whatever order zones and records are
/// kept.
pub(super) fn with_notices(mut found: Vec<Notice>, decided: FleetDecisions) -> FleetDecisions {
    found.extend(decided.notices);
    found.sort_by(order::notices);
    found.dedup();
    FleetDecisions { notices: found, ..decided }
}

/// DNS as each DNS update record sees it: its zones alone.
fn seen_by_records(config: &Config, live: &Live) -> Vec<(String, Live)> {
    let pools = config.pools.iter().enumerate().filter(|(_, pool)| pool.is_of_record);
    let seen = |(place, pool): (usize, &Pool)| {
        (pool.name.to_string(), live.only(|zone| config.zones[zone.0 as usize].pool == place))
    };
    pools.map(seen).collect()
}

/// What questions are answered by.
pub(super) struct AnswerBasis<'a> {
    /// What the rules may look at.
    pub context: &'a RuleContext<'a>,
    /// The standings of all hosts.
    pub standings: &'a SubjectStandings,
    /// The copies of the pools that have several targets.
    pub copies: &'a [PoolCopies],
    /// DNS as each DNS update record sees it, by the names of the records.
    pub records: &'a [(String, Live)],
    /// What was decided, with all notices.
    pub decided: &'a FleetDecisions,
    /// What is wrong in the inventory's files.
    pub diagnostics: &'a Diagnostics,
}

impl AnswerBasis<'_> {
    /// Answers a question; `published` is what the journal says about its subject.
    pub fn answer(&self, question: &ExplainQuestion, published: &[PublishedRrset]) -> Explanation {
        let AnswerBasis { context, standings, copies, records, decided, diagnostics } = *self;
        let again = |selection: &Selection| {
            let (standings, decided) = judge::judge_all(&RuleContext { selection, ..*context });
            OtherDecision { changes: decided.changes, standings }
        };
        let FleetDecisions { changes, blocked, skipped, notices, waiting, left_behind, .. } = decided;
        let decision = explain::ExplainedDecisions { changes, blocked, skipped, notices, waiting, left_behind };
        let case = ExplainCase { context, standings, copies, records, decision, diagnostics, again: &again, published };
        explain::explain(&case, question)
    }
}
