//! Asks services: each host one service after another, hosts side by side. Pure: it says what to send and what to keep first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time;

use super::ask::HostAsk;
use super::tasks::{ApprovalMemory, ApprovalNews, CmsCall, CmsCallKind, Refusal, RefusalKind, TaskRow, TaskSaid};
use crate::claim::Subject;
use crate::cms::CmsFault;
use crate::cms::task::{CmsTask, ListedTask, TaskAnswer, TaskStatus};
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::value::Time;

/// What the ids of tasks are made of.
#[derive(Clone, Copy)]
pub struct TaskIds<'a> {
    /// The owner.
    pub owner: &'a str,
    /// The id of the state: tasks of other states are never touched.
    pub state: &'a str,
    /// The number of the run that asks.
    pub run: u64,
    /// 128 random bits in hexadecimal; another one each time.
    pub random: &'a dyn Fn() -> String,
}

impl TaskIds<'_> {
    /// What the ids of all tasks of this state begin with.
    pub fn prefix(&self) -> String {
        format!("{}.{}.", self.owner, self.state)
    }

    /// The group of the run's tasks.
    fn group(&self) -> String {
        format!("{}{}", self.prefix(), self.run)
    }
}

/// What holds while services are asked.
#[derive(Clone, Copy)]
pub struct ApprovalTerm<'a> {
    /// What projects ask for.
    pub projects: &'a BTreeMap<String, ApprovalTerms>,
    /// The services of the settings, with the versions that they speak.
    pub services: &'a BTreeMap<String, CmsVersion>,
    /// What the ids of tasks are made of.
    pub ids: TaskIds<'a>,
    /// The clock.
    pub now: Time,
}

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsRequest {
    /// The service.
    pub service: String,
    /// What is asked.
    pub kind: CmsRequestKind,
}

/// What is asked of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CmsRequestKind {
    /// To make a task.
    Create(Box<CmsTask>),
    /// What is said of a task, by its id and its host.
    Poll(String, String),
    /// All tasks.
    List,
    /// To remove a task, by its id.
    Delete(String),
}

/// What a service answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CmsContent {
    /// What it says of a task; none where it does not know it.
    Task(Option<TaskAnswer>),
    /// All tasks.
    Tasks(Vec<ListedTask>),
    /// The task is gone.
    Gone,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmsReply {
    /// What was asked.
    pub request: CmsRequest,
    /// What was answered, or why that is no answer.
    pub content: Result<CmsContent, CmsFault>,
    /// How long it took.
    pub took: time::Duration,
}

/// Something to ask a service.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PassJob {
    /// The next question about a host, by its place.
    Advance(usize),
    /// Whether a host that is allowed still is, by its place.
    Confirm(usize),
    /// To remove a task.
    Delete(String),
    /// Whether the service knows a task.
    Look(String),
    /// All tasks.
    List,
}

/// Services that are asked, with what is known.
pub struct ApprovalPass<'a> {
    /// What holds.
    term: ApprovalTerm<'a>,
    /// What is known.
    memory: ApprovalMemory,
    /// The task of each host at each service that is not to be deleted.
    task_of: BTreeMap<(Subject, String), String>,
    /// The hosts that are busy, by project.
    busy: BTreeMap<String, BTreeSet<Subject>>,
    /// What of it is not kept yet.
    news: ApprovalNews,
    /// The hosts that are asked for.
    hosts: Vec<HostAsk>,
    /// Their places.
    place_of: BTreeMap<Subject, usize>,
    /// The places of those that go together, by their unit.
    mates_of: BTreeMap<usize, Vec<usize>>,
    /// What is still to be asked of each service.
    queues: BTreeMap<String, VecDeque<PassJob>>,
    /// What was sent and has no reply yet: the place of the host by the id of the task, and whether it is confirmed.
    open: BTreeMap<String, (usize, bool)>,
    /// Which services confirmed a host, by its place.
    confirmed: BTreeMap<usize, BTreeSet<String>>,
    /// The lists of services that gave one.
    lists: BTreeMap<String, Vec<ListedTask>>,
    /// The hosts that were rejected in this run.
    rejected: BTreeSet<Subject>,
}

