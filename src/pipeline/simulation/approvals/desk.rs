//! The way to services: replies come in any order, late or not at all, and what is switched off is switched off here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use super::services::{LastAnswer, knows};
use super::stage::{Cast, Stage, Weakness};
use crate::approval::pass::CmsContent;
use crate::approval::{CmsReply, CmsRequest, CmsRequestKind};
use crate::cms::task::{CmsTask, TaskAnswer, TaskStatus};
use crate::cms::{CmsFault, CmsFaultKind};
use crate::diag::Problem;
use crate::inventory::cms::CmsAction;
use crate::pipeline::approvals::desk::{CmsDesk, CmsLine};

/// An answer, or why there is none.
type Answered = Result<CmsContent, CmsFault>;

/// What answers are replaced by while something is switched off.
#[derive(Default)]
pub struct Pretence {
    /// The tasks that a service allowed once.
    allowed: BTreeSet<String>,
    /// The true ids of foreign tasks, by those that lists have.
    foreign: BTreeMap<String, String>,
}

impl Pretence {
    /// The answer that lets the next service be asked at once: the task is allowed. One with this answer is asked for once more
    /// right before its wave, and the answer is the true one then.
    fn at_once(&mut self, kind: &CmsRequestKind, status: TaskStatus) -> TaskStatus {
        let id = match kind {
            CmsRequestKind::Create(task) => task.id.clone(),
            CmsRequestKind::Poll(id, _) => id.clone(),
            CmsRequestKind::List | CmsRequestKind::Delete(_) => return status,
        };
        let is_known = self.allowed.contains(&id);
        if !is_known {
            self.allowed.insert(id);
            return TaskStatus::Ok;
        }
        if status != TaskStatus::Ok {
            self.allowed.remove(&id);
        }
        status
    }
}

/// Whether a request is more than a question: it makes a task, or deletes one with which a host went that may still be busy, and that no
/// run with the right state wanted to delete.
fn disturbs(cast: &Cast, service: &str, kind: &CmsRequestKind) -> bool {
    let is_busy =
        |name: &String| cast.hosts.iter().any(|host| host.is_in_flux(cast.now) && host.service_name() == *name);
    match kind {
        CmsRequestKind::Create(_) => true,
        CmsRequestKind::Delete(id) if id.starts_with("us.dry.") || cast.ended.contains(id) => false,
        CmsRequestKind::Delete(id) => {
            cast.used.contains(id) && cast.services[service].tasks.get(id).is_some_and(|task| is_busy(&task.host))
        }
        CmsRequestKind::Poll(..) | CmsRequestKind::List => false,
    }
}

/// Whether a request deletes for the first time a task that a host went with, while the host is busy and its project asks the service.
/// A host that has left is no longer busy; a task that its service said is gone, or rejects, may have another one in its place; and
/// where the host went with a later task of the service, too, that one holds it.
fn frees(cast: &Cast, service: &str, kind: &CmsRequestKind) -> bool {
    let CmsRequestKind::Delete(id) = kind else { return false };
    let is_held = cast.went.contains(id) && !cast.gone.contains(id) && !cast.ended.contains(id) && !cast.was_restored;
    let task = cast.services[service].tasks.get(id).filter(|task| is_held && task.status == TaskStatus::Ok);
    let Some(task) = task else { return false };
    let host = cast.hosts.iter().find(|host| host.service_name() == task.host).expect("it is of a host");
    let mut others = cast.services[service].tasks.iter().filter(|(other, _)| *other != id);
    let is_held_by_other = others.any(|(other, own)| own.host == task.host && cast.went.contains(other));
    let asks = cast.projects.get(host.project).is_some_and(|terms| terms.services.iter().any(|own| own == service));
    // A rejection ends the tasks of the host at all services.
    let mut said = cast.services.values().filter_map(|own| own.last.get(&task.host)?.said);
    let is_rejected = said.any(|said| said == TaskStatus::Rejected);
    asks && !is_rejected && !is_held_by_other && host.live.is_some() && host.is_in_flux(cast.now)
}

