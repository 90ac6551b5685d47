//! What is kept of tasks between runs. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::time;

use crate::claim::Subject;
use crate::cms::task::{CmsTask, ISSUER, TaskStatus, TaskType};
use crate::document::words;
use crate::inventory::approvals::DEFAULT_SERVICE;
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::value::Time;

/// What a service said of a task last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSaid {
    /// The status.
    pub status: TaskStatus,
    /// What it said besides; empty where it said nothing.
    pub message: String,
    /// When.
    pub at: Time,
}

words! {
    /// How far a task is.
    TaskStanding {
        /// The service lets the host through.
        Ok = "ok",
        /// The service does not let it through yet.
        InProcess = "in-process",
        /// The service did not answer, or was not asked yet.
        NotAnswered = "not-answered",
        /// Nothing needs the task any longer: it is to be deleted.
        ToBeDeleted = "to-be-deleted",
    }
}

/// A task of a host at a service: it is kept from before it is created until it is known to be deleted there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// What distinguishes it from all others.
    pub id: String,
    /// The service, by its name in zonewright.toml.
    pub service: String,
    /// The project.
    pub project: String,
    /// The host.
    pub subject: Subject,
    /// The name of the host that services get.
    pub host: String,
    /// What was asked for, in the words of the version that the service speaks.
    pub action: CmsAction,
    /// Whether a person named the host.
    pub kind: TaskType,
    /// What is to be done, in words.
    pub comment: String,
    /// The run that asked.
    pub group: String,
    /// Since when services are asked for the host.
    pub since: Time,
    /// When the service was last asked; none where it was not yet.
    pub tried: Option<Time>,
    /// What it said last; none where it said nothing yet.
    pub said: Option<TaskSaid>,
    /// Why its last answer was none, in words; none where it was one.
    pub fault: Option<String>,
    /// Whether a wave that may have changed the host has begun since.
    pub is_used: bool,
    /// Whether it is to be deleted.
    pub is_ended: bool,
}

impl TaskRow {
    /// Whether the service lets the host through.
    pub fn is_ok(&self) -> bool {
        !self.is_ended && self.said.as_ref().is_some_and(|said| said.status == TaskStatus::Ok)
    }

    /// How far it is.
    pub fn standing(&self) -> TaskStanding {
        match &self.said {
            _ if self.is_ended => TaskStanding::ToBeDeleted,
            None => TaskStanding::NotAnswered,
            Some(_) if self.fault.is_some() => TaskStanding::NotAnswered,
            Some(said) if said.status == TaskStatus::Ok => TaskStanding::Ok,
            Some(_) => TaskStanding::InProcess,
        }
    }

    /// Whether it keeps its host back: also where its service let the host through, and then gave no answer.
    pub fn is_open(&self) -> bool {
        matches!(self.standing(), TaskStanding::InProcess | TaskStanding::NotAnswered)
    }

    /// Whether it is at the service that is built in: this state alone knows it.
    pub fn is_built_in(&self) -> bool {
        self.service == DEFAULT_SERVICE
    }

    /// The task as it is sent.
    pub fn task(&self) -> CmsTask {
        CmsTask {
            id: self.id.clone(),
            kind: self.kind,
            issuer: ISSUER,
            action: self.action,
            hosts: [self.host.clone()],
            comment: self.comment.clone(),
            destructive: false,
            group: self.group.clone(),
            dry_run: false,
        }
    }
}

words! {
    /// Why a host is not asked for, or not in its turn.
    RefusalKind {
        /// A service rejected it.
        Rejected = "rejected",
        /// Services were asked for so long that it went to the end.
        GaveUp = "gave-up",
    }
}

/// That a host was rejected, or went to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which of both.
    pub kind: RefusalKind,
    /// When.
    pub at: Time,
    /// The service that rejected it.
    pub service: String,
    /// What that said.
    pub message: String,
    /// The change that was asked for: another one is asked for anew.
    pub change: String,
}

/// What is kept of approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalMemory {
    /// The tasks, by their ids.
    tasks: BTreeMap<String, TaskRow>,
    /// The ids of the tasks of each host.
    of_host: BTreeMap<Subject, BTreeSet<String>>,
    /// The hosts that were rejected, or went to the end.
    pub refusals: BTreeMap<Subject, Refusal>,
}

impl ApprovalMemory {
    /// What is kept.
    pub fn new(tasks: impl IntoIterator<Item = TaskRow>, refusals: BTreeMap<Subject, Refusal>) -> ApprovalMemory {
        let mut memory = ApprovalMemory { refusals, ..ApprovalMemory::default() };
        tasks.into_iter().for_each(|row| memory.insert(row));
        memory
    }

    /// All tasks, sorted by id.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskRow> {
        self.tasks.values()
    }

    /// A task, by its id.
    pub fn task(&self, id: &str) -> Option<&TaskRow> {
        self.tasks.get(id)
    }

    /// A task that is to be changed, by its id; its host stays.
    pub fn task_mut(&mut self, id: &str) -> Option<&mut TaskRow> {
        self.tasks.get_mut(id)
    }

    /// Adds a task.
    pub fn insert(&mut self, row: TaskRow) {
        self.of_host.entry(row.subject.clone()).or_default().insert(row.id.clone());
        self.tasks.insert(row.id.clone(), row);
    }

    /// Removes a task, by its id.
    pub fn remove(&mut self, id: &str) -> Option<TaskRow> {
        let row = self.tasks.remove(id)?;
        if let Some(ids) = self.of_host.get_mut(&row.subject) {
            ids.remove(id);
            if ids.is_empty() {
                self.of_host.remove(&row.subject);
            }
        }
        Some(row)
    }

    /// The tasks of a host.
    pub fn of(&self, subject: &Subject) -> impl Iterator<Item = &TaskRow> {
        let ids = self.of_host.get(subject).into_iter().flatten();
        ids.filter_map(|id| self.tasks.get(id))
    }
}

words! {
    /// What a request to a service does.
    CmsCallKind {
        /// It makes a task.
        Create = "create",
        /// It asks what is said of a task.
        Poll = "poll",
        /// It asks for all tasks.
        List = "list",
        /// It removes a task.
        Delete = "delete",
    }
}

/// A request that was made, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsCall {
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
    /// The status of the task, `unknown` of one that the service does not know, `done`, or what kind of fault the answer is.
    pub outcome: String,
    /// Why the answer is none, in words; none where it is one.
    pub fault: Option<String>,
    /// When.
    pub at: Time,
    /// How long it took.
    pub took: time::Duration,
}

/// What changed, to be kept at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalNews {
    /// Tasks that are new or changed.
    pub kept: BTreeMap<String, TaskRow>,
    /// Tasks that are gone, by their ids.
    pub gone: Vec<String>,
    /// Hosts that were rejected, or went to the end.
    pub refused: BTreeMap<Subject, Refusal>,
    /// Hosts of which neither holds any longer.
    pub forgotten: Vec<Subject>,
    /// Requests that were made.
    pub calls: Vec<CmsCall>,
}

impl ApprovalNews {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == ApprovalNews::default()
    }
}
