//! Sessions: all that an apply exchanges with a server, that can be had again and again with a fault at any place.
//!
//! Comes in: which session, and a fault. Goes out: what was reported, and every report that is not true according to
//! `dig` and the journal. A stage is a server, a workspace and a proxy; it is as it was before each session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use zonewright::dns::{Name, Rtype};
use zonewright::state::{self, SentFate, State, StateAddress};

use crate::faults::{Fault, Faults, Passed, Wrong};
use crate::fleet;
use crate::rig::{Applied, Edit, Planned, Rig, Zone, folded, marker_name, resume_in};
use crate::server::Kind;

/// A session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Play {
    /// The demo in BIND: seven zones, transferred, each with updates of up to three phases.
    Demo,
    /// A fleet in Knot, whose zone takes three updates that are in flight at once.
    Chain,
    /// A few hosts in PowerDNS that are asked for one by one, without markers and signatures.
    Bare,
}

/// Hosts of the chain. Each has so long a name and so many addresses that an update holds 18 of them.
const CHAIN: usize = 40;

/// The addresses of each of them that it is not to have.
const WRONG: usize = 12;

/// Hosts without markers and signatures.
const FEW: usize = 3;

/// What is awaited of a server, in the settings.
const TIMEOUT: &str = "timeout = \"1s\"";

/// How long a server may need to do what it was sent, once its answer is not waited for.
const GRACE: Duration = Duration::from_millis(150);

/// Where a session takes place.
pub struct Stage {
    /// Which.
    play: Play,
    /// The server and the workspace.
    rig: Rig,
    /// The way to the server.
    faults: Faults,
    /// What is applied.
    plan: Planned,
    /// Its changes, with the records before and after in lower case.
    changes: Vec<Edit>,
    /// The zones before.
    before: BTreeMap<String, Zone>,
    /// The settings of the workspace: without the proxy, with it, and with it and little patience.
    settings: [String; 3],
}

/// The outcome of a session.
#[derive(Debug, Default)]
pub struct Played {
    /// Whether the fault was met.
    pub is_struck: bool,
    /// The outcome of the apply: reported as all done, as unknown in part, or as not begun.
    pub end: &'static str,
    /// Whether something was unknown and known after it was taken up.
    pub is_resolved: bool,
    /// Reports that are not true.
    pub wrong: Vec<String>,
}

impl Stage {
    /// Sets one up; `None` where a program is not installed.
    pub fn new(play: Play) -> Option<Stage> {
        let rig = match play {
            Play::Demo => Rig::demo(Kind::Bind)?,
            Play::Chain => Rig::of_files(Kind::Knot, long_fleet().path())?,
            Play::Bare => {
                let files = tempfile::tempdir().expect("a folder");
                fleet::write(files.path(), FEW);
                let rig = Rig::of_unsigned_files(Kind::PowerDns, files.path())?;
                rig.set_target("read = \"query\"");
                rig.set_zones("fence = \"none\"");
                rig
            }
        };
        let faults = Faults::start(&rig.server.address(), &rig.zones);
        let plan = rig.plan();
        let settings = || fs::read_to_string(rig.workspace.path().join("zonewright.toml")).expect("the settings");
        let direct = settings();
        rig.go_through(&faults.address());
        let through = settings();
        rig.set_target(TIMEOUT);
        let settings = [direct, through, settings()];
        let before = rig.all_zones();
        let lower = |change: Edit| Edit { before: lower(&change.before), after: lower(&change.after), ..change };
        let changes = plan.changes().into_iter().map(lower).collect();
        Some(Stage { play, rig, faults, plan, changes, before, settings })
    }

    /// What passes where nothing is wrong.
    pub fn record(&self) -> Passed {
        self.use_settings(2);
        let (applied, passed, _) = self.faults.session(None, || self.rig.apply(&self.plan, &[]));
        applied.assert_all(0, "applied");
        self.reset(&self.rig.all_zones());
        passed
    }

