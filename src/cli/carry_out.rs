//! What `apply` and `fix` have in common: asking, applying, printing the outcome.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::Ordering;

use super::args::{ApplyLimits, SharedArgs};
use super::events;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::progress::{ProgressLine, StageTime};
use super::request::not_opened;
use super::signals;
use super::values::FormatArg;
use super::who::who;
use crate::apply::{ApplyEnding, ApplyOutcome};
use crate::diag::Problem;
use crate::guard::{Allowance, Breaker, LIMIT_EXCEEDED, UNKNOWN_LIMIT};
use crate::inventory::value::Time;
use crate::pipeline::OpenError;
use crate::pipeline::apply::{ApplyRun, PlanToApply, apply};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::foreseen;
use crate::pipeline::metrics::standing;
use crate::plan::SealedPlan;
use crate::report;
use crate::report::apply::{ApplyReport, YES, declined, question};
use crate::report::event::{Applier, DoneFacts, RunReport};
use crate::state::ApplyId;

/// What is to be applied, and how the outcome is printed.
#[derive(Debug, Clone, Copy)]
pub struct ApplyTask<'a> {
    /// The plan.
    pub sealed: &'a SealedPlan,
    /// What messages call it.
    pub place: &'a str,
    /// The clock.
    pub now: Time,
    /// The effect that was reviewed.
    pub expect: Option<&'a str>,
    /// How far it goes.
    pub limits: &'a ApplyLimits,
    /// How the outcome is printed.
    pub format: FormatArg,
    /// Whether the run is unattended.
    pub auto: bool,
    /// The metrics of the run.
    pub notes: &'a RunNotes,
}

impl ApplyTask<'_> {
    /// Whether the plan has the effect that is expected, where one is; if not, it is refused without a question.
    pub fn may_be_expected(&self) -> bool {
        self.expect.is_none_or(|expect| expect == self.sealed.effect())
    }

    /// How far it goes.
    fn reach(&self) -> ApplyReach<'_> {
        let ApplyLimits { max_failures, allow, .. } = self.limits;
        ApplyReach { max_failures: *max_failures, allow, auto: self.auto }
    }
}

/// How far an apply goes.
#[derive(Debug, Clone, Copy)]
pub struct ApplyReach<'a> {
    /// After how many failed hosts nothing more is sent.
    pub max_failures: Option<u32>,
    /// The limits that are lifted.
    pub allow: &'a [Allowance],
    /// Whether the run is unattended.
    pub auto: bool,
}

/// Refuses a plan that was just made, where it is known already that `apply` will refuse it: then no question is asked.
///
/// An unattended run that exceeds a limit is counted at apply, so that the breaker trips. `verdict` is how the command
/// ends for the plan alone.
pub fn foresee(
    shared: &SharedArgs,
    task: &ApplyTask<'_>,
    (breakers, is_named): (&[Breaker], bool),
    verdict: Exit,
) -> Option<Result<Exit, CommandFailure>> {
    let refusal = foreseen((task.sealed, task.place), &task.limits.allow, breakers, is_named)?;
    task.notes.note(|metrics| metrics.refused(&refusal));
    let is_counted_again = task.auto && refusal.code == LIMIT_EXCEEDED;
    let exit = refused_exit(&refusal).and(verdict);
    let told = || refuse(shared, task.format, (Some(task.sealed), task.now), &refusal, exit);
    (!is_counted_again).then(told)
}

/// How a command ends whose plan is refused.
fn refused_exit(refusal: &Problem) -> Exit {
    if refusal.code == UNKNOWN_LIMIT { Exit::Error } else { Exit::Refused }
}

/// What to do where no operator can be asked.
const UNASKED: &str = "give `--yes` to apply without asking, or save the plan, review it, and apply the file";

