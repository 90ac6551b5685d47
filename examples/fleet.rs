//! Writes a large, consistent workspace to measure zonewright with.
//!
//! ```text
//! cargo run --release --example fleet -- --hosts 100000 --drift 0.005 --seed 1 /tmp/fleet
//! ```
//!
//! Comes in: a number of hosts, the share of them that live DNS has wrong, and a seed. Goes out: every file that a
//! workspace needs, with live DNS as master files, four records a host: an AAAA and a PTR for each of two interfaces.
//! The inventory has no errors, so a plan changes the drifted hosts and no others, and blocks no host.
//!
//! The same arguments give the same bytes. Hosts are written one by one as they are made up, so that memory does not
//! grow with their number.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use clap::{Parser, ValueEnum};
use ipnet::{IpNet, Ipv6Net};
use zonewright::dns::ZoneName;
use zonewright::dns::reverse::reverse_zone;
use zonewright::inventory::value::{HbfProjectId, Inv, Mac, Net64};

/// The clock that the workspace is made for: its reports are from the hours before.
pub const NOW: &str = "2026-11-20T02:00:00Z";

/// The zone of all names.
const FORWARD_ZONE: &str = "search.example.net.";

/// The datacenters; racks go round them.
pub const LOCATIONS: [&str; 5] = ["sas", "vla", "myt", "iva", "man"];

/// Hosts in a rack: one switch, and so one /64 for each VLAN.
pub const RACK: u32 = 48;

/// Of this many racks of a datacenter, one is in its L2 segment: the second, so that small fleets have one too.
const L2_EVERY: u32 = 10;

/// The VLAN of the backbone.
const MAIN: u16 = 604;

/// The VLAN of the fastbone.
const FASTBONE: u16 = 761;

/// The part of addresses before the MAC's last 32 bits.
const PROJECT: HbfProjectId = HbfProjectId(0x1478);

/// The TTL of the project, in seconds.
pub const TTL: u32 = 600;

/// The TTL of an RRset whose TTL has drifted, in seconds.
const DRIFTED_TTL: u32 = 3600;

/// The inventory number of the first host; the others follow one by one.
const FIRST_INV: u64 = 100_000;

/// The first subnet number in a reverse zone that no rack has.
const L2_SUBNETS: u32 = 0xff00;

/// The first subnet number in a reverse zone for addresses that carry IPv4 addresses.
const IPV4_SUBNETS: u32 = 0xff80;

/// Write a large workspace to measure zonewright with: the inventory of a consistent fleet, and its live DNS as master
/// files in which a share of the hosts has drifted.
///
/// The fleet has one project (scheme `search`: backbone and fastbone), five datacenters, racks of 48 hosts, nine of
/// ten racks in L3 segments. A third of the hosts is in names.lock. A host has four live records.
#[derive(Debug, Parser)]
#[command(name = "fleet", version)]
pub struct Args {
    /// How many hosts.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_500_000))]
    hosts: u32,

    /// The share of hosts of which live DNS has something wrong; exactly this share, picked by the seed. Each gets
    /// one of: an AAAA that is missing or wrong, a PTR that is missing, wrong, or left at a former address, another
    /// TTL.
    #[arg(long, default_value = "0.005", value_name = "SHARE")]
    drift: Share,

    /// The share of hosts that have an A record too, and so an address from ipv4-map.txt (one more live record each).
    #[arg(long, default_value = "0.001", value_name = "SHARE")]
    ipv4: Share,

    /// What all chance comes from: another seed has other hosts drift, and reports made at other times.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,

    /// Over how many reverse zones, a /48 each, the racks are spread.
    #[arg(long, default_value_t = 16, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    reverse_zones: u32,

    /// Where zonewright.toml says that live DNS is. The master files are written in either case: with `rfc2136`, load
    /// them into the server.
    #[arg(long, value_enum, default_value_t = Provider::Zonefile)]
    provider: Provider,

    /// The server's address.
    #[arg(long, value_name = "ADDR:PORT", required_if_eq("provider", "rfc2136"))]
    server: Option<SocketAddr>,

