//! What real servers answer to the question for the serials of many zones, and that they hear of changes.

use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use zonewright::diag::Files;
use zonewright::dns::{Serial, ZoneName};
use zonewright::inventory::config::toml;
use zonewright::inventory::node::SourceText;
use zonewright::provider::{self, ProviderContext};
use zonewright::target::{NameServer, Patience, SerialAnswer};

use crate::client::{Client, zone_name};
use crate::rig::Rig;
use crate::server::{Key, Kind, Server, ServerConfig};

on_every_kind! {
    each_zone_is_answered_with_its_serial
    signed_questions_are_answered
}

/// How long an answer on loopback is waited for: it never takes so long, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// A name server with these settings.
fn name_server(client: &Client, address: &str) -> Box<dyn NameServer> {
    let text = format!("server = \"{address}\"\nof = \"main\"\nnotify = true\n{}", client.key_setting());
    let source = SourceText { file: Files::default().add("zonewright.toml"), text };
    let settings = toml::parse(&source).root;
    assert_eq!(provider::check_name_server(&settings, &source).error_count(), 0);
    assert_eq!(provider::name_server_place(&settings, &source), address);
    let now = "2026-11-20T03:00:00Z".parse().expect("a time");
    let context =
        ProviderContext { workspace: client.workspace(), source: &source, now, cache: None, has_marks: false };
    provider::open_name_server(&settings, &context).expect("the secret is there")
}

/// A zone with this serial.
fn zone(number: u32) -> (String, String) {
    let text =
        format!("@ 60 IN SOA ns hostmaster {} 3600 600 86400 60\n@ 60 NS ns\nns 60 A 192.0.2.1\n", 1000 + number);
    (format!("z{number}.example.net"), text)
}

/// Asks for zones by their names.
fn ask(server: &dyn NameServer, zones: &[&str], patience: Duration) -> Vec<SerialAnswer> {
    let zones: Vec<ZoneName> = zones.iter().map(|zone| zone_name(zone)).collect();
    server.ask(&zones.iter().collect::<Vec<_>>(), Patience::of(patience))
}

fn each_zone_is_answered_with_its_serial(kind: Kind) {
    let zones: Vec<(String, String)> = (0..200).map(zone).collect();
    let config = ServerConfig { zones: zones.clone(), ..ServerConfig::default() };
    let Some(server) = Server::start(kind, &config) else { return };
    let polled = name_server(&Client::new(None), &server.address());
    let mut names: Vec<&str> = zones.iter().map(|(name, _)| name.as_str()).collect();
    names.push("other.example.org");
    let answers = ask(&*polled, &names, PATIENCE);
    let expected: Vec<SerialAnswer> = (0..200).map(|number| SerialAnswer::Serves(Serial(1000 + number))).collect();
    assert_eq!((&answers[..200], answers[200]), (&expected[..], SerialAnswer::NoZone));
}

fn signed_questions_are_answered(kind: Kind) {
    let key = Key::new("follower");
    let config = ServerConfig { zones: vec![zone(7)], keys: vec![key.clone()], is_static: false };
    let Some(server) = Server::start(kind, &config) else { return };
    let polled = name_server(&Client::new(Some(&key)), &server.address());
    let answers = ask(&*polled, &["z7.example.net"], PATIENCE);
    assert_eq!(answers, [SerialAnswer::Serves(Serial(1007))]);
    // An answer that does not prove who sent it is none.
    let stranger = Key { secret: "YW5vdGhlciBzZWNyZXQ=".to_owned(), ..key };
    let polled = name_server(&Client::new(Some(&stranger)), &server.address());
    assert_eq!(ask(&*polled, &["z7.example.net"], Duration::from_millis(500)), [SerialAnswer::Silent]);
}

#[test]
fn a_server_that_is_down_costs_one_deadline_for_all_zones() {
    // It takes all questions and answers none.
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let polled = name_server(&Client::new(None), &silent.local_addr().expect("its port").to_string());
    let zones: Vec<String> = (0..1000).map(|number| zone(number).0).collect();
    let names: Vec<&str> = zones.iter().map(String::as_str).collect();
    // With a deadline for each zone this takes an hour.
    let answers = ask(&*polled, &names, Duration::from_secs(4));
    assert!(answers.iter().all(|answer| *answer == SerialAnswer::Silent));
    drop(silent);
    assert_eq!(
        ask(&*polled, &["a.example.net"], Duration::from_secs(60)),
        [SerialAnswer::Silent],
        "nothing listens there"
    );
}

/// A server of one answer over UDP for each question, made by `act`; gives its address.
fn double(act: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("its port").to_string();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            for answer in act(&buffer[..length]) {
                socket.send_to(&answer, from).expect("an answer");
            }
        }
    });
    address
}

/// A question as an answer with these flags, without records.
fn turned(question: &[u8], flags: [u8; 2]) -> Vec<u8> {
    [&question[..2], &flags[..], &question[4..]].concat()
}

#[test]
fn answers_that_say_nothing_are_not_taken_for_one() {
    for (flags, expected) in [
        ([0x84, 5], SerialAnswer::NoZone),
        ([0x84, 9], SerialAnswer::NoZone),
        // A referral, or an answer out of a cache.
        ([0x80, 0], SerialAnswer::NoZone),
        ([0x84, 2], SerialAnswer::Silent),
    ] {
        let polled = name_server(&Client::new(None), &double(move |question| vec![turned(question, flags)]));
        assert_eq!(ask(&*polled, &["a.example.net"], PATIENCE), [expected], "{flags:?}");
    }
    // Answers to other questions, cut ones and questions are ignored; the right one that follows is taken.
    let noise = |question: &[u8]| {
        let right = turned(question, [0x84, 5]);
        let other_id = [&[!right[0], right[1]], &right[2..]].concat();
        let other_name = [&right[..13], b"q", &right[14..]].concat();
        let noise = turned(&other_name, [0x84, 0]);
        vec![vec![1, 2, 3], other_id, noise, turned(question, [0x04, 0]), right]
    };
    let polled = name_server(&Client::new(None), &double(noise));
    assert_eq!(ask(&*polled, &["a.example.net"], PATIENCE), [SerialAnswer::NoZone]);
}

