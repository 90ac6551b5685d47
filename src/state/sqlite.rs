//! The state in a file: SQLite. While a process writes there is a log file next to it; otherwise there is the file
//! alone, which can be copied.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior};

use super::error::{StateAttempt, needs_recovery, of_database, of_system, unreadable};
use super::folder;
use super::schema::{self, FoundSchema};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::disk::sync_folder;
use crate::dns::{Name, Rtype, ZoneName};
use crate::plan::Marker;

/// A state in a file.
#[derive(Debug)]
pub struct Sqlite {
    /// The open database.
    db: Connection,
    /// Its file, as errors name it.
    pub(super) file: PathBuf,
}

impl Drop for Sqlite {
    /// Leaves one file, which can be copied and read by any process: no log file next to it.
    fn drop(&mut self) {
        if self.db.is_readonly("main").is_ok_and(|is_readonly| !is_readonly) {
            // Where another process reads just now the log stays, and the next one that writes takes it in.
            let _ = self.db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()));
        }
    }
}

/// How long to wait for another process: its work takes milliseconds, on a busy disk seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many pages the log may have before it is taken into the file: 128 MiB. That takes syncs of its own, for which
/// name servers on the same disk wait too, and an update of many names touches a few hundred pages, most of which the
/// next one touches again.
const LOG_PAGES: i64 = 32_768;

/// More statements than there are.
const STATEMENTS: usize = 64;

/// Says that a state file has no content. Each state that was created has some.
const EMPTY: &str = "the file is empty: its content was lost";

/// Whether there is a file.
///
/// Errors: it has no content; the system does not let it be looked at.
fn is_there(file: &Path, attempt: StateAttempt) -> Result<bool, Problem> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => Err(unreadable(file, EMPTY)),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(of_system(file, attempt, &error)),
    }
}

