//! What the state of a workspace says at the end of a run, for metrics. Writes nothing.

use std::path::Path;

use super::approvals;
use super::publication::PoolRolls;
use super::settings::{WorkspaceSettings, load_config, load_settings, state_address};
use super::waves::settings_of;
use super::zone_changes::without_zone;
use crate::consensus::{RowStatus, VoterId, ZoneStatus};
use crate::diag::Problem;
use crate::guard::Breaker;
use crate::inventory::model::Config;
use crate::inventory::pool::Pool;
use crate::inventory::value::Time;
use crate::state::served::StatusCounts;
use crate::state::status::unfinished;
use crate::state::tallies::{ApprovalTally, PoolTally, RolloutTally, ServedTally, VoterTally};
use crate::state::{ApplySummary, LackedChange, RrsetTally, State, ZoneActionRow, open_to_read};
use crate::target::ZoneId;

/// What a state says.
#[derive(Debug, Default)]
pub struct StateMetrics {
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The apply that ended last; none where none did.
    pub last: Option<ApplySummary>,
    /// How many later applies did not end.
    pub unfinished: usize,
    /// What it says of each pool.
    pub pools: Vec<PoolTally>,
    /// What it says of rollouts; none where there is no clock.
    pub rollouts: Option<RolloutTally>,
    /// What it says of approvals.
    pub approvals: ApprovalTally,
}

/// What the state of a workspace says; where there is no state yet, nothing is tripped and nothing was applied.
///
/// None where it cannot be read: the part of the run that needs the state has reported why. `now` says what is in flux.
pub fn standing(workspace: &Path, now: Option<Time>) -> Option<StateMetrics> {
    let settings = load_settings(workspace).ok()?;
    let config = &settings.config;
    let groups = settings_of(&settings.projects, &settings.pod_sets);
    match open_to_read(&state_address(workspace, config)).ok()? {
        Some(state) => {
            let tally = now.and_then(|now| Some(RolloutTally::of(&state.rollouts().ok()?, groups.keys(), now)));
            let rollouts = tally.filter(RolloutTally::is_counted);
            let metrics = StateReader { state: &*state, config }.read().ok()?;
            let approvals = approvals(&*state, &settings).ok()?;
            Some(StateMetrics { rollouts, approvals, ..metrics })
        }
        None => Some(StateMetrics::default()),
    }
}

/// The tripped breakers of a workspace, sorted by scope; none where they cannot be read.
pub fn breakers(workspace: &Path) -> Vec<Breaker> {
    let state =
        load_config(workspace).ok().and_then(|(config, _)| open_to_read(&state_address(workspace, &config)).ok());
    state.flatten().and_then(|state| state.breakers().ok()).unwrap_or_default()
}

/// What a state says of each pool, in the order of the settings.
pub(super) fn pools(state: &dyn State, config: &Config) -> Result<Vec<PoolTally>, Problem> {
    StateReader { state, config }.pools()
}

/// What a state is read with.
struct StateReader<'a> {
    /// The state.
    state: &'a dyn State,
    /// The settings.
    config: &'a Config,
}

impl StateReader<'_> {
    /// Reads it.
    fn read(&self) -> Result<StateMetrics, Problem> {
        let (breakers, last) = (self.state.breakers()?, self.state.last_finished()?);
        Ok(StateMetrics {
            breakers,
            last,
            unfinished: unfinished(self.state)?.len(),
            pools: self.pools()?,
            rollouts: None,
            approvals: ApprovalTally::default(),
        })
    }

    /// What it says of each pool.
    fn pools(&self) -> Result<Vec<PoolTally>, Problem> {
        let (tallies, mut lacks) = (self.state.rrset_tallies()?, self.state.lacks()?);
        let (mut made, mut zones) = (self.state.zone_rows()?, self.state.zones_with_steps()?);
        // Nothing goes on with zones that the settings no longer have.
        let is_known = |zone: &ZoneId| self.config.zone(zone).is_some();
        lacks.retain(|lack| is_known(&lack.copy.zone_id()));
        made.retain(|row| is_known(&row.copy.zone_id()));
        zones.retain(is_known);
        let (rolls, mut pools) = (PoolRolls::of(self.config, &self.config.source), Vec::new());
        for pool in &self.config.pools {
            let made: Vec<_> = made.iter().filter(|row| row.copy.target.pool == pool.name).cloned().collect();
            let mut served = None;
            if !pool.name_servers.is_empty() || pool.has_several() {
                let rrsets = rrsets_of(pool, &tallies);
                let (zones, voters) = self.zones_and_voters(pool, rolls.of_pool(&pool.name), &zones, &made)?;
                served = Some(ServedTally { rrsets, zones, voters });
            }
            pools.push(PoolTally { pool: pool.name.clone(), served, lacking: lacking(pool, &lacks), made });
        }
        Ok(pools)
    }

    /// The status of each zone of a pool, and what is known of its voters.
    fn zones_and_voters(
        &self,
        pool: &Pool,
        voters: Vec<VoterId>,
        zones: &[ZoneId],
        made: &[ZoneActionRow],
    ) -> Result<(Vec<ZoneStatus>, Vec<VoterTally>), Problem> {
        let unknown = |voter| VoterTally { voter, at_newest: 0, failed: 0 };
        let mut voters: Vec<VoterTally> = voters.into_iter().map(unknown).collect();
        let mut statuses = Vec::new();
        for zone in zones.iter().filter(|zone| zone.pool == pool.name) {
            let record = self.state.zone_record(zone)?;
            statuses.push(if without_zone(pool, &zone.name, made) { ZoneStatus::Deleted } else { record.status() });
            for VoterTally { voter, at_newest, failed } in &mut voters {
                match record.servers.get(voter).map(|kept| kept.row.status()) {
                    Some(RowStatus::Success) => *at_newest += 1,
                    Some(RowStatus::Error) => *failed += 1,
                    None => {}
                }
            }
        }
        Ok((statuses, voters))
    }
}

/// What a state says of approvals.
fn approvals(state: &dyn State, settings: &WorkspaceSettings) -> Result<ApprovalTally, Problem> {
    let asked = approvals::settings_of(&settings.projects);
    let services = asked.values().flat_map(|terms| &terms.services).map(String::as_str);
    let labels = settings.config.cms.iter().map(|service| (service.name.clone(), service.label())).collect();
    let (calls, failures) = (state.cms_tallies()?, state.cms_failures()?);
    Ok(ApprovalTally { calls, failures, labels, ..ApprovalTally::of(&state.approvals()?, services) })
}

/// How many RRsets of a pool have each status.
fn rrsets_of(pool: &Pool, tallies: &[RrsetTally]) -> StatusCounts {
    let own = tallies.iter().filter(|tally| tally.pool == pool.name);
    StatusCounts::of(own.flat_map(|tally| std::iter::repeat_n(tally.status, tally.count)))
}

/// How many changes each target of a pool of several lacks.
fn lacking(pool: &Pool, lacks: &[LackedChange]) -> Vec<(String, usize)> {
    let targets = pool.targets.iter().filter(|_| pool.has_several());
    let count = |target| lacks.iter().filter(|lack| lack.copy.target == target).count();
    targets.map(|target| (target.id.name.clone(), count(target.id.clone()))).collect()
}
