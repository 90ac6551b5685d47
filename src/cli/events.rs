//! The events of a run: on standard error where messages are JSON, and kept for `[notify]` where one needs a person.

use std::io::Write as _;

use super::args::{LogFormat, Shared};
use super::exit::Exit;
use super::log::timestamp;
use super::who::who;
use crate::diag::sanitize;
use crate::report::event::{EndFacts, RunFacts, RunReport};

/// Reports what happened: on standard error where messages are JSON, and to `[notify]` at the end of the run where it needs a
/// person.
pub fn report(shared: &Shared, report: &RunReport) {
    let who = who();
    let workspace = std::path::absolute(&shared.workspace).unwrap_or_else(|_| shared.workspace.clone());
    let workspace = workspace.to_string_lossy();
    let run = RunFacts { run: shared.process.run, command: shared.process.command, workspace: &workspace, who: &who };
    let line = report.line(&timestamp(), &run);
    let is_shown = shared.log_format == LogFormat::Json && (!shared.quiet || report.level() == "ERROR");
    if let Some(attention) = report.attention {
        shared.process.for_people.borrow_mut().push((attention, line.clone()));
    }
    if is_shown {
        // If standard error is closed, there is no place to report that.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

/// Reports the outcome of the command; the end of the run is no event of its own then.
pub fn outcome(shared: &Shared, done: &RunReport) {
    shared.process.has_outcome.set(true);
    report(shared, done);
}

/// Reports that a command ended in an error before it had an outcome.
pub fn failed(shared: &Shared, message: &str, hint: Option<&str>) {
    let hint = hint.map(sanitize);
    report(shared, &RunReport::failed(&sanitize(message), hint.as_deref(), end(shared, Exit::Error)));
}

/// How a run ends that ends now.
pub fn end(shared: &Shared, exit: Exit) -> EndFacts {
    // To the millisecond: anything below says more about the machine than about the run.
    let seconds = (shared.process.took().as_secs_f64() * 1000.0).round() / 1000.0;
    EndFacts { exit: exit.code(), seconds }
}
