//! Steps: each apply that changes a zone is one. They are recorded once what was written has been read back.

use std::collections::{BTreeMap, BTreeSet};

use super::rolls::PoolRolls;
use crate::consensus::{NewStep, TakenRrset, TargetServed};
use crate::diag::Problem;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Time;
use crate::state::{ApplyId, PublicationRecord, RecordedZone};
use crate::target::{CopyId, TargetId, ZoneId};

/// What an apply did to one zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneTaken {
    /// The zone.
    pub zone: ZoneId,
    /// The RRsets that at least one target took.
    pub taken: Vec<TakenRrset>,
    /// When those of them were last written that the apply wrote more than once, or that this run wrote. The others may have
    /// been taken by an earlier part of the apply.
    pub rewritten: BTreeMap<(Name, Rtype), LastWrite>,
    /// The targets that took any of them.
    pub takers: BTreeSet<TargetId>,
    /// What each target of the pool that has the zone serves now.
    pub targets: Vec<TargetServed>,
}

/// When an RRset was last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastWrite {
    /// By an update that was sent then.
    At(Time),
    /// By this run.
    Now,
}

/// What an apply did to its zones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyTaken {
    /// The apply.
    pub apply: ApplyId,
    /// The zones, each once.
    pub zones: Vec<ZoneTaken>,
}

/// Records a step in each zone in which a target took something that no step of this apply has yet, all in one
/// transaction; gives the copies that took it.
///
/// Where a pool has no name server, its targets are all voters, and what is served is decided at once.
pub fn record(
    state: &mut dyn PublicationRecord,
    done: ApplyTaken,
    rolls: &PoolRolls<'_>,
    now: Time,
) -> Result<Vec<CopyId>, Problem> {
    let (mut kept, mut copies) = (Vec::new(), Vec::new());
    for ZoneTaken { zone, mut taken, rewritten, takers, targets } in done.zones {
        let Some(roll) = rolls.roll(&zone) else { continue };
        // A resumed apply says again what an earlier part of it did.
        let told = state.rrsets_since(&zone, done.apply)?;
        let is_told = |key: &(Name, Rtype)| match (told.get(key), rewritten.get(key)) {
            (None, _) | (Some(_), Some(LastWrite::Now)) => false,
            (Some(_), None) => true,
            (Some(told), Some(LastWrite::At(sent))) => sent <= told,
        };
        taken.retain(|rrset| !is_told(&(rrset.name.clone(), rrset.rtype)));
        if taken.is_empty() {
            continue;
        }
        let mut record = state.zone_record(&zone)?;
        record.begin_step(NewStep { taken, targets }, roll, now);
        record.count(roll, !rolls.is_asked(&zone.pool));
        copies.extend(takers.into_iter().map(|target| CopyId { target, zone: zone.name.clone() }));
        kept.push(RecordedZone { zone, record, begun: Some(done.apply) });
    }
    if !kept.is_empty() {
        state.keep_records(&kept, now)?;
    }
    Ok(copies)
}
