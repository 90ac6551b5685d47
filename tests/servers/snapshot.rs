//! A snapshot of zones on real servers: it gives the plan that they give, and BIND can serve its files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{copy, demo_zones, edit, reading_from};

on_every_kind! {
    a_snapshot_gives_the_plan_of_the_server_without_it_and_its_key
    a_snapshot_of_what_was_asked_gives_the_plan_of_the_questions
}

/// Where Debian installs it.
const CHECKZONE: &str = "/usr/bin/named-checkzone";

/// Records that are hard to write down, for the end of a zone file.
const HARD: &str = r#"
@ TXT "binary \000\001\127\255" "" "a \"b\" \\ ;"
@ CAA 128 issue "ca.example.net; policy=\"ev\""
a\.b\032c\@\$\;\"\\\(\)\000\255 300 TXT "escapes"
mixed 60 A 192.0.2.70
*.wild 60 MX 10 m\.x
sip SRV 10 20 5060 \@.example.net.
naptr NAPTR 100 50 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .
tlsa TLSA 3 1 1 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF
sshfp SSHFP 4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789
https HTTPS 1 . alpn="h2,h3" port=8443 ipv4hint=192.0.2.80 key667="a\\,b\"c"
svcb SVCB 16 foo.example.org. mandatory=alpn alpn=h2
child NS ns.child
child DS 60485 8 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A
rp RP mail info.rp
hinfo HINFO "PC" "Linux \255"
afsdb AFSDB 1 db
kx KX 1 db
uri URI 10 1 "https://a.example/ \"x\""
pgp OPENPGPKEY AAAA
loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m
cert CERT PKIX 1 RSASHA256 AAAA
unknown TYPE65280 \# 4 deadBEEF
empty TYPE65281 \# 0
null NULL \# 3 000102
"#;

/// An owner name of 255 octets below `web.example.net.`, where there is room for 238.
fn longest_name() -> String {
    let label = "\\000".repeat(63);
    let last = "\\255".repeat(45);
    format!("{label}.{label}.{label}.{last}")
}

/// Makes a workspace whose zones are on a server, and starts that.
fn start(workspace: &Path) -> Option<Server> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
    copy(&base, workspace);
    let zones = workspace.join("zones");
    let web = zones.join("web.example.net.zone");
    let text = fs::read_to_string(&web).expect("the zone of the base");
    fs::write(&web, format!("{text}{HARD}{} 60 A 192.0.2.71\n", longest_name())).expect("a file");
    let key = Key::new("snapshot");
    let bind = Server::start(
        Kind::Bind,
        &ServerConfig { keys: vec![key.clone()], ..ServerConfig::default() }.zones_of(&zones),
    )?;
    fs::remove_dir_all(zones).expect("the folder is ours");
    let settings = workspace.join("zonewright.toml");
    let target = format!(
        "type = \"rfc2136\"\nserver = \"{}\"\ntsig_key = {{ name = \"{}\", algorithm = \"{}\", secret_file = \"key\" }}\n",
        bind.address(),
        key.name,
        key.algorithm
    );
    let text = fs::read_to_string(&settings).expect("the settings of the base");
    fs::write(&settings, text.replace("type = \"zonefile\"\ndir = \"zones\"\n", &target)).expect("a file");
    fs::write(workspace.join("key"), &key.secret).expect("a file");
    fs::set_permissions(workspace.join("key"), Permissions::from_mode(0o600)).expect("it is ours");
    Some(bind)
}

/// Runs the binary in a workspace.
fn run(workspace: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--now", "2026-11-20T02:00:00Z", "-C"]).arg(workspace);
    command.output().expect("the binary was built for this test")
}

