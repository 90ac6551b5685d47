//! A transfer is the whole zone or an error, whatever happens to it on the way: never another zone, never a hang.
//!
//! A real server answers, a proxy spoils the answer, and zonewright reads. Each test counts what its cases came to,
//! prints the counts, and holds them to the number of cases.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::client::Client;
use crate::proxy::{End, Exchange, Proxy, Sent, Size, WATCHDOG, framed, stream};
use crate::server::{Key, Kind, Server, ServerConfig};
use zonewright::diag::Problem;

/// The zone of all tests.
const APEX: &str = "example.net";

/// A deadline that no test waits for.
pub const AMPLE: &str = "60s";

/// A deadline that tests wait for: the shortest that settings allow.
const SHORT: &str = "1s";

/// Where randomness comes from unless `TAMPER_SEED` in the environment says otherwise.
const SEED: u64 = 8945;

/// At how many octets of a stream something is spoiled at random, in each of the ways there are.
const RANDOM: usize = 300;

/// How many cases run side by side: most of a case with a stall is waiting.
pub const SIDE_BY_SIDE: usize = 32;

/// The length of a header (RFC 1035 section 4.1.1).
const HEADER: usize = 12;

on_every_kind! {
    a_signed_transfer_spoiled_at_any_message_is_the_zone_or_an_error
    a_signed_transfer_spoiled_at_any_octet_is_the_zone_or_an_error
    a_signed_question_with_any_octet_flipped_gives_the_zone_or_an_error
    without_a_key_a_transfer_that_ends_early_or_loses_its_ends_is_an_error
}

/// A zone that takes a server eight messages or so, most of their octets in few records, so that reading it takes no
/// time.
fn zone() -> String {
    let mut text = "$TTL 1h\n@ SOA ns1 hostmaster 7 1d 2h 4w 10m\n  NS ns1\nns1 A 192.0.2.53\n".to_owned();
    let long = format!("\"{}\" ", "0123456789abcdef ".repeat(14).trim_end()).repeat(3);
    for host in 0..200 {
        let rack = host % 16;
        text += &format!("h{host}.rack{rack} 300 AAAA 2001:db8::{host:x}\nh{host}.rack{rack} TXT \"{host}\" {long}\n");
    }
    text
}

/// What a case may come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// The zone, or what was asked of it, as it is.
    Zone,
    /// An error.
    Error,
    /// An error of this code.
    Code(&'static str),
    /// Either: what was spoiled may say nothing of the zone.
    Either,
}

impl Allowed {
    /// Whether an outcome is that.
    fn allows(self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Zone => matches!(self, Allowed::Zone | Allowed::Either),
            Outcome::OtherZone => false,
            Outcome::Error(code) => match self {
                Allowed::Zone => false,
                Allowed::Error | Allowed::Either => true,
                Allowed::Code(expected) => *code == expected,
            },
        }
    }
}

/// What a case came to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The zone, or what was asked of it, as it is.
    Zone,
    /// Anything else, accepted as the answer.
    OtherZone,
    /// An error of this code.
    Error(&'static str),
}

/// Makes what the client sees of the server's messages.
pub type Spoil = Box<dyn FnOnce(&[Vec<u8>]) -> Sent + Send>;

/// One thing that happens to an answer.
pub struct Case {
    /// What happens, for messages.
    pub name: String,
    /// The deadline of a message.
    pub timeout: &'static str,
    /// What it may come to.
    pub allowed: Allowed,
    /// Makes what the client sees.
    pub spoil: Spoil,
}

impl Case {
    /// A case in which octets arrive, made of the messages, and the connection is closed.
    pub fn octets(
        name: impl Into<String>,
        allowed: Allowed,
        spoil: impl FnOnce(&[Vec<u8>]) -> Vec<u8> + Send + 'static,
    ) -> Case {
        let spoil = move |messages: &[Vec<u8>]| Sent { octets: spoil(messages), end: End::Closed };
        Case { name: name.into(), timeout: AMPLE, allowed, spoil: Box::new(spoil) }
    }