#[test]
fn an_answer_that_was_cut_short_is_asked_for_over_tcp() {
    let zones = vec![zone(3)];
    let Some(server) = Server::start(Kind::Bind, &ServerConfig { zones, ..ServerConfig::default() }) else { return };
    // The same port over UDP is a double that cuts everything; over TCP it is the server.
    let port = |address: &str| address.rsplit(':').next().expect("a port").parse::<u16>().expect("a number");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = tcp.local_addr().expect("its port").port();
    let udp = UdpSocket::bind(("127.0.0.1", own)).expect("the same port");
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = udp.recv_from(&mut buffer) {
            udp.send_to(&turned(&buffer[..length], [0x86, 0]), from).expect("an answer");
        }
    });
    let upstream = port(&server.address());
    thread::spawn(move || {
        for stream in tcp.incoming() {
            let (mut near, mut far) =
                (stream.expect("a client"), std::net::TcpStream::connect(("127.0.0.1", upstream)).expect("the server"));
            let (mut near_too, mut far_too) = (near.try_clone().expect("a handle"), far.try_clone().expect("a handle"));
            thread::spawn(move || std::io::copy(&mut near, &mut far));
            thread::spawn(move || std::io::copy(&mut far_too, &mut near_too));
        }
    });
    let polled = name_server(&Client::new(None), &format!("127.0.0.1:{own}"));
    let answers = ask(&*polled, &["z3.example.net", "other.example.org"], PATIENCE);
    assert_eq!(answers, [SerialAnswer::Serves(Serial(1003)), SerialAnswer::NoZone]);
}

#[test]
fn a_change_is_told_as_the_standard_says() {
    let (send, received) = mpsc::channel();
    let address = double(move |message| {
        send.send(message.to_vec()).expect("the test waits");
        vec![]
    });
    name_server(&Client::new(None), &address).notify(&[&zone_name("a.example.net")]);
    let message = received.recv_timeout(PATIENCE).expect("a message");
    // RFC 1996 section 3: opcode 4, AA, one question for the SOA.
    assert_eq!(message[2..4], [0x24, 0]);
    assert_eq!(message[4..12], [0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(&message[12..], b"\x01a\x07example\x03net\0\0\x06\0\x01");
}

#[test]
fn an_apply_tells_the_name_servers_which_zones_changed() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let (send, received) = mpsc::channel();
    let address = double(move |message| {
        send.send(message.to_vec()).expect("the test waits");
        vec![]
    });
    let (with, without) = (format!("server = \"{address}\"\nnotify = true\n"), "server = \"127.0.0.1:9\"\n");
    let file = rig.workspace.path().join("zonewright.toml");
    let settings = std::fs::read_to_string(&file).expect("the settings");
    let tables = format!("[[pool.demo.nameserver]]\n{with}\n[[pool.demo.nameserver]]\n{without}\n[[zone]]\n");
    std::fs::write(&file, settings.replacen("[[zone]]\n", &tables, 1)).expect("the settings");
    let plan = rig.plan();
    let mut changed: Vec<String> = plan.changes().iter().map(|change| change.zone.clone()).collect();
    changed.sort();
    changed.dedup();
    rig.apply(&plan, &["--no-wait"]).assert_all(0, "applied");
    let mut told = Vec::new();
    while told.len() < changed.len() {
        let message = received.recv_timeout(PATIENCE).expect("a message for each zone");
        let end = message.len() - 4;
        told.push(zonewright::dns::Name::from_wire(&message[12..end]).expect("a name").to_string());
    }
    told.sort();
    assert_eq!(told, changed);
    assert!(received.try_recv().is_err(), "one for each zone");
}

#[test]
fn a_copy_that_was_not_written_is_told_to_no_name_server() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let receiver = || {
        let (send, received) = mpsc::channel();
        let address = double(move |message| {
            send.send(message.to_vec()).expect("the test waits");
            vec![]
        });
        (address, received)
    };
    let ((of_bind, told), (of_dead, untold)) = (receiver(), receiver());
    // Nothing listens at the second target, so that its copy stays as it is.
    let file = rig.workspace.path().join("zonewright.toml");
    let settings = std::fs::read_to_string(&file).expect("the settings");
    let head = "[[pool.demo.target]]\n";
    let named = settings.replacen(head, &format!("[pool.demo]\nthreshold_percentage = 50\n{head}name = \"bind\"\n"), 1);
    let server = |of: &str, address: &str| {
        format!("[[pool.demo.nameserver]]\nserver = \"{address}\"\nof = \"{of}\"\nnotify = true\n")
    };
    let dead = format!("{head}name = \"dead\"\ntype = \"rfc2136\"\nserver = \"127.0.0.1:9\"\n");
    let tables = [dead, server("bind", &of_bind), server("dead", &of_dead), "[[zone]]\n".to_owned()].concat();
    std::fs::write(&file, named.replacen("[[zone]]\n", &tables, 1)).expect("the settings");
    let plan = rig.plan();
    rig.apply(&plan, &["--no-wait"]).assert_all(0, "applied");
    told.recv_timeout(PATIENCE).expect("a message");
    assert!(untold.try_recv().is_err(), "the copy at the other target is as it was");
}
