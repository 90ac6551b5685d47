//! The digests by which rows of the state prove that they are what was written, where it was written.
//!
//! Comes in: a row. Goes out: what it holds, or that it is not what was written. A digest is of all columns of a row and of its key, so
//! that two rows cannot be swapped. It shows damage and edits by hand. It does not show an attacker, who could make it
//! anew: the state is protected by the mode of its folder.

use std::fmt;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::error::unreadable;
use super::sql::{SqlChange, SqlRow, SqlRows as _, values};
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::target::PoolName;

/// The digest of a row, as its columns come.
struct Seal(Xxh3);

impl Seal {
    /// Begins with the name of the table.
    fn of(table: &str) -> Seal {
        Seal(Xxh3::new()).text(table)
    }

    /// Adds a number.
    fn number(self, number: i64) -> Seal {
        self.octets(&number.to_le_bytes())
    }

    /// Adds a number that may be null.
    fn maybe_number(self, number: Option<i64>) -> Seal {
        match number {
            Some(number) => self.text("some").number(number),
            None => self.text("null"),
        }
    }

    /// Adds a text.
    fn text(self, text: &str) -> Seal {
        self.octets(text.as_bytes())
    }

    /// Adds a text that may be null.
    fn maybe_text(self, text: Option<&str>) -> Seal {
        match text {
            Some(text) => self.text("some").text(text),
            None => self.text("null"),
        }
    }

    /// Adds octets, with their number, so that no octet can move from one column to the next.
    fn octets(mut self, octets: &[u8]) -> Seal {
        self.0.update(&(octets.len() as u64).to_le_bytes());
        self.0.update(octets);
        self
    }

    /// The digest as the database keeps it.
    fn end(self) -> i64 {
        self.0.digest() as i64
    }
}

/// Checks the digest of a row, which is in this column; `what` names the row.
fn check(row: &dyn SqlRow, column: usize, seal: i64, what: impl FnOnce() -> String) -> Result<(), Problem> {
    if row.get::<Option<i64>>(column)? == Some(seal) { Ok(()) } else { Err(broken(row, what())) }
}

/// The error for a row that is not what was written.
fn broken(row: &dyn SqlRow, what: String) -> Problem {
    unreadable(row.address(), format!("{what} is not what was written: its digest does not match"))
}

/// The columns of `batches` in the order of [`BatchRow`], its digest last.
macro_rules! batch_columns {
    () => {
        "batches.apply, batches.number, zone, phase, marker_before, marker_after, awaited, hosts, sent_at, settled, why, \
         settled_at, pool, target, batches.seal"
    };
}

/// A row of `batches`.
#[derive(Debug)]
pub struct BatchRow {
    /// The apply.
    pub apply: i64,
    /// Its number within that.
    pub number: i64,
    /// The zone.
    pub zone: String,
    /// The phase.
    pub phase: String,
    /// What was at the marker's place before.
    pub marker_before: Option<String>,
    /// What it leaves there.
    pub marker_after: Option<String>,
    /// Whether its marker may still be found.
    pub awaited: i64,
    /// How many hosts it is for.
    pub hosts: i64,
    /// When it was sent.
    pub sent_at: i64,
    /// The word for its outcome.
    pub settled: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// When that was known.
    pub settled_at: Option<i64>,
    /// The pool of the zone; a hyphen in rows of older versions.
    pub pool: String,
    /// The target that it was sent to; a hyphen in rows of older versions.
    pub target: String,
}

impl BatchRow {
    /// The columns to select, before any others.
    pub const COLUMNS: &str = batch_columns!();

    /// The column after these.
    pub const END: usize = 15;

    /// Reads a row that begins with these columns, and checks it.
    pub fn of(row: &dyn SqlRow) -> Result<BatchRow, Problem> {
        let batch = BatchRow::unchecked(row)?;
        check(row, BatchRow::END - 1, batch.seal(), || batch.to_string())?;
        Ok(batch)
    }

    /// Reads a row without checking it.
    fn unchecked(row: &dyn SqlRow) -> Result<BatchRow, Problem> {
        Ok(BatchRow {
            apply: row.get(0)?,
            number: row.get(1)?,
            zone: row.get(2)?,
            phase: row.get(3)?,
            marker_before: row.get(4)?,
            marker_after: row.get(5)?,
            awaited: row.get(6)?,
            hosts: row.get(7)?,
            sent_at: row.get(8)?,
            settled: row.get(9)?,
            why: row.get(10)?,
            settled_at: row.get(11)?,
            pool: row.get(12)?,
            target: row.get(13)?,
        })
    }

