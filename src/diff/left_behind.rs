//! Own records of names that no host has, and that a plan leaves.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::context::RuleContext;
use super::orphans::{self, Orphan, ProjectDomains};
use super::protect;
use super::protect::is_untouchable;
use crate::change::{Change, DelayedRrset};
use crate::claim::OrphanName;
use crate::dns::{Name, NameRef, RdataRef, RrKey, Rtype, ZoneName, reverse};
use crate::inventory::model::{Policy, ProjectIndex};
use crate::inventory::value::Inv;
use crate::live::LiveRrset;
use crate::names::HolderRow;
use crate::target::PoolName;

/// What a plan leaves of one orphan.
#[derive(Debug)]
pub struct LeftOrphan {
    /// The name, and its pool; of a name that is in no zone the pool of what points to it.
    pub orphan: OrphanName,
    /// The hosts that had the name, by names.lock and hosts.csv, lowest first.
    pub hosts: Vec<Inv>,
    /// Whether files could state its records, and none does; else they are those of a host or pod.
    pub is_of_files: bool,
    /// What could have the name, and does not: `host`, `pod`, `host or pod`, `endpoint`.
    pub without: &'static str,
    /// The project whose domain the name is in; none where it is in no project's.
    pub project: Option<String>,
    /// The own RRsets that are left, AAAA first.
    pub rrsets: Vec<LeftRrset>,
    /// What deletes them, in words.
    pub remedy: String,
}

impl LeftOrphan {
    /// The notice about it; `created` says which applies created the RRsets.
    pub fn message(&self, created: &str) -> String {
        let LeftOrphan { orphan: OrphanName { name, .. }, rrsets, remedy, is_of_files, without, .. } = self;
        if *is_of_files {
            let types: Vec<String> = rrsets.iter().map(|left| left.key.rtype.to_string()).collect();
            return format!("no file states {} of `{name}`, and they are left{created}; {remedy}", types.join(", "));
        }
        let records = records(rrsets);
        format!("no {without} has the name `{name}`, and its records are left{created}: {records}; {remedy}")
    }
}

/// An own RRset that is left.
#[derive(Debug)]
pub struct LeftRrset {
    /// The pool of the zone.
    pub pool: PoolName,
    /// The zone.
    pub zone: ZoneName,
    /// The owner name and type.
    pub key: RrKey,
    /// The addresses that it holds, or that it is the reverse name of.
    pub addresses: Vec<IpAddr>,
}

/// The orphans that a plan neither changes nor lists as waiting, as far as the command selects them.
///
/// There are none while hosts.csv or names.lock as a whole is in doubt. A name is left out where a host may have it: a
/// bad row gives it, or it may be the fastbone of a host whose project file is bad. One that no host had is left out
/// while a pod of its project may have it that is not known. A command that names hosts selects the orphans that these hosts
/// had by the inventory. An orphan that no host had by the inventory is given, too: the
/// journal may know its host.
pub fn left(
    context: &RuleContext<'_>,
    orphans: &[Orphan<'_>],
    changes: &[Change],
    waiting: &[DelayedRrset],
) -> Vec<LeftOrphan> {
    let trust = &context.inventory.trust;
    if trust.hosts.doubt().is_some() || trust.names_lock.doubt().is_some() {
        return Vec::new();
    }
    let changed = changes.iter().map(|change| (&change.zone, &change.key));
    let settled: BTreeSet<(&ZoneName, &RrKey)> =
        changed.chain(waiting.iter().map(|waiting| (&waiting.zone, &waiting.key))).collect();
    let (domains, searched) = (ProjectDomains::of_all(context), ProjectDomains::of_sync(context));
    let strays: BTreeSet<&Name> = context.inventory.stray_names.iter().collect();
    let has_no_host = |orphan: &&Orphan<'_>| {
        !strays.contains(&orphan.name) && !context.names.may_be_held(context.inventory, orphan.name.as_name())
    };
    let left = orphans.iter().filter(has_no_host).filter_map(|orphan| {
        let rrsets = orphan.rrsets.iter().chain(&orphan.pointers).copied().map(|found| left_rrset(context, found));
        let rrsets: Vec<LeftRrset> = rrsets.filter(|left| !settled.contains(&(&left.zone, &left.key))).collect();
        if rrsets.is_empty() {
            return None;
        }
        let project = domains.project_of(orphan.name.as_name());
        let hosts = selected_holders(context, orphan.name.as_name(), project)?;
        // The notice about the source says that it is not known.
        let may_be_of_pod = project.is_some_and(|project| context.pods.may_hide(project));
        if hosts.is_empty() && orphan.locked_for.is_none() && may_be_of_pod {
            return None;
        }
        let is_searched = searched.project_of(orphan.name.as_name()) == project;
        let remedy = remedy(context, orphan, project.map(|project| (project, is_searched)));
        let project_id = project.map(|project| context.project_id(project).to_owned());
        let pool = context.live.zone_of(orphan.name.as_name()).map(|zone| context.pool_of(zone));
        let pool = pool.unwrap_or(&rrsets[0].pool).clone();
        Some(LeftOrphan {
            orphan: OrphanName { pool, name: orphan.name.clone() },
            hosts,
            is_of_files: false,
            without: without(context, orphan),
            project: project_id,
            rrsets,
            remedy,
        })
    });
    left.collect()
}

