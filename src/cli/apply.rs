//! `apply`: DNS as a plan says.

use std::path::Path;

use super::args::{ApplyArgs, Shared};
use super::carry_out::{self, Task};
use super::events;
use super::exit::Exit;
use super::metrics::{self, Notes};
use super::output::{self, Failure};
use super::request::{Sealed, cache, make, not_planned, refuse_zones, request, tell_breakers};
use super::show::View;
use super::values::Format;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::pipeline::Request;
use crate::plan::SealedPlan;
use crate::plan::store::{self, StoreError};
use crate::report::event::RunReport;
use crate::report::{self, Outlook, PlanFormat, Purpose};

/// Applies a saved plan, or one that is made now.
pub fn run(shared: &Shared, args: &ApplyArgs) -> Result<Exit, Failure> {
    refuse_zones(shared, "apply")?;
    metrics::run(shared, ("apply", args.metrics.as_deref()), |notes| match &args.file {
        Some(file) => apply_saved(shared, args, file, notes),
        None => plan_and_apply(shared, args, notes),
    })
}

/// Applies a saved plan.
fn apply_saved(shared: &Shared, args: &ApplyArgs, file: &Path, notes: &Notes) -> Result<Exit, Failure> {
    if !shared.hosts.is_empty() || !shared.projects.is_empty() {
        let failure =
            Failure::of_call("a saved plan is applied as it is: `--host` and `--project` limit only a new plan");
        return Err(failure.hint("make a new plan with them, and apply that"));
    }
    let now = output::now(shared)?;
    let sealed = match store::load(file) {
        Ok(sealed) => sealed,
        Err(StoreError::Plan { path, source }) => {
            let refusal = Problem::new(path.display().to_string(), source.code(), source.to_string())
                .hint("plan again; a plan is never edited");
            notes.note(|metrics| metrics.refused(&refusal));
            return carry_out::refuse_unread(shared, args.format, now, &refusal);
        }
        Err(error @ StoreError::Read { .. }) => return Err(Failure::of_call(error)),
        Err(error) => return Err(Failure::new(error)),
    };
    notes.note(|metrics| metrics.plan(sealed.plan(), None));
    let verdict = if report::no_plan(sealed.plan()).is_some() { Exit::Error } else { Exit::Done };
    carry_out::carry_out(shared, &task((&sealed, &file.display().to_string()), now, args, notes), verdict)
}

/// Makes a plan, shows it, asks, and applies it.
fn plan_and_apply(shared: &Shared, args: &ApplyArgs, notes: &Notes) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let request = Request { cache: cache(&args.cache), ..request(shared, now, None) };
    let view = View::new(shared, PlanFormat::Text, Purpose::Apply)?;
    let made = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_planned(shared, error),
    };
    made.note(notes, None);
    let verdict = made.verdict();
    let Sealed { sealed, findings, breakers, targets, .. } = made;
    tell_breakers(shared, &breakers);
    output::findings_in_short(shared, &findings);
    events::planned(shared, &RunReport::plan_made(&sealed, &Outlook::default()));
    // Where there is no plan, the outcome says so.
    if args.format == Format::Text && report::no_plan(sealed.plan()).is_none() {
        // The log of scheduled runs needs the outcome: `history` has the changes, and `plan` shows them again.
        if args.auto && shared.verbose == 0 {
            view.print_headline(&sealed, &Outlook::default())?
        } else {
            view.print(&sealed, &Outlook::default())?
        }
    }
    let task = task((&sealed, "the plan"), now, args, notes);
    if let Some(refused) = carry_out::foresee(shared, &task, (&breakers, !shared.hosts.is_empty()), verdict) {
        return refused;
    }
    let asks = task.may_be_expected() && !sealed.plan().changes.is_empty() && !args.auto;
    if asks && !carry_out::consents(shared, &task, &targets)? {
        return Ok(Exit::Done);
    }
    carry_out::carry_out(shared, &task, verdict)
}

/// What is to be done.
fn task<'a>((sealed, place): (&'a SealedPlan, &'a str), now: Time, args: &'a ApplyArgs, notes: &'a Notes) -> Task<'a> {
    let ApplyArgs { limits, format, auto, .. } = args;
    Task { sealed, place, now, expect: args.expect.as_deref(), limits, format: *format, auto: *auto, notes }
}
