//! `completions`: a completion script for a shell.

use clap::CommandFactory as _;

use super::args::{Cli, CompletionsArgs};
use super::exit::Exit;
use super::output::{self, Failure};

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "zonewright", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
