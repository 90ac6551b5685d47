//! What a host claims: its addresses at its names, its names at its addresses, and neither anywhere else.
//!
//! Comes in: a host with its interfaces, and which of their addresses they keep or get. Goes out: claims, each with the
//! lines that it follows from. They are made an interface at a time, and only for hosts whose rules run.

use std::net::{IpAddr, Ipv4Addr};

use super::{DesiredHost, Interface};
use crate::claim::{
    Claim, ElsewhereClaim, ElsewhereReach, IfForeign, RrsetClaim, Rule, TtlHold, Want, WantedTtl, WantedValue,
};
use crate::diag::Origin;
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, NameRef, Rdata, Rtype, address_type};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, ProjectIndex, ProjectSettings};
use crate::live::Live;

/// A host, and what its claims are made from.
#[derive(Debug, Clone, Copy)]
pub struct HostClaims<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Live DNS: in which zone a name is.
    pub live: &'a Live,
    /// The host.
    pub host: &'a Host,
    /// Its interfaces.
    pub desired: &'a DesiredHost,
}

impl HostClaims<'_> {
    /// The addresses at an interface's name (rules 1, 2, 4 and 6); of addresses that the inventory lists, both families.
    pub fn addresses(self, interface: &Interface) -> impl Iterator<Item = RrsetClaim> {
        let (first, second) = if interface.is_listed() {
            let [v6, v4] = [Rtype::AAAA, Rtype::A].map(|family| self.listed(interface, family));
            (v6, Some(v4))
        } else {
            (self.acceptable(interface), None)
        };
        std::iter::once(first).chain(second)
    }

    /// Any of the acceptable addresses at an interface's name.
    fn acceptable(self, interface: &Interface) -> RrsetClaim {
        let values = interface.acceptable.iter().map(|(address, network)| WantedValue {
            rdata: Rdata::from_address(IpAddr::V6(*address)),
            evidence: self.of_address(interface, *network),
        });
        RrsetClaim {
            owner: interface.owner.clone(),
            rtype: Rtype::AAAA,
            want: Want::AnyOf { values: values.collect(), adds: Rule::Missing },
            ttl: self.ttl(&interface.owner),
            removes: Rule::WrongAddress,
            if_foreign: IfForeign::Block,
        }
    }

    /// Exactly the addresses of a family that the inventory lists. Where it lists none, what is there may be another's, so
    /// that only an own RRset goes.
    fn listed(self, interface: &Interface, rtype: Rtype) -> RrsetClaim {
        let addresses = interface.addresses().filter(|(address, _)| address_type(*address) == rtype);
        let values = addresses.map(|(address, row)| WantedValue {
            rdata: Rdata::from_address(address),
            evidence: self.of_address(interface, row),
        });
        let values: Vec<WantedValue> = values.collect();
        let is_any = !values.is_empty();
        let setting = self.settings().and_then(|settings| settings.listed()).map(|listed| listed.origin);
        RrsetClaim {
            owner: interface.owner.clone(),
            rtype,
            want: if is_any {
                Want::Exactly { values, adds: Rule::Missing }
            } else {
                Want::Absent(setting.into_iter().chain(self.desired.name_origin).collect())
            },
            ttl: if is_any { self.ttl(&interface.owner) } else { None },
            removes: Rule::WrongAddress,
            if_foreign: if is_any { IfForeign::Block } else { IfForeign::Keep },
        }
    }

    /// All else that an interface claims; `kept` are the addresses that it keeps or gets, and `spared` others that stay at
    /// its name, with what points back from them.
    pub fn beside_addresses<'i>(
        self,
        interface: &'i Interface,
        kept: &'i [IpAddr],
        spared: &'i [IpAddr],
    ) -> impl Iterator<Item = Claim> {
        let addresses = || interface.addresses();
        let elsewhere = addresses().map(move |(address, line)| self.address_elsewhere(interface, address, line));
        let pointers = addresses().map(move |(address, line)| {
            let evidence = self.of_address(interface, line);
            self.pointer_at_address(interface, address, kept.contains(&address), evidence)
        });
        let own_a = if interface.is_listed() { &[] } else { interface.own_a.as_slice() };
        let at_own_a = own_a.iter().map(move |address| self.pointer_at_own_a(interface, *address));
        let rrsets = pointers.chain(at_own_a).map(Claim::Rrset);
        let pointer_elsewhere = std::iter::once_with(move || self.pointer_elsewhere(interface, spared));
        elsewhere.map(Claim::NowhereElse).chain(rrsets).chain(pointer_elsewhere.map(Claim::NowhereElse))
    }

    /// That an address is at no other name (rule 3).
    fn address_elsewhere(self, interface: &Interface, address: IpAddr, line: Origin) -> ElsewhereClaim {
        let evidence = self.of_address(interface, line);
        ElsewhereClaim {
            rtype: address_type(address),
            value: WantedValue { rdata: Rdata::from_address(address), evidence },
            removes: Rule::AddressElsewhere,
            here: vec![interface.owner.clone()],
            own: self.desired.interfaces.iter().map(|own| own.owner.clone()).collect(),
            reach: ElsewhereReach::KnownNames,
        }
    }

    /// What points back from an address that an interface may have: the name if it keeps or gets it, else nothing (rules 5
    /// and 6).
    fn pointer_at_address(
        self,
        interface: &Interface,
        address: IpAddr,
        is_kept: bool,
        evidence: Vec<Origin>,
    ) -> RrsetClaim {
        let owner = reverse_name(address);
        let want = if is_kept {
            let value = WantedValue { rdata: Rdata::from_name(interface.owner.as_name()), evidence };
            Want::Exactly { values: vec![value], adds: Rule::MissingPtr }
        } else {
            Want::Absent(evidence)
        };
        RrsetClaim {
            ttl: if is_kept { self.ttl(&owner) } else { None },
            owner,
            rtype: Rtype::PTR,
            want,
            removes: Rule::WrongPtr,
            if_foreign: if is_kept { IfForeign::Block } else { IfForeign::Leave },
        }
    }

    /// What points back from an A record at the interface's name, wherever it may be written (rules 5 and 6).
    fn pointer_at_own_a(self, interface: &Interface, address: Ipv4Addr) -> RrsetClaim {
        let owner = reverse_name(IpAddr::V4(address));
        RrsetClaim {
            ttl: self.ttl(&owner),
            owner,
            rtype: Rtype::PTR,
            want: Want::Exactly { values: vec![self.name(interface)], adds: Rule::MissingPtr },
            removes: Rule::WrongPtr,
            if_foreign: IfForeign::Leave,
        }
    }

    /// That no other address points back to the interface's name (rule 5).
    fn pointer_elsewhere(self, interface: &Interface, spared: &[IpAddr]) -> ElsewhereClaim {
        ElsewhereClaim {
            rtype: Rtype::PTR,
            value: self.name(interface),
            removes: Rule::PtrElsewhere,
            here: reverse_names(interface).chain(spared.iter().map(|address| reverse_name(*address))).collect(),
            own: self.desired.interfaces.iter().flat_map(reverse_names).collect(),
            reach: ElsewhereReach::Everywhere,
        }
    }

    /// The interface's name as a value.
    fn name(self, interface: &Interface) -> WantedValue {
        let evidence = self.desired.name_origin.into_iter().collect();
        WantedValue { rdata: Rdata::from_name(interface.owner.as_name()), evidence }
    }

    /// The TTL of an RRset; none outside of all zones.
    fn ttl(self, owner: &Name) -> Option<WantedTtl> {
        wanted_ttl(self.inventory, self.live, self.host.project, owner.as_name())
    }

    /// The settings of its project, where the project file is valid.
    fn settings(&self) -> Option<&ProjectSettings> {
        self.inventory.projects[self.host.project.0 as usize].file.settings()
    }

    /// The lines that an address follows from; `network` is that of its network, or that lists it.
    fn of_address(&self, interface: &Interface, network: Origin) -> Vec<Origin> {
        let settings = self.settings();
        if interface.is_listed() {
            let setting = settings.and_then(|settings| settings.listed()).map(|listed| listed.origin);
            return [Some(network), setting, self.desired.name_origin].into_iter().flatten().collect();
        }
        let by_ipv4 = interface.is_by_ipv4();
        let mac = self.desired.mac.active.map(|active| active.origin).filter(|_| !by_ipv4);
        let vlan = settings.map(|settings| settings.vlans_origin);
        let project_id = settings.and_then(|settings| settings.hbf_project_id).filter(|_| !by_ipv4);
        let project_id = project_id.map(|(_, origin)| origin);
        [mac, Some(network), vlan, project_id, self.desired.name_origin].into_iter().flatten().collect()
    }
}

/// The TTL that records of a project have at a name: that of the project, else of the zone; none outside of all zones.
pub fn wanted_ttl(inventory: &Inventory, live: &Live, project: ProjectIndex, owner: NameRef<'_>) -> Option<WantedTtl> {
    let spec = &inventory.config.zones[live.zone_of(owner)?.0 as usize];
    let settings = inventory.projects[project.0 as usize].file.settings();
    let of_project = settings.and_then(|settings| settings.ttl).map(|(_, origin)| origin);
    let origin = of_project.or(spec.ttl_origin).unwrap_or(spec.origin);
    Some(WantedTtl { ttl: inventory.wanted_ttl(project, spec), origin, hold: TtlHold::Always })
}

/// The reverse names of the addresses of an interface.
fn reverse_names(interface: &Interface) -> impl Iterator<Item = Name> {
    let acceptable = interface.acceptable.iter().map(|(address, _)| IpAddr::V6(*address));
    acceptable.chain(interface.own_a.iter().map(|address| IpAddr::V4(*address))).map(reverse_name)
}
