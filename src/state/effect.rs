//! What an update that took effect changes in the rest of a state: marker, own RRsets, ledger.

use std::collections::{BTreeSet, HashMap};

use super::kept_change::{self, ChangeEffect, KeptChange};
use super::seal::{self, BatchRow, OwnRow};
use super::sql::{SqlChange, SqlRows as _, SqlValue, values};
use super::{ApplyId, UnsettledUpdate, lacks, ownership, rollouts, waits};
use crate::apply::Batch;
use crate::change::RrsetText;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::target::{CopyId, Marker};

/// Which rows are of a copy, with its [`columns`] as `?1` to `?3`: its own, and those of versions that kept no more than
/// the zone.
const OF_COPY: &str = "zone = ?1 AND (pool = ?2 AND target = ?3 OR pool = '-')";

/// A copy in the columns `zone`, `pool` and `target`.
pub fn columns(copy: &CopyId) -> (String, String, String) {
    (copy.zone.to_string(), copy.target.pool.to_string(), copy.target.name.clone())
}

/// Forgets the marker of a copy.
pub fn forget_marker(change: &dyn SqlChange, copy: &CopyId) -> Result<(), Problem> {
    let (zone, pool, target) = columns(copy);
    change.execute(&format!("DELETE FROM markers WHERE {OF_COPY}"), values![zone, pool, target]).map(drop)
}

/// Keeps that an update that has just settled took effect, and what that proves of others of its zone that are open.
pub fn settled(change: &dyn SqlChange, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
    found(change, apply, batch, now)?;
    match batch.swap {
        Some(_) => Ok(()),
        None => settle_overtaken(change, &batch.copy, &kept_change::kept(batch), now),
    }
}

/// Keeps that all of an update that has just settled is there. Without a marker that proves nothing of others: another editor may
/// have written it, and what an older one wrote may have been there in between.
pub fn found(change: &dyn SqlChange, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
    let effects = batch.changes.iter().copied().map(ChangeEffect::from).collect();
    rollouts::note_done(change, apply, || kept_change::kept(batch))?;
    let marker = batch.swap.as_ref().map(|swap| &swap.after);
    marker.map_or(Ok(()), |after| move_marker(change, &batch.copy, after, now))?;
    enter(change, apply, &batch.copy, effects, now)?;
    marker.map_or(Ok(()), |after| settle_by(change, &batch.copy, after, now).map(drop))
}

