//! How far each unit is, shared by the writers of all zones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::Orders;
use super::batch::UnitPiece;
use super::model::{ApplyEvent, ApplyWatch, OutcomeCode};
use super::survey::{Survey, UnitStanding, UnitVerdict};
use crate::parallel::HELD;
use crate::rollout::{ChangeUnit, UnitSubject, hosts_of};

/// What was done for a unit, and why not everything.
#[derive(Debug, Clone, Default)]
pub struct UnitState {
    /// The places of the changes that were made, according to the server.
    pub done: Vec<usize>,
    /// Why the rest is not.
    pub verdict: Option<UnitVerdict>,
}

/// A unit of which nothing is done yet but what an earlier part of the apply did.
fn made_already(survey: &Survey<'_>, unit: &ChangeUnit) -> UnitState {
    let done = unit.changes.iter().copied().filter(|place| survey.made[*place]).collect();
    UnitState { done, verdict: None }
}

/// Why a unit is left that is in no wave yet.
fn later() -> UnitVerdict {
    UnitVerdict { outcome: OutcomeCode::NotReached, message: "it goes with a later wave".to_owned(), hint: None }
}

/// The state of an apply.
pub struct ApplyBoard<'a> {
    /// What was known before.
    pub survey: &'a Survey<'a>,
    /// Who gets the events.
    watch: &'a dyn ApplyWatch,
    /// How it is to be done.
    pub orders: &'a Orders,
    /// The units.
    units: Vec<Mutex<UnitState>>,
    /// The latest number of a batch.
    number: AtomicU64,
    /// How many hosts failed.
    failures: AtomicUsize,
    /// Whether nothing more is to be sent.
    stopped: AtomicBool,
    /// Whether a primary can no longer be asked.
    lost: AtomicBool,
    /// Why the journal could not be kept, where it could not.
    halted: Mutex<Option<String>>,
}

