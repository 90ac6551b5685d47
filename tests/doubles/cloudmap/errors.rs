//! The errors of the service, and their JSON.

use serde_json::{Map, Value, json};

use super::super::signature::{SignatureFault, SignatureFaultKind};
use super::rules::{CloudMapRules, ErrorStatuses, ErrorTypeForm, ExpiredAnswer, MapThrottle};

/// The statuses of the model; an error that is not here has 400. Source: the API's model.
const MODEL_STATUSES: [(&str, u16); 8] = [
    ("DuplicateRequest", 409),
    ("InstanceNotFound", 404),
    ("NamespaceNotFound", 404),
    ("OperationNotFound", 404),
    ("RequestLimitExceeded", 429),
    ("ResourceInUse", 409),
    ("ResourceNotFoundException", 404),
    ("ServiceNotFound", 404),
];

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapError {
    /// The code, such as `DuplicateRequest`.
    pub code: &'static str,
    /// What is wrong.
    message: String,
    /// The status; none for an error of the model.
    status: Option<u16>,
    /// What else the error says.
    members: Vec<(&'static str, String)>,
}

impl MapError {
    /// Makes an error of the model.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), status: None, members: Vec::new() }
    }

    /// Makes an error that all services have.
    fn common(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status: Some(status), ..Self::new(code, message) }
    }

    /// Makes the error say one thing more.
    pub fn with(mut self, member: &'static str, value: impl Into<String>) -> Self {
        self.members.push((member, value.into()));
        self
    }

    /// Makes the error of a request that is not as it must be.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new("InvalidInput", message)
    }

    /// Makes the error of a body that cannot be read.
    pub fn serialization(message: &str) -> Self {
        Self::common(400, "SerializationException", message)
    }

    /// Makes the error of an operation that is not there.
    pub fn unknown_operation() -> Self {
        Self::common(400, "UnknownOperationException", "")
    }

    /// Makes the error of a policy that does not allow an action.
    pub fn access_denied(action: &str, resource: &str) -> Self {
        let words = format!(
            "User: arn:aws:iam::123456789012:user/double is not authorized to perform: {action} on resource: \
             {resource} because no identity-based policy allows the {action} action"
        );
        Self::common(400, "AccessDeniedException", words)
    }

    /// Makes the error of an operation that runs for the same resource.
    pub fn duplicate(operation: &str, id: &str) -> Self {
        let words = format!("Another operation of type {operation} and id {id} is in progress");
        Self::new("DuplicateRequest", words).with("DuplicateOperationId", id)
    }

    /// Makes the error of too many requests.
    pub fn throttling(form: MapThrottle) -> Self {
        match form {
            MapThrottle::ThrottlingException => Self::common(400, "ThrottlingException", "Rate exceeded"),
            MapThrottle::RequestLimitExceeded => Self::new("RequestLimitExceeded", "Rate exceeded"),
        }
    }

    /// Makes the error of credentials whose time is over.
    pub fn expired_token(form: ExpiredAnswer) -> Self {
        let words = "The security token included in the request is expired";
        match form {
            ExpiredAnswer::OfJson => Self::common(400, "ExpiredTokenException", words),
            ExpiredAnswer::OfXml => Self::common(403, "ExpiredToken", words),
        }
    }

    /// Makes the error of a service that failed.
    pub fn internal() -> Self {
        Self::common(500, "InternalFailure", "")
    }

    /// Makes the error of a service that is not there.
    pub fn unavailable() -> Self {
        Self::common(503, "ServiceUnavailableException", "")
    }

    /// Makes the error of a signature that is not taken.
    pub fn of_signature(fault: SignatureFault, expired: ExpiredAnswer) -> Self {
        let code = match fault.kind {
            SignatureFaultKind::Missing => "MissingAuthenticationTokenException",
            SignatureFaultKind::Incomplete => "IncompleteSignatureException",
            SignatureFaultKind::StrangeKey => "UnrecognizedClientException",
            SignatureFaultKind::OldKey => return Self::expired_token(expired),
            SignatureFaultKind::WrongTime | SignatureFaultKind::Mismatch => "InvalidSignatureException",
        };
        Self::common(400, code, fault.message)
    }

    /// Returns the status of the answer.
    pub fn status(&self, rules: &CloudMapRules) -> u16 {
        let of_model = || match rules.error_statuses {
            ErrorStatuses::All400 => 400,
            ErrorStatuses::OfModel => {
                MODEL_STATUSES.iter().find(|(code, _)| *code == self.code).map_or(400, |(_, status)| *status)
            }
        };
        self.status.unwrap_or_else(of_model)
    }

    /// Writes the body of the answer. Errors of the model have `Message`, those of all services `message`.
    pub fn body(&self, rules: &CloudMapRules) -> Value {
        let code = match rules.error_types {
            ErrorTypeForm::Plain => self.code.to_owned(),
            ErrorTypeForm::Namespaced => format!("com.amazonaws.servicediscovery#{}", self.code),
        };
        let mut body = Map::new();
        body.insert("__type".to_owned(), json!(code));
        let key = if self.status.is_some() { "message" } else { "Message" };
        body.insert(key.to_owned(), json!(self.message));
        body.extend(self.members.iter().map(|(member, value)| ((*member).to_owned(), json!(value))));
        Value::Object(body)
    }
}
