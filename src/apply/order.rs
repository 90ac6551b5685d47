//! Which changes are made together, and in which order. Pure.
//!
//! Comes in: the changes of a plan. Goes out: units, which are accepted or refused as a whole, and the phase of each
//! change.

use std::collections::HashMap;

use super::model::Phase;
use crate::change::{Change, ChangeKind};
use crate::claim::{OrphanName, Subject};
use crate::diff::own::txt_name;
use crate::dns::{Name, reverse};
use crate::inventory::value::Inv;

/// Changes that are made together or not at all: those of hosts that share one, or of a name that no host has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeUnit {
    /// The places of its changes in the plan, ascending; never empty.
    pub changes: Vec<usize>,
}

/// What ties changes together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum UnitTie {
    /// A host.
    Host(Inv),
    /// A name that no host has.
    Name(OrphanName),
}

/// Joins changes into units, in the order of their first changes, and gives the phase of each change. A TXT of the
/// registry goes with the RRset that it records.
pub fn arrange(changes: &[Change]) -> (Vec<ChangeUnit>, Vec<Phase>) {
    let companions = companions(changes);
    let leading = companions.iter().enumerate().map(|(place, companion)| companion.unwrap_or(place));
    let phases = leading.map(|place| phase(&changes[place])).collect();
    (units(changes, &companions), phases)
}

/// Joins changes into units.
fn units(changes: &[Change], companions: &[Option<usize>]) -> Vec<ChangeUnit> {
    let mut groups = DisjointSets::new(changes.len());
    let mut first: HashMap<UnitTie, usize> = HashMap::new();
    for (place, change) in changes.iter().enumerate() {
        for tie in ties(change) {
            groups.join(place, *first.entry(tie).or_insert(place));
        }
        if let Some(companion) = companions[place] {
            groups.join(place, companion);
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

/// The phase of a change by itself.
fn phase(change: &Change) -> Phase {
    match (&change.kind, reverse::is_reverse(change.zone.as_name())) {
        (_, true) => Phase::Reverse,
        (ChangeKind::Delete { .. }, false) => Phase::Deletes,
        (ChangeKind::Create { .. } | ChangeKind::Modify { .. }, false) => Phase::Forward,
    }
}

/// For each change that is a TXT of the registry: the place of the change of the RRset that it records.
fn companions(changes: &[Change]) -> Vec<Option<usize>> {
    let mut recorded: HashMap<Name, usize> = HashMap::new();
    for (place, change) in changes.iter().enumerate().filter(|(_, change)| !change.is_registry()) {
        if let Some(Ok(name)) = txt_name(change.key.owner.as_name(), change.key.rtype) {
            recorded.insert(name, place);
        }
    }
    let companion = |change: &Change| recorded.get(change.key.owner.as_name().as_wire()).copied();
    changes.iter().map(|change| if change.is_registry() { companion(change) } else { None }).collect()
}

/// What a change belongs to: its hosts; where it has none, its names without a host.
fn ties(change: &Change) -> Vec<UnitTie> {
    let hosts: Vec<UnitTie> = change.hosts().into_iter().map(UnitTie::Host).collect();
    if change.subject.host().is_some() {
        return hosts;
    }
    let name = |subject: &Subject| match subject {
        Subject::Orphan(orphan) => Some(UnitTie::Name(orphan.clone())),
        Subject::Host(_) | Subject::Released(_) => None,
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
