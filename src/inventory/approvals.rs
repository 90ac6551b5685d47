//! The approvals that the hosts of a project need: which services are asked, what for, and how many hosts at a time.

use super::cms::CmsAction;
use super::value::Duration;
use crate::diag::Origin;

/// The name of the service that is built in: it lets so many hosts be busy at a time.
pub const DEFAULT_SERVICE: &str = "default";

/// What `cms` and its neighbours of `[project.X]` say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalTerms {
    /// The services, by their names in zonewright.toml, sorted; [`DEFAULT_SERVICE`] comes last.
    pub services: Vec<String>,
    /// What they are asked for; never [`CmsAction::Reboot`], which is only a word for another action.
    pub actions: Vec<CmsAction>,
    /// How many hosts of the project may be busy at a time, for [`DEFAULT_SERVICE`]; at least 1.
    pub max_busy_hosts: usize,
    /// How many hosts are asked for beyond those that their rollout lets go now.
    pub ask_ahead: usize,
    /// How long services are asked for a host before it goes to the end.
    pub give_up: Duration,
    /// Where `cms` is written.
    pub origin: Origin,
}
