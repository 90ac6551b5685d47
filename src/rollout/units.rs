//! Units: changes that are made together or not at all. Pure.
//!
//! Comes in: the changes of a plan. Goes out: units, which are accepted, refused and rolled out as a whole.

use std::collections::HashMap;

use crate::change::{Change, ChangeKind};
use crate::claim::{OrphanName, Subject};
use crate::dns::{NameRef, OwnerName, Rtype, ZoneName};
use crate::plan::Plan;
use crate::target::PoolName;

/// Changes that are made together or not at all: those of hosts that share one, or of which one takes an address at the name of the
/// other; or of a name that no host has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeUnit {
    /// The places of its changes in the plan, ascending; never empty.
    pub changes: Vec<usize>,
}

/// What ties changes together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum UnitTie {
    /// A host, or what a file states for a name.
    Subject(Subject),
    /// A name that no host has.
    Name(OrphanName),
}

/// The pool, the zone and the owner name of a change.
type ChangeSite<'a> = (&'a PoolName, &'a ZoneName, &'a OwnerName);

/// What ties changes to one another, in addition to their subjects: a TXT of the registry goes with the RRset that it
/// records, and a CNAME with what it replaces or what replaces it.
#[derive(Debug)]
pub struct ChangeTies<'a> {
    /// For each change that is a TXT of the registry: the place of the change of the RRset that it records.
    companions: Vec<Option<usize>>,
    /// The names where a CNAME is swapped for other types; with the places of the changes of the CNAME: one for each
    /// set of targets.
    replaced: HashMap<ChangeSite<'a>, Vec<usize>>,
    /// By the places of changes: the hosts at whose names they take addresses, and of which no rule has a part in that.
    affected: HashMap<usize, Vec<&'a Subject>>,
}

impl<'a> ChangeTies<'a> {
    /// What ties these changes.
    pub fn of(changes: &'a [Change]) -> ChangeTies<'a> {
        ChangeTies { companions: companions(changes), replaced: replaced(changes), affected: HashMap::new() }
    }

    /// What ties the changes of a plan.
    pub fn of_plan(plan: &'a Plan) -> ChangeTies<'a> {
        let mut affected: HashMap<usize, Vec<&Subject>> = HashMap::new();
        for (place, change) in plan.changes.iter().enumerate() {
            for host in plan.affected(change) {
                affected.entry(place).or_default().push(&host.subject);
            }
        }
        ChangeTies { affected, ..ChangeTies::of(&plan.changes) }
    }

    /// The change that one follows: for a TXT of the registry that of the RRset which it records, else itself.
    pub fn leading(&self, changes: &'a [Change], place: usize) -> &'a Change {
        &changes[self.companions[place].unwrap_or(place)]
    }

    /// Whether a CNAME and other types are swapped at the name of a change, at a target that it is for.
    pub fn is_swapped(&self, changes: &[Change], change: &Change) -> bool {
        self.swapped(changes, change).next().is_some()
    }

    /// The changes of the CNAME that is swapped at the name of a change, at targets that it is for.
    fn swapped<'c>(&'c self, changes: &'c [Change], change: &'c Change) -> impl Iterator<Item = usize> + 'c {
        let places = self.replaced.get(&site(change)).into_iter().flatten().copied();
        places.filter(|place| changes[*place].shares_target(change))
    }
}

/// Joins changes into units, in the order of their first changes.
pub fn units(changes: &[Change]) -> Vec<ChangeUnit> {
    joined(changes, &ChangeTies::of(changes))
}

/// Joins the changes of a plan into units, in the order of their first changes.
pub fn units_of(plan: &Plan) -> Vec<ChangeUnit> {
    joined(&plan.changes, &ChangeTies::of_plan(plan))
}

/// Joins changes into units by what ties them.
pub fn joined(changes: &[Change], tied: &ChangeTies<'_>) -> Vec<ChangeUnit> {
    let mut groups = DisjointSets::new(changes.len());
    let mut first: HashMap<UnitTie, usize> = HashMap::new();
    for (place, change) in changes.iter().enumerate() {
        let affected = tied.affected.get(&place).into_iter().flatten();
        for tie in ties(change).into_iter().chain(affected.map(|host| UnitTie::Subject((*host).clone()))) {
            groups.join(place, *first.entry(tie).or_insert(place));
        }
        for other in tied.companions[place].into_iter().chain(tied.swapped(changes, change)) {
            groups.join(place, other);
        }
    }
    let mut units: Vec<ChangeUnit> = Vec::new();
    let mut of_group: HashMap<usize, usize> = HashMap::new();
    for place in 0..changes.len() {
        let unit = *of_group.entry(groups.find(place)).or_insert_with(|| {
            units.push(ChangeUnit { changes: Vec::new() });
            units.len() - 1
        });
        units[unit].changes.push(place);
    }
    units
}

/// Names a subject of a unit, and its project.
pub type UnitSubject<'a> = (&'a str, &'a Subject);

/// The subjects whose changes a unit has, in the order of the plan, each once: a host is one with the names that it had,
/// and one that comes from another project is of that in which something of it is to be.
pub fn hosts_of<'a>(changes: &'a [Change], unit: &ChangeUnit) -> Vec<UnitSubject<'a>> {
    let mut hosts: Vec<(UnitSubject<'_>, bool)> = Vec::new();
    for place in &unit.changes {
        let change = &changes[*place];
        let key = (change.project.as_str(), &change.subject);
        let lasts = change.kind.after().is_some();
        match hosts.iter_mut().find(|((_, known), _)| is_one(known, key.1)) {
            Some((_, known_lasts)) if *known_lasts || !lasts => {}
            Some(known) => *known = (key, true),
            None => hosts.push((key, lasts)),
        }
    }
    hosts.into_iter().map(|(key, _)| key).collect()
}

