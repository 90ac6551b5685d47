//! A plan that is sorted and carries its digests: what is shown, saved and applied.

use super::{Change, ChangeClass, Plan};
use super::{document, order};

/// A plan that can no longer change: sorted, with the digests that name it.
#[derive(Debug, Clone, PartialEq)]
pub struct SealedPlan {
    /// The plan.
    plan: Plan,
    /// The digest of the document.
    id: String,
    /// The digest of the changes.
    effect: String,
}

impl SealedPlan {
    /// Sorts a plan and digests it. A plan with a review is sorted already: its review has places in its changes.
    pub fn new(mut plan: Plan) -> SealedPlan {
        order::settle(&mut plan);
        let effect = document::effect(&plan);
        let id = document::id(&plan, &effect);
        SealedPlan { plan, id, effect }
    }

    /// A view of some of the changes. It keeps the digests of the whole plan, which it does not match: it can only be
    /// read.
    pub fn view(&self, shown: impl Fn(&Change, Option<ChangeClass>) -> bool) -> SealedPlan {
        let mut classes = vec![None; self.plan.changes.len()];
        for cause in self.plan.review.iter().flat_map(|review| &review.causes) {
            cause.changes.iter().for_each(|change| classes[*change as usize] = cause.class);
        }
        let changes = self.plan.changes.iter().zip(&classes).zip(0..);
        let changes =
            changes.filter(|((change, class), _)| shown(change, **class)).map(|((change, _), place)| (change, place));
        let (changes, kept): (Vec<Change>, Vec<u32>) = changes.map(|(change, place)| (change.clone(), place)).unzip();
        let review = self.plan.review.as_ref().and_then(|review| review.of_some(&kept));
        SealedPlan {
            plan: Plan { changes, review, ..self.plan.clone() },
            id: self.id.clone(),
            effect: self.effect.clone(),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Names the plan: `sha256:` and the digest of the document without `id`, `created` and `expires`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names what the plan does to DNS: `sha256:` and the digest of the changes without reasons.
    pub fn effect(&self) -> &str {
        &self.effect
    }
}
