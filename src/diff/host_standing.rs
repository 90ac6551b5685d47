//! Whether a host's rules run: skipped, blocked, or open.

use super::block::HostBlock;
use crate::change::SkipCode;
use crate::inventory::model::Policy;

/// Whether a host's rules run, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostStanding {
    /// Not in use: it is neither planned nor listed.
    Free,
    /// zonewright does not manage it now.
    Skipped(SkipCode),
    /// Something keeps its rules from running.
    Blocked(HostBlock),
    /// Its rules run, under this policy.
    Open(Policy),
}

/// The standing of every host, in the order of [`crate::inventory::Inventory::hosts`].
#[derive(Debug, Clone)]
pub struct HostStandings(pub Vec<HostStanding>);
