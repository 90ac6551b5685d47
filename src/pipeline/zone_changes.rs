//! Which zones a plan makes, lists in catalogs, or deletes; and what it says of them.
//!
//! Comes in: the copies that were read, and what the state knows of zones. Goes out: changes of zones, and notices.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::{Change, Notice, NoticeCode};
use crate::diag::Problem;
use crate::dns::{Name, RrsetRef, Rtype, ZoneContents, ZoneName, is_of_signer};
use crate::guard::Allowance;
use crate::inventory::model::{Config, ZonePurpose, ZoneSpec};
use crate::inventory::pool::Pool;
use crate::inventory::value::Time;
use crate::plan::zone_change::members;
use crate::plan::{Plan, ZoneAction, ZoneChange, ZoneSeen};
use crate::reading::{CreationTerms, Zones};
use crate::state::{State, ZoneActionRow, ZoneRegister};
use crate::target::{CopyId, PoolName, TargetId, ZoneId, marker_key};

/// What decides whether zones are made that targets lack.
pub(super) fn terms(state: Option<&dyn State>, allowed: &[Allowance]) -> Result<CreationTerms, Problem> {
    let seen = state.map(|state| state.seen_copies()).transpose()?.unwrap_or_default();
    let allowed = allowed.iter().filter_map(Allowance::zone_to_create);
    let allowed = allowed.filter_map(|zone| Name::parse(zone).ok()).map(ZoneName::new).collect();
    Ok(CreationTerms { seen, allowed })
}

/// Whether a zone of a pool was deleted, at enough of its targets, by the rows of zones of that pool.
pub(super) fn without_zone(pool: &Pool, zone: &ZoneName, rows: &[ZoneActionRow]) -> bool {
    let is_deleted = |target: &TargetId| {
        let mut own = rows.iter().filter(|row| row.copy.zone == *zone && row.copy.target == *target);
        own.any(|row| row.action == ZoneAction::Delete && row.why.is_none())
    };
    pool.is_reached(pool.targets.iter().map(|target| &target.id).filter(|target| is_deleted(target)))
}

/// The zones that a plan makes, lists or deletes, and what is said of these and of others.
#[derive(Default)]
pub(super) struct ZonePlan {
    /// The changes.
    pub changes: Vec<ZoneChange>,
    /// What is said.
    pub notices: Vec<Notice>,
}

/// Decides it.
pub(super) fn decide(config: &Config, zones: &Zones, state: Option<&dyn State>) -> Result<ZonePlan, Problem> {
    let mut plan = ZonePlan::default();
    let closed: BTreeMap<&CopyId, &ZoneContents> =
        zones.closed.iter().map(|closed| (&closed.copy, closed.contents())).collect();
    let made = made_by_us(state)?;
    let missing: BTreeSet<&CopyId> = zones.missing.iter().collect();
    let not_made: BTreeSet<&CopyId> = zones.not_made.iter().map(|(copy, _)| copy).collect();
    let unread: BTreeSet<&CopyId> = zones.unread_copies.iter().map(|(copy, _)| copy).collect();
    plan.notices.extend(zones.not_made.iter().map(|(copy, problem)| not_made_notice(copy, problem)));
    for (place, spec) in config.zones.iter().enumerate() {
        if config.is_of_record(spec) {
            let record = config.update_records.of_pool(&config.pool(spec).name);
            if record.and_then(|record| record.pool.as_ref()).is_some_and(|own| own.is_dry_run) {
                continue;
            }
        }
        let is_unread = zones.unread.iter().any(|(zone, _)| zone.0 as usize == place);
        for copy in config.copies(spec) {
            let known_here = !is_unread && !unread.contains(&copy) && !not_made.contains(&copy);
            match spec.purpose {
                ZonePurpose::Records if spec.create.is_some() && known_here => {
                    plan.make(config, spec, &copy, (missing.contains(&copy), &closed));
                }
                ZonePurpose::Absent => {
                    if let Some(contents) = closed.get(&copy) {
                        plan.delete(config, spec, &copy, (contents, made.contains(&copy)));
                    }
                }
                ZonePurpose::Records | ZonePurpose::Catalog => {}
            }
        }
    }
    Ok(plan)
}

