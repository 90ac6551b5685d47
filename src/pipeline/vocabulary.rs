//! The words that a workspace knows, for a shell that completes them.
//!
//! Reads files of the workspace and its state. Queries no server, reads no secret, writes nothing, and reports no
//! errors: where a file cannot be read, its words are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::settings::{read_settings, state_address};
use crate::inventory::Inventory;
use crate::inventory::read::{self, SettingsFile, WorkspaceExtent};
use crate::inventory::value::Time;
use crate::names::holders::named;
use crate::state::open_to_read;

/// How many applies are offered: more than a list in a shell can show.
const APPLIES: usize = 50;

/// What kind of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// The names of hosts, and their inventory numbers.
    Hosts,
    /// The ids of projects.
    Projects,
    /// The ids of sets of pods that have a file.
    PodSets,
    /// The configured zones.
    Zones,
    /// The configured sources.
    Sources,
    /// The numbers of applies.
    Applies,
}

/// The words of a kind: applies with the latest first, others sorted; empty where they cannot be read.
pub fn words(workspace: &Path, vocabulary: Vocabulary, now: Time) -> Vec<String> {
    match vocabulary {
        Vocabulary::Hosts => {
            let loaded = read::load_extent(workspace, WorkspaceExtent::Names, now, &|_| {});
            loaded.inventory.map(|inventory| hosts(&inventory)).unwrap_or_default()
        }
        Vocabulary::Projects => {
            SettingsFile::read(workspace).into_projects().projects.into_iter().map(|project| project.id).collect()
        }
        Vocabulary::PodSets => {
            let sets = SettingsFile::read(workspace).into_projects().pod_sets;
            sets.into_iter().map(|set| set.id.into_string()).collect()
        }
        Vocabulary::Zones => {
            let config = read_settings(workspace).into_config().config;
            let zones: BTreeSet<String> =
                config.iter().flat_map(|config| &config.zones).map(|zone| zone.name.to_string()).collect();
            zones.into_iter().map(|zone| zone.trim_end_matches('.').to_owned()).collect()
        }
        Vocabulary::Sources => read::source_names(workspace),
        Vocabulary::Applies => applies(workspace).unwrap_or_default(),
    }
}

/// The first label of each name, or the full name where several hosts have the label; and all numbers.
fn hosts(inventory: &Inventory) -> Vec<String> {
    let mut by_label: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, held) in named(inventory) {
        let Some((name, _)) = held else { continue };
        let whole = name.to_string();
        let label = whole.split('.').next().unwrap_or_default().to_owned();
        by_label.entry(label).or_default().push(whole.trim_end_matches('.').to_owned());
    }
    let names = by_label.into_iter().flat_map(|(label, names)| if names.len() == 1 { vec![label] } else { names });
    names.chain(inventory.hosts.iter().map(|host| host.inv.to_string())).collect()
}

/// The numbers of the last applies.
fn applies(workspace: &Path) -> Option<Vec<String>> {
    let config = read_settings(workspace).into_config().config?;
    let state = open_to_read(&state_address(workspace, &config)).ok()??;
    let applies = state.applies(APPLIES).ok()?;
    Some(applies.iter().map(|apply| apply.id.0.to_string()).collect())
}
