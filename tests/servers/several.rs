//! Several addresses in one target, and zones in several targets: what is dead or silent costs no more than itself.

use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::client::transfer;
use crate::server::{Key, Kind, Server};
use crate::workspace::{demo, demo_zones, document, edit, plan, reading_from, stderr, zonewright};

/// A port that refuses connections for as long as this lives: the near end of a connection, so that no other process
/// gets it.
struct DeadPort {
    /// The connection.
    near: TcpStream,
    /// Its far end.
    _far: TcpListener,
}

impl DeadPort {
    /// Takes one.
    fn take() -> DeadPort {
        let far = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let near = TcpStream::connect(address_of(&far)).expect("the other end listens");
        DeadPort { near, _far: far }
    }

    /// `127.0.0.1:PORT`.
    fn address(&self) -> String {
        self.near.local_addr().expect("an address").to_string()
    }
}

/// The address of a listener.
fn address_of(listener: &TcpListener) -> SocketAddr {
    listener.local_addr().expect("an address")
}

#[test]
fn where_nothing_listens_there_is_no_connection() {
    let dead = DeadPort::take();
    let error = transfer(&dead.address(), None, "example.net").expect_err("no server is there");
    assert_eq!(error.code.as_str(), "connect-failed");
    assert_eq!(error.message, "the server refuses connections");
    assert_eq!(error.place, format!("{} zone example.net.", dead.address()));
}

#[test]
fn a_dead_address_is_passed_over_for_the_next() {
    let key = Key::new("key");
    let Some(bind) = Server::start(Kind::Bind, &demo_zones(&key)) else { return };
    let dead = DeadPort::take();
    let output = plan(reading_from(&[dead.address(), bind.address()], &key).path(), zonewright());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(document(&output)["changes"], document(&plan(&demo(), zonewright()))["changes"]);
}

#[test]
fn of_dead_addresses_the_message_names_all() {
    let (first, second) = (DeadPort::take(), DeadPort::take());
    let output = plan(reading_from(&[first.address(), second.address()], &Key::new("key")).path(), zonewright());
    assert_eq!(output.status.code(), Some(1));
    let stderr = stderr(&output);
    let refuses = "the server refuses connections";
    let start =
        format!("{}: error[connect-failed]: {refuses}; then {}: {refuses}; ", first.address(), second.address());
    let line = stderr.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{stderr}"));
    assert!(line.contains(" zones could not be read: ") && line.contains("example.net."), "{line}");
    // One error and one hint, however many zones.
    assert_eq!(stderr.matches("connect-failed").count(), 1, "{stderr}");
    assert_eq!(stderr.matches("no firewall blocks TCP").count(), 1, "{stderr}");
}

#[test]
fn a_silent_server_blocks_the_hosts_of_its_zone_alone() {
    let key = Key::new("key");
    let Some(bind) = Server::start(Kind::Bind, &demo_zones(&key)) else { return };
    // The system takes its connections; they never get an answer.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let workspace = reading_from(&[bind.address()], &key);
    let zone = "[[zone]]\nname = \"storage.example.net\"\npool = ";
    edit(workspace.path(), &format!("{zone}\"demo\""), &format!("{zone}\"silent\""));
    let target = format!("server = \"{}\"\ntimeout = \"1s\"\n\n", address_of(&silent));
    let pool = "[[pool.silent.target]]\ntype = \"rfc2136\"\n".to_owned() + &target;
    edit(workspace.path(), "[[pool.demo.target]]\n", &(pool + "[[pool.demo.target]]\n"));
    let output = plan(workspace.path(), zonewright());
    let line = format!(
        "{} zone storage.example.net.: error[timeout]: the server does not answer in time",
        address_of(&silent)
    );
    assert!(stderr(&output).contains(&line), "{}", stderr(&output));
    crate::demo::assert_only_storage_is_unknown(&output);
}
