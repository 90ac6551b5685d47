//! Servers that make and delete zones by the commands of docs/targets.md, each with a catalog zone and nothing else.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{Key, Kind, Server, ServerConfig, free_port};

/// The catalog zone, without the final dot.
pub const CATALOG: &str = "catalog.example";

/// The documentation that has the commands.
const DOCS: &str = include_str!("../../docs/targets.md");

/// The text of the catalog zone (RFC 9432 section 4.1).
pub const CATALOG_TEXT: &str = "$TTL 0
@ SOA invalid. invalid. 1 1 1 9999 0
@ NS invalid.
version TXT \"2\"
";

/// A server, and the commands that make and delete its zones.
pub struct Maker {
    /// The server.
    pub server: Server,
    /// What it is.
    kind: Kind,
}

/// Where the documentation has the scripts of a kind, and what they say here instead.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    /// What introduces both scripts.
    heading: &'static str,
    /// What is replaced, and by what; `FOLDER` is the folder of the server.
    replaced: &'static [(&'static str, &'static str)],
}

impl Recipe {
    /// That of a kind.
    fn of(kind: Kind) -> Recipe {
        match kind {
            Kind::Bind => Recipe {
                heading: "\nFor BIND, with `allow-new-zones yes;`:\n",
                replaced: &[("/var/lib/bind", "FOLDER"), ("rndc ", "rndc -c FOLDER/rndc.conf ")],
            },
            Kind::Knot => Recipe {
                heading: "\nFor Knot, with a configuration database",
                replaced: &[("/var/lib/knot", "FOLDER"), ("knotc ", "knotc -s FOLDER/knot.sock ")],
            },
            Kind::PowerDns | Kind::PowerDnsApi => Recipe {
                heading: "\nFor PowerDNS, with `zone-cache-refresh-interval=0`",
                replaced: &[
                    ("# create-zone NAME\n", "# create-zone NAME\ncd FOLDER\n"),
                    ("# delete-zone NAME\n", "# delete-zone NAME\ncd FOLDER\n"),
                    ("pdnsutil ", "pdnsutil --config-dir=. "),
                    ("pdns_control ", "pdns_control --config-dir=. "),
                ],
            },
            Kind::Nsd | Kind::Serve => panic!("{kind:?} makes no zones"),
        }
    }

    /// The script that makes zones and the one that deletes them, for a server in a folder.
    fn scripts(self, folder: &Path) -> [String; 2] {
        let (_, rest) = DOCS.split_once(self.heading).expect("the documentation has the scripts");
        let mut blocks = rest.split("```sh\n").skip(1).map(|block| block.split_once("```").expect("an end").0);
        let mut next = |first: &str| {
            let script = blocks.next().filter(|script| script.contains(first)).expect("the scripts are in their order");
            let here = self.replaced.iter().fold(script.to_owned(), |text, (part, by)| text.replace(part, by));
            here.replace("FOLDER", &folder.display().to_string())
        };
        [next("# create-zone NAME\n"), next("# delete-zone NAME\n")]
    }
}

impl Maker {
    /// Starts a server whose one zone is the catalog; `None` where it is not installed.
    pub fn start(kind: Kind, key: &Key) -> Option<Maker> {
        let zones = vec![(CATALOG.to_owned(), CATALOG_TEXT.to_owned())];
        let config = ServerConfig { keys: vec![key.clone()], zones, ..ServerConfig::default() };
        let server = Server::start_changed(kind, &config, &|folder| prepare(kind, key, folder))?;
        for (name, script) in ["create-zone", "delete-zone"].iter().zip(Recipe::of(kind).scripts(server.folder())) {
            write_script(&server.folder().join(name), &script);
        }
        Some(Maker { server, kind })
    }

    /// The settings of a target that is this server, in a pool `main`.
    pub fn target(&self, name: &str, key: &Key) -> String {
        let (target, folder) = (self.server.target(), self.server.folder().display());
        if self.kind == Kind::PowerDnsApi {
            // Its API makes zones.
            return format!("[[pool.main.target]]\nname = \"{name}\"\n{target}{}", key.setting());
        }
        format!(
            "[[pool.main.target]]\nname = \"{name}\"\n{target}\
             {}\
             create_command = [\"{folder}/create-zone\", \"{{zone}}\"]\n\
             delete_command = [\"{folder}/delete-zone\", \"{{zone}}\"]\n",
            key.setting()
        )
    }

    /// Puts lines of a shell into the script that makes zones: before it does anything, or after all.
    pub fn add_to_create(&self, first: &str, last: &str) {
        let file = self.server.folder().join("create-zone");
        let text = fs::read_to_string(&file).expect("the script");
        let (head, rest) = text.split_once('\n').expect("a first line");
        write_script(&file, &format!("{head}\n{first}{rest}{last}"));
    }

