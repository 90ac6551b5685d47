//! A zone that is made comes to secondaries of three makes by the catalog alone (RFC 9432), and goes with its entry.

use std::fs;
use std::path::Path;

use crate::client::transfer;
use crate::made::{Makers, SPARE};
use crate::maker::{CATALOG, CATALOG_TEXT, pdnsutil};
use crate::planted::{FORWARD, REVERSE};
use crate::proxy::wait_until;
use crate::rig::{apply_in, plan_in};
use crate::server::{Key, Kind, Server, ServerConfig};

/// The kinds of the secondaries.
const KINDS: [Kind; 3] = [Kind::Bind, Kind::Knot, Kind::PowerDns];

/// How name servers are asked here: a new zone takes a secondary some seconds.
const POLLING: &str = "poll_timeout = \"1s\"\npoll_retry_interval = \"1s\"\npoll_max_retries = 30\n";

/// Starts a secondary that serves what the catalog of a primary lists.
///
/// It knows the key of the primary, since PowerDNS signs NOTIFY with it; everyone on this machine may transfer its zones.
fn secondary(kind: Kind, primary: &str, key: &Key) -> Option<Server> {
    let port = primary.rsplit(':').next().expect("a port");
    let zones = vec![(CATALOG.to_owned(), CATALOG_TEXT.to_owned())];
    let config = ServerConfig { keys: vec![key.clone()], zones, ..ServerConfig::default() };
    Server::start_changed(kind, &config, &|folder| follow(kind, (folder, key), port))
}

/// Lets a server follow the catalog of the primary at a port.
fn follow(kind: Kind, (folder, key): (&Path, &Key), port: &str) {
    let replace = |file: &str, part: &str, by: &str| crate::edit::edit(folder, file, part, by);
    match kind {
        Kind::Bind => {
            let catalogs = format!(
                "catalog-zones {{ zone \"{CATALOG}\" default-primaries {{ 127.0.0.1 port {port}; }} min-update-interval 1; }};\n  \
                 allow-notify {{ any; }};\n  notify no;"
            );
            replace("named.conf", "notify no;", &catalogs);
            let secondary = format!("type secondary; masterfile-format text; primaries {{ 127.0.0.1 port {port}; }};");
            replace("named.conf", "type primary;", &secondary);
            let allowed = format!("{{ key \"{}\"; }};", key.name);
            replace("named.conf", &format!("allow-update {allowed}"), "");
            replace("named.conf", &format!("allow-transfer {allowed}"), "allow-transfer { any; };");
        }
        Kind::Knot => {
            let here = "- id: here\n  address: 127.0.0.1\n  action: [ transfer, notify ]";
            let remote = format!("{here}\nremote:\n- id: primary\n  address: 127.0.0.1@{port}\ntemplate:\n");
            replace("knot.conf", "template:\n", &remote);
            replace("knot.conf", "  acl: all\n", "  acl: [ all, here ]\n  master: primary\n");
            replace("knot.conf", "[ transfer, update ]", "[ transfer, notify ]");
            let member = format!("- domain: {CATALOG}\n  catalog-role: interpret\n  catalog-template: default\n");
            replace("knot.conf", &format!("- domain: {CATALOG}\n"), &member);
        }
        _ => {
            let lines = "secondary=yes\nxfr-cycle-interval=1\nzone-cache-refresh-interval=0\nguardian=no\n";
            replace("pdns.conf", "guardian=no\n", lines);
            replace("pdns.conf", "allow-axfr-ips=\n", "allow-axfr-ips=127.0.0.0/8\n");
            pdnsutil(folder, &["--config-dir=.", "delete-zone", CATALOG]);
            let primary = format!("127.0.0.1:{port}");
            pdnsutil(folder, &["--config-dir=.", "create-secondary-zone", CATALOG, &primary]);
            pdnsutil(folder, &["--config-dir=.", "set-kind", CATALOG, "consumer"]);
        }
    }
}

/// Waits until a secondary serves a zone, or no longer serves it.
fn wait(secondary: &Server, zone: &str, is_wanted: bool) {
    let is_so = || transfer(&secondary.address(), None, zone).is_ok() == is_wanted;
    wait_until(is_so, || format!("`{zone}` wanted: {is_wanted}\n{}", log(secondary)));
}

/// What a server logged.
fn log(server: &Server) -> String {
    fs::read_to_string(server.folder().join("log")).unwrap_or_default()
}

/// What a zone that is made on a primary does at secondaries.
fn made_zones_come_to_all_secondaries(kind: Kind) {
    let Some(makers) = Makers::start(&[kind]) else { return };
    let primary = makers.makers[0].server.address();
    let secondaries: Option<Vec<Server>> =
        KINDS.into_iter().map(|kind| secondary(kind, &primary, &makers.key)).collect();
    let Some(secondaries) = secondaries else { return };
    let addresses: Vec<String> = secondaries.iter().map(Server::address).collect();
    makers.makers[0].notify(&addresses);
    let name_server = |address: &String| format!("[[pool.main.nameserver]]\nserver = \"{address}\"\nnotify = true\n");
    let name_servers: String = addresses.iter().map(name_server).collect();
    makers.configure(&format!("{POLLING}{name_servers}"));

    let plan = plan_in(makers.path(), &[]);
    // It waits until each secondary serves what was applied: exit code 0.
    let applied = apply_in(makers.path(), &plan.file, &[]);
    let logs = || secondaries.iter().map(log).collect::<Vec<_>>().join("\n");
    assert_eq!(applied.exit, Some(0), "{}\n{}", applied.said(), logs());
    for secondary in &secondaries {
        for zone in [FORWARD, REVERSE, SPARE] {
            wait(secondary, zone.trim_end_matches('.'), true);
        }
    }

    makers.close_spare();
    let plan = plan_in(makers.path(), &[]);
    let deleted = apply_in(makers.path(), &plan.file, &["--allow", "zone-delete:spare.example.=1"]);
    assert_eq!(deleted.exit, Some(0), "{}", deleted.said());
    secondaries.iter().for_each(|secondary| wait(secondary, SPARE, false));
    secondaries.iter().for_each(|secondary| wait(secondary, "example.net", true));
}

#[test]
fn zones_made_on_bind_come_to_all_secondaries() {
    made_zones_come_to_all_secondaries(Kind::Bind);
}

#[test]
fn zones_made_on_knot_come_to_all_secondaries() {
    made_zones_come_to_all_secondaries(Kind::Knot);
}

#[test]
fn zones_made_on_power_dns_come_to_all_secondaries() {
    made_zones_come_to_all_secondaries(Kind::PowerDns);
}
