//! One host: its name, its interfaces, and what keeps it from having them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use smallvec::SmallVec;

use super::address::{eui64, with_ipv4, with_project_id};
use super::mac::{self, MacChoice};
use super::network::{self, Networks, Segment};
use crate::change::BlockCode;
use crate::diag::Origin;
use crate::dns::{Name, NameError, RrsetRef, Rtype};
use crate::inventory::Inventory;
use crate::inventory::model::{Entry, Host, HostStatus, LockRow, MacSource, ProjectFile, ProjectSettings, Report};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Time, Vlan};
use crate::live::Live;
use crate::names::holders::{lock_rows_of, name_among};

/// What the inventory says of one host.
#[derive(Debug)]
pub struct DesiredHost {
    /// The line that gives the name.
    pub name_origin: Option<Origin>,
    /// The backbone, then the fastbone; empty where the host has no name, or is free.
    pub interfaces: SmallVec<[Interface; 2]>,
    /// What its reports come to.
    pub mac: MacChoice,
    /// What is wrong, sorted by code, of one code what was found first; empty for nearly every host.
    pub faults: Vec<Fault>,
}

/// Addresses that are right for an interface, each with the line of its network: nearly always one, or two.
pub type Acceptable = SmallVec<[(Ipv6Addr, Origin); 2]>;

/// One interface of a host.
#[derive(Debug)]
pub struct Interface {
    /// Which one.
    pub kind: InterfaceKind,
    /// Its name.
    pub owner: Name,
    /// The addresses that are right for it, the preferred one first, each once, each with the line of its network.
    pub acceptable: Acceptable,
    /// The A records at its name, in numeric order.
    pub own_a: Vec<Ipv4Addr>,
}

impl Interface {
    /// Whether an address is acceptable.
    pub fn accepts(&self, address: Ipv6Addr) -> bool {
        self.acceptable.iter().any(|(own, _)| *own == address)
    }

    /// Whether an address is acceptable, or one of the A records at its name.
    pub fn is_at(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V6(v6) => self.accepts(v6),
            IpAddr::V4(v4) => self.own_a.contains(&v4),
        }
    }
}

/// The interfaces that a host may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterfaceKind {
    /// The main one.
    Backbone,
    /// The second one.
    Fastbone,
}

/// Something in the inventory that blocks a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub code: BlockCode,
    /// What it is about.
    pub detail: Detail,
}

/// The values behind a fault, for the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A bad line: its place.
    Line(Origin),
    /// No project file has the id.
    NoProjectFile,
    /// A source, and why it cannot be believed.
    Source(String),
    /// The host's name, where it has one.
    Name(Option<Name>),
    /// A fastbone name that cannot be.
    FastboneName(NameError),
    /// No report counts; how many there are that do not.
    NoReport(usize),
    /// A VLAN without networks behind this switch, in this kind of segment.
    Vlan(Vlan, Option<Symbol>, Segment),
    /// The IPv4 addresses without an entry.
    Ipv4(Vec<Ipv4Addr>),
}

/// What is looked up of a host before it is derived.
#[derive(Debug, Clone, Copy)]
pub struct LookedUp<'i> {
    /// Its rows in names.lock, in their order.
    pub rows: &'i [LockRow],
    /// Its reports, in the inventory's order.
    pub reports: &'i [Report],
}

/// Derives one host. A free one has no interfaces and no faults.
pub fn derive(inventory: &Inventory, live: &Live, host: &Host, now: Time) -> DesiredHost {
    let looked_up = LookedUp {
        rows: &inventory.lock[lock_rows_of(inventory, host.inv)],
        reports: mac::reports_of(inventory, host.inv),
    };
    derive_by(inventory, host, now, looked_up, &|_, name| live_a(live, name))
}

