//! Which manifest or zone file claims which RRset: what is no longer stated is known by it.

use super::sql::{SqlDatabase, SqlRow, SqlRows as _, values};
use crate::diag::Problem;
use crate::diff::statements::{KeptStatements, RrsetStatement};

/// What claims which RRset. What a method wrote is durable when it returns.
pub trait StatementRegister: Send {
    /// All that applies noted.
    fn statements(&self) -> Result<KeptStatements, Problem>;

    /// Keeps what is claimed from now on, and forgets what is no longer.
    fn note_statements(&mut self, news: &[RrsetStatement]) -> Result<(), Problem>;
}

impl<D: SqlDatabase> StatementRegister for D {
    fn statements(&self) -> Result<KeptStatements, Problem> {
        let row = |row: &dyn SqlRow| {
            let (owner, rtype) = self.rrset(&row.get::<String>(0)?, &row.get::<String>(1)?)?;
            Ok((owner, rtype, row.get(2)?))
        };
        Ok(self.rows("SELECT name, type, stated_by FROM stated_rrsets", &[], row)?.into_iter().collect())
    }

    fn note_statements(&mut self, news: &[RrsetStatement]) -> Result<(), Problem> {
        let keep = "INSERT INTO stated_rrsets (name, type, stated_by) VALUES (?1, ?2, ?3)
             ON CONFLICT (name, type, stated_by) DO NOTHING";
        let forget = "DELETE FROM stated_rrsets WHERE name = ?1 AND type = ?2 AND stated_by = ?3";
        self.write(|change| {
            for RrsetStatement { by, is_kept, name, rtype } in news {
                let sql = if *is_kept { keep } else { forget };
                change.execute(sql, values![name.to_string(), rtype.to_string(), by])?;
            }
            Ok(())
        })
    }
}