    /// A case in which other messages arrive.
    pub fn messages(
        name: impl Into<String>,
        allowed: Allowed,
        spoil: impl FnOnce(&mut Vec<Vec<u8>>) + Send + 'static,
    ) -> Case {
        Case::octets(name, allowed, move |messages| {
            let mut messages = messages.to_vec();
            spoil(&mut messages);
            stream(&messages)
        })
    }

    /// The same, but that the connection stays open after the last octet.
    pub fn stalled(self, allowed: Allowed) -> Case {
        let Case { name, spoil, .. } = self;
        let spoil = move |messages: &[Vec<u8>]| Sent { end: End::Stalled, ..spoil(messages) };
        Case { name: format!("{name}, then silence"), timeout: SHORT, allowed, spoil: Box::new(spoil) }
    }
}

/// A server, a client, and what they should agree on.
struct Field {
    /// The server.
    server: Server,
    /// The client.
    client: Arc<Client>,
    /// The digest of the zone.
    digest: [u8; 32],
    /// What passes when nothing is spoiled.
    exchange: Exchange,
}

impl Field {
    /// Starts the server, and transfers the zone once with nothing spoiled; `None` where it is not installed.
    fn start(kind: Kind, key: Option<&Key>) -> Option<Field> {
        let keys = key.cloned().into_iter().collect();
        let server = Server::start(
            kind,
            &ServerConfig { keys, zones: vec![(APEX.to_owned(), zone())], ..ServerConfig::default() },
        )?;
        let client = Arc::new(Client::new(key));
        let direct = client.read(&server.address(), APEX, AMPLE).expect("nothing is in between");
        let proxy = Proxy::passing(&server.address(), |_| {});
        let read = client.read(&proxy.address(), APEX, AMPLE).expect("nothing is spoiled");
        assert_eq!(read.contents.record_count(), 403);
        let digest = read.contents.digest(|_| true);
        assert_eq!(digest, direct.contents.digest(|_| true));
        let exchange = proxy.passed();
        assert!((6..40).contains(&exchange.answer.len()), "{} messages", exchange.answer.len());
        Some(Field { server, client, digest, exchange })
    }

    /// What an exchange takes.
    fn size(&self) -> Size {
        Size { questions: 1, messages: self.messages() }
    }

    /// How many messages an answer has.
    fn messages(&self) -> usize {
        self.exchange.answer.len()
    }

    /// Reads the zone from an address; fails if the read does not return at all.
    fn outcome(&self, address: String, timeout: &'static str) -> Outcome {
        let (sender, read) = mpsc::channel();
        let client = self.client.clone();
        thread::spawn(move || {
            // After the watchdog the client is gone.
            let _ = sender.send(client.read(&address, APEX, timeout));
        });
        match read.recv_timeout(WATCHDOG).expect("a read returns") {
            Ok(read) if read.contents.digest(|_| true) == self.digest => Outcome::Zone,
            Ok(_) => Outcome::OtherZone,
            Err(Problem { code, .. }) => Outcome::Error(code.as_str()),
        }
    }

    /// Runs all cases; fails if one of them comes to what it may not.
    fn run(&self, cases: Vec<Case>) -> Tally {
        let jobs = cases.into_iter().map(|Case { name, timeout, allowed, spoil }| {
            let job = move || {
                let proxy = Proxy::spoiling(&self.server.address(), self.size(), spoil);
                let outcome = self.outcome(proxy.address(), timeout);
                assert_eq!(proxy.passed().answer.len(), self.messages());
                outcome
            };
            (name, allowed, job)
        });
        run_all(jobs.collect(), SIDE_BY_SIDE)
    }
}

/// How many cases came to what.
#[derive(Debug, Default)]
pub struct Tally(BTreeMap<Outcome, usize>);

impl Tally {
    /// All cases.
    pub fn cases(&self) -> usize {
        self.0.values().sum()
    }

    /// Those that ended in an error.
    pub fn errors(&self) -> usize {
        self.cases() - self.zones()
    }

    /// Those that gave the zone.
    pub fn zones(&self) -> usize {
        self.0.get(&Outcome::Zone).copied().unwrap_or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cases:", self.cases())?;
        self.0.iter().try_for_each(|(outcome, count)| write!(f, " {outcome:?} {count}"))
    }
}

