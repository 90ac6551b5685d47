//! Random fleets whose zones have three copies, each with differences of its own, and what each copy must hold once the
//! fleet is published: worked out here anew, by nothing of zonewright.
//!
//! Claimed are the AAAA at a host's name, the PTR at each address that it may have, and any PTR that names it. Everything
//! else has no claim and stays as it is in its copy: records of other names, other types at names of hosts, delegations, and
//! all of a host at whose name the copies hold other A records, which is blocked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;

use crate::rig::{Zone, key_of, marker_name};

/// The forward zone.
pub const FORWARD: &str = "example.net.";

/// The reverse zone, that of 2a02:6b8::/48.
pub const REVERSE: &str = "0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.";

/// How many copies there are.
pub const COPIES: usize = 3;

/// The TTL of what hosts claim.
const TTL: u32 = 600;

/// The settings; live DNS is what the targets say.
const SETTINGS: &str = "owner = \"fleet-dns\"
[sources]
projects = \"p.yaml\"
hosts = \"hosts.csv\"
l3_tors = \"l3\"
net_layout = \"layout.xml\"
ipv4_map = \"map\"
[[sources.mac]]
name = \"agent\"
path = \"macs.jsonl\"
[project.p]
dns_domain = \"example.net\"
automation = \"allowed\"
[[zone]]
name = \"example.net\"
pool = \"main\"
permission = \"full\"
[[zone]]
network = \"2a02:6b8::/48\"
pool = \"main\"
permission = \"full\"
[limits]
max_modify = \"100%\"
max_loss = \"100%\"
max_delete = \"100%\"
[pool.main]
";

/// The networks of hosts behind a switch that l3-tors does not have: such a host may have an address in each.
const LAYOUT: &str = "<net-layout><datacenter name=\"sas\"><vlan id=\"604\"><network>2a02:6b8:0:2::/64</network>\
                      <network>2a02:6b8:0:3::/64</network></vlan></datacenter></net-layout>\n";

/// What begins the forward zone of each copy.
const FORWARD_HEAD: &str = "$TTL 600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
sub NS ns.sub
ns.sub A 192.0.2.54
";

/// What begins the reverse zone of each copy.
const REVERSE_HEAD: &str = "$TTL 600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
";

/// The copies of all zones, by name.
pub type Copies = [BTreeMap<String, Zone>; COPIES];

/// The place of an RRset: owner name and type.
pub type Place = (String, String);

/// A small generator of numbers.
pub struct Dice(pub u64);

