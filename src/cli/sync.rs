//! `sync`: tries again what targets lack, and asks the name servers that did not serve the last changes yet.

use super::args::{SharedArgs, SyncArgs};
use super::carry_out::{self, ApplyReach, ConductedWork};
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::request::{not_opened, refuse_zones};
use crate::consensus::ZoneStatus;
use crate::diag::did_you_mean;
use crate::pipeline::sync::{SyncError, SyncRun, UnknownPool, sync};
use crate::report;
use crate::report::publication::SyncReport;

/// Asks, and prints what is served.
pub fn run(shared: &SharedArgs, args: &SyncArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "sync")?;
    if !shared.hosts.is_empty() || !shared.projects.is_empty() {
        let failure =
            CommandFailure::of_call("`sync` asks about whole zones: `--host` and `--project` limit only a plan");
        return Err(failure.hint("leave them out; `--pool POOL` limits it to a pool"));
    }
    let now = output::now(shared)?;
    let reach = ApplyReach { max_failures: None, allow: &[], auto: false, waits: true };
    let ConductedWork { done, .. } =
        carry_out::conduct(shared, now, reach, |request, progress| sync(request, args.pool.as_deref(), progress))?;
    let options = output::text_options(shared);
    match done {
        Ok(None) => {
            output::print(report::publication::NOTHING_OPEN)?;
            Ok(Exit::Done)
        }
        Ok(Some(ran)) => {
            let SyncRun { served, lacks, problems } = &ran;
            output::print(&report::publication::sync(SyncReport { served, lacks, problems }, &options))?;
            let is_active = served.zones.iter().all(|zone| zone.status == ZoneStatus::Active);
            let is_made = lacks.left.is_empty() && lacks.refusal.is_none();
            Ok(if is_active && is_made { Exit::Done } else { Exit::InPart })
        }
        Err(SyncError::UnknownPool(unknown)) => Err(unknown_pool(&unknown)),
        Err(SyncError::Open(error)) => not_opened(shared, error),
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
