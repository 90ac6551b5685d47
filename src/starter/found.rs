//! A workspace around the exports in a folder: the settings point at them, and each project gets a file.

use std::collections::{BTreeMap, BTreeSet};

use ipnet::Ipv6Net;

use super::imported::pool_name;
use super::project::StarterProject;
use super::recognise::{FileKind, HostRow, ListedFacts};
use super::settings::{StarterAdmin, StarterPool, StarterSettings, StarterSource, StarterZone};
use super::stated::StatedFiles;
use super::{
    SETTINGS, Starter, StarterFile, common, count, editors, example, folder_of, fresh_slug, in_folder, parent, plain,
    slug, some,
};
use crate::dns::reverse::reverse_zone;
use crate::dns::{Name, ZoneName};
use crate::inventory::config::toml::quoted;
use crate::inventory::value::Time;
use crate::provider::file_name;

/// Where stand-ins for zones are put.
const STAND_INS: &str = "zones";

/// Where project files are put that there are none of.
const PROJECTS: &str = "projects";

/// A file that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecognisedFile {
    /// Its path in the folder, with slashes.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
}

/// Everything that was recognised, by what it is.
#[derive(Debug, Default)]
struct SortedFiles {
    /// The files of hosts, and their rows.
    hosts: (Vec<String>, Vec<HostRow>),
    /// The files of l3-tors, the VLANs of each switch, and the networks.
    l3_tors: (Vec<String>, BTreeMap<String, BTreeSet<u16>>, BTreeSet<Ipv6Net>),
    /// The files of net-layout.
    net_layout: Vec<String>,
    /// The files of ipv4-map.
    ipv4_map: Vec<String>,
    /// The files of addresses, and what is in them.
    addresses: (Vec<String>, ListedFacts),
    /// The files of MAC reports.
    macs: BTreeSet<String>,
    /// The project files, by id.
    projects: BTreeMap<String, String>,
    /// The files that state records.
    stated: StatedFiles,
}

/// The folders of master files, each with its zones; a zone that is in several belongs to the first.
pub fn zone_folders(found: &[RecognisedFile]) -> Vec<(String, Vec<ZoneName>)> {
    let mut folders: BTreeMap<String, Vec<ZoneName>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for RecognisedFile { path, kind } in found {
        if let FileKind::Zone(zone) = kind
            && seen.insert(zone.clone())
        {
            folders.entry(folder_of(path)).or_default().push(zone.clone());
        }
    }
    folders.into_iter().collect()
}

/// Whether any hosts were found.
pub fn has_hosts(found: &[RecognisedFile]) -> bool {
    found.iter().any(|found| matches!(&found.kind, FileKind::Hosts(rows) if !rows.is_empty()))
}

/// Whether any files were found that state records.
pub fn has_records(found: &[RecognisedFile]) -> bool {
    found.iter().any(|found| matches!(&found.kind, FileKind::Manifests(_) | FileKind::YamlZone(_)))
}

/// Makes a workspace around what was found; an example where neither hosts nor records were.
pub fn make(found: &[RecognisedFile], owner: &str, now: Time) -> Starter {
    if !has_hosts(found) && !has_records(found) {
        return example_beside(found, owner, now);
    }
    let mut sorted = SortedFiles::default();
    for RecognisedFile { path, kind } in found {
        sorted.take(path, kind);
    }
    let zones = zone_folders(found);
    let mut domains = CommonDomains::of(&sorted.hosts.1);
    let made: Vec<String> =
        domains.0.iter().map(|(id, _)| id).filter(|id| !sorted.projects.contains_key(*id)).cloned().collect();
    let of_records = sorted.project_of_records(&domains);
    if let Some(id) = &of_records {
        domains.0.push((id.clone(), sorted.stated.domains()));
    }
    let mut stand_ins = if zones.is_empty() { stand_ins(&domains, &sorted.networks()) } else { Vec::new() };
    if zones.is_empty() {
        if sorted.lists_addresses() {
            stand_ins.extend(sorted.addresses.1.v4.iter().filter_map(|network| reverse_zone((*network).into())));
        }
        let missing = sorted.stated.zones().into_iter().filter(|zone| !stand_ins.contains(zone)).cloned();
        stand_ins.extend(missing.collect::<Vec<_>>());
    }
    let (pools, in_pools) = pools_and_zones(&zones, &stand_ins);
    let settings = StarterSettings {
        head: vec![head(now)],
        owner: owner.to_owned(),
        projects: project_globs(&sorted),
        sources: sources(&sorted),
        macs: macs(&sorted.macs),
        records: of_records.iter().flat_map(|id| sorted.stated.sources(id)).collect(),
        admins: domains.admins(),
        pools,
        zones: in_pools,
    };
    let mut files = vec![StarterFile::new(SETTINGS, "points at what was found", settings.to_text())];
    let is_derived = !sorted.lists_addresses();
    let unsure: Vec<&str> =
        made.iter().filter(|id| is_derived && sorted.vlan(id).1.is_err()).map(|id| id.as_str()).collect();
    let mut stems: BTreeSet<String> = sorted.projects.values().map(|path| stem_of(path)).collect();
    files.extend(made.iter().map(|id| project(&sorted, id, &fresh_slug(id, &mut stems))));
    files.extend(of_records.iter().map(|id| {
        sorted
            .stated
            .project(id)
            .to_file(&in_folder(&sorted.projects_folder(), &format!("{}.yaml", fresh_slug(id, &mut stems))))
    }));
    files.extend(stand_ins.iter().map(stand_in));
    files.extend(editors::schemas());
    files.extend(common::for_git(&[]));
    let remarks = remarks(&sorted, &stand_ins, &unsure, &domains);
    Starter { files, basis: told(&sorted, &zones), remarks }
}

