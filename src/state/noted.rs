//! What an apply adds to the state apart from changes.

/// How much of it there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateNotes {
    /// How many RRsets begin to wait.
    pub waits: usize,
    /// How many notes about what files state are new.
    pub statements: usize,
}
