//! The servers of five DNS update records, and what each of them holds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::expected::Holding;
use super::files::Place;
use crate::doubles::azure::rules::AzureKind;
use crate::doubles::azure::set::AzureRecordSet;
use crate::doubles::azure::{AzureDouble, AzureZoneId, SUBSCRIPTION};
use crate::doubles::http::DoubleServer;
use crate::doubles::route53::Route53Double;
use crate::doubles::route53::rrset::DoubleRrset;
use crate::doubles::route53::rules::ChangeSettling;
use crate::etcd::Etcd;
use crate::rig::text_of;
use crate::server::{Key, Kind, Server, ServerConfig};

/// The keys of the account of Route 53.
const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// The application that Azure knows: its tenant, its client ID and its secret.
const APP: (&str, &str, &str) =
    ("example.onmicrosoft.com", "00000000-1111-2222-3333-444455556666", "secret~of.example");

/// The zone that all servers have.
pub const ZONE: &str = "example.com";

/// The zone that BIND and Route 53 have, too.
pub const OTHER_ZONE: &str = "example.net";

/// What others keep in [`ZONE`] of each server: name below the zone, type, TTL and value.
const FOREIGN: [(&str, &str, u32, &str); 5] = [
    ("taken", "A", 77, "203.0.113.9"),
    ("other", "A", 77, "203.0.113.10"),
    ("other", "AAAA", 77, "2001:db8:ffff::10"),
    ("a-other", "TXT", 77, "heritage=external-dns,external-dns/owner=another"),
    ("legacy", "CNAME", 77, "other.example.com."),
];

/// The servers.
pub struct Estate {
    /// BIND.
    bind: Server,
    /// PowerDNS.
    pub pdns: Server,
    /// The etcd of CoreDNS.
    etcd: Etcd,
    /// The account of Route 53, with the identifiers of its zones.
    aws: (Arc<Route53Double>, DoubleServer, Vec<String>),
    /// The subscription of Azure.
    azure: (Arc<AzureDouble>, DoubleServer, AzureZoneId),
    /// A BIND with a `[[zone]]` of zonewright.toml.
    house: Server,
}

impl Estate {
    /// Starts all of them; `None` where a program is not installed.
    pub fn start() -> Option<Estate> {
        if !crate::have(Path::new("/usr/bin/dig")) {
            return None;
        }
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let now = move || i64::try_from(now()).expect("a time");
        let aws = Arc::new(Route53Double::new(KEYS, now));
        // The pace of clouds has tests of its own.
        aws.set_rules(|rules| {
            rules.requests_a_second = None;
            rules.settling = ChangeSettling::AtOnce;
        });
        let azure = Arc::new(AzureDouble::new(AzureKind::Public, now));
        azure.add_client(APP.0, APP.1, APP.2);
        let ids = [ZONE, OTHER_ZONE].map(|zone| aws.create_zone(zone, false)).to_vec();
        for (name, rtype, ttl, value) in FOREIGN {
            let shown = if rtype == "TXT" { format!("\"{value}\"") } else { value.to_owned() };
            let _ = aws.put(&ids[0], DoubleRrset::new(&format!("{name}.{ZONE}."), rtype, ttl, &[&shown]));
        }
        let zone = azure.create_zone(ZONE);
        for (name, rtype, ttl, value) in FOREIGN {
            let _ = azure.put(&zone, AzureRecordSet::new(name, rtype, ttl, &[value.trim_end_matches('.')]));
        }
        let aws = (Arc::clone(&aws), DoubleServer::start(aws), ids);
        let azure_server = DoubleServer::start(Arc::clone(&azure));
        azure.set_rules(|rules| {
            rules.rates = None;
            rules.audiences.push(azure_server.url());
        });
        let etcd = Etcd::start()?;
        for (name, rtype, ttl, value) in FOREIGN {
            // etcd keeps no TXT of a registry.
            if rtype != "TXT" {
                let host = value.trim_end_matches('.');
                let value = json!({"host": host, "ttl": ttl, "targetstrip": 1, "owner": "another"});
                etcd.put(&format!("/skydns/com/example/{name}/{}", rtype.to_lowercase()), &value);
            }
        }
        Some(Estate {
            bind: Server::start(Kind::Bind, &config(&[ZONE, OTHER_ZONE]))?,
            pdns: Server::start(Kind::PowerDns, &config(&[ZONE]))?,
            house: Server::start(Kind::Bind, &house_config())?,
            etcd,
            aws,
            azure: (azure, azure_server, zone),
        })
    }

