//! `render`: what other programs read, as text on standard output or in files.

use std::io::ErrorKind;
use std::path::Path;

use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::render_args::{EndpointsArgs, RenderArgs, RenderCommand};
use super::render_external_dns;
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::values::EndpointsFormatArg;
use crate::desired::endpoints::SetEndpoints;
use crate::diag::Origin;
use crate::disk;
use crate::pipeline::Findings;
use crate::pipeline::render::{self, EndpointsFound, EndpointsRequest, RenderError};
use crate::report::{self, EndpointsFormat};

/// The code of what is left out of a file.
const LEFT_OUT: &str = "not-rendered";

/// How many warnings of what is left out are printed without `-v`.
const WARNINGS: usize = 20;

/// Writes what is asked for.
pub fn run(shared: &SharedArgs, args: &RenderArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        RenderCommand::Endpoints(args) => endpoints(shared, args),
        RenderCommand::ExternalDns(args) => render_external_dns::run(shared, args),
    }
}

/// Writes the endpoints of sets of pods.
fn endpoints(shared: &SharedArgs, args: &EndpointsArgs) -> Result<Exit, CommandFailure> {
    refuse_limits(shared)?;
    let request = EndpointsRequest { workspace: &shared.workspace, now: output::now(shared)?, sets: &args.sets };
    let progress = ProgressLine::start(shared);
    let EndpointsFound { sets, findings } = render::endpoints(&request, &progress);
    progress.finish();
    output::findings_in_short(shared, &findings);
    let sets = match sets {
        Ok(sets) => sets,
        Err(error) => return refuse(shared, error),
    };
    let written = report::endpoints(&sets, format(args.format));
    let of_pods = sets.iter().flat_map(|set| set.left_out.iter().map(move |pod| (set, pod)));
    let of_pods = of_pods.map(|(set, pod)| Warning {
        origin: pod.origin,
        message: format!("pod `{}/{}` is left out: {}", set.id, pod.id, pod.why),
    });
    let of_format = written.left_out.iter().map(|part| Warning { origin: part.origin, message: part.message.clone() });
    warn(shared, &findings, &of_pods.chain(of_format).collect::<Vec<_>>());
    match &args.out {
        Some(file) => save(shared, file, &written.text, &sets)?,
        None => output::print(&written.text)?,
    }
    Ok(Exit::Done)
}

/// Refuses what limits plans: a list that is shorter than asked for takes pods out of service.
fn refuse_limits(shared: &SharedArgs) -> Result<(), CommandFailure> {
    if !shared.limits_plans() && shared.zones.is_empty() {
        return Ok(());
    }
    let message = "`render endpoints` does not take `--host`, `--subject`, `--project` or `--zone`";
    Err(CommandFailure::of_call(message).hint("`--set ID` limits it to a set of pods"))
}

/// The format that the command line asks for.
fn format(format: EndpointsFormatArg) -> EndpointsFormat {
    match format {
        EndpointsFormatArg::Json => EndpointsFormat::Json,
        EndpointsFormatArg::Prometheus => EndpointsFormat::Prometheus,
        EndpointsFormatArg::Envoy => EndpointsFormat::Envoy,
    }
}

/// Something that is left out.
struct Warning {
    /// The place.
    origin: Origin,
    /// What, and why.
    message: String,
}

/// Warns of what is left out; of the first only, where it is much and `-v` is not given.
fn warn(shared: &SharedArgs, findings: &Findings, warnings: &[Warning]) {
    let shown = if shared.verbose > 0 { warnings.len() } else { WARNINGS };
    for Warning { origin, message } in warnings.iter().take(shown) {
        output::warning(shared, &findings.files.place(*origin).to_string(), LEFT_OUT, message);
    }
    if warnings.len() > shown {
        let more = report::counted(warnings.len() - shown, "more warning");
        output::note(shared.log_format, shared.quiet, &format!("{more} of what is left out; `-v` prints all"));
    }
}

/// Writes a file, unless it holds the same already, and says so.
fn save(shared: &SharedArgs, file: &Path, text: &str, sets: &[SetEndpoints]) -> Result<(), CommandFailure> {
    let place = file.display().to_string();
    let is_written = disk::publish_changed(file, text.as_bytes()).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::NotFound => "make the folder first",
            ErrorKind::IsADirectory => "name a file",
            _ => "consumers still read the file as it was",
        };
        CommandFailure::new(format!("{place}: error[render-not-saved]: the file could not be written: {error}"))
            .hint(hint)
    })?;
    if shared.quiet || !output::shows_pages(shared) {
        return Ok(());
    }
    output::print(&report::endpoints_summary(&place, sets, is_written))
}

/// Says why nothing was written.
fn refuse(shared: &SharedArgs, error: RenderError) -> Result<Exit, CommandFailure> {
    let failure = match error {
        RenderError::Open(error) => return not_opened(shared, error),
        RenderError::Call(error) => error.into(),
        RenderError::NoExport => CommandFailure::new("nothing was written: `[sources]` names no export of pods")
            .hint("add `pods = \"pods/*.jsonl\"` to `[sources]` in zonewright.toml"),
        RenderError::NoSets => CommandFailure::new("nothing was written: the workspace has no set of pods")
            .hint("add a file for each set below `pod-sets`, or give the workspace that has them with `-C DIR`"),
        RenderError::BadSet(reason) => CommandFailure::new(format!("nothing was written: {reason}"))
            .hint("correct it, or name the sets that you need: `--set ID`; until then consumers keep what they have"),
        RenderError::Doubted { reason, is_distrusted } => CommandFailure::new(format!("nothing was written: {reason}"))
            .hint(if is_distrusted {
                "the export may lack pods: correct it; or, if it is right, run `zonewright accept pods`"
            } else {
                "pods may be missing: correct it; until then consumers keep what they have"
            }),
        RenderError::Hollow { endpoint, lacks } => {
            let pods = report::counted(lacks, "pod");
            let message = format!("nothing was written: `{endpoint}` would be empty, and the rows of {pods} are bad");
            CommandFailure::new(message)
                .hint("correct the rows that `zonewright check` lists, or leave the set out: `--set ID`")
        }
    };
    Err(failure)
}
