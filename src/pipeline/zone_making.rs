//! Makes zones at targets before their records, lists them in catalogs, and deletes them after all records.
//!
//! Comes in: the zone changes of a plan, with leave to make them. Goes out: what happened to each, which the state has, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use super::conduct::ApplyConduct;
use super::targets::{OpenedZones, Targets};
use super::zone_changes::{entries, is_listed, rest};
use crate::apply::{SIDE_BY_SIDE, ZoneOutcome};
use crate::diag::{Code, Problem};
use crate::dns::{ChangeKind, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::guard::Allowance;
use crate::guard::breakers::GLOBAL;
use crate::inventory::model::{Config, ZonePurpose, ZoneSpec};
use crate::inventory::value::Time;
use crate::parallel;
use crate::plan::zone_change::catalog_key;
use crate::plan::{ZoneAction, ZoneChange};
use crate::provider;
use crate::reading::ReadingTerms;
use crate::state::{State, ZoneActionRow};
use crate::target::{
    Answer, CopyId, Question, ReadTarget, RrsetEdit, TargetId, Update, UpdateReply, WriteTarget, ZoneId,
};

/// The code of a change that is left until an operator lets it be made.
const NOT_ALLOWED: Code = Code::new("zone-delete-not-allowed");

/// How zones are made and deleted.
pub(super) struct ZoneWork<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The targets, opened to be written.
    pub targets: &'a Targets<'a>,
    /// How it is to be done.
    pub request: &'a ApplyConduct<'a>,
    /// What an operator lets this apply do.
    pub lets: &'a [Allowance],
    /// When the plan was made that is carried out; none where what is not done is tried again.
    pub planned: Option<Time>,
}

/// When a zone change is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ZonePhase {
    /// Before all records: zones are made and listed.
    Before,
    /// After all records: zones are deleted.
    After,
}

impl ZonePhase {
    /// Whether a change is made in it.
    fn has(self, change: &ZoneChange) -> bool {
        (change.action == ZoneAction::Delete) == (self == ZonePhase::After)
    }
}

