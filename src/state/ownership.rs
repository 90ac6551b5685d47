//! The RRsets that zonewright created, each with the apply that did so; and what the latest update that took effect left
//! at an RRset, read from the journal.

use super::kept_change::{self, KeptChange};
use super::seal::{self, BatchRow};
use super::sought::{RrsetNames, SoughtRrsets};
use super::sql::{SqlDatabase, SqlRead, SqlRow, SqlRows as _, values};
use super::{ApplyId, WrittenRrset};
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::inventory::value::Time;
use crate::live::OwnRrsets;

/// Which RRsets are zonewright's, and what it left. What a method wrote is durable when it returns.
pub trait OwnershipRegister: Send {
    /// The RRsets that zonewright created.
    fn own(&self) -> Result<OwnRrsets, Problem>;

    /// The apply that created each of these RRsets, where it is own; in their order.
    fn created_by(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem>;

    /// What the latest update that took effect left at each of these RRsets; in their order. `None` where no update is
    /// known to have changed it, and where the outcome of a later one is unknown.
    fn last_written(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<WrittenRrset>>, Problem>;

    /// Makes RRsets not own: a server said that it created them, but did not; if they appear later, others created
    /// them.
    fn disown(&mut self, rrsets: &[&RrKey]) -> Result<(), Problem>;
}

impl<D: SqlDatabase> OwnershipRegister for D {
    fn own(&self) -> Result<OwnRrsets, Problem> {
        let own = |row: &dyn SqlRow| {
            let (name, rtype, _) = seal::own(row)?;
            self.rrset(&name, &rtype)
        };
        let rows = self.rows(&format!("SELECT {} FROM own_rrsets", seal::OWN_COLUMNS), &[], own)?;
        Ok(rows.into_iter().collect())
    }

    fn created_by(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
        let sql = format!("SELECT {} FROM own_rrsets WHERE name = ?1 AND type = ?2", seal::OWN_COLUMNS);
        let created = |key: &&RrKey| {
            let own = self.row(&sql, values![key.owner.to_string(), key.rtype.to_string()], seal::own)?;
            Ok(own.map(|(_, _, apply)| ApplyId(apply as u64)))
        };
        rrsets.iter().map(created).collect()
    }

    /// For many RRsets the journal is read once, and no further back than needed to find each. An apply that was
    /// resumed may have sent updates after those of a later apply: the update that was sent last counts, and clocks do
    /// not show which one that is.
    fn last_written(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<WrittenRrset>>, Problem> {
        let names = RrsetNames::of(rrsets);
        let mut sought = SoughtRrsets::new(&names);
        let mut found = vec![None; rrsets.len()];
        if sought.is_over() {
            return Ok(found);
        }
        let sql = format!(
            "SELECT {} FROM batches WHERE settled IS NULL OR settled <> 'undone' ORDER BY rowid DESC",
            BatchRow::COLUMNS
        );
        for BatchRow { apply, number, sent_at, settled, .. } in self.rows(&sql, &[], BatchRow::of)? {
            if sought.is_over() {
                break;
            }
            let took_effect = settled.as_deref() == Some("done");
            let (id, at) = (ApplyId(apply as u64), Time::from_nanos(sent_at));
            for KeptChange { name, rtype, before, after, .. } in wanted_changes(self, apply, number, &sought)? {
                let is_new = before.is_none();
                let written = || WrittenRrset { apply: id, number: number as u64, at, is_new, after: after.clone() };
                for place in sought.find(&name, &rtype) {
                    found[place] = took_effect.then(written);
                }
            }
        }
        Ok(found)
    }

    fn disown(&mut self, rrsets: &[&RrKey]) -> Result<(), Problem> {
        if rrsets.is_empty() {
            return Ok(());
        }
        let sql = "DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2";
        self.write(|change| {
            for key in rrsets {
                change.execute(sql, values![key.owner.to_string(), key.rtype.to_string()])?;
            }
            Ok(())
        })
    }
}

/// The changes of an update, where it changed anything that is looked for; most did not, and are not read in full.
fn wanted_changes(
    state: &dyn SqlRead,
    apply: i64,
    number: i64,
    sought: &SoughtRrsets<'_>,
) -> Result<Vec<KeptChange>, Problem> {
    let sql = "SELECT changes, seal FROM batch_changes WHERE apply = ?1 AND number = ?2";
    // Some updates that version 1 kept have no changes.
    let Some(text) = state.row(sql, values![apply, number], |row| seal::changes(row, 0, apply, number))? else {
        return Ok(Vec::new());
    };
    let keys = kept_change::keys(&text).ok_or_else(|| state.odd("list of changes", &text))?;
    let is_wanted = keys.iter().any(|(name, rtype)| sought.contains(name, rtype));
    if is_wanted { state.changes(&text) } else { Ok(Vec::new()) }
}
