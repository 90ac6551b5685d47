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
//! | `survey` | reads what is there before anything is sent |
//! | `batch` | pure: units to batches |
//! | `writer` | writes one zone |
//! | `board` | how far each unit is |
//! | `compare` | pure: what is there against what the plan says |

pub mod accept;

mod batch;

mod board;

pub mod compare;

pub mod model;

pub mod order;

pub mod shape;

pub mod survey;

mod writer;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::diag::Problem;
use crate::parallel::side_by_side;
use crate::rollout::Wave;
use crate::target::{Answer, CopyId, Question, ZoneId};

use self::board::ApplyBoard;
pub use self::board::UnitState;
pub use self::model::{
    ApplyEnding, ApplyEvent, ApplyOutcome, ApplyWatch, Batch, BatchOutcome, MarkerSwap, OutcomeCode, Phase,
    SubjectOutcome, ZoneWritten,
};
pub use self::survey::{CopyAccess, MadeBefore, Survey, SurveyedCopy, UnitStanding, UnitVerdict, survey};
use self::writer::ZoneWriter;

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
    /// What was done for each unit, and why not everything.
    pub units: Vec<UnitState>,
    /// What was sent to each zone that can be written.
    pub zones: Vec<ZoneWritten>,
    /// Why the journal could not be kept, where it could not.
    pub halted: Option<String>,
    /// From the first phase to the end of the last.
    pub took: Duration,
}

/// What the RRsets are read as that were written, by the place of their change.
pub type ReadBack = HashMap<usize, Result<Answer, Problem>>;

/// Writes the open units of a wave: phase by phase, zones side by side.
pub fn write<'a>(survey: Survey<'a>, orders: &Orders, watch: &dyn ApplyWatch) -> PlanWritten<'a> {
    let started = Instant::now();
    let board = ApplyBoard::new(&survey, orders, watch);
    let mut writers: Vec<ZoneWriter<'_>> = survey.copies.iter().map(|zone| ZoneWriter::new(&board, zone)).collect();
    for phase in Phase::ALL {
        let work = writers.iter_mut().map(|writer| (writer.pieces(phase), writer));
        let work = work.filter(|(pieces, _)| !pieces.is_empty()).collect();
        side_by_side(work, survey.at_once, |(pieces, writer): (_, &mut ZoneWriter<'_>)| writer.write(phase, pieces));
    }
    let zones = writers.into_iter().map(ZoneWriter::finish).collect();
    let (units, halted) = board.finish();
    PlanWritten { survey, units, zones, halted, took: started.elapsed() }
}

/// Reads back every RRset that was written, zones side by side.
pub fn read_back(written: &PlanWritten<'_>) -> ReadBack {
    let PlanWritten { survey, units, .. } = written;
    let mut by_zone: BTreeMap<ZoneId, Vec<usize>> = BTreeMap::new();
    for place in units.iter().flat_map(|unit| &unit.done) {
        by_zone.entry(survey.changes[*place].zone_id()).or_default().push(*place);
    }
    let copies = survey.copies.iter().filter_map(|copy| Some((copy, by_zone.remove(&copy.copy.zone_id())?))).collect();
    let read = side_by_side(copies, survey.at_once, |(zone, places): (&SurveyedCopy<'_>, Vec<usize>)| {
        let questions: Vec<_> = places.iter().map(|place| Question::of(&survey.changes[*place].key)).collect();
        let answers = zone.writer.observe(&zone.copy.zone, &questions, zone.rrsets);
        match answers {
            Ok(answers) => places.into_iter().zip(answers.into_iter().map(Ok)).collect(),
            Err(error) => places.into_iter().map(|place| (place, Err(error.clone()))).collect::<Vec<_>>(),
        }
    });
    read.into_iter().flatten().collect()
}
