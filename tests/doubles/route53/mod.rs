//! A strict double of Amazon Route 53 (REST-XML, API 2013-04-01). Its specification is the API's own model, as botocore
//! has it; its messages are those that users of the service report, where one is known.
//!
//! It refuses what the real service refuses, changes all or nothing, and keeps a log of what took effect. What is not
//! known for sure is a setting ([`Route53Rules`]).

pub mod account;
mod batch;
mod decode;
mod errors;
mod listing;
pub mod log;
pub mod names;
mod paths;
mod protections;
pub mod rrset;
pub mod rules;
mod tags;
mod values;
mod xml;
mod zones;

use std::sync::{Mutex, MutexGuard, PoisonError};

use self::account::{AccountState, RrsetProtection};
use self::errors::ServiceError;
use self::log::{EDITOR, LoggedChange, LoggedRequest};
use self::names::DoubleName;
use self::paths::{QueryFields, Route53Operation};
use self::rrset::DoubleRrset;
use self::rules::Route53Rules;
use self::xml::XmlWriter;
use super::clock::http_date;
use super::faults::{Fault, FaultKind, FaultPlan, FaultyRequest, PageFault, suffer};
use super::signature::{KnownKey, SignatureScope, check_signature};
use super::{CloudDouble, DoubleAnswer, DoubleRequest};

/// What requests are signed for: the region is that of the service's global endpoint.
const SCOPE: SignatureScope<'_> = SignatureScope { region: "us-east-1", service: "route53" };

/// The double. All methods may be called from several threads; each request is done as a whole.
pub struct Route53Double {
    /// The settings, which a test may change at any time.
    pub rules: Mutex<Route53Rules>,
    /// Seconds since the epoch.
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    /// What the account has.
    state: Mutex<AccountState>,
    /// What goes wrong on purpose.
    faults: FaultPlan,
    /// How many requests came.
    requests: Mutex<u64>,
}

/// A request that was found to be one of the API.
struct Arrival<'r> {
    /// The request.
    request: &'r DoubleRequest,
    /// Its number.
    number: u64,
    /// What it asks for; none for a path that is none.
    operation: Option<Route53Operation>,
    /// What goes wrong with it.
    fault: Option<FaultKind>,
}

/// What the service made of a request.
#[derive(Default)]
struct ServedBody {
    /// The XML of the answer.
    body: String,
    /// Where a resource was created.
    location: Option<String>,
    /// What changed.
    changes: Vec<LoggedChange>,
}

impl ServedBody {
    /// Makes one that changed no RRset.
    fn new(body: String) -> Self {
        Self { body, ..Self::default() }
    }
}

impl Route53Double {
    /// Makes an account with one key of long life, as identifier and secret. `clock` gives seconds since the epoch.
    pub fn new((access, secret): (&str, &str), clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        let double = Self {
            rules: Mutex::default(),
            clock: Box::new(clock),
            state: Mutex::default(),
            faults: FaultPlan::default(),
            requests: Mutex::new(0),
        };
        double.add_key(access, secret, None);
        double
    }

    /// Changes the settings.
    pub fn set_rules(&self, change: impl FnOnce(&mut Route53Rules)) {
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
        self.lock().keys.push(key);
    }

    /// Ends the time of all keys of an identifier: requests that they sign are answered with `ExpiredToken`.
    pub fn expire_key(&self, access: &str) {
        self.lock().keys.iter_mut().filter(|key| key.access == access).for_each(|key| key.is_expired = true);
    }

    /// Plans what goes wrong. The names of operations are those of the API.
    pub fn plan_fault(&self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Forgets the faults that are still to come.
    pub fn clear_faults(&self) {
        self.faults.clear();
    }

    /// Does what a request asks for; none where the connection breaks without an answer.
    pub fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        let operation = Route53Operation::find(request);
        let number = {
            let mut requests = lock(&self.requests);
            *requests += 1;
            *requests
        };
        let fault = self.faults.take(operation.as_ref().map_or("Unknown", Route53Operation::name));
        let arrival = Arrival { request, number, operation, fault };
        suffer(arrival.fault.as_ref(), &ArrivedRequest { double: self, arrival: &arrival })
    }

