//! What targets took of an apply, and what they serve right after it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rolls::PoolRolls;
use super::step::{LastWrite, ZoneTaken};
use crate::apply::compare::is_after;
use crate::apply::{CopyAccess, PlanWritten, ReadBack, SIDE_BY_SIDE};
use crate::change::{Change, ChangeKind};
use crate::consensus::{RrsetTask, TakenRrset, TargetServed};
use crate::dns::{Name, Rtype, Serial, ZoneName};
use crate::parallel::side_by_side;
use crate::state::{SentChange, SentFate, SentUpdate};
use crate::target::{CopyId, Question, TargetId, WriteTarget, ZoneId};

/// The targets of the zones of an apply.
#[derive(Clone, Copy)]
pub struct TakingTargets<'a> {
    /// The copies of the zones.
    pub copies: &'a [CopyAccess<'a>],
    /// The voters of all pools. Serials are read only where a pool has a name server.
    pub rolls: &'a PoolRolls<'a>,
}

/// What one zone took of an apply.
#[derive(Default)]
struct ZoneTakes {
    /// The RRsets that at least one target took, each once.
    rrsets: BTreeMap<(Name, Rtype), RrsetTask>,
    /// When some of them were last written.
    rewritten: BTreeMap<(Name, Rtype), LastWrite>,
    /// Which of them each target took.
    by_target: BTreeMap<TargetId, BTreeSet<(Name, Rtype)>>,
}

impl ZoneTakes {
    /// Notes that a target took an RRset.
    fn note(&mut self, target: TargetId, rrset: TakenRrset) {
        let TakenRrset { name, rtype, task } = rrset;
        self.by_target.entry(target).or_default().insert((name.clone(), rtype));
        self.rrsets.entry((name, rtype)).or_insert(task);
    }
}

/// What a target did in a step.
struct TargetTakes {
    /// Whether it lacks a change.
    lacks: bool,
    /// Whether something was changed there.
    is_changed: bool,
}

impl TakingTargets<'_> {
    /// What was taken of a plan: the changes that were read back as they were written. `lacking` are the copies that lack
    /// a change of it or of an earlier apply.
    pub fn of_plan(
        &self,
        written: &PlanWritten<'_>,
        read_back: &ReadBack,
        lacking: &BTreeSet<CopyId>,
    ) -> Vec<ZoneTaken> {
        let changes = written.survey.changes;
        let mut taken: BTreeMap<ZoneId, ZoneTakes> = BTreeMap::new();
        for ((lane, units), read) in written.survey.lanes.iter().zip(&written.lanes).zip(read_back) {
            let is_there = |place: &&usize| match read.get(place) {
                Some(Ok(answer)) => is_after(&changes[**place], answer),
                Some(Err(_)) | None => false,
            };
            // What stays as it is in this step was not written: its zone need not have a new serial.
            let is_written = |place: &&usize| lane.is_of_step(**place);
            for place in units.iter().flat_map(|unit| &unit.done).filter(is_written).filter(is_there) {
                let change = &changes[*place];
                let (takes, rrset) = (taken.entry(change.zone_id()).or_default(), rrset_of(change));
                if !lane.made[*place] {
                    takes.rewritten.insert((rrset.name.clone(), rrset.rtype), LastWrite::Now);
                }
                takes.note(lane.copy_of(change).target, rrset);
            }
        }
        self.zones(taken, |takes, copy| TargetTakes {
            lacks: lacking.contains(copy),
            is_changed: takes.by_target.contains_key(&copy.target),
        })
    }

    /// What was taken of an apply that was broken off, as the journal says. `lacking` are the copies that may lack a change of
    /// it or of an earlier apply.
    pub fn of_journal(&self, sent: &[SentUpdate], lacking: &BTreeSet<CopyId>) -> Vec<ZoneTaken> {
        let mut taken: BTreeMap<ZoneId, ZoneTakes> = BTreeMap::new();
        let mut first_left: HashMap<(&CopyId, &Name, Rtype), &SentChange> = HashMap::new();
        for sent in sent.iter().filter(|sent| sent.fate == SentFate::Done) {
            let is_it = |access: &&CopyAccess<'_>| {
                let copy = &access.copy;
                // The one target of a pool, or the pool, may have had another name; what a DNS update record wrote is its own.
                let pool = &sent.target.pool;
                let is_gone = || !self.copies.iter().any(|other| other.copy.target.pool == *pool);
                let may_be_it = || is_gone() && !sent.is_of_record();
                let is_one = || access.share.is_none() && (copy.target.pool == *pool || may_be_it());
                copy.zone == sent.zone && (copy.target == sent.target || is_one())
            };
            let Some(access) = self.copies.iter().find(is_it) else { continue };
            let takes = taken.entry(access.copy.zone_id()).or_default();
            for change in &sent.changes {
                let task = task(change.before.is_some(), change.after.is_some());
                // Two steps of a change leave different RRsets.
                let first = first_left.entry((&access.copy, &change.name, change.rtype)).or_insert(change);
                if first.after != change.after {
                    takes.rewritten.insert((change.name.clone(), change.rtype), LastWrite::At(sent.at));
                }
                let rrset = TakenRrset { name: change.name.clone(), rtype: change.rtype, task };
                takes.note(access.copy.target.clone(), rrset);
            }
        }
        // Its serials may be older than what an earlier run saw there since.
        self.zones(taken, |_, copy| TargetTakes { lacks: lacking.contains(copy), is_changed: false })
    }

    /// Zones with what their targets serve now.
    fn zones(
        &self,
        taken: BTreeMap<ZoneId, ZoneTakes>,
        judge: impl Fn(&ZoneTakes, &CopyId) -> TargetTakes + Sync,
    ) -> Vec<ZoneTaken> {
        side_by_side(taken.into_iter().collect(), SIDE_BY_SIDE, |(zone, takes): (ZoneId, ZoneTakes)| {
            let copies = self.copies.iter().filter(|access| access.copy.zone_id() == zone);
            let served = |access: &CopyAccess<'_>| {
                let TargetTakes { lacks, is_changed } = judge(&takes, &access.copy);
                let (target, serial) = (access.copy.target.name.clone(), self.serial(&zone, access));
                TargetServed { target, lacks, is_changed, serial }
            };
            let targets = copies.map(served).collect();
            let takers = takes.by_target.into_keys().collect();
            let rrset = |((name, rtype), task)| TakenRrset { name, rtype, task };
            let (taken, rewritten) = (takes.rrsets.into_iter().map(rrset).collect(), takes.rewritten);
            ZoneTaken { zone, taken, rewritten, takers, targets }
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
    let (soa, _) = answers.first()?.soa()?;
    soa.serial()
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
