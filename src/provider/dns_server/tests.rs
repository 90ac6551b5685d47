//! A server of a few lines that does what a test needs, and transfers from it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use domain::base::Message;
use domain::dep::octseq::array::Array;
use domain::rdata::tsig::Tsig;
use domain::tsig::Algorithm;
use domain::tsig::KeyName;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::settings::ZoneCommands;
use super::*;
use crate::diag::{Files, Origin, Problem};
use crate::dns::{Name, Rtype};
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, SourceText};
use crate::provider::cache::CacheUse;
use crate::provider::exchange::{DEFAULT_TIMEOUT, ExchangeSettings};
use crate::provider::limits::ReadLimits;
use crate::target::WriteTarget as _;

/// The secret of all keys in base64, and its octets.
pub(super) const SECRET: (&str, &[u8]) = ("c2VjcmV0IG9jdGV0cyBvZiBhIHRlc3Q=", b"secret octets of a test");

/// The name of all keys in wire format.
const KEY_NAME: &[u8] = b"\x04test\0";

/// The zone of all tests.
pub(super) fn apex() -> ZoneName {
    ZoneName::new(Name::parse("example.net").unwrap())
}

/// One record: its name, type and RDATA; class and TTL are always the same.
pub(super) type Rr = (&'static str, Rtype, Vec<u8>);

/// A SOA with this serial.
pub(super) fn soa(serial: u8) -> Rr {
    ("example.net", Rtype::SOA, [&[0, 0, 0, 0, 0, serial][..], &[0; 16]].concat())
}

/// The address record of a name.
pub(super) fn a(name: &'static str, last: u8) -> Rr {
    (name, Rtype::A, vec![192, 0, 2, last])
}

/// A small zone in three messages.
pub(super) fn zone() -> Vec<Vec<Rr>> {
    vec![vec![soa(1), a("a.example.net", 1)], vec![a("b.example.net", 2), a("a.example.net", 3)], vec![soa(1)]]
}

/// The digest of [`zone`].
fn zone_digest() -> [u8; 32] {
    digest_of(zone())
}

/// The digest of a zone in messages.
fn digest_of(messages: Vec<Vec<Rr>>) -> [u8; 32] {
    let mut builder = crate::dns::ZoneBuilder::new(apex());
    for (name, rtype, rdata) in messages.concat() {
        let name = Name::parse(name).unwrap();
        builder.push(name.as_name(), rtype, crate::dns::Ttl::DEFAULT, &rdata).unwrap();
    }
    builder.finish().unwrap().digest(|_| true)
}

/// An answer with these records, not signed.
pub(super) fn answer(id: u16, rcode: u8, records: &[Rr]) -> Vec<u8> {
    let counts = [0, 1, 0, records.len() as u8, 0, 0, 0, 0];
    let mut message = [&id.to_be_bytes()[..], &[0x84, rcode], &counts, b"\x07example\x03net\0\0\xfc\0\x01"].concat();
    for (name, rtype, rdata) in records {
        message.extend_from_slice(Name::parse(name).unwrap().as_name().as_wire());
        message.extend_from_slice(&rtype.to_int().to_be_bytes());
        message.extend_from_slice(b"\0\x01\0\0\x0e\x10");
        message.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        message.extend_from_slice(rdata);
    }
    message
}

/// HMAC-SHA256 (RFC 2104), so that what the library makes is judged by something else.
fn hmac(secret: &[u8], text: &[u8]) -> Vec<u8> {
    let pad = |with: u8| -> Vec<u8> { (0..64).map(|at| secret.get(at).unwrap_or(&0) ^ with).collect() };
    let inner = Sha256::digest([pad(0x36), text.to_vec()].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}

/// Signs a stream of messages as RFC 8945 sections 4.3 and 5.3.1 say.
pub(super) struct Signer {
    /// What goes before the next signed message: the signature before it, and the unsigned messages since.
    before: Vec<u8>,
    /// Whether a message was signed.
    started: bool,
    /// How far the clock is from the real one, in seconds.
    pub(super) skew: i64,
}

impl Signer {
    /// Starts on a signed question.
    pub(super) fn new(question: &[u8]) -> Signer {
        let message = Message::from_octets(question).unwrap();
        let record = message.additional().unwrap().last().unwrap().unwrap();
        let record = record.into_record::<Tsig<_, _>>().unwrap().unwrap();
        let mut signer = Signer { before: Vec::new(), started: false, skew: 0 };
        signer.note(record.data().mac_slice());
        signer
    }

    /// Keeps a signature for the next message.
    fn note(&mut self, mac: &[u8]) {
        self.before = [&(mac.len() as u16).to_be_bytes()[..], mac].concat();
    }

    /// Lets a message go unsigned.
    fn pass(&mut self, message: Vec<u8>) -> Vec<u8> {
        self.before.extend_from_slice(&message);
        message
    }

    /// Signs a message.
    pub(super) fn sign(&mut self, message: Vec<u8>) -> Vec<u8> {
        self.sign_with(message, SECRET.1, 0, &[])
    }

    /// Signs a message with a secret, a TSIG error and other data.
    fn sign_with(&mut self, mut message: Vec<u8>, secret: &[u8], error: u8, other: &[u8]) -> Vec<u8> {
        let algorithm = b"\x0bhmac-sha256\0";
        let now = (u64::from(Time48::now()) as i64 + self.skew) as u64;
        let time = &now.to_be_bytes()[2..];
        let timers = [time, &[1, 44]].concat();
        let tail = [&[0, error][..], &(other.len() as u16).to_be_bytes(), other].concat();
        let variables = if self.started {
            timers.clone()
        } else {
            [KEY_NAME, b"\0\xff\0\0\0\0", algorithm, &timers, &tail].concat()
        };
        let mac = hmac(secret, &[&self.before, &message, &variables[..]].concat());
        self.note(&mac);
        self.started = true;
        let rdata = [algorithm, &timers[..], &[0, 32], &mac, &message[..2], &tail].concat();
        message.extend_from_slice(KEY_NAME);
        message.extend_from_slice(b"\0\xfa\0\xff\0\0\0\0");
        message.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        message.extend_from_slice(&rdata);
        message[11] += 1;
        message
    }
}

/// The signed messages of [`zone`], as the answer to a question.
pub(super) fn signed_zone(question: &[u8]) -> Vec<Vec<u8>> {
    let mut signer = Signer::new(question);
    let id = u16::from_be_bytes([question[0], question[1]]);
    zone().iter().map(|records| signer.sign(answer(id, 0, records))).collect()
}

/// Messages as they go over TCP.
pub(super) fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|message| [&(message.len() as u16).to_be_bytes()[..], message].concat()).collect()
}