/// Makes an example where files were found that make no workspace.
fn example_beside(found: &[RecognisedFile], owner: &str, now: Time) -> Starter {
    let mut starter = example::make(owner, now);
    if !found.is_empty() {
        let paths: Vec<&String> = found.iter().map(|found| &found.path).collect();
        starter.remarks.push(format!(
            "Not used, because there is no hosts.csv: {}. Name them in [sources] once there is one.",
            some(&paths)
        ));
    }
    starter
}

impl SortedFiles {
    /// Takes a file.
    fn take(&mut self, path: &str, kind: &FileKind) {
        let path = path.to_owned();
        match kind {
            FileKind::Hosts(rows) => {
                self.hosts.0.push(path);
                self.hosts.1.extend(rows.iter().cloned());
            }
            FileKind::L3Tors(vlans, networks) => {
                self.l3_tors.0.push(path);
                for (switch, vlans) in vlans {
                    self.l3_tors.1.entry(switch.clone()).or_default().extend(vlans);
                }
                self.l3_tors.2.extend(networks);
            }
            FileKind::NetLayout => self.net_layout.push(path),
            FileKind::Ipv4Map => self.ipv4_map.push(path),
            FileKind::Addresses(ListedFacts { interfaces, v6, v4 }) => {
                self.addresses.0.push(path);
                let known = &mut self.addresses.1;
                for name in interfaces {
                    if !known.interfaces.contains(name) {
                        known.interfaces.push(name.clone());
                    }
                }
                known.v6.extend(v6);
                known.v4.extend(v4);
            }
            FileKind::MacReports => {
                self.macs.insert(path);
            }
            FileKind::Project(id) => {
                self.projects.insert(id.clone(), path);
            }
            FileKind::Manifests(names) => self.stated.take_manifests(path, names),
            FileKind::YamlZone(zone) => self.stated.take_zone(path, zone.clone()),
            FileKind::Zone(_) => {}
        }
    }

    /// The id of a project for the records that files state, which no project of hosts has; none without such files.
    fn project_of_records(&self, domains: &CommonDomains) -> Option<String> {
        let ids = domains.0.iter().map(|(id, _)| id).chain(self.projects.keys());
        (!self.stated.is_empty()).then(|| fresh_slug("records", &mut ids.cloned().collect()))
    }

    /// The folder of project files.
    fn projects_folder(&self) -> String {
        self.projects.values().map(|path| folder_of(path)).min().unwrap_or_else(|| PROJECTS.to_owned())
    }

    /// The IPv6 networks of hosts.
    fn networks(&self) -> BTreeSet<Ipv6Net> {
        if self.lists_addresses() { self.addresses.1.v6.clone() } else { self.l3_tors.2.clone() }
    }

    /// Whether the addresses of hosts are listed, and nothing is there that they could be derived from.
    fn lists_addresses(&self) -> bool {
        !self.addresses.0.is_empty() && self.l3_tors.0.is_empty() && self.net_layout.is_empty()
    }

