//! What a state says, as JSON. `schemas/status.schema.json` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::Marker;
use crate::state::{ApplySummary, Holder, KnownMarker, Memory, Status};

/// What `format` says.
const FORMAT: &str = "zonewright.status/1";

/// The document.
#[derive(Debug, Serialize)]
struct Document<'a> {
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
    /// Who is at work.
    lock: Option<LockView<'a>>,
    /// What did not end, and began after the last that did.
    unfinished: Vec<ApplyView<'a>>,
    /// The latest applies.
    applies: Vec<ApplyView<'a>>,
    /// The markers.
    markers: Vec<MarkerView>,
    /// The tripped breakers.
    breakers: Vec<BreakerView<'a>>,
}

/// Who is at work.
#[derive(Debug, Serialize)]
struct LockView<'a> {
    /// The process.
    pid: Option<u32>,
    /// Who runs it.
    who: &'a str,
    /// Since when.
    since: Option<String>,
}

/// An apply.
#[derive(Debug, Serialize)]
struct ApplyView<'a> {
    /// Its number.
    id: u64,
    /// The plan's `id`.
    plan: &'a str,
    /// The plan's `effect`.
    effect: &'a str,
    /// When it began.
    started: String,
    /// When it ended.
    finished: Option<String>,
    /// Whether it is at work.
    running: bool,
    /// Who ran it.
    who: &'a str,
    /// Why.
    reason: Option<&'a str>,
    /// How many hosts it was to change.
    hosts: usize,
    /// The hosts of each outcome.
    outcomes: &'a BTreeMap<String, usize>,
    /// How many updates took effect.
    updates_done: usize,
    /// Of how many it is not known.
    updates_open: usize,
}

/// The marker of a zone.
#[derive(Debug, Serialize)]
struct MarkerView {
    /// The zone.
    zone: String,
    /// The latest that is known to stand there.
    marker: Option<String>,
    /// Those that may stand there.
    open: Vec<String>,
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
    let applies = |list: fn(&Memory) -> &Vec<ApplySummary>| {
        memory.map(list).into_iter().flatten().map(|summary| apply(status, summary)).collect()
    };
    let breakers = memory.into_iter().flat_map(|memory| &memory.breakers);
    let document = Document {
        format: FORMAT,
        tool: &status.tool,
        created: status.created.to_string(),
        state: &status.place,
        exists: memory.is_some(),
        lock: status.holder.as_ref().map(lock),
        unfinished: applies(|memory| &memory.unfinished),
        applies: applies(|memory| &memory.applies),
        markers: memory.into_iter().flat_map(super::markers).map(marker).collect(),
        breakers: breakers
            .map(|breaker| BreakerView {
                scope: &breaker.scope,
                tripped: breaker.tripped.to_string(),
                why: &breaker.why,
            })
            .collect(),
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// Who is at work.
fn lock(holder: &Holder) -> LockView<'_> {
    LockView { pid: holder.pid, who: &holder.who, since: holder.since.map(|since| since.to_string()) }
}

/// An apply for the document.
fn apply<'a>(status: &Status, apply: &'a ApplySummary) -> ApplyView<'a> {
    ApplyView {
        id: apply.id.0,
        plan: &apply.new.plan,
        effect: &apply.new.effect,
        started: apply.new.started.to_string(),
        finished: apply.finished.map(|finished| finished.to_string()),
        running: status.is_running(apply),
        who: &apply.new.who,
        reason: apply.new.reason.as_deref(),
        hosts: apply.new.hosts,
        outcomes: &apply.outcomes,
        updates_done: apply.updates_done,
        updates_open: apply.updates_open,
    }
}

/// A zone's marker for the document.
fn marker((zone, known): (String, &KnownMarker)) -> MarkerView {
    MarkerView {
        zone,
        marker: known.marker.as_ref().map(Marker::to_string),
        open: known.open.iter().map(Marker::to_string).collect(),
    }
}
