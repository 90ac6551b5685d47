//! Whether what was applied is served: an apply's steps are recorded, name servers are asked, and consensus is counted.
//!
//! Comes in: what at least one target took, zone by zone, and what each target serves then. Goes out: the same in the
//! state, and what name servers show of it. What the pool of a zone has no name server for is decided at once.
//!
//! The wait may take minutes. So the state and its lock are given back before name servers are asked, and taken again for
//! what they showed, which is then merged with what other runs wrote meanwhile.

pub mod polls;

mod records;

mod rolls;

pub mod step;

pub mod taken;

mod watched;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use self::polls::{PollTask, PollWatch, poll};
use self::records::ExpectedRecords;
use self::rolls::NamedServer;
use self::watched::WatchedZone;
use crate::consensus::{RrsetStatus, VoterRoll};
use crate::diag::Problem;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::provider::ProviderContext;
use crate::state::served::{DifferingRrset, ServedOutcome, StatusCounts, WaitEnding, ZoneServed, counts_in};
use crate::state::{ApplyId, HeldState, PublicationRecord, RecordedZone, RrsetStanding, StateAddress};
use crate::target::ZoneId;

pub use self::rolls::PoolRolls;

/// How long another run is waited for that has the lock when name servers were asked: as long as they are by default.
const LONGEST_LOCK: Duration = Duration::from_secs(120);

/// How publication is watched.
pub struct PublicationWatch<'a> {
    /// The settings.
    pub config: &'a Config,
    /// What name servers are opened with.
    pub context: &'a ProviderContext<'a>,
    /// Set once a signal asks for the end.
    pub interrupted: &'a AtomicBool,
    /// The clock.
    pub clock: &'a (dyn Fn() -> Time + Sync),
    /// Who runs it, for the lock of the state.
    pub who: &'a str,
    /// Shows the operator how far it is.
    pub progress: &'a dyn Progress,
}

impl PublicationWatch<'_> {
    /// Waits until the name servers serve what an apply changed, or were asked often enough; asks none where `waits`
    /// says so. Gives none where no pool of the apply has a name server, and its targets agree.
    ///
    /// Other runs may go on meanwhile: the state is given back while name servers are asked.
    pub fn of_apply(&self, held: HeldState, apply: ApplyId, waits: bool) -> Result<Option<ServedOutcome>, Problem> {
        let rolls = PoolRolls::of(self.config, self.context.source);
        let rows = rows_of(&*held.state, apply, &rolls)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let zones: BTreeSet<ZoneId> = rows.iter().map(|rrset| rrset.zone.clone()).collect();
        let pending = rows.iter().filter(|rrset| rrset.row.status == RrsetStatus::Pending);
        let pending: BTreeSet<ZoneId> = pending.map(|rrset| rrset.zone.clone()).collect();
        let unasked = |held, ending| AskedZones { held, ending, zones: Vec::new(), differing: Vec::new() };
        let asked = match (waits, pending.is_empty()) {
            (_, true) => unasked(held, WaitEnding::Over),
            (false, false) => unasked(held, WaitEnding::Skipped),
            (true, false) => self.ask(held, &rolls, &pending, true)?,
        };
        let AskedZones { held, ending, differing, .. } = asked;
        // Those that a later apply changed meanwhile are that one's.
        let rows = rows_of(&*held.state, apply, &rolls)?;
        Ok(Some(ServedOutcome { ending, zones: self.served(&*held.state, &rolls, &zones, &rows)?, differing }))
    }

    /// Asks all name servers of zones, and keeps what they show; gives what is known then. The RRsets in question are those
    /// that were open.
    ///
    /// Other runs may go on meanwhile: the state is given back while name servers are asked.
    pub fn of_zones(&self, held: HeldState, zones: &BTreeSet<ZoneId>) -> Result<ServedOutcome, Problem> {
        let rolls = PoolRolls::of(self.config, self.context.source);
        let AskedZones { ending, zones, differing, .. } = self.ask(held, &rolls, zones, false)?;
        let served = |(RecordedZone { zone, record, .. }, roll): (RecordedZone, &VoterRoll)| {
            let rrsets = StatusCounts::of(record.rrsets.values().map(|rrset| rrset.status));
            ZoneServed::of(zone, &record, roll, rrsets)
        };
        let with_roll = |zone: RecordedZone| rolls.roll(&zone.zone).map(|roll| (zone, roll));
        Ok(ServedOutcome { ending, zones: zones.into_iter().filter_map(with_roll).map(served).collect(), differing })
    }

    /// Asks the name servers of zones, and keeps what they show. Where it `ends_early`, nothing more is asked as soon as
    /// no RRset is pending.
    fn ask(
        &self,
        held: HeldState,
        rolls: &PoolRolls<'_>,
        zones: &BTreeSet<ZoneId>,
        ends_early: bool,
    ) -> Result<AskedZones, Problem> {
        let mut watched = Vec::new();
        for zone in zones {
            let Some(roll) = rolls.roll(zone) else { continue };
            watched.push(WatchedZone::new(zone.clone(), held.state.zone_record(zone)?, roll.clone()));
        }
        let expected = ExpectedRecords::read(&*held.state, self.config, rolls, &watched)?;
        let PublicationWatch { context, interrupted, clock, progress, .. } = *self;
        let watch = PollWatch { context, interrupted, clock, progress, ends_early };
        let address = held.state.address().clone();
        let tasks = poll_tasks(rolls, &watched);
        // Where no server is asked, the state is not given back.
        let kept = tasks.is_empty().then_some(held);
        poll(tasks, &mut watched, &watch);
        let mut differing = expected.check(poll_tasks(rolls, &watched), &mut watched, &watch);
        let mut held = kept.map_or_else(|| self.take_again(&address), Ok)?;
        let zones = merge(&*held.state, rolls, watched, &mut differing)?;
        held.state.keep_records(&zones, clock())?;
        let is_interrupted = interrupted.load(Ordering::SeqCst);
        let ending = if is_interrupted { WaitEnding::Interrupted } else { WaitEnding::Over };
        Ok(AskedZones { held, ending, zones, differing })
    }

    /// Takes the state again, once name servers were asked.
    ///
    /// Errors: another run has it for too long. What was applied is in the state; what name servers showed is not.
    fn take_again(&self, address: &StateAddress) -> Result<HeldState, Problem> {
        let end = Instant::now() + LONGEST_LOCK;
        let goes_on = || Instant::now() < end && !self.interrupted.load(Ordering::SeqCst);
        HeldState::take_patiently(address, self.who, (self.clock)(), &goes_on).map_err(|problem| {
            let message = format!("what the name servers showed could not be kept: {}", problem.message);
            let hint = "what was applied is in the state, and nothing is lost: `zonewright sync` asks them again";
            Problem { message, ..problem }.hint(hint)
        })
    }

    /// What the state says of zones, and of these rows there.
    fn served(
        &self,
        state: &dyn PublicationRecord,
        rolls: &PoolRolls<'_>,
        zones: &BTreeSet<ZoneId>,
        rows: &[RrsetStanding],
    ) -> Result<Vec<ZoneServed>, Problem> {
        let mut served = Vec::new();
        for zone in zones {
            let Some(roll) = rolls.roll(zone) else { continue };
            served.push(ZoneServed::of(zone.clone(), &state.zone_record(zone)?, roll, counts_in(rows, zone)));
        }
        Ok(served)
    }
}

