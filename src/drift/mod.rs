//! Why live DNS is not as desired: whether somebody else changed it since an apply, or the inventory moved.
//!
//! Comes in: what a plan would change, and what the journal says was last written there. Goes out: what that makes of each
//! change, and how long it can have been so. Pure.

mod judge;

#[cfg(test)]
mod tests;

pub use judge::judge;

use crate::change::words;
use crate::inventory::value::{Duration, Time};
use crate::plan::{Against, CauseKind, Plan, Review};
use crate::state::{ApplyId, Written};

/// Live DNS held against what is desired, with what the journal says of the difference.
#[derive(Debug, Clone, Copy)]
pub struct Drift<'a> {
    /// What would make the two agree.
    pub plan: &'a Plan,
    /// What is behind each of its changes, in their order.
    pub strays: &'a [Stray],
    /// Where the state is kept.
    pub place: &'a str,
    /// Whether there is one.
    pub is_known: bool,
}

/// What is behind an RRset that is not as desired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Who moved.
    pub mover: Mover,
    /// What was done to it since the latest apply that wrote it; none where nothing was, or no apply did.
    pub deed: Option<Deed>,
    /// What the latest apply left there; none where no apply is known to have written it.
    pub written: Option<Written>,
    /// The apply that last left it, or found it, otherwise than it is now, or as it still is, and when that was; none where
    /// no apply is known to have.
    pub since: Option<(ApplyId, Time)>,
    /// How long it can be otherwise than that apply left it, in whole seconds and rounded up; none where it is not, or where that
    /// apply is yet to come by the clock of today.
    pub for_at_most: Option<Duration>,
}

words! {
    /// Who moved since the latest apply that wrote an RRset.
    Mover {
        /// Live DNS: the apply left what is wanted, and somebody else changed it.
        Dns = "drift",
        /// Both: live DNS is neither what the apply left nor what is wanted now.
        Both = "both",
        /// The inventory: live DNS is as the apply left it, and something else is wanted now.
        Inventory = "moved-on",
        /// Nobody knows: no apply is known to have written it.
        Unknown = "never-applied",
    }
}

impl Mover {
    /// Whether somebody else changed what an apply left.
    pub fn is_drift(self) -> bool {
        matches!(self, Mover::Dns | Mover::Both)
    }
}

words! {
    /// What somebody else did to an RRset since an apply.
    Deed {
        /// It holds something else.
        Changed = "changed",
        /// It is gone.
        Removed = "removed",
        /// It is there, and the apply left none.
        Added = "added",
    }
}

/// What is behind each change of a plan that was made at a time; `written` has the order of its changes.
///
/// What no apply wrote can have drifted all the same: where an apply did all of its plan, and nothing in the inventory
/// differs since, everything stood as it is wanted then. The plan's review knows where that is so.
pub fn strays(plan: &Plan, written: Vec<Option<Written>>, now: Time) -> Vec<Stray> {
    let stood = stood(plan);
    let judged = plan.changes.iter().zip(written).zip(stood);
    judged.map(|((change, written), stood)| judge(change, (written, stood), now)).collect()
}

/// Of each change the apply since which its RRset is no longer as it is wanted, where the plan's review knows one.
fn stood(plan: &Plan) -> Vec<Option<(ApplyId, Time)>> {
    let mut stood = vec![None; plan.changes.len()];
    let Some(Review { against: Against::Journal { apply, at }, causes, .. }) = &plan.review else { return stood };
    let drift = causes.iter().filter(|cause| cause.kind == CauseKind::Drift);
    for change in drift.flat_map(|cause| &cause.changes) {
        stood[*change as usize] = Some((ApplyId(*apply), *at));
    }
    stood
}
