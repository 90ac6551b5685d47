//! Tags of namespaces and services.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::account::MapState;
use super::calls::{MapAnswer, MapCall, MapResult};
use super::errors::MapError;
use super::resources::{namespace_arn, service_arn};

/// The most tags of a resource. Source: the service's quotas.
const MAX_TAGS: usize = 50;

/// Reads the tags of a request.
pub fn decode_tags(input: &Value) -> Result<BTreeMap<String, String>, MapError> {
    let mut tags = BTreeMap::new();
    for tag in input.get("Tags").and_then(Value::as_array).into_iter().flatten() {
        let part = |member: &str| tag[member].as_str().expect("the model demands it").to_owned();
        if tags.insert(part("Key"), part("Value")).is_some() {
            return Err(MapError::invalid("A key of tags is there twice"));
        }
    }
    if tags.len() > MAX_TAGS {
        return Err(too_many());
    }
    Ok(tags)
}

/// Lists the tags of a resource.
pub fn list_tags(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let tags = tags_of(state, call.required("ResourceARN"))?;
    let tags: Vec<Value> = tags.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect();
    Ok(MapAnswer::of(json!({"Tags": tags})))
}

/// Adds tags to a resource, or gives them other values.
pub fn tag(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let added = decode_tags(call.input)?;
    let tags = tags_of(state, call.required("ResourceARN"))?;
    let mut all = tags.clone();
    all.extend(added);
    if all.len() > MAX_TAGS {
        return Err(too_many());
    }
    *tags = all;
    Ok(MapAnswer::of(json!({})))
}

/// Removes tags from a resource.
pub fn untag(state: &mut MapState, call: &MapCall<'_>) -> MapResult {
    let tags = tags_of(state, call.required("ResourceARN"))?;
    for key in call.input["TagKeys"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        tags.remove(key);
    }
    Ok(MapAnswer::of(json!({})))
}

/// Finds the tags of a resource by its ARN.
fn tags_of<'s>(state: &'s mut MapState, arn: &str) -> Result<&'s mut BTreeMap<String, String>, MapError> {
    let region = state.region.clone();
    let services = state.services.values_mut().map(|numbered| &mut numbered.item.service);
    let of_services = services.map(|service| (service_arn(&region, &service.id), &mut service.tags));
    let namespaces = state.namespaces.iter_mut().map(|numbered| &mut numbered.item);
    let of_namespaces = namespaces.map(|own| (namespace_arn(&region, &own.id), &mut own.tags));
    let found = of_services.chain(of_namespaces).find(|(known, _)| known == arn);
    let missing = || MapError::new("ResourceNotFoundException", format!("Resource not found: {arn}"));
    found.map(|(_, tags)| tags).ok_or_else(missing)
}

/// The error of too many tags.
fn too_many() -> MapError {
    MapError::new("TooManyTagsException", format!("A resource has at most {MAX_TAGS} tags"))
}