/// A plan as JSON, without what depends on where the zones were read from.
fn plan(workspace: &Path, args: &[&str]) -> Value {
    let output = run(workspace, &[&["plan", "--format", "json"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut plan: Value = serde_json::from_slice(&output.stdout).expect("a plan is JSON");
    let fields = plan.as_object_mut().expect("a plan is an object");
    for field in ["id", "inputs", "created", "expires"] {
        fields.remove(field).expect("a plan has it");
    }
    plan
}

/// Saves a snapshot of the workspace.
fn save(workspace: &Path, name: &str) -> std::path::PathBuf {
    let folder = workspace.join(name);
    let output = run(workspace, &["snapshot", "--out", &folder.to_string_lossy()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// The demo's plan from each kind of server, and again when server and key are gone.
fn a_snapshot_gives_the_plan_of_the_server_without_it_and_its_key(kind: Kind) {
    let key = Key::new("snapshot");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let workspace = reading_from(&[server.address()], &key);
    let live = plan(workspace.path(), &[]);
    let snapshot = save(workspace.path(), "live");
    drop(server);
    fs::remove_file(workspace.path().join("secret")).expect("the key is ours");
    assert_eq!(plan(workspace.path(), &["--live-snapshot", &snapshot.to_string_lossy()]), live);
}

/// The same where the server is asked name by name.
fn a_snapshot_of_what_was_asked_gives_the_plan_of_the_questions(kind: Kind) {
    let key = Key::new("snapshot");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let workspace = reading_from(&[server.address()], &key);
    edit(workspace.path(), "type = \"rfc2136\"\n", "type = \"rfc2136\"\nread = \"query\"\n");
    let live = plan(workspace.path(), &[]);
    let snapshot = save(workspace.path(), "live");
    drop(server);
    let from_snapshot = plan(workspace.path(), &["--live-snapshot", &snapshot.to_string_lossy()]);
    assert_eq!(from_snapshot, live);
    assert!(live["notices"].to_string().contains("read-by-query"));
    // A name that was not asked for then is unknown now, not empty.
    let lock = workspace.path().join("names.lock");
    let text = fs::read_to_string(&lock).expect("the names of the demo");
    fs::write(&lock, text.replace("stsas-01.storage", "stsas-99.storage")).expect("a file");
    let renamed = plan(workspace.path(), &["--live-snapshot", &snapshot.to_string_lossy()]);
    let blocked = renamed["blocked"].as_array().expect("a list");
    let unknown: Vec<_> = blocked.iter().filter(|blocked| blocked["code"] == "zone-unknown").collect();
    let message = "`stsas-99.storage.example.net.` was not queried when `storage.example.net.` was read";
    assert!(matches!(unknown[..], [blocked] if blocked["message"] == message), "{unknown:?}");
}

#[test]
fn bind_serves_the_files_of_a_snapshot_as_they_were_transferred() {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = folder.path().join("workspace");
    let Some(bind) = start(&workspace) else { return };
    let first = save(&workspace, "first");
    drop(bind);
    for entry in fs::read_dir(&first).expect("the snapshot") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_some_and(|extension| extension == "zone") && crate::have(Path::new(CHECKZONE)) {
            let zone = path.file_stem().expect("a file has a name");
            let mut command = Command::new(CHECKZONE);
            // Names of all kinds are meant to be there, and name servers that have no address.
            let output = command.args(["-k", "ignore", "-i", "none"]).arg(zone).arg(&path).output();
            let output = output.expect("named-checkzone runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
    // The same settings, but for the port of another server that has the snapshot's files for its own.
    let key = Key::new("snapshot");
    let config = ServerConfig { keys: vec![key], ..ServerConfig::default() }.zones_of(&first);
    let bind = Server::start(Kind::Bind, &config).expect("BIND was there a moment ago");
    let settings = workspace.join("zonewright.toml");
    let text = fs::read_to_string(&settings).expect("the settings");
    let moved = text.lines().map(|line| {
        if line.starts_with("server = ") { format!("server = \"{}\"\n", bind.address()) } else { format!("{line}\n") }
    });
    fs::write(&settings, moved.collect::<String>()).expect("a file");
    let second = save(&workspace, "second");
    let manifest = |folder: &Path| fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    assert_eq!(manifest(&second), manifest(&first));
}
