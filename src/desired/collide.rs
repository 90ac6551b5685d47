//! Who shares a name, a MAC or an address with whom, over the whole fleet.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::host::{DesiredHost, InterfaceKind};
use crate::change::BlockCode;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::{Host, HostStatus};
use crate::inventory::moves::HostMoves;
use crate::inventory::repeats::RepeatedHashes;
use crate::inventory::value::Mac;
use crate::names::holders::{HolderRow, NameHolder, NameIndex, gives_name, held_name};

/// For each host that shares something, by its place in [`Inventory::hosts`]: what it shares, and the lowest place of
/// another host that has the same; its own place where its two interfaces collide.
#[derive(Debug, Default)]
pub struct Collisions {
    /// Names, of the backbone rather than of the fastbone; with another row that gives the name.
    pub names: HashMap<u32, (Name, HolderRow)>,
    /// MACs.
    pub macs: HashMap<u32, (Mac, u32)>,
    /// Addresses: acceptable ones, and A records at the hosts' names.
    pub addresses: HashMap<u32, (IpAddr, u32)>,
}

/// What hosts use, each with the host's place in [`Inventory::hosts`]: part by part of the fleet.
#[derive(Debug, Clone, Default)]
pub struct UsedValues(Vec<UsedPart>);

/// What some hosts use.
#[derive(Debug, Clone, Default)]
struct UsedPart {
    /// The MACs of assigned hosts.
    macs: Vec<(Mac, u32)>,
    /// Addresses: acceptable ones, and A records at the hosts' names; IPv4 addresses as mapped ones.
    addresses: Vec<(Ipv6Addr, u32)>,
    /// Those of `addresses` that a host has only if no A record is at the name of its backbone, which could not be read.
    uncertain: Vec<(Ipv6Addr, u32)>,
}

impl UsedValues {
    /// Notes what a host uses.
    pub fn note(&mut self, place: usize, host: &Host, desired: &DesiredHost) {
        if self.0.is_empty() {
            self.0.push(UsedPart::default());
        }
        let Some(part) = self.0.last_mut() else { return };
        if let (HostStatus::Assigned, Some(active)) = (host.status, desired.mac.active) {
            part.macs.push((active.mac, place as u32));
        }
        for interface in &desired.interfaces {
            let is_certain = interface.kind != InterfaceKind::Backbone || interface.is_read;
            let by_another =
                |address| desired.interfaces.iter().any(|own| own.kind != interface.kind && own.accepts(address));
            let v6 = interface.acceptable.iter().map(|(address, _)| *address);
            let v6 = v6.filter(|address| is_certain || !by_another(*address));
            let v4 = interface.own_a.iter().map(|address| address.to_ipv6_mapped());
            let first = part.addresses.len();
            part.addresses.extend(v6.chain(v4).map(|address| (address, place as u32)));
            if !is_certain {
                part.uncertain.extend_from_slice(&part.addresses[first..]);
            }
        }
    }

    /// The IPv6 addresses, each with the place of a host.
    pub fn addresses(&self) -> impl Iterator<Item = (Ipv6Addr, usize)> {
        self.0.iter().flat_map(|part| &part.addresses).map(|(address, place)| (*address, *place as usize))
    }

    /// The same, by several threads.
    pub fn all_addresses(&self) -> impl ParallelIterator<Item = (Ipv6Addr, usize)> {
        let all = self.0.par_iter().flat_map(|part| &part.addresses);
        all.map(|(address, place)| (*address, *place as usize))
    }

    /// Forgets what the hosts at some places use; these are sorted.
    pub fn forget(&mut self, places: &[usize]) {
        if places.is_empty() {
            return;
        }
        let is_other = |place: u32| places.binary_search(&(place as usize)).is_err();
        for UsedPart { macs, addresses, uncertain } in &mut self.0 {
            macs.retain(|(_, place)| is_other(*place));
            for addresses in [addresses, uncertain] {
                addresses.retain(|(_, place)| is_other(*place));
            }
        }
    }

    /// Gives hosts the places that they have now, and forgets those with other rows.
    pub fn carry(&mut self, moves: &HostMoves) {
        if moves.is_none() {
            return;
        }
        let kept = |place: &mut u32| {
            let now = moves.place(*place as usize);
            *place = now.unwrap_or_default() as u32;
            now.is_some()
        };
        for UsedPart { macs, addresses, uncertain } in &mut self.0 {
            macs.retain_mut(|(_, place)| kept(place));
            for addresses in [addresses, uncertain] {
                addresses.retain_mut(|(_, place)| kept(place));
            }
        }
    }

    /// Takes what other hosts use.
    pub fn append(&mut self, mut others: UsedValues) {
        self.0.append(&mut others.0);
    }
}

impl Collisions {
    /// Compares all assigned hosts, by what they use.
    ///
    /// Free hosts, and current rows of names.lock whose host hosts.csv lacks, take part with their names.
    pub fn find(inventory: &Inventory, names: &NameIndex, used: &UsedValues) -> Collisions {
        let mut collisions = Collisions::default();
        collisions.find_names(inventory, names);
        collisions.find_macs(used);
        collisions.find_addresses(used);
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
            let held: Vec<(Name, NameHolder)> =
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
    fn find_macs(&mut self, used: &UsedValues) {
        // Nearly all occur once, and only the others are compared.
        let lists = used.0.iter().map(|part| part.macs.as_slice());
        let mut macs = repeated(lists, |mac| xxh3_64(&mac.octets()));
        macs.sort_unstable();
        for group in macs.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (mac, place) in group {
                let other = group.iter().find(|(_, other)| other != place).expect("a group has two places");
                self.macs.insert(*place, (*mac, other.1));
            }
        }
    }

    /// Finds addresses that two interfaces have. A host shares nothing by an address that it has perhaps; others share that
    /// with it, so that no host gets an address that another may have.
    fn find_addresses(&mut self, used: &UsedValues) {
        let uncertain: HashSet<&(Ipv6Addr, u32)> = used.0.iter().flat_map(|part| &part.uncertain).collect();
        let lists = used.0.iter().map(|part| part.addresses.as_slice());
        let mut addresses = repeated(lists, |address| xxh3_64(&address.octets()));
        addresses.sort_unstable();
        for group in addresses.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let is_certain = |used: &&(Ipv6Addr, u32)| !uncertain.contains(used);
            for (address, place) in group.iter().filter(is_certain) {
                let other = group.iter().find(|(_, other)| other != place).map(|(_, other)| *other);
                let other = other.unwrap_or(*place);
                let address = address.to_canonical();
                self.addresses.entry(*place).or_insert((address, other));
            }
        }
    }
}

/// All values that occur more than once, and hardly any others.
fn repeated<'u, T: Copy + 'u>(
    lists: impl Iterator<Item = &'u [(T, u32)]> + Clone,
    hash: impl Fn(T) -> u64,
) -> Vec<(T, u32)> {
    let mut repeats = RepeatedHashes::new(lists.clone().map(<[_]>::len).sum());
    lists.clone().flatten().for_each(|(value, _)| repeats.add(hash(*value)));
    lists.flatten().filter(|(value, _)| repeats.may_hold(hash(*value))).copied().collect()
}

/// Whether a name counts when names are compared: it is held now, and its host does not hold it anyway.
fn takes_part(inventory: &Inventory, holder: NameHolder) -> bool {
    let counted = match holder.by {
        HolderRow::Host(_) => false,
        HolderRow::Lock(row) => gives_name(inventory, &inventory.lock[row as usize]),
    };
    holder.now && !counted
}
