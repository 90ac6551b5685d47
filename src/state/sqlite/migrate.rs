//! Brings a file to the tables of this version.

use super::SqliteSession;
use crate::diag::Problem;
use crate::state::error::{error, unreadable};
use crate::state::schema::{NAMED, OF_SUBJECTS, SEALED, STEPS, VERSION};
use crate::state::seal::seal_all;
use crate::state::sql::{SqlChange as _, SqlRead, SqlRows as _, values};
use crate::state::{subjects, workspace};

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub enum FoundSchema {
    /// Nothing: a state is still to be made of it.
    Nothing,
    /// A state of this version, which is not above [`VERSION`].
    Version(i64),
}

/// Finds out what a file holds.
///
/// Errors: `state-unreadable` for what is not a state, `state-too-new`.
pub fn look(db: &dyn SqlRead) -> Result<FoundSchema, Problem> {
    let has_table = |name: &str| {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name LIKE ?1 LIMIT 1";
        Ok::<bool, Problem>(db.row(sql, values![name], |row| row.get::<i64>(0))?.is_some())
    };
    if !has_table("schema_version")? {
        return if has_table("%")? {
            Err(unreadable(db.address(), "the file is a database, but not a state of zonewright"))
        } else {
            Ok(FoundSchema::Nothing)
        };
    }
    match db.row("SELECT version FROM schema_version", &[], |row| row.get::<i64>(0))? {
        Some(version) if version > VERSION => {
            let message = format!("the state is of version {version}, but this program knows versions up to {VERSION}");
            Err(error(
                db.address(),
                "state-too-new",
                message,
                "use the version of zonewright that wrote it, or a newer one",
            ))
        }
        Some(version) if version > 0 => Ok(FoundSchema::Version(version)),
        _ => Err(unreadable(db.address(), "the state has no version number")),
    }
}

/// Brings a file up to [`VERSION`].
///
/// Errors: as for [`look`], and reasons why it cannot be written.
pub fn migrate(change: &SqliteSession<'_>) -> Result<(), Problem> {
    // Another process may have done it in the meantime.
    let done = match look(change)? {
        FoundSchema::Version(version) => version,
        FoundSchema::Nothing => {
            change.execute_all("CREATE TABLE schema_version (version BIGINT NOT NULL)")?;
            change.execute_all("INSERT INTO schema_version VALUES (0)")?;
            0
        }
    };
    STEPS.iter().skip(done as usize).try_for_each(|step| change.execute_all(step))?;
    if done < SEALED {
        seal_all(change)?;
    }
    if done < NAMED {
        let id = if done == 0 { workspace::draw() } else { workspace::derive(change)? };
        change.execute("INSERT INTO workspace VALUES (?1)", values![id])?;
    }
    if done < OF_SUBJECTS {
        subjects::copy(change)?;
        change.execute_all("DROP TABLE ledger_of_hosts; DROP TABLE blocked_hosts; DROP TABLE left_hosts;")?;
    }
    change.execute("UPDATE schema_version SET version = ?1", values![VERSION]).map(drop)
}
