//! A strict double of Azure DNS: public zones (`Microsoft.Network/dnsZones`, 2018-05-01) or private ones
//! (`Microsoft.Network/privateDnsZones`, 2024-06-01), with Resource Manager in front, and the endpoints that give tokens.
//! Its specification is what the service's own clients send and take, and its documentation. Its messages are those that
//! users of the service report, where one is known.
//!
//! Each request is done as a whole, conditions of writes are exact, and the log says what took effect. What is not known
//! for sure is a setting ([`AzureRules`]).

mod account;
mod errors;
pub mod guid;
mod listing;
pub mod log;
mod names;
mod paths;
mod records;
pub mod rules;
pub mod set;
mod sets;
mod tokens;
mod zones;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use self::account::{AzureState, RateClass};
use self::errors::AzureError;
use self::guid::guid;
use self::listing::PageSpoil;
use self::log::{AzureChange, AzureLogEntry, EDITOR};
use self::paths::{AzureFields, AzureOperation, AzureVerb, zone_path};
use self::rules::{AzureKind, AzureRules};
use self::set::AzureRecordSet;
use self::tokens::{AzureClient, ClientProof};
use super::faults::{Fault, FaultKind, FaultPlan};
use super::route53::clock::http_date;
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

/// A request to Resource Manager, with all that decides about it.
struct AzureCall<'r> {
    /// Which service it is.
    kind: AzureKind,
    /// The subscription.
    subscription: &'r str,
    /// The request.
    request: &'r DoubleRequest,
    /// What it asks for.
    operation: &'r AzureOperation,
    /// Its query.
    query: AzureFields,
    /// The settings.
    rules: &'r AzureRules,
    /// How its page is spoiled.
    spoil: PageSpoil,
}

/// What the service made of a request.
#[derive(Debug, Clone, Default)]
struct AzureAnswer {
    /// The HTTP status.
    status: u16,
    /// The JSON; none for an empty body.
    body: Option<Value>,
    /// Headers of this answer alone.
    headers: Vec<(String, String)>,
    /// What changed.
    changes: Vec<AzureChange>,
}

/// An answer, or a refusal.
type AzureResult = Result<AzureAnswer, AzureError>;

impl AzureAnswer {
    /// Makes one that changed no record set.
    fn new(status: u16, body: Value) -> Self {
        Self { status, body: Some(body), ..Self::default() }
    }

    /// Makes one without a body.
    fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}

impl AzureCall<'_> {
    /// Returns a header; an empty one is not there.
    fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name).filter(|value| !value.is_empty())
    }

    /// Checks the conditions of a write; `etag` is that of what is there. Values of `If-None-Match` other than `*` have no
    /// meaning. An etag may be in quotation marks.
    fn check_conditions(&self, etag: Option<&str>) -> Result<(), AzureError> {
        if self.header("if-none-match") == Some("*") && etag.is_some() {
            return Err(AzureError::precondition("The condition '*' in the If-None-Match header was not satisfied."));
        }
        let Some(wanted) = self.header("if-match") else { return Ok(()) };
        let bare = wanted.strip_prefix('"').and_then(|wanted| wanted.strip_suffix('"')).unwrap_or(wanted);
        if etag.is_some_and(|etag| wanted == "*" || bare == etag) {
            return Ok(());
        }
        let message = format!(
            "The condition '{wanted}' in the If-Match header was not satisfied. The current etag is '{}'.",
            etag.unwrap_or_default()
        );
        Err(AzureError::precondition(message))
    }

    /// Makes a link to a path of the double.
    fn link(&self, path: &str, query: &[(&str, String)]) -> String {
        let host = self.request.header("host").unwrap_or("management.azure.com");
        // Only a server on loopback has no TLS.
        let scheme = if host.starts_with("127.0.0.1") || host.starts_with("localhost") { "http" } else { "https" };
        let mut link = format!("{scheme}://{host}{path}?api-version={}", self.kind.api_version());
        for (key, value) in query {
            link.push_str(&format!("&{key}="));
            for octet in value.bytes() {
                if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) {
                    link.push(char::from(octet));
                } else {
                    link.push_str(&format!("%{octet:02X}"));
                }
            }
        }
        link
    }
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
        let throttle = lock(&self.rules).throttle_answer;
        match &arrival.fault {
            None | Some(FaultKind::HalfPage | FaultKind::LostItems) => Some(self.run(&arrival)),
            Some(FaultKind::DropBefore) => {
                self.note(&arrival, None, None);
                None
            }
            Some(FaultKind::DropAfter) => {
                self.run(&arrival);
                None
            }
            Some(FaultKind::FailAfter) => {
                self.run(&arrival);
                Some(self.refusal(number, AzureError::internal()))
            }
            Some(FaultKind::Twice) => {
                let first = self.run(&arrival);
                self.run(&arrival);
                Some(first)
            }
            Some(FaultKind::TwiceLast) => {
                self.run(&arrival);
                Some(self.run(&arrival))
            }
            Some(FaultKind::Delay(delay)) => Some(DoubleAnswer { delay: *delay, ..self.run(&arrival) }),
            Some(FaultKind::CutBody) => {
                let mut answer = self.run(&arrival);
                answer.body.truncate(answer.body.len() / 2);
                Some(answer)
            }
            Some(FaultKind::TooManyRequests) => {
                self.note(&arrival, Some(429), None);
                Some(DoubleAnswer::new(429, "text/plain", b"Too Many Requests".to_vec()))
            }
            Some(FaultKind::FailBefore) => Some(self.refuse(&arrival, AzureError::internal())),
            Some(FaultKind::Throttle) => Some(self.refuse(&arrival, AzureError::throttled(throttle, 10))),
            Some(FaultKind::Unavailable) => Some(self.refuse(&arrival, AzureError::unavailable())),
            Some(FaultKind::ExpiredToken) => Some(self.refuse(&arrival, AzureError::expired_token())),
        }
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

