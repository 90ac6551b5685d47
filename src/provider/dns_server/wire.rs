//! Messages over TCP: each behind its length, each with a deadline of its own.
//!
//! Source: RFC 1035 section 4.2.2, RFC 7766 section 8.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::settings::ServerAddress;

/// How much is read at once: the longest message, with its length.
const BUFFER: usize = 2 + 65_535;

/// Why a message did not come or go.
#[derive(Debug)]
pub enum WireFault {
    /// The server's name has no known address.
    Unresolved(io::Error),
    /// There is no connection.
    Connect(io::Error),
    /// The deadline passed.
    TimedOut,
    /// The server closed the connection before a message was whole.
    Closed,
    /// The system says no.
    Io(io::Error),
}

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    /// The socket.
    stream: TcpStream,
    /// How long one message may take.
    timeout: Duration,
    /// What was read.
    buffer: Box<[u8]>,
    /// Where in it the first unread octet is.
    start: usize,
    /// Where in it the octets end that were read.
    end: usize,
    /// How long the socket waits for octets.
    patience: Duration,
}

impl Connection {
    /// Connects to the first address of the server that answers; each may take as long as `timeout`.
    pub fn open(server: &ServerAddress, timeout: Duration) -> Result<Connection, WireFault> {
        let addresses = (server.host.as_str(), server.port).to_socket_addrs().map_err(WireFault::Unresolved)?;
        let mut fault = WireFault::Connect(io::Error::new(ErrorKind::NotFound, "the name has no address"));
        for address in addresses {
            match connect(&address, timeout) {
                Ok(stream) => {
                    let buffer = vec![0; BUFFER].into();
                    return Ok(Connection { stream, timeout, buffer, start: 0, end: 0, patience: Duration::ZERO });
                }
                Err(error) => fault = WireFault::Connect(error),
            }
        }
        Err(fault)
    }

    /// Sends one message, which is at most 65 535 octets.
    pub fn send(&mut self, message: &[u8]) -> Result<(), WireFault> {
        let length = u16::try_from(message.len()).expect("messages are built within their limit");
        // In one piece, so that no server sees the length alone.
        self.send_framed(&[&length.to_be_bytes(), message].concat())
    }

    /// Sends any number of messages, each behind its length.
    pub fn send_framed(&mut self, framed: &[u8]) -> Result<(), WireFault> {
        self.stream.set_write_timeout(Some(self.timeout)).map_err(WireFault::Io)?;
        self.stream.write_all(framed).map_err(fault_of)
    }

    /// Receives one message into `message`; it must be whole before the deadline, however slowly it drips.
    pub fn receive(&mut self, message: &mut Vec<u8>) -> Result<(), WireFault> {
        self.receive_until(Instant::now() + self.timeout, message)
    }

    /// Receives one message as [`Connection::receive`] does, before this deadline.
    pub fn receive_until(&mut self, deadline: Instant, message: &mut Vec<u8>) -> Result<(), WireFault> {
        message.clear();
        while self.end - self.start < 2 {
            self.fill(deadline)?;
        }
        let length = usize::from(u16::from_be_bytes([self.buffer[self.start], self.buffer[self.start + 1]]));
        self.start += 2;
        loop {
            let taken = (self.end - self.start).min(length - message.len());
            message.extend_from_slice(&self.buffer[self.start..self.start + taken]);
            self.start += taken;
            if message.len() == length {
                return Ok(());
            }
            self.fill(deadline)?;
        }
    }

    /// Whether octets came that were not given out.
    pub fn has_more(&self) -> bool {
        self.start < self.end
    }

    /// Whether a connection on which nothing is awaited is still open, and nothing came on it: without waiting.
    pub fn is_idle(&self) -> bool {
        let peek = || {
            self.stream.set_nonblocking(true)?;
            let peeked = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false)?;
            peeked
        };
        // No octet at all is the end of the stream.
        !self.has_more() && peek().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Reads what there is, at least one octet.
    fn fill(&mut self, deadline: Instant) -> Result<(), WireFault> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(WireFault::TimedOut);
            }
            // Setting it for each read would double the number of system calls. If the socket waits less than the rest
            // of the deadline, it is asked again.
            if self.patience > left || self.patience < left / 2 {
                self.patience = left.min(left / 8 * 7 + Duration::from_millis(10));
                self.stream.set_read_timeout(Some(self.patience)).map_err(WireFault::Io)?;
            }
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(WireFault::Closed),
                Ok(octets) => {
                    self.end += octets;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted || is_impatience(error.kind()) => {}
                Err(error) => return Err(fault_of(error)),
            }
        }
    }
}

/// Whether a socket says by this that it waited long enough; elsewhere than on Windows the other is said by who gave up
/// a connection.
fn is_impatience(kind: ErrorKind) -> bool {
    kind == if cfg!(windows) { ErrorKind::TimedOut } else { ErrorKind::WouldBlock }
}

/// Connects to one address.
fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(address, timeout)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// What an error on an open connection means.
fn fault_of(error: io::Error) -> WireFault {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => WireFault::TimedOut,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => WireFault::Closed,
        _ => WireFault::Io(error),
    }
}
