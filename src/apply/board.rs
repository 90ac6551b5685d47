//! How far each unit is in a lane, shared by the writers of its copies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::batch::UnitPiece;
use super::hub::{ApplyHub, phases_done};
use super::lane::{LaneSurvey, UnitStanding, UnitVerdict};
use super::model::{ApplyEvent, OutcomeCode, Phase};
use super::quorum::UnitTurn;
use crate::diag::Problem;
use crate::parallel::HELD;
use crate::rollout::board::HeldBack;
use crate::rollout::listed::{NameNeed, NameTie};

/// What was done for a unit, and why not everything.
#[derive(Debug, Clone, Default)]
pub struct UnitState {
    /// The places of the changes that were made, according to the server.
    pub done: Vec<usize>,
    /// Why the rest is not.
    pub verdict: Option<UnitVerdict>,
    /// Whether others may have written at the same time.
    pub race: UnitRace,
}

/// Whether others may have written RRsets of a unit at the same time, unnoticed.
#[derive(Debug, Clone, Default)]
pub enum UnitRace {
    /// They cannot have: what was there before was compared.
    #[default]
    Excluded,
    /// They may have, and nothing shows that they did.
    Possible,
    /// They wrote its zone.
    Seen(UnitVerdict),
}

/// In which phase a unit needs what another one made in the phases before.
fn phase_of(tie: NameTie) -> Phase {
    match tie {
        NameTie::Lists => Phase::Reverse,
        NameTie::Leaves => Phase::Deletes,
    }
}

/// What to do about hosts that a service rejected.
const AFTER_REJECTION: &str = "ask those who run the service; a run asks again after an hour, or at once where `--host` names the host that \
     was rejected. Then `--ignore-cms --reason TEXT` goes on without it";

/// That others may have written at the same time as an earlier part of the apply.
fn raced_earlier() -> UnitVerdict {
    let message =
        "an earlier part of the apply made it, and something else may have written at the same time".to_owned();
    let hint = "look at the records, and plan again: the new plan starts from what is there now".to_owned();
    UnitVerdict { outcome: OutcomeCode::Raced, message, hint: Some(hint) }
}

/// Why a unit is left that does not go with this wave.
fn waits(held: &HeldBack, is_rejected: bool) -> UnitVerdict {
    let (outcome, hint) = if is_rejected {
        (OutcomeCode::Rejected, Some(AFTER_REJECTION.to_owned()))
    } else {
        (OutcomeCode::Waiting, None)
    };
    UnitVerdict { outcome, message: held.message.clone(), hint }
}

/// The state of a lane.
pub struct ApplyBoard<'a> {
    /// What all lanes share.
    pub hub: &'a ApplyHub<'a>,
    /// The number of the lane.
    number: usize,
    /// What was known before.
    pub lane: &'a LaneSurvey<'a>,
    /// The units.
    units: Vec<Mutex<UnitState>>,
    /// Whether a primary can no longer be asked.
    lost: AtomicBool,
}

