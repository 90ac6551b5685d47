//! The exports that were last accepted, with their content, and the switches that any of them listed.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::sqlite::Sqlite;
use super::{ApplyId, StateError};
use crate::guard::baseline::Difference;
use crate::inventory::value::Time;

/// An export that was accepted, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The source.
    pub source: String,
    /// How many rows it had, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// When it was last accepted.
    pub at: Time,
    /// The apply that accepted it; none where one with nothing to do did, or a person.
    pub apply: Option<ApplyId>,
    /// Who ran that, as the system knows them; empty where it does not.
    pub who: String,
    /// Why a person accepted it; none where no person did.
    pub reason: Option<String>,
    /// The digests of its files, by name.
    pub files: BTreeMap<String, String>,
}

impl Acceptance {
    /// How it was accepted, in words: `by apply 7`.
    pub fn words(&self) -> String {
        let who = if self.who.is_empty() { String::new() } else { format!(" of {}", self.who) };
        match (self.apply, &self.reason) {
            (Some(ApplyId(id)), _) => format!("by apply {id}"),
            (None, None) => format!("by an apply{who} with nothing to do"),
            (None, Some(reason)) if self.who.is_empty() => format!("by hand: {reason}"),
            (None, Some(reason)) => format!("by {}: {reason}", self.who),
        }
    }
}

/// A file of an export that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedFile {
    /// Its name in messages.
    pub name: String,
    /// SHA-256, in hexadecimal.
    pub digest: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// What a person accepted, and in the place of what.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The source.
    pub source: String,
    /// How many rows its export has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// What was accepted before.
    pub before: Option<Acceptance>,
    /// How what they say differs.
    pub difference: Difference,
    /// Of l3-tors: the switches that are no longer in an L3 segment, sorted.
    pub leaving: Vec<String>,
}

/// A source of a workspace, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceStatus {
    /// Its name.
    pub source: String,
    /// How many rows its export has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// Why it is not believed.
    pub doubt: Option<String>,
    /// What was last accepted.
    pub accepted: Option<Acceptance>,
    /// Whether its export is that one still.
    pub is_accepted: bool,
}

/// An export that is to be the accepted one.
#[derive(Debug, Clone)]
pub enum Accepting {
    /// The one that already is: that of this source is accepted again.
    Again(String),
    /// Another.
    Anew(NewExport),
}

impl Accepting {
    /// The source.
    fn source(&self) -> &str {
        match self {
            Accepting::Again(source) | Accepting::Anew(NewExport { source, .. }) => source,
        }
    }
}

/// An export with its content.
#[derive(Debug, Clone)]
pub struct NewExport {
    /// The source.
    pub source: String,
    /// How many rows it has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// Its files; empty where zonewright.toml no longer has such a source.
    pub files: Vec<AcceptedFile>,
    /// Of l3-tors: the switches that it lists.
    pub switches: Vec<String>,
}

/// Who accepts exports.
#[derive(Debug, Clone, Copy)]
pub enum Acceptor<'a> {
    /// An apply: what a later one accepted stays.
    Apply(ApplyId),
    /// An apply that had nothing to do, and so is not in the journal; who ran it.
    IdleApply(&'a str),
    /// A person, and why. From then on, switches that the export does not list are in no L3 segment.
    Person(&'a str, &'a str),
}

/// Who accepted, as it is stored.
struct Kept {
    /// The apply.
    apply: Option<i64>,
    /// Who.
    who: String,
    /// Why.
    reason: Option<String>,
    /// When that apply began, in nanoseconds; none where what was accepted before never stays.
    begun: Option<i64>,
}

/// The accepted exports, sorted by source.
pub fn exports(state: &Sqlite) -> Result<Vec<Acceptance>, StateError> {
    let sql = "SELECT source, row_count, dated, at, apply, who, reason FROM exports";
    let acceptance = |row: &Row<'_>| {
        Ok(Acceptance {
            source: row.get(0)?,
            rows: row.get::<_, i64>(1)? as usize,
            dated: row.get::<_, Option<i64>>(2)?.map(Time::from_nanos),
            at: Time::from_nanos(row.get(3)?),
            apply: row.get::<_, Option<i64>>(4)?.map(|id| ApplyId(id as u64)),
            who: row.get(5)?,
            reason: row.get(6)?,
            files: BTreeMap::new(),
        })
    };
    let mut found = state.read(sql, [], acceptance)?;
    let file = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, (row.get(1)?, row.get(2)?)));
    for (source, (name, digest)) in state.read("SELECT source, name, digest FROM export_files", [], file)? {
        if let Some(of_source) = found.iter_mut().find(|acceptance| acceptance.source == source) {
            of_source.files.insert(name, digest);
        }
    }
    // Databases differ in how they sort text.
    found.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(found)
}

