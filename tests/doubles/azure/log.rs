//! What was asked, and what resulted from it: the truth that tests compare with what a client believes.

use super::super::faults::FaultKind;
use super::set::AzureRecordSet;

/// The operation under which the log has what another editor did.
pub const EDITOR: &str = "Editor";

/// A request that reached the service, or an edit of another editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureLogEntry {
    /// The number of the request, from 1. A request that arrived twice has two entries of one number; edits have 0.
    pub number: u64,
    /// When, in seconds since the epoch.
    pub at: i64,
    /// The operation, such as `RecordSets_Delete`; `Unknown` for a path that is none; [`EDITOR`] for edits.
    pub operation: String,
    /// The method and the target, as they were sent; empty for edits.
    pub line: String,
    /// The name of the zone that the target names.
    pub zone: Option<String>,
    /// The status that the service came to; none where the request was lost before.
    pub status: Option<u16>,
    /// The code of the error.
    pub code: Option<String>,
    /// What went wrong on purpose.
    pub fault: Option<FaultKind>,
    /// What changed; empty for what reads and what was refused.
    pub changes: Vec<AzureChange>,
}

/// A change of a record set that took effect. A PUT of the same content is one: it makes a new etag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureChange {
    /// The name of the zone.
    pub zone: String,
    /// What was there before.
    pub before: Option<AzureRecordSet>,
    /// What is there after.
    pub after: Option<AzureRecordSet>,
}
