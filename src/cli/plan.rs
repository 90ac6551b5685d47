//! `plan`: what would be changed, and why.

use super::args::{PlanArgs, SharedArgs};
use super::events;
use super::exit::Exit;
use super::metrics::{self, RunNotes};
use super::output::{self, CommandFailure};
use super::request::{DigestedPlan, cache, make, not_planned, request, tell_breakers, tell_snapshot};
use super::show::{ShowOptions, apply_command, source_url};
use crate::guard::Allowance;
use crate::pipeline::PlanRequest;
use crate::plan::store;
use crate::report::event::RunReport;
use crate::report::{PlanOutlook, TextPurpose};

/// Makes a plan, prints it, and saves it where that is asked for.
pub fn run(shared: &SharedArgs, args: &PlanArgs) -> Result<Exit, CommandFailure> {
    metrics::run(shared, "plan", args.metrics.as_deref(), |notes| plan(shared, args, notes))
}

/// Does so, and notes what is found.
fn plan(shared: &SharedArgs, args: &PlanArgs, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let (base, cache) = (args.base.as_deref(), cache(&args.cache));
    refuse_other_limits(&args.allow)?;
    let request =
        PlanRequest { base, cache, allow: &args.allow, ..request(shared, now, args.live_snapshot.as_deref()) };
    let purpose = if args.out.is_some() { TextPurpose::Saved } else { TextPurpose::Look };
    let view = ShowOptions::new(shared, args.format.into(), purpose)?.only_caused(args.only_caused);
    let made = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_planned(shared, error),
    };
    let DigestedPlan { sealed, findings, snapshot, breakers, .. } = &made;
    let refusal = made.refusal(shared);
    let exit = exit(args, &made, refusal.is_some());
    made.note(notes, refusal.as_ref());
    tell_snapshot(shared, &request, snapshot.as_ref());
    tell_breakers(shared, breakers);
    output::findings_in_short(shared, findings);
    // A plan that cannot be saved is printed all the same: it took long to make.
    let saved = args.out.as_ref().map_or(Ok(()), |file| store::save(file, sealed).map_err(CommandFailure::new));
    let out = args.out.as_deref().filter(|_| saved.is_ok());
    let file = out.map(|file| file.display().to_string());
    let source_url = source_url(shared, args.source_url.as_ref())?;
    let command = out.and_then(|file| apply_command(shared, file));
    let outlook = PlanOutlook {
        refusal,
        file,
        is_unsaved: saved.is_err(),
        command,
        url: args.plan_url.clone(),
        hidden: None,
        source_url,
    };
    view.print(sealed, &outlook)?;
    saved?;
    events::outcome(shared, &RunReport::plan_made(sealed, &outlook));
    Ok(exit)
}

/// Refuses allowances that only an apply can use.
fn refuse_other_limits(allow: &[Allowance]) -> Result<(), CommandFailure> {
    let Some(other) = allow.iter().find(|allowance| allowance.zone_to_create().is_none()) else { return Ok(()) };
    let message = format!("`plan` lets zones be made anew, and `{}` is something else", other.name);
    Err(CommandFailure::of_call(message).hint("`apply --allow` lets a plan exceed a limit"))
}

/// How the command ends with a plan; `is_refused` says whether it would be, if it were applied as it is.
fn exit(args: &PlanArgs, made: &DigestedPlan, is_refused: bool) -> Exit {
    let changes = if made.sealed.plan().is_idle() { Exit::Done } else { Exit::Changes };
    match (args.detailed_exitcode, is_refused) {
        (true, true) => made.verdict().and(Exit::Refused),
        (true, false) => made.verdict().and(changes),
        // A plan that would be refused is no error: the plan says so itself.
        (false, _) if made.is_partial => Exit::Error,
        (false, _) => Exit::Done,
    }
}
