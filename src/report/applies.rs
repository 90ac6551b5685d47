//! An apply in the journal, in words and as a part of documents.

use super::page::TextPage;
use super::summary::counted;
use crate::apply::OutcomeCode;
use crate::document::object_in_documents;
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
    let sync = apply.is_sync.then(|| "made by `zonewright sync`: what targets lacked".to_owned());
    let undoes = apply.new.undoes.iter().map(|undone| format!("undoes apply {}", undone.0));
    let resumed = apply.resumed.iter().map(|Resumption { at, who, reason }| {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("resumed {}{}{reason}", at.to_second(), by(who))
    });
    reason.chain(sync).chain(undoes).chain(resumed).collect()
}

/// An apply for documents, which say whether it is running.
#[derive(Debug)]
pub struct ApplyView<'a> {
    /// The apply.
    pub apply: &'a ApplySummary,
    /// The one that is running.
    pub running: Option<ApplyId>,
}

object_in_documents!(ApplyView<'_>, view => {
    "id": view.apply.id,
    "plan": view.apply.new.plan,
    "effect": view.apply.new.effect,
    "started": view.apply.new.started,
    "finished": view.apply.finished,
    "running": view.running == Some(view.apply.id),
    "who": view.apply.new.who,
    "reason": view.apply.new.reason,
    "undoes": view.apply.new.undoes,
    "resumed": view.apply.resumed,
    "hosts": view.apply.new.hosts,
    "outcomes": view.apply.outcomes,
    "updates_done": view.apply.updates_done,
    "updates_open": view.apply.updates_open,
    ? "sync": view.apply.is_sync.then_some(true),
});
