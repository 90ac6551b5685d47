//! What is kept of approvals: tasks at services, hosts that were rejected, and how services answer.

use std::collections::BTreeSet;
use std::time;

use super::ApplyId;
use super::sql::{SqlChange, SqlDatabase, SqlRow, SqlRows as _, values};
use crate::approval::{ApprovalMemory, ApprovalNews, CmsCall, CmsCallKind, Refusal, RefusalKind, TaskRow, TaskSaid};
use crate::claim::Subject;
use crate::cms::task::{TaskStatus, TaskType};
use crate::diag::Problem;
use crate::document::words;
use crate::inventory::approvals::DEFAULT_SERVICE;
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::value::Time;
use crate::rollout::RolloutChoice;

/// How often a service was asked for something, with one outcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CmsTally {
    /// The service, by its name in zonewright.toml.
    pub service: String,
    /// The version that it speaks.
    pub version: CmsVersion,
    /// The project; none where the request was about no host.
    pub project: Option<String>,
    /// What was asked.
    pub kind: CmsCallKind,
    /// What it was to allow; none where the request was about no host.
    pub action: Option<CmsAction>,
    /// The outcome, as [`CmsCall`] has it.
    pub outcome: String,
    /// How often.
    pub count: u64,
    /// How long all of these took together.
    pub took: time::Duration,
    /// When the last one was.
    pub last: Time,
}

/// That the last request to a service had no answer by the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsFailure {
    /// The service, by its name in zonewright.toml.
    pub service: String,
    /// The kind of fault of the last one, as a word.
    pub kind: String,
    /// In words.
    pub message: String,
    /// Since when each request failed.
    pub since: Time,
    /// When the last one was.
    pub last: Time,
    /// How many.
    pub count: u64,
}

words! {
    /// What holds of a host of an apply.
    GivenStatus {
        /// The service let it go.
        Allowed = "ok",
        /// The service rejected it, so that it did not go.
        Rejected = "rejected",
        /// It went without an approval: an operator said so.
        Ignored = "ignored",
    }
}

/// What a service said of a host before a wave of an apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalGiven {
    /// The host.
    pub subject: Subject,
    /// The service, by its name in zonewright.toml; [`NO_SERVICE`] where none was asked.
    pub service: String,
    /// What it said.
    pub status: GivenStatus,
    /// What it said besides; empty where it said nothing.
    pub message: String,
    /// When.
    pub at: Time,
}

/// The name that takes the place of a service of hosts that went without an approval.
pub const NO_SERVICE: &str = "-";

/// What is kept of approvals. What a method wrote is durable when it returns.
pub trait ApprovalRegister: Send {
    /// All tasks, and the hosts that were rejected.
    fn approvals(&self) -> Result<ApprovalMemory, Problem>;

    /// Keeps what changed, all of it or nothing.
    fn keep_approvals(&mut self, news: &ApprovalNews) -> Result<(), Problem>;

    /// How services were asked, sorted.
    fn cms_tallies(&self) -> Result<Vec<CmsTally>, Problem>;

    /// The services that do not answer, sorted by service.
    fn cms_failures(&self) -> Result<Vec<CmsFailure>, Problem>;

    /// What services said of the hosts of an apply before its waves, sorted by host, then in the order in which services
    /// are asked.
    fn approvals_given(&self, apply: ApplyId) -> Result<Vec<ApprovalGiven>, Problem>;
}

impl<D: SqlDatabase> ApprovalRegister for D {
    fn approvals(&self) -> Result<ApprovalMemory, Problem> {
        let sql = "SELECT id, service, project, subject, host, action, kind, comment, task_group, since, tried, status,
               message, said_at, fault, is_used, is_ended FROM cms_tasks";
        let tasks = self.rows(sql, &[], |row| task(self, row))?;
        let sql = "SELECT subject, kind, at, service, message, change FROM cms_refusals";
        let refusals = self.rows(sql, &[], |row| refusal(self, row))?;
        Ok(ApprovalMemory::new(tasks, refusals.into_iter().collect()))
    }

    fn keep_approvals(&mut self, news: &ApprovalNews) -> Result<(), Problem> {
        if news.is_empty() {
            return Ok(());
        }
        self.write(|change| keep(change, news))
    }

    fn cms_tallies(&self) -> Result<Vec<CmsTally>, Problem> {
        let sql = "SELECT service, version, project, kind, action, outcome, count, took, last FROM cms_calls";
        let mut tallies = self.rows(sql, &[], |row| {
            let (version, kind, action) = (row.get::<String>(1)?, row.get::<String>(3)?, row.get::<String>(4)?);
            let (project, action) = (row.get::<String>(2)?, Some(action).filter(|action| !action.is_empty()));
            Ok(CmsTally {
                service: row.get(0)?,
                version: CmsVersion::parse(&version).ok_or_else(|| self.odd("version of a service", &version))?,
                project: Some(project).filter(|project| !project.is_empty()),
                kind: CmsCallKind::parse(&kind).ok_or_else(|| self.odd("request", &kind))?,
                action: action.map(|word| action_of(self, &word)).transpose()?,
                outcome: row.get(5)?,
                count: row.get::<i64>(6)? as u64,
                took: time::Duration::from_millis(row.get::<i64>(7)? as u64),
                last: row.get(8)?,
            })
        })?;
        tallies.sort();
        Ok(tallies)
    }

