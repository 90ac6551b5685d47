//! Live DNS compared with what is desired, as JSON. `schemas/drift.schema.json` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ShownDrift, StrayedRrset};
use crate::change::RrsetText;
use crate::drift::{EditorDeed, Mover};
use crate::inventory::value::Duration;
use crate::plan::{Notice, Plan};
use crate::state::WrittenRrset;

/// What `format` says.
const FORMAT: &str = "zonewright.drift/1";

/// The document.
#[derive(Debug, Serialize)]
struct DriftDocument<'a> {
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
    /// The zones whose RRsets alone are there.
    zones: Vec<String>,
    /// What could not be read, or is not believed.
    unread: Vec<UnreadView<'a>>,
    /// How many RRsets of each class there are.
    counts: BTreeMap<&'static str, usize>,
    /// The RRsets that are not as desired.
    rrsets: Vec<RrsetView<'a>>,
    /// How many more are in other zones.
    hidden: usize,
    /// How many hosts are blocked.
    blocked: usize,
    /// How many are skipped.
    skipped: usize,
    /// How many RRsets wait to be deleted.
    waiting: usize,
    /// How many own RRsets are left at names that no host has.
    left_behind: usize,
}

/// A source or zone that could not be read, or a source that is not believed.
#[derive(Debug, Serialize)]
struct UnreadView<'a> {
    /// Which.
    name: &'a str,
    /// Which of the two.
    code: &'static str,
    /// Why.
    message: &'a str,
}

/// An RRset that is not as desired.
#[derive(Debug, Serialize)]
struct RrsetView<'a> {
    /// Whether live DNS or the inventory changed.
    class: &'static str,
    /// What another editor did to it.
    kind: Option<&'static str>,
    /// The zone.
    zone: String,
    /// The owner name.
    name: String,
    /// The type.
    #[serde(rename = "type")]
    rtype: String,
    /// The host.
    host: Option<u64>,
    /// The project.
    project: &'a str,
    /// What is there.
    live: Option<RrsetText>,
    /// What is desired there.
    wanted: Option<RrsetText>,
    /// What the latest apply left there.
    written: Option<WrittenView<'a>>,
    /// The apply that last left or found it as `written` says.
    since: Option<SinceView>,
    /// For how long it can differ from that at most, in seconds.
    for_at_most: Option<u64>,
}

/// An apply that left or found something.
#[derive(Debug, Serialize)]
struct SinceView {
    /// The apply.
    apply: u64,
    /// When that was.
    at: String,
}

/// What an apply left.
#[derive(Debug, Serialize)]
struct WrittenView<'a> {
    /// The apply.
    apply: u64,
    /// When it sent the update.
    at: String,
    /// What the update left.
    after: Option<&'a RrsetText>,
}

/// Renders what is not as desired.
pub fn render(shown: &ShownDrift<'_>) -> String {
    let Plan { tool, created, notices, blocked, skipped, waiting, left_behind, .. } = shown.drift.plan;
    let count = |mover: Mover| (mover.as_str(), shown.of(mover).len());
    let document = DriftDocument {
        format: FORMAT,
        tool,
        created: created.to_string(),
        state: shown.drift.place,
        exists: shown.drift.is_known,
        zones: shown.zones.iter().map(ToString::to_string).collect(),
        unread: notices.iter().filter(|notice| notice.code.tells_of_less()).map(unread).collect(),
        counts: Mover::ALL.iter().copied().map(count).collect(),
        rrsets: shown.all().map(rrset).collect(),
        hidden: shown.hidden(),
        blocked: blocked.len(),
        skipped: skipped.len(),
        waiting: waiting.len(),
        left_behind: left_behind.len(),
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// What could not be read.
fn unread(notice: &Notice) -> UnreadView<'_> {
    UnreadView { name: &notice.name, code: notice.code.as_str(), message: &notice.message }
}

/// An RRset for the document.
fn rrset<'a>((change, stray): StrayedRrset<'a>) -> RrsetView<'a> {
    let rtype = change.key.rtype;
    RrsetView {
        class: stray.mover.as_str(),
        kind: stray.deed.map(EditorDeed::as_str),
        zone: change.zone.to_string(),
        name: change.key.owner.to_string(),
        rtype: rtype.to_string(),
        host: change.subject.host().map(|host| host.0),
        project: &change.project,
        live: change.kind.before().map(|rrset| RrsetText::of(rtype, rrset)),
        wanted: change.kind.after().map(|rrset| RrsetText::of(rtype, rrset)),
        written: stray.written.as_ref().map(written),
        since: stray.since.map(|(apply, at)| SinceView { apply: apply.0, at: at.to_string() }),
        for_at_most: stray.for_at_most.map(Duration::as_secs),
    }
}

/// What an apply left, for the document.
fn written(written: &WrittenRrset) -> WrittenView<'_> {
    WrittenView { apply: written.apply.0, at: written.at.to_string(), after: written.after.as_ref() }
}
