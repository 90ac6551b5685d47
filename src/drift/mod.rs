//! Why live DNS is not as desired: whether another editor changed it since an apply, or the inventory changed.
//!
//! Comes in: what a plan would change, and what the journal says was last written there. Goes out: the cause of each
//! change, and for how long it can have been so. Pure.

pub mod edited;

mod judge;

#[cfg(test)]
mod tests;

pub use judge::judge;

use serde::Serialize;

use crate::document::words;
use crate::inventory::value::{Duration, Time};
use crate::plan::{CauseKind, ComparisonBase, Plan, Review};
use crate::state::{ApplyId, WrittenRrset};
use crate::target::TargetId;

/// Live DNS compared with what is desired, with what the journal says about the differences.
#[derive(Debug, Clone, Copy)]
pub struct Drift<'a> {
    /// The plan that would make the two agree.
    pub plan: &'a Plan,
    /// The copies of RRsets that its changes are about, in the order of the changes.
    pub strays: &'a [StrayedCopy],
    /// Where the state is kept.
    pub place: &'a str,
    /// Whether there is one.
    pub is_known: bool,
}

/// What the latest update left at an RRset of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCopy {
    /// The target, where its pool has several.
    pub target: Option<TargetId>,
    /// What was left; none where no update is known to have written it.
    pub written: Option<WrittenRrset>,
}

/// What was left at RRsets of pools of one target, for tests.
#[cfg(test)]
pub fn of_one_target(written: impl Iterator<Item = Option<WrittenRrset>>) -> Vec<Vec<WrittenCopy>> {
    written.map(|written| vec![WrittenCopy { target: None, written }]).collect()
}

/// A copy of an RRset that is not as desired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayedCopy {
    /// The place of the change that would make it so, in its plan.
    pub change: usize,
    /// The name of the target, where its pool has several.
    pub target: Option<String>,
    /// Why it is not.
    pub cause: StrayCause,
}

/// The cause of an RRset that is not as desired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayCause {
    /// Which side changed.
    pub mover: Mover,
    /// What was done to it since the latest apply that wrote it; none where nothing was, or no apply did.
    pub deed: Option<EditorDeed>,
    /// What the latest apply left there; none where no apply is known to have written it.
    pub written: Option<WrittenRrset>,
    /// The latest apply that wrote the RRset, or after which it was as it is wanted now, and when that was; none where
    /// no such apply is known.
    pub since: Option<ApplyMoment>,
    /// For how long it can have differed from what that apply left, in whole seconds and rounded up; none where it does
    /// not differ, or where that apply is in the future by the present clock.
    pub for_at_most: Option<Duration>,
}

/// An apply, and when it wrote or found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ApplyMoment {
    /// The apply.
    pub apply: ApplyId,
    /// When that was.
    pub at: Time,
}

words! {
    /// Which side changed since the latest apply that wrote an RRset.
    Mover {
        /// Live DNS: the apply left what is wanted, and another editor changed it.
        Dns = "drift",
        /// Both: live DNS differs from what the apply left, and from what is wanted now.
        Both = "both",
        /// The inventory: live DNS is as the apply left it, but the inventory has another value now.
        Inventory = "moved-on",
        /// Not known: no apply is known to have written it.
        Unknown = "never-applied",
    }
}

impl Mover {
    /// Whether another editor changed what an apply left.
    pub fn is_drift(self) -> bool {
        matches!(self, Mover::Dns | Mover::Both)
    }
}

words! {
    /// What another editor did to an RRset since an apply.
    EditorDeed {
        /// It has another value.
        Changed = "changed",
        /// It is gone.
        Removed = "removed",
        /// It is there, but the apply left none.
        Added = "added",
    }
}

/// The cause of each change of a plan, in each copy that it is for; `written` has the order of its changes.
///
/// An RRset that no apply wrote can have drifted, too: if an apply did all of its plan, and the inventory has not
/// changed since, every RRset was as it is wanted now. The plan's review knows where this is so.
pub fn strays(plan: &Plan, written: Vec<Vec<WrittenCopy>>, now: Time) -> Vec<StrayedCopy> {
    let wanted_after = wanted_after(plan);
    let copies =
        written.into_iter().enumerate().flat_map(|(place, copies)| copies.into_iter().map(move |copy| (place, copy)));
    let stray = |(place, WrittenCopy { target, written }): (usize, WrittenCopy)| StrayedCopy {
        change: place,
        target: target.map(|target| target.name),
        cause: judge(&plan.changes[place], written, wanted_after[place], now),
    };
    copies.map(stray).collect()
}

/// For each change the apply after which its RRset was as it is wanted now, where the plan's review knows one.
fn wanted_after(plan: &Plan) -> Vec<Option<ApplyMoment>> {
    let mut wanted_after = vec![None; plan.changes.len()];
    let Some(Review { against: ComparisonBase::Journal { apply, at }, causes, .. }) = &plan.review else {
        return wanted_after;
    };
    let drift = causes.iter().filter(|cause| cause.kind == CauseKind::Drift);
    for change in drift.flat_map(|cause| &cause.changes) {
        wanted_after[*change as usize] = Some(ApplyMoment { apply: ApplyId(*apply), at: *at });
    }
    wanted_after
}