    /// Reads one row by its key; `None` where it is not there.
    pub fn load(db: &dyn SqlChange, apply: i64, number: i64) -> Result<Option<BatchRow>, Problem> {
        let sql = format!("SELECT {} FROM batches WHERE apply = ?1 AND number = ?2", BatchRow::COLUMNS);
        db.row(&sql, values![apply, number], BatchRow::of)
    }

    /// Keeps a new row.
    pub fn insert(&self, db: &dyn SqlChange) -> Result<(), Problem> {
        let sql =
            "INSERT INTO batches (apply, number, zone, phase, marker_before, marker_after, awaited, hosts, sent_at,
             pool, target, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let BatchRow { apply, number, zone, phase, marker_before, marker_after, awaited, hosts, .. } = self;
        let BatchRow { sent_at, pool, target, .. } = self;
        #[rustfmt::skip]
        db.execute(sql, values![
            apply, number, zone, phase, marker_before, marker_after, awaited, hosts, sent_at, pool, target, self.seal(),
        ])?;
        Ok(())
    }

    /// Keeps what may change of a row.
    pub fn update(&self, db: &dyn SqlChange) -> Result<(), Problem> {
        let sql = "UPDATE batches SET settled = ?3, why = ?4, settled_at = ?5, awaited = ?6, seal = ?7
             WHERE apply = ?1 AND number = ?2";
        let BatchRow { apply, number, settled, why, settled_at, awaited, .. } = self;
        db.execute(sql, values![apply, number, settled, why, settled_at, awaited, self.seal()]).map(drop)
    }

    /// Keeps that it took effect, and why that is known, so that its marker is not waited for.
    pub fn settle_as_done(self, db: &dyn SqlChange, why: &str, now: Time) -> Result<(), Problem> {
        self.settle(db, "done", why, now)
    }

    /// Keeps that it did not take effect, and why that is known, so that its marker is not waited for.
    pub fn settle_as_undone(self, db: &dyn SqlChange, why: &str, now: Time) -> Result<(), Problem> {
        self.settle(db, "undone", why, now)
    }

    /// Keeps the word for its outcome.
    fn settle(self, db: &dyn SqlChange, word: &str, why: &str, now: Time) -> Result<(), Problem> {
        let (settled, why) = (Some(word.to_owned()), Some(why.to_owned()));
        BatchRow { settled, why, settled_at: Some(now.as_nanos()), awaited: 0, ..self }.update(db)
    }

    /// Whether its outcome is not known.
    pub fn is_open(&self) -> bool {
        self.settled.as_deref().is_none_or(|settled| settled == "unknown")
    }

    /// Whether an older version wrote it, which kept no pool and no target.
    fn is_of_any_copy(&self) -> bool {
        self.pool == PoolName::unknown().as_str()
    }

    /// The digest.
    fn seal(&self) -> i64 {
        let seal = Seal::of("batches")
            .number(self.apply)
            .number(self.number)
            .text(&self.zone)
            .text(&self.phase)
            .maybe_text(self.marker_before.as_deref())
            .maybe_text(self.marker_after.as_deref())
            .number(self.awaited)
            .number(self.hosts)
            .number(self.sent_at)
            .maybe_text(self.settled.as_deref())
            .maybe_text(self.why.as_deref())
            .maybe_number(self.settled_at);
        // Rows of older versions were sealed without them.
        if self.is_of_any_copy() { seal.end() } else { seal.text(&self.pool).text(&self.target).end() }
    }
}

impl fmt::Display for BatchRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "update {} of apply {}", self.number, self.apply)
    }
}

/// The digest of a row of `batch_changes`.
pub fn of_changes(apply: i64, number: i64, changes: &str) -> i64 {
    Seal::of("batch_changes").number(apply).number(number).text(changes).end()
}

/// Reads the changes of an update from this column, and checks them by the digest in the next.
pub fn changes(row: &dyn SqlRow, column: usize, apply: i64, number: i64) -> Result<String, Problem> {
    let text: String = row.get(column)?;
    let what = || format!("the list of changes of update {number} of apply {apply}");
    check(row, column + 1, of_changes(apply, number, &text), what)?;
    Ok(text)
}

/// Selects updates with their changes, for [`sent`]; a condition may follow.
pub const SENT: &str = concat!(
    "SELECT ",
    batch_columns!(),
    ", changes, batch_changes.seal FROM batches JOIN batch_changes
     ON batch_changes.apply = batches.apply AND batch_changes.number = batches.number"
);

/// Reads an update and its changes as JSON, and checks both.
pub fn sent(row: &dyn SqlRow) -> Result<(BatchRow, String), Problem> {
    let batch = BatchRow::of(row)?;
    let changes = changes(row, BatchRow::END, batch.apply, batch.number)?;
    Ok((batch, changes))
}

