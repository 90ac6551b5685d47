//! Fifty hosts of one project move to another network in BIND, behind two services that are processes of their own, and the one
//! that is built in: at no time are more of them busy than may be, and no task is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use zonewright::cms::CmsCalls as _;
use zonewright::cms::client::CmsClient;
use zonewright::diag::{Files, Origin};
use zonewright::inventory::cms::{CmsService, CmsVersion};
use zonewright::state::{self, StateAddress};

use crate::fleet::{self, REVERSE_APEX};
use crate::reference_cms::ReferenceCms;
use crate::rig::{Applied, Rig, text_of};
use crate::server::Kind;
use crate::workspace::{edit, zonewright};

/// How many hosts there are.
const HOSTS: usize = 50;

/// How many of them may be busy at a time.
const BUSY: usize = 5;

/// The hosts that a service rejects, by their inventory numbers; their names have a number less.
const REJECTED: [u64; 2] = [4, 21];

/// The reverse zone: its network has the old one and the new one.
const REVERSE: &str = "0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa";

/// What addresses of the new network begin with.
const NEW: &str = "2a02:6b8:0:3:";

/// A service of approvals that is a process of its own, until it is killed.
struct CmsProcess {
    /// Its name in the settings.
    name: &'static str,
    /// How many hosts it lets through at a time.
    max_busy: usize,
    /// Its database.
    file: PathBuf,
    /// The process; none while it is killed.
    process: Option<ReferenceCms>,
    /// Where it is, or was.
    url: String,
}

impl CmsProcess {
    /// Starts one with no task.
    fn start(name: &'static str, max_busy: usize, folder: &Path, rejects: &[u64]) -> CmsProcess {
        let file = folder.join(format!("{name}.db"));
        let mut service = CmsProcess { name, max_busy, file, process: None, url: String::new() };
        service.run(rejects);
        service
    }

    /// Starts the process, which rejects these hosts.
    fn run(&mut self, rejects: &[u64]) {
        let rejects = rejects.iter().flat_map(|host| ["--cms-reject".to_owned(), name_of(*host)]);
        let (max_busy, file) = (self.max_busy.to_string(), self.file.to_str().expect("a path").to_owned());
        let args = ["--cms-max-busy".to_owned(), max_busy, "--cms-db".to_owned(), file].into_iter().chain(rejects);
        let args: Vec<String> = args.collect();
        let process = ReferenceCms::start(&args.iter().map(String::as_str).collect::<Vec<&str>>());
        self.url.clone_from(&process.url);
        self.process = Some(process);
    }

    /// Kills the process; it can do nothing about that.
    fn kill(&mut self) {
        self.process = None;
    }

    /// The ids of its tasks.
    fn tasks(&self) -> Vec<String> {
        let service = CmsService {
            name: self.name.to_owned(),
            url: self.url.clone(),
            version: CmsVersion::V1_4,
            token: None,
            timeout: Duration::from_secs(10),
            origin: Origin::line(Files::default().add("zonewright.toml"), 1),
        };
        let listed = CmsClient::new(&service, None).expect("a URL").list().expect("a list");
        listed.into_iter().map(|task| task.id).collect()
    }
}

/// The name of a host, by its inventory number.
fn name_of(host: u64) -> String {
    fleet::host_name(host as usize - 1).trim_end_matches('.').to_owned()
}

/// A time, by the seconds since the hosts moved.
fn at(seconds: u64) -> String {
    let (hour, rest) = (3 + seconds / 3600, seconds % 3600);
    format!("2026-11-20T{hour:02}:{:02}:{:02}Z", rest / 60, rest % 60)
}

/// The hosts of one move, and those who are asked.
struct Move {
    /// The server, and the workspace.
    rig: Rig,
    /// The service that is asked first. It rejects hosts at first.
    first: CmsProcess,
    /// The one that is asked then.
    second: CmsProcess,
    /// The hosts that have moved, each with when that was found, by the seconds since the move.
    moved: Vec<(String, u64)>,
    /// Where the services keep their tasks.
    _folder: TempDir,
}