    /// The name of the TSIG key (hmac-sha256).
    #[arg(long, value_name = "NAME", required_if_eq("provider", "rfc2136"))]
    key_name: Option<String>,

    /// The file that holds the key's secret; zonewright.toml gets its absolute path.
    #[arg(long, value_name = "FILE", required_if_eq("provider", "rfc2136"))]
    key_file: Option<PathBuf>,

    /// The folder to write; it is made, and must be empty if it exists.
    outdir: PathBuf,
}

/// Where live DNS is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Provider {
    /// The master files themselves.
    Zonefile,
    /// A server, by zone transfer.
    Rfc2136,
}

/// A share of the hosts, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        match text.parse() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Share(share)),
            _ => Err("a share is a number from 0 to 1, such as 0.005".to_owned()),
        }
    }
}

impl Share {
    /// How many of `whole` that is, rounded to the nearest.
    fn of(self, whole: u32) -> u32 {
        (self.0 * f64::from(whole)).round() as u32
    }
}

/// Writes what the command line says, and tells how much that is.
fn main() -> ExitCode {
    let args = Args::parse();
    tell(&args.outdir, write_workspace(&args))
}

/// Tells what was written to a folder, or why not all was; gives the exit code.
pub fn tell(outdir: &Path, written: io::Result<impl fmt::Display>) -> ExitCode {
    match written {
        Ok(written) => {
            print!("{written}");
            println!("plan it: zonewright plan -C {} --now {NOW}", outdir.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: error: {error}", outdir.display());
            ExitCode::FAILURE
        }
    }
}

/// Writes all files.
pub fn write_workspace(args: &Args) -> io::Result<Written> {
    make_empty(&args.outdir, &["projects", "racktables", "agents", "zones"])?;
    let plan = AddressPlan { reverse_zones: args.reverse_zones };
    fs::write(args.outdir.join("zonewright.toml"), config(args, &plan)?)?;
    fs::write(args.outdir.join("projects/search.yaml"), project())?;
    write_networks(args, &plan)?;

    let mut inventory = InventoryFiles::create(&args.outdir)?;
    let mut live = LiveFiles::create(&args.outdir.join("zones"), &plan)?;
    let mut drifting = Picker::new(args.drift, args.hosts);
    let mut with_ipv4 = Picker::new(args.ipv4, args.hosts);
    let mut random = Random(args.seed);
    for index in 0..args.hosts {
        let host = Host::make(index, with_ipv4.picks(&mut random), &plan, &mut random);
        inventory.write(&host, &mut random)?;
        let drift = drifting.picks(&mut random).then(|| random.of(&Drift::ALL));
        live.write(&host, drift, &mut random)?;
    }
    inventory.finish()?;
    live.finish(args.hosts)
}

/// Makes a workspace with these folders; refuses one that holds anything, for old files would mix with the new.
pub fn make_empty(outdir: &Path, folders: &[&str]) -> io::Result<()> {
    fs::create_dir_all(outdir)?;
    if fs::read_dir(outdir)?.next().is_some() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder is not empty; remove it or name another"));
    }
    folders.iter().try_for_each(|folder| fs::create_dir(outdir.join(folder)))
}

/// The text of zonewright.toml.
fn config(args: &Args, plan: &AddressPlan) -> io::Result<String> {
    let mut text = format!(
        r#"# Made by `cargo run --example fleet`: {} hosts, seed {}. Plan it with --now {NOW}.

owner = "fleet-dns"
free_domain = "free.invalid"

[sources]
projects   = "projects/*.yaml"
hosts      = "racktables/hosts.csv"
l3_tors    = "racktables/l3-tors.txt"
net_layout = "racktables/net-layout.xml"
ipv4_map   = "racktables/ipv4-map.txt"

[[sources.mac]]
name = "agent"
path = "agents/agent-*.jsonl"

[[sources.mac]]
name = "eine"
path = "agents/eine-*.jsonl"
max_age = "12h"

[project.search]
dns_domain = "{FORWARD_ZONE}"
automation = "allowed"

[pool.main]
[[pool.main.target]]
{}
[[zone]]
name = "{FORWARD_ZONE}"
pool = "main"
permission = "full"
"#,
        args.hosts,
        args.seed,
        target(args)?
    );
    for zone in 0..args.reverse_zones {
        let network = plan.zone_network(zone);
        text.push_str(&format!("\n[[zone]]\nnetwork = \"{network}\"\npool = \"main\"\npermission = \"full\"\n"));
    }
    Ok(text)
}

