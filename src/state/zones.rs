//! Zones that are made and deleted: which copies were seen, and a row for each target and action.

use std::collections::BTreeSet;

use super::sql::{SqlChange, SqlDatabase, SqlRead, SqlRow, SqlRows as _, values};
use crate::consensus::RowStatus;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::plan::ZoneAction;
use crate::target::CopyId;

/// What happened when a zone was to be made or deleted at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneActionRow {
    /// The copy.
    pub copy: CopyId,
    /// `CREATE` or `DELETE`.
    pub action: ZoneAction,
    /// Why it is not done: lower case, no full stop; none where it is.
    pub why: Option<String>,
    /// When that was noted.
    pub at: Time,
}

impl ZoneActionRow {
    /// Its status.
    pub fn status(&self) -> RowStatus {
        RowStatus::of(self.why.is_none())
    }
}

/// Zones that are made and deleted. What a method wrote is durable when it returns.
pub trait ZoneRegister: Send {
    /// The copies that applies saw, of zones that are made where they are missing.
    fn seen_copies(&self) -> Result<BTreeSet<CopyId>, Problem>;

    /// Notes copies that are there.
    fn note_seen(&mut self, copies: &[CopyId], now: Time) -> Result<(), Problem>;

    /// The rows of zones that are made and deleted: the oldest first, then by pool, zone, target and action.
    fn zone_rows(&self) -> Result<Vec<ZoneActionRow>, Problem>;

    /// Keeps these rows in the place of earlier ones. A zone that was made has been seen; of a zone that was deleted all is
    /// forgotten that is about this copy.
    fn note_zones(&mut self, rows: &[ZoneActionRow]) -> Result<(), Problem>;

    /// Forgets a row.
    fn drop_zone_row(&mut self, row: &ZoneActionRow) -> Result<(), Problem>;
}

impl<D: SqlDatabase> ZoneRegister for D {
    fn seen_copies(&self) -> Result<BTreeSet<CopyId>, Problem> {
        let seen = self.rows("SELECT pool, target, zone FROM seen_copies", &[], |row| copy(self, row))?;
        Ok(seen.into_iter().collect())
    }

    fn note_seen(&mut self, copies: &[CopyId], now: Time) -> Result<(), Problem> {
        if copies.is_empty() {
            return Ok(());
        }
        self.write(|db| copies.iter().try_for_each(|copy| see(db, copy, now)))
    }

    fn zone_rows(&self) -> Result<Vec<ZoneActionRow>, Problem> {
        let sql = "SELECT pool, target, zone, action, status, why, at FROM server_rows WHERE action <> 'UPDATE'";
        let row = |row: &dyn SqlRow| {
            let (action, status): (String, String) = (row.get(3)?, row.get(4)?);
            let action = ZoneAction::parse(&action).ok_or_else(|| self.odd("action", &action))?;
            let why: Option<String> = row.get(5)?;
            let why = if status == RowStatus::Success.as_str() { None } else { Some(why.unwrap_or_default()) };
            Ok(ZoneActionRow { copy: copy(self, row)?, action, why, at: row.get(6)? })
        };
        let mut rows = self.rows(sql, &[], row)?;
        rows.sort_by_cached_key(|row| {
            let CopyId { target, zone } = &row.copy;
            (row.at, target.pool.clone(), zone.to_string(), target.name.clone(), row.action)
        });
        Ok(rows)
    }

    fn note_zones(&mut self, rows: &[ZoneActionRow]) -> Result<(), Problem> {
        self.write(|db| rows.iter().try_for_each(|row| note(db, row)))
    }

    fn drop_zone_row(&mut self, row: &ZoneActionRow) -> Result<(), Problem> {
        self.write(|db| drop_row(db, &row.copy, row.action))
    }
}

/// Reads the copy of a row.
fn copy(state: &impl SqlRead, row: &dyn SqlRow) -> Result<CopyId, Problem> {
    state.copy(&row.get::<String>(0)?, &row.get::<String>(1)?, &row.get::<String>(2)?)
}

/// Notes that a copy is there.
fn see(db: &dyn SqlChange, copy: &CopyId, now: Time) -> Result<(), Problem> {
    let sql = "INSERT INTO seen_copies (pool, target, zone, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (pool, target, zone) DO NOTHING";
    let CopyId { target, zone } = copy;
    db.execute(sql, values![target.pool.as_str(), target.name, zone.to_string(), now]).map(drop)
}

/// Keeps a row.
fn note(db: &dyn SqlChange, row: &ZoneActionRow) -> Result<(), Problem> {
    let ZoneActionRow { copy, action, why, at } = row;
    let (pool, target, zone) = (copy.target.pool.as_str(), &copy.target.name, copy.zone.to_string());
    let status = row.status().as_str();
    let sql = "INSERT INTO server_rows (pool, zone, target, server, action, status, step, at, why)
         VALUES (?1, ?2, ?3, '', ?4, ?5, 0, ?6, ?7)
         ON CONFLICT (pool, zone, target, server, action)
         DO UPDATE SET status = excluded.status, at = excluded.at, why = excluded.why";
    db.execute(sql, values![pool, zone, target, action.as_str(), status, at, why])?;
    match (action, why) {
        (ZoneAction::Create, None) => {
            drop_row(db, copy, ZoneAction::Delete)?;
            see(db, copy, *at)
        }
        (ZoneAction::Delete, None) => forget(db, copy),
        _ => Ok(()),
    }
}

/// Forgets a row.
fn drop_row(db: &dyn SqlChange, copy: &CopyId, action: ZoneAction) -> Result<(), Problem> {
    let sql = "DELETE FROM server_rows WHERE pool = ?1 AND target = ?2 AND zone = ?3 AND server = '' AND action = ?4";
    let CopyId { target, zone } = copy;
    db.execute(sql, values![target.pool.as_str(), target.name, zone.to_string(), action.as_str()]).map(drop)
}

/// Forgets what is about a copy that was deleted: a zone of this name that is made later is another one.
fn forget(db: &dyn SqlChange, copy: &CopyId) -> Result<(), Problem> {
    /// The tables, each with what of its rows is about a copy.
    const TABLES: [&str; 6] = ["seen_copies", "lacks", "own_rrsets", "target_steps", "target_serials", "server_rows"];
    let CopyId { target, zone } = copy;
    let zone = zone.to_string();
    for table in TABLES {
        let rest = if table == "server_rows" { " AND action <> 'DELETE'" } else { "" };
        let sql = format!("DELETE FROM {table} WHERE pool = ?1 AND target = ?2 AND zone = ?3{rest}");
        db.execute(&sql, values![target.pool.as_str(), target.name, zone])?;
    }
    Ok(())
}
