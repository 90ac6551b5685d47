//! A way to a server of HTTP on which something happens to one request.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What happens to a request on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFault {
    /// The run is killed before it arrives.
    KilledBefore,
    /// The run is killed when it was served.
    KilledAfter,
    /// It does not arrive.
    Lost,
    /// It is served, and its answer does not arrive.
    AnswerLost,
    /// It arrives twice.
    Doubled,
    /// It arrives after the connection was closed.
    Late,
}

/// All of them.
pub const FAULTS: [HttpFault; 6] = [
    HttpFault::KilledBefore,
    HttpFault::KilledAfter,
    HttpFault::Lost,
    HttpFault::AnswerLost,
    HttpFault::Doubled,
    HttpFault::Late,
];

/// A way to a server on which something happens to one request.
pub struct Way {
    /// Where it begins.
    pub port: u16,
    /// How many requests came.
    pub count: Arc<AtomicUsize>,
    /// The process that is killed; 0 while it is not known.
    pub process: Arc<AtomicUsize>,
}

impl Way {
    /// A way to a port on which this happens to request number `at`, from 1.
    pub fn new(to: u16, fault: HttpFault, at: usize) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let (count, process) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, killed) = (Arc::clone(&count), Arc::clone(&process));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, counted, killed) =
                    (stream.expect("a connection"), Arc::clone(&counted), Arc::clone(&killed));
                thread::spawn(move || carry(stream, to, (fault, at), &counted, &killed));
            }
        });
        Way { port, count, process }
    }
}

/// Carries the requests of a connection.
fn carry(mut stream: TcpStream, to: u16, (fault, at): (HttpFault, usize), count: &AtomicUsize, process: &AtomicUsize) {
    while let Some(request) = read_message(&mut stream) {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let serve = || {
            let mut onward = TcpStream::connect(("127.0.0.1", to)).expect("the server runs");
            onward.write_all(&request).expect("the server reads");
            read_message(&mut onward).expect("the server answers")
        };
        let kill = || {
            while process.load(Ordering::SeqCst) == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            let process = process.load(Ordering::SeqCst).to_string();
            let _ = Command::new("kill").args(["-9", &process]).status();
        };
        if number != at {
            let answer = serve();
            let _ = stream.write_all(&answer);
            continue;
        }
        match fault {
            HttpFault::KilledBefore => return kill(),
            HttpFault::KilledAfter => {
                serve();
                return kill();
            }
            HttpFault::Lost => return,
            HttpFault::AnswerLost => {
                serve();
                return;
            }
            HttpFault::Doubled => {
                let answer = serve();
                serve();
                let _ = stream.write_all(&answer);
            }
            HttpFault::Late => {
                drop(stream);
                thread::sleep(Duration::from_millis(100));
                serve();
                return;
            }
        }
    }
}

/// Reads a message of HTTP with its content; none where the connection ends.
pub fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut message, mut octet) = (Vec::new(), [0]);
    while !message.ends_with(b"\r\n\r\n") {
        if stream.read(&mut octet).ok()? == 0 {
            return None;
        }
        message.push(octet[0]);
    }
    let head = String::from_utf8_lossy(&message).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    match length {
        Some(length) => {
            let mut content = vec![0; length];
            stream.read_exact(&mut content).ok()?;
            message.extend(content);
        }
        // etcd answers in chunks where the content is long.
        None if head.contains("transfer-encoding: chunked") => {
            while !message.ends_with(b"\r\n0\r\n\r\n") {
                stream.read_exact(&mut octet).ok()?;
                message.push(octet[0]);
            }
        }
        None => {}
    }
    Some(message)
}
