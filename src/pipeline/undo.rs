//! Plans the inverse of an apply: compares what the journal says was there before with live DNS.
//!
//! Comes in: the number of an apply. Goes out: a plan. The exports are not read, so that an error that they caused can
//! be undone while they are still wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::TOOL;
use super::findings::Findings;
use super::guards::{GuardMemory, rules_now};
use super::inputs::PlanRequest;
use super::notices::zone_unknown;
use super::plan::MadePlan;
use super::plan::{targets, workspace_seen};
use super::settings::{OpenError, load_settings, state_address};
use super::targets::{accesses, open_writers};
use crate::apply::{CopyAccess, SIDE_BY_SIDE};
use crate::change::Change;
use crate::diag::{CallError, Problem, did_you_mean};
use crate::disk;
use crate::dns::{Name, RrKey, ZoneName};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::read::SETTINGS;
use crate::inventory::value::{Inv, Time};
use crate::parallel::side_by_side;
use crate::plan::{Plan, PlanScope};
use crate::progress::{Progress, RunStage};
use crate::provider::outage;
use crate::state::status::at_work;
use crate::state::{self, ApplyId, State, StateLock};
use crate::target::{Answer, Question};
use crate::undo::{self, UndoJudgement};

/// Why there is no plan that undoes an apply.
#[derive(Debug)]
pub enum UndoError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The command line names an apply that cannot be undone, or what it did not change.
    Call(CallError),
}

impl From<Box<Findings>> for UndoError {
    fn from(findings: Box<Findings>) -> UndoError {
        UndoError::Open(findings.into())
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
    let done = net(&*state, id, config)?;
    let hosts = named_hosts(&done, &request.hosts, id)?;
    let done = narrowed(done, &hosts, &request.projects, id)?;
    progress.stage(RunStage::Survey, None);
    let (present, unread) = observe(&done, config, request.workspace, request.now);
    let UndoJudgement { changes, edited, blocked } = undo::judge(&done, &present);
    let mut notices: Vec<_> = unread.iter().map(|(zone, error)| zone_unknown(zone, error)).collect();
    let is_partial = !notices.is_empty();
    let rrsets: Vec<&RrKey> = edited.iter().map(|edited| &edited.inverse.key).collect();
    let later = state.last_changed(id, &rrsets)?;
    notices.extend(edited.iter().zip(later).map(|(edited, later)| undo::notice(id, edited, later)));
    let digest = disk::digest(&request.workspace.join(SETTINGS)).ok();
    let remembered = GuardMemory::read(rules_now(&settings, None), Some(&*state), request.now)?;
    let mut plan = Plan {
        tool: TOOL.to_owned(),
        created: request.now,
        expires: request.now.plus(config.plan_expires),
        workspace: workspace_seen(config, Some(&*state))?,
        undoes: Some(id.0),
        only: PlanScope::new(hosts.iter().copied(), &request.projects),
        inputs: digest.map(|digest| (SETTINGS.to_owned(), digest)).into_iter().collect(),
        fleet: None,
        hosts: BTreeMap::new(),
        changes,
        review: None,
        waiting: Vec::new(),
        left_behind: Vec::new(),
        blocked,
        skipped: Vec::new(),
        notices,
        limits: Vec::new(),
        sources: Vec::new(),
        zones: Vec::new(),
    };
    plan.limits = remembered.count(&plan, request.workspace);
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

/// What an apply did in all, as the journal says.
///
/// Errors: the state cannot be read, or the journal has an entry that zonewright never writes.
fn net(state: &dyn State, id: ApplyId, config: &Config) -> Result<Vec<Change>, Problem> {
    undo::net(id, &state.sent(id)?, |zone| config.pool_of(zone)).map_err(|odd| {
        Problem::new(state.address().to_string(), "state-unreadable", odd.to_string())
            .hint("restore the last good copy of the state")
    })
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
    Ok(undo::stray(&plan.changes, &done).map(|Change { key, .. }| {
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

/// What an apply did to some hosts and projects.
///
/// Errors: it did nothing to one of the projects.
fn narrowed(
    done: Vec<Change>,
    hosts: &BTreeSet<Inv>,
    projects: &[String],
    id: ApplyId,
) -> Result<Vec<Change>, UndoError> {
    for project in projects {
        if done.iter().all(|change| change.project != *project) {
            let known: Vec<String> = done.iter().map(|change| change.project.clone()).collect();
            return Err(unchanged(&format!("project `{project}`"), project, &known, id));
        }
    }
    let hosts: Vec<Inv> = hosts.iter().copied().collect();
    Ok(undo::narrow(done, &hosts, projects))
}

/// Reads the RRsets that an apply changed, zones in parallel. Gives them in the order of the changes, none where they
/// could not be read; and why zones could not be read, sorted by zone.
fn observe(
    done: &[Change],
    config: &Config,
    workspace: &Path,
    now: Time,
) -> (Vec<Option<Answer>>, Vec<(ZoneName, Problem)>) {
    let mut places: BTreeMap<&ZoneName, Vec<usize>> = BTreeMap::new();
    for (place, change) in done.iter().enumerate() {
        places.entry(&change.zone).or_default().push(place);
    }
    let is_touched = |spec: &&ZoneSpec| places.contains_key(&spec.name);
    let specs: Vec<&ZoneSpec> = config.zones.iter().filter(is_touched).collect();
    let configured: BTreeSet<&ZoneName> = specs.iter().map(|spec| &spec.name).collect();
    let gone = places.keys().filter(|zone| !configured.contains(*zone));
    let mut unread: Vec<(ZoneName, Problem)> = gone.map(|zone| ((*zone).clone(), not_configured(zone))).collect();
    let writers = open_writers(config, &specs, workspace, now);
    let answered = side_by_side(accesses(config, &specs, &writers), SIDE_BY_SIDE, |access| {
        let questions: Vec<Question> =
            places[&access.copy.zone].iter().map(|place| Question::of(&done[*place].key)).collect();
        let answers = read(&access, &questions);
        (access.copy.zone, answers)
    });
    let mut present: Vec<Option<Answer>> = done.iter().map(|_| None).collect();
    for (zone, answers) in answered {
        match answers {
            Ok(answers) => places[&zone].iter().zip(answers).for_each(|(place, answer)| present[*place] = Some(answer)),
            Err(error) => unread.push((zone, error)),
        }
    }
    unread.sort_by_cached_key(|(zone, _)| zone.to_string());
    (present, unread)
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
    .hint("add the zone to zonewright.toml, or leave its hosts as they are")
}
