//! Plans the inverse of an apply: compares what the journal says was there before with live DNS.
//!
//! Comes in: the number of an apply. Goes out: a plan. The exports are not read, so that an error that they caused can
//! be undone while they are still wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::findings::Findings;
use super::guards::{GuardMemory, rules_now};
use super::inputs::PlanRequest;
use super::notices::zone_unknown;
use super::plan::MadePlan;
use super::plan::{targets, workspace_seen};
use super::settings::{OpenError, load_settings, state_address};
use super::targets::OpenedZones;
use super::undo_listed::ListedQuestion;
use super::{TOOL, waves};
use crate::apply::{CopyAccess, SIDE_BY_SIDE};
use crate::change::{Change, Notice, NoticeCode};
use crate::claim::{Subject, SubjectPick};
use crate::diag::{CallError, Problem, did_you_mean};
use crate::disk;
use crate::dns::{Name, ZoneName};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::Pool;
use crate::inventory::read::SETTINGS;
use crate::inventory::value::{Inv, Time};
use crate::parallel::side_by_side;
use crate::plan::{Plan, PlanScope};
use crate::progress::{Progress, RunStage};
use crate::provider::outage;
use crate::state::status::at_work;
use crate::state::{self, ApplyId, SentUpdate, SightedRrset, State, StateLock};
use crate::target::{Answer, CopyId, PoolName, Question, TargetId, TargetScope, ZoneId};
use crate::undo::{self, EditedRrset, UndoJudgement, ZonePool};

/// Why there is no plan that undoes an apply.
#[derive(Debug)]
pub enum UndoError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The command line names an apply that cannot be undone, or what it did not change.
    Call(CallError),
}

impl From<OpenError> for UndoError {
    fn from(error: OpenError) -> UndoError {
        UndoError::Open(error)
    }
}

impl From<Problem> for UndoError {
    fn from(error: Problem) -> UndoError {
        UndoError::Open(error.into())
    }
}

/// Plans the inverse of an apply: RRsets that are still as it left them become what they were before. Hosts and
/// projects of the request narrow it to their changes.
///
/// Errors: [`UndoError`]. A zone that cannot be read is no error: the plan says which hosts' changes it leaves because
/// of it.
pub fn make_undo(request: &PlanRequest<'_>, id: ApplyId, progress: &dyn Progress) -> Result<MadePlan, UndoError> {
    let settings = load_settings(request.workspace)?;
    let config = &settings.config;
    let state = state::open_to_read(&state_address(request.workspace, config))?;
    let state = state.ok_or_else(|| unknown(id))?;
    check_ended(&*state, id)?;
    let all = net(&*state, id, config)?;
    let hosts = named_hosts(&all, &request.hosts, id)?;
    let only = scope(&all, &hosts, request, id)?;
    let done = all.clone();
    let done = if let Some(only) = &only { undo::narrow(done, only) } else { done };
    progress.stage(RunStage::Survey, None);
    let ObservedChanges { done, present, unread, left_out } =
        observe(done, config, request.workspace, request.now).without_dead(config);
    let UndoJudgement { changes, edited, blocked } = undo::judge(&done, &present);
    let listing = ListedQuestion { state: &*state, config, workspace: request.workspace, now: request.now };
    let listed = listing.ask(&changes)?;
    let (changes, left) = undo::without_listed(changes, &listed);
    let changes = undo::gathered(changes, |zone| zone_pool(config, zone));
    let mut notices: Vec<_> = unread.iter().map(|(copy, error)| zone_unknown(&copy.zone, error)).collect();
    let is_partial = !notices.is_empty();
    notices.extend(left_out);
    let later = state.last_changed(id, &sights(&edited, &scopes(config, &edited)))?;
    notices.extend(edited.iter().zip(later).map(|(edited, later)| undo::notice(id, edited, later)));
    notices.extend(listing.notices(id, &left, &all)?);
    let digest = disk::digest(&request.workspace.join(SETTINGS)).ok();
    let remembered = GuardMemory::read(rules_now(&settings, None), Some(&*state), request.now)?;
    let mut plan = Plan {
        tool: TOOL.to_owned(),
        created: request.now,
        expires: request.now.plus(config.plan_expires),
        workspace: workspace_seen(config, Some(&*state))?,
        undoes: Some(id.0),
        only,
        inputs: digest.map(|digest| (SETTINGS.to_owned(), digest)).into_iter().collect(),
        fleet: None,
        hosts: BTreeMap::new(),
        affected: Vec::new(),
        changes,
        review: None,
        groups: Vec::new(),
        pods: Vec::new(),
        delayed: Vec::new(),
        waiting: Vec::new(),
        waves: Vec::new(),
        stated: Vec::new(),
        left_behind: Vec::new(),
        blocked,
        skipped: Vec::new(),
        notices,
        limits: Vec::new(),
        sources: Vec::new(),
        zone_changes: Vec::new(),
        zones: Vec::new(),
    };
    plan.limits = remembered.count(&plan, request.workspace);
    waves::foresee(&mut plan, (&settings.projects, &settings.pod_sets), (None, Some(&*state)))?;
    let targets = targets(config, &plan.changes);
    let unread = outage::gather(unread.into_iter().map(|(_, error)| error));
    let findings = Findings { files: settings.files, unread, ..Findings::default() };
    Ok(MadePlan { plan, findings, is_partial, snapshot: None, breakers: remembered.breakers, targets })
}

