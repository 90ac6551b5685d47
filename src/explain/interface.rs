//! One interface: its VLAN, its networks, its addresses step by step, and what is live.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::ExplainCase;
use super::made::{self, AddressIngredients};
use super::model::{InterfaceFacts, ListedAddress, MadeAddress, NetworkFacts, OwnA};
use super::site::kind_word;
use crate::desired::network::{self, InterfaceNetworks, Segment};
use crate::desired::{Interface, InterfaceKind};
use crate::diag::Origin;
use crate::diff::standing::kept_or_gained;
use crate::dns::{Rtype, reverse};
use crate::inventory::model::{ExportEntry, Host, Policy, ProjectSettings};
use crate::inventory::value::{Net64, Vlan};
use crate::live::NamePlace;

/// The word for addresses that are not made, but listed.
pub const LISTED: &str = "listed";

impl ExplainCase<'_> {
    /// The interfaces that a host has or would have.
    pub(super) fn interfaces(&self, place: usize, policy: Policy) -> Vec<InterfaceFacts> {
        let context = self.context;
        let (host, desired) = (&context.inventory.hosts[place], &context.desired[place]);
        let settings = context.settings(host.project);
        let fastbone = settings.is_some_and(ProjectSettings::has_fastbone);
        let kinds = [(InterfaceKind::Backbone, true), (InterfaceKind::Fastbone, fastbone)];
        let kinds = kinds.into_iter().filter(|(_, exists)| *exists);
        kinds
            .map(|(kind, _)| {
                let own = desired.interfaces.iter().find(|interface| interface.kind == kind);
                InterfaceDerivation { case: self, place, host, settings, kind, own, policy }.facts()
            })
            .collect()
    }
}

/// What one interface is derived from.
struct InterfaceDerivation<'d> {
    /// The case.
    case: &'d ExplainCase<'d>,
    /// The host's place.
    place: usize,
    /// The host.
    host: &'d Host,
    /// Its project's settings, where they are good.
    settings: Option<&'d ProjectSettings>,
    /// Which interface it is.
    kind: InterfaceKind,
    /// The interface; none where the host has no name.
    own: Option<&'d Interface>,
    /// The policy under which the host is or would be planned.
    policy: Policy,
}

