//! Which /64s an interface is in.

use std::net::Ipv4Addr;

use crate::diag::Origin;
use crate::inventory::Inventory;
use crate::inventory::model::Entry;
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Net64, Vlan};

/// The /64s of an interface, with the lines that give them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Networks {
    /// In order of preference, each once; empty where no export names any.
    Known(Vec<(Net64, Origin)>),
    /// The line that should say is bad.
    Bad(Origin),
}

/// In which kind of segment a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// `l3-tors` lists the switch: each of its VLANs is one /64.
    L3,
    /// It does not: the datacenter's VLAN has networks.
    L2,
}

/// The segment of a switch.
pub fn segment(inventory: &Inventory, switch: Option<Symbol>) -> Segment {
    match switch {
        Some(switch) if inventory.tors.switches.contains(&switch) => Segment::L3,
        _ => Segment::L2,
    }
}

/// The networks of a VLAN behind a switch in a datacenter.
pub fn networks(inventory: &Inventory, switch: Option<Symbol>, location: Symbol, vlan: Vlan) -> Networks {
    match (segment(inventory, switch), switch) {
        (Segment::L3, Some(switch)) => match inventory.tors.networks.get(&(switch, vlan)) {
            Some(Entry::Good(network, origin)) => Networks::Known(vec![(*network, *origin)]),
            Some(Entry::Bad(origin)) => Networks::Bad(*origin),
            None => Networks::Known(Vec::new()),
        },
        _ => match inventory.layout.networks.get(&(location, vlan)) {
            Some(Entry::Good(networks, _)) => Networks::Known(networks.clone()),
            Some(Entry::Bad(origin)) => Networks::Bad(*origin),
            None => Networks::Known(Vec::new()),
        },
    }
}

/// The /64 that carries an IPv4 address in a datacenter's VLAN: of the rows whose IPv4 network holds it, the one with
/// the longest prefix.
pub fn ipv4_network(inventory: &Inventory, address: Ipv4Addr, location: Symbol, vlan: Vlan) -> Option<Entry<Net64>> {
    let rows = inventory.ipv4_map.rows.get(&(location, vlan))?;
    rows.iter().find(|(network, _)| network.contains(&address)).map(|(_, entry)| *entry)
}