/// A row of `own_rrsets`.
#[derive(Debug, Clone)]
pub struct OwnRow {
    /// The owner name.
    pub name: String,
    /// The type.
    pub rtype: String,
    /// The zone.
    pub zone: String,
    /// The apply that created it.
    pub apply: i64,
    /// The pool of the zone; a hyphen in rows of older versions.
    pub pool: String,
    /// The target; a hyphen in rows of older versions.
    pub target: String,
}

impl OwnRow {
    /// The columns to select.
    pub const COLUMNS: &str = "name, type, zone, apply, pool, target, seal";

    /// Reads a row of these columns, and checks it.
    pub fn of(row: &dyn SqlRow) -> Result<OwnRow, Problem> {
        let (name, rtype, zone) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (apply, pool, target) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let own = OwnRow { name, rtype, zone, apply, pool, target };
        check(row, 6, own.seal(), || format!("own RRset `{}` {}", own.name, own.rtype))?;
        Ok(own)
    }

    /// The digest.
    pub fn seal(&self) -> i64 {
        let seal = of_own_in(&self.name, &self.rtype, &self.zone, self.apply);
        // Rows of older versions were sealed without them.
        if self.pool == PoolName::unknown().as_str() {
            seal.end()
        } else {
            seal.text(&self.pool).text(&self.target).end()
        }
    }
}

/// The digest of a row of `own_rrsets` but for its copy.
fn of_own_in(name: &str, rtype: &str, zone: &str, apply: i64) -> Seal {
    Seal::of("own_rrsets").text(name).text(rtype).text(zone).number(apply)
}

/// A row of `lacks`.
#[derive(Debug)]
pub struct LackRow {
    /// The pool.
    pub pool: String,
    /// The target.
    pub target: String,
    /// The zone.
    pub zone: String,
    /// The owner name.
    pub name: String,
    /// The type.
    pub rtype: String,
    /// The apply.
    pub apply: i64,
    /// When.
    pub at: i64,
    /// The change as JSON.
    pub change: String,
    /// Why.
    pub why: String,
}

impl LackRow {
    /// The columns to select.
    pub const COLUMNS: &str = "pool, target, zone, name, type, apply, at, change, why, seal";

    /// Reads a row of these columns, and checks it.
    pub fn of(row: &dyn SqlRow) -> Result<LackRow, Problem> {
        let (pool, target, zone) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (name, rtype, apply) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let (at, change, why) = (row.get(6)?, row.get(7)?, row.get(8)?);
        let lack = LackRow { pool, target, zone, name, rtype, apply, at, change, why };
        check(row, 9, lack.seal(), || format!("what target `{}` lacks at `{}`", lack.target, lack.name))?;
        Ok(lack)
    }

    /// Keeps a row in the place of the one of its copy, RRset and apply.
    pub fn put(&self, db: &dyn SqlChange) -> Result<(), Problem> {
        let sql = "INSERT INTO lacks (pool, target, zone, name, type, apply, at, change, why, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (pool, target, zone, name, type, apply) DO UPDATE SET at = excluded.at,
               change = excluded.change, why = excluded.why, seal = excluded.seal";
        let LackRow { pool, target, zone, name, rtype, apply, at, change, why } = self;
        db.execute(sql, values![pool, target, zone, name, rtype, apply, at, change, why, self.seal()]).map(drop)
    }

    /// The digest.
    fn seal(&self) -> i64 {
        let seal = Seal::of("lacks").text(&self.pool).text(&self.target).text(&self.zone).text(&self.name);
        seal.text(&self.rtype).number(self.apply).number(self.at).text(&self.change).text(&self.why).end()
    }
}

/// A row of `exports`.
#[derive(Debug, Clone)]
pub struct ExportRow {
    /// The source.
    pub source: String,
    /// How many rows the export had.
    pub row_count: i64,
    /// When it was made.
    pub dated: Option<i64>,
    /// When it was accepted.
    pub at: i64,
    /// By which apply.
    pub apply: Option<i64>,
    /// By whom.
    pub who: String,
    /// Why.
    pub reason: Option<String>,
}

impl ExportRow {
    /// The columns to select.
    pub const COLUMNS: &str = "source, row_count, dated, at, apply, who, reason, seal";

    /// Reads a row of these columns, and checks it.
    pub fn of(row: &dyn SqlRow) -> Result<ExportRow, Problem> {
        let export = ExportRow::unchecked(row)?;
        check(row, 7, export.seal(), || format!("the accepted export of `{}`", export.source))?;
        Ok(export)
    }

    /// Reads a row without checking it.
    fn unchecked(row: &dyn SqlRow) -> Result<ExportRow, Problem> {
        let (who, reason) = (row.get(5)?, row.get(6)?);
        let (dated, at, apply) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(ExportRow { source: row.get(0)?, row_count: row.get(1)?, dated, at, apply, who, reason })
    }

