//! `zonewright serve` as others see it: `dig`, `kdig`, `nsupdate` and `knsupdate`, an independent decoder, and
//! zonewright.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::client::{Client, transfer};
use crate::rig::{NOW, Rig, apply_in, plan_in, text_of};
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{demo, stderr, zonewright};

/// A zone with a bit of everything, and an RRset that no datagram of 512 octets holds.
fn zone() -> String {
    let many: String = (0..60).map(|host| format!("many AAAA 2001:db8::{host:x}\n")).collect();
    format!(
        "$TTL 600\n@ SOA ns hostmaster 7 7200 900 1209600 300\n@ NS ns\nns A 192.0.2.53\na A 192.0.2.1\nwww CNAME a\n\
         *.w TXT \"wild\"\nodd TYPE65280 \\# 3 00ff01\n{many}"
    )
}

/// A server of that zone.
fn start(key: Option<&Key>) -> Server {
    let zones = vec![("example.net".to_owned(), zone())];
    let config = ServerConfig { keys: key.cloned().into_iter().collect(), zones, ..ServerConfig::default() };
    let server = Server::start(Kind::Serve, &config).expect("it needs nothing");
    let Key { name, algorithm, secret } = key.cloned().unwrap_or_else(Key::powerless);
    let text = format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
    fs::write(server.folder().join("key"), text).expect("a file");
    server
}

/// A program of others; `None` where it is not installed, which is said aloud.
fn other(program: &str) -> Option<Command> {
    let path = PathBuf::from("/usr/bin").join(program);
    crate::have(&path).then(|| Command::new(path))
}

/// Runs `dig` or `kdig` at a server; gives what it prints.
fn dig(program: &str, server: &Server, args: &[&str]) -> Option<String> {
    let port = server.address().replace("127.0.0.1:", "");
    let output = other(program)?.args(["@127.0.0.1", "-p", &port]).args(args).output().expect("it runs");
    Some(text_of(&output.stdout))
}

/// Runs `nsupdate` or `knsupdate` with these lines.
fn update(program: &str, server: &Server, args: &[&str], lines: &str) -> Option<Output> {
    let mut command = other(program)?;
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let text = format!("server {}\nzone example.net.\n{lines}\nsend\n", server.address().replace(':', " "));
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    Some(child.wait_with_output().expect("it ends"))
}

#[test]
fn dig_and_kdig_are_answered() {
    let server = start(None);
    for program in ["dig", "kdig"] {
        let ask = |args: &[&str]| dig(program, &server, args);
        let Some(soa) = ask(&["+noall", "+answer", "+norec", "example.net", "SOA"]) else { return };
        assert!(soa.contains("ns.example.net. hostmaster.example.net. 7 7200 900 1209600 300"), "{program}: {soa}");
        let alias = ask(&["+short", "+tcp", "WWW.Example.net", "A"]).expect("it is there");
        assert_eq!(alias, "a.example.net.\n192.0.2.1\n", "{program}");
        assert_eq!(ask(&["+short", "x.w.example.net", "TXT"]).as_deref(), Some("\"wild\"\n"));
        assert_eq!(ask(&["+short", "odd.example.net", "TYPE65280"]).as_deref(), Some("\\# 3 00FF01\n"));
        let none = ask(&["b.example.net", "A"]).expect("it is there");
        assert!(none.contains("NXDOMAIN"), "{none}");
        let elsewhere = ask(&["example.org", "A"]).expect("it is there");
        assert!(elsewhere.contains("REFUSED"), "{elsewhere}");
        // Too long for a datagram without EDNS, and with it: asked again by TCP, unless told not to.
        let many = ask(&["+short", "many.example.net", "AAAA"]).expect("it is there");
        assert_eq!(many.lines().filter(|line| line.starts_with("2001:")).count(), 60, "{program}");
        for edns in ["+noedns", "+bufsize=1232"] {
            let cut = ask(&["+ignore", edns, "many.example.net", "AAAA"]).expect("it is there");
            assert!(cut.contains(" tc") && !cut.contains("2001:"), "{program}: {cut}");
        }
        let whole = ask(&["+noall", "+answer", "example.net", "AXFR"]).expect("it is there");
        assert_eq!(whole.lines().filter(|line| line.contains("\tIN\t")).count(), 68, "{program}: {whole}");
    }
    let version = dig("dig", &server, &["+edns=1", "+noednsneg", "example.net", "SOA"]).expect("it was there");
    assert!(version.contains("BADVERS"), "{version}");
    let version = dig("dig", &server, &["+short", "version.bind", "TXT", "CH"]).expect("it was there");
    assert!(version.starts_with("\"zonewright "), "{version}");
    let notify = dig("dig", &server, &["+opcode=notify", "example.net", "SOA"]).expect("it was there");
    assert!(notify.contains("NOTIMP"), "{notify}");
}

