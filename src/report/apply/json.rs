//! The outcome of an apply as JSON. `schemas/apply.schema.json` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ApplyReport;
use crate::apply::{OutcomeCode, SubjectOutcome, ZoneWritten};
use crate::diag::Problem;
use crate::plan::SealedPlan;
use crate::report::TOOL;

/// What `format` says.
const FORMAT: &str = "zonewright.apply/1";

/// The document.
#[derive(Debug, Serialize)]
struct ApplyDocument<'a> {
    /// [`FORMAT`].
    format: &'static str,
    /// The program.
    tool: &'static str,
    /// The plan's id.
    plan: Option<&'a str>,
    /// The plan's effect.
    effect: Option<&'a str>,
    /// Its number in the journal.
    apply: Option<u64>,
    /// When it began.
    started: String,
    /// The exit code.
    exit: u8,
    /// Why the plan was refused.
    refused: Option<&'a Problem>,
    /// How many hosts had each outcome; all outcomes are there.
    counts: BTreeMap<&'static str, usize>,
    /// The hosts, in the order of the plan.
    hosts: Vec<ApplyHostView<'a>>,
    /// The zones.
    zones: Vec<ApplyZoneView>,
    /// Errors that are not about single hosts.
    problems: &'a [Problem],
    /// The zones and input files that changed since the plan was made.
    moved: &'a [String],
}

/// A host, or a name that no host has.
#[derive(Debug, Serialize)]
struct ApplyHostView<'a> {
    /// Its number; none where no host has the name.
    host: Option<u64>,
    /// Its project.
    project: &'a str,
    /// The owner name of one of its changes; where it has any, of one in a forward zone that is no TXT.
    name: &'a str,
    /// How many changes it has.
    changes: usize,
    /// Its outcome.
    outcome: &'static str,
    /// Why it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// A zone. How long it took is not in the document, so that two can be compared.
#[derive(Debug, Serialize)]
struct ApplyZoneView {
    /// Its name.
    zone: String,
    /// How many updates took effect.
    updates: usize,
    /// How many changes were in them.
    changes: usize,
}

/// Renders the document, with a final newline.
pub fn render(report: &ApplyReport<'_>) -> String {
    let applied = report.applied;
    let document = ApplyDocument {
        format: FORMAT,
        tool: TOOL,
        plan: report.sealed.map(SealedPlan::id),
        effect: report.sealed.map(SealedPlan::effect),
        apply: report.apply.map(|apply| apply.0),
        started: report.started.to_string(),
        exit: report.exit,
        refused: report.refusal,
        counts: OutcomeCode::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome))).collect(),
        hosts: applied.hosts.iter().map(host).collect(),
        zones: applied.zones.iter().map(zone).collect(),
        problems: &applied.problems,
        moved: report.moved,
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// A host for the document.
fn host(found: &SubjectOutcome) -> ApplyHostView<'_> {
    let SubjectOutcome { subject, project, name, changes, outcome, message, hint } = found;
    ApplyHostView {
        host: subject.host().map(|inv| inv.0),
        project,
        name,
        changes: *changes,
        outcome: outcome.as_str(),
        message: message.as_deref(),
        hint: hint.as_deref(),
    }
}

/// A zone for the document.
fn zone(written: &ZoneWritten) -> ApplyZoneView {
    ApplyZoneView { zone: written.zone.to_string(), updates: written.updates, changes: written.changes }
}
