//! What of a host a change is about.

use std::net::IpAddr;

use super::difference::HostPart;
use super::side::SideFacts;
use crate::change::Change;
use crate::desired::{Interface, InterfaceKind};
use crate::dns::reverse::address_of;
use crate::dns::{Rrset, Rtype};

/// What of a host a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeConcern {
    /// The interface whose address it is about; none where that is not known.
    pub interface: Option<InterfaceKind>,
    /// Whether its result differs by its TTL alone.
    pub is_ttl: bool,
}

impl ChangeConcern {
    /// What a change is about, by what two inventories say of its host.
    pub fn of(change: &Change, facts: [Option<&SideFacts<'_>>; 2], is_ttl: bool) -> ChangeConcern {
        let interfaces = facts.into_iter().flatten().flat_map(|facts| &facts.desired.interfaces);
        let mut own = interfaces.filter(|interface| is_about(change, interface));
        ChangeConcern { interface: own.next().map(|interface| interface.kind), is_ttl }
    }

    /// How well a difference explains it, the best first; none where it does not.
    pub fn rank(self, about: HostPart) -> Option<u8> {
        match (self.is_ttl, about) {
            (true, HostPart::Ttl) | (false, HostPart::Host) => Some(0),
            (true, HostPart::Host) => Some(1),
            (false, HostPart::Ttl) => None,
            // Where zonewright left an interface alone, it left its TTLs alone, too.
            (is_ttl, HostPart::Interface(kind)) => {
                self.interface.is_none_or(|own| own == kind).then_some(if is_ttl { 2 } else { 0 })
            }
        }
    }
}

/// Whether a change is about an interface: at its name or one of its addresses, of a PTR to its name, or of its address
/// at another name.
fn is_about(change: &Change, interface: &Interface) -> bool {
    let owner = change.key.owner.as_name();
    let points_to = |rrset: &Rrset| {
        rrset.rdata().iter().any(|rdata| rdata.as_rdata(Rtype::PTR).target() == Some(interface.owner.as_name()))
    };
    match change.key.rtype {
        Rtype::AAAA | Rtype::A => {
            let held = |rrset: &Rrset| {
                let data = rrset.rdata().iter();
                let mut addresses = data.filter_map(|rdata| rdata.as_rdata(change.key.rtype).address());
                addresses.any(|address| interface.addresses().any(|(own, _)| own == address))
            };
            owner == interface.owner.as_name() || change.kind.before().is_some_and(held)
        }
        Rtype::PTR => {
            let is_at = match address_of(owner) {
                Some(IpAddr::V6(address)) => interface.accepts(address),
                Some(IpAddr::V4(address)) => interface.own_a.contains(&address),
                None => false,
            };
            is_at || [change.kind.after(), change.kind.before()].into_iter().flatten().any(points_to)
        }
        _ => false,
    }
}
