//! A plan to updates, and their outcome: exactly the plan, or nothing.
//!
//! Comes in: a plan, and the writers of the zones that it changes. Goes out: what was written of each unit and why not
//! everything; and an event before and after every update. The first event must be durable before the update is sent.
//! Nothing is decided here: each change is sent as planned, with what the plan saw as its prerequisite, or it is not
//! sent.
//!
//! | part | what it does |
//! |---|---|
//! | `accept` | pure: whether a plan may be applied at all |
//! | `shape` | pure: whether a plan holds only what a plan can hold |
//! | `order` | pure: changes to phases |
//! | `lane` | reads what is there in the copies that go through the phases together, before anything is sent |
//! | `survey` | all lanes of a plan |
//! | `batch` | pure: units to batches |
//! | `writer` | writes one copy of a zone |
//! | `sent_batch` | what is known of a batch that was sent |
//! | `flight_reader` | which batches took effect whose answers were lost |
//! | `board` | how far each unit is in a lane |
//! | `quorum` | pure: which units may still be written, where targets vote |
//! | `hub` | what the lanes share |
//! | `compare` | pure: what is there against what the plan says |

pub mod accept;

mod batch;

mod board;

pub mod compare;

mod hub;

pub mod lane;

pub mod model;

pub mod order;

pub mod quorum;

mod sent_batch;

pub mod shape;

mod survey;

mod writer;

mod flight_reader;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::panic::resume_unwind;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::diag::Problem;
use crate::parallel::side_by_side;
use crate::rollout::Wave;
use crate::target::{Answer, CopyId, Question, ZoneId};

use self::batch::UnitPiece;
use self::board::ApplyBoard;
pub use self::board::{UnitRace, UnitState};
use self::hub::ApplyHub;
pub use self::lane::{
    CopyAccess, LaneSurvey, MadeBefore, PoolShare, SurveyedCopy, UnitStanding, UnitVerdict, standing_marker,
};
pub use self::model::{
    ApplyEnding, ApplyEvent, ApplyOutcome, ApplyWatch, Batch, BatchOutcome, MarkerSwap, OutcomeCode, Phase,
    SubjectOutcome, TargetLack, ZoneOutcome, ZoneWritten,
};
pub use self::quorum::VoteTerms;
pub use self::survey::{StepRoom, Survey, survey};
use self::writer::{PhasePieces, ZoneWriter};

/// How many zones are written or read side by side. Most of the time is the servers'.
pub const SIDE_BY_SIDE: usize = 8;

/// How a wave of a plan is to be applied.
#[derive(Debug)]
pub struct Orders {
    /// The units that go now, with the leave to write them.
    pub wave: Wave,
    /// What distinguishes the markers of this run from those of another run with the same plan: 1 to 999 999 999.
    pub run: u64,
    /// How many updates earlier parts of this apply sent: the numbers of further ones follow.
    pub sent: u64,
    /// The greatest epoch that the state knows of each copy.
    pub epochs: BTreeMap<CopyId, u64>,
    /// After how many failed hosts nothing more is sent.
    pub max_failures: Option<usize>,
}

/// What was written.
pub struct PlanWritten<'a> {
    /// What was known before.
    pub survey: Survey<'a>,
    /// What was done in each lane for each unit, and why not everything.
    pub lanes: Vec<Vec<UnitState>>,
    /// Why each unit was given up in all lanes, where it was.
    pub ends: Vec<Option<UnitVerdict>>,
    /// What was sent to each copy that can be written.
    pub zones: Vec<ZoneWritten>,
    /// Why the journal could not be kept, where it could not.
    pub halted: Option<String>,
    /// From the first phase to the end of the last.
    pub took: Duration,
}

impl PlanWritten<'_> {
    /// The copies in which something was changed, as their servers say.
    pub fn copies(&self) -> impl Iterator<Item = CopyId> {
        let of_lane = |(lane, units): (&'_ LaneSurvey<'_>, &'_ Vec<UnitState>)| -> BTreeSet<CopyId> {
            let done = units.iter().flat_map(|unit| &unit.done);
            done.map(|place| lane.copy_of(&self.survey.changes[*place])).collect()
        };
        self.survey.lanes.iter().zip(&self.lanes).flat_map(of_lane)
    }
}

/// What the RRsets of a lane are read as that were written, by the place of their change.
pub type LaneReadBack = HashMap<usize, Result<Answer, Problem>>;

/// What was read back in each lane; without any where nothing was written.
pub type ReadBack = Vec<LaneReadBack>;

