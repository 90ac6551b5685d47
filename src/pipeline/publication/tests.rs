//! The state while name servers are asked: it is free for other runs, and what those write stays.

use std::net::UdpSocket;
use std::sync::Mutex;
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::consensus::{NewStep, RrsetTask, TakenRrset, TargetServed, VoterId, ZoneStatus};
use crate::dns::{Name, Rtype, Serial, ZoneName};
use crate::pipeline::settings::{WorkspaceSettings, load_settings, state_address};
use crate::progress::RunStage;
use crate::reading::ReadingTerms;
use crate::rollout::RolloutChoice;
use crate::state::{NewApply, PlanText, StateLock};

/// Shows nothing.
struct Quiet;

impl Progress for Quiet {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}
}

/// The clock of all runs.
fn now() -> Time {
    "2026-11-20T02:00:00Z".parse().unwrap()
}

/// A workspace whose one pool has one name server.
struct Place {
    /// The workspace.
    folder: TempDir,
    /// Its settings.
    settings: WorkspaceSettings,
}

impl Place {
    /// The name server has this address.
    fn new(server: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
        let terms = "poll_timeout = \"20s\"\npoll_retry_interval = \"1s\"\npoll_max_retries = 0\n";
        let target = "[[pool.main.target]]\ntype = \"rfc2136\"\nserver = \"127.0.0.1:9\"\n";
        let follower = format!("[[pool.main.nameserver]]\nserver = \"{server}\"\n");
        let zone = "[[zone]]\nname = \"example.net\"\npool = \"main\"\n";
        let text = format!(
            "owner = \"us\"\n[sources]\nprojects = \"*.yaml\"\n{exports}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n\
             [pool.main]\n{terms}{target}{follower}{zone}"
        );
        std::fs::write(folder.path().join("zonewright.toml"), text).unwrap();
        let settings = load_settings(folder.path()).unwrap();
        Place { folder, settings }
    }

    /// Where its state is.
    fn address(&self) -> StateAddress {
        state_address(self.folder.path(), &self.settings.config)
    }

    /// Waits for the name servers of an apply.
    fn wait(&self, apply: ApplyId, interrupted: &AtomicBool) -> Result<Option<ServedOutcome>, Problem> {
        let terms = ReadingTerms { workspace: self.folder.path(), now: now(), cache: None };
        let config = &self.settings.config;
        let context = terms.context(config);
        let (clock, progress) = (now, &Quiet);
        let watch = PublicationWatch { config, context: &context, interrupted, clock: &clock, who: "us", progress };
        watch.of_apply(held(&self.address()), apply, true)
    }
}

/// The state, taken as a run takes it.
fn held(address: &StateAddress) -> HeldState {
    HeldState::take(address, "us", now()).unwrap()
}

/// The zone.
fn zone() -> ZoneId {
    ZoneId { pool: "main".parse().unwrap(), name: ZoneName::new(Name::parse("example.net").unwrap()) }
}

/// Applies a change of an RRset, after which the target serves this serial.
fn apply(address: &StateAddress, name: &str, serial: u32) -> ApplyId {
    let mut held = held(address);
    let new = NewApply {
        plan: String::new(),
        effect: String::new(),
        started: now(),
        who: String::new(),
        reason: None,
        inputs: BTreeMap::new(),
        hosts: 1,
        undoes: None,
        is_whole: true,
    };
    let text = PlanText { document: "{}", made: now(), expires: now(), blocked: &[] };
    let apply = held.state.begin(&new, &text, &RolloutChoice::default()).unwrap();
    let mut record = held.state.zone_record(&zone()).unwrap();
    let taken = TakenRrset { name: Name::parse(name).unwrap(), rtype: Rtype::AAAA, task: RrsetTask::Add };
    let served =
        TargetServed { target: "main".to_owned(), lacks: false, is_changed: true, serial: Some(Serial(serial)) };
    let voter = VoterId { target: "main".to_owned(), server: Some("elsewhere".to_owned()) };
    let roll = VoterRoll { threshold: 100, voters: vec![voter] };
    record.begin_step(NewStep { taken: vec![taken], targets: vec![served] }, &roll, now());
    held.state.keep_records(&[RecordedZone { zone: zone(), record, begun: Some(apply) }], now()).unwrap();
    apply
}

/// A name server that answers one question with a serial, after it did something else.
fn answering(socket: UdpSocket, serial: u32, first: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let mut buffer = [0; 512];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        first();
        let mut answer = buffer[..length].to_vec();
        answer[2..4].copy_from_slice(&[0x84, 0]);
        answer[7] = 1;
        // The name of the question, SOA, IN, a TTL, and two root names before the numbers.
        answer.extend([0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22, 0, 0]);
        answer.extend(serial.to_be_bytes());
        answer.extend([0; 16]);
        socket.send_to(&answer, from).unwrap();
    });
}

/// A socket on loopback, with its address.
fn socket() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    (socket, address)
}

#[test]
fn another_run_goes_ahead_while_name_servers_are_asked_and_its_step_stays_open() {
    let (socket, server) = socket();
    let place = Place::new(&server);
    let address = place.address();
    let first = apply(&address, "a.example.net", 10);
    let of_other = address.clone();
    answering(socket, 10, move || {
        apply(&of_other, "b.example.net", 11);
    });
    let served = place.wait(first, &AtomicBool::new(false)).unwrap().unwrap();
    assert_eq!(
        (served.ending, served.rrsets()),
        (WaitEnding::Over, StatusCounts { active: 1, ..StatusCounts::default() })
    );
    let record = held(&address).state.zone_record(&zone()).unwrap();
    assert_eq!((record.newest.0, record.consensus.0, record.status()), (2, 1, ZoneStatus::Pending));
}

#[test]
fn what_another_run_changed_again_is_no_longer_the_earlier_ones() {
    let (socket, server) = socket();
    let place = Place::new(&server);
    let address = place.address();
    let first = apply(&address, "a.example.net", 10);
    let of_other = address.clone();
    answering(socket, 10, move || {
        apply(&of_other, "a.example.net", 11);
    });
    let served = place.wait(first, &AtomicBool::new(false)).unwrap().unwrap();
    assert_eq!((served.rrsets(), served.zones.len()), (StatusCounts::default(), 1));
    assert!(served.is_done());
}

#[test]
fn a_lock_that_is_not_given_back_loses_nothing() {
    let (socket, server) = socket();
    let place = Place::new(&server);
    let address = place.address();
    let first = apply(&address, "a.example.net", 10);
    let (kept, interrupted) = (std::sync::Arc::new(Mutex::new(None)), std::sync::Arc::new(AtomicBool::new(false)));
    let (keep, interrupt, of_other) = (kept.clone(), interrupted.clone(), address.clone());
    answering(socket, 10, move || {
        *keep.lock().unwrap() = Some(StateLock::take(&of_other, "other", now()).unwrap());
        // So that the lock is not waited for.
        interrupt.store(true, Ordering::SeqCst);
    });
    let problem = place.wait(first, &interrupted).unwrap_err();
    assert_eq!(problem.code.as_str(), "locked");
    assert!(problem.message.starts_with("what the name servers showed could not be kept: "), "{}", problem.message);
    drop(kept.lock().unwrap().take());
    let record = held(&address).state.zone_record(&zone()).unwrap();
    assert_eq!((record.newest.0, record.consensus.0, record.status()), (1, 0, ZoneStatus::Pending));
}
