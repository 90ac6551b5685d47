//! A strict double of AWS Cloud Map (JSON 1.1, API 2017-03-14) in one region. Its specification is the API's own model,
//! as botocore has it; its messages are those that users of the service report, where one is known.
//!
//! It refuses what the real service refuses, does later what the real service does later, and keeps a log of what took
//! effect. What is not known for sure is a setting ([`CloudMapRules`]).
//!
//! A test makes a [`CloudMapDouble`], furnishes it as another editor (`create_namespace`, `create_service`, `register`)
//! and sends requests in process ([`CloudMapDouble::answer`]) or to a [`super::http::DoubleServer`] in front of it: POST
//! to `/` with `X-Amz-Target: Route53AutoNaming_v20170314.ListServices`, signed for `servicediscovery` in the region.
//! What a request submits is done when [`rules::OperationSettling`] says so: by default at the second GetOperation;
//! with `Held`, when the test calls `finish` or `finish_all`. `plan_failure` makes operations end with `FAIL`, and
//! `plan_fault` makes requests or answers fail on their way. `begin_register` and `begin_deregister` let another editor's
//! operation run, so that requests for the same instance are refused with `DuplicateRequest`; `edit_before` lets another
//! editor come between two requests.
//!
//! The truth is in `rrsets` (what DNS serves), `instances` and `services` (what the API has) and `requests` (the log).

mod account;
mod calls;
mod check;
pub mod dns;
mod edits;
mod errors;
mod instances;
mod listing;
pub mod log;
pub mod model;
mod namespaces;
pub mod operations;
pub mod patterns;
pub mod resources;
pub mod rules;
mod serve;
mod services;
mod tags;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::account::MapState;
use self::dns::{MapRrset, rrsets_of};
use self::edits::EditPlan;
use self::errors::MapError;
use self::log::{EDITOR, MapChange, MapLogEntry};
use self::namespaces::SOA_TTL;
use self::operations::{FailurePlan, MapOperation, MapWork};
use self::resources::{MapInstance, MapNamespace, MapRouting, MapService, NamespaceKind};
use self::rules::CloudMapRules;
use self::serve::{MapArrival, serve};
use super::clock::http_date;
use super::faults::{Fault, FaultKind, FaultPlan, FaultyRequest, suffer};
use super::signature::KnownKey;
use super::{CloudDouble, DoubleAnswer, DoubleRequest};

/// The double. All methods may be called from several threads; each request is done as a whole.
pub struct CloudMapDouble {
    /// The settings, which a test may change at any time.
    pub rules: Mutex<CloudMapRules>,
    /// Seconds since the epoch.
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    /// What the account has.
    state: Mutex<MapState>,
    /// What goes wrong on purpose.
    faults: FaultPlan,
    /// How many requests came.
    requests: Mutex<u64>,
    /// What another editor does when requests come.
    edits: EditPlan<CloudMapDouble>,
}

impl CloudMapDouble {
    /// Makes an account in a region with one key of long life, as identifier and secret. `clock` gives seconds since the
    /// epoch.
    pub fn new(region: &str, (access, secret): (&str, &str), clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        let double = Self {
            rules: Mutex::default(),
            clock: Box::new(clock),
            state: Mutex::new(MapState::new(region)),
            faults: FaultPlan::default(),
            requests: Mutex::new(0),
            edits: EditPlan::default(),
        };
        double.add_key(access, secret, None);
        double
    }

    /// Changes the settings.
    pub fn set_rules(&self, change: impl FnOnce(&mut CloudMapRules)) {
        change(&mut lock(&self.rules));
    }

    /// Adds a key that may sign; with a session token, it is one that can expire.
    pub fn add_key(&self, access: &str, secret: &str, token: Option<&str>) {
        let key = KnownKey {
            access: access.to_owned(),
            secret: secret.to_owned(),
            token: token.map(str::to_owned),
            is_expired: false,
        };
        lock(&self.state).keys.push(key);
    }

    /// Ends the time of all keys of an identifier: requests that they sign are answered with `ExpiredTokenException`.
    pub fn expire_key(&self, access: &str) {
        let mut state = lock(&self.state);
        state.keys.iter_mut().filter(|key| key.access == access).for_each(|key| key.is_expired = true);
    }

