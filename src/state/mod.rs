//! What is remembered between runs: journal, ledger, own RRsets, markers, breakers, accepted
//! sources and what targets lack.
//!
//! Comes in: what is about to be done, and the outcome. Goes out: the same, also after a crash. An address says where a
//! state is; its parts are traits, done once for any database that has `sql::SqlDatabase`.

pub mod acceptance;

pub mod approvals;

mod address;

mod applies;

mod batches;

mod effect;

mod error;

mod down_pods;

mod exports;

mod folder;

mod gates;

mod held;

pub mod history;

mod journal;

mod kept_change;

pub mod lacks;

mod ledger;

pub mod lock;

mod markers;

mod noted;

mod ownership;

mod past;

mod publication;

mod rollouts;

mod schema;

mod seal;

pub mod served;

mod sought;

mod sql;

mod sqlite;

mod statements;

pub mod status;

mod subjects;

pub mod tallies;

mod wait_news;

mod waits;

mod workspace;

pub mod zones;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::sql::{SqlDatabase, SqlRead, SqlRows as _};
use crate::apply::{Batch, BatchOutcome};
use crate::change::RrsetText;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::disk::FileStamp;
use crate::inventory::value::Time;
use crate::target::{CopyId, Marker, Question, TargetId};

pub use crate::guard::Breaker;
pub use acceptance::{Acceptance, AcceptedFile, Acceptor, ExportExchange, ExportToAccept, NewExport, SourceStatus};
pub use address::StateAddress;
pub use approvals::{ApprovalGiven, ApprovalRegister, CmsFailure, CmsTally, GivenStatus};
pub use down_pods::{DownPod, DownPods};
pub use exports::AcceptanceRecord;
pub use gates::{GateAsked, GateOutcome};
pub use held::HeldState;
pub use history::{
    History, HistoryAnswer, LeftSubject, LiftedLimit, PastApply, Resumption, SentChange, SentFate, SentUpdate,
    WrittenRrset,
};
pub use journal::ApplyJournal;
pub use lacks::{LackList, LackedChange, NewLack};
pub use ledger::{BreakerReset, ChangeLedger};
pub use lock::{LockHolder, StateLock};
pub use noted::StateNotes;
pub use ownership::{OwnershipRegister, SightedRrset};
pub use publication::{PublicationRecord, RecordedZone, RrsetStanding, RrsetTally, ServerStanding, ZonePublication};
pub use rollouts::{FormerTtls, RolloutRegister};
#[cfg(test)]
pub use sqlite::Sqlite;
pub use statements::StatementRegister;
pub use status::{ApprovalStanding, StateFacts, Status};
pub use wait_news::WaitNews;
pub use waits::WaitList;
pub use zones::{ZoneActionRow, ZoneRegister};

/// Opens a state to write to it; creates it where there is none.
///
/// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
pub fn open_to_write(address: &StateAddress) -> Result<Box<dyn State>, Problem> {
    Ok(Box::new(sqlite::Sqlite::open_to_write(address)?))
}

/// A state that was opened to be read: none where there is none, or why it cannot be read.
pub type OpenedState = Result<Option<Box<dyn State>>, Problem>;

/// Opens a state to read it; `None` where there is none. Nothing is created.
///
/// Only where a crash left a file in the middle of a write, that write is undone on disk.
///
/// Errors: `state-unreadable`, `state-too-new`. A state of an older version is read as this one would keep it.
pub fn open_to_read(address: &StateAddress) -> OpenedState {
    Ok(sqlite::Sqlite::open_to_read(address)?.map(|state| Box::new(state) as Box<dyn State>))
}

/// By what a state is known not to have been written to; without a file where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateStamp(Option<FileStamp>);

/// The stamp of a state; none where it is being written to, or was just now.
pub fn stamp(address: &StateAddress) -> Option<StateStamp> {
    let file = address.file();
    if !file.try_exists().ok()? {
        return Some(StateStamp(None));
    }
    // What a process has not taken into the file is in one of these, next to it.
    let is_there = |end: &str| address.next_to(end).file().try_exists().unwrap_or(true);
    let is_busy = ["-wal", "-journal"].into_iter().any(is_there);
    let stamp = FileStamp::of(file).filter(|_| !is_busy)?;
    Some(StateStamp(Some(stamp)))
}

