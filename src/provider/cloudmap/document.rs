//! Requests and answers of Cloud Map, as JSON. Pure.
//!
//! Source: the published model of the API 2017-03-14.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::dns::{Name, Rtype, Ttl};

/// A namespace in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudMapNamespace {
    /// Its identifier.
    pub id: String,
    /// Its name.
    pub name: Name,
    /// Whether one network alone sees it.
    pub is_private: bool,
    /// The TTL of the SOA of its zone, where the service says it.
    pub soa_ttl: Option<u32>,
}

/// A service, as a list or a question gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CloudMapService {
    /// Its identifier.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What its editors noted; none where it is empty.
    #[serde(default)]
    pub description: Option<String>,
    /// Its records in DNS; none where it is for the API alone.
    #[serde(default)]
    dns_config: Option<DnsDocument>,
    /// The check by which Route 53 chooses instances.
    #[serde(default)]
    health_check_config: Option<Value>,
    /// The check by which its editors choose instances.
    #[serde(default)]
    health_check_custom_config: Option<Value>,
    /// How many instances it has, perhaps without those that come or go just now.
    #[serde(default)]
    instance_count: u64,
    /// What its maker called the request; lists do not say it.
    #[serde(default)]
    pub creator_request_id: Option<String>,
}

/// The records of a service, as they come.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DnsDocument {
    /// How one of several instances is chosen.
    #[serde(default)]
    routing_policy: Option<String>,
    /// The types, with their TTLs.
    #[serde(default)]
    dns_records: Vec<TypeDocument>,
}

/// A type of a service, as it comes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct TypeDocument {
    /// Its word.
    #[serde(rename = "Type")]
    rtype: String,
    /// The TTL in seconds.
    #[serde(rename = "TTL")]
    ttl: u64,
}

/// What the requests of ours that make something are called at their beginning.
const CREATOR: &str = "zonewright-";

impl CloudMapService {
    /// The words of its types, with their TTLs, sorted; empty where it is for the API alone.
    pub fn types(&self) -> Vec<(&str, u64)> {
        let mut types: Vec<(&str, u64)> =
            self.dns_config.iter().flat_map(|dns| &dns.dns_records).map(|own| (own.rtype.as_str(), own.ttl)).collect();
        types.sort_unstable();
        types
    }

    /// How one of several instances is chosen; empty where it does not say.
    pub fn routing(&self) -> &str {
        self.dns_config.as_ref().and_then(|dns| dns.routing_policy.as_deref()).unwrap_or_default()
    }

    /// Whether a check chooses instances.
    pub fn is_checked(&self) -> bool {
        self.health_check_config.is_some() || self.health_check_custom_config.is_some()
    }

    /// Whether zonewright made it, where the service was asked for it by itself.
    pub fn is_made_here(&self) -> bool {
        self.creator_request_id.as_deref().is_some_and(|id| id.starts_with(CREATOR))
    }
}

/// An instance in a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CloudMapInstance {
    /// Its identifier.
    pub id: String,
    /// Its values, by their words.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
}

/// How an operation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationState {
    /// It is under way.
    Running,
    /// It is done.
    Done,
    /// It was not done: a code, and words.
    Undone(String, String),
}

/// A page of a list.
#[derive(Debug, PartialEq)]
pub struct MapPage<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// What the next one is asked for with, where there is one.
    pub next: Option<String>,
}

/// What the service says instead of doing something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapRefusal {
    /// Its code; empty where it has none.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// The identifier of what is in the way: an operation, or a service.
    pub other: Option<String>,
}

/// What the request of a page says in addition to `more`.
fn paged(more: Value, next: Option<&str>) -> String {
    let mut request = more;
    request["MaxResults"] = json!(100);
    if let Some(next) = next {
        request["NextToken"] = json!(next);
    }
    request.to_string()
}

/// Asks for a page of namespaces.
pub fn list_namespaces(next: Option<&str>) -> String {
    paged(json!({}), next)
}

/// Asks for a page of the services of a namespace.
pub fn list_services(namespace: &str, next: Option<&str>) -> String {
    paged(json!({"Filters": [{"Name": "NAMESPACE_ID", "Values": [namespace], "Condition": "EQ"}]}), next)
}

/// Asks for a page of the instances of a service.
pub fn list_instances(service: &str, next: Option<&str>) -> String {
    paged(json!({"ServiceId": service}), next)
}

/// Asks for one service, or that it be deleted.
pub fn of_service(id: &str) -> String {
    json!({"Id": id}).to_string()
}

/// Asks how an operation is.
pub fn get_operation(id: &str) -> String {
    json!({"OperationId": id}).to_string()
}

/// The records of a service, as they are sent.
fn records(types: &[(Rtype, Ttl)]) -> Value {
    types.iter().map(|(rtype, ttl)| json!({"Type": rtype.to_string(), "TTL": ttl.as_secs()})).collect()
}

/// How instances of a service with these types are answered with: one CNAME, or all addresses up to eight.
pub fn routing_of(types: &[Rtype]) -> &'static str {
    if types.contains(&Rtype::CNAME) { "WEIGHTED" } else { "MULTIVALUE" }
}

