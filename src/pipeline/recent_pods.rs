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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{ApplyOutcome, SubjectOutcome};
    use crate::rollout::RolloutChoice;
    use crate::state::{NewApply, PlanText, StateAddress, open_to_write};

    /// An apply that ended, with these pods and what happened to them.
    fn apply(state: &mut dyn State, pods: &[(&str, OutcomeCode)]) {
        let now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
        let new = NewApply {
            plan: "sha256:aa".to_owned(),
            effect: "sha256:bb".to_owned(),
            started: now,
            who: String::new(),
            reason: None,
            inputs: [("pods/pods.jsonl".to_owned(), "00ff".to_owned())].into(),
            hosts: 1,
            undoes: None,
            is_whole: true,
        };
        let text = PlanText { document: "{}", made: now, expires: now, blocked: &[] };
        let id = state.begin(&new, &text, &RolloutChoice::default()).unwrap();
        let hosts = pods.iter().map(|(pod, outcome)| SubjectOutcome {
            subject: Subject::pod("web", *pod),
            project: "shop".into(),
            name: format!("{pod}.web.example.net."),
            changes: 1,
            outcome: *outcome,
            is_between: false,
            message: None,
            hint: None,
            lacks: Vec::new(),
        });
        let outcome = ApplyOutcome { hosts: hosts.collect(), ..ApplyOutcome::default() };
        state.finish(id, &outcome, None, now).unwrap();
    }

    #[test]
    fn a_pod_has_failed_where_each_of_the_latest_two_applies_failed_to_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = open_to_write(&StateAddress::of_file(folder.path(), "state.db")).unwrap();
        let failed = |state: &dyn State| -> Vec<String> {
            failed(state).unwrap().into_iter().map(|subject| subject.to_string()).collect()
        };
        apply(&mut *state, &[("a", OutcomeCode::Failed), ("b", OutcomeCode::Failed)]);
        assert!(failed(&*state).is_empty(), "there is one apply alone");
        apply(&mut *state, &[("a", OutcomeCode::Failed), ("b", OutcomeCode::Applied), ("c", OutcomeCode::Failed)]);
        assert_eq!(failed(&*state), ["pod:web/a"]);
        apply(&mut *state, &[("a", OutcomeCode::Stale), ("c", OutcomeCode::Failed)]);
        assert_eq!(failed(&*state), ["pod:web/c"]);
        apply(&mut *state, &[]);
        assert!(failed(&*state).is_empty());
    }
}
