//! What a state says of a pool, counted.

use super::ZoneActionRow;
use super::served::StatusCounts;
use crate::consensus::{VoterId, ZoneStatus};
use crate::target::PoolName;

/// What a state says of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolTally {
    /// The pool.
    pub pool: PoolName,
    /// How much of it is served; none where the pool has no name server.
    pub served: Option<ServedTally>,
    /// How many changes each target lacks, in the order of the settings; of a pool of several.
    pub lacking: Vec<(String, usize)>,
    /// The rows of zones that were made or deleted.
    pub made: Vec<ZoneActionRow>,
}

impl PoolTally {
    /// Whether there is anything to say of it: it has name servers, or several targets.
    pub fn is_counted(&self) -> bool {
        self.served.is_some() || !self.lacking.is_empty()
    }

    /// What is left: how many zones are not served as they were changed, and how many changes targets lack.
    pub fn open(&self) -> (usize, usize) {
        let is_open = |status: &&ZoneStatus| !matches!(status, ZoneStatus::Active | ZoneStatus::Deleted);
        let zones = self.served.iter().flat_map(|served| &served.zones).filter(is_open).count();
        (zones, self.lacking.iter().map(|(_, count)| count).sum())
    }
}

/// How much of a pool is served as it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedTally {
    /// How many RRsets have each status.
    pub rrsets: StatusCounts,
    /// The status of each zone that has steps.
    pub zones: Vec<ZoneStatus>,
    /// Its voters, in the order of the settings.
    pub voters: Vec<VoterTally>,
}

/// What is known of the zones of a voter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoterTally {
    /// The voter.
    pub voter: VoterId,
    /// At how many zones it is at the newest step.
    pub at_newest: usize,
    /// At how many it failed.
    pub failed: usize,
}
