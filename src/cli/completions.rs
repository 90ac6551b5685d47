//! `completions`: a completion script for a shell.

use super::args::CompletionsArgs;
use super::complete;
use super::exit::Exit;
use super::output::{self, CommandFailure};

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<Exit, CommandFailure> {
    let script = complete::script(args.shell);
    output::print(
        &script.ok_or_else(|| CommandFailure::new(format!("there is no completion script for {}", args.shell)))?,
    )?;
    Ok(Exit::Done)
}
