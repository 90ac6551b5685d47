//! The bodies of requests, held to the API's model: which elements, in which order, of which values.

use super::errors::ServiceError;
use super::rrset::{AliasTarget, DoubleRrset, RoutingPolicy};
use super::rules::Route53Rules;
use super::values::TYPES;
use super::xml::{NAMESPACE, XmlElement, parse_xml};

/// The largest TTL. Source: the API's model, shape `TTL`.
const MAX_TTL: i64 = 2_147_483_647;

/// The longest value, in characters. Source: the API's model, shape `RData`.
const MAX_VALUE: usize = 4_000;

/// How the names of regions begin. The model lists them all.
const REGION_PREFIXES: [&str; 11] = ["us-", "ca-", "eu-", "eusc-", "ap-", "sa-", "cn-", "me-", "af-", "il-", "mx-"];

/// What is asked of an RRset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeAction {
    /// It must not be there.
    Create,
    /// It must be there as stated.
    Delete,
    /// It may be there.
    Upsert,
}

impl ChangeAction {
    /// Returns the word of the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Delete => "DELETE",
            Self::Upsert => "UPSERT",
        }
    }
}

/// A change of a batch. The name is as the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedChange {
    /// What is asked.
    pub action: ChangeAction,
    /// The RRset that is stated.
    pub rrset: DoubleRrset,
}

/// Reads the root of a body and checks its name and namespace.
pub fn decode_root(body: &[u8], name: &str) -> Result<XmlElement, ServiceError> {
    let malformed = |what: &str| ServiceError::new(400, "MalformedInput", what);
    let text = std::str::from_utf8(body).map_err(|_| malformed("The body is not UTF-8"))?;
    let root = parse_xml(text).map_err(|error| malformed(&error))?;
    if root.name != name {
        return Err(invalid_xml(&format!("Cannot find the declaration of element '{}'.", root.name)));
    }
    if root.namespace.as_deref() != Some(NAMESPACE) {
        return Err(invalid_xml(&format!("Element '{name}' is in no known namespace.")));
    }
    Ok(root)
}

/// Checks that an element has only known elements, each once and in order.
pub fn check_members(element: &XmlElement, known: &[&str], rules: &Route53Rules) -> Result<(), ServiceError> {
    let mut next = 0;
    for (place, child) in element.children.iter().enumerate() {
        let is_twice = element.children[..place].iter().any(|earlier| earlier.name == child.name);
        match known.iter().position(|name| *name == child.name) {
            Some(found) if !is_twice && (found >= next || !rules.demands_element_order) => next = found,
            _ => {
                return Err(invalid_xml(&format!(
                    "cvc-complex-type.2.4.a: Invalid content was found starting with element '{}'.",
                    child.name
                )));
            }
        }
    }
    if !element.text.trim().is_empty() {
        return Err(invalid_xml(&format!("Element '{}' must have no text.", element.name)));
    }
    Ok(())
}

/// Returns the items of a list, which must have one name, and at least one of it.
pub fn items<'x>(list: &'x XmlElement, name: &str) -> Result<&'x [XmlElement], ServiceError> {
    match list.children.iter().find(|item| item.name != name) {
        Some(other) => Err(invalid_xml(&format!("Element '{}' is no '{name}'.", other.name))),
        None if list.children.is_empty() => {
            Err(ServiceError::new(400, "MalformedInput", "Unexpected list element termination"))
        }
        None => Ok(&list.children),
    }
}

/// Returns the text of an element that must be there.
pub fn required<'x>(element: &'x XmlElement, name: &str) -> Result<&'x str, ServiceError> {
    element.text_of(name).ok_or_else(|| incomplete(element, name))
}

/// Returns an element that must be there.
pub fn required_child<'x>(element: &'x XmlElement, name: &str) -> Result<&'x XmlElement, ServiceError> {
    element.child(name).ok_or_else(|| incomplete(element, name))
}