/// Runs jobs on several threads; fails if one of them comes to what it may not.
pub fn run_all<J: FnOnce() -> Outcome + Send>(jobs: Vec<(String, Allowed, J)>, side_by_side: usize) -> Tally {
    let jobs = Mutex::new(jobs.into_iter());
    let results = Mutex::new((Tally::default(), Vec::new()));
    let next = || jobs.lock().expect("taking a job does not panic").next();
    thread::scope(|scope| {
        for _ in 0..side_by_side {
            scope.spawn(|| {
                while let Some((name, allowed, job)) = next() {
                    let outcome = job();
                    let mut results = results.lock().expect("noting a result does not panic");
                    if !allowed.allows(&outcome) {
                        results.1.push(format!("{name}: {outcome:?} where {allowed:?} is allowed"));
                    }
                    *results.0.0.entry(outcome).or_default() += 1;
                }
            });
        }
    });
    let (tally, faults) = results.into_inner().expect("no thread panicked");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    tally
}

/// The length of the TSIG record that a key of hmac-sha256 leads to (RFC 8945 section 4.2).
pub fn signature_length(key: &Key) -> usize {
    let (name, algorithm) = (key.name.len() + 2, key.algorithm.len() + 2);
    name + 10 + algorithm + 6 + 2 + 2 + 32 + 2 + 2 + 2
}

/// Takes the TSIG record off a message.
pub fn strip(message: &mut Vec<u8>, key: &Key) {
    let start = message.len() - signature_length(key);
    assert_eq!(message[start + 1..][..key.name.len()], *key.name.as_bytes(), "the record begins with the key's name");
    message.truncate(start);
    message[11] -= 1;
}

/// The octets of an answer that may change and leave the zone as it is: IDs, which the signatures restore, and the TSIG
/// records, of which only the times are signed after the first message (RFC 8945 sections 4.3.2 and 5.3.1).
fn loose_octets(answer: &[Vec<u8>], key: &Key) -> Vec<bool> {
    let mut loose = Vec::new();
    for message in answer {
        let signature = message.len() - signature_length(key);
        loose.extend([false; 2]);
        loose.extend((0..message.len()).map(|at| at < 2 || at >= signature));
    }
    loose
}

/// Everything that can happen between two messages: `cut` says what the connection comes to where octets are missing.
fn cuts_and_stalls(count: usize, cut: Allowed, stall: Allowed) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut at = |name: String, octets: fn(&[Vec<u8>], usize) -> Vec<u8>, message: usize| {
        let make = || Case::octets(name.clone(), cut, move |messages| octets(messages, message));
        cases.push(make());
        cases.push(make().stalled(stall));
    };
    for message in 0..count {
        at(format!("cut before message {message}"), |messages, at| stream(&messages[..at]), message);
        at(
            format!("cut inside the length of message {message}"),
            |messages, at| [stream(&messages[..at]), framed(&messages[at])[..1].to_vec()].concat(),
            message,
        );
        at(
            format!("cut inside message {message}"),
            |messages, at| {
                let whole = framed(&messages[at]);
                [stream(&messages[..at]), whole[..whole.len() / 2].to_vec()].concat()
            },
            message,
        );
    }
    cases.push(Case::octets("closed after the last message", Allowed::Zone, stream));
    // The client does not wait for more than the last message.
    let silent = Case::octets("all messages", Allowed::Zone, stream).stalled(Allowed::Zone);
    cases.push(Case { timeout: AMPLE, ..silent });
    cases
}

/// A generator of numbers (SplitMix64, by Steele, Lea and Flood), so that a seed makes a test again.
struct Random(u64);

