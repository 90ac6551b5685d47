//! What a state says, as JSON. `schemas/status.schema.json` describes it.

use serde::Serialize;

use super::sources::{self, SourceView};
use crate::plan::{LimitState, Marker};
use crate::report::applies::{self, ApplyView};
use crate::state::{ApplySummary, KnownMarker, LockHolder, StateFacts, Status};

/// What `format` says.
const FORMAT: &str = "zonewright.status/1";

/// The document.
#[derive(Debug, Serialize)]
struct StatusDocument<'a> {
    /// [`FORMAT`].
    format: &'static str,
    /// The program.
    tool: &'a str,
    /// When it looked.
    created: String,
    /// Where the state is kept.
    state: &'a str,
    /// Whether there is one.
    exists: bool,
    /// The run that holds the lock.
    lock: Option<LockView<'a>>,
    /// What did not end, and began after the last that did.
    unfinished: Vec<ApplyView<'a>>,
    /// The applies that can be resumed.
    resumable: Vec<u64>,
    /// The latest applies.
    applies: Vec<ApplyView<'a>>,
    /// The markers.
    markers: Vec<MarkerView>,
    /// The exports.
    sources: Vec<SourceView<'a>>,
    /// The limits of hosts.
    limits: Vec<LimitView<'a>>,
    /// The tripped breakers.
    breakers: Vec<BreakerView<'a>>,
    /// The names that no host has and that keep what applies created.
    left_behind: Vec<String>,
}

/// The run that holds the lock.
#[derive(Debug, Serialize)]
struct LockView<'a> {
    /// The process.
    pid: Option<u32>,
    /// Who runs it.
    who: &'a str,
    /// Since when.
    since: Option<String>,
}

/// The marker of a zone.
#[derive(Debug, Serialize)]
struct MarkerView {
    /// The zone.
    zone: String,
    /// The latest one that is known to be there.
    marker: Option<String>,
    /// Those that may be there.
    open: Vec<String>,
}

/// How much of a limit of hosts is used.
#[derive(Debug, Serialize)]
struct LimitView<'a> {
    /// What `--allow` names it by.
    name: String,
    /// Of what.
    scope: &'a str,
    /// The period.
    period: &'a str,
    /// How many hosts may change.
    max: u64,
    /// How many did.
    used: u64,
    /// How many still may.
    left: u64,
}

/// A tripped breaker.
#[derive(Debug, Serialize)]
struct BreakerView<'a> {
    /// Of what.
    scope: &'a str,
    /// When.
    tripped: String,
    /// Why.
    why: &'a str,
}

/// Renders a status.
pub fn render(status: &Status) -> String {
    let memory = status.memory.as_ref();
    let running = status.running();
    let listed = |list: fn(&StateFacts) -> &Vec<ApplySummary>| {
        memory.map(list).into_iter().flatten().map(|apply| applies::view(apply, running)).collect()
    };
    let breakers = memory.into_iter().flat_map(|memory| &memory.breakers);
    let document = StatusDocument {
        format: FORMAT,
        tool: &status.tool,
        created: status.created.to_string(),
        state: &status.place,
        exists: memory.is_some(),
        lock: status.holder.as_ref().map(lock),
        unfinished: listed(|memory| &memory.unfinished),
        resumable: status.resumable().map(|id| id.0).collect(),
        applies: listed(|memory| &memory.applies),
        markers: memory.into_iter().flat_map(super::markers).map(|(zone, known)| marker(zone, known)).collect(),
        sources: sources::views(status),
        limits: status.limits.iter().map(limit).collect(),
        breakers: breakers
            .map(|breaker| BreakerView {
                scope: &breaker.scope,
                tripped: breaker.tripped.to_string(),
                why: &breaker.why,
            })
            .collect(),
        left_behind: status.left_behind.iter().map(ToString::to_string).collect(),
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// The run that holds the lock, for the document.
fn lock(holder: &LockHolder) -> LockView<'_> {
    LockView { pid: holder.pid, who: &holder.who, since: holder.since.map(|since| since.to_string()) }
}

/// A limit for the document.
fn limit(limit: &LimitState) -> LimitView<'_> {
    let LimitState { scope, period, max, used, .. } = limit;
    LimitView { name: limit.name(), scope, period, max: *max, used: *used, left: super::left(limit) }
}

/// A zone's marker for the document.
fn marker(zone: String, known: &KnownMarker) -> MarkerView {
    MarkerView {
        zone,
        marker: known.marker.as_ref().map(Marker::to_string),
        open: known.open.iter().map(Marker::to_string).collect(),
    }
}
