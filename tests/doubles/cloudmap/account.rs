//! What the region of an account has: namespaces, services with their instances, and operations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::signature::KnownKey;
use super::errors::MapError;
use super::log::{MapChange, MapLogEntry};
use super::operations::{FailurePlan, MapOperation};
use super::resources::{MapInstance, MapNamespace, MapService, NamespaceKind, namespace_arn, service_arn};
use super::rules::CloudMapRules;

/// The state of an account in a region.
pub struct MapState {
    /// The region.
    pub region: String,
    /// The namespaces in the order in which they were created.
    pub namespaces: Vec<Numbered<MapNamespace>>,
    /// The services by their identifiers. Their numbers say in which order they were created.
    pub services: BTreeMap<String, Numbered<ServiceState>>,
    /// The operations in the order in which they were submitted.
    pub operations: Vec<MapOperation>,
    /// The places of operations by their identifiers.
    pub places: BTreeMap<String, usize>,
    /// The places of the operations that run.
    pub open: BTreeSet<usize>,
    /// The requests with a CreatorRequestId that submitted an operation.
    pub remembered: BTreeMap<RequestKey, RememberedRequest>,
    /// The operations that are to fail.
    pub failures: Vec<FailurePlan>,
    /// Who may sign.
    pub keys: Vec<KnownKey>,
    /// All requests, all ends of operations, and all that another editor did, in order.
    pub log: Vec<MapLogEntry>,
    /// How many things were ever created.
    pub created: u64,
    /// How many requests came.
    pub arrived: u64,
    /// The second of the clock that is counted, and the requests in it.
    pub spent: (i64, u32),
}

/// A thing with the number that it has in the order of listings.
pub struct Numbered<T> {
    /// The number; later ones are greater.
    pub number: u64,
    /// The thing.
    pub item: T,
}

/// A service with its instances.
pub struct ServiceState {
    /// The service.
    pub service: MapService,
    /// The instances by their identifiers.
    pub instances: BTreeMap<String, MapInstance>,
}