    /// Plans what goes wrong with requests. The names of operations are those of the API.
    pub fn plan_fault(&self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Forgets the faults that are still to come.
    pub fn clear_faults(&self) {
        self.faults.clear();
    }

    /// Plans that operations fail: their requests are taken, and GetOperation says `FAIL` with the code.
    pub fn plan_failure(&self, plan: FailurePlan) {
        lock(&self.state).failures.push(plan);
    }

    /// Does what a request asks for; none where the connection breaks without an answer.
    pub fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        let number = {
            let mut requests = lock(&self.requests);
            *requests += 1;
            *requests
        };
        let mut arrival = MapArrival::of(request, number);
        for edit in self.edits.take(arrival.name()) {
            edit(self);
        }
        arrival.fault = self.faults.take(arrival.name());
        suffer(arrival.fault.as_ref(), &ArrivedAtMap { double: self, arrival: &arrival })
    }

    /// Plans what another editor does right before the n-th request of an operation from now on, counted from 1: between
    /// a look of a client and what it writes.
    pub fn edit_before(&self, operation: &str, n: u64, edit: impl FnOnce(&CloudMapDouble) + Send + 'static) {
        self.edits.add(operation, n, edit);
    }

    /// Creates a namespace as another editor, at once, and returns its identifier. Another one of its name may be there.
    pub fn create_namespace(&self, name: &str, kind: NamespaceKind) -> String {
        self.edit(|state, now| {
            let (number, id) = state.next_id("ns-");
            let network = (kind == NamespaceKind::Private).then(|| format!("vpc-{number}"));
            let namespace = MapNamespace {
                id: id.clone(),
                name: name.to_owned(),
                kind,
                network,
                description: None,
                creator: None,
                soa_ttl: SOA_TTL,
                created: now,
                tags: BTreeMap::new(),
            };
            (id, vec![state.add_namespace(number, namespace)])
        })
    }

    /// Creates a service as another editor, and returns its identifier. Its RRs are types with their TTLs; nothing is
    /// checked. The routing is that which the types demand: `WEIGHTED` for a CNAME, else `MULTIVALUE`.
    pub fn create_service(
        &self,
        namespace: &str,
        name: &str,
        records: &[(&str, u32)],
        description: Option<&str>,
    ) -> String {
        self.edit(|state, now| {
            let (number, id) = state.next_id("srv-");
            let is_alias = records.iter().any(|(rtype, _)| *rtype == "CNAME");
            let service = MapService {
                id: id.clone(),
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                description: description.map(str::to_owned),
                creator: None,
                routing: if is_alias { MapRouting::Weighted } else { MapRouting::MultiValue },
                records: records.iter().map(|(rtype, ttl)| ((*rtype).to_owned(), *ttl)).collect(),
                health_check: None,
                custom_health_check: None,
                created: now,
                tags: BTreeMap::new(),
            };
            (id, vec![state.add_service(number, service)])
        })
    }

    /// Changes a service as another editor: its description, TTLs or anything else.
    pub fn change_service(&self, service: &str, change: impl FnOnce(&mut MapService)) {
        self.edit(|state, _| {
            let own = &mut state.service_mut(service).expect("the service is there").service;
            let before = Some(own.clone());
            change(own);
            let after = Some(own.clone());
            ((), vec![MapChange::Service { before, after }])
        });
    }

    /// Deletes a service with all its instances as another editor.
    pub fn delete_service(&self, service: &str) {
        self.edit(|state, _| ((), state.remove_service(service).expect("the service is there")));
    }

    /// Puts an instance as another editor, whatever was there; nothing is checked. Returns what was there.
    pub fn register(&self, service: &str, id: &str, attributes: &[(&str, &str)]) -> Option<MapInstance> {
        self.put(service, MapInstance::new(id, attributes))
    }

    /// Puts an instance as another editor, whatever was there; nothing is checked. Returns what was there.
    pub fn put(&self, service: &str, instance: MapInstance) -> Option<MapInstance> {
        self.edit(|state, _| {
            let own = state.service_mut(service).expect("the service is there");
            let before = own.instances.get(&instance.id).cloned();
            (before, vec![own.put(instance)])
        })
    }

