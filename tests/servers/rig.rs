//! A server, a workspace whose zones it serves, and the editors that change them.
//!
//! Comes in: a workspace with its zones as master files. Goes out: what `plan` and `apply` of the built binary say of
//! it, the records of the zones as `dig` shows them, and the changes of others by `nsupdate`. Neither of those two
//! knows anything of zonewright.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{copy, demo_zones, edit, reading_by, reading_from, stderr, zonewright};

/// The clock of every workspace here.
pub const NOW: &str = "2026-11-20T02:00:00Z";

/// The programs of others.
const OTHERS: [&str; 2] = ["/usr/bin/dig", "/usr/bin/nsupdate"];

/// A server, and a workspace that reads from it and writes to it.
pub struct Rig {
    /// The server.
    pub server: Server,
    /// The workspace.
    pub workspace: TempDir,
    /// The zones of the server, with the final dot.
    pub zones: Vec<String>,
}

impl Rig {
    /// What `status` prints.
    pub fn status(&self) -> String {
        status_in(self.workspace.path())
    }

    /// The demo, served; `None` where the kind of server or another program is not installed.
    pub fn demo(kind: Kind) -> Option<Rig> {
        let key = Key::new("zonewright");
        let config = demo_zones(&key);
        Rig::start(kind, &config, &|_| {}, |server| reading_by(&server.target(), &key))
    }

    /// The demo in BIND, with a part of its settings that is there once replaced.
    pub fn demo_in_bind(part: &str, by: &str) -> Option<Rig> {
        let key = Key::new("zonewright");
        let change = |folder: &Path| change_bind(folder, part, by);
        Rig::start(Kind::Bind, &demo_zones(&key), &change, |server| reading_from(&[server.address()], &key))
    }

    /// The demo in a server that lets every client do everything, and whose answers are not signed.
    pub fn unsigned_demo(kind: Kind) -> Option<Rig> {
        let key = Key::powerless();
        let config = ServerConfig { keys: Vec::new(), ..demo_zones(&key) };
        Rig::start(kind, &config, &|_| {}, |server| {
            let workspace = reading_from(&[server.address()], &key);
            edit(workspace.path(), &key.setting(), "");
            workspace
        })
    }

    /// A copy of a workspace whose only target is its folder `zones`, served.
    pub fn of_files(kind: Kind, from: &Path) -> Option<Rig> {
        let key = Key::new("zonewright");
        Rig::of_files_for(kind, from, (std::slice::from_ref(&key), &key.setting()), &|_| {})
    }

    /// The same in BIND, with a part of its settings that is there once replaced.
    pub fn of_files_in_bind(from: &Path, part: &str, by: &str) -> Option<Rig> {
        let key = Key::new("zonewright");
        let change = |folder: &Path| change_bind(folder, part, by);
        Rig::of_files_for(Kind::Bind, from, (std::slice::from_ref(&key), &key.setting()), &change)
    }

    /// The same for a server that lets every client do everything, and whose answers are not signed.
    pub fn of_unsigned_files(kind: Kind, from: &Path) -> Option<Rig> {
        Rig::of_files_for(kind, from, (&[], ""), &|_| {})
    }

    /// The same for a server with these keys; the other text is what the target says of one.
    fn of_files_for(kind: Kind, from: &Path, (keys, signed): (&[Key], &str), change: &dyn Fn(&Path)) -> Option<Rig> {
        let config = ServerConfig { keys: keys.to_vec(), zones: Vec::new(), ..ServerConfig::default() }
            .zones_of(&from.join("zones"));
        Rig::start(kind, &config, change, |server| {
            let folder = tempfile::tempdir().expect("a folder");
            copy(from, folder.path());
            fs::remove_dir_all(folder.path().join("zones")).expect("the copy of the zones");
            keys.iter().for_each(|key| key.write_secret(folder.path()));
            let target = format!("{}{signed}", server.target());
            edit(folder.path(), "type = \"zonefile\"\ndir = \"zones\"\n", &target);
            folder
        })
    }

