//! What is wanted of DNS, and by whom.
//!
//! Goes out: the subjects that decisions are about. Pure.

pub mod subject;

pub use subject::{OrphanName, Subject};
