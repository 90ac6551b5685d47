//! Sockets and threads: UDP and TCP on loopback addresses, and nowhere else.
//!
//! A thread waits for datagrams, one for connections, and one serves each connection: messages of one are answered in
//! the order in which they come, however many are on the way.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::answer::MAX_TCP;
use super::service::{Outcome, Service, Transport};

/// How many connections there may be at once; a further one is closed at once (BIND's `tcp-clients` is 150).
const MAX_CONNECTIONS: usize = 150;

/// How long a connection may be idle, and how long it may take to take what is sent to it (BIND's `tcp-idle-timeout`).
const IDLE: Duration = Duration::from_secs(30);

/// How often the thread for datagrams looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// How often a port is tried that is free for TCP, in case it is not for UDP.
const ATTEMPTS: usize = 20;

/// Why a server cannot listen.
#[derive(Debug)]
pub enum ListenError {
    /// The address is one that others can reach.
    NotLoopback(SocketAddr),
    /// The system does not let us.
    Io(SocketAddr, io::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenError::NotLoopback(address) => write!(f, "`{address}` is not a loopback address"),
            ListenError::Io(address, error) => {
                write!(f, "cannot listen on `{address}`: {}", error.to_string().to_lowercase())
            }
        }
    }
}

impl std::error::Error for ListenError {}

/// A server that runs; it ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    address: SocketAddr,
    /// Whether it is to end.
    is_ending: Arc<AtomicBool>,
    /// The threads that wait for datagrams and connections.
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Where it listens, with the port that it has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        // The thread that waits for connections looks up when one comes. If none can come it is past waiting.
        drop(TcpStream::connect(self.address));
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported it.
            let _ = thread.join();
        }
    }
}

/// Begins to serve on an address, UDP and TCP; port 0 means any free port.
///
/// Errors: see [`ListenError`].
pub fn listen(service: &Arc<Service>, address: SocketAddr) -> Result<Running, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let (udp, tcp) = bind(address).map_err(|error| ListenError::Io(address, error))?;
    let address = tcp.local_addr().map_err(|error| ListenError::Io(address, error))?;
    udp.set_read_timeout(Some(LOOK)).map_err(|error| ListenError::Io(address, error))?;
    let is_ending = Arc::new(AtomicBool::new(false));
    let datagrams = {
        let (service, is_ending) = (Arc::clone(service), Arc::clone(&is_ending));
        thread::spawn(move || serve_datagrams(&service, &udp, &is_ending))
    };
    let connections = {
        let (service, is_ending) = (Arc::clone(service), Arc::clone(&is_ending));
        thread::spawn(move || serve_connections(&service, &tcp, &is_ending))
    };
    Ok(Running { address, is_ending, threads: vec![datagrams, connections] })
}

/// Takes an address for both transports.
fn bind(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let mut attempts = if address.port() == 0 { ATTEMPTS } else { 1 };
    loop {
        let tcp = TcpListener::bind(address)?;
        attempts -= 1;
        match UdpSocket::bind(tcp.local_addr()?) {
            Ok(udp) => return Ok((udp, tcp)),
            Err(error) if attempts == 0 => return Err(error),
            Err(_) => {}
        }
    }
}

/// Answers datagrams.
fn serve_datagrams(service: &Service, socket: &UdpSocket, is_ending: &AtomicBool) {
    let mut room = vec![0; MAX_TCP];
    while !is_ending.load(Ordering::Relaxed) {
        // Nothing came for a while, or what went out could not be delivered: neither is an end.
        let Ok((length, sender)) = socket.recv_from(&mut room) else { continue };
        if let Outcome::Answered(messages) = service.handle(&room[..length], Transport::Udp) {
            for message in messages {
                // The client is gone, or asks again.
                let _ = socket.send_to(&message, sender);
            }
        }
    }
}

/// Answers on connections, each on a thread of its own.
fn serve_connections(service: &Arc<Service>, listener: &TcpListener, is_ending: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if is_ending.load(Ordering::Relaxed) {
            return;
        }
        // A connection that ended before it was taken, or no room for it just now.
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (service, open) = (Arc::clone(service), Arc::clone(&open));
        thread::spawn(move || {
            // For any reason that ends a connection, the client sees it end.
            let _ = serve_connection(&service, stream);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Answers on a connection until it ends, is idle for too long, or an update is not to be answered.
fn serve_connection(service: &Service, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let mut room = Vec::new();
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        room.resize(usize::from(u16::from_be_bytes(length)), 0);
        stream.read_exact(&mut room)?;
        let Outcome::Answered(messages) = service.handle(&room, Transport::Tcp) else {
            return stream.shutdown(Shutdown::Both);
        };
        for message in messages {
            let length = (message.len() as u16).to_be_bytes();
            stream.write_all(&[&length[..], &message].concat())?;
        }
    }
}
