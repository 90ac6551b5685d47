//! Instances: registering, showing, listing and deregistering them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::account::{MapState, RememberedRequest, ServiceState};
use super::calls::{MapAnswer, MapCall, MapResult};
use super::errors::MapError;
use super::listing::page_of;
use super::operations::MapWork;
use super::resources::{ACCOUNT, MapInstance, MapRouting, MapService, NamespaceKind, with};
use super::rules::{ListingMoment, RequestMemory};

/// The most attributes of an instance that the service does not know.
const MAX_CUSTOM: usize = 30;

/// The most characters of all keys and values of an instance.
const MAX_CHARACTERS: usize = 5_000;

/// The attributes that the service knows.
const KNOWN: [&str; 7] = [
    "AWS_ALIAS_DNS_NAME",
    "AWS_EC2_INSTANCE_ID",
    "AWS_INIT_HEALTH_STATUS",
    "AWS_INSTANCE_CNAME",
    "AWS_INSTANCE_IPV4",
    "AWS_INSTANCE_IPV6",
    "AWS_INSTANCE_PORT",
];

/// Submits a registration. An instance of the same identifier is overwritten.
pub fn register(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let own = state.service(call.required("ServiceId"))?;
    let namespace = state.namespace(&own.service.namespace)?;
    let (service, id) = (own.service.id.clone(), call.required("InstanceId").to_owned());
    let attributes = decode_attributes(&call.input["Attributes"]);
    check_attributes(&own.service, namespace.kind, &attributes)?;
    let creator = call.filled("CreatorRequestId");
    let key = creator.clone().map(|creator| ("RegisterInstance", service.clone(), creator));
    if let Some(key) = &key {
        let is_there = own.instances.get(&id).is_some_and(|there| there.creator == creator);
        let is_running = state.check_instance_free(&service, &id).is_err();
        let is_known = call.rules.memory == RequestMemory::Forever || is_there || is_running;
        let earlier = if is_known { state.repeated(key, &call.without_creator(), call.rules)? } else { None };
        if let Some(operation_id) = earlier {
            return Ok(MapAnswer::submitted(operation_id));
        }
    }
    state.check_instance_free(&service, &id)?;
    check_quotas(state, &service, &id, call)?;
    let is_healthy = attributes.get("AWS_INIT_HEALTH_STATUS").is_none_or(|health| health == "HEALTHY");
    let work = MapWork::Register(service, MapInstance { id, attributes, creator, is_healthy });
    let operation_id = state.submit(work, call.number, call.now);
    if let Some(key) = key {
        let remembered = RememberedRequest { input: call.without_creator(), operation_id: operation_id.clone() };
        state.remembered.insert(key, remembered);
    }
    Ok(MapAnswer::submitted(operation_id))
}

/// Submits the end of a registration.
pub fn deregister(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let id = call.required("InstanceId").to_owned();
    let own = state.service(call.required("ServiceId"))?;
    let service = own.service.id.clone();
    state.check_instance_free(&service, &id)?;
    if !own.instances.contains_key(&id) {
        return Err(no_instance(&id));
    }
    Ok(MapAnswer::submitted(state.submit(MapWork::Deregister(service, id), call.number, call.now)))
}

/// Shows an instance.
pub fn get_instance(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let id = call.required("InstanceId");
    let instances = shown_instances(state, state.service(call.required("ServiceId"))?, call.rules.shown);
    let instance = instances.get(id).ok_or_else(|| no_instance(id))?;
    Ok(MapAnswer::of(json!({"ResourceOwner": ACCOUNT, "Instance": instance.shown()})))
}

/// Lists instances in the order of their identifiers.
pub fn list_instances(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let instances = shown_instances(state, state.service(call.required("ServiceId"))?, call.rules.shown);
    let items = instances.iter().map(|(id, instance)| (id.clone(), instance));
    let (page, next) = page_of(items.collect(), call)?;
    let summaries: Vec<Value> = page.into_iter().map(MapInstance::summary).collect();
    let answer = json!({"ResourceOwner": ACCOUNT, "Instances": summaries});
    Ok(MapAnswer::of(with(answer, [("NextToken", next.map(Value::from))])))
}

/// Returns the instances that listings show now.
fn shown_instances(state: &MapState, own: &ServiceState, shown: ListingMoment) -> BTreeMap<String, MapInstance> {
    let mut instances = own.instances.clone();
    if shown == ListingMoment::Submitted {
        for operation in state.running() {
            match &operation.work {
                MapWork::Register(service, instance) if *service == own.service.id => {
                    instances.insert(instance.id.clone(), instance.clone());
                }
                MapWork::Deregister(service, instance) if *service == own.service.id => {
                    instances.remove(instance);
                }
                _ => {}
            }
        }
    }
    instances
}

