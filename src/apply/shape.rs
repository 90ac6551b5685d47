//! Whether a plan holds only what a plan can hold. Pure.
//!
//! Comes in: a plan, and what the settings say of zones, projects and the registry. Goes out: the first change that no
//! rule makes, in words. The rules themselves are in `diff`; this is what is true of all that they make, as far as a
//! plan and the settings show it:
//!
//! | change | what is true of it |
//! |---|---|
//! | any | its name is in its zone and in no zone below it; it is no apex and no marker |
//! | any | its RRset has at most `max_rrset` records afterwards, or no more than before |
//! | AAAA, A | not at a wildcard |
//! | A that adds, or sets the TTL | the inventory lists the addresses of its project |
//! | AAAA or A that adds, or sets the TTL | one address more at most, unless it is for some targets of its pool alone or the inventory lists them; its name is directly below a domain of its project |
//! | PTR | at the reverse name of a whole address |
//! | PTR that adds | it points to a name directly below a domain of a project |
//! | any | its RRset is ours by its mark where it is created, and stays of whom it is; where marks are the registry |
//! | one that changes a mark alone | it puts our `owner` in the place of another, or of none where TXT are read, with the reason `adopted` |
//! | TXT of the registry | `registry = "txt"`; it adds or removes the registry's text for an RRset that the plan creates or deletes |
//! | any that a file states | not the SOA; its name is at or below a domain of its project, and may be an apex or a wildcard |
//!
//! Each also has the reasons that rules give for what it does. Removals have few limits: they are about what was found,
//! and other editors may have put that at any name.
//!
//! A plan that undoes an apply puts back what was there, so that only its reasons and its names are tested here. That its
//! apply changed all of it is tested by the journal (`undo::stray`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::slice;

use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::claim::host_rtypes::{self, HostRtype, HostSite};
use crate::claim::{OrphanName, Subject};
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, ZoneName, is_of_signer, reverse};
use crate::inventory::model::{Config, Project, ProjectAdmin};
use crate::live::Apexes;
use crate::plan::Plan;
use crate::registry::{MarkLabels, Marking, Registry};
use crate::target::{MARKER_LABEL, PoolName};

/// What the settings say of what a plan can hold.
#[derive(Debug)]
pub struct PlanBounds<'a> {
    /// The zones that zonewright.toml lists.
    zones: NestedZones<'a>,
    /// The zones of DNS update records, by their pools.
    of_records: HashMap<&'a PoolName, NestedZones<'a>>,
    /// The projects by id.
    projects: BTreeMap<&'a str, &'a ProjectAdmin>,
    /// The projects whose addresses the inventory lists: exactly these are at a name, of both families.
    listing: HashSet<&'a str>,
    /// The domains of all projects, in wire format.
    domains: HashSet<&'a [u8]>,
    /// How own RRsets are known where a pool says nothing.
    marking: &'a Marking,
    /// How they are known in the zones of pools.
    markings: HashMap<&'a PoolName, &'a Marking>,
    /// How many records an RRset may have after the plan.
    max_rrset: usize,
}

/// Zones of which one may be in another.
#[derive(Debug)]
struct NestedZones<'a> {
    /// The zones, in the order of their numbers in `apexes`.
    zones: Vec<&'a ZoneName>,
    /// Finds the zone of a name.
    apexes: Apexes,
}

