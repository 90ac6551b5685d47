//! Resource Manager: it checks who asks, what for, with what rights and how often, and hands the request on.

use serde_json::Value;

use super::super::DoubleRequest;
use super::super::faults::FaultKind;
use super::account::{AzureState, RateClass};
use super::errors::AzureError;
use super::guid::guid;
use super::listing::{PageSpoil, list_sets};
use super::log::AzureChange;
use super::paths::{AzureFields, AzureOperation, AzureVerb};
use super::rules::{AzureKind, AzureRules};
use super::set::set_key;
use super::tokens::{check_token, serve_token};
use super::{AzureArrival, SUBSCRIPTION, sets, zones};

/// A request to Resource Manager, with all that decides about it.
pub struct AzureCall<'r> {
    /// Which service it is.
    pub kind: AzureKind,
    /// The subscription.
    pub subscription: &'r str,
    /// The request.
    pub request: &'r DoubleRequest,
    /// What it asks for.
    pub operation: &'r AzureOperation,
    /// Its query.
    pub query: AzureFields,
    /// The settings.
    pub rules: &'r AzureRules,
    /// How its page is spoiled.
    pub spoil: PageSpoil,
}

/// What the service made of a request.
#[derive(Debug, Clone, Default)]
pub struct AzureAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON; none for an empty body.
    pub body: Option<Value>,
    /// Headers of this answer alone.
    pub headers: Vec<(String, String)>,
    /// What changed.
    pub changes: Vec<AzureChange>,
}

/// An answer, or a refusal.
pub type AzureResult = Result<AzureAnswer, AzureError>;

impl AzureAnswer {
    /// Makes one that changed no record set.
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, body: Some(body), ..Self::default() }
    }

    /// Makes one without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}

impl AzureCall<'_> {
    /// Returns a header; an empty one is not there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name).filter(|value| !value.is_empty())
    }

    /// Checks the conditions of a write; `etag` is that of what is there. Values of `If-None-Match` other than `*` have
    /// no meaning. An etag may be in quotation marks.
    pub fn check_conditions(&self, etag: Option<&str>) -> Result<(), AzureError> {
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
    pub fn link(&self, path: &str, query: &[(&str, String)]) -> String {
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

/// Does a request: who asks, what for, with what rights, how often, and then what.
pub fn serve(
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
        return serve_token(state, operation, request, (rules, now));
    }
    if rules.checks_token {
        check_token(request, &state.tokens, rules, now)?;
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
        AzureVerb::ListRecordSets | AzureVerb::ListAll | AzureVerb::ListByType => list_sets(&state.zones[place], call),
        AzureVerb::GetSet => sets::get_set(&state.zones[place], call),
        AzureVerb::PutSet => sets::put_set(state, place, call),
        AzureVerb::PatchSet => sets::patch_set(state, place, call),
        AzureVerb::DeleteSet => sets::delete_set(state, place, call),
        _ => Ok(AzureAnswer::new(200, zones::write_zone(&state.zones[place], call))),
    }
}

/// Says as what a request is counted; none where it is not. Changes of zones have no limits of their own here.
fn rate_class(state: &AzureState, place: Option<usize>, operation: &AzureOperation) -> Option<RateClass> {
    let key = set_key(&operation.name, &operation.rtype);
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
        "The Resource 'Microsoft.Network/{kind}/{}' under resource group '{}' was not found. For more details please \
         go to https://aka.ms/ARMResourceNotFoundFix",
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
                "No registered resource provider found for location 'global' and API version '{version}' for type \
                 '{}'. The supported api-versions are '{known}'.",
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
