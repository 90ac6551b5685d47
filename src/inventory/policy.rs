//! What may be done to records: the word of project files and of DNS update records.

/// What may be done to a project's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Create RRsets where there are none.
    CreateOnly,
    /// Create and modify, never delete.
    UpsertOnly,
    /// All that the rules say.
    Repair,
    /// `Repair`, and orphans are removed.
    Sync,
}

impl Policy {
    /// The word that project files use.
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::CreateOnly => "create-only",
            Policy::UpsertOnly => "upsert-only",
            Policy::Repair => "repair",
            Policy::Sync => "sync",
        }
    }
}
