//! The updates in the journal: each is kept before it is sent, and its outcome when that is known.

use std::collections::BTreeSet;

use super::kept_change::{self, KeptChange};
use super::seal::{self, BatchRow};
use super::sql::{SqlChange, SqlRead, SqlRows as _, values};
use super::{ApplyId, SettledBatch, UnsettledUpdate, effect, rollouts};
use crate::apply::{Batch, BatchOutcome};
use crate::diag::Problem;
use crate::inventory::value::{Inv, Time};
use crate::target::Question;

/// Keeps a batch that is about to be sent.
pub fn keep_sending(change: &dyn SqlChange, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
    let hosts: BTreeSet<Inv> = batch.changes.iter().filter_map(|change| change.subject.host()).collect();
    let (apply, number) = (apply.0 as i64, batch.number as i64);
    let (zone, pool, target) = effect::columns(&batch.copy);
    let row = BatchRow {
        apply,
        number,
        zone,
        phase: batch.phase.as_str().to_owned(),
        marker_before: kept_change::marker_before(batch),
        marker_after: batch.swap.as_ref().map(|swap| swap.after.to_string()),
        awaited: batch.swap.is_some().into(),
        hosts: hosts.len() as i64,
        sent_at: now.as_nanos(),
        settled: None,
        why: None,
        settled_at: None,
        pool,
        target,
    };
    row.insert(change)?;
    let sql = "INSERT INTO batch_changes (apply, number, changes, seal) VALUES (?1, ?2, ?3, ?4)";
    let changes = kept_change::to_json(batch);
    let seal = seal::of_changes(apply, number, &changes);
    change.execute(sql, values![apply, number, changes, seal])?;
    rollouts::note_sending(change, ApplyId(apply as u64), batch)
}

/// Keeps the outcome of a batch.
pub fn keep_settled(
    change: &dyn SqlChange,
    apply: ApplyId,
    settled: &SettledBatch<'_>,
    now: Time,
) -> Result<(), Problem> {
    let SettledBatch { batch, outcome } = *settled;
    let (word, why, is_open) = match outcome {
        BatchOutcome::Done | BatchOutcome::Found => ("done", None, false),
        BatchOutcome::Raced(race) => ("raced", Some(race), false),
        BatchOutcome::Undone(why) => ("undone", Some(why), false),
        BatchOutcome::Unknown(why) => ("unknown", Some(why), true),
    };
    let row = BatchRow::load(change, apply.0 as i64, batch.number as i64)?;
    let row = row.ok_or_else(|| change.absent(&format!("update {} of apply {}", batch.number, apply.0)))?;
    let row = BatchRow {
        settled: Some(word.to_owned()),
        why: why.cloned(),
        settled_at: Some(now.as_nanos()),
        awaited: if is_open { row.awaited } else { 0 },
        ..row
    };
    row.update(change)?;
    match outcome {
        BatchOutcome::Done => effect::settled(change, apply, batch, now),
        BatchOutcome::Found | BatchOutcome::Raced(_) => effect::found(change, apply, batch, now),
        BatchOutcome::Undone(_) | BatchOutcome::Unknown(_) => Ok(()),
    }
}

/// The updates that an apply left open and that no marker will settle: those without a marker, and those whose marker
/// is past.
pub fn unsettled(state: &dyn SqlRead, id: ApplyId) -> Result<Vec<UnsettledUpdate>, Problem> {
    let sql = format!(
        "{} WHERE (marker_after IS NULL OR awaited = 0) AND (settled IS NULL OR settled = 'unknown')
           AND batches.apply = ?1 ORDER BY batches.number",
        seal::SENT
    );
    let unsettled = |(BatchRow { apply, number, zone, pool, target, .. }, changes): (BatchRow, String)| {
        let kept = state.changes(&changes)?;
        let after = kept.into_iter().map(|KeptChange { name, rtype, after, .. }| {
            let (name, rtype) = state.rrset(&name, &rtype)?;
            Ok((Question { name, rtype }, after))
        });
        let after = after.collect::<Result<_, Problem>>()?;
        let copy = state.copy(&pool, &target, &zone)?;
        Ok(UnsettledUpdate { apply: ApplyId(apply as u64), number: number as u64, copy, after })
    };
    state.rows(&sql, values![id], seal::sent)?.into_iter().map(unsettled).collect()
}