/// The services of a story.
pub struct StoryDesk<'s> {
    /// The stage.
    pub stage: &'s Stage,
    /// What is pretended.
    pub pretence: &'s Mutex<Pretence>,
}

impl CmsDesk for StoryDesk<'_> {
    fn open(&self, pass: &mut dyn FnMut(&mut dyn CmsLine) -> Result<(), Problem>) -> Result<(), Problem> {
        let left = {
            let mut cast = self.stage.cast();
            // Once in a while the time of a pass is over soon.
            if cast.one_of(6) { cast.dice.below(5) } else { usize::MAX }
        };
        pass(&mut StoryLine { desk: self, open: Vec::new(), left })
    }
}

/// A line to all services.
struct StoryLine<'d, 's> {
    /// The services.
    desk: &'d StoryDesk<'s>,
    /// What was sent and has no reply.
    open: Vec<CmsRequest>,
    /// How many more requests are sent before the time is over.
    left: usize,
}

impl CmsLine for StoryLine<'_, '_> {
    fn room(&self, _: &str) -> usize {
        self.left.min(1 + self.desk.stage.below(4))
    }

    fn send(&mut self, request: CmsRequest) {
        self.desk.stage.death_point("before a request");
        self.left = self.left.saturating_sub(1);
        if let CmsRequestKind::Create(task) = &request.kind {
            see_request(&mut self.desk.stage.cast(), &request.service, task);
        }
        self.open.push(request);
    }

    fn receive(&mut self) -> Vec<CmsReply> {
        let mut replies = Vec::new();
        if self.open.is_empty() {
            return replies;
        }
        for _ in 0..=self.desk.stage.below(self.open.len()) {
            let place = self.desk.stage.below(self.open.len());
            let request = self.open.swap_remove(place);
            let content = self.desk.answer(&request);
            self.desk.stage.death_point("after a request");
            replies.push(CmsReply { request, content, took: Duration::ZERO });
        }
        replies
    }
}

impl Drop for StoryLine<'_, '_> {
    fn drop(&mut self) {
        // The run died: what it sent may arrive.
        for request in self.open.drain(..) {
            let mut cast = self.desk.stage.cast();
            if cast.dice.below(2) == 0 {
                serve(&mut cast, &request.service, &request.kind);
            }
        }
    }
}

