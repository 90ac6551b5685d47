//! How a command ends that failed: it says why, once.

use super::events;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::shared_args::SharedArgs;

/// Prints why a command failed, and reports it where the command has events and none said so yet.
pub fn ended(shared: &SharedArgs, has_events: bool, outcome: Result<Exit, CommandFailure>) -> Exit {
    let has_no_outcome = has_events && !shared.process.has_outcome.get();
    match outcome {
        Ok(Exit::Error) if has_no_outcome => {
            events::failed(shared, &CommandFailure::new("the messages before say why"));
            Exit::Error
        }
        Ok(exit) => exit,
        Err(failure) => {
            // As an event it is one line, not two.
            if output::shows_pages(shared) || !has_no_outcome {
                output::failure(shared, &failure);
            }
            if has_no_outcome {
                events::failed(shared, &failure);
            }
            Exit::Error
        }
    }
}
