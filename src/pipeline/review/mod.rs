//! What the changes of a plan depend on: compares the inventory with a base, and with what was applied last.
//!
//! Comes in: what was decided, and the data that it is based on. Goes out: a [`Review`]. The base is derived and
//! decided with the live data that the plan was made from, so that only the inventory differs.

mod based;

mod past;

use std::collections::BTreeSet;

use super::base::{Base, BaseError};
use super::findings::BaseRemark;
use super::inputs::{PlanInput, PlanRequest};
use crate::diag::Problem;
use crate::diff::held::HeldEdits;
use crate::diff::judge::FleetDecisions;
use crate::drift::WrittenCopy;
use crate::plan::{ComparisonBase, Review};
use crate::progress::{Progress, RunStage};
use crate::review::{self, InventorySide};
use based::DecidedBase;
use past::ReviewMemory;

/// What was decided, and the data that it is based on.
#[derive(Clone, Copy)]
pub(super) struct ReviewSubject<'a> {
    /// What it was decided by.
    pub input: &'a PlanInput,
    /// The hosts and RRsets that stay as they are, because a person edited them after an apply.
    pub held: &'a HeldEdits,
    /// What was decided; the changes as a plan sorts them.
    pub decided: &'a FleetDecisions,
    /// What the latest update left at the RRset of each change in one of its copies, in their order.
    pub written: &'a [WrittenCopy],
}

/// Why causes cannot be found.
#[derive(Debug)]
pub enum ReviewError {
    /// The command line names a base that cannot be read.
    Base(BaseError),
    /// The state cannot be read.
    State(Problem),
}

impl From<BaseError> for ReviewError {
    fn from(error: BaseError) -> ReviewError {
        ReviewError::Base(error)
    }
}

impl From<Problem> for ReviewError {
    fn from(error: Problem) -> ReviewError {
        ReviewError::State(error)
    }
}

/// Finds the causes of each change, none where there are no changes; and what is questionable about the base.
///
/// Errors: [`ReviewError`].
pub(super) fn review(
    request: &PlanRequest<'_>,
    reviewed: ReviewSubject<'_>,
    progress: &dyn Progress,
) -> Result<(Option<Review>, Vec<BaseRemark>), ReviewError> {
    let ReviewSubject { input, decided, .. } = reviewed;
    let (inventory, live) = (&input.inventory, &input.zones.live);
    let base = request.base.map(|name| {
        progress.stage(RunStage::Base, None);
        DecidedBase::decide(request, reviewed, name)
    });
    let base = base.transpose()?;
    let remarks_of = |base: &Base| base.remarks(&inventory.files, &inventory.inputs, &input.diagnostics);
    let remarks = base.iter().flat_map(|based| remarks_of(&based.base)).collect();
    if decided.changes.is_empty() && base.is_none() {
        return Ok((None, remarks));
    }
    let past = input.state.as_deref().map(|state| ReviewMemory::read(request, reviewed, state));
    let past = past.transpose()?.unwrap_or_default();
    let side = |inventory| InventorySide { inventory, live, now: request.now };
    let against = match &base {
        Some(DecidedBase { base, .. }) => ComparisonBase::Base { name: base.name.clone(), commit: base.commit.clone() },
        None => past.whole.clone().unwrap_or(ComparisonBase::Nothing),
    };
    let by_accepted = past.accepted.as_ref().map(|accepted| {
        progress.stage(RunStage::Accepted, None);
        let survey = accepted.moves.as_ref().and_then(|moves| based::survey_of((&accepted.inventory, moves), input));
        based::decide_by((&accepted.inventory, survey), request, reviewed)
    });
    let no_zones = BTreeSet::new();
    let given = review::ReviewInput {
        against,
        now: side(inventory),
        decided: outcome(decided),
        base: base.as_ref().map(|based| (side(&based.base.inventory), outcome(&based.decided))),
        new_zones: base.as_ref().map_or(&no_zones, |based| &based.new_zones),
        accepted: past.at.map(|at| InventorySide {
            now: at,
            ..side(past.accepted.as_ref().map_or(inventory, |accepted| &accepted.inventory))
        }),
        by_accepted: by_accepted.as_ref().map(outcome),
        found: &past.found,
        desired_since: &past.desired_since,
    };
    Ok((review::review(&given), remarks))
}

/// The parts of a decision that a review uses.
fn outcome(decided: &FleetDecisions) -> review::InventoryDecisions<'_> {
    let FleetDecisions { changes, blocked, skipped, waiting, .. } = decided;
    review::InventoryDecisions { changes, blocked, skipped, waiting }
}
