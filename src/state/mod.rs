//! What is remembered between runs: journal, ledger, own RRsets, markers, breakers and accepted sources.
//!
//! Comes in: what is about to be done, and the outcome. Goes out: the same, also after a crash. It is behind one trait,
//! so that a database can replace today's file.

pub mod acceptance;

mod allowances;

mod applies;

mod batches;

mod breakers;

mod effect;

mod error;

mod exports;

mod folder;

pub mod history;

mod journal;

pub mod lock;

mod markers;

mod own;

mod past;

mod perhaps;

mod schema;

mod seal;

mod sought;

mod sqlite;

mod store;

pub mod status;

mod subjects;

mod wait_news;

mod waits;

mod workspace;

mod written;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::apply::{ApplyOutcome, Batch, BatchOutcome};
use crate::change::RrsetText;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::waits::RrsetWaits;
use crate::dns::{Name, RrKey, ZoneName};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::live::asked::Question;
use crate::plan::Marker;

pub use crate::guard::Breaker;
pub use acceptance::{Acceptance, AcceptedFile, Acceptor, ExportExchange, ExportToAccept, NewExport, SourceStatus};
pub use breakers::BreakerReset;
pub use history::{
    History, HistoryAnswer, LeftSubject, LiftedLimit, PastApply, Resumption, SentChange, SentFate, SentUpdate,
    WrittenRrset,
};
pub use lock::{LockHolder, StateLock};
#[cfg(test)]
pub use sqlite::Sqlite;
pub use status::{StateFacts, Status};
pub use wait_news::WaitNews;

/// Opens the state that is kept in a file, to write to it; creates it where there is none.
///
/// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
pub fn open_to_write(file: &Path) -> Result<Box<dyn State>, Problem> {
    sqlite::Sqlite::open_to_write(file).map(|state| Box::new(state) as Box<dyn State>)
}

/// A state that was opened to be read: none where there is none, or why it cannot be read.
pub type OpenedState = Result<Option<Box<dyn State>>, Problem>;

/// Opens the state that is kept in a file, to read it; `None` where there is none. Nothing is created.
///
/// Only where a crash left the file in the middle of a write, that write is undone on disk.
///
/// Errors: `state-unreadable`, `state-too-new`. A state of an older version is read as this one would keep it.
pub fn open_to_read(file: &Path) -> OpenedState {
    Ok(sqlite::Sqlite::open_to_read(file)?.map(|state| Box::new(state) as Box<dyn State>))
}

/// Names an apply: a number that grows, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}

impl ApplySummary {
    /// When it was last begun or taken up.
    pub fn begun(&self) -> Time {
        self.resumed.last().map_or(self.new.started, |resumption| resumption.at)
    }
}

/// What the state knows of a zone's marker.
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

    /// The greatest known epoch; 0 where there is none.
    pub fn epoch(&self) -> u64 {
        self.marker.iter().chain(&self.open).map(|marker| marker.epoch).max().unwrap_or(0)
    }
}

