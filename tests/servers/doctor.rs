//! `doctor` looks at real servers, each of them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Key, Kind, Server, ServerConfig};

/// Lets a program see another time, by a library that it loads first.
const FAKETIME: &str = "/usr/bin/faketime";

on_every_kind! {
    a_server_that_works_is_told_with_its_measures
    a_clock_that_is_a_minute_off_is_a_warning
    what_a_server_refuses_is_reported
}

/// The zone of all servers here, with a serial and further records.
fn zone(serial: u32, more: &str) -> (String, String) {
    let text = format!("$TTL 60\n@ SOA ns hostmaster {serial} 3600 600 86400 60\n@ NS ns\nns A 192.0.2.53\n{more}");
    ("example.net".to_owned(), text)
}

/// A server with a key and a zone.
fn start(kind: Kind, key: &Key, zone: (String, String)) -> Option<Server> {
    Server::start(kind, &ServerConfig { keys: vec![key.clone()], zones: vec![zone], ..ServerConfig::default() })
}

/// Runs `doctor` on a workspace of one target: its servers, its key, and the zones; gives the document and the exit
/// code.
fn doctor(servers: &[&str], secret: Option<&Key>, zones: &[&str]) -> (Value, Option<i32>) {
    run(&mut Command::new(env!("CARGO_BIN_EXE_zonewright")), workspace(servers, secret, zones).path())
}

/// A workspace of one target.
fn workspace(servers: &[&str], secret: Option<&Key>, zones: &[&str]) -> TempDir {
    let workspace = tempfile::tempdir().expect("a folder");
    let zones = zones.iter().map(|zone| format!("[[zone]]\nname = \"{zone}\"\npool = \"main\"\n"));
    let key = secret.map(|key| {
        let file = workspace.path().join("key");
        fs::write(&file, &key.secret).expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
        let Key { name, algorithm, .. } = key;
        format!("tsig_key = {{ name = \"{name}\", algorithm = \"{algorithm}\", secret_file = \"key\" }}\n")
    });
    let text = format!(
        "owner = \"test\"\n[sources]\nprojects = \"projects/*.yaml\"\nhosts = \"hosts.csv\"\n[[pool.main.target]]\n\
         type = \"rfc2136\"\nserver = {servers:?}\n{}{}",
        key.unwrap_or_default(),
        zones.collect::<String>()
    );
    fs::write(workspace.path().join("zonewright.toml"), text).expect("a file");
    workspace
}

/// Runs the binary, or a program that runs it.
fn run(command: &mut Command, workspace: &Path) -> (Value, Option<i32>) {
    let output = command.args(["doctor", "--format", "json", "-C"]).arg(workspace).output();
    let output = output.expect("the binary was built for this test");
    let said = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (document, output.status.code())
}

/// The findings of the one target that are not `ok`: level, code, and whether they name a zone.
fn findings(document: &Value) -> Vec<(String, String, bool)> {
    let text = |finding: &Value, field: &str| finding[field].as_str().expect("it is text").to_owned();
    let findings = document["targets"][0]["findings"].as_array().expect("a target has findings").iter();
    let findings = findings.map(|found| (text(found, "level"), text(found, "code"), found["zone"].is_string()));
    findings.filter(|(level, ..)| level != "ok").collect()
}

/// A finding as [`findings`] gives it.
fn expected(level: &str, code: &str, of_zone: bool) -> (String, String, bool) {
    (level.to_owned(), code.to_owned(), of_zone)
}

/// The one server of a target, and its one zone there.
fn place_and_zone(document: &Value) -> (&Value, &Value) {
    let place = &document["targets"][0]["places"][0];
    (place, &place["zones"][0])
}

/// What is said of a server of a kind where all is right.
fn of_its_kind(kind: Kind) -> Vec<(String, String, bool)> {
    match kind {
        Kind::Bind | Kind::Knot | Kind::Serve => Vec::new(),
        Kind::Nsd => vec![expected("warning", "update-not-implemented", true)],
        // It signs its answers with the time of the question.
        Kind::PowerDns | Kind::PowerDnsApi => vec![expected("note", "clock-unknown", false)],
    }
}

/// Nothing but `ok`, and all that can be known of it.
fn a_server_that_works_is_told_with_its_measures(kind: Kind) {
    let key = Key::new("doctor");
    let Some(server) = start(kind, &key, zone(7, "")) else { return };
    let (document, exit) = doctor(&[&server.address()], Some(&key), &["example.net"]);
    assert_eq!((findings(&document), exit), (of_its_kind(kind), Some(0)));
    let (place, zone) = place_and_zone(&document);
    if let Some(ahead) = place["clock_ahead"].as_i64() {
        assert!(ahead.abs() < 30, "one clock differs from itself by {ahead} s");
    }
    for (field, value) in [
        ("authoritative", json!(true)),
        ("serial", json!(7)),
        ("rrsets", json!(3)),
        ("records", json!(3)),
        ("signed", json!(false)),
        ("without_key", json!("refused")),
    ] {
        assert_eq!(zone[field], value, "{field}");
    }
    assert!(zone["octets"].as_u64() > Some(100) && zone["seconds"].is_number());
}

