//! Limits that an operator lifted for an apply, and the inputs of the last apply that did all of its plan.

use std::collections::BTreeMap;

use rusqlite::{Row, Transaction, params};

use super::ApplyId;
use super::history::LiftedLimit;
use super::sqlite::Sqlite;
use crate::apply::OutcomeCode;
use crate::diag::Problem;
use crate::guard::Allowance;
use crate::inventory::value::Time;

/// Keeps that limits are lifted for an apply. Of two numbers for one limit the greater holds.
pub fn allow(change: &Transaction<'_>, apply: ApplyId, allowed: &[LiftedLimit]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO allowances (apply, name, number, effect, at, who) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (apply, name)
         DO UPDATE SET number = excluded.number, effect = excluded.effect, at = excluded.at, who = excluded.who
         WHERE excluded.number >= allowances.number";
    let mut insert = change.prepare_cached(sql)?;
    for LiftedLimit { allowance: Allowance { name, number }, effect, at, who } in allowed {
        insert.execute(params![apply.0 as i64, name, *number as i64, effect, at.as_nanos(), who])?;
    }
    Ok(())
}

/// The limits that were lifted for an apply, sorted by name.
pub fn of_apply(state: &Sqlite, apply: ApplyId) -> Result<Vec<LiftedLimit>, Problem> {
    let allowed = |row: &Row<'_>| {
        let allowance = Allowance { name: row.get(0)?, number: row.get::<_, i64>(1)? as u64 };
        Ok(LiftedLimit { allowance, effect: row.get(2)?, at: Time::from_nanos(row.get(3)?), who: row.get(4)? })
    };
    let sql = "SELECT name, number, effect, at, who FROM allowances WHERE apply = ?1";
    let mut found = state.read(sql, [apply.0 as i64], allowed)?;
    // Databases differ in how they sort text.
    found.sort_by(|a, b| a.allowance.name.cmp(&b.allowance.name));
    Ok(found)
}

/// The input files, with their digests, of the latest apply that tried them on the whole fleet, did all of its plan and
/// undid nothing; empty where there is no such apply.
pub fn last_inputs(state: &Sqlite) -> Result<BTreeMap<String, String>, Problem> {
    let sql = "SELECT inputs, outcomes FROM applies
         WHERE finished IS NOT NULL AND undoes IS NULL AND is_whole = 1 ORDER BY id DESC";
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?));
    for (inputs, outcomes) in state.read(sql, [], row)? {
        let outcomes = outcomes.unwrap_or_default();
        let counts: BTreeMap<String, usize> =
            serde_json::from_str(&outcomes).map_err(|_| state.odd("list of outcomes", &outcomes))?;
        if counts.keys().all(|word| OutcomeCode::parse(word).is_some_and(OutcomeCode::is_done)) {
            return serde_json::from_str(&inputs).map_err(|_| state.odd("list of inputs", &inputs));
        }
    }
    Ok(BTreeMap::new())
}