/// Derives one host by what was looked up of it; `own_a` gives the live A records at the name of an interface, in numeric
/// order.
pub fn derive_by(
    inventory: &Inventory,
    host: &Host,
    now: Time,
    LookedUp { rows, reports }: LookedUp<'_>,
    own_a: OwnA<'_>,
) -> DesiredHost {
    let mac = mac::choose(inventory, reports, now);
    let named = name_among(rows, host);
    let name_origin = named.map(|(_, row)| row.map_or(host.origin, |row| row.origin));
    let mut desired = DesiredHost { name_origin, interfaces: SmallVec::new(), mac, faults: Vec::new() };
    if host.status == HostStatus::Free {
        return desired;
    }
    note_bad_rows(inventory, host, rows, &mut desired);
    note_doubts(inventory, &mut desired);
    let project = &inventory.projects[host.project.0 as usize];
    let name = named.map(|(name, _)| name);
    match name {
        None => desired.fault(BlockCode::NoName, Detail::Name(None)),
        Some(name) if project.admin.as_ref().is_some_and(|admin| !admin.has_name(name.as_name())) => {
            desired.fault(BlockCode::ForeignDomain, Detail::Name(Some(name.clone())));
        }
        Some(_) => {}
    }
    let settings = project.file.settings();
    derive_interfaces(&Derivation { inventory, own_a, reports, host, name, settings }, &mut desired);
    desired.faults.sort_by_key(|fault| fault.code);
    desired.faults.dedup();
    desired
}

/// What gives the live A records at the name of an interface.
pub type OwnA<'a> = &'a dyn Fn(InterfaceKind, &Name) -> Vec<Ipv4Addr>;

impl DesiredHost {
    /// Notes a fault.
    fn fault(&mut self, code: BlockCode, detail: Detail) {
        self.faults.push(Fault { code, detail });
    }
}

/// Notes the lines about a host that are bad.
fn note_bad_rows(inventory: &Inventory, host: &Host, rows: &[LockRow], desired: &mut DesiredHost) {
    if host.bad {
        desired.fault(BlockCode::BadInput, Detail::Line(host.origin));
    }
    if let Some(row) = rows.iter().find(|row| row.bad) {
        desired.fault(BlockCode::BadInput, Detail::Line(row.origin));
    }
    match &inventory.projects[host.project.0 as usize].file {
        ProjectFile::Missing => desired.fault(BlockCode::BadInput, Detail::NoProjectFile),
        ProjectFile::Bad { origin } => desired.fault(BlockCode::BadInput, Detail::Line(*origin)),
        ProjectFile::Good(_) => {}
    }
    if let Some(origin) = desired.mac.frozen_by {
        desired.fault(BlockCode::BadInput, Detail::Line(origin));
    }
}

/// Notes the sources that every host needs and that cannot be believed.
fn note_doubts(inventory: &Inventory, desired: &mut DesiredHost) {
    let trust = &inventory.trust;
    if let Some(reason) = trust.hosts.doubt().or(trust.names_lock.doubt()) {
        desired.fault(BlockCode::SourceUntrusted, Detail::Source(reason.to_owned()));
    }
}

/// What the interfaces of a host are derived from.
#[derive(Clone, Copy)]
struct Derivation<'d> {
    /// The inventory.
    inventory: &'d Inventory,
    /// The live A records.
    own_a: OwnA<'d>,
    /// The host's reports.
    reports: &'d [Report],
    /// The host.
    host: &'d Host,
    /// Its name; without one no interface is derived, but what is wrong with its lines is still found.
    name: Option<&'d Name>,
    /// Its project's settings, where they are good.
    settings: Option<&'d ProjectSettings>,
}

/// Derives backbone and fastbone.
fn derive_interfaces(this: &Derivation<'_>, desired: &mut DesiredHost) {
    let own_a = this.name.map(|name| (this.own_a)(InterfaceKind::Backbone, name)).unwrap_or_default();
    let acceptable = match this.settings {
        // Nothing more can be said of the host than that it has this name.
        None => Acceptable::new(),
        Some(settings) if own_a.is_empty() => by_network(this, settings, settings.vlans.main(), desired),
        Some(settings) => by_ipv4(this, settings.vlans.main(), &own_a, desired),
    };
    if let Some(name) = this.name {
        desired.interfaces.push(interface((InterfaceKind::Backbone, name.clone()), acceptable, own_a));
    }
    let Some((settings, vlan)) = this.settings.and_then(|settings| Some((settings, settings.vlans.fastbone()?))) else {
        return;
    };
    let acceptable = by_network(this, settings, vlan, desired);
    match this.name.map(|name| settings.fastbone_name.expand(name.as_name())) {
        Some(Ok(owner)) => {
            let own_a = (this.own_a)(InterfaceKind::Fastbone, &owner);
            desired.interfaces.push(interface((InterfaceKind::Fastbone, owner), acceptable, own_a));
        }
        Some(Err(error)) => desired.fault(BlockCode::BadInput, Detail::FastboneName(error)),
        None => {}
    }
}