    /// Writes what the administrator keeps secret.
    pub fn write_secrets(&self, workspace: &Path) {
        key().write_secret(workspace);
        let keys = json!({"Version": 1, "AccessKeyId": KEYS.0, "SecretAccessKey": KEYS.1});
        for (name, text) in [("aws.json", keys.to_string()), ("azure.secret", APP.2.to_owned())] {
            let file = workspace.join(name);
            fs::write(&file, text).expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
        }
    }

    /// The settings of the pool whose zone is a `[[zone]]`.
    pub fn house_pool(&self) -> String {
        format!(
            "[pool.house]\n[[pool.house.target]]\n{}{}[[zone]]\nname = \"{ZONE}\"\npool = \"house\"\n\
             permission = \"full\"\n",
            self.house.target(),
            key().setting()
        )
    }

    /// Where BIND or PowerDNS is, for a record.
    fn name_server(server: &Server, zones: &[&str]) -> Place {
        let address = server.address();
        let (host, port) = address.split_once(':').expect("an address with a port");
        let Key { name, algorithm, .. } = key();
        Place {
            provider: "rfc2136",
            parameters: format!(
                "    rfc2136-host: {host}\n    rfc2136-port: {port}\n    rfc2136-zone: [{}]\n    rfc2136-axfr: true\n    \
                 rfc2136-tsig-keyname: {name}\n    rfc2136-tsig-secret-alg: {algorithm}\n",
                zones.join(", ")
            ),
            table: "tsig_key = { secret_file = \"secret\" }\n".to_owned(),
        }
    }

    /// Where BIND is.
    fn bind_place(&self) -> Place {
        Estate::name_server(&self.bind, &[ZONE, OTHER_ZONE])
    }

    /// Where PowerDNS is.
    fn pdns_place(&self) -> Place {
        Estate::name_server(&self.pdns, &[ZONE])
    }

    /// Where etcd is.
    fn etcd_place(&self) -> Place {
        let table = format!("endpoints = [\"{}\"]\nzones = [\"{ZONE}\"]\n", self.etcd.url());
        Place { provider: "coredns", parameters: String::new(), table }
    }

    /// Where Route 53 is: its zones are those of the account.
    fn aws_place(&self) -> Place {
        let table = format!(
            "endpoint = \"{}\"\ncredentials = {{ secret_file = \"aws.json\" }}\nrequests_per_second = 1000\n",
            self.aws.1.url()
        );
        Place { provider: "aws", parameters: String::new(), table }
    }

    /// Where Azure is.
    fn azure_place(&self) -> Place {
        let url = self.azure.1.url();
        let table = format!(
            "endpoint = \"{url}\"\nauthority = \"{url}\"\ntenant_id = \"{}\"\nclient_id = \"{}\"\n\
             client_secret = {{ secret_file = \"azure.secret\" }}\nwrites_per_minute = 1000000\nzones = [\"{ZONE}\"]\n",
            APP.0, APP.1
        );
        let parameters = format!("    azure-subscription-id: {SUBSCRIPTION}\n");
        Place { provider: "azure", parameters, table }
    }

