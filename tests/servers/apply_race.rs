//! Twelve writers at one zone, all at once: half of them applies, half of them `nsupdate`.
//!
//! A writer that got the answer that it changed a host finds its value there, and no other writer's. `RACE_ROUNDS=100`
//! in the environment runs more rounds than by default.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::fleet::{self, REVERSE_APEX, ZONE, host_name};
use crate::rig::{Applied, Planned, Rig, Zone, apply_command, key_of, marker_name, plan_in, text_of};
use crate::server::Kind;

on_every_primary! {
    of_twelve_writers_at_once_one_wins_each_host_and_nobody_is_overwritten
}

by_api_too! {
    of_twelve_writers_at_once_one_wins_each_host_and_nobody_is_overwritten
}

/// Rounds on each server, where nothing else is asked for.
const ROUNDS: usize = 10;

/// Hosts of the fleet.
const HOSTS: usize = 12;

/// Our own runs. The first two apply the same plan, the others one each.
const RUNS: usize = 6;

/// The foreign writers, each of one host, two at a time of the same host.
const FOREIGN: usize = 6;

/// All rounds on one server.
fn of_twelve_writers_at_once_one_wins_each_host_and_nobody_is_overwritten(kind: Kind) {
    let rounds = std::env::var("RACE_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().expect("a number"));
    let files = tempfile::tempdir().expect("a folder");
    fleet::write(files.path(), HOSTS);
    let Some(rig) = Rig::of_files(kind, files.path()) else { return };
    let runs: Vec<TempDir> = (0..RUNS).map(|_| rig.another_workspace()).collect();
    let mut tally = Tally::default();
    for round in 0..rounds {
        tally.add(&race(&rig, &runs, round));
    }
    eprintln!("{kind:?}: {rounds} rounds, {tally:?}");
    let (hosts, won) = (rounds * HOSTS, tally.ours + tally.foreign);
    assert_eq!(won, hosts, "one writer wins each host");
    assert!(tally.foreign > 0 && tally.ours > 0, "both kinds of writers win now and then: {tally:?}");
}

/// Who won how many hosts.
#[derive(Debug, Default)]
struct Tally {
    /// Applies.
    ours: usize,
    /// Foreign writers.
    foreign: usize,
    /// Hosts that an apply reported as stale.
    stale: usize,
    /// Applies that reported that another run has written.
    fenced: usize,
}

impl Tally {
    /// Adds up.
    fn add(&mut self, other: &Tally) {
        self.ours += other.ours;
        self.foreign += other.foreign;
        self.stale += other.stale;
        self.fenced += other.fenced;
    }
}

/// A writer that is about to start.
struct Writer {
    /// Who.
    name: String,
    /// What it writes: address by host.
    values: BTreeMap<usize, String>,
    /// Whether it is one of our runs.
    is_ours: bool,
}

/// One round: plans, the start, and who won what.
fn race(rig: &Rig, runs: &[TempDir], round: usize) -> Tally {
    forget(rig, runs);
    let before = rig.zone(ZONE);
    let pointers = rig.zone(&format!("{REVERSE_APEX}.")).records;
    let plans: Vec<Planned> = runs.iter().enumerate().map(|(run, folder)| plan_of(folder.path(), round, run)).collect();
    let start = Start::new();
    let mut writers = Vec::new();
    for (run, (folder, plan)) in runs.iter().zip(&plans).enumerate() {
        let values = plan.changes().iter().filter(|change| change.rtype == "AAAA").map(value_of).collect();
        let command = apply_command(folder.path(), &plan.file, &[]);
        let writer = Writer { name: format!("run {run}"), values, is_ours: true };
        writers.push(start.ready_to_run(writer, &command, Duration::ZERO));
    }
    for number in 0..FOREIGN {
        let host = (round + number / 2) % HOSTS;
        let value = format!("2001:db8:{:x}::{:x}", round + 1, number + 1);
        let script = start.folder.path().join(format!("script-{number}"));
        fs::write(&script, foreign_script(rig, &before, host, &value)).expect("a file");
        let mut command = rig.other("nsupdate");
        command.arg(script);
        // The applies first look, and then write: foreign writers come in at all times of that.
        let pause = Duration::from_millis(((round * 5 + number * 3) % 24 * 25) as u64);
        let values = BTreeMap::from([(host, value)]);
        let writer = Writer { name: format!("foreign {number}"), values, is_ours: false };
        writers.push(start.ready_to_run(writer, &command, pause));
    }
    judge(rig, start.run(writers), round, &pointers)
}

/// Takes the markers and the runs' states away, so that every round begins as the first did.
fn forget(rig: &Rig, runs: &[TempDir]) {
    for run in runs {
        let state = run.path().join(".zonewright");
        if state.exists() {
            fs::remove_dir_all(state).expect("the state");
        }
    }
    for zone in &rig.zones {
        rig.nsupdate(zone, &format!("update delete {} TXT", marker_name(zone)));
    }
}

/// The plan of a run. Each round and run saw other MACs, except the first two runs, so each plans other addresses.
fn plan_of(workspace: &Path, round: usize, run: usize) -> Planned {
    let mac = |host: usize| format!("ac1f{round:04x}{:02x}{host:02x}", run.max(1));
    let report =
        |host: usize| format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{},\"mac\":\"{}\"}}\n", host + 1, mac(host));
    fs::write(workspace.join("macs.jsonl"), (0..HOSTS).map(report).collect::<String>()).expect("a file");
    plan_in(workspace, &[])
}

