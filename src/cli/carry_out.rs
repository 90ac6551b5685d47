//! What `apply` and `fix` have in common: asking, applying, printing the outcome.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use super::args::ApplyLimits;
use super::events::{self, EventLog};
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::progress::{ProgressLine, StageTime};
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::signals;
use super::values::FormatArg;
use super::who::who;
use crate::apply::{ApplyEnding, ApplyOutcome};
use crate::diag::Problem;
use crate::guard::{Allowance, Breaker, LIMIT_EXCEEDED, UNKNOWN_LIMIT};
use crate::inventory::value::Time;
use crate::pipeline::OpenError;
use crate::pipeline::apply::{ApplyRun, PlanToApply};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::foreseen;
use crate::pipeline::later_waves::apply_in_waves;
use crate::pipeline::metrics::breakers;
use crate::plan::{PlanScope, SealedPlan};
use crate::progress::RunStage;
use crate::report;
use crate::report::apply::{ApplyReport, WaveNews, YES, declined, question};
use crate::report::event::{Applier, DoneFacts, RunReport};
use crate::state::served::ServedOutcome;
use crate::state::{ApplyId, GateOutcome, StateNotes};

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

impl<'a> ApplyTask<'a> {
    /// Whether the plan has the effect that is expected, where one is; if not, it is refused without a question.
    pub fn may_be_expected(&self) -> bool {
        self.expect.is_none_or(|expect| expect == self.sealed.effect())
    }

    /// How far it goes.
    fn reach(&self) -> ApplyReach<'_> {
        let ApplyLimits { max_failures, allow, no_wait, ignore_gate, ignore_cms, .. } = self.limits;
        ApplyReach {
            max_failures: *max_failures,
            allow,
            auto: self.auto,
            ignores_gates: *ignore_gate,
            ignores_approvals: *ignore_cms,
            waits: !no_wait,
            goes_on: RESUME,
        }
    }

    /// How its outcome is printed.
    fn output(&self, shared: &'a SharedArgs) -> ApplyOutput<'a> {
        ApplyOutput { shared, format: self.format, started: self.now, is_resumed: false, sealed: Some(self.sealed) }
    }
}

/// How the outcome of an apply is printed, whatever it is.
#[derive(Debug, Clone, Copy)]
pub struct ApplyOutput<'a> {
    /// What all commands are given.
    pub shared: &'a SharedArgs,
    /// The format.
    pub format: FormatArg,
    /// When the command began.
    pub started: Time,
    /// Whether it goes on with an apply of an earlier command.
    pub is_resumed: bool,
    /// The plan, where it was read.
    pub sealed: Option<&'a SealedPlan>,
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
    /// Whether waves go without asking their gates.
    pub ignores_gates: bool,
    /// Whether hosts that are named go without the approvals that they need.
    pub ignores_approvals: bool,
    /// Whether name servers are waited for.
    pub waits: bool,
    /// The command that goes on where this one is broken off.
    pub goes_on: &'a str,
}

/// Refuses a plan that was just made, where it is known already that `apply` will refuse it: then no question is asked.
///
/// An unattended run that exceeds a limit is counted at apply, so that the breaker trips. `verdict` is how the command
/// ends for the plan alone.
pub fn foresee(
    shared: &SharedArgs,
    task: &ApplyTask<'_>,
    breakers: &[Breaker],
    is_named: bool,
    verdict: Exit,
) -> Option<Result<Exit, CommandFailure>> {
    let refusal = foreseen(task.sealed, task.place, &task.limits.allow, breakers, is_named)?;
    task.notes.note(|metrics| metrics.refused(&refusal));
    let is_counted_again = task.auto && refusal.code == LIMIT_EXCEEDED;
    let exit = refused_exit(&refusal).and(verdict);
    (!is_counted_again).then(|| task.output(shared).refuse(&refusal, exit))
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
    refuse_unnamed(task)?;
    let given = PlanToApply { sealed: task.sealed, place: task.place, expect: task.expect };
    let ConductedWork { done, is_interrupted, stages } =
        conduct(shared, task.now, task.reach(), |request, progress| {
            apply_in_waves(&given, request, progress, task.limits.wait)
        })?;
    task.notes.stages(&stages);
    match done {
        Ok(ran) => {
            note(task.notes, &ran);
            task.output(shared).tell(&ran, is_interrupted, verdict)
        }
        Err(error) => task.output(shared).not_begun(error),
    }
}

