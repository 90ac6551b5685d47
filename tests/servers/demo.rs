//! The demo, its zones in a real BIND: `ci/demo-server` starts it, and the plan is the same as from the zone files.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use zonewright::plan::{Plan, SealedPlan, v1};

/// The server; it ends when this is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // A process that is gone already needs no killing.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// Starts `ci/demo-server` and waits until it takes connections.
fn start(folder: &Path) -> Server {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/demo-server");
    let port = free_port();
    let child = Command::new(script)
        .arg(folder)
        .arg(port.to_string())
        .stderr(Stdio::null())
        .spawn()
        .expect("the script can be run");
    let mut server = Server(child);
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
            let sealed: SealedPlan = v1::parse(&text).unwrap_or_else(|error| panic!("{error}\n{said}"));
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
fn the_demo_from_bind_gives_the_plan_that_its_files_give() {
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
