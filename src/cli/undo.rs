//! `undo`: the inverse of an apply, planned, and applied where an operator agrees.

use std::path::Path;

use super::args::UndoArgs;
use super::carry_out::{self, ApplyTask};
use super::events;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::request::{DigestedPlan, not_opened, refuse_zones, request, seal};
use super::shared_args::SharedArgs;
use super::show::ShowOptions;
use super::values::FormatArg;
use crate::inventory::value::Time;
use crate::pipeline::undo::{UndoError, make_undo};
use crate::plan::{SealedPlan, store};
use crate::report::event::RunReport;
use crate::report::{self, PlanOutlook, TextPurpose};
use crate::state::ApplyId;

/// Plans the inverse of an apply, and shows, saves or applies it.
pub fn run(shared: &SharedArgs, args: &UndoArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "undo")?;
    carry_out::refuse_unexplained(shared, args.limits.ignore_gate, args.limits.ignore_cms)?;
    let now = output::now(shared)?;
    let applies = args.out.is_none() && (args.limits.yes || carry_out::can_ask(shared, args.format));
    let purpose = match (applies, &args.out) {
        (true, _) => TextPurpose::Apply,
        (false, Some(_)) => TextPurpose::Saved,
        (false, None) => TextPurpose::Look,
    };
    let view = ShowOptions::new(shared, report::ReportFormat::from(args.format).into(), purpose)?;
    let request = request(shared, now, None);
    let made = match seal(shared, |progress| make_undo(&request, ApplyId(args.id), progress)) {
        Ok(made) => made,
        Err(UndoError::Open(error)) => return not_opened(shared, error),
        Err(UndoError::Call(error)) => return Err(error.into()),
    };
    output::findings_in_short(shared, &made.findings);
    let exit = match &args.out {
        None => show_and_apply(shared, args, &view, &made, now)?,
        Some(file) => show_and_save(shared, file, &view, &made.sealed)?,
    };
    Ok(if made.is_partial { Exit::Error } else { exit })
}

/// Prints a plan, and saves it.
fn show_and_save(
    shared: &SharedArgs,
    file: &Path,
    view: &ShowOptions<'_>,
    sealed: &SealedPlan,
) -> Result<Exit, CommandFailure> {
    // A plan that cannot be saved is printed all the same.
    let saved = store::save(file, sealed).map_err(CommandFailure::new);
    view.print(sealed, &PlanOutlook::default())?;
    saved?;
    let outlook = PlanOutlook { file: Some(file.display().to_string()), ..PlanOutlook::default() };
    events::outcome(shared, &RunReport::plan_made(sealed, &outlook));
    Ok(Exit::Done)
}

/// Prints a plan, asks unless `--yes` says so, and applies it. What `--yes` prints as JSON is the outcome alone.
///
/// Errors: there is no operator to ask.
fn show_and_apply(
    shared: &SharedArgs,
    args: &UndoArgs,
    view: &ShowOptions<'_>,
    made: &DigestedPlan,
    now: Time,
) -> Result<Exit, CommandFailure> {
    let UndoArgs { limits, format, .. } = args;
    let DigestedPlan { sealed, breakers, targets, .. } = made;
    let verdict = made.verdict();
    events::planned(shared, &RunReport::plan_made(sealed, &PlanOutlook::default()));
    let notes = RunNotes::none();
    let task =
        ApplyTask { sealed, place: "the plan", now, expect: None, limits, format: *format, auto: false, notes: &notes };
    if *format == FormatArg::Text || !limits.yes {
        view.print(sealed, &PlanOutlook::default())?;
        // The page has said that there is nothing to undo.
        if sealed.plan().changes.is_empty() {
            return Ok(Exit::Done);
        }
    }
    if *format == FormatArg::Text
        && let Some(refused) = carry_out::foresee(shared, &task, breakers, false, verdict)
    {
        return refused;
    }
    if !carry_out::consents(shared, &task, targets)? {
        return Ok(Exit::Done);
    }
    carry_out::carry_out(shared, &task, verdict)
}
