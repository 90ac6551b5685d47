//! `undo`: the inverse of an apply, planned, and applied where an operator agrees.

use std::path::Path;

use super::args::{Shared, UndoArgs};
use super::carry_out::{self, Task};
use super::events;
use super::exit::Exit;
use super::metrics::Notes;
use super::output::{self, Failure};
use super::request::{Sealed, not_opened, refuse_zones, request, seal, verdict};
use super::show::View;
use super::values::Format;
use crate::guard::Breaker;
use crate::inventory::value::Time;
use crate::pipeline::undo::{UndoError, make_undo};
use crate::plan::{SealedPlan, store};
use crate::report::event::RunReport;
use crate::report::{self, Outlook, Purpose};
use crate::state::ApplyId;

/// Plans the inverse of an apply, and shows, saves or applies it.
pub fn run(shared: &Shared, args: &UndoArgs) -> Result<Exit, Failure> {
    refuse_zones(shared, "undo")?;
    let now = output::now(shared)?;
    let applies = args.out.is_none() && (args.limits.yes || carry_out::can_ask(shared, args.format));
    let purpose = match (applies, &args.out) {
        (true, _) => Purpose::Apply,
        (false, Some(_)) => Purpose::Saved,
        (false, None) => Purpose::Look,
    };
    let view = View::new(shared, report::Format::from(args.format).into(), purpose)?;
    let request = request(shared, now, None);
    let Sealed { sealed, findings, is_partial, breakers, targets, .. } =
        match seal(shared, |progress| make_undo(&request, ApplyId(args.id), progress)) {
            Ok(made) => made,
            Err(UndoError::Open(error)) => return not_opened(shared, error),
            Err(UndoError::Call(error)) => return Err(error.into()),
        };
    output::findings_in_short(shared, &findings);
    let verdict = verdict(is_partial, sealed.plan());
    let exit = match &args.out {
        None => show_and_apply(shared, args, &view, (&sealed, &breakers, &targets, verdict), now)?,
        Some(file) => show_and_save(shared, file, &view, &sealed)?,
    };
    Ok(if is_partial { Exit::Error } else { exit })
}

/// Prints a plan, and saves it.
fn show_and_save(shared: &Shared, file: &Path, view: &View<'_>, sealed: &SealedPlan) -> Result<Exit, Failure> {
    // A plan that cannot be saved is printed all the same.
    let saved = store::save(file, sealed).map_err(Failure::new);
    view.print(sealed, &Outlook::default())?;
    saved?;
    let outlook = Outlook { file: Some(file.display().to_string()), ..Outlook::default() };
    events::outcome(shared, &RunReport::plan_made(sealed, &outlook));
    Ok(Exit::Done)
}

/// Prints a plan, asks unless `--yes` says so, and applies it. What `--yes` prints as JSON is the outcome alone.
///
/// Errors: there is no operator to ask.
fn show_and_apply(
    shared: &Shared,
    args: &UndoArgs,
    view: &View<'_>,
    (sealed, breakers, targets, verdict): (&SealedPlan, &[Breaker], &[String], Exit),
    now: Time,
) -> Result<Exit, Failure> {
    let UndoArgs { limits, format, .. } = args;
    events::planned(shared, &RunReport::plan_made(sealed, &Outlook::default()));
    let notes = Notes::none();
    let task =
        Task { sealed, place: "the plan", now, expect: None, limits, format: *format, auto: false, notes: &notes };
    if *format == Format::Text || !limits.yes {
        view.print(sealed, &Outlook::default())?;
        // The page has said that there is nothing to undo.
        if sealed.plan().changes.is_empty() {
            return Ok(Exit::Done);
        }
    }
    if *format == Format::Text
        && let Some(refused) = carry_out::foresee(shared, &task, (breakers, false), verdict)
    {
        return refused;
    }
    if !carry_out::consents(shared, &task, targets)? {
        return Ok(Exit::Done);
    }
    carry_out::carry_out(shared, &task, verdict)
}