impl<'a> NestedZones<'a> {
    /// These zones.
    fn new(zones: Vec<&'a ZoneName>) -> NestedZones<'a> {
        let apexes = Apexes::new(zones.iter().copied());
        NestedZones { zones, apexes }
    }

    /// The zone that a name belongs to.
    fn zone_of(&self, name: NameRef<'_>) -> Option<&'a ZoneName> {
        Some(self.zones[self.apexes.zone_of(name)?.0 as usize])
    }
}

impl<'a> PlanBounds<'a> {
    /// The bounds that settings set.
    pub fn of(config: &'a Config, projects: &'a [Project]) -> PlanBounds<'a> {
        let zones = config.listed_zones().map(|spec| &spec.name).collect();
        let mut of_records: HashMap<&PoolName, Vec<&ZoneName>> = HashMap::new();
        for spec in config.zones.iter().filter(|spec| config.is_of_record(spec)) {
            of_records.entry(&config.pool(spec).name).or_default().push(&spec.name);
        }
        let of_records = of_records.into_iter().map(|(pool, zones)| (pool, NestedZones::new(zones))).collect();
        let of_admins = projects.iter().filter_map(|project| Some((project.id.as_str(), project.admin.as_ref()?)));
        let bounds = PlanBounds::new(zones, of_admins, &config.marking, config.limits.max_rrset);
        let markings = config.pools.iter().map(|pool| (&pool.name, &pool.marking)).collect();
        let listing = projects.iter().filter(|project| project.lists_addresses()).map(|project| project.id.as_str());
        let listing = listing.collect();
        PlanBounds { of_records, listing, markings, ..bounds }
    }

    /// The bounds of zones, and of projects by id; with how own RRsets are known.
    pub fn new(
        zones: Vec<&'a ZoneName>,
        projects: impl IntoIterator<Item = (&'a str, &'a ProjectAdmin)>,
        marking: &'a Marking,
        max_rrset: usize,
    ) -> PlanBounds<'a> {
        let projects: BTreeMap<&str, &ProjectAdmin> = projects.into_iter().collect();
        let of = |admin: &'a ProjectAdmin| std::iter::once(&admin.dns_domain).chain(&admin.also_domains);
        let domains = projects.values().copied().flat_map(of).map(Name::as_wire).collect();
        PlanBounds {
            zones: NestedZones::new(zones),
            of_records: HashMap::new(),
            projects,
            listing: HashSet::new(),
            domains,
            marking,
            markings: HashMap::new(),
            max_rrset,
        }
    }

    /// How own RRsets are known in the zones of a pool.
    pub fn marking(&self, pool: &PoolName) -> &'a Marking {
        self.markings.get(pool).copied().unwrap_or(self.marking)
    }

    /// The zones among which one of a pool is.
    fn zones_of(&self, pool: &PoolName) -> &NestedZones<'a> {
        self.of_records.get(pool).unwrap_or(&self.zones)
    }

    /// The zone of a pool that a name belongs to.
    pub fn zone_of(&self, pool: &PoolName, name: NameRef<'_>) -> Option<&'a ZoneName> {
        self.zones_of(pool).zone_of(name)
    }

    /// Whether a host can have a name, by the domains of all projects.
    fn may_be_host(&self, name: NameRef<'_>) -> bool {
        name.parent().is_some_and(|domain| self.domains.contains(domain.as_wire())) && has_host_label(name)
    }
}

/// The first change of a plan that no rule makes, and why, in words; none where all of them can be made.
pub fn stray(plan: &Plan, bounds: &PlanBounds<'_>) -> Option<String> {
    // Limits are shares of the fleet; only an undo, which reads no inventory, does not know how large it is.
    if plan.fleet.is_none() && plan.undoes.is_none() {
        return Some("it does not say how many hosts the fleet has".to_owned());
    }
    let made: HashSet<(&[u8], Rtype, ExistenceChange)> =
        if plan.changes.iter().any(|change| change.key.rtype == Rtype::TXT) {
            plan.changes.iter().filter_map(made).collect()
        } else {
            HashSet::new()
        };
    let is_made = |(rtype, name, how): (Rtype, Name, ExistenceChange)| made.contains(&(name.as_wire(), rtype, how));
    plan.changes.iter().find_map(|change| {
        let why = narrowed(plan, change).and_then(|()| match plan.undoes {
            Some(_) => undoes(change),
            None => does(change, bounds, &is_made),
        });
        let Change { key, .. } = change;
        why.err().map(|why| format!("it changes {} of `{}`, but {why}", key.rtype, key.owner))
    })
}

/// Whether an RRset comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ExistenceChange {
    /// It is created.
    Created,
    /// It is deleted.
    Deleted,
}

/// The RRset that a change creates or deletes.
fn made(change: &Change) -> Option<(&[u8], Rtype, ExistenceChange)> {
    let made = match change.kind {
        ChangeKind::Create { .. } => ExistenceChange::Created,
        ChangeKind::Delete { .. } => ExistenceChange::Deleted,
        ChangeKind::Modify { .. } => return None,
    };
    Some((change.key.owner.as_name().as_wire(), change.key.rtype, made))
}

/// Why a change can be one of a plan, or no rule makes it.
type ShapeVerdict = Result<(), String>;

/// No rule makes a change.
fn no(why: impl Into<String>) -> ShapeVerdict {
    Err(why.into())
}

