//! What the tests of rooms that ask clouds share: a server that gives answers by heart, and surroundings without the
//! process's.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use super::ProcessSurroundings;
use crate::inventory::value::Time;

/// A server that gives these answers, one after another, and then the last one again.
pub struct CloudFake {
    /// Where it is.
    url: String,
    /// What it was asked, in full.
    asked: Arc<Mutex<Vec<String>>>,
}

impl CloudFake {
    /// One with answers of a status and a content each.
    pub fn answering(answers: &[(&str, &str)]) -> CloudFake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let answers: Vec<(String, String)> = answers.iter().map(|(s, c)| ((*s).to_owned(), (*c).to_owned())).collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut part = [0; 4096];
                while !is_whole(&String::from_utf8_lossy(&request)) {
                    match stream.read(&mut part) {
                        Ok(length) if length > 0 => request.extend_from_slice(&part[..length]),
                        _ => break,
                    }
                }
                let number = {
                    let mut noted = noted.lock().unwrap();
                    noted.push(String::from_utf8_lossy(&request).into_owned());
                    noted.len() - 1
                };
                let (status, content) = &answers[number.min(answers.len() - 1)];
                let length = content.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{content}"
                );
            }
        });
        CloudFake { url, asked }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Whether a request has come with its content.
fn is_whole(request: &str) -> bool {
    let Some((head, content)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    content.len() >= length.unwrap_or(0)
}

/// Surroundings with these variables, without a home folder.
pub fn process_around(variables: &[(&str, &str)]) -> ProcessSurroundings {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    ProcessSurroundings {
        variables: Box::new(move |name| variables.get(name).cloned()),
        home: None,
        workspace: std::env::temp_dir(),
    }
}

/// A time on 30 November 2026.
pub fn at(clock: &str) -> Time {
    format!("2026-11-30T{clock}Z").parse().unwrap()
}
