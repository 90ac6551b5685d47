//! What a change does to one RRset. Pure.

use super::{Rdata, Rrset};

/// Before and after; never equal.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// There is none before.
    Create {
        /// The new value.
        after: Rrset,
    },
    /// It gets another value.
    Modify {
        /// The old value.
        before: Rrset,
        /// The new value.
        after: Rrset,
    },
    /// There is none after.
    Delete {
        /// The old value.
        before: Rrset,
    },
}

impl ChangeKind {
    /// The change between the old and the new value of an RRset, where these differ.
    pub fn between(before: Option<Rrset>, after: Option<Rrset>) -> Option<ChangeKind> {
        match (before, after) {
            (None, Some(after)) => Some(ChangeKind::Create { after }),
            (Some(before), None) => Some(ChangeKind::Delete { before }),
            (Some(before), Some(after)) if before != after => Some(ChangeKind::Modify { before, after }),
            _ => None,
        }
    }

    /// What holds all values of both sides, with the later TTL; none where one side has no value.
    pub fn both(&self) -> Option<Rrset> {
        let (before, after) = (self.before()?, self.after()?);
        let values = before.rdata().iter().chain(after.rdata()).cloned();
        Some(Rrset::new(after.ttl(), values.collect())?.marked(after.mark().cloned()))
    }

    /// Whether it changes the mark alone: whose the RRset is, and no record of it.
    pub fn is_of_mark(&self) -> bool {
        matches!(self, ChangeKind::Modify { before, after } if before.has_records_of(after))
    }

    /// Whether a change that ended in the middle may have left this: nothing but values of both sides, all that both have, and TTL and
    /// mark of one of them.
    pub fn is_between(&self, live: Option<&Rrset>) -> bool {
        let (before, after) = (self.before(), self.after());
        let sides = || [before, after].into_iter().flatten();
        let holds = |rrset: Option<&Rrset>, value: &Rdata| {
            rrset.is_some_and(|rrset| rrset.rdata().binary_search(value).is_ok())
        };
        let is_of_side = |live: &Rrset| {
            sides().any(|side| side.ttl() == live.ttl())
                && sides().any(|side| side.mark() == live.mark())
                && live.rdata().iter().all(|value| sides().any(|side| holds(Some(side), value)))
        };
        let mut both = before.into_iter().flat_map(Rrset::rdata).filter(|value| holds(after, value));
        live.is_none_or(is_of_side) && both.all(|value| holds(live, value))
    }

    /// Whether the change can be made by way of an RRset, so that no value goes before all others have come: it is what was
    /// there before, or has the values of both sides.
    pub fn may_pass(&self, via: &Rrset) -> bool {
        self.before() == Some(via) || self.both().as_ref() == Some(via)
    }

    /// The value before.
    pub fn before(&self) -> Option<&Rrset> {
        match self {
            ChangeKind::Create { .. } => None,
            ChangeKind::Modify { before, .. } | ChangeKind::Delete { before } => Some(before),
        }
    }

    /// The value after.
    pub fn after(&self) -> Option<&Rrset> {
        match self {
            ChangeKind::Delete { .. } => None,
            ChangeKind::Create { after } | ChangeKind::Modify { after, .. } => Some(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{NameRef, Rtype, Ttl};

    fn rrset(ttl: u64, values: &[&str]) -> Option<Rrset> {
        let values = values.iter().map(|value| Rdata::read(Rtype::A, value, NameRef::ROOT).unwrap()).collect();
        Rrset::new(Ttl::from_secs(ttl).unwrap(), values)
    }

    #[test]
    fn a_change_that_ended_in_the_middle_is_known() {
        let before = rrset(60, &["192.0.2.1", "192.0.2.2"]);
        let kind = ChangeKind::between(before, rrset(300, &["192.0.2.2", "192.0.2.3"])).unwrap();
        let is = |ttl, values: &[&str]| kind.is_between(rrset(ttl, values).as_ref());
        assert!(is(60, &["192.0.2.1", "192.0.2.2", "192.0.2.3"]) && is(300, &["192.0.2.2"]));
        assert!(!is(60, &["192.0.2.1"]), "what stays is gone");
        assert!(!is(60, &["192.0.2.2", "192.0.2.9"]), "another value is there");
        assert!(!is(61, &["192.0.2.2"]), "it has another TTL");
        assert!(!kind.is_between(None));
        let kind = ChangeKind::Create { after: rrset(60, &["192.0.2.1", "192.0.2.2"]).unwrap() };
        assert!(kind.is_between(rrset(60, &["192.0.2.1"]).as_ref()) && kind.is_between(None));
    }
}