/// Judges a change of a plan that is narrowed to hosts: no breaker holds up hosts that a person named.
fn narrowed(plan: &Plan, change: &Change) -> ShapeVerdict {
    let Some(only) = &plan.only else { return Ok(()) };
    if change.subjects().any(|subject| only.includes(subject)) {
        return Ok(());
    }
    no("the plan is narrowed to subjects of which this is none")
}

/// Judges a change of a plan that undoes an apply.
fn undoes(change: &Change) -> ShapeVerdict {
    let name = change.key.owner.as_name();
    if is_marker(name, change.zone.as_name()) {
        return no(NOT_A_MARKER);
    }
    match change.reasons.iter().find(|reason| reason.rule != Rule::Undo) {
        Some(Reason { rule, .. }) => no(format!("a plan that undoes an apply has no reason `{rule}`")),
        None => Ok(()),
    }
}

/// What is wrong with a change at the name of a marker.
const NOT_A_MARKER: &str = "that is the name of the zone's marker, which no plan changes";

/// Judges a change of a plan that rules made; `is_made` says whether the plan creates or deletes an RRset.
fn does(
    change: &Change,
    bounds: &PlanBounds<'_>,
    is_made: &dyn Fn((Rtype, Name, ExistenceChange)) -> bool,
) -> ShapeVerdict {
    let Change { zone, key, kind, .. } = change;
    let (name, apex) = (key.owner.as_name(), zone.as_name());
    let is_stated = is_of_files(change);
    if key.rtype == Rtype::SOA || is_of_signer(key.rtype) {
        return no("no plan changes this type");
    }
    if name == apex && !is_stated {
        return no("of an apex a plan changes only what a file states");
    }
    if is_marker(name, apex) {
        return no(NOT_A_MARKER);
    }
    // A zone that is not configured is another refusal.
    let zones = bounds.zones_of(&change.pool);
    if let Some(own) = zones.zone_of(name)
        && own != zone
        && zones.zone_of(apex) == Some(zone)
    {
        return no(format!("zonewright.toml has this name in the zone `{own}`, and not in `{zone}`"));
    }
    let diff = RrsetDiff::of(kind);
    let (had, has) = (count(kind.before()), count(kind.after()));
    if has > bounds.max_rrset && has > had {
        let max = bounds.max_rrset;
        return no(format!("leaves {has} records there, and `max_rrset` of [limits] is {max}"));
    }
    reasons(change, &diff)?;
    marked(change, bounds.marking(&change.pool))?;
    match host_rtypes::of(key.rtype) {
        _ if change.is_of_mark() => Ok(()),
        _ if is_stated && !change.is_registry() => stated(change, bounds),
        Some(own) if own.site == HostSite::Name => at_host_name(change, &diff, bounds, own),
        Some(_) => pointer(change, &diff, bounds),
        None => text(change, &diff, bounds, is_made),
    }
}

/// Whether a change is about what a file states, or stated: its subject says so, or it removes what no host ever has.
fn is_of_files(change: &Change) -> bool {
    let name = change.key.owner.as_name();
    let is_of_hosts = |orphan: &OrphanName| match change.key.rtype {
        _ if change.is_registry() => true,
        // Rules of hosts remove none of these two.
        Rtype::AAAA => !name.is_wildcard() && name != change.zone.as_name(),
        // One of hosts names what no host has, and has that name as its orphan.
        Rtype::PTR => orphan.name.as_name() != name,
        _ => false,
    };
    let is_orphan = matches!(&change.subject, Subject::Orphan(orphan) if !is_of_hosts(orphan));
    is_orphan || change.subjects().any(Subject::is_stated)
}

/// Whether a change is a PTR of a pod, and all that it adds points into the domains of a project.
fn points_into(change: &Change, admin: &ProjectAdmin) -> bool {
    let is_of_pod = change.key.rtype == Rtype::PTR && change.subjects().all(|own| matches!(own, Subject::Pod(_)));
    let after = change.kind.after().into_iter().flat_map(Rrset::rdata);
    let mut targets = after.map(|rdata| rdata.as_rdata(Rtype::PTR).target());
    is_of_pod && targets.all(|target| target.is_some_and(|name| admin.contains(name)))
}

