//! A plain fleet of any number of hosts: one project, one interface, one /64, and its two zones.

use std::fs;
use std::path::Path;

/// The forward zone.
pub const ZONE: &str = "example.net.";

/// The apex of the reverse zone, that of 2a02:6b8:0:1::/64, without the final dot.
pub const REVERSE_APEX: &str = "1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa";

/// The settings; live DNS is the folder `zones`.
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
[pool.main]
[[pool.main.target]]
type = \"zonefile\"
dir = \"zones\"
[[zone]]
name = \"example.net\"
pool = \"main\"
permission = \"full\"
[[zone]]
network = \"2a02:6b8:0:1::/64\"
pool = \"main\"
permission = \"full\"
[limits]
max_modify = \"100%\"
max_loss = \"100%\"
";

/// What begins the forward zone.
const FORWARD: &str = "$TTL 600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
";

/// The reverse zone: no host has a pointer yet.
const REVERSE: &str = "$TTL 600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
";

/// A network of another place, where no host is.
const LAYOUT: &str = "<net-layout><datacenter name=\"myt\"><vlan id=\"1\"><network>2a02:6b8:0:2::/64</network></vlan>\
                      </datacenter></net-layout>\n";

/// Writes the workspace. In the forward zone every host has an address that it is not to have.
pub fn write(folder: &Path, hosts: usize) {
    let rows = (0..hosts).map(|host| format!("{},h{host}.example.net,p,assigned,sas,,,s1,,\n", host + 1));
    let rows: String = rows.collect();
    let records: String = (0..hosts).map(|host| format!("h{host} AAAA 2a02:6b8:0:1::{:x}\n", host + 1)).collect();
    fs::create_dir(folder.join("zones")).expect("a folder");
    let files = [
        ("zonewright.toml", SETTINGS.to_owned()),
        ("p.yaml", "id: p\nvlan_scheme: static\nvlans: {main: 604}\nttl: 600\nautomation: true\n".to_owned()),
        ("hosts.csv", format!("inv,name,project,status,location,queue,rack,switch,port,restrictions\n{rows}")),
        ("l3", "s1 604 2a02:6b8:0:1::/64\n".to_owned()),
        ("layout.xml", LAYOUT.to_owned()),
        ("map", "192.0.2.0/24 myt 1 2a02:6b8:0:2::/64\n".to_owned()),
        ("zones/example.net.zone", format!("{FORWARD}{records}")),
        (&format!("zones/{REVERSE_APEX}.zone"), REVERSE.to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
    write_macs(folder, (0..hosts).map(|host| format!("ac1f6b{host:06x}")));
}

/// Writes which MACs the hosts have, the first host's first.
pub fn write_macs(folder: &Path, macs: impl Iterator<Item = String>) {
    let report = |(host, mac): (usize, String)| {
        format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{},\"mac\":\"{mac}\"}}\n", host + 1)
    };
    fs::write(folder.join("macs.jsonl"), macs.enumerate().map(report).collect::<String>()).expect("a file");
}

/// The name of a host.
pub fn host_name(host: usize) -> String {
    format!("h{host}.{ZONE}")
}
