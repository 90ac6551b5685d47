//! What the journal says of single applies: what was sent, what became of it, who took it up again. Pure.

use super::journal::KeptRrset;
use crate::dns::{Name, Rtype, ZoneName};
use crate::inventory::value::{Inv, Time};

/// One update of an apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// Its number within the apply.
    pub number: u64,
    /// The zone.
    pub zone: ZoneName,
    /// The word of its phase.
    pub phase: String,
    /// When it was sent.
    pub at: Time,
    /// What became of it.
    pub fate: SentFate,
    /// What it changes.
    pub changes: Vec<SentChange>,
}

/// What became of an update that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentFate {
    /// It took effect.
    Done,
    /// Provably nothing of it took effect, and why.
    Undone(String),
    /// Nobody knows, and why; without a reason where the apply never got to know.
    Unknown(Option<String>),
}

/// One change of an update.
#[derive(Debug, Clone, PartialEq)]
pub struct SentChange {
    /// The host; none where an orphan is removed.
    pub host: Option<Inv>,
    /// The other hosts whose rules contributed, sorted.
    pub also: Vec<Inv>,
    /// The project.
    pub project: String,
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// What was there before.
    pub before: Option<KeptRrset>,
    /// What is there after.
    pub after: Option<KeptRrset>,
}

/// That an apply was taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    /// When.
    pub at: Time,
    /// Who did it, as the system knows them; empty where it does not.
    pub who: String,
    /// Why, where somebody said so.
    pub reason: Option<String>,
}

/// A host that an apply did not leave as its plan wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftHost {
    /// The host; none where an orphan was to be removed.
    pub host: Option<Inv>,
    /// Its project.
    pub project: String,
    /// A name of it that the plan changes.
    pub name: String,
    /// The word of its outcome.
    pub outcome: String,
    /// Why, in words.
    pub message: Option<String>,
}
