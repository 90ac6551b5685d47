//! Name servers: one of its own for each test, of any kind, on loopback.
//!
//! Comes in: one description for all kinds. Goes out: a running process that serves it. No service of the system is
//! touched, and nothing outlives the test.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::BuildHasher as _;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{bind, knot, nsd, ours, pdns};

/// How long a start may take; a million records take BIND some seconds.
const START: Duration = Duration::from_secs(60);

/// How often a start is tried, in case another process takes the free port.
const ATTEMPTS: usize = 5;

/// The ports of servers: below those that systems give to outgoing connections (Linux from 32768, others from 49152).
const PORTS: Range<u16> = 10_240..32_768;

/// Type and class of the question for a zone's SOA.
const SOA_IN: [u8; 4] = [0, 6, 0, 1];

/// Type and class of the question for a server's identity (RFC 4892).
const TXT_CH: [u8; 4] = [0, 16, 0, 3];

/// A TSIG key of the server.
#[derive(Debug, Clone)]
pub struct Key {
    /// Its name, without the final dot.
    pub name: String,
    /// `hmac-sha256` and the like.
    pub algorithm: String,
    /// The secret in base64.
    pub secret: String,
}

impl Key {
    /// A key of hmac-sha256 with a secret that nothing depends on.
    pub fn new(name: &str) -> Key {
        Key::with_algorithm(name, "hmac-sha256")
    }

    /// The same with another algorithm.
    pub fn with_algorithm(name: &str, algorithm: &str) -> Key {
        let secret = "bm8gc2VjcmV0IGF0IGFsbCwgZm9yIGEgdGVzdCBvbmx5".to_owned();
        Key { name: name.to_owned(), algorithm: algorithm.to_owned(), secret }
    }

    /// What the settings of a target say of it, where its secret is in the file `secret`.
    pub fn setting(&self) -> String {
        let Key { name, algorithm, .. } = self;
        format!("tsig_key = {{ name = \"{name}\", algorithm = \"{algorithm}\", secret_file = \"secret\" }}\n")
    }

    /// Writes its secret where [`Key::setting`] says, for a workspace.
    pub fn write_secret(&self, workspace: &Path) {
        let secret = workspace.join("secret");
        fs::write(&secret, &self.secret).expect("a file");
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("it is ours");
    }

    /// A key that every server here knows, and lets do nothing.
    pub fn powerless() -> Key {
        Key::new("powerless")
    }
}

/// What a server is to serve.
#[derive(Debug, Clone, Default)]
pub struct ServerConfig {
    /// The keys, each of which may transfer and update every zone; without any, everybody may. NSD takes no updates.
    pub keys: Vec<Key>,
    /// The zones: name without the final dot, and text of the master file.
    pub zones: Vec<(String, String)>,
    /// Whether updates are refused, so that BIND reloads its files on command.
    pub is_static: bool,
}

impl ServerConfig {
    /// Adds every `NAME.zone` of a folder, with what it includes in its place.
    pub fn zones_of(mut self, folder: &Path) -> ServerConfig {
        for entry in fs::read_dir(folder).expect("the folder of zones") {
            let path = entry.expect("an entry of the folder").path();
            if path.extension().is_some_and(|extension| extension == "zone") {
                let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
                let text = fs::read_to_string(&path).expect("a zone file");
                let line = |line: &str| match line.strip_prefix("$INCLUDE ") {
                    Some(file) => fs::read_to_string(folder.join(file)).expect("an included file"),
                    None => format!("{line}\n"),
                };
                self.zones.push((name, text.lines().map(line).collect()));
            }
        }
        self
    }
}

/// The kinds of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// ISC BIND.
    Bind,
    /// Knot DNS.
    Knot,
    /// NSD.
    Nsd,
    /// PowerDNS Authoritative Server, its zones in SQLite.
    PowerDns,
    /// The same, read by its API.
    PowerDnsApi,
    /// `zonewright serve`.
    Serve,
}

