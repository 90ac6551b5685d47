//! What a file in a folder is, by its name and its content.
//!
//! Comes in: a path and the text. Goes out: the kind of export, with what of it is needed to begin. What is not
//! recognised with certainty is left alone. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::{Ipv4Net, Ipv6Net};

use crate::dns::presentation::parse_rtype;
use crate::dns::{Name, ZoneName};
use crate::inventory::sources::{ADDRESSES_HEADER, HOSTS_HEADER};
use crate::inventory::value::Mac;

/// How many rows of a text decide what it is.
const ROWS: usize = 20;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// hosts.csv.
    Hosts(Vec<HostRow>),
    /// l3-tors.txt: the VLANs of each switch, and all networks.
    L3Tors(BTreeMap<String, BTreeSet<u16>>, BTreeSet<Ipv6Net>),
    /// net-layout.xml.
    NetLayout,
    /// ipv4-map.txt.
    Ipv4Map,
    /// The addresses of hosts.
    Addresses(ListedFacts),
    /// MAC reports.
    MacReports,
    /// The master file of a zone.
    Zone(ZoneName),
    /// A project file, with its id.
    Project(String),
    /// Manifests of the kind DNSEndpoint, with the names that they state.
    Manifests(Vec<Name>),
    /// A zone in YAML, called by its name.
    YamlZone(ZoneName),
}

/// What of a file of addresses is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedFacts {
    /// The names of interfaces, the commonest first.
    pub interfaces: Vec<String>,
    /// The /64s that addresses are in.
    pub v6: BTreeSet<Ipv6Net>,
    /// The /16s that addresses are in.
    pub v4: BTreeSet<Ipv4Net>,
}

/// What of a row of hosts.csv is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    /// The host's name; none where it has none.
    pub name: Option<Name>,
    /// The id of its project.
    pub project: String,
    /// Its switch; may be empty.
    pub switch: String,
}

/// Says what a file is; none where it is nothing that zonewright reads.
pub fn recognise(path: &str, text: &str) -> Option<FileKind> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = path.rsplit('/').next().unwrap_or(path);
    match file.rsplit_once('.')?.1 {
        "csv" => hosts(text).or_else(|| addresses(text)),
        "txt" => l3_tors(text).or_else(|| ipv4_map(text)),
        "xml" => text.contains("<net-layout").then_some(FileKind::NetLayout),
        "jsonl" => mac_reports(text),
        "zone" => zone(file, text),
        "yaml" | "yml" => project(text).or_else(|| manifests(text)).or_else(|| yaml_zone(file, text)),
        "json" => manifests(text),
        _ => None,
    }
}

/// The rows of a text with columns: lines that are neither blank nor comments, without a comment at their end.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|words| !words.is_empty())
}

/// hosts.csv.
fn hosts(text: &str) -> Option<FileKind> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    (lines.next()? == HOSTS_HEADER).then(|| {
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches('"')).collect();
            let [_, name, project, _, _, _, _, switch, ..] = fields.as_slice() else { return None };
            let name = Name::parse_host(name).ok();
            Some(HostRow { name, project: (*project).to_owned(), switch: (*switch).to_owned() })
        };
        FileKind::Hosts(lines.filter_map(row).filter(|row| is_id(&row.project)).collect())
    })
}

/// The addresses of hosts.
fn addresses(text: &str) -> Option<FileKind> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    (lines.next()? == ADDRESSES_HEADER).then(|| {
        let mut facts = ListedFacts::default();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in lines {
            let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches('"').trim()).collect();
            let [_, interface, address] = fields[..] else { continue };
            if !interface.is_empty() {
                *counts.entry(interface).or_default() += 1;
            }
            match address.parse() {
                Ok(IpAddr::V6(v6)) => facts.v6.extend(Ipv6Net::new(v6, 64).map(|network| network.trunc())),
                Ok(IpAddr::V4(v4)) => facts.v4.extend(Ipv4Net::new(v4, 16).map(|network| network.trunc())),
                Err(_) => {}
            }
        }
        let mut interfaces: Vec<(&str, usize)> = counts.into_iter().collect();
        interfaces.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        facts.interfaces = interfaces.into_iter().map(|(name, _)| name.to_owned()).collect();
        FileKind::Addresses(facts)
    })
}

