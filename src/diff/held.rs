//! What stays as it is because a person edited it after an apply: hosts, and RRsets of names that no host has.

use std::collections::BTreeSet;

use super::act::RuleAct;
use crate::change::Change;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Inv;

/// The hosts and RRsets for which no rule does anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldEdits {
    /// The hosts.
    hosts: BTreeSet<Inv>,
    /// The RRsets, by owner name and type.
    rrsets: BTreeSet<(Name, Rtype)>,
}

impl HeldEdits {
    /// Adds a change: its hosts and its RRset stay as they are.
    pub fn add(&mut self, change: &Change) {
        self.hosts.extend(change.hosts());
        self.rrsets.insert((change.key.owner.as_name().to_name(), change.key.rtype));
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.rrsets.is_empty()
    }

    /// Whether a host is held.
    pub fn has_host(&self, host: Inv) -> bool {
        self.hosts.contains(&host)
    }

    /// Whether an RRset is held.
    pub fn has_rrset(&self, owner: &Name, rtype: Rtype) -> bool {
        self.rrsets.contains(&(owner.clone(), rtype))
    }

    /// Whether an act is not done.
    pub fn holds(&self, act: &RuleAct) -> bool {
        act.actor.subject.host().is_some_and(|inv| self.has_host(inv)) || self.has_rrset(&act.owner, act.rtype)
    }
}
