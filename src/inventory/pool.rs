//! What zonewright.toml says of pools: their targets, their name servers, and when they agree.

use super::node::SettingsNode;
use super::value::Duration;
use crate::diag::Origin;
use crate::dns::ZoneName;
use crate::registry::Marking;
use crate::target::{PoolName, TargetId, TargetScope};

/// One `[pool.X]` with its targets.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Its name.
    pub name: PoolName,
    /// Its targets, in the order of the settings; never empty.
    pub targets: Vec<TargetSpec>,
    /// Its name servers, in the order of the settings.
    pub name_servers: Vec<NameServerSpec>,
    /// The share of its voters that must agree, in percent: 1 to 100.
    pub threshold: u32,
    /// How its name servers are asked.
    pub polling: PollTerms,
    /// What shows that a name server has reached a step.
    pub proof: FollowProof,
    /// How often `run` brings in line what its targets lack.
    pub sync_interval: Duration,
    /// The zone that lists its zones for secondaries; none where none does.
    pub catalog: Option<CatalogSpec>,
    /// How own RRsets are known in its zones.
    pub marking: Marking,
    /// `registry`, as it is set for the pool or for all; none where nothing sets it.
    pub registry: Option<SettingsNode>,
    /// Where the key of encrypted TXT is, by its own settings.
    pub txt_key: Option<SettingsNode>,
    /// Whether a DNS update record publishes to it: no other claim sees its zones.
    pub is_of_record: bool,
}

/// `catalog` of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogSpec {
    /// The zone.
    pub zone: ZoneName,
    /// Where it is written.
    pub origin: Origin,
    /// How wide it is there, for diagnostics.
    pub width: usize,
}

/// `verify`: what shows that a name server has reached a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowProof {
    /// Its serial.
    Serials,
    /// Its serial, and each RRset that was changed.
    Records,
}

/// How name servers are asked for serials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollTerms {
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// From one question to the next.
    pub retry_interval: Duration,
    /// How many more questions there are after the first.
    pub max_retries: u32,
}

impl Pool {
    /// Whether it has several targets.
    pub fn has_several(&self) -> bool {
        self.targets.len() > 1
    }

    /// Whether what is kept of its zones says of which target it is: there are other copies, or other zones of one name.
    pub fn names_targets(&self) -> bool {
        self.has_several() || self.is_of_record
    }

    /// How many voters a target is or feeds: its name servers, or itself where none follows it.
    pub fn votes(&self, target: &TargetId) -> usize {
        self.name_servers.iter().filter(|server| server.of == *target).count().max(1)
    }

    /// How many voters there are.
    pub fn voters(&self) -> usize {
        self.targets.iter().map(|target| self.votes(&target.id)).sum()
    }

    /// One of its targets among them all, whatever other pools there are.
    pub(super) fn scope(&self, target: &TargetId) -> TargetScope {
        let others = self.targets.iter().filter(|other| other.id != *target).map(|other| other.id.name.clone());
        TargetScope { others: others.collect(), ..TargetScope::only(target.clone()) }
    }

    /// Whether targets reach the threshold; each is given once.
    pub fn is_reached<'t>(&self, targets: impl Iterator<Item = &'t TargetId>) -> bool {
        let votes: usize = targets.map(|target| self.votes(target)).sum();
        100 * votes >= self.threshold as usize * self.voters()
    }
}

/// One `[[pool.X.nameserver]]`: a server that follows a target. It is asked, and never written to.
#[derive(Debug, Clone)]
pub struct NameServerSpec {
    /// The target that it follows.
    pub of: TargetId,
    /// Whether it gets NOTIFY after an update.
    pub notify: bool,
    /// The whole table; the provider reads where it is and how messages are signed.
    pub settings: SettingsNode,
}

/// One `[[pool.X.target]]`: the provider's name, and settings that only the provider reads.
#[derive(Debug, Clone)]
pub struct TargetSpec {
    /// Which.
    pub id: TargetId,
    /// `type`.
    pub provider: String,
    /// The whole table; the provider's `open` reads it.
    pub settings: SettingsNode,
    /// Whether `registry` of its pool says that marks at RRsets tell who owns them.
    pub has_marks: bool,
}