/// The keys of the target.
fn target(args: &Args) -> io::Result<String> {
    match (args.provider, args.server, &args.key_name, &args.key_file) {
        (Provider::Rfc2136, Some(server), Some(key_name), Some(key_file)) => {
            let path = std::path::absolute(key_file)?;
            let path = path.to_str().ok_or_else(|| io::Error::other("--key-file: TOML can name UTF-8 paths only"))?;
            Ok(format!(
                "type = \"rfc2136\"\nserver = \"{server}\"\n\
                 tsig_key = {{ name = {}, algorithm = \"hmac-sha256\", secret_file = {} }}\n",
                quoted(key_name),
                quoted(path)
            ))
        }
        _ => Ok("type = \"zonefile\"\ndir = \"zones\"\n".to_owned()),
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The text of the project file.
fn project() -> String {
    format!(
        r#"id: search
shortname_template: "{{location}}-{{index:06}}"
vlan_scheme: search
vlans: {{main: {MAIN}, fastbone: {FASTBONE}}}
hbf_project_id: "{PROJECT}"
ttl: {TTL}
automation: true
policy: repair
"#
    )
}

/// Writes l3-tors.txt, net-layout.xml and ipv4-map.txt.
fn write_networks(args: &Args, plan: &AddressPlan) -> io::Result<()> {
    let folder = args.outdir.join("racktables");
    let generated = "2026-11-20T01:00:00Z";

    let mut tors = BufWriter::new(File::create(folder.join("l3-tors.txt"))?);
    writeln!(tors, "# generated: {generated}")?;
    // A rack that is in an L2 segment must not be listed: its absence here is what makes it one.
    for rack in (0..args.hosts.div_ceil(RACK)).map(Rack).filter(|rack| !rack.is_l2()) {
        writeln!(tors, "{rack} {MAIN} {}", plan.rack(rack, Interface::Backbone).network)?;
        writeln!(tors, "{rack} {FASTBONE} {}", plan.rack(rack, Interface::Fastbone).network)?;
    }
    tors.flush()?;

    let mut layout = BufWriter::new(File::create(folder.join("net-layout.xml"))?);
    let mut map = BufWriter::new(File::create(folder.join("ipv4-map.txt"))?);
    writeln!(layout, "<net-layout generated=\"{generated}\">")?;
    writeln!(map, "# generated: {generated}")?;
    for (location, name) in LOCATIONS.iter().enumerate() {
        writeln!(layout, "  <datacenter name=\"{name}\">")?;
        for (vlan, interface) in [(MAIN, Interface::Backbone), (FASTBONE, Interface::Fastbone)] {
            let [first, second] = plan.l2(location, interface).map(|subnet| subnet.network);
            writeln!(layout, "    <vlan id=\"{vlan}\"><network>{first}</network><network>{second}</network></vlan>")?;
        }
        writeln!(layout, "  </datacenter>")?;
        let [whole, part] = plan.ipv4(location).map(|subnet| subnet.network);
        writeln!(map, "10.0.0.0/8 {name} {MAIN} {whole}\n10.0.0.0/16 {name} {MAIN} {part}")?;
    }
    writeln!(layout, "</net-layout>")?;
    layout.flush()?;
    map.flush()
}

/// Which network is where: a /48 of 2a02:6b8::/40 for each reverse zone, a /64 for each rack and interface.
pub struct AddressPlan {
    /// How many reverse zones there are, 1 to 256.
    pub reverse_zones: u32,
}

/// A /64 and the reverse zone that contains it.
#[derive(Clone, Copy)]
pub struct Subnet {
    /// The number of the reverse zone.
    zone: u32,
    /// The network.
    network: Net64,
}

/// An address and the reverse zone that contains it.
#[derive(Clone, Copy)]
pub struct Address {
    /// The number of the reverse zone.
    pub zone: u32,
    /// The address.
    pub address: Ipv6Addr,
}

impl Subnet {
    /// An address in this network.
    pub fn address(self, interface_id: u64) -> Address {
        Address { zone: self.zone, address: self.network.address(interface_id) }
    }
}

impl Address {
    /// A neighbour that no host has: what no project id gives.
    fn former(self) -> Address {
        Address { address: Ipv6Addr::from(u128::from(self.address) ^ 1 << 32), ..self }
    }

    /// The reverse name relative to the apex of a /48's zone: its last 20 nibbles, the lowest first.
    pub fn relative_reverse_name(self) -> [u8; 39] {
        let value = u128::from(self.address);
        std::array::from_fn(|at| match at % 2 {
            0 => b"0123456789abcdef"[(value >> (2 * at)) as usize & 0xf],
            _ => b'.',
        })
    }
}

/// One of a host's two interfaces.
#[derive(Clone, Copy)]
pub enum Interface {
    /// The main one.
    Backbone,
    /// The second one.
    Fastbone,
}

impl AddressPlan {
    /// The network of a reverse zone.
    pub fn zone_network(&self, zone: u32) -> Ipv6Net {
        Ipv6Net::new_assert(Ipv6Addr::from((0x2a02_06b8_u128 << 32 | u128::from(zone) << 16) << 64), 48)
    }

    /// The apex of a reverse zone.
    pub fn zone_name(&self, zone: u32) -> ZoneName {
        reverse_zone(IpNet::V6(self.zone_network(zone))).expect("48 is a multiple of 4")
    }

    /// The network with this number, up to 65 535, in a reverse zone.
    fn subnet(&self, zone: u32, number: u32) -> Subnet {
        let zone = zone % self.reverse_zones;
        let address = u128::from(self.zone_network(zone).addr()) | u128::from(number) << 64;
        let network = Net64::new(Ipv6Net::new_assert(Ipv6Addr::from(address), 64)).expect("no bits of a host are set");
        Subnet { zone, network }
    }

    /// The network of an interface in a rack of an L3 segment; racks go round the zones.
    pub fn rack(&self, rack: Rack, interface: Interface) -> Subnet {
        // 1 500 000 hosts are 31 250 racks: even in one zone their numbers end below those of the L2 segments.
        self.subnet(rack.0 % self.reverse_zones, rack.0 / self.reverse_zones * 2 + interface as u32)
    }

    /// The networks of an interface in the L2 segment of a datacenter, the preferred first.
    fn l2(&self, location: usize, interface: Interface) -> [Subnet; 2] {
        let first = L2_SUBNETS + 4 * location as u32 + 2 * interface as u32;
        [first, first + 1].map(|number| self.subnet(location as u32, number))
    }

    /// The networks for 10.0.0.0/8 and for 10.0.0.0/16 in a datacenter.
    fn ipv4(&self, location: usize) -> [Subnet; 2] {
        let first = IPV4_SUBNETS + 2 * location as u32;
        [first, first + 1].map(|number| self.subnet(location as u32, number))
    }
}

/// A rack, by number; displays as the name of its switch.
#[derive(Clone, Copy)]
pub struct Rack(pub u32);

impl Rack {
    /// Its datacenter's place in [`LOCATIONS`].
    pub fn location(self) -> usize {
        self.0 as usize % LOCATIONS.len()
    }

    /// Its number within the datacenter.
    fn in_location(self) -> u32 {
        self.0 / LOCATIONS.len() as u32
    }

    /// Whether it is in its datacenter's L2 segment.
    fn is_l2(self) -> bool {
        self.in_location() % L2_EVERY == 1
    }
}

impl fmt::Display for Rack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.in_location();
        let kind = if self.is_l2() { 'e' } else { 's' };
        write!(f, "{}{}-{kind}{}", LOCATIONS[self.location()], number / 40 + 1, number % 40 + 1)
    }
}