/// What is remembered between runs, in its parts.
pub trait State:
    ApplyJournal
    + ChangeLedger
    + OwnershipRegister
    + AcceptanceRecord
    + DownPods
    + WaitList
    + StatementRegister
    + LackList
    + PublicationRecord
    + ZoneRegister
    + RolloutRegister
    + ApprovalRegister
{
    /// Where it is kept.
    fn address(&self) -> &StateAddress;

    /// Which workspace this is the state of.
    fn identity(&self) -> Result<StateIdentity, Problem>;

    /// A number that is another one after another process wrote anything, while this state is open.
    fn version(&self) -> Result<u64, Problem>;
}

impl<D: SqlDatabase> State for D {
    fn address(&self) -> &StateAddress {
        SqlRead::address(self)
    }

    fn identity(&self) -> Result<StateIdentity, Problem> {
        let sql = "SELECT id, (SELECT min(started) FROM applies) FROM workspace";
        let found = self.row(sql, &[], |row| Ok(StateIdentity { id: row.get(0)?, first_begun: row.get(1)? }))?;
        found.ok_or_else(|| error::unreadable(SqlRead::address(self), "the state has no id of its workspace"))
    }

    fn version(&self) -> Result<u64, Problem> {
        self.data_version()
    }
}

/// Names an apply: a number that grows, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct ApplyId(pub u64);

/// An apply that begins.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApply {
    /// The plan's `id`.
    pub plan: String,
    /// The plan's `effect`.
    pub effect: String,
    /// When it begins.
    pub started: Time,
    /// Who runs it, as the system knows them; empty where it does not.
    pub who: String,
    /// Why, if a reason was given.
    pub reason: Option<String>,
    /// SHA-256 of every input file of the plan, by name.
    pub inputs: BTreeMap<String, String>,
    /// How many hosts it is to change.
    pub hosts: usize,
    /// The apply that it undoes, where it undoes one.
    pub undoes: Option<ApplyId>,
    /// Whether it tried its inputs on the whole fleet: no hosts were named, and no breaker held any back.
    pub is_whole: bool,
}

/// The plan of an apply, kept as long as the apply may be taken up again.
#[derive(Debug, Clone, Copy)]
pub struct PlanText<'a> {
    /// The document.
    pub document: &'a str,
    /// When it was made: live DNS was read after that.
    pub made: Time,
    /// When it may no longer be applied.
    pub expires: Time,
    /// The subjects that it leaves for what blocks them.
    pub blocked: &'a [Subject],
}

/// What the plan of an apply was made by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanBasis {
    /// When: live DNS was read after that.
    pub at: Time,
    /// The subjects that it left for what blocked them; kept of the latest apply that did all of a plan for the whole
    /// fleet.
    pub blocked: BTreeSet<Subject>,
}

/// An apply, as `status` and histories show it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplySummary {
    /// Which.
    pub id: ApplyId,
    /// How it was begun; without inputs.
    pub new: NewApply,
    /// When it ended; none where it did not, or runs.
    pub finished: Option<Time>,
    /// The hosts of each outcome, by the outcome's word; empty where it did not end.
    pub outcomes: BTreeMap<String, usize>,
    /// How many updates took effect.
    pub updates_done: usize,
    /// How many updates were sent with an unknown outcome.
    pub updates_open: usize,
    /// Who took it up again, in the order of time.
    pub resumed: Vec<Resumption>,
    /// Whether a `sync` made it: it has no inputs, and undoes nothing. Such an apply is never resumed.
    pub is_sync: bool,
}

impl ApplySummary {
    /// When it was last begun or taken up.
    pub fn begun(&self) -> Time {
        self.resumed.last().map_or(self.new.started, |resumption| resumption.at)
    }
}

/// What the state knows of the marker of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownMarker {
    /// The latest that is known to be there; `None` where there was none.
    pub marker: Option<Marker>,
    /// Those of updates that were sent with an unknown outcome, in the order of sending.
    pub open: Vec<Marker>,
}

impl KnownMarker {
    /// Whether a marker in a zone is one that this state knows, or an older one.
    pub fn covers(&self, live: &Marker) -> bool {
        let known = || self.marker.iter().chain(&self.open);
        known().any(|marker| marker == live) || known().any(|marker| marker.epoch > live.epoch)
    }

