//! `allocate`, `release` and `adopt`: names given, freed and recorded, shown as a change of names.lock, and written.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use super::exit::Exit;
use super::name_args::{AdoptArgs, AllocateArgs, ReleaseArgs, WritingArgs};
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::{not_read, request, tell_snapshot};
use super::shared_args::SharedArgs;
use crate::names::NamesOutcome;
use crate::pipeline::merging::{ATTRIBUTES, UNION, is_merged_by_line};
use crate::pipeline::names::{LockRewrite, NamesError, NamesOrder, NamesTask, rewrite, write};
use crate::report::{self, NamesReport};

/// Gives names to hosts.
pub fn allocate(shared: &SharedArgs, args: &AllocateArgs) -> Result<Exit, CommandFailure> {
    let task = NamesTask::Allocate { rename: args.rename, to: args.to_project.clone() };
    run(shared, NamesOrder { task: &task, hosts: &args.subjects }, args.live_snapshot.as_deref(), &args.writing)
}

/// Releases the names of hosts.
pub fn release(shared: &SharedArgs, args: &ReleaseArgs) -> Result<Exit, CommandFailure> {
    let task = NamesTask::Release { to: args.to_project.clone() };
    run(shared, NamesOrder { task: &task, hosts: &args.subjects }, args.live_snapshot.as_deref(), &args.writing)
}

/// Records the names that hosts have.
pub fn adopt(shared: &SharedArgs, args: &AdoptArgs) -> Result<Exit, CommandFailure> {
    run(shared, NamesOrder { task: &NamesTask::Adopt, hosts: &args.subjects }, None, &args.writing)
}

/// Works out names.lock, shows what changes, and writes it where that is asked.
fn run(
    shared: &SharedArgs,
    order: NamesOrder<'_>,
    live_snapshot: Option<&Path>,
    writing: &WritingArgs,
) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let request = request(shared, now, live_snapshot);
    let progress = ProgressLine::start(shared);
    let (done, findings) = rewrite(&request, order, &progress);
    progress.finish();
    output::findings_in_short(shared, &findings);
    match done {
        Ok(rewrite) => {
            tell_snapshot(shared, &request, rewrite.snapshot.as_ref());
            show_and_write(shared, &rewrite, writing)
        }
        Err(error) => refuse(shared, error),
    }
}

/// Shows what changes, and writes it where that is asked: what could not be shown is not written.
fn show_and_write(shared: &SharedArgs, rewrite: &LockRewrite, writing: &WritingArgs) -> Result<Exit, CommandFailure> {
    let LockRewrite { old, new, outcome, .. } = rewrite;
    let report = NamesReport { old, new, outcome, is_to_be_written: writing.write };
    output::print(&report::names(&report, &output::text_options(shared)))?;
    let asks = !writing.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !writing.write || old == new || asks && !consents()? {
        return Ok(verdict(outcome));
    }
    if let Err(error) = write(&shared.workspace, old, new) {
        return refuse(shared, error);
    }
    output::print("names.lock is written\n")?;
    advise(shared);
    Ok(verdict(outcome))
}

/// Asks whether names.lock is to be written.
fn consents() -> Result<bool, CommandFailure> {
    let mut answer = String::new();
    let asked = write!(std::io::stderr(), "Write names.lock? Only `yes` does: ")
        .and_then(|()| std::io::stdin().read_line(&mut answer));
    asked.map_err(|error| CommandFailure::new(format!("cannot ask: {error}: nothing was written")))?;
    let consents = answer.trim() == "yes";
    if !consents {
        output::print("names.lock stays as it is\n")?;
    }
    Ok(consents)
}

/// The exit code of a command that did what it could.
fn verdict(outcome: &NamesOutcome) -> Exit {
    if outcome.refused.is_empty() { Exit::Done } else { Exit::Error }
}

/// Warns where git would not merge names.lock well, and says what helps.
pub fn advise(shared: &SharedArgs) {
    if !is_merged_by_line(&shared.workspace) {
        let place = shared.workspace.join(ATTRIBUTES).display().to_string();
        let message = format!("git will not merge branches that give names: add the line `{UNION}` here");
        output::warning(shared, &place, "lock-not-merged", &message);
    }
}

/// Prints why nothing was done.
pub fn refuse(shared: &SharedArgs, error: NamesError) -> Result<Exit, CommandFailure> {
    let failure = match error {
        NamesError::Input(error) => return not_read(shared, error),
        NamesError::NoHostNamed => CommandFailure::new("no host is given")
            .hint("name each host to change, by number or name: this command does not change a whole fleet"),
        NamesError::Doubted { reason, is_distrusted } => {
            let failure = CommandFailure::new(format!("names stay as they are: {reason}"));
            let failure = failure.hint(if is_distrusted {
                "the export may lack names of hosts: correct it; or, if it is right, run `zonewright accept`"
            } else {
                "the source may lack names of hosts: export it again, complete"
            });
            if is_distrusted {
                output::failure(shared, &failure);
                return Ok(Exit::Refused);
            }
            failure
        }
        NamesError::Unread(zones) => CommandFailure::new(format!("no names can be given: {}", zones.join("; "))).hint(
            "zonewright does not know which names are free there; give `--live-snapshot` a snapshot that has the zones",
        ),
        NamesError::NotUtf8 => CommandFailure::new("names.lock stays as it is: it is not UTF-8")
            .hint("restore it from version control, or correct the rows that `zonewright check` names"),
        NamesError::Unmerged => CommandFailure::new("names.lock has a conflict that git could not merge")
            .hint("`zonewright check --fix-lock` keeps the rows of both sides, and resolves their conflicts"),
        NamesError::Changed => {
            CommandFailure::new("another editor changed names.lock in the meantime; nothing was written")
                .hint("run it again")
        }
        NamesError::Unwritable(error) => {
            CommandFailure::new(format!("cannot write names.lock: {error}; it is as it was"))
        }
    };
    Err(failure)
}
