//! The reference service of the protocol of approvals (CMS), to try zonewright with and to test it: it lets so many hosts
//! through at a time as its options say, in the order in which they came.
//!
//! Comes in: how many hosts may be busy, whom it rejects, what goes wrong. Goes out: answers over HTTP on loopback, until it is
//! stopped. Its tasks are in a database, so that they outlive it where that has a file.
//!
//! | part | nature |
//! |---|---|
//! | `fault` | pure: faults on request |
//! | `store` | the tasks, in SQLite |
//! | `desk` | one request to its answer |
//! | `listen` | the socket |
//!
//! `web` reads requests and writes answers.

mod desk;

pub mod fault;

mod listen;

mod store;

pub use self::desk::{ApprovalCounts, ApprovalDesk, ApprovalOptions};
pub use self::listen::listen;
pub use self::store::TaskStore;
