//! An apply in the journal, in words and as a part of documents.

use std::collections::BTreeMap;

use serde::Serialize;

use super::page::TextPage;
use super::summary::counted;
use crate::apply::OutcomeCode;
use crate::state::{ApplyId, ApplySummary, Resumption};

/// How many hexadecimal digits of a plan's digest are shown; with 12 no two plans of a lifetime look the same.
const DIGITS: usize = 12;

/// The beginning of a digest.
pub fn short(id: &str) -> &str {
    let end = id.find(':').map_or(0, |colon| colon + 1) + DIGITS;
    id.get(..end).unwrap_or(id)
}

/// Who ran something, where that is known.
pub fn by(who: &str) -> String {
    if who.is_empty() { String::new() } else { format!(" by {who}") }
}

/// When an apply began, who ran it, and when it ended, to the second; `running` is the one that is running.
pub fn times(apply: &ApplySummary, running: Option<ApplyId>) -> String {
    let end = match apply.finished {
        Some(finished) => format!("ended {}", finished.to_second()),
        None if running == Some(apply.id) => "running".to_owned(),
        None => "never ended".to_owned(),
    };
    format!("begun {}{}, {end}", apply.new.started.to_second(), by(&apply.new.who))
}

/// How many hosts had which outcome, orphans too; how many there were, where it did not end.
pub fn hosts(apply: &ApplySummary) -> String {
    if apply.outcomes.is_empty() {
        return counted(apply.new.hosts, "host");
    }
    let outcomes = apply.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}"));
    outcomes.collect::<Vec<_>>().join(", ")
}

/// How many updates took effect, and how many perhaps did.
pub fn updates(apply: &ApplySummary) -> String {
    let done = format!("{} done", counted(apply.updates_done, "update"));
    match apply.updates_open {
        0 => done,
        open => format!("{done}, {open} perhaps done"),
    }
}

/// The outcomes of its hosts and updates.
pub fn totals(apply: &ApplySummary) -> String {
    format!("{}; {}", hosts(apply), updates(apply))
}

impl TextPage<'_> {
    /// Adds an apply in a list; `running` is the one that is running.
    pub fn apply(&mut self, apply: &ApplySummary, running: Option<ApplyId>) {
        self.line(2, &format!("{}: {}", apply.id.0, times(apply, running)));
        self.line(4, &format!("{}; plan {}", totals(apply), short(&apply.new.plan)));
        remarks(apply).iter().for_each(|remark| self.line(4, remark));
    }
}

/// Whether resuming an apply would do anything: it did not end, or left more than stale hosts. The records of a stale
/// host are not as the plan saw them, and only a new plan can say what to do about that.
pub fn has_more_to_do(apply: &ApplySummary) -> bool {
    let is_over = |word: &String| {
        OutcomeCode::parse(word).is_some_and(|outcome| outcome.is_done() || outcome == OutcomeCode::Stale)
    };
    apply.finished.is_none() || !apply.outcomes.keys().all(is_over)
}

/// What else there is to say of an apply: why it was run, what it undoes, who resumed it.
pub fn remarks(apply: &ApplySummary) -> Vec<String> {
    let reason = apply.new.reason.iter().map(|reason| format!("reason: {reason}"));
    let undoes = apply.new.undoes.iter().map(|undone| format!("undoes apply {}", undone.0));
    let resumed = apply.resumed.iter().map(|Resumption { at, who, reason }| {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("resumed {}{}{reason}", at.to_second(), by(who))
    });
    reason.chain(undoes).chain(resumed).collect()
}

/// An apply for documents.
#[derive(Debug, Serialize)]
pub struct ApplyView<'a> {
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
    /// Whether it is running.
    running: bool,
    /// Who ran it.
    who: &'a str,
    /// Why.
    reason: Option<&'a str>,
    /// The apply that it undoes.
    undoes: Option<u64>,
    /// Who resumed it.
    resumed: Vec<ResumptionView<'a>>,
    /// How many hosts it was to change.
    hosts: usize,
    /// The hosts of each outcome.
    outcomes: &'a BTreeMap<String, usize>,
    /// How many updates took effect.
    updates_done: usize,
    /// How many perhaps did.
    updates_open: usize,
}

/// One time that an apply was resumed.
#[derive(Debug, Serialize)]
struct ResumptionView<'a> {
    /// When.
    at: String,
    /// Who did it.
    who: &'a str,
    /// Why.
    reason: Option<&'a str>,
}

/// An apply for documents; `running` is the one that is running.
pub fn view(apply: &ApplySummary, running: Option<ApplyId>) -> ApplyView<'_> {
    ApplyView {
        id: apply.id.0,
        plan: &apply.new.plan,
        effect: &apply.new.effect,
        started: apply.new.started.to_string(),
        finished: apply.finished.map(|finished| finished.to_string()),
        running: running == Some(apply.id),
        who: &apply.new.who,
        reason: apply.new.reason.as_deref(),
        undoes: apply.new.undoes.map(|undone| undone.0),
        resumed: apply.resumed.iter().map(resumption).collect(),
        hosts: apply.new.hosts,
        outcomes: &apply.outcomes,
        updates_done: apply.updates_done,
        updates_open: apply.updates_open,
    }
}

/// A resumption for documents.
fn resumption(resumption: &Resumption) -> ResumptionView<'_> {
    let Resumption { at, who, reason } = resumption;
    ResumptionView { at: at.to_string(), who, reason: reason.as_deref() }
}