    /// Creates a zone with its SOA and NS, as another editor does, and returns its identifier.
    pub fn create_zone(&self, name: &str, is_private: bool) -> String {
        let mut state = self.lock();
        let name = DoubleName::parse(name).expect("the name of a zone is valid");
        let caller_reference = format!("editor-{}", state.created_zones + 1);
        let network = is_private.then(|| ("us-east-1".to_owned(), format!("vpc-{}", state.created_zones + 1)));
        zones::add_zone(&mut state, zones::NewZone { name, caller_reference, comment: None, network, is_private })
    }

    /// Marks a zone as managed by another service, such as `servicediscovery.amazonaws.com`.
    pub fn link_service(&self, zone_id: &str, principal: &str, description: &str) {
        let mut state = self.lock();
        let zone = state.zone_mut(zone_id).expect("the zone is there");
        zone.linked_service = Some((principal.to_owned(), description.to_owned()));
    }

    /// Tags a zone.
    pub fn tag(&self, zone_id: &str, key: &str, value: &str) {
        self.lock().zone_mut(zone_id).expect("the zone is there").tags.insert(key.to_owned(), value.to_owned());
    }

    /// Puts an RRset as another editor, whatever was there; nothing but its name is checked. Returns what was there.
    pub fn put(&self, zone_id: &str, rrset: DoubleRrset) -> Option<DoubleRrset> {
        let mut state = self.lock();
        let change = state.zone_mut(zone_id).expect("the zone is there").put(rrset);
        let before = change.before.clone();
        self.note_edit(&mut state, zone_id, change);
        before
    }

    /// Removes an RRset as another editor. Returns what was there.
    pub fn remove(&self, zone_id: &str, name: &str, rtype: &str, set_identifier: Option<&str>) -> Option<DoubleRrset> {
        let mut state = self.lock();
        let change = state.zone_mut(zone_id).expect("the zone is there").remove(name, rtype, set_identifier)?;
        let before = change.before.clone();
        self.note_edit(&mut state, zone_id, change);
        before
    }

    /// Protects a name and type, so that every batch is refused that touches it.
    pub fn protect(&self, zone_id: &str, name: &str, rtype: &str, comment: Option<&str>) {
        let name = DoubleName::parse(name).expect("the name of a protection is valid");
        let protection = RrsetProtection { name: name.shown(), comment: comment.map(str::to_owned) };
        let mut state = self.lock();
        let zone = state.zone_mut(zone_id).expect("the zone is there");
        zone.protections.insert((name.order(), rtype.to_owned()), protection);
    }

    /// Returns the RRsets of a zone in the order of listings.
    pub fn rrsets(&self, zone_id: &str) -> Vec<DoubleRrset> {
        self.lock().zone(zone_id).expect("the zone is there").rrsets.values().cloned().collect()
    }

    /// Returns the log: all requests and all edits, in the order in which they took effect.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.lock().log.clone()
    }

    /// Counts the requests of an operation: copies too, and those that were lost on their way.
    pub fn count(&self, operation: &str) -> usize {
        self.lock().log.iter().filter(|entry| entry.operation == operation).count()
    }

    /// Does a request and notes it.
    fn run(&self, arrival: &Arrival<'_>) -> DoubleAnswer {
        let mut state = self.lock();
        let now = (self.clock)();
        let rules = lock(&self.rules).clone();
        let served = serve(arrival, &mut state, &rules, now);
        let (answer, status, code, changes) = match served {
            Ok(ServedBody { body, location, changes }) => {
                let status = if location.is_some() { 201 } else { 200 };
                let mut answer = made(status, body, arrival.number, now);
                answer.headers.extend(location.map(|location| ("location".to_owned(), location)));
                (answer, status, None, changes)
            }
            Err(error) => (self.refusal(arrival.number, &error), error.status, Some(error.code), Vec::new()),
        };
        state.log.push(entry(arrival, now, Some(status), code, changes));
        answer
    }

    /// Refuses a request without doing it, and notes it.
    fn refuse(&self, arrival: &Arrival<'_>, error: &ServiceError) -> DoubleAnswer {
        self.note(arrival, Some(error.status), Some(error.code), Vec::new());
        self.refusal(arrival.number, error)
    }

    /// Makes the answer of a refusal.
    fn refusal(&self, number: u64, error: &ServiceError) -> DoubleAnswer {
        let form = lock(&self.rules).batch_errors;
        made(error.status, error.body(form, &request_id(number)), number, (self.clock)())
    }

    /// Notes a request.
    fn note(&self, arrival: &Arrival<'_>, status: Option<u16>, code: Option<&str>, changes: Vec<LoggedChange>) {
        let now = (self.clock)();
        self.lock().log.push(entry(arrival, now, status, code, changes));
    }

    /// Notes an edit of another editor.
    fn note_edit(&self, state: &mut AccountState, zone_id: &str, change: LoggedChange) {
        state.log.push(LoggedRequest {
            number: 0,
            at: (self.clock)(),
            operation: EDITOR.to_owned(),
            line: String::new(),
            zone: Some(zone_id.to_owned()),
            status: None,
            code: None,
            fault: None,
            changes: vec![change],
        });
    }

    /// Locks the account.
    fn lock(&self) -> MutexGuard<'_, AccountState> {
        lock(&self.state)
    }
}

