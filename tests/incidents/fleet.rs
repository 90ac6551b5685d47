//! A fleet of any number of hosts in several datacenters, as the one truth from which exports and zones are written.
//!
//! Racks are behind one switch each; two of three switches are in L3 segments. What DNS must have is computed here
//! from the rules, not by the program, so that it can be compared with the program's result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv6Addr;

use zonewright::dns::Rtype;

/// The codes of the datacenters.
pub const DATACENTERS: [&str; 4] = ["sas", "myt", "vla", "iva"];

/// The network of all addresses, and the apex of its reverse zone.
pub const NETWORK: (&str, &str) = ("2001:db8::/32", "8.b.d.0.1.0.0.2.ip6.arpa");

/// The domain of all projects.
pub const DOMAIN: &str = "example.net";

/// The inventory number of the first host.
pub const FIRST_INV: u64 = 100_001;

/// A project.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its id, which is the first label of its domain too.
    pub id: String,
    /// The VLAN of the backbone.
    pub main: u16,
    /// That of the fastbone, where there is one.
    pub fastbone: Option<u16>,
    /// The project id in addresses.
    pub hbf: u32,
    /// Further lines of its file.
    pub more: String,
}

impl Project {
    /// Its VLANs.
    pub fn vlans(&self) -> impl Iterator<Item = u16> {
        std::iter::once(self.main).chain(self.fastbone)
    }
}

/// The switch of a rack.
#[derive(Debug, Clone)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Its datacenter, by its place in [`DATACENTERS`].
    pub datacenter: usize,
    /// Whether it is in an L3 segment.
    pub is_l3: bool,
}

/// A host in use.
#[derive(Debug, Clone)]
pub struct Host {
    /// The first label of its name; none is `""`.
    pub name: String,
    /// Its project's place.
    pub project: usize,
    /// Its datacenter.
    pub datacenter: usize,
    /// Its switch's place.
    pub switch: usize,
    /// Its MAC.
    pub mac: u64,
}

/// A name that a host gave up.
#[derive(Debug, Clone)]
pub struct Released {
    /// The host.
    pub inv: u64,
    /// The first label.
    pub name: String,
    /// The project's place.
    pub project: usize,
    /// When.
    pub at: String,
}

/// Optional settings of zonewright.toml; lines and entries in TOML.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Keys of the file itself.
    pub top: String,
    /// Lines of `[limits]`.
    pub limits: String,
    /// Keys of `hosts`, each after the first after a comma.
    pub hosts: String,
    /// Keys of `l3_tors`.
    pub l3_tors: String,
    /// Keys of `net_layout`.
    pub net_layout: String,
    /// Keys of `ipv4_map`.
    pub ipv4_map: String,
    /// Lines of the one source of MACs.
    pub agent: String,
    /// Lines of each forward zone.
    pub zone: String,
}

/// All of it.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// What zonewright.toml says.
    pub settings: Settings,
    /// The projects.
    pub projects: Vec<Project>,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The hosts by number.
    pub hosts: BTreeMap<u64, Host>,
    /// The networks of L3 segments, by switch and VLAN, as the upper 64 bits of addresses.
    pub tors: BTreeMap<(usize, u16), u64>,
    /// Those of L2 segments, by datacenter and VLAN.
    pub layout: BTreeMap<(usize, u16), u64>,
    /// The names that hosts gave up.
    pub released: Vec<Released>,
    /// How many networks were given out.
    networks: u64,
    /// How many hosts there ever were.
    ever: u64,
}

/// RRsets by owner and type, each as the texts of its records.
pub type Records = BTreeMap<(String, Rtype), BTreeSet<String>>;

