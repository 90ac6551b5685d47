//! Plans that are refused as a whole: too old, altered, of another format, or not the one that was reviewed.
//!
//! `PLAN_BITS=all` in the environment flips every bit of a plan; without it one bit of every third octet.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use tempfile::TempDir;
use zonewright::apply::accept::{PlanTerms, accept};
use zonewright::apply::shape::PlanBounds;
use zonewright::inventory::read::SettingsFile;
use zonewright::inventory::value::Duration;
use zonewright::plan::{Plan, document};

use crate::rig::{NOW, Planned, Rig, apply_in, plan_in};
use crate::server::{Key, Kind};
use crate::workspace::{copy, demo, reading_from};

/// How many altered plans go through the binary.
const THROUGH_THE_BINARY: usize = 200;

#[test]
fn a_plan_that_is_a_week_old_is_refused() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    let before = rig.all_zones();
    rig.apply(&plan, &["--now", "2026-11-27T02:00:00Z"]).assert_refused(3, "plan-expired");
    assert_eq!(rig.all_zones(), before);
}

#[test]
fn a_plan_is_applied_until_the_second_it_expires() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    rig.apply(&plan, &["--now", "2026-11-21T02:00:01Z"]).assert_refused(3, "plan-expired");
    rig.apply(&plan, &["--now", "2026-11-21T02:00:00Z"]).assert_all(0, "applied");
}

#[test]
fn a_plan_of_another_effect_than_the_reviewed_one_is_refused() {
    let Some(rig) = Rig::demo(Kind::Bind) else { return };
    let plan = rig.plan();
    let before = rig.all_zones();
    for other in [plan.id().to_owned(), format!("sha256:{}", "0".repeat(64))] {
        rig.apply(&plan, &["--expect", &other]).assert_refused(3, "not-expected");
        assert_eq!(rig.all_zones(), before);
    }
    rig.apply(&plan, &["--expect", plan.effect()]).assert_all(0, "applied");
}

#[test]
fn a_plan_of_another_format_is_refused() {
    let (workspace, plan) = small_plan();
    let text = fs::read_to_string(&plan.file).expect("the plan");
    fs::write(&plan.file, text.replacen("zonewright.plan/2", "zonewright.plan/1", 1)).expect("the plan");
    apply_in(workspace.path(), &plan.file, &[]).assert_refused(3, "plan-format");
}

#[test]
fn a_plan_with_any_bit_flipped_is_refused() {
    let (_workspace, plan) = small_plan();
    let octets = fs::read(&plan.file).expect("the plan");
    assert!(octets.len() >= 10 * 1024, "{} octets", octets.len());
    assert!(is_accepted(&octets), "the plan itself is accepted");
    let all = std::env::var("PLAN_BITS").is_ok_and(|bits| bits == "all");
    // Bit 5 is the one that makes small letters capitals.
    let bits: Vec<usize> = if all {
        (0..octets.len() * 8).collect()
    } else {
        (0..octets.len()).step_by(3).map(|octet| octet * 8 + [5, 0, 3, 1, 6, 2, 4, 7][octet % 8]).collect()
    };
    let accepted = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for share in bits.chunks(bits.len().div_ceil(threads)) {
            let (octets, accepted) = (&octets, &accepted);
            scope.spawn(move || {
                let found: Vec<_> = share.iter().copied().filter(|bit| is_accepted(&flipped(octets, *bit))).collect();
                accepted.lock().expect("nothing panics with it").extend(found);
            });
        }
    });
    let mut accepted = accepted.into_inner().expect("nothing panicked with it");
    accepted.sort_unstable();
    // The times are no part of the digest: one bit can make the plan expire sooner, and never later.
    let read = |octets: &[u8]| document::parse(str::from_utf8(octets).expect("UTF-8")).expect("a plan").plan().clone();
    let genuine = read(&octets);
    let is_longer = |bit: &usize| {
        let other = read(&flipped(&octets, *bit));
        let (created, expires) = (other.created, other.expires);
        other != Plan { created, expires, ..genuine.clone() } || expires > genuine.expires
    };
    let longer: Vec<usize> = accepted.iter().copied().filter(is_longer).collect();
    assert_eq!(longer, Vec::<usize>::new(), "of {} bits", bits.len());
    eprintln!("{} bits of {} octets; {} make it expire sooner", bits.len(), octets.len(), accepted.len());
}

#[test]
fn the_command_refuses_plans_with_a_bit_flipped() {
    let (workspace, plan) = small_plan();
    let octets = fs::read(&plan.file).expect("the plan");
    let altered = workspace.path().join("altered.json");
    let bits: Vec<usize> = (0..THROUGH_THE_BINARY).map(|number| number * 7919 % (octets.len() * 8)).collect();
    for bit in bits {
        fs::write(&altered, flipped(&octets, bit)).expect("a file");
        let applied = apply_in(workspace.path(), &altered, &[]);
        assert_eq!(applied.exit, Some(3), "bit {bit}: {}", applied.said());
        assert!(applied.refused().is_some(), "bit {bit}: {}", applied.said());
    }
    let applied = apply_in(workspace.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(1), "the plan itself is not refused, but no server listens: {}", applied.said());
}

/// A workspace whose server is not there, and a plan of about 10 KiB for it.
fn small_plan() -> (TempDir, Planned) {
    let files = tempfile::tempdir().expect("a folder");
    copy(&demo(), files.path());
    let made = plan_in(files.path(), &["--host", "100105", "--host", "100106"]);
    // Nothing listens on port 1.
    let workspace = reading_from(&["127.0.0.1:1".to_owned()], &Key::new("zonewright"));
    let file = workspace.path().join("plan.json");
    fs::copy(&made.file, &file).expect("a copy");
    (workspace, Planned { file, document: made.document })
}

/// A plan with one bit the other way.
fn flipped(octets: &[u8], bit: usize) -> Vec<u8> {
    let mut octets = octets.to_vec();
    octets[bit / 8] ^= 1 << (bit % 8);
    octets
}

/// Whether a file would be applied, as far as that is for the file to say.
fn is_accepted(octets: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(octets) else { return false };
    let Ok(sealed) = document::parse(text) else { return false };
    let settings = SettingsFile::read(&demo()).into_projects();
    let config = settings.loaded.config.expect("the settings of the demo");
    let bounds = PlanBounds::of(&config, &settings.projects);
    let (now, expires) = (NOW.parse().expect("a time"), Duration::from_secs(86_400));
    let terms = PlanTerms { now, expires, waves_expire: None, expect: None, bounds: &bounds };
    accept(&sealed, &Path::new("plan.json").display().to_string(), &terms).is_ok()
}