/// Starts a server that reads one question, and does with it what the test says; gives its address.
pub(super) fn serve(act: impl FnOnce(&mut TcpStream, Vec<u8>) + Send + 'static) -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let question = read(&mut stream).unwrap();
        act(&mut stream, question);
    });
    ServerAddress { host: "127.0.0.1".into(), port }
}

/// Reads a framed message; none at the end.
pub(super) fn read(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).ok()?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}

/// A server that answers with what `octets` makes of the question, then closes the connection.
fn serve_octets(octets: impl FnOnce(&[u8]) -> Vec<u8> + Send + 'static) -> ServerAddress {
    serve(move |stream, question| {
        // The client may hang up first, once it has seen enough.
        let _ = stream.write_all(&octets(&question));
    })
}

/// A reader of these servers with a deadline that no test waits for, and a key with the secret or none.
pub(super) fn reader(servers: Vec<ServerAddress>, keyed: bool) -> NameServers {
    let name = KeyName::from_octets(Array::try_from(KEY_NAME).unwrap()).unwrap();
    let key = Key::new(Algorithm::Sha256, SECRET.1, name, None, None).unwrap();
    let exchange = ExchangeSettings { timeout: Duration::from_secs(20), read: ReadingManner::Whole, window: None };
    let limits = ReadLimits::default();
    let making = ZoneCommands::default();
    #[rustfmt::skip]
    let settings = ServerSettings {
        servers, key: None, exchange, cache: false, cache_max_age: Duration::ZERO, limits, making,
    };
    NameServers::new(settings, PathBuf::new(), OnceLock::from(Ok(keyed.then(|| Arc::new(key)))))
}

/// Reads the zone with a key, and expects an error: its code and message.
fn failure(server: ServerAddress) -> (&'static str, String) {
    let error = reader(vec![server], true).read_zone(&apex()).unwrap_err();
    (error.code.as_str(), error.message)
}

