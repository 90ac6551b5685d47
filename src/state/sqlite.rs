//! The state in a file: SQLite. While a process writes there is a log file next to it; otherwise there is the file
//! alone, which can be copied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags, Row, ToSql, Transaction, TransactionBehavior, params};

use super::error::{Attempt, needs_recovery, of_database, of_system, unreadable};
use super::journal::Kept;
use super::past;
use super::schema::{self, Found};
use super::seal::{self, BatchRow};
use super::{
    Acceptance, AcceptedFile, Accepting, Acceptor, ApplyId, ApplySummary, Breaker, KnownMarker, LeftHost, NewApply,
    PlanText, Planned, Resumption, Sent, State, Unsettled, WaitNews, effect, exports, folder, journal, perhaps, waits,
};
use super::{Allowed, Identity, Reset, Written, allowances, breakers, written};
use crate::apply::{Applied, Batch, Outcome, Settled};
use crate::diag::Problem;
use crate::diff::waits::Waits;
use crate::dns::{Name, RrKey, Rtype, ZoneName};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::live::asked::Question;
use crate::plan::Marker;

/// A state in a file.
#[derive(Debug)]
pub struct Sqlite {
    /// The open database.
    db: Connection,
    /// Its file, as errors name it.
    file: PathBuf,
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

impl Sqlite {
    /// Opens a file to write to it; creates it where there is none, and brings it up to date.
    ///
    /// Errors: `state-unwritable`, `state-unreadable`, `state-too-new`.
    pub fn open_to_write(file: &Path) -> Result<Sqlite, Problem> {
        let system = |source| of_system(file, Attempt::Write, &source);
        folder::prepare(file).and_then(|()| folder::create(file)).map_err(system)?;
        let mut state = Sqlite::connect(file, Attempt::Write)?;
        schema::migrate(&mut state.db, file)?;
        // One sync for each commit, where a rollback journal needs five; when this is dropped, one file is left anyway.
        let log = state.db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        let log = log.and_then(|()| state.db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES));
        log.map_err(|source| of_database(file, Attempt::Write, &source))?;
        Ok(state)
    }