/// Notes the outcome of an apply.
fn note(notes: &RunNotes, ran: &ApplyRun) {
    notes.note(|metrics| {
        ran.refusal.iter().for_each(|refusal| metrics.refused(refusal));
        metrics.applied(&ran.applied);
    });
}

/// Refuses a command that goes on without gates or approvals and does not say why.
///
/// Errors: there is no `--reason`.
pub fn refuse_unexplained(shared: &SharedArgs, gates: bool, approvals: bool) -> Result<(), CommandFailure> {
    let (option, hint) = match (gates, approvals) {
        (true, _) => {
            ("--ignore-gate", "say why the gate is wrong, such as `--reason \"the monitoring is down, ticket 7\"`")
        }
        (_, true) => (
            "--ignore-cms",
            "say why no service need be asked, such as `--reason \"the cluster is switched off, ticket 7\"`",
        ),
        _ => return Ok(()),
    };
    output::reason(shared, &format!("`{option}` needs `--reason TEXT`: the journal keeps both"), hint).map(drop)
}

/// Refuses to go on without approvals for hosts that no person named.
///
/// Errors: the plan names no host.
fn refuse_unnamed(task: &ApplyTask<'_>) -> Result<(), CommandFailure> {
    let names = |only: &PlanScope| only.subjects.iter().any(|subject| subject.host().is_some());
    if !task.limits.ignore_cms || task.sealed.plan().only.as_ref().is_some_and(names) {
        return Ok(());
    }
    let failure = CommandFailure::of_call("`--ignore-cms` is for hosts that are named, and the plan names none");
    Err(failure.hint("plan with `--host INV` for each host that is to go without an approval"))
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
    let log = EventLog::of(shared);
    let request = ApplyConduct {
        workspace: &shared.workspace,
        now,
        read_at: shared.now.is_none().then_some(shared.process.began),
        began: shared.process.began,
        who: &who,
        reason: shared.reason.as_deref(),
        max_failures: reach.max_failures.map(|most| most as usize),
        run: shared.process.run,
        interrupted: &interrupted,
        allow: reach.allow,
        auto: reach.auto,
        ignores_gates: reach.ignores_gates,
        ignores_approvals: reach.ignores_approvals,
        waits: reach.waits,
        log: &log,
        is_patient: shared.process.is_pass(),
    };
    let progress = ProgressLine::start(shared);
    let (format, quiet, is_over) = (shared.log_format, shared.quiet, &AtomicBool::new(false));
    let done = std::thread::scope(|scope| {
        let announcer = scope.spawn(|| {
            announce_interrupt(&interrupted, is_over, |is_over| {
                let text = match progress.stage_now() {
                    Some(RunStage::Waves) => NO_MORE_WAVES.to_owned(),
                    Some(RunStage::Gates | RunStage::Probes | RunStage::Approvals) => ASKING_ENDS.to_owned(),
                    // It came too late to end anything.
                    _ if is_over => return,
                    Some(RunStage::Publish) => WAIT_ENDS.to_owned(),
                    _ => ends_soon(reach.goes_on),
                };
                progress.without_line(|| output::note(format, quiet, &text))
            });
        });
        let _ends = WorkEnds { is_over, announcer: announcer.thread().clone() };
        work(&request, &progress)
    });
    Ok(ConductedWork { done, is_interrupted: interrupted.load(Ordering::SeqCst), stages: progress.finish() })
}

/// Ends the thread that announces signals once the work ends, also by a panic: the scope waits for that thread.
struct WorkEnds<'a> {
    /// Whether the work is over.
    is_over: &'a AtomicBool,
    /// The thread.
    announcer: Thread,
}

impl Drop for WorkEnds<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.announcer.unpark();
    }
}

/// How many problems of hosts are kept for the page of `run`.
const PROBLEMS: usize = 5;

