//! Reading and writing one record set: all rules about the other sets of a name, and the conditions of writes.

use serde_json::Value;

use super::account::{AzureState, AzureZoneState};
use super::errors::AzureError;
use super::log::AzureChange;
use super::manager::{AzureAnswer, AzureCall, AzureResult};
use super::names::check_relative_name;
use super::records::{SetBody, decode_set, parse_body};
use super::rules::GoneAnswer;
use super::set::{AzureRecordSet, set_key, shown_etag};

/// Shows a record set.
pub fn get_set(zone: &AzureZoneState, call: &AzureCall<'_>) -> AzureResult {
    let set = found(zone, call).ok_or_else(|| not_found(call))?;
    Ok(answer(200, set, zone, call))
}

/// Creates a record set, or replaces one that is there.
pub fn put_set(state: &mut AzureState, place: usize, call: &AzureCall<'_>) -> AzureResult {
    let zone = &state.zones[place];
    let (name, rtype) = (&call.operation.name, &call.operation.rtype);
    check_relative_name(name, rtype, &zone.name)?;
    let body = decoded(call)?;
    let ttl = body.ttl.ok_or_else(AzureError::invalid_body)?;
    let current = found(zone, call);
    call.check_conditions(current.map(|set| set.etag.as_str()))?;
    let empty = AzureRecordSet::new(current.map_or(name, |set| &set.name), rtype, ttl, &[]);
    let set = merged(AzureRecordSet { ttl, ..empty }, current, body);
    check_set(zone, current, &set, call)?;
    let status = if current.is_some() { 200 } else { 201 };
    Ok(written(state, place, call, (status, set)))
}

/// Updates what the body has of a record set that is there.
pub fn patch_set(state: &mut AzureState, place: usize, call: &AzureCall<'_>) -> AzureResult {
    let zone = &state.zones[place];
    let body = decoded(call)?;
    let current = found(zone, call).ok_or_else(|| not_found(call))?;
    call.check_conditions(Some(&current.etag))?;
    let set = merged(current.clone(), Some(current), body);
    check_set(zone, Some(current), &set, call)?;
    Ok(written(state, place, call, (200, set)))
}

/// Deletes a record set.
pub fn delete_set(state: &mut AzureState, place: usize, call: &AzureCall<'_>) -> AzureResult {
    let (name, rtype) = (&call.operation.name, &call.operation.rtype);
    let Some(current) = found(&state.zones[place], call) else {
        if call.header("if-match").is_some() && call.rules.delete_of_gone == GoneAnswer::PreconditionFailed {
            call.check_conditions(None)?;
        }
        return Ok(AzureAnswer::empty(204));
    };
    check_free(current)?;
    if is_of_apex(name, rtype) {
        let message = format!("The record set of type '{rtype}' with name '@' cannot be deleted.");
        return Err(AzureError::bad_request(message));
    }
    call.check_conditions(Some(&current.etag))?;
    let changes: Vec<AzureChange> = state.remove_set(place, name, rtype).into_iter().collect();
    Ok(AzureAnswer { changes, ..AzureAnswer::empty(200) })
}

/// Returns the record set that a path names. Case does not matter.
fn found<'z>(zone: &'z AzureZoneState, call: &AzureCall<'_>) -> Option<&'z AzureRecordSet> {
    zone.sets.get(&set_key(&call.operation.name, &call.operation.rtype))
}

/// Makes the error of a record set that is not there.
fn not_found(call: &AzureCall<'_>) -> AzureError {
    let message = format!(
        "The resource record '{}' does not exist in resource group '{}' of subscription '{}'.",
        call.operation.name, call.operation.group, call.subscription
    );
    AzureError::service(404, "NotFound", message)
}

/// Decodes the body of a write.
fn decoded(call: &AzureCall<'_>) -> Result<SetBody, AzureError> {
    let body = parse_body(call.request.header("content-type"), &call.request.body)?;
    decode_set(call.kind, &call.operation.rtype, &body, call.rules)
}

/// Puts what a body has into a record set.
fn merged(mut set: AzureRecordSet, current: Option<&AzureRecordSet>, body: SetBody) -> AzureRecordSet {
    if let Some(ttl) = body.ttl {
        set.ttl = ttl;
    }
    if let Some(records) = body.records {
        set.records = records;
    }
    if let Some(metadata) = body.metadata {
        set.metadata = metadata;
    }
    if let Some(target) = body.target {
        set.target = target;
    }
    // What the body of a SOA does not have stays as it is.
    if set.rtype == "SOA"
        && let Some(Value::Object(kept)) = current.and_then(|current| current.records.first())
    {
        let mut fields = kept.clone();
        fields.extend(set.records.iter().filter_map(Value::as_object).flatten().map(|(k, v)| (k.clone(), v.clone())));
        set.records = vec![Value::Object(fields)];
    }
    set
}

/// Writes a record set and makes the answer.
fn written(
    state: &mut AzureState,
    place: usize,
    call: &AzureCall<'_>,
    (status, set): (u16, AzureRecordSet),
) -> AzureAnswer {
    let change = state.put_set(place, set);
    let zone = &state.zones[place];
    let made = change.after.as_ref().map(|set| answer(status, set, zone, call));
    let answer = made.unwrap_or_else(|| AzureAnswer::empty(status));
    AzureAnswer { changes: vec![change], ..answer }
}

