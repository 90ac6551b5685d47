//! The status of each RRset of a step, and of the zone. Pure.

use super::count::StepVerdict;
use super::steps::StepNumber;

crate::document::words! {
    /// What is still to be done for an RRset.
    RrsetTask {
        /// It is new.
        Add = "ADD",
        /// It has other values or another TTL.
        Update = "UPDATE",
        /// It is to go.
        Delete = "DELETE",
        /// Nothing.
        None = "NONE",
    }
}

crate::document::words! {
    /// Whether an RRset is served as it was applied.
    RrsetStatus {
        /// It is not known yet.
        Pending = "PENDING",
        /// It is.
        Active = "ACTIVE",
        /// Too many servers do not serve it.
        Error = "ERROR",
        /// It is gone, as it was applied.
        Deleted = "DELETED",
    }
}

crate::document::words! {
    /// Whether a zone is served as it was applied.
    ZoneStatus {
        /// It is not known yet of all its RRsets.
        Pending = "PENDING",
        /// All its RRsets are.
        Active = "ACTIVE",
        /// Some of its RRsets are not.
        Error = "ERROR",
        /// It was deleted, at enough targets for the threshold.
        Deleted = "DELETED",
    }
}

/// How far an RRset is that a step changed. A later step that changes it replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RrsetPublication {
    /// The step.
    pub step: StepNumber,
    /// What is still to be done.
    pub task: RrsetTask,
    /// How it is served.
    pub status: RrsetStatus,
}

impl RrsetPublication {
    /// One that a step has just changed.
    pub fn of_step(step: StepNumber, task: RrsetTask) -> RrsetPublication {
        RrsetPublication { step, task, status: RrsetStatus::Pending }
    }

    /// The same after a count.
    pub fn after(self, verdict: &StepVerdict) -> RrsetPublication {
        let RrsetPublication { step, task, status } = self;
        let is_open = matches!(status, RrsetStatus::Pending | RrsetStatus::Error);
        if is_open && step <= verdict.consensus {
            let status = if task == RrsetTask::Delete { RrsetStatus::Deleted } else { RrsetStatus::Active };
            return RrsetPublication { step, task: RrsetTask::None, status };
        }
        if status == RrsetStatus::Pending && verdict.failed.is_some_and(|failed| step <= failed) {
            return RrsetPublication { status: RrsetStatus::Error, ..self };
        }
        self
    }
}

impl ZoneStatus {
    /// The status of a zone with these RRsets.
    pub fn of(rrsets: impl IntoIterator<Item = RrsetStatus>) -> ZoneStatus {
        rrsets.into_iter().fold(ZoneStatus::Active, |zone, rrset| match (zone, rrset) {
            (ZoneStatus::Error, _) | (_, RrsetStatus::Error) => ZoneStatus::Error,
            (ZoneStatus::Pending, _) | (_, RrsetStatus::Pending) => ZoneStatus::Pending,
            (zone, RrsetStatus::Active | RrsetStatus::Deleted) => zone,
        })
    }
}
