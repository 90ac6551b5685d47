//! A record set as the service keeps it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::names::full_name;
use super::records::{is_single, record_field};
use super::rules::{AzureKind, AzureRules};

/// A record set of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureRecordSet {
    /// The name relative to the zone; `@` for the apex.
    pub name: String,
    /// The type, such as `AAAA`.
    pub rtype: String,
    /// In seconds.
    pub ttl: u32,
    /// The records as JSON, with the names of public zones, in the order in which they were written. A CNAME and a SOA
    /// have one at most.
    pub records: Vec<Value>,
    /// Names and values.
    pub metadata: BTreeMap<String, String>,
    /// The identifier of the resource that it is an alias of.
    pub target: Option<String>,
    /// Whether the service itself made it for a virtual machine. Only private zones have such sets.
    pub is_auto_registered: bool,
    /// What changes with each write. What another editor puts gets its own one.
    pub etag: String,
}

/// What a record set is kept under: the apex first, then by name in lower case and type.
pub type AzureSetKey = (bool, String, String);

impl AzureRecordSet {
    /// Makes a record set from values in presentation format. Strings of a TXT are in quotation marks, or there is one.
    pub fn new(name: &str, rtype: &str, ttl: u32, values: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            rtype: rtype.to_owned(),
            ttl,
            records: values.iter().map(|value| parse_record(rtype, value)).collect(),
            metadata: BTreeMap::new(),
            target: None,
            is_auto_registered: false,
            etag: String::new(),
        }
    }

    /// Makes an alias of a resource.
    pub fn alias(name: &str, rtype: &str, ttl: u32, target: &str) -> Self {
        Self { target: Some(target.to_owned()), ..Self::new(name, rtype, ttl, &[]) }
    }

    /// Adds a pair of metadata.
    pub fn with_metadata(mut self, name: &str, value: &str) -> Self {
        self.metadata.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns the values in presentation format. Strings of a TXT are in quotation marks, without escapes.
    pub fn values(&self) -> Vec<String> {
        self.records.iter().map(|record| shown_record(&self.rtype, record)).collect()
    }

    /// Returns what it is kept under.
    pub fn key(&self) -> AzureSetKey {
        set_key(&self.name, &self.rtype)
    }

    /// Writes it as an answer has it.
    pub fn write(&self, kind: AzureKind, rules: &AzureRules, (zone, path): (&str, &str)) -> Value {
        let mut properties = Map::new();
        let mut put = |name: &str, value: Value| properties.insert(name.to_owned(), value);
        if !self.metadata.is_empty() {
            put("metadata", json!(self.metadata));
        }
        put("fqdn", json!(full_name(&self.name, zone)));
        match kind {
            AzureKind::Public => {
                put("TTL", json!(self.ttl));
                put("targetResource", self.target.as_ref().map_or_else(|| json!({}), |id| json!({"id": id})));
                put("provisioningState", json!("Succeeded"));
            }
            AzureKind::Private => {
                put("ttl", json!(self.ttl));
                put("isAutoRegistered", json!(self.is_auto_registered));
            }
        }
        let records = self.records.iter().map(|record| renamed(kind, record));
        if !is_single(&self.rtype) {
            put(record_field(kind, &self.rtype), records.collect());
        } else if let Some(record) = records.into_iter().next() {
            put(record_field(kind, &self.rtype), record);
        }
        json!({
            "id": format!("{path}/{}/{}", self.rtype, self.name),
            "name": self.name,
            "type": format!("Microsoft.Network/{}/{}", kind.zone_type(), self.rtype),
            "etag": shown_etag(rules, &self.etag),
            "properties": properties,
        })
    }
}

/// Returns what a record set of a name and type is kept under.
pub fn set_key(name: &str, rtype: &str) -> AzureSetKey {
    (name != "@", name.to_ascii_lowercase(), rtype.to_owned())
}

/// Writes an etag as answers have it.
pub fn shown_etag(rules: &AzureRules, etag: &str) -> String {
    if rules.quotes_etags { format!("\"{etag}\"") } else { etag.to_owned() }
}

/// Returns a record with the names of a service: of all records, only one field of a SOA differs.
fn renamed(kind: AzureKind, record: &Value) -> Value {
    let mut record = record.clone();
    if kind == AzureKind::Private
        && let Some(fields) = record.as_object_mut()
        && let Some(minimum) = fields.remove("minimumTTL")
    {
        fields.insert("minimumTtl".to_owned(), minimum);
    }
    record
}

/// Makes a record from presentation format. It is not checked.
fn parse_record(rtype: &str, value: &str) -> Value {
    let words: Vec<&str> = value.split_whitespace().collect();
    let number = |place: usize| words[place].parse::<u32>().expect("the field is a number");
    match rtype {
        "A" => json!({"ipv4Address": value}),
        "AAAA" => json!({"ipv6Address": value}),
        "CNAME" => json!({"cname": value}),
        "NS" => json!({"nsdname": value}),
        "PTR" => json!({"ptrdname": value}),
        "MX" => json!({"preference": number(0), "exchange": words[1]}),
        "SRV" => json!({"priority": number(0), "weight": number(1), "port": number(2), "target": words[3]}),
        "CAA" => json!({"flags": number(0), "tag": words[1], "value": words[2].trim_matches('"')}),
        "TXT" => json!({"value": strings(value)}),
        "SOA" => json!({
            "host": words[0], "email": words[1], "serialNumber": number(2), "refreshTime": number(3),
            "retryTime": number(4), "expireTime": number(5), "minimumTTL": number(6),
        }),
        _ => panic!("the double has no type {rtype}"),
    }
}

/// Splits a TXT in presentation format into its strings.
fn strings(value: &str) -> Vec<&str> {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(inside) => inside.split("\" \"").collect(),
        None => vec![value],
    }
}

/// Writes a record in presentation format.
fn shown_record(rtype: &str, record: &Value) -> String {
    let shown = |name: &str| match &record[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let all = |names: &[&str]| names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(" ");
    match rtype {
        "A" => shown("ipv4Address"),
        "AAAA" => shown("ipv6Address"),
        "CNAME" => shown("cname"),
        "NS" => shown("nsdname"),
        "PTR" => shown("ptrdname"),
        "MX" => all(&["preference", "exchange"]),
        "SRV" => all(&["priority", "weight", "port", "target"]),
        "CAA" => format!("{} {} \"{}\"", shown("flags"), shown("tag"), shown("value")),
        "TXT" => {
            let strings = record["value"].as_array().into_iter().flatten().filter_map(Value::as_str);
            strings.map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(" ")
        }
        _ => all(&["host", "email", "serialNumber", "refreshTime", "retryTime", "expireTime", "minimumTTL"]),
    }
}
