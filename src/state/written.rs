//! What the latest update that took effect left at each of some RRsets, read from the journal.

use super::journal::{self, KeptChange};
use super::seal::{self, BatchRow};
use super::sought::{RrsetNames, SoughtRrsets};
use super::sqlite::Sqlite;
use super::{ApplyId, WrittenRrset};
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::inventory::value::Time;

/// What the latest update that took effect left at each of some RRsets; in their order.
///
/// `None` where no update is known to have changed the RRset, and where the outcome of a later one is unknown. For many
/// RRsets the journal is read once, and no further back than needed to find each. An apply that was resumed may have
/// sent updates after those of a later apply: the update that was sent last counts, and clocks do not show which one
/// that is.
pub fn last_written(state: &Sqlite, rrsets: &[&RrKey]) -> Result<Vec<Option<WrittenRrset>>, Problem> {
    let names = RrsetNames::of(rrsets);
    let mut sought = SoughtRrsets::new(&names);
    let mut found = vec![None; rrsets.len()];
    if sought.is_over() {
        return Ok(found);
    }
    let columns = BatchRow::COLUMNS;
    let sql = format!("SELECT {columns} FROM batches WHERE settled IS NULL OR settled <> 'undone' ORDER BY rowid DESC");
    for BatchRow { apply, number, sent_at, settled, .. } in state.read(&sql, [], BatchRow::of)? {
        if sought.is_over() {
            break;
        }
        let took_effect = settled.as_deref() == Some("done");
        let (id, at) = (ApplyId(apply as u64), Time::from_nanos(sent_at));
        for KeptChange { name, rtype, before, after, .. } in wanted_changes(state, apply, number, &sought)? {
            let is_new = before.is_none();
            let written = || WrittenRrset { apply: id, number: number as u64, at, is_new, after: after.clone() };
            for place in sought.find(&name, &rtype) {
                found[place] = took_effect.then(written);
            }
        }
    }
    Ok(found)
}

/// The changes of an update, where it changed anything that is looked for; most did not, and are not read in full.
fn wanted_changes(
    state: &Sqlite,
    apply: i64,
    number: i64,
    sought: &SoughtRrsets<'_>,
) -> Result<Vec<KeptChange>, Problem> {
    let sql = "SELECT changes, seal FROM batch_changes WHERE apply = ?1 AND number = ?2";
    // Some updates that version 1 kept have no changes.
    let Some(text) = state.read(sql, [apply, number], |row| seal::changes(row, 0, apply, number))?.pop() else {
        return Ok(Vec::new());
    };
    let odd = || state.odd("list of changes", &text);
    let keys = journal::keys(&text).ok_or_else(odd)?;
    if keys.iter().any(|(name, rtype)| sought.contains(name, rtype)) {
        journal::from_json(&text).ok_or_else(odd)
    } else {
        Ok(Vec::new())
    }
}
