//! The state in a file: SQLite, with a rollback journal, so that the file alone is all of it and can be copied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{CachedStatement, Connection, OpenFlags, Row, ToSql, Transaction, TransactionBehavior, params};

use super::error::{Attempt, error, needs_recovery, of_database, of_system, unreadable};
use super::schema::{self, Found};
use super::{ApplyId, ApplySummary, Breaker, KnownMarker, NewApply, State, StateError, folder, journal};
use crate::apply::{Applied, Batch, Outcome, Settled};
use crate::change::ChangeKind;
use crate::dns::{Name, Rtype, ZoneName};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::plan::{Change, Marker};

/// A state in a file.
#[derive(Debug)]
pub struct Sqlite {
    /// The open database.
    db: Connection,
    /// Its file, as errors name it.
    file: PathBuf,
}

/// How long to wait for another process: what it does takes milliseconds, a disk that is busy seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// More statements than there are.
const STATEMENTS: usize = 64;

impl Sqlite {
    /// Opens a file to write to it; creates it where there is none, and brings it up to date.
    ///
    /// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
    pub fn open_to_write(file: &Path) -> Result<Sqlite, StateError> {
        let system = |source| of_system(file, Attempt::Write, &source);
        folder::prepare(file).and_then(|()| folder::create(file)).map_err(system)?;
        let mut state = Sqlite::connect(file, Attempt::Write)?;
        schema::migrate(&mut state.db, file)?;
        Ok(state)
    }

