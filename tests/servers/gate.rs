//! A gate between any number of clients and a name server: it counts the messages that pass, stops at one of them for as
//! long as something else is done, and can be shut.
//!
//! Comes in: a server's address. Goes out: an address for the clients. What passes is not changed.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use crate::faults::listen;
use crate::proxy::{framed, read_message, wait_until};

/// What is done before a message passes.
type Stop = Box<dyn FnOnce() + Send>;

/// A gate. It works as long as the test's process does.
pub struct Gate {
    /// Where it listens, on 127.0.0.1.
    port: u16,
    /// What its threads share.
    shared: Arc<Shared>,
}

/// What the threads of a gate share.
struct Shared {
    /// The server.
    server: String,
    /// How it is.
    state: Mutex<GateState>,
}

/// How a gate is.
#[derive(Default)]
struct GateState {
    /// How many messages passed, both ways.
    passed: usize,
    /// At which message it stops, by its number from 1, and what is done then.
    stop: Option<(usize, Stop)>,
    /// Whether nothing passes.
    is_shut: bool,
    /// How many clients it serves.
    clients: usize,
    /// Both ends of each connection.
    connections: Vec<TcpStream>,
}

impl Gate {
    /// Opens one.
    pub fn open(server: &str) -> Gate {
        let shared = Arc::new(Shared { server: server.to_owned(), state: Mutex::default() });
        let of_thread = Arc::clone(&shared);
        // A client or a server that hangs up ends its connection, and nothing else.
        let port = listen(move |client| {
            of_thread.state().clients += 1;
            drop(of_thread.serve(client));
            of_thread.state().clients -= 1;
        });
        Gate { port, shared }
    }

    /// The address for the clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Counts from 0 again; before the message of this number passes, both ways counted from 1, something is done.
    pub fn stop_at(&self, number: usize, stop: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state();
        state.passed = 0;
        state.stop = Some((number, Box::new(stop)));
    }

    /// Counts from 0 again, and stops at no message.
    pub fn stop_nowhere(&self) {
        let mut state = self.shared.state();
        state.passed = 0;
        state.stop = None;
    }

    /// How many messages passed, both ways.
    pub fn passed(&self) -> usize {
        self.shared.state().passed
    }

    /// Waits until it serves no client: the server then has all that a client sent before it died.
    pub fn wait_until_quiet(&self) {
        wait_until(|| self.shared.state().clients == 0, || "a connection does not end".to_owned());
    }

    /// Ends all connections, and lets no client in; or lets clients in again.
    pub fn set_shut(&self, is_shut: bool) {
        let mut state = self.shared.state();
        state.is_shut = is_shut;
        let ended = if is_shut { std::mem::take(&mut state.connections) } else { Vec::new() };
        drop(state);
        // One that has ended already cannot be ended.
        ended.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
    }
}

impl Shared {
    /// How the gate is.
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().expect("nothing panics with it")
    }

    /// Serves one client until either end hangs up.
    fn serve(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        if self.state().is_shut {
            return Ok(());
        }
        let server = TcpStream::connect(&self.server)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        self.state().connections.extend([client.try_clone()?, server.try_clone()?]);
        let (to_client, from_server, shared) = (client.try_clone()?, server.try_clone()?, Arc::clone(self));
        let down = thread::spawn(move || shared.pump(from_server, to_client));
        // The server gets all that a client sent before it died, and then sees the end.
        self.pump(client, server);
        down.join().expect("nothing panics in it");
        Ok(())
    }

    /// Passes messages one way, until one end hangs up.
    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        while let Ok(message) = read_message(&mut from) {
            self.note();
            if self.state().is_shut || to.write_all(&framed(&message)).is_err() {
                break;
            }
        }
        // The other end may have hung up before.
        let _ = to.shutdown(Shutdown::Write);
    }

    /// Counts a message, and does what is to be done before it passes.
    fn note(&self) {
        let mut state = self.state();
        state.passed += 1;
        let is_it = state.stop.as_ref().is_some_and(|(number, _)| *number == state.passed);
        let stop = if is_it { state.stop.take() } else { None };
        drop(state);
        if let Some((_, stop)) = stop {
            stop();
        }
    }
}
