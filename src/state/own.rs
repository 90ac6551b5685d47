//! The RRsets that zonewright created, each with the apply that did so.

use rusqlite::Transaction;

use super::sqlite::Sqlite;
use super::{ApplyId, seal};
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::live::OwnRrsets;

/// The RRsets that zonewright created.
pub fn own(state: &Sqlite) -> Result<OwnRrsets, Problem> {
    let rows = state.read(&format!("SELECT {} FROM own_rrsets", seal::OWN_COLUMNS), [], seal::own)?;
    rows.into_iter().map(|(name, rtype, _)| state.rrset(&name, &rtype)).collect()
}

/// The apply that created each of these RRsets, where it is own; in their order.
pub fn created_by(state: &Sqlite, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
    let sql = format!("SELECT {} FROM own_rrsets WHERE name = ?1 AND type = ?2", seal::OWN_COLUMNS);
    let created = |key: &&RrKey| {
        let own = state.read(&sql, [key.owner.to_string(), key.rtype.to_string()], seal::own)?;
        Ok(own.first().map(|(_, _, apply)| ApplyId(*apply as u64)))
    };
    rrsets.iter().map(created).collect()
}

/// Makes RRsets not own.
pub fn disown(change: &Transaction<'_>, rrsets: &[&RrKey]) -> rusqlite::Result<()> {
    let mut delete = change.prepare_cached("DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2")?;
    for key in rrsets {
        delete.execute([key.owner.to_string(), key.rtype.to_string()])?;
    }
    Ok(())
}
