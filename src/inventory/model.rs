//! What a workspace says, each value with the place that says it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use ipnet::Ipv4Net;

use super::addresses::{AddressRow, HostAddresses, ListedInterfaces};
use super::approvals::ApprovalTerms;
use super::apps::AppFiles;
use super::devices::Devices;
use super::pods::Pods;
pub use super::policy::Policy;
use super::rollout::RolloutTerms;
use super::source::{APPS, DNS_UPDATE_RECORDS, RECORD_LISTS, SourceSpec};
use super::stated::StatedRecords;
use super::symbol::{Symbol, Symbols};
use super::template::{FastboneTemplate, ShortnameTemplate};
pub use super::trust::{ProjectIndex, Trust};
use super::value::{Duration, HbfProjectId, Inv, Mac, Net64, Time, Vlan};
pub use super::workspace_config::{
    ClaimAddresses, Config, HostLimit, Limits, Permission, ProtectPattern, ShareLimit, ZonePurpose, ZoneSpec,
};
use crate::diag::{FileId, Files, Origin};
use crate::dns::{Name, Ttl};

/// A workspace, read and checked.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// The files that were read.
    pub files: Files,
    /// Switches, racks and locations.
    pub symbols: Symbols,
    /// zonewright.toml.
    pub config: Config,
    /// Every project that any file names; [`ProjectIndex`] counts into it. Sorted by id.
    pub projects: Vec<Project>,
    /// Rows of hosts.csv, sorted by `inv`, then line. A number twice is `bad` in each of its rows.
    pub hosts: Vec<Host>,
    /// What exports of interfaces call the hosts.
    pub devices: Devices,
    /// l3-tors.txt.
    pub tors: Tors,
    /// net-layout.xml.
    pub layout: NetLayout,
    /// ipv4-map.txt.
    pub ipv4_map: Ipv4Map,
    /// The addresses that the inventory lists, sorted by `inv`, then file and line.
    pub addresses: Vec<AddressRow>,
    /// The sources of MACs, in order of preference.
    pub mac_sources: Vec<MacSource>,
    /// All MAC reports, sorted by `inv`, then source, file and line.
    pub reports: Vec<MacReport>,
    /// names.lock, sorted by `inv`, then name.
    pub lock: Vec<LockRow>,
    /// Names in rows of hosts.csv and names.lock whose inventory number cannot be read: their hosts are unknown, so
    /// that they are given to no host.
    pub stray_names: Vec<Name>,
    /// How far each source can be trusted.
    pub trust: SourceTrust,
    /// What is known of each configured export as a whole, in the order of the configuration.
    pub exports: Vec<Export>,
    /// SHA-256 of every file that was read, by its name in messages, in hexadecimal.
    pub inputs: BTreeMap<String, String>,
    /// Whether some row of hosts.csv or names.lock was bad.
    pub has_bad_names: bool,
    /// What files state.
    pub stated: StatedRecords,
    /// The pods and their sets.
    pub pods: Pods,
    /// The apps, and the lists of the records that publish them.
    pub apps: AppFiles,
    /// What DNS update records publish: a source each. Nothing else sees it, and it sees nothing else.
    pub published: StatedRecords,
    /// How many errors each settings file has, by its name in messages: project files, and zonewright.toml for projects
    /// without a file. Only files with errors are here.
    pub settings_errors: BTreeMap<String, usize>,
    /// When the clock makes something else of a row: a time that is ahead now counts, or a name has cooled down; none where it
    /// makes nothing else of any.
    pub moves: Option<Time>,
}

impl Inventory {
    /// The TTL that a project's records have in a zone: the project's, else the zone's, else the default.
    pub fn wanted_ttl(&self, project: ProjectIndex, zone: &ZoneSpec) -> Ttl {
        let settings = self.projects[project.0 as usize].file.settings();
        let own = settings.and_then(|settings| settings.ttl).map(|(ttl, _)| ttl);
        own.or(zone.ttl).unwrap_or(Ttl::DEFAULT)
    }

