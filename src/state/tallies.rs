//! What a state says of a pool, counted.

use std::collections::BTreeSet;

use super::ZoneActionRow;
use super::served::StatusCounts;
use crate::consensus::{VoterId, ZoneStatus};
use crate::dns::ZoneName;
use crate::target::PoolName;

/// What a state says of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolTally {
    /// The pool.
    pub pool: PoolName,
    /// How much of it is served; none where the pool has one target and no name server.
    pub served: Option<ServedTally>,
    /// How many changes each target lacks, in the order of the settings; of a pool of several.
    pub lacking: Vec<(String, usize)>,
    /// The rows of zones that were made or deleted.
    pub made: Vec<ZoneActionRow>,
}

impl PoolTally {
    /// Whether there is anything to say of it: it has name servers, or several targets, or a zone could not be made
    /// or deleted.
    pub fn is_counted(&self) -> bool {
        self.served.is_some() || !self.lacking.is_empty() || self.zones_failed() > 0
    }

    /// How many of its zones are not served as they were changed.
    pub fn zones_not_served(&self) -> usize {
        let is_open = |status: &&ZoneStatus| !matches!(status, ZoneStatus::Active | ZoneStatus::Deleted);
        self.served.iter().flat_map(|served| &served.zones).filter(is_open).count()
    }

    /// How many changes its targets lack.
    pub fn changes_lacking(&self) -> usize {
        self.lacking.iter().map(|(_, count)| count).sum()
    }

    /// How many zones could not be made or deleted at some target.
    pub fn zones_failed(&self) -> usize {
        let failed = self.made.iter().filter(|row| row.why.is_some());
        failed.map(|row| &row.copy.zone).collect::<BTreeSet<&ZoneName>>().len()
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