/// One host, as the inventory has it and as live DNS should.
struct Host {
    /// Its number, from 0.
    index: u32,
    /// Its inventory number.
    inv: Inv,
    /// Its rack.
    rack: Rack,
    /// Its place in the rack, from 1.
    slot: u32,
    /// The first label of its name.
    short_name: String,
    /// Its MAC.
    mac: Mac,
    /// Its A record.
    ipv4: Option<Ipv4Addr>,
    /// Its backbone's address.
    backbone: Address,
    /// Its fastbone's address.
    fastbone: Address,
}

impl Host {
    /// Makes a host up.
    fn make(index: u32, with_ipv4: bool, plan: &AddressPlan, random: &mut Random) -> Host {
        let rack = Rack(index / RACK);
        let location = rack.location();
        let slot = index % RACK + 1;
        // Multiplying by an odd number permutes the 32 bits, so that no two hosts share them: addresses have only these bits.
        let low = index.wrapping_mul(0x9e37_79b1);
        let vendor = random.of(&[[0x78, 0xe3], [0x00, 0x25], [0xac, 0x1f], [0x3c, 0xec]]);
        let [a, b, c, d] = low.to_be_bytes();
        let mac = Mac::from_octets([vendor[0], vendor[1], a, b, c, d]).expect("no vendor's prefix has the group bit");
        let interface_id = u64::from(PROJECT.0) << 32 | u64::from(low);
        let address = |interface, choice: usize| {
            if rack.is_l2() {
                plan.l2(location, interface)[choice].address(interface_id)
            } else {
                plan.rack(rack, interface).address(interface_id)
            }
        };
        // Whichever network of an L2 segment a host has its address in, it keeps; new ones get the first.
        let choice = usize::from(random.below(4) == 0);
        let ipv4 = with_ipv4.then(|| Ipv4Addr::from_bits(10 << 24 | index));
        let backbone = match ipv4 {
            Some(ipv4) => {
                let longest_match = usize::from(ipv4.octets()[1] == 0);
                plan.ipv4(location)[longest_match].address(u64::from(ipv4.to_bits()))
            }
            None => address(Interface::Backbone, choice),
        };
        Host {
            index,
            inv: Inv(FIRST_INV + u64::from(index)),
            rack,
            slot,
            short_name: format!("{}-{:06}", LOCATIONS[location], rack.in_location() * RACK + slot),
            mac,
            ipv4,
            backbone,
            fastbone: address(Interface::Fastbone, choice),
        }
    }

