//! A plan and its apply on targets of a provider that is nothing but its folder and its word in the list of providers.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::apply::{self, PlanToApply};
use super::conduct::ApplyConduct;
use super::fixture::{Silent, conduct};
use super::{MadePlan, PlanRequest, init, make_plan, settings};
use crate::dns::{Name, Rtype, ZoneName};
use crate::inventory::value::Time;
use crate::plan::SealedPlan;
use crate::progress::{Progress, RunStage};
use crate::provider::cache::CacheUse;
use crate::reading::ReadingTerms;
use crate::reading::open::open_targets;

/// Counts the steps of stages.
#[derive(Default)]
struct CountedStages(Mutex<Vec<(RunStage, Option<u64>, u64)>>);

impl Progress for CountedStages {
    fn stage(&self, stage: RunStage, total: Option<u64>) {
        self.0.lock().unwrap().push((stage, total, 0));
    }

    fn step(&self) {
        self.0.lock().unwrap().last_mut().unwrap().2 += 1;
    }
}

/// The clock.
fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

/// Makes the example's workspace in a folder, its targets of another type.
fn write_example(folder: &Path, provider: &str) {
    for file in init::of_folder(folder, "fleet-dns", now(), &Silent).unwrap().files {
        let path = folder.join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let typed = file.text.replace("type = \"zonefile\"", &format!("type = \"{provider}\""));
        fs::write(path, typed).unwrap();
    }
}

/// A plan of a workspace.
fn plan(workspace: &Path) -> MadePlan {
    plan_watched(workspace, &Silent)
}

/// The same, with its progress.
fn plan_watched(workspace: &Path, progress: &dyn Progress) -> MadePlan {
    let request = PlanRequest {
        adopt: None,
        asks_approvals: false,
        workspace,
        now: now(),
        hosts: Vec::new(),
        subjects: Vec::new(),
        projects: Vec::new(),
        live_snapshot: None,
        base: None,
        cache: CacheUse::Renew,
        allow: &[],
    };
    make_plan(&request, progress).unwrap()
}

/// The addresses at a name, as the targets of a workspace have them.
fn addresses(workspace: &Path, zone: &str, owner: &str) -> Vec<String> {
    let (config, _) = settings::load_config(workspace).unwrap();
    let readers = open_targets(&config, &ReadingTerms { workspace, now: now(), cache: None });
    let zone = ZoneName::new(Name::parse(zone).unwrap());
    let read = readers.opened().next().unwrap().read_zone(&zone).unwrap();
    let found = read.contents.rrset(Name::parse(owner).unwrap().as_name(), Rtype::AAAA);
    found.map(|rrset| rrset.to_rrset().rdata_texts(Rtype::AAAA)).unwrap_or_default()
}

#[test]
fn a_provider_is_one_folder_and_one_word() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path();
    write_example(workspace, "sample");
    let made = plan(workspace);
    assert_eq!(made.targets, ["the primary of `zones`"]);
    let sealed = SealedPlan::new(made.plan);
    assert_eq!(sealed.plan().changes.len(), 2, "{:?}", sealed.plan());
    assert!(addresses(workspace, "example.net", "dc0-0002.example.net").is_empty());

    let interrupted = AtomicBool::new(false);
    let conduct = ApplyConduct { who: "tests", ..conduct(workspace, now(), 1, &interrupted) };
    let given = PlanToApply { sealed: &sealed, place: "the plan", expect: None };
    let ran = apply::apply(&given, &conduct, &Silent).unwrap();
    assert!(ran.refusal.is_none() && ran.is_journaled, "{ran:?}");
    assert_eq!(ran.applied.done(), 1, "{ran:?}");
    assert_eq!(addresses(workspace, "example.net", "dc0-0002.example.net"), ["2001:db8:0:1:200:5eff:fe00:5302"]);
    assert!(plan(workspace).plan.changes.is_empty());
}

#[test]
fn progress_counts_the_copies_of_zones() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path();
    write_example(workspace, "zonefile");
    let settings = workspace.join("zonewright.toml");
    let (config, _) = settings::load_config(workspace).unwrap();
    let [pool] = &config.pools[..] else { panic!("{:?}", config.pools) };
    let text = fs::read_to_string(&settings).unwrap();
    let second = format!("[[pool.{}.target]]\nname = \"second\"\ntype = \"zonefile\"\ndir = \"zones-2\"\n", pool.name);
    let first = text.replace("type = \"zonefile\"", "name = \"first\"\ntype = \"zonefile\"");
    fs::write(&settings, format!("{first}\n{second}")).unwrap();
    fs::create_dir(workspace.join("zones-2")).unwrap();
    for zone in fs::read_dir(workspace.join("zones")).unwrap() {
        let zone = zone.unwrap();
        fs::copy(zone.path(), workspace.join("zones-2").join(zone.file_name())).unwrap();
    }
    let stages = CountedStages::default();
    plan_watched(workspace, &stages);
    let stages = stages.0.into_inner().unwrap();
    let zones = stages.iter().find(|(stage, ..)| *stage == RunStage::Zones).unwrap();
    let copies = 2 * config.zones.len() as u64;
    assert_eq!(zones, &(RunStage::Zones, Some(copies), copies), "{stages:?}");
}
