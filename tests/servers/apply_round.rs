//! Round trips on real servers: the zones after `apply` are the zones before with the changes of the plan.
//!
//! `FLEET_HOSTS=2000` in the environment makes the random fleets larger than by default.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::carried_out::assert_carried_out;
use crate::rig::{Applied, Planned, Rig, Zone, folded, key_of, marker_name};
use crate::server::Kind;

on_every_primary! {
    the_demo_becomes_what_its_plan_says
    the_demo_without_a_fence_becomes_what_its_plan_says
    the_demo_by_questions_becomes_what_its_plan_says
}

/// The hosts of a fleet, where nothing else is asked for.
const HOSTS: &str = "150";

/// The projects of a fleet that are under `create-only`: their next plan creates what this one empties.
const CREATE_ONLY: &str = "policy: create-only";

/// What only guards will judge: exports by their date, protected names, and what zones would become.
const LEFT_TO_GUARDS: &str = "protected,cname_at_registry_name";

/// Markers, registry in TXT, four policies.
fn the_demo_becomes_what_its_plan_says(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    assert_round(&rig, Fence::Marker);
}

/// No TXT of ours but the registry's.
fn the_demo_without_a_fence_becomes_what_its_plan_says(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    rig.set_zones("fence = \"none\"");
    assert_round(&rig, Fence::None);
}

/// Nothing is transferred by us.
fn the_demo_by_questions_becomes_what_its_plan_says(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    rig.set_target("read = \"query\"");
    assert_round(&rig, Fence::Marker);
}

/// Policies sync and repair.
#[test]
fn a_fleet_with_its_registry_in_texts_becomes_what_its_plan_says() {
    assert_fleet(2, "txt");
}

/// Policies sync and create-only.
#[test]
fn a_fleet_of_which_a_part_is_only_created_becomes_what_its_plan_says() {
    assert_fleet(6, "txt");
}

/// Policies repair and sync.
#[test]
fn a_fleet_with_its_registry_in_the_journal_becomes_what_its_plan_says() {
    assert_fleet(3, "journal");
}

/// Checks the round trip of a fleet on every kind of server. It is dense in trouble, and its zones have permission
/// full.
fn assert_fleet(seed: u64, registry: &str) {
    let Some(fleet) = fleet(seed, registry) else { return };
    for kind in [Kind::Bind, Kind::Knot, Kind::PowerDns, Kind::PowerDnsApi] {
        eprintln!("{kind:?}");
        let Some(rig) = Rig::of_files(kind, fleet.path()) else { continue };
        assert_round(&rig, Fence::Marker);
    }
}

/// A server that takes no updates.
#[test]
fn nsd_takes_no_updates_and_the_message_says_so() {
    let Some(rig) = Rig::demo(Kind::Nsd) else { return };
    let (plan, before) = (rig.plan(), rig.all_zones());
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(1), "{}", applied.said());
    assert!(applied.said().contains("NOTIMP"), "{}", applied.said());
    assert!(applied.said().contains("hint"), "{}", applied.said());
    assert!(applied.hosts("applied").is_empty(), "{}", applied.said());
    assert_eq!(rig.all_zones(), before);
}

/// Whether zones have markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// They do.
    Marker,
    /// They do not.
    None,
}

/// Plans and applies; checks the zones, a second plan, and that the first one, applied again, changes nothing.
fn assert_round(rig: &Rig, fence: Fence) {
    let before = rig.all_zones();
    let plan = rig.plan();
    assert!(plan.changes().len() > 50, "the fleet has changes");
    assert_seen(&plan, &before);
    let applied = rig.apply(&plan, &[]);
    applied.assert_all(0, "applied");
    let after = rig.all_zones();
    assert_zones(&plan, (&before, &after), fence);
    assert_counts(&plan, &applied);

    rig.apply(&plan, &[]).assert_all(0, "already-applied");
    assert_eq!(rig.all_zones(), after, "a plan that was applied changes nothing");

    assert_nothing_left(rig);
}

