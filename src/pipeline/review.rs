//! What the changes of a plan rest on: the inventory held against a base, and against what was applied last.
//!
//! Comes in: what was decided, and by what. Goes out: a [`Review`]. The base is derived and decided with the live data that
//! the plan was made from, so that nothing but the inventory differs.

use std::collections::{BTreeSet, HashSet};

use super::base::{self, Base};
use super::decide::{self, Decided, Given};
use super::guards::Remembered;
use super::{MakeError, Progress, Request};
use crate::apply::Outcome;
use crate::change::Change;
use crate::diff::Selection;
use crate::diff::waits::Waits;
use crate::dns::{NameRef, RrKey, ZoneName, reverse};
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::model::{ProjectIndex, ZoneSpec};
use crate::inventory::value::Inv;
use crate::live::Live;
use crate::plan::{Against, Review};
use crate::review::{self, Side};
use crate::state::{ApplySummary, State, StateError, Written};

/// What was decided, and by what.
#[derive(Clone, Copy)]
pub(super) struct Reviewed<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Live DNS.
    pub live: &'a Live,
    /// What waits to be deleted.
    pub waits: &'a Waits,
    /// What was decided; the changes as a plan sorts them.
    pub decided: &'a Decided,
}

/// Finds what each change rests on; none where there are no changes.
///
/// Errors: `NoBase`, `NoState`.
pub(super) fn review(
    request: &Request<'_>,
    reviewed: Reviewed<'_>,
    (remembered, state): (&Remembered, Option<&dyn State>),
    progress: &dyn Progress,
) -> Result<Option<Review>, MakeError> {
    let Reviewed { inventory, live, decided, .. } = reviewed;
    let base = request.base.map(|name| {
        progress.stage("deriving the base", None);
        let base = base::load(request.workspace, name, request.now).map_err(MakeError::NoBase)?;
        decide_base(request, reviewed, base, (remembered, state))
    });
    let base = base.transpose()?;
    let side = |inventory| Side { inventory, live, now: request.now };
    let against = match &base {
        Some(DecidedBase { name, commit, .. }) => Against::Base { name: name.clone(), commit: commit.clone() },
        None => state.map(last_whole).transpose()?.flatten().unwrap_or(Against::Nothing),
    };
    let drifted = state.map(|state| drifted(&decided.changes, state)).transpose()?.unwrap_or_default();
    let given = review::Given {
        against,
        now: side(inventory),
        decided: outcome(decided),
        base: base.as_ref().map(|base| (side(&base.inventory), outcome(&base.decided))),
        accepted: None,
        drifted: &drifted,
    };
    Ok(review::review(&given))
}

/// The latest apply that did all of its plan for the whole fleet; none where there is none among the latest.
fn last_whole(state: &dyn State) -> Result<Option<Against>, StateError> {
    /// How far back is looked: a whole apply ends most days (no official source).
    const LATEST: usize = 50;
    let is_done = |word: &String| {
        [Outcome::Applied, Outcome::AlreadyApplied].iter().any(|outcome| outcome.as_str() == word)
    };
    let is_whole = |apply: &ApplySummary| {
        let ApplySummary { new, finished, outcomes, .. } = apply;
        new.is_whole && new.undoes.is_none() && finished.is_some() && outcomes.keys().all(is_done)
    };
    let found = state.applies(LATEST)?.into_iter().find(is_whole);
    Ok(found.map(|apply| Against::Journal { apply: apply.id.0, at: apply.new.started }))
}

/// Of each change, whether an apply left there what the change would put there again: somebody else changed or removed it.
fn drifted(changes: &[Change], state: &dyn State) -> Result<Vec<bool>, StateError> {
    let rrsets: Vec<&RrKey> = changes.iter().map(|change| &change.key).collect();
    let is_drift = |(change, written): (&Change, &Option<Written>)| {
        written.as_ref().is_some_and(|written| match (&written.after, change.kind.after()) {
            (Some(kept), Some(after)) => kept.is(change.key.rtype, after),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        })
    };
    Ok(changes.iter().zip(&state.last_written(&rrsets)?).map(is_drift).collect())
}

