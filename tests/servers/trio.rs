//! BIND, Knot and PowerDNS in one pool, each behind a gate and with a copy of its own of a planted fleet.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;
use zonewright::state::{self, StateAddress};

use crate::gate::Gate;
use crate::planted::{COPIES, Copies, Place, PlantedFleet, rrsets_of};
use crate::rig::{Rig, key_of, quiet_in};
use crate::server::{Key, Kind};

/// The names of the targets, in the order of the settings.
pub const NAMES: [&str; COPIES] = ["bind", "knot", "pdns"];

/// The kinds of their servers.
const KINDS: [Kind; COPIES] = [Kind::Bind, Kind::Knot, Kind::PowerDns];

/// The folder of the state.
const STATE: &str = ".zonewright";

/// What a pool needs of its targets, and how long it waits for each.
#[derive(Debug, Clone, Copy)]
pub struct PoolManner {
    /// The share of the targets that must agree, in percent.
    pub threshold: u32,
    /// For how many seconds a target may be silent.
    pub timeout: u32,
}

/// The servers, and a workspace whose one pool they are.
pub struct Trio {
    /// The fleet.
    pub fleet: PlantedFleet,
    /// The servers.
    pub rigs: [Rig; COPIES],
    /// What is between the workspace and each server.
    pub gates: [Gate; COPIES],
    /// The workspace.
    workspace: TempDir,
    /// The key of all.
    key: Key,
    /// The copies as they were at first.
    pub before: Copies,
}

impl Trio {
    /// Starts the servers with a fleet; `None` where one is not installed.
    pub fn start(fleet: PlantedFleet, manner: PoolManner) -> Option<Trio> {
        let [bind, knot, pdns] = [0, 1, 2].map(|copy| {
            let folder = tempfile::tempdir().expect("a folder");
            fleet.write(folder.path(), "[[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n");
            fleet.write_zones(&folder.path().join("zones"), copy);
            Rig::of_files(KINDS[copy], folder.path())
        });
        let rigs = [bind?, knot?, pdns?];
        let gates = [0, 1, 2].map(|copy: usize| Gate::open(&rigs[copy].server.address()));
        let workspace = tempfile::tempdir().expect("a folder");
        let key = Key::new("zonewright");
        key.write_secret(workspace.path());
        let before = [0, 1, 2].map(|copy: usize| rigs[copy].all_zones());
        let trio = Trio { fleet, rigs, gates, workspace, key, before };
        trio.set(manner);
        Some(trio)
    }

    /// Writes the settings of the workspace.
    pub fn set(&self, manner: PoolManner) {
        let PoolManner { threshold, timeout } = manner;
        let signed = self.key.setting();
        let target = |(target, gate): (&str, &Gate)| {
            let server = gate.address();
            format!(
                "[[pool.main.target]]\nname = \"{target}\"\ntype = \"rfc2136\"\nserver = \"{server}\"\ntimeout = \"{timeout}s\"\n\
                 {signed}"
            )
        };
        let targets: String = NAMES.into_iter().zip(&self.gates).map(target).collect();
        self.fleet.write(self.path(), &format!("threshold_percentage = {threshold}\n{targets}"));
    }

    /// The folder of the workspace.
    pub fn path(&self) -> &Path {
        self.workspace.path()
    }

    /// The copies as they are.
    pub fn copies(&self) -> Copies {
        [0, 1, 2].map(|copy: usize| self.rigs[copy].all_zones())
    }

    /// Runs a command of the program in the workspace.
    pub fn run(&self, args: &[&str]) -> Output {
        quiet_in(self.path()).args(args).output().expect("the program runs")
    }

    /// What the state says that targets lack, one line each.
    pub fn lacks(&self) -> Vec<String> {
        let state = state::open_to_read(&StateAddress::of_file(&self.path().join(STATE), "state.db"));
        let Some(state) = state.expect("the state can be read") else { return Vec::new() };
        let lacks = state.lacks().expect("the state can be read").into_iter();
        lacks.map(|lack| format!("{} {} {}", lack.copy.target.name, lack.change.name, lack.change.rtype)).collect()
    }

    /// Puts all copies back to what they were at first, and forgets the state.
    pub fn put_back(&self) {
        let state = self.path().join(STATE);
        if state.exists() {
            fs::remove_dir_all(state).expect("the state");
        }
        for (rig, before) in self.rigs.iter().zip(&self.before) {
            let is = rig.all_zones();
            for (zone, was) in before {
                let is = &is[zone].records;
                let places: Vec<Place> = is.symmetric_difference(&was.records).map(|line| key_of(line)).collect();
                let deletes = places.iter().map(|(name, rtype)| format!("update delete {name} {rtype}\n"));
                let adds = was.records.iter().filter(|line| places.contains(&key_of(line)));
                let lines: String = deletes.chain(adds.map(|line| format!("update add {line}\n"))).collect();
                if !lines.is_empty() {
                    rig.nsupdate(zone, lines.trim_end());
                }
            }
        }
    }

    /// What an RRset of a copy holds now.
    pub fn held(&self, copy: usize, place: &Place) -> Vec<String> {
        let rrsets = rrsets_of(&self.rigs[copy].all_zones());
        rrsets.get(place).into_iter().flatten().cloned().collect()
    }
}
