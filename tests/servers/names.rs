//! The life of names on real servers: hosts get them, give them up and get others; after each apply DNS holds exactly
//! the names that hosts have, and the records of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;
use std::process::Output;

use crate::rig::{Applied, Rig, key_of, marker_name, text_of};
use crate::server::Kind;
use crate::workspace::{stderr, zonewright};

on_every_primary! {
    dns_holds_exactly_the_names_that_hosts_have_by_the_journal
    dns_holds_exactly_the_names_that_hosts_have_by_txt
}

/// When the first hosts come.
const BEGIN: &str = "2026-11-20T02:00:00Z";

/// When some give up their names.
const RELEASE: &str = "2026-11-21T02:00:00Z";

/// The last moment at which those names are not given to any host: `name_cooldown` is 7 days.
const COOLING: &str = "2026-11-28T02:00:00Z";

/// The first moment at which they are.
const COOLED: &str = "2026-11-28T02:00:01Z";

/// The number before that of the first host.
const BEFORE_FIRST: u64 = 100_000;

/// The hosts that come first, within the cooldown, and after it.
const FIRST: std::ops::RangeInclusive<u64> = 100_001..=100_200;
const WITHIN: std::ops::RangeInclusive<u64> = 100_201..=100_250;
const AFTER: std::ops::RangeInclusive<u64> = 100_251..=100_300;

/// The numbers of short names with records of others.
const FOREIGN: [u64; 5] = [3, 5, 7, 11, 13];

/// The records of others: an alias, an address at what would be a fastbone's name, a text, a mail exchange, a
/// delegation.
const OF_OTHERS: &str = "sas0-0003 CNAME www.elsewhere.test.
fb-sas0-0005 A 192.0.2.5
sas0-0007 TXT \"kept\"
sas0-0011 MX 10 mail.elsewhere.test.
sas0-0013 NS ns.elsewhere.test.
www AAAA 2001:db8::1
";