    /// Whether it has no hosts by what the settings say (`hosts = "none"`), and never had any.
    pub fn is_without_hosts(&self) -> bool {
        self.exports.iter().all(|export| export.spec.key != "hosts") && self.lock.is_empty()
    }

    /// Whether it lists the addresses of a project's hosts.
    pub fn lists_addresses(&self, project: ProjectIndex) -> bool {
        self.projects[project.0 as usize].lists_addresses()
    }

    /// The places in `hosts` of all rows with a number: usually one; several rows with the same number are all bad.
    pub fn places_of(&self, inv: Inv) -> Range<usize> {
        let first = self.hosts.partition_point(|host| host.inv < inv);
        let count = self.hosts[first..].iter().take_while(|host| host.inv == inv).count();
        first..first + count
    }

    /// The place of a host in `hosts`; of several rows with its number, that of the first that says it is in use, else
    /// of the first.
    pub fn place_of(&self, inv: Inv) -> Option<usize> {
        let mut places = self.places_of(inv);
        let in_use = places.clone().find(|place| self.hosts[*place].status == HostStatus::Assigned);
        in_use.or_else(|| places.next())
    }

    /// The rows that list the addresses of a host.
    pub fn addresses_of(&self, inv: Inv) -> &[AddressRow] {
        let from = self.addresses.partition_point(|row| row.inv < inv);
        let length = self.addresses[from..].partition_point(|row| row.inv == inv);
        &self.addresses[from..from + length]
    }

    /// Every source with the trust in it, by the name that people know it by.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &Trust)> {
        let trust = &self.trust;
        let named = [
            ("projects", &trust.projects),
            ("hosts", &trust.hosts),
            ("l3_tors", &trust.l3_tors),
            ("net_layout", &trust.net_layout),
            ("ipv4_map", &trust.ipv4_map),
            ("addresses", &trust.addresses),
            ("names.lock", &trust.names_lock),
        ];
        // What most workspaces do not have is named where there is something to say of it.
        let pods = &self.pods;
        let updates = &self.config.update_records.trust;
        let updates = updates.doubt().is_some().then_some((DNS_UPDATE_RECORDS, updates));
        let sets = pods.sets_trust.doubt().is_some().then_some(("pod_sets", &pods.sets_trust));
        let of_macs = self.mac_sources.iter().map(|source| (source.name.as_str(), &source.trust));
        let of_records = self.stated.sources.iter().map(|source| (&*source.name, &source.trust));
        let has = |key: &str| self.exports.iter().any(|export| export.spec.key == key);
        let pods = (has("pods") || pods.trust.doubt().is_some()).then_some(("pods", &pods.trust));
        let of_apps = [(RECORD_LISTS, &self.apps.lists_trust), (APPS, &self.apps.apps_trust)];
        let of_apps = of_apps.into_iter().filter(move |(key, _)| has(key));
        named.into_iter().chain(updates).chain(pods).chain(sets).chain(of_apps).chain(of_macs).chain(of_records)
    }

    /// Whether every source is believed.
    pub fn is_believed(&self) -> bool {
        self.sources().all(|(_, trust)| *trust == Trust::Known)
    }

    /// The trust in one of [`Inventory::exports`].
    pub fn trust_of(&self, spec: &SourceSpec) -> &Trust {
        let found = self.sources().find(|(name, _)| *name == spec.name);
        found.expect("every export is a source, and no two have one name").1
    }

    /// The digests of the files of one of [`Inventory::exports`], by name; without those that could not be read.
    pub fn digests_of(&self, export: &Export) -> BTreeMap<String, String> {
        let digest = |name: &String| Some((name.clone(), self.inputs.get(name)?.clone()));
        export.files.iter().filter_map(digest).collect()
    }

    /// Takes an export for unknown because a test of it failed; what could not even be read stays as it is.
    ///
    /// `place` is that of one of [`Inventory::exports`].
    pub fn distrust(&mut self, place: usize, reason: String) {
        let trust = self.trust_mut(place);
        if *trust == Trust::Known {
            *trust = Trust::Distrusted { reason };
        }
        self.published.settle_trust(&self.stated, &self.apps);
    }

    /// Sets the trust in an export. `place` is that of one of [`Inventory::exports`].
    pub fn set_trust(&mut self, place: usize, trust: Trust) {
        *self.trust_mut(place) = trust;
        self.published.settle_trust(&self.stated, &self.apps);
    }

    /// The trust in one of [`Inventory::exports`].
    fn trust_mut(&mut self, place: usize) -> &mut Trust {
        let spec = &self.exports[place].spec;
        match spec.key {
            "hosts" => &mut self.trust.hosts,
            "l3_tors" => &mut self.trust.l3_tors,
            "net_layout" => &mut self.trust.net_layout,
            "ipv4_map" => &mut self.trust.ipv4_map,
            "addresses" => &mut self.trust.addresses,
            "pods" => &mut self.pods.trust,
            APPS => &mut self.apps.apps_trust,
            RECORD_LISTS => &mut self.apps.lists_trust,
            "records" => {
                let source = self.stated.sources.iter_mut().find(|source| *source.name == *spec.name);
                &mut source.expect("every source of records is in the list").trust
            }
            _ => {
                let source = self.mac_sources.iter_mut().find(|source| source.name == spec.name);
                &mut source.expect("every other export is one of MACs").trust
            }
        }
    }
}