/// Checks the length of a text, in characters.
pub fn check_length(text: &str, field: &str, least: usize, most: usize) -> Result<(), ServiceError> {
    let length = text.chars().count();
    if length > most {
        return Err(constraint(text, field, &format!("Member must have length less than or equal to {most}")));
    }
    if length < least {
        return Err(constraint(text, field, &format!("Member must have length greater than or equal to {least}")));
    }
    Ok(())
}

/// Checks that a type is one of the model.
pub fn check_type(rtype: &str) -> Result<(), ServiceError> {
    check_word(rtype, "type", &TYPES)
}

/// Reads a batch of changes, and its comment.
pub fn decode_changes(
    body: &[u8],
    rules: &Route53Rules,
) -> Result<(Vec<RequestedChange>, Option<String>), ServiceError> {
    let root = decode_root(body, "ChangeResourceRecordSetsRequest")?;
    check_members(&root, &["ChangeBatch"], rules)?;
    let batch = required_child(&root, "ChangeBatch")?;
    check_members(batch, &["Comment", "Changes"], rules)?;
    if let Some(comment) = batch.text_of("Comment") {
        check_length(comment, "changeBatch.comment", 0, 256)?;
    }
    let changes = items(required_child(batch, "Changes")?, "Change")?;
    let changes = changes.iter().map(|change| decode_change(change, rules)).collect::<Result<_, _>>()?;
    Ok((changes, batch.text_of("Comment").map(str::to_owned)))
}

/// Reads one change.
fn decode_change(element: &XmlElement, rules: &Route53Rules) -> Result<RequestedChange, ServiceError> {
    check_members(element, &["Action", "ResourceRecordSet"], rules)?;
    let action = match required(element, "Action")? {
        "CREATE" => ChangeAction::Create,
        "DELETE" => ChangeAction::Delete,
        "UPSERT" => ChangeAction::Upsert,
        other => {
            return Err(constraint(other, "action", "Member must satisfy enum value set: [CREATE, DELETE, UPSERT]"));
        }
    };
    let rrset = decode_rrset(required_child(element, "ResourceRecordSet")?, rules)?;
    check_whole(action, &rrset)?;
    Ok(RequestedChange { action, rrset })
}

/// The elements of a `ResourceRecordSet`. Source: the API's model.
const RRSET_MEMBERS: [&str; 15] = [
    "Name",
    "Type",
    "SetIdentifier",
    "Weight",
    "Region",
    "GeoLocation",
    "Failover",
    "MultiValueAnswer",
    "TTL",
    "ResourceRecords",
    "AliasTarget",
    "HealthCheckId",
    "TrafficPolicyInstanceId",
    "CidrRoutingConfig",
    "GeoProximityLocation",
];

/// Reads an RRset.
fn decode_rrset(element: &XmlElement, rules: &Route53Rules) -> Result<DoubleRrset, ServiceError> {
    check_members(element, &RRSET_MEMBERS, rules)?;
    let name = required(element, "Name")?;
    check_length(name, "name", 0, 1024)?;
    let rtype = required(element, "Type")?;
    check_type(rtype)?;
    let set_identifier = element.text_of("SetIdentifier").map(str::to_owned);
    if let Some(identifier) = &set_identifier {
        check_length(identifier, "setIdentifier", 1, 128)?;
    }
    Ok(DoubleRrset {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        set_identifier,
        routing: decode_routing(element, rules)?,
        ttl: element.text_of("TTL").map(decode_ttl).transpose()?,
        values: element.child("ResourceRecords").map_or(Ok(Vec::new()), |list| decode_values(list, rules))?,
        alias: element.child("AliasTarget").map(|alias| decode_alias(alias, rules)).transpose()?,
        health_check: element.text_of("HealthCheckId").map(str::to_owned),
        traffic_policy_instance: element.text_of("TrafficPolicyInstanceId").map(str::to_owned),
    })
}