impl<'a> ApplyBoard<'a> {
    /// Begins: units that the survey left out, and those that are not in the wave, stay as they are.
    pub fn new(survey: &'a Survey<'a>, orders: &'a Orders, watch: &'a dyn ApplyWatch) -> ApplyBoard<'a> {
        let board = ApplyBoard {
            survey,
            watch,
            orders,
            units: survey.units.iter().map(|unit| Mutex::new(made_already(survey, unit))).collect(),
            number: AtomicU64::new(orders.sent),
            failures: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            halted: Mutex::new(None),
        };
        for (unit, standing) in survey.standings.iter().enumerate() {
            match standing {
                UnitStanding::Open if orders.wave.includes(unit) => board.tell_if_through(unit),
                UnitStanding::Open => board.leave_unit(unit, &later()),
                UnitStanding::Already => board.tell_hosts(unit),
                UnitStanding::Left(verdict) => board.leave_unit(unit, verdict),
            }
        }
        board
    }

    /// The number of the next batch.
    pub fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports an event; if it cannot be kept, nothing else is sent.
    pub fn tell(&self, event: ApplyEvent<'_>) -> bool {
        self.tell_all(&[event])
    }

    /// Reports several events; if they cannot be kept, nothing else is sent.
    pub fn tell_all(&self, events: &[ApplyEvent<'_>]) -> bool {
        match self.watch.events(events) {
            Ok(()) => true,
            Err(error) => {
                self.stopped.store(true, Ordering::SeqCst);
                self.halted.lock().expect(HELD).get_or_insert(error.to_string());
                false
            }
        }
    }

    /// Waits before something is tried again.
    pub fn wait(&self, pause: std::time::Duration) {
        self.watch.wait(pause);
    }

    /// Whether nothing more is to be sent.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) || self.watch.is_interrupted()
    }

    /// Notes that a primary can no longer be asked.
    pub fn note_lost(&self) {
        self.lost.store(true, Ordering::SeqCst);
    }

    /// Whether a primary can no longer be asked.
    pub fn is_any_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// Whether a unit is still to be written.
    pub fn is_alive(&self, unit: usize) -> bool {
        self.survey.standings[unit] == UnitStanding::Open && self.unit(unit).verdict.is_none()
    }

    /// Whether a piece is still to be written.
    pub fn is_to_do(&self, piece: &UnitPiece) -> bool {
        self.is_alive(piece.unit) && !self.unit(piece.unit).done.contains(&piece.changes[0])
    }

    /// Notes that pieces were written.
    pub fn done(&self, pieces: &[UnitPiece]) {
        for piece in pieces {
            let mut state = self.unit(piece.unit);
            state.done.extend(&piece.changes);
            drop(state);
            self.tell_if_through(piece.unit);
        }
    }

    /// Reports that the hosts of a unit are finished, if all of it was done.
    fn tell_if_through(&self, unit: usize) {
        let done = self.unit(unit).done.len();
        if done == self.survey.units[unit].changes.len() {
            self.tell_hosts(unit);
        }
    }

    /// Notes why pieces are not written, and their units no further.
    pub fn leave(&self, pieces: &[UnitPiece], verdict: &UnitVerdict) {
        pieces.iter().for_each(|piece| self.leave_unit(piece.unit, verdict));
    }

    /// Notes that pieces may still be written, as an update of theirs may take effect late; earlier verdicts on them,
    /// such as "left as it is", are no longer proven.
    pub fn doubt(&self, pieces: &[UnitPiece], verdict: &UnitVerdict) {
        for piece in pieces {
            if let Some(said) = &mut self.unit(piece.unit).verdict {
                *said = verdict.clone();
            }
            self.leave_unit(piece.unit, verdict);
        }
    }

    /// Notes why a unit is written no further.
    fn leave_unit(&self, unit: usize, verdict: &UnitVerdict) {
        let mut state = self.unit(unit);
        if state.verdict.is_some() {
            return;
        }
        state.verdict = Some(verdict.clone());
        drop(state);
        if verdict.outcome != OutcomeCode::NotReached {
            let hosts = self.hosts(unit).len();
            let failures = self.failures.fetch_add(hosts, Ordering::SeqCst) + hosts;
            if self.orders.max_failures.is_some_and(|max| failures >= max) {
                self.stopped.store(true, Ordering::SeqCst);
            }
        }
        self.tell_hosts(unit);
    }

    /// Why nothing else is sent after a stop, for the hosts that are not yet processed.
    pub fn stop_verdict(&self) -> UnitVerdict {
        let halted = self.halted.lock().expect(HELD);
        let is_interrupted = self.watch.is_interrupted();
        let (message, hint) = match (&*halted, self.orders.max_failures) {
            (Some(error), _) => {
                (format!("the apply stopped: {error}"), "fix the state's disk; then `zonewright resume` continues")
            }
            (None, _) if is_interrupted => {
                ("the apply was interrupted".to_owned(), "`zonewright resume` continues where it ended")
            }
            (None, Some(max)) => (
                format!("the apply stopped after {max} failed hosts"),
                "look at the failed hosts; `zonewright resume` continues where it ended",
            ),
            (None, None) => ("the apply stopped".to_owned(), "`zonewright resume` continues where it ended"),
        };
        UnitVerdict { outcome: OutcomeCode::NotReached, message, hint: Some(hint.to_owned()) }
    }

    /// Ends: the units, and why the journal could not be kept.
    pub fn finish(self) -> (Vec<UnitState>, Option<String>) {
        let units = self.units.into_iter().map(|unit| unit.into_inner().expect(HELD)).collect();
        (units, self.halted.into_inner().expect(HELD))
    }

    /// The state of a unit.
    fn unit(&self, unit: usize) -> std::sync::MutexGuard<'_, UnitState> {
        self.units[unit].lock().expect(HELD)
    }

    /// The hosts of a unit.
    fn hosts(&self, unit: usize) -> Vec<UnitSubject<'_>> {
        hosts_of(self.survey.changes, &self.survey.units[unit])
    }

    /// Reports that the hosts of a unit are finished.
    fn tell_hosts(&self, unit: usize) {
        self.tell(ApplyEvent::Hosts(self.hosts(unit).len()));
    }
}
