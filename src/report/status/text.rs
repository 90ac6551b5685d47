//! What a state says, as text: who is at work, what did not end, the last applies, the markers.

use crate::dns::ZoneName;
use crate::plan::Marker;
use crate::report::TextOptions;
use crate::report::page::Page;
use crate::report::summary::counted;
use crate::state::{ApplySummary, Holder, KnownMarker, Memory, Status};

/// What to do about an apply that did not end.
const UNFINISHED: &str = "`zonewright resume` finds out what took effect, and does what is missing";

/// Renders a status.
pub fn render(status: &Status, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    page.head(status);
    if let Some(memory) = &status.memory {
        page.unfinished(status, memory);
        page.applies(status, memory);
        page.markers(memory);
        page.breakers(memory);
    }
    page.out
}

/// Renders which markers a state was told, and of which zones it was told nothing.
pub fn adopted(
    place: &str,
    markers: &[(ZoneName, Option<Marker>)],
    unread: &[ZoneName],
    options: &TextOptions,
) -> String {
    let mut page = Page::new(options);
    for (zone, marker) in markers {
        page.line(0, &zone.to_string());
        page.line(2, &marker.as_ref().map_or_else(|| "no marker".to_owned(), words));
    }
    for zone in unread {
        page.line(0, &zone.to_string());
        page.line(2, "could not be read: what the state knows of it stays as it was");
    }
    let known = format!("the markers of {} are known", counted(markers.len(), "zone"));
    page.line(
        0,
        &match (markers.len(), unread.len()) {
            (0, 0) => format!("State {place}: no zone is fenced by a marker, so that there is none to be known"),
            (_, 0) => format!("State {place}: {known}"),
            (_, unread) => format!("State {place}: {known}, {} left", counted(unread, "zone")),
        },
    );
    page.out
}

impl Page<'_> {
    /// Adds where the state is, and who is at work.
    fn head(&mut self, status: &Status) {
        self.line(
            0,
            &match status.memory {
                Some(_) => format!("State: {}", status.place),
                None => format!("State: none yet at {}; the first `apply` creates it", status.place),
            },
        );
        let Some(Holder { pid, who, since }) = &status.holder else { return self.line(0, "Lock: free") };
        let process = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
        let since = since.map(|since| format!(", since {since}")).unwrap_or_default();
        self.line(0, &format!("Lock: held by {process}{}{since}", of(who)));
    }

    /// Adds the applies that did not end, and what to do.
    fn unfinished(&mut self, status: &Status, memory: &Memory) {
        let broken: Vec<&ApplySummary> = memory.unfinished.iter().filter(|apply| !status.is_running(apply)).collect();
        if broken.is_empty() {
            return;
        }
        self.heading("Unfinished");
        for apply in &broken {
            let done = updates(apply);
            self.line(2, &format!("apply {}, begun {}{}: {done}", apply.id.0, apply.new.started, by(&apply.new.who)));
        }
        self.line(2, &format!("hint: {UNFINISHED}"));
    }

    /// Adds the last applies.
    fn applies(&mut self, status: &Status, memory: &Memory) {
        if memory.applies.is_empty() {
            return self.line(0, "Applies: none yet");
        }
        self.heading(if self.options.verbose { "Applies" } else { "Last applies" });
        for apply in &memory.applies {
            let end = match apply.finished {
                Some(finished) => format!("ended {finished}"),
                None if status.is_running(apply) => "at work".to_owned(),
                None => "never ended".to_owned(),
            };
            self.line(2, &format!("{}: begun {}{}, {end}", apply.id.0, apply.new.started, by(&apply.new.who)));
            self.line(4, &format!("{}; {}; plan {}", hosts(apply), updates(apply), short(&apply.new.plan)));
            if let Some(reason) = &apply.new.reason {
                self.line(4, &format!("reason: {reason}"));
            }
        }
    }

    /// Adds the markers, zone by zone.
    fn markers(&mut self, memory: &Memory) {
        if memory.markers.is_empty() {
            return;
        }
        self.heading("Markers");
        for (zone, KnownMarker { marker, open }) in super::markers(memory) {
            self.line(2, &zone);
            self.line(4, &marker.as_ref().map_or_else(|| "none known".to_owned(), words));
            for open in open {
                self.line(4, &format!("perhaps: {}", words(open)));
            }
        }
    }

    /// Adds the breakers.
    fn breakers(&mut self, memory: &Memory) {
        if memory.breakers.is_empty() {
            return;
        }
        self.heading("Breakers");
        for breaker in &memory.breakers {
            self.line(2, &format!("{}: tripped {}: {}", breaker.scope, breaker.tripped, breaker.why));
        }
    }
}

/// A marker in words.
fn words(marker: &Marker) -> String {
    format!("epoch {}, update {} of plan {}", marker.epoch, marker.batch, short(&marker.plan))
}

/// Who runs something, where that is known.
fn of(who: &str) -> String {
    if who.is_empty() { String::new() } else { format!(" of {who}") }
}

/// Who ran something, where that is known.
fn by(who: &str) -> String {
    if who.is_empty() { String::new() } else { format!(" by {who}") }
}

/// How many hosts had which outcome, orphans too; how many there were, where it did not end.
fn hosts(apply: &ApplySummary) -> String {
    if apply.outcomes.is_empty() {
        return counted(apply.new.hosts, "host");
    }
    let outcomes = apply.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}"));
    outcomes.collect::<Vec<_>>().join(", ")
}

/// How many updates took effect, and of how many that is not known.
fn updates(apply: &ApplySummary) -> String {
    let done = format!("{} done", counted(apply.updates_done, "update"));
    match apply.updates_open {
        0 => done,
        open => format!("{done}, {open} perhaps"),
    }
}

/// How many hexadecimal digits of a plan's digest are shown; 12 tell all plans of a lifetime apart (no official source).
const DIGITS: usize = 12;

/// The beginning of a digest.
fn short(id: &str) -> &str {
    let end = id.find(':').map_or(0, |colon| colon + 1) + DIGITS;
    id.get(..end).unwrap_or(id)
}
