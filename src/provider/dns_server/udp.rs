//! Messages over UDP (RFC 1035 section 4.2.1).

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use super::settings::ServerAddress;

/// A socket to the first address of a server.
///
/// Errors: the name has no address, or the system gives no socket.
pub fn connect(server: &ServerAddress) -> io::Result<UdpSocket> {
    let mut addresses = (server.host.as_str(), server.port).to_socket_addrs()?;
    let address = addresses.next().ok_or_else(|| io::Error::new(ErrorKind::NotFound, "the name has no address"))?;
    // Port 0: a random one for each socket (RFC 5452 section 4.5).
    let own: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(own)?;
    socket.connect(address)?;
    Ok(socket)
}

/// What came before a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UdpReceipt {
    /// A message of this length.
    Message(usize),
    /// Nothing yet.
    Nothing,
    /// Nothing, and nothing will come: the system says that nothing listens there.
    Closed,
}

/// Receives one message before a deadline.
pub fn receive(socket: &UdpSocket, deadline: Instant, buffer: &mut [u8]) -> UdpReceipt {
    loop {
        let patience = deadline.saturating_duration_since(Instant::now());
        if patience == Duration::ZERO {
            return UdpReceipt::Nothing;
        }
        if socket.set_read_timeout(Some(patience)).is_err() {
            return UdpReceipt::Closed;
        }
        match socket.recv(buffer).map_err(|error| error.kind()) {
            Ok(length) => return UdpReceipt::Message(length),
            Err(ErrorKind::Interrupted) => {}
            // The time is over; systems say it differently.
            Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) => return UdpReceipt::Nothing,
            Err(_) => return UdpReceipt::Closed,
        }
    }
}
