//! Progress on a terminal; nothing elsewhere.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::{LogFormat, Shared};
use crate::pipeline::Progress;

/// A line on standard error that says what is going on, while that is a terminal.
#[derive(Debug)]
pub struct Line {
    /// The bar of the stage that runs; none where nobody looks.
    bar: Option<Mutex<ProgressBar>>,
}

impl Line {
    /// Starts; shows nothing unless standard error is a terminal and messages are text.
    pub fn start(shared: &Shared) -> Line {
        let looks = std::io::stderr().is_terminal() && !shared.quiet && shared.log_format == LogFormat::Text;
        Line { bar: looks.then(|| Mutex::new(ProgressBar::hidden())) }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.lock().expect("no thread panics while it holds the bar").finish_and_clear();
        }
    }
}

impl Progress for Line {
    fn stage(&self, what: &str, total: Option<u64>) {
        tracing::debug!("{what}");
        let Some(bar) = &self.bar else { return };
        let mut bar = bar.lock().expect("no thread panics while it holds the bar");
        bar.finish_and_clear();
        let (new, template) = match total {
            Some(total) => (ProgressBar::new(total), "{spinner} {msg} {pos}/{len} ({elapsed})"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})"),
        };
        new.set_draw_target(ProgressDrawTarget::stderr());
        new.set_style(ProgressStyle::with_template(template).expect("the templates above are right"));
        new.set_message(what.to_owned());
        new.enable_steady_tick(Duration::from_millis(100));
        *bar = new;
    }

    fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.lock().expect("no thread panics while it holds the bar").inc(1);
        }
    }
}