/// Checks that the plan saw the records of the zones.
fn assert_seen(plan: &Planned, zones: &BTreeMap<String, Zone>) {
    let mut wrong = Vec::new();
    for change in plan.changes() {
        let found: BTreeSet<_> =
            zones[&change.zone].records.iter().filter(|line| key_of(line) == change.key()).collect();
        if found.into_iter().map(|line| folded(line)).collect::<BTreeSet<_>>() != change.before {
            wrong.push(change);
        }
    }
    assert!(wrong.is_empty(), "{} are not as the plan says, such as {:#?}", wrong.len(), wrong.first());
}

/// Checks each zone: the plan's RRsets are as planned, all other records are the same to the last octet, and there is a
/// marker where something was written.
fn assert_zones(plan: &Planned, zones: (&BTreeMap<String, Zone>, &BTreeMap<String, Zone>), fence: Fence) {
    assert_carried_out(plan, zones);
    let changes = plan.changes();
    for (zone, before) in zones.0 {
        let after = &zones.1[zone];
        let is_touched = changes.iter().any(|change| change.zone == *zone);
        let marked = after.rrset(&marker_name(zone), "TXT");
        if !is_touched {
            assert_eq!(after.serial, before.serial, "{zone} has no changes")
        } else {
            assert_ne!(after.serial, before.serial, "{zone} has changes")
        }
        if !is_touched || fence == Fence::None {
            assert!(marked.is_empty(), "{marked:?}");
        } else {
            let text = marked.first().cloned().unwrap_or_default();
            assert!(marked.len() == 1 && text.contains("\"e=1 p=") && text.contains(" b="), "{zone}: {marked:?}");
        }
    }
}

/// Checks what the document counts.
fn assert_counts(plan: &Planned, applied: &Applied) {
    let zones = applied.document["zones"].as_array().expect("a list");
    let counted = |key: &str| zones.iter().map(|zone| zone[key].as_u64().expect("a number")).sum::<u64>();
    assert_eq!(counted("changes"), plan.changes().len() as u64, "{:#}", applied.document["zones"]);
    assert!(counted("updates") > 0);
    let hosts: u64 = applied.document["counts"]["applied"].as_u64().expect("a number");
    assert_eq!(hosts, applied.document["hosts"].as_array().expect("a list").len() as u64);
}

/// Checks that nothing is left to do: at once, or where a project is under `create-only` after another round.
fn assert_nothing_left(rig: &Rig) {
    let second = rig.plan();
    if second.changes().is_empty() {
        return;
    }
    let exempt = create_only(rig.workspace.path());
    for change in second.document["changes"].as_array().expect("a list") {
        let project = change["project"].as_str().expect("text");
        assert!(exempt.contains(project) && change["before"].is_null(), "{change:#}");
    }
    rig.apply(&second, &[]).assert_all(0, "applied");
    let third = rig.plan();
    assert!(third.changes().is_empty(), "{:#}", third.document["changes"]);
}

/// The projects under `create-only`, and those whose owner's switch is off.
fn create_only(workspace: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(workspace.join("projects")).expect("a folder");
    let texts = files.map(|file| std::fs::read_to_string(file.expect("an entry").path()).expect("a file"));
    let exempt = texts.filter(|text| text.contains(CREATE_ONLY) || !text.contains("automation: true"));
    let id = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("id: ").map(str::to_owned));
        line.expect("a project has an id")
    };
    exempt.map(id).collect()
}

/// Writes the fleet of a seed; `None` where Python is missing, which it says aloud.
pub fn fleet(seed: u64, registry: &str) -> Option<TempDir> {
    let python = Path::new("/usr/bin/python3");
    if !crate::have(python) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = std::env::var("FLEET_HOSTS").unwrap_or(HOSTS.to_owned());
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/fleets.py"))
        .arg(seed.to_string())
        .arg(folder.path())
        .args(["--without", LEFT_TO_GUARDS, "--hosts", &hosts, "--registry", registry])
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "fleet {seed}: {}", String::from_utf8_lossy(&output.stderr));
    Some(folder)
}