/// Does a request: who asks, what for, with what rights, how often, and then what.
fn serve(
    kind: AzureKind,
    arrival: &AzureArrival<'_>,
    state: &mut AzureState,
    (rules, now): (&AzureRules, i64),
) -> AzureResult {
    let AzureArrival { request, operation, fault, .. } = arrival;
    let is_token = |known: &AzureOperation| {
        matches!(known.verb, AzureVerb::GetToken | AzureVerb::GetMachineToken | AzureVerb::GetAppToken)
    };
    if let Some(operation) = operation.as_ref().filter(|known| is_token(known)) {
        return tokens::serve_token(state, operation, request, (rules, now));
    }
    if rules.checks_token {
        tokens::check_token(request, &state.tokens, rules, now)?;
    }
    let Some(operation) = operation else {
        let message = "The resource type could not be found in the namespace 'Microsoft.Network'.";
        return Err(AzureError::manager(404, "InvalidResourceType", message));
    };
    let query = AzureFields::parse_query(request, known_query(operation))?;
    check_version(kind, query.get("api-version"))?;
    check_scope(operation, state)?;
    check_rights(kind, operation, rules)?;
    let spoil = match fault {
        Some(FaultKind::HalfPage) => PageSpoil::Half,
        Some(FaultKind::LostItems) => PageSpoil::Lost,
        _ => PageSpoil::None,
    };
    let call = AzureCall { kind, subscription: SUBSCRIPTION, request, operation, query, rules, spoil };
    do_call(state, &call, now)
}

/// Does a request to Resource Manager that may be done.
fn do_call(state: &mut AzureState, call: &AzureCall<'_>, now: i64) -> AzureResult {
    let operation = call.operation;
    let place = state.find_zone(operation);
    let path = operation.zone_path(call.kind);
    if let Some(class) = rate_class(state, place, operation) {
        state.spend(&path, class, (call.rules, now))?;
    }
    match operation.verb {
        AzureVerb::ListZones | AzureVerb::ListZonesOfGroup => return zones::list_zones(state, call),
        AzureVerb::PutZone => return zones::put_zone(state, call),
        AzureVerb::DeleteZone => return zones::delete_zone(state, call),
        AzureVerb::GetStatus => return zones::get_status(state, call),
        _ => {}
    }
    let place = place.ok_or_else(|| no_zone(call, &path))?;
    match operation.verb {
        AzureVerb::PatchZone => zones::patch_zone(state, place, call),
        AzureVerb::ListRecordSets | AzureVerb::ListAll | AzureVerb::ListByType => {
            listing::list_sets(&state.zones[place], call)
        }
        AzureVerb::GetSet => sets::get_set(&state.zones[place], call),
        AzureVerb::PutSet => sets::put_set(state, place, call),
        AzureVerb::PatchSet => sets::patch_set(state, place, call),
        AzureVerb::DeleteSet => sets::delete_set(state, place, call),
        _ => Ok(AzureAnswer::new(200, zones::write_zone(&state.zones[place], call))),
    }
}

