//! A small HTTP server on loopback, which hands each request to a function and says what it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// A request.
pub struct Request {
    /// GET, POST, PATCH or PUT.
    pub method: String,
    /// Path and query, as they came.
    pub path: String,
    /// The headers by their names in lower case.
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// What is answered: a status and a body.
pub type Answer = (u16, Vec<u8>);

/// Serves until the test ends. `answer` is asked for each request, with what is kept; what it panics of is answered
/// with 500 and kept as a complaint.
pub fn serve<T: Send + 'static>(kept: Arc<Mutex<T>>, answer: fn(&mut T, &Request) -> Result<Answer, String>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&complaints);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let request = read(&stream);
            let result = answer(&mut kept.lock().expect("no thread panicked"), &request);
            let (status, body) = result.unwrap_or_else(|complaint| {
                let text = format!("{} {}: {complaint}", request.method, request.path);
                list.lock().expect("no thread panicked").push(text.clone());
                (500, text.into_bytes())
            });
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).expect("the client reads");
        }
    });
    Server { url, complaints }
}

/// A server that runs.
pub struct Server {
    /// Where it is.
    pub url: String,
    /// Requests that must not be made.
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Fails where a request was made that must not be made.
    pub fn assert_content(&self) {
        assert_eq!(*self.complaints.lock().expect("no thread panicked"), Vec::<String>::new());
    }
}

/// Reads one request.
fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a request line");
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().expect("a method"), words.next().expect("a path"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    if request.header("expect") == "100-continue" {
        let mut stream = stream;
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").expect("the client reads");
    }
    let length = request.header("content-length").parse().unwrap_or(0);
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).expect("the whole body");
    request
}

/// Whether a value is the number in a path.
pub fn is(value: &Value, number: &str) -> bool {
    value.as_u64().is_some_and(|value| number.parse() == Ok(value))
}