impl Kind {
    /// The files that it needs, where Debian installs them.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Kind::Bind => bind::NEEDS,
            Kind::Knot => knot::NEEDS,
            Kind::Nsd => nsd::NEEDS,
            Kind::PowerDns | Kind::PowerDnsApi => pdns::NEEDS,
            Kind::Serve => ours::NEEDS,
        }
    }

    /// Writes the server's settings into its folder; gives the command that runs it there in the foreground.
    fn prepare(self, setup: &Setup<'_>) -> Command {
        match self {
            Kind::Bind => bind::prepare(setup),
            Kind::Knot => knot::prepare(setup),
            Kind::Nsd => nsd::prepare(setup),
            Kind::PowerDns => pdns::prepare(setup),
            Kind::PowerDnsApi => pdns::prepare_with_api(setup),
            Kind::Serve => ours::prepare(setup),
        }
    }

    /// Whether it answers questions for `id.server`, so that it cannot be mistaken for another one on its port.
    fn has_identity(self) -> bool {
        self != Kind::Serve
    }
}

/// What a kind of server turns into settings of its own.
#[derive(Debug)]
pub struct Setup<'a> {
    /// What to serve. The zones are in `NAME.zone` already.
    pub config: &'a ServerConfig,
    /// Where all files go.
    pub folder: &'a Path,
    /// The addresses to listen on, UDP and TCP.
    pub addresses: &'a [IpAddr],
    /// The port to listen on.
    pub port: u16,
    /// What to answer to those who ask for `id.server`.
    pub identity: &'a str,
    /// All keys that it knows, those of `config` and the powerless one.
    pub keys: &'a [Key],
}

/// A running server; it ends when this is dropped, and its files go with it.
#[derive(Debug)]
pub struct Server {
    /// What it is.
    kind: Kind,
    /// The process.
    child: Mutex<Child>,
    /// What runs it, by its program and arguments.
    program: Vec<OsString>,
    /// The names of its zones, without the final dot.
    zones: Vec<String>,
    /// Its files.
    folder: TempDir,
    /// Its addresses.
    addresses: Vec<IpAddr>,
    /// Its port, UDP and TCP, on all of them.
    port: u16,
}

impl Server {
    /// Starts a server and waits until it answers for every zone.
    ///
    /// Where that kind is not installed this says so aloud and gives `None`, so that the test passes; in CI it fails.
    pub fn start(kind: Kind, config: &ServerConfig) -> Option<Server> {
        Server::start_changed(kind, config, &|_| {})
    }

