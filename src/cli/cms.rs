//! `cms`: tries cluster-management services, and deletes what a lost state left there.

use super::cms_args::{CmsArgs, CmsCheckArgs, CmsCleanArgs, CmsCommand};
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::shared_args::SharedArgs;
use crate::doctor::FindingLevel;
use crate::pipeline::cms::{ServiceError, clean_service, try_service};
use crate::report;

/// Does what is asked.
pub fn run(shared: &SharedArgs, args: &CmsArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        CmsCommand::Check(args) => check(shared, args),
        CmsCommand::Clean(args) => clean(shared, args),
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
        Err(error) => return failed(shared, &args.name, error),
    };
    output::print(&report::cms_check(&diagnosis, args.format.into(), &output::text_options(shared)))?;
    Ok(if diagnosis.count(FindingLevel::Problem) > 0 { Exit::Error } else { Exit::Done })
}

/// Deletes the tasks of a lost state, and prints which.
fn clean(shared: &SharedArgs, args: &CmsCleanArgs) -> Result<Exit, CommandFailure> {
    let needs = "`cms clean` needs `--reason TEXT`: it deletes what another run may have made";
    output::reason(shared, needs, "say why the state is lost, such as `--reason \"its disk is gone, ticket 7\"`")?;
    match clean_service(&shared.workspace, &args.name, &args.state) {
        Ok(cleaned) => {
            output::print(&report::cms_clean(&cleaned, &output::text_options(shared)))?;
            Ok(if cleaned.failed.is_empty() { Exit::Done } else { Exit::Error })
        }
        Err(error) => failed(shared, &args.name, error),
    }
}

/// How a command ends that could not ask a service.
fn failed(shared: &SharedArgs, name: &str, error: ServiceError) -> Result<Exit, CommandFailure> {
    match error {
        ServiceError::Settings(findings) => {
            output::findings(shared, &findings);
            Ok(Exit::Error)
        }
        ServiceError::NoSuchService(known, near) => {
            let failure = CommandFailure::of_call(format!("zonewright.toml has no `[cms.{name}]`"));
            let all = || {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                if names.is_empty() {
                    "a service has a table `[cms.NAME]` with `url` and `version`".to_owned()
                } else {
                    format!("it has {}", names.join(", "))
                }
            };
            Err(failure.hint(near.unwrap_or_else(all)))
        }
        ServiceError::OwnState => {
            let failure = CommandFailure::of_call("it is the state of this workspace: its tasks are not lost");
            Err(failure.hint("the next `zonewright apply` deletes what belongs to nothing"))
        }
        ServiceError::Unusable(problem) => Err(problem.into()),
    }
}
