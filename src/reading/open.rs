//! The targets of a workspace, opened to be read, and work on the reference copy of each zone.

use std::path::Path;

use super::side_by_side::side_by_side;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::value::Time;
use crate::progress::{Progress, RunStage};
use crate::provider::cache::Cache;
use crate::provider::{self, ProviderContext};
use crate::target::{OpenedTarget, ReadTarget, TargetSet};

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

/// Opens all targets to read them.
pub fn open_targets(config: &Config, terms: &ReadingTerms<'_>) -> TargetReaders {
    provider::open_all(config.targets(), &terms.context(config))
}

/// The target whose copy of a zone is the reference.
pub fn reference<'t>(
    config: &'t Config,
    readers: &'t TargetReaders,
    spec: &ZoneSpec,
) -> &'t OpenedTarget<dyn ReadTarget> {
    readers.target(&config.reference(spec).id)
}

/// Runs `act` for the reference copy of each configured zone, in parallel; the answers are in the order of the
/// configuration.
pub fn each_zone<'t, T: Send>(
    config: &'t Config,
    readers: &'t TargetReaders,
    progress: &dyn Progress,
    act: impl Fn(&'t dyn ReadTarget, &ZoneName) -> Result<T, Problem> + Sync,
) -> Vec<Result<T, Problem>> {
    let references: Vec<_> = config.zones.iter().map(|spec| reference(config, readers, spec)).collect();
    progress.stage(RunStage::Zones, Some(references.len() as u64));
    let targets: Vec<_> = references.iter().map(|target| &target.id).collect();
    side_by_side(&targets, |place| {
        let outcome = match &references[place].access {
            Ok(target) => act(target.as_ref(), &config.zones[place].name),
            Err(error) => Err(error.clone()),
        };
        progress.step();
        outcome
    })
}