/// How often is looked whether a signal came.
const LOOK_FOR_SIGNALS: Duration = Duration::from_millis(50);

/// What is said to a signal while name servers are waited for.
const WAIT_ENDS: &str = "interrupted: name servers are no longer waited for; `zonewright sync` asks them again";

/// What is said to a signal while a later wave is waited for. The outcome says how to go on.
const NO_MORE_WAVES: &str = "interrupted: no further wave is sent";

/// What is said to a signal while gates or probes are asked.
const ASKING_ENDS: &str = "interrupted: nothing is sent; nothing more is asked";

/// The command that goes on with an apply.
pub const RESUME: &str = "zonewright resume";

/// What is said to a signal while updates are sent; and the command that goes on.
fn ends_soon(goes_on: &str) -> String {
    format!(
        "interrupted: waiting for the updates that are under way; nothing else is sent. A second Ctrl-C or SIGTERM ends \
         at once; then run `{goes_on}`"
    )
}

/// Says once that a signal came, and what is waited for; also where the work was over at once, which `say` gets to know.
fn announce_interrupt(interrupted: &AtomicBool, is_over: &AtomicBool, say: impl FnOnce(bool)) {
    loop {
        let was_over = is_over.load(Ordering::SeqCst);
        if interrupted.load(Ordering::SeqCst) {
            return say(was_over);
        }
        if was_over {
            return;
        }
        std::thread::park_timeout(LOOK_FOR_SIGNALS);
    }
}

