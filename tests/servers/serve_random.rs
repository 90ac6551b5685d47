//! `serve` compared with BIND: the same random updates get the same answers, and leave the same zones.
//!
//! `SERVE_UPDATES=20000 SERVE_SEED=7` in the environment sends more, and others. What BIND 9.18 does by a policy of its
//! own, and not by the RFC, is left out here:
//!
//! - It reads all records, and judges what is to be done, before it looks at any prerequisite; the RFC has prerequisites
//!   first (sections 3.2 to 3.4). So a message here has one fault at most: with several, the servers would report
//!   different ones.
//! - It refuses what leaves the apex with a name server of the zone without an address (REFUSED). So name servers here are
//!   outside the zone.
//! - It checks names of hosts, targets of MX, and the number of records of an RRset, where its settings do not say otherwise.
//! - It treats a record that comes again in another case as a change, and moves the serial. So what is added here is in lower
//!   case; prerequisites and what is deleted are in any.
//! - It has no zones of a class other than IN, and answers NOTAUTH, or in newer versions (9.18.49) NOTIMP. So
//!   the zone is of class IN here.
//! - It keeps types that a signer makes (RRSIG, NSEC, DNSKEY and the like) under rules of their own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use zonewright::provider::parse_text;
use zonewright::serve::{Service, ServiceOptions, listen};

use crate::client::{lines, transfer, zone_name};
use crate::server::{Kind, Server, ServerConfig};

/// The zone at the beginning.
const ZONE: &str = "\
$TTL 600
@ 3600 SOA ns hostmaster 7 7200 900 1209600 300
@ NS ns1.example.org.
@ NS ns2.example.org.
ns A 192.0.2.53
ns2 A 192.0.2.54
a A 192.0.2.1
b TXT \"x\"
c CNAME a
sub NS ns.sub
ns.sub A 192.0.2.55
";

/// Names, relative to the zone; those with a final dot are outside it or are the apex.
const NAMES: [&str; 18] = [
    "example.net.",
    "a",
    "A",
    "b",
    "c",
    "d",
    "x.a",
    "y.x.a",
    "*",
    "*.w",
    "w",
    "sub",
    "ns.sub",
    "ns",
    "e.f.g",
    "Example.NET.",
    "example.org.",
    "net.",
];

/// How many of them are names of the zone.
const INSIDE: usize = NAMES.len() - 2;

/// Types, most of them more than once, so that clashes are frequent.
const TYPES: [u16; 19] = [1, 1, 28, 16, 16, 5, 5, 5, 2, 2, 15, 12, 33, 6, 6, 65_280, 39, 13, 257];

/// The types whose RDATA are names, or end in one.
const POINTING: [u16; 6] = [2, 5, 12, 15, 33, 39];

/// Numbers that look random, the same for the same seed (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    /// One below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// One of these.
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Whether one of so many.
    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// A name in wire format.
fn wire_name(name: &str) -> Vec<u8> {
    let whole = if name.ends_with('.') { name.to_owned() } else { format!("{name}.example.net.") };
    let mut octets = Vec::new();
    for label in whole.trim_end_matches('.').split('.') {
        octets.push(label.len() as u8);
        octets.extend_from_slice(label.as_bytes());
    }
    octets.push(0);
    octets
}

/// RDATA of a type, out of few, so that the same come again.
fn rdata(numbers: &mut Numbers, rtype: u16) -> Vec<u8> {
    let last = 1 + numbers.below(3) as u8;
    let target = |numbers: &mut Numbers| wire_name(numbers.of(&["a", "ns", "ns2", "B", "host.example.org."]));
    match rtype {
        1 => vec![192, 0, 2, last],
        28 => [&[0x20, 1, 0x0d, 0xb8][..], &[0; 11], &[last]].concat(),
        16 => vec![1, b'a' + last],
        2 => wire_name(numbers.of(&["ns1.example.org.", "NS2.example.org.", "ns3.example.org."])),
        5 | 12 | 39 => target(numbers),
        15 => [vec![0, last], target(numbers)].concat(),
        33 => [vec![0, 0, 0, 0, 0, last], target(numbers)].concat(),
        6 => {
            // Before, at and behind the serial that the zone may have.
            let serial = 5 + numbers.below(2_000) as u32;
            let fields = [serial, 7200, 900, 1_209_600, 300].map(u32::to_be_bytes).concat();
            [wire_name("ns"), wire_name("hostmaster"), fields].concat()
        }
        13 => vec![1, b'x', 1, b'a' + last],
        257 => [&[0, 5][..], b"issue", &[b'a' + last]].concat(),
        _ => vec![0, 255, last],
    }
}