/// Whether a text can be the id of a project.
fn is_id(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// l3-tors.txt.
fn l3_tors(text: &str) -> Option<FileKind> {
    let row = |words: &Vec<&str>| match words.as_slice() {
        [switch, vlan, network] => {
            let (vlan, network) = (vlan.parse::<u16>().ok()?, network.parse::<Ipv6Net>().ok()?);
            Some(((*switch).to_owned(), vlan, network))
        }
        _ => None,
    };
    let is_one = rows(text).take(ROWS).all(|words| row(&words).is_some()) && rows(text).next().is_some();
    is_one.then(|| {
        let mut vlans: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
        let mut networks = BTreeSet::new();
        for (switch, vlan, network) in rows(text).filter_map(|words| row(&words)) {
            vlans.entry(switch).or_default().insert(vlan);
            networks.insert(network.trunc());
        }
        FileKind::L3Tors(vlans, networks)
    })
}

/// ipv4-map.txt.
fn ipv4_map(text: &str) -> Option<FileKind> {
    let is_row = |words: Vec<&str>| match words.as_slice() {
        [v4, _, vlan, v6] => {
            v4.parse::<Ipv4Net>().is_ok() && vlan.parse::<u16>().is_ok() && v6.parse::<Ipv6Net>().is_ok()
        }
        _ => false,
    };
    (rows(text).take(ROWS).all(is_row) && rows(text).next().is_some()).then_some(FileKind::Ipv4Map)
}

/// MAC reports.
fn mac_reports(text: &str) -> Option<FileKind> {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    let report: serde_json::Value = serde_json::from_str(first).ok()?;
    let has_mac = report.get("mac").and_then(|mac| mac.as_str()).is_some_and(|mac| mac.parse::<Mac>().is_ok());
    (has_mac && report.get("inv").is_some()).then_some(FileKind::MacReports)
}

/// A master file, called by the name of its zone.
fn zone(file: &str, text: &str) -> Option<FileKind> {
    let stem = file.strip_suffix(".zone").filter(|stem| !stem.is_empty())?;
    let name = Name::parse(stem).ok()?;
    let has_soa = text.split_whitespace().any(|word| word.eq_ignore_ascii_case("SOA"));
    has_soa.then(|| FileKind::Zone(ZoneName::new(name)))
}

/// A project file: it has an id, and VLANs.
fn project(text: &str) -> Option<FileKind> {
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim));
    let id = value("id")?.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!id.is_empty() && value("vlans").is_some()).then(|| FileKind::Project(id.to_owned()))
}

/// Manifests: a line says their kind.
fn manifests(text: &str) -> Option<FileKind> {
    let of = |key: &'static str| keys(text, key).filter_map(move |at| scalar(&text[at + key.len()..]));
    of("kind").any(|kind| kind == "DNSEndpoint").then(|| {
        let names = of("dnsName").filter_map(|name| Name::parse(name).ok());
        FileKind::Manifests(names.collect())
    })
}

/// Where a word is that may be a key of YAML or JSON: behind nothing, a blank, a quote, a bracket or a comma, and in no
/// line that is a comment.
fn keys<'t>(text: &'t str, key: &'static str) -> impl Iterator<Item = usize> + 't {
    let is_key = |before: &str| {
        let is_comment = before.lines().next_back().is_some_and(|line| line.trim_start().starts_with('#'));
        !is_comment && before.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'{,".contains(c))
    };
    text.match_indices(key).map(|(at, _)| at).filter(move |at| is_key(&text[..*at]))
}

/// The scalar behind a key of YAML or JSON.
fn scalar(text: &str) -> Option<&str> {
    let value = text.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')?;
    let value = value.trim_start_matches([' ', '\t']).trim_start_matches(['"', '\'']);
    value.split(|c: char| c.is_whitespace() || "\"',}".contains(c)).next()
}

