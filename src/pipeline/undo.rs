//! The inverse of an apply, as a plan: the journal's before-images, held against what stands now.
//!
//! Comes in: the number of an apply. Goes out: a plan. The exports are not read, so that what they did wrong can be undone
//! while they are broken.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use super::apply::{accesses, open_writers};
use super::guards::{Remembered, rules_now};
use super::{Findings, Made, MakeError, Progress, Request, TOOL, each_once, load_limits, narrowed_to, zone_unknown};
use crate::apply::{SIDE_BY_SIDE, ZoneAccess};
use crate::change::Change;
use crate::disk;
use crate::dns::{RrKey, ZoneName};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::read::SETTINGS;
use crate::inventory::value::Time;
use crate::live::asked::{Answer, Question};
use crate::parallel::side_by_side;
use crate::plan::Plan;
use crate::provider::TargetError;
use crate::state::status::at_work;
use crate::state::{self, ApplyId, Lock, State, StateError};
use crate::undo::{self, Judged};

/// Why an apply cannot be undone.
#[derive(Debug)]
pub struct UndoError {
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UndoError {}

/// Plans the inverse of an apply: what of it stands as it left it is to stand as it did before. Hosts and projects of the
/// request narrow it to what the apply changed of them.
///
/// Errors: [`MakeError`]. A zone that cannot be read is no error: the plan says whose changes it leaves for that.
pub fn make_undo(request: &Request<'_>, id: ApplyId, progress: &dyn Progress) -> Result<Made, MakeError> {
    let (config, files, limits) = load_limits(request.workspace).map_err(MakeError::Config)?;
    let file = request.workspace.join(&config.state_file);
    let state = state::open_to_read(&file)?;
    let state = state.ok_or_else(|| unknown(id))?;
    check_ended(&*state, id, &file)?;
    let done = undo::net(id, &state.sent(id)?).map_err(|odd| state_error(&file, &odd))?;
    let done = narrowed(done, request, id)?;
    progress.stage("reading what stands", None);
    let (stands, unread) = observe(&done, &config, request.workspace, request.now);
    let Judged { changes, edited, blocked } = undo::judge(&done, &stands);
    let mut notices: Vec<_> = unread.iter().map(|(zone, error)| zone_unknown(zone, error)).collect();
    let is_partial = !notices.is_empty();
    let rrsets: Vec<&RrKey> = edited.iter().map(|edited| &edited.inverse.key).collect();
    let later = state.last_changed(id, &rrsets)?;
    notices.extend(edited.iter().zip(later).map(|(edited, later)| undo::notice(id, edited, later)));
    let settings = disk::digest(&request.workspace.join(SETTINGS)).ok();
    let remembered = Remembered::read(rules_now(&config, &limits, None), Some(&*state), request.now)?;
    let mut plan = Plan {
        tool: TOOL.to_owned(),
        created: request.now,
        expires: request.now.plus(config.plan_expires),
        undoes: Some(id.0),
        only: narrowed_to(&request.hosts, &request.projects),
        inputs: settings.map(|digest| (SETTINGS.to_owned(), digest)).into_iter().collect(),
        changes,
        review: None,
        waiting: Vec::new(),
        blocked,
        skipped: Vec::new(),
        notices,
        limits: Vec::new(),
        sources: Vec::new(),
        zones: Vec::new(),
    };
    plan.limits = remembered.count(&plan, request.workspace);
    let unread = each_once(unread.into_iter().map(|(_, error)| error));
    let findings = Findings { files, unread, ..Findings::default() };
    Ok(Made { plan, findings, is_partial, snapshot: None, breakers: remembered.breakers })
}

/// An apply that cannot be undone.
fn refuse(message: String, hint: impl Into<String>) -> MakeError {
    MakeError::NoUndo(UndoError { message, hint: hint.into() })
}

/// An apply that the journal does not have.
fn unknown(id: ApplyId) -> MakeError {
    refuse(format!("the journal has no apply {}", id.0), "`zonewright history` lists those that there are")
}

/// Says that the journal holds something else than what is ever written to it.
fn state_error(file: &Path, odd: &undo::Odd) -> MakeError {
    MakeError::NoState(StateError {
        place: file.display().to_string(),
        code: "state-unreadable",
        message: odd.to_string(),
        hint: Some("bring the last good copy of the state back".to_owned()),
    })
}

/// Checks that there is such an apply, and that it is not at work.
fn check_ended(state: &dyn State, id: ApplyId, file: &Path) -> Result<(), MakeError> {
    // In this order, so that what is seen as at work is not over yet when the journal is read.
    let holder = Lock::holder(file);
    state.apply(id)?.ok_or_else(|| unknown(id))?;
    match at_work(holder.as_ref(), &state.unfinished()?) == Some(id) {
        true => Err(refuse(format!("apply {} is at work", id.0), "wait for its end, or interrupt it, then undo it")),
        false => Ok(()),
    }
}

/// What an apply did to the hosts and projects that the request names.
///
/// Errors: it did nothing to one of them.
fn narrowed(done: Vec<Change>, request: &Request<'_>, id: ApplyId) -> Result<Vec<Change>, MakeError> {
    let nothing = |whose: String| {
        let hint = format!("`zonewright history {}` shows what it changed", id.0);
        refuse(format!("apply {} changed nothing of {whose}", id.0), hint)
    };
    for inv in &request.hosts {
        let is_own = |change: &Change| change.host == Some(*inv) || change.also.contains(inv);
        done.iter().find(|change| is_own(change)).ok_or_else(|| nothing(format!("host {inv}")))?;
    }
    for project in &request.projects {
        let is_own = |change: &&Change| change.project == *project;
        done.iter().find(is_own).ok_or_else(|| nothing(format!("project `{project}`")))?;
    }
    Ok(undo::narrow(done, &request.hosts, &request.projects))
}

/// Reads what stands where an apply changed something, zones side by side: in the order of its changes, nothing where it
/// could not be read; and why zones could not be, sorted by zone.
fn observe(
    done: &[Change],
    config: &Config,
    workspace: &Path,
    now: Time,
) -> (Vec<Option<Answer>>, Vec<(ZoneName, TargetError)>) {
    let mut places: BTreeMap<&ZoneName, Vec<usize>> = BTreeMap::new();
    for (place, change) in done.iter().enumerate() {
        places.entry(&change.zone).or_default().push(place);
    }
    let is_touched = |spec: &&ZoneSpec| places.contains_key(&spec.name);
    let specs: Vec<&ZoneSpec> = config.zones.iter().filter(is_touched).collect();
    let configured: BTreeSet<&ZoneName> = specs.iter().map(|spec| &spec.name).collect();
    let gone = places.keys().filter(|zone| !configured.contains(*zone));
    let mut unread: Vec<(ZoneName, TargetError)> = gone.map(|zone| ((*zone).clone(), not_configured(zone))).collect();
    let writers = open_writers(config, &specs, workspace, now);
    let answered = side_by_side(accesses(config, &specs, &writers), SIDE_BY_SIDE, |access| {
        let questions: Vec<Question> =
            places[access.zone].iter().map(|place| Question::of(&done[*place].key)).collect();
        (access.zone, read(&access, &questions))
    });
    let mut stands: Vec<Option<Answer>> = done.iter().map(|_| None).collect();
    for (zone, answers) in answered {
        match answers {
            Ok(answers) => places[zone].iter().zip(answers).for_each(|(place, answer)| stands[*place] = Some(answer)),
            Err(error) => unread.push((zone.clone(), error)),
        }
    }
    unread.sort_by_cached_key(|(zone, _)| zone.to_string());
    (stands, unread)
}

/// Reads RRsets of a zone.
fn read(access: &ZoneAccess<'_>, questions: &[Question]) -> Result<Vec<Answer>, TargetError> {
    access.writer.clone()?.observe(access.zone, questions, None)
}

/// The error of a zone that is not configured any more.
fn not_configured(zone: &ZoneName) -> TargetError {
    TargetError {
        place: SETTINGS.to_owned(),
        code: "unknown-zone",
        message: format!("the apply changed the zone `{zone}`, which is not configured"),
        hint: Some("configure the zone, or leave its hosts as they are".to_owned()),
        findings: None,
    }
}