    /// Opens a file to read it; `None` where there is none, or nothing in it.
    ///
    /// Errors: `state-unreadable`, `state-too-new`, `state-too-old`.
    pub fn open_to_read(file: &Path) -> Result<Option<Sqlite>, StateError> {
        match fs::metadata(file) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(of_system(file, Attempt::Read, &error)),
        }
        let mut state = Sqlite::connect(file, Attempt::Read)?;
        // Only who may write can take back what a crash left half done.
        if state.probe().is_err_and(|source| needs_recovery(&source)) {
            state = Sqlite::connect(file, Attempt::Write)?;
        }
        match schema::look(&state.db, file)? {
            Found::Nothing => Ok(None),
            Found::Version(schema::VERSION) => Ok(Some(state)),
            Found::Version(version) => {
                let message =
                    format!("the state is of version {version}, and this program reads version {}", schema::VERSION);
                Err(error(file, "state-too-old", message, "the next `apply` brings it up to date"))
            }
        }
    }

    /// Connects to a file that is there.
    fn connect(file: &Path, attempt: Attempt) -> Result<Sqlite, StateError> {
        let access = match attempt {
            Attempt::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Attempt::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let open = || {
            let db = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            db.busy_timeout(PATIENCE)?;
            db.set_prepared_statement_cache_capacity(STATEMENTS);
            if attempt == Attempt::Write {
                db.pragma_update(None, "foreign_keys", "ON")?;
                db.pragma_update(None, "synchronous", "FULL")?;
                // A commit is the end of the journal. That it is cut off is synced at `FULL`; that it is removed is not.
                db.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |_| Ok(()))?;
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
    fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StateError> {
        let Sqlite { db, file } = self;
        let done = db.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|change| {
            let value = work(&change)?;
            change.commit()?;
            Ok(value)
        });
        done.map_err(|source| of_database(file, Attempt::Write, &source))
    }

    /// Reads all rows that a query gives.
    fn read<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StateError> {
        let rows = self.db.prepare_cached(sql).and_then(|mut query| query.query_map(params, row)?.collect());
        rows.map_err(|source| of_database(&self.file, Attempt::Read, &source))
    }

    /// Says that a value in the file is none that was ever written.
    fn odd(&self, what: &str, text: &str) -> StateError {
        unreadable(&self.file, format!("`{text}` is no {what}"))
    }

    /// Reads a zone's name.
    fn zone(&self, text: &str) -> Result<ZoneName, StateError> {
        Name::parse(text).map(ZoneName::new).map_err(|_| self.odd("name of a zone", text))
    }

    /// Reads a marker.
    fn marker(&self, text: &str) -> Result<Marker, StateError> {
        Marker::parse(text).ok_or_else(|| self.odd("marker", text))
    }

    /// The applies that a condition picks, the latest first.
    fn summaries(&self, rest: &str, params: impl rusqlite::Params) -> Result<Vec<ApplySummary>, StateError> {
        let sql = format!(
            "SELECT id, plan, effect, started, who, reason, hosts, finished, outcomes,
               (SELECT count(*) FROM batches WHERE apply = applies.id AND settled = 'done'),
               (SELECT count(*) FROM batches WHERE apply = applies.id AND (settled IS NULL OR settled = 'unknown'))
             FROM applies {rest}"
        );
        let rows = self.read(&sql, params, |row| Ok((summary(row)?, row.get::<_, Option<String>>(8)?)))?;
        let filled = |(summary, outcomes): (ApplySummary, Option<String>)| match outcomes {
            None => Ok(summary),
            Some(text) => match serde_json::from_str(&text) {
                Ok(outcomes) => Ok(ApplySummary { outcomes, ..summary }),
                Err(_) => Err(self.odd("list of outcomes", &text)),
            },
        };
        rows.into_iter().map(filled).collect()
    }
}

impl State for Sqlite {
    fn own(&self) -> Result<OwnRrsets, StateError> {
        let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let rows = self.read("SELECT name, type FROM own_rrsets", [], row)?;
        let rrset = |(name, rtype): (String, String)| {
            let owner = Name::parse(&name).map_err(|_| self.odd("name", &name))?;
            Ok((owner, rtype.parse::<Rtype>().map_err(|_| self.odd("type of records", &rtype))?))
        };
        rows.into_iter().map(rrset).collect()
    }

    fn markers(&self) -> Result<BTreeMap<ZoneName, KnownMarker>, StateError> {
        // One query, so that both come from one moment.
        let sql = "SELECT zone, marker, 0 AS apply, 0 AS number, 0 AS open FROM markers
             UNION ALL SELECT zone, marker_after, apply, number, 1 FROM batches WHERE awaited = 1
             ORDER BY open, apply, number";
        let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(4)?));
        let mut known: BTreeMap<ZoneName, KnownMarker> = BTreeMap::new();
        for (zone, marker, is_open) in self.read(sql, [], row)? {
            let of_zone = known.entry(self.zone(&zone)?);
            let of_zone = of_zone.or_insert(KnownMarker { marker: None, open: Vec::new() });
            match is_open {
                true => of_zone.open.push(self.marker(&marker)?),
                false => of_zone.marker = Some(self.marker(&marker)?),
            }
        }
        Ok(known)
    }

    fn breakers(&self) -> Result<Vec<Breaker>, StateError> {
        let breaker = |row: &Row<'_>| {
            Ok(Breaker { scope: row.get(0)?, tripped: Time::from_nanos(row.get(1)?), why: row.get(2)? })
        };
        let mut breakers = self.read("SELECT scope, tripped, why FROM breakers", [], breaker)?;
        // Databases differ in how they sort text.
        breakers.sort_by(|a, b| a.scope.cmp(&b.scope));
        Ok(breakers)
    }

    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, StateError> {
        self.summaries("ORDER BY id DESC LIMIT ?1", [i64::try_from(count).unwrap_or(i64::MAX)])
    }

    fn unfinished(&self) -> Result<Vec<ApplySummary>, StateError> {
        self.summaries("WHERE finished IS NULL ORDER BY id DESC", [])
    }

    fn changed_since(&self, since: Time) -> Result<Vec<(String, Inv, Time)>, StateError> {
        let sql = "SELECT project, host, at FROM ledger WHERE at >= ?1 ORDER BY at, apply, host";
        let changed =
            |row: &Row<'_>| Ok((row.get(0)?, Inv(row.get::<_, i64>(1)? as u64), Time::from_nanos(row.get(2)?)));
        self.read(sql, [since.as_nanos()], changed)
    }

    fn begin(&mut self, apply: &NewApply) -> Result<ApplyId, StateError> {
        let NewApply { plan, effect, started, who, reason, inputs, hosts } = apply;
        let inputs = serde_json::to_string(inputs).expect("texts are JSON");
        self.write(|change| {
            let id: i64 = change.query_row("SELECT COALESCE(MAX(id), 0) + 1 FROM applies", [], |row| row.get(0))?;
            let sql = "INSERT INTO applies (id, plan, effect, started, who, reason, inputs, hosts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            let started = started.as_nanos();
            change.execute(sql, params![id, plan, effect, started, who, reason, inputs, *hosts as i64])?;
            Ok(ApplyId(id as u64))
        })
    }

    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), StateError> {
        let changes = journal::changes(batch);
        let after = batch.swap.as_ref().map(|swap| swap.after.to_string());
        self.write(|change| {
            let sql = "INSERT INTO batches
                 (apply, number, zone, phase, marker_before, marker_after, awaited, hosts, sent_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            #[rustfmt::skip]
            change.prepare_cached(sql)?.execute(params![
                apply.0 as i64, batch.number as i64, batch.zone.to_string(), batch.phase.as_str(),
                journal::marker_before(batch), after, after.is_some(), hosts(batch).len() as i64, now.as_nanos(),
            ])?;
            let sql = "INSERT INTO batch_changes (apply, number, changes) VALUES (?1, ?2, ?3)";
            change.prepare_cached(sql)?.execute(params![apply.0 as i64, batch.number as i64, changes])?;
            Ok(())
        })
    }

    fn note_settled(
        &mut self,
        apply: ApplyId,
        batch: &Batch<'_>,
        settled: &Settled,
        now: Time,
    ) -> Result<(), StateError> {
        let (word, why, is_open) = match settled {
            Settled::Done => ("done", None, false),
            Settled::Undone(why) => ("undone", Some(why), false),
            Settled::Unknown(why) => ("unknown", Some(why), true),
        };
        self.write(|change| {
            let sql = "UPDATE batches SET settled = ?3, why = ?4, settled_at = ?5,
                 awaited = CASE WHEN ?6 THEN awaited ELSE 0 END WHERE apply = ?1 AND number = ?2";
            let mut update = change.prepare_cached(sql)?;
            one_row(&mut update, params![apply.0 as i64, batch.number as i64, word, why, now.as_nanos(), is_open])?;
            match settled {
                Settled::Done => keep_done(change, apply, batch, now),
                Settled::Undone(_) | Settled::Unknown(_) => Ok(()),
            }
        })
    }

    fn finish(&mut self, apply: ApplyId, applied: &Applied, accepted: bool, now: Time) -> Result<(), StateError> {
        let counts = Outcome::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome)));
        let outcomes: BTreeMap<&str, usize> = counts.filter(|(_, count)| *count > 0).collect();
        let outcomes = serde_json::to_string(&outcomes).expect("texts and numbers are JSON");
        let id = apply.0 as i64;
        let inputs =
            self.read("SELECT inputs FROM applies WHERE id = ?1", [id], |row| row.get::<_, String>(0))?.concat();
        let inputs: BTreeMap<String, String> =
            serde_json::from_str(&inputs).map_err(|_| self.odd("list of inputs", &inputs))?;
        self.write(|change| {
            let sql = "UPDATE applies SET finished = ?2, outcomes = ?3 WHERE id = ?1";
            one_row(&mut change.prepare_cached(sql)?, params![id, now.as_nanos(), outcomes])?;
            if accepted {
                accept(change, apply, &inputs, now)?;
            }
            Ok(())
        })
    }

    fn adopt_markers(
        &mut self,
        markers: &[(ZoneName, Option<Marker>)],
        who: &str,
        reason: &str,
        now: Time,
    ) -> Result<(), StateError> {
        self.write(|change| {
            for (zone, marker) in markers {
                match marker {
                    Some(marker) => {
                        put_marker(change, zone, marker, now)?;
                        close_until(change, zone, marker)?;
                    }
                    None => {
                        change.execute("DELETE FROM markers WHERE zone = ?1", [zone.to_string()])?;
                    }
                }
                let sql = "INSERT INTO adoptions (zone, marker, who, reason, at) VALUES (?1, ?2, ?3, ?4, ?5)";
                let marker = marker.as_ref().map(Marker::to_string);
                change.prepare_cached(sql)?.execute(params![zone.to_string(), marker, who, reason, now.as_nanos()])?;
            }
            Ok(())
        })
    }
}

