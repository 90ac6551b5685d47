//! The demo, its zones in real servers: the plan is the same as from the zone files.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use zonewright::plan::{Plan, SealedPlan, document};

use crate::server::{Key, Kind, Server, free_port};
use crate::workspace::{self, demo_zones, document, reading_from, stderr, zonewright};

on_every_kind! {
    the_demo_from_a_server_gives_the_document_that_its_files_give
    a_zone_that_the_server_lacks_blocks_its_own_hosts_alone
}

/// All of the document counts but what says when it was made, and of which files.
fn the_demo_from_a_server_gives_the_document_that_its_files_give(kind: Kind) {
    let key = Key::new("zonewright");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let live = workspace::plan(reading_from(&[server.address()], &key).path(), zonewright());
    let files = workspace::plan(&workspace::demo(), zonewright());
    assert!(live.status.success() && files.status.success(), "{}", stderr(&live));
    let comparable = |output: &Output| {
        let mut plan = document(output);
        let members = plan.as_object_mut().expect("a plan is an object");
        for name in ["id", "inputs", "created", "expires"] {
            members.remove(name).expect("every plan has it");
        }
        plan
    };
    let plan = comparable(&live);
    assert!(plan["changes"].as_array().is_some_and(|changes| changes.len() > 50), "the demo has changes");
    assert!(plan == comparable(&files), "{}", different_lines(&plan, &comparable(&files)));
}

/// The lines that are only in one of two documents.
fn different_lines(live: &Value, files: &Value) -> String {
    let [live, files] = [live, files].map(|plan| format!("{plan:#}"));
    let only = |of: &str, not_in: &str, sign: &str| -> String {
        of.lines()
            .filter(|line| !not_in.lines().any(|other| other == *line))
            .map(|line| format!("{sign}{line}\n"))
            .collect()
    };
    only(&files, &live, "-") + &only(&live, &files, "+")
}

/// The server has all zones of the demo but one.
fn a_zone_that_the_server_lacks_blocks_its_own_hosts_alone(kind: Kind) {
    let key = Key::new("key");
    let mut config = demo_zones(&key);
    config.zones.retain(|(name, _)| name != "storage.example.net");
    let Some(server) = Server::start(kind, &config) else { return };
    let output = workspace::plan(reading_from(&[server.address()], &key).path(), zonewright());
    let line = format!("{} zone storage.example.net.: error[", server.address());
    assert!(stderr(&output).contains(&line), "{}", stderr(&output));
    assert_only_storage_is_unknown(&output);
}

/// Checks the plan of a demo of which storage.example.net cannot be read: its hosts are blocked, the others' changes are
/// those of the whole demo.
pub fn assert_only_storage_is_unknown(output: &Output) {
    assert_eq!(output.status.code(), Some(1), "{}", stderr(output));
    let (plan, whole) = (document(output), document(&workspace::plan(&workspace::demo(), zonewright())));
    let list = |plan: &Value, name: &str| plan[name].as_array().expect("a list").clone();
    let of_storage = |entry: &Value| entry["project"] == "storage";
    let blocked = list(&plan, "blocked");
    assert!(blocked.iter().any(|host| of_storage(host) && host["code"] == "zone-unknown"));
    assert!(blocked.iter().all(|host| of_storage(host) || host["code"] != "zone-unknown"));
    let mut others = list(&whole, "changes");
    others.retain(|change| !of_storage(change));
    assert!(others.len() > 50, "the demo has changes");
    assert_eq!(list(&plan, "changes"), others);
}

/// `ci/demo-server`; it ends when this is dropped.
struct DemoServer(Child);

impl Drop for DemoServer {
    fn drop(&mut self) {
        // A process that is gone already needs no killing.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `ci/demo-server` and waits until it takes connections.
fn start(folder: &Path) -> DemoServer {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/demo-server");
    let port = free_port(&[Ipv4Addr::LOCALHOST.into()]);
    let child = Command::new(script)
        .arg(folder)
        .arg(port.to_string())
        .stderr(Stdio::null())
        .spawn()
        .expect("the script can be run");
    let mut server = DemoServer(child);
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(server.0.try_wait().expect("a child can be asked").is_none(), "the server ended by itself");
        assert!(Instant::now() < deadline, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// The plan of a workspace, once all its zones can be read: a server that listens may still load zones.
fn plan(workspace: &Path) -> Plan {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["plan", "--format", "json", "-q", "--now", "2026-11-20T02:00:00Z", "-C"])
            .arg(workspace)
            .output()
            .expect("the binary was built for this test");
        if output.status.success() || Instant::now() > deadline {
            let said = String::from_utf8_lossy(&output.stderr);
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            let sealed: SealedPlan = document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{said}"));
            assert!(output.status.success(), "{said}");
            return without_settings_lines(sealed.plan().clone());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A plan without the places in zonewright.toml: the copy's target takes a line more.
fn without_settings_lines(mut plan: Plan) -> Plan {
    for reason in plan.changes.iter_mut().flat_map(|change| &mut change.reasons) {
        reason.evidence.retain(|place| !place.starts_with("zonewright.toml:"));
    }
    plan
}

#[test]
fn the_demo_server_gives_the_plan_that_its_files_give() {
    if !crate::have(Path::new("/usr/sbin/named")) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let _server = start(&folder.path().join("demo"));
    let live = plan(&folder.path().join("demo/inventory"));
    let files = plan(&Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory"));
    assert!(files.changes.len() > 50, "the demo has changes");
    assert_eq!(live.changes, files.changes);
    assert_eq!(live.blocked, files.blocked);
    assert_eq!(live.skipped, files.skipped);
    assert_eq!(live.notices, files.notices);
    assert_eq!(live.zones, files.zones);
}
