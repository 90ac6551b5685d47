//! The notices of a plan about sources, settings and zones.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::{Change, Notice, NoticeCode};
use crate::diag::Problem;
use crate::dns::{ZoneName, reverse};
use crate::inventory::Inventory;
use crate::inventory::model::{Config, Trust};
use crate::inventory::pods::{PodSetFile, PodSetIndex};
use crate::inventory::pool::TargetSpec;
use crate::inventory::source::APPS;
use crate::inventory::stated::RecordSource;
use crate::inventory::update_record::{RecordRemark, RecordStanding};
use crate::provider;
use crate::reading::Zones;
use crate::target::{RrsetComparison, TargetId};

/// The notices about sources, settings and zones, and whether any of them could not be read completely.
pub(super) fn found_notices(inventory: &Inventory, zones: &Zones) -> (Vec<Notice>, bool) {
    let mut notices = unknown_sources(inventory);
    notices.extend(inventory.settings_errors.iter().map(|(file, count)| bad_settings(file, *count)));
    notices.extend(pods_without_a_set(inventory));
    notices.extend(zones.unread.iter().map(|(zone, error)| zone_unknown(zones.live.zone(*zone).name(), error)));
    let unlisted = inventory.config.update_records.unlisted.iter();
    notices.extend(unlisted.map(|(record, error)| Notice {
        code: NoticeCode::ZoneUnknown,
        name: record.clone(),
        subject: None,
        message: format!("the zones of the DNS update record `{record}` are not known: {error}"),
    }));
    notices.extend(unread_records(inventory));
    notices.extend(unread_apps(inventory));
    let is_partial = notices.iter().any(|notice| notice.code.tells_of_failure());
    notices.extend(stray_pods(inventory));
    notices.extend(unread_copies(zones));
    notices.extend(uncompared(&inventory.config));
    notices.extend(without_effect(inventory));
    notices.extend(zones.asked.iter().map(|zone| not_looked_for(&zone.name, zones.for_some)));
    (notices, is_partial)
}

/// The notices about pods of sets that no file has: nothing of them is planned.
fn pods_without_a_set(inventory: &Inventory) -> impl Iterator<Item = Notice> {
    let pods = &inventory.pods;
    let sets = pods.sets.iter().enumerate().filter(|(_, set)| matches!(set.file, PodSetFile::Missing));
    sets.map(|(place, set)| {
        let count = pods.places_of(PodSetIndex(place as u32)).len();
        let pods = if count == 1 { "1 pod is".to_owned() } else { format!("{count} pods are") };
        let id = set.id.to_string();
        let message = format!("no file has the set `{id}`, of which {pods}; `zonewright check` shows the first row");
        Notice { code: NoticeCode::UnknownSet, name: id, subject: None, message }
    })
}

/// The notice about rows of pods that may be about any pod: no name of a set is known to be one that no pod has.
fn stray_pods(inventory: &Inventory) -> Option<Notice> {
    let message = "a row of pods is so bad that it may be about any pod, so no name of a set is removed; `zonewright check` \
                   shows it";
    let name = "pods".to_owned();
    let notice = Notice { code: NoticeCode::RemovalsRest, name, subject: None, message: message.to_owned() };
    inventory.pods.has_strays.then_some(notice)
}

/// The notice about a zone that could not be read.
pub(super) fn zone_unknown(zone: &ZoneName, error: &Problem) -> Notice {
    Notice { code: NoticeCode::ZoneUnknown, name: zone.to_string(), subject: None, message: error.to_string() }
}

/// How many zones of a target are named that could not be read.
const ZONES_NAMED: usize = 3;

/// The notices about targets from which zones could not be read that are known all the same: one for each error.
fn unread_copies(zones: &Zones) -> impl Iterator<Item = Notice> {
    let mut failures: BTreeMap<(&TargetId, String), Vec<&ZoneName>> = BTreeMap::new();
    for (copy, problem) in &zones.unread_copies {
        // One outage is one notice, whatever zone was asked for.
        let said = problem.to_string().replace(&copy.zone.to_string(), "ZONE");
        failures.entry((&copy.target, said)).or_default().push(&copy.zone);
    }
    failures.into_iter().map(|((target, said), zones)| {
        let named: Vec<String> = zones.iter().take(ZONES_NAMED).map(|zone| format!("`{zone}`")).collect();
        let more =
            if zones.len() > ZONES_NAMED { format!(" and {} more", zones.len() - ZONES_NAMED) } else { String::new() };
        let said = if let [zone] = zones.as_slice() { said.replace("ZONE", &zone.to_string()) } else { said };
        Notice {
            code: NoticeCode::TargetUnknown,
            message: format!("`{target}` did not give {}{more}: {said}", named.join(", ")),
            name: target.name.clone(),
            subject: None,
        }
    })
}

/// The notice about a settings file with errors.
pub(super) fn bad_settings(file: &str, count: usize) -> Notice {
    let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
    let message = format!("{file} has {errors}; `zonewright check` shows them");
    Notice { code: NoticeCode::BadSettings, name: file.to_owned(), subject: None, message }
}

