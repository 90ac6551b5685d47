//! The outcome of an apply as JSON. `schemas/apply.schema.json` describes it.

use std::collections::BTreeMap;

use super::ApplyReport;
use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::document::{object_in_documents, pretty};
use crate::plan::SealedPlan;
use crate::report::TOOL;
use crate::report::publication::ServedView;
use crate::report::zone_changes::ZoneChangeView;

/// What `format` says.
const FORMAT: &str = "zonewright.apply/1";

/// Renders the document, with a final newline.
pub fn render(report: &ApplyReport<'_>) -> String {
    pretty(report)
}

object_in_documents!(ApplyReport<'_>, report => {
    "format": FORMAT,
    "tool": TOOL,
    "plan": report.sealed.map(SealedPlan::id),
    "effect": report.sealed.map(SealedPlan::effect),
    "apply": report.apply,
    "started": report.started,
    "exit": report.exit,
    "refused": report.refusal,
    "counts": counts(report.applied),
    "hosts": report.applied.hosts,
    "zones": report.applied.zones,
    "problems": report.applied.problems,
    "moved": report.moved,
    "waiting": report.waves.waiting,
    "waves": report.waves.groups,
    "gates": report.waves.gates,
    ? "publication": report.served.map(ServedView::of),
    ? "zone_changes": ZoneChangeView::of(&report.applied.zone_changes),
});

/// How many hosts had each outcome; all outcomes are there.
fn counts(applied: &ApplyOutcome) -> BTreeMap<&'static str, usize> {
    OutcomeCode::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome))).collect()
}
