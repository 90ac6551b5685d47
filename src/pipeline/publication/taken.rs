//! What targets took of an apply, and what they serve right after it.

use std::collections::BTreeMap;

use super::rolls::PoolRolls;
use super::step::ZoneTaken;
use crate::apply::compare::is_after;
use crate::apply::{CopyAccess, PlanWritten, ReadBack, SIDE_BY_SIDE};
use crate::change::{Change, ChangeKind};
use crate::consensus::{RrsetTask, TakenRrset, TargetServed};
use crate::dns::{Rtype, Serial, ZoneName};
use crate::parallel::side_by_side;
use crate::state::{SentFate, SentUpdate};
use crate::target::{Answer, Question, WriteTarget, ZoneId};

/// The targets of the zones of an apply.
#[derive(Clone, Copy)]
pub struct TakingTargets<'a> {
    /// The copies of the zones.
    pub copies: &'a [CopyAccess<'a>],
    /// The voters of all pools. Serials are read only where a pool has a name server.
    pub rolls: &'a PoolRolls<'a>,
}

impl TakingTargets<'_> {
    /// What was taken of a plan: the changes that were read back as they were written.
    pub fn of_plan(&self, written: &PlanWritten<'_>, read_back: &ReadBack) -> Vec<ZoneTaken> {
        let changes = written.survey.changes;
        let done = written.units.iter().flat_map(|unit| &unit.done);
        let is_there = |place: &&usize| match read_back.get(place) {
            Some(Ok(answer)) => is_after(&changes[**place], answer),
            Some(Err(_)) | None => false,
        };
        let mut taken: BTreeMap<ZoneId, Vec<TakenRrset>> = BTreeMap::new();
        for change in done.filter(is_there).map(|place| &changes[*place]) {
            taken.entry(change.zone_id()).or_default().push(rrset_of(change));
        }
        self.zones(taken, true)
    }

    /// What was taken of an apply that was broken off, as the journal says.
    pub fn of_journal(&self, sent: &[SentUpdate]) -> Vec<ZoneTaken> {
        let mut taken: BTreeMap<ZoneId, Vec<TakenRrset>> = BTreeMap::new();
        for sent in sent.iter().filter(|sent| sent.fate == SentFate::Done) {
            let Some(access) = self.copies.iter().find(|access| access.copy.zone == sent.zone) else { continue };
            let rrsets = taken.entry(access.copy.zone_id()).or_default();
            rrsets.extend(sent.changes.iter().map(|change| TakenRrset {
                name: change.name.clone(),
                rtype: change.rtype,
                task: task(change.before.is_some(), change.after.is_some()),
            }));
        }
        // Its serials may be older than what an earlier run saw there since.
        self.zones(taken, false)
    }

    /// Zones with what their targets serve now; `is_changed` says that the step has just changed them.
    fn zones(&self, taken: BTreeMap<ZoneId, Vec<TakenRrset>>, is_changed: bool) -> Vec<ZoneTaken> {
        side_by_side(taken.into_iter().collect(), SIDE_BY_SIDE, |(zone, taken)| {
            let copies = self.copies.iter().filter(|access| access.copy.zone_id() == zone);
            let served = |access: &CopyAccess<'_>| TargetServed {
                target: access.copy.target.name.clone(),
                // A pool of one target lacks nothing: what its target did not take has no row.
                lacks: false,
                is_changed,
                serial: self.serial(&zone, access),
            };
            let targets = copies.map(served).collect();
            ZoneTaken { zone, taken, targets }
        })
    }

    /// The serial that a copy serves now; none where it does not matter or cannot be read.
    fn serial(&self, zone: &ZoneId, access: &CopyAccess<'_>) -> Option<Serial> {
        if !self.rolls.is_asked(&zone.pool) {
            return None;
        }
        serial(*access.writer.as_ref().ok()?, &zone.name)
    }
}

/// The serial that a target serves now; none where it cannot be read.
pub fn serial(writer: &dyn WriteTarget, zone: &ZoneName) -> Option<Serial> {
    let answers = writer.observe(zone, &[Question::soa(zone)], None).ok()?;
    let Some(Answer::Holds(Rtype::SOA, rrset)) = answers.first() else { return None };
    rrset.rdata().first()?.as_rdata(Rtype::SOA).serial()
}

/// The RRset of a change.
fn rrset_of(change: &Change) -> TakenRrset {
    let task = match change.kind {
        ChangeKind::Create { .. } => RrsetTask::Add,
        ChangeKind::Modify { .. } => RrsetTask::Update,
        ChangeKind::Delete { .. } => RrsetTask::Delete,
    };
    TakenRrset { name: change.key.owner.as_name().to_name(), rtype: change.key.rtype, task }
}

/// What was done to an RRset that was there before, or is there after.
fn task(was_there: bool, is_there: bool) -> RrsetTask {
    match (was_there, is_there) {
        (false, _) => RrsetTask::Add,
        (true, true) => RrsetTask::Update,
        (true, false) => RrsetTask::Delete,
    }
}
