//! PowerDNS: its zones in an SQLite database of its own.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{Key, Setup, free_port};

/// What it needs: the server, what loads its zones, and what makes its database.
pub const NEEDS: &[&str] = &["/usr/sbin/pdns_server", "/usr/bin/pdnsutil", "/usr/bin/sqlite3", SCHEMA];

/// The tables of its database.
const SCHEMA: &str = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";

/// Writes `pdns.conf` and the database.
pub fn prepare(setup: &Setup<'_>) -> Command {
    fs::write(setup.folder.join("pdns.conf"), pdns_conf(setup)).expect("pdns.conf");
    // The file lives as long as a test: nothing needs to reach the disk.
    sqlite(setup, &format!("PRAGMA journal_mode=OFF;\nPRAGMA synchronous=OFF;\n.read {SCHEMA}\n"));
    for (name, _) in &setup.config.zones {
        let mut load = Command::new(NEEDS[1]);
        load.arg("--config-dir=.").args(["load-zone", name, &format!("{name}.zone")]).current_dir(setup.folder);
        let output = load.output().expect("pdnsutil runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    sqlite(setup, &permissions(setup));
    let mut command = Command::new(NEEDS[0]);
    command.arg("--config-dir=.");
    command
}

/// The same, with its API, whose key is the secret of the server's first key.
pub fn prepare_with_api(setup: &Setup<'_>) -> Command {
    let command = prepare(setup);
    let (port, key) = (free_port(setup.addresses), &setup.keys[0].secret);
    let api = format!(
        "webserver=yes\nwebserver-address=127.0.0.1\nwebserver-port={port}\nwebserver-allow-from=127.0.0.1\napi=yes\napi-key={key}\n"
    );
    let file = setup.folder.join("pdns.conf");
    let settings = fs::read_to_string(&file).expect("pdns.conf");
    // Zones that the API makes say nothing of addresses.
    let settings = settings.replace("allow-dnsupdate-from=\n", "allow-dnsupdate-from=127.0.0.0/8,::1\n");
    fs::write(&file, settings + &api).expect("pdns.conf");
    command
}

/// Where the API of a server in a folder is: `127.0.0.1:PORT`.
pub fn api(folder: &Path) -> String {
    let settings = fs::read_to_string(folder.join("pdns.conf")).expect("pdns.conf");
    let port = settings.lines().find_map(|line| line.strip_prefix("webserver-port=")).expect("it has an API");
    format!("127.0.0.1:{port}")
}

/// The settings of the server. Without keys any client may transfer; with keys the address alone is not enough. The
/// database says who may update.
fn pdns_conf(setup: &Setup<'_>) -> String {
    let Setup { config, port, identity, .. } = setup;
    let addresses: Vec<_> = setup.addresses.iter().map(ToString::to_string).collect();
    let addresses = addresses.join(",");
    let allowed = if config.keys.is_empty() { "0.0.0.0/0,::/0" } else { "" };
    format!(
        "
launch=gsqlite3
gsqlite3-database=zones.db
gsqlite3-dnssec=yes
local-address={addresses}
local-port={port}
server-id={identity}
allow-axfr-ips={allowed}
socket-dir=.
dname-processing=yes
dnsupdate=yes
# Each zone says for itself who may.
allow-dnsupdate-from=
# It would ask the network for news of its version.
security-poll-suffix=
guardian=no
daemon=no
receiver-threads=1
distributor-threads=1
retrieval-threads=1
signing-threads=1
"
    )
}

/// The statements that make the keys known, and let those of the description transfer and update every zone. A zone
/// that names no key takes updates from every address that it lets update.
fn permissions(setup: &Setup<'_>) -> String {
    let mut text = "BEGIN;\n".to_owned();
    for Key { name, algorithm, secret } in setup.keys {
        text +=
            &format!("INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('{name}', '{algorithm}', '{secret}');\n");
    }
    let mut allow = |kind: &str, content: &str| {
        text += &format!(
            "INSERT INTO domainmetadata (domain_id, kind, content) SELECT id, '{kind}', '{content}' FROM domains;\n"
        );
    };
    allow("ALLOW-DNSUPDATE-FROM", "127.0.0.0/8");
    allow("ALLOW-DNSUPDATE-FROM", "::1");
    for Key { name, .. } in &setup.config.keys {
        allow("TSIG-ALLOW-AXFR", name);
        allow("TSIG-ALLOW-DNSUPDATE", name);
    }
    text + "COMMIT;\n"
}

/// Runs statements on the database.
fn sqlite(setup: &Setup<'_>, statements: &str) {
    let mut command = Command::new(NEEDS[2]);
    command.args(["-bail", "zones.db"]).current_dir(setup.folder).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("sqlite3 runs");
    let mut input = child.stdin.take().expect("its input is piped");
    input.write_all(statements.as_bytes()).expect("sqlite3 reads");
    drop(input);
    assert!(child.wait().expect("a child").success(), "sqlite3 refuses its statements");
}
