//! Which pods the state knows as down: their next move is a repair.
//!
//! Comes in: the plan of an apply, the export of pods that it was made from, and the state. Goes out: a state that knows who
//! died and who came back. This does not wait until the plan is done: a gate that fails because of a death keeps a plan
//! from being done, and the pod that died must not wait for that gate.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::acceptance;
use super::conduct::ApplyConduct;
use super::settings::WorkspaceSettings;
use crate::apply::ApplyOutcome;
use crate::change::reach::takes_value;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::Inventory;
use crate::inventory::pods::Pod;
use crate::inventory::read::{self, ExportFiles};
use crate::inventory::value::Time;
use crate::plan::{Plan, PlanScope};
use crate::state::{self, DownPod, OpenedState, State, StateAddress, StateLock};

/// The source of pods.
const PODS: &str = "pods";

/// What the export of a plan says of pods that are or were down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodStates {
    /// Those that are down from now on.
    pub down: BTreeMap<Subject, DownPod>,
    /// Those of them that are active at another place than their names point to: they are no longer down once the plan has moved
    /// them.
    pub moving: BTreeSet<Subject>,
}

impl PodStates {
    /// What the export of an inventory says to a plan that was made from it, and that is applied `now`; `before` were down.
    pub fn of(inventory: &Inventory, plan: &Plan, before: &BTreeMap<Subject, DownPod>, now: Time) -> PodStates {
        let pods = &inventory.pods;
        let mut found = PodStates::default();
        if pods.has_strays {
            // A row of which it is not known whose it is may be of any of them.
            found.down.clone_from(before);
        }
        let open = open_subjects(plan);
        for pod in &pods.rows {
            let subject = subject_of(inventory, pod);
            let known = before.get(&subject);
            let is_looked_at = || plan.only.as_ref().is_none_or(|only| looks_at(inventory, only, pod, &subject));
            if pod.is_down() {
                found
                    .down
                    .insert(subject, DownPod { in_service: pod.is_enabled, ..known.copied().unwrap_or(new(now)) });
            } else if let Some(known) = known {
                // Of a bad row nothing is known.
                let in_service = if pod.fault.is_none() { pod.is_enabled } else { known.in_service };
                let known = DownPod { in_service, ..*known };
                let is_elsewhere = || plan.pod(&subject).is_some_and(|seen| seen.elsewhere);
                // What is prepared or removed is not there again, nor is one whose name was not moved.
                if !pod.is_active() || !is_looked_at() || is_elsewhere() {
                    found.down.insert(subject, known);
                } else if open.contains(&subject) {
                    found.moving.insert(subject.clone());
                    found.down.insert(subject, known);
                } else {
                    found.down.remove(&subject);
                }
            }
        }
        found
    }
}

/// The subjects of a plan whose names do not point to where the export has them, or may not.
fn open_subjects(plan: &Plan) -> HashSet<&Subject> {
    let taking = plan.changes.iter().filter(|change| takes_value(change)).flat_map(|change| change.subjects());
    let blocked = plan.blocked.iter().map(|blocked| &blocked.subject);
    let skipped = plan.skipped.iter().map(|skipped| &skipped.subject);
    taking.chain(blocked).chain(skipped).collect()
}

/// Whether a narrowed plan is about a pod: of others it does not know where their names point.
fn looks_at(inventory: &Inventory, only: &PlanScope, pod: &Pod, subject: &Subject) -> bool {
    let project = inventory.pods.set_of(pod).project().map(|project| &inventory.projects[project.0 as usize].id);
    let is_of_project = only.projects.is_empty() || project.is_some_and(|project| only.projects.contains(project));
    is_of_project && only.includes(subject)
}

/// The subject of a pod.
fn subject_of(inventory: &Inventory, pod: &Pod) -> Subject {
    Subject::pod(&*inventory.pods.set_of(pod).id, &*pod.id)
}

/// A pod that is found to be down now.
fn new(now: Time) -> DownPod {
    DownPod { in_service: true, since: now }
}

