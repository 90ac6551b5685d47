//! The RRsets that zonewright created, each with the apply that did so; and what the latest update that took effect left
//! at an RRset, read from the journal.

use std::collections::{BTreeMap, BTreeSet};

use super::kept_change::{self, KeptChange};
use super::seal::{self, BatchRow, OwnRow};
use super::sought::{RrsetNames, SoughtRrsets};
use super::sql::{SqlChange, SqlDatabase, SqlRead, SqlRow, SqlRows as _, values};
use super::{ApplyId, WrittenRrset};
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::inventory::value::Time;
use crate::live::OwnRrsets;
use crate::target::{PoolName, TargetId, TargetScope};

/// An RRset as a state is asked for it: in one copy, or in any.
#[derive(Debug, Clone, Copy)]
pub struct SightedRrset<'a> {
    /// The RRset.
    pub key: &'a RrKey,
    /// The target whose copy is meant; any where there is none, as in pools of one target.
    pub at: Option<&'a TargetScope>,
}

impl<'a> SightedRrset<'a> {
    /// An RRset in any copy.
    pub fn anywhere(key: &'a RrKey) -> SightedRrset<'a> {
        SightedRrset { key, at: None }
    }

    /// Whether what is kept for a target is about it.
    pub fn is_kept_as(&self, pool: &str, target: &str) -> bool {
        // What a record wrote under another name is not known as its own: then it is not said that it was edited since.
        let is_its = |scope: &TargetScope| !scope.is_of_record || pool == scope.target.pool.as_str();
        self.at.map_or_else(|| is_anywhere(pool), |scope| scope.includes(pool, target) && is_its(scope))
    }
}

/// Whether what is kept for a pool is about zones that zonewright.toml lists, where no pool is meant.
fn is_anywhere(pool: &str) -> bool {
    pool != PoolName::gone_record().as_str()
}

/// Which RRsets are zonewright's, and what it left. What a method wrote is durable when it returns.
pub trait OwnershipRegister: Send {
    /// The RRsets that zonewright created in any copy; without those of DNS update records that are gone.
    fn own(&self) -> Result<OwnRrsets, Problem>;

    /// The RRsets that zonewright created at a target.
    fn own_at(&self, target: &TargetScope) -> Result<OwnRrsets, Problem>;

