//! All hosts as they are desired, each derived when it is first read.
//!
//! In nearly every host everything is in order, and it is read once: its derived form need not be kept.

use std::ops::Index;
use std::sync::OnceLock;

use super::host::{self, DesiredHost, LookedUp, OwnALookup};
use crate::inventory::Inventory;
use crate::inventory::value::Time;
use crate::live::Live;

/// The desired hosts, in the order of [`Inventory::hosts`].
#[derive(Debug)]
pub struct DesiredHosts<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// Live DNS, for its A records.
    live: &'i Live,
    /// The clock.
    now: Time,
    /// Those that were read so far.
    hosts: Vec<OnceLock<Box<DesiredHost>>>,
}

impl<'i> DesiredHosts<'i> {
    /// The hosts of an inventory, none of them derived yet.
    pub fn new(inventory: &'i Inventory, live: &'i Live, now: Time) -> DesiredHosts<'i> {
        let hosts = inventory.hosts.iter().map(|_| OnceLock::new()).collect();
        DesiredHosts { inventory, live, now, hosts }
    }

    /// Derives one host, and does not keep it.
    fn derive(&self, place: usize) -> DesiredHost {
        host::derive(self.inventory, self.live, &self.inventory.hosts[place], self.now)
    }

    /// Derives one host from what was looked up about it and about the A records at its names.
    pub fn derive_by(&self, place: usize, looked_up: LookedUp<'_>, own_a: OwnALookup<'_>) -> DesiredHost {
        host::derive_by(self.inventory, &self.inventory.hosts[place], self.now, looked_up, own_a)
    }

    /// Keeps what one host was derived to.
    pub fn keep(&self, place: usize, host: DesiredHost) {
        self.hosts[place].get_or_init(|| Box::new(host));
    }

    /// All hosts; those that are derived for this are kept.
    pub fn iter(&self) -> impl Iterator<Item = &DesiredHost> {
        (0..self.hosts.len()).map(|place| &self[place])
    }
}

impl Index<usize> for DesiredHosts<'_> {
    type Output = DesiredHost;

    fn index(&self, place: usize) -> &DesiredHost {
        self.hosts[place].get_or_init(|| Box::new(self.derive(place)))
    }
}