/// Reads a TTL.
fn decode_ttl(text: &str) -> Result<u32, ServiceError> {
    let ttl = text.parse::<i64>().map_err(|_| invalid_xml(&format!("'{text}' is not a valid value for 'integer'.")))?;
    if ttl > MAX_TTL {
        return Err(constraint(text, "tTL", &format!("Member must have value less than or equal to {MAX_TTL}")));
    }
    u32::try_from(ttl).map_err(|_| constraint(text, "tTL", "Member must have value greater than or equal to 0"))
}

/// Reads the values.
fn decode_values(list: &XmlElement, rules: &Route53Rules) -> Result<Vec<String>, ServiceError> {
    let records = items(list, "ResourceRecord")?;
    let value = |record: &XmlElement| {
        check_members(record, &["Value"], rules)?;
        let value = required(record, "Value")?;
        check_length(value, "value", 0, MAX_VALUE)?;
        Ok(value.to_owned())
    };
    records.iter().map(value).collect()
}

/// Reads what an alias names.
fn decode_alias(element: &XmlElement, rules: &Route53Rules) -> Result<AliasTarget, ServiceError> {
    check_members(element, &["HostedZoneId", "DNSName", "EvaluateTargetHealth"], rules)?;
    let zone_id = required(element, "HostedZoneId")?;
    check_length(zone_id, "hostedZoneId", 0, 32)?;
    Ok(AliasTarget {
        zone_id: zone_id.to_owned(),
        dns_name: required(element, "DNSName")?.to_owned(),
        evaluates_health: decode_bool(required(element, "EvaluateTargetHealth")?)?,
    })
}

/// Reads how the service chooses; at most one way may be given.
fn decode_routing(element: &XmlElement, rules: &Route53Rules) -> Result<Option<RoutingPolicy>, ServiceError> {
    let mut found = Vec::new();
    for child in &element.children {
        found.extend(match child.name.as_str() {
            "Weight" => {
                Some(RoutingPolicy::Weight(child.text.parse().map_err(|_| {
                    constraint(&child.text, "weight", "Member must have value less than or equal to 255")
                })?))
            }
            "Region" => {
                if !REGION_PREFIXES.iter().any(|prefix| child.text.starts_with(prefix)) {
                    return Err(constraint(&child.text, "region", "Member must satisfy enum value set"));
                }
                Some(RoutingPolicy::Region(child.text.clone()))
            }
            "Failover" => {
                check_word(&child.text, "failover", &["PRIMARY", "SECONDARY"])?;
                Some(RoutingPolicy::Failover(child.text.clone()))
            }
            "MultiValueAnswer" if decode_bool(&child.text)? => Some(RoutingPolicy::MultiValue),
            "GeoLocation" => Some(decode_geo(child, rules)?),
            "CidrRoutingConfig" => {
                check_members(child, &["CollectionId", "LocationName"], rules)?;
                let [collection, location] =
                    [required(child, "CollectionId")?.to_owned(), required(child, "LocationName")?.to_owned()];
                Some(RoutingPolicy::Cidr { collection, location })
            }
            "GeoProximityLocation" => Some(decode_proximity(child, rules)?),
            _ => None,
        });
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(ServiceError::invalid_input(format!(
            "Invalid request: Expected exactly one of [Weight, Region, Failover, GeoLocation, MultiValueAnswer, \
             GeoProximityLocation, CidrRoutingConfig], but found more than one in Change with [Name={}]",
            element.text_of("Name").unwrap_or_default()
        ))),
    }
}

/// Reads a place.
fn decode_geo(element: &XmlElement, rules: &Route53Rules) -> Result<RoutingPolicy, ServiceError> {
    check_members(element, &["ContinentCode", "CountryCode", "SubdivisionCode"], rules)?;
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    let (continent, country, subdivision) = (text("ContinentCode"), text("CountryCode"), text("SubdivisionCode"));
    let is_place = continent.is_some() != country.is_some() && (subdivision.is_none() || country.is_some());
    is_place
        .then_some(RoutingPolicy::Geo { continent, country, subdivision })
        .ok_or_else(|| ServiceError::invalid_input("Invalid request: the geolocation is no place"))
}

