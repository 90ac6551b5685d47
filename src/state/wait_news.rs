//! What an apply makes of the RRsets that wait to be deleted. Pure.

use std::collections::BTreeSet;

use crate::diff::waits::RrsetWaits;
use crate::dns::{Name, NameRef, Rtype};
use crate::inventory::value::Time;
use crate::plan::Plan;

/// What an apply of a plan makes of what waits.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WaitNews {
    /// What waits from then on, or again: owner name, type, since when.
    pub begun: Vec<(Name, Rtype, Time)>,
    /// What no longer waits: a host has the name again.
    pub over: Vec<(Name, Rtype)>,
}

impl WaitNews {
    /// Compares a plan that is applied `now` with what waits.
    ///
    /// An RRset that the plan lists as waiting begins to wait now, if it is not noted yet, or is noted with a time in
    /// the future because a clock stepped back: nothing is known about the time between the plan and its apply. An
    /// RRset that the plan does not list no longer waits, if the plan would have to list it: [`Plan::tells_all_waits`].
    /// An RRset that the plan changes waits until that is done.
    pub fn of(plan: &Plan, waits: &RrsetWaits, now: Time) -> WaitNews {
        let is_begun = |owner: &Name, rtype: Rtype| waits.since(owner, rtype).is_none_or(|since| since > now);
        let listed = plan.delayed.iter().map(|waiting| (waiting.key.owner.as_name().to_name(), waiting.key.rtype));
        let begun = listed.filter(|(owner, rtype)| is_begun(owner, *rtype));
        let begun = begun.map(|(owner, rtype)| (owner, rtype, now)).collect();
        if !plan.tells_all_waits() {
            return WaitNews { begun, over: Vec::new() };
        }
        let keys = plan.delayed.iter().map(|waiting| &waiting.key).chain(plan.changes.iter().map(|change| &change.key));
        let listed: BTreeSet<(NameRef<'_>, Rtype)> = keys.map(|key| (key.owner.as_name(), key.rtype)).collect();
        let ended = waits.iter().filter(|(owner, rtype, _)| !listed.contains(&(owner.as_name(), *rtype)));
        WaitNews { begun, over: ended.map(|(owner, rtype, _)| (owner.clone(), rtype)).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.over.is_empty()
    }
}
