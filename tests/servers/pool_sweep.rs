//! An apply to BIND, Knot and PowerDNS in one pool, at each message of which zonewright or any one server is killed, or a
//! server is stopped, started again or cut off, while another editor edits a copy. Once all are there again, `sync`, or one
//! plan and apply where `sync` leaves something, brings all copies to what is planned, and nothing foreign is overwritten.
//!
//! By default a few cases are tried that are the same each time; `POOL_CASES=all` tries all.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::gate::Gate;
use crate::planted::{COPIES, FORWARD, Place, PlantedFleet, name, rrsets_of};
use crate::proxy::WATCHDOG;
use crate::rig::{Planned, apply_command, apply_in, key_of, plan_in, text_of};
use crate::sweep;
use crate::trio::{NAMES, PoolManner, Trio};

/// How many hosts the fleet has.
const HOSTS: usize = 20;

/// How many trios of servers are used side by side for all cases: most of the time is spent waiting for silent servers.
const TRIOS: usize = 4;

/// How long a target may be silent while all are there: long enough for a loaded machine.
const PATIENT: PoolManner = PoolManner { threshold: 100, timeout: 60 };

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    /// zonewright is killed, and `resume` takes the apply up.
    KillAndResume,
    /// zonewright is killed, and a new plan follows.
    KillAndPlan,
    /// A server is killed.
    Kill,
    /// A server is stopped, so that it keeps its connections and says nothing.
    Stop,
    /// A server is killed and started again at once.
    Restart,
    /// A server is cut off.
    Cut,
}

/// All of them.
const DEEDS: [Deed; 6] = [Deed::KillAndResume, Deed::KillAndPlan, Deed::Kill, Deed::Stop, Deed::Restart, Deed::Cut];

/// What is tried.
#[derive(Debug, Clone, Copy)]
struct Case {
    /// Its number.
    number: usize,
    /// The server whose message it is.
    at: usize,
    /// The message, by its number from 1, both ways.
    message: usize,
    /// What happens before it passes.
    deed: Deed,
    /// To which server.
    victim: usize,
    /// The threshold of the pool.
    threshold: u32,
    /// The copy that another editor edits at the same time, where one does.
    edited: Option<usize>,
}

impl Case {
    /// The cases of an apply that passes so many messages to and from each server.
    fn all(messages: [usize; COPIES]) -> Vec<Case> {
        let mut cases = Vec::new();
        for (at, count) in messages.into_iter().enumerate() {
            for message in 1..=count {
                for (place, deed) in DEEDS.into_iter().enumerate() {
                    let number = cases.len();
                    let victim = (at + (message + place) % COPIES) % COPIES;
                    let threshold = if number.is_multiple_of(5) { 100 } else { 66 };
                    let is_edited = (message + place).is_multiple_of(2);
                    let edited = is_edited.then_some((victim + 1 + message / 2 % 2) % COPIES);
                    cases.push(Case { number, at, message, deed, victim, threshold, edited });
                }
            }
        }
        cases
    }
}

/// How the cases ended.
#[derive(Debug, Default)]
struct CaseTally {
    /// How many were tried of each deed.
    deeds: BTreeMap<Deed, usize>,
    /// In how many the message came.
    happened: usize,
    /// In how many `sync` or `resume` alone brought all copies to what was planned.
    without_plan: usize,
    /// In how many another editor edited a copy.
    edited: usize,
}

/// An edit of another editor.
struct ForeignEdit {
    /// The copy.
    copy: usize,
    /// The RRset, and what the editor left there.
    left: (Place, Vec<String>),
    /// Whether a host claims it.
    is_claimed: bool,
}

/// The servers, and the plan that is applied in each case.
struct Sweep {
    /// The servers.
    trio: Trio,
    /// The plan.
    plan: Planned,
}

impl Sweep {
    /// Starts it; `None` where a server is not installed.
    fn start() -> Option<Sweep> {
        let trio = Trio::start(PlantedFleet::new(HOSTS, 26), PATIENT)?;
        let plan = plan_in(trio.path(), &[]);
        Some(Sweep { trio, plan })
    }

    /// How many messages an apply passes to and from each server.
    fn messages(&self) -> [usize; COPIES] {
        self.trio.gates.iter().for_each(|gate| gate.stop_nowhere());
        apply_in(self.trio.path(), &self.plan.file, &[]).assert_all(0, "applied");
        [0, 1, 2].map(|copy: usize| self.trio.gates[copy].passed())
    }

    /// Tries a case; gives what did not hold.
    fn attempt(&self, case: &Case, tally: &Mutex<CaseTally>) -> Result<(), String> {
        self.trio.put_back();
        self.trio.set(PoolManner { threshold: case.threshold, timeout: 1 });
        let (happened, edits) = self.apply(case)?;
        self.heal(case);
        let without_plan = self.recover(case, &edits);
        let mut tally = tally.lock().expect("nothing panics with it");
        *tally.deeds.entry(case.deed).or_default() += 1;
        tally.happened += usize::from(happened);
        tally.edited += usize::from(!edits.is_empty());
        tally.without_plan += usize::from(without_plan?);
        Ok(())
    }

