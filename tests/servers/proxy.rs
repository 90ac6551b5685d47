//! A proxy between a client and a name server, which knows the framing of DNS over TCP and spoils what passes.
//!
//! Comes in: a server's address, and what to do with the messages of one exchange. Goes out: an address for the client,
//! and afterwards what passed. Each proxy serves one connection, so that each case of a test has its own.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that must not hang: far more than it takes anywhere, far less than a person waits.
pub const WATCHDOG: Duration = Duration::from_secs(120);

/// Waits until something is so; `fault` says what is wrong where it does not come.
pub fn wait_until(is_so: impl Fn() -> bool, fault: impl Fn() -> String) {
    let deadline = Instant::now() + WATCHDOG;
    while !is_so() {
        assert!(Instant::now() < deadline, "{}", fault());
        thread::sleep(Duration::from_millis(5));
    }
}

/// How many more may ask a server at the moment: it refuses more than a few transfers at once (BIND: `transfers-out`
/// 10).
static PERMITS: Mutex<usize> = Mutex::new(8);

/// Tells those who wait that one of [`PERMITS`] came back.
static RETURNED: Condvar = Condvar::new();

/// What passed through a proxy, each message without its length.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// The client's questions.
    pub questions: Vec<Vec<u8>>,
    /// What the server answered.
    pub answer: Vec<Vec<u8>>,
}

/// How many messages an exchange has.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Questions; all of them are sent before any answer is needed.
    pub questions: usize,
    /// Messages of the server.
    pub messages: usize,
}

/// What a client gets to see of an answer.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The octets, lengths included.
    pub octets: Vec<u8>,
    /// What comes after them.
    pub end: End,
}

/// What a connection comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The proxy closes it.
    Closed,
    /// It stays open, and nothing more comes.
    Stalled,
}

/// A proxy, waiting for its client.
pub struct Proxy {
    /// Where it listens, on 127.0.0.1.
    port: u16,
    /// Gives what passed, once the client has gone.
    passed: Receiver<io::Result<Exchange>>,
}

impl Proxy {
    /// Lets everything pass, but for the question, which goes on as `change` makes it.
    pub fn passing(server: &str, change: impl FnOnce(&mut Vec<u8>) + Send + 'static) -> Proxy {
        let server = server.to_owned();
        Proxy::start(move |mut client| {
            let mut question = read_message(&mut client)?;
            change(&mut question);
            let mut upstream = TcpStream::connect(server)?;
            upstream.write_all(&framed(&question))?;
            let whole = upstream.try_clone()?;
            let mut watched = client.try_clone()?;
            // The server keeps its connection open for more questions: it is over when the client hangs up.
            thread::spawn(move || {
                let _ = watched.read(&mut [0]);
                let _ = whole.shutdown(Shutdown::Both);
            });
            let mut answer = Vec::new();
            while let Ok(message) = read_message(&mut upstream) {
                let gone = client.write_all(&framed(&message)).is_err();
                answer.push(message);
                if gone {
                    break;
                }
            }
            let _ = client.shutdown(Shutdown::Both);
            Ok(Exchange { questions: vec![question], answer })
        })
    }

    /// Takes the whole answer from the server, and sends the client what `spoil` makes of it.
    pub fn spoiling(server: &str, size: Size, spoil: impl FnOnce(&[Vec<u8>]) -> Sent + Send + 'static) -> Proxy {
        let server = server.to_owned();
        Proxy::start(move |mut client| {
            let questions = read_messages(&mut client, size.questions)?;
            let answer = ask(&server, &questions, size.messages)?;
            let Sent { octets, end } = spoil(&answer);
            // The client hangs up as soon as it has seen enough.
            let _ = client.write_all(&octets);
            match end {
                End::Closed => drop(client.shutdown(Shutdown::Write)),
                End::Stalled => {}
            }
            // Closing with octets unread would take back what was sent: wait for the client to hang up.
            let _ = client.read(&mut [0]);
            Ok(Exchange { questions, answer })
        })
    }

    /// Takes the question, and closes the connection without asking the server.
    pub fn listening() -> Proxy {
        Proxy::start(|mut client| Ok(Exchange { questions: read_messages(&mut client, 1)?, answer: Vec::new() }))
    }

    /// The address for the client.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What passed, once the client has hung up.
    pub fn passed(self) -> Exchange {
        self.passed.recv_timeout(WATCHDOG).expect("the client came and went").expect("the server answers the proxy")
    }

    /// Waits for one client in a thread of its own.
    fn start(serve: impl FnOnce(TcpStream) -> io::Result<Exchange> + Send + 'static) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (sender, passed) = mpsc::channel();
        thread::spawn(move || {
            let exchange = listener.accept().and_then(|(client, _)| {
                client.set_nodelay(true)?;
                serve(client)
            });
            // A test that has failed already does not listen.
            let _ = sender.send(exchange);
        });
        Proxy { port, passed }
    }
}

/// A message behind its length (RFC 1035 section 4.2.2).
pub fn framed(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).expect("a message fits behind its length");
    [&length.to_be_bytes(), message].concat()
}

/// Messages behind their lengths.
pub fn stream(messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|message| framed(message)).collect()
}

/// Asks a server and reads an answer of so many messages.
fn ask(server: &str, questions: &[Vec<u8>], messages: usize) -> io::Result<Vec<Vec<u8>>> {
    let _permit = Permit::take();
    let mut upstream = TcpStream::connect(server)?;
    upstream.set_read_timeout(Some(WATCHDOG))?;
    upstream.write_all(&stream(questions))?;
    read_messages(&mut upstream, messages)
}

/// One of [`PERMITS`], as long as it lives.
struct Permit;

impl Permit {
    /// Waits for one and takes it.
    fn take() -> Permit {
        let permits = PERMITS.lock().expect("counting does not panic");
        *RETURNED.wait_while(permits, |permits| *permits == 0).expect("counting does not panic") -= 1;
        Permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *PERMITS.lock().expect("counting does not panic") += 1;
        RETURNED.notify_one();
    }
}

/// Reads so many messages.
fn read_messages(stream: &mut TcpStream, count: usize) -> io::Result<Vec<Vec<u8>>> {
    (0..count).map(|_| read_message(stream)).collect()
}

/// Reads a message with its length.
pub fn read_message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message)?;
    Ok(message)
}

/// Sends a server one message over a connection of its own; gives its answer.
pub fn exchange(server: &str, message: &[u8]) -> io::Result<Vec<u8>> {
    let mut upstream = TcpStream::connect(server)?;
    upstream.set_read_timeout(Some(WATCHDOG))?;
    upstream.write_all(&framed(message))?;
    read_message(&mut upstream)
}

/// Whether a message is an update (RFC 2136 section 1.3: opcode 5).
pub fn is_update(message: &[u8]) -> bool {
    message.get(2).is_some_and(|flags| flags >> 3 & 0xf == 5)
}
