//! A plan that is sorted and carries its digests: what is shown, saved and applied.

use super::{Change, Plan};
use super::{order, v1};

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
    /// Sorts a plan and digests it.
    pub fn new(mut plan: Plan) -> SealedPlan {
        order::settle(&mut plan);
        let effect = v1::effect(&plan);
        let id = v1::id(&plan, &effect);
        SealedPlan { plan, id, effect }
    }

    /// A view of some of the changes. It keeps the digests of the whole, which it does not match: it can be read, and
    /// nothing else.
    pub fn view(&self, shown: impl Fn(&Change) -> bool) -> SealedPlan {
        let mut view = self.clone();
        view.plan.changes.retain(shown);
        view
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
