//! A proxy between any number of connections and a name server, which does one wrong at one place of a session.
//!
//! Comes in: a server's address and the zones that it is asked about, then for each session at most one fault. Goes
//! out: an address for the clients, and afterwards what passed. A connection is identified by the zone of its first
//! message, and by how many connections about that zone came before it: where a client does the same again, the same
//! connection is the same place, regardless of its other zones at that time.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::Duration;

use crate::proxy::{WATCHDOG, exchange, framed, is_update, read_message};

/// How long a message that is to come after the next one waits for that.
const NEXT: Duration = Duration::from_millis(200);

/// Between the octets of a message that drips.
const DRIP: Duration = Duration::from_millis(4);

/// How many octets of a message drip; the rest comes at once. Together they take longer than the deadline of a second.
const DRIPS: usize = 300;

/// A connection: the zone with its final dot, empty where it is about none, and its number among those about it.
pub type Line = (String, usize);

/// Where messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From a client to the server.
    Up,
    /// From the server to a client.
    Down,
}

/// What is done wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A message does not come.
    Dropped,
    /// A message comes later.
    Delayed(Duration),
    /// A message comes twice.
    Doubled,
    /// A message comes after the next one.
    Swapped,
    /// A message comes octet by octet.
    Dripping,
    /// The connection ends.
    Cut,
    /// One side sees the end of the stream; the other way stays open.
    HalfClosed,
    /// Nothing more passes, and the connection stays open.
    Stalled,
    /// The connection ends, and from then on the server cannot be reached.
    Gone,
    /// Nothing more passes on any connection, and all stay open.
    Silent,
    /// As [`Wrong::Gone`], and the message comes in the next session, before the message up of this number from 0
    /// there, or after all.
    Late(usize),
}

/// Where it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// To a message, by its number from 0.
    Message(usize),
    /// After so many octets of this way, lengths included; before the first message where it is 0.
    Octet(usize),
}

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Of which connection.
    pub line: Line,
    /// Which way.
    pub way: Way,
    /// Where.
    pub at: At,
    /// What.
    pub wrong: Wrong,
}

/// A message that came.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Its octets, those of its length too.
    pub octets: usize,
    /// Whether it is an update, or the answer to one.
    pub is_update: bool,
}

/// What came on each connection, up and down.
pub type Passed = BTreeMap<Line, [Vec<Seen>; 2]>;

/// A proxy. It works as long as the test's process does.
pub struct Faults {
    /// Where it listens, on 127.0.0.1.
    port: u16,
    /// What its threads share.
    shared: Arc<Shared>,
}

/// What the threads of a proxy share.
struct Shared {
    /// The server.
    server: String,
    /// The zones, with their final dots.
    zones: Vec<String>,
    /// The session.
    session: Mutex<Session>,
    /// Tells that a connection ended.
    ended: Condvar,
}

/// One session.
#[derive(Default)]
struct Session {
    /// What is to be done wrong.
    fault: Option<Fault>,
    /// Whether it was.
    is_struck: bool,
    /// How many connections there were about each zone.
    counts: HashMap<String, usize>,
    /// What came, with any outcome.
    passed: Passed,
    /// How many connections are open.
    open: usize,
    /// What all connections suffer from now on.
    lasting: Option<Wrong>,
    /// What is to come in the next session, and before which message up.
    late: Option<(usize, Vec<u8>)>,
    /// The same, left by the last session.
    left: Option<(usize, Vec<u8>)>,
}

/// What happens to a message.
enum Fate {
    /// It passes.
    Passes,
    /// Of its octets so many pass; then this.
    Wrong(usize, Wrong),
}

impl Faults {
    /// Starts one.
    pub fn start(server: &str, zones: &[String]) -> Faults {
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            zones: zones.to_vec(),
            session: Mutex::default(),
            ended: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        let port = listen(move |client| {
            of_thread.session().open += 1;
            // A connection that ends before it begins is one that a client gave up.
            let _ = serve(client, &of_thread);
            of_thread.session().open -= 1;
            of_thread.ended.notify_all();
        });
        Faults { port, shared }
    }