    /// Removes an instance as another editor. Returns what was there.
    pub fn deregister(&self, service: &str, id: &str) -> Option<MapInstance> {
        self.edit(|state, _| {
            let own = state.service_mut(service).expect("the service is there");
            let before = own.instances.get(id).cloned();
            (before, own.remove(id).into_iter().collect())
        })
    }

    /// Says what a health check found out about an instance.
    pub fn set_health(&self, service: &str, id: &str, is_healthy: bool) {
        let mut state = lock(&self.state);
        let own = state.service_mut(service).expect("the service is there");
        own.instances.get_mut(id).expect("the instance is there").is_healthy = is_healthy;
    }

    /// Submits a registration as another editor, and returns the identifier of its operation, which runs now.
    pub fn begin_register(&self, service: &str, id: &str, attributes: &[(&str, &str)]) -> String {
        self.begin(MapWork::Register(service.to_owned(), MapInstance::new(id, attributes)))
    }

    /// Submits the end of a registration as another editor, and returns the identifier of its operation, which runs now.
    pub fn begin_deregister(&self, service: &str, id: &str) -> String {
        self.begin(MapWork::Deregister(service.to_owned(), id.to_owned()))
    }

    /// Submits an operation as another editor.
    fn begin(&self, work: MapWork) -> String {
        lock(&self.state).submit(work, 0, (self.clock)())
    }

    /// Does an operation now, whatever the settings are.
    pub fn finish(&self, operation_id: &str) {
        lock(&self.state).release(operation_id);
        drop(self.settled());
    }

    /// Does all operations now that run, in the order in which they were submitted.
    pub fn finish_all(&self) {
        let mut state = lock(&self.state);
        let running: Vec<String> = state.running().map(|operation| operation.id.clone()).collect();
        running.iter().for_each(|id| state.release(id));
        drop(state);
        drop(self.settled());
    }

    /// Returns the namespaces in the order in which they were created.
    pub fn namespaces(&self) -> Vec<MapNamespace> {
        self.settled().namespaces.iter().map(|numbered| numbered.item.clone()).collect()
    }

    /// Returns the services of a namespace in the order in which they were created.
    pub fn services(&self, namespace: &str) -> Vec<MapService> {
        let state = self.settled();
        let services = state.listed_services().into_iter().map(|(_, own)| &own.service);
        services.filter(|own| own.namespace == namespace).cloned().collect()
    }

    /// Returns the instances of a service in the order of their identifiers; none where the service is not there.
    pub fn instances(&self, service: &str) -> Vec<MapInstance> {
        let state = self.settled();
        state.service(service).map(|own| own.instances.values().cloned().collect()).unwrap_or_default()
    }

    /// Returns all operations in the order in which they were submitted.
    pub fn operations(&self) -> Vec<MapOperation> {
        self.settled().operations.clone()
    }

    /// Returns what DNS serves in a namespace, sorted by name and type, without the RRsets of the apex.
    pub fn rrsets(&self, namespace: &str) -> Vec<MapRrset> {
        rrsets_of(&self.settled(), namespace)
    }

    /// Returns what DNS serves at a name and type, which is written in small letters with the final dot.
    pub fn rrset(&self, namespace: &str, name: &str, rtype: &str) -> Option<MapRrset> {
        self.rrsets(namespace).into_iter().find(|rrset| rrset.name == name && rrset.rtype == rtype)
    }

    /// Returns the log: all requests, all ends of operations and all edits, in the order in which they took effect.
    pub fn requests(&self) -> Vec<MapLogEntry> {
        self.settled().log.clone()
    }

    /// Returns the log behind so many of its first entries.
    pub fn requests_from(&self, entries: usize) -> Vec<MapLogEntry> {
        self.settled().log[entries..].to_vec()
    }

    /// Counts the requests of an operation: copies too, and those that were lost on their way.
    pub fn count(&self, operation: &str) -> usize {
        self.settled().log.iter().filter(|entry| entry.operation == operation).count()
    }

