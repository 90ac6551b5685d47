//! Progress on a terminal; with `-vv`, how long each stage took.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use super::shared_args::SharedArgs;
use super::values::LogFormat;
use crate::progress::{Progress, RunStage};

/// The line that is shown now, for messages that come from anywhere while it is.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Standard error, for whole messages: the line of progress makes room for each of them.
pub struct BesideLine;

impl Write for BesideLine {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let print = || io::stderr().lock().write_all(message).map(|()| message.len());
        let shown = SHOWN.lock().expect("no thread panics while it holds the line").clone();
        match shown {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// A line on standard error that says what is going on, while that is a terminal.
#[derive(Debug)]
pub struct ProgressLine {
    /// Whether the line is shown.
    is_shown: bool,
    /// How messages are printed, and whether notes are not.
    notes: (LogFormat, bool),
    /// The stage that runs.
    running: Mutex<Option<RunningStage>>,
    /// The stages that are over, in their order.
    over: Mutex<Vec<StageTime>>,
}

/// How long a stage took.
#[derive(Debug)]
pub struct StageTime {
    /// What was done.
    pub what: RunStage,
    /// How long.
    pub took: Duration,
}

/// One stage while it runs.
#[derive(Debug)]
struct RunningStage {
    /// What is done.
    what: RunStage,
    /// Since when.
    since: Instant,
    /// The line; hidden where progress is not shown.
    bar: ProgressBar,
}

impl ProgressLine {
    /// Starts; shows nothing unless standard error is a terminal and messages are text.
    pub fn start(shared: &SharedArgs) -> ProgressLine {
        let is_shown = io::stderr().is_terminal() && !shared.quiet && shared.log_format == LogFormat::Text;
        let notes = (shared.log_format, shared.quiet);
        ProgressLine { is_shown, notes, running: Mutex::new(None), over: Mutex::new(Vec::new()) }
    }

    /// Ends the stage that runs, and takes the line away. Gives how long each stage took.
    pub fn finish(self) -> Vec<StageTime> {
        self.replace(None);
        self.over.into_inner().expect("no thread panics while it holds the stages")
    }

    /// The stage that runs; none between stages.
    pub fn stage_now(&self) -> Option<RunStage> {
        let running = self.running.lock().expect("no thread panics while it holds the stage");
        running.as_ref().map(|stage| stage.what)
    }

    /// Takes the line away while something else is printed.
    pub fn without_line(&self, print: impl FnOnce()) {
        let running = self.running.lock().expect("no thread panics while it holds the stage");
        match &*running {
            Some(stage) => stage.bar.suspend(print),
            None => print(),
        }
    }

    /// Ends the stage that runs, and puts another in its place.
    fn replace(&self, next: Option<RunningStage>) {
        let mut running = self.running.lock().expect("no thread panics while it holds the stage");
        let shown = next.as_ref().filter(|_| self.is_shown).map(|stage| stage.bar.clone());
        *SHOWN.lock().expect("no thread panics while it holds the line") = shown;
        if let Some(RunningStage { what, since, bar }) = std::mem::replace(&mut *running, next) {
            bar.finish_and_clear();
            let took = since.elapsed();
            tracing::debug!("{} took {:.3} s", what.text(), took.as_secs_f64());
            self.over.lock().expect("no thread panics while it holds the stages").push(StageTime { what, took });
        }
    }

    /// The line of a stage.
    fn bar(&self, what: RunStage, total: Option<u64>) -> ProgressBar {
        if !self.is_shown {
            return ProgressBar::hidden();
        }
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{spinner} {msg} {pos}/{len} ({elapsed})"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})"),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(template).expect("the templates above are right"));
        bar.set_message(what.text());
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

impl Progress for ProgressLine {
    fn tell(&self, text: &str) {
        let (format, quiet) = self.notes;
        self.without_line(|| output::note(format, quiet, text));
    }

    fn stage(&self, what: RunStage, total: Option<u64>) {
        let bar = self.bar(what, total);
        self.replace(Some(RunningStage { what, since: Instant::now(), bar }));
    }

    fn step(&self) {
        if let Some(stage) = &*self.running.lock().expect("no thread panics while it holds the stage") {
            stage.bar.inc(1);
        }
    }
}