impl Fleet {
    /// A fleet of so many hosts in racks of `rack`. `shares` are the projects' in hundredths, each of two VLANs.
    pub fn new(hosts: usize, rack: usize, shares: &[usize]) -> Fleet {
        let project = |place: usize| Project {
            id: format!("p{place}"),
            main: 600 + place as u16,
            fastbone: Some(700 + place as u16),
            hbf: 0x1470 + place as u32,
            more: String::new(),
        };
        let mut fleet = Fleet {
            settings: Settings::default(),
            projects: (0..shares.len()).map(project).collect(),
            switches: Vec::new(),
            hosts: BTreeMap::new(),
            tors: BTreeMap::new(),
            layout: BTreeMap::new(),
            released: Vec::new(),
            networks: 0,
            ever: 0,
        };
        let vlans: Vec<u16> = fleet.projects.iter().flat_map(Project::vlans).collect();
        for datacenter in 0..DATACENTERS.len() {
            for vlan in &vlans {
                let network = fleet.new_network();
                fleet.layout.insert((datacenter, *vlan), network);
            }
        }
        let total: usize = shares.iter().sum();
        for host in 0..hosts {
            if host % rack == 0 {
                let place = host / rack;
                fleet.add_switch(place % DATACENTERS.len(), place % 3 != 2);
            }
            // A step that has no factor in common with usual sums spreads each project over all racks.
            let mut point = host * 37 % total;
            let project = shares.iter().position(|share| {
                let is_here = point < *share;
                point = point.wrapping_sub(*share);
                is_here
            });
            fleet.add_host(project.expect("the point is within the sum"), fleet.switches.len() - 1);
        }
        fleet
    }

    /// A network that was never used.
    pub fn new_network(&mut self) -> u64 {
        self.networks += 1;
        0x2001_0db8_0000_0000 + self.networks
    }

    /// Adds a switch; gives its place.
    pub fn add_switch(&mut self, datacenter: usize, is_l3: bool) -> usize {
        let place = self.switches.len();
        self.switches.push(Switch { name: format!("{}-s{place}", DATACENTERS[datacenter]), datacenter, is_l3 });
        if is_l3 {
            let vlans: Vec<u16> = self.projects.iter().flat_map(Project::vlans).collect();
            for vlan in vlans {
                let network = self.new_network();
                self.tors.insert((place, vlan), network);
            }
        }
        place
    }

    /// Adds a host behind a switch; gives its number.
    pub fn add_host(&mut self, project: usize, switch: usize) -> u64 {
        let inv = FIRST_INV + self.ever;
        let datacenter = self.switches[switch].datacenter;
        self.ever += 1;
        let name = format!("{}-{:05}", DATACENTERS[datacenter], self.ever);
        self.hosts.insert(inv, Host { name, project, datacenter, switch, mac: 0x0200_0000_0000 + self.ever });
        inv
    }

    /// The domain of a project.
    pub fn domain(&self, project: usize) -> String {
        format!("{}.{DOMAIN}", self.projects[project].id)
    }

    /// The names that a host has, and the addresses that belong there; none where no network is known.
    pub fn addresses(&self, host: &Host) -> Vec<(String, Ipv6Addr)> {
        let project = &self.projects[host.project];
        let domain = self.domain(host.project);
        let prefixes = ["", "fb-"];
        let interfaces = project.vlans().zip(prefixes).filter_map(|(vlan, prefix)| {
            let network = if self.switches[host.switch].is_l3 {
                self.tors.get(&(host.switch, vlan))
            } else {
                self.layout.get(&(host.datacenter, vlan))
            };
            let low = u64::from(project.hbf) << 32 | host.mac & 0xffff_ffff;
            let address = Ipv6Addr::from(u128::from(*network?) << 64 | u128::from(low));
            Some((format!("{prefix}{}.{domain}.", host.name), address))
        });
        interfaces.collect()
    }

    /// What DNS has to hold.
    pub fn truth(&self) -> Records {
        let mut records = Records::new();
        for host in self.hosts.values() {
            for (name, address) in self.addresses(host) {
                records.entry((name.clone(), Rtype::AAAA)).or_default().insert(address.to_string());
                records.entry((reverse(address), Rtype::PTR)).or_default().insert(name);
            }
        }
        records
    }

    /// The hosts whose records are not what they have to be.
    pub fn wrong(&self, found: &Records) -> BTreeSet<u64> {
        let is = |name: String, rtype: Rtype, data: String| {
            found.get(&(name, rtype)).is_some_and(|set| set.len() == 1 && set.contains(&data))
        };
        let is_right = |host: &Host| {
            self.addresses(host).into_iter().all(|(name, address)| {
                is(reverse(address), Rtype::PTR, name.clone()) && is(name, Rtype::AAAA, address.to_string())
            })
        };
        self.hosts.iter().filter(|(_, host)| !is_right(host)).map(|(inv, _)| *inv).collect()
    }

