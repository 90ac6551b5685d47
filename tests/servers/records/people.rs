//! What people state at first: three apps in two logical clouds and three clusters, and five records.

use super::estate::{OTHER_ZONE, ZONE};
use super::expected::{
    MarkForm, Stated, StatedAddress, StatedApp, StatedList, StatedPolicy, StatedRecord, StatedService,
};

/// The names of the records, in the order of their servers. The second one is so long that manifests for it have digests in
/// their names.
pub const RECORDS: [&str; 5] =
    ["edge-bind", "far-powerdns-of-the-second-logical-cloud", "inner-coredns", "cloud-aws", "cloud-azure"];

/// The service of mail.
pub const RELAY: &str = "relay-for-outgoing-mail";

/// The TTL of the project.
const TTL: u32 = 600;

/// All of it.
pub fn stated() -> Stated {
    let list = |is_cluster, of, records: &[usize]| StatedList {
        is_cluster,
        of,
        records: records.iter().map(|record| RECORDS[*record].to_owned()).collect(),
    };
    Stated {
        apps: vec![shop(), mail(), blog()],
        lists: vec![
            list(false, "lc1", &[0, 3]),
            list(false, "lc2", &[1, 4]),
            list(true, "c1", &[2]),
            list(true, "c2", &[2]),
            list(true, "c3", &[0]),
        ],
        records: vec![
            record(0, "edge", MarkForm::Text),
            StatedRecord { prefix: "reg-", ..record(1, "far", MarkForm::Text) },
            record(2, "inner", MarkForm::Key),
            StatedRecord {
                prefix: "%{record_type}.",
                policy: StatedPolicy::UpsertOnly,
                ..record(3, "amazon", MarkForm::TextOf300)
            },
            StatedRecord { suffix: "-own", ..record(4, "blue", MarkForm::QuotedTextOf300) },
        ],
        ttl: TTL,
    }
}

/// A record without filters, under `sync`.
fn record(place: usize, owner: &'static str, mark: MarkForm) -> StatedRecord {
    StatedRecord {
        name: RECORDS[place].to_owned(),
        zones: if matches!(place, 0 | 3) { vec![ZONE, OTHER_ZONE] } else { vec![ZONE] },
        owner,
        mark,
        prefix: "",
        suffix: "",
        policy: StatedPolicy::Sync,
        only: Vec::new(),
        without: Vec::new(),
        is_broken: false,
    }
}

/// Where a service is reached from everywhere.
fn public(cluster: &'static str, ips: &[&str]) -> StatedAddress {
    StatedAddress { cluster, is_public: true, ips: ips.iter().map(|ip| (*ip).to_owned()).collect() }
}

/// Where it is reached within a cluster.
fn inner(cluster: &'static str, ip: &str) -> StatedAddress {
    StatedAddress { cluster, is_public: false, ips: vec![ip.to_owned()] }
}

/// A shop whose frontend is in two clusters, and whose API has no address within its cluster.
fn shop() -> StatedApp {
    let frontend = StatedService {
        name: "frontend",
        hostnames: vec!["shop.example.com", "www.example.com", "shop.example.net"],
        ttl: Some(60),
        addresses: vec![
            public("c1", &["192.0.2.10", "2001:db8::10"]),
            public("c2", &["192.0.2.20"]),
            inner("c1", "10.1.0.5"),
            inner("c2", "10.2.0.5"),
        ],
    };
    let api = StatedService {
        name: "api",
        hostnames: vec!["api.example.com"],
        ttl: None,
        addresses: vec![public("c1", &["192.0.2.11"])],
    };
    StatedApp { name: "shop", namespace: "shop", cloud: "lc1", services: vec![frontend, api] }
}

/// Mail, which has a name in the cluster of BIND and another logical cloud.
fn mail() -> StatedApp {
    let relay = StatedService {
        name: RELAY,
        hostnames: vec!["relay.example.com", "mx.example.com"],
        ttl: Some(300),
        addresses: vec![
            public("c2", &["198.51.100.5", "2001:db8:2::5"]),
            inner("c2", "10.2.0.9"),
            inner("c3", "10.3.0.5"),
        ],
    };
    StatedApp { name: "mail", namespace: "mail", cloud: "lc2", services: vec![relay] }
}

/// A blog, one of whose names another one has.
fn blog() -> StatedApp {
    let web = StatedService {
        name: "web",
        hostnames: vec!["blog.example.com", "taken.example.com"],
        ttl: Some(120),
        addresses: vec![public("c1", &["192.0.2.30"]), inner("c1", "10.1.0.30")],
    };
    StatedApp { name: "blog", namespace: "blog", cloud: "lc1", services: vec![web] }
}