#[test]
fn nsupdate_and_knsupdate_change_zones() {
    for (program, tcp) in [("nsupdate", "-v"), ("knsupdate", "-v")] {
        let server = start(None);
        let lines = "prereq yxdomain a.example.net.\nprereq nxrrset b.example.net. A\n\
                     update add b.example.net. 60 A 192.0.2.2\nupdate delete a.example.net. A";
        for args in [&[][..], &[tcp]] {
            let Some(output) = update(program, &server, args, lines) else { return };
            let said = format!("{}{}", text_of(&output.stdout), text_of(&output.stderr));
            // By the second update what it needs is gone.
            let is_as_expected = if args.is_empty() { output.status.success() } else { said.contains("NXDOMAIN") };
            assert!(is_as_expected, "{program}: {said}");
        }
        let zone = transfer(&server.address(), None, "example.net").expect("a zone");
        assert_eq!(zone.contents.serial().into_int(), 8);
        let elsewhere =
            update(program, &server, &[], "update add b.example.org. 60 A 192.0.2.2").expect("it was there");
        let said = format!("{}{}", text_of(&elsewhere.stdout), text_of(&elsewhere.stderr));
        assert!(said.contains("NOTZONE"), "{program}: {said}");
    }
}

#[test]
fn with_a_key_nothing_else_changes_or_transfers_zones() {
    let key = Key::new("zonewright");
    let server = start(Some(&key));
    let address = server.address();
    let lines = "update add b.example.net. 60 A 192.0.2.2";
    let file = server.folder().join("key").display().to_string();
    for program in ["nsupdate", "knsupdate"] {
        let Some(unsigned) = update(program, &server, &[], lines) else { return };
        let said = format!("{}{}", text_of(&unsigned.stdout), text_of(&unsigned.stderr));
        assert!(said.contains("REFUSED"), "{program}: {said}");
    }
    let code = |key: Option<&Key>| {
        transfer(&address, key, "example.net").map(|_| "").unwrap_or_else(|error| error.code.as_str())
    };
    assert_eq!(code(None), "transfer-refused");
    assert_eq!(code(Some(&Key::powerless())), "tsig-bad-key");
    let wrong = Key { secret: "d3Jvbmcgc2VjcmV0IG9mIHNvbWUgbGVuZ3RoIG9ubHk=".to_owned(), ..key.clone() };
    assert_eq!(code(Some(&wrong)), "tsig-bad-sig");
    let other = Key::with_algorithm("zonewright", "hmac-sha512");
    assert_eq!(code(Some(&other)), "tsig-bad-key");
    let serial = || transfer(&address, Some(&key), "example.net").expect("a zone").contents.serial().into_int();
    assert_eq!(serial(), 7);
    let signed = update("nsupdate", &server, &["-k", &file], lines).expect("it was there");
    assert!(signed.status.success(), "{}", text_of(&signed.stderr));
    assert_eq!(serial(), 8);
    let text = format!("{}:{}:{}", key.algorithm, key.name, key.secret);
    for (program, by) in [("dig", ["-k", &file]), ("kdig", ["-y", &text])] {
        let Some(whole) = dig(program, &server, &[by[0], by[1], "example.net", "AXFR"]) else { return };
        // Both check the signature of each message, and warn of one that is not right.
        assert!(whole.contains("192.0.2.2") && !whole.to_lowercase().contains("warning"), "{program}: {whole}");
    }
}

