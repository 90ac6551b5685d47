//! Whether what an apply changed is served: a primary with four secondaries of three makes, one of which is away at times.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::Value;

use crate::rig::{Applied, NOW, Planned, Rig, apply_command, plan_in};
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{demo_zones, edit, zonewright};

/// How often name servers are asked here: on loopback a transfer takes less than a second.
const POLLING: &str = "poll_timeout = \"1s\"\npoll_retry_interval = \"1s\"\npoll_max_retries = 6\n";

/// Starts a secondary of all zones of a primary.
fn secondary(kind: Kind, primary: &Server, zones: &ServerConfig) -> Option<Server> {
    let port = primary.address().rsplit(':').next().expect("a port").to_owned();
    let change = |folder: &Path| {
        let (file, parts): (_, Vec<(&str, String)>) = match kind {
            Kind::Bind => (
                "named.conf",
                vec![
                    (
                        "type primary;",
                        format!(
                            "type secondary; masterfile-format text; primaries {{ 127.0.0.1 port {port}; }}; \
                             allow-notify {{ any; }};"
                        ),
                    ),
                    ("allow-update { any; };", String::new()),
                ],
            ),
            Kind::Knot => (
                "knot.conf",
                vec![
                    ("template:\n", format!("remote:\n- id: primary\n  address: 127.0.0.1@{port}\ntemplate:\n")),
                    ("  acl: all\n", "  acl: all\n  master: primary\n".to_owned()),
                    ("[ transfer, update ]", "[ transfer, notify ]".to_owned()),
                ],
            ),
            Kind::Nsd => (
                "nsd.conf",
                vec![(
                    ".zone\"\n",
                    format!(".zone\"\n  allow-notify: 127.0.0.1 NOKEY\n  request-xfr: 127.0.0.1@{port} NOKEY\n"),
                )],
            ),
            Kind::PowerDns | Kind::PowerDnsApi | Kind::Serve => panic!("{kind:?} is no secondary here"),
        };
        let file = folder.join(file);
        let mut text = fs::read_to_string(&file).expect("the settings");
        for (part, by) in parts {
            assert!(text.contains(part), "{part}");
            text = text.replace(part, &by);
        }
        fs::write(&file, text).expect("the settings");
    };
    Server::start_changed(kind, zones, &change)
}

/// The demo in a primary, and name servers that follow it.
struct Followed {
    /// The primary, and the workspace.
    rig: Rig,
    /// The name servers.
    servers: Vec<Server>,
}

impl Followed {
    /// Starts a primary and four secondaries.
    fn start() -> Option<Followed> {
        let rig = Rig::unsigned_demo(Kind::Bind)?;
        let zones = ServerConfig { keys: Vec::new(), ..demo_zones(&Key::powerless()) };
        let kinds = [Kind::Bind, Kind::Bind, Kind::Knot, Kind::Nsd];
        let servers: Option<Vec<Server>> = kinds.into_iter().map(|kind| secondary(kind, &rig.server, &zones)).collect();
        Some(Followed { rig, servers: servers? })
    }

    /// Says which name servers the pool has, and its threshold.
    fn follow(&self, threshold: u32) {
        let addresses: Vec<String> = self.servers.iter().map(Server::address).collect();
        follow(&self.rig, threshold, &addresses);
    }

    /// Sends a signal to the first name server.
    fn signal(&self, signal: &str) {
        let process = self.servers[0].process().to_string();
        let status = Command::new("/bin/kill").args([signal, &process]).status().expect("kill runs");
        assert!(status.success());
    }
}

/// Says which name servers the pool of a rig has, and its threshold.
fn follow(rig: &Rig, threshold: u32, addresses: &[String]) {
    let file = rig.workspace.path().join("zonewright.toml");
    let settings = fs::read_to_string(&file).expect("the settings");
    let kept: Vec<&str> = settings.lines().filter(|line| !line.starts_with("threshold_percentage")).collect();
    let mut settings = kept.join("\n") + "\n";
    if !settings.contains("[pool.demo]") {
        let servers: String = addresses
            .iter()
            .map(|address| format!("[[pool.demo.nameserver]]\nserver = \"{address}\"\nnotify = true\n\n"))
            .collect();
        settings = settings.replacen("[[zone]]\n", &format!("{servers}[[zone]]\n"), 1);
        let target = "[[pool.demo.target]]\n";
        settings = settings.replacen(target, &format!("[pool.demo]\n{POLLING}{target}"), 1);
    }
    let pool = format!("[pool.demo]\nthreshold_percentage = {threshold}\n");
    fs::write(&file, settings.replacen("[pool.demo]\n", &pool, 1)).expect("the settings");
}