/// An apply that cannot be undone.
fn refuse(message: String, hint: impl Into<String>) -> UndoError {
    UndoError::Call(CallError { message, hint: hint.into() })
}

/// An apply that the journal does not have.
fn unknown(id: ApplyId) -> UndoError {
    refuse(format!("the journal has no apply {}", id.0), "`zonewright history` lists the applies")
}

/// The updates of an apply, and those by which a later `sync` made the same at other targets of its pools.
fn sent_and_made_up(state: &dyn State, id: ApplyId) -> Result<Vec<SentUpdate>, Problem> {
    let mut sent = state.sent(id)?;
    // What a sync made is what an earlier apply asked for: a later one does not make it up.
    if state.apply(id)?.is_some_and(|apply| apply.is_sync) {
        return Ok(sent);
    }
    let mut later = Vec::new();
    for sync in state.syncs_after(id)? {
        later.extend(state.sent(sync)?);
    }
    let made_up = undo::made_up(&sent, later);
    sent.extend(made_up);
    Ok(sent)
}

/// What an apply did in all, as the journal says.
///
/// Errors: the state cannot be read, or the journal has an entry that zonewright never writes.
fn net(state: &dyn State, id: ApplyId, config: &Config) -> Result<Vec<Change>, Problem> {
    undo::net(id, &sent_and_made_up(state, id)?, |update| pool_sent_to(config, update)).map_err(|odd| {
        Problem::new(state.address().to_string(), "state-unreadable", odd.to_string())
            .hint("restore the last good copy of the state")
    })
}

/// The pool that an update was sent to: where it is gone, or not known, the one in which the zone is now. What a DNS update
/// record published is in no other pool.
fn pool_sent_to(config: &Config, sent: &SentUpdate) -> ZonePool {
    let sent_to = ZoneId { pool: sent.target.pool.clone(), name: sent.zone.clone() };
    if config.zone(&sent_to).is_some() || sent.is_of_record() {
        return zone_pool(config, &sent_to);
    }
    zone_pool(config, &ZoneId { pool: config.pool_of(&sent.zone), ..sent_to })
}

/// A pool, with its targets where it has several.
fn zone_pool(config: &Config, ZoneId { pool, .. }: &ZoneId) -> ZonePool {
    let pool = pool.clone();
    let several = config.pools.iter().find(|own| own.name == pool && own.has_several());
    let mut targets: Vec<String> =
        several.into_iter().flat_map(|own| &own.targets).map(|target| target.id.name.clone()).collect();
    targets.sort();
    ZonePool { pool, targets }
}

/// The targets of RRsets that were changed since; `None` where the pool has one alone.
fn scopes(config: &Config, edited: &[EditedRrset]) -> Vec<Option<TargetScope>> {
    let scope = |EditedRrset { inverse, .. }: &EditedRrset| {
        let pool = config.pools.iter().find(|pool| pool.name == inverse.pool)?;
        config.scopes(pool)?.into_iter().find(|scope| inverse.is_for(&scope.target))
    };
    edited.iter().map(scope).collect()
}

