//! BIND: a `named` of its own for each test.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Where Debian installs it.
const NAMED: &str = "/usr/sbin/named";

/// How long a start may take; a million records take BIND some seconds.
const START: Duration = Duration::from_secs(60);

/// How often a start is tried, in case somebody else takes the port that was free.
const ATTEMPTS: usize = 5;

/// A TSIG key of the server.
#[derive(Debug, Clone)]
pub struct BindKey {
    /// Its name, without the final dot.
    pub name: String,
    /// `hmac-sha256` and the like.
    pub algorithm: String,
    /// The secret in base64.
    pub secret: String,
}

impl BindKey {
    /// A key of hmac-sha256 with a secret that nothing depends on.
    pub fn new(name: &str) -> BindKey {
        BindKey::with_algorithm(name, "hmac-sha256")
    }

    /// The same with another algorithm.
    pub fn with_algorithm(name: &str, algorithm: &str) -> BindKey {
        let secret = "bm8gc2VjcmV0IGF0IGFsbCwgZm9yIGEgdGVzdCBvbmx5".to_owned();
        BindKey { name: name.to_owned(), algorithm: algorithm.to_owned(), secret }
    }
}

/// What a server is to serve.
#[derive(Debug, Clone, Default)]
pub struct BindConfig {
    /// The keys, each of which may transfer and update every zone. Without any, everybody may transfer.
    pub keys: Vec<BindKey>,
    /// The zones: name without the final dot, and text of the master file. `$INCLUDE` finds other zones' files.
    pub zones: Vec<(String, String)>,
}

impl BindConfig {
    /// Adds every `NAME.zone` of a folder.
    pub fn zones_of(mut self, folder: &Path) -> BindConfig {
        for entry in fs::read_dir(folder).expect("the folder of zones") {
            let path = entry.expect("an entry of the folder").path();
            if path.extension().is_some_and(|extension| extension == "zone") {
                let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
                self.zones.push((name, fs::read_to_string(&path).expect("a zone file")));
            }
        }
        self
    }
}

/// A running server; it ends when this is dropped, and its files go with it.
#[derive(Debug)]
pub struct Bind {
    /// The process.
    child: Child,
    /// Its files.
    folder: TempDir,
    /// Its port, UDP and TCP, on 127.0.0.1.
    port: u16,
}

impl Bind {
    /// Starts a server and waits until it answers for every zone.
    ///
    /// Where BIND is not installed this says so aloud and gives `None`, so that the test passes; in CI it fails.
    pub fn start(config: &BindConfig) -> Option<Bind> {
        if !crate::have(Path::new(NAMED)) {
            return None;
        }
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            match Bind::try_start(config) {
                Ok(bind) => return Some(bind),
                Err(said) => log = said,
            }
        }
        panic!("named does not start:\n{log}");
    }

    /// `127.0.0.1:PORT`, as a target's `server` wants it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The folder of its files: `NAME.zone` for each zone, and `named.log`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a server on a port that is free just now; gives its log if it ends.
    fn try_start(config: &BindConfig) -> Result<Bind, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        for (name, text) in &config.zones {
            fs::write(folder.path().join(format!("{name}.zone")), text).expect("a zone file");
        }
        let settings = folder.path().join("named.conf");
        fs::write(&settings, named_conf(config, folder.path(), port)).expect("named.conf");
        let log = File::create(folder.path().join("named.log")).expect("a log");
        let mut command = Command::new(NAMED);
        command.arg("-g").args(["-n", "1"]).arg("-c").arg(&settings).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("named runs");
        let mut bind = Bind { child, folder, port };
        let deadline = Instant::now() + START;
        while !bind.answers(config) {
            let ended = bind.child.try_wait().expect("a child").is_some();
            if ended || Instant::now() > deadline {
                return Err(fs::read_to_string(bind.folder().join("named.log")).unwrap_or_default());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(bind)
    }

    /// Whether it answers for every zone.
    fn answers(&self, config: &BindConfig) -> bool {
        config.zones.iter().all(|(name, _)| ask_soa(self.port, name).is_some_and(|rcode| rcode == 0))
    }
}

impl Drop for Bind {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is free for UDP and TCP.
fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// The settings of the server: loopback only, nothing outside its folder, no control channel.
fn named_conf(config: &BindConfig, folder: &Path, port: u16) -> String {
    let keys: String = config.keys.iter().map(|key| format!("key \"{}\"; ", key.name)).collect();
    let transfer = if keys.is_empty() { "any; ".to_owned() } else { keys.clone() };
    let update = if keys.is_empty() { "none; ".to_owned() } else { keys };
    let mut text = format!(
        "options {{\n  directory \"{}\";\n  listen-on port {port} {{ 127.0.0.1; }};\n  listen-on-v6 {{ none; }};\n  \
         pid-file none;\n  session-keyfile none;\n  recursion no;\n  dnssec-validation no;\n  notify no;\n  \
         empty-zones-enable no;\n  check-names primary ignore;\n  allow-transfer {{ {transfer}}};\n}};\ncontrols {{ }};\n",
        folder.display()
    );
    for BindKey { name, algorithm, secret } in &config.keys {
        text += &format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
    }
    for (name, _) in &config.zones {
        let file = PathBuf::from(format!("{name}.zone"));
        text +=
            &format!("zone \"{name}\" {{ type primary; file \"{}\"; allow-update {{ {update}}}; }};\n", file.display());
    }
    text
}

/// Asks for a zone's SOA over TCP; gives the answer's rcode.
fn ask_soa(port: u16, zone: &str) -> Option<u8> {
    let mut question = b"\x12\x34\0\0\0\x01\0\0\0\0\0\0".to_vec();
    for label in zone.split('.') {
        question.push(label.len() as u8);
        question.extend_from_slice(label.as_bytes());
    }
    question.extend_from_slice(b"\0\0\x06\0\x01");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(&[&(question.len() as u16).to_be_bytes()[..], &question].concat()).ok()?;
    let mut head = [0; 14];
    stream.read_exact(&mut head).ok()?;
    Some(head[5] & 0x0f)
}
