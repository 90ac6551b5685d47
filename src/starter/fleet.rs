//! The hosts in zones, and the names in them that are no hosts.
//!
//! Comes in: zones as they are live. Goes out: one host for each name that looks like a host's, with the MAC and
//! networks in its addresses; and every other name with addresses, by the reason why it is no host. Nothing is made up.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::parent;
use crate::dns::reverse::{is_reverse, reverse_name};
use crate::dns::{Name, NameRef, RdataRef, Rtype, ZoneName};
use crate::inventory::value::{Mac, Net64};
use crate::live::{Live, NamePlace, ZoneIndex};

/// From how many addresses of one family on a name is a service's: a host may well have two.
const MANY: usize = 3;

/// How many hosts must share 32 bits behind their networks for these to be reported.
const SHARED: usize = 3;

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHost {
    /// Its name.
    pub name: Name,
    /// The zone that holds it.
    pub zone: ZoneName,
    /// Its IPv6 addresses, sorted.
    pub addresses: Vec<Ipv6Addr>,
    /// Its IPv4 addresses, sorted.
    pub v4: Vec<Ipv4Addr>,
    /// The MAC that an address of it is made of, where one is (EUI-64).
    pub mac: Option<Mac>,
    /// The network of that address, else of its first; none where it has no IPv6 address.
    pub network: Option<Net64>,
}

impl FoundHost {
    /// The domain that its name is directly below.
    pub fn domain(&self) -> Name {
        parent(&self.name).expect("the root is no host")
    }

    /// Its IPv4 addresses that are the last 32 bits of an IPv6 address of it, each with the network of that.
    pub fn embedded(&self) -> Vec<(Ipv4Addr, Net64)> {
        let pair = |v4: &Ipv4Addr| {
            let holder = self.addresses.iter().find(|v6| interface_id(**v6) == u64::from(v4.to_bits()))?;
            Some((*v4, network_of(*holder)))
        };
        self.v4.iter().filter_map(pair).collect()
    }
}

/// Why a name with addresses is no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotAHost {
    /// It is the top of a zone.
    Apex,
    /// It is below a delegation or a DNAME.
    Hidden,
    /// It is a wildcard.
    Wildcard,
    /// It is another name's alias.
    Alias,
    /// It is no name that a host could have.
    NoHostName,
    /// A zone's NS points to it.
    NameServer,
    /// An MX points to it.
    MailServer,
    /// It has many addresses.
    ManyAddresses,
    /// Another name has its address, and the reverse record is not its own.
    SharedAddress,
}

impl fmt::Display for NotAHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAHost::Apex => "top of a zone",
            NotAHost::Hidden => "below a delegation or a DNAME",
            NotAHost::Wildcard => "wildcard",
            NotAHost::Alias => "alias, by CNAME",
            NotAHost::NoHostName => "no name of a host, with more than letters, digits and hyphens",
            NotAHost::NameServer => "name server, by NS",
            NotAHost::MailServer => "mail server, by MX",
            NotAHost::ManyAddresses => "service, with 3 addresses of one family or more",
            NotAHost::SharedAddress => "shares an address with another name, and no PTR says that it is its own",
        })
    }
}

/// The names in zones.
#[derive(Debug, Default)]
pub struct FoundFleet {
    /// The hosts, sorted by name.
    pub hosts: Vec<FoundHost>,
    /// The other names, by reason, sorted.
    pub others: BTreeMap<NotAHost, BTreeSet<String>>,
}