    /// The apply that created each of these RRsets, where it is own; in their order.
    fn created_by(&self, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<ApplyId>>, Problem>;

    /// What the latest update that took effect left at each of these RRsets; in their order. `None` where no update is
    /// known to have changed it, and where the outcome of a later one is unknown.
    fn last_written(&self, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<WrittenRrset>>, Problem>;

    /// Makes RRsets not own: a server said that it created them, but did not; if they appear later, others created
    /// them.
    fn disown(&mut self, rrsets: &[(&TargetId, &RrKey)]) -> Result<(), Problem>;

    /// Gives what is own at targets that are no longer there to those that may be they under other names: to the new
    /// targets of a pool of several, else to any target. It is no longer own where the pool has no new target. What a DNS update
    /// record published goes to other records alone.
    fn release_targets(&mut self, present: &[TargetId]) -> Result<(), Problem>;
}

impl<D: SqlDatabase> OwnershipRegister for D {
    fn own(&self) -> Result<OwnRrsets, Problem> {
        own_rrsets(self, |own| Ok(is_anywhere(&own.pool)))
    }

    fn own_at(&self, target: &TargetScope) -> Result<OwnRrsets, Problem> {
        let is_new = is_new(self, &target.target)?;
        own_rrsets(self, |own| Ok(target.has_own(is_new, own) && is_of_kind(self, target, own)?))
    }

    fn created_by(&self, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<ApplyId>>, Problem> {
        let sql = format!("SELECT {} FROM own_rrsets WHERE name = ?1 AND type = ?2", OwnRow::COLUMNS);
        let created = |rrset: &SightedRrset<'_>| {
            let RrKey { owner, rtype } = rrset.key;
            let mut own = self.rows(&sql, values![owner.to_string(), rtype.to_string()], OwnRow::of)?;
            match rrset.at.filter(|_| !own.is_empty()) {
                Some(scope) => {
                    let is_new = is_new(self, &scope.target)?;
                    own.retain(|own| scope.has_own(is_new, own));
                    let mut kept = Vec::new();
                    for row in own {
                        kept.extend(is_of_kind(self, scope, &row)?.then_some(row));
                    }
                    own = kept;
                }
                None => own.retain(|own| is_anywhere(&own.pool)),
            }
            Ok(own.iter().map(|own| ApplyId(own.apply as u64)).min())
        };
        rrsets.iter().map(created).collect()
    }

    /// For many RRsets the journal is read once, and no further back than needed to find each. An apply that was
    /// resumed may have sent updates after those of a later apply: the update that was sent last counts, and clocks do
    /// not show which one that is.
    fn last_written(&self, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<WrittenRrset>>, Problem> {
        let names = RrsetNames::of(rrsets.iter().map(|rrset| rrset.key));
        let mut sought = SoughtRrsets::new(&names);
        let mut found = vec![None; rrsets.len()];
        if sought.is_over() {
            return Ok(found);
        }
        let sql = format!(
            "SELECT {} FROM batches WHERE settled IS NULL OR settled <> 'undone' ORDER BY rowid DESC",
            BatchRow::COLUMNS
        );
        for BatchRow { apply, number, sent_at, settled, pool, target, .. } in self.rows(&sql, &[], BatchRow::of)? {
            if sought.is_over() {
                break;
            }
            let took_effect = matches!(settled.as_deref(), Some("done" | "raced"));
            let (id, at) = (ApplyId(apply as u64), Time::from_nanos(sent_at));
            for KeptChange { name, rtype, before, after, .. } in wanted_changes(self, apply, number, &sought)? {
                let is_new = before.is_none();
                let written = || WrittenRrset { apply: id, number: number as u64, at, is_new, after: after.clone() };
                for place in sought.find(&name, &rtype, |place| rrsets[place].is_kept_as(&pool, &target)) {
                    found[place] = took_effect.then(written);
                }
            }
        }
        Ok(found)
    }

    fn disown(&mut self, rrsets: &[(&TargetId, &RrKey)]) -> Result<(), Problem> {
        if rrsets.is_empty() {
            return Ok(());
        }
        self.write(|change| {
            for (target, key) in rrsets {
                let (name, rtype) = (key.owner.to_string(), key.rtype.to_string());
                change.execute(DISOWN, values![name, rtype, target.pool.as_str(), target.name])?;
            }
            Ok(())
        })
    }

    fn release_targets(&mut self, present: &[TargetId]) -> Result<(), Problem> {
        let kept_for_any = [PoolName::unknown(), PoolName::gone_record()];
        let is_gone = |pool: &str, target: &str| {
            let is_it = |present: &TargetId| present.pool.as_str() == pool && present.name == target;
            !kept_for_any.iter().any(|any| any.as_str() == pool) && !present.iter().any(is_it)
        };
        let sql = format!("SELECT {} FROM own_rrsets", OwnRow::COLUMNS);
        let mut gone = Vec::new();
        self.query(&sql, &[], &mut |row| {
            gone.extend(Some(OwnRow::of(row)?).filter(|own| is_gone(&own.pool, &own.target)));
            Ok(())
        })?;
        let sql = "SELECT DISTINCT pool, target FROM once_own";
        let mut once: Vec<(String, String)> = self.rows(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        once.retain(|(pool, target)| is_gone(pool, target));
        if gone.is_empty() && once.is_empty() {
            return Ok(());
        }
        let mut heirs = BTreeMap::new();
        for pool in gone.iter().map(|own| &own.pool).chain(once.iter().map(|(pool, _)| pool)) {
            if !heirs.contains_key(pool) {
                heirs.insert(pool.clone(), heirs_in(self, pool, present)?);
            }
        }
        let of_record = vec![TargetId::only(&PoolName::gone_record())];
        let mut published = Vec::new();
        for own in &gone {
            published.push(is_published(self, own)?);
        }
        let records: BTreeSet<&str> =
            gone.iter().zip(&published).filter(|(_, is_it)| **is_it).map(|(own, _)| own.pool.as_str()).collect();
        self.write(|change| {
            for (own, is_published) in gone.iter().zip(&published) {
                release(change, own, if *is_published { &of_record } else { &heirs[&own.pool] })?;
            }
            once.iter().try_for_each(|gone| {
                let is_of_record = records.contains(gone.0.as_str());
                release_once(change, gone, if is_of_record { &of_record } else { &heirs[&gone.0] })
            })
        })
    }
}

impl TargetScope {
    /// Whether a row makes its RRset own at this target. A target that is not new did not have the name of one that is
    /// gone: what only that one had, others may have created here.
    fn has_own(&self, is_new: bool, own: &OwnRow) -> bool {
        let may_have_its_name = own.pool != self.target.pool.as_str() || own.target == self.target.name;
        self.includes(&own.pool, &own.target) && (may_have_its_name || is_new || self.others.is_empty())
    }
}

/// Whether no RRset is own at a target under its name: a new one, or one that has had another name.
fn is_new(state: &impl SqlRead, target: &TargetId) -> Result<bool, Problem> {
    let sql = "SELECT 1 FROM own_rrsets WHERE pool = ?1 AND target = ?2 LIMIT 1";
    Ok(state.row(sql, values![target.pool.as_str(), target.name], |_| Ok(()))?.is_none())
}

/// Whether a DNS update record with the name of the pool published an RRset: what is noted of it names the record.
fn is_published(state: &impl SqlRead, own: &OwnRow) -> Result<bool, Problem> {
    let sql = "SELECT 1 FROM stated_rrsets WHERE name = ?1 AND type = ?2
         AND substr(stated_by, 1, length(?3) + 1) = ?3 || '/' LIMIT 1";
    Ok(state.row(sql, values![own.name, own.rtype, own.pool], |_| Ok(()))?.is_some())
}

/// The targets that may be what targets of a pool became that are no longer there.
fn heirs_in(state: &impl SqlRead, pool: &str, present: &[TargetId]) -> Result<Vec<TargetId>, Problem> {
    let of_pool: Vec<&TargetId> = present.iter().filter(|target| target.pool.as_str() == pool).collect();
    if of_pool.len() < 2 {
        return Ok(vec![TargetId::only(&PoolName::unknown())]);
    }
    let mut heirs = Vec::new();
    for target in of_pool {
        if is_new(state, target)? {
            heirs.push(target.clone());
        }
    }
    Ok(heirs)
}

/// The statement that makes an RRset not own in a copy.
pub const DISOWN: &str =
    "DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2 AND (pool = ?3 AND target = ?4 OR pool IN ('-', '='))";

/// Makes an RRset that is own at a target own at others instead.
fn release(change: &dyn SqlChange, gone: &OwnRow, heirs: &[TargetId]) -> Result<(), Problem> {
    let sql = "DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2 AND pool = ?3 AND target = ?4";
    change.execute(sql, values![gone.name, gone.rtype, gone.pool, gone.target])?;
    let sql = "INSERT INTO own_rrsets (name, type, zone, apply, pool, target, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO NOTHING";
    for heir in heirs {
        let own = OwnRow { pool: heir.pool.as_str().to_owned(), target: heir.name.clone(), ..gone.clone() };
        let OwnRow { name, rtype, zone, apply, pool, target } = &own;
        change.execute(sql, values![name, rtype, zone, apply, pool, target, own.seal()])?;
    }
    Ok(())
}

/// Lets what was own at a target count as own at others instead, for applies that are undone later.
fn release_once(change: &dyn SqlChange, (pool, target): &(String, String), heirs: &[TargetId]) -> Result<(), Problem> {
    let sql = "INSERT INTO once_own (apply, name, type, pool, target) SELECT apply, name, type, ?3, ?4 FROM once_own
         WHERE pool = ?1 AND target = ?2 ON CONFLICT DO NOTHING";
    for heir in heirs {
        change.execute(sql, values![pool, target, heir.pool.as_str(), heir.name])?;
    }
    change.execute("DELETE FROM once_own WHERE pool = ?1 AND target = ?2", values![pool, target]).map(drop)
}

/// The own RRsets of some rows.
fn own_rrsets(state: &impl SqlRead, is_meant: impl Fn(&OwnRow) -> Result<bool, Problem>) -> Result<OwnRrsets, Problem> {
    let own = |row: &dyn SqlRow| {
        let own = OwnRow::of(row)?;
        is_meant(&own)?.then(|| state.rrset(&own.name, &own.rtype)).transpose()
    };
    let rows = state.rows(&format!("SELECT {} FROM own_rrsets", OwnRow::COLUMNS), &[], own)?;
    Ok(rows.into_iter().flatten().collect())
}

/// Whether a row of a pool that is gone may be about a target: what a DNS update record published is about records alone, and what
/// else there was about none.
fn is_of_kind(state: &impl SqlRead, scope: &TargetScope, own: &OwnRow) -> Result<bool, Problem> {
    Ok(!scope.is_gone(&own.pool) || is_published(state, own)? == scope.is_of_record)
}

/// The changes of an update, where it changed anything that is looked for; most did not, and are not read in full.
fn wanted_changes(
    state: &dyn SqlRead,
    apply: i64,
    number: i64,
    sought: &SoughtRrsets<'_>,
) -> Result<Vec<KeptChange>, Problem> {
    let sql = "SELECT changes, seal FROM batch_changes WHERE apply = ?1 AND number = ?2";
    // Some updates that version 1 kept have no changes.
    let Some(text) = state.row(sql, values![apply, number], |row| seal::changes(row, 0, apply, number))? else {
        return Ok(Vec::new());
    };
    let keys = kept_change::keys(&text).ok_or_else(|| state.odd("list of changes", &text))?;
    let is_wanted = keys.iter().any(|(name, rtype)| sought.contains(name, rtype));
    if is_wanted { state.changes(&text) } else { Ok(Vec::new()) }
}
