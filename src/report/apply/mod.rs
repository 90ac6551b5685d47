//! What became of an apply, as text and as a document.

use crate::apply::{Applied, Refusal};
use crate::inventory::value::Time;
use crate::plan::SealedPlan;
use crate::state::ApplyId;

/// All that is told of an apply.
#[derive(Debug, Clone, Copy)]
pub struct ApplyReport<'a> {
    /// The plan.
    pub sealed: &'a SealedPlan,
    /// Its number in the journal; none where nothing was begun.
    pub apply: Option<ApplyId>,
    /// When it began.
    pub started: Time,
    /// Why nothing was applied, where the plan was refused as a whole.
    pub refusal: Option<&'a Refusal>,
    /// What became of it; empty where it was refused.
    pub applied: &'a Applied,
    /// The zones and input files that are not what they were when the plan was made; sorted.
    pub moved: &'a [String],
    /// The exit code of the command.
    pub exit: u8,
}
