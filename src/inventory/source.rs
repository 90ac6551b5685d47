//! What zonewright.toml says of a source: the words that its readers share.

use super::value::Duration;
use crate::diag::Origin;

/// One export, as it is configured.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// The key in `[sources]`, which names the format.
    pub key: &'static str,
    /// What messages call it: the key, or the `name` of a source of MACs.
    pub name: String,
    /// Where its files are; never empty.
    pub patterns: Vec<Pattern>,
    /// Whether each file must end in `# end ROWS`.
    pub require_end: bool,
    /// Of a source of MACs: reports that are older do not count.
    pub max_age: Option<Duration>,
    /// Of a source of MACs: how much older than it says a report counts.
    pub penalty: Duration,
}

/// A path or glob, relative to the workspace.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As it is written; leads nowhere out of the workspace by `..` or a leading `/`.
    pub text: String,
    /// Where it is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
}

/// How often a format occurs in `[sources]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurs {
    /// Once, and it must be there.
    Required,
    /// At most once; a source that is not there has no rows.
    Optional,
    /// As a list of tables, each with a `name`.
    Listed,
    /// Not at all: the file has this name, and need not exist.
    Fixed(&'static str),
}