    /// Edits as another editor, and notes it.
    fn edit<T>(&self, edit: impl FnOnce(&mut MapState, i64) -> (T, Vec<MapChange>)) -> T {
        let mut state = self.settled();
        let now = (self.clock)();
        let (returned, changes) = edit(&mut state, now);
        state.log.push(MapLogEntry {
            number: 0,
            at: now,
            operation: EDITOR.to_owned(),
            subject: None,
            instance: None,
            operation_id: None,
            status: None,
            code: None,
            fault: None,
            changes,
        });
        returned
    }

    /// Locks the account after all is done that is due.
    fn settled(&self) -> MutexGuard<'_, MapState> {
        let rules = lock(&self.rules).clone();
        let mut state = lock(&self.state);
        state.settle(&rules, (self.clock)());
        state
    }

    /// Does a request and notes it.
    fn run(&self, arrival: &MapArrival<'_>) -> DoubleAnswer {
        let rules = lock(&self.rules).clone();
        let mut state = lock(&self.state);
        let now = (self.clock)();
        state.arrived += 1;
        state.settle(&rules, now);
        let served = serve(arrival, &mut state, &rules, now);
        let mut entry = arrival.entry(now);
        let answer = match served {
            Ok(answer) => {
                entry.status = Some(200);
                entry.operation_id = answer.operation_id;
                entry.changes = answer.changes;
                made(200, answer.body.to_string(), arrival.number, now)
            }
            Err(error) => {
                entry.status = Some(error.status(&rules));
                entry.code = Some(error.code.to_owned());
                made(error.status(&rules), error.body(&rules).to_string(), arrival.number, now)
            }
        };
        state.log.push(entry);
        // What is done at once is done after its request.
        state.settle(&rules, now);
        answer
    }

    /// Refuses a request without doing it, and notes it.
    fn refuse(&self, arrival: &MapArrival<'_>, error: &MapError) -> DoubleAnswer {
        let status = error.status(&lock(&self.rules));
        self.note(arrival, Some(status), Some(error.code));
        self.refusal(arrival.number, error)
    }

    /// Makes the answer of a refusal.
    fn refusal(&self, number: u64, error: &MapError) -> DoubleAnswer {
        let rules = lock(&self.rules);
        made(error.status(&rules), error.body(&rules).to_string(), number, (self.clock)())
    }

    /// Notes a request that was not done.
    fn note(&self, arrival: &MapArrival<'_>, status: Option<u16>, code: Option<&str>) {
        let entry = MapLogEntry { status, code: code.map(str::to_owned), ..arrival.entry((self.clock)()) };
        lock(&self.state).log.push(entry);
    }
}

/// A request at the double.
struct ArrivedAtMap<'r> {
    /// The double.
    double: &'r CloudMapDouble,
    /// The request.
    arrival: &'r MapArrival<'r>,
}

impl FaultyRequest for ArrivedAtMap<'_> {
    fn run(&self) -> DoubleAnswer {
        self.double.run(self.arrival)
    }

    fn note(&self, status: Option<u16>) {
        self.double.note(self.arrival, status, None);
    }

    fn refuse(&self, kind: &FaultKind) -> DoubleAnswer {
        let error = match kind {
            FaultKind::Throttle => MapError::throttling(lock(&self.double.rules).throttle_answer),
            FaultKind::Unavailable => MapError::unavailable(),
            FaultKind::ExpiredToken => MapError::expired_token(lock(&self.double.rules).expired_answer),
            _ => MapError::internal(),
        };
        self.double.refuse(self.arrival, &error)
    }

    fn internal_error(&self) -> DoubleAnswer {
        self.double.refusal(self.arrival.number, &MapError::internal())
    }
}

impl CloudDouble for CloudMapDouble {
    fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        CloudMapDouble::answer(self, request)
    }
}

/// Locks. A test that panicked elsewhere leaves the state whole: it is changed by whole requests.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes an answer with JSON.
fn made(status: u16, body: String, number: u64, now: i64) -> DoubleAnswer {
    let mut answer = DoubleAnswer::new(status, serve::MEDIA_TYPE, body.into_bytes());
    answer.headers.push(("date".to_owned(), http_date(now)));
    answer.headers.push(("x-amzn-requestid".to_owned(), format!("00000000-0000-4000-8000-{number:012}")));
    answer
}
