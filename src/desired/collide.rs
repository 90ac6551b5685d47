//! Who shares a name, a MAC or an address with whom, over the whole fleet.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use xxhash_rust::xxh3::xxh3_64;

use super::host::DesiredHost;
use crate::change::BlockCode;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::HostStatus;
use crate::inventory::repeats::Repeats;
use crate::inventory::value::Mac;
use crate::names::holders::{Holder, HolderRow, NameIndex, gives_name, held_name};

/// For each host that shares something, by its place in [`Inventory::hosts`], what it shares and with whom: the lowest
/// place of another host; its own where its two interfaces collide.
#[derive(Debug, Default)]
pub struct Collisions {
    /// Names, of the backbone rather than of the fastbone; with another row that gives the name.
    pub names: HashMap<u32, (Name, HolderRow)>,
    /// MACs.
    pub macs: HashMap<u32, (Mac, u32)>,
    /// Addresses: acceptable ones, and A records at the hosts' names.
    pub addresses: HashMap<u32, (IpAddr, u32)>,
}

impl Collisions {
    /// Compares all assigned hosts; `desired` has the order of [`Inventory::hosts`].
    ///
    /// Free hosts, and current rows of names.lock whose host hosts.csv lacks, take part with their names.
    pub fn find(inventory: &Inventory, names: &NameIndex, desired: &[DesiredHost]) -> Collisions {
        let mut collisions = Collisions::default();
        collisions.find_names(inventory, names);
        collisions.find_macs(inventory, desired);
        collisions.find_addresses(desired);
        collisions
    }

    /// The codes of what a host shares.
    pub fn codes(&self, place: usize) -> impl Iterator<Item = BlockCode> + use<> {
        let number = place as u32;
        let shared = [
            self.names.contains_key(&number).then_some(BlockCode::DuplicateName),
            self.macs.contains_key(&number).then_some(BlockCode::DuplicateMac),
            self.addresses.contains_key(&number).then_some(BlockCode::AddressCollision),
        ];
        shared.into_iter().flatten()
    }

    /// Finds names that two interfaces have.
    fn find_names(&mut self, inventory: &Inventory, names: &NameIndex) {
        for group in names.groups() {
            let holders = group.filter(|holder| takes_part(inventory, *holder));
            let held: Vec<(Name, Holder)> =
                holders.filter_map(|holder| held_name(inventory, holder).map(|name| (name, holder))).collect();
            for (name, holder) in &held {
                let HolderRow::Host(place) = holder.by else { continue };
                if inventory.hosts[place as usize].status == HostStatus::Free {
                    continue;
                }
                let mut others = held.iter().filter(|(other, by)| other == name && by != holder);
                let Some((_, other)) = others.next() else { continue };
                let shared = (name.clone(), other.by);
                if holder.fastbone {
                    self.names.entry(place).or_insert(shared);
                } else {
                    self.names.insert(place, shared);
                }
            }
        }
    }

    /// Finds MACs that two hosts use.
    fn find_macs(&mut self, inventory: &Inventory, desired: &[DesiredHost]) {
        let used = || {
            let hosts = (0..).zip(inventory.hosts.iter().zip(desired));
            hosts.filter_map(|(place, (host, desired))| match (host.status, desired.mac.active) {
                (HostStatus::Assigned, Some(active)) => Some((active.mac, place)),
                _ => None,
            })
        };
        let hash = |mac: Mac| xxh3_64(&mac.octets());
        // Nearly all stand once, and only the others are kept and compared.
        let mut repeats = Repeats::new(desired.len());
        used().for_each(|(mac, _)| repeats.add(hash(mac)));
        let mut macs: Vec<(Mac, u32)> = used().filter(|(mac, _)| repeats.may_hold(hash(*mac))).collect();
        macs.sort_unstable();
        for group in macs.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (mac, place) in group {
                let other = group.iter().find(|(_, other)| other != place).expect("a group has two places");
                self.macs.insert(*place, (*mac, other.1));
            }
        }
    }

    /// Finds addresses that two interfaces have.
    fn find_addresses(&mut self, desired: &[DesiredHost]) {
        let used = || {
            let interfaces =
                (0..).zip(desired).flat_map(|(place, desired)| desired.interfaces.iter().map(move |own| (place, own)));
            interfaces.flat_map(|(place, interface)| {
                let v6 = interface.acceptable.iter().map(|(address, _)| u128::from(*address));
                let v4 = interface.own_a.iter().map(|address| u128::from(address.to_ipv6_mapped()));
                v6.chain(v4).map(move |address| (address, place))
            })
        };
        let hash = |address: u128| xxh3_64(&address.to_be_bytes());
        let mut repeats = Repeats::new(desired.len() * 2);
        used().for_each(|(address, _)| repeats.add(hash(address)));
        let mut addresses: Vec<(u128, u32)> = used().filter(|(address, _)| repeats.may_hold(hash(*address))).collect();
        addresses.sort_unstable();
        for group in addresses.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (address, place) in group {
                let other = group.iter().find(|(_, other)| other != place).map_or(*place, |(_, other)| *other);
                let address = Ipv6Addr::from(*address).to_canonical();
                self.addresses.entry(*place).or_insert((address, other));
            }
        }
    }
}

/// Whether a name counts when names are compared: it is held now, and its host does not hold it anyway.
fn takes_part(inventory: &Inventory, holder: Holder) -> bool {
    let counted = match holder.by {
        HolderRow::Host(_) => false,
        HolderRow::Lock(row) => gives_name(inventory, &inventory.lock[row as usize]),
    };
    holder.now && !counted
}
