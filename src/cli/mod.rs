//! The command line: reads arguments, clock and terminal, runs a command, gives an exit code.

mod args;

mod exit;

mod log;

mod progress;

mod metrics;

mod output;

mod request;

mod accept;

mod names;

mod check;

mod plan;

mod drift;

mod apply;

mod check_dns;

mod carry_out;

mod resume;

mod undo;

mod signals;

mod explain;

mod show;

mod snapshot;

mod doctor;

mod status;

mod history;

mod state;

mod serve;

mod init;

mod schema;

mod completions;

mod help;

mod man;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::Exit;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A failure to print leaves nothing to be done about it.
            let _ = error.print();
            return if error.use_stderr() { Exit::Error } else { Exit::Done }.into();
        }
    };
    log::start(&cli.shared);
    let outcome = match &cli.command {
        Command::Check(args) => check::run(&cli.shared, args),
        Command::Plan(args) => plan::run(&cli.shared, args),
        Command::Drift(args) => drift::run(&cli.shared, args),
        Command::Apply(args) => apply::run(&cli.shared, args),
        Command::CheckDns(args) => check_dns::run(&cli.shared, args),
        Command::Resume(args) => resume::run(&cli.shared, args),
        Command::Undo(args) => undo::run(&cli.shared, args),
        Command::Explain(args) => explain::run(&cli.shared, args),
        Command::Show(args) => show::run(&cli.shared, args),
        Command::Snapshot(args) => snapshot::run(&cli.shared, args),
        Command::Doctor(args) => doctor::run(&cli.shared, args),
        Command::Status(args) => status::run(&cli.shared, args),
        Command::History(args) => history::run(&cli.shared, args),
        Command::Accept(args) => accept::run(&cli.shared, args),
        Command::Allocate(args) => names::allocate(&cli.shared, args),
        Command::Release(args) => names::release(&cli.shared, args),
        Command::Adopt(args) => names::adopt(&cli.shared, args),
        Command::State(args) => state::run(&cli.shared, args),
        Command::Serve(args) => serve::run(&cli.shared, args),
        Command::Init(args) => init::run(&cli.shared, args),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Help(args) => help::run(&cli.shared, args),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::failure(&cli.shared, &failure);
            Exit::Error.into()
        }
    }
}
