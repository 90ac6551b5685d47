//! The hosts that were perhaps changed: those of updates that were sent with an unknown outcome.

use rusqlite::Row;

use super::StateError;
use super::journal::{self, Kept};
use super::sqlite::Sqlite;
use crate::inventory::value::{Inv, Time};

/// The hosts of all updates since a time that are open: project, host, when it was sent.
pub fn changed_since(state: &Sqlite, since: Time) -> Result<Vec<(String, Inv, Time)>, StateError> {
    let sql = "SELECT sent_at, changes FROM batches
         JOIN batch_changes ON batch_changes.apply = batches.apply AND batch_changes.number = batches.number
         WHERE (settled IS NULL OR settled = 'unknown') AND sent_at >= ?1 ORDER BY sent_at, batches.apply, batches.number";
    let row = |row: &Row<'_>| Ok((Time::from_nanos(row.get(0)?), row.get::<_, String>(1)?));
    let mut hosts = Vec::new();
    for (at, changes) in state.read(sql, [since.as_nanos()], row)? {
        let kept = journal::from_json(&changes).ok_or_else(|| state.odd("list of changes", &changes))?;
        let of_hosts = kept.into_iter().filter_map(|Kept { host, project, .. }| Some((project, Inv(host?), at)));
        hosts.extend(of_hosts);
    }
    Ok(hosts)
}