    /// The VLAN of a project's hosts, as far as l3-tors says: with how it is known, or why it is not certain.
    fn vlan(&self, project: &str) -> (u16, Result<String, String>) {
        let of_project = self.hosts.1.iter().filter(|row| row.project == project);
        let switches: BTreeSet<&String> = of_project.map(|row| &row.switch).collect();
        let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
        for vlan in switches.iter().filter_map(|switch| self.l3_tors.1.get(*switch)).flatten() {
            *counts.entry(*vlan).or_default() += 1;
        }
        let vlans: Vec<u16> = counts.keys().copied().collect();
        match (vlans.as_slice(), counts.iter().rev().max_by_key(|(_, count)| **count)) {
            ([only], _) => {
                (*only, Ok("The one VLAN that l3-tors has for the switches of this project's hosts.".to_owned()))
            }
            (several, Some((vlan, _))) => (
                *vlan,
                Err(format!(
                    "A guess: l3-tors has {} VLANs for the switches of this project's hosts: {}.",
                    several.len(),
                    some(several)
                )),
            ),
            _ => (1, Err("Made up: no l3-tors has the VLAN of this project's switches.".to_owned())),
        }
    }
}

/// A domain in which fewer than one in so many hosts of a project have names is not the project's.
const USUAL: usize = 10;

/// Whether names in a domain can be published: none can below `invalid` (RFC 2606 section 2), where released hosts are.
fn is_published(domain: &Name) -> bool {
    domain.as_name().labels().last().is_some_and(|label| label != b"invalid")
}

/// The domains in which the hosts of each project have names, the commonest first; a project that comes first may have a
/// domain that others share.
struct CommonDomains(Vec<(String, Vec<Name>)>);

impl CommonDomains {
    /// Counts them.
    fn of(rows: &[HostRow]) -> CommonDomains {
        let mut counts: BTreeMap<String, BTreeMap<Name, usize>> = BTreeMap::new();
        for row in rows {
            let of_project = counts.entry(row.project.clone()).or_default();
            if let Some(domain) = row.name.as_ref().and_then(parent).filter(is_published) {
                *of_project.entry(domain).or_default() += 1;
            }
        }
        let sorted = counts.into_iter().map(|(id, domains)| {
            let mut domains: Vec<(Name, usize)> = domains.into_iter().collect();
            domains.sort_by_key(|(domain, count)| (std::cmp::Reverse(*count), domain.to_string()));
            let all: usize = domains.iter().map(|(_, count)| count).sum();
            // A few names elsewhere are probably mistakes, which the plan then names.
            let usual = domains.into_iter().filter(|(_, count)| count * USUAL >= all);
            (id, usual.map(|(domain, _)| domain).collect())
        });
        CommonDomains(sorted.collect())
    }

    /// The administrator's halves: each domain is the first of one project alone, as the settings demand.
    fn admins(&self) -> Vec<StarterAdmin> {
        let mut taken: BTreeMap<&Name, &str> = BTreeMap::new();
        let mut admins = Vec::new();
        for (id, domains) in &self.0 {
            let own = domains.iter().find(|domain| !taken.contains_key(domain));
            let also = domains.iter().filter(|domain| Some(*domain) != own).map(|domain| plain(domain.as_name()));
            let also_domains: Vec<String> = also.collect();
            let (dns_domain, note) = match own {
                Some(own) => {
                    taken.insert(own, id);
                    (plain(own.as_name()), None)
                }
                None => {
                    let first = also_domains.first().map_or("example.net", String::as_str);
                    let note = match domains.first() {
                        Some(shared) => format!(
                            "Made up: its hosts are in {first}, which is the domain of project {}, and each domain has one.",
                            taken[shared]
                        ),
                        None => "Made up: none of its hosts has a name yet.".to_owned(),
                    };
                    (format!("{}.{first}", slug(id)), Some(note))
                }
            };
            admins.push(StarterAdmin { id: id.clone(), dns_domain, also_domains, note });
        }
        admins
    }

    /// The topmost of all domains.
    fn topmost(&self) -> Vec<&Name> {
        let all: BTreeSet<&Name> = self.0.iter().flat_map(|(_, domains)| domains).collect();
        let is_below =
            |name: &Name| all.iter().any(|other| *other != name && name.as_name().is_at_or_below(other.as_name()));
        all.iter().copied().filter(|name| !is_below(name)).collect()
    }
}