/// Puts an interface together.
fn interface(
    (kind, owner): (InterfaceKind, Name),
    acceptable: Acceptable,
    own_a: Vec<Ipv4Addr>,
) -> Interface {
    Interface { kind, owner, acceptable, own_a }
}

/// The live A records at a name, in numeric order.
fn live_a(live: &Live, name: &Name) -> Vec<Ipv4Addr> {
    live.rrset(name.as_name(), Rtype::A).map(|found| addresses_v4(found.rrset)).unwrap_or_default()
}

/// The addresses of an A RRset, in numeric order.
pub fn addresses_v4(rrset: RrsetRef<'_>) -> Vec<Ipv4Addr> {
    let v4 = rrset.rdata().filter_map(|rdata| match rdata.address() {
        Some(IpAddr::V4(v4)) => Some(v4),
        _ => None,
    });
    // RDATA is sorted by octets, which for A is numeric order.
    v4.collect()
}

/// The addresses of an interface by its MAC and the networks of its VLAN.
fn by_network(
    this: &Derivation<'_>,
    settings: &ProjectSettings,
    vlan: Vlan,
    desired: &mut DesiredHost,
) -> Acceptable {
    let Derivation { inventory, host, .. } = *this;
    if let Some(reason) = doubted_mac_source(inventory, host, desired.mac.active.is_some()) {
        desired.fault(BlockCode::SourceUntrusted, Detail::Source(reason.to_owned()));
    }
    if let Some(reason) = inventory.trust.l3_tors.doubt() {
        desired.fault(BlockCode::SourceUntrusted, Detail::Source(reason.to_owned()));
    }
    let active = desired.mac.active;
    let switch = desired.mac.switch_of(host);
    let segment = network::segment(inventory, switch);
    if let (Segment::L2, Some(reason)) = (segment, inventory.trust.net_layout.doubt()) {
        desired.fault(BlockCode::SourceUntrusted, Detail::Source(reason.to_owned()));
    }
    if active.is_none() {
        desired.fault(BlockCode::NoMac, Detail::NoReport(this.reports.len()));
    }
    let networks = match network::networks(inventory, switch, host.location, vlan) {
        Networks::Known(networks) => networks,
        Networks::Bad(origin) => {
            desired.fault(BlockCode::BadInput, Detail::Line(origin));
            return Acceptable::new();
        }
    };
    if networks.is_empty() {
        desired.fault(BlockCode::NoNetwork, Detail::Vlan(vlan, switch, segment));
    }
    let Some(active) = active else { return Acceptable::new() };
    let address = |network| match settings.hbf_project_id {
        Some((project, _)) => with_project_id(network, project, active.mac),
        None => eui64(network, active.mac),
    };
    networks.into_iter().map(|(network, origin)| (address(network), origin)).collect()
}

/// Why a source of MACs cannot be believed that may know the MAC of a host: it last gave it, or nobody knows whose it gave,
/// or no other source gives one.
fn doubted_mac_source<'i>(inventory: &'i Inventory, host: &Host, has_mac: bool) -> Option<&'i str> {
    let may_know = |source: &&MacSource| !has_mac || source.gave.as_ref().is_none_or(|gave| gave.contains(&host.inv));
    let mut sources = inventory.mac_sources.iter().filter(may_know);
    sources.find_map(|source| source.trust.doubt())
}

/// The addresses of an IPv4 host's backbone, by its A records and ipv4-map.
fn by_ipv4(
    this: &Derivation<'_>,
    vlan: Vlan,
    own_a: &[Ipv4Addr],
    desired: &mut DesiredHost,
) -> Acceptable {
    let Derivation { inventory, host, .. } = *this;
    if let Some(reason) = inventory.trust.ipv4_map.doubt() {
        desired.fault(BlockCode::SourceUntrusted, Detail::Source(reason.to_owned()));
    }
    let mut acceptable = Acceptable::new();
    for address in own_a {
        match network::ipv4_network(inventory, *address, host.location, vlan) {
            Some(Entry::Good(network, origin)) => acceptable.push((with_ipv4(network, *address), origin)),
            Some(Entry::Bad(origin)) => desired.fault(BlockCode::BadInput, Detail::Line(origin)),
            None => {}
        }
    }
    if acceptable.is_empty() {
        desired.fault(BlockCode::NoIpv4Network, Detail::Ipv4(own_a.to_vec()));
    }
    acceptable
}