/// The host of a change and the address that it brings.
fn value_of(change: &crate::rig::Edit) -> (usize, String) {
    let host = change.host.expect("a host's") as usize - 1;
    let line = change.after.first().expect("every host gets an address");
    (host, line.rsplit(' ').next().expect("RDATA").to_owned())
}

/// What a foreign writer says: the value that was there before the start, or nothing.
fn foreign_script(rig: &Rig, before: &Zone, host: usize, value: &str) -> String {
    let name = host_name(host);
    let mut lines = String::new();
    for line in before.rrset(&name, "AAAA") {
        let rdata = line.rsplit(' ').next().expect("RDATA");
        writeln!(lines, "prereq yxrrset {name} AAAA {rdata}").expect("a String grows");
    }
    rig.update_script(ZONE, &format!("{lines}update delete {name} AAAA\nupdate add {name} 600 AAAA {value}"))
}

/// Checks who won what.
fn judge(rig: &Rig, ended: Vec<(Writer, Output)>, round: usize, pointers_before: &BTreeSet<String>) -> Tally {
    let zone = rig.zone(ZONE);
    let mut tally = Tally::default();
    let mut winners: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut losers: Vec<(String, usize, String)> = Vec::new();
    for (writer, output) in ended {
        let successes = if writer.is_ours {
            let applied = Applied::new(output);
            tally.stale += applied.hosts("stale").len();
            tally.fenced += usize::from(applied.exit != Some(0) && applied.hosts("applied").is_empty());
            assert!(matches!(applied.exit, Some(0 | 1 | 3 | 4)), "{}: {}", writer.name, applied.said());
            let outcomes = ["applied", "already-applied"].map(|outcome| applied.hosts(outcome));
            outcomes.into_iter().flatten().map(|host| host as usize - 1).collect()
        } else {
            let said = text_of(&output.stderr);
            assert!(output.status.success() || said.contains("NXRRSET"), "{}: {said}", writer.name);
            if output.status.success() { writer.values.keys().copied().collect() } else { BTreeSet::new() }
        };
        for (host, value) in writer.values {
            if successes.contains(&host) {
                winners.entry(host).or_default().insert(value.clone());
            } else {
                losers.push((writer.name.clone(), host, value));
            }
        }
    }
    for host in 0..HOSTS {
        let standing: BTreeSet<String> = zone
            .rrset(&host_name(host), "AAAA")
            .iter()
            .map(|line| line.rsplit(' ').next().expect("RDATA").to_owned())
            .collect();
        let won = winners.remove(&host).unwrap_or_default();
        assert_eq!(won.len(), 1, "round {round}: host {host} holds {standing:?}, and was won by {won:?}");
        assert_eq!(standing, won, "round {round}: host {host} does not hold what its winner wrote");
        // Two runs have the same plan: where one of them won, the RRset is as the other planned it, too.
        let surprised = losers.iter().find(|(name, of, value)| *of == host && won.contains(value) && !is_twin(name));
        assert!(surprised.is_none(), "round {round}: {surprised:?} got the answer that it lost");
        let is_foreign = won.iter().all(|value| value.starts_with("2001:db8:"));
        *(if is_foreign { &mut tally.foreign } else { &mut tally.ours }) += 1;
    }
    assert_pointers(rig, &zone, pointers_before);
    tally
}