impl<'a> ApprovalPass<'a> {
    /// Begins with what is kept.
    pub fn new(term: ApprovalTerm<'a>, memory: ApprovalMemory) -> ApprovalPass<'a> {
        let open = memory.tasks().filter(|row| !row.is_ended);
        let task_of = open.map(|row| ((row.subject.clone(), row.service.clone()), row.id.clone())).collect();
        let mut busy: BTreeMap<String, BTreeSet<Subject>> = BTreeMap::new();
        for row in memory.tasks().filter(|row| row.is_built_in() && row.is_ok()) {
            busy.entry(row.project.clone()).or_default().insert(row.subject.clone());
        }
        ApprovalPass {
            term,
            memory,
            task_of,
            busy,
            place_of: BTreeMap::new(),
            mates_of: BTreeMap::new(),
            news: ApprovalNews::default(),
            hosts: Vec::new(),
            queues: BTreeMap::new(),
            open: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            lists: BTreeMap::new(),
            rejected: BTreeSet::new(),
        }
    }

    /// What is known now.
    pub fn memory(&self) -> &ApprovalMemory {
        &self.memory
    }

    /// The lists that services gave.
    pub fn lists(&self) -> &BTreeMap<String, Vec<ListedTask>> {
        &self.lists
    }

    /// The hosts that a service rejected in this run.
    pub fn rejected(&self) -> &BTreeSet<Subject> {
        &self.rejected
    }

    /// What is to be kept before the next request is sent.
    pub fn take_news(&mut self) -> ApprovalNews {
        std::mem::take(&mut self.news)
    }

    /// Asks services for all their tasks.
    pub fn ask_lists<'s>(&mut self, services: impl IntoIterator<Item = &'s String>) {
        for service in services {
            self.queue(service, PassJob::List);
        }
    }

    /// Asks for hosts, in this order: each service after the `ok` of the one before.
    pub fn ask(&mut self, hosts: Vec<HostAsk>) {
        let first = self.hosts.len();
        self.hosts.extend(hosts);
        self.place_of.extend(self.hosts[first..].iter().map(|ask| ask.subject.clone()).zip(first..));
        for host in first..self.hosts.len() {
            self.mates_of.entry(self.hosts[host].unit).or_default().push(host);
        }
        (first..self.hosts.len()).for_each(|host| self.advance(host));
        // Whom a slow service did not reach in earlier passes comes first, then whom it was asked for longest ago.
        let mut queues = std::mem::take(&mut self.queues);
        for (service, queue) in &mut queues {
            let tried = |job: &PassJob| match job {
                PassJob::Advance(host) => self.row(*host, service).and_then(|row| row.tried),
                PassJob::Confirm(_) | PassJob::Delete(_) | PassJob::Look(_) | PassJob::List => None,
            };
            queue.make_contiguous().sort_by_key(tried);
        }
        self.queues = queues;
    }

    /// Asks each service of hosts once more, right before their wave. Hosts that were not reached in time before are left to the
    /// next run: asking takes no longer because some may go.
    pub fn confirm(&mut self, subjects: &BTreeSet<Subject>) {
        let is_other = |job: &PassJob| !matches!(job, PassJob::Advance(_));
        self.queues.values_mut().for_each(|queue| queue.retain(is_other));
        let hosts: Vec<usize> = subjects.iter().filter_map(|subject| self.place_of.get(subject).copied()).collect();
        for host in hosts {
            self.confirmed.remove(&host);
            for service in self.services_of(host).into_iter().filter(|service| service != DEFAULT_SERVICE) {
                self.queue(&service, PassJob::Confirm(host));
            }
        }
    }

