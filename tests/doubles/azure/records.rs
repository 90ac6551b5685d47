//! The bodies of record sets: which fields they have, and what is in them, type by type.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

use super::errors::AzureError;
use super::names::check_target_name;
use super::rules::{AzureKind, AzureRules};

/// The longest string of a TXT record, in characters. Source: RFC 1035 section 3.3.
const MAX_STRING: usize = 255;

/// The longest value of a CAA record, in characters.
const MAX_CAA_VALUE: usize = 1_024;

/// What a field of a record must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordField {
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A domain name.
    Name,
    /// A domain name, or `.` for none.
    NameOrRoot,
    /// A number that is not above this.
    Number(u64),
    /// Letters and digits.
    Tag,
    /// A text of a CAA record.
    Text,
    /// The strings of a TXT record.
    Strings,
}

/// The body of a PUT or PATCH of a record set. What is not in it is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetBody {
    /// In seconds.
    pub ttl: Option<u32>,
    /// The records, with the names of public zones.
    pub records: Option<Vec<Value>>,
    /// Names and values.
    pub metadata: Option<BTreeMap<String, String>>,
    /// What it is an alias of; the inner none where the body says that it is none.
    pub target: Option<Option<String>>,
}

/// Returns the property that has the records of a type.
pub fn record_field(kind: AzureKind, rtype: &str) -> &'static str {
    match (kind, rtype) {
        (AzureKind::Public, "A") => "ARecords",
        (AzureKind::Public, "AAAA") => "AAAARecords",
        (AzureKind::Public, "CAA") => "caaRecords",
        (AzureKind::Public, "CNAME") => "CNAMERecord",
        (AzureKind::Public, "MX") => "MXRecords",
        (AzureKind::Public, "NS") => "NSRecords",
        (AzureKind::Public, "PTR") => "PTRRecords",
        (AzureKind::Public, "SOA") => "SOARecord",
        (AzureKind::Public, "SRV") => "SRVRecords",
        (AzureKind::Public, _) => "TXTRecords",
        (AzureKind::Private, "A") => "aRecords",
        (AzureKind::Private, "AAAA") => "aaaaRecords",
        (AzureKind::Private, "CNAME") => "cnameRecord",
        (AzureKind::Private, "MX") => "mxRecords",
        (AzureKind::Private, "PTR") => "ptrRecords",
        (AzureKind::Private, "SOA") => "soaRecord",
        (AzureKind::Private, "SRV") => "srvRecords",
        (AzureKind::Private, _) => "txtRecords",
    }
}

/// Whether a set of a type has one record at most, which is no list.
pub fn is_single(rtype: &str) -> bool {
    ["CNAME", "SOA"].contains(&rtype)
}

