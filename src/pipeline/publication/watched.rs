//! A zone whose name servers are asked.

use std::collections::BTreeMap;

use crate::consensus::{StepNumber, TimedRow, UnshownStep, VoterId, VoterRoll, ZonePolls, ZoneRecord};
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
    /// The rows of its voters before.
    before: BTreeMap<VoterId, TimedRow>,
    /// Its consensus step before.
    settled: StepNumber,
    /// The steps that name servers do not show, although they serve the serials.
    pub unshown: Vec<UnshownStep>,
}

impl WatchedZone {
    /// A zone of which nothing was asked yet.
    pub fn new(zone: ZoneId, record: ZoneRecord, roll: VoterRoll) -> WatchedZone {
        let (before, settled) = (record.servers.clone(), record.consensus);
        WatchedZone { zone, record, roll, asking: 0, before, settled, unshown: Vec::new() }
    }

    /// Counts the rows of its voters; those that failed only once `is_over`.
    pub fn count(&mut self, is_over: bool) {
        self.record.count(&self.roll, is_over);
    }

    /// The step that a name server had shown before it was asked; of one without a row, the consensus step.
    pub fn shown_before(&self, voter: &VoterId) -> StepNumber {
        self.before.get(voter).map_or(self.settled, |kept| kept.row.step)
    }

    /// The lowest step that a name server of it had shown before.
    pub fn lowest_before(&self) -> StepNumber {
        let followers = self.roll.voters.iter().filter(|voter| voter.server.is_some());
        followers.map(|voter| self.shown_before(voter)).min().unwrap_or(self.settled)
    }

    /// Forgets what a name server showed, as if it was not asked.
    pub fn forget_polls(&mut self, voter: &VoterId) {
        match self.before.get(voter) {
            Some(kept) => self.record.servers.insert(voter.clone(), *kept),
            None => self.record.servers.remove(voter),
        };
        self.asking += 1;
    }

    /// What its name servers showed.
    pub fn into_polls(self) -> ZonePolls {
        let WatchedZone { record, asking, before, unshown, .. } = self;
        ZonePolls { newest: record.newest, before, after: record.servers, unshown, is_over: asking == 0 }
    }
}
