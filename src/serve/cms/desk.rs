//! One request to its answer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::{ApprovalFate, ApprovalFault};
use super::store::{StoredTask, TaskStore};
use crate::cms::task::{TaskStatus, TaskType};
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::web::WebRequest;

/// How long a late answer takes: longer than any request may.
const LATE: Duration = Duration::from_secs(15);

/// How the service is to behave.
#[derive(Debug, Clone)]
pub struct ApprovalOptions {
    /// The version of the protocol: it refuses actions that this does not know.
    pub version: CmsVersion,
    /// How many hosts may be disturbed at a time.
    pub max_busy: usize,
    /// The hosts that it rejects, in small letters.
    pub rejects: HashSet<String>,
    /// The bearer token that each request must have.
    pub token: Option<String>,
    /// What goes wrong.
    pub faults: Vec<ApprovalFault>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalReply {
    /// The status (RFC 9110 section 15).
    pub status: u16,
    /// The content; none where there is none.
    pub content: Option<Value>,
    /// How long it is to be held back.
    pub after: Duration,
}

impl ApprovalReply {
    /// An answer with content.
    fn new(status: u16, content: Value) -> ApprovalReply {
        ApprovalReply { status, content: Some(content), after: Duration::ZERO }
    }

    /// A refusal, and why.
    fn refused(status: u16, why: impl Into<String>) -> ApprovalReply {
        ApprovalReply::new(status, json!({ "message": why.into() }))
    }

    /// An answer without content.
    fn empty(status: u16) -> ApprovalReply {
        ApprovalReply { status, content: None, after: Duration::ZERO }
    }
}

/// A task as it is asked for: just these keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedTask {
    /// Its id.
    id: String,
    /// Whether a person asks.
    #[serde(rename = "type")]
    _kind: TaskType,
    /// Who asks.
    #[serde(rename = "issuer")]
    _issuer: String,
    /// What is to be allowed.
    action: CmsAction,
    /// The host: one.
    hosts: [String; 1],
    /// What is to be done, in words.
    #[serde(rename = "comment")]
    _comment: String,
    /// Whether the host loses what is on it.
    #[serde(rename = "destructive")]
    _destructive: bool,
    /// The run that asks.
    #[serde(rename = "group")]
    _group: String,
    /// Whether nothing is to be done because of it.
    dry_run: bool,
}

/// What the service did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprovalCounts {
    /// The requests that came.
    pub requests: u64,
    /// The tasks that it has now.
    pub tasks: usize,
}

/// The service, without its socket.
pub struct ApprovalDesk {
    /// How it is to behave.
    options: ApprovalOptions,
    /// Its tasks.
    store: Mutex<TaskStore>,
    /// How many requests came.
    came: AtomicU64,
    /// Whether it rejects what it allowed.
    is_reversed: Mutex<bool>,
}

impl ApprovalDesk {
    /// A service with these tasks.
    pub fn new(options: ApprovalOptions, store: TaskStore) -> ApprovalDesk {
        let (store, is_reversed) = (Mutex::new(store), Mutex::new(false));
        ApprovalDesk { options, store, came: AtomicU64::new(0), is_reversed }
    }

    /// What it did.
    pub fn counts(&self) -> ApprovalCounts {
        let tasks = self.store.lock().unwrap_or_else(PoisonError::into_inner).all().unwrap_or_default();
        ApprovalCounts { requests: self.came.load(Ordering::Relaxed), tasks: tasks.len() }
    }

    /// Answers a request.
    pub fn answer(&self, request: &WebRequest<'_>) -> ApprovalReply {
        let number = self.came.fetch_add(1, Ordering::Relaxed) + 1;
        let fates: Vec<ApprovalFate> =
            self.options.faults.iter().filter(|fault| fault.is_of(number)).map(|fault| fault.fate).collect();
        let has = |fate: ApprovalFate| fates.contains(&fate);
        if has(ApprovalFate::Error) {
            return ApprovalReply::refused(500, "ordered");
        }
        let mut is_reversed = self.is_reversed.lock().unwrap_or_else(PoisonError::into_inner);
        *is_reversed |= has(ApprovalFate::Reversed);
        let is_forgotten = has(ApprovalFate::Forgotten);
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let case = RequestCase { options: &self.options, store: &store, is_forgotten, is_reversed: *is_reversed };
        let mut reply = case.answer(request).unwrap_or_else(|why| ApprovalReply::refused(500, why));
        if has(ApprovalFate::Schema) {
            reply.content = Some(json!({ "state": "fine" }));
        }
        if has(ApprovalFate::Late) {
            reply.after = LATE;
        }
        reply
    }
}

/// What one request is answered by.
struct RequestCase<'d> {
    /// How the service is to behave.
    options: &'d ApprovalOptions,
    /// Its tasks.
    store: &'d TaskStore,
    /// Whether what is asked for is not done.
    is_forgotten: bool,
    /// Whether it rejects what it allowed.
    is_reversed: bool,
}

