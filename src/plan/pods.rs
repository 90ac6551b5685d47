//! What the export said of the pods that a plan is about: where they are, and whether they can be reached.

use serde::{Deserialize, Serialize};

use crate::claim::Subject;
use crate::document::{is_false, nullable, present, present_object};

/// A pod that the plan changes or whose former names it takes, one that replaces such a pod, or one of the same set that cannot
/// be reached or could not.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodSeen {
    /// Whether the export calls it `active`.
    pub active: bool,
    /// Whether the export calls it `waiting` or `dead`.
    pub down: bool,
    /// Whether it was down and is active, and the name that stays with it leads to another place, which the plan leaves so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub elsewhere: bool,
    /// Whether it is in service: budgets count only such pods.
    pub in_service: bool,
    /// The names that the plan takes and that it had before; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_object")]
    pub leaves: Option<LeftNames>,
    /// The location of its node; empty where the export names none.
    pub location: String,
    /// The rack of its node; none where the export names none.
    #[serde(deserialize_with = "nullable")]
    pub rack: Option<String>,
    /// The pod that it replaces, whose records wait for it; none where its set moves names.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub replaces: Option<Subject>,
    /// The pod.
    pub subject: Subject,
    /// Whether the export calls it `waiting`: of a pod that is down and not `waiting` it says `dead`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waiting: bool,
    /// Whether an export that an apply began with called it `waiting` or `dead` since one had it active where its name points:
    /// to move the name is then a repair.
    pub was_down: bool,
}

/// Names that a pod had before, when the name that stays with it leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftNames {
    /// The name that stays with it now.
    pub constant: String,
    /// The names that the plan takes: they have none of its addresses.
    pub names: Vec<String>,
}
