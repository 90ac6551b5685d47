//! What is there in between, where old and new addresses overlap. Pure.
//!
//! Comes in: the changes of a plan, and the groups that ask for it. Goes out: the same changes, with the RRsets by way of which
//! they are made.

use std::collections::HashSet;

use super::members::group_of;
use super::units::{ChangeUnit, units_of};
use crate::change::reach::takes_value;
use crate::change::{Change, ChangeKind};
use crate::claim::Subject;
use crate::dns::{RrKey, Rrset, Rtype};
use crate::plan::Plan;

/// Adds to the changes of a plan what is there in between, where a group of theirs overlaps.
pub fn add_via(plan: &mut Plan, overlaps: &dyn Fn(&str) -> bool) {
    let found: Vec<(usize, Rrset)> =
        units_of(plan).iter().flat_map(|unit| OverlappingUnit { plan, unit, overlaps }.found()).collect();
    for (place, via) in found {
        plan.changes[place].via = Some(via);
    }
}

/// A unit that may be made in two steps.
struct OverlappingUnit<'a> {
    /// The plan.
    plan: &'a Plan,
    /// The unit.
    unit: &'a ChangeUnit,
    /// Whether a group overlaps.
    overlaps: &'a dyn Fn(&str) -> bool,
}

impl OverlappingUnit<'_> {
    /// The changes that pass something in between, by their places; empty where no address takes the place of another.
    fn found(&self) -> Vec<(usize, Rrset)> {
        if !self.changes().any(|(_, change)| self.is_replaced(change)) {
            return Vec::new();
        }
        self.changes().filter_map(|(place, change)| Some((place, self.via(change)?))).collect()
    }

    /// Its changes, with their places.
    fn changes(&self) -> impl Iterator<Item = (usize, &Change)> {
        self.unit.changes.iter().map(|place| (*place, &self.plan.changes[*place]))
    }

    /// Whether a change takes a live address from a subject in service whose group overlaps, and another comes at that name.
    fn is_replaced(&self, change: &Change) -> bool {
        let is_counted = |subject: &Subject| {
            let is_in_service = self.plan.pod(subject).is_none_or(|seen| seen.in_service);
            is_in_service && group_of(change, subject).is_some_and(self.overlaps)
        };
        is_address(&change.key)
            && takes_value(change)
            && change.subjects().any(is_counted)
            && (gives_value(change) || self.comes_at_name_of(change))
    }

    /// Whether an address of the other family comes at the name of a change.
    fn comes_at_name_of(&self, change: &Change) -> bool {
        let is_it = |other: &Change| {
            is_address(&other.key)
                && other.key.owner == change.key.owner
                && other.shares_target(change)
                && gives_value(other)
        };
        self.changes().any(|(_, other)| other.zone == change.zone && is_it(other))
    }

    /// What is there in between; none where the change is made in the first step.
    fn via(&self, change: &Change) -> Option<Rrset> {
        match &change.kind {
            ChangeKind::Create { .. } => None,
            ChangeKind::Delete { before } => (!self.makes_room(change)).then(|| before.clone()),
            ChangeKind::Modify { before, .. } if is_address(&change.key) && takes_value(change) => {
                if gives_value(change) { change.kind.both() } else { Some(before.clone()) }
            }
            ChangeKind::Modify { .. } => None,
        }
    }

    /// Whether what is deleted cannot stay, because something else comes at its name: a CNAME is alone there (RFC 1034 section
    /// 3.6.2), and so is a delegation.
    fn makes_room(&self, change: &Change) -> bool {
        let is_alone = |key: &RrKey| matches!(key.rtype, Rtype::CNAME | Rtype::NS);
        let is_barred = |other: &Change| {
            let is_create = matches!(other.kind, ChangeKind::Create { .. });
            is_create && other.key.owner == change.key.owner && (is_alone(&change.key) || is_alone(&other.key))
        };
        self.changes().any(|(_, other)| other.pool == change.pool && other.zone == change.zone && is_barred(other))
    }
}

/// Whether it is an RRset of addresses.
fn is_address(key: &RrKey) -> bool {
    matches!(key.rtype, Rtype::A | Rtype::AAAA)
}

/// Whether a change gives a value that is not live.
fn gives_value(change: &Change) -> bool {
    let known: HashSet<_> = change.kind.before().into_iter().flat_map(Rrset::rdata).collect();
    change.kind.after().into_iter().flat_map(Rrset::rdata).any(|value| !known.contains(value))
}