    /// Keeps a row in the place of the one of its source.
    pub fn put(&self, db: &dyn SqlChange) -> Result<(), Problem> {
        let sql = "INSERT INTO exports (source, row_count, dated, at, apply, who, reason, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (source) DO UPDATE SET row_count = excluded.row_count, dated = excluded.dated,
               at = excluded.at, apply = excluded.apply, who = excluded.who, reason = excluded.reason, seal = excluded.seal";
        let ExportRow { source, row_count, dated, at, apply, who, reason } = self;
        db.execute(sql, values![source, row_count, dated, at, apply, who, reason, self.seal()]).map(drop)
    }

    /// The digest.
    fn seal(&self) -> i64 {
        Seal::of("exports")
            .text(&self.source)
            .number(self.row_count)
            .maybe_number(self.dated)
            .number(self.at)
            .maybe_number(self.apply)
            .text(&self.who)
            .maybe_text(self.reason.as_deref())
            .end()
    }
}

/// The digest of the content of a file: apart from that of its row, so that a list of files need not read them.
pub fn of_content(content: &[u8]) -> i64 {
    xxh3_64(content) as i64
}

/// The digest of a row of `export_files`.
pub fn of_file(source: &str, name: &str, digest: &str, content: i64) -> i64 {
    Seal::of("export_files").text(source).text(name).text(digest).number(content).end()
}

/// The columns of `export_files`, for [`file()`].
pub const FILE_COLUMNS: &str = "source, name, digest, content_seal, seal";

/// Reads a row that begins with these columns: source, name, and SHA-256.
pub fn file(row: &dyn SqlRow) -> Result<(String, String, String), Problem> {
    let (source, name, digest): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let content = row.get::<Option<i64>>(3)?.ok_or_else(|| broken(row, file_words(&source, &name)))?;
    check(row, 4, of_file(&source, &name, &digest, content), || file_words(&source, &name))?;
    Ok((source, name, digest))
}

/// Reads a row of these columns and the content behind them: name, SHA-256 and content.
pub fn file_with_content(row: &dyn SqlRow) -> Result<(String, String, Vec<u8>), Problem> {
    let (source, name, digest) = file(row)?;
    let content: Vec<u8> = row.get(5)?;
    check(row, 3, of_content(&content), || file_words(&source, &name))?;
    Ok((name, digest, content))
}

/// A file of an accepted export, for messages.
fn file_words(source: &str, name: &str) -> String {
    format!("file `{name}` of the accepted export of `{source}`")
}

/// Gives every row its digest, as it is now: for the rows of versions without digests.
pub fn seal_all(db: &dyn SqlChange) -> Result<(), Problem> {
    let all = |table: &str, columns: &str| format!("SELECT {columns}, {table}.rowid FROM {table}");
    let sql = "UPDATE batches SET seal = ?2 WHERE rowid = ?1";
    db.query(&all("batches", BatchRow::COLUMNS), &[], &mut |row| {
        let (place, batch): (i64, _) = (row.get(BatchRow::END)?, BatchRow::unchecked(row)?);
        db.execute(sql, values![place, batch.seal()]).map(drop)
    })?;
    let sql = "UPDATE batch_changes SET seal = ?2 WHERE rowid = ?1";
    db.query(&all("batch_changes", "apply, number, changes"), &[], &mut |row| {
        let (apply, number, text, place): (i64, i64, String, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        db.execute(sql, values![place, of_changes(apply, number, &text)]).map(drop)
    })?;
    let sql = "UPDATE own_rrsets SET seal = ?2 WHERE rowid = ?1";
    db.query(&all("own_rrsets", "name, type, zone, apply"), &[], &mut |row| {
        let (name, rtype, zone): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (apply, place): (i64, i64) = (row.get(3)?, row.get(4)?);
        db.execute(sql, values![place, of_own_in(&name, &rtype, &zone, apply).end()]).map(drop)
    })?;
    let sql = "UPDATE exports SET seal = ?2 WHERE rowid = ?1";
    db.query(&all("exports", ExportRow::COLUMNS), &[], &mut |row| {
        let (place, export): (i64, _) = (row.get(8)?, ExportRow::unchecked(row)?);
        db.execute(sql, values![place, export.seal()]).map(drop)
    })?;
    let sql = "UPDATE export_files SET content_seal = ?2, seal = ?3 WHERE rowid = ?1";
    db.query(&all("export_files", "source, name, digest, content"), &[], &mut |row| {
        let (source, name, digest): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (content, place): (Vec<u8>, i64) = (row.get(3)?, row.get(4)?);
        let content = of_content(&content);
        db.execute(sql, values![place, content, of_file(&source, &name, &digest, content)]).map(drop)
    })
}