/// Judges a change of what files or rows state: at its name, in a domain of its project. What points back from the address of
/// a pod points to a name there.
fn stated(change: &Change, bounds: &PlanBounds<'_>) -> ShapeVerdict {
    let name = change.key.owner.as_name();
    let mut named = change.subjects().filter_map(Subject::stated_name);
    if named.any(|own| own.as_name() != name) {
        return no("a file states it for another name");
    }
    match bounds.projects.get(change.project.as_str()) {
        Some(admin) if admin.contains(name) => Ok(()),
        Some(admin) if points_into(change, admin) => Ok(()),
        Some(_) => no(format!("it is at or below no domain of project `{}`", change.project)),
        // It may be gone since the plan: that is no matter of shape.
        None => Ok(()),
    }
}

/// Judges a change of what hosts claim at their names.
fn at_host_name(change: &Change, diff: &RrsetDiff<'_>, bounds: &PlanBounds<'_>, claimed: &HostRtype) -> ShapeVerdict {
    let name = change.key.owner.as_name();
    if name.is_wildcard() {
        return no("no plan changes a wildcard");
    }
    // A removal is about any name at which a host's address was found.
    if diff.added.is_empty() && !diff.sets_ttl {
        return Ok(());
    }
    let project = &change.project;
    let is_listed = bounds.listing.contains(project.as_str());
    if claimed.needs_list && !is_listed {
        let rtype = claimed.rtype;
        return no(format!("the {rtype} records of the hosts of project `{project}` are not ours to set"));
    }
    match bounds.projects.get(project.as_str()) {
        Some(admin) if admin.has_name(name) && has_host_label(name) => {}
        Some(_) => return no(format!("a host of project `{project}` has no such name: see its domains")),
        // It may be gone since the plan: that is no matter of shape, and its hosts are left for it.
        None => {}
    }
    match diff.added.len() {
        0 | 1 => Ok(()),
        _ if is_listed => Ok(()),
        // The reference copy keeps all that a host may have, and the other copies get all of it.
        _ if !change.targets.is_empty() => Ok(()),
        added => no(format!("adds {added} addresses, and no plan adds more than one at a name")),
    }
}

