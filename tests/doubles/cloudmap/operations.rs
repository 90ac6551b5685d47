//! Operations: what is submitted now and done later.

use serde_json::{Value, json};

use super::account::{MapState, RememberedRequest, RequestKey, letters};
use super::calls::{MapAnswer, MapCall, MapResult};
use super::errors::MapError;
use super::listing::{filtered_page, has_words};
use super::log::{MapChange, MapLogEntry, SETTLED};
use super::resources::{ACCOUNT, MapInstance, MapNamespace, MapService, NamespaceKind, shown_moment, with};
use super::rules::{CloudMapRules, OperationSettling, RepeatAnswer, ReuseAnswer};

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct MapOperation {
    /// The identifier.
    pub id: String,
    /// The number of the request that submitted it; 0 for one of another editor.
    pub number: u64,
    /// What is to be done.
    pub work: MapWork,
    /// When it was submitted, in seconds since the epoch.
    pub submitted: i64,
    /// How many requests had come then.
    arrived: u64,
    /// How many times GetOperation asked for it.
    asks: u32,
    /// Whether the test says that it is to be done now.
    is_released: bool,
    /// Why it is to fail: code and message.
    failure: Option<(String, String)>,
    /// How it ended; none while it runs.
    pub end: Option<OperationEnd>,
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationEnd {
    /// When, in seconds since the epoch.
    pub at: i64,
    /// Code and message where it failed.
    pub failure: Option<(String, String)>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum MapWork {
    /// To create a namespace that has this number in listings.
    CreateNamespace(u64, MapNamespace),
    /// To delete a namespace.
    DeleteNamespace(String),
    /// To replace a service.
    UpdateService(MapService),
    /// To put an instance into a service.
    Register(String, MapInstance),
    /// To take an instance out of a service.
    Deregister(String, String),
}

impl MapWork {
    /// Returns the word of the API.
    pub fn word(&self) -> &'static str {
        match self {
            Self::CreateNamespace(..) => "CREATE_NAMESPACE",
            Self::DeleteNamespace(_) => "DELETE_NAMESPACE",
            Self::UpdateService(_) => "UPDATE_SERVICE",
            Self::Register(..) => "REGISTER_INSTANCE",
            Self::Deregister(..) => "DEREGISTER_INSTANCE",
        }
    }

    /// Returns the name of the operation of the API that submits it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CreateNamespace(_, namespace) => match namespace.kind {
                NamespaceKind::Public => "CreatePublicDnsNamespace",
                NamespaceKind::Private => "CreatePrivateDnsNamespace",
                NamespaceKind::Http => "CreateHttpNamespace",
            },
            Self::DeleteNamespace(_) => "DeleteNamespace",
            Self::UpdateService(_) => "UpdateService",
            Self::Register(..) => "RegisterInstance",
            Self::Deregister(..) => "DeregisterInstance",
        }
    }

    /// Returns the service and the instance that it is about.
    pub fn instance(&self) -> Option<(&str, &str)> {
        match self {
            Self::Register(service, instance) => Some((service, &instance.id)),
            Self::Deregister(service, instance) => Some((service, instance)),
            _ => None,
        }
    }

    /// Returns what it is about, as GetOperation shows it.
    fn targets(&self) -> Value {
        match self {
            Self::CreateNamespace(_, namespace) => json!({"NAMESPACE": namespace.id}),
            Self::DeleteNamespace(id) => json!({"NAMESPACE": id}),
            Self::UpdateService(service) => json!({"SERVICE": service.id}),
            Self::Register(service, instance) => json!({"INSTANCE": instance.id, "SERVICE": service}),
            Self::Deregister(service, instance) => json!({"INSTANCE": instance, "SERVICE": service}),
        }
    }
}

/// Operations that are to fail. It is the service that fails then: the request is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailurePlan {
    /// The only operation that it is for, such as `RegisterInstance`; none for all.
    pub operation: Option<String>,
    /// The only instance that it is for; none for all.
    pub instance: Option<String>,
    /// How many operations that fit are left alone first.
    pub skip: u64,
    /// How many operations it is for, at least 1.
    pub times: u64,
    /// The `ErrorCode`, such as `THROTTLED_REQUEST`.
    pub code: String,
}

impl FailurePlan {
    /// Makes a plan for the next operation of a kind, such as `RegisterInstance`.
    pub fn next(operation: &str, code: &str) -> Self {
        Self { operation: Some(operation.to_owned()), instance: None, skip: 0, times: 1, code: code.to_owned() }
    }

