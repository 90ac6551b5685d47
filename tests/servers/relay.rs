//! A relay between any number of clients and a name server, which knows DNS over TCP and decides the fate of updates.
//!
//! Comes in: a server's address, and the fate of the first update, the second, and so on, from any sender.
//! Goes out: an address for the clients. Everything else passes.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::faults::listen;
use crate::proxy::{exchange, framed, is_update, read_message};

/// How long the server may take to answer what a client that died had sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// What happens to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It passes, and so does its answer.
    Passes,
    /// The connection ends before the server has it.
    Lost,
    /// The server never has it, and the connection stays open.
    Held,
    /// The connection ends before the server has it; it is kept for [`Relay::deliver`].
    Late,
    /// The server gets it; the connection ends instead of an answer.
    AnswerLost,
    /// The server gets it; the answer never comes, and the connection stays open.
    AnswerSwallowed,
    /// The server never has it, and from now on it cannot be reached.
    Dead,
    /// The server never has it, and its sender gets the answer that it is done; for clients without a key.
    Pretended,
    /// The server gets it, and ends with the answer: from now on it cannot be reached.
    LastBreath,
}

/// Decides; told which update it is, from 1.
type Decide = dyn Fn(usize) -> Fate + Send + Sync;

/// A relay. It works as long as the test's process does.
pub struct Relay {
    /// Where it listens, on 127.0.0.1.
    port: u16,
    /// What its threads share.
    shared: Arc<Shared>,
}

/// What the threads of a relay share.
struct Shared {
    /// The server.
    server: String,
    /// How many updates came.
    updates: AtomicUsize,
    /// How many updates the server answered.
    answered: AtomicUsize,
    /// The updates that are late.
    late: Mutex<Vec<Vec<u8>>>,
    /// Whether the server can no longer be reached.
    is_dead: AtomicBool,
    /// Decides.
    decide: Box<Decide>,
}

impl Relay {
    /// Starts one.
    pub fn start(server: &str, decide: impl Fn(usize) -> Fate + Send + Sync + 'static) -> Relay {
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            updates: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            late: Mutex::default(),
            is_dead: AtomicBool::new(false),
            decide: Box::new(decide),
        });
        let of_thread = Arc::clone(&shared);
        let port = listen(move |client| serve(client, &of_thread));
        Relay { port, shared }
    }

    /// The address for the clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Delivers the updates that are late, just as they were sent; gives what the server says, rcode by rcode.
    pub fn deliver(&self) -> Vec<u8> {
        let late = std::mem::take(&mut *self.shared.late.lock().expect("nothing panics with it"));
        let deliver = |message: Vec<u8>| exchange(&self.shared.server, &message).expect("the server answers")[3] & 0xf;
        late.into_iter().map(deliver).collect()
    }

    /// Whether any update is late.
    pub fn is_any_late(&self) -> bool {
        !self.shared.late.lock().expect("nothing panics with it").is_empty()
    }

    /// How many updates the server answered.
    pub fn answered(&self) -> usize {
        self.shared.answered.load(Ordering::SeqCst)
    }

    /// How many updates came.
    pub fn updates(&self) -> usize {
        self.shared.updates.load(Ordering::SeqCst)
    }
}

/// Serves one client until either end hangs up.
fn serve(mut client: TcpStream, shared: &Arc<Shared>) {
    if shared.is_dead.load(Ordering::SeqCst) {
        return;
    }
    let Ok(mut server) = TcpStream::connect(&shared.server) else { return };
    let fates: Arc<Mutex<HashMap<[u8; 2], Fate>>> = Arc::default();
    if client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).is_err() {
        return;
    }
    let (Ok(to_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
    let (of_thread, shared_with) = (Arc::clone(&fates), Arc::clone(shared));
    let answers = thread::spawn(move || pass_answers(from_server, to_client, &of_thread, &shared_with));
    while let Ok(message) = read_message(&mut client) {
        let fate = if is_update(&message) { shared.fate() } else { Fate::Passes };
        if fate == Fate::Late {
            shared.late.lock().expect("nothing panics with it").push(message);
            break;
        }
        if matches!(fate, Fate::Lost | Fate::Dead) || shared.is_dead.load(Ordering::SeqCst) {
            break;
        }
        if fate == Fate::Held {
            continue;
        }
        if fate == Fate::Pretended {
            if client.write_all(&framed(&done(&message))).is_err() {
                break;
            }
            continue;
        }
        fates.lock().expect("nothing panics with it").insert([message[0], message[1]], fate);
        if server.write_all(&framed(&message)).is_err() {
            break;
        }
    }
    // A client that died does not keep the server from what it was sent. Once all of it is answered, the zones are at rest.
    let deadline = Instant::now() + PATIENCE;
    let is_open = || !fates.lock().expect("nothing panics with it").is_empty();
    while !answers.is_finished() && is_open() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
    let _ = answers.join();
}

impl Shared {
    /// What happens to the update that just came.
    fn fate(&self) -> Fate {
        let fate = (self.decide)(self.updates.fetch_add(1, Ordering::SeqCst) + 1);
        if fate == Fate::Dead {
            self.is_dead.store(true, Ordering::SeqCst);
        }
        fate
    }
}

/// Passes answers back, but for those that are to be lost.
fn pass_answers(mut server: TcpStream, mut client: TcpStream, fates: &Mutex<HashMap<[u8; 2], Fate>>, shared: &Shared) {
    while let Ok(message) = read_message(&mut server) {
        if is_update(&message) {
            shared.answered.fetch_add(1, Ordering::SeqCst);
        }
        let fate = fates.lock().expect("nothing panics with it").remove(&[message[0], message[1]]);
        match fate {
            Some(Fate::AnswerSwallowed) => continue,
            Some(Fate::AnswerLost) => break,
            Some(Fate::LastBreath) => {
                shared.is_dead.store(true, Ordering::SeqCst);
                break;
            }
            _ if shared.is_dead.load(Ordering::SeqCst) => break,
            _ => {}
        }
        // To a client that died there is nothing to say; the other answers are still counted.
        let _ = client.write_all(&framed(&message));
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// The unsigned answer to an update that it is done: its zone section alone.
fn done(update: &[u8]) -> Vec<u8> {
    let labels = update[12..].iter().position(|octet| *octet == 0).expect("the zone's name ends");
    let head = [&update[..2], &[0xa8, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    [&head[..], &update[12..12 + labels + 5]].concat()
}
