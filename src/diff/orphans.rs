//! Own records of names that no host has, and how policy `sync` removes them.

use super::act::{RuleAct, RuleActor};
use super::context::RuleContext;
use super::own;
use super::pod_doubt::PodDoubts;
use super::pod_names::{self, PodNameFate, PodNames};
use super::protect::is_untouchable;
use crate::change::Rule;
use crate::claim::host_rtypes::{self, HostRtype};
use crate::claim::{OrphanName, Subject};
use crate::dns::{Name, NameRef, Rdata};
use crate::inventory::model::{Policy, ProjectAdmin, ProjectIndex};
use crate::inventory::value::Inv;
use crate::live::LiveRrset;
use crate::registry::Registry;

/// A name that no host of hosts.csv has, and at which own RRsets are.
#[derive(Debug)]
pub struct Orphan<'c> {
    /// The name.
    pub name: Name,
    /// The own RRsets at it of types that hosts claim at their names; A only in the domain of a project whose addresses the
    /// inventory lists.
    pub rrsets: Vec<LiveRrset<'c>>,
    /// The own PTR RRsets that name it.
    pub pointers: Vec<LiveRrset<'c>>,
    /// What sets of pods say of it.
    pub fate: PodNameFate,
    /// The number to which names.lock still gives the name, and which hosts.csv does not have.
    pub locked_for: Option<Inv>,
}

/// Finds all orphans, sorted by name; none where own RRsets cannot be distinguished from others. A name of which it is not known
/// whether a pod has it, or an SRV lists it, is none.
pub fn find<'c>(context: &RuleContext<'c>) -> Vec<Orphan<'c>> {
    if context.inventory.config.is_marked_by(Registry::Noop) {
        return Vec::new();
    }
    let has_subject =
        |name: NameRef<'_>| context.names.has_host(context.inventory, name) || context.stated.has_name(name);
    let names = context.live.names_beside_settled(|name| !has_subject(name));
    let domains = ProjectDomains::of_all(context);
    let pod_names = PodNames::of(context);
    let doubts = PodDoubts::of(context);
    let is_listed = |name: NameRef<'_>| {
        let project = domains.project_of(name);
        project.is_some_and(|project| context.inventory.lists_addresses(project)) || pod_names.may_be_of_pods(name)
    };
    let orphan = |name: Name| {
        let at = name.as_name();
        let is_of_host = |found: &LiveRrset<'_>| {
            let (owner, rtype) = (found.rrset.owner(), found.rrset.rtype());
            let is_of_file = context.stated.on(owner.as_name(), rtype).next().is_some()
                || context.stated.holds(owner.as_name(), rtype)
                || !context.statements.by(owner.as_name(), rtype).is_empty();
            context.marking(found.zone).registry != Registry::Noop && own::is_own(context, *found) && !is_of_file
        };
        let claimed = |own: &HostRtype| context.live.rrset(at, own.rtype).filter(|_| !own.needs_list || is_listed(at));
        let rrsets: Vec<LiveRrset<'c>> = host_rtypes::at_names().filter_map(claimed).filter(is_of_host).collect();
        let pointers = context.live.pointing_to(at).filter(is_of_host);
        let pointers: Vec<LiveRrset<'c>> = pointers.collect();
        if rrsets.is_empty() && pointers.is_empty() {
            return None;
        }
        let locked_for = context.names.locked_for(context.inventory, at);
        if locked_for.is_none() && doubts.cover(at) {
            return None;
        }
        let fate = pod_names.fate(at);
        if fate == PodNameFate::Stays {
            return None;
        }
        Some(Orphan { name, rrsets, pointers, locked_for, fate })
    };
    names.into_iter().filter_map(orphan).collect()
}

