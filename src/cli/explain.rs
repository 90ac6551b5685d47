//! `explain`: the whole chain behind a host, a name or an address.

use super::args::{ExplainArgs, Shared};
use super::exit::Exit;
use super::output::{self, Failure};
use super::progress::Line;
use super::request::{cache, not_read, request, tell_snapshot};
use crate::pipeline::Request;
use crate::pipeline::explain::{Explained, explain};
use crate::report;

/// Prints the explanation of what was asked for.
pub fn run(shared: &Shared, args: &ExplainArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let request = Request { cache: cache(&args.cache), ..request(shared, now, args.live_snapshot.as_deref()) };
    let progress = Line::start(shared);
    let explained = explain(&request, &args.subject, &progress);
    progress.finish();
    let Explained { explanation, findings, is_partial, snapshot } = match explained {
        Ok(explained) => explained,
        Err(error) => return not_read(shared, error),
    };
    tell_snapshot(shared, &request, snapshot.as_ref());
    output::findings_in_short(shared, &findings);
    let explanation = explanation.map_err(|error| Failure::new(&error).hint(error.hint.clone()))?;
    let options = output::text_options(shared);
    output::print(&report::explanation(&explanation, args.format.into(), &options))?;
    Ok(if is_partial { Exit::Error } else { Exit::Done })
}