/// Keeps what an update of a copy changed: makes created RRsets own and deleted ones not own, ends their waits, drops what
/// the copy lacked of them, and enters the hosts in the ledger.
fn enter(
    change: &dyn SqlChange,
    apply: ApplyId,
    copy: &CopyId,
    mut effects: Vec<ChangeEffect<'_>>,
    now: Time,
) -> Result<(), Problem> {
    // In the order of the tables, so that each page of them is looked for once.
    effects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let (zone, pool, target) = columns(copy);
    let any = |sql: &str, values: &[SqlValue<'_>]| Ok::<bool, Problem>(change.row(sql, values, |_| Ok(()))?.is_some());
    let is_undo = any("SELECT 1 FROM applies WHERE id = ?1 AND undoes IS NOT NULL", values![apply])?;
    let any_waits = any("SELECT 1 FROM waits LIMIT 1", &[])?;
    let any_lacks = any("SELECT 1 FROM lacks LIMIT 1", &[])?;
    // What counts at any target stays as it is. What an undo puts back is ours only where it was before the apply that is
    // undone removed it.
    let create = if !is_undo {
        "INSERT INTO own_rrsets (name, type, zone, apply, seal, pool, target) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
         WHERE NOT EXISTS (SELECT 1 FROM own_rrsets WHERE name = ?1 AND type = ?2 AND pool = '-')
         ON CONFLICT DO NOTHING"
    } else {
        "INSERT INTO own_rrsets (name, type, zone, apply, seal, pool, target) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
         WHERE EXISTS (SELECT 1 FROM once_own, applies
                       WHERE id = ?4 AND once_own.apply = undoes AND name = ?1 AND type = ?2
                         AND (pool = ?6 AND target = ?7 OR pool IN ('-', '=')))
         ON CONFLICT DO NOTHING"
    };
    let keep =
        "INSERT INTO once_own (apply, name, type, pool, target) SELECT ?3, name, type, pool, target FROM own_rrsets
         WHERE name = ?1 AND type = ?2 AND (pool = ?4 AND target = ?5 OR pool IN ('-', '=')) ON CONFLICT DO NOTHING";
    for ChangeEffect { name, rtype, is_there, .. } in &effects {
        if any_lacks {
            lacks::drop_at(change, copy, name, rtype)?;
        }
        match is_there {
            (false, _) => {
                let seal = own_seal(copy, name, rtype, apply);
                change.execute(create, values![name, rtype, zone, apply, seal, pool, target])?;
            }
            (true, false) => {
                change.execute(keep, values![name, rtype, apply, pool, target])?;
                change.execute(ownership::DISOWN, values![name, rtype, pool, target])?;
            }
            (true, true) => continue,
        }
        if any_waits {
            waits::end(change, name, rtype)?;
        }
    }
    // A host is entered again with its next change; where that comes within the same second nothing is to be written.
    let sql = "INSERT INTO ledger (apply, subject, project, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (apply, subject, project) DO UPDATE SET at = excluded.at WHERE at <> excluded.at";
    let counted = effects.iter().filter_map(|effect| Some((effect.subject.counted()?, effect.project)));
    for (subject, project) in counted.collect::<BTreeSet<(Subject, &str)>>() {
        change.execute(sql, values![apply, subject.to_string(), project, now])?;
    }
    Ok(())
}

/// The digest of the row of an RRset that an apply created in a copy.
fn own_seal(copy: &CopyId, name: &str, rtype: &str, apply: ApplyId) -> i64 {
    let (zone, pool, target) = columns(copy);
    OwnRow { name: name.to_owned(), rtype: rtype.to_owned(), zone, apply: apply.0 as i64, pool, target }.seal()
}

/// Records the marker of an update that took effect as the current one, unless an answer to a later update came first.
fn move_marker(change: &dyn SqlChange, copy: &CopyId, after: &Marker, now: Time) -> Result<(), Problem> {
    let sql = "SELECT marker FROM markers WHERE zone = ?1 AND pool = ?2 AND target = ?3";
    let (zone, pool, target) = columns(copy);
    let known = change.row(sql, values![zone, pool, target], |row| row.get::<String>(0))?;
    let is_later = |known: &Marker| known.epoch == after.epoch && known.batch > after.batch;
    if known.and_then(|text| Marker::parse(&text)).is_some_and(|known| is_later(&known)) {
        Ok(())
    } else {
        put_marker(change, copy, after, now)
    }
}

/// Records a marker as the current one.
pub fn put_marker(change: &dyn SqlChange, copy: &CopyId, marker: &Marker, now: Time) -> Result<(), Problem> {
    forget_marker(change, copy)?;
    let sql = "INSERT INTO markers (zone, pool, target, marker, at) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (zone, pool, target) = columns(copy);
    change.execute(sql, values![zone, pool, target, marker.to_string(), now]).map(drop)
}

/// Stops waiting for the markers of a zone that are older than this one: their updates name markers that are gone.
pub fn close_until(change: &dyn SqlChange, copy: &CopyId, marker: &Marker) -> Result<(), Problem> {
    let awaited = awaited_until(change, copy, marker)?;
    awaited.into_iter().try_for_each(|AwaitedUpdate { batch, .. }| BatchRow { awaited: 0, ..batch }.update(change))
}

/// An update whose outcome is unknown.
struct AwaitedUpdate {
    /// Its row.
    batch: BatchRow,
    /// What it leaves at the marker's place, as the journal says it.
    after: Marker,
}

/// Settles the updates of a zone whose outcome is unknown, by the marker that is there. Those in the chain that leads
/// to it took effect. Other older ones did not, and never will, since each names a marker that is gone. Newer ones stay
/// open. Returns how many took effect.
///
/// A marker that is not in the journal settles none of them.
pub fn settle_by(change: &dyn SqlChange, copy: &CopyId, live: &Marker, now: Time) -> Result<usize, Problem> {
    let awaited = awaited_until(change, copy, live)?;
    let markers = awaited.iter().map(|awaited| &awaited.after);
    let Some(first) = markers.min_by_key(|marker| place(marker)) else { return Ok(0) };
    let chain = chain(change, &copy.zone, first, live)?;
    if chain.is_empty() {
        return Ok(0);
    }
    let mut count = 0;
    for AwaitedUpdate { batch, after } in awaited {
        let (apply, number) = (batch.apply, batch.number);
        if chain.contains(&(apply, number)) {
            batch.settle_as_done(change, "its marker is there, or one that replaced it", now)?;
            let changes = kept(change, apply, number)?;
            move_marker(change, copy, &after, now)?;
            rollouts::note_done(change, ApplyId(apply as u64), || &changes)?;
            enter(change, ApplyId(apply as u64), copy, changes.iter().map(ChangeEffect::from).collect(), now)?;
            count += 1;
        } else {
            batch.settle_as_undone(change, "another marker replaced it", now)?;
        }
    }
    Ok(count)
}

/// Settles an update without a known marker: all RRsets are as it was to leave them, perhaps by another update or another editor, so
/// that others stay open. Returns whether it was still open.
pub fn settle_found(change: &dyn SqlChange, found: &UnsettledUpdate, now: Time) -> Result<bool, Problem> {
    let UnsettledUpdate { apply, number, copy, .. } = found;
    let (id, number) = (apply.0 as i64, *number as i64);
    let Some(batch) = BatchRow::load(change, id, number)?.filter(BatchRow::is_open) else {
        return Ok(false);
    };
    batch.settle_as_done(change, "all of it is there", now)?;
    let changes = kept(change, id, number)?;
    rollouts::note_done(change, *apply, || &changes)?;
    enter(change, *apply, copy, changes.iter().map(ChangeEffect::from).collect(), now)?;
    Ok(true)
}

/// The changes of an update.
fn kept(change: &dyn SqlChange, apply: i64, number: i64) -> Result<Vec<KeptChange>, Problem> {
    let sql = "SELECT changes, seal FROM batch_changes WHERE apply = ?1 AND number = ?2";
    let text = change.row(sql, values![apply, number], |row| seal::changes(row, 0, apply, number))?;
    let text = text.ok_or_else(|| change.absent(&format!("changes of update {number} of apply {apply}")))?;
    change.changes(&text)
}

/// Where a marker comes among those of its zone.
fn place(marker: &Marker) -> (u64, u64) {
    (marker.epoch, marker.batch)
}

/// The updates of a zone whose markers may still be found there, up to this one and including it, in the order of
/// sending.
fn awaited_until(change: &dyn SqlChange, copy: &CopyId, last: &Marker) -> Result<Vec<AwaitedUpdate>, Problem> {
    let columns = BatchRow::COLUMNS;
    let sql = format!("SELECT {columns} FROM batches WHERE {OF_COPY} AND awaited = 1 ORDER BY apply, number");
    let (zone, pool, target) = self::columns(copy);
    let awaited = change
        .rows(&sql, values![zone, pool, target], BatchRow::of)?
        .into_iter()
        .filter_map(|batch| Some(AwaitedUpdate { after: Marker::parse(batch.marker_after.as_deref()?)?, batch }));
    Ok(awaited.filter(|awaited| place(&awaited.after) <= place(last)).collect())
}

/// The updates that led to a marker, each the one whose marker the next took the place of; back to the
/// place of `first`, and no further. Empty where the journal does not have the marker.
fn chain(
    change: &dyn SqlChange,
    zone: &ZoneName,
    first: &Marker,
    live: &Marker,
) -> Result<BTreeSet<(i64, i64)>, Problem> {
    let columns = BatchRow::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM batches
         WHERE zone = ?1 AND marker_after = ?2 AND (settled IS NULL OR settled <> 'undone')"
    );
    let mut chain = BTreeSet::new();
    let mut marker = Some(live.clone());
    while let Some(after) = marker.filter(|marker| place(marker) >= place(first)) {
        let found = change.row(&sql, values![zone.to_string(), after.to_string()], BatchRow::of)?;
        let Some(batch) = found else { break };
        if !chain.insert((batch.apply, batch.number)) {
            break;
        }
        // Kept as its TXT is written: in quotes.
        marker = batch.marker_before.and_then(|before| Marker::parse(before.trim_matches('"')));
    }
    Ok(chain)
}

/// Settles the updates without a marker that were open in a zone when another one took effect on an RRset that they
/// found just as that one did. Their prerequisite no longer holds, so they never will take effect. Nor have they, unless
/// another editor put back what was there: that leaves no trace.
fn settle_overtaken(change: &dyn SqlChange, copy: &CopyId, changes: &[KeptChange], now: Time) -> Result<(), Problem> {
    let sent = seal::SENT;
    let sql = format!("{sent} WHERE {OF_COPY} AND marker_after IS NULL AND (settled IS NULL OR settled = 'unknown')");
    let (zone, pool, target) = columns(copy);
    let open = change.rows(&sql, values![zone, pool, target], seal::sent)?;
    let found: HashMap<(&str, &str), &Option<RrsetText>> =
        changes.iter().map(|kept| ((kept.name.as_str(), kept.rtype.as_str()), &kept.before)).collect();
    let is_overtaken = |kept: &KeptChange| found.get(&(kept.name.as_str(), kept.rtype.as_str())) == Some(&&kept.before);
    for (batch, text) in open {
        let kept = change.changes(&text)?;
        if kept.iter().any(is_overtaken) {
            batch.settle_as_undone(change, "a later update found what it was to change as it was before", now)?;
        }
    }
    Ok(())
}
