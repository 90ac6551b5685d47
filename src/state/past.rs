//! What the journal says of single applies, read from its tables; and who of an apply was left, written to them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::kept_change::{self, KeptChange};
use super::ownership::SightedRrset;
use super::seal::{self, BatchRow};
use super::sought::{RrsetNames, SoughtRrsets};
use super::sql::{SqlChange, SqlRead, SqlRow, SqlRows as _, ToSqlValue, values};
use super::{ApplyId, LeftSubject, PlanBasis, Resumption, SentChange, SentFate, SentUpdate};
use crate::apply::ApplyOutcome;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::Name;
use crate::inventory::value::{Inv, Time};
use crate::target::CopyId;

/// All updates of an apply, in the order of sending.
pub fn sent(state: &dyn SqlRead, id: ApplyId) -> Result<Vec<SentUpdate>, Problem> {
    let sql = format!("{} WHERE batches.apply = ?1 ORDER BY batches.number", seal::SENT);
    let rows = state.rows(&sql, values![id], seal::sent)?;
    rows.into_iter().map(|(batch, changes)| understood(state, batch, &changes)).collect()
}

/// Takes the texts of an update for what they say.
fn understood(state: &dyn SqlRead, batch: BatchRow, changes: &str) -> Result<SentUpdate, Problem> {
    let race = batch.why.clone().filter(|_| batch.settled.as_deref() == Some("raced"));
    let fate = match batch.settled.as_deref() {
        Some("done" | "raced") => SentFate::Done,
        Some("undone") => SentFate::Undone(batch.why.unwrap_or_default()),
        Some("unknown") | None => SentFate::Unknown(batch.why),
        Some(other) => return Err(state.odd("fate of an update", other)),
    };
    let kept = state.changes(changes)?;
    let CopyId { target, zone } = state.copy(&batch.pool, &batch.target, &batch.zone)?;
    let change = |kept| sent_change(state, kept);
    Ok(SentUpdate {
        race,
        number: batch.number as u64,
        zone,
        target,
        is_of_several: false,
        phase: batch.phase,
        at: Time::from_nanos(batch.sent_at),
        fate,
        changes: kept.into_iter().map(change).collect::<Result<_, Problem>>()?,
    })
}

/// A change as the journal keeps it.
pub fn sent_change(state: &dyn SqlRead, kept: KeptChange) -> Result<SentChange, Problem> {
    let KeptChange { after, also, before, name, project, registers, subject, rtype, targets: _ } = kept;
    let (name, rtype) = state.rrset(&name, &rtype)?;
    Ok(SentChange { subject, also, project, name, rtype, before, after, registers })
}

/// Keeps the subjects that the plan of an apply leaves for what blocks them.
pub fn block(change: &dyn SqlChange, apply: ApplyId, subjects: &[Subject]) -> Result<(), Problem> {
    let sql = "INSERT INTO blocked_subjects (apply, subject) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    subjects.iter().try_for_each(|subject| change.execute(sql, values![apply, subject.to_string()]).map(drop))
}

/// Keeps no longer what the plans of earlier applies left, once a whole one did all of its plan.
pub fn forget_blocked(change: &dyn SqlChange, apply: ApplyId) -> Result<(), Problem> {
    let sql = "DELETE FROM blocked_subjects WHERE apply < ?1 AND EXISTS
         (SELECT 1 FROM applies WHERE id = ?1 AND is_whole <> 0)";
    change.execute(sql, values![apply]).map(drop)
}

/// What the plan of an apply was made by; `None` where an earlier version of the state began the apply.
pub fn planned(state: &dyn SqlRead, id: ApplyId) -> Result<Option<PlanBasis>, Problem> {
    let sql = "SELECT planned FROM applies WHERE id = ?1 AND planned IS NOT NULL";
    let at = state.row(sql, values![id], |row| row.get(0))?;
    let sql = "SELECT subject FROM blocked_subjects WHERE apply = ?1";
    let blocked = state.rows(sql, values![id], |row| state.subject(&row.get::<String>(0)?))?;
    Ok(at.map(|at| PlanBasis { at, blocked: blocked.into_iter().collect() }))
}

/// Who took an apply up again, in the order of time.
pub fn resumptions(state: &dyn SqlRead, id: ApplyId) -> Result<Vec<Resumption>, Problem> {
    let sql = "SELECT at, who, reason FROM resumptions WHERE apply = ?1 ORDER BY at";
    let resumption = |row: &dyn SqlRow| Ok(Resumption { at: row.get(0)?, who: row.get(1)?, reason: row.get(2)? });
    state.rows(sql, values![id], resumption)
}

/// The hosts that an apply did not leave as planned, in the order of the plan.
pub fn left_hosts(state: &dyn SqlRead, id: ApplyId) -> Result<Vec<LeftSubject>, Problem> {
    let sql = "SELECT subject, project, name, outcome, message FROM left_subjects WHERE apply = ?1 ORDER BY place";
    let left = |row: &dyn SqlRow| {
        let subject = state.subject(&row.get::<String>(0)?)?;
        let (project, name, outcome, message) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(LeftSubject { subject, project, name, outcome, message })
    };
    state.rows(sql, values![id], left)
}

