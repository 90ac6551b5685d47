//! Services: which tasks they know, what they say of them, and what they note of each request.

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::CmsRequestKind;
use crate::cms::task::{CmsTask, ListedTask, TaskStatus};
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::verify::truth::Numbers;

/// How a service decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServicePolicy {
    /// It allows all.
    Easy,
    /// It says anything, and takes back what it said; once faults have ended it allows all.
    Moody,
    /// It lets one host through at a time, in an order of its own.
    Strict,
}

/// A task that a service knows.
#[derive(Debug, Clone)]
pub struct KnownTask {
    /// The host.
    pub host: String,
    /// What it says of it.
    pub status: TaskStatus,
}

/// What was last asked of a service about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAnswer {
    /// In which run.
    pub run: u64,
    /// Whether it was asked what it says of a task that it has.
    pub is_poll: bool,
    /// What arrived at who asked; none where no answer did.
    pub said: Option<TaskStatus>,
}

/// A service.
pub struct TrueService {
    /// The version that it speaks.
    pub version: CmsVersion,
    /// How it decides.
    pub policy: ServicePolicy,
    /// The tasks that it knows, by id.
    pub tasks: BTreeMap<String, KnownTask>,
    /// Tasks that were deleted, which may come back.
    pub deleted: Vec<(String, KnownTask)>,
    /// The host for which it saw each id.
    pub seen: BTreeMap<String, String>,
    /// A list of an earlier time.
    pub older_list: Vec<ListedTask>,
    /// Requests that it will do later.
    pub underway: Vec<CmsRequestKind>,
    /// The hosts that it rejects for ever.
    pub rejects: BTreeSet<String>,
    /// In which order it lets hosts through.
    pub turns: Vec<usize>,
    /// What it was last asked about each host, and what arrived.
    pub last: BTreeMap<String, LastAnswer>,
}

/// Whether a version knows an action, as the protocol says.
pub fn knows(version: CmsVersion, action: CmsAction) -> bool {
    match action {
        CmsAction::Reboot => true,
        CmsAction::Prepare | CmsAction::Deactivate => version != CmsVersion::V1_0,
        CmsAction::TemporaryUnreachable => version == CmsVersion::V1_4,
    }
}

/// Whether a service of a version is asked about an action at all.
pub fn is_asked(version: CmsVersion, action: CmsAction) -> bool {
    knows(version, action) || action == CmsAction::TemporaryUnreachable
}

impl TrueService {
    /// A service that knows nothing yet.
    pub fn new(dice: &mut Numbers, hosts: usize) -> TrueService {
        let version = CmsVersion::ALL[dice.below(CmsVersion::ALL.len())];
        let policy = [
            ServicePolicy::Easy,
            ServicePolicy::Moody,
            ServicePolicy::Moody,
            ServicePolicy::Strict,
            ServicePolicy::Strict,
        ][dice.below(5)];
        TrueService {
            version,
            policy,
            tasks: BTreeMap::new(),
            deleted: Vec::new(),
            seen: BTreeMap::new(),
            older_list: Vec::new(),
            underway: Vec::new(),
            rejects: BTreeSet::new(),
            turns: (0..hosts).map(|_| dice.below(1_000)).collect(),
            last: BTreeMap::new(),
        }
    }

    /// Its list.
    pub fn list(&self) -> Vec<ListedTask> {
        let listed = |(id, task): (&String, &KnownTask)| ListedTask {
            id: id.clone(),
            hosts: vec![task.host.clone()],
            status: task.status,
        };
        self.tasks.iter().map(listed).collect()
    }

    /// Takes a new task; one that it knows stays.
    pub fn create(&mut self, task: &CmsTask) {
        let new = KnownTask { host: task.host().to_owned(), status: TaskStatus::InProcess };
        self.tasks.entry(task.id.clone()).or_insert(new);
    }

    /// Forgets a task; it may come back.
    pub fn forget(&mut self, id: &str) {
        if let Some(task) = self.tasks.remove(id) {
            self.deleted.push((id.to_owned(), task));
        }
    }

    /// Decides of a task; none where it does not know it. `is_counted` are the tasks among which it lets one through.
    pub fn judge(
        &mut self,
        id: &str,
        (dice, is_calm): (&mut Numbers, bool),
        is_counted: impl Fn(&str) -> bool,
    ) -> Option<TaskStatus> {
        let task = self.tasks.get(id)?;
        let status = if self.rejects.contains(&task.host) {
            TaskStatus::Rejected
        } else {
            match self.policy {
                ServicePolicy::Moody if !is_calm => match dice.below(12) {
                    0 => TaskStatus::Rejected,
                    1..=3 => TaskStatus::InProcess,
                    _ => TaskStatus::Ok,
                },
                ServicePolicy::Easy | ServicePolicy::Moody => TaskStatus::Ok,
                ServicePolicy::Strict if task.status == TaskStatus::Ok => {
                    let takes_back = !is_calm && dice.below(12) == 0;
                    if takes_back { TaskStatus::InProcess } else { TaskStatus::Ok }
                }
                ServicePolicy::Strict => {
                    let counted = || self.tasks.iter().filter(|(own, _)| is_counted(own));
                    let is_free = counted().all(|(_, own)| own.status != TaskStatus::Ok);
                    let waits = counted().filter(|(_, own)| !self.rejects.contains(&own.host));
                    let first = waits.min_by_key(|(own, task)| (self.turn(&task.host), own.as_str()));
                    let is_first = first.is_some_and(|(own, _)| own == id);
                    if is_free && is_first { TaskStatus::Ok } else { TaskStatus::InProcess }
                }
            }
        };
        self.tasks.get_mut(id)?.status = status;
        Some(status)
    }

    /// When a host has its turn.
    fn turn(&self, host: &str) -> usize {
        let number = host.trim_start_matches('h').split('.').next().and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| self.turns.get(number).copied()).unwrap_or_default()
    }
}
