//! A strict double of Azure DNS: public zones (`Microsoft.Network/dnsZones`, 2018-05-01) or private ones
//! (`Microsoft.Network/privateDnsZones`, 2024-06-01), with Resource Manager in front, and the endpoints that give
//! tokens. Its specification is what the service's own clients send and take, and its documentation. Its messages are
//! those that users of the service report, where one is known.
//!
//! Each request is done as a whole, conditions of writes are exact, and the log says what took effect. What is not
//! known for sure is a setting ([`AzureRules`]).

mod account;
mod errors;
pub mod guid;
mod listing;
pub mod log;
mod manager;
mod names;
mod paths;
mod records;
pub mod rules;
pub mod set;
mod sets;
mod tokens;
mod zones;

use std::sync::{Mutex, MutexGuard, PoisonError};

use self::account::AzureState;
use self::errors::AzureError;
use self::guid::guid;
use self::log::{AzureChange, AzureLogEntry, EDITOR};
use self::manager::{AzureAnswer, serve};
use self::paths::{AzureOperation, zone_path};
use self::rules::{AzureKind, AzureRules};
use self::set::AzureRecordSet;
use self::tokens::{AzureClient, ClientProof};
use super::clock::http_date;
use super::faults::{Fault, FaultKind, FaultPlan, FaultyRequest, suffer};
use super::{CloudDouble, DoubleAnswer, DoubleRequest};

/// The only subscription.
pub const SUBSCRIPTION: &str = "5a1c7e2b-9d3f-4e60-8b21-c4d5e6f70819";

/// The resource group in which another editor creates zones.
pub const GROUP: &str = "dns-group";

/// The double. All methods may be called from several threads.
pub struct AzureDouble {
    /// The settings, which a test may change at any time.
    pub rules: Mutex<AzureRules>,
    /// Which service it is.
    kind: AzureKind,
    /// Seconds since the epoch.
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    /// What the subscription has.
    state: Mutex<AzureState>,
    /// What goes wrong on purpose.
    faults: FaultPlan,
    /// How many requests came.
    arrivals: Mutex<u64>,
}

/// A zone of the double: what the methods of another editor take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureZoneId {
    /// The resource group.
    pub group: String,
    /// The apex, without the final dot.
    pub name: String,
    /// The path of the zone in the API, as answers write it.
    pub path: String,
}

/// A request that was found to be one of the API.
struct AzureArrival<'r> {
    /// The request.
    request: &'r DoubleRequest,
    /// Its number.
    number: u64,
    /// What it asks for; none for a path that is none.
    operation: Option<AzureOperation>,
    /// What goes wrong with it.
    fault: Option<FaultKind>,
}

impl AzureDouble {
    /// Makes a subscription with one resource group. `clock` gives seconds since the epoch.
    pub fn new(kind: AzureKind, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        let state =
            AzureState { groups: vec![GROUP.to_owned()], identities: vec![String::new()], ..AzureState::default() };
        Self {
            rules: Mutex::new(AzureRules::new(kind)),
            kind,
            clock: Box::new(clock),
            state: Mutex::new(state),
            faults: FaultPlan::default(),
            arrivals: Mutex::new(0),
        }
    }

    /// Changes the settings.
    pub fn set_rules(&self, change: impl FnOnce(&mut AzureRules)) {
        change(&mut lock(&self.rules));
    }

    /// Adds a client that gets tokens for a secret.
    pub fn add_client(&self, tenant: &str, client: &str, secret: &str) {
        self.add_proof(tenant, client, ClientProof::Secret(secret.to_owned()));
    }

    /// Adds a client that gets tokens for a token of another issuer, such as one of a Kubernetes service account.
    pub fn add_federated_client(&self, tenant: &str, client: &str, assertion: &str) {
        self.add_proof(tenant, client, ClientProof::Assertion(assertion.to_owned()));
    }

    /// Adds a client.
    fn add_proof(&self, tenant: &str, client: &str, proof: ClientProof) {
        self.lock().clients.push(AzureClient { tenant: tenant.to_owned(), id: client.to_owned(), proof });
    }

    /// Adds an identity that a machine or app can ask for by its client identifier. The machine's own is there already.
    pub fn add_identity(&self, client: &str) {
        self.lock().identities.push(client.to_owned());
    }

    /// Makes the double an App Service: requests for tokens at `/msi/token` must have this header.
    pub fn set_app_secret(&self, secret: &str) {
        self.lock().app_secret = Some(secret.to_owned());
    }