/// Removes the own AAAA and A RRsets of orphans in the domains of `sync` projects, and the own PTR that name them. In the
/// domains of sets of pods, own PTR go without any addresses, too.
///
/// A current row of names.lock keeps what is at its name. Nothing of hosts is removed while removals are paused, and nothing
/// for projects whose breaker has tripped, or where the command line names other subjects.
pub fn remove(context: &RuleContext<'_>, orphans: &[Orphan<'_>]) -> Vec<RuleAct> {
    let mut acts = Vec::new();
    let domains = ProjectDomains::of_sync(context);
    let rests = context.removals_rest();
    for orphan in orphans.iter().filter(|orphan| orphan.locked_for.is_none()) {
        let name = orphan.name.as_name();
        // A pod that was to have an address of it may be elsewhere by now, and leave a PTR that points to nothing.
        let pointer = orphan.pointers.first().copied().filter(|_| orphan.fate.set().is_some());
        let first = orphan.rrsets.first().copied().or(pointer);
        let Some(first) = first.filter(|_| !is_untouchable(context, name)) else { continue };
        let of_hosts = || domains.project_of(name).filter(|project| !rests && removes(context, *project));
        let terms = orphan.fate.set().and_then(|set| context.inventory.pods.sets[set.0 as usize].terms());
        let project = match terms {
            Some(terms) => Some(terms.project).filter(|project| pod_names::removes(context, *project)),
            None => of_hosts(),
        };
        let Some(project) = project else { continue };
        let unclaimed = || {
            let (pool, name) = (context.pool_of(first.zone).clone(), orphan.name.clone());
            Subject::Orphan(OrphanName { pool, name })
        };
        let (subject, rule) = match &orphan.fate {
            PodNameFate::Replaced(_, old) => (old.clone(), Rule::NotStated),
            PodNameFate::Goes(_) => (unclaimed(), Rule::NoPod),
            PodNameFate::OfNoSet | PodNameFate::Stays | PodNameFate::Settles(..) => (unclaimed(), Rule::Orphan),
        };
        if !context.selection.includes_subject(&subject, project) {
            continue;
        }
        let actor = RuleActor { subject, project, by_right: false };
        let policy = || context.settings(project).map(|settings| settings.policy_origin);
        let evidence = terms.map(|terms| terms.origin).or_else(policy);
        let mut remove = |found: LiveRrset<'_>, rdata: Rdata| {
            acts.push(RuleAct::removal(found, rdata, rule, actor.clone(), evidence));
        };
        for found in &orphan.rrsets {
            found.rrset.rdata().for_each(|rdata| remove(*found, rdata.to_rdata()));
        }
        for pointer in &orphan.pointers {
            remove(*pointer, Rdata::from_name(name));
        }
    }
    acts
}

/// Whether the orphans of a project are removed.
pub fn removes(context: &RuleContext<'_>, project: ProjectIndex) -> bool {
    let sync = context.settings(project).is_some_and(|own| own.automation && own.policy == Policy::Sync);
    let allowed = context.admin(project).is_some_and(|admin| admin.automation_allowed);
    sync && allowed
        && !context.files_rest(project)
        && !context.is_tripped(project)
        && context.selection.includes_project(project)
}

/// Which project a name is in: the one that has the longest suffix of it as a domain.
pub struct ProjectDomains<'c>(Vec<(NameRef<'c>, ProjectIndex)>);

impl<'c> ProjectDomains<'c> {
    /// The domains that policy `sync` searches: the `dns_domain` of each project.
    pub fn of_sync(context: &RuleContext<'c>) -> ProjectDomains<'c> {
        ProjectDomains::collect(context, |_| &[])
    }

    /// All domains of all projects.
    pub fn of_all(context: &RuleContext<'c>) -> ProjectDomains<'c> {
        ProjectDomains::collect(context, |admin| &admin.also_domains)
    }

    /// Collects the domains, with `others` of each project; the longest first.
    fn collect(context: &RuleContext<'c>, others: impl Fn(&'c ProjectAdmin) -> &'c [Name]) -> ProjectDomains<'c> {
        let mut domains = Vec::new();
        for (place, project) in context.inventory.projects.iter().enumerate() {
            let Some(admin) = project.admin.as_ref() else { continue };
            let names = std::iter::once(&admin.dns_domain).chain(others(admin));
            domains.extend(names.map(|domain| (domain.as_name(), ProjectIndex(place as u32))));
        }
        domains.sort_by_key(|(domain, _)| std::cmp::Reverse(domain.as_wire().len()));
        ProjectDomains(domains)
    }

    /// The project that a name is in.
    pub fn project_of(&self, name: NameRef<'_>) -> Option<ProjectIndex> {
        self.0.iter().find(|(domain, _)| name.is_at_or_below(*domain)).map(|(_, project)| *project)
    }
}
