//! Which hosts need no change at a target, by what is so in the reference copies.
//!
//! Copies of a zone are nearly alike. A host that is settled in the reference is settled in another copy, too, unless
//! something differs at one of its names, or at the reverse name of one of its addresses: only what differs is looked at.

use foldhash::HashSet;
use std::net::{IpAddr, Ipv6Addr};

use super::context::{RuleContext, RuleGround};
use super::derive;
use crate::desired::{DesiredHosts, UsedValues};
use crate::dns::{Name, RrsetRef, reverse};
use crate::inventory::Inventory;
use crate::live::{ComparedViews, PairedRecords};
use crate::names::{HolderRow, NameIndex};

/// Which hosts are settled in a view of DNS, in the inventory's order; `reference` is the context of the reference copies.
///
/// A host at whose names the copies differ is never settled, though all may be in order in the view: the reference may have
/// another of its addresses.
pub fn settled_there(
    reference: &RuleContext<'_>,
    compared: &ComparedViews<'_>,
    desired: &DesiredHosts<'_>,
) -> Vec<bool> {
    let RuleContext { names, used, .. } = *reference;
    let ground = RuleGround { live: compared.view, ..reference.ground() };
    let mut settled = if compared.is_alike_in_structure {
        compared.view.pair(PairedRecords::carried(compared));
        let mut settled = reference.settled.to_vec();
        derive::unsettle_shared(ground, names, used, &mut settled);
        settled
    } else {
        // What a copy hides, or does not have at all, can unsettle hosts at whose names no RRset differs.
        derive::all(ground, desired).finish(ground, names).1
    };
    for place in concerned(reference.inventory, (names, used), compared) {
        settled[place] = false;
    }
    reference.stated.contradicted_hosts().for_each(|place| settled[place] = false);
    settled
}

/// The places of the hosts of whose names or reverse names something differs.
pub fn concerned(
    inventory: &Inventory,
    (names, used): (&NameIndex, &UsedValues),
    compared: &ComparedViews<'_>,
) -> Vec<usize> {
    let mut differing: Vec<Name> = compared.differing_name_servers().cloned().collect();
    let found = compared.zones.iter().flat_map(|zone| &zone.compared.differing);
    differing.extend(found.filter_map(|found| found.both().next()).map(RrsetRef::owner));
    let mut places: Vec<usize> = differing.iter().flat_map(|name| holders(inventory, names, name)).collect();
    let address = |name: &Name| match reverse::address_of(name.as_name()) {
        Some(IpAddr::V6(address)) => Some(address),
        _ => None,
    };
    let addresses: HashSet<Ipv6Addr> = differing.iter().filter_map(address).collect();
    if !addresses.is_empty() {
        let at_reverse = used.addresses().filter(|(address, _)| addresses.contains(address));
        places.extend(at_reverse.map(|(_, place)| place));
    }
    places
}

/// The places of the hosts that have or had a name.
fn holders(inventory: &Inventory, names: &NameIndex, name: &Name) -> Vec<usize> {
    let holders = names.holders(inventory, name.as_name());
    let places = holders.flat_map(|holder| match holder.by {
        HolderRow::Host(place) => place as usize..place as usize + 1,
        HolderRow::Lock(row) => inventory.places_of(inventory.lock[row as usize].inv),
    });
    places.collect()
}
