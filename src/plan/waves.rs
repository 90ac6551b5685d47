//! How a plan goes in waves: which groups it touches, which of its subjects wait, and how long all of it takes at least.
//!
//! It is what `rollout` finds with the state as it was when the plan was made. An apply asks again, and no part of it is
//! in the plan's `effect`.

use serde::{Deserialize, Serialize};

use crate::claim::Subject;
use crate::document::{nullable, present, words};
use crate::inventory::value::Time;

/// A group with a budget: the hosts of a project whose file has `rollout`, or the pods of a set.
///
/// The fields of this and of what follows are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSeen {
    /// Its name: the id of the project or set.
    pub group: String,
    /// How many of it are in service: of a share of these the budget is made.
    pub in_service: u64,
    /// Why its disruptive changes wait: it does not meet what its project demands, in words; none where it does.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub unmet: Option<String>,
}

words! {
    /// Why a subject waits.
    WaitCode {
        /// As many of its group are unreachable, or may be, as its budget allows.
        Budget = "budget",
        /// Some of its group at another location may be unreachable.
        Location = "location",
        /// The first wave of its batch has not settled.
        Canary = "canary",
        /// The gate of its group did not pass.
        Gate = "gate",
        /// Its new addresses are there, and its old ones stay for a time.
        Overlap = "overlap",
        /// Its cluster-management services do not allow it yet, or rejected it.
        Approval = "approval",
        /// The pod that replaces it is not there yet.
        Replaces = "replaces",
        /// Its set does not meet what its project demands.
        Availability = "availability",
        /// It fits no wave, however long it waits.
        DoesNotFit = "does-not-fit",
    }
}

/// A subject that waits for a later wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingSubject {
    /// Why.
    pub code: WaitCode,
    /// The same in words: lower case, no full stop.
    pub message: String,
    /// Its project.
    pub project: String,
    /// When it first waited.
    pub since: Time,
    /// Which.
    pub subject: Subject,
    /// When it goes at the earliest; none where that is not known.
    #[serde(deserialize_with = "nullable")]
    pub until: Option<Time>,
}

/// How the subjects of a group go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupWaves {
    /// The group.
    pub group: String,
    /// From now until the last wave goes, at least.
    pub seconds: u64,
    /// How many subjects go in waves; without those that fit none.
    pub subjects: u64,
    /// In how many waves, at least.
    pub waves: u64,
}
