//! What a plan was made from, as far as another look can show whether anything of it has moved.
//!
//! Comes in: all that decisions were based on, just after it was read. Goes out: stamps of it, which cost little to keep and to
//! compare; and the moment from which the clock alone may change the plan.

use super::inputs::{PlanInput, PlanRequest, cache_of};
use super::record_zones;
use super::settings::state_address;
use crate::inventory::Inventory;
use crate::inventory::model::Config;
use crate::inventory::read::{self, FolderTraces};
use crate::inventory::value::{Duration, Time};
use crate::parallel::side_by_side;
use crate::reading::ReadingTerms;
use crate::reading::open::{all_copies, open_targets};
use crate::state::{self, StateAddress, StateStamp};
use crate::target::{CopyId, ZoneStamp};

/// How long a plan is used again at most. Whatever the stamps do not show changes a plan no later than this.
pub(super) const AT_MOST: Duration = Duration::from_secs(3600);

/// What a plan was made from.
#[derive(Debug)]
pub(super) struct PlanGround {
    /// The settings.
    config: Config,
    /// What the workspace looked like.
    traces: FolderTraces,
    /// The copies of the zones.
    copies: Vec<(CopyId, ZoneStamp)>,
    /// The state.
    state: (StateAddress, StateStamp),
    /// When the plan was made.
    made: Time,
    /// From when on the clock alone may change it.
    until: Time,
}

impl PlanGround {
    /// What a plan of a request was made from.
    ///
    /// Errors: why another look could not show that nothing has moved.
    pub fn of(input: &PlanInput, request: &PlanRequest<'_>) -> Result<PlanGround, &'static str> {
        let PlanInput { inventory, zones, reading, .. } = input;
        let config = &inventory.config;
        let asks_keys = config.pools.iter().any(|pool| pool.marking.key.is_some());
        let is_whole = zones.read.len() == all_copies(config).len() && zones.asked.is_empty();
        if request.live_snapshot.is_some() || request.base.is_some() || request.asks_approvals {
            return Err("it is about more than the present");
        }
        if !is_whole {
            return Err("a zone is asked name by name, or could not be read");
        }
        if !inventory.is_believed() {
            return Err("a source is not believed");
        }
        if record_zones::are_listed(config) || asks_keys {
            return Err("an account lists zones, or a key is fetched, which may be others the next time");
        }
        let address = state_address(request.workspace, config);
        let stamp = input.stamp.ok_or("the state was written to just before")?;
        if state::stamp(&address) != Some(stamp) {
            return Err("the state was written to meanwhile");
        }
        let until = moves(input)?;
        Ok(PlanGround {
            config: config.clone(),
            traces: reading.traces.clone(),
            copies: zones.read.iter().map(|read| (read.copy.clone(), read.stamp.clone())).collect(),
            state: (address, stamp),
            made: input.now,
            until,
        })
    }

    /// Checks that the same plan would be made now. It costs a look at each file, and a question about each zone.
    ///
    /// Errors: what has moved.
    pub fn check(&self, request: &PlanRequest<'_>) -> Result<(), &'static str> {
        let (address, stamp) = &self.state;
        if !(self.made..self.until).contains(&request.now) {
            return Err("the clock");
        }
        if !read::still_shows(request.workspace, &self.traces) {
            return Err("a file, or one was written just before it was read");
        }
        if state::stamp(address).as_ref() != Some(stamp) {
            return Err("the state");
        }
        if self.are_zones_the_same(request) { Ok(()) } else { Err("a zone, or a server did not say") }
    }

    /// Whether each target says that its copies have not moved.
    fn are_zones_the_same(&self, request: &PlanRequest<'_>) -> bool {
        let cache = cache_of(request, &self.config);
        let terms = ReadingTerms { workspace: request.workspace, now: request.now, cache: Some(&cache) };
        let readers = open_targets(&self.config, &terms);
        let targets: Vec<_> = readers.targets().iter().collect();
        let count = targets.len();
        let answers = side_by_side(targets, count, |target| {
            let own = self.copies.iter().filter(|(copy, _)| copy.target == target.id);
            let stamps: Vec<&ZoneStamp> = own.map(|(_, stamp)| stamp).collect();
            target.access.as_ref().is_ok_and(|access| stamps.is_empty() || access.still_has(&stamps))
        });
        answers.into_iter().all(|answer| answer)
    }
}

/// From when on the clock alone may change a plan.
///
/// Errors: why that is not known.
fn moves(input: &PlanInput) -> Result<Time, &'static str> {
    let PlanInput { now, inventory, waits, remembered, .. } = input;
    let memory = input.state.as_deref().map(|state| state.rollouts()).transpose();
    let memory = memory.map_err(|_| "the state cannot be read")?.unwrap_or_default();
    // It goes on by the clock, and by what servers and probes say.
    if !memory.waits.is_empty() || memory.flux.iter().any(|row| row.is_in_flux(memory.now(*now))) {
        return Err("something of a rollout waits, or is on its way");
    }
    if inventory.moves.is_some_and(|moves| moves <= *now) {
        return Err("a row of pods has no time that can be read, or the clock changes something just now");
    }
    let delay = inventory.config.delete_after;
    let waits = waits.iter().flat_map(|(_, _, since)| [since, since.plus(delay)]);
    let moments = moments(inventory).chain(waits).chain(remembered.frees());
    // At some moments it is still as before, and just after them it is not.
    Ok(moments.filter(|moment| moment >= now).fold(now.plus(AT_MOST), Time::min))
}

/// The moments, past and to come, at which something in an inventory begins or ceases to count.
pub(super) fn moments(inventory: &Inventory) -> impl Iterator<Item = Time> {
    let reports = inventory.reports.iter().filter_map(|report| {
        let max_age = inventory.mac_sources[usize::from(report.source)].max_age?;
        Some(report.time.plus(max_age))
    });
    let exports =
        inventory.exports.iter().filter_map(|export| Some(export.dated?.plus(export.spec.demands.max_age?.age)));
    let config = &inventory.config;
    let released = inventory.lock.iter().filter_map(|row| row.released);
    let released = released.flat_map(|at| {
        let cool = at.plus(config.name_cooldown);
        [at, cool, cool.plus(config.delete_after)]
    });
    reports.chain(exports).chain(released).chain(inventory.moves)
}