/// Reads one apply, without its outcomes.
fn summary(row: &Row<'_>) -> rusqlite::Result<ApplySummary> {
    let number = |column: usize| row.get::<_, i64>(column);
    Ok(ApplySummary {
        id: ApplyId(number(0)? as u64),
        new: NewApply {
            plan: row.get(1)?,
            effect: row.get(2)?,
            started: Time::from_nanos(number(3)?),
            who: row.get(4)?,
            reason: row.get(5)?,
            inputs: BTreeMap::new(),
            hosts: number(6)? as usize,
        },
        finished: row.get::<_, Option<i64>>(7)?.map(Time::from_nanos),
        outcomes: BTreeMap::new(),
        updates_done: number(9)? as usize,
        updates_open: number(10)? as usize,
    })
}

/// The hosts of a batch, with their projects.
fn hosts<'a>(batch: &Batch<'a>) -> BTreeSet<(Inv, &'a str)> {
    batch.changes.iter().filter_map(|change: &&Change| Some((change.host?, change.project.as_str()))).collect()
}

/// Runs a statement that is about one row.
///
/// Errors: there is no such row.
fn one_row(statement: &mut CachedStatement<'_>, params: &[&dyn ToSql]) -> rusqlite::Result<()> {
    match statement.execute(params)? {
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        _ => Ok(()),
    }
}