/// What could have the name of an orphan: a pod where it is a name of a set; where sets are, but not of this name, a host
/// or a pod, since the file of a set may be gone.
fn without(context: &RuleContext<'_>, orphan: &Orphan<'_>) -> &'static str {
    match orphan.fate.set() {
        Some(_) => "pod",
        None if context.inventory.pods.sets.is_empty() => "host",
        None => "host or pod",
    }
}

/// The hosts that had a name and that the command selects, lowest first; none where the command does not select the
/// name.
fn selected_holders(context: &RuleContext<'_>, name: NameRef<'_>, project: Option<ProjectIndex>) -> Option<Vec<Inv>> {
    let selection = context.selection;
    let holders = context.names.holders(context.inventory, name).map(|holder| match holder.by {
        HolderRow::Host(place) => {
            let host = &context.inventory.hosts[place as usize];
            (host.inv, host.project)
        }
        HolderRow::Lock(place) => {
            let row = &context.inventory.lock[place as usize];
            (row.inv, row.project)
        }
    });
    let all: BTreeSet<(Inv, ProjectIndex)> = holders.collect();
    let is_in_project = selection.projects.is_empty() || project.is_some_and(|own| selection.includes_project(own));
    if all.is_empty() {
        return is_in_project.then(Vec::new);
    }
    let includes = |(inv, project): &(Inv, ProjectIndex)| {
        if !selection.picks_subjects() {
            is_in_project || selection.includes_project(*project)
        } else {
            selection.includes(*inv, *project)
        }
    };
    let hosts: BTreeSet<Inv> = all.iter().filter(|holder| includes(holder)).map(|(inv, _)| *inv).collect();
    (!hosts.is_empty()).then(|| hosts.into_iter().collect())
}

/// One RRset that is left.
pub fn left_rrset(context: &RuleContext<'_>, found: LiveRrset<'_>) -> LeftRrset {
    let owner = found.rrset.owner();
    let zone = context.zone_spec(found.zone).name.clone();
    let addresses = match found.rrset.rtype() {
        Rtype::PTR => reverse::address_of(owner.as_name()).into_iter().collect(),
        _ => found.rrset.rdata().filter_map(RdataRef::address).collect(),
    };
    let owner = zone.owner(owner.as_name()).expect("live RRsets are in their zones");
    LeftRrset {
        pool: context.pool_of(found.zone).clone(),
        zone,
        key: RrKey { owner, rtype: found.rrset.rtype() },
        addresses,
    }
}

/// What deletes the records of a name that no pod has, in words.
fn remedy_of_pods(context: &RuleContext<'_>, project: ProjectIndex) -> String {
    let id = context.project_id(project);
    match context.settings(project).map(|settings| settings.policy) {
        None => format!("correct the project file of `{id}`, so that its policy is known"),
        Some(policy @ (Policy::CreateOnly | Policy::UpsertOnly)) => {
            format!("policy `repair` or `sync` would delete them, but project `{id}` has policy `{}`", policy.as_str())
        }
        Some(_) if context.is_tripped(project) => "they go once the breaker is reset".to_owned(),
        Some(_) => "they go with a plan that nothing narrows, once automation is allowed and on".to_owned(),
    }
}