    /// The same, with settings that `change` has made others in the folder where they are.
    pub fn start_changed(kind: Kind, config: &ServerConfig, change: &dyn Fn(&Path)) -> Option<Server> {
        if !kind.needs().iter().all(|file| crate::have(Path::new(file))) {
            return None;
        }
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            match Server::try_start(kind, config, change) {
                Ok(server) => return Some(server),
                Err(said) => log = said,
            }
        }
        panic!("{kind:?} does not start:\n{log}");
    }

    /// `127.0.0.1:PORT`, in the form of a target's `server`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What the settings of a target say of it, without its key.
    pub fn target(&self) -> String {
        let server = format!("server = \"{}\"\n", self.address());
        match self.kind {
            Kind::PowerDnsApi => {
                let api = pdns::api(self.folder());
                format!(
                    "type = \"powerdns\"\nurl = \"http://{api}\"\napi_key = {{ secret_file = \"secret\" }}\n{server}"
                )
            }
            _ => format!("type = \"rfc2136\"\n{server}"),
        }
    }

    /// `[::1]:PORT`; `None`, which it says aloud, on a machine without IPv6.
    pub fn address_v6(&self) -> Option<String> {
        let found = self.addresses.iter().any(IpAddr::is_ipv6).then(|| format!("[::1]:{}", self.port));
        if found.is_none() {
            writeln!(std::io::stderr(), "skipped: this machine has no ::1").expect("stderr is open");
        }
        found
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child().id()
    }

    /// Sends its process a signal, such as `-STOP`.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.process().to_string()]).status();
        assert!(sent.expect("`kill` runs").success());
    }

    /// Ends its process at once, as `kill -9` does.
    pub fn kill(&self) {
        let mut child = self.child();
        child.kill().expect("a child");
        child.wait().expect("a child");
    }

    /// Runs it again, on the same files and port, and waits until it answers for every zone.
    pub fn start_again(&self) {
        let log = OpenOptions::new().append(true).open(self.folder().join("log")).expect("a log");
        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).current_dir(self.folder()).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        *self.child() = command.spawn().expect("the server's program runs");
        let deadline = Instant::now() + START;
        while !self.serves_all() {
            let log = || fs::read_to_string(self.folder().join("log")).unwrap_or_default();
            assert!(self.is_running() && Instant::now() < deadline, "it does not start again:\n{}", log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its process.
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().expect("nothing panics with it")
    }

    /// The folder of its files: `NAME.zone` for each zone, and `log`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a server on a port that is free just now; gives its log if it does not come up.
    fn try_start(kind: Kind, config: &ServerConfig, change: &dyn Fn(&Path)) -> Result<Server, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let addresses = loopback();
        let port = free_port(&addresses);
        let identity = format!("{:016x}", random());
        for (name, text) in &config.zones {
            fs::write(folder.path().join(format!("{name}.zone")), text).expect("a zone file");
        }
        let keys = [&config.keys[..], &[Key::powerless()]].concat();
        let setup =
            Setup { config, folder: folder.path(), addresses: &addresses, port, identity: &identity, keys: &keys };
        let mut command = kind.prepare(&setup);
        change(folder.path());
        let log = File::create(folder.path().join("log")).expect("a log");
        command.current_dir(folder.path()).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        let program = std::iter::once(command.get_program()).chain(command.get_args()).map(OsString::from).collect();
        let child = Mutex::new(command.spawn().expect("the server's program runs"));
        let zones = config.zones.iter().map(|(name, _)| name.clone()).collect();
        let server = Server { kind, child, program, zones, folder, addresses, port };
        let deadline = Instant::now() + START;
        loop {
            match server.state(&identity) {
                State::Ready => return Ok(server),
                State::Starting if Instant::now() < deadline && server.is_running() => {}
                State::Starting | State::Foreign => {
                    return Err(fs::read_to_string(server.folder().join("log")).unwrap_or_default());
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether its process runs.
    pub fn is_running(&self) -> bool {
        self.child().try_wait().expect("a child").is_none()
    }

    /// How far it is.
    fn state(&self, identity: &str) -> State {
        for address in &self.addresses {
            match ask(SocketAddr::new(*address, self.port), "id.server", TXT_CH) {
                None => return State::Starting,
                Some(_) if !self.kind.has_identity() => {}
                Some(answer) if !answer.windows(identity.len()).any(|part| part == identity.as_bytes()) => {
                    return State::Foreign;
                }
                Some(_) => {}
            }
        }
        if self.serves_all() { State::Ready } else { State::Starting }
    }

    /// Whether it answers for every zone.
    fn serves_all(&self) -> bool {
        let serves = |name: &String| {
            let answer = ask(SocketAddr::new(self.addresses[0], self.port), name, SOA_IN).unwrap_or_default();
            answer.get(3).is_some_and(|flags| flags & 0x0f == 0)
        };
        let has_api = self.kind != Kind::PowerDnsApi || TcpStream::connect(pdns::api(self.folder())).is_ok();
        has_api && self.zones.iter().all(serves)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to save.
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// How far a server is.
enum State {
    /// It does not answer yet, or not for every zone.
    Starting,
    /// It answers on each address and for every zone.
    Ready,
    /// Another process answers on its port.
    Foreign,
}

/// The loopback addresses of this machine, 127.0.0.1 first; some containers have no other.
fn loopback() -> Vec<IpAddr> {
    let mut addresses = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    addresses.retain(|address: &IpAddr| UdpSocket::bind((*address, 0)).is_ok());
    addresses
}

/// A port that is free for UDP and TCP on all these addresses, and that no outgoing connection gets meanwhile.
pub fn free_port(addresses: &[IpAddr]) -> u16 {
    loop {
        let port = PORTS.start + (random() % PORTS.len() as u64) as u16;
        let is_free =
            |address: &IpAddr| TcpListener::bind((*address, port)).is_ok() && UdpSocket::bind((*address, port)).is_ok();
        if addresses.iter().all(is_free) {
            return port;
        }
    }
}

/// An unpredictable number.
fn random() -> u64 {
    RandomState::new().hash_one(())
}

/// Asks a question of a type and class over TCP; gives the answer.
fn ask(server: SocketAddr, name: &str, type_and_class: [u8; 4]) -> Option<Vec<u8>> {
    let mut question = b"\x12\x34\0\0\0\x01\0\0\0\0\0\0".to_vec();
    for label in name.split('.') {
        question.push(label.len() as u8);
        question.extend_from_slice(label.as_bytes());
    }
    question.push(0);
    question.extend_from_slice(&type_and_class);
    let mut stream = TcpStream::connect(server).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(&[&(question.len() as u16).to_be_bytes()[..], &question].concat()).ok()?;
    let mut length = [0; 2];
    stream.read_exact(&mut length).ok()?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut answer).ok()?;
    Some(answer)
}
