//! `explain`: the whole chain behind a host, a name or an address.

use super::args::ExplainArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::{cache, not_read, request, tell_snapshot};
use super::shared_args::SharedArgs;
use crate::pipeline::PlanRequest;
use crate::pipeline::explain::{MadeExplanation, explain};
use crate::report;

/// Prints the explanation of what was asked for.
pub fn run(shared: &SharedArgs, args: &ExplainArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let request = PlanRequest { cache: cache(&args.cache), ..request(shared, now, args.live_snapshot.as_deref()) };
    let progress = ProgressLine::start(shared);
    let explained = explain(&request, &args.subject, &progress);
    progress.finish();
    let MadeExplanation { explanation, findings, is_partial, snapshot } = match explained {
        Ok(explained) => explained,
        Err(error) => return not_read(shared, error),
    };
    tell_snapshot(shared, &request, snapshot.as_ref());
    output::findings_in_short(shared, &findings);
    let explanation = explanation.map_err(|error| CommandFailure::new(&error).hint(error.hint.clone()))?;
    let options = output::text_options(shared);
    output::print(&report::explanation(&explanation, args.format.into(), &options))?;
    Ok(if is_partial { Exit::Error } else { Exit::Done })
}