impl Move {
    /// Starts all of it: hosts have their records, and then their switch gets another network. `None` where BIND is not installed.
    fn start() -> Option<Move> {
        let from = tempfile::tempdir().expect("a folder");
        let workspace = from.path();
        fleet::write(workspace, HOSTS);
        let zones = workspace.join("zones");
        let reverse = fs::read_to_string(zones.join(format!("{REVERSE_APEX}.zone"))).expect("a zone");
        fs::remove_file(zones.join(format!("{REVERSE_APEX}.zone"))).expect("a zone");
        fs::write(zones.join(format!("{REVERSE}.zone")), short_lived(&reverse)).expect("a zone");
        let forward = fs::read_to_string(zones.join("example.net.zone")).expect("a zone");
        fs::write(zones.join("example.net.zone"), short_lived(&forward)).expect("a zone");
        crate::edit::edit(workspace, "p.yaml", "ttl: 600", "ttl: 60");
        edit(workspace, "max_loss = \"100%\"\n", "max_loss = \"100%\"\nmax_by_cause = \"100%\"\n");
        edit(workspace, "network = \"2a02:6b8:0:1::/64\"", "network = \"2a02:6b8::/48\"");
        let rig = Rig::of_files(Kind::Bind, workspace)?;
        let folder = tempfile::tempdir().expect("a folder");
        let first = CmsProcess::start("alpha", 8, folder.path(), &REJECTED);
        let second = CmsProcess::start("beta", 6, folder.path(), &[]);
        let story = Move { rig, first, second, moved: Vec::new(), _folder: folder };
        let made = story.apply_at("2026-11-20T02:00:00Z", &[]);
        assert_eq!((made.exit, made.hosts("applied").len()), (Some(0), HOSTS), "{}", made.said());
        story.set(
            "\n[project.p]\n",
            &format!("\n{}[project.p]\ncms = [\"beta\", \"default\", \"alpha\"]\n", story.tables()),
        );
        story.set("automation = \"allowed\"\n", &format!("automation = \"allowed\"\nmax_busy_hosts = {BUSY}\n"));
        fs::write(story.rig.workspace.path().join("l3"), "s1 604 2a02:6b8:0:3::/64\n").expect("a file");
        Some(story)
    }

    /// The tables of both services.
    fn tables(&self) -> String {
        let table =
            |service: &CmsProcess| format!("[cms.{}]\nurl = \"{}\"\nversion = \"v1.4\"\n", service.name, service.url);
        table(&self.first) + &table(&self.second)
    }

    /// Replaces a part of the settings that is there once.
    fn set(&self, part: &str, by: &str) {
        edit(self.rig.workspace.path(), part, by);
    }

    /// Ends a service, and starts it with its tasks in another place; it rejects no host any longer.
    fn restart(&mut self, which: fn(&mut Move) -> &mut CmsProcess) {
        let service = which(self);
        service.kill();
        let old = service.url.clone();
        service.run(&[]);
        let new = service.url.clone();
        self.set(&old, &new);
    }

    /// Runs a command in the workspace as of a time.
    fn run(&self, now: &str, args: &[&str]) -> Output {
        let mut command: Command = zonewright();
        command.args(["-q", "--color", "never", "--now", now, "-C"]).arg(self.rig.workspace.path()).args(args);
        command.env("NO_PROXY", "*").output().expect("the program runs")
    }

    /// Makes a plan as of a time, and applies what of it may go.
    fn apply_at(&self, now: &str, args: &[&str]) -> Applied {
        let all = [&["apply", "--auto", "--yes", "--format", "json"], args].concat();
        Applied::new(self.run(now, &all))
    }

    /// The same, so many seconds after the move; at most so many hosts are busy as are let through.
    fn apply(&mut self, seconds: u64, args: &[&str]) -> Pass {
        let applied = self.apply_at(&at(seconds), args);
        let known: BTreeSet<String> = self.moved.iter().map(|(host, _)| host.clone()).collect();
        let new: Vec<String> = self.on_server().difference(&known).cloned().collect();
        assert_eq!(new.len(), applied.hosts("applied").len(), "{}", applied.said());
        self.moved.extend(new.iter().map(|host| (host.clone(), seconds)));
        // Caches have records for a minute.
        let busy = self.moved.iter().filter(|(_, at)| at + 60 > seconds).count();
        assert!(busy <= BUSY, "{busy} hosts are busy in DNS after {seconds} s: {}", applied.said());
        let in_flux = self.status(seconds)["in_flux"].as_array().expect("a list").len();
        assert!(in_flux <= BUSY, "{in_flux} hosts are in flux after {seconds} s");
        assert_eq!(in_flux, busy, "after {seconds} s");
        Pass { exit: applied.exit, moved: new.len(), applied }
    }

