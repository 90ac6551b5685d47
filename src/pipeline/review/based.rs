//! What would be decided by a base, with the live data of today.

use std::collections::{BTreeSet, HashSet};

use super::super::base::{self, Base};
use super::super::decide::{self, Decided, Given};
use super::super::guards::Remembered;
use super::super::{MakeError, Request};
use super::Reviewed;
use crate::change::Change;
use crate::diff::Selection;
use crate::dns::{NameRef, ZoneName, reverse};
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::model::{ProjectIndex, ZoneSpec};
use crate::inventory::value::Inv;
use crate::review::Side;
use crate::state::State;

/// A base, and what is decided by it.
pub struct Based {
    /// The base.
    pub base: Base,
    /// What is decided by it.
    pub decided: Decided,
}

impl Based {
    /// Loads a base and decides by it, with the live data that the plan was made from.
    ///
    /// Errors: `NoBase`, `NoState`.
    pub fn decide(
        request: &Request<'_>,
        Reviewed { inventory: now, live, waits, .. }: Reviewed<'_>,
        name: &str,
        (remembered, state): (&Remembered, Option<&dyn State>),
    ) -> Result<Based, MakeError> {
        let mut base = base::load(request.workspace, name, request.now).map_err(MakeError::NoBase)?;
        let inventory = &mut base.inventory;
        // The same switches stay in an L3 segment; whether exports are believed is asked of those of today alone.
        last::keep_in_l3(inventory, &state.map(State::l3_switches).transpose()?.unwrap_or_default());
        let new_zones = align_zones(inventory, now);
        let selection = select(inventory, request);
        let tripped = remembered.tripped(inventory);
        let given = Given { now: request.now, selection: &selection, tripped: &tripped, waits };
        let mut decided = decide::decide(inventory, live, given);
        if !new_zones.is_empty() {
            let side = Side { inventory, live, now: request.now };
            let outside = hosts_outside(&side, &decided.changes, &new_zones);
            decided.changes.retain(|change| {
                !new_zones.contains(&change.zone) && change.host.is_none_or(|inv| !outside.contains(&inv))
            });
        }
        Ok(Based { base, decided })
    }
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
