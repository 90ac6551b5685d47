//! What earlier applies left of pods, for a plan to know.

use std::collections::BTreeSet;

use crate::apply::OutcomeCode;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::recent::RecentPods;
use crate::inventory::value::Time;
use crate::rollout::recent::recent_names;
use crate::state::State;

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
    let mut of_all: Option<BTreeSet<Subject>> = None;
    for apply in latest.take(FAILURES) {
        let is_failed = |word: &str| OutcomeCode::parse(word) == Some(OutcomeCode::Failed);
        let left = state.left_hosts(apply.id)?.into_iter().filter(|left| is_failed(&left.outcome));
        let pods: BTreeSet<Subject> =
            left.map(|left| left.subject).filter(|subject| matches!(subject, Subject::Pod(_))).collect();
        of_all = Some(of_all.map_or(pods.clone(), |all| &all & &pods));
    }
    Ok(of_all.unwrap_or_default())
}
