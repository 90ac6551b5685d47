//! Tokens: who gets one, in the three ways in which clients ask, and whether a request has a good one.

use serde_json::json;

use super::super::DoubleRequest;
use super::super::clock::shown_time;
use super::account::AzureState;
use super::errors::AzureError;
use super::guid::guid;
use super::manager::{AzureAnswer, AzureResult};
use super::paths::{AzureFields, AzureOperation, AzureVerb};
use super::rules::AzureRules;

/// The type of a federated assertion. Source: RFC 7523 section 2.2.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A client that may ask for tokens.
pub struct AzureClient {
    /// The directory that knows it.
    pub tenant: String,
    /// Its identifier.
    pub id: String,
    /// How it proves itself.
    pub proof: ClientProof,
}

/// How a client proves itself.
pub enum ClientProof {
    /// By a secret.
    Secret(String),
    /// By a token of another issuer.
    Assertion(String),
}

/// A token that was given.
pub struct AzureToken {
    /// What a client sends.
    pub text: String,
    /// What it is for, without a slash at the end.
    pub audience: String,
    /// In seconds since the epoch.
    pub expires_at: i64,
}

/// Does a request for a token.
pub fn serve_token(
    state: &mut AzureState,
    operation: &AzureOperation,
    request: &DoubleRequest,
    (rules, now): (&AzureRules, i64),
) -> AzureResult {
    match operation.verb {
        AzureVerb::GetToken => give_to_client(state, &operation.scope, &request.body, (rules, now)),
        verb => {
            let host = if verb == AzureVerb::GetMachineToken { IdentityHost::Machine } else { IdentityHost::App };
            check_identity_header(state, host, request)?;
            give_to_identity(state, request, host, (rules, now))
        }
    }
}

/// What has an identity and may ask for tokens without a secret of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentityHost {
    /// A virtual machine.
    Machine,
    /// An App Service.
    App,
}

impl IdentityHost {
    /// Returns the only version of the endpoint that the double has.
    fn api_version(self) -> &'static str {
        match self {
            Self::Machine => "2018-02-01",
            Self::App => "2019-08-01",
        }
    }

    /// Makes an error as the endpoint words it.
    fn error(self, status: u16, message: &str) -> AzureError {
        let body = match self {
            Self::Machine => json!({"error": "invalid_request", "error_description": message}),
            Self::App => json!({"statusCode": status, "message": message}),
        };
        AzureError { status, code: "invalid_request".to_owned(), body, headers: Vec::new() }
    }
}

/// Checks the header that a page in a browser cannot send.
fn check_identity_header(state: &AzureState, host: IdentityHost, request: &DoubleRequest) -> Result<(), AzureError> {
    match host {
        IdentityHost::Machine => {
            if !request.header("metadata").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
                return Err(host.error(400, "Required metadata header not specified"));
            }
            if request.header("x-forwarded-for").is_some() {
                return Err(host.error(400, "Requests must not be forwarded"));
            }
        }
        IdentityHost::App => {
            if state.app_secret.is_none() || request.header("x-identity-header") != state.app_secret.as_deref() {
                return Err(host.error(401, "The identity header is missing or wrong."));
            }
        }
    }
    Ok(())
}

/// Gives a token to a client that has a secret or an assertion.
fn give_to_client(state: &mut AzureState, tenant: &str, body: &[u8], (rules, now): (&AzureRules, i64)) -> AzureResult {
    let refuse = |status, error, code, message: String| Err(entra_error(status, error, code, &message, now));
    let Some(form) = AzureFields::parse_form(body) else {
        return refuse(400, "invalid_request", 900_144, "The request body is not a form.".to_owned());
    };
    match form.get("grant_type") {
        None => {
            let message = "The request body must contain the following parameter: 'grant_type'.";
            return refuse(400, "invalid_request", 900_144, message.to_owned());
        }
        Some("client_credentials") => {}
        Some(_) => {
            let message = "The app requested an unsupported grant type.";
            return refuse(400, "unsupported_grant_type", 70_003, message.to_owned());
        }
    }
    let Some(id) = form.get("client_id") else {
        let message = "The request body must contain the following parameter: 'client_id'.";
        return refuse(400, "invalid_request", 900_144, message.to_owned());
    };
    if !state.clients.iter().any(|client| client.tenant == tenant) {
        return refuse(400, "invalid_request", 90_002, format!("Tenant '{tenant}' not found."));
    }
    let own: Vec<&AzureClient> =
        state.clients.iter().filter(|client| client.tenant == tenant && client.id == id).collect();
    if own.is_empty() {
        let message = format!("Application with identifier '{id}' was not found in the directory '{tenant}'.");
        return refuse(400, "unauthorized_client", 700_016, message);
    }
    match (form.get("client_secret"), form.get("client_assertion")) {
        (Some(given), None) => {
            let is_known =
                |client: &&AzureClient| matches!(&client.proof, ClientProof::Secret(known) if known == given);
            if !own.iter().any(is_known) {
                let message = format!(
                    "Invalid client secret provided. Ensure the secret being sent in the request is the client secret \
                     value, not the client secret ID, for a secret added to app '{id}'."
                );
                return refuse(401, "invalid_client", 7_000_215, message);
            }
        }
        (None, Some(given)) if form.get("client_assertion_type") == Some(ASSERTION_TYPE) => {
            let is_known =
                |client: &&AzureClient| matches!(&client.proof, ClientProof::Assertion(known) if known == given);
            if !own.iter().any(is_known) {
                let message = "No matching federated identity record found for presented assertion.";
                return refuse(401, "invalid_client", 70_021, message.to_owned());
            }
        }
        _ => {
            let message = "The request body must contain the following parameter: 'client_assertion' or \
                           'client_secret'.";
            return refuse(401, "invalid_client", 7_000_218, message.to_owned());
        }
    }
    let scope = form.get("scope").unwrap_or_default();
    let Some(audience) = scope.strip_suffix("/.default").filter(|audience| !audience.contains(' ')) else {
        let message = format!(
            "The provided value for scope {scope} is not valid. Client credential flows must have a scope value with \
             /.default suffixed to the resource identifier (application ID URI)."
        );
        return refuse(400, "invalid_scope", 1_002_012, message);
    };
    let text = state.give_token(audience, rules, now);
    let seconds = rules.token_seconds;
    Ok(AzureAnswer::new(
        200,
        json!({"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": seconds, "access_token": text}),
    ))
}