/// Parses the body of any write of Resource Manager. Errors: what is no JSON object, and another media type.
pub fn parse_body(media_type: Option<&str>, body: &[u8]) -> Result<Map<String, Value>, AzureError> {
    let is_json = media_type.is_some_and(|media_type| media_type.split(';').next() == Some("application/json"));
    if !is_json {
        let message = "The content media type is not supported. Only 'application/json' is supported.";
        return Err(AzureError::manager(415, "UnsupportedMediaType", message));
    }
    let wrong = |reason: String| {
        let message = format!("The request content was invalid and could not be deserialized: '{reason}'.");
        AzureError::manager(400, "InvalidRequestContent", message)
    };
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("an object is expected".to_owned())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Decodes the body of a record set of a type. Errors: a property that there is not, or that is of another type.
pub fn decode_set(
    kind: AzureKind,
    rtype: &str,
    object: &Map<String, Value>,
    rules: &AzureRules,
) -> Result<SetBody, AzureError> {
    let properties = object.get("properties").and_then(Value::as_object).ok_or_else(AzureError::invalid_body)?;
    let read_only = ["id", "name", "type", "etag", "systemData", "properties"];
    if object.keys().any(|key| !read_only.contains(&key.as_str())) {
        return Err(AzureError::invalid_body());
    }
    let mut decoded = SetBody::default();
    for (key, value) in properties.iter().filter(|(_, value)| !value.is_null()) {
        match (kind, key.as_str()) {
            (AzureKind::Public, "TTL") | (AzureKind::Private, "ttl") => decoded.ttl = Some(decode_ttl(value)?),
            (_, "metadata") => decoded.metadata = Some(decode_metadata(value, rules)?),
            (AzureKind::Public, "targetResource") => decoded.target = Some(decode_target(value)?),
            // These are of answers; a client that sends back what it read has them.
            (_, "fqdn" | "provisioningState") | (AzureKind::Private, "isAutoRegistered") => {}
            (_, key) if key == record_field(kind, rtype) => {
                decoded.records = Some(decode_records(kind, rtype, value, rules)?);
            }
            // Lists of other types may be there if they are empty, as some clients send them.
            (_, key) if kind.types().iter().any(|other| key == record_field(kind, other)) && is_empty(value) => {}
            _ => return Err(AzureError::invalid_body()),
        }
    }
    Ok(decoded)
}

/// Whether a value is an empty list.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Decodes a TTL, which is not 0.
fn decode_ttl(value: &Value) -> Result<u32, AzureError> {
    let ttl = value.as_i64().ok_or_else(AzureError::invalid_body)?;
    let most = i64::from(i32::MAX);
    if !(1..=most).contains(&ttl) {
        return Err(AzureError::bad_request(format!("The TTL '{ttl}' is invalid. It must be between 1 and {most}.")));
    }
    u32::try_from(ttl).map_err(|_| AzureError::invalid_body())
}

/// Decodes metadata.
fn decode_metadata(value: &Value, rules: &AzureRules) -> Result<BTreeMap<String, String>, AzureError> {
    let pairs = value.as_object().ok_or_else(AzureError::invalid_body)?;
    let (name_length, value_length) = rules.max_metadata_characters;
    if pairs.len() > rules.max_metadata {
        let message = format!("A record set may not have more than {} metadata entries.", rules.max_metadata);
        return Err(AzureError::bad_request(message));
    }
    let mut metadata = BTreeMap::new();
    for (name, value) in pairs {
        let value = value.as_str().ok_or_else(AzureError::invalid_body)?;
        let length = name.chars().count();
        if length == 0 || length > name_length || value.chars().count() > value_length {
            return Err(AzureError::bad_request(format!("The metadata entry '{name}' is invalid.")));
        }
        metadata.insert(name.clone(), value.to_owned());
    }
    Ok(metadata)
}

/// Decodes what a record set is an alias of.
fn decode_target(value: &Value) -> Result<Option<String>, AzureError> {
    let object = value.as_object().ok_or_else(AzureError::invalid_body)?;
    match object.get("id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(_) => Err(AzureError::invalid_body()),
    }
}

/// Decodes the records of a set, with the names of public zones.
fn decode_records(kind: AzureKind, rtype: &str, value: &Value, rules: &AzureRules) -> Result<Vec<Value>, AzureError> {
    let records = match value {
        Value::Array(records) if !is_single(rtype) => records.clone(),
        Value::Object(_) if is_single(rtype) => vec![value.clone()],
        _ => return Err(AzureError::invalid_body()),
    };
    if records.len() > rules.max_records_a_set {
        let most = rules.max_records_a_set;
        return Err(AzureError::bad_request(format!("A record set may not have more than {most} records.")));
    }
    let records: Vec<Value> =
        records.into_iter().map(|record| decode_record(kind, rtype, record)).collect::<Result<_, _>>()?;
    for (place, record) in records.iter().enumerate() {
        if records[..place].iter().any(|earlier| compared(rtype, earlier) == compared(rtype, record)) {
            return Err(AzureError::bad_request("A record set may not have two identical records."));
        }
    }
    let strings = records.iter().flat_map(|record| record["value"].as_array().into_iter().flatten());
    let characters: usize = strings.filter_map(Value::as_str).map(|text| text.chars().count()).sum();
    if rtype == "TXT" && characters > rules.max_txt_characters {
        let most = rules.max_txt_characters;
        let message =
            format!("The combined length of all TXT records in a record set may not exceed {most} characters.");
        return Err(AzureError::bad_request(message));
    }
    Ok(records)
}

/// Decodes a record.
fn decode_record(kind: AzureKind, rtype: &str, record: Value) -> Result<Value, AzureError> {
    let Value::Object(mut fields) = record else { return Err(AzureError::invalid_body()) };
    fields.retain(|_, value| !value.is_null());
    if kind == AzureKind::Private {
        // The names of public zones are not those of private ones.
        if fields.contains_key("minimumTTL") {
            return Err(AzureError::invalid_body());
        }
        if let Some(minimum) = fields.remove("minimumTtl") {
            fields.insert("minimumTTL".to_owned(), minimum);
        }
    }
    let known = known_fields(rtype);
    if fields.keys().any(|key| !known.iter().any(|(name, _)| name == key)) {
        return Err(AzureError::invalid_body());
    }
    for (name, field) in known {
        match fields.get(*name) {
            Some(value) => check_field(*field, value)?,
            // What is not in the body of a SOA stays as it is.
            None if rtype == "SOA" => {}
            None => return Err(AzureError::invalid_body()),
        }
    }
    Ok(Value::Object(fields))
}

/// The fields of the records of a type. Source: the models of the service's clients.
fn known_fields(rtype: &str) -> &'static [(&'static str, RecordField)] {
    const SHORT: RecordField = RecordField::Number(u16::MAX as u64);
    const LONG: RecordField = RecordField::Number(u32::MAX as u64);
    match rtype {
        "A" => &[("ipv4Address", RecordField::Ipv4)],
        "AAAA" => &[("ipv6Address", RecordField::Ipv6)],
        "CAA" => {
            &[("flags", RecordField::Number(u8::MAX as u64)), ("tag", RecordField::Tag), ("value", RecordField::Text)]
        }
        "CNAME" => &[("cname", RecordField::Name)],
        "MX" => &[("preference", SHORT), ("exchange", RecordField::NameOrRoot)],
        "NS" => &[("nsdname", RecordField::Name)],
        "PTR" => &[("ptrdname", RecordField::Name)],
        "SRV" => &[("priority", SHORT), ("weight", SHORT), ("port", SHORT), ("target", RecordField::NameOrRoot)],
        "TXT" => &[("value", RecordField::Strings)],
        _ => &[
            ("host", RecordField::Name),
            ("email", RecordField::Name),
            ("serialNumber", LONG),
            ("refreshTime", LONG),
            ("retryTime", LONG),
            ("expireTime", LONG),
            ("minimumTTL", LONG),
        ],
    }
}

