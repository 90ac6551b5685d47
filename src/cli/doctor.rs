//! `doctor`: whether the targets work, and what to do where they do not.

use super::args::{DoctorArgs, Shared};
use super::exit::Exit;
use super::output::{self, Failure};
use super::progress::Line;
use super::show;
use crate::doctor::Level;
use crate::pipeline::doctor::{self, DoctorError};
use crate::report;

/// Looks at all targets, and prints what was found.
pub fn run(shared: &Shared, args: &DoctorArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let zones = show::zones(shared)?;
    let progress = Line::start(shared);
    let diagnosis = doctor::examine(&shared.workspace, now, &zones, &progress);
    progress.finish();
    let diagnosis = match diagnosis {
        Ok(diagnosis) => diagnosis,
        Err(DoctorError::Settings(findings)) => {
            output::findings(shared, &findings);
            return Ok(Exit::Error);
        }
        Err(DoctorError::NoSuchZone { zone, near }) => {
            return Err(Failure::of_call(format!("--zone: no zone `{zone}` is configured")).maybe_hint(near));
        }
    };
    output::print(&report::doctor(&diagnosis, args.format.into(), (output::width(), output::color(shared))))?;
    Ok(if diagnosis.count(Level::Problem) > 0 { Exit::Error } else { Exit::Done })
}