    fn cms_failures(&self) -> Result<Vec<CmsFailure>, Problem> {
        let sql = "SELECT service, kind, message, since, last, count FROM cms_failures";
        let mut failures = self.rows(sql, &[], |row| {
            let (service, kind, message) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (since, last, count) = (row.get(3)?, row.get(4)?, row.get::<i64>(5)? as u64);
            Ok(CmsFailure { service, kind, message, since, last, count })
        })?;
        failures.sort_by(|one: &CmsFailure, other| one.service.cmp(&other.service));
        Ok(failures)
    }

    fn approvals_given(&self, apply: ApplyId) -> Result<Vec<ApprovalGiven>, Problem> {
        let sql = "SELECT subject, service, status, message, at FROM cms_given WHERE apply = ?1";
        let mut given = self.rows(sql, values![apply], |row| {
            let (subject, status) = (row.get::<String>(0)?, row.get::<String>(2)?);
            Ok(ApprovalGiven {
                subject: subject.parse().map_err(|_| self.odd("subject", &subject))?,
                service: row.get(1)?,
                status: GivenStatus::parse(&status).ok_or_else(|| self.odd("approval", &status))?,
                message: row.get(3)?,
                at: row.get(4)?,
            })
        })?;
        let order = |own: &ApprovalGiven| (own.service == DEFAULT_SERVICE, own.service.clone(), own.at);
        let key = |own: &ApprovalGiven| (own.subject.clone(), order(own));
        given.sort_by_cached_key(key);
        Ok(given)
    }
}

/// An action, by its word.
fn action_of(state: &impl SqlDatabase, word: &str) -> Result<CmsAction, Problem> {
    CmsAction::parse(word).ok_or_else(|| state.odd("action", word))
}

/// Reads a task.
fn task(state: &impl SqlDatabase, row: &dyn SqlRow) -> Result<TaskRow, Problem> {
    let (subject, action, kind) = (row.get::<String>(3)?, row.get::<String>(5)?, row.get::<String>(6)?);
    let said = match (row.get::<Option<String>>(11)?, row.get::<Option<Time>>(13)?) {
        (Some(word), Some(at)) => {
            let status = TaskStatus::read(&word).ok_or_else(|| state.odd("status of a task", &word))?;
            Some(TaskSaid { status, message: row.get(12)?, at })
        }
        _ => None,
    };
    Ok(TaskRow {
        id: row.get(0)?,
        service: row.get(1)?,
        project: row.get(2)?,
        subject: subject.parse().map_err(|_| state.odd("subject", &subject))?,
        host: row.get(4)?,
        action: action_of(state, &action)?,
        kind: TaskType::parse(&kind).ok_or_else(|| state.odd("kind of task", &kind))?,
        comment: row.get(7)?,
        group: row.get(8)?,
        since: row.get(9)?,
        tried: row.get(10)?,
        said,
        fault: row.get(14)?,
        is_used: row.get(15)?,
        is_ended: row.get(16)?,
    })
}

/// Reads why a host is not asked for.
fn refusal(state: &impl SqlDatabase, row: &dyn SqlRow) -> Result<(Subject, Refusal), Problem> {
    let (subject, kind) = (row.get::<String>(0)?, row.get::<String>(1)?);
    let refusal = Refusal {
        kind: RefusalKind::parse(&kind).ok_or_else(|| state.odd("kind of refusal", &kind))?,
        at: row.get(2)?,
        service: row.get(3)?,
        message: row.get(4)?,
        change: row.get(5)?,
    };
    Ok((subject.parse().map_err(|_| state.odd("subject", &subject))?, refusal))
}

/// Keeps what changed.
fn keep(change: &dyn SqlChange, news: &ApprovalNews) -> Result<(), Problem> {
    let sql = "INSERT INTO cms_tasks (id, service, project, subject, host, action, kind, comment, task_group, since, tried,
           status, message, said_at, fault, is_used, is_ended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
         ON CONFLICT (id) DO UPDATE SET tried = excluded.tried, status = excluded.status, message = excluded.message,
           said_at = excluded.said_at, fault = excluded.fault, is_used = excluded.is_used, is_ended = excluded.is_ended";
    for row in news.kept.values() {
        let TaskRow { id, service, project, subject, host, action, kind, comment, group, .. } = row;
        let TaskRow { since, tried, said, fault, is_used, is_ended, .. } = row;
        let status = said.as_ref().map(|said| said.status.as_str());
        let message = said.as_ref().map(|said| said.message.as_str()).unwrap_or_default();
        let said_at = said.as_ref().map(|said| said.at);
        #[rustfmt::skip]
        change.execute(sql, values![
            id, service, project, subject.to_string(), host, action.as_str(), kind.as_str(), comment, group, since, tried,
            status, message, said_at, fault, *is_used, *is_ended,
        ])?;
    }
    for id in &news.gone {
        change.execute("DELETE FROM cms_tasks WHERE id = ?1", values![id])?;
    }
    for subject in &news.forgotten {
        change.execute("DELETE FROM cms_refusals WHERE subject = ?1", values![subject.to_string()])?;
    }
    let sql = "INSERT INTO cms_refusals (subject, kind, at, service, message, change) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (subject) DO UPDATE SET kind = excluded.kind, at = excluded.at, service = excluded.service,
           message = excluded.message, change = excluded.change";
    for (subject, Refusal { kind, at, service, message, change: asked }) in &news.refused {
        change.execute(sql, values![subject.to_string(), kind.as_str(), at, service, message, asked])?;
    }
    news.calls.iter().try_for_each(|call| note_call(change, call))
}

