//! Zones: listing, reading, creating, updating, deleting.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::account::{AzureState, AzureZoneState};
use super::errors::AzureError;
use super::listing::{PagedItem, write_page};
use super::log::AzureChange;
use super::manager::{AzureAnswer, AzureCall, AzureResult};
use super::names::check_zone_name;
use super::paths::{AzureVerb, status_type};
use super::records::parse_body;
use super::rules::AzureKind;
use super::set::shown_etag;

/// Lists the zones of the subscription, or of a resource group.
pub fn list_zones(state: &AzureState, call: &AzureCall<'_>) -> AzureResult {
    let is_all = call.operation.verb == AzureVerb::ListZones;
    let zones = state.zones.iter().filter(|zone| is_all || zone.group.eq_ignore_ascii_case(&call.operation.group));
    let mut items: Vec<PagedItem> = zones
        .map(|zone| {
            let key = format!("{}/{}", zone.group, zone.name).to_ascii_lowercase();
            PagedItem { key, json: write_zone(zone, call) }
        })
        .collect();
    items.sort_by(|one, other| one.key.cmp(&other.key));
    write_page(items, call)
}

/// Creates a zone, or replaces the tags of one that is there.
pub fn put_zone(state: &mut AzureState, call: &AzureCall<'_>) -> AzureResult {
    let body = parse_body(call.request.header("content-type"), &call.request.body)?;
    check_zone_name(&call.operation.zone)?;
    if !body.get("location").and_then(Value::as_str).is_some_and(|location| location.eq_ignore_ascii_case("global")) {
        let kind = call.kind.action_type();
        let message = format!(
            "The provided location is not available for resource type 'Microsoft.Network/{kind}'. List of available \
             regions for the resource type is 'global'."
        );
        return Err(AzureError::manager(400, "LocationNotAvailableForResourceType", message));
    }
    let tags = decode_tags(&body)?;
    let found = state.find_zone(call.operation);
    call.check_conditions(found.map(|place| state.zones[place].etag.as_str()))?;
    let (status, place) = match found {
        Some(place) => {
            state.zones[place].etag = state.next_guid();
            (200, place)
        }
        None => (201, state.add_zone(call.kind, &call.operation.group, &call.operation.zone)),
    };
    state.zones[place].tags = tags.unwrap_or_default();
    let answer = AzureAnswer::new(status, write_zone(&state.zones[place], call));
    Ok(if call.kind == AzureKind::Private { settled(state, call, answer) } else { answer })
}

/// Replaces the tags of a zone.
pub fn patch_zone(state: &mut AzureState, place: usize, call: &AzureCall<'_>) -> AzureResult {
    let body = parse_body(call.request.header("content-type"), &call.request.body)?;
    call.check_conditions(Some(&state.zones[place].etag))?;
    let tags = decode_tags(&body)?;
    state.zones[place].etag = state.next_guid();
    if let Some(tags) = tags {
        state.zones[place].tags = tags;
    }
    Ok(AzureAnswer::new(200, write_zone(&state.zones[place], call)))
}

/// Deletes a zone and all that is in it.
pub fn delete_zone(state: &mut AzureState, call: &AzureCall<'_>) -> AzureResult {
    let found = state.find_zone(call.operation);
    if call.header("if-match").is_some() {
        call.check_conditions(found.map(|place| state.zones[place].etag.as_str()))?;
    }
    let Some(place) = found else { return Ok(AzureAnswer::empty(204)) };
    let zone = state.zones.remove(place);
    let name = zone.name;
    let changes =
        zone.sets.into_values().map(|set| AzureChange { zone: name.clone(), before: Some(set), after: None }).collect();
    let answer = AzureAnswer { changes, ..AzureAnswer::empty(200) };
    Ok(settled(state, call, answer))
}

/// Says how far a change of a zone is.
pub fn get_status(state: &mut AzureState, call: &AzureCall<'_>) -> AzureResult {
    let id = &call.operation.zone;
    let unknown = || AzureError::manager(404, "NotFound", format!("The operation '{id}' could not be found."));
    let asks = state.changes.get_mut(id).ok_or_else(unknown)?;
    *asks += 1;
    let status = if *asks >= call.rules.zone_asks { "Succeeded" } else { "InProgress" };
    Ok(AzureAnswer::new(200, json!({"status": status})))
}

/// Writes a zone.
pub fn write_zone(zone: &AzureZoneState, call: &AzureCall<'_>) -> Value {
    let kind = call.kind;
    let mut properties = json!({
        "maxNumberOfRecordSets": call.rules.max_record_sets,
        "numberOfRecordSets": zone.sets.len(),
    });
    match kind {
        AzureKind::Public => {
            properties["maxNumberOfRecordsPerRecordSet"] = Value::Null;
            properties["nameServers"] = json!(zone.name_servers);
            properties["zoneType"] = json!("Public");
        }
        AzureKind::Private => {
            properties["maxNumberOfVirtualNetworkLinks"] = json!(1_000);
            properties["maxNumberOfVirtualNetworkLinksWithRegistration"] = json!(100);
            properties["numberOfVirtualNetworkLinks"] = json!(0);
            properties["numberOfVirtualNetworkLinksWithRegistration"] = json!(0);
            properties["provisioningState"] = json!("Succeeded");
        }
    }
    json!({
        "id": zone.path(kind, call.subscription),
        "name": zone.name,
        "type": format!("Microsoft.Network/{}", kind.zone_type()),
        "etag": shown_etag(call.rules, &zone.etag),
        "location": "global",
        "tags": zone.tags,
        "properties": properties,
    })
}

/// Makes an answer one of a change that goes on, if the settings say so. The double has done it already.
fn settled(state: &mut AzureState, call: &AzureCall<'_>, answer: AzureAnswer) -> AzureAnswer {
    if call.rules.zone_asks == 0 {
        return answer;
    }
    let id = state.next_guid();
    state.changes.insert(id.clone(), 0);
    let path = format!(
        "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network/{}/{id}",
        call.subscription,
        call.operation.group,
        status_type(call.kind)
    );
    let link = call.link(&path, &[]);
    let headers = vec![("azure-asyncoperation".to_owned(), link), ("retry-after".to_owned(), "0".to_owned())];
    AzureAnswer { status: 202, body: Some(json!({})), headers, ..answer }
}

/// Decodes tags.
fn decode_tags(body: &Map<String, Value>) -> Result<Option<BTreeMap<String, String>>, AzureError> {
    let tags = match body.get("tags") {
        None | Some(Value::Null) => return Ok(None),
        Some(tags) => tags.as_object().ok_or_else(AzureError::invalid_body)?,
    };
    let pairs = tags.iter().map(|(name, value)| {
        let value = value.as_str().ok_or_else(AzureError::invalid_body)?;
        Ok((name.clone(), value.to_owned()))
    });
    pairs.collect::<Result<_, _>>().map(Some)
}
