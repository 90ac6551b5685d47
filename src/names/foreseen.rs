//! What `allocate` would give to the hosts that have no name.

use super::allocate::{AllocationTerms, NameHandling, allocate, nameless};
use super::holders::fastbone_of;
use super::outcome::{NameChange, NameRefusal};
use super::taken::{self, TakenNames};
use crate::dns::{Name, NameRef, ZoneName};
use crate::inventory::Inventory;
use crate::inventory::value::{Inv, Time};
use crate::live::Live;

/// The outcome of an `allocate` over the whole fleet.
#[derive(Debug, Clone, Default)]
pub struct ForeseenNames {
    /// The hosts that it would give names to, in order of their numbers.
    namings: Vec<NameChange>,
    /// The hosts that it would refuse, in order of their numbers.
    refused: Vec<NameRefusal>,
    /// Why it would give no names at all.
    unseen: Option<UnknownReason>,
}

/// Why it is unknown which names are free.
#[derive(Debug, Clone, PartialEq, Eq)]
enum UnknownReason {
    /// hosts.csv or names.lock is not believed.
    Doubted,
    /// A zone that may hold names could not be read.
    Unread(ZoneName),
    /// A zone that may hold names is asked name by name.
    ByName(ZoneName),
}

/// What is foreseen for one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProspect<'a> {
    /// It gets this name.
    Gets(&'a Name),
    /// It gets none.
    Refused(&'a NameRefusal),
    /// It would get one, but this zone could not be read.
    Unread(&'a ZoneName),
    /// It gets one; which, this zone is asked for name by name.
    ByName(&'a ZoneName),
    /// It would get one, but hosts.csv or names.lock is not believed.
    Doubted,
    /// Nothing is known: the host does not get a name by default.
    Unknown,
}

impl ForeseenNames {
    /// Simulates giving names to all hosts that have none.
    pub fn find(inventory: &Inventory, live: &Live, now: Time) -> ForeseenNames {
        let mut invs: Vec<Inv> = nameless(inventory).map(|host| host.inv).collect();
        invs.dedup();
        if invs.is_empty() {
            return ForeseenNames::default();
        }
        if let Some(unseen) = unseen(inventory, live) {
            return ForeseenNames { unseen: Some(unseen), ..ForeseenNames::default() };
        }
        let mut taken = TakenNames::by_hosts(inventory, now);
        taken.add_live(inventory, live);
        let outcome =
            allocate(inventory, &mut taken, &invs, AllocationTerms { holding: NameHandling::Keep, to: None, now });
        ForeseenNames { namings: outcome.namings, refused: outcome.refused, unseen: None }
    }

    /// Whether every host has a name, so that nothing is to be foreseen.
    pub fn is_of_none(&self) -> bool {
        self.namings.is_empty() && self.refused.is_empty() && self.unseen.is_none()
    }

    /// What a host without a name would get.
    pub fn of(&self, inv: Inv) -> NameProspect<'_> {
        match &self.unseen {
            Some(UnknownReason::Doubted) => return NameProspect::Doubted,
            Some(UnknownReason::Unread(zone)) => return NameProspect::Unread(zone),
            Some(UnknownReason::ByName(zone)) => return NameProspect::ByName(zone),
            None => {}
        }
        let naming = self.namings.binary_search_by_key(&inv, |naming| naming.inv);
        if let Some(name) = naming.ok().and_then(|place| self.namings[place].after.as_ref()) {
            return NameProspect::Gets(name);
        }
        let refusal = self.refused.binary_search_by_key(&inv, |refusal| refusal.inv);
        refusal.map_or(NameProspect::Unknown, |place| NameProspect::Refused(&self.refused[place]))
    }

    /// The host that would get a name, and whether as its fastbone's.
    pub fn taker(&self, inventory: &Inventory, name: NameRef<'_>) -> Option<(Inv, bool)> {
        self.namings.iter().find_map(|NameChange { inv, after, .. }| {
            let backbone = after.as_ref()?.as_name();
            if backbone == name {
                return Some((*inv, false));
            }
            let project = inventory.hosts[inventory.place_of(*inv)?].project;
            let fastbone = fastbone_of(inventory, project, backbone)?;
            (fastbone.as_name() == name).then_some((*inv, true))
        })
    }
}

/// Why it is unknown which names are free: the reasons for which `allocate` refuses as a whole.
fn unseen(inventory: &Inventory, live: &Live) -> Option<UnknownReason> {
    let trust = &inventory.trust;
    if trust.hosts.doubt().or(trust.names_lock.doubt()).is_some() {
        return Some(UnknownReason::Doubted);
    }
    let domains = taken::domains(inventory);
    let needed = || live.zones().map(|(_, zone)| zone).filter(|zone| taken::is_needed(&domains, zone.name().as_name()));
    // What keeps names from being given comes before what only keeps them from being known here.
    let unread = needed().find(|zone| zone.contents().is_none()).map(|zone| UnknownReason::Unread(zone.name().clone()));
    let by_name = || needed().find(|zone| zone.knowledge().is_some());
    unread.or_else(|| by_name().map(|zone| UnknownReason::ByName(zone.name().clone())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dns::{Rtype, Ttl, ZoneBuilder, ZoneContents};
    use crate::inventory::load_workspace;
    use crate::inventory::model::Trust;
    use crate::live::{Apexes, LiveZone, ZoneKnowledge};

    /// The clock.
    fn now() -> Time {
        "2026-11-20T02:00:00Z".parse().unwrap()
    }

    /// The workspace of the cases, whose host 102 loses its name.
    fn inventory() -> Inventory {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        let mut inventory = load_workspace(&base, now(), &|_| {}).inventory.unwrap();
        let place = inventory.place_of(Inv(102)).unwrap();
        inventory.hosts[place].name = None;
        inventory
    }

    /// An empty zone.
    fn empty(zone: &ZoneName) -> ZoneContents {
        let mut builder = ZoneBuilder::new(zone.clone());
        builder.push(zone.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        builder.finish().unwrap()
    }

    /// The configured zones, empty except for those that `other` changes.
    fn live(inventory: &Inventory, other: impl Fn(&ZoneName) -> Option<LiveZone>) -> Live {
        let zones: Vec<&ZoneName> = inventory.config.listed_zones().map(|spec| &spec.name).collect();
        let apexes = Apexes::new(zones.iter().copied());
        let known = |zone: &ZoneName| LiveZone::known(empty(zone));
        let all = zones.iter().map(|zone| other(zone).unwrap_or_else(|| known(zone))).collect();
        Live::new(all, apexes)
    }

    #[test]
    fn the_name_is_foreseen_that_allocate_gives() {
        let inventory = inventory();
        let foreseen = ForeseenNames::find(&inventory, &live(&inventory, |_| None), now());
        let name = Name::parse("sas0-0002.web.example.net").unwrap();
        assert_eq!(foreseen.of(Inv(102)), NameProspect::Gets(&name));
        assert_eq!(foreseen.of(Inv(101)), NameProspect::Unknown);
        let fastbone = Name::parse("fb-sas0-0002.web.example.net").unwrap();
        assert_eq!(foreseen.taker(&inventory, name.as_name()), Some((Inv(102), false)));
        assert_eq!(foreseen.taker(&inventory, fastbone.as_name()), Some((Inv(102), true)));
        assert_eq!(foreseen.taker(&inventory, Name::parse("web.example.net").unwrap().as_name()), None);
    }

    #[test]
    fn nothing_is_foreseen_while_names_may_be_taken_unseen() {
        let mut inventory = inventory();
        let is_meant = |zone: &ZoneName, apex: &str| zone.as_name() == Name::parse(apex).unwrap().as_name();
        let unread = |apex: &str| {
            let live = live(&inventory, |zone| is_meant(zone, apex).then(|| LiveZone::unknown(zone.clone())));
            ForeseenNames::find(&inventory, &live, now())
        };
        let needed = ZoneName::new(Name::parse("db.example.net").unwrap());
        assert_eq!(unread("db.example.net").of(Inv(102)), NameProspect::Unread(&needed));
        assert!(matches!(unread("2.0.192.in-addr.arpa").of(Inv(102)), NameProspect::Gets(_)));
        let by_name = live(&inventory, |zone| {
            let asked = || LiveZone::asked(empty(zone), ZoneKnowledge::default());
            is_meant(zone, "db.example.net").then(asked)
        });
        assert_eq!(ForeseenNames::find(&inventory, &by_name, now()).of(Inv(102)), NameProspect::ByName(&needed));
        let both = live(&inventory, |zone| {
            if is_meant(zone, "web.example.net") {
                Some(LiveZone::asked(empty(zone), ZoneKnowledge::default()))
            } else {
                is_meant(zone, "db.example.net").then(|| LiveZone::unknown(zone.clone()))
            }
        });
        assert_eq!(ForeseenNames::find(&inventory, &both, now()).of(Inv(102)), NameProspect::Unread(&needed));
        inventory.trust.names_lock = Trust::Unknown { reason: "it was cut".to_owned() };
        let all = live(&inventory, |_| None);
        assert_eq!(ForeseenNames::find(&inventory, &all, now()).of(Inv(102)), NameProspect::Doubted);
    }
}