    /// The hosts for which something holds.
    pub fn hosts_with(&self, holds: impl Fn(&Host) -> bool) -> BTreeSet<u64> {
        self.hosts.iter().filter(|(_, host)| holds(host)).map(|(inv, _)| *inv).collect()
    }

    /// The hosts behind switches of L3 segments.
    pub fn in_l3(&self) -> BTreeSet<u64> {
        self.hosts_with(|host| self.switches[host.switch].is_l3)
    }

    /// zonewright.toml and the project files.
    pub fn config(&self) -> Vec<(String, String)> {
        let Settings { top, limits, hosts, l3_tors, net_layout, ipv4_map, agent, zone } = &self.settings;
        let source = |key: &str, file: &str, more: &str| {
            let more = if more.is_empty() { String::new() } else { format!(", {more}") };
            format!("{key} = {{ path = \"racktables/{file}\"{more} }}\n")
        };
        let mut text = format!("owner = \"fleet-dns\"\n{top}\n[sources]\nprojects = \"projects/*.yaml\"\n");
        text += &source("hosts", "hosts.csv", hosts);
        text += &source("l3_tors", "l3-tors.txt", l3_tors);
        text += &source("net_layout", "net-layout.xml", net_layout);
        text += &source("ipv4_map", "ipv4-map.txt", ipv4_map);
        let _ = write!(text, "[[sources.mac]]\nname = \"agent\"\npath = \"agents/agent-*.jsonl\"\n{agent}\n");
        let _ = write!(text, "[limits]\n{limits}\n[[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n");
        let network = NETWORK.0;
        let _ = write!(text, "[[zone]]\nnetwork = \"{network}\"\npool = \"main\"\npermission = \"full\"\n");
        let mut files = Vec::new();
        for (place, project) in self.projects.iter().enumerate() {
            let (id, domain) = (&project.id, self.domain(place));
            let _ = write!(text, "[project.{id}]\ndns_domain = \"{domain}\"\nautomation = \"allowed\"\n");
            let _ = write!(text, "[[zone]]\nname = \"{domain}\"\npool = \"main\"\npermission = \"full\"\n{zone}\n");
            let vlans = match project.fastbone {
                Some(fastbone) => {
                    format!("vlan_scheme: search\nvlans: {{main: {}, fastbone: {fastbone}}}", project.main)
                }
                None => format!("vlan_scheme: static\nvlans: {{main: {}}}", project.main),
            };
            let yaml =
                format!("id: {id}\n{vlans}\nhbf_project_id: \"{:x}\"\nautomation: true\n{}", project.hbf, project.more);
            files.push((format!("projects/{id}.yaml"), yaml));
        }
        files.push(("zonewright.toml".to_owned(), text));
        files
    }

    /// All exports as of a time.
    pub fn exports(&self, time: &str) -> Vec<(String, String)> {
        let files = [
            ("racktables/hosts.csv", self.hosts_csv(time)),
            ("racktables/l3-tors.txt", self.l3_tors(time)),
            ("racktables/net-layout.xml", self.net_layout(time)),
            ("racktables/ipv4-map.txt", format!("# generated: {time}\n192.0.2.0/24 sas 4000 2001:db8:ffff::/64\n")),
            ("agents/agent-1.jsonl", self.agents(time)),
        ];
        let lock = self.lock();
        let lock = (!lock.is_empty()).then(|| ("names.lock".to_owned(), lock));
        files.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(lock).collect()
    }

    /// hosts.csv.
    pub fn hosts_csv(&self, time: &str) -> String {
        let mut text = format!("# generated: {time}\n");
        text += "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
        for (inv, host) in &self.hosts {
            let name = match host.name.as_str() {
                "" => String::new(),
                name => format!("{name}.{}", self.domain(host.project)),
            };
            let (project, location) = (&self.projects[host.project].id, DATACENTERS[host.datacenter]);
            let switch = &self.switches[host.switch].name;
            let _ = writeln!(text, "{inv},{name},{project},assigned,{location},q1,r{},{switch},ge1,", host.switch);
        }
        text
    }

    /// l3-tors.txt.
    pub fn l3_tors(&self, time: &str) -> String {
        let mut text = format!("# generated: {time}\n");
        for ((switch, vlan), network) in &self.tors {
            let _ = writeln!(text, "{} {vlan} {}", self.switches[*switch].name, slash_64(*network));
        }
        text
    }

