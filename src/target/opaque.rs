//! What a target holds at a name that is no plain RRset, so that no update can keep it as it is.

use crate::dns::Name;

/// One such thing: it is shown, and never touched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpaqueRecords {
    /// The name that has it.
    pub owner: Name,
    /// What it is, as a part of a sentence, such as `a disabled A record`.
    pub what: String,
}
