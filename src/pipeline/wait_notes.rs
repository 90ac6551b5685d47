//! What is said to an operator who waits for later waves: the outcome of each wave, and why the next one does not go yet. Pure.

use std::collections::BTreeSet;

use super::apply::ApplyRun;
use crate::apply::{ApplyOutcome, OutcomeCode, SubjectOutcome};
use crate::claim::Subject;
use crate::inventory::value::{Duration, Time};
use crate::plan::{WaitCode, WaitingSubject};
use crate::state::{GateAsked, GateOutcome};

/// How long the same is not said again: often enough for who looks at the screen, and seldom enough for a log.
const SAID_AGAIN: Duration = Duration::from_secs(300);

/// How many gates are named.
const GATES_NAMED: usize = 3;

/// What was said so far.
#[derive(Debug, Default)]
pub struct WaitNotes {
    /// How many waves were sent.
    waves: usize,
    /// What was said last of what waits, without times that change with each try; and when.
    said: Option<(NoteKey, Time)>,
}

/// What makes a note another one: why it waits, when the next wave can go, and whether that is too late.
type NoteKey = (String, Option<Time>, bool);

impl WaitNotes {
    /// What to say after a try; none where nothing was sent. `earlier` is the outcome before it.
    pub fn wave(&mut self, earlier: Option<&ApplyOutcome>, went: &ApplyRun) -> Option<String> {
        let of = |outcome: &ApplyOutcome, is: &dyn Fn(&SubjectOutcome) -> bool| -> BTreeSet<Subject> {
            outcome.hosts.iter().filter(|host| is(host)).map(|host| host.subject.clone()).collect()
        };
        let new = |is: &dyn Fn(&SubjectOutcome) -> bool| -> BTreeSet<Subject> {
            let known = earlier.map(|earlier| of(earlier, is)).unwrap_or_default();
            &of(&went.applied, is) - &known
        };
        let done = new(&|host| host.outcome.is_done());
        let between = new(&|host| host.is_between);
        let left = new(&|host| !host.outcome.is_done() && host.outcome != OutcomeCode::Waiting);
        let is_sent = went.applied.zones.iter().any(|zone| zone.updates > 0);
        if !is_sent && left.is_empty() {
            return None;
        }
        self.waves += 1;
        let mut clauses = vec![format!("{} changed", counted(&done))];
        if !between.is_empty() {
            clauses.push(format!("{} with both old and new addresses", counted(&between)));
        }
        if !left.is_empty() {
            clauses.push(format!("{} not as planned", counted(&left)));
        }
        if let Some(waiting) = waiting(went) {
            clauses.push(waiting);
        }
        Some(format!("wave {}: {}", self.waves, clauses.join(", ")))
    }

    /// What to say before it waits for a next try; none where that was said a short time ago.
    pub fn wait(&mut self, ran: &ApplyRun, next: Time, now: Time, is_too_late: bool) -> Option<String> {
        let waiting = waiting(ran)?;
        let failed: Vec<&GateAsked> = ran.gates.iter().filter(|asked| asked.outcome == GateOutcome::Failed).collect();
        let others = ran.waiting.iter().filter(|own| may_go(own) && own.code != WaitCode::Gate);
        let first = others.min_by_key(|own| (own.until.is_none(), own.until));
        let known = first.and_then(|own| own.until);
        let first = first.map(|own| format!(" ({}: {})", own.subject, own.message)).unwrap_or_default();
        let gates = gate_clauses(&failed).into_iter().map(|clause| format!("; {clause}")).collect::<String>();
        let why = format!("{waiting} for a later wave{first}{gates}");
        let key = (why.clone(), known, is_too_late);
        let is_said = self.said.as_ref().is_some_and(|(said, at)| *said == key && now < at.plus(SAID_AGAIN));
        if is_said {
            return None;
        }
        self.said = Some((key, now));
        let again = next.from_second();
        let when = match (known, failed.len()) {
            (Some(known), 0) => format!("the next one can go from {} on", known.max(next).from_second()),
            (None, 0) => format!("it is not known when the next one can go; it is tried again at {again}"),
            (Some(known), 1) => format!("others can go from {known} on; it is asked again at {again}"),
            (Some(known), _) => format!("others can go from {known} on; they are asked again at {again}"),
            (None, 1) => format!("it is asked again at {again}"),
            (None, _) => format!("they are asked again at {again}"),
        };
        let too_late = if is_too_late { ", which is after the end of `--wait`" } else { "" };
        Some(format!("{why}; {when}{too_late}"))
    }
}

/// Whether a subject may go although nothing is done for it.
pub fn may_go(waiting: &WaitingSubject) -> bool {
    !matches!(waiting.code, WaitCode::DoesNotFit | WaitCode::Availability)
}

/// How many wait; none where nothing does.
fn waiting(ran: &ApplyRun) -> Option<String> {
    match ran.waiting.len() {
        0 => None,
        1 => Some("1 waits".to_owned()),
        count => Some(format!("{count} wait")),
    }
}