/// The zones that there would be: one for each of the topmost domains, and one for the networks of each /32.
fn stand_ins(domains: &CommonDomains, networks: &BTreeSet<Ipv6Net>) -> Vec<ZoneName> {
    let mut zones: Vec<ZoneName> = domains.topmost().into_iter().cloned().map(ZoneName::new).collect();
    let mut by_provider: BTreeMap<u32, Vec<u128>> = BTreeMap::new();
    for network in networks {
        let value = u128::from(network.network());
        by_provider.entry((value >> 96) as u32).or_default().push(value);
    }
    for values in by_provider.values() {
        let differ = values.iter().fold(0, |differ, value| differ | (value ^ values[0]));
        // A zone ends on a nibble; /64 is where hosts begin.
        let length = (differ.leading_zeros().min(64) / 4 * 4) as u8;
        let network = Ipv6Net::new(values[0].into(), length).expect("at most 64").trunc();
        zones.extend(reverse_zone(network.into()));
    }
    zones
}

/// An empty zone.
fn stand_in(zone: &ZoneName) -> StarterFile {
    let text = "; Replaces live DNS, and is empty: name your server in zonewright.toml instead.\n\
                $TTL 3600\n@  SOA  ns.invalid. hostmaster.invalid. 1 3600 600 604800 3600\n@  NS   ns.invalid.\n";
    StarterFile::new(format!("{STAND_INS}/{}", file_name(zone)), "a stand-in for live DNS", text.to_owned())
}

/// The comment at the top of the settings.
fn head(now: Time) -> String {
    format!(
        "Made by `zonewright init` on {} from the files that were found in this folder. `zonewright check` says \
         what is wrong in these files; `zonewright plan` says what would be changed in DNS.",
        now.to_second()
    )
}

/// The sources but those of MACs.
fn sources(sorted: &SortedFiles) -> Vec<StarterSource> {
    let source = |key, paths: &Vec<String>, about| {
        (!paths.is_empty()).then(|| StarterSource { key, paths: paths.clone(), about })
    };
    let sources = [
        source("hosts", &sorted.hosts.0, "one row a host"),
        source("l3_tors", &sorted.l3_tors.0, "switch and VLAN to the one /64 behind it"),
        source("net_layout", &sorted.net_layout, "datacenter and VLAN to networks, for L2 segments"),
        source("ipv4_map", &sorted.ipv4_map, "where a host with an A record has its IPv6 address"),
        source("addresses", &sorted.addresses.0, "the addresses of hosts, one a row"),
    ];
    sources.into_iter().flatten().collect()
}

/// Where project files are, or will be.
fn project_globs(sorted: &SortedFiles) -> Vec<String> {
    let of_projects: BTreeSet<String> = sorted.projects.values().map(|path| folder_of(path)).collect();
    let mut projects: Vec<String> = of_projects.iter().map(|folder| in_folder(folder, "*.yaml")).collect();
    if projects.is_empty() {
        projects.push(in_folder(PROJECTS, "*.yaml"));
    }
    projects
}

/// The pools and zones of master files: those that were found by folder, else the stand-ins.
fn pools_and_zones(zones: &[(String, Vec<ZoneName>)], stand_ins: &[ZoneName]) -> (Vec<StarterPool>, Vec<StarterZone>) {
    let stand_in = [(STAND_INS.to_owned(), stand_ins.to_vec())];
    let folders = if zones.is_empty() { &stand_in[..] } else { zones };
    let pool = |(number, (folder, _)): (usize, &(String, Vec<ZoneName>))| StarterPool {
        name: pool_name(number),
        about: vec![format!(
            "The master files in {folder}/. For a server, type = \"rfc2136\" with `server` and `tsig_key`; docs/start.md has that, and the same for Route 53, Azure and Cloud Map."
        )],
        target: vec![
            ("type = \"zonefile\"".to_owned(), "what the target is".to_owned()),
            (format!("dir = {}", quoted(folder)), "holds APEX.zone for each zone".to_owned()),
        ],
    };
    let zone =
        |(number, zone): (usize, &ZoneName)| StarterZone { name: zone.clone(), pool: pool_name(number), ttl: None };
    let in_pools =
        folders.iter().enumerate().flat_map(|(number, (_, zones))| zones.iter().map(move |zone| (number, zone)));
    (folders.iter().enumerate().map(pool).collect(), in_pools.map(zone).collect())
}

