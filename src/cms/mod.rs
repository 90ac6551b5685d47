//! The protocol of cluster-management services (CMS): tasks that ask whether a host may be disturbed.
//!
//! Comes in: a service of the settings, and tasks. Goes out: what it answered, or why that is no answer. `task` is the pure
//! part; `client` sends over HTTP; `examine` tries all of the protocol at a service, by dry runs. Silence never lets a host
//! through: whatever is not an answer by the protocol is a [`CmsFault`].

pub mod client;

pub mod examine;

pub mod random;

pub mod task;

use std::fmt;

use crate::document::words;

words! {
    /// Why there is no answer by the protocol.
    CmsFaultKind {
        /// There was no connection, or it broke.
        Unreachable = "unreachable",
        /// The answer did not come in time.
        Late = "late",
        /// The status of the answer is none of the protocol.
        Status = "status",
        /// The answer is too long.
        TooLong = "too-long",
        /// The content is no JSON, or not that of the protocol.
        Content = "content",
        /// The answer is about another task.
        WrongTask = "wrong-task",
        /// The answer is about other hosts.
        WrongHosts = "wrong-hosts",
    }
}

/// Why there is no answer by the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsFault {
    /// What kind of fault it is.
    pub kind: CmsFaultKind,
    /// In words, without secrets: lower case, no full stop.
    pub message: String,
    /// The status of the answer (RFC 9110 section 15), where that is none of the protocol.
    pub status: Option<u16>,
}

impl CmsFault {
    /// A fault.
    pub fn new(kind: CmsFaultKind, message: impl Into<String>) -> CmsFault {
        CmsFault { kind, message: message.into(), status: None }
    }
}

impl fmt::Display for CmsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a service can be asked. An answer is one by the protocol; all else is a fault.
pub trait CmsCalls: Sync {
    /// Makes a task, or with `dry_run` says what would be said.
    fn create(&self, task: &task::CmsTask) -> Result<task::TaskAnswer, CmsFault>;

    /// What is said of a task now; none where the service does not know it. The hosts are those that it was made for.
    fn poll(&self, id: &str, host: &str) -> Result<Option<task::TaskAnswer>, CmsFault>;

    /// All tasks that the service knows.
    fn list(&self) -> Result<Vec<task::ListedTask>, CmsFault>;

    /// Removes a task; one that the service does not know is gone, too.
    fn delete(&self, id: &str) -> Result<(), CmsFault>;
}
