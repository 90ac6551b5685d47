//! The events of a run that need a person, to the receivers of `[notify]`, once the command is done.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::Ordering;
use std::thread;

use super::shared_args::SharedArgs;
use super::{output, signals};
use crate::inventory::config::notify;
use crate::notify::deliver;
use crate::starter::SETTINGS;

/// Sends the events of the run that need a person; a receiver that fails is a warning, and changes no exit code.
///
/// Nothing is sent where standard error is a terminal: the person is there. Nor for `plan`, which a pull request runs at every
/// push: its author reads it.
pub fn send(shared: &SharedArgs) {
    let events = shared.process.for_people.take();
    if events.is_empty() || shared.process.command == "plan" || io::stderr().is_terminal() {
        return;
    }
    let path = shared.workspace.join(SETTINGS);
    // Opening a pipe could wait for ever.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let text = if is_file { fs::read_to_string(&path).ok() } else { None };
    let Some(spec) = text.and_then(notify::read_alone) else { return };
    // A signal ends the attempts; without this watch the run would not hear of it, or end in the middle of one.
    let interrupted = signals::watch().unwrap_or_default();
    let pause = |wait| {
        thread::sleep(wait);
        !interrupted.load(Ordering::Relaxed)
    };
    for (_, line) in events.iter().filter(|(attention, _)| spec.on.contains(attention)) {
        if interrupted.load(Ordering::Relaxed) {
            output::warning(shared, "[notify]", "notify-failed", "a signal ended the run before all events were sent");
            return;
        }
        for failure in deliver(&spec, &shared.workspace, line, pause) {
            output::warning(shared, "[notify]", "notify-failed", &failure);
        }
    }
}