    /// Plays a session with a fault, resumes it without, and checks that all is as reported; looks for more to do where
    /// `plans`.
    pub fn play(&self, fault: &Fault, plans: bool) -> Played {
        self.use_settings(2);
        let begun = self.rig.all_zones();
        assert!(begun.iter().all(|(zone, begun)| begun.records == self.before[zone].records), "it is as it was before");
        let (applied, _, is_struck) = self.faults.session(Some(fault.clone()), || self.rig.apply(&self.plan, &[]));
        if applied.exit != Some(0) {
            thread::sleep(GRACE);
        }
        let found = self.rig.all_zones();
        let mut played = Played { is_struck, ..Played::default() };
        let is_begun = applied.document["apply"].is_u64();
        let fates = self.fates();
        played.wrong.extend(self.check_reports(&applied, &found));
        played.wrong.extend(self.check_others(&found));
        played.wrong.extend(self.check_fates(&fates, &found));
        let is_unknown = fates.values().any(|fates| fates.iter().any(|fate| matches!(fate, SentFate::Unknown(_))));
        played.end = match applied.exit {
            Some(0) => "done",
            _ if !is_begun => "nothing begun",
            _ if is_unknown => "unknown",
            _ => "in part",
        };

        let go_on = || if is_begun { resume_in(self.rig.workspace.path()) } else { self.rig.apply(&self.plan, &[]) };
        let again = match fault.wrong {
            Wrong::Late(_) => {
                self.use_settings(1);
                self.faults.session(None, go_on).0
            }
            _ => {
                self.use_settings(0);
                go_on()
            }
        };
        let found = self.rig.all_zones();
        let mut wrong = self.check_end(&again, &found);
        wrong.extend(self.check_others(&found));
        wrong.extend(self.check_fates(&self.fates(), &found));
        wrong.extend(self.check_state(&begun, &found));
        if plans && !self.rig.plan().changes().is_empty() {
            wrong.push("a new plan is not empty".to_owned());
        }
        played.is_resolved = is_unknown && wrong.is_empty();
        if !wrong.is_empty() {
            played.wrong.push(format!("when taken up: {}", again.said()));
        }
        played.wrong.extend(wrong);
        if !played.wrong.is_empty() {
            played.wrong.insert(0, format!("it was reported: {}", applied.said()));
        }
        self.reset(&found);
        played
    }

    /// Gives the workspace one of its settings.
    fn use_settings(&self, which: usize) {
        fs::write(self.rig.workspace.path().join("zonewright.toml"), &self.settings[which]).expect("the settings");
    }

    /// Puts back what was before: the zones, and a workspace without state.
    fn reset(&self, found: &BTreeMap<String, Zone>) {
        self.rig.restore(found, &self.before);
        let state = self.rig.workspace.path().join(".zonewright");
        if state.exists() {
            fs::remove_dir_all(state).expect("it is ours");
        }
    }

    /// The state, where there is one.
    fn state(&self) -> Option<Box<dyn State>> {
        state::open_to_read(&StateAddress::of_file(self.rig.workspace.path(), ".zonewright/state.db"))
            .expect("the state can be read")
    }

    /// The outcomes of the updates with a change, by its owner name and type.
    fn fates(&self) -> BTreeMap<(String, String), Vec<SentFate>> {
        let mut fates: BTreeMap<(String, String), Vec<SentFate>> = BTreeMap::new();
        let Some(state) = self.state() else { return fates };
        for apply in state.applies(usize::MAX >> 1).expect("the journal can be read") {
            for sent in state.sent(apply.id).expect("the journal can be read") {
                for change in &sent.changes {
                    let key = (change.name.to_string(), change.rtype.to_string());
                    fates.entry(key).or_default().push(sent.fate.clone());
                }
            }
        }
        fates
    }

    /// Reports about hosts that are not true.
    fn check_reports(&self, applied: &Applied, found: &BTreeMap<String, Zone>) -> Vec<String> {
        let mut wrong = Vec::new();
        if applied.document.is_null() || applied.refused().is_some() {
            wrong.push("it told nothing of its hosts".to_owned());
        }
        for (host, outcomes) in applied.outcomes() {
            let Some(host) = host else { continue };
            let changes: Vec<&Edit> = self.changes.iter().filter(|change| change.hosts.contains(&host)).collect();
            let all =
                |are: fn(&Edit) -> &BTreeSet<String>| changes.iter().all(|change| there(found, change) == *are(change));
            let is_so = outcomes.iter().all(|outcome| match outcome.as_str() {
                "applied" | "already-applied" => all(|change| &change.after),
                "not-reached" => all(|change| &change.before),
                "partial" => !all(|change| &change.before),
                "failed" => true,
                // There is no other editor, and the server does what it says.
                _ => false,
            });
            if !is_so {
                wrong.push(format!("host {host} was reported as {outcomes:?}"));
            }
        }
        wrong
    }

    /// Records in the zones that are new or missing, but are neither of the plan nor a marker.
    fn check_others(&self, found: &BTreeMap<String, Zone>) -> Vec<String> {
        let mut planned: BTreeSet<(String, String)> = self.changes.iter().map(Edit::key).collect();
        planned.extend(self.before.keys().map(|zone| (marker_name(zone), "TXT".to_owned())));
        let is_other = |line: &&&String| !planned.contains(&crate::rig::key_of(line));
        let mut wrong = Vec::new();
        for (zone, found) in found {
            let changed = found.records.symmetric_difference(&self.before[zone].records);
            wrong.extend(changed.collect::<Vec<_>>().iter().filter(is_other).map(|line| format!("changed: {line}")));
        }
        wrong
    }

