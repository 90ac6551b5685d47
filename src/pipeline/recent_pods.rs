//! What earlier applies left of pods, for a plan to know.

use std::collections::BTreeSet;

use crate::apply::OutcomeCode;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::recent::RecentPods;
use crate::inventory::value::Time;
use crate::rollout::recent::recent_names;
use crate::state::{ApplyId, LeftSubject, State};

/// How many applies in a row must have failed to change a pod: a server that was away for one of them says nothing of it.
const FAILURES: usize = 2;

/// How many applies are looked at: those of a `sync` do not count.
const LOOKED_AT: usize = 8;

/// Reads it from a state.
pub fn recent_pods(state: &dyn State, now: Time) -> Result<RecentPods, Problem> {
    let memory = state.rollouts()?;
    Ok(RecentPods { failed: failed(state)?, ..recent_names(&memory, memory.now(now)) })
}

/// The pods that each of the latest applies of plans failed to change.
fn failed(state: &dyn State) -> Result<BTreeSet<Subject>, Problem> {
    let latest = state.applies(LOOKED_AT)?.into_iter().filter(|apply| !apply.is_sync);
    let latest: Vec<ApplyId> = latest.take(FAILURES).map(|apply| apply.id).collect();
    if latest.len() < FAILURES {
        return Ok(BTreeSet::new());
    }
    let of_each = latest.into_iter().map(|apply| failed_in(state, apply)).collect::<Result<Vec<_>, Problem>>()?;
    Ok(of_each.into_iter().reduce(|all, own| &all & &own).unwrap_or_default())
}

/// The pods that an apply failed to change.
fn failed_in(state: &dyn State, apply: ApplyId) -> Result<BTreeSet<Subject>, Problem> {
    let is_failed = |left: &LeftSubject| OutcomeCode::parse(&left.outcome) == Some(OutcomeCode::Failed);
    let failed = state.left_hosts(apply)?.into_iter().filter(is_failed).map(|left| left.subject);
    Ok(failed.filter(|subject| matches!(subject, Subject::Pod(_))).collect())
}