impl InterfaceDerivation<'_> {
    /// All about the interface.
    fn facts(&self) -> InterfaceFacts {
        let (case, project) = (self.case, Some(self.host.project));
        let ingredients = self.ingredients();
        let own = self.own;
        let is_fastbone = self.kind == InterfaceKind::Fastbone;
        let vlan = self.vlan();
        let is_listed = case.is_listed(self.host.project);
        let own_a = own.filter(|_| !is_listed).map(|own| &own.own_a);
        InterfaceFacts {
            kind: kind_word(self.kind),
            name: own.map(|own| own.owner.to_string()),
            name_line: self.settings.filter(|_| is_fastbone).map(|settings| case.line(settings.fastbone_origin)),
            vlan: vlan.and_then(|vlan| vlan.to_string().parse().ok()),
            vlan_line: self.settings.map(|settings| case.line(settings.vlans_origin)),
            method: if is_listed { Some(LISTED) } else { ingredients.map(AddressIngredients::method) },
            networks_from: vlan.map(|vlan| self.networks_from(vlan)).unwrap_or_default(),
            networks: self.networks(),
            own_a: own_a.into_iter().flatten().map(|address| self.own_a(*address)).collect(),
            listed: own.filter(|_| is_listed).map(|own| self.listed(own)).unwrap_or_default(),
            live: own.map(|own| case.site(own.owner.as_name(), &[Rtype::A, Rtype::AAAA, Rtype::CNAME], project)),
            ptr_elsewhere: own
                .map(|own| case.addresses_pointing(own.owner.as_name(), |address| own.is_at(address)))
                .unwrap_or_default(),
        }
    }

    /// The interface's VLAN.
    fn vlan(&self) -> Option<Vlan> {
        let vlans = self.settings?.vlans;
        match self.kind {
            InterfaceKind::Backbone => vlans.main(),
            InterfaceKind::Fastbone => vlans.fastbone(),
        }
    }

    /// Whether the addresses are made of A records.
    fn is_by_ipv4(&self) -> bool {
        self.own.is_some_and(Interface::is_by_ipv4)
    }

    /// What addresses are made of; any IPv4 address is an example of all.
    fn ingredients(&self) -> Option<AddressIngredients> {
        if self.is_by_ipv4() {
            return self.own?.own_a.first().map(|address| AddressIngredients::Ipv4(*address));
        }
        let mac = self.case.context.desired[self.place].mac.active?.mac;
        Some(match self.settings?.hbf_project_id {
            Some((project, _)) => AddressIngredients::ProjectId(project, mac),
            None => AddressIngredients::Eui64(mac),
        })
    }

    /// Where the networks come from.
    fn networks_from(&self, vlan: Vlan) -> String {
        let inventory = self.case.context.inventory;
        let location = inventory.symbols.text(self.host.location);
        if let (true, Some(own)) = (self.is_by_ipv4(), self.own) {
            let unmapped = own
                .own_a
                .iter()
                .filter(|address| network::ipv4_network(inventory, **address, self.host.location, vlan).is_none());
            let unmapped: Vec<String> = unmapped.map(|address| format!("; it has no row for {address}")).collect();
            return format!(
                "an IPv4 host: ipv4-map, by its A records, `{location}` and VLAN {vlan}{}",
                unmapped.concat()
            );
        }
        let switch = self.case.context.desired[self.place].mac.switch_of(self.host);
        let from = match (network::segment(inventory, switch), switch) {
            (Segment::L3, Some(switch)) if inventory.tors.former.contains(&switch) => {
                let switch = inventory.symbols.text(switch);
                format!("l3-tors, which listed switch `{switch}` when it was last accepted, by that and VLAN {vlan}")
            }
            (Segment::L3, Some(switch)) => {
                format!("l3-tors, by switch `{}` and VLAN {vlan}", inventory.symbols.text(switch))
            }
            _ => format!("net-layout, by datacenter `{location}` and VLAN {vlan}"),
        };
        match network::networks(inventory, switch, self.host.location, vlan) {
            InterfaceNetworks::Bad(origin) => format!("{from}; but {} is bad", self.case.line(origin)),
            InterfaceNetworks::Known(known) if known.is_empty() => format!("{from}: there is none"),
            InterfaceNetworks::Known(_) => from,
        }
    }

    /// The networks, with the addresses in them.
    fn networks(&self) -> Vec<NetworkFacts> {
        let kept = self.own.map(|own| kept_or_gained(self.case.context, own, self.policy)).unwrap_or_default();
        let acceptable = self.own.map(|own| own.acceptable.as_slice()).unwrap_or_default();
        if acceptable.is_empty() {
            let bare = |(network, origin): (Net64, Origin)| NetworkFacts {
                network: network.to_string(),
                line: self.case.line(origin),
                address: None,
            };
            return self.bare_networks().into_iter().map(bare).collect();
        }
        let made = |(rank, (address, origin)): (usize, &(Ipv6Addr, Origin))| NetworkFacts {
            network: made::network_of(*address).to_string(),
            line: self.case.line(*origin),
            address: Some(self.address(*address, rank == 0, kept.contains(&IpAddr::V6(*address)))),
        };
        acceptable.iter().enumerate().map(made).collect()
    }

    /// The networks in which the interface would have addresses, if it had a name and a MAC.
    fn bare_networks(&self) -> Vec<(Net64, Origin)> {
        let Some(vlan) = self.vlan() else { return Vec::new() };
        let (inventory, location) = (self.case.context.inventory, self.host.location);
        if let (true, Some(own)) = (self.is_by_ipv4(), self.own) {
            let mapped =
                own.own_a.iter().filter_map(|address| network::ipv4_network(inventory, *address, location, vlan));
            return mapped
                .filter_map(|entry| if let ExportEntry::Good(network, at) = entry { Some((network, at)) } else { None })
                .collect();
        }
        let switch = self.case.context.desired[self.place].mac.switch_of(self.host);
        match network::networks(inventory, switch, location, vlan) {
            InterfaceNetworks::Known(networks) => networks.into_vec(),
            InterfaceNetworks::Bad(_) => Vec::new(),
        }
    }

    /// One address.
    fn address(&self, address: Ipv6Addr, preferred: bool, kept: bool) -> MadeAddress {
        let ingredients = if self.is_by_ipv4() {
            Some(AddressIngredients::Ipv4(made::embedded_ipv4(address)))
        } else {
            self.ingredients()
        };
        let reverse_name = reverse::reverse_name(IpAddr::V6(address));
        let owner = self.own.map(|own| own.owner.as_name());
        MadeAddress {
            address,
            preferred,
            live: self.is_live(IpAddr::V6(address)),
            kept,
            steps: ingredients.map(|own| own.steps(made::network_of(address))).unwrap_or_default(),
            reverse: self.case.site(reverse_name.as_name(), &[Rtype::PTR, Rtype::CNAME], Some(self.host.project)),
            elsewhere: self.case.names_holding(IpAddr::V6(address), owner),
        }
    }

    /// The addresses that the inventory lists.
    fn listed(&self, own: &Interface) -> Vec<ListedAddress> {
        let kept = kept_or_gained(self.case.context, own, self.policy);
        let listed = |(address, row): (IpAddr, Origin)| {
            let name = reverse::reverse_name(address);
            ListedAddress {
                address,
                line: self.case.line(row),
                live: self.is_live(address),
                kept: kept.contains(&address),
                reverse: self.case.site(name.as_name(), &[Rtype::PTR, Rtype::CNAME], Some(self.host.project)),
                elsewhere: self.case.names_holding(address, Some(own.owner.as_name())),
            }
        };
        own.addresses().map(listed).collect()
    }

    /// Whether an address is live at the interface's name; none where that is not known.
    fn is_live(&self, address: IpAddr) -> Option<bool> {
        let owner = self.own?.owner.as_name();
        let known = !matches!(self.case.context.live.place(owner), NamePlace::Unknown(_));
        known.then(|| self.case.context.live.holding(address).any(|found| found.rrset.is_at(owner)))
    }

    /// An A record at the interface's name.
    fn own_a(&self, address: Ipv4Addr) -> OwnA {
        let reverse_name = reverse::reverse_name(IpAddr::V4(address));
        let reverse = self.case.site(reverse_name.as_name(), &[Rtype::PTR, Rtype::CNAME], Some(self.host.project));
        OwnA { address, reverse }
    }
}