    /// The address for the clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Lets a session pass, with this fault; gives what `work` gives, what came, and whether the fault was met. What is
    /// late has arrived by then, but for what is to come in the next session; what the last one left has.
    pub fn session<T>(&self, fault: Option<Fault>, work: impl FnOnce() -> T) -> (T, Passed, bool) {
        let mut session = self.shared.session();
        *session = Session { fault, left: session.late.take(), ..Session::default() };
        drop(session);
        let done = work();
        let session = self.shared.session();
        let (session, waited) = self
            .shared
            .ended
            .wait_timeout_while(session, WATCHDOG, |session| session.open > 0)
            .expect("nothing panics with it");
        assert!(!waited.timed_out(), "{} connections do not end", session.open);
        drop(session);
        self.shared.deliver(usize::MAX);
        let mut session = self.shared.session();
        (done, std::mem::take(&mut session.passed), session.is_struck)
    }
}

/// Listens on a free port of 127.0.0.1, and serves each client in a thread of its own.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(client));
        }
    });
    port
}

/// Serves one client until both ends hang up.
fn serve(client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect(&shared.server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let line = Arc::new(OnceLock::new());
    let down = Pump {
        from: server.try_clone()?,
        to: Arc::new(Mutex::new(client.try_clone()?)),
        way: Way::Down,
        line: Arc::clone(&line),
        shared: Arc::clone(shared),
    };
    let up = Pump { from: client, to: Arc::new(Mutex::new(server)), way: Way::Up, line, shared: Arc::clone(shared) };
    let answers = thread::spawn(move || down.run());
    up.run();
    // It ends with the server's end of the connection; what it met there is the client's to notice.
    let _ = answers.join();
    Ok(())
}

/// Passes messages one way.
struct Pump {
    /// Who sends.
    from: TcpStream,
    /// Who is sent to.
    to: Arc<Mutex<TcpStream>>,
    /// Which way.
    way: Way,
    /// Which connection; known with the first message up.
    line: Arc<OnceLock<Line>>,
    /// The session.
    shared: Arc<Shared>,
}

impl Pump {
    /// Passes all that comes.
    fn run(mut self) {
        let mut waits: Option<Arc<Mutex<Option<Vec<u8>>>>> = None;
        while let Ok(message) = read_message(&mut self.from) {
            if self.way == Way::Up {
                self.line.get_or_init(|| self.shared.line_of(&message));
            }
            let octets = framed(&message);
            let fate = self.fate(&message, octets.len());
            if self.way == Way::Up {
                let ups = self.shared.session().ups();
                self.shared.deliver(ups);
            }
            let passed = match fate {
                Fate::Passes => self.send(&octets),
                Fate::Wrong(first, Wrong::Cut | Wrong::Gone | Wrong::Late(_)) => {
                    let _ = self.send(&octets[..first]);
                    let _ = self.from.shutdown(Shutdown::Both);
                    let _ = self.to.lock().expect("nothing panics with it").shutdown(Shutdown::Both);
                    return;
                }
                Fate::Wrong(first, wrong @ (Wrong::HalfClosed | Wrong::Stalled | Wrong::Silent)) => {
                    let _ = self.send(&octets[..first]);
                    if wrong == Wrong::HalfClosed {
                        let _ = self.to.lock().expect("nothing panics with it").shutdown(Shutdown::Write);
                    }
                    while read_message(&mut self.from).is_ok() {}
                    break;
                }
                Fate::Wrong(_, Wrong::Dropped) => Ok(()),
                Fate::Wrong(_, Wrong::Doubled) => self.send(&[&octets[..], &octets].concat()),
                Fate::Wrong(_, Wrong::Delayed(pause)) => {
                    thread::sleep(pause);
                    self.send(&octets)
                }
                Fate::Wrong(_, Wrong::Dripping) => self.drip(&octets),
                Fate::Wrong(_, Wrong::Swapped) => {
                    waits = Some(self.keep_for_the_next(octets));
                    continue;
                }
            };
            let behind = waits.take().and_then(|waits| waits.lock().expect("nothing panics with it").take());
            if passed.and_then(|()| behind.map_or(Ok(()), |behind| self.send(&behind))).is_err() {
                let _ = self.from.shutdown(Shutdown::Both);
                break;
            }
        }
        if let Some(waits) = waits {
            // Its thread sends it if no other thread did.
            while waits.lock().expect("nothing panics with it").is_some() {
                thread::sleep(NEXT / 10);
            }
        }
        let _ = self.to.lock().expect("nothing panics with it").shutdown(Shutdown::Write);
    }

    /// What happens to the message that just came.
    fn fate(&self, message: &[u8], octets: usize) -> Fate {
        let line = self.line.get().expect("no server speaks first");
        let mut session = self.shared.session();
        let fate = session.fate((line, self.way), Seen { octets, is_update: is_update(message) });
        if let Fate::Wrong(_, Wrong::Late(before)) = fate {
            session.late = Some((before, message.to_vec()));
        }
        fate
    }

    /// Sends octets.
    fn send(&self, octets: &[u8]) -> io::Result<()> {
        self.to.lock().expect("nothing panics with it").write_all(octets)
    }

    /// Sends a message, its first octets one by one.
    fn drip(&self, octets: &[u8]) -> io::Result<()> {
        let (first, rest) = octets.split_at(octets.len().min(DRIPS));
        for octet in first {
            self.send(&[*octet])?;
            thread::sleep(DRIP);
        }
        self.send(rest)
    }

    /// Keeps a message until another replaces it, or for a while; the thread that takes it sends it.
    fn keep_for_the_next(&self, octets: Vec<u8>) -> Arc<Mutex<Option<Vec<u8>>>> {
        let kept = Arc::new(Mutex::new(Some(octets)));
        let (of_thread, to) = (Arc::clone(&kept), Arc::clone(&self.to));
        thread::spawn(move || {
            thread::sleep(NEXT);
            let mut kept = of_thread.lock().expect("nothing panics with it");
            if let Some(octets) = kept.as_deref() {
                // The receiver may be gone.
                let _ = to.lock().expect("nothing panics with it").write_all(octets);
            }
            *kept = None;
        });
        kept
    }
}

impl Shared {
    /// The session.
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().expect("nothing panics with it")
    }

    /// Delivers what the last session left, if it is to come before the message up of this number, from 1.
    fn deliver(&self, number: usize) {
        let left = self.session().left.take_if(|(before, _)| *before < number);
        if let Some((_, message)) = left {
            exchange(&self.server, &message).expect("the server answers");
        }
    }

    /// Which connection it is whose first message this is.
    fn line_of(&self, message: &[u8]) -> Line {
        let name = first_name(message);
        let is_in = |zone: &&String| name == **zone || name.ends_with(&format!(".{zone}"));
        let zone = self.zones.iter().filter(is_in).max_by_key(|zone| zone.len()).cloned().unwrap_or_default();
        let mut session = self.session();
        let count = session.counts.entry(zone.clone()).or_default();
        *count += 1;
        (zone, *count - 1)
    }
}

