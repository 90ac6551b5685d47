//! What the rows of an export say, as texts: two exports of one source can be compared, whatever lines they stand on.
//!
//! Comes in: what was read of an export, or the content of one that was accepted earlier. Goes out: its meanings. Touches no
//! disk.

use std::collections::BTreeMap;

use super::{Context, Draft, FORMATS, Format, Input, SourceFile};
use crate::diag::Files;
use crate::inventory::Inventory;
use crate::inventory::model::{Config, Host, Ipv4Map, Layout, ProjectIndex, Report, Tors, Trust};
use crate::inventory::source::SourceSpec;
use crate::inventory::symbol::Symbols;
use crate::inventory::value::Time;

/// What a row is about, and what it says of that: `sas1-s12 604` and `2a02:6b8:0:160b::/64`.
pub type Meaning = (String, String);

/// What was read, as far as exports say it.
pub struct Said<'a> {
    /// Switches and locations.
    pub symbols: &'a Symbols,
    /// The ids of the projects, by number.
    projects: Vec<&'a str>,
    /// hosts.csv.
    pub hosts: &'a [Host],
    /// l3-tors.txt.
    pub tors: &'a Tors,
    /// net-layout.xml.
    pub layout: &'a Layout,
    /// ipv4-map.txt.
    pub ipv4_map: &'a Ipv4Map,
    /// The reports of all sources of MACs.
    pub reports: &'a [Report],
    /// Which source of MACs is asked about.
    pub source: u16,
}

impl<'a> Said<'a> {
    /// The id of a project.
    pub fn project(&self, project: ProjectIndex) -> &'a str {
        self.projects[project.0 as usize]
    }

    /// What an inventory says, with an eye on one source.
    fn of_inventory(inventory: &'a Inventory, spec: &SourceSpec) -> Said<'a> {
        let source = inventory.mac_sources.iter().position(|source| source.name == spec.name);
        Said {
            symbols: &inventory.symbols,
            projects: inventory.projects.iter().map(|project| project.id.as_str()).collect(),
            hosts: &inventory.hosts,
            tors: &inventory.tors,
            layout: &inventory.layout,
            ipv4_map: &inventory.ipv4_map,
            reports: &inventory.reports,
            source: source.unwrap_or_default() as u16,
        }
    }

    /// What a draft says that holds at most one source of MACs.
    fn of_draft(draft: &'a Draft) -> Said<'a> {
        Said {
            symbols: &draft.symbols,
            projects: draft.projects.texts().collect(),
            hosts: &draft.hosts,
            tors: &draft.tors,
            layout: &draft.layout,
            ipv4_map: &draft.ipv4_map,
            reports: &draft.reports,
            source: 0,
        }
    }
}

/// An export that was accepted.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// What zonewright.toml says of it now.
    pub spec: &'a SourceSpec,
    /// Its files, with their names.
    pub files: &'a [(&'a str, &'a [u8])],
}

/// What the export of a source says now.
pub fn meanings(inventory: &Inventory, spec: &SourceSpec) -> BTreeMap<String, String> {
    collect(spec, &Said::of_inventory(inventory, spec))
}

/// What an accepted export said; `now` is the clock by which it was read then.
pub fn meanings_of(config: &Config, earlier: &Earlier<'_>, now: Time) -> BTreeMap<String, String> {
    collect(earlier.spec, &Said::of_draft(&read(config, &[*earlier], now)))
}

/// Reads accepted exports as those of today are read; what is wrong in them was told when they were accepted. Sources of
/// MACs are numbered in their order here, and every row has a place of its own, though it stands in no file any more.
pub fn read(config: &Config, exports: &[Earlier<'_>], now: Time) -> Draft {
    let mut names = Files::default();
    let inputs = exports.iter().map(|Earlier { spec, files }| {
        let files = files.iter().map(|&(name, bytes)| SourceFile { id: names.add(name), bytes }).collect();
        Input { spec, files }
    });
    let inputs: Vec<Input<'_>> = inputs.collect();
    let context = Context {
        files: &names,
        now,
        free_domain: &config.free_domain,
        name_cooldown: config.name_cooldown,
        admins: &BTreeMap::new(),
    };
    let mut draft = Draft::default();
    for input in &inputs {
        ((format(input.spec).read)(input, &context).fold)(&mut draft, Trust::Known);
    }
    draft
}

/// The format of a source.
fn format(spec: &SourceSpec) -> &'static Format {
    FORMATS.iter().find(|format| format.key == spec.key).expect("settings know the formats")
}

/// The meanings of one source; what several rows say of one thing stands together, in the order of texts.
fn collect(spec: &SourceSpec, said: &Said<'_>) -> BTreeMap<String, String> {
    let mut found = (format(spec).meanings)(said);
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