/// An export as a whole: what trust in it is decided by.
#[derive(Debug, Clone)]
pub struct Export {
    /// What zonewright.toml says of it.
    pub spec: SourceSpec,
    /// Its files by their names in messages, sorted; their digests are among [`Inventory::inputs`].
    pub files: Vec<String>,
    /// The first of them: errors about the whole source are reported there.
    pub first: Option<FileId>,
    /// How many rows it has, bad ones included.
    pub rows: usize,
    /// How many of them are bad.
    pub bad: usize,
    /// When it was made, according to its content: the earliest date of its files. `None` where a file has no date.
    pub dated: Option<Time>,
}

/// The trust in each source but those of MACs, which carry theirs.
#[derive(Debug, Clone)]
pub struct SourceTrust {
    /// The project files: unknown where a path matches nothing or a file cannot be read. A file with errors does not
    /// make the others unknown.
    pub projects: Trust,
    /// hosts.csv.
    pub hosts: Trust,
    /// l3-tors.txt.
    pub l3_tors: Trust,
    /// net-layout.xml.
    pub net_layout: Trust,
    /// ipv4-map.txt.
    pub ipv4_map: Trust,
    /// The addresses that the inventory lists.
    pub addresses: Trust,
    /// names.lock; known where there is no file.
    pub names_lock: Trust,
}

/// A project: what the administrator says, and what its owner says.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its id.
    pub id: String,
    /// `[project.X]`.
    pub admin: Option<ProjectAdmin>,
    /// The project file.
    pub file: ProjectFile,
}

impl Project {
    /// Whether the inventory lists the addresses of its hosts.
    pub fn lists_addresses(&self) -> bool {
        self.file.settings().is_some_and(|settings| settings.listed().is_some())
    }

    /// Whether what a person edited after an apply stays as it is.
    pub fn keeps_edits(&self) -> bool {
        self.admin.as_ref().is_some_and(|admin| admin.keep_edits)
    }
}

/// The administrator's half of a project.
#[derive(Debug, Clone)]
pub struct ProjectAdmin {
    /// The domain of its hosts' names.
    pub dns_domain: Name,
    /// Other domains in which its hosts may have names.
    pub also_domains: Vec<Name>,
    /// Whether automation may touch its hosts.
    pub automation_allowed: bool,
    /// Whether what a person edited after an apply stays as it is.
    pub keep_edits: bool,
    /// The approvals that changes of its hosts need; none where they need none.
    pub approvals: Option<ApprovalTerms>,
    /// Where it is written.
    pub origin: Origin,
}

