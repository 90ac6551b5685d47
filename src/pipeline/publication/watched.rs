//! A zone whose name servers are asked.

use crate::consensus::{VoterRoll, ZoneRecord};
use crate::target::ZoneId;

/// A zone with what is remembered of it, while its name servers are asked.
#[derive(Debug)]
pub struct WatchedZone {
    /// The zone.
    pub zone: ZoneId,
    /// What is remembered.
    pub record: ZoneRecord,
    /// Its voters.
    pub roll: VoterRoll,
    /// How many of its name servers are still to be asked.
    pub asking: usize,
}

impl WatchedZone {
    /// Counts the rows of its voters; those that failed only once `is_over`.
    pub fn count(&mut self, is_over: bool) {
        self.record.count(&self.roll, is_over);
    }
}