/// The digest of what is read with a key.
fn digest(server: ServerAddress) -> Result<[u8; 32], Problem> {
    reader(vec![server], true).read_zone(&apex()).map(|read| read.contents.digest(|_| true))
}

#[test]
fn a_whole_stream_is_a_zone() {
    assert_eq!(digest(serve_octets(|question| framed(&signed_zone(question)))).unwrap(), zone_digest());
    let unsigned = serve_octets(|question| {
        let id = u16::from_be_bytes([question[0], question[1]]);
        framed(&zone().iter().map(|records| answer(id, 0, records)).collect::<Vec<_>>())
    });
    let read = reader(vec![unsigned], false).read_zone(&apex()).unwrap();
    assert_eq!(read.contents.digest(|_| true), zone_digest());
}

#[test]
fn a_stream_cut_anywhere_is_an_error() {
    let whole = |question: &[u8]| framed(&signed_zone(question));
    let length = {
        let (_, question) = ZoneTransfer::start(&apex(), reader(vec![], true).key().unwrap(), 1, Time48::now());
        whole(&question).len()
    };
    for end in (0..length).step_by(7) {
        let (code, message) = failure(serve_octets(move |question| whole(question)[..end].to_vec()));
        assert_eq!(code, "transfer-cut", "{end}: {message}");
    }
    let (_, message) = failure(serve_octets(move |question| framed(&signed_zone(question)[..2])));
    assert_eq!(message, "the connection was closed after 2 messages with 4 records: the answer is incomplete");
    let (_, message) = failure(serve_octets(|_| Vec::new()));
    assert_eq!(message, "the connection was closed before any answer: the answer is incomplete");
}

#[test]
fn a_message_lost_doubled_swapped_or_changed_never_makes_another_zone() {
    let streams: Vec<fn(&mut Vec<Vec<u8>>)> = vec![
        |messages| drop(messages.remove(0)),
        |messages| drop(messages.remove(1)),
        |messages| messages.insert(1, messages[0].clone()),
        |messages| messages.insert(2, messages[1].clone()),
        |messages| messages.insert(3, messages[2].clone()),
        |messages| messages.swap(0, 1),
        |messages| messages.swap(1, 2),
    ];
    for (number, change) in streams.into_iter().enumerate() {
        let changed = digest(serve_octets(move |question| {
            let mut messages = signed_zone(question);
            change(&mut messages);
            framed(&messages)
        }));
        assert!(changed.is_err(), "{number}");
    }
    // Straight into the transfer: a bit of each octet of each message.
    let key = reader(vec![], true).key().unwrap();
    for number in 0..3 {
        for octet in 0.. {
            let (mut transfer, question) = ZoneTransfer::start(&apex(), key.clone(), 7, Time48::now());
            let mut messages = signed_zone(&question);
            let Some(changed) = messages[number].get_mut(octet) else { break };
            *changed ^= 1 << (octet % 8);
            let taken = messages.iter_mut().try_for_each(|message| transfer.accept(message, Time48::now()));
            if let Ok(contents) = taken.and_then(|()| transfer.finish()) {
                // Not signed are the ID on the wire, and parts of the TSIG record (RFC 8945 section 4.3): no records.
                let signature = octet >= messages[number].len() - 80;
                assert!(octet < 2 || signature, "message {number}, octet {octet}");
                assert_eq!(contents.digest(|_| true), zone_digest(), "message {number}, octet {octet}");
            }
        }
    }
}

/// A zone in `count` messages, no two of them alike.
fn long_zone(count: usize) -> Vec<Vec<Rr>> {
    let record = |at: usize| ("a.example.net", Rtype::A, [&[10, 0][..], &(at as u16).to_be_bytes()].concat());
    let mut messages: Vec<_> = (0..count).map(|at| vec![record(at)]).collect();
    messages[0].insert(0, soa(1));
    messages[count - 1].push(soa(1));
    messages
}

/// The answer with [`long_zone`], of which those messages are signed that `signed` says.
fn partly_signed(question: &[u8], count: usize, signed: impl Fn(usize) -> bool) -> Vec<Vec<u8>> {
    let id = u16::from_be_bytes([question[0], question[1]]);
    let mut signer = Signer::new(question);
    let messages = long_zone(count).into_iter().enumerate().map(|(at, records)| {
        let message = answer(id, 0, &records);
        if signed(at) { signer.sign(message) } else { signer.pass(message) }
    });
    messages.collect()
}

