//! Which hosts of a plan would wait for an approval, as far as it is known without asking: those that were rejected, and those that
//! services have not let through yet.

use std::collections::BTreeMap;

use super::settings_of;
use crate::approval::TaskRow;
use crate::approval::ask::asks_of;
use crate::approval::outlook::unapproved;
use crate::approval::queue::rejected_until;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::model::Project;
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::rollout::{ChangeUnit, UnapprovedHost};
use crate::state::State;

/// The hosts of a plan that a service rejected a short while ago, or has not let through, with why.
///
/// Errors: the state cannot be read.
pub fn held(
    (plan, units): (&Plan, &[ChangeUnit]),
    projects: &[Project],
    state: Option<&dyn State>,
    now: Time,
) -> Result<BTreeMap<Subject, UnapprovedHost>, Problem> {
    let settings = settings_of(projects);
    let Some(state) = state.filter(|_| !settings.is_empty()) else { return Ok(BTreeMap::new()) };
    let memory = state.approvals()?;
    if memory.refusals.is_empty() && memory.tasks().next().is_none() {
        return Ok(BTreeMap::new());
    }
    let asks = units.iter().flat_map(|unit| asks_of(plan, unit, &settings));
    let held = asks.filter(|ask| {
        let is_rejected = |refusal| rejected_until(refusal, ask, now).is_some();
        memory.refusals.get(&ask.subject).is_some_and(is_rejected) || memory.of(&ask.subject).any(TaskRow::is_open)
    });
    Ok(held.map(|ask| (ask.subject.clone(), unapproved(&memory, &ask, now, false))).collect())
}