/// Reads a place with a bias.
fn decode_proximity(element: &XmlElement, rules: &Route53Rules) -> Result<RoutingPolicy, ServiceError> {
    check_members(element, &["AWSRegion", "LocalZoneGroup", "Coordinates", "Bias"], rules)?;
    let coordinates = element.child("Coordinates").map(|place| {
        check_members(place, &["Latitude", "Longitude"], rules)?;
        Ok::<_, ServiceError>((required(place, "Latitude")?.to_owned(), required(place, "Longitude")?.to_owned()))
    });
    let bias = element.text_of("Bias").map(|text| {
        let bias = text.parse::<i32>().ok().filter(|bias| (-99..=99).contains(bias));
        bias.ok_or_else(|| constraint(text, "bias", "Member must have value between -99 and 99"))
    });
    Ok(RoutingPolicy::GeoProximity {
        region: element.text_of("AWSRegion").map(str::to_owned),
        local_zone: element.text_of("LocalZoneGroup").map(str::to_owned),
        coordinates: coordinates.transpose()?,
        bias: bias.transpose()?,
    })
}

/// Checks what depends on more than one element.
fn check_whole(action: ChangeAction, rrset: &DoubleRrset) -> Result<(), ServiceError> {
    let place = format!(
        "in Change with [Action={}, Name={}, Type={}, SetIdentifier={}]",
        action.word(),
        rrset.name,
        rrset.rtype,
        rrset.set_identifier.as_deref().unwrap_or("null")
    );
    let is_plain = rrset.ttl.is_some() || !rrset.values.is_empty();
    let kinds = [rrset.alias.is_some(), is_plain, rrset.traffic_policy_instance.is_some()];
    let given = kinds.into_iter().filter(|is_given| *is_given).count();
    let is_half = is_plain && (rrset.ttl.is_none() || rrset.values.is_empty());
    let wrong = match (given, &rrset.set_identifier, &rrset.routing) {
        (2.., _, _) => {
            "Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but \
             found more than one"
        }
        (0, _, _) => {
            "Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but \
             found none"
        }
        _ if is_half && rrset.ttl.is_none() => "Missing field 'TTL'",
        _ if is_half => "Missing field 'ResourceRecords'",
        (_, None, Some(_)) => "Missing field 'SetIdentifier'",
        (_, Some(_), None) => {
            "Expected exactly one of [Weight, Region, Failover, GeoLocation, MultiValueAnswer, GeoProximityLocation, \
             or CidrRoutingConfig], but found none"
        }
        _ => return Ok(()),
    };
    Err(ServiceError::invalid_input(format!("Invalid request: {wrong} {place}")))
}

/// Reads a truth value.
pub fn decode_bool(text: &str) -> Result<bool, ServiceError> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(invalid_xml(&format!("'{text}' is not a valid value for 'boolean'."))),
    }
}

/// Checks that a word is one of a list.
pub fn check_word(word: &str, field: &str, known: &[&str]) -> Result<(), ServiceError> {
    if known.contains(&word) {
        return Ok(());
    }
    Err(constraint(word, field, &format!("Member must satisfy enum value set: [{}]", known.join(", "))))
}

/// Makes the error of an element that lacks another one.
fn incomplete(element: &XmlElement, name: &str) -> ServiceError {
    invalid_xml(&format!(
        "cvc-complex-type.2.4.b: The content of element '{}' is not complete. One of '{name}' is expected.",
        element.name
    ))
}

/// Makes the error of a body that the schema forbids.
fn invalid_xml(what: &str) -> ServiceError {
    ServiceError::invalid_input(format!("Invalid XML ; {what}"))
}

/// Makes the error of a value that the model forbids.
fn constraint(value: &str, field: &str, words: &str) -> ServiceError {
    ServiceError::invalid_input(format!(
        "1 validation error detected: Value '{value}' at '{field}' failed to satisfy constraint: {words}"
    ))
}
