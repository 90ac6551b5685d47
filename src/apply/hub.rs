//! What the lanes of an apply share: its events, the numbers of batches, the stop, and which units are given up.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::Orders;
use super::lane::{LaneSurvey, UnitStanding, UnitVerdict};
use super::model::{ApplyEvent, ApplyWatch, OutcomeCode};
use super::quorum::{LaneProgress, Quorum, UnitTurn};
use super::survey::Survey;
use crate::parallel::HELD;
use crate::rollout::hosts_of;

/// How long a lane sleeps at most before it looks again whether the apply is to end.
const NAP: Duration = Duration::from_millis(100);

/// How far all units are, and how often that changed.
struct SharedQuorum {
    /// How far they are.
    quorum: Quorum,
    /// How often anything changed.
    changes: u64,
}

/// The state of an apply.
pub struct ApplyHub<'a> {
    /// What was known before.
    pub survey: &'a Survey<'a>,
    /// Who gets the events.
    watch: &'a dyn ApplyWatch,
    /// How it is to be done.
    pub orders: &'a Orders,
    /// How far all units are.
    shared: Mutex<SharedQuorum>,
    /// Woken whenever that changes.
    changed: Condvar,
    /// In how many lanes each unit is still to be finished.
    open: Vec<AtomicUsize>,
    /// Why each unit is given up, where it is.
    ends: Vec<Mutex<Option<UnitVerdict>>>,
    /// The latest number of a batch.
    number: AtomicU64,
    /// How many hosts failed.
    failures: AtomicUsize,
    /// Whether nothing more is to be sent.
    stopped: AtomicBool,
    /// Why the journal could not be kept, where it could not.
    halted: Mutex<Option<String>>,
}

