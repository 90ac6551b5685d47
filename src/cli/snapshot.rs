//! `snapshot`: live DNS as it is read, in a folder.

use super::args::SnapshotArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::shared_args::SharedArgs;
use crate::pipeline::snapshot::{self, SnapshotError};
use crate::report;

/// Saves all configured zones that can be read, and says why the others cannot.
pub fn run(shared: &SharedArgs, args: &SnapshotArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let progress = ProgressLine::start(shared);
    let saved = snapshot::save(&shared.workspace, now, &args.out, &progress);
    progress.finish();
    let saved = match saved {
        Ok(saved) => saved,
        Err(SnapshotError::Settings(findings)) => {
            output::findings(shared, &findings);
            return Ok(Exit::Error);
        }
        Err(SnapshotError::Unread(findings)) => {
            output::findings(shared, &findings);
            let failure = CommandFailure::new("no zone could be read: nothing is saved");
            return Err(failure.hint("an earlier snapshot of that name, if there is one, stays as it is"));
        }
        Err(SnapshotError::Save(error)) => return Err(error.into()),
    };
    output::findings_in_short(shared, &saved.findings);
    if !shared.quiet {
        output::print(&report::snapshot_summary(saved.counts))?;
    }
    Ok(if saved.counts.unread > 0 { Exit::Error } else { Exit::Done })
}
