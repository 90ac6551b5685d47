//! What zonewright.toml says of a source: the words that its readers share.

use super::value::{Duration, Percent};
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
    /// What else it takes to be believed.
    pub demands: Demands,
    /// Of a source of MACs: reports that are older do not count.
    pub max_age: Option<Duration>,
    /// Of a source of MACs: how much older than it says a report counts.
    pub penalty: Duration,
}

/// What it takes to believe an export that could be read whole; `None` and `false` where nothing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Demands {
    /// How old it may be, by its own date. Not of sources of MACs, whose reports have dates of their own.
    pub max_age: Option<Duration>,
    /// The share of the rows of the last accepted export that it may lack.
    pub max_shrink: Option<Percent>,
    /// The share of the rows of the last accepted export that may mean something else in it.
    pub max_churn: Option<Percent>,
    /// How few rows it may have.
    pub min_rows: Option<usize>,
    /// Whether each file must agree with the `FILE.sha256` beside it.
    pub digest: bool,
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

/// The file that keeps the names that were given, in the workspace.
pub const NAMES_LOCK: &str = "names.lock";

/// Whether a line of it is one that git writes around what it could not merge.
pub fn is_conflict_marker(line: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|sign| line.strip_prefix(sign).is_some_and(ends))
}

/// Whether a line begins what neither side of a merge wrote: the rows that both changed, as they were before.
pub fn is_base_marker(line: &str) -> bool {
    is_conflict_marker(line) && line.starts_with('|')
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
