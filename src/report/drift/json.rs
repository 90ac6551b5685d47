//! Live DNS compared with what is desired, as JSON. `schemas/drift.schema.json` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ShownDrift, StrayedRrset};
use crate::change::RrsetText;
use crate::document::{object_in_documents, pretty};
use crate::drift::Mover;
use crate::inventory::value::Duration;
use crate::plan::{Notice, NoticeCode, Plan};

/// What `format` says.
const FORMAT: &str = "zonewright.drift/1";

/// A source or zone that could not be read, or a source that is not believed: a notice about it, its name first.
#[derive(Debug, Serialize)]
struct UnreadView<'a> {
    /// Which.
    name: &'a str,
    /// Which of the two.
    code: NoticeCode,
    /// Why.
    message: &'a str,
}

/// Renders what is not as desired.
pub fn render(shown: &ShownDrift<'_>) -> String {
    pretty(shown)
}

object_in_documents!(ShownDrift<'_>, shown => {
    "format": FORMAT,
    "tool": shown.drift.plan.tool,
    "created": shown.drift.plan.created,
    "state": shown.drift.place,
    "exists": shown.drift.is_known,
    "zones": shown.zones,
    "unread": unread(shown.drift.plan),
    "counts": Mover::ALL.iter().map(|mover| (mover.as_str(), shown.of(*mover).len())).collect::<BTreeMap<_, _>>(),
    "rrsets": shown.all().collect::<Vec<_>>(),
    "hidden": shown.hidden(),
    "blocked": shown.drift.plan.blocked.len(),
    "skipped": shown.drift.plan.skipped.len(),
    "waiting": shown.drift.plan.delayed.len(),
    "left_behind": shown.drift.plan.left_behind.len(),
});

/// What could not be read.
fn unread(plan: &Plan) -> Vec<UnreadView<'_>> {
    let unread = plan.notices.iter().filter(|notice| notice.code.tells_of_less());
    unread.map(|Notice { name, code, message, .. }| UnreadView { name, code: *code, message }).collect()
}

object_in_documents!(StrayedRrset<'_>, strayed => {
    "class": strayed.stray.mover,
    "kind": strayed.stray.deed,
    "zone": strayed.change.zone,
    "target": strayed.target,
    "name": strayed.change.key.owner,
    "type": strayed.change.key.rtype.to_string(),
    "host": strayed.change.subject.host().map(|inv| inv.0),
    "project": strayed.change.project,
    "live": strayed.change.kind.before().map(|rrset| RrsetText::of(strayed.change.key.rtype, rrset)),
    "wanted": strayed.change.kind.after().map(|rrset| RrsetText::of(strayed.change.key.rtype, rrset)),
    "written": strayed.stray.written,
    "since": strayed.stray.since,
    "for_at_most": strayed.stray.for_at_most.map(Duration::as_secs),
});
