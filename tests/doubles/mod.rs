//! Doubles of cloud services: they keep what a client writes, refuse what the real service refuses, and share no code
//! with the product, so that a mistake is not made on both sides. A double answers in process, or through
//! [`http::DoubleServer`].

pub mod azure;
pub mod clock;
pub mod cloudmap;
pub mod faults;
pub mod http;
pub mod route53;
mod signature;

use std::time::Duration;

/// A request as a service gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleRequest {
    /// The method, in upper case.
    pub method: String,
    /// The path and the query, as they are sent: with percent-encoding.
    pub target: String,
    /// The headers in the order in which they came; `host` is one of them.
    pub headers: Vec<(String, String)>,
    /// The body; empty where there is none.
    pub body: Vec<u8>,
}

impl DoubleRequest {
    /// Returns the first value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the path, without the query.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// Returns the query as it was sent; empty where there is none.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }
}

/// What a service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The headers. One of them is `content-length`, which says how long the whole body is.
    pub headers: Vec<(String, String)>,
    /// The body; shorter than `content-length` where a fault cut it.
    pub body: Vec<u8>,
    /// How long the server waits before it sends the answer. In process, it is for the caller to count.
    pub delay: Duration,
}

impl DoubleAnswer {
    /// Makes an answer with a body of a media type.
    pub fn new(status: u16, media_type: &str, body: Vec<u8>) -> Self {
        let headers = vec![
            ("content-type".to_owned(), media_type.to_owned()),
            ("content-length".to_owned(), body.len().to_string()),
        ];
        Self { status, headers, body, delay: Duration::ZERO }
    }

    /// Returns the first value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the body is shorter than its header says.
    pub fn is_cut(&self) -> bool {
        self.header("content-length").and_then(|length| length.parse().ok()) != Some(self.body.len())
    }
}

/// A double of a service.
pub trait CloudDouble: Send + Sync {
    /// Does what a request asks for; none where the connection breaks without an answer.
    fn answer(&self, request: &DoubleRequest) -> Option<DoubleAnswer>;
}

/// Decodes percent-encoding; none where an escape is broken or the result is no UTF-8. A plus sign stays as it is.
pub fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
