//! Breakers in the state: what tripped, and who reset it and why.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::sqlite::Sqlite;
use crate::diag::Problem;
use crate::guard::Breaker;
use crate::inventory::value::Time;

/// Who resets a breaker, and why.
#[derive(Debug, Clone, Copy)]
pub struct BreakerReset<'a> {
    /// Who; empty where that is unknown.
    pub who: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub now: Time,
}

/// The tripped breakers, sorted by scope.
pub fn tripped(state: &Sqlite) -> Result<Vec<Breaker>, Problem> {
    let breaker =
        |row: &Row<'_>| Ok(Breaker { scope: row.get(0)?, tripped: Time::from_nanos(row.get(1)?), why: row.get(2)? });
    let mut breakers = state.read("SELECT scope, tripped, why FROM breakers", [], breaker)?;
    // Databases differ in how they sort text.
    breakers.sort_by(|a, b| a.scope.cmp(&b.scope));
    Ok(breakers)
}

/// Trips a breaker. One that is tripped already stays as it is: an operator must look at what tripped it first.
pub fn trip(change: &Transaction<'_>, breaker: &Breaker) -> rusqlite::Result<()> {
    let Breaker { scope, tripped, why } = breaker;
    let sql = "INSERT INTO breakers (scope, tripped, why) VALUES (?1, ?2, ?3) ON CONFLICT (scope) DO NOTHING";
    change.execute(sql, params![scope, tripped.as_nanos(), why]).map(drop)
}

/// Resets a breaker, and keeps who did so and why; gives whether it was tripped.
pub fn reset(change: &Transaction<'_>, scope: &str, reset: BreakerReset<'_>) -> rusqlite::Result<bool> {
    let sql = "SELECT tripped, why FROM breakers WHERE scope = ?1";
    let found = change.query_row(sql, [scope], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
    let Some((tripped, why)) = found.optional()? else { return Ok(false) };
    let BreakerReset { who, reason, now } = reset;
    let sql = "INSERT INTO breaker_resets (scope, tripped, why, at, who, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    change.execute(sql, params![scope, tripped, why, now.as_nanos(), who, reason])?;
    change.execute("DELETE FROM breakers WHERE scope = ?1", [scope])?;
    Ok(true)
}
