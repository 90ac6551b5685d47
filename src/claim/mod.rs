//! What is wanted of DNS, and by whom.
//!
//! Goes out: subjects, and their claims: what each asks for of single RRsets, and of single values in all zones. A claim
//! says nothing about what is there; `diff` compares it with that. Pure.

pub mod subject;

pub mod host_rtypes;

pub mod pick;

pub mod rule;

use crate::diag::Origin;
use crate::dns::{Name, Rdata, Rtype, Ttl};

pub use pick::{SubjectPattern, SubjectPick};
pub use rule::Rule;
pub use subject::{
    EndpointName, EndpointSetName, OrphanName, PodName, RecordName, STATED_KINDS, Subject, SubjectFamily, SubjectGroup,
    subject_and_host,
};

/// What a subject asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Of one RRset.
    Rrset(RrsetClaim),
    /// Of one value: it is nowhere else.
    NowhereElse(ElsewhereClaim),
}

/// What a subject asks for of one RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetClaim {
    /// The owner name.
    pub owner: Name,
    /// The type.
    pub rtype: Rtype,
    /// What it is to hold.
    pub want: Want,
    /// The TTL; none where the live one stays.
    pub ttl: Option<WantedTtl>,
    /// The rule that removes what is wrong.
    pub removes: Rule,
    /// What happens where a wrong value is not ours to remove.
    pub if_foreign: IfForeign,
}

/// What an RRset is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// Any of these values and no other: what is live of them stays, else the first is added.
    AnyOf {
        /// The values, the preferred one first.
        values: Vec<WantedValue>,
        /// The rule that adds one.
        adds: Rule,
    },
    /// These values alone, all of them.
    Exactly {
        /// The values; never empty.
        values: Vec<WantedValue>,
        /// The rule that adds them.
        adds: Rule,
    },
    /// Nothing; with the lines that say so.
    Absent(Vec<Origin>),
}

impl Want {
    /// The values.
    pub fn values(&self) -> &[WantedValue] {
        match self {
            Want::Exactly { values, .. } | Want::AnyOf { values, .. } => values,
            Want::Absent(_) => &[],
        }
    }
}

/// A value that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedValue {
    /// The value.
    pub rdata: Rdata,
    /// The lines that it follows from.
    pub evidence: Vec<Origin>,
}

/// A TTL that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedTtl {
    /// The TTL.
    pub ttl: Ttl,
    /// The line that says so.
    pub origin: Origin,
    /// When it holds.
    pub hold: TtlHold,
}

/// When a TTL that is wanted holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TtlHold {
    /// Always: an RRset that has another gets it.
    Always,
    /// Where the RRset is created: the live TTL stays.
    WhenCreated,
}

/// What happens to a wrong value that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfForeign {
    /// The subject is blocked: its own value belongs there.
    Block,
    /// The value is left.
    Leave,
    /// The value is left, also where all may be changed: only an own RRset loses it.
    Keep,
}

/// What a subject asks for of one value: that no other RRset holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElsewhereClaim {
    /// The type of the RRsets that may hold it.
    pub rtype: Rtype,
    /// The value.
    pub value: WantedValue,
    /// The rule that removes it.
    pub removes: Rule,
    /// The owner names where it belongs.
    pub here: Vec<Name>,
    /// The owner names that the subject has; changes there belong to it.
    pub own: Vec<Name>,
    /// Where it is removed.
    pub reach: ElsewhereReach,
}

/// Where a value that belongs elsewhere is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElsewhereReach {
    /// From every RRset that may be changed.
    Everywhere,
    /// From own RRsets, at names that a host has or had, and where the zone says so; never where a rule touches nothing.
    /// Elsewhere it is reported.
    KnownNames,
}
