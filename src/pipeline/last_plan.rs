//! The plan of a process that makes one after another: the last one is used again as long as nothing that it was made from has moved.

use super::inputs::PlanRequest;
use super::plan::{MadePlan, PlanError, make_plan_and};
use super::plan_ground::PlanGround;
use crate::progress::Progress;

/// The last plan of a process, where it may be used again.
#[derive(Debug, Default)]
pub struct LastPlan {
    /// The plan, and what it was made from.
    last: Option<(MadePlan, PlanGround)>,
}

impl LastPlan {
    /// Makes a plan, or gives the last one again where it is provably the plan that would be made: the same to the octet, but for
    /// the times when it was made and expires. All requests are for the same, at other times.
    ///
    /// A plan that changes something is never used again: what it changes is about to move.
    ///
    /// Errors: [`PlanError`].
    pub fn plan(&mut self, request: &PlanRequest<'_>, progress: &dyn Progress) -> Result<MadePlan, PlanError> {
        if let Some((made, ground)) = self.last.take() {
            match ground.check(request) {
                Ok(()) => {
                    tracing::info!("nothing has moved since the plan of {}, which is used again", made.plan.created);
                    let again = made.again(request.now);
                    self.last = Some((made, ground));
                    return Ok(again);
                }
                Err(what) => tracing::debug!("a new plan is made: this has moved: {what}"),
            }
        }
        let (made, ground) = make_plan_and(request, progress, |input| PlanGround::of(input, request))?;
        let ground = match ground {
            Ok(_) if !made.plan.is_idle() => Err("it changes something"),
            Ok(_) if made.is_partial => Err("a zone or a source could not be read"),
            ground => ground,
        };
        match ground {
            Ok(ground) => self.last = Some((made.clone(), ground)),
            Err(why) => tracing::debug!("the next plan is made anew, whatever has moved: {why}"),
        }
        Ok(made)
    }

    /// Forgets the last plan, so that the next one is made anew.
    pub fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests;