/// Says as what a request is counted; none where it is not. Changes of zones have no limits of their own here.
fn rate_class(state: &AzureState, place: Option<usize>, operation: &AzureOperation) -> Option<RateClass> {
    let key = set::set_key(&operation.name, &operation.rtype);
    let is_there = place.is_some_and(|place| state.zones[place].sets.contains_key(&key));
    match operation.verb {
        AzureVerb::ListZones
        | AzureVerb::ListZonesOfGroup
        | AzureVerb::ListRecordSets
        | AzureVerb::ListAll
        | AzureVerb::ListByType => Some(RateClass::List),
        AzureVerb::GetZone | AzureVerb::GetSet => Some(RateClass::Get),
        AzureVerb::PutSet if !is_there => Some(RateClass::Create),
        AzureVerb::PutSet | AzureVerb::PatchSet => Some(RateClass::Update),
        AzureVerb::DeleteSet => Some(RateClass::Delete),
        _ => None,
    }
}

/// Makes the error of a zone that is not there.
fn no_zone(call: &AzureCall<'_>, path: &str) -> AzureError {
    let operation = call.operation;
    let kind = call.kind.zone_type();
    if operation.is_of_sets() {
        let verb = match operation.verb {
            AzureVerb::PutSet | AzureVerb::PatchSet => "write",
            AzureVerb::DeleteSet => "delete",
            _ => "read",
        };
        let rtype = &operation.rtype;
        let message = format!(
            "Failed to perform '{verb}' on resource(s) of type '{kind}/{rtype}', because the parent resource '{path}' \
             could not be found."
        );
        return AzureError::manager(404, "ParentResourceNotFound", message);
    }
    let message = format!(
        "The Resource 'Microsoft.Network/{kind}/{}' under resource group '{}' was not found. For more details please go \
         to https://aka.ms/ARMResourceNotFoundFix",
        operation.zone, operation.group
    );
    AzureError::manager(404, "ResourceNotFound", message)
}

/// Checks the version of the API.
fn check_version(kind: AzureKind, version: Option<&str>) -> Result<(), AzureError> {
    let known = kind.api_version();
    match version {
        Some(version) if version == known => Ok(()),
        Some(version) => {
            let message = format!(
                "No registered resource provider found for location 'global' and API version '{version}' for type '{}'. \
                 The supported api-versions are '{known}'.",
                kind.zone_type()
            );
            Err(AzureError::manager(400, "NoRegisteredProviderFound", message))
        }
        None => {
            let message = "The api-version query parameter (?api-version=) is required for all requests.";
            Err(AzureError::manager(400, "MissingApiVersionParameter", message))
        }
    }
}

/// Checks that the subscription and the resource group of a path are there.
fn check_scope(operation: &AzureOperation, state: &AzureState) -> Result<(), AzureError> {
    if !operation.scope.eq_ignore_ascii_case(SUBSCRIPTION) {
        let message = format!("The subscription '{}' could not be found.", operation.scope);
        return Err(AzureError::manager(404, "SubscriptionNotFound", message));
    }
    let group = &operation.group;
    if !group.is_empty() && !state.groups.iter().any(|known| known.eq_ignore_ascii_case(group)) {
        let message = format!("Resource group '{group}' could not be found.");
        return Err(AzureError::manager(404, "ResourceGroupNotFound", message));
    }
    Ok(())
}

/// Checks that the roles allow an operation.
fn check_rights(kind: AzureKind, operation: &AzureOperation, rules: &AzureRules) -> Result<(), AzureError> {
    let (Some(action), Some(allowed)) = (operation.action(kind), rules.allowed_actions.as_ref()) else { return Ok(()) };
    if allowed.iter().any(|known| known.eq_ignore_ascii_case(&action)) {
        return Ok(());
    }
    let client = guid(4);
    let scope = operation.zone_path(kind);
    let message = format!(
        "The client '{client}' with object id '{client}' does not have authorization to perform action '{action}' over \
         scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your credentials."
    );
    Err(AzureError::manager(403, "AuthorizationFailed", message))
}

/// The query parameters of an operation. Source: the service's clients.
fn known_query(operation: &AzureOperation) -> &'static [&'static str] {
    match operation.verb {
        AzureVerb::ListZones | AzureVerb::ListZonesOfGroup => &["api-version", "$top", "$skiptoken"],
        AzureVerb::ListRecordSets | AzureVerb::ListAll | AzureVerb::ListByType => {
            &["api-version", "$top", "$skiptoken", "$recordsetnamesuffix"]
        }
        _ => &["api-version"],
    }
}
