//! The changes that targets of pools of several lack: other targets of their pool took them, and they did not.

use super::kept_change;
use super::past::sent_change;
use super::seal::LackRow;
use super::sql::{SqlChange, SqlDatabase, SqlRows as _, values};
use super::{ApplyId, SentChange};
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::inventory::value::Time;
use crate::target::{CopyId, TargetId};

/// A change that a target lacks.
#[derive(Debug, Clone, PartialEq)]
pub struct LackedChange {
    /// The copy that lacks it.
    pub copy: CopyId,
    /// The apply that made it at another target.
    pub apply: ApplyId,
    /// When that apply left it here.
    pub at: Time,
    /// The change.
    pub change: SentChange,
    /// Why it is not made here: lower case, no full stop.
    pub why: String,
    /// Whether the plan left the copy out: it did not know what the copy held.
    pub is_left_out: bool,
}

/// What an apply says of a copy: that it lacks a change, and why.
#[derive(Debug, Clone, Copy)]
pub struct NewLack<'a> {
    /// The copy.
    pub copy: &'a CopyId,
    /// The change.
    pub change: &'a Change,
    /// Why: lower case, no full stop.
    pub why: &'a str,
}

/// What a `sync` did about what targets lack.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LackOutcome {
    /// How many changes were made.
    pub made: usize,
    /// How many were there already, or are no longer at any other target.
    pub settled: usize,
    /// What is left, each with why.
    pub left: Vec<LeftLack>,
    /// Why nothing was sent, where limits or the state forbid it.
    pub refusal: Option<Problem>,
}

/// A change that a target still lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftLack {
    /// The target.
    pub target: TargetId,
    /// The RRset.
    pub key: RrKey,
    /// Why: lower case, no full stop.
    pub why: String,
}

impl LackOutcome {
    /// Whether targets lacked anything.
    pub fn is_empty(&self) -> bool {
        *self == LackOutcome::default()
    }
}

/// What targets lack. What a method wrote is durable when it returns.
pub trait LackList: Send {
    /// All that targets lack, the oldest apply first, then by pool, target, zone, name and type.
    fn lacks(&self) -> Result<Vec<LackedChange>, Problem>;

    /// Keeps what an apply left undone at some targets. An older lack of the same RRset stays.
    fn add_lacks(&mut self, apply: ApplyId, lacks: &[NewLack<'_>], now: Time) -> Result<(), Problem>;

    /// Forgets that a copy lacks a change.
    fn drop_lack(&mut self, lack: &LackedChange) -> Result<(), Problem>;

    /// Forgets all that copies lack of RRsets that are as a later change says.
    fn drop_replaced(&mut self, held: &[(&CopyId, &Change)]) -> Result<(), Problem>;
}

impl<D: SqlDatabase> LackList for D {
    fn lacks(&self) -> Result<Vec<LackedChange>, Problem> {
        let sql = format!("SELECT {} FROM lacks", LackRow::COLUMNS);
        let mut rows = self.rows(&sql, &[], LackRow::of)?;
        let order = |row: &LackRow| {
            let LackRow { apply, pool, target, zone, name, rtype, .. } = row;
            (*apply, [pool, target, zone, name, rtype].map(Clone::clone))
        };
        rows.sort_by_cached_key(order);
        let lacked = |LackRow { pool, target, zone, apply, at, change, why, .. }: LackRow| {
            let copy = self.copy(&pool, &target, &zone)?;
            let kept = kept_change::of_json(&change).ok_or_else(|| self.odd("change", &change))?;
            let (apply, at) = (ApplyId(apply as u64), Time::from_nanos(at));
            let is_left_out = !kept.targets.is_empty() && !kept.targets.contains(&target);
            Ok(LackedChange { copy, apply, at, change: sent_change(self, kept)?, why, is_left_out })
        };
        rows.into_iter().map(lacked).collect()
    }

    fn add_lacks(&mut self, apply: ApplyId, lacks: &[NewLack<'_>], now: Time) -> Result<(), Problem> {
        if lacks.is_empty() {
            return Ok(());
        }
        self.write(|db| {
            lacks.iter().try_for_each(|NewLack { copy, change, why }| {
                let row = LackRow {
                    pool: copy.target.pool.to_string(),
                    target: copy.target.name.clone(),
                    zone: copy.zone.to_string(),
                    name: change.key.owner.to_string(),
                    rtype: change.key.rtype.to_string(),
                    apply: apply.0 as i64,
                    at: now.as_nanos(),
                    change: kept_change::one_to_json(change),
                    why: (*why).to_owned(),
                };
                row.put(db)
            })
        })
    }

    fn drop_lack(&mut self, lack: &LackedChange) -> Result<(), Problem> {
        let sql = "DELETE FROM lacks
             WHERE pool = ?1 AND target = ?2 AND zone = ?3 AND name = ?4 AND type = ?5 AND apply = ?6";
        let LackedChange { copy, apply, change: SentChange { name, rtype, .. }, .. } = lack;
        let (pool, zone) = (copy.target.pool.as_str(), copy.zone.to_string());
        let (name, rtype) = (name.to_string(), rtype.to_string());
        self.write(|db| db.execute(sql, values![pool, copy.target.name, zone, name, rtype, apply]).map(drop))
    }

    fn drop_replaced(&mut self, held: &[(&CopyId, &Change)]) -> Result<(), Problem> {
        if held.is_empty() || self.row("SELECT 1 FROM lacks LIMIT 1", &[], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        self.write(|db| {
            held.iter().try_for_each(|(copy, change)| {
                drop_at(db, copy, &change.key.owner.to_string(), &change.key.rtype.to_string())
            })
        })
    }
}

/// Forgets all that a copy lacks of an RRset.
pub fn drop_at(db: &dyn SqlChange, copy: &CopyId, name: &str, rtype: &str) -> Result<(), Problem> {
    let sql = "DELETE FROM lacks WHERE pool = ?1 AND target = ?2 AND zone = ?3 AND name = ?4 AND type = ?5";
    let zone = copy.zone.to_string();
    db.execute(sql, values![copy.target.pool.as_str(), copy.target.name, zone, name, rtype]).map(drop)
}