/// Whether there is an operator to ask, who sees the plan.
pub fn can_ask(shared: &SharedArgs, format: FormatArg) -> bool {
    format == FormatArg::Text
        && output::shows_pages(shared)
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Asks whether the plan that was shown is to be applied to `targets`; `--yes` answers without a question.
///
/// Errors: there is no operator to ask.
pub fn consents(shared: &SharedArgs, task: &ApplyTask<'_>, targets: &[String]) -> Result<bool, CommandFailure> {
    let format = task.format;
    if task.limits.yes {
        return Ok(true);
    }
    if format != FormatArg::Text || !output::shows_pages(shared) {
        let option = if format == FormatArg::Text { "--log-format" } else { "--format" };
        let failure =
            CommandFailure::of_call(format!("with `{option} json` no operator is asked: nothing was changed"));
        return Err(failure.hint(UNASKED));
    }
    if !can_ask(shared, format) {
        let failure = CommandFailure::of_call("there is no terminal to ask on: nothing was changed");
        return Err(failure.hint(UNASKED));
    }
    let mut answer = String::new();
    let question = question(task.sealed.plan(), targets, &workspace(shared));
    let asked = write!(std::io::stderr(), "{question}").and_then(|()| std::io::stdin().read_line(&mut answer));
    asked.map_err(|error| CommandFailure::new(format!("cannot ask: {error}: nothing was changed")))?;
    let consents = answer.trim() == YES;
    if !consents {
        output::print(&declined(&answer))?;
    }
    Ok(consents)
}

/// The workspace as an operator knows it: what `-C` says, or the folder that the command runs in.
fn workspace(shared: &SharedArgs) -> String {
    let folder = (shared.workspace.as_os_str() == ".").then(|| std::env::current_dir().ok()).flatten();
    folder.as_deref().unwrap_or(&shared.workspace).display().to_string()
}

/// Applies a plan, and prints the outcome; `verdict` is how the command ends for the plan alone.
pub fn carry_out(shared: &SharedArgs, task: &ApplyTask<'_>, verdict: Exit) -> Result<Exit, CommandFailure> {
    let given = PlanToApply { sealed: task.sealed, place: task.place, expect: task.expect };
    let ConductedWork { done, is_interrupted, stages } =
        conduct(shared, task.now, task.reach(), |request, progress| apply(&given, request, progress))?;
    task.notes.stages(&stages);
    match done {
        Ok(ran) => {
            note(task.notes, &ran);
            tell(shared, (task.sealed, task.format, task.now), &ran, (is_interrupted, verdict))
        }
        Err(error) => not_begun(shared, task.format, (Some(task.sealed), task.now), error),
    }
}

/// Notes the outcome of an apply.
fn note(notes: &RunNotes, ran: &ApplyRun) {
    notes.note(|metrics| {
        ran.refusal.iter().for_each(|refusal| metrics.refused(refusal));
        metrics.applied(&ran.applied);
    });
}

/// Work that is done.
#[derive(Debug)]
pub struct ConductedWork<T> {
    /// The outcome.
    pub done: T,
    /// Whether a signal interrupted it.
    pub is_interrupted: bool,
    /// How long each stage took.
    pub stages: Vec<StageTime>,
}

/// Does work that writes, shows its progress, and ends early on a signal.
pub fn conduct<T>(
    shared: &SharedArgs,
    now: Time,
    reach: ApplyReach<'_>,
    work: impl FnOnce(&ApplyConduct<'_>, &ProgressLine) -> T,
) -> Result<ConductedWork<T>, CommandFailure> {
    let who = who();
    let interrupted = signals::watch()?;
    let request = ApplyConduct {
        workspace: &shared.workspace,
        now,
        read_at: shared.now.is_none().then_some(shared.process.began),
        who: &who,
        reason: shared.reason.as_deref(),
        max_failures: reach.max_failures.map(|most| most as usize),
        run: shared.process.run,
        interrupted: &interrupted,
        allow: reach.allow,
        auto: reach.auto,
    };
    let progress = ProgressLine::start(shared);
    let done = work(&request, &progress);
    Ok(ConductedWork { done, is_interrupted: interrupted.load(Ordering::SeqCst), stages: progress.finish() })
}

/// Prints why nothing was begun.
pub fn not_begun(
    shared: &SharedArgs,
    format: FormatArg,
    about: (Option<&SealedPlan>, Time),
    error: OpenError,
) -> Result<Exit, CommandFailure> {
    match error {
        OpenError::State(refusal) => refuse(shared, format, about, &refusal, Exit::Error),
        OpenError::Settings(_) => not_opened(shared, error),
    }
}

/// Prints that a plan is refused which was not read.
pub fn refuse_unread(
    shared: &SharedArgs,
    format: FormatArg,
    now: Time,
    refusal: &Problem,
) -> Result<Exit, CommandFailure> {
    refuse(shared, format, (None, now), refusal, Exit::Refused)
}

/// Prints that there was nothing to do, for an apply whose plan is no longer kept, or where there is no apply.
pub fn tell_nothing(
    shared: &SharedArgs,
    format: FormatArg,
    (apply, now): (Option<ApplyId>, Time),
    words: &str,
) -> Result<Exit, CommandFailure> {
    match format {
        FormatArg::Text if output::shows_pages(shared) => output::print(words)?,
        FormatArg::Text => {}
        FormatArg::Json => {
            let (applied, exit) = (ApplyOutcome::default(), Exit::Done.code());
            let report =
                ApplyReport { sealed: None, apply, started: now, refusal: None, applied: &applied, moved: &[], exit };
            print(shared, format, &report)?;
        }
    }
    let done = DoneFacts { sealed: None, apply, applied: &ApplyOutcome::default() };
    events::outcome(shared, &RunReport::applied(applier(shared), &done, events::end(shared, Exit::Done)));
    Ok(Exit::Done)
}

/// Prints that nothing was sent, and why.
fn refuse(
    shared: &SharedArgs,
    format: FormatArg,
    (sealed, started): (Option<&SealedPlan>, Time),
    refusal: &Problem,
    exit: Exit,
) -> Result<Exit, CommandFailure> {
    let applied = ApplyOutcome::default();
    let report = ApplyReport {
        sealed,
        apply: None,
        started,
        refusal: Some(refusal),
        applied: &applied,
        moved: &[],
        exit: exit.code(),
    };
    print(shared, format, &report)?;
    events::outcome(shared, &RunReport::plan_refused(sealed, refusal, exit.code()));
    Ok(exit)
}

/// Prints the outcome of an apply; `verdict` is how the command ends for the plan alone.
pub fn tell(
    shared: &SharedArgs,
    (sealed, format, started): (&SealedPlan, FormatArg, Time),
    ran: &ApplyRun,
    (is_interrupted, verdict): (bool, Exit),
) -> Result<Exit, CommandFailure> {
    let ApplyRun { apply, refusal, applied, moved, is_journaled, took } = ran;
    let exit = exit(ran, is_interrupted).and(verdict);
    tracing::debug!("sending took {:.3} s, reading back {:.3} s", took.0.as_secs_f64(), took.1.as_secs_f64());
    let report = ApplyReport {
        sealed: Some(sealed),
        apply: *apply,
        started,
        refusal: refusal.as_ref(),
        applied,
        moved,
        exit: exit.code(),
    };
    output::details(shared, &applied.problems);
    print(shared, format, &report)?;
    report_ran(shared, (sealed, started), ran, exit);
    if *is_journaled {
        return Ok(exit);
    }
    let failure = CommandFailure::new("the journal could not be completed: it lacks some changes that were made");
    Err(failure.hint("fix the state's disk, then run `zonewright resume`: it finds out what the journal lacks"))
}

/// Reports the outcome of a plan: that it was refused, with the breakers that tripped for it, or applied.
fn report_ran(shared: &SharedArgs, (sealed, started): (&SealedPlan, Time), ran: &ApplyRun, exit: Exit) {
    let Some(refusal) = &ran.refusal else {
        let done = DoneFacts { sealed: Some(sealed), apply: ran.apply, applied: &ran.applied };
        return events::outcome(shared, &RunReport::applied(applier(shared), &done, events::end(shared, exit)));
    };
    events::outcome(shared, &RunReport::plan_refused(Some(sealed), refusal, exit.code()));
    let breakers = standing(&shared.workspace).map(|standing| standing.breakers).unwrap_or_default();
    for breaker in breakers.iter().filter(|breaker| breaker.tripped == started) {
        events::report(shared, &RunReport::tripped(breaker));
    }
}

/// The command that applies.
fn applier(shared: &SharedArgs) -> Applier {
    match shared.process.command {
        "resume" => Applier::Resume,
        "undo" => Applier::Undo,
        _ => Applier::Apply,
    }
}

/// How a command ends that applied a plan.
fn exit(ran: &ApplyRun, is_interrupted: bool) -> Exit {
    let ApplyRun { refusal, applied, is_journaled, .. } = ran;
    let is_untouched = applied.zones.iter().all(|zone| zone.updates == 0);
    match (refusal, applied.ending()) {
        (Some(refusal), _) => refused_exit(refusal),
        _ if !is_journaled => Exit::Error,
        (_, ApplyEnding::InPart) if is_interrupted && is_untouched => Exit::Error,
        (_, ApplyEnding::Done) => Exit::Done,
        (_, ApplyEnding::Error) => Exit::Error,
        (_, ApplyEnding::AllLeft) => Exit::Refused,
        (_, ApplyEnding::InPart) => Exit::InPart,
    }
}

/// Prints the outcome.
fn print(shared: &SharedArgs, format: FormatArg, report: &ApplyReport<'_>) -> Result<(), CommandFailure> {
    if format == FormatArg::Text && !output::shows_pages(shared) {
        return Ok(());
    }
    let options = output::text_options(shared);
    output::print(&match format {
        FormatArg::Text => report::apply::text(report, &options),
        FormatArg::Json => report::apply::json(report),
    })
}