    /// Starts the server, and makes the workspace for it.
    fn start(
        kind: Kind,
        config: &ServerConfig,
        change: &dyn Fn(&Path),
        workspace: impl FnOnce(&Server) -> TempDir,
    ) -> Option<Rig> {
        if !OTHERS.iter().all(|program| crate::have(Path::new(program))) {
            return None;
        }
        let server = Server::start_changed(kind, config, change)?;
        if let Some(Key { name, algorithm, secret }) = config.keys.first() {
            let text = format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
            fs::write(server.folder().join("key"), text).expect("a file");
        }
        let zones = config.zones.iter().map(|(name, _)| format!("{name}.")).collect();
        Some(Rig { workspace: workspace(&server), server, zones })
    }

    /// Another workspace for the same server: a copy without state.
    pub fn another_workspace(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        copy(self.workspace.path(), folder.path());
        let state = folder.path().join(".zonewright");
        if state.exists() {
            fs::remove_dir_all(state).expect("the copy of the state");
        }
        folder
    }

    /// Lets the workspace ask another address than the server's own.
    pub fn go_through(&self, address: &str) {
        edit(self.workspace.path(), &self.server.address(), address);
    }

    /// Adds a key to the target's settings.
    pub fn set_target(&self, line: &str) {
        // Its server may be one that passes on what it gets.
        edit(self.workspace.path(), "\nserver = \"", &format!("\n{line}\nserver = \""));
    }

    /// Adds a line to every zone's settings.
    pub fn set_zones(&self, line: &str) {
        let file = self.workspace.path().join("zonewright.toml");
        let text = fs::read_to_string(&file).expect("the settings");
        fs::write(&file, text.replace("[[zone]]\n", &format!("[[zone]]\n{line}\n"))).expect("the settings");
    }

    /// Plans, and saves the plan in the workspace.
    pub fn plan(&self) -> Planned {
        plan_in(self.workspace.path(), &[])
    }

    /// Applies a plan.
    pub fn apply(&self, plan: &Planned, args: &[&str]) -> Applied {
        apply_in(self.workspace.path(), &plan.file, args)
    }

    /// Says `state init`.
    pub fn adopt(&self, workspace: &Path) {
        let mut command = quiet_in(workspace);
        let output = command.args(["state", "init", "--reason", "a test"]).output().expect("the program runs");
        assert!(output.status.success(), "{}", stderr(&output));
    }

    /// Transfers a zone by `dig`.
    pub fn zone(&self, zone: &str) -> Zone {
        let output = self.other("dig").args(["+noall", "+answer", "+onesoa", "AXFR", zone]).output().expect("dig runs");
        let text = String::from_utf8(output.stdout).expect("dig prints ASCII");
        Zone::parse(&text).unwrap_or_else(|| panic!("{zone}: {text}{}", text_of(&output.stderr)))
    }

    /// Transfers all zones, by one run of `dig`.
    pub fn all_zones(&self) -> BTreeMap<String, Zone> {
        let mut dig = self.other("dig");
        dig.args(["+noall", "+answer", "+onesoa"]);
        for zone in &self.zones {
            dig.args([zone, "AXFR"]);
        }
        let output = dig.output().expect("dig runs");
        let text = String::from_utf8(output.stdout).expect("dig prints ASCII");
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        let mut zone = "";
        for line in text.lines() {
            let mut fields = line.split_whitespace();
            zone = fields.next().filter(|_| fields.nth(2) == Some("SOA")).unwrap_or(zone);
            texts.entry(zone).or_default().extend([line, "\n"]);
        }
        let parse = |zone: &String| {
            let text = texts.remove(zone.as_str()).unwrap_or_default();
            let parsed = Zone::parse(&text);
            (zone.clone(), parsed.unwrap_or_else(|| panic!("{zone}: {text}{}", text_of(&output.stderr))))
        };
        self.zones.iter().map(parse).collect()
    }

    /// Changes a zone by `nsupdate`; these are the lines between `zone` and `send`.
    pub fn nsupdate(&self, zone: &str, lines: &str) {
        self.run_nsupdate(&self.update_script(zone, lines));
    }

