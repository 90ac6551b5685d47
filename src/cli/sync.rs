//! `sync`: tries again what targets lack, and asks the name servers that did not serve the last changes yet.

use super::carry_out::{self, ApplyReach, ConductedWork};
use super::events;
use super::exit::Exit;
use super::journal_args::SyncArgs;
use super::metrics::{self, RunNotes};
use super::output::{self, CommandFailure};
use super::request::{not_opened, refuse_zones};
use super::shared_args::SharedArgs;
use super::values::FormatArg;
use crate::consensus::ZoneStatus;
use crate::diag::did_you_mean;
use crate::inventory::value::Time;
use crate::pipeline::OpenError;
use crate::pipeline::sync::{SyncError, SyncRun, UnknownPool, sync};
use crate::report;
use crate::report::event::RunReport;
use crate::report::publication::SyncReport;
use crate::state::lacks::LackOutcome;
use crate::state::served::ServedOutcome;

/// How far it goes.
const REACH: ApplyReach<'_> = ApplyReach {
    max_failures: None,
    allow: &[],
    auto: false,
    ignores_gates: false,
    ignores_approvals: false,
    waits: true,
    goes_on: "zonewright sync",
};

/// Asks, and prints what is served.
pub fn run(shared: &SharedArgs, args: &SyncArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "sync")?;
    if shared.limits_plans() {
        let failure = CommandFailure::of_call(
            "`sync` asks about whole zones: `--host`, `--subject` and `--project` limit only a plan",
        );
        return Err(failure.hint("leave them out; `--pool POOL` limits it to a pool"));
    }
    metrics::run(shared, "sync", args.metrics.as_deref(), |notes| bring_in_line(shared, args, notes))
}

/// Brings targets in line, asks name servers, and prints the outcome.
fn bring_in_line(shared: &SharedArgs, args: &SyncArgs, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let ConductedWork { done, stages, .. } =
        carry_out::conduct(shared, now, REACH, |request, progress| sync(request, args.pool.as_deref(), progress))?;
    notes.stages(&stages);
    match done {
        Ok(ran) => tell(shared, args.format, now, &ran, false),
        Err(SyncError::UnknownPool(unknown)) => Err(unknown_pool(&unknown)),
        Err(SyncError::Open(error)) => not_begun(shared, args.format, error),
    }
}

/// Prints the outcome, and how the command ends; `only_if_left`: only where something is left to do, or was made.
fn tell(
    shared: &SharedArgs,
    format: FormatArg,
    now: Time,
    ran: &SyncRun,
    only_if_left: bool,
) -> Result<Exit, CommandFailure> {
    let SyncRun { served, lacks, zone_changes, problems } = ran;
    let is_left = zone_changes.iter().any(|outcome| outcome.why.is_some());
    let exit = exit(served, lacks).and(if is_left { Exit::InPart } else { Exit::Done });
    let report = SyncReport { started: now, refusal: None, served, lacks, zone_changes, problems, exit: exit.code() };
    if only_if_left && exit == Exit::Done && lacks.made == 0 {
        return Ok(exit);
    }
    print(shared, format, &report)?;
    events::outcome(shared, &RunReport::synced(&report, events::end(shared, exit)));
    Ok(exit)
}

/// After an apply of an unattended run: brings targets in line, asks name servers, and prints the outcome where something is left.
pub fn after_apply(shared: &SharedArgs, notes: &RunNotes) -> Result<Exit, CommandFailure> {
    let (now, reach) = (output::now(shared)?, ApplyReach { auto: true, ..REACH });
    let ConductedWork { done, stages, .. } =
        carry_out::conduct(shared, now, reach, |request, progress| sync(request, None, progress))?;
    notes.stages(&stages);
    match done {
        Ok(ran) => tell(shared, FormatArg::Text, now, &ran, true),
        Err(SyncError::UnknownPool(unknown)) => Err(unknown_pool(&unknown)),
        Err(SyncError::Open(error)) => not_begun(shared, FormatArg::Text, error),
    }
}

/// How a `sync` ends.
fn exit(served: &ServedOutcome, lacks: &LackOutcome) -> Exit {
    let is_active = served.zones.iter().all(|zone| zone.status == ZoneStatus::Active);
    let of_zones = if is_active && lacks.left.is_empty() { Exit::Done } else { Exit::InPart };
    let of_lacks = if lacks.refusal.is_some() { Exit::Refused } else { Exit::Done };
    of_zones.and(of_lacks)
}

/// Prints that nothing was begun, and why.
fn not_begun(shared: &SharedArgs, format: FormatArg, error: OpenError) -> Result<Exit, CommandFailure> {
    if let (FormatArg::Json, OpenError::State(refusal)) = (format, &error) {
        let started = output::now(shared)?;
        let (served, lacks) = (&ServedOutcome::none(), &LackOutcome::default());
        let (refusal, exit) = (Some(refusal), Exit::Error.code());
        print(shared, format, &SyncReport { started, refusal, served, lacks, zone_changes: &[], problems: &[], exit })?;
    }
    not_opened(shared, error)
}

/// Prints a report.
fn print(shared: &SharedArgs, format: FormatArg, report: &SyncReport<'_>) -> Result<(), CommandFailure> {
    match format {
        FormatArg::Json => output::print(&report::sync_document(report)),
        FormatArg::Text if !output::shows_pages(shared) => Ok(()),
        FormatArg::Text => output::print(&report::publication::sync(report, &output::text_options(shared))),
    }
}

/// The error for a pool that the settings do not have.
pub fn unknown_pool(unknown: &UnknownPool) -> CommandFailure {
    let UnknownPool { name, pools } = unknown;
    let hint = match did_you_mean(name, pools.iter().map(String::as_str)) {
        Some(near) => near,
        None => {
            let pools: Vec<String> = pools.iter().map(|pool| format!("`{pool}`")).collect();
            format!("zonewright.toml has {}", pools.join(", "))
        }
    };
    CommandFailure::of_call(format!("zonewright.toml has no pool `{name}`")).hint(hint)
}