    /// Its datacenter.
    fn location(&self) -> &'static str {
        LOCATIONS[self.rack.location()]
    }
}

/// The files of the inventory that grow with the hosts.
struct InventoryFiles {
    /// hosts.csv.
    hosts: BufWriter<File>,
    /// names.lock.
    lock: BufWriter<File>,
    /// The agents' reports, a file for each of [`LOCATIONS`].
    agent: Vec<BufWriter<File>>,
    /// The other source of MACs.
    eine: BufWriter<File>,
}

impl InventoryFiles {
    /// Creates the files.
    fn create(outdir: &Path) -> io::Result<InventoryFiles> {
        let create = |path: &str| File::create(outdir.join(path)).map(BufWriter::new);
        let mut hosts = create("racktables/hosts.csv")?;
        writeln!(hosts, "inv,name,project,status,location,queue,rack,switch,port,restrictions")?;
        let agent = LOCATIONS.iter().map(|location| create(&format!("agents/agent-{location}.jsonl")));
        Ok(InventoryFiles {
            hosts,
            lock: create("names.lock")?,
            agent: agent.collect::<io::Result<_>>()?,
            eine: create("agents/eine-2026-11-19.jsonl")?,
        })
    }

    /// Writes the rows of a host; hosts come in order of their inventory numbers.
    fn write(&mut self, host: &Host, random: &mut Random) -> io::Result<()> {
        let Host { index, inv, rack, slot, short_name, .. } = host;
        let (location, number) = (host.location(), rack.0);
        let name = format!("{short_name}.{}", FORWARD_ZONE.trim_end_matches('.'));
        writeln!(self.hosts, "{inv},{name},search,assigned,{location},search-prod,R{number},{rack},ge1/0/{slot},")?;
        if index % 3 == 0 {
            writeln!(self.lock, "{inv}\t{name}\tsearch\t2026-10-05T09:00:00Z\t-")?;
        }
        let seconds = 50 * 60 + random.below(20 * 60);
        let agent = &mut self.agent[rack.location()];
        write_report(agent, "2026-11-20", seconds, host)?;
        if index % 2 == 0 {
            let seconds = 20 * 3600 + random.below(3600);
            write_report(&mut self.eine, "2026-11-19", seconds, host)?;
        }
        Ok(())
    }

