//! Whether a subject's rules run: skipped, blocked, or open.

use super::block::SubjectBlock;
use crate::change::SkipCode;
use crate::inventory::model::Policy;

/// Whether a subject's rules run, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectStanding {
    /// Not in use: it is neither planned nor listed.
    Free,
    /// zonewright does not manage it now.
    Skipped(SkipCode),
    /// Something keeps its rules from running.
    Blocked(SubjectBlock),
    /// Its rules run, under this policy.
    Open(Policy),
}

/// The standing of every subject whose rules may run.
#[derive(Debug, Clone, Default)]
pub struct SubjectStandings {
    /// Of every host, in the order of [`crate::inventory::Inventory::hosts`].
    pub hosts: Vec<SubjectStanding>,
    /// Of every subject of files of records, in the order of their places.
    pub stated: Vec<SubjectStanding>,
}
