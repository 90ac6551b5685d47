//! The state in a file: SQLite. While a process writes there is a log file next to it; otherwise there is the file
//! alone, which can be copied.

mod error;

mod migrate;

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, ToSql, TransactionBehavior, params_from_iter};

#[cfg(test)]
pub use error::needs_recovery;

use self::migrate::FoundSchema;
use super::address::StateAddress;
use super::error::{StateAttempt, of_system, unreadable};
use super::folder;
use super::schema::VERSION;
use super::sql::{SqlChange, SqlDatabase, SqlRead, SqlRow, SqlRows as _, SqlValue};
use crate::diag::Problem;
use crate::disk::sync_folder;

/// A state in a file.
#[derive(Debug)]
pub struct Sqlite {
    /// The open database.
    db: Connection,
    /// Where it is.
    address: StateAddress,
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
const STATEMENTS: usize = 128;

/// Says that a state file has no content. Each state that was created has some.
const EMPTY: &str = "the file is empty: its content was lost";

/// Whether there is a file.
///
/// Errors: it has no content; the system does not let it be looked at.
fn is_there(address: &StateAddress, attempt: StateAttempt) -> Result<bool, Problem> {
    match fs::metadata(address.file()) {
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => Err(unreadable(address, EMPTY)),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(of_system(address, attempt, &error)),
    }
}

impl Sqlite {
    /// Opens a file to write to it; creates it where there is none, and brings it up to date.
    ///
    /// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
    pub fn open_to_write(address: &StateAddress) -> Result<Sqlite, Problem> {
        folder::prepare(address.file()).map_err(|source| of_system(address, StateAttempt::Write, &source))?;
        if !is_there(address, StateAttempt::Write)? {
            Sqlite::create(address)?;
        }
        let mut state = Sqlite::connect(address, StateAttempt::Write)?;
        state.migrate()?;
        // One sync for each commit, where a rollback journal needs five; when this is dropped, one file is left anyway.
        let log = state.db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        let log = log.and_then(|()| state.db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES));
        log.map_err(|source| error::of_database(address, StateAttempt::Write, &source))?;
        Ok(state)
    }

