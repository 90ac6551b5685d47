//! A small blocking HTTP/1.1 server on loopback in front of a double: keep-alive, bodies by `content-length`, and one
//! thread for each connection.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::{CloudDouble, DoubleAnswer, DoubleRequest};

/// The longest body that is read, in octets: far above what any request needs.
const MAX_BODY: usize = 16 << 20;

/// The longest line of a head that is read, in octets.
const MAX_LINE: u64 = 64 << 10;

/// The most headers that are read.
const MAX_HEADERS: usize = 200;

/// A server that runs until it is dropped.
pub struct DoubleServer {
    /// Where it listens.
    address: SocketAddr,
    /// What its threads share.
    shared: Arc<ServerShared>,
    /// The thread that takes connections.
    listening: Option<JoinHandle<()>>,
}

/// What the threads of a server share.
struct ServerShared {
    /// Who answers.
    double: Arc<dyn CloudDouble>,
    /// Whether the server ends.
    is_over: AtomicBool,
    /// The connections that were taken, to be closed at the end.
    streams: Mutex<Vec<TcpStream>>,
}

impl DoubleServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start<D: CloudDouble + 'static>(double: Arc<D>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(ServerShared { double, is_over: AtomicBool::new(false), streams: Mutex::default() });
        let own = Arc::clone(&shared);
        let listening = thread::spawn(move || listen(&listener, &own));
        Self { address, shared, listening: Some(listening) }
    }

    /// Returns the address, such as `http://127.0.0.1:40123`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns host and port, as the header `host` has them.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Closes all connections that are open, as a server does that is restarted. The next ones are taken.
    pub fn close_connections(&self) {
        for stream in self.shared.lock_streams().drain(..) {
            // The client may have closed it already.
            let _closed = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for DoubleServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The connection wakes the thread that takes connections.
        let _woken = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            let _ended = listening.join();
        }
        self.close_connections();
    }
}

impl ServerShared {
    /// Locks the list of connections.
    fn lock_streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes connections until the server ends.
fn listen(listener: &TcpListener, shared: &Arc<ServerShared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Ok(copy) = stream.try_clone() {
            shared.lock_streams().push(copy);
        }
        let own = Arc::clone(shared);
        thread::spawn(move || {
            // What breaks a connection is the client's to notice.
            let _served = serve(&stream, &own);
            let _closed = stream.shutdown(Shutdown::Both);
        });
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, shared: &ServerShared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(head) = read_head(&mut reader)? {
        let request = match read_body(&mut reader, head) {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let refusal = DoubleAnswer::new(400, "text/plain", error.to_string().into_bytes());
                return write_answer(stream, &refusal, false);
            }
            Err(error) => return Err(error),
        };
        let Some(answer) = shared.double.answer(&request) else { return Ok(()) };
        thread::sleep(answer.delay);
        let is_kept = !request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        write_answer(stream, &answer, is_kept && !answer.is_cut())?;
        if !is_kept || answer.is_cut() {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads a request line and headers; none where the client closed the connection between two requests.
fn read_head(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<DoubleRequest>> {
    let Some(line) = read_line(reader)? else { return Ok(None) };
    let mut words = line.split(' ').map(str::to_owned);
    let (Some(method), Some(target), Some(_version)) = (words.next(), words.next(), words.next()) else {
        return Err(broken("the request line is broken"));
    };
    let mut headers = Vec::new();
    while headers.len() < MAX_HEADERS {
        let line = read_line(reader)?.ok_or_else(|| broken("the head is cut"))?;
        if line.is_empty() {
            return Ok(Some(DoubleRequest { method, target, headers, body: Vec::new() }));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header has no colon"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Err(broken("there are too many headers"))
}

/// Reads the body that the headers announce.
fn read_body(reader: &mut BufReader<&TcpStream>, mut request: DoubleRequest) -> io::Result<DoubleRequest> {
    if request.header("transfer-encoding").is_some() {
        return Err(broken("the body must have a content-length"));
    }
    let length = request.header("content-length").map(str::parse::<usize>).transpose();
    let length = length.map_err(|_| broken("the content-length is no number"))?.unwrap_or(0);
    if length > MAX_BODY {
        return Err(broken("the body is too long"));
    }
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(request)
}

/// Reads a line without its end; none at the end of the stream.
fn read_line(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = reader.take(MAX_LINE).read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Writes an answer with its headers as they are, so that a body that is cut shows.
fn write_answer(mut stream: &TcpStream, answer: &DoubleAnswer, is_kept: bool) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(if is_kept { "connection: keep-alive\r\n\r\n" } else { "connection: close\r\n\r\n" });
    let mut message = head.into_bytes();
    message.extend_from_slice(&answer.body);
    stream.write_all(&message)?;
    stream.flush()
}

/// Makes the error of a request that cannot be read.
fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Says a status in words, for people who read the traffic.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        412 => "Precondition Failed",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}
