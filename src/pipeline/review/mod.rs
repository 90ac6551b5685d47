//! What the changes of a plan depend on: compares the inventory with a base, and with what was applied last.
//!
//! Comes in: what was decided, and the data that it is based on. Goes out: a [`Review`]. The base is derived and
//! decided with the live data that the plan was made from, so that only the inventory differs.

mod based;

mod past;

use std::collections::BTreeSet;

use super::base::BaseError;
use super::findings::BaseRemark;
use super::guards::GuardMemory;
use super::inputs::PlanRequest;
use super::progress::{Progress, RunStage};
use crate::diag::{Diagnostics, Problem};
use crate::diff::decide::FleetDecisions;
use crate::diff::held::HeldEdits;
use crate::diff::waits::RrsetWaits;
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::live::Live;
use crate::plan::{ComparisonBase, Review};
use crate::review::{self, InventorySide};
use crate::state::{State, WrittenRrset};
use based::DecidedBase;
use past::ReviewMemory;

/// What was decided, and the data that it is based on.
#[derive(Clone, Copy)]
pub(super) struct ReviewSubject<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// The hosts whose rules run; all where empty.
    pub hosts: &'a BTreeSet<Inv>,
    /// What is wrong in it.
    pub found: &'a Diagnostics,
    /// Live DNS.
    pub live: &'a Live,
    /// The RRsets that wait to be deleted.
    pub waits: &'a RrsetWaits,
    /// The hosts and RRsets that stay as they are, because a person edited them after an apply.
    pub held: &'a HeldEdits,
    /// What was decided; the changes as a plan sorts them.
    pub decided: &'a FleetDecisions,
    /// What the latest update left at the RRset of each change, in their order.
    pub written: &'a [Option<WrittenRrset>],
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
    (remembered, state): (&GuardMemory, Option<&dyn State>),
    progress: &dyn Progress,
) -> Result<(Option<Review>, Vec<BaseRemark>), ReviewError> {
    let ReviewSubject { inventory, found, live, decided, .. } = reviewed;
    let base = request.base.map(|name| {
        progress.stage(RunStage::Base, None);
        DecidedBase::decide(request, reviewed, name, (remembered, state))
    });
    let base = base.transpose()?;
    let of_today = (&inventory.files, &inventory.inputs, found);
    let remarks = base.iter().flat_map(|based| based.base.remarks(of_today)).collect();
    if decided.changes.is_empty() && base.is_none() {
        return Ok((None, remarks));
    }
    let past =
        state.map(|state| ReviewMemory::read(request, reviewed, (remembered, state))).transpose()?.unwrap_or_default();
    let side = |inventory| InventorySide { inventory, live, now: request.now };
    let against = match &base {
        Some(DecidedBase { base, .. }) => ComparisonBase::Base { name: base.name.clone(), commit: base.commit.clone() },
        None => past.whole.clone().unwrap_or(ComparisonBase::Nothing),
    };
    let by_accepted = past.accepted.as_ref().map(|accepted| {
        progress.stage(RunStage::Accepted, None);
        based::decide_by(accepted, request, reviewed, remembered)
    });
    let no_zones = BTreeSet::new();
    let given = review::ReviewInput {
        against,
        now: side(inventory),
        decided: outcome(decided),
        base: base.as_ref().map(|based| (side(&based.base.inventory), outcome(&based.decided))),
        new_zones: base.as_ref().map_or(&no_zones, |based| &based.new_zones),
        accepted: past.at.map(|at| InventorySide { now: at, ..side(past.accepted.as_ref().unwrap_or(inventory)) }),
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
