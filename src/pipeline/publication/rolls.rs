//! The voters of each pool, as the settings say.

use std::collections::BTreeMap;

use crate::consensus::{VoterId, VoterRoll};
use crate::inventory::model::Config;
use crate::inventory::node::SourceText;
use crate::inventory::pool::{FollowProof, NameServerSpec, PollTerms, Pool};
use crate::provider;
use crate::target::{PoolName, ZoneId};

/// The voters of all pools.
pub struct PoolRolls<'c> {
    /// Each pool with its voters, by name.
    pools: BTreeMap<&'c str, PoolRoll<'c>>,
}

/// The voters of a pool.
struct PoolRoll<'c> {
    /// All voters.
    roll: VoterRoll,
    /// Its name servers, in the order of the settings.
    name_servers: Vec<NamedServer<'c>>,
    /// What shows that one of them has reached a step.
    proof: FollowProof,
}

/// A name server of a pool, and which voter it is.
#[derive(Debug, Clone)]
pub struct NamedServer<'c> {
    /// The name server.
    pub server: &'c NameServerSpec,
    /// Which voter it is.
    pub voter: VoterId,
    /// How it is asked.
    pub terms: PollTerms,
}

impl<'c> PoolRolls<'c> {
    /// Reads the settings.
    pub fn of(config: &'c Config, source: &SourceText) -> PoolRolls<'c> {
        let roll = |pool: &'c Pool| (pool.name.as_str(), PoolRoll::of(pool, source));
        PoolRolls { pools: config.pools.iter().map(roll).collect() }
    }

    /// The voters of a zone; none where its pool is not in the settings.
    pub fn roll(&self, zone: &ZoneId) -> Option<&VoterRoll> {
        Some(&self.pools.get(zone.pool.as_str())?.roll)
    }

    /// The voters of a pool.
    pub fn of_pool(&self, pool: &PoolName) -> Vec<VoterId> {
        self.pools.get(pool.as_str()).map(|own| own.roll.voters.clone()).unwrap_or_default()
    }

    /// Whether any pool has another voter than the one target that is written.
    pub fn is_counted(&self) -> bool {
        self.pools.values().any(|pool| pool.roll.voters.len() > 1 || !pool.name_servers.is_empty())
    }

    /// Whether a pool has a name server.
    pub fn is_asked(&self, pool: &PoolName) -> bool {
        self.pools.get(pool.as_str()).is_some_and(|pool| !pool.name_servers.is_empty())
    }

    /// Whether what was changed is read from the name servers of a pool.
    pub fn reads_records(&self, pool: &PoolName) -> bool {
        self.pools.get(pool.as_str()).is_some_and(|pool| pool.proof == FollowProof::Records)
    }

    /// The name servers of a pool.
    pub fn name_servers(&self, pool: &str) -> &[NamedServer<'c>] {
        self.pools.get(pool).map(|pool| &pool.name_servers[..]).unwrap_or_default()
    }
}

impl<'c> PoolRoll<'c> {
    /// Reads the settings of one pool.
    fn of(pool: &'c Pool, source: &SourceText) -> PoolRoll<'c> {
        let named = |server: &'c NameServerSpec| {
            let place = provider::name_server_place(&server.settings, source);
            let voter = VoterId { target: server.of.name.clone(), server: Some(place) };
            NamedServer { server, voter, terms: pool.polling }
        };
        let name_servers: Vec<NamedServer<'_>> = pool.name_servers.iter().map(named).collect();
        let alone = pool.targets.iter().filter(|target| pool.name_servers.iter().all(|own| own.of != target.id));
        let targets = alone.map(|target| VoterId { target: target.id.name.clone(), server: None });
        let voters = targets.chain(name_servers.iter().map(|named| named.voter.clone())).collect();
        PoolRoll { roll: VoterRoll { threshold: pool.threshold, voters }, name_servers, proof: pool.proof }
    }
}
