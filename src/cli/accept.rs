//! `accept`: makes the export of a source the accepted one.

use super::args::AcceptArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::who::who;
use crate::diag::did_you_mean;
use crate::pipeline::accept::{AcceptError, AcceptRefusal, AcceptRequest, accept};
use crate::report;

/// Accepts an export, and prints what it lost and changed.
pub fn run(shared: &SharedArgs, args: &AcceptArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let reason = output::reason(
        shared,
        "`accept` needs `--reason TEXT`: the export lost or changed more than is usual",
        "say why it is right, such as `--reason \"racks 7 to 9 were taken down, ticket 7\"`",
    )?;
    let who = who();
    let request = AcceptRequest { workspace: &shared.workspace, now, source: &args.source, who: &who, reason };
    let progress = ProgressLine::start(shared);
    let done = accept(&request, &progress);
    progress.finish();
    match done {
        Ok(exchange) => {
            if !shared.quiet {
                output::print(&report::accepted(&exchange, &output::text_options(shared)))?;
            }
            Ok(Exit::Done)
        }
        Err(AcceptError::Open(error)) => not_opened(shared, error),
        Err(AcceptError::Refused(refusal)) => Err(failure(&args.source, refusal)),
    }
}

/// Why nothing was accepted, and what to do.
fn failure(source: &str, refusal: AcceptRefusal) -> CommandFailure {
    match refusal {
        AcceptRefusal::NoSuchSource(names) => {
            let near = did_you_mean(source, names.iter().map(String::as_str));
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let listed = || format!("the sources of this workspace are {}", names.join(", "));
            CommandFailure::new(format!("there is no source `{source}`")).hint(near.unwrap_or_else(listed))
        }
        AcceptRefusal::Doubted(doubt) => CommandFailure::new(format!("nothing was accepted: {doubt}"))
            .hint("export the source again, complete; `accept` can accept only rows that it lost or changed"),
        AcceptRefusal::Changing => {
            CommandFailure::new(format!("nothing was accepted: source `{source}` changed just now"))
                .hint("run it again once the export is complete")
        }
    }
}
