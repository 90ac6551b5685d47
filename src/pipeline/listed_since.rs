//! Names of pods that an SRV lists since a plan was made: they stay.
//!
//! A plan takes no name that an SRV lists, or that caches may hold in one. But it may be applied hours later, when another run
//! has listed the name of a former placement again: the pod is back there, and waits for its turn.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::settings::WorkspaceSettings;
use super::undo_listed::ListedQuestion;
use crate::apply::{CopyAccess, LaneSurvey, Survey, UnitVerdict};
use crate::change::Change;
use crate::claim::{Rule, Subject};
use crate::diag::Problem;
use crate::dns::{Name, NameRef};
use crate::plan::Plan;
use crate::rollout::listed::servers;
use crate::rollout::recent::recent_names;
use crate::undo::{ListedNow, LiveSrv, takes_name};

/// What lists names that a plan takes.
#[derive(Default)]
pub struct ListedSince {
    /// The live SRV.
    now: ListedNow,
    /// The names that caches may hold in an SRV.
    held: BTreeSet<Name>,
}

impl ListedSince {
    /// Reads what lists the names that are still to be taken: SRV in some copies.
    ///
    /// Errors: the state cannot be read.
    pub fn read(
        (plan, survey): (&Plan, &Survey<'_>),
        question: &ListedQuestion<'_>,
        settings: &WorkspaceSettings,
        copies: &[CopyAccess<'_>],
    ) -> Result<ListedSince, Problem> {
        let domains: HashSet<NameRef<'_>> =
            settings.pod_sets.iter().filter_map(|set| Some(set.terms()?.domain.as_name())).collect();
        // The file of a set may be wrong since the plan was made: what is of pods is known without it, too.
        let is_of_pods = |change: &Change| {
            let is_in_domain = || change.key.owner.as_name().parent().is_some_and(|own| domains.contains(&own));
            let is_of_pod = || change.subjects().any(|subject| matches!(subject, Subject::Pod(_)));
            change.rules().any(|rule| rule == Rule::NoPod) || is_of_pod() || is_in_domain()
        };
        let taken = survey.open().into_iter().filter(|change| takes_name(change) && is_of_pods(change));
        let taken: Vec<Change> = taken.cloned().collect();
        if taken.is_empty() {
            return Ok(ListedSince::default());
        }
        let mut held = BTreeSet::new();
        // An undo does not wait for caches.
        if plan.undoes.is_none() {
            let memory = question.state.rollouts()?;
            held.extend(recent_names(&memory, memory.now(question.now)).listed.into_keys());
        }
        Ok(ListedSince { now: question.ask_copies(&taken, copies.to_vec())?, held })
    }

    /// The changes of a lane, of those at these places, that take such a name, each with why it is left.
    pub fn refused(&self, plan: &Plan, lane: &LaneSurvey<'_>, open: &[usize]) -> BTreeMap<usize, UnitVerdict> {
        let own = open.iter().filter(|place| takes_name(&lane.changes[**place]));
        own.filter_map(|place| Some((*place, self.fault(plan, lane, &lane.changes[*place])?))).collect()
    }

    /// Why a name stays in a lane; none where it may go there.
    fn fault(&self, plan: &Plan, lane: &LaneSurvey<'_>, change: &Change) -> Option<UnitVerdict> {
        let name = change.key.owner.as_name();
        let lists = |srv: &&LiveSrv| {
            let target = lane.target.as_ref().map(|target| &target.name);
            let is_in_lane = srv.target.is_none() || target.is_none() || srv.target.as_ref() == target;
            // Another zone may have other targets.
            let is_here = is_in_lane || srv.zone != change.zone;
            is_here && servers(Some(&srv.rrset)).contains(&name) && !unlists(plan, srv, name)
        };
        if let Some(LiveSrv { key, .. }) = self.now.srv.iter().find(lists) {
            return Some(UnitVerdict::stale(format!("the SRV `{}` lists `{name}` since the plan was made", key.owner)));
        }
        let is_held = self.held.contains(name.as_wire());
        is_held
            .then(|| UnitVerdict::stale(format!("caches may hold an SRV that listed `{name}` since the plan was made")))
    }
}

/// Whether a plan is to take a name from an SRV that listed it when it was made: then the name waits for that anyway.
fn unlists(plan: &Plan, srv: &LiveSrv, name: NameRef<'_>) -> bool {
    let mut own = plan.changes.iter().filter(|change| change.key == srv.key && change.zone == srv.zone);
    let lists = |rrset| servers(rrset).contains(&name);
    own.any(|change| lists(change.kind.before()) && !lists(change.kind.after()))
}
