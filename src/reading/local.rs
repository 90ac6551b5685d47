//! Reads the zones that are files of the workspace, to find errors in them; asks no server.

use std::collections::BTreeSet;

use super::open::ReadingTerms;
use super::side_by_side::side_by_side;
use crate::diag::{FileFindings, Problem};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::TargetSpec;
use crate::progress::{Progress, RunStage};
use crate::provider;
use crate::target::{ReadTarget, TargetId, ZoneHome, ZoneRead};

/// What a check of the zones that are files found.
#[derive(Debug, Default)]
pub struct LocalZones {
    /// The files of zones that could be read.
    pub read: BTreeSet<String>,
    /// What is questionable in zones that can be read.
    pub findings: Vec<FileFindings>,
    /// The zones that cannot be read.
    pub unread: Vec<Problem>,
}

/// A zone that is a file of the workspace, as one target has it.
#[derive(Clone, Copy)]
struct LocalCopy<'c> {
    /// The zone.
    spec: &'c ZoneSpec,
    /// The target.
    target: &'c TargetId,
}

/// The zones that are files of the workspace, in the order of the configuration; of each the copies of all targets of its
/// pool.
fn local_copies(config: &Config) -> impl Iterator<Item = LocalCopy<'_>> {
    config.zones.iter().flat_map(|spec| {
        let targets = config.pools[spec.pool].targets.iter().filter(|target| is_local(target));
        targets.map(move |target| LocalCopy { spec, target: &target.id })
    })
}

/// Whether the zones of a target are files of the workspace.
fn is_local(target: &TargetSpec) -> bool {
    provider::capabilities(target).is_some_and(|capabilities| capabilities.home == ZoneHome::Workspace)
}

/// Reads the zones that are files, of each the copy of the first target; gives what `keep` makes of each as soon as it is
/// read, in the order of the configuration.
pub fn read_local<T: Send>(
    config: &Config,
    terms: &ReadingTerms<'_>,
    keep: impl Fn(Result<ZoneRead, Problem>) -> T + Sync,
) -> Vec<T> {
    let is_first = |copy: &LocalCopy<'_>| config.reference(copy.spec).id == *copy.target;
    read_copies(config, terms, &local_copies(config).filter(is_first).collect::<Vec<_>>(), keep)
}

/// Reads copies that are files, as [`read_local`] does; without those that may be missing, and are.
fn read_copies<T: Send>(
    config: &Config,
    terms: &ReadingTerms<'_>,
    copies: &[LocalCopy<'_>],
    keep: impl Fn(Result<ZoneRead, Problem>) -> T + Sync,
) -> Vec<T> {
    let readers = provider::open_all(config.targets().filter(|target| is_local(target)), &terms.context(config));
    let targets: Vec<&TargetId> = copies.iter().map(|copy| copy.target).collect();
    let kept = side_by_side(&targets, |place| {
        let spec = copies[place].spec;
        let access = readers.target(targets[place]).access.as_ref().map_err(Problem::clone);
        let is_missing = |target: &dyn ReadTarget| spec.may_be_missing() && target.lacks_zone(&spec.name);
        match access {
            Ok(target) if is_missing(target.as_ref()) => None,
            access => Some(keep(access.and_then(|target| target.read_zone(&spec.name)))),
        }
    });
    kept.into_iter().flatten().collect()
}

/// Reads the zones that are files, the copies of all targets, to find errors in them.
pub fn check_local(config: &Config, terms: &ReadingTerms<'_>, progress: &dyn Progress) -> LocalZones {
    let copies: Vec<LocalCopy<'_>> = local_copies(config).collect();
    progress.stage(RunStage::ZoneFiles, Some(copies.len() as u64));
    // The contents go at once, so that memory holds a few zones and not all of them.
    let outcomes = read_copies(config, terms, &copies, |read| {
        progress.step();
        read.map(|ZoneRead { inputs, findings, .. }| (inputs, findings))
    });
    let mut local = LocalZones::default();
    for outcome in outcomes {
        match outcome {
            Ok((inputs, findings)) => {
                // A file that several zones include is one file.
                local.read.extend(inputs.into_iter().map(|(name, _)| name));
                local.findings.extend(findings.map(|found| *found));
            }
            Err(error) => local.unread.push(error),
        }
    }
    local
}