    /// Whether all services allowed a host, and all of them were asked once more since `confirm`.
    pub fn is_confirmed(&self, subject: &Subject) -> bool {
        let Some(host) = self.place_of.get(subject).copied() else { return false };
        let confirmed = self.confirmed.get(&host);
        let is_by = |service: &String| {
            service == DEFAULT_SERVICE || confirmed.is_some_and(|confirmed| confirmed.contains(service))
        };
        self.is_allowed(host) && self.services_of(host).iter().all(is_by)
    }

    /// The hosts that all their services allow, as far as they were asked.
    pub fn allowed(&self) -> BTreeSet<Subject> {
        let allowed = (0..self.hosts.len()).filter(|host| self.is_allowed(*host));
        allowed.map(|host| self.hosts[host].subject.clone()).collect()
    }

    /// Ends tasks: they are deleted at their services, which is tried again in each run until it succeeds.
    pub fn end(&mut self, ids: impl IntoIterator<Item = String>) {
        for id in ids {
            let Some(row) = self.memory.task(&id) else { continue };
            let (service, key) = (row.service.clone(), (row.subject.clone(), row.service.clone()));
            if self.task_of.get(&key) == Some(&id) {
                self.task_of.remove(&key);
            }
            if service == DEFAULT_SERVICE {
                self.forget(&id);
                continue;
            }
            self.change(&id, |row| row.is_ended = true);
            // It stays where zonewright.toml no longer has its service. While a request about it is under way, a deletion could be
            // done before that, and the task would come back.
            if self.term.services.contains_key(&service) && !self.open.contains_key(&id) {
                self.queue(&service, PassJob::Delete(id));
            }
        }
    }

    /// Removes tasks of a service that no row is about.
    pub fn remove(&mut self, service: &str, ids: impl IntoIterator<Item = String>) {
        ids.into_iter().for_each(|id| self.queue(service, PassJob::Delete(id)));
    }

    /// Asks for tasks that their service does not list: a list may lag, and what the service knows stays.
    pub fn look_for(&mut self, service: &str, ids: impl IntoIterator<Item = String>) {
        ids.into_iter().for_each(|id| self.queue(service, PassJob::Look(id)));
    }

    /// Forgets that hosts were rejected or went to the end.
    pub fn forgive(&mut self, subjects: &BTreeSet<Subject>) {
        for subject in subjects {
            if self.memory.refusals.remove(subject).is_some() {
                self.news.refused.remove(subject);
                self.news.forgotten.push(subject.clone());
            }
        }
    }

    /// Lets hosts go to the end for which services were asked for too long.
    pub fn give_up(&mut self, subjects: &BTreeSet<Subject>) {
        for subject in subjects {
            // What a wave used stays until the host is no longer in flux: one that shares a change may have such tasks.
            let unused = self.memory.of(subject).filter(|row| !row.is_used);
            let ids: Vec<String> = unused.map(|row| row.id.clone()).collect();
            self.end(ids);
            let (service, message, change) = (String::new(), String::new(), String::new());
            self.refuse(subject, Refusal { kind: RefusalKind::GaveUp, at: self.term.now, service, message, change });
        }
    }

    /// Whether there is anything to ask.
    pub fn has_work(&self) -> bool {
        self.queues.values().any(|queue| !queue.is_empty())
    }

    /// The next requests; `room` says how many more a service takes now.
    pub fn next(&mut self, room: &dyn Fn(&str) -> usize) -> Vec<CmsRequest> {
        let mut requests = Vec::new();
        let services: Vec<String> = self.queues.keys().cloned().collect();
        for service in services {
            for _ in 0..room(&service) {
                let Some(job) = self.queues.get_mut(&service).and_then(VecDeque::pop_front) else { break };
                let kind = self.request(&service, job);
                requests.extend(kind.map(|kind| CmsRequest { service: service.clone(), kind }));
            }
        }
        requests
    }

