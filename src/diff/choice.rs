//! Which of the values that are accepted at an RRset stay, or are added.

use super::context::RuleContext;
use crate::dns::{NameRef, Rdata, Rtype};
use crate::inventory::model::Policy;
use crate::live::LiveRrset;

/// The places of the values that an RRset keeps or gets: those that are live, else the first.
///
/// At a target whose copy is not the reference, those that are live in the reference are chosen, so that all copies come to
/// hold the same. Under `create-only` an RRset that exists gets none.
pub fn kept_or_added(
    context: &RuleContext<'_>,
    (owner, rtype): (NameRef<'_>, Rtype),
    values: &[Rdata],
    policy: Policy,
) -> Vec<usize> {
    let here = context.live.rrset(owner, rtype);
    let mut chosen = chosen(context, (owner, rtype), here, values);
    if chosen.is_empty() {
        chosen.extend((0..values.len()).take(1));
    }
    if policy == Policy::CreateOnly && here.is_some() {
        chosen.retain(|place| holds(here, &values[*place]));
    }
    chosen
}

/// The places of the values that are live where it is chosen which stay.
fn chosen(
    context: &RuleContext<'_>,
    (owner, rtype): (NameRef<'_>, Rtype),
    here: Option<LiveRrset<'_>>,
    values: &[Rdata],
) -> Vec<usize> {
    let live_in = |found| (0..values.len()).filter(|place| holds(found, &values[*place])).collect::<Vec<_>>();
    let Some(view) = context.view else { return live_in(here) };
    // Which copy is the reference may change from plan to plan while the first target's copy is unknown: a copy that has
    // accepted values keeps them until then, or they would go to and fro.
    let is_without_first = here.is_some_and(|found| view.copies.without_first.contains(&found.zone));
    if is_without_first {
        let own = live_in(here);
        if !own.is_empty() {
            return own;
        }
    }
    live_in(view.reference.rrset(owner, rtype))
}

/// Whether an RRset holds a value.
fn holds(found: Option<LiveRrset<'_>>, value: &Rdata) -> bool {
    found.is_some_and(|found| found.rrset.rdata().any(|rdata| rdata.octets == value.as_octets()))
}
