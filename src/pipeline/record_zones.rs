//! The zones of DNS update records that no file names: those that the target lists, narrowed by the filter of the record.
//!
//! Comes in: the settings, with the pools of the records. Goes out: the same with the zones. A plan asks the targets; an apply
//! asks none, and takes the zones that its plan and the journal name.

use std::collections::HashMap;

use super::record_targets::{CopyPlace, places};
use super::shared_copies;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::model::Config;
use crate::inventory::pool::TargetSpec;
use crate::inventory::update_record::RecordProblem;
use crate::parallel::side_by_side;
use crate::provider::{self, ProviderContext};
use crate::reading::ReadingTerms;
use crate::snapshot::Snapshot;
use crate::target::{PoolName, ZoneId};

/// Asks the targets of records for their zones, all at once. A record whose target does not say them has a problem, and blocks
/// its endpoints.
pub fn find(config: &mut Config, terms: ReadingTerms<'_>) {
    let context = terms.context(config);
    let asked: Vec<&TargetSpec> = listing(config).collect();
    let count = asked.len();
    let listed = side_by_side(asked, count, |target| (target.id.pool.clone(), list(target, &context)));
    for (pool, zones) in listed {
        match zones {
            Ok(zones) => {
                let zones = zones.into_iter().map(|name| ZoneId { pool: pool.clone(), name });
                config.add_record_zones(zones);
                refuse_bare(config, pool.as_str());
            }
            Err(problem) => refuse(config, pool.as_str(), problem),
        }
    }
    refuse_shared(config);
}

/// Refuses each record whose target is at the place of another one, as one key sees it, and has the same zone: both would write
/// it, each by what it knows of it.
fn refuse_shared(config: &mut Config) {
    let mut holders: HashMap<CopyPlace, PoolName> = HashMap::new();
    let mut shared: Vec<(PoolName, Problem)> = Vec::new();
    for spec in &config.zones {
        let pool = config.pool(spec);
        for place in pool.targets.iter().flat_map(|target| places(target, &spec.name)) {
            let holder = holders.entry(place).or_insert_with(|| pool.name.clone());
            if *holder != pool.name && pool.is_of_record {
                let message = format!("`{}` is at the same place in `{holder}`, too", spec.name);
                let hint = "narrow `domain-filter` or `zone-id-filter` of one of the records, or leave one of them out";
                let problem = Problem::new(pool.name.as_str(), shared_copies::CODE, message).hint(hint);
                shared.push((pool.name.clone(), problem));
            }
        }
    }
    shared.into_iter().for_each(|(record, problem)| refuse(config, record.as_str(), problem));
}

/// Takes the zones that a snapshot has.
pub fn take_saved(config: &mut Config, snapshot: &Snapshot) {
    let pools: Vec<_> = listing(config).map(|target| target.id.pool.clone()).collect();
    for pool in pools {
        let zones =
            snapshot.zones_of_record(pool.as_str()).map(|name| ZoneId { pool: pool.clone(), name: name.clone() });
        config.add_record_zones(zones);
        refuse_bare(config, pool.as_str());
    }
}

/// Whether the target of any record lists its zones.
pub fn are_listed(config: &Config) -> bool {
    listing(config).next().is_some()
}

/// The targets of records that list their zones.
fn listing(config: &Config) -> impl Iterator<Item = &TargetSpec> {
    let pools = config.update_records.records.iter().filter_map(|record| record.pool.as_ref());
    pools.filter(|pool| pool.lists_zones).flat_map(|pool| &pool.pool.targets)
}

/// The zones of a target.
fn list(target: &TargetSpec, context: &ProviderContext<'_>) -> Result<Vec<ZoneName>, Problem> {
    provider::open(target, context)?.list_zones()
}

/// Refuses a record without a zone: its target lists none that the filter shows.
fn refuse_bare(config: &mut Config, record: &str) {
    if config.zones.iter().all(|spec| config.pool(spec).name.as_str() != record) {
        let message = "its target lists no zone that `domain-filter` shows";
        let problem = Problem::new(record, "no-zone", message).hint(
            "compare the filters of the record with the zones of the account, and its credentials with the account",
        );
        refuse(config, record, problem);
    }
}

/// Notes that the zones of a record are not known.
fn refuse(config: &mut Config, record: &str, problem: Problem) {
    let records = &mut config.update_records;
    if let Some(own) = records.records.iter_mut().find(|own| own.name == record) {
        let message = format!("its zones are not known: {problem}");
        own.problems.push(RecordProblem { code: problem.code, message, origin: own.origin });
    }
    records.unlisted.push((record.to_owned(), problem));
}