impl ZoneWork<'_> {
    /// Makes the changes of a phase, the targets side by side; gives what happened to each.
    ///
    /// What begins is noted as failed first, so that a run that is killed leaves a row which `sync` and `resume` go on from.
    ///
    /// Errors: the state cannot be written. Nothing was done then, or what was done is not noted.
    pub fn run(
        &self,
        changes: &[ZoneChange],
        phase: ZonePhase,
        state: &mut dyn State,
    ) -> Result<Vec<ZoneOutcome>, Problem> {
        let changes = changes.iter().filter(|change| phase.has(change));
        let (changes, left): (Vec<&ZoneChange>, Vec<&ZoneChange>) = changes.partition(|change| self.is_let(change));
        let left = left.into_iter().map(|change| {
            let why = format!("`--allow zone-delete:{}=1` lets it be deleted", change.zone);
            ZoneOutcome { change: change.clone(), why: Some(Problem::new("", NOT_ALLOWED, why)) }
        });
        let left: Vec<ZoneOutcome> = left.collect();
        if changes.is_empty() {
            return Ok(left);
        }
        // What was done since the plan was made was done by a run of this plan that was killed.
        let is_of_plan = |row: &ZoneActionRow| self.planned.is_some_and(|planned| row.at >= planned);
        let begun = state.zone_rows()?.into_iter().filter(|row| row.why.is_some() || is_of_plan(row));
        let begun: BTreeSet<(CopyId, ZoneAction)> = begun.map(|row| (row.copy, row.action)).collect();
        let now = self.request.clock();
        let noted = changes.iter().filter(|change| change.action != ZoneAction::List).map(|change| {
            let why = Some("it is not known whether it was done".to_owned());
            ZoneActionRow { copy: change.copy(), action: change.action, why, at: now }
        });
        state.note_zones(&noted.collect::<Vec<_>>())?;
        let mut by_target: BTreeMap<TargetId, Vec<&ZoneChange>> = BTreeMap::new();
        for change in changes {
            by_target.entry(change.target_id()).or_default().push(change);
        }
        let outcomes =
            parallel::side_by_side(by_target.into_values().collect(), SIDE_BY_SIDE, |changes: Vec<&ZoneChange>| {
                let outcome = |change: &ZoneChange| {
                    let is_again = begun.contains(&(change.copy(), change.action));
                    ZoneOutcome { change: change.clone(), why: self.make(change, is_again).err() }
                };
                changes.into_iter().map(outcome).collect::<Vec<_>>()
            });
        let mut outcomes: Vec<ZoneOutcome> = outcomes.into_iter().flatten().collect();
        let now = self.request.clock();
        let rows = outcomes.iter().filter(|outcome| outcome.change.action != ZoneAction::List).map(|outcome| {
            let ZoneOutcome { change, why } = outcome;
            let why = why.as_ref().map(|problem| problem.message.clone());
            ZoneActionRow { copy: change.copy(), action: change.action, why, at: now }
        });
        state.note_zones(&rows.collect::<Vec<_>>())?;
        outcomes.extend(left);
        Ok(outcomes)
    }

    /// Whether an operator lets it be made: a zone is deleted by name alone.
    fn is_let(&self, change: &ZoneChange) -> bool {
        let zone = change.zone.to_string();
        change.action != ZoneAction::Delete || self.lets.iter().any(|allowance| allowance.lets_delete(&zone))
    }

    /// The zones of which too few targets of their pool did what was asked for, each as a problem.
    pub fn without_consensus(&self, outcomes: &[ZoneOutcome]) -> Vec<Problem> {
        let mut failed: BTreeMap<(ZoneId, ZoneAction), Vec<&ZoneOutcome>> = BTreeMap::new();
        let is_failed = |outcome: &&ZoneOutcome| outcome.why.as_ref().is_some_and(|why| why.code != NOT_ALLOWED);
        for outcome in outcomes.iter().filter(is_failed) {
            let ZoneChange { pool, zone, action, .. } = &outcome.change;
            failed.entry((ZoneId { pool: pool.clone(), name: zone.clone() }, *action)).or_default().push(outcome);
        }
        let problem = |((zone, _), failed): (&(ZoneId, ZoneAction), &Vec<&ZoneOutcome>)| {
            let pool = self.config.pools.iter().find(|pool| pool.name == zone.pool);
            let is_failed = |target: &TargetId| failed.iter().any(|outcome| outcome.change.target_id() == *target);
            let is_reached = pool.is_some_and(|pool| {
                pool.is_reached(pool.targets.iter().map(|target| &target.id).filter(|target| !is_failed(target)))
            });
            failed[0].why.clone().filter(|_| !is_reached)
        };
        failed.iter().filter_map(problem).collect()
    }

    /// Makes one change; `is_again` says that an earlier run began it.
    fn make(&self, change: &ZoneChange, is_again: bool) -> Result<(), Problem> {
        if self.request.interrupted.load(Ordering::SeqCst) {
            return Err(self.problem(change, "the apply was interrupted"));
        }
        let spec = self.config.zone(&ZoneId { pool: change.pool.clone(), name: change.zone.clone() });
        let spec = spec.filter(|spec| is_allowed(spec, change.action));
        // A zone begins with what the settings say now, and nothing else.
        let spec = spec.filter(|spec| change.action != ZoneAction::Create || spec.create == change.apex);
        if spec.is_none() {
            return Err(self.problem(change, "the settings no longer ask for it; plan again"));
        }
        let (writer, reader) = (self.writer(&change.copy())?, self.reader(&change.target_id())?);
        match change.action {
            ZoneAction::Create => {
                let apex = change.apex.as_ref().ok_or_else(|| self.problem(change, "the plan has no apex for it"))?;
                if let Err(problem) = writer.create_zone(&change.zone, apex) {
                    // The command of an earlier run that was killed may have gone on: then that run made the zone.
                    if !is_again || reader.read_zone(&change.zone).is_err() {
                        return Err(problem);
                    }
                }
                self.list(change, &*reader)
            }
            ZoneAction::List => self.list(change, &*reader),
            ZoneAction::Delete => {
                if is_again && reader.lacks_zone(&change.zone) {
                    return Ok(());
                }
                if let (_, Some(found)) = rest(&reader.read_zone(&change.zone)?.contents) {
                    return Err(self.problem(change, &format!("it holds {found} by now; plan again")));
                }
                self.unlist(change, &*reader)?;
                writer.delete_zone(&change.zone)
            }
        }
    }

    /// Lists a zone in the catalog, unless it is there at whatever label: twice it would break the catalog.
    fn list(&self, change: &ZoneChange, reader: &dyn ReadTarget) -> Result<(), Problem> {
        let (Some(catalog), Some(copy)) = (&change.catalog, change.catalog_copy()) else { return Ok(()) };
        if is_listed(&reader.read_zone(catalog)?.contents, &change.zone) {
            return Ok(());
        }
        let writer = self.writer(&copy)?;
        let key = catalog_key(catalog, &change.zone).map_err(|error| {
            self.problem(change, &format!("its name would have {error} in the catalog `{catalog}`"))
        })?;
        // A catalog is not looked up by resolvers: RFC 9432 writes its records with a TTL of 0.
        let ttl = Ttl::from_secs(0).expect("0 is a TTL");
        let rdata = Rdata::from_name(change.zone.as_name());
        let after = Rrset::new(ttl, vec![rdata]).expect("one record");
        let wanted = [(key.clone(), ChangeKind::Create { after: after.clone() })];
        let is_listed =
            |answer: &Answer| matches!(answer, Answer::Holds(Rtype::PTR, found) if found.rdata() == after.rdata());
        self.edit(writer, (catalog, &wanted), change, &is_listed)
    }

    /// Takes a zone out of the catalog, with all its entries.
    fn unlist(&self, change: &ZoneChange, reader: &dyn ReadTarget) -> Result<(), Problem> {
        let (Some(catalog), Some(copy)) = (&change.catalog, change.catalog_copy()) else { return Ok(()) };
        let writer = self.writer(&copy)?;
        let contents = reader.read_zone(catalog)?.contents;
        for owner in entries(&contents, &change.zone) {
            let Some(owner) = catalog.owner(owner.as_name()) else { continue };
            let Some(found) = contents.rrset(owner.as_name(), Rtype::PTR) else { continue };
            let key = RrKey { owner, rtype: Rtype::PTR };
            let wanted = [(key, ChangeKind::Delete { before: found.to_rrset() })];
            self.edit(writer, (catalog, &wanted), change, &|answer| *answer == Answer::Nothing)?;
        }
        Ok(())
    }

    /// Makes an edit in a catalog, unless what it makes is there; and reads it back, since no answer proves it.
    fn edit(
        &self,
        writer: &dyn WriteTarget,
        (catalog, wanted): (&ZoneName, &[(RrKey, ChangeKind); 1]),
        change: &ZoneChange,
        is_done: &dyn Fn(&Answer) -> bool,
    ) -> Result<(), Problem> {
        let [(key, kind)] = wanted;
        let is_there = || -> Result<bool, Problem> {
            let answers = writer.observe(catalog, &[Question::of(key)], None)?;
            Ok(answers.first().is_some_and(is_done))
        };
        if is_there()? {
            return Ok(());
        }
        let update = Update { zone: catalog, edits: vec![RrsetEdit { key, kind }] };
        let mut session = writer.open(catalog);
        let ticket = session.send(&update)?;
        let reply = session.reply(ticket);
        drop(session);
        if is_there()? {
            return Ok(());
        }
        match reply {
            UpdateReply::Refused(problem)
            | UpdateReply::Failed(problem)
            | UpdateReply::Unknown(problem)
            | UpdateReply::Raced(problem)
            | UpdateReply::RefusedInPart(problem) => Err(problem),
            UpdateReply::Prerequisite(_) | UpdateReply::Done => {
                Err(self.problem(change, &format!("the catalog `{catalog}` has something else at `{}`", key.owner)))
            }
        }
    }

    /// The way to write a copy.
    fn writer(&self, copy: &CopyId) -> Result<&dyn WriteTarget, Problem> {
        let access = self.targets.copies.iter().find(|access| access.copy == *copy);
        let access = access.ok_or_else(|| {
            Problem::new(copy.target.name.clone(), "no-such-target", format!("no settings have `{}` there", copy.zone))
        })?;
        access.writer.clone()
    }

    /// The way to read a target.
    fn reader(&self, target: &TargetId) -> Result<Box<dyn ReadTarget>, Problem> {
        let spec = self.config.targets().find(|spec| spec.id == *target);
        let spec = spec
            .ok_or_else(|| Problem::new(target.name.clone(), "no-such-target", "the settings have no such target"))?;
        let ApplyConduct { workspace, now, .. } = *self.request;
        provider::open(spec, &ReadingTerms { workspace, now, cache: None }.context(self.config))
    }

    /// Why a change is not made.
    fn problem(&self, change: &ZoneChange, message: &str) -> Problem {
        let code = if change.action == ZoneAction::Delete { "zone-not-deleted" } else { "zone-not-made" };
        Problem::new(format!("{} {}", change.target, change.zone), code, message)
    }
}

