//! Approvals: whether a cluster-management service lets a host be changed. Pure.
//!
//! Comes in: the hosts that a plan changes in the order of waves, what the state keeps of tasks, and what services answer.
//! Goes out: the next requests, what is to be kept before they are sent, and which hosts may go.
//!
//! | part | what it does |
//! |---|---|
//! | `tasks` | what is kept of tasks, of hosts that were rejected, and of requests |
//! | `ask` | which host of a plan needs which approval |
//! | `queue` | the order in which hosts are asked for, and how many at a time |
//! | `pass` | asks: one service after another for each host, hosts side by side |
//! | `between` | which host that stopped in between goes before all others |
//! | `collect` | which tasks belong to nothing |
//! | `outlook` | why a host waits, in words |

pub mod tasks;

pub mod ask;

pub mod queue;

pub mod pass;

pub mod between;

pub mod collect;

pub mod outlook;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub mod fixture;

pub use ask::HostAsk;
pub use pass::{ApprovalPass, ApprovalTerm, CmsReply, CmsRequest, CmsRequestKind, TaskIds};
pub use tasks::{
    ApprovalMemory, ApprovalNews, CmsCall, CmsCallKind, Refusal, RefusalKind, TaskRow, TaskSaid, TaskStanding,
};
