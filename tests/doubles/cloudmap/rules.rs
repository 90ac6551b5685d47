//! What a test can set: limits, and what is not documented well enough to be sure of.

use std::collections::BTreeSet;

/// The settings of a double. The defaults are the strictest that a real account can be.
#[derive(Debug, Clone)]
pub struct CloudMapRules {
    /// Whether signatures are checked.
    pub checks_signature: bool,
    /// The actions that the policy allows, such as `servicediscovery:ListServices`; none allows all.
    pub allowed_actions: Option<BTreeSet<String>>,
    /// The actions that the policy takes away again.
    pub denied_actions: BTreeSet<String>,
    /// How many requests the account has in a second of the clock; none for as many as come.
    pub requests_a_second: Option<u32>,
    /// How a request is answered whose key or token is expired.
    pub expired_answer: ExpiredAnswer,
    /// How a request is answered that is one too many.
    pub throttle_answer: MapThrottle,
    /// The statuses of the errors of the model.
    pub error_statuses: ErrorStatuses,
    /// How the code of an error is written.
    pub error_types: ErrorTypeForm,
    /// Whether members that the model does not have are refused. The service may overlook them.
    pub refuses_strange_members: bool,
    /// When an operation is done.
    pub settling: OperationSettling,
    /// When GetInstance and ListInstances show what an operation does. DNS has it when the operation is done.
    pub shown: ListingMoment,
    /// What a copy of a request is answered whose operation is not done yet.
    pub repeated: RepeatAnswer,
    /// What a request is answered that has the CreatorRequestId of another one.
    pub reused: ReuseAnswer,
    /// How long the service knows the CreatorRequestId of a registration.
    pub memory: RequestMemory,
    /// What happens to RRs that UpdateService does not name.
    pub omitted_records: OmittedRecords,
    /// Whether UpdateService without a description keeps the description.
    pub keeps_description: bool,
    /// Whether `.`, which the pattern of names allows, is a service.
    pub allows_apex_service: bool,
    /// The most namespaces of the region.
    pub max_namespaces: usize,
    /// The most services of a namespace; none for as many as come.
    pub max_services: Option<usize>,
    /// The most instances of a service.
    pub max_instances: usize,
    /// The most instances of a namespace.
    pub max_namespace_instances: usize,
}

impl Default for CloudMapRules {
    fn default() -> Self {
        Self {
            checks_signature: true,
            allowed_actions: None,
            denied_actions: BTreeSet::new(),
            requests_a_second: None,
            expired_answer: ExpiredAnswer::OfJson,
            throttle_answer: MapThrottle::ThrottlingException,
            error_statuses: ErrorStatuses::All400,
            error_types: ErrorTypeForm::Plain,
            refuses_strange_members: true,
            settling: OperationSettling::AfterAsks(1),
            shown: ListingMoment::Done,
            repeated: RepeatAnswer::SameOperation,
            reused: ReuseAnswer::InvalidInput,
            memory: RequestMemory::Forever,
            omitted_records: OmittedRecords::Deleted,
            keeps_description: false,
            allows_apex_service: false,
            max_namespaces: 50,
            max_services: None,
            max_instances: 1_000,
            max_namespace_instances: 2_000,
        }
    }
}

impl CloudMapRules {
    /// Takes an action away, such as `RegisterInstance`.
    pub fn deny(&mut self, operation: &str) {
        self.denied_actions.insert(format!("servicediscovery:{operation}"));
    }
}

/// How a request is answered whose key or token is expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiredAnswer {
    /// 400 `ExpiredTokenException`, as services answer that speak JSON.
    OfJson,
    /// 403 `ExpiredToken`, as services answer that speak XML.
    OfXml,
}

/// How a request is answered that is one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapThrottle {
    /// The error that all services have.
    ThrottlingException,
    /// The error of the model, which has it for other operations alone.
    RequestLimitExceeded,
}

/// The statuses of the errors of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorStatuses {
    /// 400 for all, as users of the service report.
    All400,
    /// As the model says, such as 409 for `DuplicateRequest`.
    OfModel,
}

/// How the code of an error is written. Clients must read both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorTypeForm {
    /// Alone.
    Plain,
    /// Behind a name and `#`.
    Namespaced,
}

/// When an operation is done. It is `SUBMITTED` at the first look, and `PENDING` after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationSettling {
    /// At once.
    AtOnce,
    /// After so many answers of GetOperation that say that it runs. One that no client asks for is never done.
    AfterAsks(u32),
    /// After so many further requests of any client.
    AfterRequests(u64),
    /// After so many seconds of the clock.
    AfterSeconds(i64),
    /// When the test says so.
    Held,
}

/// When listings show what an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingMoment {
    /// When it is done.
    Done,
    /// When it is submitted. Where it fails, listings show again what was there before.
    Submitted,
}

/// What a copy of a request is answered whose operation is not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatAnswer {
    /// The same operation.
    SameOperation,
    /// `DuplicateRequest` with the same operation.
    DuplicateRequest,
}

/// What a request is answered that has the CreatorRequestId of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReuseAnswer {
    /// `InvalidInput`.
    InvalidInput,
    /// The operation of the other one; nothing is done.
    OldOperation,
}

/// How long the service knows the CreatorRequestId of a registration. A copy that it knows is answered with the old
/// operation, and nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMemory {
    /// For ever, unless the operation failed: a client must use a new one to do the same once more.
    Forever,
    /// As long as the instance is there as this request registered it.
    Instance,
}

/// What happens to RRs of a service that UpdateService does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedRecords {
    /// They are deleted, as the documentation says.
    Deleted,
    /// They are kept.
    Kept,
    /// The request is refused.
    Refused,
}
