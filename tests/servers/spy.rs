//! A relay between a client and a name server that notes what is asked, and spoils answers of one kind.
//!
//! Comes in: a server's address, which may become another's. Goes out: an address for the client that stays the same,
//! and the types of all questions in their order.

use std::io::Write as _;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::proxy::{framed, read_message};

/// What the client gets in the place of a message of the server, which has this place in the answer; nothing more at
/// all where it is none.
pub type Spoil = Box<dyn FnMut(usize, Vec<u8>) -> Option<Vec<Vec<u8>>> + Send>;

/// A relay.
pub struct Spy {
    /// Where it listens.
    port: u16,
    /// What its threads share.
    shared: Arc<Shared>,
}

/// What the threads of a relay share.
struct Shared {
    /// The server.
    server: Mutex<String>,
    /// The types that were asked for.
    asked: Mutex<Vec<u16>>,
    /// What is spoiled: answers to questions for this type.
    spoil: Mutex<Option<(u16, Spoil)>>,
}

impl Spy {
    /// Starts between its clients and a server.
    pub fn start(server: &str) -> Spy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Shared { server: Mutex::new(server.to_owned()), asked: Mutex::default(), spoil: Mutex::new(None) };
        let shared = Arc::new(shared);
        let of_relay = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let shared = of_relay.clone();
                // The end that closes first ends it.
                thread::spawn(move || drop(relay(&client, &shared)));
            }
        });
        Spy { port, shared }
    }

    /// The address for the client.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Puts another server behind it.
    pub fn lead_to(&self, server: &str) {
        *self.shared.server.lock().expect("no thread panics") = server.to_owned();
    }

    /// Spoils answers to questions for a type from now on.
    pub fn spoil(&self, rtype: u16, spoil: Spoil) {
        *self.shared.spoil.lock().expect("no thread panics") = Some((rtype, spoil));
    }

    /// What was asked since this was last called.
    pub fn asked(&self) -> Vec<u16> {
        std::mem::take(&mut *self.shared.asked.lock().expect("no thread panics"))
    }
}

/// Serves one connection until either side has gone.
fn relay(client: &TcpStream, shared: &Arc<Shared>) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let server = shared.server.lock().expect("no thread panics").clone();
    let upstream = TcpStream::connect(server)?;
    upstream.set_nodelay(true)?;
    let last = Arc::new(AtomicU16::new(0));
    let (mut questions, mut to_server) = (client.try_clone()?, upstream.try_clone()?);
    let (of_questions, noted) = (last.clone(), shared.clone());
    thread::spawn(move || {
        while let Ok(question) = read_message(&mut questions) {
            let rtype = type_of(&question);
            of_questions.store(rtype, Ordering::SeqCst);
            noted.asked.lock().expect("no thread panics").push(rtype);
            if to_server.write_all(&framed(&question)).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut answers, mut to_client) = (upstream, client.try_clone()?);
    let mut place = 0;
    while let Ok(message) = read_message(&mut answers) {
        let rtype = last.load(Ordering::SeqCst);
        let sent = match &mut *shared.spoil.lock().expect("no thread panics") {
            Some((spoiled, spoil)) if *spoiled == rtype => spoil(place, message),
            _ => Some(vec![message]),
        };
        place += 1;
        let Some(messages) = sent else { break };
        for message in messages {
            to_client.write_all(&framed(&message))?;
        }
    }
    client.shutdown(Shutdown::Both)
}

/// The type that a question asks for.
fn type_of(question: &[u8]) -> u16 {
    let mut at = 12;
    while question[at] != 0 {
        at += 1 + usize::from(question[at]);
    }
    u16::from_be_bytes([question[at + 1], question[at + 2]])
}