/// Makes the answer that shows a record set, with its etag as a header, too.
fn answer(status: u16, set: &AzureRecordSet, zone: &AzureZoneState, call: &AzureCall<'_>) -> AzureAnswer {
    let path = zone.path(call.kind, call.subscription);
    let body = set.write(call.kind, call.rules, (&zone.name, &path));
    let headers = vec![("etag".to_owned(), shown_etag(call.rules, &set.etag))];
    AzureAnswer { headers, ..AzureAnswer::new(status, body) }
}

/// Whether a record set is one that each zone has.
fn is_of_apex(name: &str, rtype: &str) -> bool {
    name == "@" && ["SOA", "NS"].contains(&rtype)
}

/// Refuses a change of a record set that the service itself made.
fn check_free(current: &AzureRecordSet) -> Result<(), AzureError> {
    if !current.is_auto_registered {
        return Ok(());
    }
    let message = format!("The record set '{}' is automatically registered and cannot be changed.", current.name);
    Err(AzureError::bad_request(message))
}

/// Checks a record set that is written: `current` is what it replaces.
fn check_set(
    zone: &AzureZoneState,
    current: Option<&AzureRecordSet>,
    set: &AzureRecordSet,
    call: &AzureCall<'_>,
) -> Result<(), AzureError> {
    current.map_or(Ok(()), check_free)?;
    check_apex(zone, current, set)?;
    if set.target.is_some() {
        check_alias(zone, set, call)?;
    } else if set.records.is_empty() && !call.rules.allows_empty_sets {
        return Err(AzureError::invalid_body());
    }
    check_beside(zone, set)?;
    let most = call.rules.max_record_sets;
    if current.is_none() && zone.sets.len() >= most {
        return Err(AzureError::bad_request(format!(
            "The zone '{}' may not have more than {most} record sets.",
            zone.name
        )));
    }
    Ok(())
}

/// Checks what is special at the apex.
fn check_apex(zone: &AzureZoneState, current: Option<&AzureRecordSet>, set: &AzureRecordSet) -> Result<(), AzureError> {
    let is_apex = set.name == "@";
    match set.rtype.as_str() {
        "SOA" => {
            let host = |set: &AzureRecordSet| set.records.first().map(|record| record["host"].clone());
            if !is_apex || current.is_none() {
                return Err(AzureError::bad_request("A record set of type 'SOA' can only be at the apex."));
            }
            if current.is_some_and(|current| host(current) != host(set)) {
                return Err(AzureError::bad_request("The host of the SOA record cannot be changed."));
            }
        }
        "NS" if is_apex => {
            let values = set.values();
            let is_there = |server: &String| values.iter().any(|value| value.eq_ignore_ascii_case(server));
            if !zone.name_servers.iter().all(is_there) {
                let message = "The name servers of Azure DNS cannot be removed from the NS record set at the apex.";
                return Err(AzureError::bad_request(message));
            }
        }
        "CNAME" if is_apex => {
            return Err(AzureError::bad_request("A record set of type 'CNAME' cannot be at the apex."));
        }
        _ => {}
    }
    Ok(())
}

/// Refuses a CNAME where another set has the name, and another set where a CNAME has it.
fn check_beside(zone: &AzureZoneState, set: &AzureRecordSet) -> Result<(), AzureError> {
    let others: Vec<&AzureRecordSet> = zone.at_name(&set.name).filter(|other| other.rtype != set.rtype).collect();
    let message = if set.rtype == "CNAME" && !others.is_empty() {
        "The CNAME record could not be created because another record with the same name already exists in this zone."
    } else if others.iter().any(|other| other.rtype == "CNAME") {
        "The record could not be created because a CNAME record with the same name already exists in this zone."
    } else {
        return Ok(());
    };
    Err(AzureError::service(409, "Conflict", message))
}

/// Checks an alias: its type, that it has no records, and that its target is a resource that can be one.
fn check_alias(zone: &AzureZoneState, set: &AzureRecordSet, call: &AzureCall<'_>) -> Result<(), AzureError> {
    let id = set.target.as_deref().unwrap_or_default();
    if !["A", "AAAA", "CNAME"].contains(&set.rtype.as_str()) {
        let message = format!("A record set of type '{}' cannot have a target resource.", set.rtype);
        return Err(AzureError::bad_request(message));
    }
    if !set.records.is_empty() {
        return Err(AzureError::bad_request("A record set cannot have both records and a target resource."));
    }
    let wrong = || AzureError::bad_request(format!("The target resource '{id}' is invalid."));
    let lower = id.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('/').collect();
    let ["", "subscriptions", _, "resourcegroups", _, "providers", _, rest @ ..] = parts.as_slice() else {
        return Err(wrong());
    };
    if rest.len() < 2 || parts[1..].iter().any(|part| part.is_empty()) {
        return Err(wrong());
    }
    // A record set of the same zone and type is the only kind of target that the double can look at.
    let own = zone.path(call.kind, call.subscription).to_ascii_lowercase();
    match rest {
        ["dnszones", _, rtype, name] => {
            let is_own = lower.starts_with(&format!("{own}/")) && rtype.eq_ignore_ascii_case(&set.rtype);
            let is_itself = name.eq_ignore_ascii_case(&set.name);
            let is_there = zone.sets.contains_key(&set_key(name, &set.rtype));
            if is_own && is_there && !is_itself { Ok(()) } else { Err(wrong()) }
        }
        ["dnszones", ..] => Err(wrong()),
        _ => Ok(()),
    }
}