impl ProjectAdmin {
    /// Whether a name is at or below one of the project's domains.
    pub fn contains(&self, name: crate::dns::NameRef<'_>) -> bool {
        let mut domains = std::iter::once(&self.dns_domain).chain(&self.also_domains);
        domains.any(|own| name.is_at_or_below(own.as_name()))
    }

    /// Whether a name is directly below one of the project's domains.
    pub fn has_name(&self, name: crate::dns::NameRef<'_>) -> bool {
        let domain = name.parent();
        let mut domains = std::iter::once(&self.dns_domain).chain(&self.also_domains);
        domains.any(|own| domain == Some(own.as_name()))
    }
}

/// The owner's half of a project.
#[derive(Debug, Clone)]
pub enum ProjectFile {
    /// No file has this id.
    Missing,
    /// Its file, or one of several that claim the id, cannot be used.
    Bad {
        /// Where the fault is.
        origin: Origin,
    },
    /// Read and checked.
    Good(Box<ProjectSettings>),
}

impl ProjectFile {
    /// The settings, where they are good.
    pub fn settings(&self) -> Option<&ProjectSettings> {
        match self {
            ProjectFile::Good(settings) => Some(settings),
            ProjectFile::Missing | ProjectFile::Bad { .. } => None,
        }
    }
}

/// A project file's settings, each with its place where evidence needs one.
#[derive(Debug, Clone)]
pub struct ProjectSettings {
    /// How hosts are named.
    pub shortname_template: ShortnameTemplate,
    /// Where the addresses of its hosts come from.
    pub addresses: HostAddresses,
    /// Which interfaces its hosts have, where their addresses are derived; `None` where the inventory lists them.
    pub vlans: VlanScheme,
    /// Where `vlans` is written; `vlan_scheme` or `addresses` where there are none.
    pub vlans_origin: Origin,
    /// How a fastbone name is made.
    pub fastbone_name: FastboneTemplate,
    /// Where `fastbone_name` is written, or the file's first line.
    pub fastbone_origin: Origin,
    /// The project id in addresses, and where it is written; without one, EUI-64 is used.
    pub hbf_project_id: Option<(HbfProjectId, Origin)>,
    /// Overrides the zone's TTL; and where it is written.
    pub ttl: Option<(Ttl, Origin)>,
    /// The owner's switch.
    pub automation: bool,
    /// What may be done to records.
    pub policy: Policy,
    /// Where `policy` is written, or the file's first line.
    pub policy_origin: Origin,
    /// How many of its hosts may change within a period; in the file's order.
    pub limits: Vec<HostLimit>,
    /// Whether changes that take addresses from pods wait while their set cannot afford to lose pods.
    pub requires_availability: bool,
    /// How its hosts are rolled out; none where nothing is said, and all of a plan goes at once.
    pub rollout: Option<RolloutTerms>,
}

impl ProjectSettings {
    /// The interfaces whose addresses the inventory lists; none where they are derived.
    pub fn listed(&self) -> Option<&ListedInterfaces> {
        match &self.addresses {
            HostAddresses::Listed(listed) => Some(listed),
            HostAddresses::Derived => None,
        }
    }

    /// Whether its hosts have a fastbone.
    pub fn has_fastbone(&self) -> bool {
        match &self.addresses {
            HostAddresses::Listed(listed) => listed.fastbone.is_some(),
            HostAddresses::Derived => self.vlans.fastbone().is_some(),
        }
    }

    /// Whether the project says that it has no hosts.
    pub fn has_no_hosts(&self) -> bool {
        self.vlans == VlanScheme::None && self.listed().is_none()
    }
}