/// What deletes an SRV of a set of a project that no endpoint has, in words.
pub fn remedy_of_srv(context: &RuleContext<'_>, found: LiveRrset<'_>, project: ProjectIndex) -> String {
    let owner = found.rrset.owner();
    let is_kept = is_untouchable(context, owner.as_name()) || protect::protection(context, owner.as_name()).is_some();
    match () {
        () if is_kept => "delete it by hand: the name is protected".to_owned(),
        () if context.held.has_rrset(&owner, Rtype::SRV) => {
            "delete it by hand: a person edited it after an apply, and the project has `keep_edits`".to_owned()
        }
        () => remedy_of_pods(context, project),
    }
}

/// What deletes the records of an orphan, in words. `project` is the one whose domain the name is in, with whether
/// policy `sync` searches that domain.
fn remedy(context: &RuleContext<'_>, orphan: &Orphan<'_>, project: Option<(ProjectIndex, bool)>) -> String {
    let by_hand = |why: &str| format!("delete them by hand: {why}");
    if let Some(inv) = orphan.locked_for {
        let first = if context.removals_rest() { "once no row and no source is bad, " } else { "" };
        return format!(
            "names.lock still gives the name to host {inv}, which hosts.csv does not have: {first}`zonewright release \
             {inv} --write` frees it"
        );
    }
    if let Some(terms) = orphan.fate.set().and_then(|set| context.inventory.pods.sets[set.0 as usize].terms()) {
        return remedy_of_pods(context, terms.project);
    }
    let Some((project, is_searched)) = project else { return by_hand("the name is in no project's domain") };
    let id = context.project_id(project);
    let name = orphan.name.as_name();
    let is_kept = is_untouchable(context, name) || protect::protection(context, name).is_some();
    let mut rrsets = orphan.rrsets.iter().chain(&orphan.pointers).copied().map(|found| found.rrset);
    match context.settings(project) {
        _ if rrsets.any(|rrset| context.held.has_rrset(&rrset.owner(), rrset.rtype())) => {
            by_hand("a person edited one of them after an apply, and the project has `keep_edits`")
        }
        _ if is_kept => by_hand("the name is protected"),
        _ if orphan.rrsets.is_empty() => by_hand("policy `sync` deletes PTR only together with an own AAAA"),
        _ if !is_searched => by_hand(&format!("policy `sync` does not look for names in `also_domains` of `{id}`")),
        None => format!("correct the project file of `{id}`, so that its policy is known"),
        Some(settings) if settings.policy != Policy::Sync => {
            format!("policy `sync` would delete them, but project `{id}` has policy `{}`", settings.policy.as_str())
        }
        Some(_) if context.selection.picks_subjects() => {
            "a plan that no `--host` and `--subject` narrow deletes them, as policy `sync` says".to_owned()
        }
        Some(_) if context.removals_rest() => {
            "policy `sync` deletes them once no row of hosts.csv and names.lock is bad and all sources are believed"
                .to_owned()
        }
        Some(_) if context.is_tripped(project) => "policy `sync` deletes them once the breaker is reset".to_owned(),
        Some(_) if !orphans::removes(context, project) => {
            format!("policy `sync` deletes them once automation is allowed and on for project `{id}`")
        }
        Some(_) => by_hand("another notice says why policy `sync` leaves them"),
    }
}

/// How many addresses of each type are shown: an RRset has one or two, but a wrong one may have many.
const ADDRESSES: usize = 4;

/// The records of RRsets of one name, in words: `AAAA 2a02::1, PTR of 2a02::1`.
fn records(rrsets: &[LeftRrset]) -> String {
    let of_type = |rtype: Rtype, what: &str| {
        let own = rrsets.iter().filter(|rrset| rrset.key.rtype == rtype);
        let addresses: Vec<String> = own.flat_map(|rrset| &rrset.addresses).map(|at| format!("`{at}`")).collect();
        let more = addresses.len().saturating_sub(ADDRESSES);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let shown = addresses[..addresses.len() - more].join(", ");
        (!addresses.is_empty()).then(|| format!("{what} {shown}{rest}"))
    };
    // An SRV has no address.
    let srv = rrsets.iter().any(|rrset| rrset.key.rtype == Rtype::SRV).then(|| "SRV".to_owned());
    [of_type(Rtype::AAAA, "AAAA"), of_type(Rtype::A, "A"), of_type(Rtype::PTR, "PTR of"), srv]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}
