//! The applies in the journal, with their plans: as each begins, is resumed and ends, and as lists.

use std::collections::BTreeMap;

use super::sql::{SqlChange, SqlRead, SqlRow, SqlRows as _, SqlValue, values};
use super::{Acceptor, ApplyId, ApplySummary, ExportToAccept, NewApply, PlanText, Resumption, exports, past, rollouts};
use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::rollout::RolloutChoice;

/// Whether an apply is one of a `sync`: what it made up was read from no input.
pub const SYNC: &str = "(inputs = '{}' AND undoes IS NULL)";

/// The applies that a condition picks, the latest first.
pub fn summaries(state: &dyn SqlRead, rest: &str, values: &[SqlValue<'_>]) -> Result<Vec<ApplySummary>, Problem> {
    let sql = format!(
        "SELECT id, plan, effect, started, who, reason, hosts, finished, outcomes, undoes, is_whole, {SYNC},
           (SELECT count(*) FROM batches WHERE apply = applies.id AND settled IN ('done', 'raced')),
           (SELECT count(*) FROM batches WHERE apply = applies.id AND (settled IS NULL OR settled = 'unknown'))
         FROM applies {rest}"
    );
    let rows = state.rows(&sql, values, |row| Ok((summary(row)?, row.get::<Option<String>>(8)?)))?;
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
fn summary(row: &dyn SqlRow) -> Result<ApplySummary, Problem> {
    Ok(ApplySummary {
        id: row.get(0)?,
        new: NewApply {
            plan: row.get(1)?,
            effect: row.get(2)?,
            started: row.get(3)?,
            who: row.get(4)?,
            reason: row.get(5)?,
            inputs: BTreeMap::new(),
            hosts: row.get::<i64>(6)? as usize,
            undoes: row.get(9)?,
            is_whole: row.get(10)?,
        },
        finished: row.get(7)?,
        outcomes: BTreeMap::new(),
        is_sync: row.get(11)?,
        updates_done: row.get::<i64>(12)? as usize,
        updates_open: row.get::<i64>(13)? as usize,
        resumed: Vec::new(),
    })
}

/// Begins an apply, and keeps its plan and its first wave. Plans that have expired are kept no longer.
pub fn begin(
    change: &dyn SqlChange,
    apply: &NewApply,
    text: &PlanText<'_>,
    wave: &RolloutChoice,
) -> Result<ApplyId, Problem> {
    let NewApply { plan, effect, started, who, reason, inputs, hosts, undoes, is_whole } = apply;
    let inputs = serde_json::to_string(inputs).expect("texts are JSON");
    let next = change.row("SELECT COALESCE(MAX(id), 0) + 1 FROM applies", &[], |row| row.get(0))?;
    let id = next.unwrap_or(ApplyId(1));
    let sql = "INSERT INTO applies (id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole,
         planned) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let hosts = *hosts as i64;
    #[rustfmt::skip]
    change.execute(sql, values![
        id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole, text.made,
    ])?;
    if *is_whole {
        past::block(change, id, text.blocked)?;
    }
    change.execute("DELETE FROM plans WHERE expires < ?1", values![started])?;
    let sql = "INSERT INTO plans (apply, expires, document) VALUES (?1, ?2, ?3)";
    change.execute(sql, values![id, text.expires, text.document])?;
    rollouts::begin_wave(change, id, wave)?;
    Ok(id)
}

/// Keeps that an apply is taken up again: it has not ended from then on; and its next wave.
pub fn resume(
    change: &dyn SqlChange,
    id: ApplyId,
    resumption: &Resumption,
    wave: &RolloutChoice,
) -> Result<(), Problem> {
    let Resumption { at, who, reason } = resumption;
    let sql = "INSERT INTO resumptions (apply, at, who, reason) VALUES (?1, ?2, ?3, ?4)";
    change.execute(sql, values![id, at, who, reason])?;
    // Before the end of the apply is gone: the waves were chosen by a clock that knew of it.
    rollouts::begin_wave(change, id, wave)?;
    let sql = "UPDATE applies SET finished = NULL, outcomes = NULL WHERE id = ?1";
    change_one(change, id, sql, values![id])?;
    change.execute("DELETE FROM left_subjects WHERE apply = ?1", values![id]).map(drop)
}

/// Ends an apply. If it did all of its plan, these exports become the accepted ones, and its plan is deleted, unless the
/// outcome of an update is unknown.
pub fn finish(
    change: &dyn SqlChange,
    apply: ApplyId,
    applied: &ApplyOutcome,
    accepted: Option<&[ExportToAccept]>,
    now: Time,
) -> Result<(), Problem> {
    let counts = OutcomeCode::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome)));
    let outcomes: BTreeMap<&str, usize> = counts.filter(|(_, count)| *count > 0).collect();
    let outcomes = serde_json::to_string(&outcomes).expect("texts and numbers are JSON");
    let sql = "UPDATE applies SET finished = ?2, outcomes = ?3 WHERE id = ?1";
    change_one(change, apply, sql, values![apply, now, outcomes])?;
    past::leave(change, apply, applied)?;
    if let Some(accepted) = accepted {
        exports::accept(change, accepted, &Acceptor::Apply(apply), now)?;
        // While the outcome of an update is unknown, it may still be found out.
        let sql = "DELETE FROM plans WHERE apply = ?1 AND NOT EXISTS
             (SELECT 1 FROM batches WHERE apply = ?1 AND (settled IS NULL OR settled = 'unknown'))";
        change.execute(sql, values![apply])?;
        past::forget_blocked(change, apply)?;
    }
    Ok(())
}

/// Runs a statement that changes an apply.
///
/// Errors: there is no such apply.
fn change_one(change: &dyn SqlChange, apply: ApplyId, sql: &str, values: &[SqlValue<'_>]) -> Result<(), Problem> {
    match change.execute(sql, values)? {
        0 => Err(change.absent(&format!("apply {}", apply.0))),
        _ => Ok(()),
    }
}