impl FoundFleet {
    /// Looks through the forward zones among those that could be read.
    pub fn of(live: &Live) -> FoundFleet {
        let holders = holders(live);
        let mut fleet = FoundFleet::default();
        let mut found: BTreeMap<String, FoundHost> = BTreeMap::new();
        for (number, zone) in live.zones().filter(|(_, zone)| !is_reverse(zone.name().as_name())) {
            let with_addresses = zone.contents().into_iter().flat_map(|contents| contents.rrsets());
            let is_ours = |rtype| matches!(rtype, Rtype::A | Rtype::AAAA | Rtype::CNAME);
            let owners: HashSet<Name> =
                with_addresses.filter(|rrset| is_ours(rrset.rtype())).map(|rrset| rrset.owner()).collect();
            for owner in owners {
                let host = host(live, number, zone.name(), owner.as_name());
                match reason(live, number, &holders, &host) {
                    Some(reason) => {
                        fleet.others.entry(reason).or_default().insert(owner.to_string());
                    }
                    None => {
                        found.insert(owner.to_string(), host);
                    }
                }
            }
        }
        fleet.hosts = found.into_values().collect();
        fleet
    }

    /// The 32 bits behind the network that at least a few hosts of a zone share and that no MAC explains, each with how
    /// many.
    pub fn shared_bits(&self, zone: &ZoneName) -> Vec<(u32, usize)> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for host in self.hosts.iter().filter(|host| host.zone == *zone && host.mac.is_none()) {
            let bits: BTreeSet<u32> = host.addresses.iter().map(|v6| (interface_id(*v6) >> 32) as u32).collect();
            for bits in bits.into_iter().filter(|bits| *bits != 0) {
                *counts.entry(bits).or_default() += 1;
            }
        }
        counts.into_iter().filter(|(_, count)| *count >= SHARED).collect()
    }

    /// The MACs that more than one host has.
    pub fn shared_macs(&self) -> BTreeMap<Mac, usize> {
        let mut counts: BTreeMap<Mac, usize> = BTreeMap::new();
        for mac in self.hosts.iter().filter_map(|host| host.mac) {
            *counts.entry(mac).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        counts
    }
}

/// The live names that have each address, those of reverse zones left out.
fn holders(live: &Live) -> HashMap<IpAddr, BTreeSet<Name>> {
    let mut holders: HashMap<IpAddr, BTreeSet<Name>> = HashMap::new();
    for found in [Rtype::A, Rtype::AAAA].into_iter().flat_map(|rtype| live.rrsets_of(rtype)) {
        for address in found.rrset.rdata().filter_map(RdataRef::address) {
            holders.entry(address).or_default().insert(found.rrset.owner());
        }
    }
    holders
}

/// What a name would be as a host.
fn host(live: &Live, number: ZoneIndex, zone: &ZoneName, owner: NameRef<'_>) -> FoundHost {
    let contents = live.zone(number).contents();
    let rrsets = contents.into_iter().flat_map(|contents| contents.at_owner(owner));
    let all: BTreeSet<IpAddr> = rrsets.flat_map(|rrset| rrset.rdata()).filter_map(RdataRef::address).collect();
    let addresses: Vec<Ipv6Addr> = all.iter().filter_map(|address| v6(*address)).collect();
    let v4 = all.iter().filter_map(|address| match address {
        IpAddr::V4(v4) => Some(*v4),
        IpAddr::V6(_) => None,
    });
    let made = addresses.iter().find_map(|address| Some((mac_of(*address)?, network_of(*address))));
    FoundHost {
        name: owner.to_name(),
        zone: zone.clone(),
        v4: v4.collect(),
        mac: made.map(|(mac, _)| mac),
        network: made.map(|(_, network)| network).or(addresses.first().map(|address| network_of(*address))),
        addresses,
    }
}

