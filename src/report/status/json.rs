//! What a state says, as JSON. `schemas/status.schema.json` describes it.

use serde::Serialize;

use crate::document::{object_in_documents, pretty};
use crate::plan::LimitState;
use crate::report::applies::ApplyView;
use crate::state::{ApplySummary, KnownMarker, StateFacts, Status};
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
    "markers": status.memory.iter().flat_map(super::markers).map(|(zone, known)| marker(zone, known)).collect::<Vec<_>>(),
    "sources": status.sources,
    "limits": status.limits.iter().map(LimitView).collect::<Vec<_>>(),
    "breakers": status.memory.as_ref().map(|memory| &memory.breakers[..]).unwrap_or_default(),
    "left_behind": status.left_behind,
    ? "pool": status.pool.as_ref(),
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
    /// The latest one that is known to be there.
    marker: Option<String>,
    /// Those that may be there.
    open: Vec<String>,
}

/// A zone's marker for the document.
fn marker(zone: String, known: &KnownMarker) -> MarkerView {
    MarkerView {
        zone,
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
