//! The errors of Resource Manager and of the service behind it, and their JSON.

use serde_json::{Value, json};

use super::rules::ThrottleAnswer;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureError {
    /// The HTTP status.
    pub status: u16,
    /// The code, such as `PreconditionFailed`.
    pub code: String,
    /// The JSON of the answer.
    pub body: Value,
    /// Headers of this error alone.
    pub headers: Vec<(String, String)>,
}

impl AzureError {
    /// Makes an error of Resource Manager: `{"error":{"code":…,"message":…}}`.
    pub fn manager(status: u16, code: &str, message: impl Into<String>) -> Self {
        let body = json!({"error": {"code": code, "message": message.into()}});
        Self { status, code: code.to_owned(), body, headers: Vec::new() }
    }

    /// Makes an error of the service: `{"code":…,"message":…}`.
    pub fn service(status: u16, code: &str, message: impl Into<String>) -> Self {
        let body = json!({"code": code, "message": message.into()});
        Self { status, code: code.to_owned(), body, headers: Vec::new() }
    }

    /// Makes the error of a record set that is wrong.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::service(400, "BadRequest", message)
    }

    /// Makes the error of a body whose shape is wrong. The service does not say what is wrong.
    pub fn invalid_body() -> Self {
        Self::bad_request("The request was invalid.")
    }

    /// Makes the error of a condition that does not hold.
    pub fn precondition(message: impl Into<String>) -> Self {
        Self::service(412, "PreconditionFailed", message)
    }

    /// Makes the error of a token that is not good.
    pub fn unauthorized(code: &str, message: impl Into<String>) -> Self {
        let challenge = "Bearer authorization_uri=\"https://login.windows.net/\", error=\"invalid_token\", \
                         error_description=\"The access token is missing or invalid.\"";
        let headers = vec![("www-authenticate".to_owned(), challenge.to_owned())];
        Self { headers, ..Self::manager(401, code, message) }
    }

    /// Makes the error of credentials whose time is over.
    pub fn expired_token() -> Self {
        Self::unauthorized(
            "ExpiredAuthenticationToken",
            "The access token expiry UTC time is earlier than current UTC time.",
        )
    }

    /// Makes the error of too many requests; `seconds` is how long a client must wait.
    pub fn throttled(answer: ThrottleAnswer, seconds: i64) -> Self {
        let mut error = match answer {
            ThrottleAnswer::ResourceManager => {
                let message = "The request is being throttled as the limit has been reached for operation type.";
                Self::manager(429, "TooManyRequests", message)
            }
            ThrottleAnswer::JsonInString => {
                let message = "Too many operations are requested. Current operation is throttled.";
                let inner = Self::service(429, "Throttled", message);
                Self { body: Value::String(inner.body.to_string()), ..inner }
            }
        };
        error.headers.push(("retry-after".to_owned(), seconds.to_string()));
        error
    }

    /// Makes the error of a service that failed.
    pub fn internal() -> Self {
        Self::manager(500, "InternalServerError", "The server encountered an internal error. Please retry the request.")
    }

    /// Makes the error of a service that is not there.
    pub fn unavailable() -> Self {
        Self::manager(503, "ServiceUnavailable", "The service is temporarily unavailable. Please retry the request.")
    }
}