/// The settings but for the registry; every guard is on that a fleet would have.
const SETTINGS: &str = "owner = \"fleet-dns\"
name_cooldown = \"7d\"
[sources]
projects = \"p.yaml\"
hosts = { path = \"hosts.csv\", max_shrink = \"5%\", min_rows = 100 }
l3_tors = \"l3\"
net_layout = \"layout.xml\"
ipv4_map = \"map\"
[[sources.mac]]
name = \"agent\"
path = \"macs.jsonl\"
max_age = \"12h\"
[project.p]
dns_domain = \"example.net\"
automation = \"allowed\"
[pool.main]
[[pool.main.target]]
type = \"zonefile\"
dir = \"zones\"
[[zone]]
name = \"example.net\"
pool = \"main\"
permission = \"own\"
[[zone]]
network = \"2a02:6b8::/32\"
pool = \"main\"
permission = \"own\"
[limits]
hosts = [{ period = \"1h\", max = 200 }]
max_delete = \"25%\"
max_modify = \"1%\"
";

/// The project file: two interfaces a host.
const PROJECT: &str = "id: p
vlan_scheme: search
vlans: {main: 604, fastbone: 761}
hbf_project_id: \"1478\"
ttl: 600
automation: true
";

/// What begins both zones.
const HEAD: &str = "$TTL 600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
";

/// A network of another place, where no host is.
const LAYOUT: &str = "<net-layout><datacenter name=\"myt\"><vlan id=\"1\"><network>2a02:6b8:0:9::/64</network></vlan>\
                      </datacenter></net-layout>\n";

/// The zones, without the final dot.
const ZONES: [&str; 2] = ["example.net", "8.b.6.0.2.0.a.2.ip6.arpa"];

/// The state says which RRsets are own.
fn dns_holds_exactly_the_names_that_hosts_have_by_the_journal(kind: Kind) {
    assert_life(kind, "journal");
}

/// DNS says which RRsets are own, by a TXT next to each.
fn dns_holds_exactly_the_names_that_hosts_have_by_txt(kind: Kind) {
    assert_life(kind, "txt");
}

/// Lets hosts come, go and come.
fn assert_life(kind: Kind, registry: &str) {
    let Some(mut life) = Life::begin(kind, registry) else { return };
    let names = life.names(&["allocate"], BEGIN);
    assert_eq!(names.len(), 200);
    let free: Vec<u64> = (1..).filter(|number| !FOREIGN.contains(number)).take(200).collect();
    assert_given(&names, FIRST.zip(free.iter().copied()));
    life.apply(BEGIN, &names);

    let released: Vec<u64> = FIRST.filter(|inv| inv % 4 == 1).collect();
    let (gone, kept) = released.split_at(25);
    life.hosts.extend(gone.iter().map(|inv| (*inv, "free")));
    let mut args = vec!["release".to_owned()];
    args.extend(gone.iter().map(u64::to_string));
    args.extend(kept.iter().map(|inv| names[inv].clone()));
    let freed: BTreeSet<String> = released.iter().map(|inv| names[inv].clone()).collect();
    let names = life.names(&args, RELEASE);
    assert!(released.iter().all(|inv| names[inv] == format!("free-{inv}.free.invalid.")), "{names:?}");
    life.apply(RELEASE, &names);

    life.hosts.extend(WITHIN.map(|inv| (inv, "assigned")));
    let mut args = vec!["allocate".to_owned()];
    args.extend(WITHIN.map(|inv| inv.to_string()));
    let names = life.names(&args, COOLING);
    assert_given(&names, WITHIN.zip(free[199] + 1..));
    assert!(names.values().all(|name| !freed.contains(name)), "{names:?}");
    life.apply(COOLING, &names);

    // Only the new hosts wait for a name.
    life.hosts.extend(released.iter().map(|inv| (*inv, "free")));
    life.hosts.extend(AFTER.map(|inv| (inv, "assigned")));
    let names = life.names(&["allocate"], COOLED);
    let lowest: Vec<String> = AFTER.map(|inv| names[&inv].clone()).collect();
    assert_eq!(lowest, freed.into_iter().collect::<Vec<_>>(), "the lowest first, in the order of the hosts");
    life.apply(COOLED, &names);
    assert_eq!(life.tombstones(), 0, "what is over goes at the next write");
}

/// Checks which hosts have which numbers.
fn assert_given(names: &BTreeMap<u64, String>, expected: impl Iterator<Item = (u64, u64)>) {
    for (inv, number) in expected {
        assert_eq!(names[&inv], name(number), "host {inv}");
    }
}

/// The name of a number.
fn name(number: u64) -> String {
    format!("sas0-{number:04}.example.net.")
}

/// A fleet whose hosts come and go.
struct Life {
    /// The server and the workspace.
    rig: Rig,
    /// Whether own RRsets have TXT.
    has_txt: bool,
    /// The status of each host.
    hosts: BTreeMap<u64, &'static str>,
    /// The records in DNS without any host.
    base: BTreeSet<String>,
}

impl Life {
    /// Begins with the first hosts, none of which has a name; `None` where the kind of server is not installed.
    fn begin(kind: Kind, registry: &str) -> Option<Life> {
        let files = tempfile::tempdir().expect("a folder");
        write(files.path(), registry);
        let rig = Rig::of_files(kind, files.path())?;
        let hosts = FIRST.map(|inv| (inv, "assigned")).collect();
        let mut life = Life { rig, has_txt: registry == "txt", hosts, base: BTreeSet::new() };
        life.base = life.records();
        Some(life)
    }

    /// Runs a command on the workspace as it is at a time: MACs were reported an hour before.
    fn run(&self, args: &[impl AsRef<str>], now: &str) -> Output {
        let folder = self.rig.workspace.path();
        let rows: String =
            self.hosts.iter().map(|(inv, status)| format!("{inv},,p,{status},sas,q,r,s1,ge1,\n")).collect();
        let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
        fs::write(folder.join("hosts.csv"), format!("{header}{rows}")).expect("a file");
        let time = now.replace("T02:", "T01:");
        let macs = self.hosts.keys().map(|inv| {
            let id = inv - BEFORE_FIRST;
            format!("{{\"time\":\"{time}\",\"inv\":{inv},\"mac\":\"02000000{id:04x}\"}}\n")
        });
        fs::write(folder.join("macs.jsonl"), macs.collect::<String>()).expect("a file");
        let mut command = zonewright();
        command.args(["--color", "never", "--now", now, "-C"]).arg(folder);
        command.args(args.iter().map(AsRef::as_ref)).output().expect("the program runs")
    }

    /// Has names given or freed; gives all names that hosts have then.
    fn names(&self, args: &[impl AsRef<str>], now: &str) -> BTreeMap<u64, String> {
        let before = self.records();
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).chain(["--write"]).collect();
        let output = self.run(&args, now);
        assert_eq!(output.status.code(), Some(0), "{}{}", text_of(&output.stdout), stderr(&output));
        assert_eq!(self.records(), before, "names alone change nothing in DNS");
        let rows = self.rows();
        let current = rows.iter().filter(|row| row[4] == "-");
        let names: BTreeMap<u64, String> =
            current.clone().map(|row| (row[0].parse().expect("a number"), format!("{}.", row[1]))).collect();
        assert_eq!(names.len(), current.count(), "a host has one name");
        assert_eq!(names.values().collect::<BTreeSet<_>>().len(), names.len(), "a name is one host's");
        names
    }

    /// The rows of names.lock.
    fn rows(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.rig.workspace.path().join("names.lock")).expect("names.lock");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    /// How many rows of names.lock are about names that were given up.
    fn tombstones(&self) -> usize {
        self.rows().iter().filter(|row| row[4] != "-").count()
    }

    /// Applies; checks that DNS holds the records of these names then, and nothing else of ours.
    fn apply(&self, now: &str, names: &BTreeMap<u64, String>) {
        let planned = self.run(&["plan", "--detailed-exitcode"], now);
        assert_eq!(planned.status.code(), Some(2), "{}{}", text_of(&planned.stdout), stderr(&planned));
        Applied::new(self.run(&["-q", "apply", "--yes", "--format", "json"], now)).assert_all(0, "applied");
        let mut expected = self.base.clone();
        for (inv, name) in names.iter().filter(|(_, name)| !name.contains("free.invalid.")) {
            for (name, network) in [(name.clone(), 1), (format!("fb-{name}"), 2)] {
                expected.extend(self.interface(&name, network, inv - BEFORE_FIRST));
            }
        }
        let found = self.records();
        let missing: Vec<_> = expected.difference(&found).take(5).collect();
        let surplus: Vec<_> = found.difference(&expected).take(5).collect();
        assert!(missing.is_empty() && surplus.is_empty(), "{now}: missing {missing:#?}, surplus {surplus:#?}");
        let planned = self.run(&["plan", "--detailed-exitcode"], now);
        assert_eq!(planned.status.code(), Some(0), "{}{}", text_of(&planned.stdout), stderr(&planned));
    }

    /// The records of an interface.
    fn interface(&self, name: &str, network: u16, id: u64) -> Vec<String> {
        let address = Ipv6Addr::new(0x2a02, 0x6b8, 0, network, 0, 0x1478, 0, id as u16);
        let digits: Vec<String> =
            address.octets().iter().rev().map(|octet| format!("{:x}.{:x}", octet & 15, octet >> 4)).collect();
        let reverse = format!("{}.ip6.arpa.", digits.join("."));
        let mut records = vec![format!("{name} 600 AAAA {address}"), format!("{reverse} 600 PTR {name}")];
        if self.has_txt {
            let txt = |owner: String| format!("{owner} 600 TXT \"heritage=external-dns,external-dns/owner=fleet-dns\"");
            records.extend([txt(format!("aaaa-{name}")), txt(format!("ptr-{reverse}"))]);
        }
        records
    }

    /// All records of the zones but the markers, as `dig` transfers them.
    fn records(&self) -> BTreeSet<String> {
        let zones = self.rig.all_zones();
        let of_zone = |(zone, found): (&String, &crate::rig::Zone)| {
            let marker = (marker_name(zone), "TXT".to_owned());
            found.records.iter().filter(|line| key_of(line) != marker).cloned().collect::<Vec<_>>()
        };
        zones.iter().flat_map(of_zone).collect()
    }
}

/// Writes a workspace without hosts.
fn write(folder: &Path, registry: &str) {
    fs::create_dir(folder.join("zones")).expect("a folder");
    let files = [
        ("zonewright.toml", format!("registry = \"{registry}\"\n{SETTINGS}")),
        ("p.yaml", PROJECT.to_owned()),
        ("l3", "s1 604 2a02:6b8:0:1::/64\ns1 761 2a02:6b8:0:2::/64\n".to_owned()),
        ("layout.xml", LAYOUT.to_owned()),
        ("map", "192.0.2.0/24 myt 1 2a02:6b8:0:9::/64\n".to_owned()),
        (&format!("zones/{}.zone", ZONES[0]), format!("{HEAD}ns1 A 192.0.2.53\n{OF_OTHERS}")),
        (&format!("zones/{}.zone", ZONES[1]), HEAD.to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
}