    /// Restores these records of zones by `nsupdate`; serials increase.
    pub fn restore(&self, now: &BTreeMap<String, Zone>, before: &BTreeMap<String, Zone>) {
        let mut script = String::new();
        for (zone, before) in before {
            let lines = |word: &str, from: &Zone, other: &Zone| -> String {
                let records = from.records.difference(&other.records).filter(|line| key_of(line).1 != "SOA");
                records.map(|line| format!("update {word} {line}\n")).collect()
            };
            let lines = lines("delete", &now[zone], before) + &lines("add", before, &now[zone]);
            if !lines.is_empty() {
                script += &self.update_script(zone, lines.trim_end());
            }
        }
        if !script.is_empty() {
            self.run_nsupdate(&script);
        }
    }

    /// Runs `nsupdate`.
    fn run_nsupdate(&self, script: &str) {
        let mut command = self.other("nsupdate");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("nsupdate runs");
        child.stdin.take().expect("its input is piped").write_all(script.as_bytes()).expect("nsupdate reads");
        let output = child.wait_with_output().expect("nsupdate ends");
        assert!(output.status.success(), "{script}{}", text_of(&output.stderr));
    }

    /// The commands for `nsupdate` to change a zone.
    pub fn update_script(&self, zone: &str, lines: &str) -> String {
        let (host, port) = self.host_and_port();
        format!("server {host} {port}\nzone {zone}\n{lines}\nsend\n")
    }

    /// `dig` or `nsupdate`, with the key where there is one, and for `dig` the server.
    pub fn other(&self, program: &str) -> Command {
        let mut command = Command::new(format!("/usr/bin/{program}"));
        let (host, port) = self.host_and_port();
        if program == "dig" {
            command.arg(format!("@{host}")).args(["-p", &port]);
        } else {
            command.arg("-v");
        }
        let key = self.server.folder().join("key");
        if key.exists() {
            command.arg("-k").arg(key);
        }
        command
    }

    /// The address of the server in two parts.
    fn host_and_port(&self) -> (String, String) {
        let address = self.server.address();
        let (host, port) = address.split_once(':').expect("an address with a port");
        (host.to_owned(), port.to_owned())
    }
}

/// Replaces a part of the settings of BIND that is there once.
fn change_bind(folder: &Path, part: &str, by: &str) {
    let file = folder.join("named.conf");
    let text = fs::read_to_string(&file).expect("the settings");
    assert_eq!(text.matches(part).count(), 1, "{part}");
    fs::write(&file, text.replace(part, by)).expect("the settings");
}

/// The program in a workspace, quiet and by the clock of the tests; its command follows.
pub fn quiet_in(workspace: &Path) -> Command {
    let mut command = zonewright();
    command.args(["-q", "--color", "never", "--now", NOW, "-C"]).arg(workspace);
    command
}

/// What `status` prints of a workspace.
pub fn status_in(workspace: &Path) -> String {
    let mut command = zonewright();
    command.args(["--color", "never", "--now", NOW, "-C"]).arg(workspace).arg("status");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    text_of(&output.stdout)
}

/// Plans a workspace, and saves the plan in it, in a file of its own.
pub fn plan_in(workspace: &Path, args: &[&str]) -> Planned {
    static PLANS: AtomicUsize = AtomicUsize::new(0);
    let file = workspace.join(format!("plan-{}.json", PLANS.fetch_add(1, Ordering::Relaxed)));
    let mut command = quiet_in(workspace);
    command.args(["plan", "--format", "json", "--out"]).arg(&file).args(args);
    let output = command.output().expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = serde_json::from_str(&fs::read_to_string(&file).expect("the plan")).expect("a plan is JSON");
    Planned { file, document }
}

/// Applies a plan to a workspace.
pub fn apply_in(workspace: &Path, plan: &Path, args: &[&str]) -> Applied {
    Applied::new(apply_command(workspace, plan, args).output().expect("the program runs"))
}

/// Takes up the latest apply of a workspace.
pub fn resume_in(workspace: &Path) -> Applied {
    Applied::new(quiet_in(workspace).args(["resume", "--format", "json"]).output().expect("the program runs"))
}

