//! The socket of the reference service, and its threads.

use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, Builder, JoinHandle};

use tiny_http::{Header, Request, Response, Server};

use super::desk::{ApprovalDesk, ApprovalReply, ApprovalRequest};
use crate::serve::ListenError;

/// How many requests are answered side by side: late answers hold a thread each.
const THREADS: usize = 64;

/// How many octets a request may have.
const MAX_CONTENT: u64 = 1024 * 1024;

/// A service that runs; it ends when this is dropped.
pub struct RunningApprovals {
    /// Where it listens.
    address: SocketAddr,
    /// The socket.
    server: Arc<Server>,
    /// The threads that answer.
    threads: Vec<JoinHandle<()>>,
}

impl RunningApprovals {
    /// Where it listens, with the port that it has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for RunningApprovals {
    fn drop(&mut self) {
        self.threads.iter().for_each(|_| self.server.unblock());
        // A thread that holds an answer back ends with the process.
        self.threads.drain(..).filter(JoinHandle::is_finished).for_each(|thread| drop(thread.join()));
    }
}

/// Listens on a loopback address.
///
/// Errors: the address is not loopback, or the system does not let us.
pub fn listen(desk: &Arc<ApprovalDesk>, address: SocketAddr) -> Result<RunningApprovals, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let failed = |error: io::Error| ListenError::Io(address, error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let server = Server::from_listener(listener, None).map_err(|error| failed(io::Error::other(error.to_string())))?;
    let server = Arc::new(server);
    let mut threads = Vec::new();
    for _ in 0..THREADS {
        let (server, desk) = (server.clone(), desk.clone());
        let answer = move || {
            while let Ok(request) = server.recv() {
                respond(&desk, request);
            }
        };
        threads.push(Builder::new().name("approvals".to_owned()).spawn(answer).map_err(failed)?);
    }
    Ok(RunningApprovals { address: bound, server, threads })
}

/// Answers a request. A client that is gone needs no answer.
fn respond(desk: &ApprovalDesk, mut request: Request) {
    let mut content = Vec::new();
    let read = request.as_reader().take(MAX_CONTENT + 1).read_to_end(&mut content);
    let is_whole = read.is_ok() && content.len() as u64 <= MAX_CONTENT;
    let authorization = request.headers().iter().find(|header| header.field.equiv("Authorization"));
    let asked = ApprovalRequest {
        method: request.method().as_str(),
        target: request.url(),
        authorization: authorization.map(|header| header.value.as_str()),
        content: if is_whole { &content } else { b"" },
    };
    let ApprovalReply { status, content, after } = desk.answer(&asked);
    thread::sleep(after);
    let text = content.map(|content| content.to_string()).unwrap_or_default();
    let response = Response::from_string(text).with_status_code(status);
    let json = Header::from_bytes("Content-Type", "application/json").expect("a constant header");
    let _ = request.respond(response.with_header(json));
}