impl Dice {
    /// A number below another.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Whether an event happens that happens once in so many.
    fn one_of(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// A fleet, and the text of its zones in each copy.
pub struct PlantedFleet {
    /// How many hosts it has.
    pub hosts: usize,
    /// The hosts that are blocked, because the copies hold other A records at their names.
    blocked: BTreeSet<usize>,
    /// The forward and the reverse zone in each copy.
    zones: [[String; 2]; COPIES],
}

/// The name of a host.
pub fn name(host: usize) -> String {
    format!("h{host}.{FORWARD}")
}

/// The addresses that a host may have, the preferred one first.
pub fn acceptable(host: usize) -> Vec<Ipv6Addr> {
    let networks: &[u16] = if host.is_multiple_of(3) { &[2, 3] } else { &[1] };
    // Modified EUI-64 of ac:1f:6b and the number of the host.
    let address = |network: &u16| {
        let (high, low) = ((host >> 16) as u16 & 0xff, host as u16);
        Ipv6Addr::new(0x2a02, 0x6b8, 0, *network, 0xae1f, 0x6bff, 0xfe00 | high, low)
    };
    networks.iter().map(address).collect()
}

/// The reverse name of an address.
pub fn reverse(address: Ipv6Addr) -> String {
    let octets = address.octets();
    let nibbles = octets.iter().rev().flat_map(|octet| [octet & 0xf, octet >> 4]);
    let labels: String = nibbles.map(|nibble| format!("{nibble:x}.")).collect();
    labels + "ip6.arpa."
}

impl PlantedFleet {
    /// Makes one; the same seed gives the same. Some of its hosts are blocked.
    pub fn new(hosts: usize, seed: u64) -> PlantedFleet {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let blocked = (0..hosts).filter(|_| dice.one_of(15)).collect();
        PlantedFleet::with_blocked(hosts, blocked, dice)
    }

    /// Makes one without blocked hosts.
    pub fn without_blocked(hosts: usize, seed: u64) -> PlantedFleet {
        PlantedFleet::with_blocked(hosts, BTreeSet::new(), Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Makes one with these blocked hosts.
    fn with_blocked(hosts: usize, blocked: BTreeSet<usize>, mut dice: Dice) -> PlantedFleet {
        let mut zones = [(); COPIES].map(|()| [FORWARD_HEAD.to_owned(), REVERSE_HEAD.to_owned()]);
        for (copy, zones) in zones.iter_mut().enumerate() {
            (0..hosts).for_each(|host| plant_host(zones, host, &mut dice));
            (0..hosts / 2).for_each(|number| plant_others(zones, number, &mut dice));
            for host in &blocked {
                // At least the first and the second copy differ.
                let last = [7, 8, 7 + dice.below(3)][copy];
                writeln!(zones[0], "h{host} A 192.0.2.{last}").expect("a String grows");
            }
        }
        PlantedFleet { hosts, blocked, zones }
    }

    /// Writes the inventory to a folder, with settings whose one pool says `pool`.
    pub fn write(&self, folder: &Path, pool: &str) {
        let switch = |host: usize| if host.is_multiple_of(3) { "s2" } else { "s1" };
        let row = |host: usize| format!("{},h{host}.example.net,p,assigned,sas,,,{},,\n", host + 1, switch(host));
        let mac = |host: usize| {
            let inv = host + 1;
            format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{inv},\"mac\":\"ac1f6b{host:06x}\"}}\n")
        };
        let rows: String = (0..self.hosts).map(row).collect();
        let project = "id: p\nvlan_scheme: static\nvlans: {main: 604}\nttl: 600\nautomation: true\npolicy: repair\n";
        let files = [
            ("zonewright.toml", format!("{SETTINGS}{pool}")),
            ("p.yaml", project.to_owned()),
            ("hosts.csv", format!("inv,name,project,status,location,queue,rack,switch,port,restrictions\n{rows}")),
            ("l3", "s1 604 2a02:6b8:0:1::/64\n".to_owned()),
            ("layout.xml", LAYOUT.to_owned()),
            ("map", "192.0.2.0/24 sas 604 2a02:6b8:0:9::/64\n".to_owned()),
            ("macs.jsonl", (0..self.hosts).map(mac).collect()),
        ];
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
    }

    /// Writes the zones of a copy as master files to a folder.
    pub fn write_zones(&self, folder: &Path, copy: usize) {
        fs::create_dir_all(folder).expect("a folder");
        for (zone, text) in [FORWARD, REVERSE].iter().zip(&self.zones[copy]) {
            fs::write(folder.join(format!("{zone}zone")), text).expect("a file");
        }
    }

    /// The hosts that are published.
    pub fn published(&self) -> impl Iterator<Item = usize> {
        (0..self.hosts).filter(|host| !self.blocked.contains(host))
    }

    /// What copies differ in from what they must be, now that the fleet is published, where `before` is what they held
    /// before. With `chooses` also the first copy's choice among the addresses that a host may have must have been taken.
    pub fn faults(&self, before: &Copies, after: &Copies, chooses: bool) -> Vec<String> {
        let mut faults = Vec::new();
        let mut rrsets: Vec<BTreeMap<Place, BTreeSet<String>>> = after.iter().map(rrsets_of).collect();
        let was: Vec<BTreeMap<Place, BTreeSet<String>>> = before.iter().map(rrsets_of).collect();
        let mut claimed: BTreeSet<Place> = BTreeSet::new();
        for host in self.published() {
            let place = (name(host), "AAAA".to_owned());
            let wanted = self.chosen(host, if chooses { &was[0] } else { &rrsets[0] });
            let mut expect: Vec<(Place, BTreeSet<String>)> = Vec::new();
            let line = |address: &Ipv6Addr| format!("{} {TTL} AAAA {address}", name(host));
            expect.push((place, wanted.iter().map(line).collect()));
            for address in acceptable(host) {
                let owner = reverse(address);
                let line = format!("{owner} {TTL} PTR {}", name(host));
                let lines = wanted.contains(&address).then_some(line).into_iter().collect();
                expect.push(((owner, "PTR".to_owned()), lines));
            }
            for (copy, held) in rrsets.iter().enumerate() {
                for (place, lines) in &expect {
                    let held = held.get(place).cloned().unwrap_or_default();
                    if held != *lines {
                        faults.push(format!("copy {copy}: {place:?} is {held:?}, and not {lines:?}"));
                    }
                }
            }
            claimed.extend(expect.into_iter().map(|(place, _)| place));
        }
        for (copy, (was, is)) in was.into_iter().zip(&mut rrsets).enumerate() {
            is.retain(|place, _| !claimed.contains(place));
            let rest: BTreeMap<Place, BTreeSet<String>> = was
                .into_iter()
                .filter(|(place, _)| !claimed.contains(place))
                .map(|(place, lines)| (place, self.without_published(lines)))
                .filter(|(_, lines)| !lines.is_empty())
                .collect();
            let places: BTreeSet<&Place> = rest.keys().chain(is.keys()).collect();
            let differing = places.into_iter().filter(|place| rest.get(*place) != is.get(*place));
            faults.extend(differing.map(|place| {
                format!("copy {copy}: {place:?} has no claim, was {:?} and is {:?}", rest.get(place), is.get(place))
            }));
        }
        faults
    }

    /// The addresses of a host, by what a copy held: all that it may have and has, else the preferred one.
    fn chosen(&self, host: usize, held: &BTreeMap<Place, BTreeSet<String>>) -> Vec<Ipv6Addr> {
        let lines = held.get(&(name(host), "AAAA".to_owned()));
        let live = |address: &Ipv6Addr| {
            let end = format!(" {address}");
            lines.is_some_and(|lines| lines.iter().any(|line| line.ends_with(&end)))
        };
        let all = acceptable(host);
        let live: Vec<Ipv6Addr> = all.iter().copied().filter(live).collect();
        if live.is_empty() { vec![all[0]] } else { live }
    }

    /// The records of an RRset, but for PTR that name a host that is published.
    fn without_published(&self, mut lines: BTreeSet<String>) -> BTreeSet<String> {
        lines.retain(|line| {
            let host = line.rsplit_once(" PTR h").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
            host.is_none_or(|host: usize| host >= self.hosts || self.blocked.contains(&host))
        });
        lines
    }
}

/// Plants what one copy holds of a host.
fn plant_host([forward, reverse_zone]: &mut [String; 2], host: usize, dice: &mut Dice) {
    let all = acceptable(host);
    let foreign = Ipv6Addr::new(0x2a02, 0x6b8, 0, 5, 0, 0, 1, host as u16);
    let live = match dice.below(9) {
        0 => Vec::new(),
        1 => vec![foreign],
        2 => vec![all[0], foreign],
        3 => all[all.len() - 1..].to_vec(),
        4 => all.clone(),
        _ => vec![all[0]],
    };
    let ttl = if dice.one_of(8) { 77 } else { TTL };
    let add = |zone: &mut String, line: String| writeln!(zone, "{line}").expect("a String grows");
    live.iter().for_each(|address| add(forward, format!("h{host} {ttl} AAAA {address}")));
    for address in &all {
        let owner = reverse(*address);
        match dice.below(6) {
            0 => {}
            1 => add(reverse_zone, format!("{owner} {TTL} PTR old{host}.example.net.")),
            2 => add(reverse_zone, format!("{owner} 60 PTR {}", name(host))),
            _ if live.contains(address) || dice.one_of(3) => {
                add(reverse_zone, format!("{owner} {TTL} PTR {}", name(host)));
            }
            _ => {}
        }
    }
    if dice.one_of(6) {
        add(reverse_zone, format!("{} 300 PTR {}", reverse(foreign), name(host)));
        if dice.one_of(2) {
            add(reverse_zone, format!("{} 300 PTR ns1.example.net.", reverse(foreign)));
        }
    }
    if dice.one_of(3) {
        add(forward, format!("h{host} 900 TXT \"note {}\"", dice.below(1_000)));
    }
}

/// Plants what one copy holds besides the hosts.
fn plant_others([forward, reverse_zone]: &mut [String; 2], number: usize, dice: &mut Dice) {
    let (which, value) = (dice.below(8), dice.below(200));
    let line = match which {
        0 => format!("x{number} 120 TXT \"unclaimed {value}\""),
        1 => format!("x{number} A 198.51.100.{value}"),
        2 => format!("x{number} 60 MX {value} mail.example.org."),
        3 => format!("x{number} CNAME www{value}.example.org."),
        4 => format!("_svc._tcp.x{number} 30 SRV 0 {value} 443 www.example.org."),
        // A service may have the address of a host.
        5 => format!("x{number} 60 AAAA {}", acceptable(number)[0]),
        6 => format!("x{number} 60 AAAA 2a02:6b8:0:7::{value:x}\nx{number} 60 AAAA 2a02:6b8:0:8::{value:x}"),
        _ => return,
    };
    writeln!(forward, "{line}").expect("a String grows");
    if which == 6 {
        let address = Ipv6Addr::new(0x2a02, 0x6b8, 0, 7, 0, 0, 0, value as u16);
        // Another copy of this line is the same record.
        writeln!(reverse_zone, "{} 45 PTR x{number}.example.net.", reverse(address)).expect("a String grows");
    }
}

/// The records of a copy by RRset, but for the markers.
pub fn rrsets_of(copy: &BTreeMap<String, Zone>) -> BTreeMap<Place, BTreeSet<String>> {
    let mut rrsets: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    for (zone, Zone { records, .. }) in copy {
        let marker = marker_name(zone);
        for line in records.iter().filter(|line| !line.starts_with(&marker)) {
            rrsets.entry(key_of(line)).or_default().insert(line.clone());
        }
    }
    rrsets
}
