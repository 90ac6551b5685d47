//! Names asked for one by one: the answers as they are or an error, whatever happens to them on the way.

use std::sync::{Arc, mpsc};
use std::thread;

use zonewright::dns::{Name, Rtype};
use zonewright::target::{Answer, Question};

use crate::client::Client;
use crate::proxy::{Proxy, Size, WATCHDOG, framed, stream};
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::tamper::{AMPLE, Allowed, Case, Outcome, SIDE_BY_SIDE, run_all, signature_length, strip};

/// The zone.
const APEX: &str = "example.net";

/// How many hosts it has; of those that are asked for, every other one.
const HOSTS: usize = 10;

/// How many questions are asked: fewer than are in flight at once.
const QUESTIONS: usize = 2 * HOSTS;

on_every_kind! {
    a_signed_answer_spoiled_on_its_way_is_what_it_was_or_an_error
}

/// The zone's text.
fn zone() -> String {
    let hosts = (0..HOSTS).map(|host| format!("h{host} AAAA 2001:db8::{host:x}\n"));
    format!("$TTL 1h\n@ SOA ns1 hostmaster 7 1d 2h 4w 10m\n@ NS ns1\nns1 A 192.0.2.53\n{}", hosts.collect::<String>())
}

/// A question for each host, and for as many that are not there.
fn questions() -> Vec<Question> {
    let name = |host| Name::parse(&format!("h{host}.{APEX}")).expect("a name");
    (0..QUESTIONS).map(|host| Question { name: name(host), rtype: Rtype::AAAA }).collect()
}

/// What can happen to the answer that comes as number `at`, and to those around it.
fn cases(at: usize, key: &Key) -> Vec<Case> {
    let next = (at + 1) % QUESTIONS;
    let (signature, key) = (signature_length(key), key.clone());
    let name = |what: &str| format!("answer {at} {what}");
    let cut = |halves: usize| {
        move |answers: &[Vec<u8>]| {
            let whole = framed(&answers[at]);
            [stream(&answers[..at]), whole[..whole.len() * halves / 2].to_vec()].concat()
        }
    };
    vec![
        Case::messages(name("with a flipped octet"), Allowed::Error, move |answers| {
            let last = answers[at].len() - signature - 1;
            answers[at][last] ^= 0x01;
        }),
        Case::messages(name("with the ID of another question"), Allowed::Error, move |answers| {
            let id = answers[next][..2].to_vec();
            answers[at][..2].copy_from_slice(&id);
        }),
        Case::messages(name("with an ID of no question"), Allowed::Error, move |answers| answers[at][0] ^= 0x80),
        Case::messages(name("unsigned"), Allowed::Code("tsig-unsigned"), move |answers| strip(&mut answers[at], &key)),
        Case::messages(name("dropped"), Allowed::Error, move |answers| drop(answers.remove(at))),
        Case::messages(name("in place of the next"), Allowed::Error, move |answers| {
            answers[next] = answers[at].clone()
        }),
        // Answers may come in any order, and again.
        Case::messages(name("doubled"), Allowed::Zone, move |answers| answers.insert(at, answers[at].clone())),
        Case::messages(name("swapped with the next"), Allowed::Zone, move |answers| answers.swap(at, next)),
        Case::octets(name("cut before it"), Allowed::Error, cut(0)),
        Case::octets(name("cut inside it"), Allowed::Error, cut(1)),
    ]
}

/// Each answer in each of the ways, once with the connection closed after it and once with silence.
fn a_signed_answer_spoiled_on_its_way_is_what_it_was_or_an_error(kind: Kind) {
    let key = Key::new("key");
    let config =
        ServerConfig { keys: vec![key.clone()], zones: vec![(APEX.to_owned(), zone())], ..ServerConfig::default() };
    let Some(server) = Server::start(kind, &config) else { return };
    let client = Arc::new(Client::new(Some(&key)));
    let direct = client.ask(&server.address(), (APEX, &questions()), AMPLE).expect("nothing is in between");
    let holding = direct.iter().filter(|answer| matches!(answer, Answer::Holds(Rtype::AAAA, _))).count();
    assert_eq!((holding, direct.len()), (HOSTS, QUESTIONS));
    let closed = (0..QUESTIONS).flat_map(|at| cases(at, &key));
    let silent = (0..QUESTIONS).flat_map(|at| cases(at, &key)).map(|case| {
        // Where nothing was spoiled in earnest, a slow machine may be late.
        let allowed = if case.allowed == Allowed::Zone { Allowed::Either } else { case.allowed };
        case.stalled(allowed)
    });
    let jobs = closed.chain(silent).map(|Case { name, timeout, allowed, spoil }| {
        let (client, server, direct) = (client.clone(), &server, &direct);
        let job = move || {
            let size = Size { questions: QUESTIONS, messages: QUESTIONS };
            let proxy = Proxy::spoiling(&server.address(), size, spoil);
            let (sender, asked) = mpsc::channel();
            let address = proxy.address();
            thread::spawn(move || {
                // After the watchdog the client is gone.
                let _ = sender.send(client.ask(&address, (APEX, &questions()), timeout));
            });
            let outcome = match asked.recv_timeout(WATCHDOG).expect("asking returns") {
                Ok(answers) if answers == *direct => Outcome::Zone,
                Ok(_) => Outcome::OtherZone,
                Err(error) => Outcome::Error(error.code.as_str()),
            };
            assert_eq!(proxy.passed().answer.len(), QUESTIONS);
            outcome
        };
        (name, allowed, job)
    });
    let jobs: Vec<_> = jobs.collect();
    let total = jobs.len();
    assert_eq!(total, 2 * 10 * QUESTIONS);
    let tally = run_all(jobs, SIDE_BY_SIDE);
    eprintln!("{kind:?}: {tally}");
    assert_eq!(tally.cases(), total);
    assert!(tally.zones() >= 2 * QUESTIONS && tally.errors() >= 2 * 8 * QUESTIONS, "{tally}");
}