/// Whether a marker in a zone is one that the state knows, or an older one.
pub fn knows(markers: &BTreeMap<ZoneName, KnownMarker>, zone: &ZoneName, live: &Marker) -> bool {
    markers.get(zone).is_some_and(|known| known.covers(live))
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
    /// The zone.
    pub zone: ZoneName,
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

/// What is remembered between runs. What a method wrote is durable when it returns.
pub trait State: Send {
    /// Which workspace this is the state of.
    fn identity(&self) -> Result<StateIdentity, Problem>;

    /// The RRsets that zonewright created.
    fn own(&self) -> Result<OwnRrsets, Problem>;

    /// What is known about the markers, by zone.
    fn markers(&self) -> Result<BTreeMap<ZoneName, KnownMarker>, Problem>;

    /// The tripped breakers, sorted by scope.
    fn breakers(&self) -> Result<Vec<Breaker>, Problem>;

    /// The latest applies, the latest first; at most `count`.
    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, Problem>;

    /// The apply that ended last; none where none ended.
    fn last_finished(&self) -> Result<Option<ApplySummary>, Problem>;

    /// The applies that never ended, the latest first.
    fn unfinished(&self) -> Result<Vec<ApplySummary>, Problem>;

    /// The hosts that were changed since a time, each change of a host once: project, host, when.
    fn changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem>;

    /// One apply; `None` where there is none of this number.
    fn apply(&self, id: ApplyId) -> Result<Option<ApplySummary>, Problem>;

    /// The applies that can be taken up again at a time: their plan is kept and has not expired. The latest first.
    fn resumable(&self, now: Time) -> Result<Vec<ApplyId>, Problem>;

    /// The document of the plan of an apply; `None` once nothing of it can be taken up again.
    fn document(&self, id: ApplyId) -> Result<Option<String>, Problem>;

    /// What the plan of an apply was made by; `None` where an earlier version of the state began the apply.
    fn planned(&self, id: ApplyId) -> Result<Option<PlanBasis>, Problem>;

    /// All updates of an apply, in the order of sending.
    fn sent(&self, id: ApplyId) -> Result<Vec<SentUpdate>, Problem>;

    /// The hosts that an apply did not leave as planned, in the order of the plan; empty before it ended.
    fn left_hosts(&self, id: ApplyId) -> Result<Vec<LeftSubject>, Problem>;

    /// The applies that changed, or tried to change, something for a host, perhaps together with others, and those that
    /// did not leave it as planned; the latest first.
    fn applies_of(&self, host: Inv) -> Result<Vec<ApplyId>, Problem>;

    /// The applies that changed, or tried to change, an RRset at a name or a PTR to it, and those that did not leave a
    /// host of this name as planned; the latest first. May return others: [`history::SentChange::is_at`] decides.
    fn applies_at(&self, name: &Name) -> Result<Vec<ApplyId>, Problem>;

    /// The latest apply after another that changed, or may have changed, each of these RRsets; in their order.
    fn last_changed(&self, after: ApplyId, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem>;

    /// The apply that created each of these RRsets, where it is own; in their order.
    fn created_by(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem>;

    /// What the latest update that took effect left at each of these RRsets; in their order. `None` where no update is
    /// known to have changed it, and where the outcome of a later one is unknown.
    fn last_written(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<WrittenRrset>>, Problem>;

    /// A number that is another one after another process wrote anything, while this state is open.
    fn version(&self) -> Result<u64, Problem>;

    /// Begins an apply, and keeps its plan. Plans that have expired are kept no longer.
    fn begin(&mut self, apply: &NewApply, plan: &PlanText<'_>) -> Result<ApplyId, Problem>;

    /// Keeps that an apply is taken up again: it has not ended from then on.
    fn resume(&mut self, id: ApplyId, resumption: &Resumption) -> Result<(), Problem>;

    /// Keeps a batch that is about to be sent.
    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem>;

    /// Keeps the outcome of a batch. A batch that took effect moves the marker, changes which RRsets are own, and
    /// enters the ledger.
    fn note_settled(
        &mut self,
        apply: ApplyId,
        batch: &Batch<'_>,
        settled: &BatchOutcome,
        now: Time,
    ) -> Result<(), Problem>;

    /// Keeps the outcome of a batch, and one that is about to be sent after it: as [`State::note_settled`] and then
    /// [`State::note_sending`] do, with one sync where the state can.
    fn note_settled_and_sending(
        &mut self,
        apply: ApplyId,
        settled: &SettledBatch<'_>,
        next: &Batch<'_>,
        now: Time,
    ) -> Result<(), Problem> {
        self.note_settled(apply, settled.batch, settled.outcome, now)?;
        self.note_sending(apply, next, now)
    }

    /// Settles the updates that earlier applies left open in a zone, by the marker that is there: those that led to it
    /// took effect, and the others never will. Returns how many took effect. A marker that the state does not know
    /// changes nothing.
    fn note_standing(&mut self, zone: &ZoneName, live: &Marker, now: Time) -> Result<usize, Problem>;

    /// Makes RRsets not own: a server said that it created them, but did not; if they appear later, others created
    /// them.
    fn disown(&mut self, rrsets: &[&RrKey]) -> Result<(), Problem>;

    /// The updates that an apply left open and that no marker will settle: those without a marker, and those whose
    /// marker is past.
    fn unsettled(&self, id: ApplyId) -> Result<Vec<UnsettledUpdate>, Problem>;

    /// Keeps that an open update took effect, as all of it is there. Returns whether it was still open: if another
    /// update that made the same changes took effect, this one did not.
    fn note_found(&mut self, found: &UnsettledUpdate, now: Time) -> Result<bool, Problem>;

    /// Ends an apply; the outcome of each of its hosts replaces that of an earlier end. If it did all of its plan,
    /// these exports become the accepted ones, except those for which a later apply accepted another. Its plan is then
    /// deleted, unless the outcome of an update is unknown.
    fn finish(
        &mut self,
        apply: ApplyId,
        applied: &ApplyOutcome,
        accepted: Option<&[ExportToAccept]>,
        now: Time,
    ) -> Result<(), Problem>;

    /// Treats the markers in these zones as known, because an operator says so, and why.
    fn adopt_markers(
        &mut self,
        markers: &[(ZoneName, Option<Marker>)],
        who: &str,
        reason: &str,
        now: Time,
    ) -> Result<(), Problem>;

    /// The exports that were last accepted, sorted by source.
    fn exports(&self) -> Result<Vec<Acceptance>, Problem>;

    /// The files of the accepted export of a source, sorted by name; empty where there is no such export.
    fn export_files(&self, source: &str) -> Result<Vec<AcceptedFile>, Problem>;

    /// The switches that any accepted l3-tors listed since a person last accepted one, sorted.
    fn l3_switches(&self) -> Result<Vec<String>, Problem>;

    /// Makes exports the accepted ones.
    fn accept(&mut self, exports: &[ExportToAccept], acceptor: &Acceptor<'_>, now: Time) -> Result<(), Problem>;

    /// Trips a breaker. One that is tripped already stays as it is.
    fn trip(&mut self, breaker: &Breaker) -> Result<(), Problem>;

    /// Resets the breaker of a scope, and keeps who did so and why; gives whether it was tripped.
    fn reset(&mut self, scope: &str, reset: BreakerReset<'_>) -> Result<bool, Problem>;

    /// Keeps that limits are lifted for an apply.
    fn allow(&mut self, apply: ApplyId, allowed: &[LiftedLimit]) -> Result<(), Problem>;

    /// The limits that were lifted for an apply, sorted by name.
    fn allowed(&self, apply: ApplyId) -> Result<Vec<LiftedLimit>, Problem>;

    /// The input files, with their digests, of the latest apply that tried them on the whole fleet, did all of its plan
    /// and undid nothing; empty where there is no such apply.
    fn last_inputs(&self) -> Result<BTreeMap<String, String>, Problem>;

    /// The RRsets that wait to be deleted.
    fn waits(&self) -> Result<RrsetWaits, Problem>;

    /// Keeps what waits from now on, and what no longer waits. An RRset that is deleted or created stops waiting by
    /// itself.
    fn note_waits(&mut self, news: &WaitNews) -> Result<(), Problem>;

    /// The hosts of the updates that were sent since a time with an unknown outcome: project, host, when.
    fn perhaps_changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem>;
}
