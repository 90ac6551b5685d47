//! The RRsets that wait to be deleted, as applies noted them.

use std::collections::BTreeMap;

use crate::dns::{Name, Rtype};
use crate::inventory::value::Time;

/// When an apply first noted that an RRset is to lose records because no host has the name, by owner name and type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RrsetWaits(BTreeMap<(Name, Rtype), Time>);

impl RrsetWaits {
    /// Since when an RRset waits; none where no apply has noted it yet.
    pub fn since(&self, owner: &Name, rtype: Rtype) -> Option<Time> {
        self.0.get(&(owner.clone(), rtype)).copied()
    }

    /// All RRsets that wait, sorted by name and type.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, Rtype, Time)> {
        self.0.iter().map(|((owner, rtype), since)| (owner, *rtype, *since))
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Name, Rtype, Time)> for RrsetWaits {
    fn from_iter<T: IntoIterator<Item = (Name, Rtype, Time)>>(waits: T) -> RrsetWaits {
        RrsetWaits(waits.into_iter().map(|(owner, rtype, since)| ((owner, rtype), since)).collect())
    }
}
