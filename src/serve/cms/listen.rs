//! The socket of the reference service, and its threads: HTTP/1.1 as far as clients of the protocol need it (RFC 9112).

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use super::desk::{ApprovalDesk, ApprovalReply, ApprovalRequest};
use crate::serve::ListenError;

/// How many octets the content of a request may have.
const MAX_CONTENT: u64 = 1024 * 1024;

/// How many octets the head of a request may have.
const MAX_HEAD: u64 = 64 * 1024;

/// How long a client may be silent within a connection.
const SILENCE: Duration = Duration::from_secs(300);

/// How long it waits after a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// A service that runs; it takes no further connections when this is dropped.
pub struct RunningApprovals {
    /// Where it listens.
    address: SocketAddr,
    /// Whether it is to end.
    is_over: Arc<AtomicBool>,
    /// The thread that takes connections.
    thread: Option<JoinHandle<()>>,
}

impl RunningApprovals {
    /// Where it listens, with the port that it has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for RunningApprovals {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // A thread that waits for a connection sees only so that it is to end. Threads that answer end with the process.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

/// Listens on a loopback address. Each connection has a thread: clients keep theirs, and late answers hold them.
///
/// Errors: the address is not loopback, or the system does not let us.
pub fn listen(desk: &Arc<ApprovalDesk>, address: SocketAddr) -> Result<RunningApprovals, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let failed = |error: io::Error| ListenError::Io(address, error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let (desk, over) = (Arc::clone(desk), Arc::clone(&is_over));
    let take = move || {
        while !over.load(Ordering::SeqCst) {
            let Ok((client, _)) = listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            let desk = Arc::clone(&desk);
            // A client that is gone needs no answer; one for which there is no thread sees its connection end.
            let serve = move || drop(converse(&desk, &client));
            drop(Builder::new().name("approvals".to_owned()).spawn(serve));
        }
    };
    let thread = Builder::new().name("approvals".to_owned()).spawn(take).map_err(failed)?;
    Ok(RunningApprovals { address: bound, is_over, thread: Some(thread) })
}

/// Answers the requests of a connection, one after another.
fn converse(desk: &ApprovalDesk, client: &TcpStream) -> io::Result<()> {
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(SILENCE))?;
    let mut reader = BufReader::new(client);
    while let Some(head) = RequestHead::read(&mut reader)? {
        let reply = match head.fault() {
            Some(status) => {
                return write_reply(client, &ApprovalReply { status, content: None, after: Duration::ZERO }, false);
            }
            None => {
                if head.waits {
                    (&mut &*client).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                }
                let mut content = vec![0; head.length as usize];
                reader.read_exact(&mut content)?;
                desk.answer(&ApprovalRequest {
                    method: &head.method,
                    target: &head.target,
                    authorization: head.authorization.as_deref(),
                    content: &content,
                })
            }
        };
        thread::sleep(reply.after);
        write_reply(client, &reply, head.stays)?;
        if !head.stays {
            return Ok(());
        }
    }
    Ok(())
}

/// What is before the content of a request.
#[derive(Debug, Default)]
struct RequestHead {
    /// The method; empty where the first line is none of HTTP.
    method: String,
    /// The path and the query.
    target: String,
    /// What `Authorization` has.
    authorization: Option<String>,
    /// How many octets the content has.
    length: u64,
    /// Whether the content has another form, whose length is not known before.
    is_coded: bool,
    /// Whether the client waits for leave to send the content.
    waits: bool,
    /// Whether more requests may come.
    stays: bool,
}

impl RequestHead {
    /// Reads one; none where the client ended the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<RequestHead>> {
        let mut lines = reader.take(MAX_HEAD);
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut head = RequestHead::default();
        if let [method, target, version] = line.split_whitespace().collect::<Vec<_>>()[..]
            && version.starts_with("HTTP/1.")
        {
            (head.method, head.target) = (method.to_owned(), target.to_owned());
            head.stays = version == "HTTP/1.1" && matches!(method, "GET" | "POST" | "DELETE");
        }
        loop {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Ok(Some(head));
            };
            head.note(&name.to_ascii_lowercase(), value.trim());
        }
    }

    /// Takes a field.
    fn note(&mut self, name: &str, value: &str) {
        match name {
            "authorization" => self.authorization = Some(value.to_owned()),
            "content-length" => self.length = value.parse().unwrap_or(u64::MAX),
            "transfer-encoding" => self.is_coded = true,
            "expect" => self.waits = value.eq_ignore_ascii_case("100-continue"),
            "connection" if value.eq_ignore_ascii_case("close") => self.stays = false,
            _ => {}
        }
    }

    /// The status that says why it is not answered (RFC 9110 section 15.5).
    fn fault(&self) -> Option<u16> {
        match self {
            head if head.method.is_empty() => Some(400),
            head if head.is_coded => Some(411),
            head if head.length > MAX_CONTENT => Some(413),
            _ => None,
        }
    }
}

/// Writes an answer.
fn write_reply(mut client: &TcpStream, reply: &ApprovalReply, stays: bool) -> io::Result<()> {
    let ApprovalReply { status, content, .. } = reply;
    let content = content.as_ref().map(ToString::to_string).unwrap_or_default();
    // An answer with this status has no content, and does not say so (RFC 9110 section 8.6).
    let fields = match status {
        204 => String::new(),
        _ => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", content.len()),
    };
    let end = if stays { "" } else { "Connection: close\r\n" };
    client.write_all(format!("HTTP/1.1 {status} \r\n{fields}{end}\r\n{content}").as_bytes())
}