/// Why a name is no host; none where it is one.
fn reason(
    live: &Live,
    number: ZoneIndex,
    holders: &HashMap<IpAddr, BTreeSet<Name>>,
    host: &FoundHost,
) -> Option<NotAHost> {
    let name = host.name.as_name();
    let v4 = host.v4.iter().map(|v4| IpAddr::V4(*v4));
    let mut addresses = host.addresses.iter().map(|v6| IpAddr::V6(*v6)).chain(v4);
    let is_anothers = |address: IpAddr| holders[&address].len() > 1 && !points_to(live, address, name);
    match live.place(name) {
        NamePlace::Cname(_) => return Some(NotAHost::Alias),
        NamePlace::Open(holder) if holder == number => {}
        _ => return Some(NotAHost::Hidden),
    }
    if live.is_apex(name) {
        Some(NotAHost::Apex)
    } else if name.is_wildcard() {
        Some(NotAHost::Wildcard)
    } else if !is_host_name(name) {
        Some(NotAHost::NoHostName)
    } else if live.delegation_to(name).is_some() {
        Some(NotAHost::NameServer)
    } else if live.is_exchanger(name) {
        Some(NotAHost::MailServer)
    } else if host.addresses.len() >= MANY || host.v4.len() >= MANY {
        Some(NotAHost::ManyAddresses)
    } else {
        addresses.any(is_anothers).then_some(NotAHost::SharedAddress)
    }
}

/// Whether a name is one that a host may have everywhere: of letters, digits and hyphens alone.
///
/// Inventories may have underscores, but BIND refuses a PTR to such a name (`check-names`). Source: RFC 1123 section
/// 2.1.
fn is_host_name(name: NameRef<'_>) -> bool {
    let text = name.to_string();
    Name::parse_host(&text).is_ok() && !text.contains('_')
}

/// Whether the reverse record of an address names this name, and no other.
fn points_to(live: &Live, address: IpAddr, name: NameRef<'_>) -> bool {
    let reverse = reverse_name(address);
    live.rrset(reverse.as_name(), Rtype::PTR).is_some_and(|found| {
        let targets: Vec<_> = found.rrset.rdata().filter_map(RdataRef::target).collect();
        targets == [name]
    })
}

/// An IPv6 address; one of IPv4 is none.
fn v6(address: IpAddr) -> Option<Ipv6Addr> {
    match address {
        IpAddr::V6(v6) => Some(v6),
        IpAddr::V4(_) => None,
    }
}

/// The last 64 bits of an address.
fn interface_id(address: Ipv6Addr) -> u64 {
    u128::from(address) as u64
}

/// The /64 that an address is in.
pub fn network_of(address: Ipv6Addr) -> Net64 {
    let network = ipnet::Ipv6Net::new(address, 64).expect("64 is a length of prefixes");
    Net64::new(network.trunc()).expect("a /64 without host bits")
}