#[test]
fn of_a_hundred_messages_one_must_be_signed_and_always_the_first_and_the_last() {
    let read = |count: usize, signed: fn(usize) -> bool| {
        digest(serve_octets(move |question| framed(&partly_signed(question, count, signed))))
    };
    // More than once as many as may be unsigned in a row, in whole stretches and with a rest.
    for count in [301, 350] {
        let zone = digest_of(long_zone(count));
        assert_eq!(read(count, |at| at % 2 == 0 || at >= 300).unwrap(), zone);
        assert_eq!(read(count, |at| at % 50 == 0 || at == 349).unwrap(), zone);
        assert_eq!(read(count, |at| at % 100 == 0 || at == 349).unwrap(), zone);
    }
    let refused = |count, signed| read(count, signed).unwrap_err().code.as_str();
    assert_eq!(refused(203, |at| at % 101 == 0), "tsig-unsigned");
    assert_eq!(refused(301, |at| at % 100 == 0 && at != 300), "tsig-unsigned");
    assert_eq!(refused(301, |at| at % 2 == 0 && at != 300), "tsig-unsigned");
    assert_eq!(refused(301, |at| at != 0), "tsig-unsigned");
}

#[test]
fn what_happens_to_an_unsigned_message_is_found_at_the_next_signature() {
    type Spoil = fn(&mut Vec<Vec<u8>>, usize);
    let spoils: [Spoil; 4] = [
        |messages, at| *messages[at].last_mut().unwrap() ^= 1,
        |messages, at| drop(messages.remove(at)),
        |messages, at| messages.insert(at, messages[at].clone()),
        |messages, at| messages.swap(at, at + 1),
    ];
    let whole = |question: &[u8]| partly_signed(question, 10, |at| at % 3 == 0);
    assert_eq!(digest(serve_octets(move |question| framed(&whole(question)))).unwrap(), digest_of(long_zone(10)));
    for (number, spoil) in spoils.into_iter().enumerate() {
        for at in [1, 2, 4, 5, 7, 8] {
            let (code, message) = failure(serve_octets(move |question| {
                let mut messages = whole(question);
                spoil(&mut messages, at);
                framed(&messages)
            }));
            assert_eq!(code, "tsig-bad-sig", "way {number}, message {at}: {message}");
        }
    }
}

#[test]
fn both_ends_are_one_soa_and_nothing_follows() {
    let stream = |records: Vec<Rr>| {
        failure(serve_octets(move |question| {
            let id = u16::from_be_bytes([question[0], question[1]]);
            framed(&[Signer::new(question).sign(answer(id, 0, &records))])
        }))
    };
    assert_eq!(stream(vec![soa(1), a("a.example.net", 1), soa(2)]).0, "soa-changed");
    let (code, message) = stream(vec![a("a.example.net", 1), soa(1)]);
    assert_eq!(
        (code, message.as_str()),
        ("bad-message", "a message breaks the protocol: the first record is not the zone's SOA")
    );
    let (_, message) = stream(vec![soa(1), soa(1), a("a.example.net", 1)]);
    assert_eq!(message, "a message breaks the protocol: a record after the closing SOA");
    let (code, message) = stream(vec![soa(1), a("a.example.org", 1), soa(1)]);
    assert_eq!(code, "outside-zone");
    assert_eq!(message, "the transfer holds `a.example.org.`, which is outside the zone");
    assert_eq!(stream(vec![soa(1), ("x.example.net", Rtype::SOA, soa(1).2), soa(1)]).0, "bad-message");
    assert_eq!(stream(vec![soa(1), ("x.example.net", Rtype::A, vec![1, 2, 3]), soa(1)]).0, "bad-message");
    assert_eq!(stream(vec![soa(1), ("x.example.net", Rtype::ANY, vec![]), soa(1)]).0, "bad-message");
    assert_eq!(stream(vec![]).0, "bad-message");
}

