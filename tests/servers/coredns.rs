//! What CoreDNS answers from keys of etcd, by the rules of its plugin `etcd`: written apart from what writes the keys.
//!
//! Source: CoreDNS, `plugin/etcd/etcd.go` (`Records`, `get`, `loopNodes`), `plugin/backend_lookup.go` (`A`, `AAAA`, `CNAME`, `PTR`,
//! `TXT`, `checkForApex`) and `plugin/etcd/msg`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde_json::Value;

/// The keys below the prefix, with their values.
pub type Keys = BTreeMap<String, String>;

/// The path of a name.
fn path(name: &str) -> String {
    let labels: Vec<&str> = name.trim_end_matches('.').split('.').rev().collect();
    format!("/skydns/{}", labels.join("/"))
}

/// The values that a question reads: those below the path, or where there are none that of the path itself.
fn services(keys: &Keys, name: &str, is_exact: bool) -> Vec<Value> {
    let path = path(name);
    let exact = || keys.get(&path).into_iter().collect::<Vec<_>>();
    let below: Vec<&String> = keys.range(format!("{path}/")..format!("{path}0")).map(|(_, value)| value).collect();
    let found = if is_exact || below.is_empty() { exact() } else { below };
    let read = |value: &String| serde_json::from_str(value).expect("CoreDNS fails on a value that is no JSON");
    let all: Vec<Value> = found.into_iter().map(read).collect();
    // The same host with the same port counts once (`loopNodes`, `bx`).
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|value| seen.insert(value.to_string())).collect()
}

/// What CoreDNS answers to a question in a zone: lines of type, TTL and data.
pub fn answer(keys: &Keys, zone: &str, name: &str, rtype: &str) -> BTreeSet<String> {
    if name.split('.').any(|label| label == "any" || label == "*") {
        panic!("`{name}` is a wildcard to CoreDNS");
    }
    let found = if name == zone && rtype != "PTR" {
        let apex = services(keys, &format!("apex.dns.{zone}"), false);
        if apex.is_empty() { services(keys, name, false) } else { apex }
    } else {
        services(keys, name, rtype == "PTR")
    };
    let mut lines = BTreeSet::new();
    for service in found {
        let text = |key: &str| service[key].as_str().unwrap_or_default().to_owned();
        let ttl = service["ttl"].as_u64().filter(|ttl| *ttl > 0).unwrap_or(300);
        let (host, txt) = (text("host"), text("text"));
        let kind = match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => "A",
            Ok(IpAddr::V6(_)) => "AAAA",
            Err(_) if txt.is_empty() => "CNAME",
            Err(_) => "TXT",
        };
        let line = match (rtype, kind) {
            ("A", "A") | ("AAAA", "AAAA") => Some(format!("{kind} {ttl} {host}")),
            ("A" | "AAAA" | "CNAME", "CNAME") => Some(format!("CNAME {ttl} {}.", host.trim_end_matches('.'))),
            ("TXT", "TXT") => Some(format!("TXT {ttl} {txt}")),
            ("PTR", "CNAME" | "TXT") => Some(format!("PTR {ttl} {}.", host.trim_end_matches('.'))),
            _ => None,
        };
        lines.extend(line);
    }
    lines
}