/// What of a decision a review goes by.
fn outcome(decided: &Decided) -> review::Decided<'_> {
    review::Decided { changes: &decided.changes, blocked: &decided.blocked, skipped: &decided.skipped }
}

/// A base, and what is decided by it.
struct DecidedBase {
    /// Its inventory.
    inventory: Inventory,
    /// Its name.
    name: String,
    /// Its commit; none for a folder.
    commit: Option<String>,
    /// What is decided by it.
    decided: Decided,
}

/// Decides by a base, with the live data that the plan was made from.
fn decide_base(
    request: &Request<'_>,
    Reviewed { inventory: now, live, waits, .. }: Reviewed<'_>,
    base: Base,
    (remembered, state): (&Remembered, Option<&dyn State>),
) -> Result<DecidedBase, MakeError> {
    let Base { mut inventory, name, commit, .. } = base;
    // The same switches stay in an L3 segment; whether exports are believed is asked of those of today alone.
    last::keep_in_l3(&mut inventory, &state.map(State::l3_switches).transpose()?.unwrap_or_default());
    let new_zones = align_zones(&mut inventory, now);
    let selection = select(&inventory, request);
    let tripped = remembered.tripped(&inventory);
    let given = Given { now: request.now, selection: &selection, tripped: &tripped, waits };
    let mut decided = decide::decide(&inventory, live, given);
    if !new_zones.is_empty() {
        let outside =
            hosts_outside(&Side { inventory: &inventory, live, now: request.now }, &decided.changes, &new_zones);
        decided.changes.retain(|change| {
            !new_zones.contains(&change.zone) && change.host.is_none_or(|inv| !outside.contains(&inv))
        });
    }
    Ok(DecidedBase { inventory, name, commit, decided })
}

/// Gives a base the zones of today, in their order, each with the base's settings where it has the zone: live data are those
/// of today's zones. Gives the zones that the base lacks.
fn align_zones(base: &mut Inventory, now: &Inventory) -> BTreeSet<ZoneName> {
    let mut own: Vec<ZoneSpec> = std::mem::take(&mut base.config.zones);
    let mut new = BTreeSet::new();
    for spec in &now.config.zones {
        let spec = match own.iter().position(|own| own.name == spec.name) {
            Some(place) => own.swap_remove(place),
            None => {
                new.insert(spec.name.clone());
                spec.clone()
            }
        };
        base.config.zones.push(spec);
    }
    new
}

/// The hosts of changes that have a name or address in one of these zones: without them they would be blocked.
fn hosts_outside(side: &Side<'_>, changes: &[Change], zones: &BTreeSet<ZoneName>) -> HashSet<Inv> {
    let is_outside = |name: NameRef<'_>| {
        let zone = side.live.zone_of(name);
        zone.is_some_and(|zone| zones.contains(&side.inventory.config.zones[zone.0 as usize].name))
    };
    let hosts: HashSet<Inv> = changes.iter().filter_map(|change| change.host).collect();
    let lies_outside = |inv: &Inv| {
        side.facts(*inv).is_some_and(|facts| {
            facts.desired.interfaces.iter().any(|interface| {
                let mut addresses = interface.acceptable.iter().map(|(address, _)| *address);
                is_outside(interface.owner.as_name())
                    || addresses.any(|address| is_outside(reverse::reverse_name(address.into()).as_name()))
            })
        })
    };
    hosts.into_iter().filter(lies_outside).collect()
}

/// Whose rules run of a base: those that the command line names, as far as the base knows them.
fn select(base: &Inventory, request: &Request<'_>) -> Selection {
    let place = |id: &String| base.projects.iter().position(|project| project.id == *id);
    // A project that the base lacks narrows it to nothing all the same.
    let index = |id| ProjectIndex(place(id).map_or(u32::MAX, |place| place as u32));
    Selection { hosts: request.hosts.iter().copied().collect(), projects: request.projects.iter().map(index).collect() }
}
