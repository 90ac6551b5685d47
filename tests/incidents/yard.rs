//! A workspace on disk, and the built binary that runs in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;
use zonewright::change::BlockCode;
use zonewright::diff::Selection;
use zonewright::diff::statements::KeptStatements;
use zonewright::dns::Rtype;
use zonewright::inventory;
use zonewright::pipeline::{PlanRequest, make_plan};
use zonewright::plan::Plan;
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;
use zonewright::reading::{CreationTerms, ReadingTerms, ZonesRequest, zones};

use crate::copy::copy;
use crate::fleet::{Fleet, Records};

/// When the good state is made: an hour after the exports.
pub const GOOD: &str = "2026-11-20T02:00:00Z";

/// When the exports of the good state were made.
pub const GOOD_EXPORTS: &str = "2026-11-20T01:00:00Z";

/// When what is wrong comes in, half an hour after it was exported; two days later, so that nothing of the start counts
/// within any period.
pub const LATER: &str = "2026-11-22T02:00:00Z";

/// When it was exported.
pub const LATER_EXPORTS: &str = "2026-11-22T01:30:00Z";

/// A test needs no progress reports.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// A workspace.
pub struct Yard {
    /// Its folder.
    folder: TempDir,
}

/// What a run came to.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// All that it printed, with standard error first.
    pub text: String,
}

impl Run {
    /// Checks the exit code, and that each of these sentences is printed.
    pub fn tells(&self, code: i32, sentences: &[&str]) {
        assert_eq!(self.code, code, "{}", self.end());
        // Lines are wrapped where a screen ends.
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in sentences {
            assert!(text.contains(sentence), "`{sentence}` is not told:\n{}", self.end());
        }
    }

