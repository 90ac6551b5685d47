//! The rollout that a project file asks for: how many of its hosts may be unreachable by name at once.

use super::value::{Duration, Percent};
use crate::diag::Origin;

/// What `rollout` of a project file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolloutTerms {
    /// How many may be unreachable at once.
    pub max_unavailable: MaxUnavailable,
    /// Where that is written.
    pub budget_origin: Origin,
    /// Whether all that may be unreachable are at one location.
    pub one_location_at_a_time: bool,
    /// How long a changed name takes to reach all clients.
    pub settle: SettleTime,
    /// Where that is written; none where it is the default.
    pub settle_origin: Option<Origin>,
    /// How many go in the first wave of a batch; as many as the budget lets where none.
    pub canary: Option<usize>,
    /// Where that is written.
    pub canary_origin: Option<Origin>,
    /// How long old and new addresses are there together; none where the new ones take the place of the old ones at once.
    pub overlap: Option<Duration>,
    /// Where that is written.
    pub overlap_origin: Option<Origin>,
    /// The gate that is asked before each wave, by its name in zonewright.toml.
    pub gate: Option<String>,
    /// The probe that says whether a host answers, by its name in zonewright.toml.
    pub probe: Option<String>,
}

impl RolloutTerms {
    /// No budget: all goes at once, and is remembered until it has reached all clients.
    pub fn without_budget(origin: Origin) -> RolloutTerms {
        RolloutTerms {
            max_unavailable: MaxUnavailable::Number(usize::MAX),
            budget_origin: origin,
            one_location_at_a_time: false,
            settle: SettleTime::Ttl,
            settle_origin: None,
            canary: None,
            canary_origin: None,
            overlap: None,
            overlap_origin: None,
            gate: None,
            probe: None,
        }
    }

    /// What holds for a group whose file cannot be read, while an undo takes it back to what it was: as if the file said the
    /// least.
    pub fn of_unread_file(origin: Origin) -> RolloutTerms {
        RolloutTerms {
            max_unavailable: MaxUnavailable::Number(1),
            one_location_at_a_time: true,
            ..RolloutTerms::without_budget(origin)
        }
    }
}

/// How many of a group may be unreachable at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxUnavailable {
    /// So many, at least 1.
    Number(usize),
    /// A share of those in service.
    Share(Percent),
}

impl MaxUnavailable {
    /// How many that are of a group with so many in service: at least 1, or nothing could ever change.
    pub fn of(self, in_service: usize) -> usize {
        match self {
            MaxUnavailable::Number(number) => number,
            MaxUnavailable::Share(share) => share.of(in_service).max(1),
        }
    }
}

/// How long a changed name takes to reach all clients, counted from when the name servers serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleTime {
    /// As long as caches may hold what was there before.
    Ttl,
    /// So long.
    Fixed(Duration),
}
