//! Refuses plans and blocks hosts: limits, breakers, trust in exports, and rules of DNS in the resulting zones.
//!
//! Comes in: inventory, live DNS, a plan, and what the state has of earlier applies. Goes out: what fits and what does
//! not, in numbers and words. Pure: the caller passes what the state has as plain values, and nothing is sent, tripped
//! or accepted here.

use crate::diag::Code;

pub mod trust;

pub mod baseline;

pub mod last;

pub mod ledger;

pub mod rules;

mod shares;

mod loss;

pub mod limits;

pub mod causes;

pub mod words;

pub mod breakers;

pub mod clearance;

pub use breakers::Breaker;
pub use clearance::{Allowance, Clearance, ExceededLimit, clear};
pub use ledger::Ledger;
pub use limits::count;
pub use rules::LimitRules;

/// The code of a plan that exceeds a limit.
pub const LIMIT_EXCEEDED: Code = Code::new("limit-exceeded");

/// The code of a call that lifts a limit that does not exist.
pub const UNKNOWN_LIMIT: Code = Code::new("unknown-limit");