/// Writes the open units of a wave: lanes side by side, each phase by phase and its zones side by side.
pub fn write<'a>(survey: Survey<'a>, orders: &Orders, watch: &dyn ApplyWatch) -> PlanWritten<'a> {
    let started = Instant::now();
    let hub = ApplyHub::new(&survey, orders, watch);
    let boards: Vec<ApplyBoard<'_>> = (0..survey.lanes.len()).map(|lane| ApplyBoard::new(&hub, lane)).collect();
    let mut zones = write_lanes(&boards);
    let lanes = boards.into_iter().map(ApplyBoard::finish).collect();
    let (ends, halted) = hub.finish();
    zones.sort_by(|a, b| (&a.zone, &a.pool, &a.target).cmp(&(&b.zone, &b.pool, &b.target)));
    PlanWritten { survey, lanes, ends, zones, halted, took: started.elapsed() }
}

/// Writes all lanes: the first on the thread of the caller, each other on one of its own, since lanes wait for one another.
fn write_lanes(boards: &[ApplyBoard<'_>]) -> Vec<ZoneWritten> {
    let Some((first, others)) = boards.split_first() else { return Vec::new() };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for board in others {
            match Builder::new().spawn_scoped(scope, move || write_lane(board)) {
                Ok(thread) => threads.push(thread),
                Err(error) => board.leave_all(&no_thread(&error)),
            }
        }
        let mut zones = write_lane(first);
        // A panic in one lane goes on as it is.
        threads.into_iter().for_each(|thread| zones.extend(thread.join().unwrap_or_else(|cause| resume_unwind(cause))));
        zones
    })
}

/// Why a lane cannot begin.
fn no_thread(error: &io::Error) -> UnitVerdict {
    let hint = "let this system run more threads, and then `zonewright resume`".to_owned();
    let message = format!("the system gives no thread to write to the target: {error}");
    UnitVerdict { outcome: OutcomeCode::NotReached, message, hint: Some(hint) }
}

/// Writes a lane: phase by phase, its zones side by side.
fn write_lane(board: &ApplyBoard<'_>) -> Vec<ZoneWritten> {
    let mut writers: Vec<ZoneWriter<'_>> = board.lane.copies.iter().map(|zone| ZoneWriter::new(board, zone)).collect();
    for phase in Phase::ALL {
        while write_ready(board, &mut writers, phase) {}
    }
    writers.into_iter().map(ZoneWriter::finish).collect()
}

/// Writes what may be written of a phase; where all that is left waits for other pools, waits until one of them goes on.
/// Gives whether more of the phase is left.
fn write_ready<'a>(board: &ApplyBoard<'_>, writers: &mut [ZoneWriter<'a>], phase: Phase) -> bool {
    let (hub, mut waits) = (board.hub, false);
    let seen = hub.changes();
    let mut work: Vec<(Vec<UnitPiece>, &mut ZoneWriter<'a>)> = Vec::new();
    for writer in writers {
        let PhasePieces { ready, waits: some_wait } = writer.pieces(phase);
        waits |= some_wait;
        if !ready.is_empty() {
            work.push((ready, writer));
        }
    }
    if waits && work.is_empty() {
        hub.await_change(seen);
    }
    side_by_side(work, hub.survey.at_once, |(pieces, writer): (_, &mut ZoneWriter<'_>)| writer.write(phase, pieces));
    waits
}

/// Reads back every RRset that was written, lanes and their zones side by side.
pub fn read_back(written: &PlanWritten<'_>) -> ReadBack {
    let PlanWritten { survey, lanes, .. } = written;
    let lanes: Vec<_> = survey.lanes.iter().zip(lanes).collect();
    let count = lanes.len();
    side_by_side(lanes, count, |(lane, units)| read_lane_back(lane, units, survey.at_once))
}

/// Reads back what was written in a lane, so many zones side by side.
fn read_lane_back(lane: &LaneSurvey<'_>, units: &[UnitState], at_once: usize) -> LaneReadBack {
    let mut by_zone: BTreeMap<ZoneId, Vec<usize>> = BTreeMap::new();
    for place in units.iter().flat_map(|unit| &unit.done) {
        by_zone.entry(lane.changes[*place].zone_id()).or_default().push(*place);
    }
    let copies = lane.copies.iter().filter_map(|copy| Some((copy, by_zone.remove(&copy.copy.zone_id())?))).collect();
    let read = side_by_side(copies, at_once, |(zone, places): (&SurveyedCopy<'_>, Vec<usize>)| {
        let questions: Vec<_> = places.iter().map(|place| Question::of(&lane.changes[*place].key)).collect();
        let answers = zone.writer.observe(&zone.copy.zone, &questions, zone.rrsets);
        match answers {
            Ok(answers) => places.into_iter().zip(answers.into_iter().map(Ok)).collect(),
            Err(error) => places.into_iter().map(|place| (place, Err(error.clone()))).collect::<Vec<_>>(),
        }
    });
    read.into_iter().flatten().collect()
}