/// The sources of MACs: one for each folder of reports, or where all files in it are called `WORD-…`, one for each
/// word.
fn macs(paths: &BTreeSet<String>) -> Vec<(String, String, String)> {
    let mut folders: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for path in paths {
        let word = stem_of(path).split_once('-').map(|(word, _)| word.to_owned());
        folders.entry(folder_of(path)).or_default().insert(word);
    }
    // A source of MACs must not have the name of another source.
    let mut names: BTreeSet<String> = ["projects", "hosts"].map(str::to_owned).into();
    let mut sources = Vec::new();
    for (folder, words) in folders {
        let words: Option<Vec<String>> = words.into_iter().collect();
        for word in words.map_or(vec![None], |words| words.into_iter().map(Some).collect()) {
            let called = word.as_deref().unwrap_or(if folder == "." { "reports" } else { &folder });
            let name = fresh_slug(called, &mut names);
            let glob = word.map_or("*.jsonl".to_owned(), |word| format!("{word}-*.jsonl"));
            sources.push((name, in_folder(&folder, &glob), "the reports of one system".to_owned()));
        }
    }
    sources
}

/// The file of a project that has none.
fn project(sorted: &SortedFiles, id: &str, stem: &str) -> StarterFile {
    let (vlan, known) = sorted.vlan(id);
    let automation = match &known {
        Ok(_) => {
            (true, "The owner's switch; the administrator's is in zonewright.toml, and both must be on.".to_owned())
        }
        Err(_) => (
            false,
            "The owner's switch. Off, because the VLAN is not certain: switch it on once the VLAN is right.".to_owned(),
        ),
    };
    let hosts = sorted.hosts.1.iter().filter(|row| row.project == id).count();
    let listed = sorted.lists_addresses().then(|| sorted.addresses.1.interfaces.first().cloned().unwrap_or_default());
    let automation = match &listed {
        Some(_) => {
            (true, "The owner's switch; the administrator's is in zonewright.toml, and both must be on.".to_owned())
        }
        None => automation,
    };
    let project = StarterProject {
        listed,
        id: id.to_owned(),
        head: vec![format!("Project {id}: {} in the export.", count(hosts, "host", "hosts"))],
        vlan: Some((vlan, known.unwrap_or_else(|why| why))),
        automation,
        shared_bits: None,
    };
    project.to_file(&in_folder(&sorted.projects_folder(), &format!("{stem}.yaml")))
}

/// What was found.
fn told(sorted: &SortedFiles, zones: &[(String, Vec<ZoneName>)]) -> Vec<String> {
    let mut told = Vec::new();
    if !sorted.hosts.0.is_empty() {
        told.push(format!("{} in {}", count(sorted.hosts.1.len(), "host", "hosts"), some(&sorted.hosts.0)));
    }
    told.extend(sorted.stated.told());
    for files in [&sorted.l3_tors.0, &sorted.net_layout, &sorted.ipv4_map, &sorted.addresses.0] {
        told.extend((!files.is_empty()).then(|| some(files)));
    }
    let macs: Vec<&String> = sorted.macs.iter().collect();
    told.extend((!macs.is_empty()).then(|| format!("MAC reports: {}", some(&macs))));
    let projects: Vec<&String> = sorted.projects.values().collect();
    told.extend(
        (!projects.is_empty())
            .then(|| format!("{}: {}", count(projects.len(), "project file", "project files"), some(&projects))),
    );
    for (folder, zones) in zones {
        let names: Vec<String> = zones.iter().map(|zone| plain(zone.as_name())).collect();
        told.push(format!("{} in {folder}: {}", count(zones.len(), "zone", "zones"), some(&names)));
    }
    told
}