#[test]
fn an_answer_that_is_not_ours_or_no_answer_is_refused() {
    let changed = |change: fn(&mut Vec<u8>)| {
        failure(serve_octets(move |question| {
            let id = u16::from_be_bytes([question[0], question[1]]);
            let mut message = answer(id, 0, &[soa(1), soa(1)]);
            change(&mut message);
            framed(&[Signer::new(question).sign(message)])
        }))
    };
    for change in [
        (|message| message[0] ^= 1) as fn(&mut Vec<u8>),
        |message| message[2] ^= 0x80,
        |message| message[2] ^= 0x28,
        |message| message[2] ^= 0x02,
        |message| message[13] = b'E' + 1,
        |message| message[27] = 1,
        |message| message[28] = 3,
        |message| message[9] = 1,
        |message| message.push(0),
    ] {
        assert_eq!(changed(change).0, "bad-message");
    }
}

#[test]
fn what_a_server_says_of_keys_and_clocks_is_reported() {
    let stream = |rcode: u8, error: u8, other: fn() -> Vec<u8>| {
        failure(serve_octets(move |question| {
            let id = u16::from_be_bytes([question[0], question[1]]);
            let message = answer(id, rcode, &[]);
            // Such answers are not signed, or signed so that the library cannot tell.
            framed(&[Signer::new(question).sign_with(message, b"?", error, &other())])
        }))
    };
    let none = Vec::new as fn() -> Vec<u8>;
    assert_eq!(stream(9, 17, none).0, "tsig-bad-key");
    assert_eq!(stream(9, 16, none).1, "the server finds our signature wrong (BADSIG)");
    let (code, message) = stream(9, 18, || (u64::from(Time48::now()) - 1_000_000).to_be_bytes()[2..].to_vec());
    assert_eq!(code, "tsig-bad-time");
    // A second may pass between both looks at the clock, and more on a busy machine.
    assert!(
        message.starts_with("the clocks differ: the server's is 1000") && message.ends_with(" s behind ours"),
        "{message}"
    );
    assert_eq!(stream(0, 0, none), ("tsig-bad-sig", "the signature of the answer is wrong".to_owned()));
}

#[test]
fn an_answer_signed_at_another_time_is_refused_with_the_difference() {
    let server = serve_octets(|question| {
        let id = u16::from_be_bytes([question[0], question[1]]);
        let mut signer = Signer { skew: 400, ..Signer::new(question) };
        framed(&[signer.sign(answer(id, 0, &[soa(1), soa(1)]))])
    });
    let (code, message) = failure(server);
    assert_eq!(code, "tsig-bad-time");
    assert!(
        message.starts_with("the clocks differ: the server's is ") && message.ends_with(" s ahead of ours"),
        "{message}"
    );
}

/// A server that answers with an error, or an empty zone, and signs nothing.
fn unsigned(rcode: u8) -> ServerAddress {
    serve_octets(move |question| {
        let id = u16::from_be_bytes([question[0], question[1]]);
        let records = if rcode == 0 { vec![soa(1), soa(1)] } else { Vec::new() };
        framed(&[answer(id, rcode, &records)])
    })
}

#[test]
fn an_unsigned_answer_is_not_believed() {
    let stream = |rcode: u8| failure(unsigned(rcode));
    assert_eq!(stream(0).0, "tsig-unsigned");
    let (code, message) = stream(5);
    assert_eq!(code, "transfer-refused");
    assert_eq!(message, "the server answers REFUSED, unsigned, so another machine may have sent it");
    assert_eq!((stream(9).0, stream(2).0), ("transfer-refused", "server-failure"));
}

#[test]
fn only_a_signed_refusal_is_about_what_it_says() {
    let error = |server, keyed| reader(vec![server], keyed).read_zone(&apex()).unwrap_err();
    for rcode in [5, 9] {
        let hint = error(unsigned(rcode), true).hint.unwrap();
        for cause in ["name", "algorithm", "secret", "clocks", "zone"] {
            assert!(hint.contains(cause), "{hint}");
        }
    }
    let signed = serve_octets(|question| {
        let id = u16::from_be_bytes([question[0], question[1]]);
        framed(&[Signer::new(question).sign(answer(id, 9, &[]))])
    });
    assert_eq!(error(signed, true).code.as_str(), "zone-not-served");
    let error = error(unsigned(9), false);
    assert_eq!(error.code.as_str(), "zone-not-served");
    assert!(error.hint.unwrap().contains("tsig_key"));
}