impl<'a> ApplyBoard<'a> {
    /// Begins: units that the survey left out, and those that are not in the wave, stay as they are.
    pub fn new(hub: &'a ApplyHub<'a>, number: usize) -> ApplyBoard<'a> {
        let lane = &hub.survey.lanes[number];
        let made = |places: &Vec<usize>| places.iter().copied().filter(|place| lane.made[*place]).collect();
        let race = |places: &Vec<usize>| {
            let has_raced = places.iter().any(|place| lane.raced_earlier[*place]);
            if has_raced { UnitRace::Seen(raced_earlier()) } else { UnitRace::Excluded }
        };
        let state = |places| Mutex::new(UnitState { done: made(places), verdict: None, race: race(places) });
        let units = lane.places.iter().map(state).collect();
        let board = ApplyBoard { hub, number, lane, units, lost: AtomicBool::new(false) };
        board.begin();
        board
    }

    /// Notes which units are not to be written.
    fn begin(&self) {
        for (unit, standing) in self.lane.standings.iter().enumerate() {
            if self.lane.places[unit].is_empty() {
                continue;
            }
            match standing {
                UnitStanding::Open => match self.hub.orders.wave.held(unit) {
                    None => self.tell_if_through(unit),
                    Some(held) => self.leave_unit(unit, &waits(held, self.hub.orders.wave.is_rejected(unit))),
                },
                UnitStanding::Already => self.hub.finish_unit(unit),
                UnitStanding::Left(verdict) => self.leave_unit(unit, verdict),
            }
        }
        if let (true, Some(error)) = (self.lane.is_out_of_reach(), self.lane.problems.first()) {
            self.lose(error);
        }
    }

    /// Reports an event; if it cannot be kept, nothing else is sent.
    pub fn tell(&self, event: ApplyEvent<'_>) -> bool {
        self.hub.tell_all(&[event])
    }

    /// Notes that a primary can no longer be asked, and why.
    pub fn note_lost(&self, error: &Problem) {
        self.lost.store(true, Ordering::SeqCst);
        self.lose(error);
    }

    /// Gives up the target, where its pool has several.
    fn lose(&self, error: &Problem) {
        if self.lane.target.is_some() {
            self.hub.lose(self.number, &UnitVerdict::of_error(OutcomeCode::NotReached, error));
        }
    }

    /// Whether a primary can no longer be asked.
    pub fn is_any_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// Whether a unit is still to be written.
    fn is_alive(&self, unit: usize) -> bool {
        self.lane.standings[unit] == UnitStanding::Open && self.unit(unit).verdict.is_none() && !self.hub.is_over(unit)
    }

    /// Whether a piece is still to be written.
    pub fn is_to_do(&self, piece: &UnitPiece) -> bool {
        self.is_alive(piece.unit) && !self.unit(piece.unit).done.contains(&piece.changes[0])
    }

    /// Whether a piece may be written in a phase now.
    pub fn turn(&self, piece: &UnitPiece, phase: Phase) -> UnitTurn {
        match self.hub.turn(piece.unit, self.number, phase as usize) {
            UnitTurn::Go => self.turn_of_names(piece.unit, phase),
            turn => turn,
        }
    }

    /// Whether a unit may be written in a phase now, because of the names that SRV list. A unit is left as soon as what it needs
    /// will not be made.
    fn turn_of_names(&self, unit: usize, phase: Phase) -> UnitTurn {
        let mut waits = false;
        for need in self.hub.survey.needs.of_unit(unit) {
            let needed_in = phase_of(need.tie);
            match self.hub.turn_after(need.unit, self.number, needed_in as usize) {
                UnitTurn::Go => {}
                UnitTurn::Wait => waits |= phase >= needed_in,
                UnitTurn::Over => {
                    self.leave_unit(unit, &self.unmet(need));
                    return UnitTurn::Over;
                }
            }
        }
        if waits { UnitTurn::Wait } else { UnitTurn::Go }
    }

    /// Why a unit is left that needs another one which was not made: its outcome is that of the other one.
    fn unmet(&self, need: &NameNeed) -> UnitVerdict {
        let here = self.unit(need.unit).verdict.clone();
        let verdict = here.or_else(|| self.hub.end_of(need.unit)).unwrap_or_else(|| self.hub.stop_verdict());
        UnitVerdict { message: need.unmet(&verdict.message), ..verdict }
    }

    /// Notes that pieces were written.
    pub fn done(&self, pieces: &[UnitPiece]) {
        for piece in pieces {
            self.unit(piece.unit).done.extend(&piece.changes);
            self.tell_if_through(piece.unit);
        }
    }

    /// Notes that pieces were written where nothing is compared.
    pub fn expose(&self, pieces: &[UnitPiece]) {
        for piece in pieces {
            let race = &mut self.unit(piece.unit).race;
            if matches!(race, UnitRace::Excluded) {
                *race = UnitRace::Possible;
            }
        }
    }

    /// Notes that others wrote the zone of pieces at the same time.
    pub fn race(&self, pieces: &[UnitPiece], error: &Problem) {
        let verdict = UnitVerdict::of_error(OutcomeCode::Raced, error);
        pieces.iter().for_each(|piece| self.unit(piece.unit).race = UnitRace::Seen(verdict.clone()));
    }

    /// Reports how far a unit is, and that its hosts are finished if all of it was done.
    fn tell_if_through(&self, unit: usize) {
        let places = &self.lane.places[unit];
        let state = self.unit(unit);
        let done = state.done.len();
        let phases = phases_done(self.hub.survey, places, |place| state.done.contains(&place));
        drop(state);
        self.hub.reach(unit, self.number, phases);
        if done == places.len() {
            self.hub.finish_unit(unit);
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

    /// Notes why a unit is written no further here.
    fn leave_unit(&self, unit: usize, verdict: &UnitVerdict) {
        let mut state = self.unit(unit);
        if state.verdict.is_some() {
            return;
        }
        state.verdict = Some(verdict.clone());
        drop(state);
        self.hub.fail(unit, self.number, verdict);
        self.hub.finish_unit(unit);
    }

    /// Leaves all that is still to be written: the lane cannot begin.
    pub fn leave_all(&self, verdict: &UnitVerdict) {
        let open = (0..self.units.len()).filter(|unit| !self.lane.places[*unit].is_empty() && self.is_alive(*unit));
        open.for_each(|unit| self.leave_unit(unit, verdict));
    }

    /// Ends: the units.
    pub fn finish(self) -> Vec<UnitState> {
        self.units.into_iter().map(|unit| unit.into_inner().expect(HELD)).collect()
    }

    /// The state of a unit.
    fn unit(&self, unit: usize) -> MutexGuard<'_, UnitState> {
        self.units[unit].lock().expect(HELD)
    }
}
