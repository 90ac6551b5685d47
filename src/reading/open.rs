//! The targets of a workspace, opened to be read, and work on each copy of the zones.

use std::path::Path;

use super::side_by_side::side_by_side;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::value::Time;
use crate::progress::{Progress, RunStage};
use crate::provider::cache::Cache;
use crate::provider::{self, ProviderContext};
use crate::target::{OpenedTarget, ReadTarget, TargetId, TargetSet};

/// The targets of a workspace, opened to be read.
pub type TargetReaders = TargetSet<dyn ReadTarget>;

/// Where and when zones are read.
#[derive(Debug, Clone, Copy)]
pub struct ReadingTerms<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock.
    pub now: Time,
    /// What zones may come from; none where all are read from their targets.
    pub cache: Option<&'a Cache>,
}

impl<'a> ReadingTerms<'a> {
    /// What providers need to know.
    pub fn context(&self, config: &'a Config) -> ProviderContext<'a> {
        ProviderContext {
            workspace: self.workspace,
            source: &config.source,
            now: self.now,
            cache: self.cache,
            has_marks: false,
        }
    }
}

/// Opens all targets to read them. Those of a pool of several keep zones apart, each its own copies; and so do those of DNS
/// update records.
pub fn open_targets(config: &Config, terms: &ReadingTerms<'_>) -> TargetReaders {
    let opened = config.pools.iter().flat_map(|pool| {
        pool.targets.iter().map(|target| {
            let own = terms.cache.filter(|_| pool.names_targets()).map(|cache| cache.of_target(&target.id));
            let context = ProviderContext { cache: own.as_ref().or(terms.cache), ..terms.context(config) };
            OpenedTarget { id: target.id.clone(), access: provider::open(target, &context) }
        })
    });
    opened.collect()
}

/// The copies of all zones: each zone, by its place in the settings, at each target of its pool.
pub fn all_copies(config: &Config) -> Vec<(usize, &TargetId)> {
    let targets = |spec: &ZoneSpec| config.pools[spec.pool].targets.iter().map(|target| &target.id);
    config.zones.iter().enumerate().flat_map(|(place, spec)| targets(spec).map(move |target| (place, target))).collect()
}

/// Runs `act` for each copy, in parallel; the answers are in the order of the copies.
pub fn each_copy<'t, T: Send>(
    config: &'t Config,
    readers: &'t TargetReaders,
    progress: &dyn Progress,
    act: impl Fn(usize, &'t OpenedTarget<dyn ReadTarget>) -> T + Sync,
) -> Vec<T> {
    let copies = all_copies(config);
    progress.stage(RunStage::Zones, Some(copies.len() as u64));
    let targets: Vec<&TargetId> = copies.iter().map(|(_, target)| *target).collect();
    side_by_side(&targets, |number| {
        let (place, target) = copies[number];
        let outcome = act(place, readers.target(target));
        progress.step();
        outcome
    })
}