#[test]
fn a_server_that_stalls_or_drips_does_not_hold_us_up() {
    let failure = |server| {
        let mut reader = reader(vec![server], true);
        reader.settings.exchange.timeout = Duration::from_millis(500);
        let error = reader.read_zone(&apex()).unwrap_err();
        (error.code.as_str(), error.message)
    };
    let stalls = serve(|stream, question| {
        stream.write_all(&framed(&signed_zone(&question)[..1])).unwrap();
        thread::sleep(Duration::from_secs(2));
    });
    assert_eq!(failure(stalls), ("timeout", "no whole message in time, after 1 message with 2 records".to_owned()));
    let drips = serve(|stream, question| {
        for octet in framed(&signed_zone(&question)) {
            thread::sleep(Duration::from_millis(20));
            if stream.write_all(&[octet]).is_err() {
                break;
            }
        }
    });
    assert_eq!(failure(drips).0, "timeout");
}

/// A server that answers without a key, and sends these records again and again, 50 in each message, with a pause
/// between two messages.
fn endless(record: Rr, pause: Duration) -> ServerAddress {
    serve(move |stream, question| {
        let id = u16::from_be_bytes([question[0], question[1]]);
        let first = framed(&[answer(id, 0, &[soa(1)])]);
        let rest = framed(&[answer(id, 0, &vec![record; 50])]);
        let mut sent = stream.write_all(&first);
        while sent.is_ok() {
            thread::sleep(pause);
            sent = stream.write_all(&rest);
        }
    })
}

/// The code and message of the error that a read of a server by these limits ends with, where the zone held so much
/// last.
fn limited(server: ServerAddress, limits: ReadLimits, held: Option<KeptSize>) -> (&'static str, String) {
    let mut reader = reader(vec![server], false);
    reader.settings.limits = limits;
    let server = reader.settings.servers[0].clone();
    let failure = reader.transfer(&server, &apex(), None, held).unwrap_err();
    (failure.code(), failure.to_string())
}

#[test]
fn a_transfer_that_never_ends_is_ended() {
    let limits = ReadLimits::default();
    let address = || a("a.example.net", 1);
    let text = || ("a.example.net", Rtype::TXT, [vec![255; 1], vec![b'x'; 255]].concat().repeat(4));
    let records = limited(endless(address(), Duration::ZERO), ReadLimits { records: 120, ..limits }, None);
    insta::assert_snapshot!(records.1, @"more than 120 records came, the `max_records` of this target, so reading ended after 4 messages with 151 records");
    let octets = limited(endless(text(), Duration::ZERO), ReadLimits { octets: 1 << 20, ..limits }, None);
    insta::assert_snapshot!(octets.1, @"more than 1MiB came, the `max_size` of this target, so reading ended after 20 messages with 951 records");
    let time = Duration::from_secs(1);
    let slow = limited(endless(address(), Duration::from_millis(50)), ReadLimits { time, ..limits }, None);
    assert!(slow.1.starts_with("the answer took longer than 1s, the `max_time` of this target"), "{}", slow.1);
    let held = Some(KeptSize { records: 20_000, octets: 400_000 });
    let grown = limited(endless(address(), Duration::ZERO), limits, held);
    insta::assert_snapshot!(grown.1, @"more than 10 times as much came as the zone held last, 20000 records: the `max_growth` of this target, so reading ended after 4001 messages with 200001 records");
    let large = limited(endless(text(), Duration::ZERO), limits, held);
    insta::assert_snapshot!(large.1, @"more than 10 times as much came as the zone held last, 20000 records: the `max_growth` of this target, so reading ended after 320 messages with 15951 records");
    for (code, _) in [records, octets, slow, grown, large] {
        assert_eq!(code, "read-limit");
    }
}

#[test]
fn what_a_zone_held_last_bounds_its_reads_to_plan_and_to_apply() {
    let folder = tempfile::tempdir().unwrap();
    let now = "2026-11-20T12:00:00Z".parse().unwrap();
    let cache = Cache::inside(folder.path(), CacheUse::Renew, now);
    let good = serve_octets(|question| framed(&signed_zone(question)));
    let contents = reader(vec![good], true).read_zone(&apex()).unwrap().contents;
    cache.keep(&contents, "another server", now).unwrap();
    let reader = || {
        let text = ("a.example.net", Rtype::TXT, [vec![255; 1], vec![b'x'; 255]].concat().repeat(4));
        NameServers { cache: Some(cache.clone()), ..reader(vec![endless(text, Duration::ZERO)], false) }
    };
    let question = Question { name: Name::parse("a.example.net").unwrap(), rtype: Rtype::A };
    let planning = reader().read_zone(&apex()).unwrap_err();
    let applying = Primary::new(reader()).observe(&apex(), &[question], Some(1)).unwrap_err();
    for error in [planning, applying] {
        assert_eq!(error.code.as_str(), "read-limit");
        assert!(error.message.contains("as the zone held last, 4 records: the `max_growth`"), "{}", error.message);
    }
}