impl StoryDesk<'_> {
    /// Asks a service; gives what arrives, or what is pretended.
    fn answer(&self, request: &CmsRequest) -> Answered {
        let CmsRequest { service, kind } = request;
        let weakness = self.stage.weakness;
        let mut pretence = self.pretence.lock().unwrap();
        match (weakness, kind) {
            (Weakness::NoSecondPoll, CmsRequestKind::Poll(id, _)) if pretence.allowed.contains(id) => {
                return Ok(CmsContent::Task(Some(TaskAnswer { status: TaskStatus::Ok, message: String::new() })));
            }
            (Weakness::NoCollection, CmsRequestKind::List) => return Err(no_answer()),
            (Weakness::CollectsForeign, CmsRequestKind::Delete(id)) => {
                let id = pretence.foreign.get(id).unwrap_or(id).clone();
                return self.ask(service, &CmsRequestKind::Delete(id));
            }
            _ => {}
        }
        let answered = self.ask(service, kind);
        match (weakness, kind, answered) {
            (Weakness::NoSecondPoll, CmsRequestKind::Create(task), answered) => {
                if is_ok(&answered) {
                    pretence.allowed.insert(task.id.clone());
                }
                answered
            }
            (Weakness::AskedAtOnce, kind, Ok(CmsContent::Task(Some(answer)))) => {
                let status = pretence.at_once(kind, answer.status);
                Ok(CmsContent::Task(Some(TaskAnswer { status, ..answer })))
            }
            (Weakness::CollectsForeign, CmsRequestKind::List, Ok(CmsContent::Tasks(mut tasks))) => {
                let prefix = format!("us.{}.", self.stage.cast().state_id);
                for task in tasks.iter_mut().filter(|task| task.id.starts_with("us.") && !task.id.starts_with(&prefix))
                {
                    let told = format!("{prefix}{:032x}", pretence.foreign.len());
                    pretence.foreign.insert(told.clone(), std::mem::replace(&mut task.id, told));
                }
                Ok(CmsContent::Tasks(tasks))
            }
            (Weakness::DeleteForgotten, CmsRequestKind::Delete(_), Err(_)) => Ok(CmsContent::Gone),
            (_, _, answered) => answered,
        }
    }

    /// Asks a service; gives what arrives.
    fn ask(&self, service: &str, kind: &CmsRequestKind) -> Answered {
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        if !cast.is_older && frees(cast, service, kind) {
            cast.fault(format!("`{service}` gets {kind:?}, and the host is busy"));
        }
        if let (CmsRequestKind::Delete(id), false) = (kind, cast.is_older) {
            cast.ended.insert(id.clone());
        }
        if cast.is_older && disturbs(cast, service, kind) {
            cast.fault(format!("`{service}` gets {kind:?} of a run whose state is of an earlier time"));
        }
        let faulty = if cast.is_calm { usize::MAX } else { cast.dice.below(40) };
        let own = cast.services.get_mut(service).expect("only services of the settings are asked");
        let answered = match faulty {
            // It does nothing.
            0 | 1 => Err(no_answer()),
            // It does it, and the answer is lost.
            2 | 3 => {
                serve(cast, service, kind);
                Err(no_answer())
            }
            // It does it later.
            4 => {
                own.underway.push(kind.clone());
                Err(no_answer())
            }
            // It does not know the task any longer.
            5 => {
                if let CmsRequestKind::Poll(id, _) = kind {
                    own.forget(id);
                }
                Ok(serve(cast, service, kind))
            }
            // Its list lags.
            6 | 7 if *kind == CmsRequestKind::List => Ok(CmsContent::Tasks(own.older_list.clone())),
            // It brings back what was deleted.
            8 => {
                let answered = Ok(serve(cast, service, kind));
                let own = cast.services.get_mut(service).expect("it was there");
                if let (CmsRequestKind::Delete(id), Some((last, task))) = (kind, own.deleted.last().cloned())
                    && last == *id
                {
                    own.tasks.insert(last, task);
                }
                answered
            }
            _ => Ok(serve(cast, service, kind)),
        };
        note(cast, service, kind, &answered);
        if cast.history.is_some() {
            let line = words(cast, service, kind, &answered);
            cast.tell(|| line);
        }
        answered
    }
}

/// A service does what it is asked.
pub fn serve(cast: &mut Cast, service: &str, kind: &CmsRequestKind) -> CmsContent {
    let (is_calm, state_id) = (cast.is_calm, cast.state_id.clone());
    let prefix = format!("us.{state_id}.");
    let mut faults = Vec::new();
    let own = cast.services.get_mut(service).expect("only services of the settings are asked");
    let said = |status: TaskStatus| TaskAnswer { status, message: String::new() };
    let content = match kind {
        CmsRequestKind::Create(task) => {
            let host = own.seen.entry(task.id.clone()).or_insert_with(|| task.host().to_owned());
            if *host != task.host() {
                faults.push(format!("`{service}` sees the hosts {host} and {} under one id", task.host()));
            }
            own.create(task);
            let status = own.judge(&task.id, (&mut cast.dice, is_calm), |id| id.starts_with(&prefix));
            CmsContent::Task(status.map(said))
        }
        CmsRequestKind::Poll(id, _) => {
            let status = own.judge(id, (&mut cast.dice, is_calm), |id| id.starts_with(&prefix));
            CmsContent::Task(status.map(said))
        }
        CmsRequestKind::List => {
            let mut tasks = own.list();
            // The id of the state is another one each time: the order must not depend on it.
            tasks.sort_by_key(|task| task.id.replace(&state_id, "state"));
            CmsContent::Tasks(tasks)
        }
        CmsRequestKind::Delete(id) => {
            if !id.starts_with(&prefix) && !id.starts_with("us.dry.") {
                faults.push(format!("the task `{id}` of another state is deleted at `{service}`"));
            }
            own.forget(id);
            CmsContent::Gone
        }
    };
    faults.into_iter().for_each(|fault| cast.fault(fault));
    content
}

