//! Services: creating, showing, listing, updating and deleting them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::account::MapState;
use super::calls::{MapAnswer, MapCall, MapResult};
use super::errors::MapError;
use super::listing::{filtered_page, has_words};
use super::operations::MapWork;
use super::resources::{MapNamespace, MapRouting, MapService, NamespaceKind, namespace_arn, service_arn, with};
use super::rules::OmittedRecords;
use super::tags::decode_tags;

/// The sets of types that a service can have, sorted. Source: the API's model, DnsRecord.
const TYPE_SETS: [&[&str]; 5] = [&["A"], &["AAAA"], &["A", "AAAA"], &["SRV"], &["CNAME"]];

/// Creates a service at once.
pub fn create_service(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let dns = call.input.get("DnsConfig");
    let in_config = dns.and_then(|dns| dns["NamespaceId"].as_str());
    let namespace = match (call.text("NamespaceId"), in_config) {
        (Some(own), Some(other)) if own != other => {
            return Err(MapError::invalid("NamespaceId and DnsConfig.NamespaceId differ"));
        }
        (Some(id), _) | (None, Some(id)) => state.namespace(id)?.clone(),
        (None, None) => return Err(MapError::invalid("NamespaceId is required")),
    };
    let name = call.required("Name");
    if name == "." && !call.rules.allows_apex_service {
        return Err(MapError::invalid("The name of a service must have a label"));
    }
    check_name_length(&namespace, name)?;
    let records = dns.map(|dns| decode_records(&dns["DnsRecords"])).transpose()?.unwrap_or_default();
    let routing = dns.and_then(|dns| dns["RoutingPolicy"].as_str());
    let routing = if routing == Some("WEIGHTED") { MapRouting::Weighted } else { MapRouting::MultiValue };
    let service = MapService {
        id: String::new(),
        name: name.to_owned(),
        namespace: namespace.id.clone(),
        description: call.filled("Description"),
        creator: call.filled("CreatorRequestId"),
        routing,
        records,
        health_check: call.input.get("HealthCheckConfig").cloned(),
        custom_health_check: call.input.get("HealthCheckCustomConfig").cloned(),
        created: call.now,
        tags: decode_tags(call.input)?,
    };
    check_service(&service, namespace.kind, call.text("Type").is_some())?;
    if let Some(answer) = existing(state, &namespace, &service)? {
        return Ok(answer);
    }
    if call.rules.max_services.is_some_and(|most| state.services_of(&namespace.id).count() >= most) {
        let words = format!("The namespace {} has reached its quota of services", namespace.id);
        return Err(MapError::new("ResourceLimitExceeded", words));
    }
    let (number, id) = state.next_id("srv-");
    let service = MapService { id, ..service };
    let body = json!({"Service": service.shown(&state.region, 0)});
    Ok(MapAnswer::changed(body, vec![state.add_service(number, service)]))
}

/// Looks for a service of the same name: a copy of the request that created it is answered with it. Where names are in
/// DNS, case does not matter.
fn existing(state: &MapState, namespace: &MapNamespace, wanted: &MapService) -> Result<Option<MapAnswer>, MapError> {
    let is_same = |name: &str| match namespace.kind {
        NamespaceKind::Http => name == wanted.name,
        NamespaceKind::Public | NamespaceKind::Private => name.eq_ignore_ascii_case(&wanted.name),
    };
    let Some(there) = state.services_of(&namespace.id).find(|own| is_same(&own.service.name)) else { return Ok(None) };
    let own = &there.service;
    let as_wanted = MapService { id: own.id.clone(), created: own.created, ..wanted.clone() };
    if wanted.creator.is_some() && *own == as_wanted {
        let body = json!({"Service": own.shown(&state.region, there.instances.len())});
        return Ok(Some(MapAnswer::of(body)));
    }
    Err(MapError::new("ServiceAlreadyExists", "Service already exists.")
        .with("ServiceId", &own.id)
        .with("ServiceArn", service_arn(&state.region, &own.id))
        .with("CreatorRequestId", own.creator.clone().unwrap_or_default()))
}

/// Checks that the name in DNS is not too long.
fn check_name_length(namespace: &MapNamespace, name: &str) -> Result<(), MapError> {
    if namespace.kind == NamespaceKind::Http || name.len() + 1 + namespace.name.len() <= 253 {
        return Ok(());
    }
    Err(MapError::invalid(format!("The name {name}.{} is too long", namespace.name)))
}

/// Reads types and TTLs.
fn decode_records(value: &Value) -> Result<Vec<(String, u32)>, MapError> {
    let read = |record: &Value| {
        let ttl = record["TTL"].as_u64().and_then(|ttl| u32::try_from(ttl).ok()).expect("the model bounds it");
        (record["Type"].as_str().expect("the model demands it").to_owned(), ttl)
    };
    let records: Vec<(String, u32)> = value.as_array().into_iter().flatten().map(read).collect();
    let mut types: Vec<&str> = records.iter().map(|(rtype, _)| rtype.as_str()).collect();
    types.sort_unstable();
    if TYPE_SETS.contains(&types.as_slice()) {
        return Ok(records);
    }
    let words = format!("The combination of record types is invalid: [{}]", types.join(", "));
    Err(MapError::invalid(words))
}