/// Reads the attributes of a request.
fn decode_attributes(value: &Value) -> BTreeMap<String, String> {
    let pairs = value.as_object().into_iter().flatten();
    pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// Checks how many instances there would be. What runs counts as what is there.
fn check_quotas(state: &MapState, service: &str, id: &str, call: &MapCall<'_>) -> Result<(), MapError> {
    let own = state.service(service)?;
    if own.instances.contains_key(id) {
        return Ok(());
    }
    let namespace = &own.service.namespace;
    let (mut in_service, mut in_namespace) =
        (own.instances.len(), state.services_of(namespace).map(|other| other.instances.len()).sum::<usize>());
    for operation in state.running() {
        let MapWork::Register(other, instance) = &operation.work else { continue };
        let Ok(theirs) = state.service(other) else { continue };
        if theirs.service.namespace == *namespace && !theirs.instances.contains_key(&instance.id) {
            in_namespace += 1;
            in_service += usize::from(other == service);
        }
    }
    let words = if in_service >= call.rules.max_instances {
        format!("The service {service} has reached its quota of {} instances", call.rules.max_instances)
    } else if in_namespace >= call.rules.max_namespace_instances {
        let most = call.rules.max_namespace_instances;
        format!("The namespace {namespace} has reached its quota of {most} instances")
    } else {
        return Ok(());
    };
    Err(MapError::new("ResourceLimitExceeded", words))
}

/// Checks that attributes are those that the types of the service need.
fn check_attributes(
    service: &MapService,
    kind: NamespaceKind,
    attributes: &BTreeMap<String, String>,
) -> Result<(), MapError> {
    let has = |key: &str| attributes.contains_key(key);
    let strange = attributes.keys().find(|key| key.starts_with("AWS_") && !KNOWN.contains(&key.as_str()));
    if let Some(key) = strange {
        return Err(MapError::invalid(format!("The attribute {key} is not known")));
    }
    if attributes.keys().filter(|key| !KNOWN.contains(&key.as_str())).count() > MAX_CUSTOM {
        return Err(MapError::invalid(format!("An instance has at most {MAX_CUSTOM} custom attributes")));
    }
    let characters: usize = attributes.iter().map(|(key, value)| key.chars().count() + value.chars().count()).sum();
    if characters > MAX_CHARACTERS {
        return Err(MapError::invalid(format!("All attributes have at most {MAX_CHARACTERS} characters")));
    }
    attributes.iter().try_for_each(|(key, value)| check_value(key, value))?;
    if has("AWS_EC2_INSTANCE_ID") && kind != NamespaceKind::Http {
        return Err(MapError::invalid("AWS_EC2_INSTANCE_ID is for HTTP namespaces only"));
    }
    if has("AWS_INIT_HEALTH_STATUS") && service.custom_health_check.is_none() {
        return Err(MapError::invalid("AWS_INIT_HEALTH_STATUS needs a service with HealthCheckCustomConfig"));
    }
    if has("AWS_ALIAS_DNS_NAME") {
        return check_alias(service, attributes);
    }
    check_types(service, &has)
}

/// Checks that what the RRs are made of is there.
fn check_types(service: &MapService, has: &impl Fn(&str) -> bool) -> Result<(), MapError> {
    let needed = [
        ("A", "AWS_INSTANCE_IPV4"),
        ("AAAA", "AWS_INSTANCE_IPV6"),
        ("CNAME", "AWS_INSTANCE_CNAME"),
        ("SRV", "AWS_INSTANCE_PORT"),
    ];
    for (rtype, key) in needed {
        if service.has_type(rtype) && !has(key) {
            let words = format!("{key} is required for a service with {rtype} records");
            return Err(MapError::invalid(words));
        }
    }
    if service.has_type("SRV") && !has("AWS_INSTANCE_IPV4") && !has("AWS_INSTANCE_IPV6") {
        let words = "AWS_INSTANCE_IPV4 or AWS_INSTANCE_IPV6 is required for a service with SRV records";
        return Err(MapError::invalid(words));
    }
    if service.health_check.is_some() && !has("AWS_INSTANCE_PORT") {
        return Err(MapError::invalid("AWS_INSTANCE_PORT is required for a service with a health check"));
    }
    Ok(())
}

/// Checks the value of an attribute that the service knows.
fn check_value(key: &str, value: &str) -> Result<(), MapError> {
    let is_good = match key {
        "AWS_INSTANCE_IPV4" => value.parse::<Ipv4Addr>().is_ok(),
        "AWS_INSTANCE_IPV6" => value.parse::<Ipv6Addr>().is_ok(),
        "AWS_INSTANCE_PORT" => is_port(value),
        "AWS_INSTANCE_CNAME" | "AWS_ALIAS_DNS_NAME" => is_name(value),
        "AWS_INIT_HEALTH_STATUS" => ["HEALTHY", "UNHEALTHY"].contains(&value),
        _ => true,
    };
    if is_good { Ok(()) } else { Err(MapError::invalid(format!("{key} has an invalid value: {value}"))) }
}

/// Whether a text is a port: digits without a sign, and not 0.
fn is_port(text: &str) -> bool {
    text.bytes().all(|octet| octet.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether a text is a name of DNS, with or without the final dot.
fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(|octet| octet.is_ascii_graphic());
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Checks an alias of a load balancer.
fn check_alias(service: &MapService, attributes: &BTreeMap<String, String>) -> Result<(), MapError> {
    if service.routing != MapRouting::Weighted {
        let words = "ALIAS instance can be registered only in services with WEIGHTED routing policy";
        return Err(MapError::invalid(words));
    }
    if !service.has_type("A") && !service.has_type("AAAA") {
        return Err(MapError::invalid("ALIAS instance can be registered only in services with A or AAAA records"));
    }
    if attributes.keys().any(|key| key.starts_with("AWS_INSTANCE_")) {
        return Err(MapError::invalid("ALIAS instance can not have AWS_INSTANCE attributes"));
    }
    Ok(())
}

/// The error of an instance that is not there.
fn no_instance(id: &str) -> MapError {
    MapError::new("InstanceNotFound", format!("Instance not found: {id}"))
}
