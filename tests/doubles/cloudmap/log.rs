//! What was asked, and what resulted from it: the truth that tests compare with what a client believes.

use super::super::faults::FaultKind;
use super::resources::{MapInstance, MapNamespace, MapService};

/// The operation under which the log has what another editor did.
pub const EDITOR: &str = "Editor";

/// The operation under which the log has the end of what was submitted.
pub const SETTLED: &str = "Settled";

/// A request that reached the service, the end of an operation, or an edit of another editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapLogEntry {
    /// The number of the request, from 1. A request that arrived twice has two entries of one number; edits have 0. The
    /// end of an operation has the number of the request that submitted it.
    pub number: u64,
    /// When, in seconds since the epoch.
    pub at: i64,
    /// The operation, such as `RegisterInstance`; `Unknown` for one that is none; [`EDITOR`] and [`SETTLED`].
    pub operation: String,
    /// What the request is about, as it was sent: `ServiceId`, `Id`, `NamespaceId`, `OperationId` or `ResourceARN`.
    pub subject: Option<String>,
    /// The instance that it is about, as it was sent.
    pub instance: Option<String>,
    /// The operation that was submitted or that ended.
    pub operation_id: Option<String>,
    /// The status that the service came to; none where the request was lost before.
    pub status: Option<u16>,
    /// The code of the error; of an operation that failed, its `ErrorCode`.
    pub code: Option<String>,
    /// What went wrong on purpose.
    pub fault: Option<FaultKind>,
    /// What changed. A request that submits an operation changes nothing; the end of the operation does.
    pub changes: Vec<MapChange>,
}

/// A change that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapChange {
    /// One of an instance.
    Instance {
        /// The identifier of its service.
        service: String,
        /// What was there before.
        before: Option<MapInstance>,
        /// What is there after.
        after: Option<MapInstance>,
    },
    /// One of a service.
    Service {
        /// What was there before.
        before: Option<MapService>,
        /// What is there after.
        after: Option<MapService>,
    },
    /// One of a namespace.
    Namespace {
        /// What was there before.
        before: Option<MapNamespace>,
        /// What is there after.
        after: Option<MapNamespace>,
    },
}