/// Those who are down, with those that an export calls dead or waiting: a person believes it, and no name has moved.
pub(super) fn with_dead(
    inventory: &Inventory,
    mut before: BTreeMap<Subject, DownPod>,
    now: Time,
) -> BTreeMap<Subject, DownPod> {
    for pod in inventory.pods.rows.iter().filter(|pod| pod.is_down()) {
        before.entry(subject_of(inventory, pod)).or_insert(new(now)).in_service = pod.is_enabled;
    }
    before
}

/// What the export of a plan that is about to be applied says; none where it says nothing new, is no longer there or is not
/// believed.
fn found(
    (plan, settings): (&Plan, &WorkspaceSettings),
    request: &ApplyConduct<'_>,
    state: Option<&dyn State>,
) -> Result<Option<PodStates>, Problem> {
    if settings.sources.iter().all(|spec| spec.name != PODS) {
        return Ok(None);
    }
    let accepted = state.map(|state| state.exports()).transpose()?.unwrap_or_default();
    let exports = acceptance::believed(plan, settings, request.workspace, &accepted);
    let Some(export) = exports.into_iter().find(|export| export.source == PODS) else { return Ok(None) };
    let before = state.map(|state| state.pods_down()).transpose()?.unwrap_or_default();
    let is_accepted = accepted.iter().any(|own| own.source == export.source && own.files == export.digests);
    if is_accepted && before.is_empty() {
        return Ok(None);
    }
    Ok(inventory(&export, request).map(|inventory| PodStates::of(&inventory, plan, &before, request.now)))
}

/// The inventory, where its export of pods is this one.
fn inventory(export: &ExportFiles, request: &ApplyConduct<'_>) -> Option<Inventory> {
    let inventory = read::load_workspace(request.workspace, request.now, &|_| {}).inventory.ok()?;
    let is_same = |(name, digest): (&String, &String)| inventory.inputs.get(name) == Some(digest);
    let is_this = inventory.pods.trust.doubt().is_none() && export.digests.iter().all(is_same);
    is_this.then_some(inventory)
}

/// Notes who died and who came back, by a plan that is about to be applied; gives what is known of pods from now on.
///
/// Errors: the state cannot be read or written.
pub(super) fn note(
    plan: (&Plan, &WorkspaceSettings),
    request: &ApplyConduct<'_>,
    state: &mut dyn State,
) -> Result<Option<PodStates>, Problem> {
    let states = found(plan, request, Some(&*state))?;
    if let Some(states) = &states
        && states.down != state.pods_down()?
    {
        state.keep_pods_down(&states.down)?;
    }
    Ok(states)
}

/// The same, by a plan that has nothing to do. A state that is in use or cannot be written is no failure, because the plan needs
/// nothing else from it.
pub(super) fn note_idle(
    plan: (&Plan, &WorkspaceSettings),
    request: &ApplyConduct<'_>,
    (address, kept): (&StateAddress, &OpenedState),
) {
    let Ok(kept) = kept else { return };
    let kept = kept.as_deref();
    let done = || {
        let before = kept.map(|state| state.pods_down()).transpose()?.unwrap_or_default();
        if found(plan, request, kept)?.is_none_or(|states| states.down == before) {
            return Ok::<(), Problem>(());
        }
        let _lock = StateLock::take(address, request.who, request.now)?;
        note(plan, request, &mut *state::open_to_write(address)?).map(drop)
    };
    if let Err(error) = done() {
        tracing::debug!("it is not recorded which pods are down: {error}");
    }
}

/// Forgets that pods were down that the plan has moved to where the export has them. If the state cannot be written, the next
/// apply does it.
pub(super) fn note_moved(states: Option<&PodStates>, applied: &ApplyOutcome, state: &mut dyn State) {
    let Some(states) = states.filter(|states| !states.moving.is_empty()) else { return };
    let done = applied.hosts.iter().filter(|host| host.outcome.is_done()).map(|host| &host.subject);
    let moved: BTreeSet<Subject> = done.filter(|subject| states.moving.contains(subject)).cloned().collect();
    if moved.is_empty() {
        return;
    }
    let mut down = states.down.clone();
    down.retain(|subject, _| !moved.contains(subject));
    if let Err(error) = state.keep_pods_down(&down) {
        tracing::debug!("it is not recorded which pods moved: {error}");
    }
}