    /// net-layout.xml.
    pub fn net_layout(&self, time: &str) -> String {
        let mut text = format!("<net-layout generated=\"{time}\">\n");
        for (place, name) in DATACENTERS.iter().enumerate() {
            let _ = writeln!(text, "  <datacenter name=\"{name}\">");
            for ((_, vlan), network) in self.layout.range((place, 0)..=(place, u16::MAX)) {
                let network = slash_64(*network);
                let _ = writeln!(text, "    <vlan id=\"{vlan}\"><network>{network}</network></vlan>");
            }
            text += "  </datacenter>\n";
        }
        text + "</net-layout>\n"
    }

    /// The reports of the agents.
    pub fn agents(&self, time: &str) -> String {
        let mut text = String::new();
        for (inv, host) in &self.hosts {
            let (mac, switch) = (mac_text(host.mac), &self.switches[host.switch].name);
            let _ = writeln!(
                text,
                "{{\"time\":\"{time}\",\"inv\":{inv},\"mac\":\"{mac}\",\"switch\":\"{switch}\",\"port\":\"ge1\"}}"
            );
        }
        text
    }

    /// names.lock; empty where no name was given up.
    fn lock(&self) -> String {
        let row = |row: &Released| {
            let (domain, id) = (self.domain(row.project), &self.projects[row.project].id);
            format!("{}\t{}.{domain}.\t{id}\t2026-01-01T00:00:00Z\t{}\n", row.inv, row.name, row.at)
        };
        self.released.iter().map(row).collect()
    }

    /// The zones with these records, by apex.
    pub fn zones(&self, records: &Records) -> Vec<(String, String)> {
        let apexes = (0..self.projects.len()).map(|project| self.domain(project));
        let apexes = apexes.chain(std::iter::once(NETWORK.1.to_owned()));
        let mut zones: Vec<(String, String)> = apexes.map(|apex| (apex, START.to_owned())).collect();
        for ((owner, rtype), data) in records {
            let place = zones.iter().position(|(apex, _)| owner.trim_end_matches('.').ends_with(apex.as_str()));
            let text = &mut zones[place.expect("it is in a zone")].1;
            for data in data {
                let _ = writeln!(text, "{owner} {rtype} {data}");
            }
        }
        zones
    }
}

/// What every zone begins with.
const START: &str =
    "$TTL 3600\n@ SOA ns.example.net. hostmaster.example.net. 1 7200 900 1209600 300\n@ NS ns.example.net.\n";

/// A network as exports write it.
fn slash_64(network: u64) -> String {
    format!("{}/64", Ipv6Addr::from(u128::from(network) << 64))
}

/// A MAC as exports write it.
pub fn mac_text(mac: u64) -> String {
    let octets: Vec<String> = mac.to_be_bytes()[2..].iter().map(|octet| format!("{octet:02x}")).collect();
    octets.join(":")
}

/// The owner name of the PTR of an address.
pub fn reverse(address: Ipv6Addr) -> String {
    let nibbles = (0..32).map(|place| format!("{:x}.", u128::from(address) >> (4 * place) & 15));
    nibbles.collect::<String>() + "ip6.arpa."
}

/// Limits that let everything through.
pub const NO_LIMITS: &str =
    "max_delete = \"100%\"\nmax_modify = \"100%\"\nmax_loss = \"100%\"\nmax_by_cause = \"100%\"\n";

/// Shares of zones that a small fleet sets, and no other limit.
pub const SHARES: &str = "max_delete = \"10%\"\nmax_modify = \"30%\"\nmax_loss = \"100%\"\nmax_by_cause = \"100%\"\n";

/// Settings with which nothing that is set is in the way of anything.
pub fn unguarded() -> Settings {
    let changes = "max_shrink = \"100%\", max_churn = \"100%\"";
    let any = format!("max_age = \"none\", {changes}");
    Settings {
        limits: NO_LIMITS.to_owned(),
        hosts: any.clone(),
        l3_tors: any.clone(),
        net_layout: any.clone(),
        ipv4_map: any,
        agent: changes.replace(", ", "\n"),
        ..Settings::default()
    }
}