/// Gives a token to a machine or app that has an identity.
fn give_to_identity(
    state: &mut AzureState,
    request: &DoubleRequest,
    host: IdentityHost,
    (rules, now): (&AzureRules, i64),
) -> AzureResult {
    let known = ["api-version", "resource", "client_id"];
    let query = AzureFields::parse_query(request, &known).map_err(|_| host.error(400, "The query is not valid."))?;
    if query.get("api-version") != Some(host.api_version()) {
        return Err(host.error(400, "The api-version is not supported."));
    }
    let Some(resource) = query.get("resource") else { return Err(host.error(400, "The resource is missing.")) };
    let identity = query.get("client_id").unwrap_or_default();
    if !state.identities.iter().any(|known| known == identity) {
        let message = match host {
            IdentityHost::Machine => "Identity not found",
            IdentityHost::App => {
                "No User Assigned or Delegated Managed Identity found for specified ClientId/ResourceId/PrincipalId."
            }
        };
        return Err(host.error(400, message));
    }
    let client_id = if identity.is_empty() { guid(1) } else { identity.to_owned() };
    let text = state.give_token(resource, rules, now);
    let mut answer = json!({
        "access_token": text,
        "client_id": client_id,
        "expires_on": (now + rules.token_seconds).to_string(),
        "resource": resource,
        "token_type": "Bearer",
    });
    // These services write numbers as strings; App Service says only when the token ends.
    if host == IdentityHost::Machine {
        answer["expires_in"] = json!(rules.token_seconds.to_string());
        answer["ext_expires_in"] = json!(rules.token_seconds.to_string());
        answer["not_before"] = json!(now.to_string());
    }
    Ok(AzureAnswer::new(200, answer))
}

/// Checks that a request has a token that is good for Resource Manager.
pub fn check_token(
    request: &DoubleRequest,
    tokens: &[AzureToken],
    rules: &AzureRules,
    now: i64,
) -> Result<(), AzureError> {
    let Some(header) = request.header("authorization") else {
        let message = "Authentication failed. The 'Authorization' header is missing.";
        return Err(AzureError::unauthorized("AuthenticationFailed", message));
    };
    let Some(token) = header.strip_prefix("Bearer ").and_then(|text| tokens.iter().find(|token| token.text == text))
    else {
        return Err(AzureError::unauthorized("InvalidAuthenticationToken", "The access token is invalid."));
    };
    if now >= token.expires_at {
        let message = format!(
            "The access token expiry UTC time '{}' is earlier than current UTC time '{}'.",
            shown_time(token.expires_at),
            shown_time(now)
        );
        return Err(AzureError::unauthorized("ExpiredAuthenticationToken", message));
    }
    if !rules.audiences.contains(&token.audience) {
        let message =
            format!("The access token has been obtained for wrong audience or resource '{}'.", token.audience);
        return Err(AzureError::unauthorized("InvalidAuthenticationTokenAudience", message));
    }
    Ok(())
}

/// Makes an error as Entra words it.
fn entra_error(status: u16, error: &str, code: u32, message: &str, now: i64) -> AzureError {
    let timestamp = shown_time(now).replace('T', " ");
    let (trace, correlation) = (guid(2), guid(3));
    let description =
        format!("AADSTS{code}: {message} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {timestamp}");
    let body = json!({
        "error": error,
        "error_description": description,
        "error_codes": [code],
        "timestamp": timestamp,
        "trace_id": trace,
        "correlation_id": correlation,
        "error_uri": format!("https://login.microsoftonline.com/error?code={code}"),
    });
    AzureError { status, code: format!("AADSTS{code}"), body, headers: Vec::new() }
}