/// The MAC that an address is made of by modified EUI-64; none where it is not.
///
/// Source: RFC 4291, appendix A.
pub fn mac_of(address: Ipv6Addr) -> Option<Mac> {
    let [a, b, c, 0xff, 0xfe, d, e, f] = interface_id(address).to_be_bytes() else { return None };
    Mac::from_octets([a ^ 0x02, b, c, d, e, f]).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::live::{Apexes, LiveZone};
    use crate::provider::parse_text;

    /// Zones of master-file text, as they are live.
    pub fn live(zones: &[(&str, &str)]) -> Live {
        let names: Vec<ZoneName> = zones.iter().map(|(name, _)| ZoneName::new(Name::parse(name).unwrap())).collect();
        let apexes = Apexes::new(names.iter());
        let known = names.iter().zip(zones).map(|(name, (_, text))| {
            let text = format!("$TTL 300\n@ SOA ns.invalid. x.invalid. 1 1 1 1 1\n@ NS ns.invalid.\n{text}");
            LiveZone::known(parse_text(name, "x", text.into_bytes()).unwrap())
        });
        let known = known.collect();
        Live::new(known, apexes)
    }

    #[test]
    fn a_mac_is_read_out_of_an_address_that_is_made_of_it() {
        let mac = |text: &str| mac_of(text.parse().unwrap()).map(|mac| mac.to_string());
        assert_eq!(mac("2a02:6b8:0:160b:7ae3:b5ff:fe08:9398").as_deref(), Some("78:e3:b5:08:93:98"));
        // A group address, all zeros, and addresses that are made otherwise.
        for none in ["2001:db8::300:ff:fe00:1", "2001:db8::200:ff:fe00:0", "2001:db8::1", "2001:db8::ff:fe00:1:1"] {
            assert_eq!(mac(none), None, "{none}");
        }
    }

    #[test]
    fn names_that_are_no_hosts_are_listed_by_reason() {
        let zone = "@ AAAA 2001:db8::1\n@ MX 10 mail\nmail A 192.0.2.1\nsub NS ns.sub\nns.sub A 192.0.2.2\n\
                    x.sub A 192.0.2.3\n* A 192.0.2.4\nwww CNAME web\nweb A 192.0.2.5\nshop A 192.0.2.5\n\
                    pool A 192.0.2.6\npool A 192.0.2.7\npool A 192.0.2.8\n_x A 192.0.2.9\nx_y.z A 192.0.2.13\na\\032b A 192.0.2.10\n\
                    both A 192.0.2.11\nboth AAAA 2001:db8:0:1:200:5eff:fe00:5301\n\
                    here.dns A 192.0.2.12\n@ NS here.dns\n";
        let reverse = "5 PTR web.example.net.\n6 PTR pool.example.net.\n";
        let live = live(&[("example.net", zone), ("2.0.192.in-addr.arpa", reverse)]);
        let fleet = FoundFleet::of(&live);
        let hosts: Vec<String> = fleet.hosts.iter().map(|host| host.name.to_string()).collect();
        assert_eq!(hosts, ["both.example.net.", "web.example.net."]);
        let told: Vec<String> = fleet
            .others
            .iter()
            .map(|(reason, names)| format!("{reason:?}: {}", names.iter().cloned().collect::<Vec<_>>().join(" ")))
            .collect();
        assert_eq!(
            told,
            [
                "Apex: example.net.",
                "Hidden: ns.sub.example.net. x.sub.example.net.",
                "Wildcard: *.example.net.",
                "Alias: www.example.net.",
                "NoHostName: _x.example.net. a\\032b.example.net. x_y.z.example.net.",
                "NameServer: here.dns.example.net.",
                "MailServer: mail.example.net.",
                "ManyAddresses: pool.example.net.",
                "SharedAddress: shop.example.net.",
            ]
        );
        let both = &fleet.hosts[0];
        assert_eq!(both.mac.map(|mac| mac.to_string()).as_deref(), Some("00:00:5e:00:53:01"));
        assert_eq!(both.network.map(|network| network.to_string()).as_deref(), Some("2001:db8:0:1::/64"));
    }

    #[test]
    fn addresses_that_hold_one_of_ipv4_are_paired_with_it() {
        let live =
            live(&[("example.net", "a A 192.0.2.1\na AAAA 2001:db8::c000:201\nb A 192.0.2.2\nb AAAA 2001:db8::2\n")]);
        let fleet = FoundFleet::of(&live);
        let pairs = fleet.hosts[0].embedded();
        assert_eq!(
            pairs.iter().map(|(v4, net)| format!("{v4} {net}")).collect::<Vec<_>>(),
            ["192.0.2.1 2001:db8::/64"]
        );
        assert!(fleet.hosts[1].embedded().is_empty());
    }

    #[test]
    fn bits_that_several_hosts_share_are_reported_and_not_used() {
        let text =
            "a AAAA 2001:db8::1478:0:1\nb AAAA 2001:db8::1478:0:2\nc AAAA 2001:db8::1478:0:3\nd AAAA 2001:db8::4\n";
        let live = live(&[("example.net", text)]);
        let fleet = FoundFleet::of(&live);
        let zone = fleet.hosts[0].zone.clone();
        assert_eq!(fleet.shared_bits(&zone), [(0x1478, 3)]);
        assert!(fleet.hosts.iter().all(|host| host.mac.is_none()));
    }
}
