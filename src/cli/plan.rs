//! `plan`: what would be changed, and why.

use super::args::{PlanArgs, Shared};
use super::exit::Exit;
use super::output::{self, Failure};
use super::request::{Sealed, make, not_made, request, tell_snapshot};
use super::show::View;
use crate::plan::store;
use crate::report::Purpose;

/// Makes a plan, prints it, and saves it where that is asked for.
pub fn run(shared: &Shared, args: &PlanArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let request = request(shared, now, args.live_snapshot.as_deref());
    let view = View::new(shared, args.format, if args.out.is_some() { Purpose::Saved } else { Purpose::Look })?;
    let Sealed { sealed, findings, is_partial, snapshot } = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_made(shared, error),
    };
    tell_snapshot(shared, &request, snapshot.as_ref());
    output::findings(shared, &findings);
    // A plan that cannot be saved is printed all the same: it took long to make.
    let saved = args.out.as_ref().map_or(Ok(()), |file| store::save(file, &sealed).map_err(Failure::new));
    view.print(&sealed)?;
    saved?;
    Ok(match (is_partial, args.detailed_exitcode && !sealed.plan().changes.is_empty()) {
        (true, _) => Exit::Error,
        (false, true) => Exit::Changes,
        (false, false) => Exit::Done,
    })
}