/// The RRsets that were changed since, as the state is asked for them.
fn sights<'a>(edited: &'a [EditedRrset], scopes: &'a [Option<TargetScope>]) -> Vec<SightedRrset<'a>> {
    let sight = |(edited, scope): (&'a EditedRrset, &'a Option<TargetScope>)| SightedRrset {
        key: &edited.inverse.key,
        at: scope.as_ref(),
    };
    edited.iter().zip(scopes).map(sight).collect()
}

/// Refuses a plan that undoes an apply of another journal, since only that journal says which RRsets are own after the
/// undo; and a plan that does something else than to put back what its apply changed. `place` names the plan.
pub(super) fn refusal(
    plan: &Plan,
    place: &str,
    config: &Config,
    state: &dyn State,
) -> Result<Option<Problem>, Problem> {
    let Some(undoes) = plan.undoes else { return Ok(None) };
    let refuse = |code, message, hint: String| Problem::new(place, code, message).hint(hint);
    if state.apply(ApplyId(undoes))?.is_none() {
        let hint = "apply it in the workspace where it was made, or run `zonewright undo` again there".to_owned();
        let message = format!("the plan undoes apply {undoes}, which is not in the journal");
        return Ok(Some(refuse("unknown-apply", message, hint)));
    }
    let done = net(state, ApplyId(undoes), config)?;
    let changes = undo::per_target(&plan.changes, |zone| zone_pool(config, zone));
    Ok(undo::stray(&changes, &done).map(|Change { key, .. }| {
        let message = format!(
            "it changes {} of `{}`, but this does not put back what apply {undoes} changed there, and a plan that undoes \
             an apply does nothing else",
            key.rtype, key.owner
        );
        let hint = format!("run `zonewright undo {undoes}` again, and find out who made this plan");
        refuse("plan-malformed", message, hint)
    }))
}

/// Checks that there is such an apply, and that it is not running.
fn check_ended(state: &dyn State, id: ApplyId) -> Result<(), UndoError> {
    // The lock is read first, so that an apply that is seen as running has not ended before the journal is read.
    let holder = StateLock::holder(state.address());
    state.apply(id)?.ok_or_else(|| unknown(id))?;
    if at_work(holder.as_ref(), &state.unfinished()?) == Some(id) {
        Err(refuse(format!("apply {} is running", id.0), "wait until it ends, or interrupt it, then undo it"))
    } else {
        Ok(())
    }
}

/// The hosts that the request names, of those that an apply changed: by number, or by a name at which it changed something.
/// The inventory is not read.
///
/// Errors: the apply changed nothing of one of them; several hosts have a name.
fn named_hosts(done: &[Change], texts: &[String], id: ApplyId) -> Result<BTreeSet<Inv>, UndoError> {
    if let Some(text) = texts.first().filter(|_| done.iter().all(|change| change.hosts().is_empty())) {
        let hint = format!("name records and pods with `--subject`; `zonewright history {}` shows them", id.0);
        return Err(refuse(format!("apply {} changed no host, and `--host {text}` names one", id.0), &hint));
    }
    let mut hosts = BTreeSet::new();
    for text in texts {
        let found = match text.parse::<Inv>() {
            Ok(inv) => done.iter().filter(|change| is_of(change, inv)).map(|_| inv).collect(),
            Err(()) => changed_at(done, text),
        };
        match (found.first(), found.len()) {
            (Some(inv), 1) => hosts.insert(*inv),
            (None, _) => return Err(unchanged(&format!("host {text}"), text, &names_in(done), id)),
            (Some(_), _) => {
                let numbers: Vec<String> = found.iter().map(ToString::to_string).collect();
                let message = format!("several hosts match `{text}`: {}", numbers.join(", "));
                return Err(refuse(message, "give the number, or the full name"));
            }
        };
    }
    Ok(hosts)
}

/// Whether a change is one of a host.
fn is_of(change: &Change, inv: Inv) -> bool {
    change.hosts().contains(&inv)
}

