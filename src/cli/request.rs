//! What `plan` and `explain` have in common: what they ask of the pipeline, and how they tell what came of it.

use std::path::Path;

use super::args::Shared;
use super::exit::Exit;
use super::output::{self, Failure};
use crate::inventory::value::Time;
use crate::pipeline::{MakeError, Request, SnapshotUsed};

/// The request that the command line makes.
pub fn request<'a>(shared: &'a Shared, now: Time, live_snapshot: Option<&'a Path>) -> Request<'a> {
    Request {
        workspace: &shared.workspace,
        now,
        hosts: shared.hosts.clone(),
        projects: shared.projects.clone(),
        live_snapshot,
    }
}

/// Tells why nothing could be decided at all.
pub fn not_made(shared: &Shared, error: MakeError) -> Result<Exit, Failure> {
    match error {
        MakeError::Config(findings) => {
            output::findings(shared, &findings);
            Ok(Exit::Error)
        }
        MakeError::NoSnapshot(error) => Err(Failure { message: error.to_string(), hint: error.hint }),
        MakeError::NoState(error) => Err(Failure { message: error.to_string(), hint: error.hint }),
        MakeError::NoSubject(error) => Err(Failure { message: error.to_string(), hint: Some(error.hint) }),
        error => Err(Failure::new(error)),
    }
}

/// Says how old the snapshot is that stands for live DNS, where one does, and what of it was passed over.
pub fn tell_snapshot(shared: &Shared, request: &Request<'_>, used: Option<&SnapshotUsed>) {
    let Some((path, SnapshotUsed { created, ignored })) = request.live_snapshot.zip(used) else { return };
    let place = path.display().to_string();
    let age = match request.now.since(*created) {
        Some(age) => format!("live DNS as of {created}, {age} ago: no server was asked"),
        None => format!("live DNS as of {created}, which is yet to come: no server was asked"),
    };
    output::warning(shared, &place, "snapshot-age", &age);
    for zone in ignored {
        tracing::info!("{place}: the zone `{zone}` is not configured, and was passed over");
    }
}
