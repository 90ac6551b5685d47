//! The inverse of an apply, as far as nobody changed since what it did.
//!
//! Comes in: the updates of an apply as the journal has them, and what stands now where they changed something. Goes out:
//! the changes that put back what stood there before, and whose hosts get none of them and why. Pure.
//!
//! | part | what it does |
//! |---|---|
//! | `net` | what an apply did in all, RRset by RRset |
//! | `judge` | what is to be done about it, host by host |

mod judge;

mod net;

#[cfg(test)]
mod tests;

pub use judge::{Edited, Judged, judge, narrow, notice};
pub use net::{Odd, net};