#[test]
fn an_answer_to_a_wrong_clock_is_signed_so_that_others_verify_it() {
    let faketime = "/usr/bin/faketime";
    let key = Key::new("zonewright");
    let server = start(Some(&key));
    if !crate::have(Path::new(faketime)) || !crate::have(Path::new("/usr/bin/kdig")) {
        return;
    }
    let port = server.address().replace("127.0.0.1:", "");
    let Key { name, algorithm, secret } = &key;
    let said = |secret: &str| {
        let key = format!("{algorithm}:{name}:{secret}");
        let mut command = Command::new(faketime);
        command.args(["-f", "-1000", "/usr/bin/kdig", "@127.0.0.1", "-p", &port, "example.net", "SOA", "-y", &key]);
        let output = command.output().expect("it runs");
        format!("{}{}", text_of(&output.stdout), text_of(&output.stderr))
    };
    let right = said(secret);
    assert!(right.contains("status: BADTIME") && right.contains("TSIG out of time window"), "{right}");
    let wrong = said("d3Jvbmcgc2VjcmV0IG9mIHNvbWUgbGVuZ3RoIG9ubHk=");
    assert!(wrong.contains("status: BADSIG"), "{wrong}");
}

#[test]
fn an_answer_to_a_part_of_a_signature_is_signed_so_that_others_verify_it() {
    let key = Key::new("zonewright");
    let server = start(Some(&key));
    let said = |bits: u16| {
        let text = format!("{}-{bits}:{}:{}", key.algorithm, key.name, key.secret);
        dig("dig", &server, &["+qr", "-y", &text, "example.net", "SOA"])
    };
    let Some(half) = said(128) else { return };
    let answer = half.rsplit("Got answer:").next().expect("an answer").to_owned();
    assert!(answer.contains("status: NOTAUTH") && answer.contains(" BADTRUNC"), "{half}");
    // It would say so of a signature that is wrong.
    assert!(half.contains("tsig indicates error") && !half.contains("verify failure"), "{half}");
}