    /// Takes a reply.
    pub fn take(&mut self, reply: CmsReply) {
        let CmsReply { request: CmsRequest { service, kind }, content, took } = reply;
        self.note_call(&service, &kind, &content, took);
        match (kind, content) {
            (CmsRequestKind::List, Ok(CmsContent::Tasks(tasks))) => {
                self.lists.insert(service, tasks);
            }
            (CmsRequestKind::Delete(id), Ok(_)) => self.forget(&id),
            (CmsRequestKind::Create(task), content) => self.take_task(&service, &task.id, content),
            (CmsRequestKind::Poll(id, _), content) => self.take_task(&service, &id, content),
            (CmsRequestKind::List | CmsRequestKind::Delete(_), _) => {}
        }
    }

    /// Takes what was said of a task.
    fn take_task(&mut self, service: &str, id: &str, content: Result<CmsContent, CmsFault>) {
        let Some((host, is_confirming)) = self.open.remove(id) else {
            if content == Ok(CmsContent::Task(None)) {
                self.forget(id);
            }
            return;
        };
        if self.memory.task(id).is_some_and(|row| row.is_ended) {
            self.queue(service, PassJob::Delete(id.to_owned()));
            return;
        }
        match content {
            Ok(CmsContent::Task(Some(TaskAnswer { status, message }))) => {
                let (now, said) = (self.term.now, TaskSaid { status, message: message.clone(), at: self.term.now });
                self.change(id, |row| {
                    // What was allowed, and used, is asked for anew.
                    if row.is_used && row.is_ok() && status != TaskStatus::Ok {
                        row.since = now;
                    }
                    (row.said, row.fault) = (Some(said), None);
                });
                match status {
                    TaskStatus::Ok if is_confirming => {
                        self.confirmed.entry(host).or_default().insert(service.to_owned());
                    }
                    TaskStatus::Ok => self.advance(host),
                    TaskStatus::Rejected => self.reject(host, service, message),
                    TaskStatus::InProcess => {}
                }
            }
            // The service lost it: the host is asked for anew, with a new id.
            Ok(CmsContent::Task(None)) => {
                if is_confirming {
                    let lost = "it does not know the task that was made".to_owned();
                    self.change(id, |row| (row.said, row.fault) = (None, Some(lost)));
                } else {
                    self.forget(id);
                    self.queues.entry(service.to_owned()).or_default().push_front(PassJob::Advance(host));
                }
            }
            Ok(CmsContent::Tasks(_) | CmsContent::Gone) => {}
            Err(fault) => self.change(id, |row| row.fault = Some(fault.message)),
        }
    }

    /// Asks the next service of a host, where one is left.
    fn advance(&mut self, host: usize) {
        if self.is_shut(host) {
            return;
        }
        let services = self.services_of(host);
        for (place, service) in services.iter().enumerate() {
            let is_allowed = self.row(host, service).is_some_and(TaskRow::is_ok);
            if service == DEFAULT_SERVICE {
                if !is_allowed {
                    self.ask_built_in(host);
                }
            } else if !is_allowed {
                self.end_unused(host, &services[place + 1..]);
                self.queue(service, PassJob::Advance(host));
                return;
            }
        }
    }

    /// Whether a service rejected a host in this run that goes together with one.
    fn is_shut(&self, host: usize) -> bool {
        let mut mates = self.mates_of.get(&self.hosts[host].unit).into_iter().flatten();
        mates.any(|mate| self.rejected.contains(&self.hosts[*mate].subject))
    }

    /// Ends the tasks of a host that no wave used, at services that come after one which no longer allows it: who holds a later
    /// service, and waits for an earlier one, may wait for a host that waits for it.
    fn end_unused(&mut self, host: usize, services: &[String]) {
        let rows = services.iter().filter_map(|service| self.row(host, service)).filter(|row| !row.is_used);
        let ids: Vec<String> = rows.map(|row| row.id.clone()).collect();
        self.end(ids);
    }