/// Checks what must hold between the parts of a service.
fn check_service(service: &MapService, kind: NamespaceKind, is_http_only: bool) -> Result<(), MapError> {
    let has_dns = !service.records.is_empty();
    let words = if service.health_check.is_some() && service.custom_health_check.is_some() {
        "HealthCheckConfig and HealthCheckCustomConfig cannot both be specified"
    } else if has_dns && (is_http_only || kind == NamespaceKind::Http) {
        "DnsConfig cannot be specified for a service that is discovered by the API alone"
    } else if !has_dns && !is_http_only && kind != NamespaceKind::Http {
        "DnsConfig is required for a service of a namespace with DNS"
    } else if service.has_type("CNAME") && service.routing != MapRouting::Weighted {
        "A service with CNAME records must have the routing policy WEIGHTED"
    } else if service.has_type("CNAME") && service.health_check.is_some() {
        "HealthCheckConfig cannot be specified for a service with CNAME records"
    } else if kind == NamespaceKind::Private && service.health_check.is_some() {
        "HealthCheckConfig cannot be specified for a private namespace"
    } else {
        return Ok(());
    };
    Err(MapError::invalid(words))
}

/// Shows a service.
pub fn get_service(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let own = state.service(call.required("Id"))?;
    Ok(MapAnswer::of(json!({"Service": own.service.shown(&state.region, own.instances.len())})))
}

/// Lists services. A page is cut first and filtered then, so that it may be empty though more follow.
pub fn list_services(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let (page, next) = filtered_page(state.listed_services(), call, |own, filter| {
        filter.check_condition(&["EQ"])?;
        let namespace = &own.service.namespace;
        Ok(match filter.name {
            "NAMESPACE_ID" => has_words(filter, &[namespace, &namespace_arn(&state.region, namespace)]),
            _ => has_words(filter, &["SELF"]),
        })
    })?;
    let summaries: Vec<Value> =
        page.into_iter().map(|own| own.service.summary(&state.region, own.instances.len())).collect();
    Ok(MapAnswer::of(with(json!({"Services": summaries}), [("NextToken", next.map(Value::from))])))
}

/// Submits an update of a service: description, TTLs and health check. What is left out is deleted.
pub fn update_service(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let own = state.service(call.required("Id"))?;
    let kind = state.namespace(&own.service.namespace)?.kind;
    let change = &call.input["Service"];
    if kind == NamespaceKind::Http {
        return Err(MapError::invalid("A service of an HTTP namespace cannot be updated"));
    }
    let description = change.get("Description").and_then(Value::as_str);
    let description = match description {
        Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
        None if call.rules.keeps_description => own.service.description.clone(),
        None => None,
    };
    let mut service =
        MapService { description, health_check: change.get("HealthCheckConfig").cloned(), ..own.service.clone() };
    if kind == NamespaceKind::Private && service.health_check.is_some() {
        return Err(MapError::invalid("HealthCheckConfig cannot be specified for a private namespace"));
    }
    service.records = updated_records(&own.service, change.get("DnsConfig"), call.rules.omitted_records)?;
    let busy = state.running().find(|operation| match &operation.work {
        MapWork::UpdateService(other) => other.id == service.id,
        _ => false,
    });
    if let Some(busy) = busy {
        return Err(MapError::duplicate(busy.work.name(), &busy.id));
    }
    Ok(MapAnswer::submitted(state.submit(MapWork::UpdateService(service), call.number, call.now)))
}

/// Returns the types and TTLs after an update. Errors: a type that the service does not have.
fn updated_records(
    own: &MapService,
    change: Option<&Value>,
    omitted: OmittedRecords,
) -> Result<Vec<(String, u32)>, MapError> {
    let given = change.map(|dns| decode_records(&dns["DnsRecords"])).transpose()?.unwrap_or_default();
    if let Some((rtype, _)) = given.iter().find(|(rtype, _)| !own.has_type(rtype)) {
        return Err(MapError::invalid(format!("The record type {rtype} cannot be added to the service {}", own.id)));
    }
    let given: BTreeMap<&str, u32> = given.iter().map(|(rtype, ttl)| (rtype.as_str(), *ttl)).collect();
    let mut records = Vec::new();
    for (rtype, ttl) in &own.records {
        match (given.get(rtype.as_str()), omitted) {
            (Some(ttl), _) => records.push((rtype.clone(), *ttl)),
            (None, OmittedRecords::Kept) => records.push((rtype.clone(), *ttl)),
            (None, OmittedRecords::Deleted) => {}
            (None, OmittedRecords::Refused) => {
                return Err(MapError::invalid(format!("The record type {rtype} of the service {} is missing", own.id)));
            }
        }
    }
    Ok(records)
}

/// Deletes a service at once, if it has no instance.
pub fn delete_service(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let id = state.service(call.required("Id"))?.service.id.clone();
    let is_busy = |work: &MapWork| match work {
        MapWork::Register(service, _) => *service == id,
        MapWork::UpdateService(service) => service.id == id,
        _ => false,
    };
    let is_empty = state.service(&id)?.instances.is_empty();
    if !is_empty || state.running().any(|operation| is_busy(&operation.work)) {
        let words = "Service contains registered instances; delete the instances before deleting the service";
        return Err(MapError::new("ResourceInUse", words));
    }
    let changes = state.remove_service(&id)?;
    Ok(MapAnswer::changed(json!({}), changes))
}