/// Tries again what an apply or an earlier `sync` could not do, in one pool or all: first zones that were not made, then
/// zones that were not deleted, the oldest first. Nothing is done while a breaker stops everything.
///
/// Errors: the state cannot be read or written.
pub(super) fn retry(
    config: &Config,
    request: &ApplyConduct<'_>,
    state: &mut dyn State,
    pool: Option<&str>,
) -> Result<Vec<ZoneOutcome>, Problem> {
    let is_meant =
        |row: &ZoneActionRow| row.why.is_some() && pool.is_none_or(|pool| row.copy.target.pool.as_str() == pool);
    let rows: Vec<ZoneActionRow> = state.zone_rows()?.into_iter().filter(is_meant).collect();
    if rows.is_empty() || state.breakers()?.iter().any(|breaker| breaker.scope == GLOBAL) {
        return Ok(Vec::new());
    }
    let (changes, stray): (Vec<_>, Vec<_>) =
        rows.iter().map(|row| (row, again(config, row))).partition(|(_, change)| change.is_some());
    // The settings no longer ask for it, so that nothing is left to be done.
    stray.into_iter().try_for_each(|(row, _)| state.drop_zone_row(row))?;
    let changes: Vec<ZoneChange> = changes.into_iter().filter_map(|(_, change)| change).collect();
    let needed = changes.iter().flat_map(|change| [Some(&change.zone), change.catalog.as_ref()]).flatten();
    let needed: BTreeSet<&ZoneName> = needed.collect();
    let specs = config.zones.iter().filter(|spec| needed.contains(&spec.name)).collect();
    let opened = OpenedZones::open(config, specs, request.workspace, request.now);
    let targets = opened.targets();
    // The apply that began a delete was let.
    let lets: Vec<Allowance> = changes.iter().map(|change| Allowance::to_delete(&change.zone)).collect();
    let work = ZoneWork { config, targets: &targets, request, lets: &lets, planned: None };
    let mut outcomes = work.run(&changes, ZonePhase::Before, state)?;
    outcomes.extend(work.run(&changes, ZonePhase::After, state)?);
    Ok(outcomes)
}

/// The change that a row is about, where the settings still ask for it.
fn again(config: &Config, row: &ZoneActionRow) -> Option<ZoneChange> {
    let spec = config.zone(&row.copy.zone_id()).filter(|spec| is_allowed(spec, row.action))?;
    let pool = config.pool(spec);
    let is_there = pool.targets.iter().any(|target| target.id == row.copy.target);
    is_there.then(|| ZoneChange {
        action: row.action,
        apex: spec.create.clone().filter(|_| row.action == ZoneAction::Create),
        catalog: pool.catalog.as_ref().map(|catalog| catalog.zone.clone()),
        pool: pool.name.clone(),
        target: row.copy.target.name.clone(),
        zone: spec.name.clone(),
    })
}

/// Whether the settings ask for an action.
fn is_allowed(spec: &ZoneSpec, action: ZoneAction) -> bool {
    match action {
        ZoneAction::Create | ZoneAction::List => spec.create.is_some() && spec.purpose == ZonePurpose::Records,
        ZoneAction::Delete => spec.purpose == ZonePurpose::Absent,
    }
}