/// A plan for one of the hosts that have changes: the first, the second and so on.
fn plan_of(rig: &Rig, number: usize) -> Planned {
    let hosts: std::collections::BTreeSet<u64> = rig.plan().changes().iter().filter_map(|edit| edit.host).collect();
    let host = hosts.into_iter().nth(number).expect("the demo has changes for hosts").to_string();
    plan_in(rig.workspace.path(), &["--host", &host])
}

/// The statuses that an apply says of its RRsets, with how many have each.
fn statuses(applied: &Applied) -> Value {
    let mut sums = serde_json::json!({"PENDING": 0, "ACTIVE": 0, "ERROR": 0, "DELETED": 0});
    for zone in applied.document["publication"]["zones"].as_array().expect("the pool has name servers") {
        for (status, sum) in sums.as_object_mut().expect("an object") {
            *sum = (sum.as_u64().expect("a number") + zone["rrsets"][status].as_u64().expect("a number")).into();
        }
    }
    sums
}

/// How many RRsets of an apply have one of these statuses.
fn count(applied: &Applied, wanted: &[&str]) -> u64 {
    let statuses = statuses(applied);
    wanted.iter().map(|status| statuses[status].as_u64().expect("a number")).sum()
}

/// Checks that all RRsets of an apply are served or gone as applied, or, where they are not, have this status.
fn assert_served(applied: &Applied, exit: i32, open: Option<&str>) {
    assert_eq!(applied.exit, Some(exit), "{}", applied.said());
    let done = count(applied, &["ACTIVE", "DELETED"]);
    match open {
        None => assert!(done > 0 && count(applied, &["PENDING", "ERROR"]) == 0, "{}", applied.said()),
        Some(status) => assert!(done == 0 && count(applied, &[status]) > 0, "{}", applied.said()),
    }
}