    /// Writes what is still buffered.
    fn finish(self) -> io::Result<()> {
        let files = [self.hosts, self.lock, self.eine].into_iter().chain(self.agent);
        files.into_iter().try_for_each(|mut file| file.flush())
    }
}

/// Writes a report of the host's MAC, made so many seconds after midnight.
fn write_report(out: &mut impl Write, date: &str, seconds: u32, host: &Host) -> io::Result<()> {
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let Host { inv, mac, rack, slot, .. } = host;
    writeln!(
        out,
        r#"{{"time":"{date}T{hour:02}:{minute:02}:{second:02}Z","inv":{inv},"mac":"{mac}","switch":"{rack}","port":"ge1/0/{slot}"}}"#
    )
}

/// What live DNS has wrong about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drift {
    /// There is no AAAA.
    MissingAddress,
    /// The AAAA is a former one.
    WrongAddress,
    /// There is no PTR.
    MissingPtr,
    /// The PTR names something else.
    WrongPtr,
    /// There is a second PTR at a former address.
    StalePtr,
    /// The AAAA has another TTL.
    Ttl,
}

impl Drift {
    /// All kinds, each as likely as the others.
    const ALL: [Drift; 6] =
        [Drift::MissingAddress, Drift::WrongAddress, Drift::MissingPtr, Drift::WrongPtr, Drift::StalePtr, Drift::Ttl];

    /// What it is called in the summary.
    fn name(self) -> &'static str {
        match self {
            Drift::MissingAddress => "missing AAAA",
            Drift::WrongAddress => "wrong AAAA",
            Drift::MissingPtr => "missing PTR",
            Drift::WrongPtr => "wrong PTR",
            Drift::StalePtr => "stale PTR",
            Drift::Ttl => "TTL",
        }
    }
}

/// The master files.
struct LiveFiles {
    /// The forward zone.
    forward: BufWriter<File>,
    /// The reverse zones.
    reverse: Vec<BufWriter<File>>,
    /// How many records were written, without SOA and NS.
    records: u64,
    /// How many hosts drifted in each way of [`Drift::ALL`].
    drifted: [u32; Drift::ALL.len()],
}

impl LiveFiles {
    /// Creates the files.
    fn create(folder: &Path, plan: &AddressPlan) -> io::Result<LiveFiles> {
        let apexes = (0..plan.reverse_zones).map(|zone| plan.zone_name(zone).to_string());
        Ok(LiveFiles {
            forward: create_zone(folder, FORWARD_ZONE)?,
            reverse: apexes.map(|apex| create_zone(folder, &apex)).collect::<io::Result<_>>()?,
            records: 0,
            drifted: Default::default(),
        })
    }

    /// Writes the records of a host.
    fn write(&mut self, host: &Host, drift: Option<Drift>, random: &mut Random) -> io::Result<()> {
        let [backbone, fastbone] = match drift {
            Some(drift) => {
                self.drifted[drift as usize] += 1;
                random.of(&[[Some(drift), None], [None, Some(drift)]])
            }
            None => [None, None],
        };
        if let Some(ipv4) = host.ipv4 {
            writeln!(self.forward, "{} A {ipv4}", host.short_name)?;
            self.records += 1;
        }
        self.write_interface(&host.short_name, host.backbone, backbone)?;
        self.write_interface(&format!("fb-{}", host.short_name), host.fastbone, fastbone)
    }

