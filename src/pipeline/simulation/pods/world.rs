//! The truth: pods with the addresses at which they are, zones, name servers that follow the primary sooner or later, and
//! resolvers that keep what they heard.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::sets::{TrueSet, ZONES};
use crate::claim::Subject;
use crate::dns::{Name, NameRef, Rrset, Rtype, Serial, ZoneName};
use crate::inventory::pods::PodState;
use crate::inventory::value::Time;
use crate::provider::memory::primary::MemoryPrimary;
use crate::provider::memory::zone::MemoryZone;
use crate::provider::parse_text;

/// The number of name servers.
pub const NAME_SERVERS: usize = 2;

/// The number of resolvers.
const RESOLVERS: usize = 3;

/// Where a pod is: a node with addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: String,
    /// Its location.
    pub location: &'static str,
    /// The addresses, sorted.
    pub addresses: Vec<IpAddr>,
}

impl Place {
    /// The addresses that clients of these stories ask for, sorted.
    pub fn asked(&self) -> Vec<IpAddr> {
        self.addresses.iter().copied().filter(IpAddr::is_ipv6).collect()
    }
}

/// What the owner of a set says of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// How far it is.
    pub state: PodState,
    /// Where it is to be.
    pub place: Option<Place>,
    /// Whether it is in service.
    pub is_enabled: bool,
    /// The pod that it replaces.
    pub replaces: Option<String>,
}

/// Why clients may not reach a pod without a fault of zonewright.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excuse {
    /// There is no reason.
    None,
    /// It is new, and no client knows it yet.
    New,
    /// It died, or was down by the word of an accepted export; or it was changed while it was disabled.
    Repaired,
}

/// A pod.
#[derive(Debug, Clone)]
pub struct TruePod {
    /// The number of its set.
    pub set: usize,
    /// Its id.
    pub id: String,
    /// The name that stays with it.
    pub constant: Name,
    /// What its owner says; none once it is gone.
    pub row: Option<Row>,
    /// Where it is alive: at one place, or at several while its constant name has the addresses of several; empty where it is
    /// not.
    pub homes: Vec<Place>,
    /// Where it is alive as soon as its constant name points there.
    pub offered: Vec<Place>,
    /// Where it died by itself.
    pub fallen: Vec<Place>,
    /// Why clients may not reach it.
    pub excuse: Excuse,
    /// The location with which its constant name was changed last; empty where that does not count.
    pub went_at: String,
    /// What its constant name had when it was last looked at.
    pub written: Vec<IpAddr>,
    /// The step in which that changed last.
    pub changed: u64,
    /// Since when all name servers have what its constant name has, and the names of the places where it is.
    pub served: Option<Time>,
    /// Whether it lived until its constant name was removed, which led to addresses of no other pod.
    pub is_removed: bool,
}

/// A pod that another one replaces.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The pod that goes.
    pub old: usize,
    /// The pod that comes.
    pub new: usize,
    /// The step in which the pair came to be.
    pub since: u64,
    /// Whether the old one is gone and no client asks for it.
    pub is_over: bool,
}

/// What a run uses.
#[derive(Debug, Clone, Default)]
pub struct RunSeen {
    /// What the export said when its plan was made.
    pub rows: BTreeMap<PodKey, Row>,
    /// The pods that clients may not have reached before it began.
    pub before: BTreeSet<usize>,
    /// The pods with a change that was on its way before.
    pub in_flux: BTreeSet<usize>,
}

/// The number of a set, and the id of a pod.
pub type PodKey = (usize, String);

/// All of it.
pub struct World {
    /// The primary.
    pub primary: Arc<MemoryPrimary>,
    /// The zones.
    pub zones: Vec<ZoneName>,
    /// The sets.
    pub sets: Vec<TrueSet>,
    /// All pods that ever were.
    pub pods: Vec<TruePod>,
    /// The pods that others replace.
    pub pairs: Vec<Pair>,
    /// The pod and the place of each name of a placement that ever was.
    pub placements: HashMap<Name, (usize, Place)>,
    /// What the export says.
    pub exported: BTreeMap<PodKey, Row>,
    /// The pods that an export of a run called dead or waiting, since which none had them active where their names point.
    pub was_down: BTreeSet<PodKey>,
    /// What each name server serves, zone by zone.
    pub name_servers: Vec<Vec<MemoryZone>>,
    /// What each resolver keeps.
    pub resolvers: Vec<HashMap<(Name, Rtype), Heard>>,
    /// The true time.
    pub now: Time,
    /// The run that goes on.
    pub run: Option<RunSeen>,
    /// The first violation.
    pub violation: Option<String>,
    /// How many times the zones were looked at.
    pub steps: u64,
    /// What is not ours.
    foreign: Vec<(ZoneName, Name, Rtype, Rrset)>,
    /// How many addresses were given out.
    given: u32,
    /// Addresses that pods had.
    had: Vec<IpAddr>,
    /// The serials at the last look.
    pub serials: Vec<Serial>,
}