    /// The last that it printed, which says the outcome.
    fn end(&self) -> String {
        let lines: Vec<&str> = self.text.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Yard {
    /// A workspace in which DNS holds what it has to, and an apply has seen that. One host's records are missing
    /// before, so that the apply has something to do.
    pub fn good(fleet: &Fleet) -> Yard {
        let yard = Yard::holding(fleet, |truth| {
            let first = fleet.hosts.values().next().expect("a fleet has hosts");
            let names: Vec<String> = fleet.addresses(first).into_iter().map(|(name, _)| name).collect();
            truth.retain(|key, data| !names.iter().any(|name| key.0 == *name || data.contains(name)));
        });
        yard.start(fleet);
        yard
    }

    /// A workspace like that in which all records were created by the program, so that they are its own.
    pub fn own(fleet: &Fleet) -> Yard {
        let yard = Yard::empty(fleet);
        yard.start(fleet);
        yard
    }

    /// A workspace whose zones hold nothing yet, and without exports.
    pub fn empty(fleet: &Fleet) -> Yard {
        Yard::holding(fleet, Records::clear)
    }

    /// A workspace whose zones hold the truth after a change of it.
    fn holding(fleet: &Fleet, change: impl FnOnce(&mut Records)) -> Yard {
        let yard = Yard { folder: tempfile::tempdir().expect("a folder for the workspace") };
        let mut truth = fleet.truth();
        change(&mut truth);
        for (apex, text) in fleet.zones(&truth) {
            yard.write(&format!("zones/{apex}.zone"), &text);
        }
        yard
    }

    /// Brings DNS into the good state.
    pub fn start(&self, fleet: &Fleet) {
        self.export(fleet, GOOD_EXPORTS);
        let run = self.apply(GOOD, &[]);
        run.tells(0, &[]);
        let (wrong, found) = (fleet.wrong(&self.records()), self.records().len());
        assert!(wrong.is_empty() && found == fleet.truth().len(), "{wrong:?}: {found} RRsets");
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        write(self.path(), name, text);
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("the file is there")
    }

    /// Writes settings and exports.
    pub fn export(&self, fleet: &Fleet, time: &str) {
        for (name, text) in fleet.config().into_iter().chain(fleet.exports(time)) {
            self.write(&name, &text);
        }
    }

    /// Another workspace with all that is in this one.
    pub fn copy(&self) -> Yard {
        let folder = tempfile::tempdir().expect("a folder for the workspace");
        copy(self.path(), folder.path());
        Yard { folder }
    }

    /// Lets the state forget what exports said that were accepted, as if none had been.
    pub fn forget_exports(&self) {
        let state = Connection::open(self.path().join(".zonewright/state.db")).expect("the state");
        let tables = "DELETE FROM l3_switches; DELETE FROM export_files; DELETE FROM exports;";
        state.execute_batch(tables).expect("the state has these tables");
    }

    /// Runs the binary.
    pub fn run(&self, args: &[&str]) -> Run {
        self.run_by(&mut Command::new(env!("CARGO_BIN_EXE_zonewright")), args)
    }

    /// Runs the binary by a command that begins it.
    pub fn run_by(&self, command: &mut Command, args: &[&str]) -> Run {
        command.args(args).arg("-C").arg(self.path()).args(["--color", "never"]).env_remove("RAYON_NUM_THREADS");
        let output = command.output().expect("the binary was built for this test");
        let text = [output.stderr, output.stdout].concat();
        let text = String::from_utf8(text).expect("UTF-8");
        Run { code: output.status.code().expect("it ended by itself"), text }
    }

    /// Plans and applies without a question.
    pub fn apply(&self, now: &str, more: &[&str]) -> Run {
        self.run(&[&["apply", "--yes", "-v", "--now", now], more].concat())
    }

    /// What would be done, by the library alone.
    pub fn plan(&self, now: &str) -> Plan {
        let now = now.parse().expect("a time");
        let (hosts, projects) = (Vec::new(), Vec::new());
        let request = PlanRequest {
            adopt: None,
            asks_approvals: false,
            workspace: self.path(),
            now,
            hosts,
            subjects: Vec::new(),
            projects,
            live_snapshot: None,
            base: None,
            cache: CacheUse::Read,
            allow: &[],
        };
        make_plan(&request, &Silent).expect("settings that can be used").plan
    }

    /// What the zone files hold of the types that the rules manage.
    pub fn records(&self) -> Records {
        let now = GOOD.parse().expect("a time");
        let loaded = inventory::load_workspace(self.path(), now, &|_| {});
        let inventory = loaded.inventory.expect("settings that can be used");
        let terms = ReadingTerms { workspace: self.path(), now, cache: None };
        let request = ZonesRequest {
            inventory: &inventory,
            selection: &Selection::default(),
            terms,
            creation: &CreationTerms::NONE,
            statements: &KeptStatements::default(),
        };
        let zones = zones::read(&request, None, &Silent);
        assert!(zones.unread.is_empty(), "{:?}", zones.unread);
        let mut records = Records::new();
        for (_, zone) in zones.live.zones() {
            for rrset in zone.contents().expect("it was read").rrsets() {
                if matches!(rrset.rtype(), Rtype::AAAA | Rtype::PTR) {
                    let texts = rrset.to_rrset().rdata_texts(rrset.rtype());
                    records.insert((rrset.owner().to_string(), rrset.rtype()), texts.into_iter().collect());
                }
            }
        }
        records
    }
}

/// The hosts that a plan blocks, by the reason.
pub fn blocked(plan: &Plan) -> BTreeMap<BlockCode, BTreeSet<u64>> {
    let mut found: BTreeMap<BlockCode, BTreeSet<u64>> = BTreeMap::new();
    for blocked in &plan.blocked {
        found.entry(blocked.code).or_default().insert(blocked.subject.host().expect("hosts are blocked").0);
    }
    found
}

/// Writes a file of a workspace.
pub fn write(workspace: &Path, name: &str, text: &str) {
    let path = workspace.join(name);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
    fs::write(path, text).expect("the file can be written");
}
