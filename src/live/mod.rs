//! What the servers hold now, searchable by owner, by address and by PTR target.
//!
//! Comes in: the configured zones with their contents, or the fact that one could not be read. Goes out: answers about
//! names and records, with everything left out that is not live: data at or below a delegation, below a DNAME, and data
//! that belongs to another configured zone. Pure.

pub mod asked;

mod index;

mod own;

mod zone;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};

use crate::dns::{Name, NameRef, RrsetRef, Rtype, ZoneContents, ZoneName};

use asked::Knowledge;
use index::HashIndex;
pub use own::OwnRrsets;
pub use zone::LiveZone;

/// The number of a zone in the list that [`Live::new`] got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneIndex(pub u32);

/// All configured zones.
#[derive(Debug)]
pub struct Live {
    /// The zones, in the order of the configuration.
    zones: Vec<LiveZone>,
    /// The zone of each apex.
    apexes: Apexes,
    /// Every live AAAA RRset, by each address it holds.
    by_address: HashIndex,
    /// Every live PTR RRset of a whole address, by each name it points to.
    by_target: HashIndex,
    /// The names that MX data of the zones point to.
    exchangers: HashSet<Name>,
    /// The names that NS data of the zones point to, each with the owner of the NS; the first by wire format of several.
    name_servers: HashMap<Name, Name>,
    /// The RRsets that the state says we created.
    own: OwnRrsets,
}

/// An RRset with the zone that holds it.
#[derive(Debug, Clone, Copy)]
pub struct LiveRrset<'a> {
    /// The zone.
    pub zone: ZoneIndex,
    /// The RRset.
    pub rrset: RrsetRef<'a>,
}

/// Where a name lies, and what stands in the way of writing to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In no configured zone.
    NoZone,
    /// In a zone that could not be read, or that is not known for this name.
    Unknown(ZoneIndex),
    /// At or below this delegation.
    Delegated(ZoneIndex, Name),
    /// Below this DNAME.
    BelowDname(ZoneIndex, Name),
    /// At a CNAME.
    Cname(ZoneIndex),
    /// Nothing stands in the way.
    Open(ZoneIndex),
}

/// Finds the zone with the longest matching apex.
#[derive(Debug)]
pub struct Apexes {
    /// The zones by apex.
    zones: HashMap<Name, ZoneIndex>,
    /// Which lengths of wire format an apex has, so that most ancestors of a long name need no look-up.
    lengths: [bool; 256],
}

impl Apexes {
    /// Takes the apexes in the order of the configuration.
    pub fn new<'z>(apexes: impl Iterator<Item = &'z ZoneName>) -> Apexes {
        let mut lengths = [false; 256];
        let mut zones = HashMap::new();
        for (number, apex) in apexes.enumerate() {
            lengths[apex.as_name().as_wire().len()] = true;
            zones.insert(apex.as_name().to_name(), ZoneIndex(number as u32));
        }
        Apexes { zones, lengths }
    }

    /// The zone that a name belongs to.
    pub fn zone_of(&self, name: NameRef<'_>) -> Option<ZoneIndex> {
        let mut candidates = name.ancestors().filter(|ancestor| self.lengths[ancestor.as_wire().len()]);
        candidates.find_map(|ancestor| self.zones.get(ancestor.as_wire()).copied())
    }

    /// Whether any apex lies below `apex`.
    fn has_child_of(&self, apex: NameRef<'_>) -> bool {
        self.zones.keys().any(|other| other.as_name() != apex && other.as_name().is_at_or_below(apex))
    }
}

impl Live {
    /// Joins the zones; they come in the order of `apexes`.
    pub fn new(zones: Vec<LiveZone>, apexes: Apexes) -> Live {
        let mut by_address = Vec::new();
        let mut by_target = Vec::new();
        let mut exchangers = HashSet::new();
        let mut name_servers: HashMap<Name, Name> = HashMap::new();
        let mut zones = zones;
        for (number, zone) in zones.iter_mut().enumerate() {
            let found = zone.take_found();
            by_address.extend(found.addresses.into_iter().map(|(hash, id)| (hash, number as u32, id)));
            by_target.extend(found.targets.into_iter().map(|(hash, id)| (hash, number as u32, id)));
            exchangers.extend(found.exchangers);
            for (server, owner) in found.name_servers {
                let first = name_servers.entry(server).or_insert_with(|| owner.clone());
                *first = std::cmp::min(&*first, &owner).clone();
            }
        }
        let by_address = HashIndex::new(by_address);
        let by_target = HashIndex::new(by_target);
        Live { zones, apexes, by_address, by_target, exchangers, name_servers, own: OwnRrsets::default() }
    }

    /// Takes what the state says of who created what.
    pub fn with_own(self, own: OwnRrsets) -> Live {
        Live { own, ..self }
    }

    /// Whether the state says that zonewright created an RRset.
    pub fn is_recorded_own(&self, owner: NameRef<'_>, rtype: Rtype) -> bool {
        self.own.contains(owner, rtype)
    }