impl Sqlite {
    /// Opens a file to write to it; creates it where there is none, and brings it up to date.
    ///
    /// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
    pub fn open_to_write(file: &Path) -> Result<Sqlite, Problem> {
        folder::prepare(file).map_err(|source| of_system(file, StateAttempt::Write, &source))?;
        if !is_there(file, StateAttempt::Write)? {
            Sqlite::create(file)?;
        }
        let mut state = Sqlite::connect(file, StateAttempt::Write)?;
        schema::migrate(&mut state.db, file)?;
        // One sync for each commit, where a rollback journal needs five; when this is dropped, one file is left anyway.
        let log = state.db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        let log = log.and_then(|()| state.db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES));
        log.map_err(|source| of_database(file, StateAttempt::Write, &source))?;
        Ok(state)
    }

    /// Creates a state. It gets its name once it is whole, so that a file with nothing in it is one that was cut.
    fn create(file: &Path) -> Result<(), Problem> {
        let system = |source| of_system(file, StateAttempt::Write, &source);
        let mut begun = file.as_os_str().to_owned();
        begun.push(".new");
        let begun = PathBuf::from(begun);
        match fs::remove_file(&begun) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(system(error)),
            _ => folder::create(&begun).map_err(system)?,
        }
        let mut state = Sqlite::connect(&begun, StateAttempt::Write)?;
        schema::migrate(&mut state.db, file)?;
        drop(state);
        fs::rename(&begun, file).and_then(|()| sync_folder(file)).map_err(system)
    }

    /// Opens a file to read it; `None` where there is none.
    ///
    /// Errors: `state-unreadable`, `state-too-new`.
    pub fn open_to_read(file: &Path) -> Result<Option<Sqlite>, Problem> {
        if !is_there(file, StateAttempt::Read)? {
            return Ok(None);
        }
        let mut state = Sqlite::connect(file, StateAttempt::Read)?;
        // Only who may write can take back what a crash left half done.
        if state.probe().is_err_and(|source| needs_recovery(&source)) {
            state = Sqlite::connect(file, StateAttempt::Write)?;
        }
        match schema::look(&state.db, file)? {
            FoundSchema::Nothing => Ok(None),
            FoundSchema::Version(schema::VERSION) => Ok(Some(state)),
            FoundSchema::Version(_) => state.copy_of_today().map(Some),
        }
    }

    /// A copy in memory of an older state, brought up to date: who only reads leaves the file as it is.
    fn copy_of_today(&self) -> Result<Sqlite, Problem> {
        let copied = Connection::open_in_memory().and_then(|mut copy| {
            Backup::new(&self.db, &mut copy)?.run_to_completion(i32::MAX, PATIENCE, None)?;
            Ok(copy)
        });
        let db = copied.map_err(|source| of_database(&self.file, StateAttempt::Read, &source))?;
        let mut copy = Sqlite { db, file: self.file.clone() };
        schema::migrate(&mut copy.db, &self.file)?;
        Ok(copy)
    }

    /// An empty state in memory.
    #[cfg(test)]
    pub fn in_memory() -> Sqlite {
        let mut db = Connection::open_in_memory().unwrap();
        keep_statements(&db).unwrap();
        db.pragma_update(None, "foreign_keys", "ON").unwrap();
        schema::migrate(&mut db, Path::new("memory")).unwrap();
        // Nothing is ever taken back here, so that nothing need be kept for that.
        db.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(())).unwrap();
        Sqlite { db, file: "memory".into() }
    }

    /// Forgets all that it holds.
    #[cfg(test)]
    pub fn clear(&mut self) {
        // The latest first: a table names only tables before it.
        let sql =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'schema_version' ORDER BY rowid DESC";
        let tables: Vec<String> = self.read(sql, [], |row| row.get(0)).unwrap();
        for table in tables {
            self.db.prepare_cached(&format!("DELETE FROM {table}")).unwrap().execute([]).unwrap();
        }
    }

    /// Connects to a file that is there.
    fn connect(file: &Path, attempt: StateAttempt) -> Result<Sqlite, Problem> {
        let access = match attempt {
            StateAttempt::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            StateAttempt::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let open = || {
            let db = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            db.busy_timeout(PATIENCE)?;
            keep_statements(&db)?;
            if attempt == StateAttempt::Write {
                db.pragma_update(None, "foreign_keys", "ON")?;
                db.pragma_update(None, "synchronous", "FULL")?;
            }
            Ok(db)
        };
        let db = open().map_err(|source| of_database(file, attempt, &source))?;
        Ok(Sqlite { db, file: file.to_owned() })
    }

    /// Reads anything.
    fn probe(&self) -> rusqlite::Result<()> {
        self.db.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
    }

    /// Does work that writes: all of it is on the disk when this returns, or nothing.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Problem> {
        let (db, file) = (&mut self.db, &self.file);
        let done = db.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|change| {
            let value = work(&change)?;
            change.commit()?;
            Ok(value)
        });
        done.map_err(|source| of_database(file, StateAttempt::Write, &source))
    }

    /// Reads all rows that a query gives.
    pub(super) fn read<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Problem> {
        let rows = self.db.prepare_cached(sql).and_then(|mut query| query.query_map(params, row)?.collect());
        rows.map_err(|source| of_database(&self.file, StateAttempt::Read, &source))
    }

    /// The error for a value in the file that zonewright never writes.
    pub(super) fn odd(&self, what: &str, text: &str) -> Problem {
        unreadable(&self.file, format!("`{text}` is not a {what}"))
    }

    /// Reads a zone's name.
    pub(super) fn zone(&self, text: &str) -> Result<ZoneName, Problem> {
        Name::parse(text).map(ZoneName::new).map_err(|_| self.odd("name of a zone", text))
    }

    /// Reads a subject.
    pub(super) fn subject(&self, text: &str) -> Result<Subject, Problem> {
        text.parse().map_err(|_| self.odd("subject", text))
    }

    /// Reads the owner name and the type of an RRset.
    pub(super) fn rrset(&self, name: &str, rtype: &str) -> Result<(Name, Rtype), Problem> {
        let owner = Name::parse(name).map_err(|_| self.odd("name", name))?;
        Ok((owner, rtype.parse().map_err(|_| self.odd("type of records", rtype))?))
    }

    /// Reads a marker.
    pub(super) fn marker(&self, text: &str) -> Result<Marker, Problem> {
        Marker::parse(text).ok_or_else(|| self.odd("marker", text))
    }
}

/// Lets every statement be parsed and planned once, and not again for each value that it is about.
fn keep_statements(db: &Connection) -> rusqlite::Result<()> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}
