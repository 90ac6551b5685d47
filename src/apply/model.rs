//! What is sent, its outcome, and who gets the events.

use std::error::Error;
use std::time::Duration;

use serde::Serialize;

use crate::change::Change;
use crate::claim::{Subject, subject_and_host};
use crate::diag::Problem;
use crate::dns::{Rrset, ZoneName};
use crate::plan::{Plan, ZoneChange};
use crate::target::{CopyId, Marker, PoolName};

/// In which order zones are written, so that a PTR never names what is not there yet or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Forward zones: what is created or modified, and what is deleted because a CNAME takes its place or gives way.
    Forward,
    /// Reverse zones, and SRV that list pods.
    Reverse,
    /// Forward zones: what else is deleted.
    Deletes,
}

impl Phase {
    /// All of them, in their order.
    pub const ALL: [Phase; 3] = [Phase::Forward, Phase::Reverse, Phase::Deletes];

    /// Its word in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Forward => "forward",
            Phase::Reverse => "reverse",
            Phase::Deletes => "deletes",
        }
    }
}

/// One marker in the place of another.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerSwap {
    /// The RRset that must be there; `None` where there must be none.
    pub before: Option<Rrset>,
    /// What is put in its place.
    pub after: Marker,
}

/// One update, as the journal keeps it: whole hosts: their changes of one phase in one zone.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// Its number within the apply, from 1; every update has its own, also one that says again what another said.
    pub number: u64,
    /// The copy that it is sent to.
    pub copy: CopyId,
    /// The phase.
    pub phase: Phase,
    /// The swap of the marker, where the zone is fenced.
    pub swap: Option<MarkerSwap>,
    /// The changes, in the order of the plan; never empty.
    pub changes: Vec<&'a Change>,
}

/// The outcome of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchOutcome {
    /// It took effect, and found what the plan saw: an update that was to find the same, and did not settle, is out.
    Done,
    /// All of it is there, which says nothing of other updates: its answer was lost, so that another editor may have written the
    /// same; or the target compares nothing, so that it may have found anything.
    Found,
    /// It took effect, and others may have written the zone at the same time, as this says.
    Raced(String),
    /// Provably nothing of it took effect, and why.
    Undone(String),
    /// It is unknown, and why.
    Unknown(String),
}

/// Something that happens while a plan is applied.
#[derive(Debug, Clone, Copy)]
pub enum ApplyEvent<'a> {
    /// A batch is about to be sent. It is not, unless this event was taken well: it must be durable by then.
    Sending(&'a Batch<'a>),
    /// The outcome of a batch that was sent. Every batch that was sent settles once.
    Settled(&'a Batch<'a>, &'a BatchOutcome),
    /// This many more hosts are finished, with any outcome.
    Hosts(usize),
}

/// Gets the events, and says whether to continue. Zones are written in parallel, and all report to the same one.
pub trait ApplyWatch: Sync {
    /// Takes an event.
    ///
    /// Errors: it could not be kept; nothing more is sent then.
    fn event(&self, event: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Takes several events, the outcomes first; all of them must be durable when it returns, and not before.
    ///
    /// Errors: one could not be kept.
    fn events(&self, events: &[ApplyEvent<'_>]) -> Result<(), Box<dyn Error + Send + Sync>> {
        events.iter().try_for_each(|event| self.event(*event))
    }

    /// Waits before something is tried again.
    fn wait(&self, pause: Duration);

    /// Whether the apply is to end: updates in flight are waited for, and nothing else is sent.
    fn is_interrupted(&self) -> bool {
        false
    }
}

crate::document::words! {
    /// The outcome of a host.
    OutcomeCode {
        /// All its changes were made, and were read back.
        Applied = "applied",
        /// All of it was as it should be before anything was sent.
        AlreadyApplied = "already-applied",
        /// Something of it is not as the plan saw it: all of it was left as it is.
        Stale = "stale",
        /// The settings no longer allow some of its changes: all of it was left as it is.
        NoLongerAllowed = "no-longer-allowed",
        /// Some of its changes were made and others not.
        Partial = "partial",
        /// The server said that it made a change, and did not.
        NotApplied = "not-applied",
        /// Its changes were made, and others wrote at the same time: what they wrote may be lost.
        Raced = "raced",
        /// Its changes could not be made.
        Failed = "failed",
        /// It was not its turn before the apply stopped.
        NotReached = "not-reached",
        /// It goes with a later wave.
        Waiting = "waiting",
        /// A cluster-management service rejected it: all of it was left as it is.
        Rejected = "rejected",
    }
}

impl OutcomeCode {
    /// Whether the host is as planned.
    pub fn is_done(self) -> bool {
        matches!(self, OutcomeCode::Applied | OutcomeCode::AlreadyApplied)
    }
}

/// The outcome of one host, or of one name that no host has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubjectOutcome {
    /// Which.
    #[serde(flatten, serialize_with = "subject_and_host")]
    pub subject: Subject,
    /// Its project.
    pub project: String,
    /// Its name in the plan; where the plan has none, the owner name that says most of those that change.
    pub name: String,
    /// How many changes it has.
    pub changes: usize,
    /// Its outcome.
    pub outcome: OutcomeCode,
    /// Whether it waits with both its old and its new addresses.
    #[serde(skip)]
    pub is_between: bool,
    /// Why it is not `applied` or `already-applied`, in words: lower case, no full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to do, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The targets of pools of several that do not have all its changes, although another one has; sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<TargetLack>,
}

/// That a target lacks changes which another target of its pool has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TargetLack {
    /// The pool.
    pub pool: PoolName,
    /// The target.
    pub target: String,
    /// How many changes.
    pub changes: usize,
    /// Why, in words: lower case, no full stop.
    pub message: String,
}