    /// Says whether it fails this work, and counts it.
    fn takes(&mut self, work: &MapWork) -> bool {
        let is_other = self.operation.as_deref().is_some_and(|only| only != work.name())
            || self.instance.as_deref().is_some_and(|only| work.instance().is_none_or(|(_, id)| id != only));
        if is_other || self.times == 0 {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}

impl MapOperation {
    /// Returns the word of the API for how far it is.
    pub fn status(&self) -> &'static str {
        match &self.end {
            Some(OperationEnd { failure: None, .. }) => "SUCCESS",
            Some(_) => "FAIL",
            None if self.asks <= 1 => "SUBMITTED",
            None => "PENDING",
        }
    }

    /// Returns when its status changed last, in seconds since the epoch.
    fn updated(&self) -> i64 {
        self.end.as_ref().map_or(self.submitted, |end| end.at)
    }

    /// Whether it is to be done now.
    fn is_due(&self, rules: &CloudMapRules, (now, arrived): (i64, u64)) -> bool {
        self.is_released
            || match rules.settling {
                OperationSettling::AtOnce => true,
                OperationSettling::AfterAsks(asks) => self.asks > asks,
                OperationSettling::AfterRequests(requests) => arrived - self.arrived > requests,
                OperationSettling::AfterSeconds(seconds) => now - self.submitted >= seconds,
                OperationSettling::Held => false,
            }
    }

    /// Shows it as GetOperation does.
    fn shown(&self) -> Value {
        let failure = self.end.as_ref().and_then(|end| end.failure.clone());
        let (code, message) = failure.map(|(code, message)| (json!(code), json!(message))).unzip();
        let operation = json!({
            "Id": self.id,
            "OwnerAccount": ACCOUNT,
            "Type": self.work.word(),
            "Status": self.status(),
            "CreateDate": shown_moment(self.submitted),
            "UpdateDate": shown_moment(self.updated()),
            "Targets": self.work.targets(),
        });
        with(operation, [("ErrorCode", code), ("ErrorMessage", message)])
    }
}

impl MapState {
    /// Submits an operation for a request, and returns its identifier.
    pub fn submit(&mut self, work: MapWork, number: u64, now: i64) -> String {
        let count = u64::try_from(self.operations.len()).expect("there are few operations") + 1;
        let id = format!("{}-{}", letters(count, 32), letters(count, 8));
        let taken = self.failures.iter_mut().find_map(|plan| plan.takes(&work).then(|| plan.code.clone()));
        let failure = taken.map(|code| (code.clone(), format!("The operation failed: {code}")));
        self.failures.retain(|plan| plan.times > 0);
        let arrived = self.arrived;
        let operation = MapOperation {
            id: id.clone(),
            number,
            work,
            submitted: now,
            arrived,
            asks: 0,
            is_released: false,
            failure,
            end: None,
        };
        let place = self.operations.len();
        self.places.insert(id.clone(), place);
        self.open.insert(place);
        self.operations.push(operation);
        id
    }

    /// Returns the operations that run.
    pub fn running(&self) -> impl Iterator<Item = &MapOperation> {
        self.open.iter().map(|place| &self.operations[*place])
    }

    /// Refuses a request while an operation of the same instance runs.
    pub fn check_instance_free(&self, service: &str, instance: &str) -> Result<(), MapError> {
        let found = self.running().find(|operation| operation.work.instance() == Some((service, instance)));
        found.map_or(Ok(()), |busy| Err(MapError::duplicate(busy.work.name(), &busy.id)))
    }

    /// Answers a copy of a request that was taken already; none where it is new, and where its operation failed.
    pub fn repeated(&self, key: &RequestKey, input: &Value, rules: &CloudMapRules) -> Result<Option<String>, MapError> {
        let Some(RememberedRequest { input: earlier, operation_id }) = self.remembered.get(key) else {
            return Ok(None);
        };
        let operation = &self.operations[self.places[operation_id]];
        if operation.end.as_ref().is_some_and(|end| end.failure.is_some()) {
            return Ok(None);
        }
        if earlier != input && rules.reused == ReuseAnswer::InvalidInput {
            let words = format!("The CreatorRequestId {} was used for another request", key.2);
            return Err(MapError::invalid(words));
        }
        if operation.end.is_none() && rules.repeated == RepeatAnswer::DuplicateRequest {
            return Err(MapError::duplicate(operation.work.name(), &operation.id));
        }
        Ok(Some(operation.id.clone()))
    }

    /// Says that an operation is to be done, whatever the settings are.
    pub fn release(&mut self, id: &str) {
        let place = self.places[id];
        self.operations[place].is_released = true;
    }

    /// Does all operations that are due, in the order in which they were submitted.
    pub fn settle(&mut self, rules: &CloudMapRules, now: i64) {
        let moment = (now, self.arrived);
        let is_due = |place: &usize| self.operations[*place].is_due(rules, moment);
        for place in self.open.iter().copied().filter(is_due).collect::<Vec<usize>>() {
            self.open.remove(&place);
            let operation = self.operations[place].clone();
            let done = match operation.failure.clone() {
                Some(failure) => Err(failure),
                None => self.carry_out(&operation.work),
            };
            let (changes, failure) = match done {
                Ok(changes) => (changes, None),
                Err(failure) => (Vec::new(), Some(failure)),
            };
            let code = failure.as_ref().map(|(code, _)| code.clone());
            self.operations[place].end = Some(OperationEnd { at: now, failure });
            self.log.push(MapLogEntry {
                number: operation.number,
                at: now,
                operation: SETTLED.to_owned(),
                subject: operation.work.instance().map(|(service, _)| service.to_owned()),
                instance: operation.work.instance().map(|(_, instance)| instance.to_owned()),
                operation_id: Some(operation.id),
                status: None,
                code,
                fault: None,
                changes,
            });
        }
    }

