//! What is known of a zone whose names were asked for one by one.

use std::collections::HashSet;

use crate::dns::{Name, NameRef};

/// What is known about a zone from answers alone.
#[derive(Debug, Default)]
pub struct ZoneKnowledge {
    /// The names that were asked for their addresses, or for their PTR.
    pub names: HashSet<Name>,
    /// The names that were asked for their TXT.
    pub texts: HashSet<Name>,
    /// Those of both whose records remain unknown: they may come from a wildcard.
    pub doubtful: HashSet<Name>,
    /// Delegations below the apex.
    pub cuts: HashSet<Name>,
}

impl ZoneKnowledge {
    /// Whether it is known which addresses or PTR are at a name, and what keeps others from being there.
    pub fn covers(&self, name: NameRef<'_>) -> bool {
        self.names.contains(name.as_wire()) && !self.is_doubtful(name)
    }

    /// Whether it is known which TXT are at a name, and what keeps others from being there.
    pub fn covers_text(&self, name: NameRef<'_>) -> bool {
        self.texts.contains(name.as_wire()) && !self.is_doubtful(name)
    }

    /// Whether a name was asked for, but its records are still unknown.
    pub fn is_doubtful(&self, name: NameRef<'_>) -> bool {
        self.doubtful.contains(name.as_wire())
    }
}
