//! What refuses a plan, or keeps a host out of it: limits, breakers, trust in exports, and what the zones would become.
//!
//! Comes in: inventory, live DNS, a plan, and what is remembered of earlier applies. Goes out: what fits and what does not, in
//! numbers and words. Pure: what is remembered is handed in as plain values, and nothing is sent, tripped or accepted here.

pub mod trust;

pub mod baseline;

pub mod last;

pub mod ledger;

pub mod limits;

pub mod causes;

pub mod words;

pub mod breakers;

pub mod clearance;

pub mod post;

pub use breakers::Breaker;
pub use clearance::{Allowance, Clearance, Over, clear};
pub use ledger::Ledger;
pub use limits::{Rules, count};
