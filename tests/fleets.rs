//! What must hold of every plan, on random fleets: it does what it says, it says the same whatever the order of its
//! inputs and the number of threads, and a second plan finds nothing to do.

#[path = "fleets/carried.rs"]
mod carried;
#[path = "fleets/copies.rs"]
mod copies;
#[path = "support/fleet.rs"]
mod fleet;
#[path = "fleets/shortcuts.rs"]
mod shortcuts;
#[path = "fleets/sparse.rs"]
mod sparse;
mod support;
#[path = "fleets/surveys.rs"]
mod surveys;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use zonewright::apply::shape::{self, PlanBounds};
use zonewright::diff::Selection;
use zonewright::diff::statements::KeptStatements;
use zonewright::dns::{Rdata, Rrset, Rtype};
use zonewright::inventory::value::Time;
use zonewright::inventory::{self, Inventory, read};
use zonewright::plan::{ChangeKind, Plan, document};
use zonewright::progress::{Progress, RunStage};
use zonewright::reading::{CreationTerms, ReadingTerms, Zones, ZonesRequest, zones};

/// The zones of a fleet.
fn read_zones(inventory: &Inventory, fleet: &Path, now: Time) -> Zones {
    let terms = ReadingTerms { workspace: fleet, now, cache: None };
    zones::read(
        &ZonesRequest {
            inventory,
            selection: &Selection::default(),
            terms,
            creation: &CreationTerms::NONE,
            statements: &KeptStatements::default(),
        },
        None,
        &Silent,
    )
}

/// The seeds: enough for every rule to happen many times.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=40;

/// A test needs no progress reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// Runs `check` on the fleet of every seed, each in a folder of its own; skips where Python is missing.
fn on_fleets(mut check: impl FnMut(u64, &Path)) {
    let Some(python) = support::python() else {
        support::skip("Python 3.11 is not there, so that no fleets can be made");
        return;
    };
    for seed in SEEDS {
        let folder = tempfile::tempdir().expect("a folder for the fleet");
        fleet::write(&python, seed, folder.path());
        check(seed, folder.path());
    }
}