/// The notices about files of records that could not be read completely, where the source is not unknown as a whole.
fn unread_records(inventory: &Inventory) -> impl Iterator<Item = Notice> {
    let is_read = |source: &&RecordSource| !matches!(source.trust, Trust::Unknown { .. });
    let sources = inventory.stated.sources.iter().filter(is_read);
    let files = sources.flat_map(|source| source.unread.iter().map(move |(file, count)| (source, *file, *count)));
    files.map(|(source, file, count)| {
        let file = inventory.files.name(file);
        let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        let name = source.name.to_string();
        let message = format!(
            "{file} of source `{name}` has {errors}, so not all names that it states are known; no record that the \
             source may have stated is removed; `zonewright check` shows them"
        );
        Notice { code: NoticeCode::RecordsUnread, name, subject: None, message }
    })
}

/// The notices about files of apps, and of lists of records, that could not be read completely.
fn unread_apps(inventory: &Inventory) -> impl Iterator<Item = Notice> {
    inventory.apps.unread.iter().map(|(file, count)| {
        let file = inventory.files.name(*file);
        let source = inventory.exports.iter().find(|export| export.files.iter().any(|own| own == file));
        let source = source.map_or(APPS, |export| export.spec.name.as_str());
        let errors = if *count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        let message = format!(
            "{file} of source `{source}` has {errors}, so not all endpoints that follow from it are known; no record of an \
             endpoint that is gone is removed; `zonewright check` shows them"
        );
        Notice { code: NoticeCode::RecordsUnread, name: source.to_owned(), subject: None, message }
    })
}

/// The notice about a zone that was queried name by name, perhaps `for_some` hosts only: which data were not read.
pub(super) fn not_looked_for(zone: &ZoneName, for_some: bool) -> Notice {
    let unseen = if !reverse::is_reverse(zone.as_name()) {
        "addresses of hosts at names to which no PTR of the address points, names that no host has, and NS and MX \
         records below the apex that point to a host's name"
    } else if for_some {
        "PTR records that name a host at addresses outside its own names"
    } else {
        "PTR records that name a host at addresses outside all names of hosts"
    };
    let message = format!("`{zone}` was queried name by name, not transferred; not read: {unseen}");
    Notice { code: NoticeCode::ReadByQuery, name: zone.to_string(), subject: None, message }
}

/// A notice for every source that is not believed.
pub(super) fn unknown_sources(inventory: &Inventory) -> Vec<Notice> {
    let notice = |(name, trust): (&str, &Trust)| {
        let (code, reason) = match trust {
            Trust::Known => return None,
            Trust::Unknown { reason } => (NoticeCode::SourceUnknown, reason),
            Trust::Distrusted { reason } => (NoticeCode::SourceUntrusted, reason),
        };
        Some(Notice { code, name: name.to_owned(), subject: None, message: reason.clone() })
    };
    inventory.sources().filter_map(notice).collect()
}

/// From when on it is said how long an apply takes.
const LONG: Duration = Duration::from_secs(60);

/// The notices about targets that take so long for these changes that a person would wait for them.
pub(super) fn slow_targets<'c>(config: &'c Config, changes: &'c [Change]) -> impl Iterator<Item = Notice> + 'c {
    config.targets().filter_map(|target| {
        let pace = provider::capabilities(target)?.pace?;
        let is_own = |change: &&Change| {
            change.pool == target.id.pool && (change.targets.is_empty() || change.targets.contains(&target.id.name))
        };
        let count = changes.iter().filter(is_own).count();
        let mut by_zone: BTreeMap<&ZoneName, usize> = BTreeMap::new();
        changes.iter().filter(is_own).for_each(|change| *by_zone.entry(&change.zone).or_default() += 1);
        let of_largest = by_zone.into_values().max().unwrap_or_default();
        let time = pace.time_for(if pace.is_of_zone { of_largest } else { count });
        let what = if pace.is_of_zone { "of each zone" } else { "for all zones" };
        let place = provider::place(target);
        let message = format!(
            "`{place}`: {count} changes take {} min at least; it takes {} requests a minute {what}",
            time.as_secs().div_ceil(60),
            pace.requests
        );
        (time >= LONG).then_some(Notice { code: NoticeCode::SlowTarget, name: place, subject: None, message })
    })
}

/// The notices about parameters of DNS update records that change nothing: one for each record that zonewright carries out.
fn without_effect(inventory: &Inventory) -> impl Iterator<Item = Notice> {
    let records = inventory.config.update_records.records.iter();
    let carried = records.filter(|record| record.standing() == RecordStanding::Zonewright);
    carried.filter(|record| !record.without_effect.is_empty()).map(|record| {
        let name = &record.name;
        let remark = |remark: &RecordRemark| {
            let place = inventory.files.place(remark.origin);
            format!("`{}` ({place}): {}", remark.name.as_str(), remark.why)
        };
        let remarks: Vec<String> = record.without_effect.iter().map(remark).collect();
        let message = format!("parameters of the DNS update record `{name}` have no effect: {}", remarks.join("; "));
        Notice { code: NoticeCode::WithoutEffect, name: name.clone(), subject: None, message }
    })
}

/// The notices about targets that compare nothing before they write.
fn uncompared(config: &Config) -> impl Iterator<Item = Notice> {
    let compares = |target: &TargetSpec| {
        provider::capabilities(target).is_none_or(|own| own.comparison != RrsetComparison::Nothing)
    };
    let notice = |target: &TargetSpec| {
        let place = provider::place(target);
        Notice {
            code: NoticeCode::CannotCompare,
            name: place.clone(),
            subject: None,
            message: format!(
                "`{place}`: what others write to it at the same time may be lost; `exclusive = true` says that nothing else does"
            ),
        }
    };
    config.targets().filter(move |target| !compares(target)).map(notice)
}