/// Checks a field of a record.
fn check_field(field: RecordField, value: &Value) -> Result<(), AzureError> {
    if let RecordField::Number(most) = field {
        let number = value.as_u64().ok_or_else(AzureError::invalid_body)?;
        return check_holds(number <= most, || format!("The value '{number}' must be between 0 and {most}."));
    }
    if field == RecordField::Strings {
        return check_strings(value);
    }
    let text = value.as_str().ok_or_else(AzureError::invalid_body)?;
    match field {
        RecordField::Ipv4 => {
            check_holds(text.parse::<Ipv4Addr>().is_ok(), || format!("The IP address '{text}' is invalid."))
        }
        RecordField::Ipv6 => {
            check_holds(text.parse::<Ipv6Addr>().is_ok(), || format!("The IP address '{text}' is invalid."))
        }
        RecordField::NameOrRoot if text == "." => Ok(()),
        RecordField::Name | RecordField::NameOrRoot => check_target_name(text),
        RecordField::Tag => {
            let is_tag = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_alphanumeric());
            check_holds(is_tag, || format!("The CAA tag '{text}' is invalid."))
        }
        RecordField::Text => {
            let is_text = text.len() <= MAX_CAA_VALUE && text.bytes().all(|octet| (0x20..0x7f).contains(&octet));
            check_holds(is_text, || format!("The CAA value '{text}' is invalid."))
        }
        RecordField::Number(_) | RecordField::Strings => Ok(()),
    }
}

/// Checks the strings of a TXT record.
fn check_strings(value: &Value) -> Result<(), AzureError> {
    let strings = value.as_array().filter(|strings| !strings.is_empty()).ok_or_else(AzureError::invalid_body)?;
    strings.iter().try_for_each(|text| {
        let text = text.as_str().ok_or_else(AzureError::invalid_body)?;
        let is_short = text.chars().count() <= MAX_STRING;
        check_holds(is_short, || format!("The value '{text}' is longer than {MAX_STRING} characters."))
    })
}

/// Refuses unless a condition holds.
fn check_holds(holds: bool, message: impl FnOnce() -> String) -> Result<(), AzureError> {
    if holds { Ok(()) } else { Err(AzureError::bad_request(message())) }
}

/// Returns what makes two records of a type the same: addresses in one form, and names in lower case.
fn compared(rtype: &str, record: &Value) -> String {
    match (rtype, record["ipv6Address"].as_str().and_then(|text| text.parse::<Ipv6Addr>().ok())) {
        ("AAAA", Some(address)) => address.to_string(),
        ("TXT", _) | ("CAA", _) => record.to_string(),
        _ => record.to_string().to_ascii_lowercase().replace(".\"", "\""),
    }
}