/// Checks that no writer that lost an address made a pointer for it: every new one names a host that has its address.
fn assert_pointers(rig: &Rig, zone: &Zone, before: &BTreeSet<String>) {
    let reverse = rig.zone(&format!("{REVERSE_APEX}."));
    let addresses: BTreeSet<(String, String)> = zone
        .records
        .iter()
        .filter(|line| key_of(line).1 == "AAAA")
        .map(|line| (reverse_name(line.rsplit(' ').next().expect("RDATA")), key_of(line).0))
        .collect();
    for line in reverse.records.difference(before).filter(|line| key_of(line).1 == "PTR") {
        let host = line.rsplit(' ').next().expect("RDATA").to_owned();
        assert!(addresses.contains(&(key_of(line).0, host)), "no host has the address of {line}");
    }
}

/// The reverse name of an IPv6 address.
fn reverse_name(address: &str) -> String {
    let octets = address.parse::<Ipv6Addr>().expect("an IPv6 address").octets();
    let nibbles = octets.iter().rev().flat_map(|octet| [octet & 0xf, octet >> 4]);
    nibbles.map(|nibble| format!("{nibble:x}.")).collect::<String>() + "ip6.arpa."
}

/// Whether a writer is one of the two with the same plan.
fn is_twin(name: &str) -> bool {
    ["run 0", "run 1"].contains(&name)
}

/// The start of a race: writers that are ready wait until a pipe has a writer.
struct Start {
    /// The pipe, and a file for each who is ready.
    folder: TempDir,
}

impl Start {
    /// Makes the pipe.
    fn new() -> Start {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo runs");
        assert!(made.success());
        Start { folder }
    }

    /// Starts the command of a writer, which waits for the start, and then a little longer.
    fn ready_to_run(&self, writer: Writer, command: &Command, pause: Duration) -> (Writer, Child) {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg("touch \"$1\"; exec 9<\"$2\"; exec 9<&-; sleep \"$3\"; shift 3; exec \"$@\"").arg("sh");
        shell
            .arg(self.ready(&writer.name))
            .arg(self.folder.path().join("pipe"))
            .arg(format!("{:.3}", pause.as_secs_f64()));
        shell.arg(command.get_program()).args(command.get_args());
        let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
        (writer, child)
    }

    /// The file that says that a writer is ready.
    fn ready(&self, name: &str) -> PathBuf {
        self.folder.path().join(name.replace(' ', "-"))
    }

    /// Waits until all are ready, starts them, and waits for them.
    fn run(&self, writers: Vec<(Writer, Child)>) -> Vec<(Writer, Output)> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !writers.iter().all(|(writer, _)| self.ready(&writer.name).exists()) {
            assert!(Instant::now() < deadline, "the writers do not get ready");
            thread::sleep(Duration::from_millis(1));
        }
        // Held open, so that a writer that opens the pipe a moment late continues, too.
        let pipe: File = OpenOptions::new().write(true).open(self.folder.path().join("pipe")).expect("the pipe");
        let ended = writers.into_iter().map(|(writer, child)| (writer, child.wait_with_output().expect("a child")));
        let ended = ended.collect();
        drop(pipe);
        ended
    }
}
