//! `plan`: what would be changed, and why.

use std::path::Path;

use super::args::PlanArgs;
use super::events;
use super::exit::Exit;
use super::metrics::{self, RunNotes};
use super::name_args::AdoptArgs;
use super::output::{self, CommandFailure};
use super::request::{DigestedPlan, cache, make, not_planned, request, tell_breakers, tell_snapshot};
use super::shared_args::SharedArgs;
use super::show::{ShowOptions, apply_command, source_url};
use crate::diff::adopt::AdoptionTerms;
use crate::guard::Allowance;
use crate::pipeline::PlanRequest;
use crate::plan::{NoticeCode, Plan, WorkspaceSeen, store};
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
    let request = PlanRequest {
        base,
        cache,
        allow: &args.allow,
        asks_approvals: args.ask_cms,
        ..request(shared, now, args.live_snapshot.as_deref())
    };
    let view =
        ShowOptions::new(shared, args.format.into(), purpose(args.out.as_deref()))?.only_caused(args.only_caused);
    let made = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_planned(shared, error),
    };
    let refusal = made.refusal(shared);
    let exit = exit(args, &made, refusal.is_some());
    made.note(notes, refusal.as_ref());
    tell_snapshot(shared, &request, made.snapshot.as_ref());
    let source_url = source_url(shared, args.source_url.as_ref())?;
    let outlook = PlanOutlook { refusal, url: args.plan_url.clone(), source_url, ..PlanOutlook::default() };
    print(shared, &made, &view, (args.out.as_deref(), outlook))?;
    Ok(exit)
}

/// Makes the plan that takes over RRsets of another owner, prints it, and saves it where that is asked for.
pub fn adopt(shared: &SharedArgs, args: &AdoptArgs, from: &str) -> Result<Exit, CommandFailure> {
    let terms = AdoptionTerms { from, is_all: args.all };
    let request = PlanRequest { adopt: Some(terms), ..request(shared, output::now(shared)?, None) };
    let view = ShowOptions::new(shared, args.format.into(), purpose(args.out.as_deref()))?;
    let made = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_planned(shared, error),
    };
    let refusal = made.refusal(shared);
    let outlook =
        PlanOutlook { refusal, idle: Some(nothing_adopted(made.sealed.plan(), from)), ..PlanOutlook::default() };
    print(shared, &made, &view, (args.out.as_deref(), outlook))?;
    Ok(if made.is_partial { Exit::Error } else { Exit::Done })
}

/// Why a plan takes over nothing of an owner.
fn nothing_adopted(plan: &Plan, from: &str) -> String {
    let WorkspaceSeen { owner, pools, .. } = &plan.workspace;
    let is_ours = owner == from || pools.iter().any(|pool| pool.owner == from);
    match plan.notices.iter().filter(|notice| notice.code == NoticeCode::OwnerKept).count() {
        0 if is_ours => format!("`{from}` is our own owner"),
        0 => format!("no TXT of the registry names the owner `{from}`"),
        _ => format!("all RRsets of the owner `{from}` keep it, see the notices"),
    }
}

/// What a plan is printed for.
fn purpose(out: Option<&Path>) -> TextPurpose {
    if out.is_some() { TextPurpose::Saved } else { TextPurpose::Look }
}

/// Saves a plan where that is asked for, and prints it.
fn print(
    shared: &SharedArgs,
    made: &DigestedPlan,
    view: &ShowOptions<'_>,
    (out, outlook): (Option<&Path>, PlanOutlook),
) -> Result<(), CommandFailure> {
    let DigestedPlan { sealed, findings, breakers, .. } = made;
    tell_breakers(shared, breakers);
    output::findings_in_short(shared, findings);
    // A plan that cannot be saved is printed all the same: it took long to make.
    let saved = out.map_or(Ok(()), |file| store::save(file, sealed).map_err(CommandFailure::new));
    let out = out.filter(|_| saved.is_ok());
    let file = out.map(|file| file.display().to_string());
    let command = out.and_then(|file| apply_command(shared, file));
    let outlook = PlanOutlook { file, is_unsaved: saved.is_err(), command, ..outlook };
    view.print(sealed, &outlook)?;
    saved?;
    events::outcome(shared, &RunReport::plan_made(sealed, &outlook));
    Ok(())
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