    /// Asks the service that is built in: so many hosts of a project are busy at a time. Hosts that go together become so
    /// together, once all other services let all of them through: one of them alone would hold a place in vain.
    fn ask_built_in(&mut self, host: usize) {
        let mates = self.mates_of.get(&self.hosts[host].unit).cloned().unwrap_or_default();
        let is_asking = |mate: &usize| self.services_of(*mate).iter().any(|service| service == DEFAULT_SERVICE);
        let asking: Vec<usize> = mates.iter().copied().filter(is_asking).collect();
        let is_ready = mates.iter().all(|mate| self.is_allowed_by(*mate, |service| service != DEFAULT_SERVICE));
        let full = asking.iter().find_map(|mate| self.no_place(*mate, &asking));
        let unready = || "a host that shares its change has not been let through by all services".to_owned();
        match full.or_else(|| (!is_ready).then(unready)) {
            Some(why) => self.say_built_in(host, TaskStatus::InProcess, why),
            None => asking.into_iter().for_each(|mate| self.let_in(mate)),
        }
    }

    /// Why there is no place for a host and those of its project that go with it; none where there is.
    fn no_place(&self, host: usize, mates: &[usize]) -> Option<String> {
        let HostAsk { project, .. } = &self.hosts[host];
        let max = self.term.projects.get(project).map_or(0, |terms| terms.max_busy_hosts);
        let own: BTreeSet<&Subject> = mates
            .iter()
            .map(|mate| &self.hosts[*mate])
            .filter(|ask| ask.project == *project)
            .map(|ask| &ask.subject)
            .collect();
        let busy =
            self.busy.get(project).map_or(0, |busy| busy.iter().filter(|subject| !own.contains(subject)).count());
        if own.len() > max {
            return Some(format!(
                "{} hosts of `{project}` share a change, and {max} may be busy: raise `max_busy_hosts`",
                own.len()
            ));
        }
        let (are, hosts) = if busy == 1 { ("is", "host") } else { ("are", "hosts") };
        (busy + own.len() > max).then(|| format!("{busy} {hosts} of `{project}` {are} busy, and {max} may be"))
    }

    /// Lets a host be busy.
    fn let_in(&mut self, host: usize) {
        let HostAsk { subject, project, .. } = self.hosts[host].clone();
        self.busy.entry(project).or_default().insert(subject);
        self.say_built_in(host, TaskStatus::Ok, String::new());
    }

    /// Keeps what the service that is built in says of a host.
    fn say_built_in(&mut self, host: usize, status: TaskStatus, message: String) {
        let id = self.row(host, DEFAULT_SERVICE).map(|row| row.id.clone());
        let action = self.hosts[host].action;
        let id = id.unwrap_or_else(|| self.make_row(host, DEFAULT_SERVICE, action));
        let said = TaskSaid { status, message, at: self.term.now };
        self.change(&id, |row| (row.said, row.tried) = (Some(said.clone()), Some(said.at)));
    }

    /// The request of a job; none where it has become idle.
    fn request(&mut self, service: &str, job: PassJob) -> Option<CmsRequestKind> {
        match job {
            PassJob::List => Some(CmsRequestKind::List),
            PassJob::Delete(id) => Some(CmsRequestKind::Delete(id)),
            PassJob::Look(id) => {
                let host = self.memory.task(&id)?.host.clone();
                Some(CmsRequestKind::Poll(id, host))
            }
            PassJob::Confirm(host) => {
                let id = self.row(host, service)?.id.clone();
                self.poll(host, id, true)
            }
            PassJob::Advance(host) if self.is_shut(host) => None,
            PassJob::Advance(host) => {
                if let Some(id) = self.row(host, service).map(|row| row.id.clone()) {
                    return self.poll(host, id, false);
                }
                let action = self.asked_as(host, service)?;
                let id = self.make_row(host, service, action);
                let task = self.asked(host, id, false)?.task();
                Some(CmsRequestKind::Create(Box::new(task)))
            }
        }
    }