    /// Creates a state. It gets its name once it is whole, so that a file with nothing in it is one that was cut.
    fn create(address: &StateAddress) -> Result<(), Problem> {
        let (file, begun) = (address.file(), address.next_to(".new"));
        let system = |source| of_system(address, StateAttempt::Write, &source);
        match fs::remove_file(begun.file()) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(system(error)),
            _ => folder::create(begun.file()).map_err(system)?,
        }
        let mut state = Sqlite::connect(&begun, StateAttempt::Write)?;
        // Errors name the state that is wanted.
        state.address = address.clone();
        state.migrate()?;
        drop(state);
        fs::rename(begun.file(), file).and_then(|()| sync_folder(file)).map_err(system)
    }

    /// Opens a file to read it; `None` where there is none.
    ///
    /// Errors: `state-unreadable`, `state-too-new`.
    pub fn open_to_read(address: &StateAddress) -> Result<Option<Sqlite>, Problem> {
        if !is_there(address, StateAttempt::Read)? {
            return Ok(None);
        }
        let mut state = Sqlite::connect(address, StateAttempt::Read)?;
        // Only who may write can take back what a crash left half done.
        if state.probe().is_err_and(|source| error::needs_recovery(&source)) {
            state = Sqlite::connect(address, StateAttempt::Write)?;
        }
        match migrate::look(&state)? {
            FoundSchema::Nothing => Ok(None),
            FoundSchema::Version(VERSION) => Ok(Some(state)),
            FoundSchema::Version(_) => state.copy_of_today().map(Some),
        }
    }

    /// A copy in memory of an older state, brought up to date: who only reads leaves the file as it is.
    fn copy_of_today(&self) -> Result<Sqlite, Problem> {
        let copied = Connection::open_in_memory().and_then(|mut copy| {
            Backup::new(&self.db, &mut copy)?.run_to_completion(i32::MAX, PATIENCE, None)?;
            Ok(copy)
        });
        let db = copied.map_err(|source| error::of_database(&self.address, StateAttempt::Read, &source))?;
        let mut copy = Sqlite { db, address: self.address.clone() };
        copy.migrate()?;
        Ok(copy)
    }

    /// Brings it up to date, whole or not at all.
    fn migrate(&mut self) -> Result<(), Problem> {
        if migrate::look(self)? == FoundSchema::Version(VERSION) { Ok(()) } else { self.session(migrate::migrate) }
    }

    /// An empty state in memory.
    #[cfg(test)]
    pub fn in_memory() -> Sqlite {
        let db = Connection::open_in_memory().unwrap();
        keep_statements(&db).unwrap();
        db.pragma_update(None, "foreign_keys", "ON").unwrap();
        let mut state = Sqlite { db, address: StateAddress::of_file("".as_ref(), "memory") };
        state.migrate().unwrap();
        // Nothing is ever taken back here, so that nothing need be kept for that.
        state.db.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(())).unwrap();
        state
    }

    /// A copy in memory of all that it holds.
    #[cfg(test)]
    pub fn copy(&self) -> Sqlite {
        let mut copy = Sqlite::in_memory();
        Backup::new(&self.db, &mut copy.db).unwrap().run_to_completion(i32::MAX, PATIENCE, None).unwrap();
        copy
    }

    /// Forgets all that it holds.
    #[cfg(test)]
    pub fn clear(&mut self) {
        // The latest first: a table names only tables before it.
        let sql =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'schema_version' ORDER BY rowid DESC";
        let tables: Vec<String> = self.rows(sql, &[], |row| row.get(0)).unwrap();
        for table in tables {
            self.db.prepare_cached(&format!("DELETE FROM {table}")).unwrap().execute([]).unwrap();
        }
    }

    /// Connects to a file that is there.
    fn connect(address: &StateAddress, attempt: StateAttempt) -> Result<Sqlite, Problem> {
        let access = match attempt {
            StateAttempt::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            StateAttempt::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let open = || {
            let db = Connection::open_with_flags(address.file(), access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            db.busy_timeout(PATIENCE)?;
            keep_statements(&db)?;
            if attempt == StateAttempt::Write {
                db.pragma_update(None, "foreign_keys", "ON")?;
                db.pragma_update(None, "synchronous", "FULL")?;
            }
            Ok(db)
        };
        let db = open().map_err(|source| error::of_database(address, attempt, &source))?;
        Ok(Sqlite { db, address: address.clone() })
    }

    /// Reads anything.
    fn probe(&self) -> rusqlite::Result<()> {
        self.db.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
    }

    /// Does work in one transaction: all of it is on the disk when this returns, or nothing.
    fn session<T>(&mut self, work: impl FnOnce(&SqliteSession<'_>) -> Result<T, Problem>) -> Result<T, Problem> {
        let (address, attempt) = (&self.address, StateAttempt::Write);
        let failed = |source| error::of_database(address, attempt, &source);
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let value = work(&SqliteSession { db: &change, address, attempt })?;
        change.commit().map_err(failed)?;
        Ok(value)
    }
}

impl SqlRead for Sqlite {
    fn address(&self) -> &StateAddress {
        &self.address
    }

    fn query(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        show: &mut dyn FnMut(&dyn SqlRow) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        SqliteSession { db: &self.db, address: &self.address, attempt: StateAttempt::Read }.query(sql, values, show)
    }
}

impl SqlDatabase for Sqlite {
    fn write<T>(&mut self, work: impl FnOnce(&dyn SqlChange) -> Result<T, Problem>) -> Result<T, Problem> {
        self.session(|session| work(session))
    }

    fn data_version(&self) -> Result<u64, Problem> {
        Ok(self.row("PRAGMA data_version", &[], |row| row.get::<i64>(0))?.unwrap_or_default() as u64)
    }
}

/// Statements on an open file.
struct SqliteSession<'a> {
    /// The connection.
    db: &'a Connection,
    /// Where it is.
    address: &'a StateAddress,
    /// What for.
    attempt: StateAttempt,
}

impl SqliteSession<'_> {
    /// The error for what SQLite says.
    fn failed(&self, source: rusqlite::Error) -> Problem {
        error::of_database(self.address, self.attempt, &source)
    }

    /// Runs several statements without values.
    fn execute_all(&self, sql: &str) -> Result<(), Problem> {
        self.db.execute_batch(sql).map_err(|source| self.failed(source))
    }
}

impl SqlRead for SqliteSession<'_> {
    fn address(&self) -> &StateAddress {
        self.address
    }

    fn query(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        show: &mut dyn FnMut(&dyn SqlRow) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let failed = |source| self.failed(source);
        let mut statement = self.db.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            show(&SqliteRow { row, session: self })?;
        }
        Ok(())
    }
}

impl SqlChange for SqliteSession<'_> {
    fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<usize, Problem> {
        let done = self.db.prepare_cached(sql).and_then(|mut statement| statement.execute(params_from_iter(values)));
        done.map_err(|source| self.failed(source))
    }
}

/// A row.
struct SqliteRow<'a> {
    /// As SQLite gives it.
    row: &'a Row<'a>,
    /// Who asked for it.
    session: &'a SqliteSession<'a>,
}

impl SqlRow for SqliteRow<'_> {
    fn address(&self) -> &StateAddress {
        self.session.address
    }

    fn value(&self, column: usize) -> Result<SqlValue<'_>, Problem> {
        let odd = |what| unreadable(self.address(), format!("column {column} of a row is {what}"));
        match self.row.get_ref(column).map_err(|source| self.session.failed(source))? {
            ValueRef::Null => Ok(SqlValue::Null),
            ValueRef::Integer(number) => Ok(SqlValue::Integer(number)),
            ValueRef::Text(text) => {
                str::from_utf8(text).map(SqlValue::Text).map_err(|_| odd("a text that is not UTF-8"))
            }
            ValueRef::Blob(octets) => Ok(SqlValue::Octets(octets)),
            ValueRef::Real(_) => Err(odd("a number with a fraction")),
        }
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Integer(number) => ValueRef::Integer(number),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Octets(octets) => ValueRef::Blob(octets),
        }))
    }
}

/// Lets every statement be parsed and planned once, and not again for each value that it is about.
fn keep_statements(db: &Connection) -> rusqlite::Result<()> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}