/// The copies that zonewright made, as the state says.
fn made_by_us(state: Option<&dyn State>) -> Result<BTreeSet<CopyId>, Problem> {
    let rows = state.map(|state| state.zone_rows()).transpose()?.unwrap_or_default();
    let is_made = |row: &ZoneActionRow| row.action == ZoneAction::Create && row.why.is_none();
    Ok(rows.into_iter().filter(is_made).map(|row| row.copy).collect())
}

impl ZonePlan {
    /// What is left of it in a plan for some hosts or projects: zones that are made for its changes.
    pub fn narrowed(mut self, changes: &[Change]) -> ZonePlan {
        let needed: BTreeSet<(&PoolName, &ZoneName)> =
            changes.iter().map(|change| (&change.pool, &change.zone)).collect();
        let is_needed =
            |change: &ZoneChange| change.action == ZoneAction::Create && needed.contains(&(&change.pool, &change.zone));
        self.changes.retain(is_needed);
        let kept: BTreeSet<String> = self.changes.iter().map(|change| change.zone.to_string()).collect();
        self.notices.retain(|notice| notice.code == NoticeCode::ZoneMissing || kept.contains(&notice.name));
        self
    }
}

/// Notes the copies that a plan saw, of zones that are made where they are missing: one that is gone later is not made
/// anew without leave.
pub(super) fn note_seen(plan: &Plan, config: &Config, state: &mut dyn State, now: Time) -> Result<(), Problem> {
    let new = newly_seen(plan, config, state)?;
    state.note_seen(&new, now)
}

/// Whether the apply of a plan must note copies, even if it has nothing else to do.
pub(super) fn has_news(plan: &Plan, config: &Config, state: Option<&dyn State>) -> bool {
    // A state that cannot be read is reported when there is something to write.
    match state {
        Some(state) => newly_seen(plan, config, state).is_ok_and(|new| !new.is_empty()),
        None => !to_note(plan, config).is_empty(),
    }
}

/// The copies that a plan saw and that the state does not have yet.
pub(super) fn newly_seen(
    plan: &Plan,
    config: &Config,
    state: &(impl ZoneRegister + ?Sized),
) -> Result<Vec<CopyId>, Problem> {
    let copies = to_note(plan, config);
    if copies.is_empty() {
        return Ok(copies);
    }
    let known = state.seen_copies()?;
    Ok(copies.into_iter().filter(|copy| !known.contains(copy)).collect())
}

/// The copies that a plan saw, of zones that are made where they are missing.
fn to_note(plan: &Plan, config: &Config) -> Vec<CopyId> {
    let is_made = |seen: &ZoneSeen| {
        let zone = ZoneId { pool: seen.pool.clone(), name: seen.zone.clone() };
        config.zone(&zone).is_some_and(|spec| spec.create.is_some())
    };
    let seen = plan.zones.iter().filter(|seen| seen.serial.is_some() && is_made(seen));
    let copy = |seen: &ZoneSeen| CopyId {
        target: TargetId { pool: seen.pool.clone(), name: seen.target.clone() },
        zone: seen.zone.clone(),
    };
    seen.map(copy).collect()
}

impl ZonePlan {
    /// Makes a zone where it is missing; lists it where it is not in the catalog.
    fn make(
        &mut self,
        config: &Config,
        spec: &ZoneSpec,
        copy: &CopyId,
        (is_missing, closed): (bool, &BTreeMap<&CopyId, &ZoneContents>),
    ) {
        let pool = config.pool(spec);
        let catalog = pool.catalog.as_ref().map(|catalog| catalog.zone.clone());
        let listed = catalog.as_ref().map(|catalog| {
            let copy = CopyId { target: copy.target.clone(), zone: catalog.clone() };
            closed.get(&copy).map(|contents| is_listed(contents, &spec.name))
        });
        let is_to_list = listed == Some(Some(false));
        let catalog = catalog.filter(|_| is_to_list);
        // Where the catalog is not known, a later plan lists the zone.
        let action = match (is_missing, is_to_list) {
            (true, _) => ZoneAction::Create,
            (false, true) => ZoneAction::List,
            (false, false) => return,
        };
        let at = if pool.has_several() { format!(" at `{}`", copy.target) } else { String::new() };
        let message = match (action, &catalog) {
            (ZoneAction::Create, Some(catalog)) => {
                format!("`{}` does not exist{at}: it is made, and listed in the catalog `{catalog}`", spec.name)
            }
            (ZoneAction::Create, None) => format!("`{}` does not exist{at}: it is made", spec.name),
            (_, catalog) => {
                let catalog = catalog.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("`{}` is not in the catalog `{catalog}`{at}: it is listed there", spec.name)
            }
        };
        let apex = spec.create.clone().filter(|_| action == ZoneAction::Create);
        self.push(
            ZoneChange {
                action,
                apex,
                catalog,
                pool: copy.target.pool.clone(),
                target: copy.target.name.clone(),
                zone: spec.name.clone(),
            },
            message,
        );
    }

