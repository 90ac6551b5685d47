//! The outcome of an apply, as text for people and as a document; and the question before one.

mod json;

mod text;

use super::TextOptions;
use super::counts::PlanCounts;
use super::summary::{SubjectCounts, counted};
use crate::apply::ApplyOutcome;
use crate::diag::{Problem, sanitize};
use crate::inventory::value::Time;
use crate::plan::{GroupWaves, Plan, SealedPlan, WaitingSubject};
use crate::state::served::ServedOutcome;
use crate::state::{ApplyId, GateAsked, StateNotes};

/// What is asked on a terminal before anything is written. Any answer but [`YES`] is a no.
///
/// It says what the answer agrees to: how many changes for how many hosts, at which `targets`, from which `workspace`.
pub fn question(plan: &Plan, targets: &[String], workspace: &str) -> String {
    let counts = PlanCounts::of_plan(plan);
    let changes = counted(counts.all_changes(), "change");
    let kinds = counts.subjects();
    let hosts = if kinds == SubjectCounts::default() {
        "at unclaimed names".to_owned()
    } else {
        format!("for {}", kinds.in_words())
    };
    let targets = sanitize(&targets.join(", "));
    format!("Type `{YES}` to apply {changes} {hosts} to {targets} (workspace {}): ", sanitize(workspace))
}

/// The answer that means consent.
pub const YES: &str = "yes";

/// What is said if the answer was another. Fingers that are used to `y` learn what was missing.
pub fn declined(answer: &str) -> String {
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" | "ok" => format!("Nothing was changed: only `{YES}` applies.\n"),
        _ => "Nothing was changed.\n".to_owned(),
    }
}

/// What is said where an apply did all of its plan; targets may lack so many changes, of it and of others.
pub fn complete(apply: ApplyId, lacking: usize) -> String {
    let done = format!("Nothing to resume: apply {} did all of its plan.", apply.0);
    match lacking {
        0 => format!("{done}\n"),
        _ => format!("{done} Targets lack {}: `zonewright sync` makes them there.\n", counted(lacking, "change")),
    }
}

/// All that is reported of an apply.
#[derive(Debug, Clone, Copy)]
pub struct ApplyReport<'a> {
    /// The plan; none where it could not be read.
    pub sealed: Option<&'a SealedPlan>,
    /// Its number in the journal; none where nothing was begun.
    pub apply: Option<ApplyId>,
    /// When this run of it began.
    pub started: Time,
    /// Whether this run goes on with one of an earlier run.
    pub is_resumed: bool,
    /// Why nothing was applied, where the plan was refused as a whole.
    pub refusal: Option<&'a Problem>,
    /// The outcomes; empty where it was refused.
    pub applied: &'a ApplyOutcome,
    /// What the state notes of the plan, apart from changes.
    pub noted: StateNotes,
    /// The zones and input files that changed since the plan was made; sorted.
    pub moved: &'a [String],
    /// Whether what was applied is served; none where no pool of it has a name server.
    pub served: Option<&'a ServedOutcome>,
    /// How it goes in waves.
    pub waves: WaveNews<'a>,
    /// Whether a signal interrupted it.
    pub is_interrupted: bool,
    /// The exit code of the command.
    pub exit: u8,
}

/// What is reported of waves.
#[derive(Debug, Clone, Copy, Default)]
pub struct WaveNews<'a> {
    /// What waits for a later wave, sorted by subject.
    pub waiting: &'a [WaitingSubject],
    /// In how many waves each group goes at least, from this one on.
    pub groups: &'a [GroupWaves],
    /// What gates said before this one, by group.
    pub gates: &'a [GateAsked],
    /// Until when later ones may go; none where nothing waits.
    pub until: Option<Time>,
}

impl ApplyReport<'_> {
    /// How many hosts, and names that no host has, are as the plan says.
    fn done(&self) -> usize {
        self.applied.done()
    }
}

/// Prints the outcome of an apply, for people: the verdict first, then all that is not done, then what was written.
pub fn text(report: &ApplyReport<'_>, options: &TextOptions) -> String {
    text::render(report, options)
}

/// Prints the outcome of an apply as a document. `schemas/apply.schema.json` describes it.
///
/// But for `started` and the number of the apply nothing in it depends on when it ran or how long it took.
pub fn json(report: &ApplyReport<'_>) -> String {
    json::render(report)
}

#[cfg(test)]
mod tests;