/// Asks for a new service of a namespace.
pub fn create_service(
    (namespace, name): (&str, &str),
    types: &[(Rtype, Ttl)],
    note: Option<&str>,
    key: &str,
) -> String {
    let rtypes: Vec<Rtype> = types.iter().map(|(rtype, _)| *rtype).collect();
    let mut request = json!({
        "Name": name,
        "NamespaceId": namespace,
        "CreatorRequestId": format!("{CREATOR}{key}"),
        "DnsConfig": {"RoutingPolicy": routing_of(&rtypes), "DnsRecords": records(types)},
    });
    if let Some(note) = note {
        request["Description"] = json!(note);
    }
    request.to_string()
}

/// Asks that a service have these TTLs, and this description. What is not said here would be taken from it.
pub fn update_service(id: &str, types: &[(Rtype, Ttl)], note: Option<&str>) -> String {
    let mut service = json!({"DnsConfig": {"DnsRecords": records(types)}});
    if let Some(note) = note {
        service["Description"] = json!(note);
    }
    json!({"Id": id, "Service": service}).to_string()
}

/// Asks for an instance.
pub fn register(service: &str, id: &str, attributes: &BTreeMap<&str, String>, key: &str) -> String {
    let key = format!("{CREATOR}{key}");
    json!({"ServiceId": service, "InstanceId": id, "CreatorRequestId": key, "Attributes": attributes}).to_string()
}

/// Asks that an instance go.
pub fn deregister(service: &str, id: &str) -> String {
    json!({"ServiceId": service, "InstanceId": id}).to_string()
}

/// Reads a page of namespaces; those for the API alone are left out.
///
/// Errors: in words.
pub fn read_namespaces(octets: &[u8]) -> Result<MapPage<CloudMapNamespace>, String> {
    /// A namespace, as it comes.
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct NamespaceDocument {
        /// Its identifier.
        id: String,
        /// Its name.
        name: String,
        /// How names are looked up in it.
        #[serde(rename = "Type")]
        kind: String,
        /// What its zone is.
        #[serde(default)]
        properties: Value,
    }
    let page: MapPage<NamespaceDocument> = page(octets, "Namespaces")?;
    let read = |own: NamespaceDocument| {
        let is_private = match own.kind.as_str() {
            "DNS_PUBLIC" => false,
            "DNS_PRIVATE" => true,
            _ => return None,
        };
        let name = Name::parse(&own.name).map_err(|error| format!("it has the namespace `{}`: {error}", own.name));
        let ttl = own.properties.pointer("/DnsProperties/SOA/TTL").and_then(Value::as_u64);
        let soa_ttl = ttl.and_then(|ttl| u32::try_from(ttl).ok());
        Some(name.map(|name| CloudMapNamespace { id: own.id, name, is_private, soa_ttl }))
    };
    Ok(MapPage { items: page.items.into_iter().filter_map(read).collect::<Result<_, _>>()?, next: page.next })
}

/// Reads a page of services.
///
/// Errors: in words.
pub fn read_services(octets: &[u8]) -> Result<MapPage<CloudMapService>, String> {
    page(octets, "Services")
}

/// Reads a page of instances.
///
/// Errors: in words.
pub fn read_instances(octets: &[u8]) -> Result<MapPage<CloudMapInstance>, String> {
    page(octets, "Instances")
}

/// Reads one service: what was asked for, or what was made.
///
/// Errors: in words.
pub fn read_service(octets: &[u8]) -> Result<CloudMapService, String> {
    member(parse(octets)?, "Service")
}

/// Reads the identifier of the operation that a request began.
///
/// Errors: in words.
pub fn read_submitted(octets: &[u8]) -> Result<String, String> {
    member(parse(octets)?, "OperationId")
}

/// Reads how an operation is.
///
/// Errors: in words.
pub fn read_operation(octets: &[u8]) -> Result<OperationState, String> {
    let operation: Value = member(parse(octets)?, "Operation")?;
    let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
    match text("Status").as_str() {
        "SUBMITTED" | "PENDING" => Ok(OperationState::Running),
        "SUCCESS" => Ok(OperationState::Done),
        "FAIL" => Ok(OperationState::Undone(text("ErrorCode"), text("ErrorMessage"))),
        other => Err(format!("its operation has the status `{other}`")),
    }
}

/// Reads what the service says instead of doing something.
pub fn read_refusal(octets: &[u8]) -> MapRefusal {
    let document: Value = serde_json::from_slice(octets).unwrap_or_default();
    let text = |keys: &[&str]| keys.iter().find_map(|key| document[*key].as_str()).map(str::to_owned);
    // Some answers have the name of the model in front of it.
    let code = text(&["__type", "code"]).unwrap_or_default();
    let code = code.rsplit('#').next().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
    let other = text(&["DuplicateOperationId", "ServiceId"]);
    MapRefusal { code, message: text(&["message", "Message"]).unwrap_or_default(), other }
}

/// Reads a document.
fn parse(octets: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(octets).map_err(|_| "the answer is no JSON".to_owned())
}

/// Reads a member of a document.
fn member<T: DeserializeOwned>(mut document: Value, key: &str) -> Result<T, String> {
    serde_json::from_value(document[key].take()).map_err(|error| format!("its `{key}` cannot be used: {error}"))
}

/// Reads a page of a list with this name.
fn page<T: DeserializeOwned>(octets: &[u8], key: &str) -> Result<MapPage<T>, String> {
    let document = parse(octets)?;
    let next = document["NextToken"].as_str().filter(|next| !next.is_empty()).map(str::to_owned);
    Ok(MapPage { items: member(document, key)?, next })
}