    /// Deletes a zone that holds nothing and that zonewright made; says why it stays otherwise.
    fn delete(&mut self, config: &Config, spec: &ZoneSpec, copy: &CopyId, (contents, is_ours): (&ZoneContents, bool)) {
        let pool = config.pool(spec);
        let at = if pool.has_several() { format!(" at `{}`", copy.target) } else { String::new() };
        let (count, example) = rest(contents);
        let kept = match (is_ours, example) {
            (_, Some(example)) => {
                let others = if count == 1 { String::new() } else { format!(" and {} more", count - 1) };
                format!("`{}` stays{at}: it holds {example}{others}; delete the records first", spec.name)
            }
            (false, None) => {
                format!(
                    "`{}` stays{at}: zonewright did not make it; delete it by hand, or remove its `[[zone]]`",
                    spec.name
                )
            }
            (true, None) => {
                let catalog = pool.catalog.as_ref().map(|catalog| catalog.zone.clone());
                let message =
                    format!("`{}` is deleted{at} by an apply with `--allow zone-delete:{}=1`", spec.name, spec.name);
                let (pool, target) = (copy.target.pool.clone(), copy.target.name.clone());
                let (action, zone) = (ZoneAction::Delete, spec.name.clone());
                self.push(ZoneChange { action, apex: None, catalog, pool, target, zone }, message);
                return;
            }
        };
        let name = spec.name.to_string();
        self.notices.push(Notice { code: NoticeCode::ZoneKept, message: kept, name, subject: None });
    }

    /// Takes a change, with what is said of it.
    fn push(&mut self, change: ZoneChange, message: String) {
        let name = change.zone.to_string();
        self.notices.push(Notice { code: NoticeCode::ZoneChange, message, name, subject: None });
        self.changes.push(change);
    }
}

/// The notice about a copy that its target cannot make.
fn not_made_notice(copy: &CopyId, problem: &Problem) -> Notice {
    let hint = problem.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let message = format!("{}{hint}", problem.message);
    Notice { code: NoticeCode::ZoneMissing, message, name: copy.zone.to_string(), subject: None }
}

/// Whether a catalog lists a zone, at whatever label (RFC 9432 section 4.1).
pub(super) fn is_listed(catalog: &ZoneContents, zone: &ZoneName) -> bool {
    !entries(catalog, zone).is_empty()
}

/// The owners of the entries of a zone in a catalog.
pub(super) fn entries(catalog: &ZoneContents, zone: &ZoneName) -> Vec<Name> {
    let Ok(members) = members(catalog.apex()) else { return Vec::new() };
    let names_it = |rrset: &RrsetRef<'_>| {
        let owner = rrset.owner();
        let is_member = owner.as_name().parent().is_some_and(|parent| parent == members.as_name());
        is_member && rrset.rdata().any(|rdata| rdata.target() == Some(zone.as_name()))
    };
    let pointers = catalog.rrsets().filter(|rrset| rrset.rtype() == Rtype::PTR);
    pointers.filter(names_it).map(|rrset| rrset.owner()).collect()
}

/// What a zone holds in addition to SOA and NS of the apex, what a signer makes, and the marker: how many RRsets, and the first.
pub(super) fn rest(contents: &ZoneContents) -> (usize, Option<String>) {
    let apex = contents.apex();
    let marker = marker_key(apex);
    let is_rest = |rrset: &RrsetRef<'_>| {
        let (owner, rtype) = (rrset.owner(), rrset.rtype());
        let is_of_apex = owner.as_name() == apex.as_name() && matches!(rtype, Rtype::SOA | Rtype::NS);
        let is_marker = marker.as_ref().is_some_and(|key| key.rtype == rtype && key.owner.as_name() == owner.as_name());
        !is_of_apex && !is_marker && !is_of_signer(rtype)
    };
    let mut found =
        contents.rrsets().filter(is_rest).map(|rrset| format!("the {} of `{}`", rrset.rtype(), rrset.owner()));
    let first = found.next();
    (usize::from(first.is_some()) + found.count(), first)
}
