//! What a change does to one RRset. Pure.

use super::Rrset;

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
