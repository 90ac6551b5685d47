//! What differs between desired and live, by the reconcile rules, and what of it is done.
//!
//! Comes in: desired hosts, live DNS, and who holds which name. Goes out: for each host that it is skipped, blocked, or
//! what its rules do; over all, changes with their reasons, and notices. Pure.
//!
//! Each host is taken alone, so that all run in parallel: [`standing`] decides whether its rules run at all, and
//! [`rules::reconcile`] runs them, unless all stands as it should ([`settled`]). Once all hosts have been,
//! [`rules::settle`] can block a host still, because only then it is known whose records are protected.

pub mod context;

pub mod own;

pub mod act;

pub mod words;

pub mod standing;

pub mod settled;

pub mod rules;

pub mod released;

pub mod orphans;

pub mod left_behind;

pub mod merge;

pub mod protect;

pub mod waits;

pub use act::Act;
pub use context::{Context, Ground, Selection, Tripped};
pub use standing::{Block, Standing, Standings};
