//! What happened to zones that were to be made, listed or deleted, as text and for documents.

use std::collections::BTreeSet;

use super::page::TextPage;
use super::summary::counted;
use crate::apply::ZoneOutcome;
use crate::diag::sanitize;
use crate::document::object_in_documents;
use crate::plan::ZoneAction;

impl TextPage<'_> {
    /// Adds how many zones were made, listed or deleted, and how many could not be; nothing where none was tried.
    pub fn zone_verdict(&mut self, outcomes: &[ZoneOutcome]) {
        if outcomes.is_empty() {
            return;
        }
        let failed = outcomes.iter().filter(|outcome| outcome.why.is_some()).count();
        let style = if failed == 0 { self.paint.create.clone() } else { self.paint.alarm.clone() };
        let left = (failed > 0).then(|| format!("{failed} of {} failed", counted(outcomes.len(), "attempt")));
        let said: Vec<String> = zones_done(outcomes).into_iter().chain(left).collect();
        self.painted(0, &style, &format!("Zones: {}.", said.join("; ")));
    }

    /// Adds what happened to zones that were to be made, listed or deleted.
    pub fn zone_changes(&mut self, outcomes: &[ZoneOutcome]) {
        if outcomes.is_empty() {
            return;
        }
        self.heading("Zones that are made or deleted");
        for ZoneOutcome { change, why } in outcomes {
            let zone = sanitize(&format!("{} at {}", change.zone, change.target));
            match why {
                None => self.line(2, &format!("{} {zone}", done_to(change.action))),
                Some(why) => {
                    self.line(2, &format!("not {} {zone}: {}", done_to(change.action), sanitize(&why.message)));
                    why.hint.iter().for_each(|hint| self.line(4, &format!("hint: {}", sanitize(hint))));
                }
            }
        }
    }
}

/// What was done to a zone.
fn done_to(action: ZoneAction) -> &'static str {
    match action {
        ZoneAction::Create => "made",
        ZoneAction::List => "listed",
        ZoneAction::Delete => "deleted",
    }
}

/// How many zones were made, listed or deleted, at whatever targets: `2 zones made, 1 zone deleted`; none where none was.
pub fn zones_done(outcomes: &[ZoneOutcome]) -> Option<String> {
    zones_in_words(outcomes, |outcome| outcome.why.is_none(), "")
}

/// How many zones of these outcomes, by what was to be done with them; none where there are none.
fn zones_in_words(outcomes: &[ZoneOutcome], is_meant: fn(&ZoneOutcome) -> bool, not: &str) -> Option<String> {
    let count = |action: &ZoneAction| {
        let meant = outcomes.iter().filter(|outcome| is_meant(outcome) && outcome.change.action == *action);
        let zones: BTreeSet<String> =
            meant.map(|outcome| format!("{}/{}", outcome.change.pool, outcome.change.zone)).collect();
        (!zones.is_empty()).then(|| format!("{} {not}{}", counted(zones.len(), "zone"), done_to(*action)))
    };
    let counts: Vec<String> = ZoneAction::ALL.iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// How many zones could not be made, listed or deleted, or were left: `1 zone not deleted`; none where all is done.
pub fn zones_left(outcomes: &[ZoneOutcome]) -> Option<String> {
    zones_in_words(outcomes, |outcome| outcome.why.is_some(), "not ")
}

/// A change of a zone, with what happened to it.
pub struct ZoneChangeView<'a>(&'a ZoneOutcome);

impl<'a> ZoneChangeView<'a> {
    /// Those of an outcome; none where there are none.
    pub fn of(outcomes: &'a [ZoneOutcome]) -> Option<Vec<ZoneChangeView<'a>>> {
        (!outcomes.is_empty()).then(|| outcomes.iter().map(ZoneChangeView).collect())
    }
}

object_in_documents!(ZoneChangeView<'_>, view => {
    "action": view.0.change.action,
    "pool": view.0.change.pool,
    "target": view.0.change.target,
    "zone": view.0.change.zone,
    "done": view.0.why.is_none(),
    ? "why": view.0.why.as_ref(),
});
