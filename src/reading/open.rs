//! The targets of a workspace, opened to be read, and work on each copy of the zones, or on the reference copies alone.

use std::path::Path;

use super::side_by_side::side_by_side;
use crate::diag::Problem;
use crate::dns::ZoneName;
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
        ProviderContext { workspace: self.workspace, source: &config.source, now: self.now, cache: self.cache }
    }
}

/// Opens all targets to read them. Those of a pool of several keep zones apart, each its own copies.
pub fn open_targets(config: &Config, terms: &ReadingTerms<'_>) -> TargetReaders {
    let opened = config.pools.iter().flat_map(|pool| {
        pool.targets.iter().map(|target| {
            let own = terms.cache.filter(|_| pool.has_several()).map(|cache| cache.of_target(&target.id));
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

/// Runs `act` for the reference copy of each configured zone, in parallel: that of the first target of its pool for which
/// it succeeds. The answers are in the order of the configuration; an error is that of the first target.
pub fn each_zone<'t, T: Send>(
    config: &'t Config,
    readers: &'t TargetReaders,
    progress: &dyn Progress,
    act: impl Fn(&'t dyn ReadTarget, &ZoneName) -> Result<T, Problem> + Sync,
) -> Vec<Result<T, Problem>> {
    progress.stage(RunStage::Zones, Some(config.zones.len() as u64));
    let firsts: Vec<&TargetId> = config.zones.iter().map(|spec| &config.reference(spec).id).collect();
    side_by_side(&firsts, |place| {
        let spec = &config.zones[place];
        let outcome = first_that_can(config, readers, spec, |target| act(target, &spec.name));
        progress.step();
        outcome
    })
}

/// The outcome of the first target of a zone's pool for which `act` succeeds.
///
/// Errors: none succeeds; that of the first.
pub fn first_that_can<'t, T>(
    config: &'t Config,
    readers: &'t TargetReaders,
    spec: &ZoneSpec,
    act: impl Fn(&'t dyn ReadTarget) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let outcomes = config.pools[spec.pool].targets.iter().map(|target| match &readers.target(&target.id).access {
        Ok(target) => act(target.as_ref()),
        Err(error) => Err(error.clone()),
    });
    let mut first = None;
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => return Ok(outcome),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    Err(first.expect("a pool has a target"))
}
