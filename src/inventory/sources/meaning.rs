//! What the rows of an export say, as texts: two exports of one source can be compared, regardless of their lines.
//!
//! Comes in: what was read of an export, or the content of one that was accepted earlier. Goes out: its meanings.
//! Touches no disk.

use std::collections::BTreeMap;

use super::{Draft, LabelledManifests, RowClock, RowContext, SourceFile, SourceInput, format_of};
use crate::diag::Files;
use crate::inventory::Inventory;
use crate::inventory::addresses::AddressRow;
use crate::inventory::apps::AppFiles;
use crate::inventory::model::{Host, Ipv4Map, MacReport, NetLayout, Project, ProjectIndex, Tors, Trust};
use crate::inventory::pods::Pods;
use crate::inventory::source::SourceSpec;
use crate::inventory::stated::StatedRecords;
use crate::inventory::symbol::Symbols;
use crate::inventory::value::Time;

/// What a row is about, and what it says of that: `sas1-s12 604` and `2a02:6b8:0:160b::/64`.
pub type RowMeaning = (String, String);

/// What was read from exports.
pub struct ExportRows<'a> {
    /// Switches and locations.
    pub symbols: &'a Symbols,
    /// The ids of the projects, by number.
    projects: Vec<&'a str>,
    /// hosts.csv.
    pub hosts: &'a [Host],
    /// l3-tors.txt.
    pub tors: &'a Tors,
    /// net-layout.xml.
    pub layout: &'a NetLayout,
    /// ipv4-map.txt.
    pub ipv4_map: &'a Ipv4Map,
    /// The addresses that the inventory lists.
    pub addresses: &'a [AddressRow],
    /// The reports of all sources of MACs, those of one host and source in the order of files and rows.
    pub reports: Vec<&'a [MacReport]>,
    /// What files state.
    pub stated: &'a StatedRecords,
    /// The pods.
    pub pods: &'a Pods,
    /// The apps, and the lists of the records that publish them.
    pub apps: &'a AppFiles,
    /// What DNS update records publish, with the manifests that belong to them.
    pub published: &'a StatedRecords,
    /// These manifests, where no record has them yet.
    pub labelled: &'a [LabelledManifests],
    /// Which source of MACs or records is asked about, by its place among those of its kind.
    pub source: u16,
}

impl<'a> ExportRows<'a> {
    /// The id of a project.
    pub fn project(&self, project: ProjectIndex) -> &'a str {
        self.projects[project.0 as usize]
    }

    /// What an inventory says, with an eye on one source.
    fn of_inventory(inventory: &'a Inventory, spec: &SourceSpec) -> ExportRows<'a> {
        let of_macs = inventory.mac_sources.iter().position(|source| source.name == spec.name);
        let source = of_macs.or(inventory.stated.sources.iter().position(|source| *source.name == *spec.name));
        ExportRows {
            symbols: &inventory.symbols,
            projects: inventory.projects.iter().map(|project| project.id.as_str()).collect(),
            hosts: &inventory.hosts,
            tors: &inventory.tors,
            layout: &inventory.layout,
            ipv4_map: &inventory.ipv4_map,
            addresses: &inventory.addresses,
            reports: vec![&inventory.reports],
            stated: &inventory.stated,
            pods: &inventory.pods,
            apps: &inventory.apps,
            published: &inventory.published,
            labelled: &[],
            source: source.unwrap_or_default() as u16,
        }
    }

    /// What a draft says that holds at most one source of MACs.
    fn of_draft(draft: &'a Draft) -> ExportRows<'a> {
        ExportRows {
            symbols: &draft.symbols,
            projects: draft.projects.texts().collect(),
            hosts: &draft.hosts,
            tors: &draft.tors,
            layout: &draft.layout,
            ipv4_map: &draft.ipv4_map,
            addresses: &draft.addresses,
            reports: draft.reports.iter().map(Vec::as_slice).collect(),
            stated: &draft.stated,
            pods: &draft.pods,
            apps: &draft.apps,
            published: &draft.published,
            labelled: &draft.labelled,
            source: 0,
        }
    }
}

/// An export that was accepted.
#[derive(Debug, Clone, Copy)]
pub struct EarlierExport<'a> {
    /// What zonewright.toml says of it now.
    pub spec: &'a SourceSpec,
    /// Its files, with their names.
    pub files: &'a [(&'a str, &'a [u8])],
}

/// What the export of a source says now.
pub fn meanings(inventory: &Inventory, spec: &SourceSpec) -> BTreeMap<String, String> {
    collect(spec, &ExportRows::of_inventory(inventory, spec))
}

/// What an accepted export said, and how many bad rows it had; `now` is the clock by which it was read then.
pub fn meanings_of(inventory: &Inventory, earlier: &EarlierExport<'_>, now: Time) -> (BTreeMap<String, String>, usize) {
    let (draft, bad) = read_counted(inventory, &[*earlier], now);
    (collect(earlier.spec, &ExportRows::of_draft(&draft)), bad)
}

