//! What a state says, as JSON. `schemas/status.schema.json` describes it.

use serde::Serialize;

use super::MarkedCopy;
use crate::approval::{Refusal, TaskRow};
use crate::claim::Subject;
use crate::document::{object_in_documents, pretty};
use crate::inventory::value::Time;
use crate::plan::LimitState;
use crate::report::applies::ApplyView;
use crate::rollout::FluxRow;
use crate::state::tallies::PoolTally;
use crate::state::{ApplySummary, ApprovalStanding, CmsFailure, KnownMarker, StateFacts, Status};
use crate::target::Marker;

/// What `format` says.
const FORMAT: &str = "zonewright.status/1";

/// Renders a status.
pub fn render(status: &Status) -> String {
    pretty(status)
}

object_in_documents!(Status, status => {
    "format": FORMAT,
    "tool": status.tool,
    "created": status.created,
    "state": status.place,
    "exists": status.memory.is_some(),
    "lock": status.holder,
    "unfinished": listed(status, |memory| &memory.unfinished),
    "resumable": status.resumable().collect::<Vec<_>>(),
    "applies": listed(status, |memory| &memory.applies),
    "markers": status.memory.iter().flat_map(super::markers).map(|(copy, known)| marker(copy, known)).collect::<Vec<_>>(),
    "sources": status.sources,
    "limits": status.limits.iter().map(LimitView).collect::<Vec<_>>(),
    "breakers": status.memory.as_ref().map(|memory| &memory.breakers[..]).unwrap_or_default(),
    "waiting": status.memory.as_ref().map(|memory| &memory.waiting[..]).unwrap_or_default(),
    "in_flux": status.memory.iter().flat_map(|memory| &memory.in_flux).map(FluxView).collect::<Vec<_>>(),
    "left_behind": status.left_behind,
    ? "leader": status.leader.as_ref(),
    ? "approvals": status.memory.as_ref().map(|memory| &memory.approvals).filter(|approvals| !approvals.is_empty()),
    ? "pool": status.pool.as_ref(),
    ? "pools": pools(status),
});

object_in_documents!(ApprovalStanding, approvals => {
    "tasks": approvals.tasks.iter().map(TaskView).collect::<Vec<_>>(),
    "refusals": approvals.refusals.iter().map(RefusalView).collect::<Vec<_>>(),
    "failures": approvals.failures,
});

/// A task.
struct TaskView<'a>(&'a TaskRow);

object_in_documents!(TaskView<'_>, task => {
    "service": task.0.service,
    "project": task.0.project,
    "subject": task.0.subject,
    "host": task.0.host,
    "action": task.0.action,
    "type": task.0.kind,
    "comment": task.0.comment,
    "id": task.0.id,
    "since": task.0.since,
    "status": task.0.standing(),
    "message": task.0.said.as_ref().map(|said| &said.message).filter(|message| !message.is_empty()),
    "said": task.0.said.as_ref().map(|said| said.at),
    "tried": task.0.tried,
    "fault": task.0.fault,
});

/// A host that was rejected, or that went to the end.
struct RefusalView<'a>(&'a (Subject, Refusal, Option<Time>));

object_in_documents!(RefusalView<'_>, refusal => {
    "subject": refusal.0.0,
    "kind": refusal.0.1.kind,
    "service": Some(&refusal.0.1.service).filter(|service| !service.is_empty()),
    "message": Some(&refusal.0.1.message).filter(|message| !message.is_empty()),
    "at": refusal.0.1.at,
    "until": refusal.0.2,
});

object_in_documents!(CmsFailure, failure => {
    "service": failure.service,
    "fault": failure.kind,
    "message": failure.message,
    "since": failure.since,
    "last": failure.last,
    "requests": failure.count,
});

/// A change that has not settled.
struct FluxView<'a>(&'a FluxRow);

object_in_documents!(FluxView<'_>, flux => {
    "apply": flux.0.apply,
    "group": flux.0.group,
    "location": flux.0.location,
    "subject": flux.0.subject,
    "until": flux.0.ends(),
});

/// The pools of which there is something to count; none where there are none.
fn pools(status: &Status) -> Option<Vec<&PoolTally>> {
    let pools: Vec<&PoolTally> = status.counted_pools().collect();
    (!pools.is_empty()).then_some(pools)
}

object_in_documents!(PoolTally, pool => {
    "name": pool.pool.as_str(),
    "zones_not_served": pool.zones_not_served(),
    "zones_failed": pool.zones_failed(),
    "lacking": pool.lacking.iter().map(LackingView).collect::<Vec<_>>(),
});

/// How many changes a target lacks.
struct LackingView<'a>(&'a (String, usize));

object_in_documents!(LackingView<'_>, lacking => {
    "target": lacking.0.0,
    "changes": lacking.0.1,
});

/// Some of the applies that a state lists.
fn listed(status: &Status, list: fn(&StateFacts) -> &[ApplySummary]) -> Vec<ApplyView<'_>> {
    let running = status.running();
    let applies = status.memory.as_ref().map(list).unwrap_or_default();
    applies.iter().map(|apply| ApplyView { apply, running }).collect()
}

/// The marker of a zone. A state has it by its zone, a document with its zone.
#[derive(Debug, Serialize)]
struct MarkerView {
    /// The zone.
    zone: String,
    /// The target, where several copies of the zone have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The latest one that is known to be there.
    marker: Option<String>,
    /// Those that may be there.
    open: Vec<String>,
}

/// A zone's marker for the document.
fn marker(copy: MarkedCopy, known: &KnownMarker) -> MarkerView {
    MarkerView {
        zone: copy.zone,
        target: copy.target,
        marker: known.marker.as_ref().map(Marker::to_string),
        open: known.open.iter().map(Marker::to_string).collect(),
    }
}

/// How much of a limit of hosts is used; a plan says otherwise what it uses of one.
struct LimitView<'a>(&'a LimitState);

object_in_documents!(LimitView<'_>, limit => {
    "name": limit.0.name(),
    "scope": limit.0.scope,
    "period": limit.0.period,
    "max": limit.0.max,
    "used": limit.0.used,
    "left": super::left(limit.0),
});
