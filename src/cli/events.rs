//! The events of a run: on standard error where messages are JSON, and kept for `[notify]` where one needs a person.

use std::io::Write as _;

use super::exit::Exit;
use super::log::timestamp;
use super::output::{CommandFailure, FailureKind};
use super::shared_args::SharedArgs;
use super::values::LogFormat;
use super::who::who;
use crate::approval::CmsCall;
use crate::diag::sanitize;
use crate::inventory::config::notify::AttentionReason;
use crate::pipeline::conduct::RunLog;
use crate::report::event::{EndFacts, RunFacts, RunReport};

/// Reports what happened: on standard error where messages are JSON, and to `[notify]` at the end of the run where it needs a
/// person.
pub fn report(shared: &SharedArgs, report: &RunReport) {
    let line = show(shared, report);
    if let Some(attention) = report.attention {
        shared.process.for_people.borrow_mut().push((attention, line));
    }
}

/// Reports the plan that a command goes on to apply, on standard error alone: the outcome says again what needs a person,
/// who is called once.
pub fn planned(shared: &SharedArgs, plan: &RunReport) {
    show(shared, plan);
}

/// Prints an event on standard error where messages are JSON; gives its line.
fn show(shared: &SharedArgs, report: &RunReport) -> String {
    EventLog::of(shared).show(report)
}

/// Prints the events of a run, from any thread.
#[derive(Debug)]
pub struct EventLog {
    /// How messages are printed.
    format: LogFormat,
    /// Whether errors alone are.
    is_quiet: bool,
    /// The number of the run.
    run: u64,
    /// The command.
    command: &'static str,
    /// The folder of the workspace.
    workspace: String,
    /// Who runs it.
    who: String,
}

impl EventLog {
    /// The log of a run.
    pub fn of(shared: &SharedArgs) -> EventLog {
        let workspace = std::path::absolute(&shared.workspace).unwrap_or_else(|_| shared.workspace.clone());
        EventLog {
            format: shared.log_format,
            is_quiet: shared.quiet,
            run: shared.process.run,
            command: shared.process.command,
            workspace: workspace.to_string_lossy().into_owned(),
            who: who(),
        }
    }

    /// Prints an event on standard error where messages are JSON; gives its line.
    fn show(&self, report: &RunReport) -> String {
        let run = RunFacts { run: self.run, command: self.command, workspace: &self.workspace, who: &self.who };
        let line = report.line(&timestamp(), &run);
        let is_shown = self.format == LogFormat::Json && (!self.is_quiet || report.level() == "ERROR");
        if is_shown {
            // If standard error is closed, there is no place to report that.
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
        line
    }
}

impl RunLog for EventLog {
    fn asked(&self, calls: &[CmsCall]) {
        if self.format == LogFormat::Json {
            calls.iter().for_each(|call| drop(self.show(&RunReport::cms_asked(call))));
        }
    }
}

/// Reports the outcome of the command; the end of the run is no event of its own then.
pub fn outcome(shared: &SharedArgs, done: &RunReport) {
    shared.process.has_outcome.set(true);
    report(shared, done);
}

/// Reports that a command ended in an error before it had an outcome.
pub fn failed(shared: &SharedArgs, failure: &CommandFailure) {
    let hint = failure.hint.as_deref().map(sanitize);
    let attention = match failure.kind {
        FailureKind::World => Some(AttentionReason::Outage),
        FailureKind::Call => None,
    };
    let end = end(shared, Exit::Error);
    report(shared, &RunReport::failed(&sanitize(&failure.message), hint.as_deref(), attention, end));
}

/// How a run ends that ends now.
pub fn end(shared: &SharedArgs, exit: Exit) -> EndFacts {
    // To the millisecond: anything below says more about the machine than about the run.
    let seconds = (shared.process.took().as_secs_f64() * 1000.0).round() / 1000.0;
    EndFacts { exit: exit.code(), seconds }
}
