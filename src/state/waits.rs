//! The RRsets that wait to be deleted: since when applies want each to lose records because no host has the name.

use super::WaitNews;
use super::sql::{SqlChange, SqlDatabase, SqlRow, SqlRows as _, values};
use crate::diag::Problem;
use crate::diff::waits::RrsetWaits;

/// The RRsets that wait to be deleted. What a method wrote is durable when it returns.
pub trait WaitList: Send {
    /// All of them.
    fn waits(&self) -> Result<RrsetWaits, Problem>;

    /// Keeps what waits from now on, and what no longer waits. An RRset that is deleted or created stops waiting by
    /// itself.
    fn note_waits(&mut self, news: &WaitNews) -> Result<(), Problem>;
}

impl<D: SqlDatabase> WaitList for D {
    fn waits(&self) -> Result<RrsetWaits, Problem> {
        let wait = |row: &dyn SqlRow| {
            let (owner, rtype) = self.rrset(&row.get::<String>(0)?, &row.get::<String>(1)?)?;
            Ok((owner, rtype, row.get(2)?))
        };
        Ok(self.rows("SELECT name, type, since FROM waits", &[], wait)?.into_iter().collect())
    }

    fn note_waits(&mut self, news: &WaitNews) -> Result<(), Problem> {
        let sql = "INSERT INTO waits (name, type, since) VALUES (?1, ?2, ?3)
             ON CONFLICT (name, type) DO UPDATE SET since = excluded.since";
        self.write(|change| {
            for (owner, rtype, since) in &news.begun {
                change.execute(sql, values![owner.to_string(), rtype.to_string(), since])?;
            }
            news.over.iter().try_for_each(|(owner, rtype)| end(change, &owner.to_string(), &rtype.to_string()))
        })
    }
}

/// Forgets that an RRset waits: it was deleted, or created anew.
pub fn end(change: &dyn SqlChange, name: &str, rtype: &str) -> Result<(), Problem> {
    change.execute("DELETE FROM waits WHERE name = ?1 AND type = ?2", values![name, rtype]).map(drop)
}
