//! The targets of DNS update records, judged by their providers: what is wrong with one is a problem of its record, and of
//! nothing else.

use std::collections::HashMap;

use super::shared_copies;
use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::dns::ZoneName;
use crate::inventory::model::Config;
use crate::inventory::pool::{Pool, TargetSpec};
use crate::inventory::update_record::{RecordPool, RecordProblem, UpdateRecord};
use crate::provider;

/// A copy of a zone: the provider, the place, and the zone.
pub(super) type CopyPlace = (String, String, ZoneName);

/// Checks the targets of all records; a record whose target cannot be used loses its pool.
pub(super) fn check(config: &mut Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut records = std::mem::take(&mut config.update_records.records);
    for record in &mut records {
        let Some(RecordPool { pool, .. }) = &record.pool else { continue };
        let of_targets = pool.targets.iter().map(|target| provider::check(target, &config.source));
        let of_key = pool.txt_key.iter().map(|key| provider::txt_key::check(key, &config.source));
        let all: Vec<Diagnostics> = of_targets.chain(of_key).collect();
        for diagnostic in all.iter().flat_map(Diagnostics::iter) {
            refuse(record, diagnostic);
            found.push(diagnostic.clone());
        }
    }
    let mut holders = held_by_pools(config);
    // One with a fault publishes nothing now, and what it published is still its own.
    for record in records.iter().filter(|record| record.pool.is_none()) {
        holders
            .extend(record.place.iter().flat_map(copies).map(|copy| (copy, format!("the record `{}`", record.name))));
    }
    for record in &mut records {
        if let Some(shared) = shared_copy(record, config, &mut holders) {
            refuse(record, &shared);
            found.push(shared);
        }
    }
    config.update_records.records = records;
    found
}

/// Makes an error a problem of its record.
pub(super) fn refuse(record: &mut UpdateRecord, found: &Diagnostic) {
    if found.severity == Severity::Error {
        let Diagnostic { code, message, origin, .. } = found.clone();
        record.problems.push(RecordProblem { code, message, origin });
        record.pool = None;
    }
}

/// The copies that the pools of zonewright.toml hold, each with its target.
fn held_by_pools(config: &Config) -> HashMap<CopyPlace, String> {
    copies_of_pools(config).map(|(place, _, target)| (place, format!("target `{}`", target.id))).collect()
}

/// The copies that pools hold, each with its pool and its target.
pub(super) fn copies_of_pools(config: &Config) -> impl Iterator<Item = (CopyPlace, &Pool, &TargetSpec)> {
    config.zones.iter().flat_map(|zone| {
        let pool = config.pool(zone);
        let of_target = move |target| places(target, &zone.name).map(move |place| (place, pool, target));
        pool.targets.iter().flat_map(of_target)
    })
}

/// Where a target holds a zone.
pub(super) fn places<'t>(target: &'t TargetSpec, zone: &'t ZoneName) -> impl Iterator<Item = CopyPlace> + 't {
    let endpoints = provider::endpoints(target).into_iter();
    endpoints.map(|endpoint| (target.provider.clone(), endpoint.identity, zone.clone()))
}

/// The copies that a record holds of the zones that files name.
pub(super) fn copies(RecordPool { pool, zones, .. }: &RecordPool) -> impl Iterator<Item = CopyPlace> {
    pool.targets.iter().flat_map(move |target| zones.iter().flat_map(move |zone| places(target, &zone.name)))
}

/// The error about a record whose copy of a zone belongs to another target; else its copies are noted.
fn shared_copy(record: &UpdateRecord, config: &Config, holders: &mut HashMap<CopyPlace, String>) -> Option<Diagnostic> {
    let own: Vec<CopyPlace> = copies(record.pool.as_ref()?).collect();
    if let Some((place, other)) = own.iter().find_map(|place| Some((place, holders.get(place)?))) {
        let terms = record.terms.as_ref()?;
        let message =
            format!("the record `{}` is at the same place as {other}, and both hold `{}`", record.name, place.2);
        let error = config.source.error(shared_copies::CODE, terms.origin, terms.width, message);
        return Some(shared_copies::refusal(error));
    }
    let held = own.into_iter().map(|place| (place, format!("the record `{}`", record.name)));
    holders.extend(held);
    None
}