impl<'a> ApplyHub<'a> {
    /// Begins.
    pub fn new(survey: &'a Survey<'a>, orders: &'a Orders, watch: &'a dyn ApplyWatch) -> ApplyHub<'a> {
        let lanes = || survey.lanes.iter();
        let has = |unit: usize| move |lane: &&LaneSurvey<'_>| !lane.places[unit].is_empty();
        let units = 0..survey.units.len();
        let progress = units.clone().map(|unit| lanes().map(|lane| begun(survey, lane, unit)).collect());
        let votes = lanes().map(|lane| lane.votes.clone()).collect();
        let quorum = Quorum::new(votes, survey.terms.clone(), progress.collect());
        let open = |unit| AtomicUsize::new(lanes().filter(has(unit)).count());
        let hub = ApplyHub {
            survey,
            watch,
            orders,
            shared: Mutex::new(SharedQuorum { quorum, changes: 0 }),
            changed: Condvar::new(),
            open: units.clone().map(open).collect(),
            ends: units.map(|_| Mutex::new(None)).collect(),
            number: AtomicU64::new(orders.sent),
            failures: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            halted: Mutex::new(None),
        };
        hub.note_left_out();
        hub
    }

    /// Notes which units the plan left out in some lane.
    fn note_left_out(&self) {
        for (place, lane) in self.survey.lanes.iter().enumerate() {
            for unit in 0..self.survey.units.len() {
                if let Some(verdict) = lane.missed(unit) {
                    self.fail(unit, place, &verdict);
                }
            }
        }
    }

    /// The number of the next batch.
    pub fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports events; if they cannot be kept, nothing else is sent.
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
    pub fn wait(&self, pause: Duration) {
        self.watch.wait(pause);
    }

    /// Whether nothing more is to be sent.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) || self.watch.is_interrupted()
    }

    /// Whether a signal asks the apply to end.
    pub fn is_interrupted(&self) -> bool {
        self.watch.is_interrupted()
    }

    /// Whether a unit is given up in all lanes.
    pub fn is_over(&self, unit: usize) -> bool {
        self.ends[unit].lock().expect(HELD).is_some()
    }

    /// Whether a unit may go on with a phase in a lane. After a stop nothing is waited for.
    pub fn turn(&self, unit: usize, lane: usize, phase: usize) -> UnitTurn {
        if self.survey.terms.len() == 1 || self.is_stopped() {
            return UnitTurn::Go;
        }
        self.shared.lock().expect(HELD).quorum.turn(unit, lane, phase)
    }

    /// Whether what needs the changes of a unit before a phase may go on in a lane. After a stop nothing is waited for.
    pub fn turn_after(&self, unit: usize, lane: usize, phase: usize) -> UnitTurn {
        if self.is_stopped() {
            return UnitTurn::Go;
        }
        self.shared.lock().expect(HELD).quorum.turn_after(unit, lane, phase)
    }

    /// Why a unit is given up in all lanes, where it is.
    pub fn end_of(&self, unit: usize) -> Option<UnitVerdict> {
        self.ends[unit].lock().expect(HELD).clone()
    }

    /// How often the progress of any unit changed.
    pub fn changes(&self) -> u64 {
        self.shared.lock().expect(HELD).changes
    }

    /// Waits until the progress of some unit changes that had changed so often, or until the apply is to end.
    pub fn await_change(&self, seen: u64) {
        let mut shared = self.shared.lock().expect(HELD);
        while shared.changes == seen && !self.is_stopped() {
            shared = self.changed.wait_timeout(shared, NAP).expect(HELD).0;
        }
    }

    /// Changes the quorum, and wakes who waits for that.
    fn change(&self, change: impl FnOnce(&mut Quorum)) {
        let mut shared = self.shared.lock().expect(HELD);
        shared.changes += 1;
        change(&mut shared.quorum);
        drop(shared);
        self.changed.notify_all();
    }

    /// Notes how many phases a lane is through with a unit.
    pub fn reach(&self, unit: usize, lane: usize, phases: usize) {
        if self.survey.lanes.len() > 1 || !self.survey.needs.is_empty() {
            self.change(|quorum| quorum.reach(unit, lane, phases));
        }
    }

    /// Notes that a lane does not make all of a unit, and why; where the others do not reach the threshold, the unit is
    /// given up everywhere.
    pub fn fail(&self, unit: usize, lane: usize, verdict: &UnitVerdict) {
        // A lane that sees that it is given up must find the cause.
        self.change(|quorum| {
            if quorum.fail(unit, lane) {
                self.end(unit, verdict);
            }
        });
    }

    /// Notes that nothing more can be written in a lane of a pool of several; where the others do not reach the
    /// threshold, all that is left in the pool is given up.
    pub fn lose(&self, lane: usize, verdict: &UnitVerdict) {
        self.change(|quorum| quorum.lose(lane).into_iter().for_each(|unit| self.end(unit, verdict)));
    }

    /// Gives a unit up.
    fn end(&self, unit: usize, verdict: &UnitVerdict) {
        self.ends[unit].lock().expect(HELD).get_or_insert_with(|| verdict.clone());
        if !matches!(verdict.outcome, OutcomeCode::NotReached | OutcomeCode::Waiting) {
            let hosts = self.host_count(unit);
            let failures = self.failures.fetch_add(hosts, Ordering::SeqCst) + hosts;
            if self.orders.max_failures.is_some_and(|max| failures >= max) {
                self.stopped.store(true, Ordering::SeqCst);
            }
        }
        self.open[unit].store(1, Ordering::SeqCst);
    }

    /// Notes that a unit is finished in a lane; reports its hosts once it is in all of them.
    pub fn finish_unit(&self, unit: usize) {
        let less = |open: usize| (open > 1).then(|| open - 1);
        if self.open[unit].fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_err() {
            self.tell_all(&[ApplyEvent::Hosts(self.host_count(unit))]);
        }
    }

    /// How many hosts a unit has.
    fn host_count(&self, unit: usize) -> usize {
        hosts_of(self.survey.changes, &self.survey.units[unit]).len()
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

    /// Ends: why units were given up, and why the journal could not be kept.
    pub fn finish(self) -> (Vec<Option<UnitVerdict>>, Option<String>) {
        let ends = self.ends.into_iter().map(|end| end.into_inner().expect(HELD)).collect();
        (ends, self.halted.into_inner().expect(HELD))
    }
}

/// How far a unit is in a lane before anything is sent.
fn begun(survey: &Survey<'_>, lane: &LaneSurvey<'_>, unit: usize) -> LaneProgress {
    match lane.standings[unit] {
        _ if !lane.has(unit) => LaneProgress::Absent,
        UnitStanding::Already => LaneProgress::Through(super::Phase::ALL.len()),
        // What was made may be gone since.
        _ => LaneProgress::Through(phases_done(survey, &lane.places[unit], |place| {
            lane.made[place] && lane.was_there(place)
        })),
    }
}

/// How many phases come before the first change of these places that is not made.
pub fn phases_done(survey: &Survey<'_>, places: &[usize], is_made: impl Fn(usize) -> bool) -> usize {
    let left = places.iter().filter(|place| !is_made(**place)).map(|place| survey.phases[*place] as usize);
    left.min().unwrap_or(super::Phase::ALL.len())
}
