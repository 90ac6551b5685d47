//! `plan`: what would be changed, and why.

use std::path::Path;

use super::args::{PlanArgs, Shared};
use super::exit::Exit;
use super::output::{self, Failure};
use super::progress::Line;
use super::show::View;
use crate::inventory::value::Time;
use crate::pipeline::{self, MakeError, Progress as _, Request, SnapshotUsed};
use crate::plan::{SealedPlan, store};

/// Makes a plan, prints it, and saves it where that is asked for.
pub fn run(shared: &Shared, args: &PlanArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let request = Request {
        workspace: &shared.workspace,
        now,
        hosts: shared.hosts.clone(),
        projects: shared.projects.clone(),
        live_snapshot: args.live_snapshot.as_deref(),
    };
    let view = View::new(shared, args.format, args.out.is_some())?;
    let progress = Line::start(shared);
    let made = pipeline::make_plan(&request, &progress);
    progress.stage("digesting the plan", None);
    let made = made.map(|made| (SealedPlan::new(made.plan), made.findings, made.is_partial, made.snapshot));
    progress.finish();
    let (sealed, findings, is_partial, snapshot) = match made {
        Ok(made) => made,
        Err(MakeError::Config(findings)) => {
            output::findings(shared, &findings);
            return Ok(Exit::Error);
        }
        Err(MakeError::NoSnapshot(error)) => {
            return Err(Failure { message: error.to_string(), hint: error.hint });
        }
        Err(error) => return Err(Failure::new(error)),
    };
    if let (Some(path), Some(used)) = (&args.live_snapshot, &snapshot) {
        tell_snapshot(shared, now, path, used);
    }
    output::findings(shared, &findings);
    // A plan that cannot be saved is printed all the same: it took long to make.
    let saved = args.out.as_ref().map_or(Ok(()), |file| store::save(file, &sealed).map_err(Failure::new));
    view.print(&sealed)?;
    saved?;
    Ok(match (is_partial, args.detailed_exitcode && !sealed.plan().changes.is_empty()) {
        (true, _) => Exit::Error,
        (false, true) => Exit::Changes,
        (false, false) => Exit::Done,
    })
}

/// Says how old the snapshot is that stands for live DNS, and what of it was passed over.
fn tell_snapshot(shared: &Shared, now: Time, path: &Path, used: &SnapshotUsed) {
    let place = path.display().to_string();
    let created = used.created;
    let age = match now.since(created) {
        Some(age) => format!("live DNS as of {created}, {age} ago: no server was asked"),
        None => format!("live DNS as of {created}, which is yet to come: no server was asked"),
    };
    output::warning(shared, &place, "snapshot-age", &age);
    for zone in &used.ignored {
        tracing::info!("{place}: the zone `{zone}` is not configured, and was passed over");
    }
}