/// What is in the zones at first, and what of it is not ours.
const FOREIGN: [&str; 3] = [
    "@ SOA ns host 1 2 3 4 300\n@ NS ns\nns AAAA 2001:db8::53\nwww AAAA 2001:db8::fffe\n_http._tcp SRV 0 0 80 www\n\
     x-0badc0de.s0 AAAA 2001:db8::fffd\nx.s0 AAAA 2001:db8::fffd\n",
    "@ SOA ns.search.example.net. host 1 2 3 4 300\n@ NS ns.search.example.net.\n\
     e.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR www.search.example.net.\n",
    "@ SOA ns.search.example.net. host 1 2 3 4 300\n@ NS ns.search.example.net.\n9.9 PTR www.search.example.net.\n",
];

impl World {
    /// A world in which there is no pod yet.
    pub fn new(sets: Vec<TrueSet>) -> World {
        let zones: Vec<ZoneName> = ZONES.map(|name| ZoneName::new(Name::parse(name).unwrap())).to_vec();
        let contents = |(zone, text): (&ZoneName, &str)| {
            MemoryZone::of(&parse_text(zone, "zone", format!("$TTL 300\n{text}").into_bytes()).unwrap())
        };
        let served: Vec<MemoryZone> = zones.iter().zip(FOREIGN).map(contents).collect();
        let rrsets =
            served.iter().flat_map(|zone| zone.rrsets().map(move |(name, rtype, own)| (zone, name, rtype, own)));
        let foreign = rrsets.filter(|(_, _, rtype, _)| *rtype != Rtype::SOA);
        let foreign =
            foreign.map(|(zone, name, rtype, own)| (zone.apex().clone(), name.to_name(), rtype, own.clone())).collect();
        World {
            primary: Arc::new(MemoryPrimary::new(served.clone())),
            zones,
            sets,
            pods: Vec::new(),
            pairs: Vec::new(),
            placements: HashMap::new(),
            exported: BTreeMap::new(),
            was_down: BTreeSet::new(),
            serials: served.iter().map(MemoryZone::serial).collect(),
            name_servers: vec![served; NAME_SERVERS],
            resolvers: vec![HashMap::new(); RESOLVERS],
            now: "2026-11-20T02:00:00Z".parse().unwrap(),
            run: None,
            violation: None,
            steps: 0,
            foreign,
            given: 0,
            had: Vec::new(),
        }
    }

    /// A copy of the zone of names, as the primary has it.
    pub fn forward(&self) -> MemoryZone {
        self.primary.with_zone(&self.zones[0], MemoryZone::clone).unwrap()
    }

    /// A name server takes what the primary has of a zone.
    pub fn catch_up(&mut self, name_server: usize, zone: usize) {
        self.name_servers[name_server][zone] = self.primary.with_zone(&self.zones[zone], MemoryZone::clone).unwrap();
    }

    /// All name servers take all that the primary has.
    pub fn catch_up_all(&mut self) {
        (0..NAME_SERVERS).for_each(|own| (0..ZONES.len()).for_each(|zone| self.catch_up(own, zone)));
    }

    /// The key of a pod.
    pub fn key(&self, pod: usize) -> PodKey {
        (self.pods[pod].set, self.pods[pod].id.clone())
    }

    /// The subject of a pod.
    pub fn subject(&self, pod: usize) -> Subject {
        let TruePod { set, id, .. } = &self.pods[pod];
        Subject::pod(self.sets[*set].id.as_str(), id.as_str())
    }

    /// What the export says of a pod.
    pub fn exported_of(&self, pod: usize) -> Option<&Row> {
        self.exported.get(&self.key(pod))
    }

    /// Gives a place to a pod: it has it from when its constant name points there.
    pub fn offer(&mut self, pod: usize, place: &Place) {
        let TruePod { set, id, offered, .. } = &mut self.pods[pod];
        if !offered.contains(place) {
            offered.push(place.clone());
        }
        let name = transient_name(&self.sets[*set], id, place);
        self.placements.insert(name, (pod, place.clone()));
    }