/// Zones whose name servers were asked.
struct AskedZones {
    /// The state, taken again.
    held: HeldState,
    /// How that ended.
    ending: WaitEnding,
    /// The zones, as they are kept.
    zones: Vec<RecordedZone>,
    /// The RRsets that name servers do not hold as they were changed.
    differing: Vec<DifferingRrset>,
}

/// Takes what name servers showed into what the state says of their zones now: other runs may have gone on meanwhile.
/// What differs because another run changed it again is dropped.
fn merge(
    state: &dyn PublicationRecord,
    rolls: &PoolRolls<'_>,
    watched: Vec<WatchedZone>,
    differing: &mut Vec<DifferingRrset>,
) -> Result<Vec<RecordedZone>, Problem> {
    let mut merged = Vec::new();
    for own in watched {
        let zone = own.zone.clone();
        let Some(roll) = rolls.roll(&zone) else { continue };
        let (mut record, mut polls) = (state.zone_record(&zone)?, own.into_polls());
        if let Some(first) = polls.unshown.iter().map(|unshown| unshown.step).min() {
            let rows = state.rrset_rows_after(&zone, first.before())?;
            let is_present =
                |own: &DifferingRrset| rows.get(&(own.name.clone(), own.rtype)).is_some_and(|row| row.step == own.step);
            differing.retain(|own| own.zone != zone || is_present(own));
            let of_zone = differing.iter().filter(|own| own.zone == zone);
            polls.unshown = of_zone.map(DifferingRrset::unshown).collect();
        }
        record.take_polls(&polls, roll);
        merged.push(RecordedZone { zone, record, begun: None });
    }
    Ok(merged)
}

/// The rows of an apply in pools that have name servers, and those of zones that too few targets of a pool without any have
/// as they were changed.
fn rows_of(
    state: &dyn PublicationRecord,
    apply: ApplyId,
    rolls: &PoolRolls<'_>,
) -> Result<Vec<RrsetStanding>, Problem> {
    if !rolls.is_counted() {
        return Ok(Vec::new());
    }
    let mut rows = state.published_by(apply)?;
    let short: BTreeSet<ZoneId> =
        rows.iter().filter(|rrset| rrset.row.status == RrsetStatus::Error).map(|rrset| rrset.zone.clone()).collect();
    rows.retain(|rrset| rolls.is_asked(&rrset.zone.pool) || short.contains(&rrset.zone));
    Ok(rows)
}

/// Which name servers are asked for which of these zones.
fn poll_tasks<'c>(rolls: &PoolRolls<'c>, zones: &[WatchedZone]) -> Vec<PollTask<'c>> {
    let mut of_pool: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, watched) in zones.iter().enumerate() {
        of_pool.entry(watched.zone.pool.as_str()).or_default().push(place);
    }
    let task = |(pool, zones): (&str, Vec<usize>)| {
        let task = |named: &NamedServer<'c>| PollTask { named: named.clone(), zones: zones.clone() };
        rolls.name_servers(pool).iter().map(task).collect::<Vec<_>>()
    };
    of_pool.into_iter().flat_map(task).collect()
}