/// Counts a request, and keeps whether its service answers.
fn note_call(change: &dyn SqlChange, call: &CmsCall) -> Result<(), Problem> {
    let sql = "INSERT INTO cms_calls (service, version, project, kind, action, outcome, count, took, last)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8)
         ON CONFLICT (service, version, project, kind, action, outcome) DO UPDATE SET count = cms_calls.count + 1,
           took = cms_calls.took + excluded.took, last = excluded.last";
    let CmsCall { service, version, project, kind, action, outcome, fault, at, took } = call;
    let (project, action) = (project.as_deref().unwrap_or_default(), action.map_or("", CmsAction::as_str));
    let took = took.as_millis() as i64;
    change.execute(sql, values![service, version.as_str(), project, kind.as_str(), action, outcome, took, at])?;
    let Some(fault) = fault else {
        return change.execute("DELETE FROM cms_failures WHERE service = ?1", values![service]).map(drop);
    };
    let sql = "INSERT INTO cms_failures (service, kind, message, since, last, count) VALUES (?1, ?2, ?3, ?4, ?4, 1)
         ON CONFLICT (service) DO UPDATE SET kind = excluded.kind, message = excluded.message, last = excluded.last,
           count = cms_failures.count + 1";
    change.execute(sql, values![service, outcome, fault, at]).map(drop)
}

/// Notes that a wave which may change hosts begins: their tasks last until that has reached all clients.
pub fn use_tasks(change: &dyn SqlChange, hosts: &BTreeSet<Subject>) -> Result<(), Problem> {
    // Most states have no tasks.
    if change.row("SELECT 1 FROM cms_tasks LIMIT 1", &[], |_| Ok(()))?.is_none() {
        return Ok(());
    }
    let sql = "UPDATE cms_tasks SET is_used = 1 WHERE subject = ?1 AND is_ended = 0";
    hosts.iter().try_for_each(|host| change.execute(sql, values![host.to_string()]).map(drop))
}

/// Keeps what services said last of the hosts of a wave that begins, of those that they rejected, and which hosts go without an
/// approval.
pub fn note_given(change: &dyn SqlChange, apply: ApplyId, choice: &RolloutChoice) -> Result<(), Problem> {
    let sql = "SELECT service, message, said_at FROM cms_tasks
         WHERE subject = ?1 AND is_ended = 0 AND status = 'ok' AND said_at IS NOT NULL";
    for host in &choice.approved {
        let said = change.rows(sql, values![host.to_string()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        said.iter().try_for_each(|said| keep_given(change, (apply, host), GivenStatus::Allowed, said))?;
    }
    let sql = "SELECT service, message, at FROM cms_refusals WHERE subject = ?1 AND kind = 'rejected'";
    for host in &choice.refused {
        let said = change.row(sql, values![host.to_string()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        said.iter().try_for_each(|said| keep_given(change, (apply, host), GivenStatus::Rejected, said))?;
    }
    if choice.ignored.is_empty() {
        return Ok(());
    }
    let sql = "SELECT COALESCE((SELECT max(at) FROM resumptions WHERE apply = ?1), started) FROM applies WHERE id = ?1";
    let begun = change.row(sql, values![apply], |row| row.get::<Time>(0))?;
    let said = begun.map(|begun| (NO_SERVICE.to_owned(), String::new(), begun));
    let mut ignored = choice.ignored.iter().flat_map(|host| said.iter().map(move |said| (host, said)));
    ignored.try_for_each(|(host, said)| keep_given(change, (apply, host), GivenStatus::Ignored, said))
}

/// Keeps what a service said of a host before a wave: its name, what it said besides, and when. A later wave of the apply may
/// have the host again.
fn keep_given(
    change: &dyn SqlChange,
    (apply, host): (ApplyId, &Subject),
    status: GivenStatus,
    (service, message, at): &(String, String, Time),
) -> Result<(), Problem> {
    let sql = "INSERT INTO cms_given (apply, subject, service, status, message, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (apply, subject, service, status) DO UPDATE SET message = excluded.message, at = excluded.at";
    change.execute(sql, values![apply, host.to_string(), service, status.as_str(), message, at]).map(drop)
}
