//! `drift`: live DNS compared with what is desired, and what the journal says about the difference.

use super::args::DriftArgs;
use super::events;
use super::exit::Exit;
use super::metrics::{self, RunNotes};
use super::output::{self, CommandFailure};
use super::request::{DigestedPlan, make, not_opened, not_planned, request, tell_breakers, tell_snapshot};
use super::shared_args::SharedArgs;
use super::show::known_zones;
use super::values::FormatArg;
use crate::pipeline::drift::find_drift;
use crate::report::{self, event::RunReport};

/// Prints what is not as desired; changes nothing.
pub fn run(shared: &SharedArgs, args: &DriftArgs) -> Result<Exit, CommandFailure> {
    metrics::run(shared, "drift", args.metrics.as_deref(), |notes| drift(shared, args, notes))
}

/// Does so, and notes what is found.
fn drift(shared: &SharedArgs, args: &DriftArgs, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let request = request(shared, now, args.live_snapshot.as_deref());
    let made = match make(shared, &request) {
        Ok(made) => made,
        Err(error) => return not_planned(shared, error),
    };
    let DigestedPlan { sealed, findings, snapshot, breakers, .. } = &made;
    let plan = sealed.plan();
    made.note(notes, made.refusal(shared).as_ref());
    let drifted = match find_drift(&shared.workspace, plan, now) {
        Ok(drifted) => drifted,
        Err(error) => return not_opened(shared, error),
    };
    notes.note(|metrics| metrics.drift(&drifted.of(plan)));
    tell_snapshot(shared, &request, snapshot.as_ref());
    tell_breakers(shared, breakers);
    output::findings_in_short(shared, findings);
    let zones = known_zones(shared, plan)?;
    if args.format == FormatArg::Json || output::shows_pages(shared) {
        output::print(&report::drift(&drifted.of(plan), &zones, args.format.into(), &output::text_options(shared)))?;
    }
    let changes = if plan.changes.is_empty() { Exit::Done } else { Exit::Changes };
    let exit = made.verdict().and(changes);
    let strayed = drifted.of(plan).strays.iter().filter(|stray| stray.cause.mover.is_drift()).count();
    events::outcome(shared, &RunReport::drift_checked(plan, strayed, events::end(shared, exit)));
    Ok(exit)
}
