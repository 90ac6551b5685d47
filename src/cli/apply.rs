//! `apply`: DNS as a plan says.

use std::path::Path;

use super::args::ApplyArgs;
use super::carry_out::{self, ApplyOutput, ApplyTask};
use super::events;
use super::exit::Exit;
use super::metrics::{self, RunNotes};
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::{DigestedPlan, cache, not_planned, refuse_zones, request, seal, tell_breakers};
use super::shared_args::SharedArgs;
use super::show::ShowOptions;
use super::values::FormatArg;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::pipeline::{self, MadePlan, PlanError, PlanRequest};
use crate::plan::SealedPlan;
use crate::plan::store::{self, StoreError};
use crate::report::event::RunReport;
use crate::report::{self, PlanFormat, PlanOutlook, TextPurpose};

/// Applies a saved plan, or one that is made now.
pub fn run(shared: &SharedArgs, args: &ApplyArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "apply")?;
    carry_out::refuse_unexplained(shared, args.limits.ignore_gate, args.limits.ignore_cms)?;
    metrics::run(shared, "apply", args.metrics.as_deref(), |notes| match &args.file {
        Some(file) => apply_saved(shared, args, file, notes),
        None => plan_and_apply(shared, args, notes),
    })
}

/// Applies a saved plan.
fn apply_saved(shared: &SharedArgs, args: &ApplyArgs, file: &Path, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    if shared.limits_plans() {
        let failure = CommandFailure::of_call(
            "a saved plan is applied as it is: `--host`, `--subject` and `--project` limit only a new plan",
        );
        return Err(failure.hint("make a new plan with them, and apply that"));
    }
    let now = output::now(shared)?;
    let sealed = match store::load(file) {
        Ok(sealed) => sealed,
        Err(StoreError::Plan { path, source }) => {
            let refusal = Problem::new(path.display().to_string(), source.code(), source.to_string())
                .hint("plan again; a plan is never edited");
            notes.note(|metrics| metrics.refused(&refusal));
            let output = ApplyOutput { shared, format: args.format, started: now, is_resumed: false, sealed: None };
            return output.refuse(&refusal, Exit::Refused);
        }
        Err(error @ StoreError::Read { .. }) => return Err(CommandFailure::of_call(error)),
        Err(error) => return Err(CommandFailure::new(error)),
    };
    notes.note(|metrics| metrics.plan(sealed.plan(), None));
    let verdict = if report::no_plan(sealed.plan()).is_some() { Exit::Error } else { Exit::Done };
    carry_out::carry_out(shared, &task(&sealed, &file.display().to_string(), now, args, notes), verdict)
}

/// Makes a plan, shows it, asks, and applies it.
fn plan_and_apply(shared: &SharedArgs, args: &ApplyArgs, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let view = view(shared)?;
    match make_to_apply(shared, args, (now, notes), |request, progress| pipeline::make_plan(request, progress))? {
        Ok(made) => {
            show_to_apply(shared, args, &view, &made)?;
            apply_made(shared, args, (&made, now), notes)
        }
        Err(NoPlan { exit, .. }) => Ok(exit),
    }
}

/// How a plan is shown that is to be applied.
///
/// Errors: a template of the workspace cannot be used.
pub fn view(shared: &SharedArgs) -> Result<ShowOptions<'_>, CommandFailure> {
    ShowOptions::new(shared, PlanFormat::Text, TextPurpose::Apply)
}

/// That there is no plan.
pub struct NoPlan {
    /// How the command ends.
    pub exit: Exit,
    /// Why, in the lines that were printed.
    pub why: String,
}

/// Makes a plan to apply it, by `make`; or says how the command ends where there is none.
pub fn make_to_apply(
    shared: &SharedArgs,
    args: &ApplyArgs,
    (now, notes): (Time, &RunNotes),
    make: impl FnOnce(&PlanRequest<'_>, &ProgressLine) -> Result<MadePlan, PlanError>,
) -> Result<Result<DigestedPlan, NoPlan>, CommandFailure> {
    let request = PlanRequest { cache: cache(&args.cache), allow: &args.limits.allow, ..request(shared, now, None) };
    let made = match seal(shared, |progress| make(&request, progress)) {
        Ok(made) => made,
        Err(error) => {
            let why = error.findings().map(|findings| output::rendered(shared, findings)).unwrap_or_default();
            return not_planned(shared, error).map(|exit| Err(NoPlan { exit, why }));
        }
    };
    made.note(notes, None);
    tell_breakers(shared, &made.breakers);
    output::findings_in_short(shared, &made.findings);
    events::planned(shared, &RunReport::plan_made(&made.sealed, &PlanOutlook::default()));
    Ok(Ok(made))
}

/// Shows a plan that is to be applied; of an unattended run its verdict.
pub fn show_to_apply(
    shared: &SharedArgs,
    args: &ApplyArgs,
    view: &ShowOptions<'_>,
    made: &DigestedPlan,
) -> Result<(), CommandFailure> {
    // Where there is no plan, the outcome says so.
    if args.format != FormatArg::Text || report::no_plan(made.sealed.plan()).is_some() {
        return Ok(());
    }
    // The log of scheduled runs needs the outcome: `history` has the changes, and `plan` shows them again.
    if args.auto && shared.verbose == 0 {
        view.print_headline(&made.sealed, &PlanOutlook::default())
    } else {
        view.print(&made.sealed, &PlanOutlook::default())
    }
}

/// Asks, and applies a plan that was made at a time.
pub fn apply_made(
    shared: &SharedArgs,
    args: &ApplyArgs,
    (made, now): (&DigestedPlan, Time),
    notes: &RunNotes,
) -> Result<Exit, CommandFailure> {
    let DigestedPlan { sealed, breakers, targets, .. } = made;
    let verdict = made.verdict();
    let task = task(sealed, "the plan", now, args, notes);
    if let Some(refused) = carry_out::foresee(shared, &task, breakers, shared.names_subjects(), verdict) {
        return refused;
    }
    let asks = task.may_be_expected() && !sealed.plan().is_idle() && !args.auto;
    if asks && !carry_out::consents(shared, &task, targets)? {
        return Ok(Exit::Done);
    }
    carry_out::carry_out(shared, &task, verdict)
}

/// What is to be done.
fn task<'a>(
    sealed: &'a SealedPlan,
    place: &'a str,
    now: Time,
    args: &'a ApplyArgs,
    notes: &'a RunNotes,
) -> ApplyTask<'a> {
    let ApplyArgs { limits, format, auto, .. } = args;
    ApplyTask { sealed, place, now, expect: args.expect.as_deref(), limits, format: *format, auto: *auto, notes }
}
