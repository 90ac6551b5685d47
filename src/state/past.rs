//! What the journal says of single applies, read from its tables; and who of an apply was left, written to them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rusqlite::{Row, Transaction, params};

use super::journal::{self, KeptChange};
use super::seal::{self, BatchRow};
use super::sought::{RrsetNames, SoughtRrsets};
use super::sqlite::Sqlite;
use super::{ApplyId, LeftSubject, PlanBasis, Resumption, SentChange, SentFate, SentUpdate};
use crate::apply::ApplyOutcome;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Name, RrKey};
use crate::inventory::value::{Inv, Time};

/// All updates of an apply, in the order of sending.
pub fn sent(state: &Sqlite, id: ApplyId) -> Result<Vec<SentUpdate>, Problem> {
    let sql = format!("{} WHERE batches.apply = ?1 ORDER BY batches.number", seal::SENT);
    let rows = state.read(&sql, [id.0 as i64], seal::sent)?;
    rows.into_iter().map(|(batch, changes)| understood(state, batch, &changes)).collect()
}

/// Takes the texts of an update for what they say.
fn understood(state: &Sqlite, batch: BatchRow, changes: &str) -> Result<SentUpdate, Problem> {
    let fate = match batch.settled.as_deref() {
        Some("done") => SentFate::Done,
        Some("undone") => SentFate::Undone(batch.why.unwrap_or_default()),
        Some("unknown") | None => SentFate::Unknown(batch.why),
        Some(other) => return Err(state.odd("fate of an update", other)),
    };
    let kept = journal::from_json(changes).ok_or_else(|| state.odd("list of changes", changes))?;
    let change = |KeptChange { after, also, before, name, project, subject, rtype }: KeptChange| {
        let (name, rtype) = state.rrset(&name, &rtype)?;
        Ok(SentChange { subject, also, project, name, rtype, before, after })
    };
    Ok(SentUpdate {
        number: batch.number as u64,
        zone: state.zone(&batch.zone)?,
        phase: batch.phase,
        at: Time::from_nanos(batch.sent_at),
        fate,
        changes: kept.into_iter().map(change).collect::<Result<_, Problem>>()?,
    })
}

/// Keeps the subjects that the plan of an apply leaves for what blocks them.
pub fn block(change: &Transaction<'_>, apply: i64, subjects: &[Subject]) -> rusqlite::Result<()> {
    let sql = "INSERT INTO blocked_subjects (apply, subject) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut insert = change.prepare_cached(sql)?;
    subjects.iter().try_for_each(|subject| insert.execute(params![apply, subject.to_string()]).map(drop))
}

/// Keeps no longer what the plans of earlier applies left, once a whole one did all of its plan.
pub fn forget_blocked(change: &Transaction<'_>, apply: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM blocked_subjects WHERE apply < ?1 AND EXISTS
         (SELECT 1 FROM applies WHERE id = ?1 AND is_whole <> 0)";
    change.execute(sql, [apply]).map(drop)
}

/// What the plan of an apply was made by; `None` where an earlier version of the state began the apply.
pub fn planned(state: &Sqlite, id: ApplyId) -> Result<Option<PlanBasis>, Problem> {
    let sql = "SELECT planned FROM applies WHERE id = ?1 AND planned IS NOT NULL";
    let at = state.read(sql, [id.0 as i64], |row| Ok(Time::from_nanos(row.get(0)?)))?.pop();
    let sql = "SELECT subject FROM blocked_subjects WHERE apply = ?1";
    let blocked = state.read(sql, [id.0 as i64], |row| row.get::<_, String>(0))?;
    let blocked = blocked.iter().map(|text| state.subject(text)).collect::<Result<_, Problem>>()?;
    Ok(at.map(|at| PlanBasis { at, blocked }))
}

/// Who took an apply up again, in the order of time.
pub fn resumptions(state: &Sqlite, id: ApplyId) -> Result<Vec<Resumption>, Problem> {
    let sql = "SELECT at, who, reason FROM resumptions WHERE apply = ?1 ORDER BY at";
    let resumption =
        |row: &Row<'_>| Ok(Resumption { at: Time::from_nanos(row.get(0)?), who: row.get(1)?, reason: row.get(2)? });
    state.read(sql, [id.0 as i64], resumption)
}

/// The hosts that an apply did not leave as planned, in the order of the plan.
pub fn left_hosts(state: &Sqlite, id: ApplyId) -> Result<Vec<LeftSubject>, Problem> {
    let sql = "SELECT subject, project, name, outcome, message FROM left_subjects WHERE apply = ?1 ORDER BY place";
    let left = |row: &Row<'_>| {
        let (subject, project, name) = (row.get::<_, String>(0)?, row.get(1)?, row.get(2)?);
        Ok((subject, project, name, row.get(3)?, row.get(4)?))
    };
    let rows = state.read(sql, [id.0 as i64], left)?;
    let left = rows.into_iter().map(|(subject, project, name, outcome, message)| {
        Ok(LeftSubject { subject: state.subject(&subject)?, project, name, outcome, message })
    });
    left.collect()
}