    /// Gives a token for Resource Manager without a request.
    pub fn give_token(&self) -> String {
        let rules = lock(&self.rules).clone();
        let now = (self.clock)();
        let audience = rules.audiences.first().cloned().unwrap_or_default();
        self.lock().give_token(&audience, &rules, now)
    }

    /// Ends the time of all tokens that were given.
    pub fn expire_tokens(&self) {
        let now = (self.clock)();
        self.lock().tokens.iter_mut().for_each(|token| token.expires_at = token.expires_at.min(now));
    }

    /// Adds a resource group.
    pub fn add_group(&self, name: &str) {
        self.lock().groups.push(name.to_owned());
    }

    /// Plans what goes wrong. The names of operations are those of the API, such as `RecordSets_CreateOrUpdate`; those
    /// that give tokens are `Token`, `MachineToken` and `AppToken`.
    pub fn plan_fault(&self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Forgets the faults that are still to come.
    pub fn clear_faults(&self) {
        self.faults.clear();
    }

    /// Creates a zone with its SOA and NS in [`GROUP`], as another editor does.
    pub fn create_zone(&self, name: &str) -> AzureZoneId {
        self.create_zone_in(GROUP, name)
    }

    /// Creates a zone in a resource group that is there, as another editor does.
    pub fn create_zone_in(&self, group: &str, name: &str) -> AzureZoneId {
        self.lock().add_zone(self.kind, group, name);
        let path = zone_path(self.kind, SUBSCRIPTION, group, name);
        AzureZoneId { group: group.to_owned(), name: name.to_owned(), path }
    }

    /// Puts a record set as another editor, whatever was there; nothing is checked. Returns what was there.
    pub fn put(&self, zone: &AzureZoneId, set: AzureRecordSet) -> Option<AzureRecordSet> {
        let mut state = self.lock();
        let place = place_of(&state, zone);
        let change = state.put_set(place, set);
        let before = change.before.clone();
        self.note_edit(&mut state, change);
        before
    }

    /// Puts an alias of a resource as another editor. Returns what was there.
    pub fn alias(&self, zone: &AzureZoneId, name: &str, rtype: &str, target: &str) -> Option<AzureRecordSet> {
        self.put(zone, AzureRecordSet::alias(name, rtype, 3_600, target))
    }

    /// Puts the A of a virtual machine, as the service itself does in a private zone. Returns what was there.
    pub fn register(&self, zone: &AzureZoneId, name: &str, address: &str) -> Option<AzureRecordSet> {
        // Ten seconds is what the service gives to such sets.
        let set = AzureRecordSet::new(name, "A", 10, &[address]);
        self.put(zone, AzureRecordSet { is_auto_registered: true, ..set })
    }

    /// Removes a record set as another editor. Returns what was there.
    pub fn remove(&self, zone: &AzureZoneId, name: &str, rtype: &str) -> Option<AzureRecordSet> {
        let mut state = self.lock();
        let place = place_of(&state, zone);
        let change = state.remove_set(place, name, rtype)?;
        let before = change.before.clone();
        self.note_edit(&mut state, change);
        before
    }

    /// Returns the record sets of a zone in the order of listings.
    pub fn record_sets(&self, zone: &AzureZoneId) -> Vec<AzureRecordSet> {
        let state = self.lock();
        state.zones[place_of(&state, zone)].sets.values().cloned().collect()
    }

    /// Returns the log: all requests and all edits, in the order in which they took effect.
    pub fn requests(&self) -> Vec<AzureLogEntry> {
        self.lock().log.clone()
    }

    /// Counts the requests of an operation: copies too, and those that were lost on their way.
    pub fn count(&self, operation: &str) -> usize {
        self.lock().log.iter().filter(|entry| entry.operation == operation).count()
    }

    /// Does what a request asks for; none where the connection breaks without an answer.
    pub fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        let operation = AzureOperation::find(self.kind, request);
        let number = {
            let mut arrivals = lock(&self.arrivals);
            *arrivals += 1;
            *arrivals
        };
        let fault = self.faults.take(operation.as_ref().map_or("Unknown", |known| known.api_name(self.kind)));
        let arrival = AzureArrival { request, number, operation, fault };
        suffer(arrival.fault.as_ref(), &ArrivedAtAzure { double: self, arrival: &arrival })
    }