    /// Changes for which the journal differs from the zones.
    fn check_fates(
        &self,
        fates: &BTreeMap<(String, String), Vec<SentFate>>,
        found: &BTreeMap<String, Zone>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        for change in &self.changes {
            let fates = fates.get(&change.key()).map(Vec::as_slice).unwrap_or_default();
            let there = there(found, change);
            let (is_before, is_after) = (there == change.before, there == change.after);
            let done = fates.iter().filter(|fate| **fate == SentFate::Done).count();
            let is_unknown = fates.iter().any(|fate| matches!(fate, SentFate::Unknown(_)));
            let is_so = match done {
                0 if is_unknown => is_before || is_after,
                0 => is_before,
                1 => is_after,
                _ => false,
            };
            if !is_so {
                wrong.push(format!("of {:?} the journal has {fates:?}, and there is {there:?}", change.key()));
            }
        }
        wrong
    }

    /// What is not as it must be once an apply was taken up without faults.
    fn check_end(&self, again: &Applied, found: &BTreeMap<String, Zone>) -> Vec<String> {
        let mut wrong = Vec::new();
        if again.exit != Some(0) {
            wrong.push("it could not be taken up".to_owned());
        }
        for change in &self.changes {
            let there = there(found, change);
            if there != change.after {
                wrong.push(format!("in the end at {:?} there is {there:?}", change.key()));
            }
        }
        let none = resume_in(self.rig.workspace.path());
        if none.exit != Some(0) || !none.outcomes().is_empty() {
            wrong.push(format!("there is more to resume: {}", none.said()));
        }
        wrong
    }

    /// What the state does not have as it is: own RRsets, markers, and how many updates took effect.
    fn check_state(&self, begun: &BTreeMap<String, Zone>, found: &BTreeMap<String, Zone>) -> Vec<String> {
        let Some(state) = self.state() else { return vec!["there is no state".to_owned()] };
        let mut wrong = Vec::new();
        let own = state.own().expect("the state can be read");
        for change in &self.changes {
            let (name, rtype) = (Name::parse(&change.name).expect("a name"), change.rtype.parse::<Rtype>());
            let is_own = own.contains(name.as_name(), rtype.expect("a type"));
            // What is modified was there before; whose it is, is not the plan's to change.
            if is_own != (change.before.is_empty() && !change.after.is_empty()) {
                wrong.push(format!("own: {is_own}, at {:?}", change.key()));
            }
        }
        let markers = state.markers().expect("the state can be read");
        let mut done: BTreeMap<String, u32> = BTreeMap::new();
        for apply in state.applies(usize::MAX >> 1).expect("the journal can be read") {
            for sent in state.sent(apply.id).expect("the journal can be read") {
                *done.entry(sent.zone.to_string()).or_default() += u32::from(sent.fate == SentFate::Done);
            }
        }
        for (zone, found) in found {
            let standing = found.rrset(&marker_name(zone), "TXT");
            let known = markers.copies().iter().find(|(copy, _)| copy.zone.to_string() == *zone);
            let known = known.and_then(|(_, known)| known.marker.as_ref().map(ToString::to_string));
            let is_known = match &known {
                Some(known) => standing.iter().all(|line| line.contains(known.as_str())) && standing.len() == 1,
                None => standing.is_empty(),
            };
            if !is_known {
                wrong.push(format!("the marker of {zone} is {standing:?}, and {known:?} is known"));
            }
            let (moved, done) = (found.serial - begun[zone].serial, done.get(zone).copied().unwrap_or(0));
            // BIND raises the serial by one for each update that changes anything; Knot for all that wait.
            let fits = match self.play {
                Play::Demo => moved == done,
                Play::Chain => moved <= done && (moved > 0) == (done > 0),
                Play::Bare => true,
            };
            if !fits {
                wrong.push(format!("the serial of {zone} moved by {moved}, and {done} updates took effect"));
            }
        }
        wrong
    }
}

/// The records at a change's place, in lower case.
fn there(found: &BTreeMap<String, Zone>, change: &Edit) -> BTreeSet<String> {
    lower(&found[&change.zone].rrset(&change.name, &change.rtype))
}

/// Records' lines in lower case.
fn lower(lines: &BTreeSet<String>) -> BTreeSet<String> {
    lines.iter().map(|line| folded(line)).collect()
}

/// A fleet whose hosts have long names and many addresses.
fn long_fleet() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fleet::write(folder.path(), CHAIN);
    let labels = ["a", "b", "c"].map(|letter| letter.repeat(60)).join(".");
    let change = |file: &Path, change: &dyn Fn(&str) -> String| {
        let text = fs::read_to_string(file).expect("a file");
        fs::write(file, change(&text)).expect("a file");
    };
    let domain = "dns_domain = \"";
    change(&folder.path().join("zonewright.toml"), &|text| text.replace(domain, &format!("{domain}{labels}.")));
    change(&folder.path().join("hosts.csv"), &|text| text.replace(".example.net,", &format!(".{labels}.example.net,")));
    change(&folder.path().join("zones/example.net.zone"), &|text| {
        let line = |line: &str| match line.split_once(" AAAA ") {
            Some((host, address)) => {
                (0..WRONG).map(|wrong| format!("{host}.{labels} AAAA {address}:{wrong:x}\n")).collect()
            }
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect::<String>()
    });
    folder
}
