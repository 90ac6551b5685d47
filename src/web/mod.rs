//! A small HTTP/1.1 server (RFC 9112): requests in, replies out. What they mean is decided by who listens.
//!
//! Blocking, with a thread for each connection: clients keep theirs, and late replies hold them.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How many octets the content of a request may have.
const MAX_CONTENT: u64 = 1024 * 1024;

/// How many octets the head of a request may have.
const MAX_HEAD: u64 = 64 * 1024;

/// How long it waits after a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct WebRequest<'r> {
    /// The method.
    pub method: &'r str,
    /// The path and the query.
    pub target: &'r str,
    /// What `Authorization` has.
    pub authorization: Option<&'r str>,
    /// The content.
    pub content: &'r [u8],
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebReply {
    /// The status (RFC 9110 section 15).
    pub status: u16,
    /// The media type of the content.
    pub media_type: &'static str,
    /// The content.
    pub content: Arc<str>,
    /// How long it is to be held back.
    pub after: Duration,
}

impl WebReply {
    /// A reply at once.
    pub fn new(status: u16, media_type: &'static str, content: impl Into<Arc<str>>) -> WebReply {
        WebReply { status, media_type, content: content.into(), after: Duration::ZERO }
    }
}

/// What gives the replies.
pub trait WebDesk: Send + Sync {
    /// The reply to a request.
    fn reply(&self, request: &WebRequest<'_>) -> WebReply;
}

/// How connections are treated.
#[derive(Debug, Clone, Copy)]
pub struct WebTerms {
    /// What its threads are called.
    pub name: &'static str,
    /// How long a client may be silent between two requests, and how long it may take for one.
    pub silence: Duration,
    /// How many connections there may be at a time; a further one is closed.
    pub most: usize,
}

/// A server that runs; it takes no further connections when this is dropped.
pub struct RunningWeb {
    /// Where it listens.
    address: SocketAddr,
    /// Whether it is to end.
    is_over: Arc<AtomicBool>,
    /// The thread that takes connections.
    thread: Option<JoinHandle<()>>,
}

impl RunningWeb {
    /// Where it listens, with the port that it has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for RunningWeb {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // No client can connect to the address that means all of them.
        let own = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        // A thread that waits for a connection sees only so that it is to end. Threads that reply end with the process.
        if TcpStream::connect((own, self.address.port())).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

/// Listens on an address.
///
/// Errors: the system does not let us.
pub fn listen(desk: Arc<dyn WebDesk>, address: SocketAddr, terms: WebTerms) -> io::Result<RunningWeb> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let open = Arc::new(AtomicUsize::new(0));
    let take = move || {
        while !over.load(Ordering::SeqCst) {
            let Ok((client, _)) = listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            let place = ConnectionPlace::take(&open);
            if place.number > terms.most {
                continue;
            }
            let desk = Arc::clone(&desk);
            // A client that is gone needs no reply; one for which there is no thread sees its connection end.
            let serve = move || {
                let _place = place;
                drop(converse(&*desk, &client, terms.silence));
            };
            drop(Builder::new().name(terms.name.to_owned()).spawn(serve));
        }
    };
    let thread = Builder::new().name(terms.name.to_owned()).spawn(take)?;
    Ok(RunningWeb { address: bound, is_over, thread: Some(thread) })
}

/// The place of a connection among those that are open.
struct ConnectionPlace {
    /// How many are open.
    open: Arc<AtomicUsize>,
    /// Which one it was when it came, from 1.
    number: usize,
}

impl ConnectionPlace {
    /// Takes the next place.
    fn take(open: &Arc<AtomicUsize>) -> ConnectionPlace {
        let number = open.fetch_add(1, Ordering::SeqCst) + 1;
        ConnectionPlace { open: Arc::clone(open), number }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Replies to the requests of a connection, one after another.
fn converse(desk: &dyn WebDesk, client: &TcpStream, silence: Duration) -> io::Result<()> {
    client.set_nodelay(true)?;
    client.set_write_timeout(Some(silence))?;
    let mut reader = BufReader::new(DeadlineReader { client, deadline: Instant::now() + silence });
    while let Some(head) = RequestHead::read(&mut reader)? {
        let reply = match head.fault() {
            Some(status) => {
                return write_reply(client, &head, &WebReply::new(status, "text/plain", ""), false);
            }
            None => {
                if head.waits {
                    (&mut &*client).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                }
                let mut content = vec![0; head.length as usize];
                reader.read_exact(&mut content)?;
                desk.reply(&WebRequest {
                    method: &head.method,
                    target: &head.target,
                    authorization: head.authorization.as_deref(),
                    content: &content,
                })
            }
        };
        thread::sleep(reply.after);
        write_reply(client, &head, &reply, head.stays)?;
        if !head.stays {
            return Ok(());
        }
        reader.get_mut().deadline = Instant::now() + silence;
    }
    Ok(())
}

/// Reads from a client until a moment, however slowly it sends.
struct DeadlineReader<'c> {
    /// The client.
    client: &'c TcpStream,
    /// The moment.
    deadline: Instant,
}

impl io::Read for DeadlineReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.deadline.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.client.set_read_timeout(Some(rest))?;
        self.client.read(buffer)
    }
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
            let line = line.trim_end();
            if line.is_empty() {
                return Ok(Some(head));
            }
            // What is no field makes the whole head none (RFC 9112 section 2.2).
            let Some((name, value)) = line.split_once(':') else {
                return Ok(Some(RequestHead::default()));
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

/// Writes a reply to a request.
fn write_reply(mut client: &TcpStream, head: &RequestHead, reply: &WebReply, stays: bool) -> io::Result<()> {
    let WebReply { status, media_type, content, .. } = reply;
    // A reply with this status has no content, and does not say so (RFC 9110 section 8.6).
    let fields = match status {
        204 => String::new(),
        _ => format!(
            "Content-Type: {media_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\n",
            content.len()
        ),
    };
    let end = if stays { "" } else { "Connection: close\r\n" };
    client.write_all(format!("HTTP/1.1 {status} \r\n{fields}{end}\r\n").as_bytes())?;
    // The reply to HEAD has the fields alone (RFC 9110 section 9.3.2).
    if head.method == "HEAD" { Ok(()) } else { client.write_all(content.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives back what it was asked.
    struct Echo;

    impl WebDesk for Echo {
        fn reply(&self, request: &WebRequest<'_>) -> WebReply {
            let WebRequest { method, target, content, .. } = request;
            WebReply::new(200, "text/plain", format!("{method} {target} {}", content.len()))
        }
    }

    /// A server for at most so many connections.
    fn running(most: usize) -> RunningWeb {
        let terms = WebTerms { name: "echo", silence: Duration::from_secs(30), most };
        listen(Arc::new(Echo), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), terms).unwrap()
    }

    /// What it says to these octets, until it ends the connection.
    fn said(address: SocketAddr, octets: &str) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(octets.as_bytes()).unwrap();
        let mut text = String::new();
        // A connection that is closed at once may be reset.
        let _ = client.read_to_string(&mut text);
        text
    }

    #[test]
    fn requests_of_a_connection_get_replies_in_their_order() {
        let web = running(8);
        let both = "GET /a?b HTTP/1.1\r\n\r\nPOST /c HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
        let text = said(web.address(), both);
        let bodies: Vec<&str> = text.split("\r\n\r\n").skip(1).collect();
        assert_eq!(text.matches("HTTP/1.1 200 ").count(), 2, "{text}");
        assert!(bodies[0].starts_with("GET /a?b 0") && bodies[1] == "POST /c 2", "{text}");
    }

    #[test]
    fn a_reply_to_head_has_no_content() {
        let web = running(8);
        let text = said(web.address(), "HEAD / HTTP/1.1\r\n\r\n");
        assert!(text.contains("Content-Length: 8\r\n") && text.ends_with("\r\n\r\n"), "{text}");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let web = running(8);
        for (octets, status) in [
            ("hello\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nno field\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        ] {
            assert!(said(web.address(), octets).starts_with(&format!("HTTP/1.1 {status} ")), "{octets}");
        }
    }

    #[test]
    fn a_client_that_sends_too_slowly_is_left() {
        let terms = WebTerms { name: "echo", silence: Duration::from_millis(200), most: 8 };
        let web = listen(Arc::new(Echo), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), terms).unwrap();
        let mut client = TcpStream::connect(web.address()).unwrap();
        // Each part comes in time, and the whole never.
        let is_left = (0..1_000).any(|_| {
            thread::sleep(Duration::from_millis(20));
            client.write_all(b"x").is_err()
        });
        assert!(is_left);
    }

    #[test]
    fn a_connection_too_many_is_closed() {
        let web = running(1);
        let mut first = TcpStream::connect(web.address()).unwrap();
        first.write_all(b"GET /1 HTTP/1.1\r\n\r\n").unwrap();
        let mut octets = [0; 12];
        first.read_exact(&mut octets).unwrap();
        assert_eq!(said(web.address(), "GET /2 HTTP/1.1\r\n\r\n"), "");
        drop(first);
        // Its place is free once its thread has seen the end.
        let again = || said(web.address(), "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
        assert!((0..1_000).any(|_| again().starts_with("HTTP/1.1 200 ")));
    }
}
