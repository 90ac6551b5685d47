//! Namespaces: creating, showing, listing and deleting them.

use serde_json::{Value, json};

use super::account::{MapState, RememberedRequest};
use super::calls::{MapAnswer, MapCall, MapResult};
use super::errors::MapError;
use super::listing::{filtered_page, has_words};
use super::operations::MapWork;
use super::resources::{MapNamespace, NamespaceKind, with};
use super::tags::decode_tags;

/// The TTL of the SOA of a zone, in seconds, where the creator gives none. Source: the service's console.
pub const SOA_TTL: u32 = 15;

/// Submits the creation of a namespace, whose name the operation says.
pub fn create_namespace(state: &mut MapState, call: &MapCall<'_>, kind: NamespaceKind) -> MapResult {
    let soa = &call.input["Properties"]["DnsProperties"]["SOA"]["TTL"];
    let soa_ttl = soa.as_u64().and_then(|ttl| u32::try_from(ttl).ok()).unwrap_or(SOA_TTL);
    let mut wanted = MapNamespace {
        id: String::new(),
        name: call.required("Name").to_owned(),
        kind,
        network: call.filled("Vpc"),
        description: call.filled("Description"),
        creator: call.filled("CreatorRequestId"),
        soa_ttl,
        created: call.now,
        tags: decode_tags(call.input)?,
    };
    if kind == NamespaceKind::Private && !wanted.network.as_ref().is_some_and(|id| id.starts_with("vpc-")) {
        return Err(MapError::invalid("Vpc is not the identifier of a VPC"));
    }
    let key = wanted.creator.clone().map(|creator| ("CreateNamespace", kind.word().to_owned(), creator));
    let earlier = key.as_ref().map(|key| state.repeated(key, &call.without_creator(), call.rules)).transpose()?;
    if let Some(operation_id) = earlier.flatten() {
        return Ok(MapAnswer::submitted(operation_id));
    }
    check_fresh(state, &wanted)?;
    let submitted = state.running().filter(|operation| matches!(operation.work, MapWork::CreateNamespace(..)));
    if state.namespaces.len() + submitted.count() >= call.rules.max_namespaces {
        let words = format!("The region has reached its quota of {} namespaces", call.rules.max_namespaces);
        return Err(MapError::new("ResourceLimitExceeded", words));
    }
    let (number, id) = state.next_id("ns-");
    wanted.id = id;
    let operation_id = state.submit(MapWork::CreateNamespace(number, wanted), call.number, call.now);
    if let Some(key) = key {
        let remembered = RememberedRequest { input: call.without_creator(), operation_id: operation_id.clone() };
        state.remembered.insert(key, remembered);
    }
    Ok(MapAnswer::submitted(operation_id))
}

/// Refuses a namespace that is there or is being created: one of the same name, kind and network.
fn check_fresh(state: &MapState, wanted: &MapNamespace) -> Result<(), MapError> {
    let is_same = |other: &MapNamespace| {
        other.name.eq_ignore_ascii_case(&wanted.name) && other.kind == wanted.kind && other.network == wanted.network
    };
    if let Some(there) = state.namespaces.iter().map(|numbered| &numbered.item).find(|there| is_same(there)) {
        return Err(MapError::new("NamespaceAlreadyExists", "Namespace already exists.")
            .with("NamespaceId", &there.id)
            .with("CreatorRequestId", there.creator.clone().unwrap_or_default()));
    }
    let busy = state.running().find(|operation| match &operation.work {
        MapWork::CreateNamespace(_, other) => is_same(other),
        _ => false,
    });
    busy.map_or(Ok(()), |busy| Err(MapError::duplicate(busy.work.name(), &busy.id)))
}

/// Shows a namespace.
pub fn get_namespace(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let namespace = state.namespace(call.required("Id"))?;
    let services = state.services_of(&namespace.id).count();
    Ok(MapAnswer::of(json!({"Namespace": namespace.shown(&state.region, services)})))
}

/// Lists namespaces. A page is cut first and filtered then, so that it may be empty though more follow.
pub fn list_namespaces(state: &MapState, call: &MapCall<'_>) -> MapResult {
    let items = state.namespaces.iter().map(|numbered| (format!("{:020}", numbered.number), &numbered.item));
    let (page, next) = filtered_page(items.collect(), call, |own, filter| {
        filter.check_condition(if filter.name == "RESOURCE_OWNER" { &["EQ"] } else { &["EQ", "BEGINS_WITH"] })?;
        Ok(match filter.name {
            "TYPE" => has_words(filter, &[own.kind.word()]),
            "NAME" | "HTTP_NAME" => has_words(filter, &[&own.name]),
            _ => has_words(filter, &["SELF"]),
        })
    })?;
    let summary = |own: &MapNamespace| own.summary(&state.region, state.services_of(&own.id).count());
    let summaries: Vec<Value> = page.into_iter().map(summary).collect();
    Ok(MapAnswer::of(with(json!({"Namespaces": summaries}), [("NextToken", next.map(Value::from))])))
}

/// Submits the deletion of a namespace, if it has no service.
pub fn delete_namespace(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let id = state.namespace(call.required("Id"))?.id.clone();
    let busy = state.running().find(|operation| operation.work == MapWork::DeleteNamespace(id.clone()));
    if let Some(busy) = busy {
        return Err(MapError::duplicate(busy.work.name(), &busy.id));
    }
    if state.services_of(&id).next().is_some() {
        let words = "Namespace has associated services; delete the services before deleting the namespace";
        return Err(MapError::new("ResourceInUse", words));
    }
    Ok(MapAnswer::submitted(state.submit(MapWork::DeleteNamespace(id), call.number, call.now)))
}
