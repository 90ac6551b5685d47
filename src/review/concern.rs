//! What of a host a change is about.

use std::net::IpAddr;

use super::difference::About;
use super::side::Facts;
use crate::change::{Change, Rule};
use crate::desired::{Interface, InterfaceKind};
use crate::dns::reverse::address_of;
use crate::dns::{Rrset, Rtype};

/// What of a host a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// The addresses of one interface.
    Interface(InterfaceKind),
    /// The TTL alone.
    Ttl,
    /// Nobody can tell.
    Any,
}

impl Concern {
    /// What a change is about, by what two inventories say of its host.
    pub fn of(change: &Change, facts: [Option<&Facts<'_>>; 2]) -> Concern {
        if change.reasons.iter().all(|reason| reason.rule == Rule::Ttl) {
            return Concern::Ttl;
        }
        let interfaces = facts.into_iter().flatten().flat_map(|facts| &facts.desired.interfaces);
        let mut own = interfaces.filter(|interface| is_about(change, interface));
        own.next().map_or(Concern::Any, |interface| Concern::Interface(interface.kind))
    }

    /// How well a difference explains it, the best first; none where it does not.
    pub fn rank(self, about: About) -> Option<u8> {
        match (self, about) {
            (Concern::Ttl, About::Ttl) | (Concern::Any, About::Host | About::Interface(_)) => Some(0),
            (Concern::Ttl, About::Host) | (Concern::Any, About::Ttl) => Some(1),
            (Concern::Ttl, About::Interface(_)) => None,
            (Concern::Interface(_), About::Host) => Some(0),
            (Concern::Interface(own), About::Interface(kind)) => (own == kind).then_some(0),
            (Concern::Interface(_), About::Ttl) => Some(1),
        }
    }
}

/// Whether a change is about an interface: at its name or one of its addresses, of a PTR to its name, or of its address at
/// another name.
fn is_about(change: &Change, interface: &Interface) -> bool {
    let owner = change.key.owner.as_name();
    let points_to = |rrset: &Rrset| {
        rrset.rdata().iter().any(|rdata| rdata.as_rdata(Rtype::PTR).target() == Some(interface.owner.as_name()))
    };
    match change.key.rtype {
        Rtype::AAAA => {
            let held = |rrset: &Rrset| {
                let mut addresses = rrset.rdata().iter().filter_map(|rdata| rdata.as_rdata(Rtype::AAAA).address());
                addresses.any(|address| matches!(address, IpAddr::V6(address) if interface.accepts(address)))
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