    /// The names of the hosts that have an address of the new network, and none of the old one.
    fn on_server(&self) -> BTreeSet<String> {
        let records = self.rig.zone(fleet::ZONE).records;
        let of_host = |line: &String| {
            let fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
            (fields[2] == "AAAA").then(|| (fields[0].clone(), fields[3].starts_with(NEW)))
        };
        let all: Vec<(String, bool)> = records.iter().filter_map(of_host).collect();
        assert_eq!(all.len(), HOSTS, "each host has one address: {all:?}");
        all.into_iter().filter(|(_, is_new)| *is_new).map(|(host, _)| host).collect()
    }

    /// What `status` says.
    fn status(&self, seconds: u64) -> Value {
        let output = self.run(&at(seconds), &["status", "--format", "json"]);
        serde_json::from_slice(&output.stdout).expect("a document")
    }

    /// How many tasks the state has, and how many hosts that were rejected.
    fn kept(&self) -> (usize, usize) {
        let address = StateAddress::of_file(&self.rig.workspace.path().join(".zonewright"), "state.db");
        let state = state::open_to_read(&address).expect("the state can be read").expect("a state");
        let memory = state.approvals().expect("the state can be read");
        (memory.tasks().count(), memory.refusals.len())
    }

    /// How many tasks both services have.
    fn listed(&self) -> (usize, usize) {
        (self.first.tasks().len(), self.second.tasks().len())
    }
}

/// What one run came to.
struct Pass {
    /// The exit code.
    exit: Option<i32>,
    /// How many hosts moved in DNS.
    moved: usize,
    /// What it said.
    applied: Applied,
}

impl Pass {
    /// What waits: the code, until when and the message, of a host.
    fn waiting(&self, host: u64) -> (String, String, String) {
        let all = self.applied.document["waiting"].as_array().expect("a list");
        let own = all.iter().find(|own| own["subject"] == format!("host:{host}"));
        let own = own.unwrap_or_else(|| panic!("{host} does not wait: {}", self.applied.said()));
        let text = |key: &str| own[key].as_str().unwrap_or("-").to_owned();
        (text("code"), text("until"), text("message"))
    }
}

/// A zone file of which caches keep nothing for longer than a minute.
fn short_lived(zone: &str) -> String {
    zone.replace("$TTL 600", "$TTL 60").replace("1d 2h 4w 10m", "1d 2h 4w 1m")
}

