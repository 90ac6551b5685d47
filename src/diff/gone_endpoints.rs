//! Own SRV of sets of pods that no endpoint has: an endpoint was removed from the file of its set, or has another name or
//! protocol. Pure.
//!
//! They are found by their names alone: what an endpoint had is written nowhere. What a file of records states or stated is
//! no SRV of a set.

use std::collections::BTreeSet;

use super::act::{RuleAct, RuleActor};
use super::context::RuleContext;
use super::left_behind::{self, LeftOrphan};
use super::orphans::ProjectDomains;
use super::own;
use super::pod_doubt::PodDoubts;
use super::pod_names::{self, PodNames};
use super::protect::is_untouchable;
use super::srv_name::SrvName;
use crate::change::{BlockedSubject, Change, DelayedRrset, Rule};
use crate::claim::{EndpointSetName, OrphanName, Subject};
use crate::dns::{NameRef, RrKey, Rtype, ZoneName};
use crate::inventory::pods::{PodSet, PodSetIndex, PodSetTerms};
use crate::live::LiveRrset;
use crate::registry::Registry;

/// An own SRV in the domain of a set that no endpoint has.
#[derive(Debug)]
pub struct GoneEndpoint<'c> {
    /// The SRV.
    pub found: LiveRrset<'c>,
    /// The set whose SRV it is treated as.
    pub set: PodSetIndex,
    /// What the set says.
    terms: &'c PodSetTerms,
    /// The endpoint that had it, as far as its name says.
    pub subject: Subject,
}

/// Finds them, sorted by name; none where own RRsets cannot be distinguished from others, and none of which it is not known
/// whether a set has them.
///
/// One of an endpoint that is `blocked` is left out: what is to take its place may be what is blocked.
pub fn find<'c>(context: &RuleContext<'c>, blocked: &[BlockedSubject]) -> Vec<GoneEndpoint<'c>> {
    let sets = &context.inventory.pods.sets;
    if !sets.iter().any(|set| set.terms().is_some()) || context.inventory.config.is_marked_by(Registry::Noop) {
        return Vec::new();
    }
    let (names, doubts) = (PodNames::of(context), PodDoubts::of(context));
    let gone = |found: LiveRrset<'c>| {
        let owner = found.rrset.owner();
        let name = owner.as_name();
        let of_set = endpoint_of(context, &names, found);
        let (set, subject) = of_set.filter(|_| is_own(context, found) && !doubts.cover(name))?;
        let terms = sets[set.0 as usize].terms()?;
        // A file that cannot be read may state it, whatever the state says of that.
        if context.files_rest_at(terms.project, name) {
            return None;
        }
        if blocked.iter().any(|blocked| blocked.subject == subject) {
            return None;
        }
        Some(GoneEndpoint { found, set, terms, subject })
    };
    let mut all: Vec<GoneEndpoint<'c>> = context.live.rrsets_of(Rtype::SRV).filter_map(gone).collect();
    all.sort_by_cached_key(|own| own.found.rrset.owner().as_name().to_name());
    all
}

/// The set whose SRV one is treated as, and the endpoint that had it; none where it is in the domain of no set, and where anything
/// states it or may do so.
///
/// Of several sets in one domain it is the one with a pod that the SRV lists.
pub fn endpoint_of(
    context: &RuleContext<'_>,
    names: &PodNames<'_, '_>,
    found: LiveRrset<'_>,
) -> Option<(PodSetIndex, Subject)> {
    let owner = found.rrset.owner();
    let name = owner.as_name();
    let SrvName { endpoint, protocol, domain } = SrvName::of(name)?;
    let (all, pods) = (names.sets_in(domain), &context.inventory.pods);
    let terms_of = |set: &PodSetIndex| pods.sets[set.0 as usize].terms();
    let may_give = |terms: &PodSetTerms| {
        let mut endpoints = terms.endpoints.iter().filter(|own| &*own.protocol == protocol);
        endpoints.any(|own| own.name.may_give(endpoint.as_bytes()))
    };
    if all.is_empty() || all.iter().filter_map(terms_of).any(may_give) || is_stated(context, name) {
        return None;
    }
    let lists_its = |set: &&PodSetIndex| {
        let has_pod = |label: &[u8]| {
            let ids = terms_of(set).map(|terms| terms.transient.pods_of(label)).unwrap_or_default();
            ids.into_iter().any(|id| pods.place_of(**set, id).is_some())
        };
        let mut servers = found.rrset.rdata().filter_map(|rdata| rdata.server());
        servers.any(|server| server.parent() == Some(domain) && server.first_label().is_some_and(has_pod))
    };
    let set = *all.iter().find(lists_its).unwrap_or(&all[0]);
    let PodSet { id, .. } = &pods.sets[set.0 as usize];
    let subject = EndpointSetName { set: (&**id).into(), name: endpoint.into() };
    Some((set, Subject::Endpoints(Box::new(subject))))
}

