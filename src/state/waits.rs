//! The RRsets that wait to be deleted: since when applies want each to lose records because no host has the name.

use rusqlite::{Row, Transaction, params};

use super::WaitNews;
use super::sqlite::Sqlite;
use crate::diag::Problem;
use crate::diff::waits::RrsetWaits;
use crate::inventory::value::Time;

/// All that wait.
pub fn waits(state: &Sqlite) -> Result<RrsetWaits, Problem> {
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?));
    let rows = state.read("SELECT name, type, since FROM waits", [], row)?;
    let wait = |(name, rtype, since): (String, String, i64)| {
        let (owner, rtype) = state.rrset(&name, &rtype)?;
        Ok((owner, rtype, Time::from_nanos(since)))
    };
    rows.into_iter().map(wait).collect()
}

/// Keeps what an apply makes of what waits.
pub fn note(change: &Transaction<'_>, news: &WaitNews) -> rusqlite::Result<()> {
    let sql = "INSERT INTO waits (name, type, since) VALUES (?1, ?2, ?3)
         ON CONFLICT (name, type) DO UPDATE SET since = excluded.since";
    let mut begin = change.prepare_cached(sql)?;
    for (owner, rtype, since) in &news.begun {
        begin.execute(params![owner.to_string(), rtype.to_string(), since.as_nanos()])?;
    }
    for (owner, rtype) in &news.over {
        end(change, &owner.to_string(), &rtype.to_string())?;
    }
    Ok(())
}

/// Forgets that an RRset waits: it was deleted, or created anew.
pub fn end(change: &Transaction<'_>, name: &str, rtype: &str) -> rusqlite::Result<()> {
    change.prepare_cached("DELETE FROM waits WHERE name = ?1 AND type = ?2")?.execute([name, rtype]).map(drop)
}
