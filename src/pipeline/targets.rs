//! The targets of zones, opened to write to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::settings::state_file;
use crate::apply::ZoneAccess;
use crate::diag::Problem;
use crate::diff::context::ServerNames;
use crate::dns::ZoneName;
use crate::inventory::Inventory;
use crate::inventory::model::{Config, Fence, ZoneSpec};
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::provider::cache::{Cache, CacheUse};
use crate::provider::write::WriteZone;
use crate::provider::{self, ProviderContext};

/// The targets of zones.
pub(super) struct Targets<'a> {
    /// The zones, including those of a plan.
    pub zones: Vec<ZoneAccess<'a>>,
    /// Each target that could be opened, once.
    pub writers: Vec<&'a dyn WriteZone>,
}

impl<'a> Targets<'a> {
    /// The targets of these zones, from their open writers.
    pub fn new(config: &Config, zones: &[&'a ZoneSpec], writers: &'a TargetWriters) -> Targets<'a> {
        let opened = writers.values().filter_map(|writer| writer.as_deref().ok());
        Targets { zones: accesses(config, zones, writers), writers: opened.collect() }
    }

    /// Makes all targets expect that an earlier run made updates and did not finish.
    pub fn doubt(&self) {
        self.writers.iter().for_each(|writer| writer.doubt());
    }

    /// The writer of a zone, where there is one.
    pub fn writer(&self, zone: &ZoneName) -> Option<&'a dyn WriteZone> {
        let access = self.zones.iter().find(|access| access.zone == zone)?;
        access.writer.as_ref().ok().copied()
    }

    /// The targets of the zones of a plan.
    pub fn of_plan(&self, plan: &Plan) -> Vec<ZoneAccess<'a>> {
        let names: BTreeSet<&ZoneName> = plan.changes.iter().map(|change| &change.zone).collect();
        self.zones.iter().filter(|access| names.contains(access.zone)).cloned().collect()
    }

    /// Finishes all targets; gives what went wrong.
    pub fn finish(&self) -> Vec<Problem> {
        self.writers.iter().filter_map(|writer| writer.finish().err()).collect()
    }
}

/// The writers of the targets that a plan needs, by pool.
pub(super) type TargetWriters = BTreeMap<usize, Result<Box<dyn WriteZone>, Problem>>;

/// Opens the targets of these zones to write.
pub(super) fn open_writers(config: &Config, zones: &[&ZoneSpec], workspace: &Path, now: Time) -> TargetWriters {
    // What is read to apply is always live: only the sizes of the kept zones are used.
    let cache = Cache::next_to(&state_file(workspace, config), CacheUse::Renew, now);
    let context = ProviderContext { workspace, source: &config.source, now, cache: Some(&cache) };
    let pools: BTreeSet<usize> = zones.iter().map(|spec| spec.pool).collect();
    let open = |pool: usize| {
        let target = &config.pools[pool].target;
        (pool, provider::open_writer(&target.provider, &target.settings, &context))
    };
    pools.into_iter().map(open).collect()
}

/// The target of each zone.
pub(super) fn accesses<'a>(config: &Config, zones: &[&'a ZoneSpec], writers: &'a TargetWriters) -> Vec<ZoneAccess<'a>> {
    let access = |spec: &&'a ZoneSpec| ZoneAccess {
        zone: &spec.name,
        writer: writers[&spec.pool].as_deref().map_err(Problem::clone),
        is_fenced: is_fenced(config, spec),
    };
    zones.iter().map(access).collect()
}

/// Whether a zone has a marker as its fence: as its settings say, else as its provider needs it.
pub(super) fn is_fenced(config: &Config, spec: &ZoneSpec) -> bool {
    match spec.fence {
        Some(fence) => fence == Fence::Marker,
        None => provider::is_fenced(&config.pools[spec.pool].target.provider),
    }
}

/// The names of the servers that zones are written to, each with the first place in the settings that holds it.
pub fn server_names(inventory: &Inventory) -> ServerNames {
    let targets = inventory.config.pools.iter().map(|pool| &pool.target);
    let named = targets.flat_map(|target| provider::server_names(&target.provider, &target.settings));
    let mut servers = ServerNames::new();
    for (name, origin) in named {
        servers.entry(name).or_insert(origin);
    }
    servers
}