/// A zone in YAML, as octoDNS has it: called as its zone, with a type for each record.
fn yaml_zone(file: &str, text: &str) -> Option<FileKind> {
    let (stem, _) = file.rsplit_once('.')?;
    let name = Name::parse(stem).ok().filter(|name| name.as_name().labels().count() > 1)?;
    // The key of a record is further in than that of its name, or in brackets.
    let has_type = keys(text, "type").any(|at| {
        let is_deep = !text[..at].ends_with('\n') && at > 0;
        let word = scalar(&text[at + "type".len()..]);
        is_deep && word.is_some_and(|word| parse_rtype(word.as_bytes()).is_some())
    });
    has_type.then(|| FileKind::YamlZone(ZoneName::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_state_records_are_recognised() {
        let names =
            |names: &[&str]| Some(FileKind::Manifests(names.iter().map(|name| Name::parse(name).unwrap()).collect()));
        let block = "apiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nspec:\n  endpoints:\n  - dnsName: \"a.example.net\"\n";
        assert_eq!(recognise("m/a.yml", block), names(&["a.example.net"]));
        let flow =
            "kind: List\nitems:\n- {kind: DNSEndpoint, spec: {endpoints: [{dnsName: b.example.net, recordType: A}]}}\n";
        assert_eq!(recognise("m/b.yaml", flow), names(&["b.example.net"]));
        let json = "{\"kind\":\"DNSEndpoint\",\"spec\":{\"endpoints\":[{\"dnsName\":\"c.example.net\"}]}}";
        assert_eq!(recognise("m/c.json", json), names(&["c.example.net"]));
        assert_eq!(recognise("m/d.yaml", "kind: Service\nmetadata: {name: DNSEndpoint}\n"), None);
        let zone = FileKind::YamlZone(ZoneName::new(Name::parse("example.net").unwrap()));
        assert_eq!(
            recognise("z/example.net.yaml", "---\n'':\n  - type: A\n    value: 192.0.2.1\n"),
            Some(zone.clone())
        );
        assert_eq!(
            recognise("z/example.net.yaml", "www:\n  ttl: 60\n  type: CNAME\n  value: a.\n"),
            Some(zone.clone())
        );
        let flow = "? ''\n: {type: A, values: [192.0.2.1]}\n";
        assert_eq!(recognise("z/example.net.yaml", flow), Some(zone));
        assert_eq!(recognise("z/example.net.yaml", "type: A\n"), None);
        assert_eq!(recognise("z/example.net.yaml", "# type: A\nwww: {ttl: 60}\n"), None);
        assert_eq!(recognise("z/production.yaml", "www:\n  type: A\n"), None);
    }

    #[test]
    fn the_files_of_the_demo_are_recognised() {
        let demo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory");
        let kind = |file: &str| recognise(file, &std::fs::read_to_string(demo.join(file)).unwrap());
        let Some(FileKind::Hosts(rows)) = kind("racktables/hosts.csv") else { panic!("hosts.csv") };
        assert!(rows.len() > 50 && rows[0].project == "search" && rows[0].switch == "sas1-s1");
        let Some(FileKind::L3Tors(vlans, networks)) = kind("racktables/l3-tors.txt") else { panic!("l3-tors") };
        assert!(vlans["sas1-s1"].contains(&604) && networks.len() > 5);
        assert_eq!(kind("racktables/net-layout.xml"), Some(FileKind::NetLayout));
        assert_eq!(kind("racktables/ipv4-map.txt"), Some(FileKind::Ipv4Map));
        assert_eq!(kind("racktables/macs.jsonl"), Some(FileKind::MacReports));
        assert_eq!(kind("agents/eine-2026-11-20.jsonl"), Some(FileKind::MacReports));
        assert_eq!(kind("projects/search.yaml"), Some(FileKind::Project("search".to_owned())));
        let zone = ZoneName::new(Name::parse("search.example.net").unwrap());
        assert_eq!(kind("zones/search.example.net.zone"), Some(FileKind::Zone(zone)));
    }

    #[test]
    fn anything_else_is_left_alone() {
        for (file, text) in [
            ("a.csv", "name,project\na,b\n"),
            ("a.txt", "some notes\n"),
            ("a.txt", "# nothing but this\n"),
            ("a.xml", "<layout/>\n"),
            ("a.jsonl", "{\"inv\":1}\n"),
            ("a.zone", "notes\n"),
            ("a.yaml", "id: x\n"),
            ("README", "id: x\n"),
        ] {
            assert_eq!(recognise(file, text), None, "{file}");
        }
    }
}