    /// Joins zones of which more will be known: what is found by owner name is found, and nothing by address or target.
    pub fn draft(zones: Vec<LiveZone>, apexes: Apexes) -> Live {
        let [by_address, by_target] = [(); 2].map(|()| HashIndex::new(Vec::new()));
        let (exchangers, name_servers, own) = Default::default();
        Live { zones, apexes, by_address, by_target, exchangers, name_servers, own }
    }

    /// Puts another zone in the place of one, of which more is known now, into a draft.
    pub fn put(&mut self, zone: ZoneIndex, known: LiveZone) {
        self.zones[zone.0 as usize] = known;
    }

    /// Makes a draft what it is a draft of.
    pub fn finish(self) -> Live {
        Live::new(self.zones, self.apexes).with_own(self.own)
    }

    /// What finds the zone of a name.
    pub fn apexes(&self) -> &Apexes {
        &self.apexes
    }

    /// A zone.
    pub fn zone(&self, zone: ZoneIndex) -> &LiveZone {
        &self.zones[zone.0 as usize]
    }

    /// All zones, in the order of the configuration.
    pub fn zones(&self) -> impl Iterator<Item = (ZoneIndex, &LiveZone)> {
        self.zones.iter().enumerate().map(|(number, zone)| (ZoneIndex(number as u32), zone))
    }

    /// The zone that a name belongs to.
    pub fn zone_of(&self, name: NameRef<'_>) -> Option<ZoneIndex> {
        self.apexes.zone_of(name)
    }

    /// Where a name lies, and what stands in the way of writing addresses or PTR to it.
    pub fn place(&self, name: NameRef<'_>) -> Place {
        self.place_if(name, Knowledge::covers)
    }

    /// Where a name lies, and what stands in the way of writing TXT to it.
    pub fn place_of_text(&self, name: NameRef<'_>) -> Place {
        self.place_if(name, Knowledge::covers_text)
    }

