//! `state`: manages the state.

use super::exit::Exit;
use super::journal_args::{StateArgs, StateCommand};
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::who::who;
use crate::pipeline::state::{self, AdoptionRequest};
use crate::report;

/// Does what is asked.
pub fn run(shared: &SharedArgs, args: &StateArgs) -> Result<Exit, CommandFailure> {
    match args.command {
        StateCommand::Init => init(shared),
    }
}

/// Takes over the markers that are in the zones.
fn init(shared: &SharedArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let reason = output::reason(
        shared,
        "`state init` needs `--reason TEXT`: it takes over markers of applies that this state does not know",
        "say why that is right, such as `--reason \"runner replaced, applies 40 to 42 looked at\"`",
    )?;
    let who = who();
    let adoption = AdoptionRequest { workspace: &shared.workspace, now, who: &who, reason };
    let progress = ProgressLine::start(shared);
    let adopted = state::init(&adoption, &progress);
    progress.finish();
    match adopted {
        Ok(adopted) => {
            output::findings(shared, &adopted.findings);
            if !shared.quiet {
                output::print(&report::adopted(
                    &adopted.place,
                    &adopted.markers,
                    &adopted.unread,
                    &output::text_options(shared),
                ))?;
            }
            Ok(if adopted.unread.is_empty() { Exit::Done } else { Exit::Error })
        }
        Err(error) => not_opened(shared, error),
    }
}