    /// The question about a task of a host.
    fn poll(&mut self, host: usize, id: String, is_confirming: bool) -> Option<CmsRequestKind> {
        let name = self.asked(host, id.clone(), is_confirming)?.host.clone();
        Some(CmsRequestKind::Poll(id, name))
    }

    /// Keeps that a service is asked for a host; gives the task.
    fn asked(&mut self, host: usize, id: String, is_confirming: bool) -> Option<&TaskRow> {
        let now = self.term.now;
        self.change(&id, |row| row.tried = Some(now));
        self.open.insert(id.clone(), (host, is_confirming));
        self.memory.task(&id)
    }

    /// Makes the row of a task; gives its id.
    fn make_row(&mut self, host: usize, service: &str, action: CmsAction) -> String {
        let HostAsk { subject, project, host: name, comment, kind, .. } = self.hosts[host].clone();
        // A task that a wave used is of an earlier change.
        let unused = self.memory.of(&subject).filter(|row| !row.is_used);
        let since = unused.map(|row| row.since).min().unwrap_or(self.term.now);
        let TaskIds { random, .. } = self.term.ids;
        let id = format!("{}{}", self.term.ids.prefix(), random());
        self.task_of.insert((subject.clone(), service.to_owned()), id.clone());
        let row = TaskRow {
            id: id.clone(),
            service: service.to_owned(),
            project,
            subject,
            host: name,
            action,
            kind,
            comment,
            group: self.term.ids.group(),
            since,
            tried: None,
            said: None,
            fault: None,
            is_used: false,
            is_ended: false,
        };
        self.memory.insert(row.clone());
        self.news.kept.insert(id.clone(), row);
        id
    }

    /// The services that are asked for a host, in their order: those whose version knows the action.
    fn services_of(&self, host: usize) -> Vec<String> {
        let HostAsk { project, .. } = &self.hosts[host];
        let all = self.term.projects.get(project).map(|terms| terms.services.as_slice()).unwrap_or_default();
        let is_asked = |service: &&String| *service == DEFAULT_SERVICE || self.asked_as(host, service).is_some();
        all.iter().filter(is_asked).cloned().collect()
    }

    /// What a service is asked for in place of the action of a host; none where its version knows nothing of the kind.
    fn asked_as(&self, host: usize, service: &str) -> Option<CmsAction> {
        self.term.services.get(service)?.asked_as(self.hosts[host].action)
    }

    /// Whether all services of a host said `ok` last.
    fn is_allowed(&self, host: usize) -> bool {
        self.is_allowed_by(host, |_| true)
    }

    /// Whether some services of a host said `ok` last: all that count.
    fn is_allowed_by(&self, host: usize, counts: impl Fn(&str) -> bool) -> bool {
        let services = self.services_of(host);
        let mut counting = services.iter().filter(|service| counts(service));
        counting.all(|service| self.row(host, service).is_some_and(TaskRow::is_ok))
    }

    /// The task of a host at a service that is asked for what the plan does to it now.
    fn row(&self, host: usize, service: &str) -> Option<&TaskRow> {
        let id = self.task_of.get(&(self.hosts[host].subject.clone(), service.to_owned()))?;
        self.memory.task(id)
    }

    /// Ends tasks that were made for another action, or under another name or project; those of hosts in flux stay, but for the
    /// place among the busy hosts of another project.
    pub fn end_others(&mut self, asks: &[HostAsk]) {
        let mut others = Vec::new();
        for ask in asks {
            for row in self.memory.of(&ask.subject).filter(|row| !row.is_ended) {
                let version = self.term.services.get(&row.service);
                let is_same_action = version.and_then(|version| version.asked_as(ask.action)) == Some(row.action);
                let is_same_project = row.project == ask.project;
                let is_same = is_same_action && is_same_project && row.host == ask.host;
                let stays = if row.is_built_in() { is_same_project } else { row.is_used || is_same };
                if !stays {
                    others.push(row.id.clone());
                }
            }
        }
        self.end(others);
    }