    /// Applies the plan; before the message of the case passes, its deed is done. Gives whether the message came.
    fn apply(&self, case: &Case) -> Result<(bool, Vec<ForeignEdit>), String> {
        let (asked, asks) = mpsc::channel::<Sender<()>>();
        self.trio.gates[case.at].stop_at(case.message, move || {
            let (done, waits) = mpsc::channel();
            // Where the apply has ended, nothing waits.
            if asked.send(done).is_ok() {
                let _ = waits.recv();
            }
        });
        let mut command = apply_command(self.trio.path(), &self.plan.file, &[]);
        let said = File::create(self.trio.path().join("said")).expect("a file");
        let mut child = command.stdout(Stdio::null()).stderr(said).spawn().expect("the program runs");
        let (mut happened, mut edits) = (false, Vec::new());
        let deadline = Instant::now() + WATCHDOG;
        while child.try_wait().expect("a child").is_none() {
            if Instant::now() > deadline {
                child.kill().expect("a child");
                return Err("the apply hangs".to_owned());
            }
            match asks.recv_timeout(Duration::from_millis(10)) {
                Ok(done) => {
                    happened = true;
                    edits = self.edit(case);
                    self.perform(case, &mut child);
                    drop(done);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(10)),
            }
        }
        self.trio.gates[case.at].stop_nowhere();
        // What a killed run has sent is on its way, and comes before anything else is done.
        if matches!(case.deed, Deed::KillAndResume | Deed::KillAndPlan) {
            self.trio.gates.iter().for_each(Gate::wait_until_quiet);
        }
        Ok((happened, edits))
    }

    /// Does the deed of a case.
    fn perform(&self, case: &Case, child: &mut Child) {
        let server = &self.trio.rigs[case.victim].server;
        match case.deed {
            Deed::KillAndResume | Deed::KillAndPlan => child.kill().expect("a child"),
            Deed::Kill => server.kill(),
            Deed::Stop => server.signal("-STOP"),
            Deed::Restart => {
                server.kill();
                server.start_again();
            }
            Deed::Cut => self.trio.gates[case.victim].set_shut(true),
        }
    }

    /// Lets another editor edit an RRset that the plan is about and one that nothing is about, in one copy.
    fn edit(&self, case: &Case) -> Vec<ForeignEdit> {
        let Some(copy) = case.edited else { return Vec::new() };
        let rig = &self.trio.rigs[copy];
        let hosts: Vec<usize> = self.trio.fleet.published().collect();
        let host = name(hosts[case.number % hosts.len()]);
        let claimed = format!("{host} 600 AAAA 2001:db8::{:x}", case.number + 1);
        let unclaimed = format!("edited.{FORWARD} 55 TXT \"case {}\"", case.number);
        let lines = format!("update delete {host} AAAA\nupdate add {claimed}\nupdate add {unclaimed}");
        rig.nsupdate(FORWARD, &lines);
        let left = |line: String, is_claimed: bool| ForeignEdit { copy, left: (key_of(&line), vec![line]), is_claimed };
        vec![left(claimed, true), left(unclaimed, false)]
    }

    /// Brings back what a case took away.
    fn heal(&self, case: &Case) {
        let server = &self.trio.rigs[case.victim].server;
        match case.deed {
            Deed::Kill if !server.is_running() => server.start_again(),
            // One that was not stopped goes on as it did.
            Deed::Stop => server.signal("-CONT"),
            Deed::Cut => self.trio.gates[case.victim].set_shut(false),
            _ => {}
        }
        self.trio.set(PoolManner { threshold: case.threshold, ..PATIENT });
    }

    /// Brings all copies to what is planned; gives whether that took no new plan.
    fn recover(&self, case: &Case, edits: &[ForeignEdit]) -> Result<bool, String> {
        let trio = &self.trio;
        if case.deed == Deed::KillAndResume {
            let resumed = trio.run(&["resume"]);
            // An edit makes its host stale; an apply that was killed before it began has nothing to resume.
            if !resumed.status.code().is_some_and(|code| [0, 2, 4].contains(&code)) {
                return Err(format!(
                    "resume: {:?} {}{}",
                    resumed.status,
                    text_of(&resumed.stdout),
                    text_of(&resumed.stderr)
                ));
            }
        }
        if case.deed != Deed::KillAndPlan {
            let synced = trio.run(&["sync"]);
            if !synced.status.code().is_some_and(|code| [0, 4].contains(&code)) {
                return Err(format!(
                    "sync: {:?} {}{}",
                    synced.status,
                    text_of(&synced.stdout),
                    text_of(&synced.stderr)
                ));
            }
        }
        self.check_edits(edits, "before any new plan")?;
        let mut before = trio.before.clone();
        for edit in edits.iter().filter(|edit| !edit.is_claimed) {
            let zone = before[edit.copy].get_mut(FORWARD).expect("the zone");
            zone.records.extend(edit.left.1.iter().cloned());
        }
        let faults = trio.fleet.faults(&before, &trio.copies(), false);
        let without_plan = faults.is_empty();
        if !without_plan {
            let plan = plan_in(trio.path(), &[]);
            self.check_sees(&plan, edits)?;
            let applied = apply_in(trio.path(), &plan.file, &[]);
            if applied.exit != Some(0) {
                return Err(format!("the new plan: {}", applied.said()));
            }
            let faults = trio.fleet.faults(&before, &trio.copies(), false);
            if !faults.is_empty() {
                return Err(format!("{faults:#?}\n{}", applied.said()));
            }
        }
        self.check_rest()?;
        Ok(without_plan)
    }

