//! A workspace from zones that a server gave, or that are in a folder: one host for each name that looks like a host's.
//!
//! What zones do not say is made up in a visible way: numbers from 1, switches called `replace-me`, one VLAN.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::IpNet;

use super::fleet::{FoundFleet, FoundHost};
use super::project::StarterProject;
use super::settings::{StarterAdmin, StarterPool, StarterSettings, StarterSource, StarterZone, commented};
use super::{ImportTarget, SETTINGS, Starter, StarterFile, common, count, editors, fresh_slug, plain, some};
use crate::dns::reverse::{is_reverse, reverse_name};
use crate::dns::{Name, Rtype, ZoneContents, ZoneName};
use crate::inventory::config::toml::quoted;
use crate::inventory::sources::HOSTS_HEADER;
use crate::inventory::value::{Net64, Time};
use crate::live::Live;
use crate::target::marker_key;

/// The location that all hosts get.
const LOCATION: &str = "unknown";

/// The VLAN that all networks get.
const VLAN: u16 = 1;

/// The name of switches that are not known, before their number.
const SWITCH: &str = "replace-me";

/// The folder of the snapshot.
pub const SNAPSHOT: &str = "zones";

/// What a workspace is made from.
#[derive(Debug)]
pub struct ImportBasis<'a> {
    /// The zones that could be read.
    pub live: &'a Live,
    /// The reverse zones that are there and could not be read, each with the reason; none where it is not known which
    /// there are.
    pub unread: &'a [(Option<ZoneName>, String)],
    /// The clock.
    pub now: Time,
    /// The owner of the records.
    pub owner: &'a str,
    /// Where the zones are.
    pub origin: ImportSource<'a>,
}

