//! What `allocate` would give to the hosts that have no name.

use super::allocate::{Giving, Holding, allocate, nameless};
use super::outcome::{Naming, Refusal};
use super::taken::{self, Taken};
use crate::dns::{Name, NameRef, ZoneName};
use crate::inventory::Inventory;
use crate::inventory::value::{Inv, Time};
use crate::live::Live;

/// What a bare `allocate` over the whole fleet would come to.
#[derive(Debug, Default)]
pub struct Foreseen {
    /// The hosts that it would give names to, in order of their numbers.
    namings: Vec<Naming>,
    /// The hosts that it would refuse, in order of their numbers.
    refused: Vec<Refusal>,
    /// Why it would give no names at all.
    unseen: Option<Unseen>,
}

/// Why nobody knows which names are free.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unseen {
    /// hosts.csv or names.lock cannot be believed.
    Doubted,
    /// A zone that may hold names could not be read.
    Unread(ZoneName),
    /// A zone that may hold names is asked name by name.
    ByName(ZoneName),
}

/// What is foreseen for one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect<'a> {
    /// It gets this name.
    Gets(&'a Name),
    /// It gets none.
    Refused(&'a Refusal),
    /// It would get one, but for this zone, which could not be read.
    Unread(&'a ZoneName),
    /// It would get one, but for this zone, which is asked name by name.
    ByName(&'a ZoneName),
    /// Nothing can be said.
    Unknown,
}

impl Foreseen {
    /// Gives names to all hosts that have none, in thought.
    pub fn find(inventory: &Inventory, live: &Live, now: Time) -> Foreseen {
        let mut invs: Vec<Inv> = nameless(inventory).map(|host| host.inv).collect();
        invs.dedup();
        if invs.is_empty() {
            return Foreseen::default();
        }
        if let Some(unseen) = unseen(inventory, live) {
            return Foreseen { unseen: Some(unseen), ..Foreseen::default() };
        }
        let mut taken = Taken::by_hosts(inventory, now);
        taken.add_live(inventory, live);
        let outcome = allocate(inventory, &mut taken, &invs, Giving { holding: Holding::Keep, to: None, now });
        Foreseen { namings: outcome.namings, refused: outcome.refused, unseen: None }
    }

    /// What a host without a name would get.
    pub fn of(&self, inv: Inv) -> Prospect<'_> {
        match &self.unseen {
            Some(Unseen::Doubted) => return Prospect::Unknown,
            Some(Unseen::Unread(zone)) => return Prospect::Unread(zone),
            Some(Unseen::ByName(zone)) => return Prospect::ByName(zone),
            None => {}
        }
        let naming = self.namings.binary_search_by_key(&inv, |naming| naming.inv);
        if let Some(name) = naming.ok().and_then(|place| self.namings[place].after.as_ref()) {
            return Prospect::Gets(name);
        }
        let refusal = self.refused.binary_search_by_key(&inv, |refusal| refusal.inv);
        refusal.map_or(Prospect::Unknown, |place| Prospect::Refused(&self.refused[place]))
    }

    /// The host that would get a name.
    pub fn taker(&self, name: NameRef<'_>) -> Option<Inv> {
        let gets = |naming: &&Naming| naming.after.as_ref().is_some_and(|after| after.as_name() == name);
        self.namings.iter().find(gets).map(|naming| naming.inv)
    }
}

/// Why nobody knows which names are free: what `allocate` refuses for, whole.
fn unseen(inventory: &Inventory, live: &Live) -> Option<Unseen> {
    let trust = &inventory.trust;
    if trust.hosts.doubt().or(trust.names_lock.doubt()).is_some() {
        return Some(Unseen::Doubted);
    }
    let domains = taken::domains(inventory);
    let mut needed =
        live.zones().map(|(_, zone)| zone).filter(|zone| taken::is_needed(&domains, zone.name().as_name()));
    needed.find_map(|zone| match (zone.contents(), zone.knowledge()) {
        (None, _) => Some(Unseen::Unread(zone.name().clone())),
        (Some(_), Some(_)) => Some(Unseen::ByName(zone.name().clone())),
        (Some(_), None) => None,
    })
}
