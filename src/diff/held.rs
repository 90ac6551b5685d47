//! What stays as it is because a person edited it after an apply: subjects, and RRsets of names that no host has.

use std::collections::{BTreeMap, BTreeSet};

use super::act::RuleAct;
use crate::change::Change;
use crate::claim::Subject;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Inv;
use crate::target::PoolName;

/// The subjects and RRsets for which no rule does anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldEdits {
    /// The subjects: hosts, and what files state.
    subjects: BTreeSet<Subject>,
    /// The RRsets, by owner name and type; each with the pools in whose zones it is.
    rrsets: BTreeMap<(Name, Rtype), BTreeSet<PoolName>>,
}

impl HeldEdits {
    /// Adds a change: its subjects and its RRset stay as they are.
    pub fn add(&mut self, change: &Change) {
        self.subjects.extend(change.subjects().filter_map(Subject::counted));
        let rrset = (change.key.owner.as_name().to_name(), change.key.rtype);
        self.rrsets.entry(rrset).or_default().insert(change.pool.clone());
    }

    /// The same subjects, with the RRsets in zones of some pools alone.
    pub fn only(&self, is_meant: impl Fn(&PoolName) -> bool) -> HeldEdits {
        let of_pools = |pools: &BTreeSet<PoolName>| pools.iter().filter(|pool| is_meant(pool)).cloned().collect();
        let rrsets = self.rrsets.iter().map(|(rrset, pools)| (rrset.clone(), of_pools(pools)));
        let rrsets = rrsets.filter(|(_, pools): &(_, BTreeSet<PoolName>)| !pools.is_empty()).collect();
        HeldEdits { subjects: self.subjects.clone(), rrsets }
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.rrsets.is_empty()
    }

    /// Whether a host is held.
    pub fn has_host(&self, host: Inv) -> bool {
        self.subjects.contains(&Subject::Host(host))
    }

    /// Whether an RRset is held.
    pub fn has_rrset(&self, owner: &Name, rtype: Rtype) -> bool {
        self.rrsets.contains_key(&(owner.clone(), rtype))
    }

    /// Whether an act is not done.
    pub fn holds(&self, act: &RuleAct) -> bool {
        act.actor.subject.counted().is_some_and(|own| self.subjects.contains(&own))
            || self.has_rrset(&act.owner, act.rtype)
    }
}
