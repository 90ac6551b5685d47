//! Sockets and threads: UDP and TCP on loopback addresses, and nowhere else.
//!
//! A thread waits for datagrams, one for connections, and one serves each connection: messages of one are answered in
//! the order in which they come, however many are on the way.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::answer::MAX_TCP;
use super::service::{RequestOutcome, RequestTransport, Service};

/// How many connections there may be at once; a further one is closed at once (BIND's `tcp-clients` is 150).
const MAX_CONNECTIONS: usize = 150;

/// How long a connection may be idle, how long a request may be on its way, and how long a client may take for each
/// message that is sent to it (BIND's `tcp-idle-timeout`).
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
pub struct RunningServer {
    /// Where it listens.
    address: SocketAddr,
    /// Whether it is to end.
    is_ending: Arc<AtomicBool>,
    /// The threads that wait for datagrams and connections.
    threads: Vec<JoinHandle<()>>,
}

impl RunningServer {
    /// Where it listens, with the port that it has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for RunningServer {
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
pub fn listen(service: &Arc<Service>, address: SocketAddr) -> Result<RunningServer, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let (udp, tcp) = bind(address).map_err(|error| ListenError::Io(address, error))?;
    let address = tcp.local_addr().map_err(|error| ListenError::Io(address, error))?;
    udp.set_read_timeout(Some(LOOK)).map_err(|error| ListenError::Io(address, error))?;
    let is_ending = Arc::new(AtomicBool::new(false));
    let datagrams = {
        let (service, is_ending) = (Arc::clone(service), Arc::clone(&is_ending));
        Builder::new().spawn(move || serve_datagrams(&service, &udp, &is_ending))
    };
    let datagrams = datagrams.map_err(|error| ListenError::Io(address, error))?;
    let connections = {
        let (service, is_ending) = (Arc::clone(service), Arc::clone(&is_ending));
        Builder::new().spawn(move || serve_connections(&service, &tcp, &is_ending))
    };
    let connections = connections.map_err(|error| {
        // The other thread ends at its next look.
        is_ending.store(true, Ordering::Relaxed);
        ListenError::Io(address, error)
    })?;
    Ok(RunningServer { address, is_ending, threads: vec![datagrams, connections] })
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
        if let RequestOutcome::Answered(messages) = service.handle(&room[..length], RequestTransport::Udp) {
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
        let (service, served) = (Arc::clone(service), Arc::clone(&open));
        let serving = Builder::new().spawn(move || {
            // For any reason that ends a connection, the client sees it end.
            let _ = serve_connection(&service, stream, IDLE);
            served.fetch_sub(1, Ordering::Relaxed);
        });
        if serving.is_err() {
            // The connection ended with what would have served it.
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Answers on a connection until it ends, a message takes longer than `patience`, or an update is not to be answered.
fn serve_connection(service: &Service, mut stream: TcpStream, patience: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut room = Vec::new();
    loop {
        // One deadline for the whole request: a client that sends an octet at a time would hold its connection for ever.
        let deadline = Instant::now() + patience;
        let mut length = [0; 2];
        read_before(&mut stream, &mut length, deadline)?;
        room.resize(usize::from(u16::from_be_bytes(length)), 0);
        read_before(&mut stream, &mut room, deadline)?;
        let RequestOutcome::Answered(messages) = service.handle(&room, RequestTransport::Tcp) else {
            return stream.shutdown(Shutdown::Both);
        };
        for message in messages {
            let length = (message.len() as u16).to_be_bytes();
            write_before(&mut stream, &[&length[..], &message].concat(), Instant::now() + patience)?;
        }
    }
}

/// Fills `room` before a deadline.
fn read_before(stream: &mut TcpStream, mut room: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !room.is_empty() {
        stream.set_read_timeout(Some(left_until(deadline)?))?;
        match stream.read(room) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(octets) => room = &mut room[octets..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `octets` before a deadline.
fn write_before(stream: &mut TcpStream, mut octets: &[u8], deadline: Instant) -> io::Result<()> {
    while !octets.is_empty() {
        stream.set_write_timeout(Some(left_until(deadline)?))?;
        match stream.write(octets) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => octets = &octets[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How long there is until a deadline; a socket takes no timeout of zero.
fn left_until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::service::ServiceOptions;
    use super::*;

    /// A connection that is served with this patience: the client's side of it, and the thread that serves.
    fn served(patience: Duration) -> (TcpStream, JoinHandle<io::Result<()>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let service = Service::new(&[], ServiceOptions::default());
        (client, thread::spawn(move || serve_connection(&service, stream, patience)))
    }

    #[test]
    fn a_client_that_sends_an_octet_at_a_time_is_not_waited_for() {
        let (mut client, serving) = served(Duration::from_millis(300));
        let began = Instant::now();
        // Each octet comes well within the deadline; the request of 257 octets would take five seconds.
        while began.elapsed() < Duration::from_secs(20) && client.write_all(&[1]).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(serving.join().unwrap().is_err());
    }

    #[test]
    fn a_client_that_takes_nothing_is_not_waited_for() {
        let (mut stream, _client) = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (listener.accept().unwrap().0, client)
        };
        let error = write_before(&mut stream, &vec![0; 64 << 20], Instant::now() + Duration::from_millis(300));
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    }
}
