//! The inverse of an apply, for what was not changed since.
//!
//! Comes in: the updates of an apply as the journal has them, and what is there now where they changed something. Goes
//! out: the changes that put back what was there before, and the hosts that get none of them, and why. Pure.
//!
//! | part | what it does |
//! |---|---|
//! | `net` | what an apply did in all, RRset by RRset |
//! | `made_up` | what a `sync` made up for it at other targets |
//! | `judge` | how to undo it, host by host |
//! | `listed` | what SRV list, which is not taken away |

mod judge;

mod listed;

mod made_up;

mod net;

#[cfg(test)]
mod tests;

pub use judge::{EditedRrset, UndoJudgement, judge, narrow, notice, stray};
pub use listed::{ListedNow, ListingFault, LiveSrv, UnitLeft, notice_of_left, takes_name, without_listed};
pub use made_up::made_up;
pub use net::{OddChange, ZonePool, gathered, net, per_target};
