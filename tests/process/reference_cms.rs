//! A process of the reference service (`serve --cms`).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// The reference service, until this is dropped.
pub struct ReferenceCms {
    /// The process.
    pub child: Child,
    /// Where it is.
    pub url: String,
}

impl ReferenceCms {
    /// Starts it with these arguments.
    pub fn start(args: &[&str]) -> ReferenceCms {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["serve", "--cms", "--listen", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built for this test");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it is");
        let url = line.split_once("http://").and_then(|(_, rest)| rest.split_once(';')).expect("a URL").0;
        ReferenceCms { child, url: format!("http://{url}") }
    }
}

impl Drop for ReferenceCms {
    fn drop(&mut self) {
        self.child.kill().expect("it can be ended");
        self.child.wait().expect("it ends");
    }
}