    /// Whether a marker is one of these.
    fn is_at(&self, live: &Marker) -> bool {
        self.marker.iter().chain(&self.open).any(|marker| marker == live)
    }

    /// The greatest known epoch; 0 where there is none.
    pub fn epoch(&self) -> u64 {
        self.marker.iter().chain(&self.open).map(|marker| marker.epoch).max().unwrap_or(0)
    }
}

/// What the state knows of the markers of all copies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownMarkers {
    /// What is known of each copy.
    copies: BTreeMap<CopyId, KnownMarker>,
    /// The targets that there are now: what is known of their copies is about no other target of their pool.
    present: BTreeSet<TargetId>,
}

impl FromIterator<(CopyId, KnownMarker)> for KnownMarkers {
    fn from_iter<I: IntoIterator<Item = (CopyId, KnownMarker)>>(copies: I) -> KnownMarkers {
        KnownMarkers { copies: copies.into_iter().collect(), present: BTreeSet::new() }
    }
}

impl KnownMarkers {
    /// The same, for the targets that there are now.
    pub fn among<'t>(self, targets: impl IntoIterator<Item = &'t TargetId>) -> KnownMarkers {
        KnownMarkers { present: targets.into_iter().cloned().collect(), ..self }
    }

    /// What is known, by copy.
    pub fn copies(&self) -> &BTreeMap<CopyId, KnownMarker> {
        &self.copies
    }

    /// Whether a marker in a copy is one that the state knows, or an older one.
    ///
    /// A copy that was never written to may have been filled from another one of its pool: then it has the very marker of
    /// that. An older one proves nothing, since each copy counts its epochs by itself.
    pub fn covers(&self, copy: &CopyId, live: &Marker) -> bool {
        let is_known = self.of(copy).into_iter().any(|known| known.covers(live));
        let is_other = |other: &CopyId| other.zone == copy.zone && other.target.pool == copy.target.pool;
        let mut others = self.copies.iter().filter(|(other, _)| is_other(other)).map(|(_, known)| known);
        is_known || !self.copies.contains_key(copy) && others.any(|known| known.is_at(live))
    }

    /// The greatest known epoch of a copy; 0 where there is none.
    pub fn epoch(&self, copy: &CopyId) -> u64 {
        self.of(copy).into_iter().map(KnownMarker::epoch).max().unwrap_or(0)
    }

    /// What is known of the markers that may be in a copy.
    ///
    /// A copy that was not written to under its name may have another name since, or its zone another pool: then all of
    /// its zone in its pool are meant, else all of its zone; but never that of another target that the pool has now.
    pub fn of(&self, copy: &CopyId) -> Vec<&KnownMarker> {
        if let Some(own) = self.copies.get(copy) {
            return vec![own];
        }
        let is_other = |target: &TargetId| target.pool == copy.target.pool && self.present.contains(target);
        let of_zone = || self.copies.iter().filter(|(other, _)| other.zone == copy.zone && !is_other(&other.target));
        let of_pool: Vec<&KnownMarker> =
            of_zone().filter(|(other, _)| other.target.pool == copy.target.pool).map(|(_, known)| known).collect();
        if of_pool.is_empty() { of_zone().map(|(_, known)| known).collect() } else { of_pool }
    }
}

/// Which workspace a state is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateIdentity {
    /// What distinguishes it from others: 32 hexadecimal digits, drawn when the state was made.
    pub id: String,
    /// When its first apply began; none where none did.
    pub first_begun: Option<Time>,
}

/// An update with an unknown outcome that no marker will show.
#[derive(Debug)]
pub struct UnsettledUpdate {
    /// Its apply.
    pub apply: ApplyId,
    /// Its number within that.
    pub number: u64,
    /// The copy that it was sent to.
    pub copy: CopyId,
    /// The RRsets that it changes, each with what is there if it took effect.
    pub after: Vec<(Question, Option<RrsetText>)>,
}

/// A batch whose outcome is known.
#[derive(Debug, Clone, Copy)]
pub struct SettledBatch<'a> {
    /// The batch.
    pub batch: &'a Batch<'a>,
    /// What happened to it.
    pub outcome: &'a BatchOutcome,
}