impl ApplyOutput<'_> {
    /// Prints why nothing was begun.
    pub fn not_begun(&self, error: OpenError) -> Result<Exit, CommandFailure> {
        match error {
            OpenError::State(refusal) => self.refuse(&refusal, Exit::Error),
            OpenError::Settings(_) => not_opened(self.shared, error),
        }
    }

    /// Prints that there was nothing to do, for an apply whose plan is no longer kept, or where there is no apply.
    pub fn tell_nothing(&self, apply: Option<ApplyId>, words: &str) -> Result<Exit, CommandFailure> {
        let ApplyOutput { shared, format, started, .. } = *self;
        match format {
            FormatArg::Text if output::shows_pages(shared) => output::print(words)?,
            FormatArg::Text => {}
            FormatArg::Json => {
                let (applied, exit) = (ApplyOutcome::default(), Exit::Done.code());
                let report = ApplyReport {
                    sealed: None,
                    apply,
                    started,
                    is_resumed: self.is_resumed,
                    refusal: None,
                    applied: &applied,
                    noted: StateNotes::default(),
                    moved: &[],
                    served: None,
                    waves: WaveNews::default(),
                    is_interrupted: false,
                    exit,
                };
                self.print(&report)?;
            }
        }
        let done = DoneFacts { sealed: None, apply, applied: &ApplyOutcome::default() };
        events::outcome(shared, &RunReport::applied(applier(shared), &done, events::end(shared, Exit::Done)));
        Ok(Exit::Done)
    }

    /// Prints that nothing was sent, and why.
    pub fn refuse(&self, refusal: &Problem, exit: Exit) -> Result<Exit, CommandFailure> {
        let applied = ApplyOutcome::default();
        let report = ApplyReport {
            sealed: self.sealed,
            apply: None,
            started: self.started,
            is_resumed: self.is_resumed,
            refusal: Some(refusal),
            applied: &applied,
            noted: StateNotes::default(),
            moved: &[],
            served: None,
            waves: WaveNews::default(),
            is_interrupted: false,
            exit: exit.code(),
        };
        self.shared.process.note_problem(refusal.to_string());
        self.print(&report)?;
        events::outcome(self.shared, &RunReport::plan_refused(self.sealed, refusal, exit.code()));
        Ok(exit)
    }

    /// Prints the outcome of an apply; `verdict` is how the command ends for the plan alone.
    pub fn tell(&self, ran: &ApplyRun, is_interrupted: bool, verdict: Exit) -> Result<Exit, CommandFailure> {
        let ApplyRun { apply, refusal, applied, noted, moved, is_journaled, took, served, .. } = ran;
        let exit = exit(ran, is_interrupted).and(verdict);
        tracing::debug!("sending took {:.3} s, reading back {:.3} s", took.0.as_secs_f64(), took.1.as_secs_f64());
        let report = ApplyReport {
            sealed: self.sealed,
            apply: *apply,
            started: self.started,
            is_resumed: self.is_resumed,
            refusal: refusal.as_ref(),
            applied,
            noted: *noted,
            moved,
            served: served.as_ref(),
            waves: WaveNews { waiting: &ran.waiting, groups: &ran.waves, gates: &ran.gates, until: ran.waves_until },
            is_interrupted,
            exit: exit.code(),
        };
        output::details(self.shared, &applied.problems);
        let left =
            applied.hosts.iter().filter_map(|host| Some(format!("{}: {}", host.subject, host.message.as_ref()?)));
        let of_hosts = left.take(if exit == Exit::Done { 0 } else { PROBLEMS });
        refusal.iter().map(ToString::to_string).chain(of_hosts).for_each(|said| self.shared.process.note_problem(said));
        // Of passes, one after another, those that did nothing are not worth a line each.
        let is_idle_pass = self.shared.process.is_pass() && exit == Exit::Done && apply.is_none();
        if !is_idle_pass {
            self.print(&report)?;
        }
        self.report_ran(ran, exit);
        if *is_journaled {
            return Ok(exit);
        }
        let failure = CommandFailure::new("the journal could not be completed: it lacks some changes that were made");
        Err(failure.hint("fix the state's disk, then run `zonewright resume`: it finds out what the journal lacks"))
    }

    /// Reports the outcome of a plan: that it was refused, with the breakers that tripped for it, or applied.
    fn report_ran(&self, ran: &ApplyRun, exit: Exit) {
        let ApplyOutput { shared, started, sealed, .. } = *self;
        let Some(refusal) = &ran.refusal else {
            for asked in ran.gates.iter().filter(|asked| asked.outcome == GateOutcome::Failed) {
                events::report(shared, &RunReport::gate_failed(asked));
            }
            if ran.apply.is_some() && !ran.waves.is_empty() {
                events::report(shared, &RunReport::wave_sent(ran.apply, &ran.applied, &ran.waiting));
            }
            let done = DoneFacts { sealed, apply: ran.apply, applied: &ran.applied };
            return events::outcome(shared, &RunReport::applied(applier(shared), &done, events::end(shared, exit)));
        };
        events::outcome(shared, &RunReport::plan_refused(sealed, refusal, exit.code()));
        for breaker in breakers(&shared.workspace).iter().filter(|breaker| breaker.tripped == started) {
            events::report(shared, &RunReport::tripped(breaker));
        }
    }

    /// Prints a report.
    fn print(&self, report: &ApplyReport<'_>) -> Result<(), CommandFailure> {
        if self.format == FormatArg::Text && !output::shows_pages(self.shared) {
            return Ok(());
        }
        let options = output::text_options(self.shared);
        output::print(&match self.format {
            FormatArg::Text => report::apply::text(report, &options),
            FormatArg::Json => report::apply::json(report),
        })
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
    let ApplyRun { refusal, applied, is_journaled, served, .. } = ran;
    let is_untouched = applied.zones.iter().all(|zone| zone.updates == 0);
    let of_servers = if served.as_ref().is_some_and(ServedOutcome::is_short) { Exit::InPart } else { Exit::Done };
    let exit = match (refusal, applied.ending()) {
        (Some(refusal), _) => refused_exit(refusal),
        _ if !is_journaled => Exit::Error,
        (_, ApplyEnding::InPart) if is_interrupted && is_untouched => Exit::Error,
        (_, ApplyEnding::Done) => Exit::Done,
        (_, ApplyEnding::Error) => Exit::Error,
        (_, ApplyEnding::AllLeft) => Exit::Refused,
        (_, ApplyEnding::InPart) => Exit::InPart,
        // What waits is not known: it was interrupted before that.
        (_, ApplyEnding::Waiting) if ran.is_interrupted => Exit::Error,
        (_, ApplyEnding::Waiting) => Exit::Waiting,
    };
    exit.and(of_servers)
}
