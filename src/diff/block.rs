//! Why a host is blocked: a code, with words about the host.

use crate::change::BlockCode;

/// Why a host is blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectBlock {
    /// The code.
    pub code: BlockCode,
    /// What is wrong, with its values.
    pub message: String,
    /// What to do.
    pub hint: String,
}