    /// Makes a zone by hand.
    pub fn create(&self, zone: &str, text: &str) {
        self.run("create-zone", zone, text);
    }

    /// Deletes a zone by hand.
    pub fn delete(&self, zone: &str) {
        self.run("delete-zone", zone, "");
    }

    /// Runs a script.
    fn run(&self, script: &str, zone: &str, input: &str) {
        let mut command = Command::new(self.server.folder().join(script));
        let mut child = command.arg(zone).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
        child.stdin.take().expect("its input is piped").write_all(input.as_bytes()).expect("it reads");
        assert!(child.wait().expect("a child").success(), "{script} {zone} of {:?}", self.kind);
    }

    /// Lets it tell name servers when a zone changes, by a restart.
    pub fn notify(&self, addresses: &[String]) {
        let folder = self.server.folder();
        let replace = |file: &str, part: &str, by: &str| crate::edit::edit(folder, file, part, by);
        let ports: Vec<&str> = addresses.iter().map(|address| address.rsplit(':').next().expect("a port")).collect();
        match self.kind {
            Kind::Bind => {
                let list: String = ports.iter().map(|port| format!("127.0.0.1 port {port}; ")).collect();
                replace(
                    "named.conf",
                    "notify no;",
                    &format!("notify explicit; notify-delay 0; also-notify {{ {list}}};"),
                );
            }
            Kind::Knot => {
                let mut remotes = "remote:\n".to_owned();
                for port in &ports {
                    writeln!(remotes, "- id: s{port}\n  address: 127.0.0.1@{port}").expect("a String grows");
                }
                replace("knot.conf", "template:\n", &format!("{remotes}template:\n"));
                let list: Vec<String> = ports.iter().map(|port| format!("s{port}")).collect();
                let list = format!("  acl: [ all, reader ]\n  notify: [ {} ]\n", list.join(", "));
                replace("knot.conf", "  acl: [ all, reader ]\n", &list);
            }
            _ => {
                let list = addresses.join(",");
                let lines = format!("primary=yes\nalso-notify={list}\nxfr-cycle-interval=1\nguardian=no\n");
                replace("pdns.conf", "guardian=no\n", &lines);
                let kind = ["--config-dir=.", "set-kind", CATALOG, "primary"];
                pdnsutil(folder, &kind);
                self.add_to_create("", "pdnsutil --config-dir=. set-kind \"$1\" primary\n");
            }
        }
        self.server.kill();
        self.server.start_again();
    }
}

/// Lets a server make zones by its scripts, and lets everyone on this machine transfer them.
fn prepare(kind: Kind, key: &Key, folder: &Path) {
    let replace = |file: &str, part: &str, by: &str| crate::edit::edit(folder, file, part, by);
    let Key { name, algorithm, secret } = key;
    match kind {
        Kind::Bind => {
            let port = free_port(&[IpAddr::V4(Ipv4Addr::LOCALHOST)]);
            let channel = format!("inet 127.0.0.1 port {port} allow {{ 127.0.0.1; }} keys {{ \"{name}\"; }};");
            replace("named.conf", "controls { };", &format!("controls {{ {channel} }};"));
            replace("named.conf", "empty-zones-enable no;", "empty-zones-enable no;\n  allow-new-zones yes;");
            replace("named.conf", &format!("allow-transfer {{ key \"{name}\"; }};"), "allow-transfer { any; };");
            let conf = format!(
                "key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n\
                 options {{ default-key \"{name}\"; default-server 127.0.0.1; default-port {port}; }};\n"
            );
            fs::write(folder.join("rndc.conf"), conf).expect("a file");
        }
        Kind::Knot => {
            let reader = "- id: reader\n  address: 127.0.0.1\n  action: transfer\ntemplate:\n";
            replace("knot.conf", "template:\n", reader);
            replace("knot.conf", "  acl: all\n", "  acl: [ all, reader ]\n");
        }
        _ => {
            let allowed = "allow-axfr-ips=127.0.0.0/8\nzone-cache-refresh-interval=0\n";
            replace("pdns.conf", "allow-axfr-ips=\n", allowed);
        }
    }
}

/// Runs `pdnsutil` in the folder of a server.
pub fn pdnsutil(folder: &Path, args: &[&str]) {
    let output = Command::new("/usr/bin/pdnsutil").args(args).current_dir(folder).output().expect("pdnsutil runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Writes a script.
fn write_script(file: &Path, text: &str) {
    fs::write(file, text).expect("a script");
    fs::set_permissions(file, Permissions::from_mode(0o700)).expect("it is ours");
}