#[test]
fn messages_of_one_connection_are_answered_in_order() {
    let server = start(None);
    let mut stream = TcpStream::connect(server.address()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a deadline");
    let question = |id: u16| {
        let mut octets = [&id.to_be_bytes()[..], &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
        octets.extend_from_slice(b"\x01a\x07example\x03net\0\0\x01\0\x01");
        [&(octets.len() as u16).to_be_bytes()[..], &octets].concat()
    };
    let all: Vec<u8> = (0..500).flat_map(question).collect();
    stream.write_all(&all).expect("it reads");
    for id in 0..500_u16 {
        let mut length = [0; 2];
        stream.read_exact(&mut length).expect("an answer");
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(answer[..2], id.to_be_bytes());
    }
}

#[test]
fn what_is_no_request_does_no_harm() {
    let server = start(None);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("a deadline");
    socket.connect(server.address()).expect("it listens");
    for octets in [&b""[..], b"x", &[0; 11], &[0xff; 40]] {
        socket.send(octets).expect("it is sent");
    }
    // Many questions, of which no datagram of 512 octets holds the answer.
    let name = [&[60; 61][..], &[60; 61], &[60; 61], &[60; 61], &[0, 0, 1, 0, 1]].concat();
    let many = [&[9, 9, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0][..], &name.repeat(10)].concat();
    socket.send(&many).expect("it is sent");
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).expect("an answer");
    assert_eq!(answer[..length], [9, 9, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    // A header that promises a question.
    socket.send(&[9, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]).expect("it is sent");
    let length = socket.recv(&mut answer).expect("an answer");
    assert_eq!(answer[..length], [9, 9, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let output =
            zonewright().args(["-C"]).arg(demo()).args(["serve", "--listen", address]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains(&format!("error: `{address}` is not a loopback address")),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_port_that_another_has_is_said_to_be_so() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("an address").to_string();
    let output = zonewright().args(["-C"]).arg(demo()).args(["serve", "--listen", &address]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains(&format!("error: cannot listen on `{address}`: address already in use")), "{said}");
    assert!(said.contains("another program has this port"), "{said}");
}

#[test]
fn a_zone_of_40_000_hosts_is_transferred_signed() {
    let hosts: String = (0..40_000).map(|host| format!("host-{host} AAAA 2001:db8::{host:x}\n")).collect();
    let text = format!("$TTL 600\n@ SOA ns hostmaster 7 7200 900 1209600 300\n@ NS ns\nns A 192.0.2.53\n{hosts}");
    let key = Key::new("zonewright");
    let config = ServerConfig {
        keys: vec![key.clone()],
        zones: vec![("example.net".to_owned(), text)],
        ..ServerConfig::default()
    };
    let server = Server::start(Kind::Serve, &config).expect("it needs nothing");
    let zone = Client::new(Some(&key)).read(&server.address(), "example.net", "300s").expect("a zone");
    assert_eq!(zone.contents.record_count(), 40_003);
}

#[test]
fn zonewright_makes_the_demo_true_on_it() {
    let Some(rig) = Rig::demo(Kind::Serve) else { return };
    rig.set_target("window = 8");
    let plan = rig.plan();
    assert!(!plan.changes().is_empty());
    rig.apply(&plan, &[]).assert_all(0, "applied");
    assert!(rig.plan().changes().is_empty());
}

/// `zonewright serve --try`, running.
struct Try {
    /// The process.
    child: Child,
    /// What is left of its output.
    output: BufReader<std::process::ChildStdout>,
    /// The folder of the copy.
    folder: TempDir,
}

impl Try {
    /// Starts it on the demo, with these further arguments.
    fn start(args: &[&str]) -> Try {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = zonewright();
        command.args(["-q", "--color", "never", "--now", NOW, "-C"]).arg(demo()).arg("serve").args(args);
        command.args(["--listen", "127.0.0.1:0", "--try"]).arg(folder.path().join("copy")).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with("Ctrl-C") {
            line.clear();
            assert!(output.read_line(&mut line).expect("UTF-8") > 0, "it ended");
        }
        Try { child, output, folder }
    }

    /// The copy.
    fn copy(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    /// Ends it as Ctrl-C does; gives the rest of what it said.
    fn end(mut self) -> String {
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        assert_eq!(self.child.wait().expect("a child").code(), Some(0));
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("UTF-8");
        rest
    }
}

impl Drop for Try {
    fn drop(&mut self) {
        // It may have ended; there is nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_copy_of_a_workspace_is_tried_on_it() {
    let served = Try::start(&[]);
    let copy = served.copy();
    assert!(!copy.join(".zonewright").exists());
    let plan = plan_in(&copy, &[]);
    apply_in(&copy, &plan.file, &[]).assert_all(0, "applied");
    assert!(plan_in(&copy, &[]).changes().is_empty());
    let again = zonewright().args(["-C"]).arg(demo()).args(["serve", "--try"]).arg(&copy).output().expect("it runs");
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("exists: nothing is copied over it"), "{}", stderr(&again));
    let said = served.end();
    assert!(said.contains("Nothing was saved"), "{said}");
    assert!(!said.contains(" 0 updates"), "{said}");
}

#[test]
fn faults_come_to_the_updates_that_they_are_ordered_for() {
    // What is not done is done by resending, what is done and unanswered is found out by the marker.
    let served = Try::start(&["--fault", "lost=1", "--fault", "lost-answer=3", "--fault", "servfail=5"]);
    let copy = served.copy();
    let plan = plan_in(&copy, &[]);
    apply_in(&copy, &plan.file, &[]).assert_all(0, "applied");
    assert!(plan_in(&copy, &[]).changes().is_empty());
    // NOERROR is no proof: it is read back.
    let served = Try::start(&["--fault", "ignored=1"]);
    let plan = plan_in(&served.copy(), &[]);
    let applied = apply_in(&served.copy(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert!(!applied.hosts("not-applied").is_empty(), "{}", applied.said());
}
