//! What a state says of a pool, counted.

use std::collections::{BTreeMap, BTreeSet};

use super::ZoneActionRow;
use super::approvals::{CmsFailure, CmsTally};
use super::served::StatusCounts;
use crate::approval::{ApprovalMemory, TaskStanding};
use crate::claim::Subject;
use crate::consensus::{VoterId, ZoneStatus};
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::plan::WaitCode;
use crate::rollout::RolloutMemory;
use crate::target::PoolName;

/// What a state says of rollouts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolloutTally {
    /// How many subjects wait, by each code there is.
    pub waiting: Vec<(WaitCode, usize)>,
    /// How many subjects of each group count in its budget, because their change may not have reached all clients.
    pub flux: BTreeMap<String, usize>,
}

impl RolloutTally {
    /// Counts what is remembered, of these groups and all others that have something in flux.
    pub fn of<'g>(memory: &RolloutMemory, groups: impl Iterator<Item = &'g String>, clock: Time) -> RolloutTally {
        let now = memory.now(clock);
        let count = |code| memory.waits.values().filter(|record| record.wait.code == code).count();
        let waiting = WaitCode::ALL.iter().map(|code| (*code, count(*code))).collect();
        let rows = memory.flux.iter().filter(|row| row.is_disruptive && row.is_in_flux(now));
        let members: BTreeSet<(&String, &Subject)> = rows.map(|row| (&row.group, &row.subject)).collect();
        let mut flux: BTreeMap<String, usize> = groups.map(|group| (group.clone(), 0)).collect();
        members.into_iter().for_each(|(group, _)| *flux.entry(group.clone()).or_default() += 1);
        RolloutTally { waiting, flux }
    }

    /// Whether there is anything to say: some group has a rollout, or something waits.
    pub fn is_counted(&self) -> bool {
        !self.flux.is_empty() || self.waiting.iter().any(|(_, count)| *count > 0)
    }
}

/// What a state says of approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalTally {
    /// How services were asked, in all runs.
    pub calls: Vec<CmsTally>,
    /// How many tasks each service has, by how far they are: all of these for each service.
    pub tasks: BTreeMap<(String, TaskStanding), usize>,
    /// The services that do not answer.
    pub failures: Vec<CmsFailure>,
    /// What metrics call each service that the settings have, by its name.
    pub labels: BTreeMap<String, String>,
}

impl ApprovalTally {
    /// Counts the tasks of these services, and of all others that have some.
    pub fn of<'s>(memory: &'s ApprovalMemory, services: impl Iterator<Item = &'s str>) -> ApprovalTally {
        let all: BTreeSet<&str> = services.chain(memory.tasks().map(|row| row.service.as_str())).collect();
        let each =
            |service: &str| TaskStanding::ALL.iter().map(|own| ((service.to_owned(), *own), 0)).collect::<Vec<_>>();
        let mut tasks: BTreeMap<(String, TaskStanding), usize> = all.into_iter().flat_map(each).collect();
        memory.tasks().for_each(|row| *tasks.entry((row.service.clone(), row.standing())).or_default() += 1);
        ApprovalTally { tasks, ..ApprovalTally::default() }
    }

    /// What metrics call a service: its name where the settings no longer have it.
    pub fn label<'t>(&'t self, service: &'t str) -> &'t str {
        self.labels.get(service).map_or(service, String::as_str)
    }
}

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
