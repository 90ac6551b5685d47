//! What the journal says about live DNS that is not as desired.
//!
//! Comes in: a plan that was just made. Goes out: the cause of each of its changes. Writes nothing.

use std::path::Path;

use super::settings::{OpenError, load_config, state_address};
use super::sights::last_written;
use crate::drift::{Drift, StrayedCopy, strays};
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::state::open_to_read;

/// The causes of the changes of a plan.
#[derive(Debug)]
pub struct PlanDrift {
    /// The cause of each change, in each copy that it is for, in the order of the plan.
    strays: Vec<StrayedCopy>,
    /// Where the state is kept.
    place: String,
    /// Whether there is one.
    is_known: bool,
}

impl PlanDrift {
    /// The drift, for the plan that it was found for.
    pub fn of<'a>(&'a self, plan: &'a Plan) -> Drift<'a> {
        Drift { plan, strays: &self.strays, place: &self.place, is_known: self.is_known }
    }
}

/// Finds in the journal of a workspace the causes of the changes of a plan that was made at a time. Without a state no
/// apply is known.
///
/// Errors: [`OpenError`].
pub fn find_drift(workspace: &Path, plan: &Plan, now: Time) -> Result<PlanDrift, OpenError> {
    let (config, _) = load_config(workspace)?;
    let address = state_address(workspace, &config);
    let state = open_to_read(&address)?;
    let written = last_written(&config, &plan.changes, state.as_deref())?;
    Ok(PlanDrift { strays: strays(plan, written, now), place: address.setting().to_owned(), is_known: state.is_some() })
}