/// Judges a change of PTR.
fn pointer(change: &Change, diff: &RrsetDiff<'_>, bounds: &PlanBounds<'_>) -> ShapeVerdict {
    let name = change.key.owner.as_name();
    let is_known = bounds.projects.contains_key(change.project.as_str());
    if reverse::address_of(name).is_none() {
        return no("a plan changes PTR only at the reverse name of a whole address");
    }
    let targets = diff.added.iter().filter_map(|rdata| rdata.as_rdata(Rtype::PTR).target());
    match targets.into_iter().find(|target| !bounds.may_be_host(*target)) {
        Some(target) if is_known => {
            no(format!("adds the target `{target}`, which is directly below no project's domain"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Judges a change of TXT: of the registry's, for an RRset that the plan creates or deletes.
fn text(
    change: &Change,
    diff: &RrsetDiff<'_>,
    bounds: &PlanBounds<'_>,
    is_made: &dyn Fn((Rtype, Name, ExistenceChange)) -> bool,
) -> ShapeVerdict {
    let marking = bounds.marking(&change.pool);
    let Marking { owner, registry, form, .. } = marking;
    if *registry != Registry::Txt {
        return no("a plan changes TXT only with `registry = \"txt\"`");
    }
    let Some((rtype, name)) = change.registered() else {
        return no("a plan changes TXT only at the registry's names, such as `aaaa-LABEL`");
    };
    match form.txt_name(name.as_name(), rtype) {
        Some(Ok(own)) if own.as_name() == change.key.owner.as_name() => {}
        _ => return no(format!("the registry has the TXT of the {rtype} of `{name}` at another name")),
    }
    if change.adopts() {
        return adopted(diff, marking);
    }
    let ours = || MarkLabels::new(owner, change.subject.manifest());
    let how = match (diff.added.as_slice(), diff.removed.as_slice(), diff.sets_ttl) {
        // Some providers have quotes around the text.
        ([added], [], false) if [ours(), ours().quoted()].iter().any(|ours| ours.to_rdata() == **added) => {
            ExistenceChange::Created
        }
        ([], removed, false) if removed.iter().all(|rdata| marking.is_ours(slice::from_ref(rdata)) == Some(true)) => {
            ExistenceChange::Deleted
        }
        _ => {
            return no(format!("does something else than to add or remove the registry's text of owner `{owner}`"));
        }
    };
    if is_made((rtype, name.clone(), how)) {
        return Ok(());
    }
    let what = if how == ExistenceChange::Created { "create" } else { "delete" };
    no(format!("it does not {what} the RRset that this TXT is for, the {rtype} of `{name}`"))
}

/// Judges the mark of an RRset after a change.
fn marked(change: &Change, marking: &Marking) -> ShapeVerdict {
    let owner = &marking.owner;
    let right = match &change.kind {
        ChangeKind::Delete { .. } => return Ok(()),
        ChangeKind::Create { .. } => marking.mark(change.subject.manifest()),
        ChangeKind::Modify { before, .. } if change.is_of_mark() => {
            marking.mark(None).and_then(|ours| match before.mark() {
                Some(mark) => Some(mark.of_owner(owner)),
                // A TXT of external-dns may have said whose it was.
                None => marking.registry.reads_texts().then_some(ours),
            })
        }
        ChangeKind::Modify { before, .. } => before.mark().cloned(),
    };
    match change.kind.after().and_then(Rrset::mark) == right.as_ref() {
        true => Ok(()),
        false if change.is_of_mark() => no(format!("does something else than to make `{owner}` the owner")),
        false => no(format!("its mark is not the one that `registry = \"{}\"` gives it", marking.registry)),
    }
}

/// Judges a change of TXT that takes RRsets over: the owner in each becomes ours, and nothing else changes.
fn adopted(diff: &RrsetDiff<'_>, marking: &Marking) -> ShapeVerdict {
    let owner = &marking.owner;
    let swapped = |rdata: &&Rdata| {
        let labels = marking.labels(rdata.as_rdata(Rtype::TXT)).filter(|labels| labels.owner() != owner);
        labels.map(|labels| labels.of_owner(owner).to_rdata())
    };
    let swapped: Option<BTreeSet<Rdata>> = diff.removed.iter().map(swapped).collect();
    let is_added = |rdata: &Rdata| swapped.as_ref().is_some_and(|swapped| swapped.contains(rdata));
    if swapped.is_some() && !diff.sets_ttl && diff.added.iter().all(|rdata| is_added(rdata)) {
        return Ok(());
    }
    no(format!("does something else than to make `{owner}` the owner"))
}

/// Judges the reasons of a change: rules of its type, and of what it does.
fn reasons(change: &Change, diff: &RrsetDiff<'_>) -> ShapeVerdict {
    let Change { key, subject, reasons, .. } = change;
    let (adds, removes) = rules_of(change);
    let is_of_type = |rule: Rule| adds.contains(&rule) || removes.contains(&rule);
    // `edited-since` and `copy-differs` say something about any change, and make none.
    let fits = |rule: Rule| match rule {
        Rule::Ttl => !change.is_of_owner(),
        rule if rule.is_remark() => true,
        rule => is_of_type(rule),
    };
    if let Some(Reason { rule, .. }) = reasons.iter().find(|reason| !fits(reason.rule)) {
        return no(format!("`{rule}` is no reason to change {} in such a plan", key.rtype));
    }
    let has = |rules: &[Rule]| reasons.iter().any(|reason| rules.contains(&reason.rule));
    if (!diff.added.is_empty() || change.is_of_mark()) && !has(&adds) {
        let adds: Vec<String> = adds.iter().map(|rule| format!("`{rule}`")).collect();
        return no(format!("adds a record without the reason {}", adds.join(" or ")));
    }
    if !diff.removed.is_empty() && !has(&removes) {
        return no("removes a record, and none of its reasons is one to remove");
    }
    if diff.sets_ttl && !has(&[Rule::Ttl]) && !change.is_registry() {
        return no("sets the TTL without the reason `ttl`");
    }
    let fits_rule = |reason: &Reason| match reason.rule {
        Rule::Registry | Rule::Adopted | Rule::EditedSince | Rule::CopyDiffers => reason.subject == *subject,
        Rule::NoPod if change.lists_pods() => matches!(reason.subject, Subject::Endpoints(_)),
        Rule::Orphan | Rule::NoPod => matches!(reason.subject, Subject::Orphan(_)),
        Rule::Released => matches!(reason.subject, Subject::Released(_)) && subject.counted().is_some(),
        Rule::Stated | Rule::NotStated | Rule::MakesRoom => reason.subject.is_stated(),
        Rule::Ttl => reason.subject.counted().is_some() && subject.counted().is_some(),
        _ => matches!(reason.subject, Subject::Host(_)) && subject.counted().is_some(),
    };
    let is_right = |reason: &Reason| fits_rule(reason) && change.subjects().any(|own| *own == reason.subject);
    if let Some(orphan) = change.subjects().find(|own| !is_about(change, own, diff)) {
        return no(format!("it is not about `{orphan}`"));
    }
    match reasons.iter().find(|reason| !is_right(reason)) {
        Some(Reason { rule, .. }) => no(format!("the subjects of the change and of its reason `{rule}` do not fit")),
        None => Ok(()),
    }
}

/// Whether a change is about a subject, as far as the change shows it: an orphan is the name that loses its addresses, or
/// that is no longer pointed to.
fn is_about(change: &Change, subject: &Subject, diff: &RrsetDiff<'_>) -> bool {
    let Subject::Orphan(OrphanName { pool, name }) = subject else { return true };
    let is_name = |other: NameRef<'_>| other == name.as_name();
    match change.key.rtype {
        Rtype::AAAA => is_name(change.key.owner.as_name()) && change.pool == *pool,
        Rtype::PTR => {
            let points = |rdata: &&Rdata| rdata.as_rdata(Rtype::PTR).target().is_some_and(is_name);
            is_name(change.key.owner.as_name()) || diff.removed.iter().any(points)
        }
        _ if is_of_files(change) && !change.is_registry() => {
            is_name(change.key.owner.as_name()) && change.pool == *pool
        }
        // The TXT of a PTR does not say what the PTR pointed to.
        _ => !matches!(change.registered(), Some((Rtype::AAAA, recorded)) if !is_name(recorded.as_name())),
    }
}

/// The rules that add records of a change, and the rules that remove them.
fn rules_of(change: &Change) -> (Vec<Rule>, Vec<Rule>) {
    if change.is_of_mark() {
        return (vec![Rule::Adopted], vec![Rule::Adopted]);
    }
    let (mut adds, mut removes) = match host_rtypes::of(change.key.rtype) {
        Some(own) => (vec![own.adds], own.removes.to_vec()),
        None if change.is_registry() => {
            let rules = vec![Rule::Registry, Rule::Adopted];
            (rules.clone(), rules)
        }
        None => (Vec::new(), Vec::new()),
    };
    if matches!(change.key.rtype, Rtype::AAAA | Rtype::A | Rtype::PTR) || change.lists_pods() {
        removes.push(Rule::NoPod);
    }
    if is_of_files(change) && !change.is_registry() {
        adds.push(Rule::Stated);
        removes.extend([Rule::NotStated, Rule::MakesRoom, Rule::Orphan]);
    }
    (adds, removes)
}

/// What a change does to an RRset.
struct RrsetDiff<'a> {
    /// The records that it adds.
    added: Vec<&'a Rdata>,
    /// The records that it removes.
    removed: Vec<&'a Rdata>,
    /// Whether an RRset that stays gets another TTL.
    sets_ttl: bool,
}

impl RrsetDiff<'_> {
    /// Compares both sides.
    fn of(kind: &ChangeKind) -> RrsetDiff<'_> {
        let [before, after] = [kind.before(), kind.after()].map(|rrset| rrset.map_or(&[][..], Rrset::rdata));
        // Both are sorted.
        let missing = |of: &[Rdata], rdata: &Rdata| of.binary_search(rdata).is_err();
        RrsetDiff {
            added: after.iter().filter(|rdata| missing(before, rdata)).collect(),
            removed: before.iter().filter(|rdata| missing(after, rdata)).collect(),
            sets_ttl: matches!(kind, ChangeKind::Modify { before, after } if before.ttl() != after.ttl()),
        }
    }
}

/// How many records there are.
fn count(rrset: Option<&Rrset>) -> usize {
    rrset.map_or(0, |rrset| rrset.rdata().len())
}

/// Whether a name is that of the marker of the zone of this apex.
fn is_marker(name: NameRef<'_>, apex: NameRef<'_>) -> bool {
    name.first_label() == Some(MARKER_LABEL) && name.parent() == Some(apex)
}

/// Whether the first label of a name is one that the inventory can give: letters, digits, hyphens and underscores.
fn has_host_label(name: NameRef<'_>) -> bool {
    let is_plain = |octet: &u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
    name.first_label().is_some_and(|label| label.iter().all(is_plain))
}

#[cfg(test)]
mod tests;