impl RequestCase<'_> {
    /// Answers. Errors: the database fails.
    fn answer(&self, request: &WebRequest<'_>) -> Result<ApprovalReply, String> {
        let WebRequest { method, target, authorization, content } = *request;
        let expected = self.options.token.as_ref().map(|token| format!("Bearer {token}"));
        if expected.is_some() && expected.as_deref() != authorization {
            return Ok(ApprovalReply::refused(401, "the bearer token is missing or wrong"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let Some(id) = path.strip_prefix("/tasks/") else { return Ok(ApprovalReply::refused(404, "no such path")) };
        let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
        self.allow_more()?;
        match (method, &*id) {
            ("POST", "") => self.create(content, query),
            ("GET", "") => {
                let tasks = self.store.all()?;
                let listed: Vec<Value> = tasks.iter().map(|task| self.shown(task)).collect();
                Ok(ApprovalReply::new(200, json!({ "result": listed })))
            }
            ("GET", id) => Ok(match self.store.find(id)? {
                Some(task) => ApprovalReply::new(200, self.shown(&task)),
                None => ApprovalReply::refused(404, "no such task"),
            }),
            ("DELETE", id) if self.is_forgotten => Ok(ApprovalReply::empty(if id.is_empty() { 405 } else { 204 })),
            ("DELETE", id) => Ok(if self.store.remove(id)? {
                ApprovalReply::empty(204)
            } else {
                ApprovalReply::refused(404, "no such task")
            }),
            _ => Ok(ApprovalReply::refused(405, "no such method here")),
        }
    }

    /// Makes a task, or says what would be said of it.
    fn create(&self, content: &[u8], query: &str) -> Result<ApprovalReply, String> {
        let wanted: WantedTask = match serde_json::from_slice(content) {
            Ok(wanted) => wanted,
            Err(error) => return Ok(ApprovalReply::refused(400, format!("the content is no task: {error}"))),
        };
        let WantedTask { id, action, hosts: [host], dry_run, .. } = wanted;
        if CmsVersion::of_action(action) > self.options.version {
            return Ok(ApprovalReply::refused(400, format!("{} does not know `{action}`", self.options.version)));
        }
        if dry_run != query.split('&').any(|pair| pair == "dry_run=true") {
            return Ok(ApprovalReply::refused(400, "`dry_run` of the content and of the query differ"));
        }
        if id.is_empty() || host.is_empty() {
            return Ok(ApprovalReply::refused(400, "`id` or the host is empty"));
        }
        let content = String::from_utf8_lossy(content).into_owned();
        if let Some(known) = self.store.find(&id)? {
            // The same request may come twice; another task with this id is a mistake.
            let is_same = known.content == content;
            let conflict = || ApprovalReply::refused(409, "another task has this id");
            return Ok(if is_same { ApprovalReply::new(200, self.shown(&known)) } else { conflict() });
        }
        let mut task = StoredTask { id, host: host.to_lowercase(), content, is_allowed: false };
        if dry_run || self.is_forgotten {
            task.is_allowed = self.has_room(&task)?;
        } else {
            self.store.add(&task)?;
            self.allow_more()?;
            task = self.store.find(&task.id)?.unwrap_or(task);
        }
        Ok(ApprovalReply::new(200, self.shown(&task)))
    }

    /// Whether a host is rejected.
    fn rejects(&self, task: &StoredTask) -> bool {
        self.options.rejects.contains(&task.host)
    }

    /// The hosts that may be disturbed now.
    fn busy(&self) -> Result<HashSet<String>, String> {
        let allowed = self.store.all()?.into_iter().filter(|task| task.is_allowed);
        Ok(allowed.map(|task| task.host).collect())
    }

    /// Whether a host may be disturbed besides those that may already.
    fn has_room(&self, task: &StoredTask) -> Result<bool, String> {
        let busy = self.busy()?;
        Ok(!self.rejects(task) && (busy.contains(&task.host) || busy.len() < self.options.max_busy))
    }

    /// Lets the next hosts through, in the order in which they came.
    fn allow_more(&self) -> Result<(), String> {
        for task in self.store.all()?.iter().filter(|task| !task.is_allowed) {
            if self.has_room(task)? {
                self.store.allow(&task.id)?;
            }
        }
        Ok(())
    }

    /// A task as an answer has it.
    fn shown(&self, task: &StoredTask) -> Value {
        let (status, message) = match task.is_allowed {
            _ if self.rejects(task) => (TaskStatus::Rejected, "this host is to stay as it is"),
            true if self.is_reversed => (TaskStatus::Rejected, "what was allowed is rejected now"),
            true => (TaskStatus::Ok, ""),
            false => (TaskStatus::InProcess, "others are disturbed now"),
        };
        json!({ "id": task.id, "hosts": [task.host], "status": status, "message": message })
    }
}
