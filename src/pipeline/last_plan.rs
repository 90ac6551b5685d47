//! The plan of a process that makes one after another: the last one is used again as long as nothing that it was made from has moved.

use super::inputs::{PlanInput, PlanRequest, ReadFor, gather_moved};
use super::kept_input::{InputMemory, KeptInput};
use super::plan::{MadePlan, PlanError, plan_of};
use super::plan_ground::{AT_MOST, PlanGround, moments};
use super::record_zones;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::provider::cache::CacheUse;

/// The last plan of a process, where it may be used again.
#[derive(Debug, Default)]
pub struct LastPlan {
    /// The plan, and what it was made from.
    last: Option<(MadePlan, PlanGround)>,
    /// What the last plan that was made was made from.
    input: InputMemory,
}

impl LastPlan {
    /// Makes a plan, or gives the last one again where it is provably the plan that would be made: the same to the octet, but for
    /// the times when it was made and expires. All requests are for the same, at other times.
    ///
    /// A plan that changes something is never used again: what it changes is about to move. But of what it was made from only what
    /// has moved is read anew.
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
        let input = gather_moved(request, &ReadFor::Selected, Some(&mut self.input), progress)?;
        let ground = PlanGround::of(&input, request);
        let (made, input) = plan_of(input, request, progress)?;
        self.input.keep(kept(input, request));
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
        self.input.keep(None);
    }
}

/// What a plan was made from, where the next one can be made from it.
fn kept(input: PlanInput, request: &PlanRequest<'_>) -> Option<KeptInput> {
    let PlanInput { inventory, reading, zones, survey, now, .. } = input;
    let is_of_present = request.live_snapshot.is_none() && request.base.is_none() && request.adopt.is_none();
    let is_of_all = !request.picks_subjects() && request.projects.is_empty();
    let config = &inventory.config;
    let asks_keys = config.pools.iter().any(|pool| pool.marking.key.is_some());
    if !is_of_present || !is_of_all || request.cache == CacheUse::Renew || asks_keys {
        return None;
    }
    if !inventory.is_believed() || record_zones::are_listed(config) {
        return None;
    }
    // At a moment itself it may still be as before.
    let until = moments(&inventory).filter(|moment| *moment >= now).fold(reading.at.plus(AT_MOST), Time::min);
    let survey = survey.into_inner()?;
    Some(KeptInput { inventory, reading, until, copies: zones.read, live: zones.live, survey })
}

#[cfg(test)]
mod tests;