    /// Writes the records of an interface.
    fn write_interface(&mut self, label: &str, address: Address, drift: Option<Drift>) -> io::Result<()> {
        match drift {
            Some(Drift::MissingAddress) => {}
            Some(Drift::WrongAddress) => self.write_aaaa(label, "", address.former())?,
            Some(Drift::Ttl) => self.write_aaaa(label, &format!("{DRIFTED_TTL} "), address)?,
            _ => self.write_aaaa(label, "", address)?,
        }
        match drift {
            Some(Drift::MissingPtr) => {}
            Some(Drift::WrongPtr) => self.write_ptr(address, &format!("old-{label}"))?,
            _ => self.write_ptr(address, label)?,
        }
        if drift == Some(Drift::StalePtr) {
            self.write_ptr(address.former(), label)?;
        }
        Ok(())
    }

    /// Writes an AAAA record; `ttl` ends in a blank where there is one.
    fn write_aaaa(&mut self, label: &str, ttl: &str, address: Address) -> io::Result<()> {
        self.records += 1;
        writeln!(self.forward, "{label} {ttl}AAAA {}", address.address)
    }

    /// Writes a PTR record that names a host of the forward zone.
    fn write_ptr(&mut self, address: Address, label: &str) -> io::Result<()> {
        self.records += 1;
        let zone = &mut self.reverse[address.zone as usize];
        zone.write_all(&address.relative_reverse_name())?;
        writeln!(zone, " PTR {label}.{FORWARD_ZONE}")
    }

    /// Writes what is still buffered, and tells what was written.
    fn finish(self, hosts: u32) -> io::Result<Written> {
        let zones = 1 + self.reverse.len();
        std::iter::once(self.forward).chain(self.reverse).try_for_each(|mut zone| zone.flush())?;
        Ok(Written { hosts, zones, records: self.records, drifted: self.drifted })
    }
}

/// Creates a master file with its head: SOA and NS.
pub fn create_zone(folder: &Path, apex: &str) -> io::Result<BufWriter<File>> {
    let mut zone = BufWriter::new(File::create(folder.join(format!("{apex}zone")))?);
    writeln!(zone, "$ORIGIN {apex}\n$TTL {TTL}")?;
    writeln!(zone, "@ SOA ns1.example.net. hostmaster.example.net. 2026112001 3600 900 2419200 600")?;
    writeln!(zone, "@ NS ns1.example.net.")?;
    Ok(zone)
}

/// What was written, for the report at the end.
pub struct Written {
    /// Hosts.
    hosts: u32,
    /// Zones.
    zones: usize,
    /// Live records, without SOA and NS.
    records: u64,
    /// Drifted hosts, in each way of [`Drift::ALL`].
    drifted: [u32; Drift::ALL.len()],
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> =
            Drift::ALL.iter().zip(self.drifted).map(|(drift, hosts)| format!("{} {hosts}", drift.name())).collect();
        writeln!(f, "hosts: {}", self.hosts)?;
        writeln!(f, "live records: {} in {} zones (SOA and NS not counted)", self.records, self.zones)?;
        writeln!(f, "drifted hosts: {} ({})", self.drifted.iter().sum::<u32>(), kinds.join(", "))
    }
}

/// Picks an exact number of hosts out of all, each set of that size as likely as any other, in one pass.
///
/// Source: Knuth, The Art of Computer Programming, volume 2, section 3.4.2, algorithm S.
pub struct Picker {
    /// How many are still to be picked.
    wanted: u32,
    /// How many are still to come.
    left: u32,
}

impl Picker {
    /// Picks a share of the hosts.
    pub fn new(share: Share, hosts: u32) -> Picker {
        Picker { wanted: share.of(hosts), left: hosts }
    }

    /// Whether the next host is picked.
    pub fn picks(&mut self, random: &mut Random) -> bool {
        let is_picked = random.below(self.left) < self.wanted;
        self.wanted -= u32::from(is_picked);
        self.left -= 1;
        is_picked
    }
}

/// Random numbers: SplitMix64.
///
/// Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, which is over 0; every one as likely, but for 2⁻³² or so.
    fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }

    /// One of some values.
    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }
}