/// Keeps which hosts an apply did not leave as planned, instead of those of an earlier end.
pub fn leave(change: &Transaction<'_>, apply: ApplyId, applied: &ApplyOutcome) -> rusqlite::Result<()> {
    let id = apply.0 as i64;
    change.execute("DELETE FROM left_subjects WHERE apply = ?1", [id])?;
    let sql = "INSERT INTO left_subjects (apply, place, subject, project, name, outcome, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert = change.prepare_cached(sql)?;
    for (place, host) in applied.hosts.iter().enumerate().filter(|(_, host)| !host.outcome.is_done()) {
        let (subject, outcome) = (host.subject.to_string(), host.outcome.as_str());
        insert.execute(params![id, place as i64, subject, host.project, host.name, outcome, host.message])?;
    }
    Ok(())
}

/// The applies that changed, or tried to change, something for a host, and those that did not leave it as planned; the
/// latest first.
pub fn applies_of(state: &Sqlite, host: Inv) -> Result<Vec<ApplyId>, Problem> {
    // As JSON has it: a project may have such an id, so each match is checked.
    let [own, released] = [Subject::Host(host), Subject::Released(host)];
    let patterns = [format!("%\"{own}\"%"), format!("%\"{released}\"%")];
    let sql = "SELECT apply, number, changes, seal FROM batch_changes WHERE changes LIKE ?1 OR changes LIKE ?2";
    let row = |row: &Row<'_>| {
        let apply: i64 = row.get(0)?;
        Ok((apply, seal::changes(row, 2, apply, row.get(1)?)?))
    };
    let mut applies = left_applies(state, "subject", own.to_string())?;
    applies.append(&mut left_applies(state, "subject", released.to_string())?);
    for (apply, text) in state.read(sql, patterns, row)? {
        let kept = journal::from_json(&text).ok_or_else(|| state.odd("list of changes", &text))?;
        let is_its = |subject: &Subject| subject.host() == Some(host);
        if kept.iter().any(|change| is_its(&change.subject) || change.also.iter().any(is_its)) {
            applies.insert(Reverse(ApplyId(apply as u64)));
        }
    }
    Ok(in_order(applies))
}

/// The applies whose changes name a name, as owner or as what a record points to, and those that did not leave a host
/// of this name as planned; the latest first.
pub fn applies_at(state: &Sqlite, name: &Name) -> Result<Vec<ApplyId>, Problem> {
    let name = name.to_string();
    // As JSON has it: with a backslash before each backslash and quote.
    let text = serde_json::to_string(&name).expect("a text is JSON");
    let sql = "SELECT DISTINCT apply FROM batch_changes WHERE changes LIKE ?1 ESCAPE '!'";
    let pattern = format!("%{}%", text.replace('!', "!!").replace('%', "!%").replace('_', "!_"));
    let found = state.read(sql, [pattern], |row| Ok(ApplyId(row.get::<_, i64>(0)? as u64)))?;
    let mut applies = left_applies(state, "name", &name)?;
    applies.extend(found.into_iter().map(Reverse));
    Ok(in_order(applies))
}

/// The latest apply after another that changed, or may have changed, each of some RRsets; in their order.
///
/// Of many RRsets the journal is read once, and no further back than it takes to find each.
pub fn last_changed(state: &Sqlite, after: ApplyId, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
    let names = RrsetNames::of(rrsets);
    let mut sought = SoughtRrsets::new(&names);
    let sql = "SELECT DISTINCT apply FROM batches WHERE apply > ?1 ORDER BY apply DESC";
    let later: Vec<i64> = state.read(sql, [after.0 as i64], |row| row.get(0))?;
    let sql = format!("{} WHERE batches.apply = ?1 AND (settled IS NULL OR settled <> 'undone')", seal::SENT);
    let mut found = vec![None; rrsets.len()];
    for apply in later {
        if sought.is_over() {
            break;
        }
        for (_, text) in state.read(&sql, [apply], seal::sent)? {
            let changed = journal::keys(&text).ok_or_else(|| state.odd("list of changes", &text))?;
            for (name, rtype) in changed {
                for place in sought.find(&name, &rtype) {
                    found[place] = Some(ApplyId(apply as u64));
                }
            }
        }
    }
    Ok(found)
}

/// The applies that did not leave a host as planned, with a value in some column.
fn left_applies(
    state: &Sqlite,
    column: &str,
    value: impl rusqlite::ToSql,
) -> Result<BTreeSet<Reverse<ApplyId>>, Problem> {
    let sql = format!("SELECT DISTINCT apply FROM left_subjects WHERE {column} = ?1");
    let found = state.read(&sql, params![value], |row| Ok(ApplyId(row.get::<_, i64>(0)? as u64)))?;
    Ok(found.into_iter().map(Reverse).collect())
}

/// Applies as a list, the latest first.
fn in_order(applies: BTreeSet<Reverse<ApplyId>>) -> Vec<ApplyId> {
    applies.into_iter().map(|Reverse(id)| id).collect()
}