impl Random {
    /// The generator of this run; prints its seed.
    fn seeded() -> Random {
        let seed = std::env::var("TAMPER_SEED").map_or(SEED, |seed| seed.parse().expect("TAMPER_SEED is a number"));
        eprintln!("TAMPER_SEED={seed}");
        Random(seed)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// Cut, silent, flipped, dropped, doubled, swapped, unsigned, of another length or from an earlier transfer.
fn a_signed_transfer_spoiled_at_any_message_is_the_zone_or_an_error(kind: Kind) {
    let key = Key::new("key");
    let Some(field) = Field::start(kind, Some(&key)) else { return };
    let count = field.messages();
    let last = count - 1;
    let mut cases = cuts_and_stalls(count, Allowed::Code("transfer-cut"), Allowed::Code("timeout"));
    let in_between = cases.len();
    for message in 0..count {
        let rest = if message == last { Allowed::Code("transfer-cut") } else { Allowed::Error };
        // After the last message the client does not listen; data that arrived by then are seen, and are an error.
        let more = if message == last { Allowed::Either } else { Allowed::Error };
        let ends = if message == 0 || message == last { Allowed::Code("tsig-unsigned") } else { Allowed::Error };
        let name = |what: &str| format!("message {message} {what}");
        cases.push(Case::messages(name("with a flipped octet"), Allowed::Error, move |messages| {
            let middle = messages[message].len() / 2;
            messages[message][middle] ^= 0x01;
        }));
        // The signature covers the ID that the server gave, and brings it back.
        let id = move |messages: &mut Vec<Vec<u8>>| messages[message][1] ^= 0x10;
        cases.push(Case::messages(name("with another ID"), Allowed::Zone, id));
        let earlier = field.exchange.answer[message].clone();
        cases.push(Case::messages(name("from an earlier answer"), Allowed::Code("tsig-bad-sig"), move |messages| {
            messages[message] = earlier;
        }));
        cases.push(Case::messages(name("dropped"), rest, move |messages| drop(messages.remove(message))));
        cases.push(Case::messages(name("doubled"), more, move |messages| {
            messages.insert(message, messages[message].clone());
        }));
        let key = key.clone();
        cases.push(Case::messages(name("unsigned"), ends, move |messages| strip(&mut messages[message], &key)));
        for octet in 0..2 {
            let make = || {
                Case::octets(name("with another length"), Allowed::Error, move |messages| {
                    let before = stream(&messages[..message]).len();
                    let mut octets = stream(messages);
                    octets[before + octet] ^= 0x04;
                    octets
                })
            };
            cases.extend([make(), make().stalled(Allowed::Error)]);
        }
        if message < last {
            let swap = move |messages: &mut Vec<Vec<u8>>| messages.swap(message, message + 1);
            cases.push(Case::messages(name("swapped with the next"), Allowed::Error, swap));
        }
    }
    let earlier = field.exchange.answer.clone();
    let replay = move |messages: &mut Vec<Vec<u8>>| *messages = earlier;
    cases.push(Case::messages("an earlier answer as a whole", Allowed::Code("tsig-bad-sig"), replay));
    let total = cases.len();
    assert_eq!((in_between, total), (6 * count + 2, 6 * count + 2 + 11 * count));
    let tally = field.run(cases);
    eprintln!("{count} messages, {tally}");
    assert_eq!(tally.cases(), total);
    // The two that are whole, those with another ID, and perhaps the last message twice.
    assert!((count + 2..=count + 3).contains(&tally.zones()), "{tally}");
}

/// Flipped, inserted, removed or cut, at random.
fn a_signed_transfer_spoiled_at_any_octet_is_the_zone_or_an_error(kind: Kind) {
    let key = Key::new("key");
    let Some(field) = Field::start(kind, Some(&key)) else { return };
    let loose = loose_octets(&field.exchange.answer, &key);
    let mut random = Random::seeded();
    let mut cases = Vec::new();
    for _ in 0..RANDOM {
        let (at, bit, octet) = (random.below(loose.len()), random.below(8), random.below(256) as u8);
        let flipped = if loose[at] { Allowed::Either } else { Allowed::Error };
        cases.push(Case::octets(format!("bit {bit} of octet {at} flipped"), flipped, move |messages| {
            let mut octets = stream(messages);
            octets[at] ^= 1 << bit;
            octets
        }));
        // The last two fields are zero: a zero inserted there leaves the message whole, and an octet after it.
        let inserted = if at >= loose.len() - 4 && octet == 0 { Allowed::Either } else { Allowed::Error };
        cases.extend(out_of_frame(at, octet, inserted));
        let cut = Allowed::Code("transfer-cut");
        cases.push(Case::octets(format!("cut at {at}"), cut, move |messages| stream(messages)[..at].to_vec()));
    }
    let tally = field.run(cases);
    eprintln!("{} octets, {tally}", loose.len());
    assert_eq!(tally.cases(), 4 * RANDOM);
    assert!(tally.errors() >= 3 * RANDOM + RANDOM * 9 / 10, "{tally}");
}

/// Every octet once.
fn a_signed_question_with_any_octet_flipped_gives_the_zone_or_an_error(kind: Kind) {
    let key = Key::new("key");
    let Some(field) = Field::start(kind, Some(&key)) else { return };
    let length = field.exchange.questions[0].len();
    let signature = length - signature_length(&key);
    let jobs = (0..length).map(|at| {
        // Servers may restore the ID that was signed; and a name of other case is the same name, the class of a TSIG
        // record means nothing.
        let allowed = if (2..signature).contains(&at) { Allowed::Error } else { Allowed::Either };
        let field = &field;
        let job = move || {
            let proxy = Proxy::passing(&field.server.address(), move |question| question[at] ^= 1 << (at % 8));
            let outcome = field.outcome(proxy.address(), SHORT);
            assert_eq!(proxy.passed().questions[0].len(), length);
            outcome
        };
        (format!("octet {at} of the question flipped"), allowed, job)
    });
    // Fewer than the transfers that a server makes at once.
    let tally = run_all(jobs.collect(), 8);
    eprintln!("{tally}");
    assert_eq!(tally.cases(), length);
    assert!(signature > HEADER && tally.errors() >= signature - 2, "{tally}");
}

/// What an unsigned stream shows by itself; a message that is missing in its middle it does not.
fn without_a_key_a_transfer_that_ends_early_or_loses_its_ends_is_an_error(kind: Kind) {
    let Some(field) = Field::start(kind, None) else { return };
    let count = field.messages();
    let last = count - 1;
    let cut = Allowed::Code("transfer-cut");
    let mut cases = cuts_and_stalls(count, cut, Allowed::Code("timeout"));
    cases.push(Case::messages("the first message dropped", Allowed::Error, |messages| drop(messages.remove(0))));
    cases.push(Case::messages("the last message dropped", cut, move |messages| drop(messages.remove(last))));
    cases.push(Case::messages("the first swapped", Allowed::Error, |messages| messages.swap(0, 1)));
    cases.push(Case::messages("the first doubled", Allowed::Error, |messages| messages.insert(1, messages[0].clone())));
    // A zone is a set of records: neither their number nor their order says anything.
    for message in 1..last {
        cases.push(Case::messages(format!("message {message} doubled"), Allowed::Zone, move |messages| {
            messages.insert(message, messages[message].clone());
        }));
    }
    for message in 1..last - 1 {
        let swap = move |messages: &mut Vec<Vec<u8>>| messages.swap(message, message + 1);
        cases.push(Case::messages(format!("message {message} swapped with the next"), Allowed::Zone, swap));
    }
    let length = stream(&field.exchange.answer).len();
    let mut random = Random::seeded();
    for _ in 0..RANDOM {
        // Not before the last octet: there the same octet would leave the zone whole.
        let (at, octet) = (random.below(length - 1), random.below(256) as u8);
        cases.push(Case::octets(format!("cut at {at}"), cut, move |messages| stream(messages)[..at].to_vec()));
        // All that comes after it is out of its frame.
        cases.extend(out_of_frame(at, octet, Allowed::Error));
    }
    let tally = field.run(cases);
    eprintln!("{count} messages, {tally}");
    assert_eq!(tally.errors(), 6 * count + 4 + 3 * RANDOM);
    assert_eq!(tally.zones(), 2 + (last - 1) + (last - 2));
}

/// An octet inserted, and one removed, so that all after it is out of its frame; `inserted` is what the first may come
/// to.
fn out_of_frame(at: usize, octet: u8, inserted: Allowed) -> [Case; 2] {
    let insert = move |messages: &[Vec<u8>]| {
        let mut octets = stream(messages);
        octets.insert(at, octet);
        octets
    };
    let remove = move |messages: &[Vec<u8>]| {
        let mut octets = stream(messages);
        octets.remove(at);
        octets
    };
    [
        Case::octets(format!("octet {octet} inserted at {at}"), inserted, insert),
        Case::octets(format!("octet {at} removed"), Allowed::Error, remove),
    ]
}