/// Whether two subjects are applied as one: they are equal, or of one host.
pub fn is_one(subject: &Subject, other: &Subject) -> bool {
    subject == other || (subject.host().is_some() && subject.host() == other.host())
}

/// The names where a CNAME, or a delegation, is deleted and other types are created, or the other way round; with the
/// places of the changes of the CNAME, or of the NS.
fn replaced(changes: &[Change]) -> HashMap<ChangeSite<'_>, Vec<usize>> {
    let (cnames, others): (Vec<_>, Vec<_>) =
        changes.iter().enumerate().partition(|(_, change)| matches!(change.key.rtype, Rtype::CNAME | Rtype::NS));
    let mut at: HashMap<ChangeSite<'_>, Vec<usize>> = HashMap::new();
    for (place, cname) in cnames {
        at.entry(site(cname)).or_default().push(place);
    }
    let mut swapped: HashMap<ChangeSite<'_>, Vec<usize>> = HashMap::new();
    for (_, change) in others {
        for place in at.get(&site(change)).into_iter().flatten() {
            let is_swap = matches!(
                (&changes[*place].kind, &change.kind),
                (ChangeKind::Delete { .. }, ChangeKind::Create { .. })
                    | (ChangeKind::Create { .. }, ChangeKind::Delete { .. })
            );
            if is_swap && changes[*place].shares_target(change) {
                let places = swapped.entry(site(change)).or_default();
                places.extend((!places.contains(place)).then_some(*place));
            }
        }
    }
    swapped
}

/// Where a change is.
fn site(change: &Change) -> ChangeSite<'_> {
    (&change.pool, &change.zone, &change.key.owner)
}

/// For each change that is a TXT of the registry: the place of the change of the RRset that it records, at a target of
/// both.
fn companions(changes: &[Change]) -> Vec<Option<usize>> {
    let mut recorded: HashMap<(&PoolName, Rtype, NameRef<'_>), Vec<usize>> = HashMap::new();
    for (place, change) in changes.iter().enumerate().filter(|(_, change)| !change.is_registry()) {
        recorded.entry((&change.pool, change.key.rtype, change.key.owner.as_name())).or_default().push(place);
    }
    let companion = |change: &Change| {
        let (rtype, name) = change.registered()?;
        let places = recorded.get(&(&change.pool, rtype, name.as_name()))?;
        let is_its = |place: &usize| changes[*place].shares_target(change);
        places.iter().copied().rev().find(is_its).or_else(|| places.last().copied())
    };
    changes.iter().map(|change| if change.is_registry() { companion(change) } else { None }).collect()
}

/// What a change belongs to: its hosts and what files state; where it has none, its unclaimed names.
fn ties(change: &Change) -> Vec<UnitTie> {
    if change.subject.counted().is_some() {
        return change.subjects().filter_map(Subject::counted).map(UnitTie::Subject).collect();
    }
    let name = |subject: &Subject| match subject {
        Subject::Orphan(orphan) => Some(UnitTie::Name(orphan.clone())),
        _ => None,
    };
    change.subjects().filter_map(name).collect()
}

/// Disjoint sets of changes.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Each change by itself.
    fn new(count: usize) -> DisjointSets {
        DisjointSets((0..count).collect())
    }

    /// The least change of the set that a change is in.
    fn find(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    /// Makes one set of two.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}