    /// Does a request and notes it.
    fn run(&self, arrival: &AzureArrival<'_>) -> DoubleAnswer {
        let mut state = self.lock();
        let now = (self.clock)();
        let rules = lock(&self.rules).clone();
        let served = serve(self.kind, arrival, &mut state, (&rules, now));
        let (answer, code) = match served {
            Ok(answer) => (answer, None),
            Err(error) => (answer_of(&error), Some(error.code)),
        };
        let mut entry = self.entry(arrival, now, Some(answer.status), code);
        entry.changes.clone_from(&answer.changes);
        state.log.push(entry);
        made(answer, arrival.number, now)
    }

    /// Refuses a request without doing it, and notes it.
    fn refuse(&self, arrival: &AzureArrival<'_>, error: AzureError) -> DoubleAnswer {
        self.note(arrival, Some(error.status), Some(error.code.clone()));
        self.refusal(arrival.number, error)
    }

    /// Makes the answer of a refusal.
    fn refusal(&self, number: u64, error: AzureError) -> DoubleAnswer {
        made(answer_of(&error), number, (self.clock)())
    }

    /// Notes a request that changed nothing.
    fn note(&self, arrival: &AzureArrival<'_>, status: Option<u16>, code: Option<String>) {
        let entry = self.entry(arrival, (self.clock)(), status, code);
        self.lock().log.push(entry);
    }

    /// Notes an edit of another editor.
    fn note_edit(&self, state: &mut AzureState, change: AzureChange) {
        state.log.push(AzureLogEntry {
            number: 0,
            at: (self.clock)(),
            operation: EDITOR.to_owned(),
            line: String::new(),
            zone: Some(change.zone.clone()),
            status: None,
            code: None,
            fault: None,
            changes: vec![change],
        });
    }

    /// Makes an entry of the log of a request that changed nothing.
    fn entry(&self, arrival: &AzureArrival<'_>, at: i64, status: Option<u16>, code: Option<String>) -> AzureLogEntry {
        let operation = arrival.operation.as_ref();
        let zone = operation.map(|known| known.zone.clone()).filter(|zone| !zone.is_empty());
        AzureLogEntry {
            number: arrival.number,
            at,
            operation: operation.map_or("Unknown", |known| known.api_name(self.kind)).to_owned(),
            line: format!("{} {}", arrival.request.method, arrival.request.target),
            zone,
            status,
            code,
            fault: arrival.fault.clone(),
            changes: Vec::new(),
        }
    }

    /// Locks the subscription.
    fn lock(&self) -> MutexGuard<'_, AzureState> {
        lock(&self.state)
    }
}

/// A request at the double.
struct ArrivedAtAzure<'r> {
    /// The double.
    double: &'r AzureDouble,
    /// The request.
    arrival: &'r AzureArrival<'r>,
}

impl FaultyRequest for ArrivedAtAzure<'_> {
    fn run(&self) -> DoubleAnswer {
        self.double.run(self.arrival)
    }

    fn note(&self, status: Option<u16>) {
        self.double.note(self.arrival, status, None);
    }

    fn refuse(&self, kind: &FaultKind) -> DoubleAnswer {
        let error = match kind {
            FaultKind::Throttle => AzureError::throttled(lock(&self.double.rules).throttle_answer, 10),
            FaultKind::Unavailable => AzureError::unavailable(),
            FaultKind::ExpiredToken => AzureError::expired_token(),
            _ => AzureError::internal(),
        };
        self.double.refuse(self.arrival, error)
    }

    fn internal_error(&self) -> DoubleAnswer {
        self.double.refusal(self.arrival.number, AzureError::internal())
    }
}

impl CloudDouble for AzureDouble {
    fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        AzureDouble::answer(self, request)
    }
}

/// Locks. A test that panicked elsewhere leaves the state whole: it is changed by whole requests.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the place of a zone that must be there.
fn place_of(state: &AzureState, id: &AzureZoneId) -> usize {
    let is_it = |zone: &account::AzureZoneState| zone.group == id.group && zone.name == id.name;
    state.zones.iter().position(is_it).expect("the zone is there")
}

/// Makes the answer of a refusal.
fn answer_of(error: &AzureError) -> AzureAnswer {
    AzureAnswer { headers: error.headers.clone(), ..AzureAnswer::new(error.status, error.body.clone()) }
}

/// Makes an answer as it is sent.
fn made(answer: AzureAnswer, number: u64, now: i64) -> DoubleAnswer {
    let body = answer.body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let mut sent = DoubleAnswer::new(answer.status, "application/json; charset=utf-8", body);
    sent.headers.extend(answer.headers);
    sent.headers.push(("date".to_owned(), http_date(now)));
    sent.headers.push(("x-ms-request-id".to_owned(), guid(number + (1 << 40))));
    sent
}
