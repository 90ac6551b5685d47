//! The exports that were last accepted, with their content, and the switches that any of them listed.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::ApplyId;
use super::acceptance::{Acceptance, AcceptedFile, Acceptor, ExportToAccept, NewExport};
use super::seal::{self, ExportRow};
use super::sqlite::Sqlite;
use crate::diag::Problem;
use crate::inventory::value::Time;

/// Who accepted, as it is stored.
#[derive(Clone)]
struct KeptAcceptance {
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
pub fn exports(state: &Sqlite) -> Result<Vec<Acceptance>, Problem> {
    let acceptance = |ExportRow { source, row_count, dated, at, apply, who, reason }| Acceptance {
        source,
        rows: row_count as usize,
        dated: dated.map(Time::from_nanos),
        at: Time::from_nanos(at),
        apply: apply.map(|id| ApplyId(id as u64)),
        who,
        reason,
        files: BTreeMap::new(),
    };
    let rows = state.read(&format!("SELECT {} FROM exports", ExportRow::COLUMNS), [], ExportRow::of)?;
    let mut found: Vec<Acceptance> = rows.into_iter().map(acceptance).collect();
    let sql = format!("SELECT {} FROM export_files", seal::FILE_COLUMNS);
    for (source, name, digest) in state.read(&sql, [], seal::file)? {
        if let Some(of_source) = found.iter_mut().find(|acceptance| acceptance.source == source) {
            of_source.files.insert(name, digest);
        }
    }
    // Databases differ in how they sort text.
    found.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(found)
}

/// The files of the accepted export of a source, sorted by name; empty where there is no such export.
pub fn export_files(state: &Sqlite, source: &str) -> Result<Vec<AcceptedFile>, Problem> {
    let sql = format!("SELECT {}, content FROM export_files WHERE source = ?1", seal::FILE_COLUMNS);
    let file = |row: &Row<'_>| {
        let (name, digest, content) = seal::file_with_content(row)?;
        Ok(AcceptedFile { name, digest, content })
    };
    let mut files = state.read(&sql, [source], file)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// The switches that an accepted l3-tors listed, sorted.
pub fn l3_switches(state: &Sqlite) -> Result<Vec<String>, Problem> {
    let mut switches = state.read("SELECT name FROM l3_switches", [], |row| row.get(0))?;
    switches.sort();
    Ok(switches)
}

/// Makes exports the accepted ones, except those for which a later apply accepted another: an older apply may have been
/// resumed since.
pub fn accept(
    change: &Transaction<'_>,
    exports: &[ExportToAccept],
    acceptor: &Acceptor<'_>,
    now: Time,
) -> rusqlite::Result<()> {
    let by = kept(change, acceptor)?;
    for export in exports {
        let before = accepted(change, export.source())?;
        if before.as_ref().is_some_and(|before| is_later(before, &by)) {
            continue;
        }
        let KeptAcceptance { apply, who, reason, .. } = by.clone();
        match (export, before) {
            (ExportToAccept::Anew(export), _) => {
                let NewExport { source, rows, dated, .. } = export;
                let (row_count, dated) = (*rows as i64, dated.map(Time::as_nanos));
                let at = now.as_nanos();
                ExportRow { source: source.clone(), row_count, dated, at, apply, who, reason }.put(change)?;
                replace_files(change, export)?;
                keep_switches(change, export, matches!(acceptor, Acceptor::Person(..)), now)?;
            }
            // If an apply finds the same content that a person accepted, the person and the reason are kept.
            (ExportToAccept::Again(_), Some(before)) if reason.is_some() || before.reason.is_none() => {
                ExportRow { at: now.as_nanos(), apply, who, reason, ..before }.put(change)?;
            }
            (ExportToAccept::Again(_), _) => {}
        }
    }
    Ok(())
}

/// Finds out who accepts; the journal knows who ran an apply.
fn kept(change: &Transaction<'_>, acceptor: &Acceptor<'_>) -> rusqlite::Result<KeptAcceptance> {
    match acceptor {
        Acceptor::Apply(ApplyId(id)) => {
            let id = *id as i64;
            let sql = "SELECT who, started FROM applies WHERE id = ?1";
            let (who, begun) = change.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(KeptAcceptance { apply: Some(id), who, reason: None, begun: Some(begun) })
        }
        Acceptor::IdleApply(who) => {
            Ok(KeptAcceptance { apply: None, who: (*who).to_owned(), reason: None, begun: None })
        }
        Acceptor::Person(who, reason) => {
            Ok(KeptAcceptance { apply: None, who: (*who).to_owned(), reason: Some((*reason).to_owned()), begun: None })
        }
    }
}

/// The accepted export of a source, where there is one.
fn accepted(change: &Transaction<'_>, source: &str) -> rusqlite::Result<Option<ExportRow>> {
    let sql = format!("SELECT {} FROM exports WHERE source = ?1", ExportRow::COLUMNS);
    change.query_row(&sql, [source], ExportRow::of).optional()
}

/// Whether an export was accepted by a later apply than this one, or by a person after this one began.
fn is_later(accepted: &ExportRow, by: &KeptAcceptance) -> bool {
    match (by.apply.zip(by.begun), accepted.apply) {
        (Some((apply, _)), Some(other)) => other > apply,
        (Some((_, begun)), None) => accepted.at > begun,
        (None, _) => false,
    }
}

/// Puts the files of an export in the place of those of its source.
fn replace_files(change: &Transaction<'_>, export: &NewExport) -> rusqlite::Result<()> {
    let NewExport { source, files, .. } = export;
    change.execute("DELETE FROM export_files WHERE source = ?1", [source])?;
    let sql = "INSERT INTO export_files (source, name, digest, content, content_seal, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = change.prepare_cached(sql)?;
    for AcceptedFile { name, digest, content } in files {
        let content_seal = seal::of_content(content);
        let seal = seal::of_file(source, name, digest, content_seal);
        insert.execute(params![source, name, digest, content, content_seal, seal])?;
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
