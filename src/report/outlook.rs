//! What is known of a plan in addition to what it says itself: whether it would be refused, and where it is.

use super::source_url::SourceUrl;
use crate::diag::Problem;
use crate::plan::Plan;

/// What is known of a plan in addition to what it says itself.
#[derive(Debug, Clone, Default)]
pub struct PlanOutlook {
    /// Why it would be refused if it were applied as it is now, by which guard.
    pub refusal: Option<Problem>,
    /// The file that holds all of it, as the command line names it.
    pub file: Option<String>,
    /// Whether it was to be saved, and could not be.
    pub is_unsaved: bool,
    /// The command that applies the plan in that file, as a shell takes it.
    pub command: Option<String>,
    /// Where readers of a report find all of it, such as the page of a pipeline's run.
    pub url: Option<String>,
    /// Where it takes over RRsets and changes nothing: why, in words.
    pub idle: Option<String>,
    /// Where only some of its changes are shown: how many are not.
    pub hidden: Option<usize>,
    /// Where readers find the lines of the exports, in formats that have links.
    pub source_url: Option<SourceUrl>,
}

/// The verdict on a plan, in the order in which people must know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanVerdict {
    /// A zone or a source could not be read, or is not believed: the plan is not complete.
    Partial,
    /// A guard refuses it.
    Refused,
    /// There is nothing to do.
    Idle,
    /// It may be applied.
    Ready,
}

impl PlanVerdict {
    /// The verdict on a plan.
    pub fn of(plan: &Plan, outlook: &PlanOutlook) -> PlanVerdict {
        match plan {
            _ if outlook.refusal.is_some() || plan.limits.iter().any(|limit| limit.exceeded) => PlanVerdict::Refused,
            plan if plan.notices.iter().any(|notice| notice.code.tells_of_less()) => PlanVerdict::Partial,
            plan if plan.is_idle() && outlook.hidden.unwrap_or(0) == 0 => PlanVerdict::Idle,
            _ => PlanVerdict::Ready,
        }
    }
}