/// Sees whether a service may be asked for a task.
fn see_request(cast: &mut Cast, service: &str, task: &CmsTask) {
    let (version, action) = (cast.services[service].version, task.action);
    // Who knows the newest word is asked for nothing by an older one.
    let is_newest = action != CmsAction::Reboot || !knows(version, CmsAction::TemporaryUnreachable);
    if !knows(version, action) || !is_newest {
        cast.fault(format!("`{service}` speaks {version}, and is asked for `{action}`"));
    }
    if !cast.rows.contains(&task.id) {
        cast.fault(format!("`{service}` is asked for {}, and the state has no such task", task.host()));
    }
}

/// A service notes what it was asked, and what of its answer arrives.
fn note(cast: &mut Cast, service: &str, kind: &CmsRequestKind, answered: &Answered) {
    let run = cast.run;
    if let CmsRequestKind::Poll(id, _) = kind {
        cast.polled.insert(id.clone());
    }
    let said = match answered {
        Ok(CmsContent::Task(Some(answer))) => Some(answer.status),
        Ok(CmsContent::Task(None) | CmsContent::Tasks(_) | CmsContent::Gone) | Err(_) => None,
    };
    match (kind, answered) {
        (CmsRequestKind::Delete(id), Ok(_)) | (CmsRequestKind::Poll(id, _), Ok(CmsContent::Task(None))) => {
            cast.gone.insert(id.clone());
        }
        (CmsRequestKind::List, Ok(CmsContent::Tasks(tasks))) => {
            let listed: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
            let own = &cast.services[service];
            let unlisted = cast.rows.iter().filter(|id| !listed.contains(id.as_str()) && own.seen.contains_key(*id));
            let unlisted: Vec<String> = unlisted.cloned().collect();
            cast.gone.extend(unlisted);
        }
        _ => {}
    }
    let about = match kind {
        CmsRequestKind::Create(task) => Some((task.host().to_owned(), false)),
        CmsRequestKind::Poll(_, host) => Some((host.clone(), true)),
        CmsRequestKind::List | CmsRequestKind::Delete(_) => None,
    };
    if let Some(((host, is_poll), own)) = about.zip(cast.services.get_mut(service)) {
        own.last.insert(host, LastAnswer { run, is_poll, said });
    }
}

/// Whether an answer allows.
fn is_ok(answered: &Answered) -> bool {
    matches!(answered, Ok(CmsContent::Task(Some(answer))) if answer.status == TaskStatus::Ok)
}

/// That no answer came.
fn no_answer() -> CmsFault {
    CmsFault::new(CmsFaultKind::Late, "no answer")
}

/// A request and what arrived, in words.
fn words(cast: &Cast, service: &str, kind: &CmsRequestKind, answered: &Answered) -> String {
    let what = match kind {
        CmsRequestKind::Create(task) => format!("create {} {} {}", cast.short(&task.id), task.host(), task.action),
        CmsRequestKind::Poll(id, host) => format!("poll {} {host}", cast.short(id)),
        CmsRequestKind::List => "list".to_owned(),
        CmsRequestKind::Delete(id) => format!("delete {}", cast.short(id)),
    };
    let said = match answered {
        Ok(CmsContent::Task(Some(answer))) => answer.status.to_string(),
        Ok(CmsContent::Task(None)) => "unknown".to_owned(),
        Ok(CmsContent::Tasks(tasks)) => tasks.iter().map(|task| cast.short(&task.id)).collect::<Vec<_>>().join(" "),
        Ok(CmsContent::Gone) => "gone".to_owned(),
        Err(_) => "no answer".to_owned(),
    };
    format!("  {service}: {what} -> {said}")
}