#[test]
fn servers_are_tried_in_turn() {
    let closed = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        ServerAddress { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() }
    };
    let good = serve_octets(|question| framed(&signed_zone(question)));
    let read = reader(vec![closed(), good], true).read_zone(&apex()).unwrap();
    assert_eq!(read.contents.digest(|_| true), zone_digest());
    let servers = vec![closed(), serve_octets(|_| Vec::new())];
    let error = reader(servers.clone(), true).read_zone(&apex()).unwrap_err();
    assert_eq!(error.code.as_str(), "connect-failed");
    assert_eq!(error.place, format!("{} zone example.net.", servers[0]));
    assert!(error.message.starts_with("the server refuses connections; then"), "{}", error.message);
    assert!(error.message.contains(&format!("; then {}: the connection was closed before any answer", servers[1])));
}

/// A server that answers SERVFAIL to so many transfers, and to the next with the zone.
fn busy(times: usize) -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for number in 0..=times {
            let (mut stream, _) = listener.accept().unwrap();
            let question = read(&mut stream).unwrap();
            let id = u16::from_be_bytes([question[0], question[1]]);
            let messages = if number < times { vec![answer(id, 2, &[])] } else { signed_zone(&question) };
            // The client may hang up first.
            let _ = stream.write_all(&framed(&messages));
        }
    });
    ServerAddress { host: "127.0.0.1".into(), port }
}

#[test]
fn a_server_that_fails_for_a_moment_is_asked_again_and_one_that_goes_on_is_not() {
    assert_eq!(digest(busy(1)).unwrap(), zone_digest());
    let reader = reader(vec![busy(usize::MAX - 1)], true);
    reader.health[0].note_failing();
    assert_eq!(reader.read_zone(&apex()).unwrap_err().code.as_str(), "server-failure");
}

