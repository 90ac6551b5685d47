//! `init` from targets that an API serves: a PowerDNS, and an etcd with users.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::etcd::{Etcd, Site, one};
use crate::pdns;
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{document, stderr, zonewright};

/// A zone of hosts, and the reverse zone of their addresses.
const ZONES: [(&str, &str); 2] = [
    (
        "corp.test",
        "node1 AAAA 2001:db8:10:1:200:5eff:fe00:5301\nnode2 AAAA 2001:db8:10:1:200:5eff:fe00:5302\nwww CNAME node1\n",
    ),
    ("0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa", "1.0.3.5.0.0.e.f.f.f.e.5.0.0.2.0.1.0.0.0 PTR node1.corp.test.\n"),
];

/// What a zone begins with.
const HEAD: &str = "$TTL 900\n@ SOA ns1.corp.test. hostmaster.corp.test. 1 3600 600 604800 300\n@ NS ns1.corp.test.\n";

/// Runs a command in a folder.
fn run(folder: &Path, args: &[&str]) -> Output {
    zonewright().args(args).current_dir(folder).env("NO_COLOR", "1").output().expect("the program runs")
}

/// The plan of a workspace in a folder.
fn plan(folder: &Path, workspace: &str) -> Value {
    let output = run(folder, &["-C", workspace, "plan", "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    document(&output)
}

/// Writes a secret for its owner alone.
fn write_secret(file: &Path, text: &str) {
    fs::write(file, text).expect("a file");
    fs::set_permissions(file, Permissions::from_mode(0o600)).expect("it is ours");
}

#[test]
fn a_powerdns_becomes_the_workspace_that_its_transfers_would() {
    let key = Key::new("zw");
    let zones = ZONES.map(|(name, text)| (name.to_owned(), format!("{HEAD}{text}"))).to_vec();
    let config = ServerConfig { keys: vec![key.clone()], zones, ..ServerConfig::default() };
    let Some(server) = Server::start(Kind::PowerDnsApi, &config) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let Key { name, algorithm, secret } = key;
    let clause = format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
    write_secret(&folder.path().join("zw.key"), &clause);
    write_secret(&folder.path().join("api.key"), &secret);
    let url = format!("http://{}", pdns::api(server.folder()));

    let nothing = run(folder.path(), &["init", "fleet", "--from-powerdns", &url, "corp.test"]);
    assert_eq!(nothing.status.code(), Some(1), "the key of the API is missing");
    assert!(stderr(&nothing).contains("--api-key-file"), "{}", stderr(&nothing));
    let named = ["--api-key-file", "api.key", "--server", &server.address(), "--tsig-secret-file", "zw.key"];
    let args = [&["init", "fleet", "--from-powerdns", &url, "nowhere.test"][..], &named].concat();
    let unread = run(folder.path(), &args);
    assert!(stderr(&unread).contains("zone-not-served"), "{}", stderr(&unread));
    assert!(!folder.path().join("fleet").exists());

    let made = run(folder.path(), &[&["init", "fleet", "--from-powerdns", &url, "corp.test"][..], &named].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(said.contains("- 1 reverse zone: 0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa"), "{said}");
    let settings = fs::read_to_string(folder.path().join("fleet/zonewright.toml")).expect("a file");
    for part in ["type = \"powerdns\"", "secret_file = \"keys/api.key\"", "secret_file = \"keys/zw.key\""] {
        assert!(settings.contains(part), "{settings}");
    }
    let mode = fs::metadata(folder.path().join("fleet/keys/api.key")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let checked = run(folder.path(), &["-C", "fleet", "check"]);
    assert!(checked.status.success(), "{}", stderr(&checked));

    let (address, key) = (server.address(), ["--tsig-secret-file", "zw.key"]);
    let by_transfer =
        run(folder.path(), &[&["init", "other", "--from-axfr", &address, "corp.test"][..], &key].concat());
    assert!(by_transfer.status.success(), "{}", stderr(&by_transfer));
    let (own, other) = (plan(folder.path(), "fleet"), plan(folder.path(), "other"));
    assert_eq!(own["effect"], other["effect"]);
    assert_eq!(own["changes"].as_array().map(Vec::len), Some(1), "the PTR of node2: {:#}", own["changes"]);
    let applied = run(folder.path(), &["-C", "fleet", "apply", "--auto", "--yes"]);
    assert!(applied.status.success(), "{}", stderr(&applied));
}

/// The user may read and write what the settings say that it needs, and nothing else.
#[test]
fn an_etcd_with_users_becomes_a_workspace_of_its_records() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    site.state(&zone, &one(&zone, "a", 300, "192.0.2.1"));
    site.apply_all();
    let mail = serde_json::json!({"host": "m.example.org", "mail": true, "ttl": 300, "targetstrip": 1});
    site.etcd.put(&format!("/skydns/example/{}/m/x", zone.trim_end_matches(".example")), &mail);
    for args in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "dns"],
        &["role", "grant-permission", "dns", "readwrite", "--prefix=true", "/skydns/"],
        &["role", "grant-permission", "dns", "readwrite", "--prefix=true", "/zonewright/"],
        &["user", "add", "zonewright:word"],
        &["user", "grant-role", "zonewright", "dns"],
        &["auth", "enable"],
    ] {
        let done = site.etcd.ctl(args);
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let folder = tempfile::tempdir().expect("a folder");
    write_secret(&folder.path().join("wrong"), "other");
    write_secret(&folder.path().join("right"), "word");
    let url = site.etcd.url();
    let init = |rest: &[&str]| {
        run(folder.path(), &[&["init", "dns", "--from-etcd", &url, &zone, "--records"][..], rest].concat())
    };
    for rest in [&[][..], &["--user", "zonewright", "--password-file", "wrong"]] {
        let refused = init(rest);
        assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("api-denied"), "{}", stderr(&refused));
        assert!(!folder.path().join("dns").exists() && !stderr(&refused).contains("other"));
    }
    let made = init(&["--user", "zonewright", "--password-file", "right"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let stated = fs::read_to_string(folder.path().join(format!("dns/zones/{zone}.yaml"))).expect("a file");
    assert!(stated.contains("192.0.2.1"), "{stated}");
    let said = String::from_utf8_lossy(&made.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(&format!("1 name has what is no plain record, and is not in the files: m.{zone} (a key for MX)")),
        "{said}"
    );
    let checked = run(folder.path(), &["-C", "dns", "check"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    assert_eq!(plan(folder.path(), "dns")["changes"].as_array().map(Vec::len), Some(0));

    let more = stated.replace("192.0.2.1", "192.0.2.2");
    fs::write(folder.path().join(format!("dns/zones/{zone}.yaml")), more).expect("a file");
    let settings = folder.path().join("dns/zonewright.toml");
    let text = fs::read_to_string(&settings).expect("a file").replace("permission = \"own\"", "permission = \"full\"");
    fs::write(&settings, text).expect("a file");
    let taken = run(folder.path(), &["-C", "dns", "state", "init", "--reason", "another workspace wrote before"]);
    assert!(taken.status.success(), "{}", stderr(&taken));
    let applied = run(folder.path(), &["-C", "dns", "apply", "--auto", "--yes"]);
    assert!(applied.status.success(), "{}{}", String::from_utf8_lossy(&applied.stdout), stderr(&applied));
}

/// Runs openssl in a folder.
fn openssl(folder: &Path, args: &[&str]) {
    let done = Command::new(OPENSSL).args(args).current_dir(folder).output().expect("openssl runs");
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// What makes certificates.
const OPENSSL: &str = "/usr/bin/openssl";

/// An authority with a certificate for 127.0.0.1 (`server`) and one for a client (`client`), and a key of no certificate (`other.key`).
fn certificates(folder: &Path) {
    let days = ["-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    let of_ca = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=an authority"];
    openssl(folder, &[&of_ca[..], &days].concat());
    for (name, usage) in [("server", "serverAuth,clientAuth"), ("client", "clientAuth")] {
        let (key, out, ask) = (format!("{name}.key"), format!("{name}.pem"), format!("{name}.csr"));
        let of_one = ["req", "-keyout", &key, "-out", &ask, "-subj", "/CN=a name"];
        openssl(folder, &[&of_one[..], &days[2..]].concat());
        fs::write(folder.join("ext"), format!("subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\n"))
            .expect("a file");
        let signed =
            ["x509", "-req", "-in", &ask, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
        openssl(folder, &[&signed[..], &["-extfile", "ext", "-out", &out]].concat());
    }
    openssl(folder, &["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "other.key"]);
    for key in ["client.key", "other.key"] {
        fs::set_permissions(folder.join(key), Permissions::from_mode(0o600)).expect("it is ours");
    }
}

#[test]
fn an_etcd_that_asks_for_certificates_is_read_with_them_and_errors_say_which() {
    if !crate::have(Path::new(OPENSSL)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    certificates(folder.path());
    let Some(etcd) = Etcd::start_with_certificates(folder.path()) else { return };
    etcd.put("/skydns/example/z/a/x", &serde_json::json!({"host": "192.0.2.1", "ttl": 300, "targetstrip": 1}));
    let url = etcd.url();
    let init = |rest: &[&str]| {
        run(folder.path(), &[&["init", "dns", "--from-etcd", &url, "z.example", "--records"][..], rest].concat())
    };
    let trusted = ["--ca-file", "ca.pem"];
    for (rest, words) in [
        (&[][..], "failed the TLS handshake"),
        (
            &[trusted[0], trusted[1], "--cert-file", "client.pem", "--key-file", "other.key"],
            "the key is not that of the certificate",
        ),
        (
            &[trusted[0], trusted[1], "--cert-file", "client.pem", "--key-file", "ca.pem"],
            "the file of the key has no private key",
        ),
    ] {
        let refused = init(rest);
        assert_eq!(refused.status.code(), Some(1), "{rest:?}: {}", stderr(&refused));
        assert!(
            stderr(&refused).contains(words) && stderr(&refused).contains("ca_file"),
            "{rest:?}: {}",
            stderr(&refused)
        );
    }
    let without = init(&trusted);
    assert_eq!(without.status.code(), Some(1), "{}", stderr(&without));
    assert!(stderr(&without).contains("connect-failed"), "{}", stderr(&without));
    let made = init(&[&trusted[..], &["--cert-file", "client.pem", "--key-file", "client.key"]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let mode = fs::metadata(folder.path().join("dns/keys/client.key")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(plan(folder.path(), "dns")["changes"].as_array().map(Vec::len), Some(0));
}
