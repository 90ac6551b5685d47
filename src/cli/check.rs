//! `check`: every file of the workspace, offline.

use super::args::Shared;
use super::exit::Exit;
use super::output::{self, Failure};
use super::progress::Line;
use crate::pipeline;
use crate::report;

/// Prints all findings, then how many there are.
pub fn run(shared: &Shared) -> Result<Exit, Failure> {
    let progress = Line::start(shared);
    let findings = pipeline::check(&shared.workspace, output::now(shared)?, &progress);
    progress.finish();
    output::findings(shared, &findings);
    let errors = findings.in_files().map(|(_, found)| found.error_count()).sum::<usize>() + findings.bare_errors();
    let warnings = findings.in_files().map(|(_, found)| found.warning_count()).sum();
    if !shared.quiet {
        output::print(&report::check_summary(findings.files_read, errors, warnings))?;
    }
    Ok(if errors > 0 { Exit::Error } else { Exit::Done })
}
