//! Reads the zones that are files of the workspace, to find errors in them; asks no server.

use std::collections::BTreeSet;

use super::open::ReadingTerms;
use super::side_by_side::side_by_side;
use crate::diag::{FileFindings, Problem};
use crate::inventory::model::{Config, TargetSpec, ZoneSpec};
use crate::progress::{Progress, RunStage};
use crate::provider;
use crate::target::{TargetId, ZoneHome, ZoneRead};

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

/// The zones that are files of the workspace, in the order of the configuration.
fn local_zones(config: &Config) -> impl Iterator<Item = &ZoneSpec> {
    config.zones.iter().filter(|spec| is_local(config.reference(spec)))
}

/// Whether the zones of a target are files of the workspace.
fn is_local(target: &TargetSpec) -> bool {
    provider::capabilities(target).is_some_and(|capabilities| capabilities.home == ZoneHome::Workspace)
}

/// Reads the zones that are files; gives what `keep` makes of each as soon as it is read, in the order of the
/// configuration.
pub fn read_local<T: Send>(
    config: &Config,
    terms: &ReadingTerms<'_>,
    keep: impl Fn(Result<ZoneRead, Problem>) -> T + Sync,
) -> Vec<T> {
    let specs: Vec<&ZoneSpec> = local_zones(config).collect();
    let readers = provider::open_all(config.targets().filter(|target| is_local(target)), &terms.context(config));
    let targets: Vec<&TargetId> = specs.iter().map(|spec| &config.reference(spec).id).collect();
    side_by_side(&targets, |place| {
        let access = readers.target(targets[place]).access.as_ref().map_err(Problem::clone);
        keep(access.and_then(|target| target.read_zone(&specs[place].name)))
    })
}

/// Reads the zones that are files, to find errors in them.
pub fn check_local(config: &Config, terms: &ReadingTerms<'_>, progress: &dyn Progress) -> LocalZones {
    progress.stage(RunStage::ZoneFiles, Some(local_zones(config).count() as u64));
    // The contents go at once, so that memory holds a few zones and not all of them.
    let outcomes = read_local(config, terms, |read| {
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