/// Keeps that a batch took effect.
fn keep_done(change: &Transaction<'_>, apply: ApplyId, batch: &Batch<'_>, now: Time) -> rusqlite::Result<()> {
    if let Some(swap) = &batch.swap {
        move_marker(change, batch.zone, &swap.after, now)?;
        close_until(change, batch.zone, &swap.after)?;
    }
    keep_own(change, apply, batch)?;
    let sql = "INSERT INTO ledger (apply, host, project, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (apply, host, project) DO UPDATE SET at = excluded.at";
    let mut enter = change.prepare_cached(sql)?;
    for (host, project) in hosts(batch) {
        enter.execute(params![apply.0 as i64, host.0 as i64, project, now.as_nanos()])?;
    }
    Ok(())
}

/// Makes created RRsets own, and deleted ones no more.
fn keep_own(change: &Transaction<'_>, apply: ApplyId, batch: &Batch<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO own_rrsets (name, type, zone, apply) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let mut create = change.prepare_cached(sql)?;
    let mut delete = change.prepare_cached("DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2")?;
    let zone = batch.zone.to_string();
    for of_rrset in &batch.changes {
        let (name, rtype) = (of_rrset.key.owner.to_string(), of_rrset.key.rtype.to_string());
        match of_rrset.kind {
            ChangeKind::Create { .. } => drop(create.execute(params![name, rtype, zone, apply.0 as i64])?),
            ChangeKind::Delete { .. } => drop(delete.execute([name, rtype])?),
            ChangeKind::Modify { .. } => {}
        }
    }
    Ok(())
}

/// Takes the marker of an update that took effect for the one that stands, unless an answer to a later one came first.
fn move_marker(change: &Transaction<'_>, zone: &ZoneName, after: &Marker, now: Time) -> rusqlite::Result<()> {
    let mut query = change.prepare_cached("SELECT marker FROM markers WHERE zone = ?1")?;
    let texts = query.query_map([zone.to_string()], |row| row.get::<_, String>(0))?;
    let known: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
    let is_later = |known: &Marker| known.epoch == after.epoch && known.batch > after.batch;
    match known.first().and_then(|text| Marker::parse(text)).is_some_and(|known| is_later(&known)) {
        true => Ok(()),
        false => put_marker(change, zone, after, now),
    }
}

/// Takes a marker for the one that stands.
fn put_marker(change: &Transaction<'_>, zone: &ZoneName, marker: &Marker, now: Time) -> rusqlite::Result<()> {
    let sql = "INSERT INTO markers (zone, marker, at) VALUES (?1, ?2, ?3)
         ON CONFLICT (zone) DO UPDATE SET marker = excluded.marker, at = excluded.at";
    change.prepare_cached(sql)?.execute(params![zone.to_string(), marker.to_string(), now.as_nanos()])?;
    Ok(())
}

/// Awaits no longer the markers of a zone that this one stands after: the update of each names one that is gone.
fn close_until(change: &Transaction<'_>, zone: &ZoneName, marker: &Marker) -> rusqlite::Result<()> {
    let sql = "SELECT apply, number, marker_after FROM batches WHERE zone = ?1 AND awaited = 1";
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?));
    let mut query = change.prepare_cached(sql)?;
    let open: Vec<(i64, i64, String)> = query.query_map([zone.to_string()], row)?.collect::<rusqlite::Result<_>>()?;
    let mut close = change.prepare_cached("UPDATE batches SET awaited = 0 WHERE apply = ?1 AND number = ?2")?;
    for (apply, number, text) in open {
        let is_past = |open: Marker| (open.epoch, open.batch) <= (marker.epoch, marker.batch);
        if Marker::parse(&text).is_some_and(is_past) {
            close.execute([apply, number])?;
        }
    }
    Ok(())
}

/// Makes the inputs of an apply the accepted ones.
fn accept(
    change: &Transaction<'_>,
    apply: ApplyId,
    inputs: &BTreeMap<String, String>,
    now: Time,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO accepted_sources (name, digest, at, apply) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, at = excluded.at, apply = excluded.apply";
    let mut accept = change.prepare_cached(sql)?;
    for (name, digest) in inputs {
        accept.execute(params![name, digest, now.as_nanos(), apply.0 as i64])?;
    }
    Ok(())
}