/// The command that applies a plan.
pub fn apply_command(workspace: &Path, plan: &Path, args: &[&str]) -> Command {
    let mut command = zonewright();
    command.args(["-q", "--color", "never"]);
    if !args.contains(&"--now") {
        command.args(["--now", NOW]);
    }
    command.arg("-C").arg(workspace).args(["apply", "--yes", "--format", "json"]).args(args).arg(plan);
    command
}

/// A saved plan.
pub struct Planned {
    /// Where.
    pub file: PathBuf,
    /// The document.
    pub document: Value,
}

impl Planned {
    /// Its changes.
    pub fn changes(&self) -> Vec<Edit> {
        self.document["changes"].as_array().expect("a list").iter().map(Edit::of).collect()
    }

    /// Its digest.
    pub fn id(&self) -> &str {
        self.document["id"].as_str().expect("a plan has an id")
    }

    /// The digest of its changes.
    pub fn effect(&self) -> &str {
        self.document["effect"].as_str().expect("a plan has an effect")
    }

    /// The hosts that are applied or left together with one, including it.
    pub fn unit(&self, host: u64) -> BTreeSet<u64> {
        let mut unit = BTreeSet::from([host]);
        let groups: Vec<BTreeSet<u64>> = self.changes().into_iter().map(|change| change.hosts).collect();
        while let Some(more) = groups.iter().find(|group| !group.is_disjoint(&unit) && !group.is_subset(&unit)) {
            unit.extend(more);
        }
        unit
    }
}

/// A change of a plan.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The zone.
    pub zone: String,
    /// The owner name.
    pub name: String,
    /// The type.
    pub rtype: String,
    /// Whose it is, and the others that share it; empty for an orphan.
    pub hosts: BTreeSet<u64>,
    /// The host whose it is.
    pub host: Option<u64>,
    /// What is there, a line for each record as [`Zone`] has them; empty for a create.
    pub before: BTreeSet<String>,
    /// What is to be there; empty for a delete.
    pub after: BTreeSet<String>,
}

impl Edit {
    /// Reads a change.
    pub fn of(change: &Value) -> Edit {
        let text = |key: &str| change[key].as_str().expect("text").to_owned();
        let (name, rtype) = (text("name"), text("type"));
        let lines = |side: &str| -> BTreeSet<String> {
            let rdata = change[side]["rdata"].as_array().into_iter().flatten();
            let ttl = &change[side]["ttl"];
            rdata.map(|rdata| format!("{name} {ttl} {rtype} {}", rdata.as_str().expect("text"))).collect()
        };
        let number = |subject: &Value| {
            let (kind, number) = subject.as_str().and_then(|text| text.split_once(':')).expect("a subject");
            (kind != "orphan").then(|| number.parse().expect("a number"))
        };
        let host: Option<u64> = number(&change["subject"]);
        let also = change["also"].as_array().into_iter().flatten().filter_map(number);
        let (before, after) = (lines("before"), lines("after"));
        Edit { zone: text("zone"), host, hosts: also.chain(host).collect(), before, after, name, rtype }
    }

    /// Its place: owner name and type.
    pub fn key(&self) -> (String, String) {
        (self.name.clone(), self.rtype.clone())
    }
}

/// What `apply` came to.
pub struct Applied {
    /// The exit code.
    pub exit: Option<i32>,
    /// The document; null where there is none.
    pub document: Value,
    /// Its standard error.
    pub stderr: String,
}

impl Applied {
    /// Reads what a run printed.
    pub fn new(output: Output) -> Applied {
        Applied {
            exit: output.status.code(),
            document: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
            stderr: text_of(&output.stderr),
        }
    }

    /// All that was said, for a failure.
    pub fn said(&self) -> String {
        format!("exit {:?}\n{:#}\n{}", self.exit, self.document, self.stderr)
    }

    /// Why all of it was refused.
    pub fn refused(&self) -> Option<&str> {
        self.document["refused"]["code"].as_str()
    }