/// Keeps which hosts an apply did not leave as planned, instead of those of an earlier end.
pub fn leave(change: &dyn SqlChange, apply: ApplyId, applied: &ApplyOutcome) -> Result<(), Problem> {
    change.execute("DELETE FROM left_subjects WHERE apply = ?1", values![apply])?;
    let sql = "INSERT INTO left_subjects (apply, place, subject, project, name, outcome, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    for (place, host) in applied.hosts.iter().enumerate().filter(|(_, host)| !host.outcome.is_done()) {
        let (subject, outcome) = (host.subject.to_string(), host.outcome.as_str());
        change.execute(sql, values![apply, place as i64, subject, host.project, host.name, outcome, host.message])?;
    }
    Ok(())
}

/// The applies that changed, or tried to change, something for a host, and those that did not leave it as planned; the
/// latest first.
pub fn applies_of(state: &dyn SqlRead, host: Inv) -> Result<Vec<ApplyId>, Problem> {
    // As JSON has it: a project may have such an id, so each match is checked.
    let [own, released] = [Subject::Host(host), Subject::Released(host)];
    let patterns = [format!("%\"{own}\"%"), format!("%\"{released}\"%")];
    let sql = "SELECT apply, number, changes, seal FROM batch_changes WHERE changes LIKE ?1 OR changes LIKE ?2";
    let row = |row: &dyn SqlRow| {
        let apply: i64 = row.get(0)?;
        Ok((apply, seal::changes(row, 2, apply, row.get(1)?)?))
    };
    let mut applies = left_applies(state, "subject", own.to_string())?;
    applies.append(&mut left_applies(state, "subject", released.to_string())?);
    for (apply, text) in state.rows(sql, values![patterns[0], patterns[1]], row)? {
        let kept = state.changes(&text)?;
        let is_its = |subject: &Subject| subject.host() == Some(host);
        if kept.iter().any(|change| is_its(&change.subject) || change.also.iter().any(is_its)) {
            applies.insert(Reverse(ApplyId(apply as u64)));
        }
    }
    Ok(in_order(applies))
}

/// The applies whose changes name a name, as owner or as what a record points to, and those that did not leave a host
/// of this name as planned; the latest first.
pub fn applies_at(state: &dyn SqlRead, name: &Name) -> Result<Vec<ApplyId>, Problem> {
    let name = name.to_string();
    // As JSON has it: with a backslash before each backslash and quote.
    let text = serde_json::to_string(&name).expect("a text is JSON");
    let sql = "SELECT DISTINCT apply FROM batch_changes WHERE changes LIKE ?1 ESCAPE '!'";
    let pattern = format!("%{}%", text.replace('!', "!!").replace('%', "!%").replace('_', "!_"));
    let found = state.rows(sql, values![pattern], |row| row.get(0))?;
    let mut applies = left_applies(state, "name", &name)?;
    applies.extend(found.into_iter().map(Reverse));
    Ok(in_order(applies))
}

/// The latest apply after another that changed, or may have changed, each of some RRsets; in their order.
///
/// Of many RRsets the journal is read once, and no further back than it takes to find each.
pub fn last_changed(
    state: &dyn SqlRead,
    after: ApplyId,
    rrsets: &[SightedRrset<'_>],
) -> Result<Vec<Option<ApplyId>>, Problem> {
    let names = RrsetNames::of(rrsets.iter().map(|rrset| rrset.key));
    let mut sought = SoughtRrsets::new(&names);
    let sql = "SELECT DISTINCT apply FROM batches WHERE apply > ?1 ORDER BY apply DESC";
    let later: Vec<i64> = state.rows(sql, values![after], |row| row.get(0))?;
    let sql = format!("{} WHERE batches.apply = ?1 AND (settled IS NULL OR settled <> 'undone')", seal::SENT);
    let mut found = vec![None; rrsets.len()];
    for apply in later {
        if sought.is_over() {
            break;
        }
        for (BatchRow { pool, target, .. }, text) in state.rows(&sql, values![apply], seal::sent)? {
            let changed = kept_change::keys(&text).ok_or_else(|| state.odd("list of changes", &text))?;
            for (name, rtype) in changed {
                for place in sought.find(&name, &rtype, |place| rrsets[place].is_kept_as(&pool, &target)) {
                    found[place] = Some(ApplyId(apply as u64));
                }
            }
        }
    }
    Ok(found)
}

/// The applies that did not leave a host as planned, with a value in some column.
fn left_applies(
    state: &dyn SqlRead,
    column: &str,
    value: impl ToSqlValue,
) -> Result<BTreeSet<Reverse<ApplyId>>, Problem> {
    let sql = format!("SELECT DISTINCT apply FROM left_subjects WHERE {column} = ?1");
    let found = state.rows(&sql, values![value], |row| row.get(0))?;
    Ok(found.into_iter().map(Reverse).collect())
}

/// Applies as a list, the latest first.
fn in_order(applies: BTreeSet<Reverse<ApplyId>>) -> Vec<ApplyId> {
    applies.into_iter().map(|Reverse(id)| id).collect()
}
