//! What one inventory says of a host, as far as changes can depend on it.

use std::net::Ipv6Addr;

use crate::desired::host::{DesiredHost, derive};
use crate::desired::network::{InterfaceNetworks, Segment, networks, segment};
use crate::desired::{Interface, InterfaceKind};
use crate::diag::Origin;
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, Project, ProjectSettings};
use crate::inventory::value::{Inv, Time, Vlan};
use crate::live::Live;
use crate::names::holders::name_of;

/// An inventory, with what else hosts are derived from.
#[derive(Debug, Clone, Copy)]
pub struct InventorySide<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Live DNS, for its A records.
    pub live: &'a Live,
    /// The clock.
    pub now: Time,
}

/// What an inventory says of one host.
#[derive(Debug)]
pub struct SideFacts<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Its row.
    pub host: &'a Host,
    /// Its name.
    pub name: Option<&'a Name>,
    /// What is derived of it.
    pub desired: DesiredHost,
}

impl<'a> InventorySide<'a> {
    /// What it says of a host; none where hosts.csv lacks it.
    pub fn facts(&self, inv: Inv) -> Option<SideFacts<'a>> {
        let InventorySide { inventory, live, now } = *self;
        let host = &inventory.hosts[inventory.place_of(inv)?];
        let name = name_of(inventory, host).map(|(name, _)| name);
        Some(SideFacts { inventory, host, name, desired: derive(inventory, live, host, now) })
    }

    /// A line as people write it.
    pub fn place(&self, origin: Origin) -> String {
        self.inventory.files.place(origin).to_string()
    }
}

impl<'a> SideFacts<'a> {
    /// The project.
    pub fn project(&self) -> &'a Project {
        &self.inventory.projects[self.host.project.0 as usize]
    }

    /// What the project's owner says, where that is good.
    pub fn settings(&self) -> Option<&'a ProjectSettings> {
        self.project().file.settings()
    }

    /// The datacenter.
    pub fn location(&self) -> &'a str {
        self.inventory.symbols.text(self.host.location)
    }

    /// The switch, where one is known.
    pub fn switch(&self) -> Option<&'a str> {
        let switch = self.desired.mac.switch_of(self.host)?;
        Some(self.inventory.symbols.text(switch))
    }

    /// The segment that it is in.
    pub fn segment(&self) -> Segment {
        segment(self.inventory, self.desired.mac.switch_of(self.host))
    }

    /// What its networks are given for: its switch, or its datacenter.
    pub fn site(&self) -> String {
        match (self.segment(), self.switch()) {
            (Segment::L3, Some(switch)) => format!("switch `{switch}`"),
            _ => format!("datacenter `{}`", self.location()),
        }
    }

    /// The networks of a VLAN where the host is, each as its lowest address; empty where none is known.
    pub fn networks(&self, vlan: Vlan) -> Vec<(Ipv6Addr, Origin)> {
        let switch = self.desired.mac.switch_of(self.host);
        match networks(self.inventory, switch, self.host.location, vlan) {
            InterfaceNetworks::Known(found) => {
                found.into_iter().map(|(network, origin)| (network.address(0), origin)).collect()
            }
            InterfaceNetworks::Bad(_) => Vec::new(),
        }
    }

    /// Whether any of the names of its records is such a one: those of its interfaces, and the reverse names of their
    /// addresses.
    pub fn has_name(&self, is_such: impl Fn(NameRef<'_>) -> bool) -> bool {
        self.desired.interfaces.iter().any(|interface| {
            let mut addresses = interface.addresses().map(|(address, _)| reverse_name(address));
            is_such(interface.owner.as_name()) || addresses.any(|name| is_such(name.as_name()))
        })
    }

    /// One of its interfaces.
    pub fn interface(&self, kind: InterfaceKind) -> Option<&Interface> {
        self.desired.interfaces.iter().find(|interface| interface.kind == kind)
    }

    /// A line as people write it.
    pub fn place(&self, origin: Origin) -> String {
        self.inventory.files.place(origin).to_string()
    }
}