    /// Notes that a service rejected a host.
    fn reject(&mut self, host: usize, service: &str, message: String) {
        let HostAsk { subject, change, unit, .. } = self.hosts[host].clone();
        // Those that go with it do not go, either: they hold nothing meanwhile.
        let mates = self.mates_of.get(&unit).into_iter().flatten().filter(|mate| **mate != host);
        let rows = mates.flat_map(|mate| self.memory.of(&self.hosts[*mate].subject)).filter(|row| !row.is_used);
        let ids: Vec<String> = rows.map(|row| row.id.clone()).collect();
        self.end(ids);
        // A host that is in flux because of an earlier change stays busy.
        let over = self.memory.of(&subject).filter(|row| !(row.is_used && row.is_built_in()));
        let ids: Vec<String> = over.map(|row| row.id.clone()).collect();
        self.end(ids);
        let (kind, at) = (RefusalKind::Rejected, self.term.now);
        self.refuse(&subject, Refusal { kind, at, service: service.to_owned(), message, change });
        self.rejected.insert(subject);
    }

    /// Keeps a refusal.
    fn refuse(&mut self, subject: &Subject, refusal: Refusal) {
        self.news.forgotten.retain(|own| own != subject);
        self.news.refused.insert(subject.clone(), refusal.clone());
        self.memory.refusals.insert(subject.clone(), refusal);
    }

    /// Changes a row.
    fn change(&mut self, id: &str, change: impl FnOnce(&mut TaskRow)) {
        if let Some(row) = self.memory.task_mut(id) {
            change(row);
            self.news.kept.insert(id.to_owned(), row.clone());
        }
    }

    /// Removes a row.
    fn forget(&mut self, id: &str) {
        let Some(row) = self.memory.remove(id) else { return };
        if row.is_built_in()
            && let Some(busy) = self.busy.get_mut(&row.project)
        {
            busy.remove(&row.subject);
        }
        let key = (row.subject, row.service);
        if self.task_of.get(&key).is_some_and(|own| own == id) {
            self.task_of.remove(&key);
        }
        self.news.kept.remove(id);
        self.news.gone.push(id.to_owned());
    }

    /// Puts a job at the end of what a service is to be asked.
    fn queue(&mut self, service: &str, job: PassJob) {
        self.queues.entry(service.to_owned()).or_default().push_back(job);
    }

    /// Keeps that a request was made.
    fn note_call(
        &mut self,
        service: &str,
        kind: &CmsRequestKind,
        content: &Result<CmsContent, CmsFault>,
        took: time::Duration,
    ) {
        let Some(version) = self.term.services.get(service).copied() else { return };
        let (kind, id) = match kind {
            CmsRequestKind::Create(task) => (CmsCallKind::Create, Some(task.id.as_str())),
            CmsRequestKind::Poll(id, _) => (CmsCallKind::Poll, Some(id.as_str())),
            CmsRequestKind::List => (CmsCallKind::List, None),
            CmsRequestKind::Delete(id) => (CmsCallKind::Delete, Some(id.as_str())),
        };
        let row = id.and_then(|id| self.memory.task(id));
        let outcome = match content {
            Ok(CmsContent::Task(Some(answer))) => answer.status.as_str(),
            Ok(CmsContent::Task(None)) => "unknown",
            Ok(CmsContent::Tasks(_) | CmsContent::Gone) => "done",
            Err(fault) => fault.kind.as_str(),
        };
        self.news.calls.push(CmsCall {
            service: service.to_owned(),
            version,
            project: row.map(|row| row.project.clone()),
            kind,
            action: row.map(|row| row.action),
            outcome: outcome.to_owned(),
            fault: content.as_ref().err().map(|fault| fault.message.clone()),
            at: self.term.now,
            took,
        });
    }
}
