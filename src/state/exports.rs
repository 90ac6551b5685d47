//! The exports that were last accepted, with their content, and the switches that any of them listed; and
//! the inputs of the last apply that did all of its plan.

use std::collections::BTreeMap;

use super::ApplyId;
use super::acceptance::{Acceptance, AcceptedFile, Acceptor, ExportToAccept, NewExport};
use super::seal::{self, ExportRow};
use super::sql::{SqlChange, SqlDatabase, SqlRow, SqlRows as _, values};
use crate::apply::OutcomeCode;
use crate::diag::Problem;
use crate::inventory::value::Time;

/// What was accepted. What a method wrote is durable when it returns.
pub trait AcceptanceRecord: Send {
    /// The exports that were last accepted, sorted by source.
    fn exports(&self) -> Result<Vec<Acceptance>, Problem>;

    /// The files of the accepted export of a source, sorted by name; empty where there is no such export.
    fn export_files(&self, source: &str) -> Result<Vec<AcceptedFile>, Problem>;

    /// The switches that any accepted l3-tors listed since a person last accepted one, sorted.
    fn l3_switches(&self) -> Result<Vec<String>, Problem>;

    /// The input files, with their digests, of the latest apply that tried them on the whole fleet, did all of its plan
    /// and undid nothing; empty where there is no such apply.
    fn last_inputs(&self) -> Result<BTreeMap<String, String>, Problem>;

    /// Makes exports the accepted ones.
    fn accept(&mut self, exports: &[ExportToAccept], acceptor: &Acceptor<'_>, now: Time) -> Result<(), Problem>;
}

impl<D: SqlDatabase> AcceptanceRecord for D {
    fn exports(&self) -> Result<Vec<Acceptance>, Problem> {
        let acceptance = |row: &dyn SqlRow| {
            let ExportRow { source, row_count, dated, at, apply, who, reason } = ExportRow::of(row)?;
            let (rows, dated, at) = (row_count as usize, dated.map(Time::from_nanos), Time::from_nanos(at));
            let apply = apply.map(|id| ApplyId(id as u64));
            Ok(Acceptance { source, rows, dated, at, apply, who, reason, files: BTreeMap::new() })
        };
        let sql = format!("SELECT {} FROM exports", ExportRow::COLUMNS);
        let mut found = self.rows(&sql, &[], acceptance)?;
        let sql = format!("SELECT {} FROM export_files", seal::FILE_COLUMNS);
        for (source, name, digest) in self.rows(&sql, &[], seal::file)? {
            if let Some(of_source) = found.iter_mut().find(|acceptance| acceptance.source == source) {
                of_source.files.insert(name, digest);
            }
        }
        found.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(found)
    }

    fn export_files(&self, source: &str) -> Result<Vec<AcceptedFile>, Problem> {
        let sql = format!("SELECT {}, content FROM export_files WHERE source = ?1", seal::FILE_COLUMNS);
        let file = |row: &dyn SqlRow| {
            let (name, digest, content) = seal::file_with_content(row)?;
            Ok(AcceptedFile { name, digest, content })
        };
        let mut files = self.rows(&sql, values![source], file)?;
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    fn l3_switches(&self) -> Result<Vec<String>, Problem> {
        let mut switches: Vec<String> = self.rows("SELECT name FROM l3_switches", &[], |row| row.get(0))?;
        switches.sort();
        Ok(switches)
    }

    fn last_inputs(&self) -> Result<BTreeMap<String, String>, Problem> {
        let sql = "SELECT inputs, outcomes FROM applies
             WHERE finished IS NOT NULL AND undoes IS NULL AND is_whole = 1 ORDER BY id DESC";
        let row = |row: &dyn SqlRow| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?));
        for (inputs, outcomes) in self.rows(sql, &[], row)? {
            let outcomes = outcomes.unwrap_or_default();
            let counts: BTreeMap<String, usize> =
                serde_json::from_str(&outcomes).map_err(|_| self.odd("list of outcomes", &outcomes))?;
            if counts.keys().all(|word| OutcomeCode::parse(word).is_some_and(OutcomeCode::is_done)) {
                return serde_json::from_str(&inputs).map_err(|_| self.odd("list of inputs", &inputs));
            }
        }
        Ok(BTreeMap::new())
    }

    fn accept(&mut self, exports: &[ExportToAccept], acceptor: &Acceptor<'_>, now: Time) -> Result<(), Problem> {
        self.write(|change| accept(change, exports, acceptor, now))
    }
}

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

/// Makes exports the accepted ones, except those for which a later apply accepted another: an older apply may have been
/// resumed since.
pub fn accept(
    change: &dyn SqlChange,
    exports: &[ExportToAccept],
    acceptor: &Acceptor<'_>,
    now: Time,
) -> Result<(), Problem> {
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
fn kept(change: &dyn SqlChange, acceptor: &Acceptor<'_>) -> Result<KeptAcceptance, Problem> {
    match acceptor {
        Acceptor::Apply(ApplyId(id)) => {
            let id = *id as i64;
            let sql = "SELECT who, started FROM applies WHERE id = ?1";
            let found = change.row(sql, values![id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let (who, begun) = found.ok_or_else(|| change.absent(&format!("apply {id}")))?;
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
fn accepted(change: &dyn SqlChange, source: &str) -> Result<Option<ExportRow>, Problem> {
    let sql = format!("SELECT {} FROM exports WHERE source = ?1", ExportRow::COLUMNS);
    change.row(&sql, values![source], ExportRow::of)
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
fn replace_files(change: &dyn SqlChange, export: &NewExport) -> Result<(), Problem> {
    let NewExport { source, files, .. } = export;
    change.execute("DELETE FROM export_files WHERE source = ?1", values![source])?;
    let sql = "INSERT INTO export_files (source, name, digest, content, content_seal, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for AcceptedFile { name, digest, content } in files {
        let content_seal = seal::of_content(content);
        let seal = seal::of_file(source, name, digest, content_seal);
        change.execute(sql, values![source, name, digest, content, content_seal, seal])?;
    }
    Ok(())
}

/// Adds the switches of an export to those that are known; where `alone`, the others are forgotten.
fn keep_switches(change: &dyn SqlChange, export: &NewExport, alone: bool, now: Time) -> Result<(), Problem> {
    if alone && export.source == "l3_tors" {
        change.execute("DELETE FROM l3_switches", &[])?;
    }
    let sql = "INSERT INTO l3_switches (name, since) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
    for switch in &export.switches {
        change.execute(sql, values![switch, now])?;
    }
    Ok(())
}