/// The hosts of the changes at a name, or at any name with that first label.
fn changed_at(done: &[Change], text: &str) -> BTreeSet<Inv> {
    let Ok(asked) = Name::parse(text) else { return BTreeSet::new() };
    let is_asked = |change: &&Change| {
        let owner = change.key.owner.as_name();
        let is_label = !text.contains('.') && owner.first_label() == asked.as_name().first_label();
        owner == asked.as_name() || is_label
    };
    done.iter().filter(is_asked).filter_map(|change| change.subject.host()).collect()
}

/// The names and first labels at which an apply changed something.
fn names_in(done: &[Change]) -> Vec<String> {
    let whole = done.iter().map(|change| change.key.owner.to_string());
    whole.flat_map(|name| [name.split('.').next().unwrap_or_default().to_owned(), name]).collect()
}

/// The error of an apply that changed nothing for what the request names; `known` is what the request could have named.
fn unchanged(whose: &str, text: &str, known: &[String], id: ApplyId) -> UndoError {
    let shows = format!("`zonewright history {}` shows what it changed", id.0);
    let hint = match did_you_mean(text, known.iter().map(String::as_str)) {
        Some(near) => format!("{near} {shows}"),
        None => shows,
    };
    refuse(format!("apply {} changed nothing for {whose}", id.0), hint)
}

/// What the request narrows the undo to; none where it names nothing.
///
/// Errors: the apply did nothing to one of the projects, or to one of the other subjects.
fn scope(
    done: &[Change],
    hosts: &BTreeSet<Inv>,
    request: &PlanRequest<'_>,
    id: ApplyId,
) -> Result<Option<PlanScope>, UndoError> {
    let PlanRequest { projects, subjects, .. } = request;
    for project in projects {
        if done.iter().all(|change| change.project != *project) {
            let known: Vec<String> = done.iter().map(|change| change.project.clone()).collect();
            return Err(unchanged(&format!("project `{project}`"), project, &known, id));
        }
    }
    let mut only = PlanScope::new(hosts.iter().copied(), projects).unwrap_or_default();
    for pick in subjects {
        let changed = || done.iter().flat_map(Change::subjects);
        match pick {
            SubjectPick::Like(pattern) if changed().any(|own| pattern.matches(own)) => {
                only.patterns.push(pattern.clone());
            }
            SubjectPick::Like(pattern) => {
                let known: Vec<String> = changed().map(Subject::to_string).collect();
                return Err(unchanged(&format!("`{pattern}`"), &pattern.to_string(), &known, id));
            }
            SubjectPick::One(subject) if changed().any(|own| own == subject) => only.subjects.push(subject.clone()),
            SubjectPick::One(subject) => {
                let known: Vec<String> = changed().map(Subject::to_string).collect();
                return Err(unchanged(&format!("`{subject}`"), &subject.to_string(), &known, id));
            }
        }
    }
    Ok(only.if_any())
}

/// What an apply did, with what is there now.
struct ObservedChanges {
    /// What it did; in pools of several targets one change for each.
    done: Vec<Change>,
    /// What is read at each of them; `None` where it could not be read.
    present: Vec<Option<Answer>>,
    /// Why copies could not be read, sorted by zone.
    unread: Vec<(CopyId, Problem)>,
    /// The notices about targets that are left out, because they could not be read.
    left_out: Vec<Notice>,
}

impl ObservedChanges {
    /// The same, without targets that could not be read, where the others of their pool reach the threshold.
    fn without_dead(mut self, config: &Config) -> ObservedChanges {
        let is_dead = |target: &TargetId| self.unread.iter().any(|(copy, _)| copy.target == *target);
        let is_reached = |pool: &&Pool| {
            pool.has_several() && pool.is_reached(pool.targets.iter().map(|own| &own.id).filter(|id| !is_dead(id)))
        };
        let spared = config.pools.iter().filter(is_reached).flat_map(|pool| &pool.targets);
        let spared: BTreeSet<TargetId> = spared.map(|own| own.id.clone()).filter(is_dead).collect();
        let at_spared = |change: &Change| spared.iter().find(|target| is_at(change, target));
        let mut told = BTreeSet::new();
        for change in &self.done {
            let Some(target) = at_spared(change) else { continue };
            told.extend(change.subjects().map(|subject| (target.clone(), subject.clone())));
        }
        let is_left: Vec<bool> = self.done.iter().map(|change| at_spared(change).is_none()).collect();
        let mut kept = is_left.iter().copied();
        self.done.retain(|_| kept.next().unwrap_or_default());
        let mut kept = is_left.iter().copied();
        self.present.retain(|_| kept.next().unwrap_or_default());
        self.unread.retain(|(copy, _)| !spared.contains(&copy.target));
        self.left_out = told.into_iter().map(|(target, subject)| target_left_out(&target, subject)).collect();
        self
    }
}