    /// A new address of a family, or one that a pod had and that none has; `held` are those of plans that may still be
    /// applied.
    pub fn new_address(&mut self, is_ipv4: bool, is_used: bool, held: &BTreeSet<IpAddr>) -> IpAddr {
        let used = self
            .had
            .iter()
            .copied()
            .find(|own| own.is_ipv4() == is_ipv4 && !held.contains(own) && !self.is_reserved(*own));
        if let Some(used) = used.filter(|_| is_used) {
            // No other pod can get it back.
            self.pods.iter_mut().for_each(|pod| pod.offered.retain(|place| !place.addresses.contains(&used)));
            return used;
        }
        self.given += 1;
        let new = if is_ipv4 {
            IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + 256 + self.given))
        } else {
            IpAddr::V6(Ipv6Addr::from(0x2001_0db8_u128 << 96 | u128::from(self.given)))
        };
        self.had.push(new);
        new
    }

    /// Whether an address is that of a pod, or is to be.
    fn is_reserved(&self, address: IpAddr) -> bool {
        let has = |place: &Option<Place>| place.as_ref().is_some_and(|place| place.addresses.contains(&address));
        let is_rows = |row: &Row| row.state != PodState::Dead && has(&row.place);
        let is_home = |pod: &TruePod| pod.homes.iter().any(|home| home.addresses.contains(&address));
        self.exported.values().any(is_rows)
            || self.pods.iter().any(|pod| is_home(pod) || pod.row.as_ref().is_some_and(is_rows))
    }

    /// A pod dies at the places where it is.
    pub fn die(&mut self, pod: usize) {
        let own = &mut self.pods[pod];
        own.excuse = Excuse::Repaired;
        own.offered.retain(|place| !own.homes.contains(place));
        own.fallen.append(&mut own.homes);
    }

    /// Whether all that is not ours is as it was.
    pub fn has_foreign(&self) -> Result<(), String> {
        let is_there = |(zone, name, rtype, rrset): &(ZoneName, Name, Rtype, Rrset)| {
            self.primary.with_zone(zone, |zone| zone.rrset(name.as_name(), *rtype) == Some(rrset)).unwrap()
        };
        match self.foreign.iter().find(|own| !is_there(own)) {
            Some((_, name, rtype, _)) => Err(format!("{name} {rtype} is not ours, and was changed")),
            None => Ok(()),
        }
    }

    /// Whether an RRset is one of those that are not ours.
    pub fn is_foreign(&self, name: &Name, rtype: Rtype) -> bool {
        self.foreign.iter().any(|(_, own, its, _)| own == name && *its == rtype)
    }
}

/// What a resolver heard.
#[derive(Debug, Clone)]
pub struct Heard {
    /// The addresses, sorted.
    pub addresses: Vec<IpAddr>,
    /// The targets of an SRV.
    pub targets: Vec<Name>,
    /// Until when it keeps them.
    pub until: Time,
}

/// The addresses at a name that clients ask for, sorted.
pub fn addresses(zone: &MemoryZone, name: &Name) -> Vec<IpAddr> {
    addresses_of(zone, name, &[Rtype::AAAA])
}

/// All addresses at a name, sorted.
pub fn all_addresses(zone: &MemoryZone, name: &Name) -> Vec<IpAddr> {
    addresses_of(zone, name, &[Rtype::AAAA, Rtype::A])
}

/// The addresses of some types at a name, sorted.
fn addresses_of(zone: &MemoryZone, name: &Name, types: &[Rtype]) -> Vec<IpAddr> {
    let of_type = |rtype: &Rtype| {
        let rdata = zone.rrset(name.as_name(), *rtype).into_iter().flat_map(Rrset::rdata);
        rdata.filter_map(|rdata| rdata.as_rdata(*rtype).address()).collect::<Vec<IpAddr>>()
    };
    let mut all: Vec<IpAddr> = types.iter().flat_map(of_type).collect();
    all.sort_unstable();
    all
}

/// The targets of an SRV.
pub fn targets(zone: &MemoryZone, name: &Name) -> Vec<Name> {
    let rdata = zone.rrset(name.as_name(), Rtype::SRV).into_iter().flat_map(Rrset::rdata);
    rdata.filter_map(|rdata| rdata.as_rdata(Rtype::SRV).server().map(NameRef::to_name)).collect()
}

/// The name of a placement.
pub fn transient_name(set: &TrueSet, id: &str, place: &Place) -> Name {
    let mut texts: Vec<String> = place.addresses.iter().map(IpAddr::to_string).collect();
    texts.sort();
    let lines = format!("{}\n{}\n", place.node, texts.join("\n"));
    let digest: String = Sha256::digest(lines.as_bytes()).iter().map(|octet| format!("{octet:02x}")).collect();
    Name::parse(&format!("{id}-{}.{}", &digest[..8], set.domain)).unwrap()
}