/// Which interfaces a project's hosts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlanScheme {
    /// Backbone and fastbone.
    Search {
        /// The backbone's VLAN.
        main: Vlan,
        /// The fastbone's, another.
        fastbone: Vlan,
    },
    /// The backbone alone.
    Static {
        /// Its VLAN.
        main: Vlan,
    },
    /// None: the project has no hosts, and only records that files state.
    None,
}

impl VlanScheme {
    /// The backbone's VLAN, where the project has hosts.
    pub fn main(self) -> Option<Vlan> {
        match self {
            VlanScheme::Search { main, .. } | VlanScheme::Static { main } => Some(main),
            VlanScheme::None => None,
        }
    }

    /// The fastbone's VLAN, where there is a fastbone.
    pub fn fastbone(self) -> Option<Vlan> {
        match self {
            VlanScheme::Search { fastbone, .. } => Some(fastbone),
            VlanScheme::Static { .. } | VlanScheme::None => None,
        }
    }
}

/// One row of hosts.csv. A bad row keeps what of it could be read.
#[derive(Debug, Clone)]
pub struct Host {
    /// The inventory number.
    pub inv: Inv,
    /// Its name in hosts.csv; `None` where it has none there, or one below the free domain.
    pub name: Option<Name>,
    /// Its project.
    pub project: ProjectIndex,
    /// Whether it is in use.
    pub status: HostStatus,
    /// The datacenter's code.
    pub location: Symbol,
    /// The switch that the export names; `None` where it names none.
    pub switch: Option<Symbol>,
    /// The rack that the export names, for people alone: no rule reads it. `None` where it names none.
    pub rack: Option<Symbol>,
    /// Whether `automated-dns` is among its restrictions.
    pub restricted: bool,
    /// Whether the row is bad, so that the host is frozen.
    pub bad: bool,
    /// Whether the values are in the right columns: otherwise not even project and restrictions are reliable.
    pub columns_are_known: bool,
    /// The row.
    pub origin: Origin,
}

/// Whether a host is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostStatus {
    /// In use: its records are derived.
    Assigned,
    /// Not in use: its name alone counts.
    Free,
}

/// l3-tors.txt: which switch and VLAN is which /64.
#[derive(Debug, Clone, Default)]
pub struct Tors {
    /// Every switch that any row names, bad rows too: each is in an L3 segment.
    pub switches: foldhash::HashSet<Symbol>,
    /// Switches that no row names now, but that accepted exports named: they stay in an L3 segment.
    pub former: foldhash::HashSet<Symbol>,
    /// The networks.
    pub networks: foldhash::HashMap<(Symbol, Vlan), ExportEntry<Net64>>,
    /// Switches of which some row does not say readably which VLAN it is about: it may be any.
    pub unreadable: foldhash::HashMap<Symbol, Origin>,
}

/// What an export says of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportEntry<T> {
    /// A good row.
    Good(T, Origin),
    /// The (first) row that says something of it is bad.
    Bad(Origin),
}

/// net-layout.xml: the /64s of a datacenter's VLAN, in order of preference, each once.
#[derive(Debug, Clone, Default)]
pub struct NetLayout {
    /// By location and VLAN; an entry is bad where any network or the element itself is.
    pub networks: foldhash::HashMap<(Symbol, Vlan), ExportEntry<LayoutNetworks>>,
    /// Datacenters of which some element does not say readably which VLAN it is about: it may be any. Where not even
    /// the datacenter can be read, it may be any of those too.
    pub unreadable: foldhash::HashMap<Option<Symbol>, Origin>,
    /// How many networks are not a /64.
    pub ignored: usize,
}

/// The /64s of one VLAN, each with its place.
pub type LayoutNetworks = Vec<(Net64, Origin)>;