/// The octets of messages.
pub fn octets_of(messages: &[Seen]) -> usize {
    messages.iter().map(|seen| seen.octets).sum()
}

impl Session {
    /// How many messages came up.
    fn ups(&self) -> usize {
        self.passed.values().map(|ways| ways[Way::Up as usize].len()).sum()
    }

    /// What happens to a message of so many octets.
    fn fate(&mut self, (line, way): (&Line, Way), seen: Seen) -> Fate {
        let passed = &mut self.passed.entry(line.clone()).or_default()[way as usize];
        let (number, start) = (passed.len(), octets_of(passed));
        passed.push(seen);
        let octets = seen.octets;
        if let Some(lasting) = self.lasting {
            return Fate::Wrong(0, lasting);
        }
        let fault = self.fault.as_ref().filter(|fault| !self.is_struck && (&fault.line, fault.way) == (line, way));
        let Some(fault) = fault else { return Fate::Passes };
        let first = match fault.at {
            At::Message(at) if at == number && matches!(fault.wrong, Wrong::Late(_)) => 0,
            At::Message(at) if at == number => octets,
            At::Octet(at) if (start < at || at == 0) && at <= start + octets => at - start,
            At::Message(_) | At::Octet(_) => return Fate::Passes,
        };
        self.is_struck = true;
        self.lasting = match fault.wrong {
            Wrong::Late(_) | Wrong::Gone => Some(Wrong::Gone),
            Wrong::Silent => Some(Wrong::Silent),
            _ => None,
        };
        Fate::Wrong(first, fault.wrong)
    }
}

/// The first name in a message, with its final dot: of its question, or of the zone of an update.
fn first_name(message: &[u8]) -> String {
    let mut name = String::new();
    let mut rest = message.get(12..).unwrap_or_default();
    while let Some((length, labels)) = rest.split_first().filter(|(length, _)| **length > 0) {
        let (label, behind) = labels.split_at(usize::from(*length).min(labels.len()));
        name += &String::from_utf8_lossy(label).to_ascii_lowercase();
        name.push('.');
        rest = behind;
    }
    name
}
