//! The rest of policy `sync`: own records of names that nobody has.

use super::act::{Act, Actor};
use super::context::Context;
use super::own;
use super::rules::is_untouchable;
use crate::change::Rule;
use crate::dns::{NameRef, Rdata, Rtype};
use crate::inventory::model::{Policy, ProjectIndex, Registry};
use crate::live::LiveRrset;

/// Removes the own AAAA RRsets in the domains of `sync` projects whose name no host and no current row of names.lock
/// has, and the own PTR that name them.
///
/// Nothing is done while removals rest, of projects whose breaker has tripped, where single hosts are named on the command line, or where nothing tells own
/// records from others.
pub fn remove_orphans(context: &Context<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    let domains = Domains::new(context);
    let registry = context.inventory.config.registry;
    let idle = !domains.any_sync || !context.selection.hosts.is_empty() || registry == Registry::Noop;
    if idle || context.removals_rest() {
        return acts;
    }
    for found in context.live.rrsets_of(Rtype::AAAA) {
        let owner = found.rrset.owner();
        let name = owner.as_name();
        let Some(project) = domains.sync_project_of(name) else { continue };
        let held = context.names.is_held(context.inventory, name);
        if held || is_untouchable(context, name) || !own::is_own(context, found) {
            continue;
        }
        let actor = Actor { host: None, project, by_right: false };
        let evidence = context.settings(project).map(|settings| settings.policy_origin);
        let mut remove = |found: LiveRrset<'_>, rdata: Rdata| {
            acts.push(Act::removal(found, rdata, Rule::Orphan, actor, evidence));
        };
        found.rrset.rdata().for_each(|rdata| remove(found, rdata.to_rdata()));
        for pointer in context.live.pointing_to(name).filter(|pointer| own::is_own(context, *pointer)) {
            remove(pointer, Rdata::from_name(name));
        }
    }
    acts
}

/// Which project a name is in: the one whose `dns_domain` is the longest suffix.
struct Domains<'c> {
    /// Each project's domain, with whether its orphans are removed; the longest first.
    domains: Vec<(NameRef<'c>, ProjectIndex, bool)>,
    /// Whether any project's orphans are removed.
    any_sync: bool,
}

impl<'c> Domains<'c> {
    /// Collects the domains.
    fn new(context: &Context<'c>) -> Domains<'c> {
        let inventory = context.inventory;
        let numbered = inventory.projects.iter().enumerate().map(|(place, p)| (ProjectIndex(place as u32), p));
        let mut domains: Vec<(NameRef<'c>, ProjectIndex, bool)> = numbered
            .filter_map(|(index, project)| {
                let admin = project.admin.as_ref()?;
                let sync = project.file.settings().is_some_and(|s| s.automation && s.policy == Policy::Sync);
                let rests = context.is_tripped(index);
                let runs = sync && admin.automation_allowed && !rests && context.selection.includes_project(index);
                Some((admin.dns_domain.as_name(), index, runs))
            })
            .collect();
        domains.sort_by_key(|(domain, _, _)| std::cmp::Reverse(domain.as_wire().len()));
        let any_sync = domains.iter().any(|(_, _, runs)| *runs);
        Domains { domains, any_sync }
    }

    /// The project that a name is in, where its orphans are removed.
    fn sync_project_of(&self, name: NameRef<'_>) -> Option<ProjectIndex> {
        let (_, project, runs) = self.domains.iter().find(|(domain, _, _)| name.is_at_or_below(*domain))?;
        runs.then_some(*project)
    }
}
