//! The targets of zones, opened to write to them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::settings::local_folder;
use crate::apply::{CopyAccess, PoolShare, VoteTerms};
use crate::change::Change;
use crate::diag::Problem;
use crate::diff::context::ServerNames;
use crate::dns::ZoneName;
use crate::inventory::Inventory;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::{Pool, TargetSpec};
use crate::inventory::stated::{EntryContent, StatedEntry};
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::provider::cache::{Cache, CacheUse};
use crate::provider::{self, ProviderContext};
use crate::reading::ReadingTerms;
use crate::target::{CopyId, PoolBounds, PoolName, RecordTypes, TargetId, TargetSet, WriteTarget, ZoneFence, ZoneId};

/// The targets of zones.
pub(super) struct Targets<'a> {
    /// The copies of the zones, including those of a plan.
    pub copies: Vec<CopyAccess<'a>>,
    /// Each target that could be opened, once.
    pub writers: Vec<&'a dyn WriteTarget>,
}

impl<'a> Targets<'a> {
    /// Makes all targets expect that an earlier run made updates and did not finish.
    pub fn doubt(&self) {
        self.writers.iter().for_each(|writer| writer.doubt());
    }

    /// Makes those that have some zones expect it.
    pub fn doubt_at(&self, zones: &BTreeSet<&ZoneName>) {
        let copies = self.copies.iter().filter(|access| zones.contains(&access.copy.zone));
        copies.filter_map(|access| access.writer.as_ref().ok()).for_each(|writer| writer.doubt());
    }

    /// The way to a copy, where the settings have it. What an older version sent names no pool; then it is the zone's.
    pub fn access(&self, copy: &CopyId) -> Option<&CopyAccess<'a>> {
        let is_old = copy.target.pool == PoolName::unknown();
        let is_meant = |own: &CopyId| own == copy || is_old && own.zone == copy.zone;
        self.copies.iter().find(|access| is_meant(&access.copy))
    }

    /// The writer of a copy, where it could be opened.
    pub fn writer(&self, copy: &CopyId) -> Option<&'a dyn WriteTarget> {
        self.access(copy)?.writer.as_ref().ok().copied()
    }

    /// The copies of the zones of a plan.
    pub fn of_plan(&self, plan: &Plan) -> Vec<CopyAccess<'a>> {
        let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
        self.copies.iter().filter(|access| zones.contains(&access.copy.zone_id())).cloned().collect()
    }

    /// Finishes all targets, without waiting for any once `interrupted` is set; gives what went wrong.
    pub fn finish(&self, interrupted: &AtomicBool) -> Vec<Problem> {
        let is_over = || interrupted.load(Ordering::SeqCst);
        self.writers.iter().filter_map(|writer| writer.finish(&is_over).err()).collect()
    }
}

/// Zones with the targets of their pools, opened to write to them.
pub(super) struct OpenedZones<'c> {
    /// The settings.
    config: &'c Config,
    /// The zones.
    zones: Vec<&'c ZoneSpec>,
    /// The targets.
    writers: TargetSet<dyn WriteTarget>,
}

impl<'c> OpenedZones<'c> {
    /// Opens the targets of these zones.
    pub fn open(config: &'c Config, zones: Vec<&'c ZoneSpec>, workspace: &Path, now: Time) -> OpenedZones<'c> {
        // What is read to apply is always live: only the sizes of the kept zones are used.
        let cache = Cache::inside(&local_folder(workspace, config), CacheUse::Renew, now);
        let context = ReadingTerms { workspace, now, cache: Some(&cache) }.context(config);
        let targets = zones.iter().flat_map(|spec| &config.pool(spec).targets);
        let needed: BTreeSet<&TargetId> = targets.map(|target| &target.id).collect();
        let needed = config.targets().filter(|target| needed.contains(&target.id));
        let writers = provider::open_all_writers(needed, &context);
        OpenedZones { config, zones, writers }
    }

    /// The targets.
    pub fn targets(&self) -> Targets<'_> {
        Targets { copies: self.copies(), writers: self.writers.opened().collect() }
    }

    /// The copies of the zones, zone by zone, at all targets of their pools.
    pub fn copies(&self) -> Vec<CopyAccess<'_>> {
        let access = |spec: &ZoneSpec, target: &TargetSpec| CopyAccess {
            writer: self.writers.target(&target.id).access.as_deref().map_err(Problem::clone),
            is_fenced: is_fenced(spec, target),
            share: share(self.config.pool(spec), &target.id),
            copy: CopyId { target: target.id.clone(), zone: spec.name.clone() },
        };
        let of_zone = |spec: &&'c ZoneSpec| {
            let spec = *spec;
            self.config.pool(spec).targets.iter().map(move |target| access(spec, target))
        };
        self.zones.iter().flat_map(of_zone).collect()
    }
}

/// What a target counts in its pool, where that has several.
fn share(pool: &Pool, target: &TargetId) -> Option<PoolShare> {
    let terms = VoteTerms { threshold: pool.threshold, voters: pool.voters() };
    pool.has_several().then(|| PoolShare { votes: pool.votes(target), terms })
}

/// Whether a copy of a zone has a marker as its fence: as the zone's settings say, else as its provider needs it. A marker that
/// is not written together with anything else would fence nothing.
pub(super) fn is_fenced(spec: &ZoneSpec, target: &TargetSpec) -> bool {
    let capabilities = provider::capabilities(target);
    let may_fence = capabilities.is_none_or(|own| own.unit.spans_rrsets());
    may_fence && spec.fence.or(capabilities.map(|own| own.fence)) == Some(ZoneFence::Marker)
}

/// Which records the targets of pools take, as far as it matters: with `context` targets are asked, where a file states a rare type.
pub fn bounds_of_pools(inventory: &Inventory, context: Option<&ProviderContext<'_>>) -> PoolBounds {
    let is_rare = |entry: &StatedEntry| match &entry.content {
        EntryContent::Rrset(rrset) => !RecordTypes::COMMON.holds(rrset.rtype),
        EntryContent::Bad(..)
        | EntryContent::Barred(..)
        | EntryContent::Unsupported(_)
        | EntryContent::LeftAlone(_) => false,
    };
    let mut entries = inventory.stated.entries.iter().chain(&inventory.published.entries);
    let asked = context.filter(|_| entries.any(is_rare));
    let bounds = |target: &TargetSpec| match asked {
        Some(context) => Some((target.id.clone(), provider::bounds(target, context))),
        None => Some((target.id.clone(), provider::capabilities(target)?.bounds)),
    };
    let pools = inventory.config.pools.iter();
    pools.map(|pool| (pool.name.clone(), pool.targets.iter().filter_map(bounds).collect())).collect()
}

/// The names of the servers that zones are written to, each with the first place in the settings that holds it.
pub fn server_names(inventory: &Inventory) -> ServerNames {
    let named = inventory.config.targets().flat_map(provider::server_names);
    let mut servers = ServerNames::new();
    for (name, origin) in named {
        servers.entry(name).or_insert(origin);
    }
    servers
}
