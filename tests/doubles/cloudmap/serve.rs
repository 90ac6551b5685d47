//! A request on its way through the service: who asks, how often, for what, with what rights, and then what is done.

use serde_json::Value;

use super::super::DoubleRequest;
use super::super::faults::{FaultKind, PageFault};
use super::super::signature::{SignatureScope, check_signature};
use super::account::MapState;
use super::calls::{MapCall, MapResult};
use super::check::checked_input;
use super::errors::MapError;
use super::log::MapLogEntry;
use super::model::{ModelMember, OPERATIONS};
use super::resources::{ACCOUNT, NamespaceKind};
use super::rules::CloudMapRules;
use super::{instances, namespaces, operations, services, tags};

/// The media type of the protocol.
pub const MEDIA_TYPE: &str = "application/x-amz-json-1.1";

/// What is in front of the name of an operation.
const TARGET: &str = "Route53AutoNaming_v20170314.";

/// A request that reached the service.
pub struct MapArrival<'r> {
    /// The request.
    request: &'r DoubleRequest,
    /// Its number.
    pub number: u64,
    /// What it asks for, with the members of the model; none for what the double does not have.
    operation: Option<&'static (&'static str, &'static [ModelMember])>,
    /// What goes wrong with it.
    pub fault: Option<FaultKind>,
}

impl<'r> MapArrival<'r> {
    /// Finds out what a request asks for.
    pub fn of(request: &'r DoubleRequest, number: u64) -> Self {
        let name = request.header("x-amz-target").and_then(|target| target.strip_prefix(TARGET));
        let is_ours = request.method == "POST" && request.target == "/";
        let name = name.filter(|_| is_ours);
        let operation = OPERATIONS.iter().find(|(known, _)| Some(*known) == name);
        Self { request, number, operation, fault: None }
    }

    /// Returns the name of the operation.
    pub fn name(&self) -> &'static str {
        self.operation.map_or("Unknown", |(name, _)| name)
    }

    /// Makes an entry of the log.
    pub fn entry(&self, at: i64) -> MapLogEntry {
        let input: Value = serde_json::from_slice(&self.request.body).unwrap_or_default();
        let subject = ["ServiceId", "Id", "NamespaceId", "OperationId", "ResourceARN"];
        let subject = subject.into_iter().find_map(|member| input[member].as_str());
        MapLogEntry {
            number: self.number,
            at,
            operation: self.name().to_owned(),
            subject: subject.map(str::to_owned),
            instance: input["InstanceId"].as_str().map(str::to_owned),
            operation_id: None,
            status: None,
            code: None,
            fault: self.fault.clone(),
            changes: Vec::new(),
        }
    }
}

/// Does a request.
pub fn serve(arrival: &MapArrival<'_>, state: &mut MapState, rules: &CloudMapRules, now: i64) -> MapResult {
    let request = arrival.request;
    if rules.checks_signature {
        let scope = SignatureScope { region: &state.region, service: "servicediscovery" };
        let refused = |fault| MapError::of_signature(fault, rules.expired_answer);
        check_signature(request, &state.keys, scope, now).map_err(refused)?;
    }
    state.spend(rules, now)?;
    let (name, members) = arrival.operation.ok_or_else(MapError::unknown_operation)?;
    if request.header("content-type") != Some(MEDIA_TYPE) {
        return Err(MapError::serialization(&format!("the content type must be {MEDIA_TYPE}")));
    }
    check_rights(name, &state.region, rules)?;
    let input = checked_input(&request.body, members, rules.refuses_strange_members)?;
    let page = PageFault::of(arrival.fault.as_ref());
    let call = MapCall { input: &input, number: arrival.number, page, rules, now };
    carry_out(name, state, &call)
}

/// Does what the operation of a name is for.
fn carry_out(name: &str, state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    match name {
        "ListNamespaces" => namespaces::list_namespaces(state, call),
        "GetNamespace" => namespaces::get_namespace(state, call),
        "CreatePublicDnsNamespace" => namespaces::create_namespace(state, call, NamespaceKind::Public),
        "CreatePrivateDnsNamespace" => namespaces::create_namespace(state, call, NamespaceKind::Private),
        "CreateHttpNamespace" => namespaces::create_namespace(state, call, NamespaceKind::Http),
        "DeleteNamespace" => namespaces::delete_namespace(state, call),
        "ListServices" => services::list_services(state, call),
        "GetService" => services::get_service(state, call),
        "CreateService" => services::create_service(state, call),
        "UpdateService" => services::update_service(state, call),
        "DeleteService" => services::delete_service(state, call),
        "ListInstances" => instances::list_instances(state, call),
        "GetInstance" => instances::get_instance(state, call),
        "RegisterInstance" => instances::register(state, call),
        "DeregisterInstance" => instances::deregister(state, call),
        "GetOperation" => operations::get_operation(state, call),
        "ListOperations" => operations::list_operations(state, call),
        "ListTagsForResource" => tags::list_tags(state, call),
        "TagResource" => tags::tag(state, call),
        "UntagResource" => tags::untag(state, call),
        _ => Err(MapError::unknown_operation()),
    }
}

/// Checks that the policy allows an operation.
fn check_rights(name: &str, region: &str, rules: &CloudMapRules) -> Result<(), MapError> {
    let action = format!("servicediscovery:{name}");
    let is_allowed = rules.allowed_actions.as_ref().is_none_or(|allowed| allowed.contains(&action));
    if is_allowed && !rules.denied_actions.contains(&action) {
        return Ok(());
    }
    Err(MapError::access_denied(&action, &format!("arn:aws:servicediscovery:{region}:{ACCOUNT}:*")))
}