/// The document that `plan` prints of a fleet; none where its settings are refused.
fn plan_text(fleet: &Path, threads: Option<usize>) -> Option<String> {
    let plan = ["plan", "--format", "json", "-q", "-C", fleet.to_str().expect("UTF-8")].map(str::to_owned);
    let output = support::zonewright(&[&plan, fleet::args(fleet).as_slice()].concat(), threads);
    (!output.stdout.is_empty()).then(|| String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The plan of a fleet.
fn plan_of(fleet: &Path) -> Option<Plan> {
    let text = plan_text(fleet, None)?;
    Some(document::parse(&text).expect("what `plan` prints can be read").plan().clone())
}

/// All RRsets of a fleet's zones, by zone, owner and type, as text.
type Contents = BTreeMap<(String, String, Rtype), Rrset>;

/// Reads the zones of a fleet as the program does.
fn contents(fleet: &Path) -> Contents {
    let now = "2026-11-20T02:00:00Z".parse().expect("a time");
    let inventory = inventory::load_workspace(fleet, now, &|_| {}).inventory.expect("settings that `plan` took");
    let zones = read_zones(&inventory, fleet, now);
    let known = zones.live.zones().filter_map(|(_, zone)| zone.contents());
    let rrsets = known.flat_map(|zone| {
        zone.rrsets().map(|rrset| {
            let key = (zone.apex().to_string(), rrset.owner().to_string(), rrset.rtype());
            (key, rrset.to_rrset())
        })
    });
    rrsets.collect()
}

/// What the zones hold once a plan is applied; each change must find what it says it finds.
fn apply(contents: &Contents, plan: &Plan) -> Contents {
    let mut after = contents.clone();
    for change in &plan.changes {
        let key = (change.zone.to_string(), change.key.owner.to_string(), change.key.rtype);
        assert_eq!(after.get(&key), change.kind.before(), "{key:?}");
        match &change.kind {
            ChangeKind::Create { after: new } | ChangeKind::Modify { after: new, .. } => after.insert(key, new.clone()),
            ChangeKind::Delete { .. } => after.remove(&key),
        };
    }
    after
}

/// Writes zones as master files over those of the fleet.
fn write_zones(fleet: &Path, contents: &Contents) {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for ((zone, owner, rtype), rrset) in contents {
        for rdata in rrset.rdata() {
            let text = files.entry(zone).or_default();
            writeln!(text, "{owner} {} IN {rtype} {}", rrset.ttl(), rdata.as_rdata(*rtype)).expect("a String grows");
        }
    }
    for (zone, text) in files {
        let file = fleet.join("zones").join(format!("{}zone", zone));
        fs::write(file, text).expect("the folder can be written");
    }
}

/// The projects whose hosts may be under `create-only`, which leaves to the next plan what another host's rules
/// emptied.
fn create_only(fleet: &Path) -> Vec<String> {
    let now = "2026-11-20T02:00:00Z".parse().expect("a time");
    let inventory = inventory::load_workspace(fleet, now, &|_| {}).inventory.expect("settings that `plan` took");
    let policies = inventory.projects.iter().filter(|project| {
        let settings = project.file.settings();
        settings.is_some_and(|settings| settings.policy == inventory::model::Policy::CreateOnly || !settings.automation)
    });
    policies.map(|project| project.id.clone()).collect()
}

#[test]
fn a_plan_that_was_applied_leaves_nothing_to_do() {
    on_fleets(|seed, fleet| {
        let Some(plan) = plan_of(fleet) else { return };
        let exempt = create_only(fleet);
        write_zones(fleet, &apply(&contents(fleet), &plan));
        let again = plan_of(fleet).expect("the settings are the same");
        let left: Vec<_> = again.changes.iter().filter(|change| !exempt.contains(&change.project)).collect();
        assert!(left.is_empty(), "fleet {seed}: {left:#?}");
    });
}

#[test]
fn only_addresses_pointers_and_registry_texts_are_touched() {
    on_fleets(|seed, fleet| {
        let Some(plan) = plan_of(fleet) else { return };
        let before = contents(fleet);
        let after = apply(&before, &plan);
        let changed: Vec<_> = before.iter().filter(|(key, rrset)| after.get(*key) != Some(*rrset)).collect();
        for ((zone, owner, rtype), rrset) in changed {
            let key = (zone.clone(), owner.clone(), *rtype);
            match *rtype {
                Rtype::AAAA | Rtype::PTR => {}
                Rtype::TXT => {
                    let kept = |rdata: &&Rdata| !rdata.as_rdata(Rtype::TXT).to_string().contains("heritage=");
                    let others: Vec<&Rdata> = rrset.rdata().iter().filter(kept).collect();
                    let left: Vec<&Rdata> = after.get(&key).into_iter().flat_map(|rrset| rrset.rdata()).collect();
                    assert!(others.iter().all(|rdata| left.contains(rdata)), "fleet {seed}: {key:?}");
                }
                other => panic!("fleet {seed}: {other} at {owner} changes"),
            }
        }
    });
}

#[test]
fn every_plan_holds_only_what_plans_can_hold() {
    on_fleets(|seed, fleet| {
        let Some(plan) = plan_of(fleet) else { return };
        let settings = read::SettingsFile::read(fleet).into_projects();
        let config = settings.loaded.config.expect("settings that `plan` took");
        let bounds = PlanBounds::of(&config, &settings.projects);
        assert_eq!(shape::stray(&plan, &bounds), None, "fleet {seed}");
    });
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    on_fleets(|seed, fleet| {
        let one = plan_text(fleet, Some(1));
        assert_eq!(one, plan_text(fleet, Some(7)), "fleet {seed}");
        assert_eq!(one, plan_text(fleet, None), "fleet {seed}");
    });
}

/// A plan without what tells places, files and contents, which the order of lines changes.
fn without_places(text: &str) -> Value {
    let mut plan: Value = serde_json::from_str(text).expect("JSON");
    for key in ["id", "inputs"] {
        plan[key] = Value::Null;
    }
    for list in ["blocked", "notices"] {
        for entry in plan[list].as_array_mut().expect("a list") {
            entry["message"] = Value::Null;
            entry["hint"] = Value::Null;
        }
    }
    for change in plan["changes"].as_array_mut().expect("a list") {
        for reason in change["reasons"].as_array_mut().expect("a list") {
            reason["evidence"] = Value::Null;
        }
    }
    for cause in plan["review"]["causes"].as_array_mut().into_iter().flatten() {
        cause["places"] = Value::Null;
    }
    plan
}

/// Turns the rows of a text around, but leaves its comments, a header and a cut last line where they are.
fn turn_rows(text: &str, header: bool) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_row = |(place, line): (usize, &&str)| {
        let first = header && !lines[..place].iter().any(|earlier| !earlier.starts_with('#'));
        line.ends_with('\n') && !line.starts_with(['#', '\u{feff}']) && !line.trim().is_empty() && !first
    };
    let rows: Vec<usize> = lines.iter().enumerate().filter(|entry| is_row(*entry)).map(|(place, _)| place).collect();
    for (from, to) in rows.iter().zip(rows.iter().rev()).take(rows.len() / 2) {
        lines.swap(*from, *to);
    }
    lines.concat()
}

#[test]
fn the_order_of_rows_and_records_changes_nothing() {
    on_fleets(|seed, fleet| {
        let Some(before) = plan_text(fleet, None) else { return };
        for (folder, extension) in [("racktables", "csv"), ("racktables", "txt"), ("agents", "jsonl"), ("", "lock")] {
            for entry in fs::read_dir(fleet.join(folder)).expect("the folder is there") {
                let path = entry.expect("the entry can be read").path();
                if path.extension().is_some_and(|own| own == extension) {
                    let Ok(text) = fs::read_to_string(&path) else { continue };
                    fs::write(&path, turn_rows(&text, extension == "csv")).expect("the file can be written");
                }
            }
        }
        let (soas, records): (Contents, Contents) =
            contents(fleet).into_iter().partition(|((_, _, rtype), _)| *rtype == Rtype::SOA);
        for file in fs::read_dir(fleet.join("zones")).expect("the folder is there") {
            let path = file.expect("the entry can be read").path();
            let apex = path.file_stem().expect("a name").to_string_lossy().into_owned() + ".";
            let of_zone = |set: &Contents| -> Vec<String> {
                let own = set.iter().filter(|(key, _)| key.0 == apex);
                own.flat_map(|((_, owner, rtype), rrset)| {
                    let line =
                        move |rdata: &Rdata| format!("{owner} {} IN {rtype} {}\n", rrset.ttl(), rdata.as_rdata(*rtype));
                    rrset.rdata().iter().map(line).collect::<Vec<_>>()
                })
                .collect()
            };
            let mut lines = of_zone(&records);
            lines.reverse();
            if !of_zone(&soas).is_empty() {
                fs::write(&path, [of_zone(&soas), lines].concat().concat()).expect("the file can be written");
            }
        }
        let after = plan_text(fleet, None).expect("the settings are the same");
        assert_eq!(without_places(&before), without_places(&after), "fleet {seed}");
    });
}
