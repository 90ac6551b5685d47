//! Tries all of the protocol at a service, by dry runs: facts for those who run it, and for its authors.

use std::time::{Duration, Instant};

use super::task::{CmsTask, dry_id};
use super::{CmsCalls, CmsFault, CmsFaultKind};
use crate::document::words;
use crate::inventory::cms::{CmsAction, CmsVersion};

/// What dry runs say that they are for.
const COMMENT: &str = "zonewright tries this service; nothing changes";

words! {
    /// What is tried.
    CmsStepKind {
        /// The list of tasks.
        List = "list",
        /// A task that does not exist.
        Unknown = "unknown-task",
        /// Removing a task that does not exist.
        DeleteUnknown = "delete-unknown-task",
        /// A dry run of an action.
        DryRun = "dry-run",
        /// What is left of a dry run after it was deleted.
        Deleted = "deleted-task",
        /// A request without the token.
        WithoutToken = "without-token",
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// All is as the protocol says: what was said, in words.
    Fine(String),
    /// It is allowed, and worth knowing.
    Notable(String),
    /// There is an answer, and it is not the one that the protocol demands.
    Wrong(String),
    /// There is no answer by the protocol.
    Fault(CmsFault),
}

/// A step that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsStep {
    /// What was tried.
    pub kind: CmsStepKind,
    /// The action, of a dry run.
    pub action: Option<CmsAction>,
    /// The outcome.
    pub outcome: StepOutcome,
    /// How long its slowest request took.
    pub took: Duration,
}

/// What a trial is made with.
#[derive(Clone, Copy)]
pub struct CmsTrial<'t> {
    /// The owner, with which the ids of tasks begin.
    pub owner: &'t str,
    /// The host that dry runs are about.
    pub host: &'t str,
    /// The version that the service is said to speak.
    pub version: CmsVersion,
    /// What distinguishes the next id from all others.
    pub random: &'t dyn Fn() -> String,
}

/// Tries a service; `without_token` asks without the token, where there is one.
///
/// Nothing more is tried where the first question has no answer at all: each further one would only wait.
pub fn examine(calls: &dyn CmsCalls, without_token: Option<&dyn CmsCalls>, trial: &CmsTrial<'_>) -> Vec<CmsStep> {
    let mut steps = Vec::new();
    let mut note = |kind, action, (outcome, took): (StepOutcome, Duration)| {
        let is_silent = is_silence(&outcome);
        steps.push(CmsStep { kind, action, outcome, took });
        is_silent
    };
    if note(CmsStepKind::List, None, timed(|| list(calls))) {
        return steps;
    }
    let id = dry_id(trial.owner, &(trial.random)());
    note(CmsStepKind::Unknown, None, timed(|| unknown(calls, &id, trial.host)));
    note(CmsStepKind::DeleteUnknown, None, timed(|| delete_unknown(calls, &id)));
    for action in trial.version.actions() {
        let task = CmsTask::dry(trial.owner, &(trial.random)(), action, trial.host, COMMENT);
        note(CmsStepKind::DryRun, Some(action), timed(|| dry_run(calls, &task)));
        note(CmsStepKind::Deleted, Some(action), timed(|| deleted(calls, &task)));
    }
    if let Some(calls) = without_token {
        note(CmsStepKind::WithoutToken, None, timed(|| refused(calls)));
    }
    steps
}

/// Whether there was no answer at all.
fn is_silence(outcome: &StepOutcome) -> bool {
    let StepOutcome::Fault(fault) = outcome else { return false };
    matches!(fault.kind, CmsFaultKind::Unreachable | CmsFaultKind::Late)
}

/// The outcome of a step, and how long it took.
fn timed(step: impl FnOnce() -> Result<StepOutcome, CmsFault>) -> (StepOutcome, Duration) {
    let begun = Instant::now();
    let outcome = step().unwrap_or_else(StepOutcome::Fault);
    (outcome, begun.elapsed())
}

/// The list of tasks.
fn list(calls: &dyn CmsCalls) -> Result<StepOutcome, CmsFault> {
    let count = calls.list()?.len();
    Ok(StepOutcome::Fine(format!("its list has {count} {}", if count == 1 { "task" } else { "tasks" })))
}

/// A task that does not exist.
fn unknown(calls: &dyn CmsCalls, id: &str, host: &str) -> Result<StepOutcome, CmsFault> {
    Ok(match calls.poll(id, host)? {
        None => StepOutcome::Fine("a task that does not exist is answered with status 404".to_owned()),
        Some(_) => StepOutcome::Wrong("it answers about a task that does not exist".to_owned()),
    })
}

/// Removing a task that does not exist.
fn delete_unknown(calls: &dyn CmsCalls, id: &str) -> Result<StepOutcome, CmsFault> {
    calls.delete(id)?;
    Ok(StepOutcome::Fine("a task that does not exist can be deleted".to_owned()))
}

/// A dry run.
fn dry_run(calls: &dyn CmsCalls, task: &CmsTask) -> Result<StepOutcome, CmsFault> {
    let answer = calls.create(task)?;
    let message = if answer.message.is_empty() { String::new() } else { format!(": {}", answer.message) };
    Ok(StepOutcome::Fine(format!("it would say `{}` for {}{message}", answer.status, task.host())))
}

/// What is left of a dry run once it is deleted.
fn deleted(calls: &dyn CmsCalls, task: &CmsTask) -> Result<StepOutcome, CmsFault> {
    let is_kept = calls.poll(&task.id, task.host())?.is_some();
    calls.delete(&task.id)?;
    let is_known = calls.poll(&task.id, task.host())?.is_some();
    let is_listed = || Ok(calls.list()?.iter().any(|listed| listed.id == task.id));
    if is_known || is_listed()? {
        return Ok(StepOutcome::Wrong("it still knows a task that was deleted".to_owned()));
    }
    Ok(if is_kept {
        StepOutcome::Notable("it keeps the task of a dry run until that is deleted".to_owned())
    } else {
        StepOutcome::Fine("nothing is left of the dry run".to_owned())
    })
}

/// A request without the token.
fn refused(calls: &dyn CmsCalls) -> Result<StepOutcome, CmsFault> {
    match calls.list() {
        Ok(_) => Ok(StepOutcome::Notable(
            "it answers without the token, too: who else can reach it can let hosts through".to_owned(),
        )),
        Err(CmsFault { kind: CmsFaultKind::Status, .. }) => {
            Ok(StepOutcome::Fine("a request without the token is refused".to_owned()))
        }
        Err(fault) => Err(fault),
    }
}
