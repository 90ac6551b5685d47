//! Sends requests to services, side by side, and takes their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Scope, scope};
use std::time::{Duration, Instant};

use crate::approval::pass::CmsContent;
use crate::approval::{CmsReply, CmsRequest, CmsRequestKind};
use crate::cms::client::CmsClient;
use crate::cms::{CmsCalls, CmsFault, CmsFaultKind};
use crate::diag::Problem;
use crate::inventory::model::Config;
use crate::pipeline::cms_access::client_of;

/// How many requests a service has open at a time: a service that hangs holds back no other one.
const SIDE_BY_SIDE: usize = 32;

/// What is asked while a pass lasts.
pub trait CmsLine {
    /// How many more requests a service takes now; none once the time of the pass is over.
    fn room(&self, service: &str) -> usize;

    /// Sends a request.
    fn send(&mut self, request: CmsRequest);

    /// Waits for replies; none where nothing is open.
    fn receive(&mut self) -> Vec<CmsReply>;
}

/// Where requests are sent.
pub trait CmsDesk: Sync {
    /// Opens a line for one pass.
    fn open(&self, pass: &mut dyn FnMut(&mut dyn CmsLine) -> Result<(), Problem>) -> Result<(), Problem>;
}

/// The services of zonewright.toml.
pub struct ServiceDesk<'a> {
    /// The services, by their names; or why one cannot be asked.
    clients: BTreeMap<String, Result<CmsClient, String>>,
    /// How long one request may take, by service.
    timeouts: BTreeMap<String, Duration>,
    /// Set once a signal asks the run to end.
    interrupted: &'a AtomicBool,
}

impl<'a> ServiceDesk<'a> {
    /// The services of these names. One whose token cannot be had is a service that gives no answer.
    pub fn new(
        config: &Config,
        workspace: &Path,
        names: &BTreeSet<&str>,
        interrupted: &'a AtomicBool,
    ) -> ServiceDesk<'a> {
        let mut desk = ServiceDesk { clients: BTreeMap::new(), timeouts: BTreeMap::new(), interrupted };
        for service in config.cms.iter().filter(|service| names.contains(service.name.as_str())) {
            let client = client_of(service, config, workspace).map_err(|problem| problem.message);
            desk.timeouts.insert(service.name.clone(), service.timeout);
            desk.clients.insert(service.name.clone(), client);
        }
        desk
    }
}

impl CmsDesk for ServiceDesk<'_> {
    fn open(&self, pass: &mut dyn FnMut(&mut dyn CmsLine) -> Result<(), Problem>) -> Result<(), Problem> {
        scope(|threads| {
            let (answers, replies) = channel();
            let longest = self.timeouts.values().max().copied().unwrap_or_default();
            let mut line = ServiceLine {
                desk: self,
                threads,
                begun: Instant::now(),
                lasts: longest * 2,
                lanes: BTreeMap::new(),
                open: BTreeMap::new(),
                answers,
                replies,
            };
            // Its end closes the lanes, and with them ends their threads.
            pass(&mut line)
        })
    }
}

/// A line to all services.
struct ServiceLine<'s, 'e, 'a> {
    /// The services.
    desk: &'e ServiceDesk<'a>,
    /// What runs threads.
    threads: &'s Scope<'s, 'e>,
    /// When the pass began.
    begun: Instant,
    /// How long it may last: twice the longest time that a request may take.
    lasts: Duration,
    /// Where each service takes its requests, with how many threads it has.
    lanes: BTreeMap<String, ServiceLane>,
    /// How many requests of each service are open.
    open: BTreeMap<String, usize>,
    /// Where threads put answers.
    answers: Sender<CmsReply>,
    /// Where they are taken from.
    replies: Receiver<CmsReply>,
}

/// The threads of one service.
struct ServiceLane {
    /// Where requests are put.
    requests: Sender<CmsRequest>,
    /// Where the threads take them from.
    queue: Arc<Mutex<Receiver<CmsRequest>>>,
    /// How many threads there are.
    threads: usize,
}

impl CmsLine for ServiceLine<'_, '_, '_> {
    fn room(&self, service: &str) -> usize {
        let timeout = self.desk.timeouts.get(service).copied().unwrap_or_default();
        // A request that begins now ends before the pass does.
        if self.desk.interrupted.load(Ordering::SeqCst) || self.begun.elapsed() + timeout > self.lasts {
            return 0;
        }
        SIDE_BY_SIDE.saturating_sub(self.open.get(service).copied().unwrap_or_default())
    }

    fn send(&mut self, request: CmsRequest) {
        let open = self.open.entry(request.service.clone()).or_default();
        *open += 1;
        let lane = self.lanes.entry(request.service.clone()).or_insert_with(|| {
            let (requests, queue) = channel();
            ServiceLane { requests, queue: Arc::new(Mutex::new(queue)), threads: 0 }
        });
        if lane.threads < *open {
            lane.threads += 1;
            let (queue, answers, desk) = (Arc::clone(&lane.queue), self.answers.clone(), self.desk);
            self.threads.spawn(move || serve(desk, &queue, &answers));
        }
        lane.requests.send(request).expect("the lane keeps the other end");
    }

    fn receive(&mut self) -> Vec<CmsReply> {
        if self.open.values().all(|open| *open == 0) {
            return Vec::new();
        }
        let first = self.replies.recv().expect("the line keeps the other end");
        let replies: Vec<CmsReply> = std::iter::once(first).chain(self.replies.try_iter()).collect();
        for reply in &replies {
            *self.open.entry(reply.request.service.clone()).or_default() -= 1;
        }
        replies
    }
}

/// Sends requests of a queue until that is closed.
fn serve(desk: &ServiceDesk<'_>, queue: &Mutex<Receiver<CmsRequest>>, answers: &Sender<CmsReply>) {
    loop {
        let request = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
        let Ok(request) = request else { return };
        let begun = Instant::now();
        let content = match &desk.clients[&request.service] {
            Ok(client) => answer(client, &request.kind),
            Err(why) => Err(CmsFault::new(CmsFaultKind::Unreachable, why.clone())),
        };
        let reply = CmsReply { request, content, took: begun.elapsed() };
        if answers.send(reply).is_err() {
            return;
        }
    }
}

/// Sends one request.
pub fn answer(calls: &dyn CmsCalls, kind: &CmsRequestKind) -> Result<CmsContent, CmsFault> {
    match kind {
        CmsRequestKind::Create(task) => calls.create(task).map(|answer| CmsContent::Task(Some(answer))),
        CmsRequestKind::Poll(id, host) => calls.poll(id, host).map(CmsContent::Task),
        CmsRequestKind::List => calls.list().map(CmsContent::Tasks),
        CmsRequestKind::Delete(id) => calls.delete(id).map(|()| CmsContent::Gone),
    }
}
