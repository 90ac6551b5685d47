//! Own records in the domains of projects with sources of records that nothing states, and that a plan leaves.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::context::RuleContext;
use super::left_behind::{LeftOrphan, LeftRrset, left_rrset};
use super::orphans::ProjectDomains;
use super::own;
use super::protect;
use super::statements::ADOPTED;
use crate::change::{Change, DelayedRrset};
use crate::claim::host_rtypes;
use crate::claim::{OrphanName, Subject};
use crate::dns::{Name, NameRef, RrKey, Rtype, ZoneName};
use crate::inventory::model::{Policy, ProjectIndex};
use crate::inventory::stated::DocumentIndex;
use crate::live::LiveRrset;
use crate::registry::Registry;

/// What a plan neither changes nor lists as waiting of them, by name, without what is among the `others` that are left.
///
/// There is nothing while a source of the project is not believed or has a bad entry: it may state them; and at `resting`
/// names, where an entry is blocked or skipped. AAAA and PTR, and A where the inventory lists addresses, are looked for at
/// the names of hosts.
pub fn left(
    context: &RuleContext<'_>,
    resting: &HashSet<&Name>,
    (changes, waiting): (&[Change], &[DelayedRrset]),
    others: &[LeftOrphan],
) -> Vec<LeftOrphan> {
    let sources = &context.inventory.stated.sources;
    let selection = context.selection;
    if sources.is_empty() || (selection.picks_subjects() && !selection.picks_others()) {
        return Vec::new();
    }
    let changed = changes.iter().map(|change| (&change.zone, &change.key));
    let waiting = waiting.iter().map(|waiting| (&waiting.zone, &waiting.key));
    let others = others.iter().flat_map(|left| &left.rrsets).map(|left| (&left.zone, &left.key));
    let changed: BTreeSet<(&ZoneName, &RrKey)> = changed.chain(waiting).chain(others).collect();
    let domains = ProjectDomains::of_all(context);
    let manages = |project: ProjectIndex, rtype: Rtype| {
        let mut own = sources.iter().filter(|source| source.project == project);
        own.any(|source| source.types.as_ref().is_none_or(|types| types.contains(&rtype)))
    };
    let mut found: BTreeMap<Name, (ProjectIndex, BTreeMap<Rtype, LiveRrset<'_>>)> = BTreeMap::new();
    let mut consider = |at: NameRef<'_>, rtype: Rtype| {
        // What only hosts have is looked for at their names.
        if host_rtypes::are_claimed(rtype, false) || context.stated.on(at, rtype).next().is_some() {
            return;
        }
        let Some(project) = domains.project_of(at).filter(|project| manages(*project, rtype)) else { return };
        let is_of_host = host_rtypes::are_claimed(rtype, context.inventory.lists_addresses(project));
        let is_unknown = context.files_rest(project) || !selection.includes_project(project);
        if is_of_host || is_unknown || context.stated.holds(at, rtype) || is_of_zone(context, at, rtype) {
            return;
        }
        if let Some(rrset) = context.live.stated_rrset(at, rtype).filter(|rrset| own::is_own(context, *rrset)) {
            let (_, rrsets) = found.entry(at.to_name()).or_insert_with(|| (project, BTreeMap::new()));
            rrsets.insert(rtype, rrset);
        }
    };
    context.live.recorded_own().for_each(|(name, rtype)| consider(name.as_name(), rtype));
    if context.inventory.config.pools.iter().any(|pool| pool.marking.registry == Registry::Txt) {
        for mark in context.live.rrsets_of(Rtype::TXT) {
            let form = &context.marking(mark.zone).form;
            if let Some((Some(rtype), name)) = form.recorded_by(mark.rrset.owner().as_name()) {
                consider(name.as_name(), rtype);
            }
        }
    }
    context.live.marked_rrsets().for_each(|found| consider(found.rrset.owner().as_name(), found.rrset.rtype()));
    let index = DocumentIndex::of(&context.inventory.stated);
    let found = found.into_iter().filter(|(name, _)| !resting.contains(name));
    let left = found.filter_map(|(name, (project, rrsets))| {
        let rrsets = rrsets.into_values().map(|rrset| left_rrset(context, rrset));
        let rrsets: Vec<LeftRrset> = rrsets.filter(|left| !changed.contains(&(&left.zone, &left.key))).collect();
        let orphan = OrphanName { pool: rrsets.first()?.pool.clone(), name: name.clone() };
        if !selection.includes_subject(&Subject::Orphan(orphan.clone()), project) {
            return None;
        }
        let remedy = remedy(context, &index, (&name, project), &rrsets);
        let project = Some(context.project_id(project).to_owned());
        Some(LeftOrphan { orphan, hosts: Vec::new(), is_of_files: true, without: "host", project, rrsets, remedy })
    });
    left.collect()
}

/// Whether an RRset is what its zone needs to be served.
fn is_of_zone(context: &RuleContext<'_>, name: NameRef<'_>, rtype: Rtype) -> bool {
    matches!(rtype, Rtype::SOA | Rtype::NS) && context.live.is_apex(name)
}

/// What deletes them, in words.
fn remedy(
    context: &RuleContext<'_>,
    index: &DocumentIndex<'_>,
    (name, project): (&Name, ProjectIndex),
    rrsets: &[LeftRrset],
) -> String {
    let id = context.project_id(project);
    let at = name.as_name();
    let is_known = |left: &LeftRrset| {
        let notes = context.statements.by(at, left.key.rtype);
        notes.iter().any(|by| *by == ADOPTED || index.find(by).is_some())
    };
    let by_hand = |why: &str| format!("state them, or delete them by hand: {why}");
    if protect::is_untouchable(context, at) || protect::protection(context, at).is_some() {
        return by_hand("the name is an apex, a wildcard or protected, or other records point to it");
    }
    if context.stated.has_name(at) || context.names.has_host(context.inventory, at) {
        return by_hand("something else has the name, and policy `sync` deletes at free names alone");
    }
    match context.settings(project).map(|settings| settings.policy) {
        _ if !rrsets.iter().all(is_known) => by_hand("no apply knows that a source stated them"),
        Some(Policy::Sync) => by_hand("another notice says why policy `sync` leaves them"),
        Some(policy) => {
            let is_there = |left: &LeftRrset| {
                let notes = context.statements.by(at, left.key.rtype);
                notes.iter().any(|by| index.find(by).is_some_and(|noted| noted.document.is_some()))
            };
            let needed = if rrsets.iter().all(is_there) { "policy `repair` or `sync`" } else { "policy `sync`" };
            format!("{needed} would delete them, but project `{id}` has policy `{}`", policy.as_str())
        }
        None => format!("correct the project file of `{id}`, so that its policy is known"),
    }
}
