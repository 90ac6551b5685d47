//! The RRsets that zonewright itself created, as its state keeps them.

use std::collections::{HashMap, HashSet};

use crate::dns::{Name, NameRef, Rtype};

/// Owner names and types; empty where there is no state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnRrsets(HashMap<Rtype, HashSet<Name>>);

impl OwnRrsets {
    /// The owner names of the RRsets of a type, in no order.
    pub fn owners(&self, rtype: Rtype) -> impl Iterator<Item = &Name> {
        self.0.get(&rtype).into_iter().flatten()
    }

    /// All, in no order.
    pub fn all(&self) -> impl Iterator<Item = (&Name, Rtype)> {
        self.0.iter().flat_map(|(rtype, owners)| owners.iter().map(|owner| (owner, *rtype)))
    }

    /// These and others.
    pub fn joined(mut self, others: OwnRrsets) -> OwnRrsets {
        others.0.into_iter().for_each(|(rtype, owners)| self.0.entry(rtype).or_default().extend(owners));
        self
    }

    /// Whether zonewright created this RRset.
    pub fn contains(&self, owner: NameRef<'_>, rtype: Rtype) -> bool {
        self.0.get(&rtype).is_some_and(|owners| owners.contains(owner.as_wire()))
    }
}

impl FromIterator<(Name, Rtype)> for OwnRrsets {
    fn from_iter<T: IntoIterator<Item = (Name, Rtype)>>(rrsets: T) -> OwnRrsets {
        let mut own = OwnRrsets::default();
        for (owner, rtype) in rrsets {
            own.0.entry(rtype).or_default().insert(owner);
        }
        own
    }
}
