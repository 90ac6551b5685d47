//! The quiet time at the end: services are honest, and all must come to be as wished, without a task left.

use std::collections::BTreeSet;

use super::desk::serve;
use super::services::{ServicePolicy, is_asked};
use super::stage::Cast;
use super::story::Story;
use super::world::TrueHost;
use crate::inventory::cms::CmsAction;
use crate::state::{ApprovalRegister as _, RolloutRegister as _};

/// How many rounds the quiet time has at most.
const ROUNDS: usize = 400;

/// The hosts that no run may change: a service rejects them for ever.
fn rejected(cast: &Cast) -> BTreeSet<usize> {
    let is_rejected = |number: &usize| {
        let host = &cast.hosts[*number];
        let action = match (&host.live, host.wish) {
            (None, _) => CmsAction::Prepare,
            (_, None) => CmsAction::Deactivate,
            _ => CmsAction::TemporaryUnreachable,
        };
        let terms = cast.projects.get(host.project).filter(|terms| terms.actions.contains(&action));
        let services = terms.into_iter().flat_map(|terms| &terms.services).filter_map(|name| cast.services.get(name));
        let mut asked = services.filter(|service| is_asked(service.version, action));
        asked.any(|service| service.rejects.contains(&host.service_name()))
    };
    (0..cast.hosts.len()).filter(is_rejected).collect()
}

impl Story {
    /// Faults end: all must come to be as wished.
    ///
    /// Errors: it does not, or something was violated.
    pub fn rest(&mut self) -> Result<(), String> {
        self.recover();
        self.calm();
        for _ in 0..ROUNDS {
            self.serve();
            self.pass(301);
            self.run(false, None)?;
            self.check()?;
            if self.is_at_rest() {
                return Ok(());
            }
        }
        let left = self.left().join(", ");
        let rows: Vec<String> = self.state.approvals().unwrap().tasks().map(|row| format!("{row:?}")).collect();
        self.stage.cast().tell(|| rows.join("\n"));
        Err(format!("not all comes to rest: {}; tasks are left: {left}", self.standing()))
    }

    /// Services become honest; some reject some hosts for ever.
    fn calm(&mut self) {
        let memory = self.state.rollouts().unwrap();
        let known: BTreeSet<u64> =
            memory.flux.iter().filter(|row| row.is_between()).filter_map(|row| Some(row.subject.host()?.0)).collect();
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        cast.is_calm = true;
        cast.tell(|| "the quiet time begins".to_owned());
        let (are_strict, are_rejecting) = (cast.dice.below(2) == 0, cast.dice.below(3) == 0);
        // Who stopped in between, in truth or as an older state has it, is busy until it goes on: no service rejects it for ever.
        let is_known =
            |host: &TrueHost| known.iter().any(|subject| host.name.to_string().starts_with(&format!("h{subject}.")));
        let between = |host: &TrueHost| is_known(host) || host.live.as_ref().is_some_and(|own| own.rdata().len() > 1);
        let names: Vec<String> = cast.services.keys().cloned().collect();
        let hosts = cast.hosts.iter().filter(|host| !between(host));
        let hosts: Vec<String> = hosts.map(TrueHost::service_name).collect();
        for name in &names {
            let underway = std::mem::take(&mut cast.services.get_mut(name).unwrap().underway);
            for kind in underway {
                serve(cast, name, &kind);
            }
            let own = cast.services.get_mut(name).unwrap();
            if are_strict {
                own.policy = ServicePolicy::Strict;
            }
            own.rejects = hosts.iter().filter(|_| are_rejecting && cast.dice.below(6) == 0).cloned().collect();
        }
        // A service that no project asks any longer, and of which the state knows no task, is not asked for its list.
        if let Some(terms) = cast.projects.values_mut().next() {
            let built_in = terms.services.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>();
            terms.services = names.into_iter().chain(built_in).collect();
        }
    }

    /// Whether all is as wished, and no task is left.
    fn is_at_rest(&self) -> bool {
        let rejected = rejected(&self.stage.cast());
        self.unlike().is_subset(&rejected) && self.left().is_empty()
    }

    /// The tasks of this state that services know, and those that the state knows.
    fn left(&self) -> Vec<String> {
        let cast = self.stage.cast();
        let is_of_us = |id: &&String| cast.is_own(id) || id.starts_with("us.dry.");
        let known = cast
            .services
            .iter()
            .flat_map(|(name, service)| service.tasks.keys().filter(is_of_us).map(move |id| (name, id)));
        let mut left: Vec<String> = known.map(|(name, id)| format!("{} at `{name}`", cast.short(id))).collect();
        let memory = self.state.approvals().unwrap();
        left.extend(memory.tasks().map(|row| format!("{} in the state", row.subject)));
        left
    }
}