/// A request at the double.
struct ArrivedRequest<'r> {
    /// The double.
    double: &'r Route53Double,
    /// The request.
    arrival: &'r Arrival<'r>,
}

impl FaultyRequest for ArrivedRequest<'_> {
    fn run(&self) -> DoubleAnswer {
        self.double.run(self.arrival)
    }

    fn note(&self, status: Option<u16>) {
        self.double.note(self.arrival, status, None, Vec::new());
    }

    fn refuse(&self, kind: &FaultKind) -> DoubleAnswer {
        let error = match kind {
            FaultKind::Throttle => ServiceError::throttling(),
            FaultKind::Unavailable => ServiceError::unavailable(),
            FaultKind::ExpiredToken => ServiceError::expired_token(),
            _ => ServiceError::internal(),
        };
        self.double.refuse(self.arrival, &error)
    }

    fn internal_error(&self) -> DoubleAnswer {
        self.double.refusal(self.arrival.number, &ServiceError::internal())
    }
}

impl CloudDouble for Route53Double {
    fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        Route53Double::answer(self, request)
    }
}

/// Locks. A test that panicked elsewhere leaves the state whole: it is changed by whole requests.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes an entry of the log.
fn entry(
    arrival: &Arrival<'_>,
    at: i64,
    status: Option<u16>,
    code: Option<&str>,
    changes: Vec<LoggedChange>,
) -> LoggedRequest {
    LoggedRequest {
        number: arrival.number,
        at,
        operation: arrival.operation.as_ref().map_or("Unknown", Route53Operation::name).to_owned(),
        line: format!("{} {}", arrival.request.method, arrival.request.target),
        zone: arrival.operation.as_ref().and_then(Route53Operation::zone).map(str::to_owned),
        status,
        code: code.map(str::to_owned),
        fault: arrival.fault.clone(),
        changes,
    }
}

/// Makes an answer with XML.
fn made(status: u16, body: String, number: u64, now: i64) -> DoubleAnswer {
    let mut answer = DoubleAnswer::new(status, "text/xml", body.into_bytes());
    answer.headers.push(("date".to_owned(), http_date(now)));
    answer.headers.push(("x-amzn-requestid".to_owned(), request_id(number)));
    answer
}