    /// Opens a file to read it; `None` where there is none, or nothing in it.
    ///
    /// Errors: `state-unreadable`, `state-too-new`.
    pub fn open_to_read(file: &Path) -> Result<Option<Sqlite>, Problem> {
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
            Found::Version(_) => state.copy_of_today().map(Some),
        }
    }

    /// A copy in memory of an older state, brought up to date: who only reads leaves the file as it is.
    fn copy_of_today(&self) -> Result<Sqlite, Problem> {
        let copied = Connection::open_in_memory().and_then(|mut copy| {
            Backup::new(&self.db, &mut copy)?.run_to_completion(i32::MAX, PATIENCE, None)?;
            Ok(copy)
        });
        let db = copied.map_err(|source| of_database(&self.file, Attempt::Read, &source))?;
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
    fn connect(file: &Path, attempt: Attempt) -> Result<Sqlite, Problem> {
        let access = match attempt {
            Attempt::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Attempt::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let open = || {
            let db = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            db.busy_timeout(PATIENCE)?;
            keep_statements(&db)?;
            if attempt == Attempt::Write {
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
    fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, Problem> {
        let (db, file) = (&mut self.db, &self.file);
        let done = db.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|change| {
            let value = work(&change)?;
            change.commit()?;
            Ok(value)
        });
        done.map_err(|source| of_database(file, Attempt::Write, &source))
    }

    /// Reads all rows that a query gives.
    pub(super) fn read<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Problem> {
        let rows = self.db.prepare_cached(sql).and_then(|mut query| query.query_map(params, row)?.collect());
        rows.map_err(|source| of_database(&self.file, Attempt::Read, &source))
    }

    /// The error for a value in the file that zonewright never writes.
    pub(super) fn odd(&self, what: &str, text: &str) -> Problem {
        unreadable(&self.file, format!("`{text}` is not a {what}"))
    }

    /// Reads a zone's name.
    pub(super) fn zone(&self, text: &str) -> Result<ZoneName, Problem> {
        Name::parse(text).map(ZoneName::new).map_err(|_| self.odd("name of a zone", text))
    }

    /// Reads the owner name and the type of an RRset.
    pub(super) fn rrset(&self, name: &str, rtype: &str) -> Result<(Name, Rtype), Problem> {
        let owner = Name::parse(name).map_err(|_| self.odd("name", name))?;
        Ok((owner, rtype.parse().map_err(|_| self.odd("type of records", rtype))?))
    }

    /// Reads a marker.
    fn marker(&self, text: &str) -> Result<Marker, Problem> {
        Marker::parse(text).ok_or_else(|| self.odd("marker", text))
    }

    /// The applies that a condition picks, the latest first.
    fn summaries(&self, rest: &str, params: impl rusqlite::Params) -> Result<Vec<ApplySummary>, Problem> {
        let sql = format!(
            "SELECT id, plan, effect, started, who, reason, hosts, finished, outcomes, undoes, is_whole,
               (SELECT count(*) FROM batches WHERE apply = applies.id AND settled = 'done'),
               (SELECT count(*) FROM batches WHERE apply = applies.id AND (settled IS NULL OR settled = 'unknown'))
             FROM applies {rest}"
        );
        let rows = self.read(&sql, params, |row| Ok((summary(row)?, row.get::<_, Option<String>>(8)?)))?;
        let filled = |(summary, outcomes): (ApplySummary, Option<String>)| {
            let summary = ApplySummary { resumed: past::resumptions(self, summary.id)?, ..summary };
            match outcomes {
                None => Ok(summary),
                Some(text) => match serde_json::from_str(&text) {
                    Ok(outcomes) => Ok(ApplySummary { outcomes, ..summary }),
                    Err(_) => Err(self.odd("list of outcomes", &text)),
                },
            }
        };
        rows.into_iter().map(filled).collect()
    }
}

impl State for Sqlite {
    fn identity(&self) -> Result<Identity, Problem> {
        let sql = "SELECT id, (SELECT min(started) FROM applies) FROM workspace";
        let found = self.read(sql, [], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))?.pop();
        let (id, first) = found.ok_or_else(|| unreadable(&self.file, "the state has no id of its workspace"))?;
        Ok(Identity { id, first_begun: first.map(Time::from_nanos) })
    }

    fn own(&self) -> Result<OwnRrsets, Problem> {
        let rows = self.read(&format!("SELECT {} FROM own_rrsets", seal::OWN_COLUMNS), [], seal::own)?;
        rows.into_iter().map(|(name, rtype, _)| self.rrset(&name, &rtype)).collect()
    }

    fn markers(&self) -> Result<BTreeMap<ZoneName, KnownMarker>, Problem> {
        // One query, so that both come from one moment.
        let sql = format!(
            "SELECT 0, 0, zone, '', NULL, marker, 0, 0, 0, NULL, NULL, NULL, NULL, 0 FROM markers
             UNION ALL SELECT {}, 1 FROM batches WHERE awaited = 1
             ORDER BY 14, 1, 2",
            BatchRow::COLUMNS
        );
        let row = |row: &Row<'_>| {
            let is_open = row.get(BatchRow::END)?;
            if is_open {
                BatchRow::of(row)?;
            }
            Ok((row.get::<_, String>(2)?, row.get::<_, String>(5)?, is_open))
        };
        let mut known: BTreeMap<ZoneName, KnownMarker> = BTreeMap::new();
        for (zone, marker, is_open) in self.read(&sql, [], row)? {
            let of_zone = known.entry(self.zone(&zone)?);
            let of_zone = of_zone.or_insert(KnownMarker { marker: None, open: Vec::new() });
            match is_open {
                true => of_zone.open.push(self.marker(&marker)?),
                false => of_zone.marker = Some(self.marker(&marker)?),
            }
        }
        Ok(known)
    }

    fn breakers(&self) -> Result<Vec<Breaker>, Problem> {
        let breaker = |row: &Row<'_>| {
            Ok(Breaker { scope: row.get(0)?, tripped: Time::from_nanos(row.get(1)?), why: row.get(2)? })
        };
        let mut breakers = self.read("SELECT scope, tripped, why FROM breakers", [], breaker)?;
        // Databases differ in how they sort text.
        breakers.sort_by(|a, b| a.scope.cmp(&b.scope));
        Ok(breakers)
    }

    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, Problem> {
        self.summaries("ORDER BY id DESC LIMIT ?1", [i64::try_from(count).unwrap_or(i64::MAX)])
    }

    fn last_finished(&self) -> Result<Option<ApplySummary>, Problem> {
        Ok(self.summaries("WHERE finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT 1", [])?.pop())
    }

    fn unfinished(&self) -> Result<Vec<ApplySummary>, Problem> {
        self.summaries("WHERE finished IS NULL ORDER BY id DESC", [])
    }

    fn changed_since(&self, since: Time) -> Result<Vec<(String, Inv, Time)>, Problem> {
        let sql = "SELECT project, host, at FROM ledger WHERE at >= ?1 ORDER BY at, apply, host";
        let changed =
            |row: &Row<'_>| Ok((row.get(0)?, Inv(row.get::<_, i64>(1)? as u64), Time::from_nanos(row.get(2)?)));
        self.read(sql, [since.as_nanos()], changed)
    }

    fn apply(&self, id: ApplyId) -> Result<Option<ApplySummary>, Problem> {
        Ok(self.summaries("WHERE id = ?1", [id.0 as i64])?.pop())
    }

    fn resumable(&self, now: Time) -> Result<Vec<ApplyId>, Problem> {
        let sql = "SELECT apply FROM plans WHERE expires >= ?1 ORDER BY apply DESC";
        self.read(sql, [now.as_nanos()], |row| Ok(ApplyId(row.get::<_, i64>(0)? as u64)))
    }

    fn document(&self, id: ApplyId) -> Result<Option<String>, Problem> {
        Ok(self.read("SELECT document FROM plans WHERE apply = ?1", [id.0 as i64], |row| row.get(0))?.pop())
    }

    fn planned(&self, id: ApplyId) -> Result<Option<Planned>, Problem> {
        past::planned(self, id)
    }

    fn sent(&self, id: ApplyId) -> Result<Vec<Sent>, Problem> {
        past::sent(self, id)
    }

    fn left_hosts(&self, id: ApplyId) -> Result<Vec<LeftHost>, Problem> {
        past::left_hosts(self, id)
    }

    fn applies_of(&self, host: Inv) -> Result<Vec<ApplyId>, Problem> {
        past::applies_of(self, host)
    }

    fn applies_at(&self, name: &Name) -> Result<Vec<ApplyId>, Problem> {
        past::applies_at(self, name)
    }

    fn last_changed(&self, after: ApplyId, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
        past::last_changed(self, after, rrsets)
    }

    fn created_by(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
        let sql = format!("SELECT {} FROM own_rrsets WHERE name = ?1 AND type = ?2", seal::OWN_COLUMNS);
        let created = |key: &&RrKey| {
            let own = self.read(&sql, [key.owner.to_string(), key.rtype.to_string()], seal::own)?;
            Ok(own.first().map(|(_, _, apply)| ApplyId(*apply as u64)))
        };
        rrsets.iter().map(created).collect()
    }

    fn last_written(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<Written>>, Problem> {
        written::last_written(self, rrsets)
    }

    fn version(&self) -> Result<u64, Problem> {
        let version = self.read("PRAGMA data_version", [], |row| row.get::<_, i64>(0))?;
        Ok(version.first().copied().unwrap_or_default() as u64)
    }

    fn begin(&mut self, apply: &NewApply, text: &PlanText<'_>) -> Result<ApplyId, Problem> {
        let NewApply { plan, effect, started, who, reason, inputs, hosts, undoes, is_whole } = apply;
        let undoes = undoes.map(|id| id.0 as i64);
        let inputs = serde_json::to_string(inputs).expect("texts are JSON");
        let made = text.made.as_nanos();
        self.write(|change| {
            let id: i64 = change.query_row("SELECT COALESCE(MAX(id), 0) + 1 FROM applies", [], |row| row.get(0))?;
            let sql = "INSERT INTO applies (id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole,
                 planned) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
            let (started, hosts) = (started.as_nanos(), *hosts as i64);
            #[rustfmt::skip]
            change.execute(sql, params![
                id, plan, effect, started, who, reason, inputs, hosts, undoes, is_whole, made,
            ])?;
            if *is_whole {
                past::block(change, id, text.blocked)?;
            }
            change.execute("DELETE FROM plans WHERE expires < ?1", [started])?;
            let sql = "INSERT INTO plans (apply, expires, document) VALUES (?1, ?2, ?3)";
            change.execute(sql, params![id, text.expires.as_nanos(), text.document])?;
            Ok(ApplyId(id as u64))
        })
    }

    fn resume(&mut self, id: ApplyId, resumption: &Resumption) -> Result<(), Problem> {
        let Resumption { at, who, reason } = resumption;
        self.write(|change| {
            let sql = "UPDATE applies SET finished = NULL, outcomes = NULL WHERE id = ?1";
            one_row(&mut change.prepare_cached(sql)?, params![id.0 as i64])?;
            change.execute("DELETE FROM left_hosts WHERE apply = ?1", [id.0 as i64])?;
            let sql = "INSERT INTO resumptions (apply, at, who, reason) VALUES (?1, ?2, ?3, ?4)";
            change.execute(sql, params![id.0 as i64, at.as_nanos(), who, reason])?;
            Ok(())
        })
    }

    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
        self.write(|change| keep_sending(change, apply, batch, now))
    }

    fn note_settled(&mut self, apply: ApplyId, batch: &Batch<'_>, settled: &Settled, now: Time) -> Result<(), Problem> {
        self.write(|change| keep_settled(change, apply, (batch, settled), now))
    }

    fn note_settled_and_sending(
        &mut self,
        apply: ApplyId,
        settled: (&Batch<'_>, &Settled),
        next: &Batch<'_>,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| {
            keep_settled(change, apply, settled, now)?;
            keep_sending(change, apply, next, now)
        })
    }

    fn note_standing(&mut self, zone: &ZoneName, live: &Marker, now: Time) -> Result<usize, Problem> {
        self.write(|change| effect::settle_by(change, zone, live, now))
    }

    fn disown(&mut self, rrsets: &[&RrKey]) -> Result<(), Problem> {
        if rrsets.is_empty() {
            return Ok(());
        }
        self.write(|change| {
            let mut delete = change.prepare_cached("DELETE FROM own_rrsets WHERE name = ?1 AND type = ?2")?;
            for key in rrsets {
                delete.execute([key.owner.to_string(), key.rtype.to_string()])?;
            }
            Ok(())
        })
    }

    fn unsettled(&self, id: ApplyId) -> Result<Vec<Unsettled>, Problem> {
        let sql = format!(
            "{} WHERE (marker_after IS NULL OR awaited = 0) AND (settled IS NULL OR settled = 'unknown')
               AND batches.apply = ?1 ORDER BY batches.number",
            seal::SENT
        );
        let unsettled = |(BatchRow { apply, number, zone, .. }, changes): (BatchRow, String)| {
            let kept = journal::from_json(&changes).ok_or_else(|| self.odd("list of changes", &changes))?;
            let after = kept.into_iter().map(|Kept { name, rtype, after, .. }| {
                let (name, rtype) = self.rrset(&name, &rtype)?;
                Ok((Question { name, rtype }, after))
            });
            let after = after.collect::<Result<_, Problem>>()?;
            Ok(Unsettled { apply: ApplyId(apply as u64), number: number as u64, zone: self.zone(&zone)?, after })
        };
        self.read(&sql, [id.0 as i64], seal::sent)?.into_iter().map(unsettled).collect()
    }

    fn note_found(&mut self, found: &Unsettled, now: Time) -> Result<bool, Problem> {
        self.write(|change| effect::settle_found(change, found, now))
    }

    fn finish(
        &mut self,
        apply: ApplyId,
        applied: &Applied,
        accepted: Option<&[Accepting]>,
        now: Time,
    ) -> Result<(), Problem> {
        let counts = Outcome::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome)));
        let outcomes: BTreeMap<&str, usize> = counts.filter(|(_, count)| *count > 0).collect();
        let outcomes = serde_json::to_string(&outcomes).expect("texts and numbers are JSON");
        let id = apply.0 as i64;
        self.write(|change| {
            let sql = "UPDATE applies SET finished = ?2, outcomes = ?3 WHERE id = ?1";
            one_row(&mut change.prepare_cached(sql)?, params![id, now.as_nanos(), outcomes])?;
            past::leave(change, apply, applied)?;
            if let Some(accepted) = accepted {
                exports::accept(change, accepted, &Acceptor::Apply(apply), now)?;
                // While the outcome of an update is unknown, it may still be found out.
                let sql = "DELETE FROM plans WHERE apply = ?1 AND NOT EXISTS
                     (SELECT 1 FROM batches WHERE apply = ?1 AND (settled IS NULL OR settled = 'unknown'))";
                change.execute(sql, [id])?;
                past::forget_blocked(change, id)?;
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
    ) -> Result<(), Problem> {
        self.write(|change| {
            for (zone, marker) in markers {
                match marker {
                    Some(marker) => {
                        effect::settle_by(change, zone, marker, now)?;
                        effect::put_marker(change, zone, marker, now)?;
                        effect::close_until(change, zone, marker)?;
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

    fn exports(&self) -> Result<Vec<Acceptance>, Problem> {
        exports::exports(self)
    }

    fn export_files(&self, source: &str) -> Result<Vec<AcceptedFile>, Problem> {
        exports::export_files(self, source)
    }

    fn l3_switches(&self) -> Result<Vec<String>, Problem> {
        exports::l3_switches(self)
    }

    fn accept(&mut self, exports: &[Accepting], acceptor: &Acceptor<'_>, now: Time) -> Result<(), Problem> {
        self.write(|change| exports::accept(change, exports, acceptor, now))
    }

    fn trip(&mut self, breaker: &Breaker) -> Result<(), Problem> {
        self.write(|change| breakers::trip(change, breaker))
    }

    fn reset(&mut self, scope: &str, reset: Reset<'_>) -> Result<bool, Problem> {
        self.write(|change| breakers::reset(change, scope, reset))
    }

    fn allow(&mut self, apply: ApplyId, allowed: &[Allowed]) -> Result<(), Problem> {
        self.write(|change| allowances::allow(change, apply, allowed))
    }

    fn allowed(&self, apply: ApplyId) -> Result<Vec<Allowed>, Problem> {
        allowances::of_apply(self, apply)
    }

    fn last_inputs(&self) -> Result<BTreeMap<String, String>, Problem> {
        allowances::last_inputs(self)
    }

    fn waits(&self) -> Result<Waits, Problem> {
        waits::waits(self)
    }

    fn note_waits(&mut self, news: &WaitNews) -> Result<(), Problem> {
        self.write(|change| waits::note(change, news))
    }

    fn perhaps_changed_since(&self, since: Time) -> Result<Vec<(String, Inv, Time)>, Problem> {
        perhaps::changed_since(self, since)
    }
}

/// Keeps a batch that is about to be sent.
fn keep_sending(change: &Transaction<'_>, apply: ApplyId, batch: &Batch<'_>, now: Time) -> rusqlite::Result<()> {
    let hosts: BTreeSet<Inv> = batch.changes.iter().filter_map(|change| change.host).collect();
    let (apply, number) = (apply.0 as i64, batch.number as i64);
    let row = BatchRow {
        apply,
        number,
        zone: batch.zone.to_string(),
        phase: batch.phase.as_str().to_owned(),
        marker_before: journal::marker_before(batch),
        marker_after: batch.swap.as_ref().map(|swap| swap.after.to_string()),
        awaited: batch.swap.is_some().into(),
        hosts: hosts.len() as i64,
        sent_at: now.as_nanos(),
        settled: None,
        why: None,
        settled_at: None,
    };
    row.insert(change)?;
    let sql = "INSERT INTO batch_changes (apply, number, changes, seal) VALUES (?1, ?2, ?3, ?4)";
    let changes = journal::to_json(batch);
    let seal = seal::of_changes((apply, number), &changes);
    change.prepare_cached(sql)?.execute(params![apply, number, changes, seal])?;
    Ok(())
}

/// Keeps the outcome of a batch.
fn keep_settled(
    change: &Transaction<'_>,
    apply: ApplyId,
    (batch, settled): (&Batch<'_>, &Settled),
    now: Time,
) -> rusqlite::Result<()> {
    let (word, why, is_open) = match settled {
        Settled::Done => ("done", None, false),
        Settled::Undone(why) => ("undone", Some(why), false),
        Settled::Unknown(why) => ("unknown", Some(why), true),
    };
    let row = BatchRow::load(change, apply.0 as i64, batch.number as i64)?;
    let row = BatchRow {
        settled: Some(word.to_owned()),
        why: why.cloned(),
        settled_at: Some(now.as_nanos()),
        awaited: if is_open { row.awaited } else { 0 },
        ..row
    };
    row.update(change)?;
    match settled {
        Settled::Done => effect::settled(change, apply, batch, now),
        Settled::Undone(_) | Settled::Unknown(_) => Ok(()),
    }
}

/// Reads one apply, without its outcomes and resumptions.
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
            undoes: row.get::<_, Option<i64>>(9)?.map(|id| ApplyId(id as u64)),
            is_whole: row.get(10)?,
        },
        finished: row.get::<_, Option<i64>>(7)?.map(Time::from_nanos),
        outcomes: BTreeMap::new(),
        updates_done: number(11)? as usize,
        updates_open: number(12)? as usize,
        resumed: Vec::new(),
    })
}

/// Lets every statement be parsed and planned once, and not again for each value that it is about.
fn keep_statements(db: &Connection) -> rusqlite::Result<()> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
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
