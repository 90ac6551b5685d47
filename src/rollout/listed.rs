//! Names that SRV list: whose changes come after those of another unit. Pure.
//!
//! An SRV lists a name once that is there, and a name goes once no SRV lists it. Where the unit that comes first is not made,
//! the other one is not made either.

use std::collections::{BTreeMap, HashMap};

use super::units::ChangeUnit;
use crate::change::{Change, ChangeKind};
use crate::claim::Subject;
use crate::dns::{Name, NameRef, Rrset, Rtype};

/// How a unit needs another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameTie {
    /// Its SRV is to list a name that the other one creates.
    Lists,
    /// It deletes a name that the SRV of the other one is to list no longer.
    Leaves,
}

/// What a unit needs of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameNeed {
    /// The place of the other unit.
    pub unit: usize,
    /// How.
    pub tie: NameTie,
    /// The name that is listed.
    pub name: Name,
    /// The other one: the pod whose name it is, or the endpoint.
    pub subject: Subject,
}

impl NameNeed {
    /// Why a unit is left, in words; `why` is why the other one was not made.
    pub fn unmet(&self, why: &str) -> String {
        let NameNeed { name, subject, .. } = self;
        match self.tie {
            NameTie::Lists => format!("its SRV is to list `{name}`, which is not there: {subject}: {why}"),
            NameTie::Leaves => format!("an SRV still lists `{name}`: {subject}: {why}"),
        }
    }
}

/// What the units of a plan need of one another.
#[derive(Debug, Default)]
pub struct NameNeeds(BTreeMap<usize, Vec<NameNeed>>);

impl NameNeeds {
    /// Finds them; a name that is there already needs nothing.
    pub fn of(changes: &[Change], units: &[ChangeUnit]) -> NameNeeds {
        let mut needs = NameNeeds::default();
        if !changes.iter().any(Change::lists_pods) {
            return needs;
        }
        let mut at: HashMap<NameRef<'_>, Vec<PlacedChange<'_>>> = HashMap::new();
        for own in placed(changes, units).filter(|own| matches!(own.change.key.rtype, Rtype::A | Rtype::AAAA)) {
            at.entry(own.change.key.owner.as_name()).or_default().push(own);
        }
        for srv in placed(changes, units).filter(|own| own.change.lists_pods()) {
            let (before, after) = (servers(srv.change.kind.before()), servers(srv.change.kind.after()));
            let moved = before.iter().chain(&after).filter(|name| !before.contains(name) || !after.contains(name));
            for address in moved.filter_map(|name| at.get(name)).flatten() {
                needs.tie(srv, *address, after.contains(&address.change.key.owner.as_name()));
            }
        }
        needs
    }

    /// Ties an SRV and the addresses of a name that it lists from now on, or no longer.
    fn tie(&mut self, srv: PlacedChange<'_>, address: PlacedChange<'_>, is_listed: bool) {
        let shares_target = srv.change.pool != address.change.pool || srv.change.shares_target(address.change);
        let (later, first, tie) = match address.change.kind {
            ChangeKind::Create { .. } if is_listed => (srv, address, NameTie::Lists),
            ChangeKind::Delete { .. } if !is_listed => (address, srv, NameTie::Leaves),
            _ => return,
        };
        if shares_target && later.unit != first.unit {
            let name = address.change.key.owner.as_name().to_name();
            let need = NameNeed { unit: first.unit, tie, name, subject: first.change.subject.clone() };
            let own = self.0.entry(later.unit).or_default();
            own.extend((!own.contains(&need)).then_some(need));
        }
    }

    /// Whether no unit needs another one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a unit needs.
    pub fn of_unit(&self, unit: usize) -> &[NameNeed] {
        self.0.get(&unit).map_or(&[], Vec::as_slice)
    }
}

/// A change, with the place of its unit.
#[derive(Clone, Copy)]
struct PlacedChange<'c> {
    /// The place of the unit.
    unit: usize,
    /// The change.
    change: &'c Change,
}

/// The changes of units.
fn placed<'c>(changes: &'c [Change], units: &'c [ChangeUnit]) -> impl Iterator<Item = PlacedChange<'c>> {
    let of_unit = move |(unit, own): (usize, &'c ChangeUnit)| {
        own.changes.iter().map(move |place| PlacedChange { unit, change: &changes[*place] })
    };
    units.iter().enumerate().flat_map(of_unit)
}

/// The names that an SRV lists after a change and does not before.
pub fn listed_anew(change: &Change) -> Vec<NameRef<'_>> {
    let before = servers(change.kind.before());
    let after = servers(change.kind.after().filter(|_| change.lists_pods()));
    after.into_iter().filter(|name| !before.contains(name)).collect()
}

/// The names that an SRV lists.
pub fn servers(srv: Option<&Rrset>) -> Vec<NameRef<'_>> {
    let rdata = srv.into_iter().flat_map(Rrset::rdata);
    rdata.filter_map(|rdata| rdata.as_rdata(Rtype::SRV).server()).collect()
}
