//! What a test can set: limits, and what is not documented well enough to be sure of.

use std::collections::BTreeSet;

/// The settings of a double. The defaults are the strictest that a real account can be.
#[derive(Debug, Clone)]
pub struct Route53Rules {
    /// Whether signatures are checked.
    pub checks_signature: bool,
    /// The actions that the policy allows, such as `route53:GetChange`; none allows all.
    pub allowed_actions: Option<BTreeSet<String>>,
    /// How many requests the account has in a second of the clock; none for as many as come.
    pub requests_a_second: Option<u32>,
    /// When a change of a zone is refused because another one is being processed.
    pub prior_request: PriorRequest,
    /// When a change is `INSYNC`.
    pub settling: ChangeSettling,
    /// Whether a DELETE must state the values in the order in which they are kept.
    pub order_matters: bool,
    /// Whether one batch may delete an RRset and create another one of the same name, type and set identifier.
    pub allows_swap: bool,
    /// Whether elements must come in the order of the API's model, as its documentation demands.
    pub demands_element_order: bool,
    /// How an invalid batch is answered.
    pub batch_errors: BatchErrorForm,
    /// How a request is answered whose time is more than 15 minutes from the clock.
    pub skew_answer: SkewAnswer,
    /// The most ResourceRecord elements of a batch; those of an UPSERT count twice.
    pub max_records: usize,
    /// The most characters of all values of a batch; those of an UPSERT count twice.
    pub max_characters: usize,
    /// The most records of an RRset.
    pub max_records_a_set: usize,
    /// The most RRsets of a zone; none for as many as come.
    pub max_rrsets: Option<usize>,
}

impl Default for Route53Rules {
    fn default() -> Self {
        Self {
            checks_signature: true,
            allowed_actions: None,
            requests_a_second: Some(5),
            prior_request: PriorRequest::Never,
            settling: ChangeSettling::AfterAsks(1),
            order_matters: true,
            allows_swap: true,
            demands_element_order: true,
            batch_errors: BatchErrorForm::ErrorResponse,
            skew_answer: SkewAnswer::RequestExpired,
            max_records: 1_000,
            max_characters: 32_000,
            max_records_a_set: 400,
            max_rrsets: Some(10_000),
        }
    }
}

/// When a change of a zone is refused with `PriorRequestNotComplete`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorRequest {
    /// It is not.
    Never,
    /// While the last change of the zone is `PENDING`.
    WhilePending,
    /// For so many seconds of the clock after the last change of the zone.
    Seconds(i64),
}

/// When a change is `INSYNC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSettling {
    /// At once.
    AtOnce,
    /// After so many answers of GetChange that say `PENDING`.
    AfterAsks(u32),
    /// After so many seconds of the clock.
    AfterSeconds(i64),
}

/// How `InvalidChangeBatch` is answered. Clients of the service know both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchErrorForm {
    /// An `ErrorResponse` as for all errors. Its one message is the list of all, in brackets, with commas.
    ErrorResponse,
    /// An `InvalidChangeBatch` with one `Message` an error.
    MessageList,
}

/// How a request is answered whose time is more than 15 minutes from the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkewAnswer {
    /// 400 `RequestExpired`, as it is documented.
    RequestExpired,
    /// 403 `SignatureDoesNotMatch` with `Signature expired`, as clients report it.
    SignatureDoesNotMatch,
}
