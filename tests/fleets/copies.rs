//! Random fleets whose pools have three targets: copies that are alike get what a single target gets, and copies with
//! random differences are brought to hold the same at what the plan is about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use zonewright::change::{NoticeCode, Rule};
use zonewright::dns::{Rrset, Rtype};
use zonewright::plan::{Change, ChangeKind, Plan};

use super::{Contents, create_only, on_fleets, plan_of, plan_text};

/// The folders of the targets; each is the target's name, too.
const FOLDERS: [&str; 3] = ["zones", "zones-b", "zones-c"];

/// The one target of a fleet's pool, as its settings have it.
const ONE: &str = "[[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n";

/// Gives a fleet three targets, with this threshold; false where its settings are not those of other fleets.
fn give_targets(fleet: &Path, threshold: u32) -> bool {
    let file = fleet.join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("settings");
    let target = |name: &str| format!("{{ name = \"{name}\", type = \"zonefile\", dir = \"{name}\" }}");
    // As many lines as before, so that places in the settings stay.
    let targets = format!("target = [{}]\nthreshold_percentage = {threshold}\n\n", FOLDERS.map(target).join(", "));
    fs::write(&file, text.replace(ONE, &targets)).expect("settings");
    for folder in &FOLDERS[1..] {
        fs::create_dir(fleet.join(folder)).expect("a folder");
        for entry in fs::read_dir(fleet.join("zones")).expect("zones") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), fleet.join(folder).join(entry.file_name())).expect("a copy");
        }
    }
    text.contains(ONE)
}

/// A few random numbers.
pub struct Dice(pub u64);

impl Dice {
    /// A number below another.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Damages records of hosts in the zone files of a folder: some go, some get another TTL, some another address.
fn damage(folder: &Path, dice: &mut Dice) {
    for entry in fs::read_dir(folder).expect("zones") {
        let path = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            let is_record = (line.contains(" AAAA ") || line.contains(" PTR ")) && !line.starts_with([' ', '\t', '@']);
            match dice.below(12) {
                0 if is_record => {}
                1 if is_record && line.contains(" AAAA ") => {
                    lines.push(format!("{}f1", &line[..line.rfind(':').expect("an address") + 1]));
                }
                _ => lines.push(line.to_owned()),
            }
        }
        fs::write(&path, lines.join("\n") + "\n").expect("a zone file");
    }
}

/// What the zone files of each folder hold.
fn copies(fleet: &Path, plan: &Plan) -> BTreeMap<&'static str, Contents> {
    let zones: BTreeSet<_> = plan.zones.iter().map(|seen| seen.zone.clone()).collect();
    let of_folder = |folder: &'static str| {
        let mut contents = Contents::new();
        for zone in &zones {
            let Ok(read) = zonewright::provider::read_in(&fleet.join(folder), zone) else { continue };
            for rrset in read.contents.rrsets() {
                let key = (zone.to_string(), rrset.owner().to_string(), rrset.rtype());
                contents.insert(key, rrset.to_rrset());
            }
        }
        (folder, contents)
    };
    FOLDERS.map(of_folder).into()
}

/// The key of a change.
fn key(change: &Change) -> (String, String, Rtype) {
    (change.zone.to_string(), change.key.owner.to_string(), change.key.rtype)
}

/// The changes of a plan that are for a target.
fn changes_at<'p>(plan: &'p Plan, target: &str) -> impl Iterator<Item = &'p Change> {
    let target = target.to_owned();
    plan.changes.iter().filter(move |change| change.is_at(&target))
}

/// What a copy holds once a plan is applied there; each change must find what it says it finds.
fn apply_at(contents: &Contents, plan: &Plan, target: &str) -> Contents {
    let mut after = contents.clone();
    for change in changes_at(plan, target) {
        assert_eq!(after.get(&key(change)), change.kind.before(), "{target}: {:?}", key(change));
        match &change.kind {
            ChangeKind::Create { after: new } | ChangeKind::Modify { after: new, .. } => {
                after.insert(key(change), new.clone());
            }
            ChangeKind::Delete { .. } => drop(after.remove(&key(change))),
        }
    }
    after
}

/// Writes zones as master files to a folder.
fn write_copy(fleet: &Path, folder: &str, contents: &Contents) {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for ((zone, owner, rtype), rrset) in contents {
        for rdata in rrset.rdata() {
            let line = format!("{owner} {} IN {rtype} {}\n", rrset.ttl(), rdata.as_rdata(*rtype));
            files.entry(zone).or_default().push_str(&line);
        }
    }
    for (zone, text) in files {
        fs::write(fleet.join(folder).join(format!("{zone}zone")), text).expect("a zone file");
    }
}

#[test]
fn copies_that_are_alike_get_what_one_gets() {
    on_fleets(|seed, fleet| {
        let Some(one) = plan_of(fleet) else { return };
        if !give_targets(fleet, 100) {
            return;
        }
        let three = plan_of(fleet).expect("the settings are good");
        assert!(one.changes == three.changes, "fleet {seed}");
        assert_eq!((&one.blocked, &one.skipped), (&three.blocked, &three.skipped), "fleet {seed}");
        let new: Vec<_> = three.notices.iter().filter(|notice| !one.notices.contains(notice)).collect();
        assert!(new.is_empty() && one.notices.len() == three.notices.len(), "fleet {seed}: {new:#?}");
        assert_eq!(one.waiting, three.waiting, "fleet {seed}");
        assert_eq!(three.zones.len(), 3 * one.zones.len(), "fleet {seed}");
    });
}

#[test]
fn copies_come_to_hold_the_same() {
    let mut brought_in_line = 0;
    on_fleets(|seed, fleet| {
        if plan_text(fleet, None).is_none() || !give_targets(fleet, 100) {
            return;
        }
        let mut dice = Dice(seed);
        FOLDERS.iter().for_each(|folder| damage(&fleet.join(folder), &mut dice));
        let plan = plan_of(fleet).expect("the settings are good");
        let exempt = create_only(fleet);
        let before = copies(fleet, &plan);
        let after: BTreeMap<&str, Contents> =
            before.iter().map(|(folder, contents)| (*folder, apply_at(contents, &plan, folder))).collect();
        let left: BTreeSet<_> = plan
            .notices
            .iter()
            .filter(|notice| matches!(notice.code, NoticeCode::CopyBlocked | NoticeCode::TargetUnknown))
            .filter_map(|notice| notice.subject.clone())
            .collect();
        for change in &plan.changes {
            // What is only removed is about what a copy holds. What a subject asks for is the same everywhere.
            let is_claimed = |rule| matches!(rule, Rule::Missing | Rule::MissingPtr);
            let Some(wanted) = change.kind.after().filter(|_| change.rules().any(is_claimed)) else { continue };
            if exempt.contains(&change.project) || change.subjects().any(|subject| left.contains(subject)) {
                continue;
            }
            let held: Vec<Option<&Rrset>> = after.values().map(|contents| contents.get(&key(change))).collect();
            assert!(held.iter().all(|held| *held == Some(wanted)), "fleet {seed}: {held:?} {change:#?}");
            brought_in_line += usize::from(change.brings_in_line());
        }
        after.iter().for_each(|(folder, contents)| write_copy(fleet, folder, contents));
        let again = plan_of(fleet).expect("the settings are the same");
        let left: Vec<_> = again.changes.iter().filter(|change| !exempt.contains(&change.project)).collect();
        assert!(left.is_empty(), "fleet {seed}: {left:#?}");
    });
    eprintln!("{brought_in_line} changes brought copies in line");
}
