//! The demo on a server of its own: `zonewright serve --try`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{NOW, PROGRAM, file};

/// A server of the demo's zones, and the copy of the demo that has them there.
pub struct Served {
    /// The server.
    server: Child,
    /// What holds the copy.
    folder: TempDir,
}

impl Served {
    /// Starts it, with faults such as `refused=1`.
    pub fn start(faults: &[&str]) -> Served {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(PROGRAM);
        command.arg("-C").arg(file("inventory")).args(["--now", NOW, "serve", "--listen", "127.0.0.1:0", "--try"]);
        command.arg(folder.path().join("copy")).args(faults.iter().flat_map(|fault| ["--fault", fault]));
        let mut server = command.stdout(Stdio::piped()).spawn().expect("the binary was built for this test");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        assert!(lines.any(|line| line.expect("text").starts_with("Ctrl-C")), "it says how to end it once it serves");
        // What it says at its end must find a reader.
        std::thread::spawn(move || lines.count());
        Served { server, folder }
    }

    /// The copy.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    /// Ends the server, and keeps the copy.
    pub fn end(&mut self) {
        self.server.kill().expect("it runs");
        self.server.wait().expect("it ends");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