/// A record of an update: owner, type, class, TTL, RDATA.
type Entry = (&'static str, u16, u16, u32, Vec<u8>);

/// Writes a record as a person reads it.
fn shown((owner, rtype, class, ttl, rdata): &Entry) -> String {
    format!("{owner} TTL {ttl} class {class} type {rtype} {rdata:02x?}")
}

/// A prerequisite of any form.
fn prerequisite(numbers: &mut Numbers) -> Entry {
    let (name, rtype) = (numbers.of(&NAMES[..INSIDE]), numbers.of(&TYPES));
    match numbers.below(5) {
        0 => (name, 255, 255, 0, Vec::new()),
        1 => (name, 255, 254, 0, Vec::new()),
        2 => (name, rtype, 255, 0, Vec::new()),
        3 => (name, rtype, 254, 0, Vec::new()),
        _ => (name, rtype, 1, 0, rdata(numbers, rtype)),
    }
}

/// An instruction of any form.
fn instruction(numbers: &mut Numbers) -> Entry {
    let (name, rtype) = (numbers.of(&NAMES[..INSIDE]), numbers.of(&TYPES));
    let ttl = numbers.of(&[0, 60, 60, 600, 600, 3600, 0x7fff_ffff]);
    match numbers.below(10) {
        0..=5 => {
            let rdata = rdata(numbers, rtype);
            let rdata = if POINTING.contains(&rtype) { rdata.to_ascii_lowercase() } else { rdata };
            (lower(name), rtype, 1, ttl, rdata)
        }
        6 => (name, rtype, 255, 0, Vec::new()),
        7 => (name, 255, 255, 0, Vec::new()),
        _ => (name, rtype, 254, 0, rdata(numbers, rtype)),
    }
}

/// Those of the names that are written in two ways, in lower case.
fn lower(name: &'static str) -> &'static str {
    NAMES[..INSIDE].iter().find(|known| **known == name.to_ascii_lowercase()).unwrap_or(&name)
}

/// Puts a fault into a prerequisite: outside the zone, a TTL, RDATA where none belong, a class that means nothing.
fn spoil_prerequisite(numbers: &mut Numbers, entry: &mut Entry) {
    match numbers.below(4) {
        0 => entry.0 = numbers.of(&NAMES[INSIDE..]),
        1 => entry.3 = 1,
        2 => *entry = (entry.0, 1, numbers.of(&[254, 255]), 0, vec![192, 0, 2, 1]),
        _ => entry.2 = 3,
    }
}

/// The same with an instruction, and types that no data are of.
fn spoil_instruction(numbers: &mut Numbers, entry: &mut Entry) {
    match numbers.below(6) {
        0 => entry.0 = numbers.of(&NAMES[INSIDE..]),
        1 => *entry = (entry.0, 1, 255, 1, Vec::new()),
        2 => *entry = (entry.0, 1, 255, 0, vec![192, 0, 2, 1]),
        3 => *entry = (entry.0, 1, 254, 1, vec![192, 0, 2, 1]),
        4 => *entry = (entry.0, numbers.of(&[250, 251, 252, 253, 254]), numbers.of(&[254, 255]), 0, Vec::new()),
        _ => *entry = (entry.0, 1, 3, 60, vec![192, 0, 2, 1]),
    }
}

/// An update.
struct Update {
    /// The message.
    octets: Vec<u8>,
    /// As a person reads it.
    text: String,
}

/// Makes an update; now and then one of another zone or type, or with a fault.
fn update(numbers: &mut Numbers) -> Update {
    let zone = if numbers.one_in(50) { numbers.of(&["example.org.", "a", "net."]) } else { "Example.net." };
    let kind = if numbers.one_in(50) { [0, 1, 0, 1] } else { [0, 6, 0, 1] };
    let prerequisites = if numbers.one_in(2) { 0 } else { 1 + numbers.below(3) };
    let mut prerequisites: Vec<Entry> = (0..prerequisites).map(|_| prerequisite(numbers)).collect();
    let mut instructions: Vec<Entry> = (0..numbers.below(6)).map(|_| instruction(numbers)).collect();
    let is_served = zone == "Example.net." && kind == [0, 6, 0, 1];
    if is_served && numbers.one_in(10) {
        let place = numbers.below(instructions.len().max(1));
        match instructions.get_mut(place) {
            Some(entry) if numbers.one_in(2) => {
                prerequisites.clear();
                spoil_instruction(numbers, entry);
            }
            _ => {
                prerequisites.truncate(1);
                prerequisites.iter_mut().for_each(|entry| spoil_prerequisite(numbers, entry));
            }
        }
    }
    let text = text_of(zone, kind, &prerequisites, &instructions);
    Update { octets: octets_of(zone, kind, &prerequisites, &instructions), text }
}

/// An update as a person reads it.
fn text_of(zone: &str, kind: [u8; 4], prerequisites: &[Entry], instructions: &[Entry]) -> String {
    let list = |entries: &[Entry]| entries.iter().map(|entry| format!("  {}\n", shown(entry))).collect::<String>();
    format!("zone {zone} {kind:?}\nprerequisites\n{}updates\n{}", list(prerequisites), list(instructions))
}

/// The message of an update.
fn octets_of(zone: &str, kind: [u8; 4], prerequisites: &[Entry], instructions: &[Entry]) -> Vec<u8> {
    let counts = [1, prerequisites.len(), instructions.len(), 0].map(|count| (count as u16).to_be_bytes()).concat();
    let mut octets = [&[7, 7, 5 << 3, 0][..], &counts, &wire_name(zone), &kind].concat();
    for (owner, rtype, class, ttl, rdata) in prerequisites.iter().chain(instructions) {
        octets.extend(wire_name(owner));
        octets.extend_from_slice(&rtype.to_be_bytes());
        octets.extend_from_slice(&class.to_be_bytes());
        octets.extend_from_slice(&ttl.to_be_bytes());
        octets.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        octets.extend_from_slice(rdata);
    }
    octets
}

/// A connection to a server.
struct Connection(TcpStream);

impl Connection {
    /// Opens it.
    fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
        Connection(stream)
    }

    /// Sends a message; gives the rcode of the answer.
    fn ask(&mut self, octets: &[u8]) -> u8 {
        let framed = [&(octets.len() as u16).to_be_bytes()[..], octets].concat();
        self.0.write_all(&framed).expect("the server reads");
        let mut length = [0; 2];
        self.0.read_exact(&mut length).expect("the server answers");
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        self.0.read_exact(&mut answer).expect("the server answers");
        assert_eq!(answer[..2], octets[..2]);
        answer[3] & 0x0f
    }
}

/// A number out of the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// All of a zone, the serial among it.
fn zone_at(address: &str) -> Vec<String> {
    lines(&transfer(address, None, "example.net").expect("the zone is transferred"))
}

#[test]
fn random_updates_are_answered_and_done_as_bind_does() {
    let config = ServerConfig { zones: vec![("example.net".to_owned(), ZONE.to_owned())], ..ServerConfig::default() };
    let unchecked = |folder: &Path| {
        let file = folder.join("named.conf");
        let text = fs::read_to_string(&file).expect("the settings");
        let lax = "check-names primary ignore;\n  check-integrity no;\n  check-mx ignore;";
        fs::write(&file, text.replace("check-names primary ignore;", lax)).expect("the settings");
    };
    let Some(bind) = Server::start_changed(Kind::Bind, &config, &unchecked) else { return };
    let contents = parse_text(&zone_name("example.net"), "x.zone", ZONE.as_bytes().to_vec()).expect("a zone");
    let service = Arc::new(Service::new(&[contents], ServiceOptions::default()));
    let ours = listen(&service, "127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let (theirs, ours) = (bind.address(), ours.address().to_string());
    let (mut to_theirs, mut to_ours) = (Connection::open(&theirs), Connection::open(&ours));
    let seed = setting("SERVE_SEED", 1);
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut before = zone_at(&theirs);
    let mut rcodes = [0; 16];
    for number in 0..setting("SERVE_UPDATES", 2_000) {
        let Update { octets, text } = update(&mut numbers);
        let (said, wanted) = (to_ours.ask(&octets), to_theirs.ask(&octets));
        let place = || format!("seed {seed} update {number}:\n{text}before\n  {}\n", before.join("\n  "));
        let log = || fs::read_to_string(bind.folder().join("log")).unwrap_or_default();
        let last = || log().lines().rev().take(3).collect::<Vec<_>>().join("\n");
        assert_eq!(said, wanted, "rcode of {}\n{}", place(), last());
        rcodes[usize::from(said)] += 1;
        let (made, expected) = (zone_at(&ours), zone_at(&theirs));
        assert_eq!(made, expected, "zone after {}", place());
        before = expected;
    }
    // Every answer that there is comes up: none, FORMERR, NXDOMAIN, YXDOMAIN, YXRRSET, NXRRSET, NOTAUTH, NOTZONE.
    assert!([0, 1, 3, 6, 7, 8, 9, 10].iter().all(|rcode| rcodes[*rcode] > 0), "{rcodes:?}");
}