/// What is missing or was guessed.
fn remarks(sorted: &SortedFiles, stand_ins: &[ZoneName], unsure: &[&str], domains: &CommonDomains) -> Vec<String> {
    let mut remarks = Vec::new();
    if !stand_ins.is_empty() {
        remarks.push(format!(
            "There are no zones here, so zones/ replaces live DNS with {}: in the plan, no record exists yet. To see \
             the real changes, name your server in zonewright.toml, and add or remove zones there.",
            count(stand_ins.len(), "empty zone", "empty zones")
        ));
    }
    if !unsure.is_empty() {
        remarks.push(format!(
            "The VLAN of {} was guessed, and `automation` is off until you have looked: {}.",
            count(unsure.len(), "project", "projects"),
            some(unsure)
        ));
    }
    let made_up: Vec<String> =
        domains.admins().into_iter().filter(|admin| admin.note.is_some()).map(|admin| admin.id).collect();
    if !made_up.is_empty() {
        remarks.push(format!("The domain of {} was made up: see [project] in zonewright.toml.", some(&made_up)));
    }
    if sorted.stated.has_manifests() {
        remarks.push(
            "To take over what external-dns created, set `registry = \"txt\"` and `owner` to its `--txt-owner-id` \
             (docs/migrate/external-dns.md)."
                .to_owned(),
        );
    }
    if sorted.hosts.0.is_empty() {
        remarks.push("There are no hosts: `hosts = \"none\"` says so, until you name their export there.".to_owned());
        return remarks;
    }
    if sorted.lists_addresses() {
        let more = match sorted.addresses.1.interfaces.as_slice() {
            [] | [_] => String::new(),
            [main, ..] => format!(
                " The interface with the most rows, `{main}`, counts as the main one; another name is in `interfaces` of \
                 the project's file."
            ),
        };
        remarks.push(format!("Addresses are taken from {} as they are.{more}", some(&sorted.addresses.0)));
        return remarks;
    }
    if sorted.l3_tors.0.is_empty() && sorted.net_layout.is_empty() {
        remarks.push(
            "No l3-tors or net-layout was found: hosts are blocked `no-network` until one of them gives their networks."
                .to_owned(),
        );
    }
    if sorted.macs.is_empty() {
        remarks.push("No MAC reports were found: hosts are blocked `no-mac` until there are some.".to_owned());
    }
    remarks
}

/// The name of a file, without its ending.
fn stem_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The administrator's halves of projects whose hosts have these names.
    fn admins(rows: &[(&str, &str)]) -> Vec<String> {
        let row = |(project, name): &(&str, &str)| HostRow {
            name: Name::parse_host(name).ok(),
            project: (*project).to_owned(),
            switch: String::new(),
        };
        let rows: Vec<HostRow> = rows.iter().map(row).collect();
        let admins = CommonDomains::of(&rows).admins().into_iter();
        let shown = admins.map(|StarterAdmin { id, dns_domain, also_domains, note }| {
            format!("{id}: {dns_domain} {also_domains:?}{}", if note.is_some() { ", made up" } else { "" })
        });
        shown.collect()
    }

    #[test]
    fn each_domain_is_the_first_of_one_project() {
        let rows = [
            ("a", "a1.example.net"),
            ("a", "a2.example.net"),
            ("a", "a3.old.example.net"),
            ("b", "b1.example.net"),
            ("c", ""),
            ("d", "free-1.free.invalid"),
        ];
        let expected = [
            "a: example.net [\"old.example.net\"]",
            "b: b.example.net [\"example.net\"], made up",
            "c: c.example.net [], made up",
            "d: d.example.net [], made up",
        ];
        assert_eq!(admins(&rows), expected);
    }

    #[test]
    fn reports_are_one_source_for_each_system_in_their_names() {
        let sources = |paths: &[&str]| -> Vec<String> {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            macs(&paths).into_iter().map(|(name, path, _)| format!("{name} {path}")).collect()
        };
        let found = sources(&["agents/agent-a.jsonl", "agents/agent-b.jsonl", "agents/eine-1.jsonl", "x/macs.jsonl"]);
        assert_eq!(found, ["agent agents/agent-*.jsonl", "eine agents/eine-*.jsonl", "x x/*.jsonl"]);
        assert_eq!(
            sources(&["macs.jsonl", "hosts/agent-1.jsonl", "hosts/b.jsonl"]),
            ["reports *.jsonl", "hosts-2 hosts/*.jsonl"]
        );
    }

    #[test]
    fn stand_ins_cover_all_networks_and_domains() {
        let rows: Vec<HostRow> = ["a.example.net", "b.sub.example.net", "c.example.org"]
            .map(|name| HostRow { name: Name::parse_host(name).ok(), project: "p".to_owned(), switch: String::new() })
            .into();
        let networks = ["2001:db8:0:1::/64", "2001:db8:0:7::/64", "2a02:6b8::/64"].map(|text| text.parse().unwrap());
        let zones = stand_ins(&CommonDomains::of(&rows), &networks.into());
        let names: Vec<String> = zones.iter().map(|zone| plain(zone.as_name())).collect();
        let expected = [
            "example.net",
            "example.org",
            "0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
            "0.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa",
        ];
        assert_eq!(names, expected);
    }
}
