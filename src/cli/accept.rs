//! `accept`: makes the export of a source the accepted one.

use super::args::{AcceptArgs, Shared};
use super::exit::Exit;
use super::output::{self, Failure};
use super::progress::Line;
use super::request::not_opened;
use super::who::who;
use crate::diag::did_you_mean;
use crate::pipeline::accept::{AcceptError, Request, Unaccepted, accept};
use crate::report;

/// Accepts an export, and prints what it lost and changed.
pub fn run(shared: &Shared, args: &AcceptArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let reason = output::reason(
        shared,
        "`accept` needs `--reason TEXT`: the export lost or changed more than is usual",
        "say why it is right, such as `--reason \"racks 7 to 9 were taken down, ticket 7\"`",
    )?;
    let who = who();
    let request = Request { workspace: &shared.workspace, now, source: &args.source, who: &who, reason };
    let progress = Line::start(shared);
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
fn failure(source: &str, refusal: Unaccepted) -> Failure {
    match refusal {
        Unaccepted::NoSuchSource(names) => {
            let near = did_you_mean(source, names.iter().map(String::as_str));
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let listed = || format!("the sources of this workspace are {}", names.join(", "));
            Failure::new(format!("there is no source `{source}`")).hint(near.unwrap_or_else(listed))
        }
        Unaccepted::Doubted(doubt) => Failure::new(format!("nothing was accepted: {doubt}"))
            .hint("export the source again, complete; `accept` can accept only rows that it lost or changed"),
        Unaccepted::Changing => Failure::new(format!("nothing was accepted: source `{source}` changed just now"))
            .hint("run it again once the export is complete"),
    }
}
