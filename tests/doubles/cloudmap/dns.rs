//! What DNS would serve: the RRsets of a namespace, made of the instances that are there.

use std::collections::BTreeMap;

use super::account::{MapState, ServiceState};
use super::resources::{MapInstance, MapRouting};

/// The most values of an answer where several are given. Source: the API's model, DnsConfig.
const MAX_ANSWER: usize = 8;

/// An RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRrset {
    /// The owner in small letters, with the final dot.
    pub name: String,
    /// The type.
    pub rtype: String,
    /// The TTL in seconds.
    pub ttl: u32,
    /// The values of all healthy instances, sorted, none twice; of all instances where none is healthy. An alias of a
    /// load balancer is `ALIAS` and its name.
    pub values: Vec<String>,
    /// How an answer is chosen of them.
    pub routing: MapRouting,
}

impl MapRrset {
    /// Returns what one answer has: at most eight values, or one. `turn` says which: another one gives other values.
    pub fn answer(&self, turn: usize) -> Vec<String> {
        let count = match self.routing {
            MapRouting::MultiValue => MAX_ANSWER.min(self.values.len()),
            MapRouting::Weighted => 1,
        };
        let from = turn % self.values.len();
        let mut values: Vec<String> = self.values.iter().cycle().skip(from).take(count).cloned().collect();
        values.sort();
        values
    }
}

/// Returns the RRsets of a namespace, sorted by name and type, without those of the apex.
pub fn rrsets_of(state: &MapState, namespace_id: &str) -> Vec<MapRrset> {
    let Ok(namespace) = state.namespace(namespace_id) else { return Vec::new() };
    let mut rrsets: BTreeMap<(String, String), MapRrset> = BTreeMap::new();
    for own in state.services_of(namespace_id).filter(|own| own.has_dns(namespace)) {
        let name = format!("{}.{}.", own.service.name, namespace.name).to_ascii_lowercase();
        for instance in answering(own) {
            for (owner, rtype, ttl, value) in records_of(own, &name, instance) {
                let key = (owner.clone(), rtype.clone());
                let routing = own.service.routing;
                let empty = MapRrset { name: owner, rtype, ttl, values: Vec::new(), routing };
                rrsets.entry(key).or_insert(empty).values.push(value);
            }
        }
    }
    let mut rrsets: Vec<MapRrset> = rrsets.into_values().collect();
    for rrset in &mut rrsets {
        rrset.values.sort();
        rrset.values.dedup();
    }
    rrsets
}

/// Returns the instances that DNS answers with: the healthy ones, or all where none is.
fn answering(own: &ServiceState) -> impl Iterator<Item = &MapInstance> {
    let is_any_healthy = own.instances.values().any(|instance| instance.is_healthy);
    own.instances.values().filter(move |instance| instance.is_healthy || !is_any_healthy)
}

/// Returns what an instance has in DNS: owner, type, TTL and value of each RR.
fn records_of(own: &ServiceState, name: &str, instance: &MapInstance) -> Vec<(String, String, u32, String)> {
    let mut records = Vec::new();
    let host = format!("{}.{name}", instance.id).to_ascii_lowercase();
    for (rtype, ttl) in &own.service.records {
        let mut add = |owner: &str, rtype: &str, value: String| {
            records.push((owner.to_owned(), rtype.to_owned(), *ttl, value));
        };
        let alias = instance.attribute("AWS_ALIAS_DNS_NAME").map(|target| format!("ALIAS {}", absolute(target)));
        let address = |key: &str| instance.attribute(key).map(str::to_owned);
        match rtype.as_str() {
            "A" => alias.or(address("AWS_INSTANCE_IPV4")).into_iter().for_each(|value| add(name, "A", value)),
            "AAAA" => alias.or(address("AWS_INSTANCE_IPV6")).into_iter().for_each(|value| add(name, "AAAA", value)),
            "CNAME" => {
                let target = instance.attribute("AWS_INSTANCE_CNAME").map(absolute);
                target.into_iter().for_each(|value| add(name, "CNAME", value));
            }
            _ => {
                // Priority and weight are always 1.
                let port = instance.attribute("AWS_INSTANCE_PORT");
                port.into_iter().for_each(|port| add(name, "SRV", format!("1 1 {port} {host}")));
                address("AWS_INSTANCE_IPV4").into_iter().for_each(|value| add(&host, "A", value));
                address("AWS_INSTANCE_IPV6").into_iter().for_each(|value| add(&host, "AAAA", value));
            }
        }
    }
    records
}

/// Writes a name in small letters with the final dot.
fn absolute(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.').to_ascii_lowercase())
}