/// Returns the identifier of a request.
fn request_id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Does a request: who asks, how often, with what rights, and then what.
fn serve(
    arrival: &Arrival<'_>,
    state: &mut AccountState,
    rules: &Route53Rules,
    now: i64,
) -> Result<ServedBody, ServiceError> {
    let Arrival { request, operation, fault, .. } = arrival;
    if rules.checks_signature {
        let refused = |fault| ServiceError::of_signature(fault, rules.skew_answer);
        check_signature(request, &state.keys, SCOPE, now).map_err(refused)?;
    }
    state.spend(rules, now)?;
    let unknown = || ServiceError::new(404, "UnknownOperationException", "The requested operation is unknown");
    let operation = operation.as_ref().ok_or_else(unknown)?;
    check_rights(operation, rules)?;
    let page = PageFault::of(fault.as_ref());
    let query = QueryFields::parse(request, known_query(operation))?;
    let body = &request.body;
    let answer = match operation {
        Route53Operation::ListHostedZones => zones::list_zones(state, &query, page)?,
        Route53Operation::ListHostedZonesByName => zones::list_zones_by_name(state, &query, page)?,
        Route53Operation::GetHostedZone(id) => zones::get_zone(state.zone(id)?),
        Route53Operation::CreateHostedZone => {
            let (body, location) = zones::create_zone(state, body, rules, now)?;
            return Ok(ServedBody { location: Some(location), ..ServedBody::new(body) });
        }
        Route53Operation::DeleteHostedZone(id) => zones::delete_zone(state, id, rules, now)?,
        Route53Operation::ListResourceRecordSets(id) => listing::list_rrsets(state.zone(id)?, &query, page)?,
        Route53Operation::ChangeResourceRecordSets(id) => return change_rrsets(state, id, body, (rules, now)),
        Route53Operation::GetChange(id) => get_change(state, id, rules, now)?,
        Route53Operation::ListTagsForResource(kind, id) => tags::list_tags(state, kind, id)?,
        Route53Operation::ListTagsForResources(kind) => tags::list_tags_of_many(state, kind, body, rules)?,
        Route53Operation::ChangeTagsForResource(kind, id) => tags::change_tags(state, (kind, id), body, rules)?,
        Route53Operation::ListResourceRecordSetProtections(id) => {
            protections::list_protections(state.zone(id)?, &query, page)?
        }
        Route53Operation::CreateResourceRecordSetProtections(id) => {
            protections::create_protections(state.zone_mut(id)?, body, rules)?
        }
        Route53Operation::DeleteResourceRecordSetProtections(id) => {
            protections::delete_protections(state.zone_mut(id)?, body, rules)?
        }
    };
    Ok(ServedBody::new(answer))
}

/// Checks that the policy allows an operation.
fn check_rights(operation: &Route53Operation, rules: &Route53Rules) -> Result<(), ServiceError> {
    let action = format!("route53:{}", operation.name());
    if rules.allowed_actions.as_ref().is_none_or(|allowed| allowed.contains(&action)) {
        return Ok(());
    }
    let words = format!(
        "User: arn:aws:iam::123456789012:user/double is not authorized to perform: {action} on resource: {} because no \
         identity-based policy allows the {action} action",
        operation.resource()
    );
    Err(ServiceError::new(403, "AccessDenied", words))
}

/// The query parameters of an operation. Source: the API's model.
fn known_query(operation: &Route53Operation) -> &'static [&'static str] {
    match operation {
        Route53Operation::ListHostedZones => &["marker", "maxitems", "delegationsetid", "hostedzonetype"],
        Route53Operation::ListHostedZonesByName => &["dnsname", "hostedzoneid", "maxitems"],
        Route53Operation::ListResourceRecordSets(_) => &["name", "type", "identifier", "maxitems"],
        Route53Operation::ListResourceRecordSetProtections(_) => &["name", "type", "maxresults", "nexttoken"],
        _ => &[],
    }
}

/// Changes RRsets.
fn change_rrsets(
    state: &mut AccountState,
    zone_id: &str,
    body: &[u8],
    (rules, now): (&Route53Rules, i64),
) -> Result<ServedBody, ServiceError> {
    let (requested, comment) = decode::decode_changes(body, rules)?;
    state.check_free(state.zone(zone_id)?, rules, now)?;
    let changes = batch::apply_batch(state.zone_mut(zone_id)?, requested, rules)?;
    let id = state.note_change(zone_id, now, comment.clone());
    let body = XmlWriter::document("ChangeResourceRecordSetsResponse", |xml| {
        zones::write_change(xml, &id, false, now, comment.as_ref());
    });
    Ok(ServedBody { changes, ..ServedBody::new(body) })
}

/// Says how far a change is.
fn get_change(state: &mut AccountState, id: &str, rules: &Route53Rules, now: i64) -> Result<String, ServiceError> {
    let unknown = || ServiceError::new(404, "NoSuchChange", format!("Could not find resource with ID: {id}"));
    let change = state.changes.get_mut(id).ok_or_else(unknown)?;
    change.asks += 1;
    let is_in_sync = change.is_in_sync(rules, now);
    Ok(XmlWriter::document("GetChangeResponse", |xml| {
        zones::write_change(xml, id, is_in_sync, change.submitted, change.comment.as_ref());
    }))
}
