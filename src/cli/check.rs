//! `check`: every file of the workspace, offline.

use super::args::CheckArgs;
use super::exit::Exit;
use super::names;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::request;
use super::shared_args::SharedArgs;
use super::values::CheckFormat;
use crate::pipeline;
use crate::pipeline::names::{NamesError, SettledLock, fix_lock, write};
use crate::report::{self, CheckReport};

/// Resolves conflicts in names.lock where `--fix-lock` asks for it, then prints all findings, and how many there are.
pub fn run(shared: &SharedArgs, args: &CheckArgs) -> Result<Exit, CommandFailure> {
    if args.fix_lock
        && let Err(error) = fix(shared)?
    {
        return names::refuse(shared, error);
    }
    let progress = ProgressLine::start(shared);
    let checked = pipeline::check(&shared.workspace, output::now(shared)?, &progress);
    progress.finish();
    let findings = &checked.findings;
    match args.format {
        CheckFormat::Github => output::findings_inert(shared, findings),
        CheckFormat::Text | CheckFormat::Junit => output::findings(shared, findings),
    }
    let errors =
        findings.in_files().map(|(_, found)| found.error_count()).sum::<usize>() + findings.bare_errors().count();
    let warnings = findings.in_files().map(|(_, found)| found.warning_count()).sum();
    let found = CheckReport {
        folder: &shared.workspace,
        read: &checked.read,
        found: findings.in_files().collect(),
        unread: findings.bare_errors().collect(),
    };
    match args.format {
        CheckFormat::Junit => output::print(&report::check_junit(&found))?,
        CheckFormat::Github => output::print(&report::annotations(&found, !shared.quiet))?,
        CheckFormat::Text => {}
    }
    if !shared.quiet && args.format != CheckFormat::Junit {
        output::print(&report::check_summary(findings.files_read, errors, warnings))?;
    }
    Ok(if errors > 0 { Exit::Error } else { Exit::Done })
}

/// Resolves conflicts in names.lock and sorts it, after printing what that changes.
fn fix(shared: &SharedArgs) -> Result<Result<(), NamesError>, CommandFailure> {
    let progress = ProgressLine::start(shared);
    let (fixed, found) = fix_lock(&request(shared, output::now(shared)?, None), &progress);
    progress.finish();
    let SettledLock { old, new, settlement } = match fixed {
        Ok(fixed) => fixed,
        Err(error) => {
            // The findings say why.
            output::findings(shared, &found);
            return Ok(Err(error));
        }
    };
    if !shared.quiet || old != new || !settlement.left.is_empty() {
        output::print(&report::settlement(&old, &new, &settlement, &output::text_options(shared)))?;
    }
    if old == new {
        return Ok(Ok(()));
    }
    if let Err(error) = write(&shared.workspace, &old, &new) {
        return Ok(Err(error));
    }
    output::print("names.lock is written\n")?;
    names::advise(shared);
    Ok(Ok(()))
}