#[test]
fn a_server_that_says_nothing_is_passed_over_from_then_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let silent = ServerAddress { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let good = serve_octets(|question| framed(&signed_zone(question)));
    let reader = reader(vec![silent.clone(), good], true);
    reader.health[0].note(Some(&ServerFailure::TimedOut { progress: TransferProgress::default() }));
    assert_eq!(reader.read_zone(&apex()).unwrap().contents.digest(|_| true), zone_digest());
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    // In the error it comes first all the same.
    let error = reader.read_zone(&apex()).unwrap_err();
    assert_eq!(error.place, format!("{silent} zone example.net."));
    assert!(error.message.starts_with("the server does not answer in time; then"), "{}", error.message);
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

/// A settings table, its keys in lines of their own, and the text around it.
fn table(entries: Vec<(&str, SettingsValue)>) -> (SettingsNode, SourceText) {
    let file = Files::default().add("zonewright.toml");
    let at = |line| Origin { file, line, col: 1 };
    let text = entries.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect::<String>();
    let entries = entries.into_iter().zip(1..).map(|((name, value), line)| {
        (
            SettingsKey { name: name.into(), origin: at(line), width: 1 },
            SettingsNode { origin: at(line), width: 1, value },
        )
    });
    (
        SettingsNode { origin: at(1), width: 1, value: SettingsValue::Table(entries.collect()) },
        SourceText { file, text },
    )
}

/// A text value.
fn text(text: &str) -> SettingsValue {
    SettingsValue::Text(text.into())
}

/// The codes of what is wrong with settings.
fn codes(entries: Vec<(&str, SettingsValue)>) -> Vec<(u32, &'static str)> {
    let (settings, source) = table(entries);
    let mut found = settings::parse(&settings, &source).1;
    found.settle();
    found.iter().map(|found| (found.origin.line, found.code.as_str())).collect()
}

#[test]
fn settings_are_checked_whole() {
    let key = |entries| table(entries).0.value;
    let good = vec![("name", text("test.")), ("algorithm", text("hmac-sha256")), ("secret_env", text("SECRET"))];
    let minimal = vec![("type", text("rfc2136")), ("server", text("::1"))];
    assert_eq!(codes(minimal.clone()), []);
    let (settings, source) = table([minimal.clone(), vec![("tsig_key", key(good))]].concat());
    let settings = settings::parse(&settings, &source).0.unwrap();
    assert_eq!((settings.exchange.timeout, settings.exchange.read), (DEFAULT_TIMEOUT, ReadingManner::Whole));
    let bad = vec![
        ("server", SettingsValue::List(vec![])),
        ("tsig_key", key(vec![("name", text("a..b")), ("algorithm", text("hmac-md5"))])),
        ("window", SettingsValue::Integer(0)),
        ("timeout", text("2h")),
        ("read", text("ixfr")),
        ("dir", text("zones")),
    ];
    let found: Vec<String> = codes(bad).iter().map(|(line, code)| format!("{line} {code}\n")).collect();
    insta::assert_snapshot!(found.concat(), @r"
    1 bad-server
    1 bad-value
    2 bad-secret
    2 bad-value
    3 bad-value
    4 bad-value
    5 bad-value
    6 unknown-key
    ");
    let two = vec![("secret_env", text("A")), ("secret_file", text("b"))];
    let two = key([vec![("name", text("a")), ("algorithm", text("hmac-sha1"))], two].concat());
    assert_eq!(codes([minimal.clone(), vec![("tsig_key", two)]].concat()), [(3, "bad-secret")]);
    for (name, found) in [("main.secret", &[][..]), ("a/b", &[(3, "bad-secret")]), ("..", &[(3, "bad-secret")])] {
        let named = vec![("name", text("a")), ("algorithm", text("hmac-sha1")), ("secret_credential", text(name))];
        assert_eq!(codes([minimal.clone(), vec![("tsig_key", key(named))]].concat()), found, "{name}");
    }
}

#[test]
fn a_secret_in_the_settings_is_refused_without_showing_it() {
    let key = table(vec![("name", text("a")), ("secret", text(SECRET.0)), ("algorithm", text("md5"))]).0.value;
    let (settings, source) = table(vec![("tsig_key", key), ("server", text("no server"))]);
    let found = settings::parse(&settings, &source).1;
    assert!(source.text.contains(SECRET.0));
    assert!(!format!("{found:?}").contains(SECRET.0));
    assert_eq!(found.error_count(), 1);
}

#[test]
fn nothing_shows_a_secret() {
    let workspace = tempfile::tempdir().unwrap();
    let script = workspace.path().join("script");
    std::fs::write(&script, format!("#!/bin/sh\necho run >>{}/log\necho {}\n", workspace.path().display(), SECRET.0))
        .unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let command = SettingsValue::List(vec![table(vec![]).0, table(vec![]).0]);
    let SettingsValue::List(mut words) = command else { unreachable!() };
    (words[0].value, words[1].value) = (text("./script"), text("password"));
    let key = vec![
        ("name", text("test")),
        ("algorithm", text("hmac-sha256")),
        ("secret_command", SettingsValue::List(words)),
    ];
    let server = serve_octets(|question| framed(&signed_zone(question)));
    let key = table(key).0.value;
    let (settings, source) = table(vec![("server", text(&server.to_string())), ("tsig_key", key)]);
    let settings = settings::parse(&settings, &source).0.unwrap();
    let servers = NameServers::new(settings, workspace.path().to_owned(), OnceLock::new());
    let log = workspace.path().join("log");
    assert!(!log.exists());
    assert_eq!(servers.read_zone(&apex()).unwrap().contents.digest(|_| true), zone_digest());
    assert!(servers.read_zone(&apex()).is_err());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "run\n");
    let shown = format!("{servers:?} {:?}", servers.key);
    assert!(!shown.contains("password") && !shown.contains(SECRET.0) && !shown.contains("secret octets"), "{shown}");
}

proptest! {
    #[test]
    fn no_message_makes_us_panic(mut octets in proptest::collection::vec(any::<u8>(), 0..80), keyed: bool) {
        let (mut transfer, question) = ZoneTransfer::start(&apex(), reader(vec![], keyed).key().unwrap(), 1, Time48::now());
        let mut start = answer(1, 0, &[soa(1)]);
        start.append(&mut octets);
        start[7] = 3;
        if keyed {
            start = Signer::new(&question).sign(start);
        }
        let _ = transfer.accept(&mut start, Time48::now());
        let _ = transfer.finish();
    }
}
