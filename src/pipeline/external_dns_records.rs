//! DNS update records that external-dns carries out, judged without asking any server: what it could not start with, and what
//! it would share with another publisher.

use std::collections::HashMap;

use super::record_targets::{self, CopyPlace};
use crate::diag::{Code, Diagnostic, Diagnostics, Origin};
use crate::external_dns::arguments;
use crate::inventory::model::Config;
use crate::inventory::pool::{Pool, TargetSpec};
use crate::inventory::record_pools;
use crate::inventory::update_record::{RecordPool, RecordProvider, RecordStanding, UpdateRecord, UpdateRecordTerms};
use crate::provider;

/// The code of two publishers with one owner at one place.
const SHARED_OWNER: Code = Code::new("shared-owner");

/// Who publishes what, by place and owner.
type PublishersByOwner = HashMap<(CopyPlace, String), String>;

/// Checks them; a record with a fault is not rendered.
pub(super) fn check(config: &mut Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut records = std::mem::take(&mut config.update_records.records);
    let mut publishers = of_zonewright(config, &records);
    for record in &mut records {
        let Some(terms) = record.terms.clone().filter(|_| record.standing() == RecordStanding::ExternalDns) else {
            continue;
        };
        let place = record_pools::pool_of(record, &terms, config).place;
        for fault in faults(record, &terms, (place.as_ref(), config)).iter() {
            record_targets::refuse(record, fault);
            found.push(fault.clone());
        }
        let warning = place.and_then(|place| shared_owner(&record.name, &place, &mut publishers));
        if let Some(message) = warning {
            let warning = Diagnostic::warning(SHARED_OWNER, terms.origin, message);
            let rule = "each of the two deletes what the other one publishes, if its policy is `sync`";
            found.push(
                warning.rule(rule).hint("give the record a `txt-owner-id` of its own, or another zone or server"),
            );
        }
    }
    config.update_records.records = records;
    found
}

/// What external-dns could not start with, and what it must not be given.
fn faults(
    record: &UpdateRecord,
    terms: &UpdateRecordTerms,
    (place, config): (Option<&RecordPool>, &Config),
) -> Diagnostics {
    let is_etcd = record.provider == Some(RecordProvider::CoreDns);
    let targets = place.filter(|_| is_etcd).into_iter().flat_map(|place| &place.pool.targets);
    let mut found = Diagnostics::default();
    targets.for_each(|target| found.append(of_etcd(target, config)));
    if found.error_count() == 0
        && let Err(fault) = arguments::arguments(record, terms, config)
    {
        let hint = format!("external-dns cannot start without it; `zonewright help {}` says more", fault.code);
        found.push(Diagnostic::error(fault.code, fault.origin, fault.message).hint(hint));
    }
    found
}

/// What is wrong with the settings of an etcd that external-dns gets: an URL with a password would be in a manifest.
fn of_etcd(target: &TargetSpec, config: &Config) -> Diagnostics {
    let given = ["endpoints", "prefix"].into_iter().filter_map(|key| target.settings.get(key));
    let nodes = given.flat_map(|node| node.as_list().unwrap_or_default().iter().chain([node]));
    let places: Vec<Origin> = nodes.map(|node| node.origin).collect();
    let all = provider::check(target, &config.source);
    let mut found = Diagnostics::default();
    all.iter().filter(|own| places.contains(&own.origin)).for_each(|own| found.push(own.clone()));
    found
}

/// What zonewright itself publishes, where another owner's tool can tell it from its own: by TXT or marks.
fn of_zonewright(config: &Config, records: &[UpdateRecord]) -> PublishersByOwner {
    let of_pools = record_targets::copies_of_pools(config).filter(|(_, pool, _)| tells(pool));
    let mut publishers: PublishersByOwner = of_pools
        .map(|(place, pool, _)| ((place, pool.marking.owner.clone()), format!("pool `{}`", pool.name)))
        .collect();
    for record in records {
        let own = record.place.iter().filter(|place| tells(&place.pool));
        let own = own.flat_map(|place| by_owner(place, &record.name));
        publishers.extend(own);
    }
    publishers
}

/// Whether DNS says what a pool owns.
fn tells(pool: &Pool) -> bool {
    pool.marking.registry.reads_texts() || pool.marking.registry.mark_place().is_some()
}

/// Where a record publishes, and as which owner.
fn by_owner<'r>(place: &'r RecordPool, name: &'r str) -> impl Iterator<Item = ((CopyPlace, String), String)> + 'r {
    let owner = &place.pool.marking.owner;
    record_targets::copies(place).map(move |copy| ((copy, owner.clone()), format!("the record `{name}`")))
}

/// That another one publishes as the same owner where a record does; else the record is noted.
fn shared_owner(name: &str, place: &RecordPool, publishers: &mut PublishersByOwner) -> Option<String> {
    let own: Vec<_> = by_owner(place, name).collect();
    let shared = own.iter().find_map(|(key, _)| Some((key, publishers.get(key)?)));
    if let Some((((_, _, zone), owner), other)) = shared {
        return Some(format!(
            "external-dns would publish the record `{name}` as the owner `{owner}` at the same place as {other}, and both hold `{zone}`"
        ));
    }
    publishers.extend(own);
    None
}
