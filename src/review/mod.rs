//! What the changes of a plan rest on, and which of them a difference between two inventories brought about.
//!
//! Comes in: a plan, the inventory that it was made from, and another to hold it against. Goes out: a [`Review`]. Pure.

mod reasons;

pub use reasons::of_reasons;

use crate::plan::{Plan, Review};

/// The review of a plan: its own, else what its reasons say; none where there are no changes.
pub fn of_plan(plan: &Plan) -> Option<Review> {
    plan.review.clone().or_else(|| (!plan.changes.is_empty()).then(|| of_reasons(plan)))
}
