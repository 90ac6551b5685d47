//! `doctor`: whether the targets work, and what to do where they do not.

use super::args::DoctorArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::shared_args::SharedArgs;
use super::show;
use crate::doctor::FindingLevel;
use crate::pipeline::doctor::{self, DoctorError};
use crate::report;

/// Looks at all targets, and prints what was found.
pub fn run(shared: &SharedArgs, args: &DoctorArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let zones = show::zones(shared)?;
    let progress = ProgressLine::start(shared);
    let diagnosis = doctor::examine(&shared.workspace, now, &zones, &progress);
    progress.finish();
    let diagnosis = match diagnosis {
        Ok(diagnosis) => diagnosis,
        Err(DoctorError::Settings(findings)) => {
            output::findings(shared, &findings);
            return Ok(Exit::Error);
        }
        Err(DoctorError::NoSuchZone { zone, near }) => {
            return Err(CommandFailure::of_call(format!("--zone: no zone `{zone}` is configured")).maybe_hint(near));
        }
    };
    output::print(&report::doctor(&diagnosis, args.format.into(), &output::text_options(shared)))?;
    Ok(if diagnosis.count(FindingLevel::Problem) > 0 { Exit::Error } else { Exit::Done })
}
