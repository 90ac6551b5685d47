//! The command line: reads arguments, clock and terminal, runs a command, gives an exit code.

mod values;

mod shared_args;

mod init_args;

mod journal_args;

mod serve_args;

mod args;

mod candidates;

mod examples;

mod complete;

mod usage;

mod peers;

mod exit;

mod process_run;

mod events;

mod ending;

mod notify;

mod who;

mod log;

mod progress;

mod metrics;

mod output;

mod request;

mod accept;

mod name_args;

mod names;

mod render_args;

mod render;

mod render_external_dns;

mod check;

mod plan;

mod drift;

mod apply;

mod fix;

mod run_desk;

mod run_pass;

mod run;

mod carry_out;

mod resume;

mod sync;

mod undo;

mod signals;

mod explain;

mod show;

mod snapshot;

mod doctor;

mod status;

mod history;

mod state;

mod cms_args;

mod cms;

mod serve_cms;

mod serve;

mod init;

mod schema;

mod completions;

mod help;

mod man;

#[cfg(test)]
mod reference;

use std::process::ExitCode;

use args::Command;
use exit::Exit;
use output::CommandFailure;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    if complete::answer() {
        return Exit::Done.into();
    }
    let mut cli = match examples::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::refuse(&error).into(),
    };
    cli.shared.process.command = cli.command.name();
    log::start(&cli.shared);
    if let Err(failure) = prepare() {
        return ending::ended(&cli.shared, cli.command.has_events(), Err(failure)).into();
    }
    let outcome = match &cli.command {
        Command::Check(args) => check::run(&cli.shared, args),
        Command::Plan(args) => plan::run(&cli.shared, args),
        Command::Drift(args) => drift::run(&cli.shared, args),
        Command::Apply(args) => apply::run(&cli.shared, args),
        Command::Fix(args) => fix::run(&cli.shared, args),
        Command::Run(args) => run::run(&cli.shared, args),
        Command::Resume(args) => resume::run(&cli.shared, args),
        Command::Sync(args) => sync::run(&cli.shared, args),
        Command::Undo(args) => undo::run(&cli.shared, args),
        Command::Explain(args) => explain::run(&cli.shared, args),
        Command::Show(args) => show::run(&cli.shared, args),
        Command::Snapshot(args) => snapshot::run(&cli.shared, args),
        Command::Doctor(args) => doctor::run(&cli.shared, args),
        Command::Cms(args) => cms::run(&cli.shared, args),
        Command::Status(args) => status::run(&cli.shared, args),
        Command::History(args) => history::run(&cli.shared, args),
        Command::Accept(args) => accept::run(&cli.shared, args),
        Command::Allocate(args) => names::allocate(&cli.shared, args),
        Command::Release(args) => names::release(&cli.shared, args),
        Command::Adopt(args) => match &args.from_owner {
            Some(from) => plan::adopt(&cli.shared, args, from),
            None => names::adopt(&cli.shared, args),
        },
        Command::Render(args) => render::run(&cli.shared, args),
        Command::State(args) => state::run(&cli.shared, args),
        Command::Serve(args) => serve::run(&cli.shared, args),
        Command::Init(args) => init::run(&cli.shared, args),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Help(args) => help::run(&cli.shared, args),
    };
    let exit = ending::ended(&cli.shared, cli.command.has_events(), outcome);
    notify::send(&cli.shared);
    exit.into()
}

/// Has the system give what every command needs: threads, and an end in good order where there is no memory.
///
/// Errors: there are not as many threads as processors. Without this the first work that is done in parallel would
/// panic.
fn prepare() -> Result<(), CommandFailure> {
    // Where it cannot be done, an abort has the exit code of an abort.
    let _ = signals::exit_on_abort();
    rayon::ThreadPoolBuilder::new().build_global().map_err(|error| {
        let message = format!("the system gives no threads: {}", error.to_string().to_lowercase());
        CommandFailure::new(message)
            .hint("allow more memory (`ulimit -v`) and more processes (`ulimit -u`), or set RAYON_NUM_THREADS=1")
    })
}