/// The files of the accepted export of a source, sorted by name; empty where there is no such export.
pub fn export_files(state: &Sqlite, source: &str) -> Result<Vec<AcceptedFile>, StateError> {
    let sql = "SELECT name, digest, content FROM export_files WHERE source = ?1";
    let file = |row: &Row<'_>| Ok(AcceptedFile { name: row.get(0)?, digest: row.get(1)?, content: row.get(2)? });
    let mut files = state.read(sql, [source], file)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// The switches that an accepted l3-tors listed, sorted.
pub fn l3_switches(state: &Sqlite) -> Result<Vec<String>, StateError> {
    let mut switches = state.read("SELECT name FROM l3_switches", [], |row| row.get(0))?;
    switches.sort();
    Ok(switches)
}

/// Makes exports the accepted ones, except those for which a later apply accepted another: an older apply may have been
/// resumed since.
pub fn accept(
    change: &Transaction<'_>,
    exports: &[Accepting],
    acceptor: &Acceptor<'_>,
    now: Time,
) -> rusqlite::Result<()> {
    let by = kept(change, acceptor)?;
    for export in exports {
        if is_later(change, export.source(), &by)? {
            continue;
        }
        if let Accepting::Anew(export) = export {
            replace(change, export, now)?;
            keep_switches(change, export, matches!(acceptor, Acceptor::Person(..)), now)?;
        }
        // If an apply finds the same content that a person accepted, the person and the reason are kept.
        let is_kept = matches!((export, &by.reason), (Accepting::Again(_), None));
        let sql = match is_kept {
            true => "UPDATE exports SET at = ?2, apply = ?3, who = ?4 WHERE source = ?1 AND reason IS ?5",
            false => "UPDATE exports SET at = ?2, apply = ?3, who = ?4, reason = ?5 WHERE source = ?1",
        };
        let at = now.as_nanos();
        change.prepare_cached(sql)?.execute(params![export.source(), at, by.apply, by.who, by.reason])?;
    }
    Ok(())
}

/// Finds out who accepts; the journal knows who ran an apply.
fn kept(change: &Transaction<'_>, acceptor: &Acceptor<'_>) -> rusqlite::Result<Kept> {
    match acceptor {
        Acceptor::Apply(ApplyId(id)) => {
            let id = *id as i64;
            let sql = "SELECT who, started FROM applies WHERE id = ?1";
            let (who, begun) = change.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Kept { apply: Some(id), who, reason: None, begun: Some(begun) })
        }
        Acceptor::IdleApply(who) => Ok(Kept { apply: None, who: (*who).to_owned(), reason: None, begun: None }),
        Acceptor::Person(who, reason) => {
            Ok(Kept { apply: None, who: (*who).to_owned(), reason: Some((*reason).to_owned()), begun: None })
        }
    }
}

/// Whether the export of a source was accepted by a later apply than this one, or by a person after this one began.
fn is_later(change: &Transaction<'_>, source: &str, by: &Kept) -> rusqlite::Result<bool> {
    let (Some(apply), Some(begun)) = (by.apply, by.begun) else { return Ok(false) };
    let sql = "SELECT apply, at FROM exports WHERE source = ?1";
    let row = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, i64>(1)?));
    Ok(match change.query_row(sql, [source], row).optional()? {
        Some((Some(other), _)) => other > apply,
        Some((None, at)) => at > begun,
        None => false,
    })
}

/// Puts an export and its files in the place of those of its source.
fn replace(change: &Transaction<'_>, export: &NewExport, now: Time) -> rusqlite::Result<()> {
    let NewExport { source, rows, dated, files, .. } = export;
    let sql = "INSERT INTO exports (source, row_count, dated, at, who) VALUES (?1, ?2, ?3, ?4, '')
         ON CONFLICT (source) DO UPDATE SET row_count = excluded.row_count, dated = excluded.dated";
    let dated = dated.map(Time::as_nanos);
    change.prepare_cached(sql)?.execute(params![source, *rows as i64, dated, now.as_nanos()])?;
    change.execute("DELETE FROM export_files WHERE source = ?1", [source])?;
    let sql = "INSERT INTO export_files (source, name, digest, content) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = change.prepare_cached(sql)?;
    for AcceptedFile { name, digest, content } in files {
        insert.execute(params![source, name, digest, content])?;
    }
    Ok(())
}

/// Adds the switches of an export to those that are known; where `alone`, the others are forgotten.
fn keep_switches(change: &Transaction<'_>, export: &NewExport, alone: bool, now: Time) -> rusqlite::Result<()> {
    if alone && export.source == "l3_tors" {
        change.execute("DELETE FROM l3_switches", [])?;
    }
    let sql = "INSERT INTO l3_switches (name, since) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
    let mut insert = change.prepare_cached(sql)?;
    for switch in &export.switches {
        insert.execute(params![switch, now.as_nanos()])?;
    }
    Ok(())
}
