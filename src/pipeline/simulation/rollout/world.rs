//! The truth: hosts with the addresses at which they are, name servers that follow the primary sooner or later, and resolvers
//! that keep what they heard.

use std::collections::{BTreeMap, BTreeSet};

use crate::dns::{Name, Rrset, Rtype, Serial, Ttl, ZoneName};
use crate::inventory::value::{Duration, Time};
use crate::provider::memory::primary::MemoryPrimary;
use crate::provider::memory::zone::MemoryZone;
use crate::provider::parse_text;

/// The locations of hosts.
pub const LOCATIONS: [&str; 3] = ["iva", "sas", "vla"];

/// The number of name servers.
pub const NAME_SERVERS: usize = 2;

/// The number of resolvers.
const RESOLVERS: usize = 4;

/// A host.
#[derive(Debug, Clone)]
pub struct TrueHost {
    /// Its name.
    pub name: Name,
    /// Its location.
    pub location: &'static str,
    /// The number of the address that it must have.
    pub wish: usize,
    /// The TTL that its record must have.
    pub ttl: u64,
    /// The numbers of the addresses at which it is. It moves in the moment in which others are written that are true: it is at
    /// all of them.
    pub homes: BTreeSet<usize>,
    /// The numbers of addresses that the export gives it although it will not be there.
    pub wrong: BTreeSet<usize>,
    /// The number of the address that it left by itself, while some client may hear that one.
    pub left: Option<usize>,
}

/// What a resolver heard: the addresses, and until when it keeps them.
type Heard = (Vec<String>, Time);

/// All of it.
pub struct World {
    /// The primary.
    pub primary: MemoryPrimary,
    /// The zone.
    pub zone: ZoneName,
    /// The hosts, by number.
    pub hosts: Vec<TrueHost>,
    /// What each name server serves.
    pub name_servers: Vec<MemoryZone>,
    /// What each resolver keeps, by name.
    resolvers: Vec<BTreeMap<Name, Heard>>,
    /// The true time.
    pub now: Time,
}

/// The address of a host with a number.
pub fn address(host: usize, number: usize) -> String {
    format!("2001:db8::{}:{number}", host + 1)
}

impl World {
    /// A world in which all is served and no resolver knows anything.
    pub fn new(count: usize, locations: usize) -> World {
        let zone = ZoneName::new(Name::parse("search.example.net").unwrap());
        let host = |number: usize| TrueHost {
            name: Name::parse(&format!("h{number}.search.example.net")).unwrap(),
            location: LOCATIONS[number % locations],
            wish: 0,
            ttl: 300,
            homes: [0].into(),
            wrong: BTreeSet::new(),
            left: None,
        };
        let records: String = (0..count).map(|host| format!("h{host} 300 AAAA {}\n", address(host, 0))).collect();
        let text = format!("$TTL 300\n@ SOA ns host 1 2 3 4 300\n@ NS ns\n{records}");
        let served = MemoryZone::of(&parse_text(&zone, "zone", text.into_bytes()).unwrap());
        World {
            primary: MemoryPrimary::new([served.clone()]),
            zone,
            hosts: (0..count).map(host).collect(),
            name_servers: vec![served; NAME_SERVERS],
            resolvers: vec![BTreeMap::new(); RESOLVERS],
            now: "2026-11-20T02:00:00Z".parse().unwrap(),
        }
    }

    /// What the primary holds for a host.
    pub fn live(&self, host: usize) -> Option<Rrset> {
        let name = self.hosts[host].name.as_name();
        self.primary.with_zone(&self.zone, |zone| zone.rrset(name, Rtype::AAAA).cloned()).flatten()
    }

    /// A name server takes what the primary has; gives its serial.
    pub fn catch_up(&mut self, name_server: usize) {
        self.name_servers[name_server] = self.primary.with_zone(&self.zone, MemoryZone::clone).unwrap();
    }

    /// The serial that a name server serves.
    pub fn serial(&self, name_server: usize) -> Serial {
        self.name_servers[name_server].serial()
    }

