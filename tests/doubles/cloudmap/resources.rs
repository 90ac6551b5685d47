//! Namespaces, services and instances, and how answers show them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The account that owns all.
pub const ACCOUNT: &str = "123456789012";

/// How names are looked up in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceKind {
    /// By DNS, from everywhere.
    Public,
    /// By DNS, from one network.
    Private,
    /// By the API alone.
    Http,
}

impl NamespaceKind {
    /// Returns the word of the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Public => "DNS_PUBLIC",
            Self::Private => "DNS_PRIVATE",
            Self::Http => "HTTP",
        }
    }
}

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapNamespace {
    /// The identifier, such as `ns-ylexjili4cdxy3xm`.
    pub id: String,
    /// The name, in the letters of its creator, without the final dot.
    pub name: String,
    /// How names are looked up.
    pub kind: NamespaceKind,
    /// The network of a private one.
    pub network: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// What the creator gave, so that a copy of the request creates no second one.
    pub creator: Option<String>,
    /// The TTL of the SOA of its zone, in seconds.
    pub soa_ttl: u32,
    /// When it was created, in seconds since the epoch.
    pub created: i64,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapService {
    /// The identifier, such as `srv-p5zdwlg5uvvzjita`.
    pub id: String,
    /// The name, in the letters of its creator.
    pub name: String,
    /// The identifier of its namespace.
    pub namespace: String,
    /// The description; none where it is empty.
    pub description: Option<String>,
    /// What the creator gave, so that a copy of the request creates no second one.
    pub creator: Option<String>,
    /// How one of several instances is chosen.
    pub routing: MapRouting,
    /// The types of its RRs, and their TTLs in seconds; empty where instances are looked up by the API alone.
    pub records: Vec<(String, u32)>,
    /// The health check, as it was written.
    pub health_check: Option<Value>,
    /// The health check that others do, as it was written.
    pub custom_health_check: Option<Value>,
    /// When it was created, in seconds since the epoch.
    pub created: i64,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// How one of several instances is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapRouting {
    /// Up to eight are answered.
    MultiValue,
    /// One is answered; all have the same weight.
    Weighted,
}

impl MapRouting {
    /// Returns the word of the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::MultiValue => "MULTIVALUE",
            Self::Weighted => "WEIGHTED",
        }
    }
}

/// An instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapInstance {
    /// The identifier, which is unique in its service.
    pub id: String,
    /// The attributes as they were written.
    pub attributes: BTreeMap<String, String>,
    /// What the creator gave.
    pub creator: Option<String>,
    /// Whether a health check found it well. Without a health check it is.
    pub is_healthy: bool,
}

impl MapInstance {
    /// Makes a healthy instance of pairs of keys and values.
    pub fn new(id: &str, attributes: &[(&str, &str)]) -> Self {
        let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { id: id.to_owned(), attributes, creator: None, is_healthy: true }
    }

    /// Returns an attribute.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.get(key).map(String::as_str)
    }

    /// Shows it as ListInstances does.
    pub fn summary(&self) -> Value {
        json!({"Id": self.id, "Attributes": self.attributes, "CreatedByAccount": ACCOUNT})
    }

    /// Shows it as GetInstance does.
    pub fn shown(&self) -> Value {
        with(self.summary(), [("CreatorRequestId", self.creator.clone().map(Value::from))])
    }
}

impl MapNamespace {
    /// Returns the identifier of the zone; none without DNS.
    pub fn zone_id(&self) -> Option<String> {
        (self.kind != NamespaceKind::Http).then(|| format!("Z{}", self.id.trim_start_matches("ns-").to_uppercase()))
    }

    /// Shows it as ListNamespaces does.
    pub fn summary(&self, region: &str, services: usize) -> Value {
        let dns = with(
            json!({}),
            [
                ("HostedZoneId", self.zone_id().map(Value::from)),
                ("SOA", self.zone_id().map(|_| json!({"TTL": self.soa_ttl}))),
            ],
        );
        let namespace = json!({
            "Id": self.id,
            "Arn": namespace_arn(region, &self.id),
            "ResourceOwner": ACCOUNT,
            "Name": self.name,
            "Type": self.kind.word(),
            "ServiceCount": services,
            "Properties": {"DnsProperties": dns, "HttpProperties": {"HttpName": self.name}},
            "CreateDate": shown_moment(self.created),
        });
        with(namespace, [("Description", self.description.clone().map(Value::from))])
    }

    /// Shows it as GetNamespace does.
    pub fn shown(&self, region: &str, services: usize) -> Value {
        with(self.summary(region, services), [("CreatorRequestId", self.creator.clone().map(Value::from))])
    }
}

impl MapService {
    /// Shows it as ListServices does: without the namespace.
    pub fn summary(&self, region: &str, instances: usize) -> Value {
        let records: Vec<Value> = self.records.iter().map(|(rtype, ttl)| json!({"Type": rtype, "TTL": ttl})).collect();
        let dns = (!records.is_empty()).then(|| json!({"RoutingPolicy": self.routing.word(), "DnsRecords": records}));
        let service = json!({
            "Id": self.id,
            "Arn": service_arn(region, &self.id),
            "ResourceOwner": ACCOUNT,
            "Name": self.name,
            "Type": if dns.is_some() { "DNS_HTTP" } else { "HTTP" },
            "InstanceCount": instances,
            "CreateDate": shown_moment(self.created),
            "CreatedByAccount": ACCOUNT,
        });
        with(
            service,
            [
                ("Description", self.description.clone().map(Value::from)),
                ("DnsConfig", dns),
                ("HealthCheckConfig", self.health_check.clone()),
                ("HealthCheckCustomConfig", self.custom_health_check.clone()),
            ],
        )
    }

    /// Shows it as GetService does.
    pub fn shown(&self, region: &str, instances: usize) -> Value {
        let mut service = self.summary(region, instances);
        if let Some(dns) = service.get_mut("DnsConfig") {
            dns["NamespaceId"] = json!(self.namespace);
        }
        let creator = self.creator.clone().map(Value::from);
        with(service, [("NamespaceId", Some(json!(self.namespace))), ("CreatorRequestId", creator)])
    }

    /// Whether it has RRs of a type.
    pub fn has_type(&self, rtype: &str) -> bool {
        self.records.iter().any(|(known, _)| known == rtype)
    }
}

/// Adds members that are there.
pub fn with<const N: usize>(mut value: Value, members: [(&str, Option<Value>); N]) -> Value {
    let object: &mut Map<String, Value> = value.as_object_mut().expect("members are added to objects");
    object.extend(members.into_iter().filter_map(|(key, member)| Some((key.to_owned(), member?))));
    value
}

/// Returns the ARN of a namespace.
pub fn namespace_arn(region: &str, id: &str) -> String {
    format!("arn:aws:servicediscovery:{region}:{ACCOUNT}:namespace/{id}")
}

/// Returns the ARN of a service.
pub fn service_arn(region: &str, id: &str) -> String {
    format!("arn:aws:servicediscovery:{region}:{ACCOUNT}:service/{id}")
}

/// Writes a moment as a number of seconds with milliseconds, which are always the same: the clock has none.
pub fn shown_moment(seconds: i64) -> Value {
    let number = format!("{seconds}.087").parse::<serde_json::Number>().expect("it is a number");
    Value::Number(number)
}
