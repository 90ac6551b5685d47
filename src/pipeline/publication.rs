//! Whether what was applied is served: an apply's steps are recorded, name servers are asked, and consensus is counted.
//!
//! Comes in: what at least one target took, zone by zone, and what each target serves then. Goes out: the same in the
//! state, and what name servers show of it. What the pool of a zone has no name server for is decided at once.

pub mod polls;

mod rolls;

pub mod step;

pub mod taken;

mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use self::polls::{PollTask, PollWatch, poll};
use self::rolls::NamedServer;
use self::watched::WatchedZone;
use crate::consensus::RrsetStatus;
use crate::diag::Problem;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::provider::ProviderContext;
use crate::state::served::{ServedOutcome, StatusCounts, WaitEnding, ZoneServed, counts_in};
use crate::state::{ApplyId, PublicationRecord, RecordedZone, RrsetStanding};
use crate::target::ZoneId;

pub use self::rolls::PoolRolls;

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
    /// Shows the operator how far it is.
    pub progress: &'a dyn Progress,
}

impl PublicationWatch<'_> {
    /// Waits until the name servers serve what an apply changed, or were asked often enough; asks none where `waits`
    /// says so. Gives none where no pool of the apply has a name server.
    pub fn of_apply(
        &self,
        state: &mut dyn PublicationRecord,
        apply: ApplyId,
        waits: bool,
    ) -> Result<Option<ServedOutcome>, Problem> {
        let rolls = PoolRolls::of(self.config, self.context.source);
        let rows = rows_of(state, apply, &rolls)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let pending = rows.iter().filter(|rrset| rrset.row.status == RrsetStatus::Pending);
        let pending: BTreeSet<ZoneId> = pending.map(|rrset| rrset.zone.clone()).collect();
        let ending = match (waits, pending.is_empty()) {
            (false, _) => WaitEnding::Skipped,
            (true, true) => WaitEnding::Over,
            (true, false) => self.ask(state, &rolls, &pending, true)?.ending,
        };
        let rows = rows_of(state, apply, &rolls)?;
        let zones: BTreeSet<ZoneId> = rows.iter().map(|rrset| rrset.zone.clone()).collect();
        Ok(Some(ServedOutcome { ending, zones: self.served(state, &rolls, &zones, &rows)? }))
    }

    /// Asks all name servers of zones, and keeps what they show; gives what is known then. The RRsets in question are those
    /// that were open.
    pub fn of_zones(
        &self,
        state: &mut dyn PublicationRecord,
        zones: &BTreeSet<ZoneId>,
    ) -> Result<ServedOutcome, Problem> {
        let rolls = PoolRolls::of(self.config, self.context.source);
        let AskedZones { ending, zones } = self.ask(state, &rolls, zones, false)?;
        let served = |WatchedZone { zone, record, roll, .. }: WatchedZone| {
            let rrsets = StatusCounts::of(record.rrsets.values().map(|rrset| rrset.status));
            ZoneServed::of(zone, &record, &roll, rrsets)
        };
        Ok(ServedOutcome { ending, zones: zones.into_iter().map(served).collect() })
    }

    /// Asks the name servers of zones, and keeps what they show. Where it `ends_early`, nothing more is asked as soon as
    /// no RRset is pending.
    fn ask(
        &self,
        state: &mut dyn PublicationRecord,
        rolls: &PoolRolls<'_>,
        zones: &BTreeSet<ZoneId>,
        ends_early: bool,
    ) -> Result<AskedZones, Problem> {
        let mut watched = Vec::new();
        for zone in zones {
            let Some(roll) = rolls.roll(zone) else { continue };
            let record = state.zone_record(zone)?;
            watched.push(WatchedZone { zone: zone.clone(), record, roll: roll.clone(), asking: 0 });
        }
        let PublicationWatch { context, interrupted, clock, progress, .. } = *self;
        let watch = PollWatch { context, interrupted, clock, progress, ends_early };
        poll(tasks(rolls, &watched), &mut watched, &watch);
        let keep =
            |zone: &WatchedZone| RecordedZone { zone: zone.zone.clone(), record: zone.record.clone(), begun: None };
        state.keep_records(&watched.iter().map(keep).collect::<Vec<_>>(), clock())?;
        let is_interrupted = interrupted.load(Ordering::SeqCst);
        let ending = if is_interrupted { WaitEnding::Interrupted } else { WaitEnding::Over };
        Ok(AskedZones { ending, zones: watched })
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
    /// How that ended.
    ending: WaitEnding,
    /// The zones.
    zones: Vec<WatchedZone>,
}

/// The rows of an apply in pools that have name servers.
fn rows_of(
    state: &dyn PublicationRecord,
    apply: ApplyId,
    rolls: &PoolRolls<'_>,
) -> Result<Vec<RrsetStanding>, Problem> {
    if !rolls.has_name_servers() {
        return Ok(Vec::new());
    }
    let mut rows = state.published_by(apply)?;
    rows.retain(|rrset| rolls.is_asked(&rrset.zone.pool));
    Ok(rows)
}

/// Which name servers are asked for which of these zones.
fn tasks<'c>(rolls: &PoolRolls<'c>, zones: &[WatchedZone]) -> Vec<PollTask<'c>> {
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