/// What a request is remembered under: the operation, what it is about, and the CreatorRequestId.
pub type RequestKey = (&'static str, String, String);

/// A request that the service remembers.
pub struct RememberedRequest {
    /// The request.
    pub input: Value,
    /// The operation that it submitted.
    pub operation_id: String,
}

impl MapState {
    /// Makes an account that has nothing.
    pub fn new(region: &str) -> Self {
        Self {
            region: region.to_owned(),
            namespaces: Vec::new(),
            services: BTreeMap::new(),
            operations: Vec::new(),
            places: BTreeMap::new(),
            open: BTreeSet::new(),
            remembered: BTreeMap::new(),
            failures: Vec::new(),
            keys: Vec::new(),
            log: Vec::new(),
            created: 0,
            arrived: 0,
            spent: (0, 0),
        }
    }

    /// Returns a number and an identifier for something new, such as `srv-` with 16 letters.
    pub fn next_id(&mut self, prefix: &str) -> (u64, String) {
        self.created += 1;
        (self.created, format!("{prefix}{}", letters(self.created, 16)))
    }

    /// Finds a namespace by its identifier or ARN.
    pub fn namespace(&self, id: &str) -> Result<&MapNamespace, MapError> {
        let is_it = |own: &MapNamespace| own.id == id || namespace_arn(&self.region, &own.id) == id;
        let found = self.namespaces.iter().map(|numbered| &numbered.item).find(|own| is_it(own));
        found.ok_or_else(|| MapError::new("NamespaceNotFound", format!("Namespace not found: {id}")))
    }

    /// Finds a service by its identifier or ARN.
    pub fn service(&self, id: &str) -> Result<&ServiceState, MapError> {
        let found = self.services.get(self.bare_id(id)).map(|numbered| &numbered.item);
        found.ok_or_else(|| no_service(id))
    }

    /// Finds a service by its identifier or ARN, to be changed.
    pub fn service_mut(&mut self, id: &str) -> Result<&mut ServiceState, MapError> {
        let bare = self.bare_id(id).to_owned();
        let found = self.services.get_mut(&bare).map(|numbered| &mut numbered.item);
        found.ok_or_else(|| no_service(id))
    }

    /// Returns the identifier of a service that is given by it or by its ARN.
    fn bare_id<'i>(&self, id: &'i str) -> &'i str {
        id.strip_prefix(service_arn(&self.region, "").as_str()).unwrap_or(id)
    }

    /// Returns the services of a namespace in the order of their identifiers.
    pub fn services_of<'s>(&'s self, namespace: &'s str) -> impl Iterator<Item = &'s ServiceState> {
        self.services.values().map(|numbered| &numbered.item).filter(move |own| own.service.namespace == namespace)
    }

    /// Returns all services in the order in which they were created, each with what it is listed under.
    pub fn listed_services(&self) -> Vec<(String, &ServiceState)> {
        let mut services: Vec<&Numbered<ServiceState>> = self.services.values().collect();
        services.sort_by_key(|numbered| numbered.number);
        services.into_iter().map(|numbered| (format!("{:020}", numbered.number), &numbered.item)).collect()
    }

    /// Adds a namespace.
    pub fn add_namespace(&mut self, number: u64, namespace: MapNamespace) -> MapChange {
        let after = Some(namespace.clone());
        self.namespaces.push(Numbered { number, item: namespace });
        MapChange::Namespace { before: None, after }
    }

    /// Adds a service.
    pub fn add_service(&mut self, number: u64, service: MapService) -> MapChange {
        let after = Some(service.clone());
        let id = service.id.clone();
        self.services.insert(id, Numbered { number, item: ServiceState { service, instances: BTreeMap::new() } });
        MapChange::Service { before: None, after }
    }

    /// Removes a service with all that it has.
    pub fn remove_service(&mut self, id: &str) -> Result<Vec<MapChange>, MapError> {
        let removed = self.services.remove(id).ok_or_else(|| no_service(id))?;
        let ServiceState { service, instances } = removed.item;
        let gone = |before: MapInstance| MapChange::Instance {
            service: service.id.clone(),
            before: Some(before),
            after: None,
        };
        let mut changes: Vec<MapChange> = instances.into_values().map(gone).collect();
        changes.push(MapChange::Service { before: Some(service), after: None });
        Ok(changes)
    }

    /// Counts a request of the account. Errors: there were too many in this second of the clock.
    pub fn spend(&mut self, rules: &CloudMapRules, now: i64) -> Result<(), MapError> {
        if self.spent.0 != now {
            self.spent = (now, 0);
        }
        if rules.requests_a_second.is_some_and(|most| self.spent.1 >= most) {
            return Err(MapError::throttling(rules.throttle_answer));
        }
        self.spent.1 += 1;
        Ok(())
    }
}

impl ServiceState {
    /// Puts an instance, whatever was there, and says what changed.
    pub fn put(&mut self, instance: MapInstance) -> MapChange {
        let after = Some(instance.clone());
        let before = self.instances.insert(instance.id.clone(), instance);
        MapChange::Instance { service: self.service.id.clone(), before, after }
    }

    /// Removes an instance, and says what changed; none where it was not there.
    pub fn remove(&mut self, id: &str) -> Option<MapChange> {
        let before = self.instances.remove(id)?;
        Some(MapChange::Instance { service: self.service.id.clone(), before: Some(before), after: None })
    }

    /// Whether the instances have names in DNS.
    pub fn has_dns(&self, namespace: &MapNamespace) -> bool {
        namespace.kind != NamespaceKind::Http && !self.service.records.is_empty()
    }
}

/// The error of a service that is not there.
fn no_service(id: &str) -> MapError {
    MapError::new("ServiceNotFound", format!("Service not found: {id}"))
}

/// Writes a number as so many small letters and digits. Two numbers below 2^40 never have the same: the number is in it.
pub fn letters(number: u64, count: usize) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    // The factor is odd, so that no two numbers have the same product; its bits make the letters look random.
    let mut rest = number.wrapping_mul(0x5851_f42d_4c95_7f2d);
    let mut text = String::new();
    while text.len() < count {
        let letter = usize::try_from(rest & 31).expect("it is below 32");
        text.push(char::from(LETTERS[letter]));
        rest = rest.rotate_right(5);
    }
    text
}
