//! What earlier applies left of pods, for a plan to know.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::OutcomeCode;
use crate::claim::{EndpointSetName, Subject};
use crate::desired::pods::srv_owner;
use crate::diag::Problem;
use crate::diff::recent::RecentPods;
use crate::dns::{Name, RrKey, Rtype};
use crate::inventory::Inventory;
use crate::inventory::pods::PodSetIndex;
use crate::inventory::value::Time;
use crate::live::Live;
use crate::rollout::RolloutMemory;
use crate::rollout::recent::recent_names;
use crate::state::{ApplyId, ApplySummary, SightedRrset, State};

/// How many applies in a row must have failed to change a pod: a server that was away for one of them says nothing of it.
const FAILURES: usize = 2;

/// How many applies are looked at: projects may be applied one by one, and an apply of another project says nothing of a pod.
const LOOKED_AT: usize = 64;

/// Reads it from a state.
pub fn recent_pods(
    (inventory, live): (&Inventory, &Live),
    state: &dyn State,
    now: Time,
) -> Result<RecentPods, Problem> {
    let memory = state.rollouts()?;
    let (failed, gone) = (failed(state, &memory)?, gone_srv((inventory, live), state, &memory)?);
    Ok(RecentPods { failed, gone, ..recent_names(&memory, memory.now(now)) })
}

/// The SRV of endpoints that are not live, since the latest apply that changed them took them.
pub fn gone_srv(
    (inventory, live): (&Inventory, &Live),
    state: &dyn State,
    memory: &RolloutMemory,
) -> Result<BTreeSet<Name>, Problem> {
    let mut keys = BTreeSet::new();
    let sets = inventory.pods.sets.iter().enumerate().filter_map(|(place, set)| Some((place, &set.id, set.terms()?)));
    for (place, id, terms) in sets {
        for endpoint in &terms.endpoints {
            let (set, name) = ((**id).into(), endpoint.name.as_text().into());
            let subject = Subject::Endpoints(Box::new(EndpointSetName { set, name }));
            // Of one that no apply changed there is nothing to be found.
            if memory.rows_of(&subject).next().is_none() {
                continue;
            }
            let rows = &inventory.pods.rows[inventory.pods.places_of(PodSetIndex(place as u32))];
            let labels: BTreeSet<String> =
                rows.iter().filter_map(|pod| endpoint.label_at(pod, &inventory.symbols).ok()).collect();
            let names = labels.iter().filter_map(|label| srv_owner(terms, label, endpoint));
            let absent = names.filter(|name| live.rrset(name.as_name(), Rtype::SRV).is_none());
            keys.extend(absent.filter_map(|name| {
                let owner =
                    inventory.config.zones[live.zone_of(name.as_name())?.0 as usize].name.owner(name.as_name())?;
                Some(RrKey { owner, rtype: Rtype::SRV })
            }));
        }
    }
    let keys: Vec<RrKey> = keys.into_iter().collect();
    let written = state.last_written(&keys.iter().map(SightedRrset::anywhere).collect::<Vec<_>>())?;
    let gone = keys.iter().zip(written).filter(|(_, written)| written.as_ref().is_some_and(|own| own.after.is_none()));
    Ok(gone.map(|(key, _)| key.owner.as_name().to_name()).collect())
}

/// The pods that each of the latest applies that tried to change them failed to change. One in which a pod waited did not try.
fn failed(state: &dyn State, memory: &RolloutMemory) -> Result<BTreeSet<Subject>, Problem> {
    let mut latest: BTreeMap<Subject, Vec<PodTry>> = BTreeMap::new();
    let tells = |apply: &ApplySummary| !apply.is_sync && apply.outcomes.keys().any(|outcome| is_try(outcome));
    for apply in state.applies(LOOKED_AT)?.into_iter().filter(tells) {
        let tried = state.left_hosts(apply.id)?.into_iter();
        for left in tried.filter(|left| matches!(left.subject, Subject::Pod(_)) && is_try(&left.outcome)) {
            let has_failed = OutcomeCode::parse(&left.outcome) == Some(OutcomeCode::Failed);
            latest.entry(left.subject).or_default().push(PodTry { apply: apply.id, has_failed });
        }
    }
    let is_failed = |(subject, tries): &(Subject, Vec<PodTry>)| {
        let Some(latest) = tries.get(..FAILURES) else { return false };
        // What an apply did as planned is not among what it left.
        let is_other =
            |apply: u64| latest.iter().all(|own| own.apply.0 != apply) && apply > latest[FAILURES - 1].apply.0;
        latest.iter().all(|own| own.has_failed) && !memory.rows_of(subject).any(|row| is_other(row.apply))
    };
    Ok(latest.into_iter().filter(is_failed).map(|(subject, _)| subject).collect())
}

