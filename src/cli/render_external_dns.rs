//! `render external-dns`: the manifests of what external-dns carries out, in a folder.

use std::io::ErrorKind;
use std::path::Path;

use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::render_args::ExternalDnsArgs;
use super::request::not_opened;
use super::shared_args::SharedArgs;
use crate::external_dns::folder::{FolderPlan, HeldFile};
use crate::external_dns::wishes::HeldWish;
use crate::pipeline::render_external_dns::{
    ExternalDnsError, ExternalDnsRendered, ExternalDnsRequest, RenderedFolder, render,
};
use crate::report;

/// The code of what stays as it is, or cannot be said.
const LEFT_OUT: &str = "not-rendered";

/// The code of a file or folder that cannot be read or written.
const NOT_SAVED: &str = "render-not-saved";

/// Brings the folder up to date, or says whether it is.
pub fn run(shared: &SharedArgs, args: &ExternalDnsArgs) -> Result<Exit, CommandFailure> {
    if shared.limits_plans() || !shared.zones.is_empty() {
        let message = "`render external-dns` does not take `--host`, `--subject`, `--project` or `--zone`";
        return Err(CommandFailure::of_call(message).hint("it writes all records with `by = \"external-dns\"`"));
    }
    let request = ExternalDnsRequest {
        workspace: &shared.workspace,
        now: output::now(shared)?,
        out: &args.out,
        image: &args.image,
        is_check: args.check,
    };
    let progress = ProgressLine::start(shared);
    let ExternalDnsRendered { folder, findings } = render(&request, &progress);
    progress.finish();
    output::findings_in_short(shared, &findings);
    let RenderedFolder { plan, wishes } = match folder {
        Ok(folder) => folder,
        Err(error) => return refuse(shared, &args.out, error),
    };
    for HeldWish { origin, message } in &wishes.held {
        output::warning(shared, &findings.files.place(*origin).to_string(), LEFT_OUT, message);
    }
    for remark in &wishes.remarks {
        output::warning(shared, &findings.files.place(remark.origin).to_string(), LEFT_OUT, &remark.message);
    }
    for HeldFile { file, why } in &plan.held {
        let message = format!("the file stays as it is: {why}");
        output::warning(shared, &args.out.join(file).display().to_string(), LEFT_OUT, &message);
    }
    for HeldFile { file, why } in &plan.faults {
        let place = args.out.join(file).display().to_string();
        let failure = CommandFailure::new(format!("{place}: error[{NOT_SAVED}]: {why}"));
        output::failure(shared, &failure.hint("correct it and run this again: it goes on from what is there"));
    }
    tell(shared, args, &plan)?;
    let is_held = !wishes.held.is_empty() || !plan.held.is_empty() || plan.kept > 0;
    let held = if is_held { Exit::InPart } else { Exit::Done };
    let failed = if plan.faults.is_empty() { Exit::Done } else { Exit::Error };
    let differs = if args.check && !plan.steps.is_empty() { Exit::Changes } else { Exit::Done };
    Ok(failed.and(held).and(differs))
}

/// Says what was done, or is to be done.
fn tell(shared: &SharedArgs, args: &ExternalDnsArgs, plan: &FolderPlan) -> Result<(), CommandFailure> {
    if shared.quiet || !output::shows_pages(shared) {
        return Ok(());
    }
    output::print(&report::external_dns_summary(&args.out.display().to_string(), plan, args.check))
}

/// Says why nothing was written.
fn refuse(shared: &SharedArgs, out: &Path, error: ExternalDnsError) -> Result<Exit, CommandFailure> {
    let failure = match error {
        ExternalDnsError::Open(error) => return not_opened(shared, error),
        ExternalDnsError::Doubted { reason, is_distrusted } => {
            CommandFailure::new(format!("nothing was written: {reason}")).hint(if is_distrusted {
                "apps or lists may be missing: correct it; or, if it is right, run `zonewright accept SOURCE`"
            } else {
                "apps, lists or records may be missing: correct it; until then the folder stays as it is"
            })
        }
        ExternalDnsError::Folder { verb, error } => {
            let hint = match error.kind() {
                ErrorKind::NotADirectory => "name a folder",
                _ => "correct it and run this again: it goes on from what is there",
            };
            let place = out.display();
            CommandFailure::new(format!("{place}: error[{NOT_SAVED}]: the folder could not be {verb}: {error}"))
                .hint(hint)
        }
    };
    Err(failure)
}
