//! What stays as it is because a person edited it after an apply: subjects, and RRsets of names that no host has.

use std::collections::BTreeSet;

use super::act::RuleAct;
use crate::change::Change;
use crate::claim::Subject;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Inv;

/// The subjects and RRsets for which no rule does anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldEdits {
    /// The subjects: hosts, and what files state.
    subjects: BTreeSet<Subject>,
    /// The RRsets, by owner name and type.
    rrsets: BTreeSet<(Name, Rtype)>,
}

impl HeldEdits {
    /// Adds a change: its subjects and its RRset stay as they are.
    pub fn add(&mut self, change: &Change) {
        self.subjects.extend(change.subjects().filter_map(Subject::counted));
        self.rrsets.insert((change.key.owner.as_name().to_name(), change.key.rtype));
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
        self.rrsets.contains(&(owner.clone(), rtype))
    }

    /// Whether an act is not done.
    pub fn holds(&self, act: &RuleAct) -> bool {
        act.actor.subject.counted().is_some_and(|own| self.subjects.contains(&own))
            || self.has_rrset(&act.owner, act.rtype)
    }
}
