//! `cms`: tries cluster-management services.

use super::cms_args::{CmsArgs, CmsCheckArgs, CmsCommand};
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::shared_args::SharedArgs;
use crate::doctor::FindingLevel;
use crate::pipeline::cms::{TrialError, try_service};
use crate::report;

/// Does what is asked.
pub fn run(shared: &SharedArgs, args: &CmsArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        CmsCommand::Check(args) => check(shared, args),
    }
}

/// Tries a service, and prints what was found.
fn check(shared: &SharedArgs, args: &CmsCheckArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let progress = ProgressLine::start(shared);
    let tried = try_service(&shared.workspace, now, (&args.name, args.about.as_deref()), &progress);
    progress.finish();
    let diagnosis = match tried {
        Ok(diagnosis) => diagnosis,
        Err(TrialError::Settings(findings)) => {
            output::findings(shared, &findings);
            return Ok(Exit::Error);
        }
        Err(TrialError::NoSuchService(known, near)) => {
            let failure = CommandFailure::of_call(format!("zonewright.toml has no `[cms.{}]`", args.name));
            let all = || {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                if names.is_empty() {
                    "a service has a table `[cms.NAME]` with `url` and `version`".to_owned()
                } else {
                    format!("it has {}", names.join(", "))
                }
            };
            return Err(failure.hint(near.unwrap_or_else(all)));
        }
        Err(TrialError::Unusable(problem)) => return Err(problem.into()),
    };
    output::print(&report::cms_check(&diagnosis, args.format.into(), &output::text_options(shared)))?;
    Ok(if diagnosis.count(FindingLevel::Problem) > 0 { Exit::Error } else { Exit::Done })
}