/// The gates that did not pass, each with the last line of what it printed.
fn gate_clauses(failed: &[&GateAsked]) -> Vec<String> {
    let clause = |asked: &&GateAsked| {
        format!("the gate `{}` of {} did not pass: {}", asked.gate, asked.group, last_line(&asked.said))
    };
    let mut clauses: Vec<String> = failed.iter().take(GATES_NAMED).map(clause).collect();
    if failed.len() > GATES_NAMED {
        clauses.push(format!("nor did {} more", failed.len() - GATES_NAMED));
    }
    clauses
}

/// The last line of what a gate printed, of which the lines are joined; where it printed nothing, why it did not pass.
fn last_line(said: &str) -> &str {
    let printed = said.split_once("; it said: ").map(|(_, printed)| printed);
    printed.map_or(said, |printed| printed.rsplit("; ").next().unwrap_or(printed))
}

/// How many hosts or pods.
fn counted(subjects: &BTreeSet<Subject>) -> String {
    let is_host = |subject: &Subject| matches!(subject, Subject::Host(_));
    let what = if subjects.iter().all(is_host) {
        "host"
    } else if subjects.iter().all(|subject| subject.pod_set().is_some()) {
        "pod"
    } else {
        "subject"
    };
    let plural = if subjects.len() == 1 { "" } else { "s" };
    format!("{} {what}{plural}", subjects.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture;

    /// A time, by its minute and second.
    fn at(time: &str) -> Time {
        format!("2026-11-20T02:{time}Z").parse().unwrap()
    }

    /// A host that waits.
    fn host(number: u64, code: WaitCode, message: &str, until: Option<&str>) -> WaitingSubject {
        WaitingSubject {
            code,
            message: message.to_owned(),
            project: "web".to_owned(),
            since: at("00:00"),
            subject: fixture::subject(Some(number)),
            until: until.map(at),
        }
    }

    /// A gate that did not pass.
    fn gate(group: &str, said: &str) -> GateAsked {
        let (group, gate, said) = (group.to_owned(), "health".to_owned(), said.to_owned());
        GateAsked { at: at("00:00"), group, gate, outcome: GateOutcome::Failed, said }
    }

    #[test]
    fn a_note_names_the_gate_that_did_not_pass_and_is_not_repeated_soon() {
        let said = "3 attempts: `sh` failed: exit status: 7; it said: looking; 3 servers are down";
        let shut = host(1, WaitCode::Gate, "the gate `health` did not pass", None);
        let ran = |said: &str| ApplyRun {
            waiting: vec![shut.clone()],
            gates: vec![gate("app", said)],
            ..ApplyRun::default()
        };
        let mut notes = WaitNotes::default();
        let first = notes.wait(&ran(said), at("00:30"), at("00:00"), false).unwrap();
        assert_eq!(
            first,
            "1 waits for a later wave; the gate `health` of app did not pass: 3 servers are down; it is asked again at \
             2026-11-20T02:00:30Z"
        );
        assert_eq!(notes.wait(&ran(said), at("05:29"), at("04:59"), false), None);
        let again = notes.wait(&ran(said), at("05:30"), at("05:00"), false).unwrap();
        assert!(again.ends_with("it is asked again at 2026-11-20T02:05:30Z"), "{again}");
        let changed = notes.wait(&ran("`sh` failed: exit status: 1"), at("06:00"), at("05:30"), true).unwrap();
        let end = ": `sh` failed: exit status: 1; it is asked again at 2026-11-20T02:06:00Z, which is after the end of `--wait`";
        assert!(changed.ends_with(end), "{changed}");
    }

    #[test]
    fn a_note_says_when_the_next_wave_can_go_only_where_that_is_known() {
        let misfit = host(9, WaitCode::DoesNotFit, "it fits no wave", None);
        let down = host(1, WaitCode::Budget, "the budget of `db` is 1, and 1 is down", None);
        let settles = host(2, WaitCode::Location, "some of `web` are in flux", Some("10:00"));
        let note = |waiting: &[&WaitingSubject], gates: Vec<GateAsked>| {
            let waiting = waiting.iter().map(|own| (*own).clone()).collect();
            let ran = ApplyRun { waiting, gates, ..ApplyRun::default() };
            WaitNotes::default().wait(&ran, at("00:30"), at("00:00"), false).unwrap()
        };
        assert_eq!(
            note(&[&down, &misfit], Vec::new()),
            "2 wait for a later wave (host:1: the budget of `db` is 1, and 1 is down); it is not known when the next one \
             can go; it is tried again at 2026-11-20T02:00:30Z"
        );
        assert_eq!(
            note(&[&down, &settles], Vec::new()),
            "2 wait for a later wave (host:2: some of `web` are in flux); the next one can go from 2026-11-20T02:10:00Z on"
        );
        let gates = ["a", "b", "c", "d"].map(|group| gate(group, "`false` failed")).to_vec();
        let all = note(&[&settles], gates);
        let end = "; nor did 1 more; others can go from 2026-11-20T02:10:00Z on; they are asked again at 2026-11-20T02:00:30Z";
        assert!(all.ends_with(end), "{all}");
    }
}