    /// The outcome of each host, of orphans under none.
    pub fn outcomes(&self) -> BTreeMap<Option<u64>, BTreeSet<String>> {
        let mut outcomes: BTreeMap<Option<u64>, BTreeSet<String>> = BTreeMap::new();
        for host in self.document["hosts"].as_array().into_iter().flatten() {
            let outcome = host["outcome"].as_str().expect("every host has an outcome").to_owned();
            outcomes.entry(host["host"].as_u64()).or_default().insert(outcome);
        }
        outcomes
    }

    /// The hosts with an outcome.
    pub fn hosts(&self, outcome: &str) -> BTreeSet<u64> {
        let is = |entry: &(Option<u64>, BTreeSet<String>)| entry.1.contains(outcome);
        self.outcomes().into_iter().filter(is).filter_map(|(host, _)| host).collect()
    }

    /// Checks the exit code, and that every host came to the same.
    pub fn assert_all(&self, exit: i32, outcome: &str) {
        assert_eq!(self.exit, Some(exit), "{}", self.said());
        let outcomes = self.outcomes();
        assert!(!outcomes.is_empty(), "{}", self.said());
        let others: Vec<_> = outcomes.iter().filter(|(_, each)| !each.iter().all(|each| each == outcome)).collect();
        assert!(others.is_empty(), "{others:?}\n{}", self.said());
    }

    /// Checks that the plan was refused as a whole, for a reason.
    pub fn assert_refused(&self, exit: i32, code: &str) {
        assert_eq!(self.exit, Some(exit), "{}", self.said());
        let is_reported = self.refused() == Some(code) || self.stderr.contains(&format!("error[{code}]"));
        assert!(is_reported, "not `{code}`: {}", self.said());
    }
}

/// A zone as `dig` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// The serial of its SOA.
    pub serial: u32,
    /// All other records, `NAME TTL TYPE RDATA`, each as the server writes it.
    pub records: BTreeSet<String>,
}

impl Zone {
    /// Reads the output of `dig`; `None` where it shows no SOA.
    fn parse(text: &str) -> Option<Zone> {
        let mut records = BTreeSet::new();
        let mut serial = None;
        for line in text.lines().filter(|line| !line.starts_with(';') && !line.trim().is_empty()) {
            let mut fields = line.split_whitespace();
            let mut field = || fields.next().expect("dig prints five fields");
            let (name, ttl, _, rtype) = (field(), field(), field(), field());
            let rdata: Vec<&str> = fields.collect();
            if rtype == "SOA" {
                serial = Some(rdata[2].parse().expect("a serial"));
                records.insert(format!("{name} {ttl} SOA {} {} {}", rdata[0], rdata[1], rdata[3..].join(" ")));
            } else {
                records.insert(format!("{name} {ttl} {rtype} {}", rdata.join(" ")));
            }
        }
        Some(Zone { serial: serial?, records })
    }

    /// The records of an RRset, whatever the case of the owner name.
    pub fn rrset(&self, name: &str, rtype: &str) -> BTreeSet<String> {
        let is = |line: &&String| {
            let mut fields = line.split(' ');
            fields.next().is_some_and(|owner| owner.eq_ignore_ascii_case(name)) && fields.nth(1) == Some(rtype)
        };
        self.records.iter().filter(is).cloned().collect()
    }
}

/// The owner name in lower case, and the type, of a record's line.
pub fn key_of(line: &str) -> (String, String) {
    let fields: Vec<&str> = line.splitn(4, ' ').collect();
    (fields[0].to_ascii_lowercase(), fields[2].to_owned())
}

/// A record's line with all names in lower case.
pub fn folded(line: &str) -> String {
    let fields: Vec<&str> = line.splitn(4, ' ').collect();
    let rdata = if fields[2] == "TXT" { fields[3].to_owned() } else { fields[3].to_ascii_lowercase() };
    format!("{} {} {} {rdata}", fields[0].to_ascii_lowercase(), fields[1], fields[2])
}

/// The name of a zone's marker.
pub fn marker_name(zone: &str) -> String {
    format!("_zonewright.{zone}")
}

/// What a program printed.
pub fn text_of(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}
