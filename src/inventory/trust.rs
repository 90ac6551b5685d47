//! How far a source may be believed, and the number of a project: words that all rows share.

/// The number of a project in [`super::model::Inventory::projects`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectIndex(pub u32);

/// Whether a source may be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It was read whole.
    Known,
    /// It was cut, empty, unreadable, or too much of it was wrong: nothing may be concluded from it.
    Unknown {
        /// The source and what is wrong with it, for people: ``source `hosts`: racktables/hosts.csv was cut``.
        reason: String,
    },
    /// It was read whole, and failed a test of what makes it believable: as unknown as the other.
    Distrusted {
        /// The source, the test and its numbers, for people.
        reason: String,
    },
}

impl Trust {
    /// The reason not to trust, if there is one.
    pub fn doubt(&self) -> Option<&str> {
        match self {
            Trust::Known => None,
            Trust::Unknown { reason } | Trust::Distrusted { reason } => Some(reason),
        }
    }
}