    /// Checks that what another editor left is there.
    fn check_edits(&self, edits: &[ForeignEdit], when: &str) -> Result<(), String> {
        for ForeignEdit { copy, left: (place, lines), .. } in edits {
            let held = self.trio.held(*copy, place);
            if held != *lines {
                return Err(format!("{when} {} holds {held:?} where another editor left {lines:?}", NAMES[*copy]));
            }
        }
        Ok(())
    }

    /// Checks that a new plan saw what another editor left.
    fn check_sees(&self, plan: &Planned, edits: &[ForeignEdit]) -> Result<(), String> {
        for edit in edits.iter().filter(|edit| edit.is_claimed) {
            let is_for = |change: &Value| {
                change["targets"].as_array().is_none_or(|own| own.iter().any(|own| own == NAMES[edit.copy]))
            };
            let changes = plan.document["changes"].as_array().expect("a list").iter().zip(plan.changes());
            let mut own = changes.filter(|(change, own)| is_for(change) && own.key() == edit.left.0);
            let is_seen = own.all(|(_, own)| own.before.iter().eq(&edit.left.1));
            if !is_seen {
                return Err(format!("the new plan does not see {:?}", edit.left));
            }
        }
        Ok(())
    }

    /// Checks that nothing is left to be done: by a plan, by `sync`, in the state.
    fn check_rest(&self) -> Result<(), String> {
        let trio = &self.trio;
        let before = [0, 1, 2].map(|copy: usize| rrsets_of(&trio.copies()[copy]));
        let synced = trio.run(&["sync"]);
        let said = text_of(&synced.stdout);
        if synced.status.code() != Some(0) {
            return Err(format!("the last sync: {:?} {said}{}", synced.status, text_of(&synced.stderr)));
        }
        if [0, 1, 2].map(|copy: usize| rrsets_of(&trio.copies()[copy])) != before {
            return Err(format!("the last sync changed a copy: {said}"));
        }
        let lacks = trio.lacks();
        if !lacks.is_empty() {
            return Err(format!("after the last sync the state has lacks: {lacks:?}"));
        }
        let again = plan_in(trio.path(), &[]).changes();
        if again.is_empty() { Ok(()) } else { Err(format!("the last plan: {again:#?}")) }
    }
}

/// A case of each deed, evenly from the first message to the last.
fn one_of_each(all: &[Case]) -> Vec<Case> {
    let messages = all.len() / DEEDS.len();
    (0..DEEDS.len()).map(|deed| all[deed * messages / DEEDS.len() * DEEDS.len() + deed]).collect()
}

#[test]
fn whatever_happens_to_one_server_or_to_the_apply_all_copies_come_to_what_is_planned() {
    let Some(first) = Sweep::start() else { return };
    let all = Case::all(first.messages());
    let is_all = sweep::wants_all("POOL_CASES");
    let cases = if is_all { all } else { one_of_each(&all) };
    let (tally, begun) = (Mutex::new(CaseTally::default()), Instant::now());
    let (queue, faults) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().expect("nothing panics with it").next();
    let work = |sweep: &Sweep| {
        while let Some(case) = next() {
            if let Err(fault) = sweep.attempt(case, &tally) {
                writeln!(std::io::stderr(), "{case:?}: {fault}").expect("stderr");
                faults.lock().expect("nothing panics with it").push(format!("{case:?}: {fault}"));
                sweep.heal(case);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..if is_all { TRIOS } else { 1 } {
            scope.spawn(|| Sweep::start().iter().for_each(work));
        }
        work(&first);
    });
    let (tally, took) = (tally.into_inner().expect("nothing panics with it"), begun.elapsed());
    if is_all {
        writeln!(std::io::stderr(), "{} cases in {took:.1?}: {tally:#?}", cases.len()).expect("stderr");
    }
    let faults = faults.into_inner().expect("nothing panics with it");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(tally.happened > cases.len() * 4 / 5, "{tally:?}");
}
