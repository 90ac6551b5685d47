//! `--metrics FILE`: what a run found and did, for the textfile collector of node_exporter; also where the run fails.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::StageTime;
use super::shared_args::SharedArgs;
use super::signals;
use crate::disk;
use crate::inventory::value::Time;
use crate::pipeline::metrics::{StateMetrics, standing};
use crate::report::metrics::{Metrics, RunEnd};

/// What is noted of a run; nothing where no metrics are asked for.
#[derive(Debug)]
pub struct RunNotes(Option<RefCell<Metrics>>);

impl RunNotes {
    /// Notes nothing.
    pub fn none() -> RunNotes {
        RunNotes(None)
    }

    /// Notes nothing yet, of a run of a command.
    pub fn of(command: &'static str) -> RunNotes {
        RunNotes(Some(RefCell::new(Metrics::new(command))))
    }

    /// Notes when the run began, how it ended now, and what the state says then; gives all notes, where there are any.
    pub fn ended(
        self,
        (began, started): (Option<Time>, Instant),
        exit: Exit,
        state: Option<&StateMetrics>,
    ) -> Option<Metrics> {
        let mut metrics = self.0?.into_inner();
        if let Some(StateMetrics { breakers, last, unfinished, pools, rollouts, approvals }) = state {
            rollouts.iter().for_each(|tally| metrics.rollouts(tally));
            metrics.approvals(approvals);
            metrics.state(breakers, last.as_ref(), *unfinished);
            pools.iter().for_each(|pool| metrics.pool(pool));
        }
        let is_success = matches!(exit, Exit::Done | Exit::Changes);
        metrics.ended(RunEnd { began, took: started.elapsed(), exit: exit.code(), is_success });
        Some(metrics)
    }

    /// Notes something.
    pub fn note(&self, note: impl FnOnce(&mut Metrics)) {
        if let Some(metrics) = &self.0 {
            note(&mut metrics.borrow_mut());
        }
    }

    /// Notes how long stages took.
    pub fn stages(&self, stages: &[StageTime]) {
        self.note(|metrics| stages.iter().for_each(|stage| metrics.stage(stage.what.label(), stage.took)));
    }
}

/// The ending of the files that the collector reads.
const ENDING: &str = "prom";

/// Runs a command, and writes its metrics to a file where one is named, however the command ends.
///
/// A file that cannot be written is reported, and turns exit code 0 into 1; any other code says more.
pub fn run(
    shared: &SharedArgs,
    command: &'static str,
    file: Option<&Path>,
    work: impl FnOnce(&RunNotes) -> Result<Exit, CommandFailure>,
) -> Result<Exit, CommandFailure> {
    let Some(file) = file else { return work(&RunNotes::none()) };
    if file.extension().is_none_or(|ending| ending != ENDING) {
        let message = "the textfile collector reads only files whose names end in `.prom`";
        output::warning(shared, &file.display().to_string(), "metrics-file-name", message);
    }
    let (began, started) = (output::now(shared).ok(), Instant::now());
    let notes = RunNotes::of(command);
    let outcome = work(&notes);
    let exit = outcome.as_ref().map_or(Exit::Error, |exit| *exit);
    let state = standing(&shared.workspace, output::now(shared).ok());
    let text = notes.ended((began, started), exit, state.as_ref()).map(|metrics| metrics.render()).unwrap_or_default();
    match signals::outlive_full_files().and_then(|()| disk::publish(file, text.as_bytes())) {
        Ok(()) => outcome,
        Err(error) => {
            let failure = CommandFailure::new(format!("{}: error[metrics-unwritable]: {error}", file.display()));
            output::failure(shared, &failure.hint("the command did all else; see its own message and exit code"));
            outcome.map(|exit| if exit == Exit::Done { Exit::Error } else { exit })
        }
    }
}