/// Whether a change is for one target of several alone, and this is it.
fn is_at(change: &Change, target: &TargetId) -> bool {
    change.pool == target.pool && matches!(change.targets.as_slice(), [name] if *name == target.name)
}

/// The notice about a target that could not be read.
fn target_left_out(target: &TargetId, subject: Subject) -> Notice {
    let message = format!(
        "what the apply changed for `{subject}` could not be read at target `{target}` of pool `{}`; undo leaves it there",
        target.pool
    );
    Notice { code: NoticeCode::TargetUnknown, message, name: target.name.clone(), subject: Some(subject) }
}

/// Reads the RRsets that an apply changed, copies in parallel.
fn observe(done: Vec<Change>, config: &Config, workspace: &Path, now: Time) -> ObservedChanges {
    let mut places: BTreeMap<(ZoneId, Option<String>), Vec<usize>> = BTreeMap::new();
    for (place, change) in done.iter().enumerate() {
        places.entry((change.zone_id(), change.targets.first().cloned())).or_default().push(place);
    }
    let touched: BTreeSet<&ZoneId> = places.keys().map(|(zone, _)| zone).collect();
    let is_touched = |spec: &&ZoneSpec| touched.contains(&config.zone_id(spec));
    let specs: Vec<&ZoneSpec> = config.zones.iter().filter(is_touched).collect();
    let gone: BTreeSet<&ZoneName> =
        touched.iter().filter(|zone| config.zone(zone).is_none()).map(|zone| &zone.name).collect();
    let no_copy = |zone: &ZoneName| {
        let pool = PoolName::unknown();
        CopyId { target: TargetId::only(&pool), zone: zone.clone() }
    };
    let mut unread: Vec<(CopyId, Problem)> =
        gone.into_iter().map(|zone| (no_copy(zone), not_configured(zone))).collect();
    let opened = OpenedZones::open(config, specs, workspace, now);
    let accesses: Vec<(CopyAccess<'_>, &Vec<usize>)> = opened
        .copies()
        .into_iter()
        .filter_map(|access| {
            let target = access.share.map(|_| access.copy.target.name.clone());
            let own = places.get(&(access.copy.zone_id(), target))?;
            Some((access, own))
        })
        .collect();
    let answered = side_by_side(accesses, SIDE_BY_SIDE, |(access, places)| {
        let questions: Vec<Question> = places.iter().map(|place| Question::of(&done[*place].key)).collect();
        let answers = read(&access, &questions);
        (access.copy, places, answers)
    });
    let mut present: Vec<Option<Answer>> = done.iter().map(|_| None).collect();
    for (copy, places, answers) in answered {
        match answers {
            Ok(answers) => places.iter().zip(answers).for_each(|(place, answer)| present[*place] = Some(answer)),
            Err(error) => unread.push((copy, error)),
        }
    }
    unread.sort_by_cached_key(|(copy, _)| (copy.zone.to_string(), copy.target.clone()));
    ObservedChanges { done, present, unread, left_out: Vec::new() }
}

/// Reads RRsets of a zone.
fn read(access: &CopyAccess<'_>, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
    access.writer.clone()?.observe(&access.copy.zone, questions, None)
}

/// The error of a zone that is no longer configured.
fn not_configured(zone: &ZoneName) -> Problem {
    Problem::new(
        SETTINGS.to_owned(),
        "unknown-zone",
        format!("the apply changed the zone `{zone}`, which is not in zonewright.toml"),
    )
    .hint("add the zone to zonewright.toml, or leave its records as they are")
}