/// Runs `sync`; gives its exit code and what it printed.
fn sync(rig: &Rig) -> (Option<i32>, String) {
    let mut command = zonewright();
    command.args(["--color", "never", "--now", NOW, "-C"]).arg(rig.workspace.path()).arg("sync");
    let output = command.output().expect("the program runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// Runs `sync`, which is to end so and to say this first.
fn assert_sync(rig: &Rig, exit: i32, says: &str) {
    let (code, said) = sync(rig);
    assert!(code == Some(exit) && said.starts_with(says), "exit {code:?}\n{said}");
}

#[test]
fn an_apply_waits_for_as_many_name_servers_as_the_threshold_says() {
    let Some(followed) = Followed::start() else { return };
    let rig = &followed.rig;
    followed.follow(75);
    followed.signal("-STOP");
    assert_served(&rig.apply(&plan_of(rig, 0), &[]), 0, None);
    // All four must agree now, and one is away.
    followed.follow(100);
    assert_served(&rig.apply(&plan_of(rig, 0), &[]), 4, Some("ERROR"));
    assert_sync(rig, 4, "Not served everywhere: ");
    followed.signal("-CONT");
    assert_sync(rig, 0, "Served: ");
    assert_sync(rig, 0, "Nothing to do: ");
    // What a name server missed comes with a later serial, too.
    followed.signal("-STOP");
    let missed = rig.apply(&plan_of(rig, 0), &[]);
    assert_served(&missed, 4, Some("ERROR"));
    followed.signal("-CONT");
    assert_served(&rig.apply(&plan_of(rig, 0), &[]), 0, None);
    assert_sync(rig, 0, "Served: ");
    assert_sync(rig, 0, "Nothing to do: ");
}

#[test]
fn without_a_wait_sync_asks_later() {
    let Some(followed) = Followed::start() else { return };
    let rig = &followed.rig;
    followed.follow(100);
    assert_served(&rig.apply(&rig.plan(), &["--no-wait"]), 0, Some("PENDING"));
    assert_sync(rig, 0, "Served: ");
    assert_sync(rig, 0, "Nothing to do: ");
}

#[test]
fn a_name_server_that_sets_its_serial_back_does_not_follow() {
    let Some(rig) = Rig::unsigned_demo(Kind::Bind) else { return };
    // Past all serials of the primary; it says so of every zone.
    let serial = Arc::new(AtomicU32::new(2_026_999_999));
    let shown = Arc::clone(&serial);
    follow(&rig, 100, &[double(move || shown.load(Ordering::SeqCst))]);
    assert_served(&rig.apply(&plan_of(&rig, 0), &[]), 0, None);
    serial.fetch_sub(1, Ordering::SeqCst);
    let applied = rig.apply(&plan_of(&rig, 0), &[]);
    assert_served(&applied, 4, Some("ERROR"));
    let zones = applied.document["publication"]["zones"].as_array().expect("zones");
    assert!(zones.iter().any(|zone| zone["servers"][0]["fault"] == "serial-set-back"), "{}", applied.said());
    assert_sync(&rig, 4, "Not served everywhere: ");
    serial.fetch_add(1, Ordering::SeqCst);
    assert_sync(&rig, 0, "Served: ");
}

#[test]
fn another_apply_goes_ahead_while_one_waits() {
    let Some(rig) = Rig::unsigned_demo(Kind::Bind) else { return };
    let (asked, waiting) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    // It answers nothing until the second apply is over.
    let gate = Mutex::new(gate);
    let held_back = move || {
        let _ = asked.send(());
        // Once the other end is gone nothing is held back.
        let _ = gate.lock().expect("no panic").recv();
        2_026_999_999
    };
    follow(&rig, 100, &[double(held_back)]);
    edit(rig.workspace.path(), "poll_timeout = \"1s\"", "poll_timeout = \"60s\"");
    let (first, second) = (plan_of(&rig, 0), plan_of(&rig, 1));
    let running =
        apply_command(rig.workspace.path(), &first.file, &[]).stdout(Stdio::piped()).spawn().expect("it runs");
    waiting.recv().expect("the first apply asks");
    assert_served(&rig.apply(&second, &["--no-wait"]), 0, Some("PENDING"));
    drop(go_on);
    let first = Applied::new(running.wait_with_output().expect("it ends"));
    assert_served(&first, 0, None);
    assert_sync(&rig, 0, "Served: ");
    assert_sync(&rig, 0, "Nothing to do: ");
}

#[test]
fn a_name_server_with_the_serial_and_other_records_does_not_follow() {
    let Some(rig) = Rig::unsigned_demo(Kind::Bind) else { return };
    // A primary by itself, which transfers nothing from the other one.
    let Some(stray) = Rig::unsigned_demo(Kind::Bind) else { return };
    follow(&rig, 100, &[stray.server.address()]);
    edit(rig.workspace.path(), "poll_max_retries = 6\n", "poll_max_retries = 1\nverify = \"records\"\n");
    // Its serials are past those that the target has after the apply.
    for zone in &stray.zones {
        (0..5).for_each(|number| stray.nsupdate(zone, &format!("update add x{number}.{zone} 60 TXT x")));
    }
    let applied = rig.apply(&plan_of(&rig, 0), &[]);
    assert_served(&applied, 4, Some("ERROR"));
    let publication = &applied.document["publication"];
    assert_eq!(publication["zones"][0]["servers"][0]["fault"], "records-differ", "{}", applied.said());
    let differing = publication["differing"].as_array().expect("RRsets");
    assert_eq!(differing.len() as u64, count(&applied, &["ERROR"]), "{}", applied.said());
    assert_sync(&rig, 4, "Not served everywhere: ");
    // It gets the records, and follows.
    stray.apply(&plan_of(&stray, 0), &[]).assert_all(0, "applied");
    assert_sync(&rig, 0, "Served: ");
    assert_sync(&rig, 0, "Nothing to do: ");
}

/// A server that answers every question with an SOA of this serial; gives its address.
fn double(serial: impl Fn() -> u32 + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("its port").to_string();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            // NOTIFY needs no answer.
            if buffer[2] & 0x78 != 0 {
                continue;
            }
            let mut answer = buffer[..length].to_vec();
            answer[2..4].copy_from_slice(&[0x84, 0]);
            answer[7] = 1;
            // The name of the question, SOA, IN, a TTL, and two root names before the numbers.
            answer.extend([0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22, 0, 0]);
            answer.extend(serial().to_be_bytes());
            answer.extend([0; 16]);
            socket.send_to(&answer, from).expect("an answer");
        }
    });
    address
}