#[test]
fn hosts_move_behind_two_services_a_few_at_a_time_and_leave_no_task() {
    let Some(mut story) = Move::start() else { return };

    // The pull request: all is asked by dry runs, and nothing is kept.
    let state = story.rig.workspace.path().join(".zonewright/state.db");
    let before = fs::read(&state).expect("the state");
    let planned = story.run(&at(0), &["plan", "--ask-cms", "--format", "markdown"]);
    let comment = text_of(&planned.stdout);
    assert_eq!(planned.status.code(), Some(0), "{comment}{}", text_of(&planned.stderr));
    for host in REJECTED {
        let line = comment.lines().find(|line| line.contains(&name_of(host)) && line.contains("would reject"));
        let line = line.unwrap_or_else(|| panic!("{} is not in the comment: {comment}", name_of(host)));
        assert!(line.contains("this host is to stay as it is"), "{line}");
    }
    assert_eq!(comment.matches("would reject").count(), REJECTED.len(), "{comment}");
    assert_eq!((story.kept(), story.listed()), ((0, 0), (0, 0)));
    assert!(fs::read(&state).expect("the state") == before, "the state was written");

    // The first wave; two hosts are rejected, and the others wait.
    let first = story.apply(0, &[]);
    assert_eq!((first.exit, first.moved), (Some(4), BUSY), "{}", first.applied.said());
    assert_eq!(first.applied.hosts("rejected"), REJECTED.into(), "{}", first.applied.said());
    assert_eq!(first.applied.hosts("waiting").len(), HOSTS - BUSY - REJECTED.len());
    assert_eq!(story.kept().1, REJECTED.len());

    // While they are busy, nothing goes; the two wait until an hour has passed.
    let early = story.apply(30, &[]);
    assert_eq!((early.exit, early.moved), (Some(5), 0), "{}", early.applied.said());
    for host in REJECTED {
        let (code, until, message) = early.waiting(host);
        assert_eq!((code.as_str(), until), ("approval", at(3600)), "{message}");
        assert_eq!(message, "`alpha` rejects it: this host is to stay as it is");
    }

    // One wave after another.
    for wave in 1..=3 {
        let pass = story.apply(wave * 240, &[]);
        assert_eq!((pass.exit, pass.moved), (Some(5), BUSY), "wave {wave}: {}", pass.applied.said());
    }

    // A service dies: no host goes, but for one that a person takes responsibility for.
    story.second.kill();
    let dead = story.apply(4 * 240, &[]);
    assert_eq!((dead.exit, dead.moved), (Some(5), 0), "{}", dead.applied.said());
    let silent = dead.applied.document["waiting"].as_array().expect("a list").iter();
    let silent: Vec<&str> =
        silent.filter_map(|own| own["message"].as_str()).filter(|own| own.contains("`beta`")).collect();
    assert!(!silent.is_empty() && silent.iter().all(|own| own.contains("`beta` gives no answer")), "{silent:?}");
    let unasked: Vec<u64> = (1..=HOSTS as u64).filter(|host| dead.applied.hosts("waiting").contains(host)).collect();
    let said: Vec<(u64, String)> = unasked.iter().map(|host| (*host, dead.waiting(*host).2)).collect();
    assert!(said.iter().all(|(_, own)| !own.contains("not been asked")), "{said:?}");
    let named = unasked.into_iter().rfind(|host| !REJECTED.contains(host)).expect("most of them wait");
    let host = named.to_string();
    let without = story.apply(4 * 240 + 10, &["--host", &host, "--ignore-cms"]);
    assert_eq!((without.exit, without.moved), (Some(1), 0), "{}", without.applied.said());
    let waits = story.apply(4 * 240 + 20, &["--host", &host]);
    assert_eq!((waits.exit, waits.moved), (Some(5), 0), "{}", waits.applied.said());
    let ignored = story.apply(4 * 240 + 30, &["--host", &host, "--ignore-cms", "--reason", "the service is down"]);
    assert_eq!((ignored.exit, ignored.moved), (Some(0), 1), "{}", ignored.applied.said());
    assert_eq!(ignored.applied.hosts("applied"), [named].into());

    // It comes back, with its tasks.
    story.restart(|story| &mut story.second);
    let mut seconds = 5 * 240;
    while story.moved.len() < HOSTS - REJECTED.len() {
        let pass = story.apply(seconds, &[]);
        let left = HOSTS - REJECTED.len() - story.moved.len();
        let is_last = left == 0 && pass.moved > 0;
        assert!(pass.exit == Some(5) && (pass.moved == BUSY || is_last), "{left} are left: {}", pass.applied.said());
        seconds += 240;
    }
    assert!(seconds < 3600, "{seconds}");
    assert!(story.on_server().is_disjoint(&REJECTED.map(|host| format!("{}.", name_of(host))).into()));

    // The service no longer rejects them: they wait for the rest of the hour, and go then.
    story.restart(|story| &mut story.first);
    let still = story.apply(3599, &[]);
    assert_eq!((still.exit, still.moved), (Some(5), 0), "{}", still.applied.said());
    assert_eq!((story.kept(), story.listed()), ((0, REJECTED.len()), (0, 0)), "no host has a task");
    let rest = story.apply(3601, &[]);
    assert_eq!((rest.exit, rest.moved), (Some(0), REJECTED.len()), "{}", rest.applied.said());
    assert_eq!((story.kept(), story.listed()), ((3 * REJECTED.len(), 0), (REJECTED.len(), REJECTED.len())));

    // Once caches have forgotten the old records, the last tasks are deleted.
    let last = story.apply(3840, &[]);
    assert_eq!((last.exit, last.moved), (Some(0), 0), "{}", last.applied.said());
    assert_eq!((story.kept(), story.listed()), ((0, 0), (0, 0)));
    let status = story.status(3840);
    assert_eq!(
        (&status["waiting"], &status["in_flux"]),
        (&Value::from(Vec::<Value>::new()), &Value::from(Vec::<Value>::new()))
    );
    assert_eq!(story.moved.len(), HOSTS);
}