/// ipv4-map.txt: which /64 carries the IPv4 addresses of a network.
#[derive(Debug, Clone, Default)]
pub struct Ipv4Map {
    /// By location and VLAN, the longest IPv4 prefix first, then in the file's order; no IPv4 network twice.
    ///
    /// A row whose IPv4 network cannot be read may be about any network: it is first, as a bad 0.0.0.0/0.
    pub rows: HashMap<(Symbol, Vlan), Vec<Ipv4Row>>,
    /// Bad rows that do not say readably which location or VLAN they are about: it may be any.
    pub unreadable: Vec<UnreadableRow>,
}

/// A bad row of ipv4-map, as far as it can be read.
#[derive(Debug, Clone, Copy)]
pub struct UnreadableRow {
    /// The location; any where it cannot be read.
    pub location: Option<Symbol>,
    /// The VLAN; any where it cannot be read.
    pub vlan: Option<Vlan>,
    /// The IPv4 network; 0.0.0.0/0 where it cannot be read.
    pub network: Ipv4Net,
    /// The row.
    pub origin: Origin,
}

/// An IPv4 network, and the /64 that carries it.
pub type Ipv4Row = (Ipv4Net, ExportEntry<Net64>);

/// One `[[sources.mac]]`.
#[derive(Debug, Clone)]
pub struct MacSource {
    /// Its name.
    pub name: String,
    /// Reports that are older do not count.
    pub max_age: Option<Duration>,
    /// How much older than it says a report counts.
    pub penalty: Duration,
    /// Whether it may be believed.
    pub trust: Trust,
    /// Where it may not be believed: the hosts whose MAC it gave when it was last accepted; `None` where that is
    /// unknown, so that it may be any host.
    pub gave: Option<HashSet<Inv>>,
}

/// One MAC report with a readable inventory number.
#[derive(Debug, Clone)]
pub struct MacReport {
    /// The host.
    pub inv: Inv,
    /// When it was made.
    pub time: Time,
    /// What it says.
    pub sighting: Sighting,
    /// The source's place in [`Inventory::mac_sources`].
    pub source: u16,
    /// The line.
    pub origin: Origin,
}

/// What a MAC report says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// The MAC is in use, and perhaps behind which switch.
    Active {
        /// The MAC.
        mac: Mac,
        /// The switch, by LLDP.
        switch: Option<Symbol>,
    },
    /// The MAC is not in use: older reports of it are withdrawn.
    Inactive {
        /// The MAC.
        mac: Mac,
    },
    /// It is dated too far after the clock, and so counts for nothing.
    Ahead {
        /// The MAC, where it can be read.
        mac: Option<Mac>,
    },
    /// The line is bad.
    Bad,
}

impl Sighting {
    /// The MAC that it is about, where that can be read.
    pub fn mac(self) -> Option<Mac> {
        match self {
            Sighting::Active { mac, .. } | Sighting::Inactive { mac } => Some(mac),
            Sighting::Ahead { mac } => mac,
            Sighting::Bad => None,
        }
    }

    /// The switch behind which a MAC that is in use was seen, where the report names one.
    pub fn switch(self) -> Option<Symbol> {
        match self {
            Sighting::Active { switch, .. } => switch,
            Sighting::Inactive { .. } | Sighting::Ahead { .. } | Sighting::Bad => None,
        }
    }
}

/// One row of names.lock.
#[derive(Debug, Clone)]
pub struct LockRow {
    /// The host.
    pub inv: Inv,
    /// The name; `None` where it is below the free domain, which counts as no name, or cannot be read in a bad row.
    pub name: Option<Name>,
    /// The project.
    pub project: ProjectIndex,
    /// When the name was given; `None` where that cannot be read.
    pub since: Option<Time>,
    /// When the name was given up; `None` while the host has it.
    pub released: Option<Time>,
    /// Whether the row is bad.
    pub bad: bool,
    /// Whether it is bad regardless of other rows.
    pub bad_itself: bool,
    /// The row.
    pub origin: Origin,
}
