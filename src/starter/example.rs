//! A workspace for an empty folder: a fleet of four hosts, small enough to be read whole, in which a plan has changes.

use super::project::StarterProject;
use super::settings::{StarterAdmin, StarterPool, StarterSettings, StarterSource, StarterZone};
use super::{SETTINGS, Starter, StarterFile, common, editors};
use crate::dns::{Name, ZoneName};
use crate::inventory::sources::HOSTS_HEADER;
use crate::inventory::value::Time;

/// The addresses are of networks, and the MACs of a range, that documents may use (RFC 3849, RFC 7042 section 2.1.2).
const HOSTS: &str = "\
# 1 is as it should be; 2 is new; the MAC of 3 is not known yet; 4 has no name (`zonewright allocate` gives it one).\n\
1,dc0-0001.example.net,example,assigned,dc,,,switch-1,,\n\
2,dc0-0002.example.net,example,assigned,dc,,,switch-1,,\n\
3,dc0-0003.example.net,example,assigned,dc,,,switch-2,,\n\
4,,example,assigned,dc,,,switch-2,,\n";

/// Which network is behind which switch.
const L3_TORS: &str = "\
# SWITCH  VLAN  NETWORK: the one /64 behind a switch.\n\
switch-1  1  2001:db8:0:1::/64\n\
switch-2  1  2001:db8:0:2::/64\n";

/// The forward zone.
const FORWARD: &str = "\
; Replaces live DNS: what the servers of example.net would answer.\n\
$TTL 3600\n\
@         SOA   ns.example.net. hostmaster.example.net. 1 3600 600 604800 3600\n\
@         NS    ns.example.net.\n\
ns        AAAA  2001:db8::53\n\
; entered by hand: no rule changes it\n\
www       AAAA  2001:db8:0:1::80\n\
dc0-0001  AAAA  2001:db8:0:1:200:5eff:fe00:5301\n";

/// The reverse zone.
const REVERSE: &str = "\
$TTL 3600\n\
@  SOA  ns.example.net. hostmaster.example.net. 1 3600 600 604800 3600\n\
@  NS   ns.example.net.\n\
1.0.3.5.0.0.e.f.f.f.e.5.0.0.2.0.1.0.0.0.0.0.0.0  PTR  dc0-0001.example.net.\n";

/// Makes the workspace; the reports in it are of `now`.
pub fn make(owner: &str, now: Time) -> Starter {
    let settings = settings(owner);
    let project = StarterProject {
        id: "example".to_owned(),
        head: vec!["The example project. Its id is that of [project.example] in zonewright.toml, and of its hosts in hosts.csv.".to_owned()],
        vlan: Some((1, "The VLAN of the hosts' interface: with the switch it says in which network a host is.".to_owned())),
        automation: (true, "The owner's switch; the administrator's is in zonewright.toml, and both must be on.".to_owned()),
        listed: None,
        shared_bits: None,
    };
    let mut files = vec![
        StarterFile::new(SETTINGS, "zones, sources, what each project may do", settings.to_text()),
        project.to_file("projects/example.yaml"),
        StarterFile::new("exports/hosts.csv", "one row a host", format!("{HOSTS_HEADER}\n{HOSTS}")),
        StarterFile::new("exports/l3-tors.txt", "switch and VLAN to network", L3_TORS.to_owned()),
        StarterFile::new("agents/example.jsonl", "which MAC a host has", reports(now)),
        StarterFile::new("zones/example.net.zone", "live DNS, until you name a server", FORWARD.to_owned()),
        StarterFile::new("zones/8.b.d.0.1.0.0.2.ip6.arpa.zone", "its reverse zone", REVERSE.to_owned()),
    ];
    files.extend(editors::schemas());
    files.extend(common::for_git(&[]));
    let basis = vec!["no exports were found here: this is an example of four hosts".to_owned()];
    let remarks = vec![
        "Every file says what is in it. Replace the example's exports with yours, or begin with the zones of your \
         server: `zonewright init --from-axfr SERVER ZONE`, in another folder. For zones in \
         Route 53, Azure or Cloud Map docs/start.md says how."
            .to_owned(),
    ];
    Starter { files, basis, remarks }
}

/// The settings.
fn settings(owner: &str) -> StarterSettings {
    let source = |key, path: &str, about| StarterSource { key, paths: vec![path.to_owned()], about };
    let zone = |text: &str| {
        let name = Name::parse(text).expect("a constant name");
        StarterZone { name: ZoneName::new(name), pool: "main".to_owned(), ttl: None }
    };
    StarterSettings {
        head: vec![
            "An example of zonewright's settings: `zonewright plan` works as it is. This file is the administrator's; \
             what the owners of projects decide is in projects/."
                .to_owned(),
        ],
        owner: owner.to_owned(),
        projects: vec!["projects/*.yaml".to_owned()],
        sources: vec![
            source("hosts", "exports/hosts.csv", "one row a host"),
            source("l3_tors", "exports/l3-tors.txt", "switch and VLAN to the one /64 behind it"),
        ],
        records: Vec::new(),
        macs: vec![("agent".to_owned(), "agents/*.jsonl".to_owned(), "what the agents on the hosts report".to_owned())],
        admins: vec![StarterAdmin {
            id: "example".to_owned(),
            dns_domain: "example.net".to_owned(),
            also_domains: Vec::new(),
            note: None,
        }],
        pools: vec![StarterPool {
            name: "main".to_owned(),
            about: vec!["A folder of master files, so that no server is needed. For a server, type = \"rfc2136\" with `server` and `tsig_key`; docs/start.md has that, and the same for Route 53, Azure and Cloud Map.".to_owned()],
            target: vec![
                ("type = \"zonefile\"".to_owned(), "what the target is".to_owned()),
                ("dir = \"zones\"".to_owned(), "holds APEX.zone for each zone".to_owned()),
            ],
        }],
        zones: vec![zone("example.net"), zone("8.b.d.0.1.0.0.2.ip6.arpa")],
    }
}

/// The MAC reports.
fn reports(now: Time) -> String {
    let time = now.to_second();
    let report = |inv: u8, last: u8| {
        format!("{{\"time\":\"{time}\",\"inv\":{inv},\"mac\":\"00:00:5e:00:53:{last:02x}\",\"switch\":\"switch-1\"}}\n")
    };
    format!(
        "# One report a line: when, which host, which MAC, and behind which switch.\n{}{}",
        report(1, 1),
        report(2, 2)
    )
}