/// Told before transfers fail by it.
fn a_clock_that_is_a_minute_off_is_a_warning(kind: Kind) {
    let key = Key::new("doctor");
    let Some(server) = start(kind, &key, zone(7, "")) else { return };
    for (skew, ahead) in [("-60s", 60), ("+60s", -60)] {
        if !crate::have(Path::new(FAKETIME)) {
            return;
        }
        let mut command = Command::new(FAKETIME);
        command.args(["-f", skew, env!("CARGO_BIN_EXE_zonewright")]);
        let workspace = workspace(&[&server.address()], Some(&key), &["example.net"]);
        let (document, exit) = run(&mut command, workspace.path());
        if kind == Kind::PowerDns {
            assert_eq!(findings(&document), of_its_kind(kind));
            continue;
        }
        assert_eq!(
            (findings(&document), exit),
            ([of_its_kind(kind), vec![expected("warning", "clock-differs", false)]].concat(), Some(0))
        );
        // Some seconds may pass between both looks at the clock on a busy machine.
        let seconds = place_and_zone(&document).0["clock_ahead"].as_i64().expect("a signed answer contains the time");
        assert!((seconds - ahead).abs() < 30, "{seconds} instead of {ahead}");
    }
}

/// A key that it does not know, one that may do nothing, no key, a zone that it does not have: each is a problem.
fn what_a_server_refuses_is_reported(kind: Kind) {
    let key = Key::new("doctor");
    let Some(server) = start(kind, &key, zone(7, "")) else { return };
    let problems = |key: Option<&Key>, zone: &str| {
        let (document, exit) = doctor(&[&server.address()], key, &[zone]);
        assert_eq!(exit, Some(1));
        let problems = findings(&document).into_iter().filter(|(level, ..)| level == "problem");
        problems.map(|(_, code, _)| code).collect::<Vec<_>>()
    };
    let found = [
        problems(Some(&Key::new("other")), "example.net"),
        problems(Some(&Key::powerless()), "example.net"),
        problems(None, "example.net"),
        problems(Some(&key), "example.org"),
    ];
    let expected = match kind {
        Kind::Bind | Kind::Nsd => ["tsig-bad-key", "transfer-refused", "transfer-refused", "zone-not-served"],
        // It does not tell a key that it does not know from one that may do nothing, and says NOTAUTH without any.
        Kind::Knot => ["tsig-bad-key", "tsig-bad-key", "zone-not-served", "transfer-refused"],
        // It has one key.
        Kind::Serve => ["tsig-bad-key", "tsig-bad-key", "transfer-refused", "zone-not-served"],
        Kind::PowerDns | Kind::PowerDnsApi => {
            ["transfer-refused", "transfer-refused", "zone-not-served", "not-authoritative transfer-refused"]
        }
    };
    assert_eq!(found.map(|codes| codes.join(" ")), expected);
}

#[test]
fn servers_of_one_target_are_compared_and_a_lost_one_is_reported() {
    let key = Key::with_algorithm("doctor", "hmac-sha1");
    let (Some(one), Some(two)) = (start(Kind::Bind, &key, zone(7, "")), start(Kind::Bind, &key, zone(8, ""))) else {
        return;
    };
    let lost = start(Kind::Bind, &key, zone(7, "")).expect("BIND was there a moment ago").address();
    let (document, exit) = doctor(&[&one.address(), &two.address(), &lost], Some(&key), &["example.net"]);
    assert_eq!(
        findings(&document),
        [
            expected("warning", "weak-algorithm", false),
            expected("warning", "serials-differ", true),
            expected("problem", "connect-failed", false),
        ]
    );
    assert_eq!(exit, Some(1));
}

#[test]
fn a_signed_zone_is_reported() {
    let key = Key::new("doctor");
    let signature = "ns RRSIG A 13 3 60 20361201000000 20261101000000 1 example.net. AAAA\n";
    let Some(bind) = start(Kind::Bind, &key, zone(7, signature)) else { return };
    let (document, exit) = doctor(&[&bind.address()], Some(&key), &["example.net"]);
    assert_eq!((findings(&document), exit), (vec![expected("note", "signed-zone", true)], Some(0)));
}

/// The code of the finding about each zone at a place.
fn codes_at(document: &Value, place: &str) -> Vec<(String, String)> {
    let findings = document["targets"][0]["findings"].as_array().expect("findings").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let at = findings.filter(|finding| finding["place"] == place && finding["zone"] != Value::Null);
    at.map(|finding| (text(&finding["zone"]), text(&finding["code"]))).collect()
}

#[test]
fn name_servers_are_compared_with_their_target() {
    let named = |name: &str, serial| (name.to_owned(), zone(serial, "").1);
    let start = |kind, zones| Server::start(kind, &ServerConfig { zones, ..ServerConfig::default() });
    let both = |serial| vec![named("a.example.net", serial), named("b.example.net", serial)];
    let Some(target) = start(Kind::Bind, both(7)) else { return };
    let (Some(follows), Some(behind)) = (start(Kind::Nsd, both(7)), start(Kind::Knot, vec![named("a.example.net", 6)]))
    else {
        return;
    };
    let workspace = workspace(&[&target.address()], None, &["a.example.net", "b.example.net"]);
    let down = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("it").to_string();
    let servers = [follows.address(), behind.address(), down];
    let tables = servers.iter().map(|server| format!("\n[[pool.main.nameserver]]\nserver = \"{server}\"\n"));
    let file = workspace.path().join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("the settings") + &tables.collect::<String>();
    fs::write(&file, text).expect("the settings");
    let (document, exit) = run(&mut Command::new(env!("CARGO_BIN_EXE_zonewright")), workspace.path());
    let found = servers.map(|server| codes_at(&document, &server));
    let codes = |a: &str, b: &str| {
        vec![("a.example.net.".to_owned(), a.to_owned()), ("b.example.net.".to_owned(), b.to_owned())]
    };
    assert_eq!(
        found,
        [codes("follows", "follows"), codes("behind", "not-authoritative"), codes("no-answer", "no-answer")]
    );
    assert_eq!((exit, &document["problems"]), (Some(1), &json!(3)));
}