    /// What a name server holds.
    fn of_name_server(server: &Server, zones: &[&str]) -> Holding {
        let mut held = Holding::new();
        for zone in zones {
            let address = server.address();
            let (host, port) = address.split_once(':').expect("an address with a port");
            let Key { name, algorithm, secret } = key();
            let mut dig = Command::new("/usr/bin/dig");
            dig.args([&format!("@{host}"), "-p", port, "-y", &format!("{algorithm}:{name}:{secret}")]);
            let output = dig.args(["+noall", "+answer", "AXFR", zone]).output().expect("dig runs");
            let text = text_of(&output.stdout);
            assert!(text.contains("SOA"), "{zone}: {text}");
            for line in text.lines().filter(|line| !line.starts_with(';') && !line.is_empty()) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let ttl = fields[1].parse().expect("a TTL");
                // The quotes of dig are no part of a text, and no text here has quotes or gaps.
                put(&mut held, (fields[0], fields[3]), ttl, fields[4..].join(" ").trim_matches('"'));
            }
        }
        held
    }

    /// What the keys of etcd say. The owners of a name's keys are shown as an RRset of the type `owner`.
    fn etcd_held(&self) -> Holding {
        let mut held = Holding::new();
        for (key, value) in self.etcd.keys() {
            let labels: Vec<&str> = key.strip_prefix("/skydns/").expect("a key").split('/').collect();
            let value: Value = serde_json::from_str(&value).expect("JSON");
            assert_eq!(value["targetstrip"], 1, "{key}: {value}");
            let (_, labels) = labels.split_last().expect("a label that was made up");
            let name = labels.iter().rev().fold(String::new(), |name, label| name + label + ".");
            let host = value["host"].as_str().expect("a host");
            let ttl = value["ttl"].as_u64().and_then(|ttl| u32::try_from(ttl).ok()).expect("a TTL");
            let is_v4 = host.split('.').count() == 4 && host.chars().all(|sign| sign == '.' || sign.is_ascii_digit());
            match (is_v4, host.contains(':')) {
                (true, _) => put(&mut held, (&name, "A"), ttl, host),
                (_, true) => put(&mut held, (&name, "AAAA"), ttl, host),
                _ => put(&mut held, (&name, "CNAME"), ttl, &format!("{host}.")),
            }
            put(&mut held, (&name, "owner"), 0, value["owner"].as_str().unwrap_or_default());
        }
        held
    }

    /// What Route 53 holds.
    fn aws_held(&self) -> Holding {
        let mut held = Holding::new();
        for set in self.aws.2.iter().flat_map(|id| self.aws.0.rrsets(id)) {
            for value in &set.values {
                let ttl = set.ttl.expect("a plain set");
                put(&mut held, (&set.name, &set.rtype), ttl, value.trim_matches('"'));
            }
        }
        held
    }

    /// What Azure holds. The quotes around a text that the service shows are no part of it; others are.
    fn azure_held(&self) -> Holding {
        let mut held = Holding::new();
        for set in self.azure.0.record_sets(&self.azure.2) {
            let name = if set.name == "@" { format!("{ZONE}.") } else { format!("{}.{ZONE}.", set.name) };
            for value in set.values() {
                let value = match set.rtype.as_str() {
                    "CNAME" => format!("{value}."),
                    "TXT" => value[1..value.len() - 1].to_owned(),
                    _ => value,
                };
                put(&mut held, (&name, &set.rtype), set.ttl, &value);
            }
        }
        held
    }

    /// What the server of each record holds, in the order of [`Estate::places`].
    pub fn held(&self, record: usize) -> Holding {
        match record {
            0 => Estate::of_name_server(&self.bind, &[ZONE, OTHER_ZONE]),
            1 => Estate::of_name_server(&self.pdns, &[ZONE]),
            2 => self.etcd_held(),
            3 => self.aws_held(),
            _ => self.azure_held(),
        }
    }

    /// What the server of the `[[zone]]` holds.
    pub fn house_held(&self) -> Holding {
        Estate::of_name_server(&self.house, &[ZONE])
    }

    /// Where the server of each record is: BIND, PowerDNS, etcd, Route 53, Azure.
    pub fn places(&self) -> [Place; 5] {
        [self.bind_place(), self.pdns_place(), self.etcd_place(), self.aws_place(), self.azure_place()]
    }
}

/// Adds a value, unless it belongs to the apex or guards a zone.
fn put(held: &mut Holding, (name, rtype): (&str, &str), ttl: u32, value: &str) {
    let is_apart = matches!(rtype, "SOA" | "NS") || name.starts_with("_zonewright.");
    if !is_apart {
        let content = held.entry((name.to_owned(), rtype.to_owned())).or_insert((ttl, Default::default()));
        assert_eq!(content.0, ttl, "{name} {rtype} has two TTL");
        content.1.insert(value.to_owned());
    }
}

/// The key of all name servers.
fn key() -> Key {
    Key::new("records")
}

/// What a name server is to serve before zonewright comes.
fn config(zones: &[&str]) -> ServerConfig {
    let text = |zone: &str| {
        let mut text = format!("$ORIGIN {zone}.\n@ 300 SOA ns1 hostmaster 1 3600 600 86400 60\n@ 300 NS ns1\n");
        text += "ns1 300 A 192.0.2.53\n";
        if zone == ZONE {
            for (name, rtype, ttl, value) in FOREIGN {
                let shown = if rtype == "TXT" { format!("\"{value}\"") } else { value.to_owned() };
                text += &format!("{name} {ttl} {rtype} {shown}\n");
            }
        }
        text
    };
    let zones = zones.iter().map(|zone| ((*zone).to_owned(), text(zone))).collect();
    ServerConfig { keys: vec![key()], zones, ..ServerConfig::default() }
}

/// What the server of the `[[zone]]` is to serve: another one keeps a name there that an app publishes elsewhere.
fn house_config() -> ServerConfig {
    let mut config = config(&[ZONE]);
    config.zones[0].1 += "shop 77 A 203.0.113.11\n";
    config
}
