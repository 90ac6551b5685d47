//! The applies in the journal, with their plans: as each begins, is resumed and ends, and as lists.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Row, ToSql, Transaction, params};

use super::sqlite::Sqlite;
use super::{Acceptor, ApplyId, ApplySummary, ExportToAccept, NewApply, PlanText, Resumption, exports, past};
use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::diag::Problem;
use crate::inventory::value::Time;

/// The applies that a condition picks, the latest first.
pub fn summaries(state: &Sqlite, rest: &str, params: impl rusqlite::Params) -> Result<Vec<ApplySummary>, Problem> {
    let sql = format!(
        "SELECT id, plan, effect, started, who, reason, hosts, finished, outcomes, undoes, is_whole,
           (SELECT count(*) FROM batches WHERE apply = applies.id AND settled = 'done'),
           (SELECT count(*) FROM batches WHERE apply = applies.id AND (settled IS NULL OR settled = 'unknown'))
         FROM applies {rest}"
    );
    let rows = state.read(&sql, params, |row| Ok((summary(row)?, row.get::<_, Option<String>>(8)?)))?;
    let filled = |(summary, outcomes): (ApplySummary, Option<String>)| {
        let summary = ApplySummary { resumed: past::resumptions(state, summary.id)?, ..summary };
        match outcomes {
            None => Ok(summary),
            Some(text) => match serde_json::from_str(&text) {
                Ok(outcomes) => Ok(ApplySummary { outcomes, ..summary }),
                Err(_) => Err(state.odd("list of outcomes", &text)),
            },
        }
    };
    rows.into_iter().map(filled).collect()
}

/// Reads one apply, without its outcomes and resumptions.
fn summary(row: &Row<'_>) -> rusqlite::Result<ApplySummary> {
    let number = |column: usize| row.get::<_, i64>(column);
    Ok(ApplySummary {
        id: ApplyId(number(0)? as u64),
        new: NewApply {
            plan: row.get(1)?,
            effect: row.get(2)?,
            started: Time::from_nanos(number(3)?),
            who: row.get(4)?,
            reason: row.get(5)?,
            inputs: BTreeMap::new(),
            hosts: number(6)? as usize,
            undoes: row.get::<_, Option<i64>>(9)?.map(|id| ApplyId(id as u64)),
            is_whole: row.get(10)?,
        },
        finished: row.get::<_, Option<i64>>(7)?.map(Time::from_nanos),
        outcomes: BTreeMap::new(),
        updates_done: number(11)? as usize,
        updates_open: number(12)? as usize,
        resumed: Vec::new(),
    })
}

/// The applies that can be taken up again at a time, the latest first.
pub fn resumable(state: &Sqlite, now: Time) -> Result<Vec<ApplyId>, Problem> {
    let sql = "SELECT apply FROM plans WHERE expires >= ?1 ORDER BY apply DESC";
    state.read(sql, [now.as_nanos()], |row| Ok(ApplyId(row.get::<_, i64>(0)? as u64)))
}

/// The document of the plan of an apply; `None` once nothing of it can be taken up again.
pub fn document(state: &Sqlite, id: ApplyId) -> Result<Option<String>, Problem> {
    Ok(state.read("SELECT document FROM plans WHERE apply = ?1", [id.0 as i64], |row| row.get(0))?.pop())
}

/// Begins an apply, and keeps its plan. Plans that have expired are kept no longer.
pub fn begin(change: &Transaction<'_>, apply: &NewApply, text: &PlanText<'_>) -> rusqlite::Result<ApplyId> {
    let NewApply { plan, effect, started, who, reason, inputs, hosts, undoes, is_whole } = apply;
    let undoes = undoes.map(|id| id.0 as i64);
    let inputs = serde_json::to_string(inputs).expect("texts are JSON");
    let made = text.made.as_nanos();
    let id: i64 = change.query_row("SELECT COALESCE(MAX(id), 0) + 1 FROM applies", [], |row| row.get(0))?;
    let sql = "INSERT INTO applies (id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole,
         planned) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (started, hosts) = (started.as_nanos(), *hosts as i64);
    #[rustfmt::skip]
    change.execute(sql, params![
        id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole, made,
    ])?;
    if *is_whole {
        past::block(change, id, text.blocked)?;
    }
    change.execute("DELETE FROM plans WHERE expires < ?1", [started])?;
    let sql = "INSERT INTO plans (apply, expires, document) VALUES (?1, ?2, ?3)";
    change.execute(sql, params![id, text.expires.as_nanos(), text.document])?;
    Ok(ApplyId(id as u64))
}

/// Keeps that an apply is taken up again: it has not ended from then on.
pub fn resume(change: &Transaction<'_>, id: ApplyId, resumption: &Resumption) -> rusqlite::Result<()> {
    let Resumption { at, who, reason } = resumption;
    let sql = "UPDATE applies SET finished = NULL, outcomes = NULL WHERE id = ?1";
    one_row(&mut change.prepare_cached(sql)?, params![id.0 as i64])?;
    change.execute("DELETE FROM left_subjects WHERE apply = ?1", [id.0 as i64])?;
    let sql = "INSERT INTO resumptions (apply, at, who, reason) VALUES (?1, ?2, ?3, ?4)";
    change.execute(sql, params![id.0 as i64, at.as_nanos(), who, reason])?;
    Ok(())
}

/// Ends an apply. If it did all of its plan, these exports become the accepted ones, and its plan is deleted, unless the
/// outcome of an update is unknown.
pub fn finish(
    change: &Transaction<'_>,
    apply: ApplyId,
    applied: &ApplyOutcome,
    accepted: Option<&[ExportToAccept]>,
    now: Time,
) -> rusqlite::Result<()> {
    let counts = OutcomeCode::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome)));
    let outcomes: BTreeMap<&str, usize> = counts.filter(|(_, count)| *count > 0).collect();
    let outcomes = serde_json::to_string(&outcomes).expect("texts and numbers are JSON");
    let id = apply.0 as i64;
    let sql = "UPDATE applies SET finished = ?2, outcomes = ?3 WHERE id = ?1";
    one_row(&mut change.prepare_cached(sql)?, params![id, now.as_nanos(), outcomes])?;
    past::leave(change, apply, applied)?;
    if let Some(accepted) = accepted {
        exports::accept(change, accepted, &Acceptor::Apply(apply), now)?;
        // While the outcome of an update is unknown, it may still be found out.
        let sql = "DELETE FROM plans WHERE apply = ?1 AND NOT EXISTS
             (SELECT 1 FROM batches WHERE apply = ?1 AND (settled IS NULL OR settled = 'unknown'))";
        change.execute(sql, [id])?;
        past::forget_blocked(change, id)?;
    }
    Ok(())
}

/// Runs a statement that is about one row.
///
/// Errors: there is no such row.
fn one_row(statement: &mut CachedStatement<'_>, params: &[&dyn ToSql]) -> rusqlite::Result<()> {
    match statement.execute(params)? {
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        _ => Ok(()),
    }
}