/// Reads accepted exports as today's exports are read; their errors were reported when they were accepted. Sources of
/// MACs are numbered in their order here, and every row has a place of its own, although its file may be gone. Devices
/// are the hosts that `inventory` knows them as, and short names are in its domains.
pub fn read(inventory: &Inventory, exports: &[EarlierExport<'_>], now: Time) -> Draft {
    read_counted(inventory, exports, now).0
}

/// The same, with the number of bad rows.
fn read_counted(inventory: &Inventory, exports: &[EarlierExport<'_>], now: Time) -> (Draft, usize) {
    let mut names = Files::default();
    let inputs = exports.iter().map(|EarlierExport { spec, files }| {
        let files = files.iter().map(|&(name, bytes)| SourceFile { id: names.add(name), bytes }).collect();
        SourceInput { spec, files }
    });
    let inputs: Vec<SourceInput<'_>> = inputs.collect();
    let admin = |project: &Project| Some((project.id.clone(), project.admin.clone()?));
    let context = RowContext {
        files: &names,
        clock: &RowClock::at(now),
        free_domain: &inventory.config.free_domain,
        name_cooldown: inventory.config.name_cooldown,
        admins: &inventory.projects.iter().filter_map(admin).collect(),
    };
    let mut draft = Draft { devices: inventory.devices.clone(), ..Draft::default() };
    let mut bad = 0;
    for input in &inputs {
        let part = (format_of(input.spec).read)(input, &context);
        bad += part.tally.bad;
        (part.fold)(&mut draft, Trust::Known);
    }
    (draft, bad)
}

/// The meanings of one source; the meanings of one thing are neighbours, sorted as text.
fn collect(spec: &SourceSpec, said: &ExportRows<'_>) -> BTreeMap<String, String> {
    let mut found = (format_of(spec).meanings)(said);
    found.sort();
    let mut meanings: BTreeMap<String, String> = BTreeMap::new();
    for (key, meaning) in found {
        let text = meanings.entry(key).or_default();
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&meaning);
    }
    meanings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::load_workspace;

    /// The workspace that the cases start from.
    fn inventory() -> Inventory {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        load_workspace(&workspace, now(), &|_| {}).inventory.unwrap()
    }

    /// The clock.
    fn now() -> Time {
        "2026-11-20T02:00:00Z".parse().unwrap()
    }

    /// What an export says, a line each.
    fn lines(meanings: &BTreeMap<String, String>) -> Vec<String> {
        meanings.iter().map(|(key, meaning)| format!("{key} = {meaning}")).collect()
    }

    /// What other content of a source would say.
    fn said(inventory: &Inventory, source: &str, content: &str) -> Vec<String> {
        let spec = &inventory.exports.iter().find(|export| export.spec.name == source).unwrap().spec;
        let earlier = EarlierExport { spec, files: &[("file", content.as_bytes())] };
        lines(&meanings_of(inventory, &earlier, now()).0)
    }

    #[test]
    fn every_export_has_its_meanings() {
        let inventory = inventory();
        let of = |name: &str| {
            let spec = &inventory.exports.iter().find(|export| export.spec.name == name).unwrap().spec;
            lines(&meanings(&inventory, spec))
        };
        assert_eq!(of("hosts")[0], "101 = sas0-0001.web.example.net., web, assigned, sas, sas-s1");
        assert_eq!(of("l3_tors"), ["sas-s1 604 = 2001:db8:0:1::/64", "sas-s1 761 = 2001:db8:0:2::/64"]);
        assert_eq!(of("net_layout"), ["sas 700 = 2001:db8:0:3::/64, 2001:db8:0:4::/64"]);
        assert_eq!(of("ipv4_map"), ["sas 700 192.0.2.0/24 = 2001:db8:0:5::/64"]);
        assert_eq!(of("agent")[2], "201 = 02:00:00:00:02:01, no switch");
        assert_eq!(of("eine"), ["101 = 02:00:00:00:01:01, no switch"]);
    }

    #[test]
    fn lines_that_move_mean_the_same_and_bad_ones_nothing() {
        let inventory = inventory();
        let tors = "# later\nsas-s2 604 nonsense\nsas-s1 761 2001:db8:0:2::/64\nsas-s1 604 2001:db8:0:1::/64\n";
        assert_eq!(
            said(&inventory, "l3_tors", tors),
            ["sas-s1 604 = 2001:db8:0:1::/64", "sas-s1 761 = 2001:db8:0:2::/64"]
        );
        let hosts = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n\
                     7,,search,free,man,q,r,,,automated-dns\n7x,,search,free,man,,,,,\n";
        assert_eq!(said(&inventory, "hosts", hosts), ["7 = no name, search, free, man, no switch, restricted"]);
    }

    #[test]
    fn the_latest_report_that_is_active_counts() {
        let report = |time: &str, rest: &str| format!("{{\"time\":\"2026-11-20T{time}:00Z\",\"inv\":7,{rest}}}\n");
        let reports = report("01:00", "\"mac\":\"02:00:00:00:00:01\"")
            + &report("01:30", "\"mac\":\"02:00:00:00:00:02\",\"switch\":\"s1\"")
            + &report("01:45", "\"mac\":\"02:00:00:00:00:02\",\"active\":false")
            + &report("01:10", "\"mac\":\"02:00:00:00:00:03\"");
        assert_eq!(said(&inventory(), "agent", &reports), ["7 = 02:00:00:00:00:02, s1"]);
    }
}
