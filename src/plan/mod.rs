//! A plan: what would be changed, and why; what was seen; what was left, and why.
//!
//! Comes in: the outcome of a diff. Goes out: a value that prints, saves and loads. Only `store` touches the disk.

pub mod model;

pub mod order;

pub mod review;

pub mod sealed;

pub mod document;

pub mod store;

pub mod waves;

pub mod pods;

pub mod zone_change;

#[cfg(test)]
pub mod fixture;

pub use crate::change::{
    BlockCode, BlockedSubject, Change, ChangeKind, DelayedRrset, LeftBehindRrset, Notice, NoticeCode, Reason, Rule,
    SkipCode, SkippedSubject,
};

pub use model::{
    ContentsSeen, HostSeen, LimitKind, LimitSetting, LimitState, MarkSeen, Plan, PlanScope, PoolMarkSeen, SourceSeen,
    TxtFormSeen, WorkspaceSeen, ZoneSeen,
};
pub use pods::{LeftNames, PodSeen};
pub use review::{Cause, CauseKind, ChangeClass, ComparisonBase, Review};
pub use sealed::SealedPlan;
pub use waves::{GroupSeen, GroupWaves, WaitCode, WaitingSubject};
pub use zone_change::{ZoneAction, ZoneChange};
