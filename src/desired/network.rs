//! Which /64s an interface is in.

use std::net::Ipv4Addr;

use smallvec::{SmallVec, smallvec};

use crate::diag::Origin;
use crate::inventory::Inventory;
use crate::inventory::model::{ExportEntry, Ipv4Map, NetLayout, Tors, UnreadableRow};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Net64, Vlan};

/// /64s with the lines that give them: nearly always one, or two.
pub type NetworkLines = SmallVec<[(Net64, Origin); 2]>;

/// The /64s of an interface, with the lines that give them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceNetworks {
    /// In order of preference, each once; empty where no export names any.
    Known(NetworkLines),
    /// The line that should say is bad.
    Bad(Origin),
}

/// In which kind of segment a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// `l3-tors` lists the switch, or an accepted one did: each of its VLANs is one /64.
    L3,
    /// It does not: the datacenter's VLAN has networks.
    L2,
}

/// The segment of a switch.
pub fn segment(inventory: &Inventory, switch: Option<Symbol>) -> Segment {
    match switch {
        Some(switch) if inventory.tors.switches.contains(&switch) => Segment::L3,
        // A row that was lost does not move a switch: the networks of its datacenter would not reach it.
        Some(switch) if inventory.tors.former.contains(&switch) => Segment::L3,
        _ => Segment::L2,
    }
}

/// The networks of a VLAN behind a switch in a datacenter.
pub fn networks(inventory: &Inventory, switch: Option<Symbol>, location: Symbol, vlan: Vlan) -> InterfaceNetworks {
    match (segment(inventory, switch), switch) {
        (Segment::L3, Some(switch)) => {
            let Tors { networks, unreadable, .. } = &inventory.tors;
            match (networks.get(&(switch, vlan)), unreadable.get(&switch)) {
                (Some(ExportEntry::Bad(origin)), _) | (_, Some(origin)) => InterfaceNetworks::Bad(*origin),
                (Some(ExportEntry::Good(network, origin)), None) => {
                    InterfaceNetworks::Known(smallvec![(*network, *origin)])
                }
                (None, None) => InterfaceNetworks::Known(NetworkLines::new()),
            }
        }
        _ => {
            let NetLayout { networks, unreadable, .. } = &inventory.layout;
            let unreadable = unreadable.get(&Some(location)).or(unreadable.get(&None));
            match (networks.get(&(location, vlan)), unreadable) {
                (Some(ExportEntry::Bad(origin)), _) | (_, Some(origin)) => InterfaceNetworks::Bad(*origin),
                (Some(ExportEntry::Good(networks, _)), None) => {
                    InterfaceNetworks::Known(NetworkLines::from_slice(networks))
                }
                (None, None) => InterfaceNetworks::Known(NetworkLines::new()),
            }
        }
    }
}

/// The /64 that carries an IPv4 address in a datacenter's VLAN: of the rows whose IPv4 network holds it, the one with
/// the longest prefix.
pub fn ipv4_network(
    inventory: &Inventory,
    address: Ipv4Addr,
    location: Symbol,
    vlan: Vlan,
) -> Option<ExportEntry<Net64>> {
    let Ipv4Map { rows, unreadable } = &inventory.ipv4_map;
    let fits = |row: &&UnreadableRow| {
        row.network.contains(&address)
            && row.location.is_none_or(|own| own == location)
            && row.vlan.is_none_or(|own| own == vlan)
    };
    if let Some(row) = unreadable.iter().find(fits) {
        return Some(ExportEntry::Bad(row.origin));
    }
    let rows = rows.get(&(location, vlan))?;
    rows.iter().find(|(network, _)| network.contains(&address)).map(|(_, entry)| *entry)
}