/// Where zones are.
#[derive(Debug, Clone, Copy)]
pub enum ImportSource<'a> {
    /// At a target.
    Target(&'a ImportTarget),
    /// In folders of master files, each with its zones.
    Folders(&'a [(String, Vec<ZoneName>)]),
}

/// The hosts with what is made up for them.
struct NumberedHosts {
    /// The fleet.
    fleet: FoundFleet,
    /// The number of the made-up switch of each network.
    switches: BTreeMap<Net64, usize>,
    /// The id of the project of each zone with hosts.
    projects: BTreeMap<ZoneName, String>,
}

impl NumberedHosts {
    /// Numbers the hosts of zones.
    fn of(live: &Live) -> NumberedHosts {
        let fleet = FoundFleet::of(live);
        let networks: BTreeSet<Net64> = fleet.hosts.iter().filter_map(|host| host.network).collect();
        let switches = networks.into_iter().zip(1..).collect();
        let mut projects: BTreeMap<ZoneName, String> = BTreeMap::new();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for zone in fleet.hosts.iter().map(|host| &host.zone) {
            if !projects.contains_key(zone) {
                let id = fresh_slug(&plain(zone.as_name()), &mut taken);
                projects.insert(zone.clone(), id);
            }
        }
        NumberedHosts { fleet, switches, projects }
    }

    /// The hosts, each with its number.
    fn hosts(&self) -> impl Iterator<Item = (usize, &FoundHost)> {
        (1..).zip(&self.fleet.hosts)
    }

    /// The made-up switch of a host; nothing where it has no network.
    fn switch(&self, host: &FoundHost) -> String {
        let number = host.network.map(|network| self.switches[&network]);
        number.map(|number| format!("{SWITCH}-{number}")).unwrap_or_default()
    }

    /// The rows of ipv4-map: each address alone, so that no other host is meant.
    fn embedded(&self) -> BTreeMap<std::net::Ipv4Addr, Net64> {
        self.fleet.hosts.iter().flat_map(FoundHost::embedded).collect()
    }
}

/// Makes a workspace of zones; none where no name in them looks like a host's.
pub fn make(basis: &ImportBasis<'_>) -> Result<Starter, FoundFleet> {
    let numbered = NumberedHosts::of(basis.live);
    if numbered.fleet.hosts.is_empty() {
        return Err(numbered.fleet);
    }
    let settings = settings(basis, &numbered);
    let mut files =
        vec![StarterFile::new(SETTINGS, "zones, target, sources, what each project may do", settings.to_text())];
    files.extend(projects(&numbered));
    files.push(hosts_csv(&numbered));
    files.extend(l3_tors(basis, &numbered));
    files.extend(ipv4_map(basis, &numbered));
    files.extend(reports(basis, &numbered));
    let secrets = match basis.origin {
        ImportSource::Target(target) => target.secrets(),
        ImportSource::Folders(_) => Vec::new(),
    };
    files.extend(editors::schemas());
    files.extend(common::for_git(&secrets));
    Ok(Starter { files, basis: told(basis, &numbered), remarks: remarks(basis, &numbered) })
}

/// The settings.
fn settings(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> StarterSettings {
    let source = |key, path: &str, about| StarterSource { key, paths: vec![path.to_owned()], about };
    let mut sources = vec![source("hosts", "hosts.csv", "one row a host")];
    if !numbered.switches.is_empty() {
        sources.push(source("l3_tors", "l3-tors.txt", "switch and VLAN to the one /64 behind it"));
    }
    if !numbered.embedded().is_empty() {
        sources.push(source("ipv4_map", "ipv4-map.txt", "where a host with an A record has its IPv6 address"));
    }
    let has_macs = numbered.fleet.hosts.iter().any(|host| host.mac.is_some());
    let about = "read out of EUI-64 addresses; replace it with your agents' reports";
    let macs = has_macs.then(|| ("from-dns".to_owned(), "agents/*.jsonl".to_owned(), about.to_owned()));
    let from = match basis.origin {
        ImportSource::Target(target) => target.called(),
        ImportSource::Folders(_) => "the zone files in this folder".to_owned(),
    };
    let head = vec![
        format!("Made by `zonewright init` on {} from {from}.", basis.now.to_second()),
        "DNS does not have inventory numbers, switches, VLAN and locations, so these were made up. Replace them with \
         the exports of your inventory before the first `apply`; until then only plan. `zonewright help` lists the \
         commands."
            .to_owned(),
    ];
    let zones = basis.live.zones().filter_map(|(_, zone)| zone.contents());
    StarterSettings {
        head,
        owner: basis.owner.to_owned(),
        projects: vec!["projects/*.yaml".to_owned()],
        sources,
        records: Vec::new(),
        macs: macs.into_iter().collect(),
        admins: admins(numbered),
        pools: pools(basis.origin),
        zones: zones.map(|contents| zone(basis.origin, contents)).collect(),
    }
}

/// The pools.
pub(super) fn pools(origin: ImportSource<'_>) -> Vec<StarterPool> {
    let kind = |kind: &str, about: &str| (format!("type = {}", quoted(kind)), about.to_owned());
    match origin {
        ImportSource::Target(target) => {
            vec![StarterPool { name: "main".to_owned(), about: target.about(), target: target.settings() }]
        }
        ImportSource::Folders(folders) => {
            let pool = |(number, (folder, _)): (usize, &(String, Vec<ZoneName>))| StarterPool {
                name: pool_name(number),
                about: vec![format!("The master files in {folder}/: live DNS without a server.")],
                target: vec![
                    kind(
                        "zonefile",
                        "for a server: `rfc2136`, with `server` and `tsig_key`; for a cloud see docs/start.md",
                    ),
                    (format!("dir = {}", quoted(folder)), "holds APEX.zone for each zone".to_owned()),
                ],
            };
            folders.iter().enumerate().map(pool).collect()
        }
    }
}

/// What the pool of a folder is called.
pub fn pool_name(number: usize) -> String {
    if number == 0 { "main".to_owned() } else { format!("folder-{}", number + 1) }
}

/// The settings of a zone.
fn zone(origin: ImportSource<'_>, contents: &ZoneContents) -> StarterZone {
    let number = match origin {
        ImportSource::Target(_) => 0,
        ImportSource::Folders(folders) => {
            folders.iter().position(|(_, zones)| zones.contains(contents.apex())).unwrap_or_default()
        }
    };
    StarterZone { name: contents.apex().clone(), pool: pool_name(number), ttl: commonest_ttl(contents) }
}

/// The TTL that most RRsets have which hosts get: AAAA and PTR; the lowest of several.
fn commonest_ttl(contents: &ZoneContents) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for rrset in contents.rrsets().filter(|rrset| matches!(rrset.rtype(), Rtype::AAAA | Rtype::PTR)) {
        *counts.entry(rrset.ttl().as_secs()).or_default() += 1;
    }
    // Of equal counts `max_by_key` gives the last.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(ttl, _)| ttl)
}

/// The administrator's halves.
fn admins(numbered: &NumberedHosts) -> Vec<StarterAdmin> {
    let admin = |(zone, id): (&ZoneName, &String)| {
        let mut domains: BTreeMap<Name, usize> = BTreeMap::new();
        for host in numbered.fleet.hosts.iter().filter(|host| host.zone == *zone) {
            *domains.entry(host.domain()).or_default() += 1;
        }
        let mut domains: Vec<(Name, usize)> = domains.into_iter().collect();
        domains.sort_by_key(|(domain, count)| (std::cmp::Reverse(*count), domain.to_string()));
        let mut domains = domains.iter().map(|(domain, _)| plain(domain.as_name()));
        let dns_domain = domains.next().expect("a project has a host");
        let note = Some(format!(
            "All hosts of the zone {}: split them into projects as they have owners.",
            plain(zone.as_name())
        ));
        StarterAdmin { id: id.clone(), dns_domain, also_domains: domains.collect(), note }
    };
    numbered.projects.iter().map(admin).collect()
}

/// The project files.
fn projects(numbered: &NumberedHosts) -> Vec<StarterFile> {
    let project = |(zone, id): (&ZoneName, &String)| {
        let bits = numbered.fleet.shared_bits(zone);
        let shared_bits = bits.iter().max_by_key(|(_, count)| *count).map(|(bits, count)| {
            format!(
                "{count} hosts have addresses with the same 32 bits behind the network, {bits:x}. If these are the \
                 project's id, and the last 32 bits come from the MAC, set hbf_project_id: \"{bits:x}\" and give MAC \
                 reports. zonewright does not assume it."
            )
        });
        let project = StarterProject {
            listed: None,
            id: id.clone(),
            head: vec![format!("The hosts of the zone {}.", plain(zone.as_name()))],
            vlan: Some((
                VLAN,
                format!("Made up, as in l3-tors.txt: all networks are VLAN {VLAN} until you give the real ones."),
            )),
            automation: (true, "The owner's switch; the administrator's is in zonewright.toml.".to_owned()),
            shared_bits,
        };
        project.to_file(&format!("projects/{id}.yaml"))
    };
    numbered.projects.iter().map(project).collect()
}

/// hosts.csv.
fn hosts_csv(numbered: &NumberedHosts) -> StarterFile {
    let mut text = format!(
        "{HOSTS_HEADER}\n\
         # inv was made up, from 1: give the numbers of your inventory before the first apply, as the journal knows hosts by them.\n\
         # location and switch were made up, too: {SWITCH}-N is the switch of the Nth network in l3-tors.txt.\n"
    );
    for (inv, host) in numbered.hosts() {
        let (name, project) = (plain(host.name.as_name()), &numbered.projects[&host.zone]);
        text.push_str(&format!("{inv},{name},{project},assigned,{LOCATION},,,{},,\n", numbered.switch(host)));
    }
    StarterFile::new("hosts.csv", count(numbered.fleet.hosts.len(), "host", "hosts"), text)
}

/// The first line of a file that no export job renews. It is no date of an export: that would be too old in a few days.
fn made_once(basis: &ImportBasis<'_>) -> String {
    format!("# From the zones, as of {}.\n", basis.now.to_second())
}

/// l3-tors.txt.
fn l3_tors(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> Option<StarterFile> {
    let mut text = made_once(basis);
    text.push_str(&commented(
        "SWITCH VLAN NETWORK. One row for each /64 in which hosts have addresses. The switches and VLAN 1 are made up: \
         replace them with the real ones.",
    ));
    for (network, number) in &numbered.switches {
        text.push_str(&format!("{SWITCH}-{number}  {VLAN}  {network}\n"));
    }
    let networks = count(numbered.switches.len(), "network", "networks");
    (!numbered.switches.is_empty()).then(|| StarterFile::new("l3-tors.txt", networks, text))
}

/// ipv4-map.txt.
fn ipv4_map(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> Option<StarterFile> {
    let pairs = numbered.embedded();
    let mut text = made_once(basis);
    text.push_str(&commented(
        "IPV4-NETWORK LOCATION VLAN IPV6-NETWORK: where a host with an A record has its IPv6 address. One row for each \
         pair that was seen, so that it applies to no other host; replace the rows with your own networks.",
    ));
    for (v4, network) in &pairs {
        text.push_str(&format!("{v4}/32  {LOCATION}  {VLAN}  {network}\n"));
    }
    let about = count(pairs.len(), "address of IPv4", "addresses of IPv4");
    (!pairs.is_empty()).then(|| StarterFile::new("ipv4-map.txt", about, text))
}

/// The MAC reports.
fn reports(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> Option<StarterFile> {
    let mut text = commented(
        "The MACs that addresses are made of (EUI-64), dated when they were read. They say what DNS said then: replace \
         them with the reports of your agents.",
    );
    let time = basis.now.to_second();
    let mut reports = 0;
    for (inv, mac) in numbered.hosts().filter_map(|(inv, host)| Some((inv, host.mac?))) {
        text.push_str(&format!("{{\"time\":\"{time}\",\"inv\":{inv},\"mac\":\"{mac}\"}}\n"));
        reports += 1;
    }
    let about = count(reports, "MAC, read out of an address", "MACs, read out of addresses");
    (reports > 0).then(|| StarterFile::new("agents/from-dns.jsonl", about, text))
}

/// What it was made from.
fn told(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> Vec<String> {
    let zones = |reverse: bool| -> Vec<String> {
        let names = basis.live.zones().filter(|(_, zone)| zone.contents().is_some()).map(|(_, zone)| zone.name());
        names.filter(|name| is_reverse(name.as_name()) == reverse).map(|name| plain(name.as_name())).collect()
    };
    let (forward, reverse) = (zones(false), zones(true));
    let hosts = &numbered.fleet.hosts;
    let mut told = vec![format!("{}: {}", count(forward.len(), "zone", "zones"), some(&forward))];
    if !reverse.is_empty() {
        told.push(format!("{}: {}", count(reverse.len(), "reverse zone", "reverse zones"), some(&reverse)));
    }
    let with_mac = hosts.iter().filter(|host| host.mac.is_some()).count();
    told.push(format!("{}, {with_mac} with a MAC in an address (EUI-64)", count(hosts.len(), "host", "hosts")));
    for (reason, names) in &numbered.fleet.others {
        let names: Vec<&str> = names.iter().map(|name| name.trim_end_matches('.')).collect();
        told.push(format!("{} ignored ({reason}): {}", count(names.len(), "name", "names"), some(&names)));
    }
    told
}

/// What is missing or was guessed.
fn remarks(basis: &ImportBasis<'_>, numbered: &NumberedHosts) -> Vec<String> {
    let fleet = &numbered.fleet;
    let mut remarks = without_reverse(basis, fleet);
    remarks.extend(of_hosts(fleet));
    for (zone, id) in &numbered.projects {
        if let Some((bits, hosts)) = fleet.shared_bits(zone).iter().max_by_key(|(_, count)| *count) {
            remarks.push(format!(
                "{hosts} hosts of project {id} have {bits:x} behind their network: if that is a project id, say so in \
                 projects/{id}.yaml."
            ));
        }
    }
    if let ImportSource::Target(target) = basis.origin {
        remarks.extend(target.unfound());
    }
    remarks.extend(not_plain(basis.live));
    remarks.extend(marked(basis.live));
    remarks.push(
        "Inventory numbers, switches, VLAN and locations are made up. Every zone has `permission = \"own\"`, so \
         zonewright removes and changes only what it created."
            .to_owned(),
    );
    remarks
}

/// What is missing or was guessed of hosts that a plan blocks for it.
fn of_hosts(fleet: &FoundFleet) -> Vec<String> {
    let named =
        |hosts: Vec<&FoundHost>| -> Vec<String> { hosts.iter().map(|host| plain(host.name.as_name())).collect() };
    let mut remarks = Vec::new();
    let no_network: Vec<_> =
        fleet.hosts.iter().filter(|host| !host.v4.is_empty() && host.embedded().is_empty()).collect();
    if !no_network.is_empty() {
        let hosts = count(no_network.len(), "host has", "hosts have");
        remarks.push(format!(
            "{hosts} an A record, but no IPv6 address that ends with the same 32 bits: {}. zonewright derives such an \
             address for each host with an A record. Until ipv4-map has its network, the plan blocks such a host \
             (`no-ipv4-network`) and changes nothing for it.",
            some(&named(no_network))
        ));
    }
    let no_mac: Vec<_> = fleet.hosts.iter().filter(|host| host.v4.is_empty() && host.mac.is_none()).collect();
    if !no_mac.is_empty() {
        let hosts = count(no_mac.len(), "host has", "hosts have");
        remarks.push(format!(
            "{hosts} an address that is not made from a MAC: {}. The plan blocks such a host (`no-mac`) until a report \
             gives its MAC.",
            some(&named(no_mac))
        ));
    }
    let several: Vec<_> = fleet.hosts.iter().filter(|host| host.v4.is_empty() && host.addresses.len() > 1).collect();
    if !several.is_empty() {
        let hosts = count(several.len(), "host has", "hosts have");
        remarks.push(format!(
            "{hosts} two IPv6 addresses: {}. zonewright derives one of them, and did not create the other. The plan \
             blocks such a host (`not-owner`) and changes no address.",
            some(&named(several))
        ));
    }
    let shared = fleet.shared_macs();
    if !shared.is_empty() {
        let macs: Vec<_> = shared.keys().collect();
        remarks.push(format!(
            "{} in the addresses of several names: {}. The plan blocks these hosts (`duplicate-mac`). If the names are \
             interfaces of one host, keep only one of their rows in hosts.csv.",
            count(shared.len(), "MAC is", "MACs are"),
            some(&macs)
        ));
    }
    remarks
}

/// What the zones hold that no record says, and that is in no file.
pub(super) fn not_plain(live: &Live) -> Option<String> {
    let all = live.zones().flat_map(|(_, zone)| zone.opaque());
    let names: Vec<String> = all.map(|own| format!("{} ({})", plain(own.owner.as_name()), own.what)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} what is no plain record, and is not in the files: {}. zonewright shows it (`explain`, `doctor`) and \
             never touches it.",
            count(names.len(), "name has", "names have"),
            some(&names)
        )
    })
}

/// What to know where zonewright wrote before.
pub(super) fn marked(live: &Live) -> Option<String> {
    let marked = live
        .zones()
        .map(|(_, zone)| zone.name())
        .filter(|zone| marker_key(zone).is_some_and(|key| live.rrset(key.owner.as_name(), key.rtype).is_some()));
    let marked: Vec<String> = marked.map(|zone| plain(zone.as_name())).collect();
    (!marked.is_empty()).then(|| {
        format!(
            "A marker in {} shows that zonewright wrote there before. The state of those runs lists the records that \
             zonewright created: copy that state here (.zonewright/). Without it, `apply` refuses until an operator \
             runs `zonewright state init --reason TEXT`.",
            some(&marked)
        )
    })
}

/// The networks in which hosts have addresses, and no reverse zone could be read.
fn without_reverse(basis: &ImportBasis<'_>, fleet: &FoundFleet) -> Vec<String> {
    let ImportBasis { live, unread, .. } = basis;
    let mut hosts: BTreeMap<IpNet, usize> = BTreeMap::new();
    for host in &fleet.hosts {
        let of_host: BTreeSet<IpNet> = host
            .addresses
            .iter()
            .filter(|address| live.zone_of(reverse_name(IpAddr::V6(**address)).as_name()).is_none())
            .map(|address| subnet(IpAddr::V6(*address)))
            .collect();
        of_host.into_iter().for_each(|network| *hosts.entry(network).or_default() += 1);
    }
    let mut remarks: Vec<String> = unread
        .iter()
        .map(|(zone, why)| match zone {
            Some(zone) => format!(
                "The server has the reverse zone {}, but it could not be read: {why}. Fix that, then add it to \
                 zonewright.toml, as a [[zone]].",
                plain(zone.as_name())
            ),
            None => format!("The server could not be asked which reverse zones it has: {why}."),
        })
        .collect();
    if !hosts.is_empty() {
        let networks: Vec<_> = hosts.keys().collect();
        let count_of_hosts: usize = hosts.values().sum();
        remarks.push(format!(
            "No reverse zone was read for {}: {}. The plan blocks the {} there (`no-zone`), because it publishes no \
             address without its PTR. Add a [[zone]] with the network, and a pool that serves it.",
            count(networks.len(), "network", "networks"),
            some(&networks),
            count(count_of_hosts, "host", "hosts"),
        ));
    }
    remarks
}

/// The network of an address that is asked for, to find its reverse zone: a /64, or a /24 of IPv4.
pub fn subnet(address: IpAddr) -> IpNet {
    let length = if address.is_ipv6() { 64 } else { 24 };
    IpNet::new(address, length).expect("the length is one of prefixes").trunc()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter::fleet::tests::live;

    /// The workspace of zones on a server.
    fn made(live: &Live, unread: &[(Option<ZoneName>, String)]) -> Starter {
        let now = "2026-11-20T02:00:00.5Z".parse().unwrap();
        let target = ImportTarget::NameServer { server: "ns1.example.net".to_owned(), key: None };
        let origin = ImportSource::Target(&target);
        make(&ImportBasis { live, unread, now, owner: "test", origin }).unwrap()
    }

    /// The text of a file.
    fn text<'s>(starter: &'s Starter, path: &str) -> &'s str {
        let file = starter.files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("no {path} in {:?}", starter.files)).text
    }

    /// The lines of a text that are no comments.
    fn rows(text: &str) -> Vec<&str> {
        text.lines().filter(|line| !line.starts_with('#')).collect()
    }

    #[test]
    fn what_zones_do_not_say_is_made_up_in_a_visible_way() {
        let zone = "b AAAA 2001:db8:0:2:200:5eff:fe00:5302\na.dc AAAA 2001:db8:0:1:200:5eff:fe00:5301\n\
                    c 900 AAAA 2001:db8:0:2::c000:201\nc A 192.0.2.1\n";
        let live = live(&[("example.net", zone), ("8.b.d.0.1.0.0.2.ip6.arpa", "x TXT \"x\"\n")]);
        let starter = made(&live, &[]);
        assert_eq!(
            rows(text(&starter, "hosts.csv")),
            [
                "inv,name,project,status,location,queue,rack,switch,port,restrictions",
                "1,a.dc.example.net,example-net,assigned,unknown,,,replace-me-1,,",
                "2,b.example.net,example-net,assigned,unknown,,,replace-me-2,,",
                "3,c.example.net,example-net,assigned,unknown,,,replace-me-2,,",
            ]
        );
        let tors = text(&starter, "l3-tors.txt");
        assert!(tors.starts_with("# From the zones, as of 2026-11-20T02:00:00Z.\n"), "{tors}");
        assert_eq!(rows(tors), ["replace-me-1  1  2001:db8:0:1::/64", "replace-me-2  1  2001:db8:0:2::/64"]);
        assert_eq!(rows(text(&starter, "ipv4-map.txt")), ["192.0.2.1/32  unknown  1  2001:db8:0:2::/64"]);
        assert_eq!(
            rows(text(&starter, "agents/from-dns.jsonl")),
            [
                "{\"time\":\"2026-11-20T02:00:00Z\",\"inv\":1,\"mac\":\"00:00:5e:00:53:01\"}",
                "{\"time\":\"2026-11-20T02:00:00Z\",\"inv\":2,\"mac\":\"00:00:5e:00:53:02\"}",
            ]
        );
        let settings = text(&starter, SETTINGS);
        for line in
            ["dns_domain = \"example.net\"", "also_domains = [\"dc.example.net\"]", "ttl = 300", "# tsig_key = {"]
        {
            assert!(settings.contains(&format!("\n{line}")), "{line}\n{settings}");
        }
        assert_eq!(settings.matches("\npermission = \"own\"").count(), 2);
    }

    #[test]
    fn networks_without_a_reverse_zone_are_reported_with_what_that_means() {
        let live = live(&[(
            "example.net",
            "a AAAA 2001:db8::1\nb AAAA 2001:db8::2\nb AAAA 2001:db8::3\n_zonewright TXT \"e=1 p=x b=1\"\n",
        )]);
        let zone = ZoneName::new(Name::parse("8.b.d.0.1.0.0.2.ip6.arpa").unwrap());
        let unread = [(Some(zone), "the server answers REFUSED".to_owned()), (None, "no connection".to_owned())];
        let remarks = made(&live, &unread).remarks.join("\n");
        for part in [
            "has the reverse zone 8.b.d.0.1.0.0.2.ip6.arpa, but it could not be read: the server answers REFUSED.",
            "could not be asked which reverse zones it has: no connection.",
            "No reverse zone was read for 1 network: 2001:db8::/64. The plan blocks the 2 hosts there (`no-zone`)",
            "A marker in example.net shows that zonewright wrote there before.",
            "2 hosts have an address that is not made from a MAC: a.example.net, b.example.net.",
            "1 host has two IPv6 addresses: b.example.net. zonewright derives one of them",
        ] {
            assert!(remarks.contains(part), "{part}\n{remarks}");
        }
    }

    #[test]
    fn zones_without_hosts_make_no_workspace() {
        let live = live(&[("example.net", "@ AAAA 2001:db8::1\n")]);
        let now = "2026-11-20T02:00:00Z".parse().unwrap();
        let basis = ImportBasis { live: &live, unread: &[], now, owner: "test", origin: ImportSource::Folders(&[]) };
        assert_eq!(make(&basis).unwrap_err().others.len(), 1);
    }
}