/// An apply that did not leave a pod as planned.
struct PodTry {
    /// The apply.
    apply: ApplyId,
    /// Whether it failed to change the pod.
    has_failed: bool,
}

/// Whether an outcome, by its word, is one of a subject that an apply tried to change, and did not change as planned.
fn is_try(outcome: &str) -> bool {
    OutcomeCode::parse(outcome).is_some_and(|outcome| !outcome.is_done() && outcome != OutcomeCode::Waiting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{ApplyOutcome, SubjectOutcome};
    use crate::inventory::value::Duration;
    use crate::rollout::{FluxRow, FluxStage, RolloutChoice};
    use crate::state::{NewApply, PlanText, StateAddress, open_to_write};

    /// An apply that ended, with these pods and what happened to them.
    fn apply(state: &mut dyn State, pods: &[(&str, OutcomeCode)]) {
        let of_set: Vec<(&str, &str, OutcomeCode)> =
            pods.iter().map(|(pod, outcome)| ("web", *pod, *outcome)).collect();
        apply_all(state, &of_set);
    }

    /// The same, with pods of several sets.
    fn apply_all(state: &mut dyn State, pods: &[(&str, &str, OutcomeCode)]) {
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
        let row = |(set, pod, _): &(&str, &str, OutcomeCode)| FluxRow {
            subject: Subject::pod(*set, *pod),
            apply: 0,
            group: (*set).to_owned(),
            location: String::new(),
            settle: Duration::from_secs(60),
            is_disruptive: true,
            is_repair: false,
            is_down: false,
            canary_of: None,
            before: Vec::new(),
            affected: Vec::new(),
            gave: Vec::new(),
            wanted: None,
            stage: FluxStage::NotServed,
            answer: None,
        };
        let went = pods.iter().filter(|(.., outcome)| *outcome != OutcomeCode::Waiting);
        let wave = RolloutChoice { flux: went.map(row).collect(), ..RolloutChoice::default() };
        let id = state.begin(&new, &text, &wave).unwrap();
        let hosts = pods.iter().map(|(set, pod, outcome)| SubjectOutcome {
            subject: Subject::pod(*set, *pod),
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

    /// The pods that have failed.
    fn all_failed(state: &dyn State) -> Vec<String> {
        let memory = state.rollouts().unwrap();
        failed(state, &memory).unwrap().into_iter().map(|subject| subject.to_string()).collect()
    }

    #[test]
    fn a_pod_has_failed_where_each_of_the_latest_two_applies_that_tried_failed_to_change_it() {
        use OutcomeCode::{Applied, Failed, Stale, Waiting};
        let folder = tempfile::tempdir().unwrap();
        let mut state = open_to_write(&StateAddress::of_file(folder.path(), "state.db")).unwrap();
        apply(&mut *state, &[("a", Failed), ("b", Failed)]);
        assert!(all_failed(&*state).is_empty(), "there is one apply alone");
        apply(&mut *state, &[("a", Failed), ("b", Applied), ("c", Failed)]);
        assert_eq!(all_failed(&*state), ["pod:web/a"]);
        apply(&mut *state, &[("a", Stale), ("c", Failed)]);
        assert_eq!(all_failed(&*state), ["pod:web/c"]);
        apply(&mut *state, &[]);
        apply(&mut *state, &[("c", Waiting)]);
        assert_eq!(all_failed(&*state), ["pod:web/c"], "nothing was tried");
        apply(&mut *state, &[("c", Applied)]);
        assert!(all_failed(&*state).is_empty());
        apply(&mut *state, &[("c", Failed)]);
        assert_eq!(all_failed(&*state), Vec::<String>::new(), "it was changed in between");
    }

    #[test]
    fn an_apply_of_another_project_says_nothing_of_a_pod() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = open_to_write(&StateAddress::of_file(folder.path(), "state.db")).unwrap();
        for _ in 0..2 {
            apply(&mut *state, &[("a", OutcomeCode::Failed)]);
            for _ in 0..10 {
                apply_all(&mut *state, &[("other", "a", OutcomeCode::Applied), ("other", "b", OutcomeCode::Failed)]);
            }
        }
        assert_eq!(all_failed(&*state), ["pod:other/b", "pod:web/a"]);
    }
}
