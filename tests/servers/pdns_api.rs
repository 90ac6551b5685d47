//! The API of PowerDNS, asked by hand.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::pdns;
use crate::server::{Key, Server};

/// Asks the API of a server; gives the content of the answer, which must be one of success.
pub fn ask(server: &Server, method: &str, path: &str, content: &Value) -> String {
    ask_at(&pdns::api(server.folder()), method, path, content)
}

/// The same of the API at an address.
pub fn ask_at(address: &str, method: &str, path: &str, content: &Value) -> String {
    let content = if content.is_null() { String::new() } else { content.to_string() };
    let mut stream = TcpStream::connect(address).expect("the API runs");
    let key = &Key::new("any").secret;
    let request = format!(
        "{method} /api/v1/servers/localhost/{path} HTTP/1.0\r\nX-API-Key: {key}\r\nContent-Length: {}\r\n\r\n{content}",
        content.len()
    );
    stream.write_all(request.as_bytes()).expect("the API reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the API answers");
    let (head, content) = answer.split_once("\r\n\r\n").expect("an answer of HTTP");
    assert!(head.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{answer}");
    content.to_owned()
}

/// Puts RRsets into a zone.
pub fn put(server: &Server, zone: &str, rrsets: &Value) {
    ask(server, "PATCH", &format!("zones/{zone}"), &json!({"rrsets": rrsets}));
}