    /// Does what an operation is for. Errors: code and message of why it failed.
    fn carry_out(&mut self, work: &MapWork) -> Result<Vec<MapChange>, (String, String)> {
        let gone = |_| ("HOSTED_ZONE_NOT_FOUND".to_owned(), "The hosted zone was not found".to_owned());
        match work {
            MapWork::CreateNamespace(number, namespace) => Ok(vec![self.add_namespace(*number, namespace.clone())]),
            MapWork::DeleteNamespace(id) => {
                if self.services_of(id).next().is_some() {
                    return Err(("INTERNAL_FAILURE".to_owned(), "The namespace has a service now".to_owned()));
                }
                let place = self.namespaces.iter().position(|numbered| numbered.item.id == *id);
                let before = place.map(|place| self.namespaces.remove(place).item);
                Ok(vec![MapChange::Namespace { before, after: None }])
            }
            MapWork::UpdateService(after) => {
                let state = self.service_mut(&after.id).map_err(gone)?;
                // Tags are changed at once, and so they may be other ones by now.
                let after = MapService { tags: state.service.tags.clone(), ..after.clone() };
                let before = std::mem::replace(&mut state.service, after.clone());
                Ok(vec![MapChange::Service { before: Some(before), after: Some(after) }])
            }
            MapWork::Register(service, instance) => {
                self.check_names(service, instance)?;
                Ok(vec![self.service_mut(service).map_err(gone)?.put(instance.clone())])
            }
            MapWork::Deregister(service, instance) => {
                Ok(self.service_mut(service).map_err(gone)?.remove(instance).into_iter().collect())
            }
        }
    }

    /// Checks that the name of an instance with an SRV is one of DNS: the service makes it of the identifier.
    fn check_names(&self, service: &str, instance: &MapInstance) -> Result<(), (String, String)> {
        let has_srv = self.service(service).is_ok_and(|state| state.service.has_type("SRV"));
        let is_label = |label: &str| (1..=63).contains(&label.len());
        if !has_srv || instance.id.split('.').all(is_label) {
            return Ok(());
        }
        let words = format!("The name of the instance {} is no name of DNS", instance.id);
        Err(("INVALID_CHANGE_BATCH".to_owned(), words))
    }
}

/// Says how far an operation is. This counts as a look at it.
pub fn get_operation(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let id = call.required("OperationId");
    let place = state.places.get(id).copied();
    let place = place.ok_or_else(|| MapError::new("OperationNotFound", format!("Operation not found: {id}")))?;
    state.operations[place].asks += 1;
    state.settle(call.rules, call.now);
    Ok(MapAnswer::of(json!({"Operation": state.operations[place].shown()})))
}

/// Lists operations. A page is cut first and filtered then, so that it may be empty though more follow.
pub fn list_operations(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let items = state.operations.iter().enumerate().map(|(place, own)| (format!("{place:020}"), own));
    let (page, next) = filtered_page(items.collect(), call, |own, filter| {
        filter.check_condition(match filter.name {
            "STATUS" | "TYPE" => &["EQ", "IN"],
            "UPDATE_DATE" => &["BETWEEN"],
            _ => &["EQ"],
        })?;
        let targets = own.work.targets();
        let namespace = targets["SERVICE"].as_str().and_then(|id| state.service(id).ok());
        let namespace = namespace.map(|own| own.service.namespace.as_str()).or(targets["NAMESPACE"].as_str());
        Ok(match filter.name {
            "NAMESPACE_ID" => has_words(filter, &[namespace.unwrap_or_default()]),
            "SERVICE_ID" => has_words(filter, &[targets["SERVICE"].as_str().unwrap_or_default()]),
            "STATUS" => has_words(filter, &[own.status()]),
            "TYPE" => has_words(filter, &[own.work.word()]),
            _ => {
                let bounds: Result<Vec<i64>, _> = filter.values().iter().map(|value| value.parse::<i64>()).collect();
                let bounds = bounds.map_err(|_| MapError::invalid("UPDATE_DATE is compared with numbers"))?;
                (bounds[0]..=bounds[1]).contains(&own.updated())
            }
        })
    })?;
    let summaries: Vec<Value> = page.into_iter().map(|own| json!({"Id": own.id, "Status": own.status()})).collect();
    Ok(MapAnswer::of(with(json!({"Operations": summaries}), [("NextToken", next.map(Value::from))])))
}