/// Whether there is none; documents leave the number out then.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What was sent to one copy of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZoneWritten {
    /// The pool of the zone.
    pub pool: PoolName,
    /// The zone.
    pub zone: ZoneName,
    /// The target whose copy it is, where the pool has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How many updates took effect.
    pub updates: usize,
    /// How many changes were in them.
    pub changes: usize,
    /// Of how many more it is not known whether they took effect, or will.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: usize,
    /// From the first update sent to the last settled; zero where none was sent. It is in no document, so that two can be compared.
    #[serde(skip)]
    pub took: Duration,
}

/// The outcome of a plan.
#[derive(Debug, Clone, Default)]
pub struct ApplyOutcome {
    /// Every host of the plan's changes, in their order.
    pub hosts: Vec<SubjectOutcome>,
    /// The zones of the plan's changes, sorted by name and pool; of a pool of several each copy, sorted by target.
    pub zones: Vec<ZoneWritten>,
    /// What happened to zones that were to be made, listed or deleted, in the order in which it was tried.
    pub zone_changes: Vec<ZoneOutcome>,
    /// What went wrong with targets and zones as a whole, each once.
    pub problems: Vec<Problem>,
}

/// How an apply ended as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyEnding {
    /// All hosts are as planned.
    Done,
    /// Something went wrong, and nothing was changed; or all was changed, and something besides went wrong.
    Error,
    /// Every host was left, because it is not as the plan saw it, or because the settings no longer allow its changes.
    AllLeft,
    /// Some hosts are as planned or were changed, and others are not.
    InPart,
    /// Some hosts wait for a later wave, and all others are as planned.
    Waiting,
}

/// What happened to a change of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneOutcome {
    /// The change.
    pub change: ZoneChange,
    /// Why it is not done; none where it is.
    pub why: Option<Problem>,
}

impl ApplyOutcome {
    /// How the apply ended.
    pub fn ending(&self) -> ApplyEnding {
        let fine = self.done();
        let changed = [OutcomeCode::Partial, OutcomeCode::NotApplied, OutcomeCode::Raced];
        let changed: usize = changed.into_iter().map(|outcome| self.count(outcome)).sum();
        let waiting = self.count(OutcomeCode::Waiting);
        match self.hosts.len() - waiting {
            all if fine == all && self.problems.is_empty() && waiting > 0 => ApplyEnding::Waiting,
            all if fine == all && self.problems.is_empty() => ApplyEnding::Done,
            all if fine == all => ApplyEnding::Error,
            all if self.left() == all => ApplyEnding::AllLeft,
            _ if fine + changed == 0 => ApplyEnding::Error,
            _ => ApplyEnding::InPart,
        }
    }

    /// How many hosts were left as they are, because something is not as the plan demands, or a service does not let them change.
    fn left(&self) -> usize {
        let left = [OutcomeCode::Stale, OutcomeCode::NoLongerAllowed, OutcomeCode::Rejected];
        left.into_iter().map(|outcome| self.count(outcome)).sum()
    }

    /// The same, with the names of hosts that a plan knows.
    pub fn with_names(mut self, plan: &Plan) -> ApplyOutcome {
        for outcome in &mut self.hosts {
            if let Subject::Host(inv) = outcome.subject
                && let Some(name) = plan.name_of(inv)
            {
                outcome.name = name.to_owned();
            }
        }
        self
    }

    /// How many hosts are as planned.
    pub fn done(&self) -> usize {
        self.hosts.iter().filter(|host| host.outcome.is_done()).count()
    }

    /// How many hosts had this outcome.
    pub fn count(&self, outcome: OutcomeCode) -> usize {
        self.hosts.iter().filter(|host| host.outcome == outcome).count()
    }
}
