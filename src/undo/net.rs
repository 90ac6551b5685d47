//! What an apply did in all: one change an RRset, however many updates it took.

use std::collections::HashMap;
use std::fmt;

use crate::change::RrsetText;
use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::dns::{Name, RrKey, Rrset, Rtype, ZoneName};
use crate::state::{ApplyId, SentChange, SentFate, SentUpdate};
use crate::target::{PoolName, TargetId, ZoneId};

/// A change of the journal that is not valid.
#[derive(Debug, PartialEq, Eq)]
pub struct OddChange {
    /// The update.
    pub update: u64,
    /// The owner name.
    pub name: Name,
}

impl fmt::Display for OddChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the change of update {} at `{}` is not a change of that zone", self.update, self.name)
    }
}

/// The changes that an apply made, or may have made, from what was there before the first to what was there after the
/// last; in the order of sending. The reason of each is that its apply is undone, and names the update.
///
/// Updates that provably had no effect do not count. RRsets that an apply changed back are left out.
///
/// `pool_of` gives the pool that an update was sent to. In a pool of several targets each change is for one of them; what was
/// sent to a target that the pool no longer has, or that is not known, may be at any of them.
///
/// Errors: the journal holds something that is never written to it.
pub fn net(
    apply: ApplyId,
    sent: &[SentUpdate],
    pool_of: impl Fn(&SentUpdate) -> ZonePool,
) -> Result<Vec<Change>, OddChange> {
    let mut spans: Vec<RrsetSpan<'_>> = Vec::new();
    let mut places: HashMap<(PoolName, Option<String>, &ZoneName, &Name, Rtype), usize> = HashMap::new();
    for update in sent.iter().filter(|update| !matches!(update.fate, SentFate::Undone(_))) {
        let pool = pool_of(update);
        let targets = pool.sent_to(&update.target);
        for (target, change) in
            targets.iter().flat_map(|target| update.changes.iter().map(move |change| (target, change)))
        {
            let next = spans.len();
            let copy = (pool.pool.clone(), target.clone(), &update.zone, &change.name, change.rtype);
            match *places.entry(copy).or_insert(next) {
                place if place < next => spans[place].last = (update, change),
                _ => spans.push(RrsetSpan { target: target.clone(), first: change, last: (update, change) }),
            }
        }
    }
    let change = |span: &RrsetSpan<'_>| span.change(apply, pool_of(span.last.0).pool).transpose();
    spans.iter().filter_map(change).collect()
}

/// The pool of a zone, as an undo sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonePool {
    /// The pool.
    pub pool: PoolName,
    /// The names of its targets, sorted, where it has several; else empty.
    pub targets: Vec<String>,
}

impl ZonePool {
    /// The targets that an update may have been sent to, by this name; `None` where the pool has one alone.
    fn sent_to(&self, target: &TargetId) -> Vec<Option<String>> {
        let is_it = target.pool == self.pool && self.targets.contains(&target.name);
        match self.targets.as_slice() {
            [] => vec![None],
            _ if is_it => vec![Some(target.name.clone())],
            all => all.iter().cloned().map(Some).collect(),
        }
    }
}

/// One change for each target, of changes for several.
pub fn per_target(changes: &[Change], pool_of: impl Fn(&ZoneId) -> ZonePool) -> Vec<Change> {
    let split = |change: &Change| -> Vec<Change> {
        let all = if change.targets.is_empty() { pool_of(&change.zone_id()).targets } else { change.targets.clone() };
        if all.is_empty() {
            return vec![change.clone()];
        }
        all.into_iter().map(|target| Change { targets: vec![target], ..change.clone() }).collect()
    };
    changes.iter().flat_map(split).collect()
}

/// The opposite of [`per_target`]: one change for all targets that get the same.
pub fn gathered(changes: Vec<Change>, pool_of: impl Fn(&ZoneId) -> ZonePool) -> Vec<Change> {
    let mut gathered: Vec<Change> = Vec::new();
    let mut places: HashMap<(ZoneId, RrKey), Vec<usize>> = HashMap::new();
    for change in changes {
        let same = places.entry((change.zone_id(), change.key.clone())).or_default();
        let is_same = |place: &&usize| {
            let other: &Change = &gathered[**place];
            !change.targets.is_empty() && other.kind == change.kind && other.subject == change.subject
        };
        match same.iter().find(is_same).copied() {
            Some(place) => gathered[place].targets.extend(change.targets),
            None => {
                same.push(gathered.len());
                gathered.push(change);
            }
        }
    }
    for change in &mut gathered {
        change.targets.sort();
        if change.targets == pool_of(&change.zone_id()).targets {
            change.targets.clear();
        }
    }
    gathered
}

/// All that an apply did to one RRset of a copy.
struct RrsetSpan<'a> {
    /// The target, where its pool has several.
    target: Option<String>,
    /// The first change.
    first: &'a SentChange,
    /// The last one, with its update.
    last: (&'a SentUpdate, &'a SentChange),
}

impl RrsetSpan<'_> {
    /// The one change that results; `None` where nothing changed.
    fn change(&self, apply: ApplyId, pool: PoolName) -> Result<Option<Change>, OddChange> {
        let (update, last) = self.last;
        let odd = || OddChange { update: update.number, name: last.name.clone() };
        let rrset = |kept: &RrsetText| kept.to_rrset(last.rtype).map_err(|_| odd());
        let before: Option<Rrset> = self.first.before.as_ref().map(rrset).transpose()?;
        let after: Option<Rrset> = last.after.as_ref().map(rrset).transpose()?;
        let owner = update.zone.owner(last.name.as_name()).ok_or_else(odd)?;
        let evidence = vec![format!("apply:{}:{}", apply.0, update.number)];
        Ok(ChangeKind::between(before, after).map(|kind| Change {
            pool,
            zone: update.zone.clone(),
            key: RrKey { owner, rtype: last.rtype },
            subject: last.subject.clone(),
            also: last.also.clone(),
            registers: last.registers.clone(),
            via: None,
            targets: self.target.iter().cloned().collect(),
            project: last.project.clone(),
            kind,
            reasons: vec![Reason { evidence, rule: Rule::Undo, subject: last.subject.clone() }],
        }))
    }
}
