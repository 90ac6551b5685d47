//! Which units of a plan go now. Pure.
//!
//! Comes in: the units that are still to be written, and the leave that `guard` gave. Goes out: the next wave. It
//! decides which units go now and which later, never what a plan does.

pub mod units;

pub mod wave;

pub use units::{ChangeUnit, UnitSubject, hosts_of, is_one, units};
pub use wave::Wave;