/// Whether an endpoint or a file states the SRV at a name, may do so, or did.
fn is_stated(context: &RuleContext<'_>, name: NameRef<'_>) -> bool {
    context.stated.on(name, Rtype::SRV).next().is_some()
        || context.stated.holds(name, Rtype::SRV)
        || !context.statements.by(name, Rtype::SRV).is_empty()
}

/// Whether an RRset is own, in a zone where own RRsets can be distinguished from others.
fn is_own(context: &RuleContext<'_>, found: LiveRrset<'_>) -> bool {
    context.marking(found.zone).registry != Registry::Noop && own::is_own(context, found)
}

/// Removes them under the policies that remove names of pods.
pub fn remove(context: &RuleContext<'_>, gone: &[GoneEndpoint<'_>]) -> Vec<RuleAct> {
    let goes = |own: &&GoneEndpoint<'_>| {
        let (project, owner) = (own.terms.project, own.found.rrset.owner());
        pod_names::removes(context, project)
            && context.selection.includes_subject(&own.subject, project)
            && !is_untouchable(context, owner.as_name())
    };
    let removed = |own: &GoneEndpoint<'_>| {
        let GoneEndpoint { found, terms, ref subject, .. } = *own;
        let actor = RuleActor { subject: subject.clone(), project: terms.project, by_right: false };
        let act = move |rdata| RuleAct::removal(found, rdata, Rule::NoPod, actor.clone(), Some(terms.origin));
        found.rrset.rdata().map(|rdata| rdata.to_rdata()).map(act).collect::<Vec<_>>()
    };
    gone.iter().filter(goes).flat_map(removed).collect()
}

/// Those that a plan neither changes nor lists as waiting, as far as the command selects them.
pub fn left(
    context: &RuleContext<'_>,
    gone: &[GoneEndpoint<'_>],
    (changes, waiting): (&[Change], &[DelayedRrset]),
) -> Vec<LeftOrphan> {
    let changed = changes.iter().map(|change| (&change.zone, &change.key));
    let settled: BTreeSet<(&ZoneName, &RrKey)> =
        changed.chain(waiting.iter().map(|waiting| (&waiting.zone, &waiting.key))).collect();
    let left = gone.iter().filter_map(|own| {
        let project = own.terms.project;
        let rrset = left_behind::left_rrset(context, own.found);
        if settled.contains(&(&rrset.zone, &rrset.key)) || !context.selection.includes_subject(&own.subject, project) {
            return None;
        }
        Some(LeftOrphan {
            orphan: OrphanName { pool: rrset.pool.clone(), name: own.found.rrset.owner().as_name().to_name() },
            hosts: Vec::new(),
            is_of_files: false,
            without: "endpoint",
            project: Some(context.project_id(project).to_owned()),
            remedy: left_behind::remedy_of_srv(context, own.found, project),
            rrsets: vec![rrset],
        })
    });
    left.collect()
}

/// Own SRV like those of sets, in the domains of projects and in that of no set: a set has another domain now, or its file is
/// gone. No rule removes them. They are without those that are among `others`.
pub fn left_elsewhere(context: &RuleContext<'_>, others: &[LeftOrphan]) -> Vec<LeftOrphan> {
    if context.inventory.pods.sets.is_empty() || context.inventory.config.is_marked_by(Registry::Noop) {
        return Vec::new();
    }
    let (names, domains) = (PodNames::of(context), ProjectDomains::of_all(context));
    let is_known: BTreeSet<(&ZoneName, &RrKey)> =
        others.iter().flat_map(|left| &left.rrsets).map(|left| (&left.zone, &left.key)).collect();
    let left = context.live.rrsets_of(Rtype::SRV).filter_map(|found| {
        let owner = found.rrset.owner();
        let name = owner.as_name();
        let SrvName { domain, .. } = SrvName::of(name)?;
        let project = domains.project_of(name).filter(|project| context.selection.includes_project(*project))?;
        let is_of_set = !names.sets_in(domain).is_empty();
        if is_of_set || context.files_rest(project) || is_stated(context, name) || !is_own(context, found) {
            return None;
        }
        let rrset = left_behind::left_rrset(context, found);
        (!is_known.contains(&(&rrset.zone, &rrset.key))).then(|| LeftOrphan {
            orphan: OrphanName { pool: rrset.pool.clone(), name: name.to_name() },
            hosts: Vec::new(),
            is_of_files: false,
            without: "endpoint",
            project: Some(context.project_id(project).to_owned()),
            rrsets: vec![rrset],
            remedy: "delete it by hand: no set of pods has this domain now".to_owned(),
        })
    });
    left.collect()
}