    /// Where a name lies, and what stands in the way of writing to it; `covers` says whether enough is known of it, where
    /// its zone was asked name by name.
    fn place_if(&self, name: NameRef<'_>, covers: impl Fn(&Knowledge, NameRef<'_>) -> bool) -> Place {
        let Some(number) = self.zone_of(name) else { return Place::NoZone };
        let zone = self.zone(number);
        let Some(contents) = zone.contents() else { return Place::Unknown(number) };
        if let Some(cut) = zone.cut_at_or_above(name) {
            return Place::Delegated(number, cut);
        }
        if let Some(dname) = zone.dname_above(name) {
            return Place::BelowDname(number, dname);
        }
        if zone.knowledge().is_some_and(|knowledge| !covers(knowledge, name)) {
            return Place::Unknown(number);
        }
        match contents.rrset(name, Rtype::CNAME) {
            Some(_) => Place::Cname(number),
            None => Place::Open(number),
        }
    }

    /// A live RRset.
    pub fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<LiveRrset<'_>> {
        let number = self.zone_of(name)?;
        let zone = self.zone(number);
        let rrset = zone.contents()?.rrset(name, rtype)?;
        (!zone.hides(name)).then_some(LiveRrset { zone: number, rrset })
    }

    /// Every live RRset at a name, sorted by type; none where it is not known what stands there.
    pub fn rrsets_at(&self, name: NameRef<'_>) -> impl Iterator<Item = LiveRrset<'_>> {
        let known = match self.place(name) {
            Place::Open(zone) | Place::Cname(zone) => Some(zone),
            Place::NoZone | Place::Unknown(_) | Place::Delegated(..) | Place::BelowDname(..) => None,
        };
        let found = known.and_then(|zone| Some((zone, self.zone(zone).contents()?)));
        found.into_iter().flat_map(move |(zone, contents)| {
            contents.at_owner(name).map(move |rrset| LiveRrset { zone, rrset }).collect::<Vec<_>>()
        })
    }

    /// Every live AAAA RRset that holds an address.
    pub fn holding(&self, address: Ipv6Addr) -> impl Iterator<Item = LiveRrset<'_>> {
        let wanted = IpAddr::V6(address);
        self.by_address.find(zone::address_hash(address)).filter_map(move |(zone, id)| {
            let rrset = self.known(zone).rrset_by_id(id);
            let holds = rrset.rdata().any(|rdata| rdata.address() == Some(wanted));
            holds.then_some(LiveRrset { zone: ZoneIndex(zone), rrset })
        })
    }

    /// Every live PTR RRset, at a whole address, that points to a name.
    pub fn pointing_to(&self, name: NameRef<'_>) -> impl Iterator<Item = LiveRrset<'_>> {
        self.by_target.find(zone::name_hash(name)).filter_map(move |(zone, id)| {
            let rrset = self.known(zone).rrset_by_id(id);
            let points = rrset.rdata().any(|rdata| rdata.target() == Some(name));
            points.then_some(LiveRrset { zone: ZoneIndex(zone), rrset })
        })
    }

    /// Whether MX data of any zone point to a name.
    pub fn is_exchanger(&self, name: NameRef<'_>) -> bool {
        self.exchangers.contains(name.as_wire())
    }

    /// The owner of NS data of any zone that point to a name; none where no NS does.
    pub fn delegation_to(&self, name: NameRef<'_>) -> Option<NameRef<'_>> {
        self.name_servers.get(name.as_wire()).map(Name::as_name)
    }

    /// Every live RRset of a type, zone by zone.
    pub fn rrsets_of(&self, rtype: Rtype) -> impl Iterator<Item = LiveRrset<'_>> {
        self.zones().flat_map(move |(zone, live)| {
            live.live_rrsets(zone, &self.apexes, rtype).map(move |rrset| LiveRrset { zone, rrset })
        })
    }

    /// Whether a name is the apex of a configured zone.
    pub fn is_apex(&self, name: NameRef<'_>) -> bool {
        self.zone_of(name).is_some_and(|zone| self.zone(zone).name().as_name() == name)
    }

    /// The contents of a zone that the indexes name.
    fn known(&self, zone: u32) -> &ZoneContents {
        self.zones[zone as usize].contents().expect("indexes hold RRsets of known zones")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Rdata, Ttl, ZoneBuilder};

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// A zone's apex and records: owner, type, RDATA.
    type Sample<'a> = (&'a str, &'a [(&'a str, Rtype, &'a str)]);

    /// Zones of samples, each with a SOA.
    fn live(zones: &[Sample<'_>]) -> Live {
        let apexes: Vec<ZoneName> = zones.iter().map(|(apex, _)| ZoneName::new(name(apex))).collect();
        let finder = Apexes::new(apexes.iter());
        let zones = apexes.iter().zip(zones).map(|(apex, (_, records))| {
            let mut builder = ZoneBuilder::new(apex.clone());
            builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
            for (owner, rtype, rdata) in *records {
                let rdata = match *rtype {
                    Rtype::NS | Rtype::CNAME | Rtype::DNAME => Rdata::from_name(name(rdata).as_name()),
                    _ => Rdata::parse(*rtype, rdata).unwrap(),
                };
                builder.push(name(owner).as_name(), *rtype, Ttl::DEFAULT, rdata.as_octets()).unwrap();
            }
            LiveZone::known(builder.finish().unwrap(), &finder)
        });
        Live::new(zones.collect(), Apexes::new(apexes.iter()))
    }

    #[test]
    fn what_is_delegated_or_redirected_or_anothers_is_not_live() {
        let live = live(&[
            (
                "example.net",
                &[
                    ("sub.example.net", Rtype::NS, "ns.sub.example.net"),
                    ("ns.sub.example.net", Rtype::AAAA, "2a02::1"),
                    ("d.example.net", Rtype::DNAME, "e.example.net"),
                    ("d.example.net", Rtype::AAAA, "2a02::2"),
                    ("x.d.example.net", Rtype::AAAA, "2a02::2"),
                    ("x.child.example.net", Rtype::AAAA, "2a02::3"),
                    ("c.example.net", Rtype::CNAME, "a.example.net"),
                ],
            ),
            ("child.example.net", &[("y.child.example.net", Rtype::AAAA, "2a02::3")]),
        ]);
        let holders = |address: &str| -> Vec<String> {
            live.holding(address.parse().unwrap()).map(|found| found.rrset.owner().to_string()).collect()
        };
        assert_eq!(holders("2a02::1"), [""; 0]);
        assert_eq!(holders("2a02::2"), ["d.example.net."]);
        assert_eq!(holders("2a02::3"), ["y.child.example.net."]);
        let place = |text: &str| live.place(name(text).as_name());
        assert_eq!(place("ns.sub.example.net"), Place::Delegated(ZoneIndex(0), name("sub.example.net")));
        assert_eq!(place("x.d.example.net"), Place::BelowDname(ZoneIndex(0), name("d.example.net")));
        assert_eq!(place("d.example.net"), Place::Open(ZoneIndex(0)));
        assert_eq!(place("c.example.net"), Place::Cname(ZoneIndex(0)));
        assert_eq!(place("x.child.example.net"), Place::Open(ZoneIndex(1)));
        assert_eq!(place("example.org"), Place::NoZone);
        let ns = name("ns.sub.example.net");
        assert_eq!(live.delegation_to(ns.as_name()), Some(name("sub.example.net").as_name()));
        assert!(!live.is_exchanger(ns.as_name()));
        assert!(live.rrset(name("x.child.example.net").as_name(), Rtype::AAAA).is_none());
    }

    #[test]
    fn ptr_count_at_whole_addresses_alone() {
        let live = live(&[(
            "10.in-addr.arpa",
            &[
                ("1.2.3.10.in-addr.arpa", Rtype::PTR, "a.example.net"),
                ("2.3.10.in-addr.arpa", Rtype::PTR, "a.example.net"),
            ],
        )]);
        let target = name("a.example.net");
        let owners: Vec<String> =
            live.pointing_to(target.as_name()).map(|found| found.rrset.owner().to_string()).collect();
        assert_eq!(owners, ["1.2.3.10.in-addr.arpa."]);
    }
}
