//! A state with its lock: what a run that writes has, and gives back while it waits for others.

use super::{State, StateAddress, StateLock, open_to_write};
use crate::diag::Problem;
use crate::inventory::value::Time;

/// A state that is open to be written, and locked.
pub struct HeldState {
    /// The state; it is closed before the lock ends.
    pub state: Box<dyn State>,
    /// The lock.
    _lock: StateLock,
}

impl HeldState {
    /// Takes the lock of a state, and opens it.
    ///
    /// Errors: `locked`, where another process holds the lock; `state-unwritable`, `state-unreadable`, `state-too-new`.
    pub fn take(address: &StateAddress, who: &str, now: Time) -> Result<HeldState, Problem> {
        HeldState::take_patiently(address, who, now, &|| false)
    }

    /// The same; while another process holds the lock, it is tried again as long as `goes_on` says so.
    ///
    /// Errors: as for [`HeldState::take`].
    pub fn take_patiently(
        address: &StateAddress,
        who: &str,
        now: Time,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<HeldState, Problem> {
        let lock = StateLock::take_patiently(address, who, now, goes_on)?;
        Ok(HeldState { state: open_to_write(address)?, _lock: lock })
    }
}
