//! Workspaces as their files, and plans of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use zonewright::change::Change;
use zonewright::dns::{RrKey, ZoneName};
use zonewright::inventory::value::Time;
use zonewright::pipeline::{MadePlan, PlanError, PlanRequest, make_plan};
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;

use crate::dice::Dice;
use crate::fleet::Fleet;

/// The clock of all plans.
pub const NOW: &str = "2026-11-20T02:00:00Z";

/// When all exports were made.
pub const EXPORTED: &str = "2026-11-20T01:00:00Z";

/// The files of a workspace by name, in the order in which they are written.
pub type Files = BTreeMap<String, String>;

/// A test needs no progress reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// The clock.
pub fn now() -> Time {
    NOW.parse().expect("a time")
}

/// Settings and exports of a fleet; no zones.
pub fn files(fleet: &Fleet) -> Files {
    let mut files: Files = fleet.config().into_iter().chain(fleet.exports(EXPORTED)).collect();
    // A base that lacks the file would have that of the workspace.
    files
        .entry("names.lock".to_owned())
        .or_insert_with(|| "1\tsas-1.p0.example.net.\tp0\t2026-01-01T00:00:00Z\t-\n".to_owned());
    files
}

/// The zones of a fleet, with what has to be in them.
pub fn zones(fleet: &Fleet) -> Files {
    let zones = fleet.zones(&fleet.truth()).into_iter();
    zones.map(|(apex, text)| (format!("zones/{apex}.zone"), text)).collect()
}

/// The zones after some of their records drifted: gone, at another place, under another TTL, doubled.
pub fn drifted(zones: &Files, in_hundred: usize, dice: &mut Dice) -> Files {
    let mut drift = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let [owner, rtype @ ("AAAA" | "PTR"), data] = parts[..] else { return format!("{line}\n") };
        if dice.below(100) >= in_hundred {
            return format!("{line}\n");
        }
        let other = match rtype {
            "AAAA" => format!("2001:db8:ffff::{}", dice.below(9) + 1),
            _ => format!("other{}.p0.example.net.", dice.below(9)),
        };
        match dice.below(5) {
            0 => String::new(),
            1 => format!("{owner} {rtype} {other}\n"),
            2 => format!("{owner} 600 {rtype} {data}\n"),
            3 => format!("{owner} {rtype} {data}\n{owner} {rtype} {other}\n"),
            _ if rtype == "AAAA" => {
                let (_, domain) = owner.split_once('.').expect("names have labels");
                format!("{line}\nx{}.{domain} {rtype} {data}\n", dice.below(8))
            }
            _ => format!("{owner} 600 {rtype} {other}\n"),
        }
    };
    let of_zone = |(name, text): (&String, &String)| (name.clone(), text.lines().map(&mut drift).collect());
    zones.iter().map(of_zone).collect()
}

/// Adds to zones the texts that say that all of their RRsets are own.
pub fn with_registry(zones: &Files) -> Files {
    let of_line = |line: &str| {
        let mut parts = line.split(' ');
        let (owner, rtype) = (parts.next()?, parts.find(|part| matches!(*part, "AAAA" | "PTR"))?);
        let text = "\"heritage=external-dns,external-dns/owner=fleet-dns\"";
        let prefix = rtype.to_lowercase();
        Some(format!("{prefix}-{owner} TXT {text}"))
    };
    let of_zone = |(name, text): (&String, &String)| {
        let texts: BTreeSet<String> = text.lines().filter_map(&of_line).collect();
        let texts: String = texts.into_iter().map(|line| line + "\n").collect();
        (name.clone(), text.clone() + &texts)
    };
    zones.iter().map(of_zone).collect()
}

/// Writes files into a folder.
pub fn write(folder: &Path, files: &Files) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }
}

/// The plan of a workspace, compared with a base where there is one.
pub fn plan(workspace: &Path, base: Option<&Path>) -> Result<MadePlan, PlanError> {
    let base = base.map(|base| base.to_str().expect("UTF-8"));
    let request = PlanRequest {
        subjects: Vec::new(),
        adopt: None,
        asks_approvals: false,
        workspace,
        now: now(),
        hosts: Vec::new(),
        projects: Vec::new(),
        live_snapshot: None,
        base,
        cache: CacheUse::Read,
        allow: &[],
    };
    make_plan(&request, &Silent)
}

/// What tells changes apart.
pub fn key(change: &Change) -> (ZoneName, RrKey) {
    (change.zone.clone(), change.key.clone())
}