    /// A resolver is asked for a host, and asks a name server where it keeps nothing.
    pub fn resolve(&mut self, resolver: usize, name_server: usize, host: usize) {
        let name = self.hosts[host].name.clone();
        let keeps = self.resolvers[resolver].get(&name).is_some_and(|(_, until)| self.now < *until);
        if keeps {
            return;
        }
        let served = self.name_servers[name_server].rrset(name.as_name(), Rtype::AAAA);
        let ttl = served.map_or(Ttl::from_secs(300).unwrap(), Rrset::ttl);
        let addresses = served.map(|rrset| rrset.rdata_texts(Rtype::AAAA)).unwrap_or_default();
        let until = self.now.plus(Duration::from(ttl));
        self.resolvers[resolver].insert(name, (addresses, until));
    }

    /// The number of resolvers.
    pub fn resolver_count(&self) -> usize {
        self.resolvers.len()
    }

    /// The numbers of the addresses that a host has in DNS; never empty.
    pub fn written(&self, host: usize) -> BTreeSet<usize> {
        let live = self.live(host).map(|rrset| rrset.rdata_texts(Rtype::AAAA)).unwrap_or_default();
        let number = |address: &String| address.rsplit(':').next().and_then(|number| number.parse().ok());
        let written: BTreeSet<usize> = live.iter().filter_map(number).collect();
        assert!(!written.is_empty(), "each host has an address");
        written
    }

    /// Hosts move to where DNS has them, where that is true.
    pub fn move_hosts(&mut self) {
        for host in 0..self.hosts.len() {
            let written = self.written(host);
            let own = &mut self.hosts[host];
            let is_true = |number: &usize| !own.wrong.contains(number) && own.left != Some(*number);
            let homes: BTreeSet<usize> = written.into_iter().filter(is_true).collect();
            if !homes.is_empty() {
                own.homes = homes;
            }
            if own.left.is_some() && !self.is_unreachable(host) {
                self.hosts[host].left = None;
            }
        }
    }

    /// Whether a host is at an address.
    pub fn answers(&self, asked: &str) -> bool {
        (0..self.hosts.len()).any(|host| self.is_at(host, asked))
    }

    /// Whether a certain host is at an address.
    fn is_at(&self, host: usize, asked: &str) -> bool {
        self.hosts[host].homes.iter().any(|home| address(host, *home) == asked)
    }

    /// The hosts that some client may not reach because of what was written: a resolver or a name server has no address at
    /// which the host is, and it did not leave by itself.
    pub fn unreachable(&self) -> BTreeSet<usize> {
        let is_ours = |host: &usize| self.hosts[*host].left.is_none() && self.is_unreachable(*host);
        (0..self.hosts.len()).filter(is_ours).collect()
    }

    /// The hosts of which some client may hear an address at which the host is not, because of what was written.
    pub fn unreachable_in_part(&self) -> BTreeSet<usize> {
        let is_wrong = |host: usize, heard: &[String]| heard.iter().any(|address| !self.is_at(host, address));
        let is_ours = |host: &usize| self.hosts[*host].left.is_none() && self.some_client_hears(*host, is_wrong);
        (0..self.hosts.len()).filter(is_ours).collect()
    }

    /// Whether some client may not reach a host.
    fn is_unreachable(&self, host: usize) -> bool {
        let is_wrong = |host: usize, heard: &[String]| !heard.iter().any(|address| self.is_at(host, address));
        self.some_client_hears(host, is_wrong)
    }

    /// Whether what some client may hear of a host is so.
    fn some_client_hears(&self, host: usize, is_so: impl Fn(usize, &[String]) -> bool) -> bool {
        let name = &self.hosts[host].name;
        let is_wrong = |heard: &[String]| is_so(host, heard);
        let kept = self.resolvers.iter().filter_map(|resolver| resolver.get(name));
        let mut kept = kept.filter(|(_, until)| self.now < *until);
        let served =
            |zone: &MemoryZone| zone.rrset(name.as_name(), Rtype::AAAA).map(|own| own.rdata_texts(Rtype::AAAA));
        kept.any(|(heard, _)| is_wrong(heard))
            || self.name_servers.iter().any(|zone| is_wrong(&served(zone).unwrap_or_default()))
    }
}
