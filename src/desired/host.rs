//! One host: its name, its interfaces, and what keeps it from having them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use smallvec::SmallVec;

use super::address::{eui64, with_ipv4, with_project_id};
use super::mac::{self, MacChoice};
use super::network::{self, InterfaceNetworks, Segment};
use crate::change::BlockCode;
use crate::diag::Origin;
use crate::dns::{Name, NameError, RrsetRef, Rtype};
use crate::inventory::Inventory;
use crate::inventory::addresses::ListedInterfaces;
use crate::inventory::model::{
    ExportEntry, Host, HostStatus, LockRow, MacReport, MacSource, ProjectFile, ProjectSettings,
};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Time, Vlan};
use crate::live::{Live, NamePlace};
use crate::names::holders::{lock_rows_of, name_among};

/// What the inventory says of one host.
#[derive(Debug)]
pub struct DesiredHost {
    /// The line that gives the name.
    pub name_origin: Option<Origin>,
    /// The backbone, then the fastbone; empty where the host has no name, or is free.
    pub interfaces: SmallVec<[Interface; 2]>,
    /// The MAC that its reports give.
    pub mac: MacChoice,
    /// What is wrong, sorted by code; of one code, what was found first. Empty for nearly every host.
    pub faults: Vec<HostFault>,
}

/// Addresses that are right for an interface, each with the line of its network, or that lists it: nearly always one, or
/// two.
pub type AcceptableAddresses = SmallVec<[(Ipv6Addr, Origin); 2]>;

/// One interface of a host.
#[derive(Debug)]
pub struct Interface {
    /// Which one.
    pub kind: InterfaceKind,
    /// Its name.
    pub owner: Name,
    /// The IPv6 addresses that are right for it, the preferred one first, each once, each with the line of its network. Of
    /// those that the inventory lists all are to be there.
    pub acceptable: AcceptableAddresses,
    /// The A records at its name, in numeric order; where the inventory lists its addresses, the IPv4 ones of these.
    pub own_a: Vec<Ipv4Addr>,
    /// Where the inventory lists its addresses: the lines of those in `own_a`.
    pub listed: Option<Vec<Origin>>,
    /// Whether it could be read what is at its name. Where not, A records may be there: the addresses of a backbone are then
    /// those that it has without.
    pub is_read: bool,
}

impl Interface {
    /// Whether an address is acceptable.
    pub fn accepts(&self, address: Ipv6Addr) -> bool {
        self.acceptable.iter().any(|(own, _)| *own == address)
    }

    /// Whether the inventory lists its addresses: it has exactly these.
    pub fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Whether its addresses are made of the A records at its name.
    pub fn is_by_ipv4(&self) -> bool {
        self.kind == InterfaceKind::Backbone && !self.is_listed() && !self.own_a.is_empty()
    }

    /// Whether there is an address that it may have.
    pub fn has_addresses(&self) -> bool {
        !self.acceptable.is_empty() || (self.is_listed() && !self.own_a.is_empty())
    }

    /// The addresses that it may have, with the lines that give them; without A records that are only live.
    pub fn addresses(&self) -> impl Iterator<Item = (IpAddr, Origin)> {
        let v6 = self.acceptable.iter().map(|(address, origin)| (IpAddr::V6(*address), *origin));
        let v4 = self.own_a.iter().zip(self.listed.iter().flatten());
        v6.chain(v4.map(|(address, origin)| (IpAddr::V4(*address), *origin)))
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
pub struct HostFault {
    /// The code.
    pub code: BlockCode,
    /// What it is about.
    pub detail: FaultDetail,
}

/// The values behind a fault, for the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultDetail {
    /// A bad line: its place.
    Line(Origin),
    /// No project file has the id.
    NoProjectFile,
    /// The project says that it has no hosts: where.
    NoVlans(Origin),
    /// A source, and why it is not believed.
    Source(String),
    /// The host's name, where it has one.
    Name(Option<Name>),
    /// A fastbone name that cannot be.
    FastboneName(NameError),
    /// No report counts; how many there are that do not.
    NoReport(usize),
    /// A VLAN has no network.
    Vlan(MissingNetwork),
    /// The IPv4 addresses without an entry.
    Ipv4(Vec<Ipv4Addr>),
    /// The inventory lists no address for it.
    NoAddress,
    /// An address that the inventory lists is in no network of the project; with its line.
    OutsideNetworks(IpAddr, Origin),
}

/// A VLAN without networks where a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingNetwork {
    /// The VLAN.
    pub vlan: Vlan,
    /// The host's switch, where it is known.
    pub switch: Option<Symbol>,
    /// The kind of segment that the host is in.
    pub segment: Segment,
}

/// What is looked up about a host before it is derived.
#[derive(Debug)]
pub struct LookedUp<'i> {
    /// Its rows in names.lock, in their order.
    pub rows: &'i [LockRow],
    /// Its reports, in the inventory's order.
    pub reports: &'i [MacReport],
    /// The name of its fastbone, where it was made already.
    pub fastbone: Option<Name>,
}

/// Derives one host. A free one has no interfaces and no faults.
pub fn derive(inventory: &Inventory, live: &Live, host: &Host, now: Time) -> DesiredHost {
    let looked_up = LookedUp {
        rows: &inventory.lock[lock_rows_of(inventory, host.inv)],
        reports: mac::reports_of(inventory, host.inv),
        fastbone: None,
    };
    derive_by(inventory, host, now, looked_up, &|_, name| live_a(live, name))
}

/// Derives one host from what was looked up about it; `own_a` gives the live A records at the name of an interface, in
/// numeric order.
pub fn derive_by(
    inventory: &Inventory,
    host: &Host,
    now: Time,
    LookedUp { rows, reports, fastbone }: LookedUp<'_>,
    own_a: OwnALookup<'_>,
) -> DesiredHost {
    let settings = inventory.projects[host.project.0 as usize].file.settings();
    let is_listed = settings.is_some_and(|settings| settings.listed().is_some());
    // An address that the inventory lists needs no MAC, so that no report blocks the host.
    let mac = if is_listed { MacChoice::default() } else { mac::choose(inventory, reports, now) };
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
        None => desired.fault(BlockCode::NoName, FaultDetail::Name(None)),
        Some(name) if project.admin.as_ref().is_some_and(|admin| !admin.has_name(name.as_name())) => {
            desired.fault(BlockCode::ForeignDomain, FaultDetail::Name(Some(name.clone())));
        }
        Some(_) => {}
    }
    derive_interfaces(&HostDerivation { inventory, own_a, reports, host, name, settings }, fastbone, &mut desired);
    desired.faults.sort_by_key(|fault| fault.code);
    desired.faults.dedup();
    desired
}

/// What gives the live A records at the name of an interface, in numeric order; none where its zone could not be read.
pub type OwnALookup<'a> = &'a dyn Fn(InterfaceKind, &Name) -> Option<Vec<Ipv4Addr>>;

impl DesiredHost {
    /// Notes a fault.
    fn fault(&mut self, code: BlockCode, detail: FaultDetail) {
        self.faults.push(HostFault { code, detail });
    }
}

/// Notes the lines about a host that are bad.
fn note_bad_rows(inventory: &Inventory, host: &Host, rows: &[LockRow], desired: &mut DesiredHost) {
    if host.bad {
        desired.fault(BlockCode::BadInput, FaultDetail::Line(host.origin));
    }
    if let Some(row) = rows.iter().find(|row| row.bad) {
        desired.fault(BlockCode::BadInput, FaultDetail::Line(row.origin));
    }
    match &inventory.projects[host.project.0 as usize].file {
        ProjectFile::Missing => desired.fault(BlockCode::BadInput, FaultDetail::NoProjectFile),
        ProjectFile::Bad { origin } => desired.fault(BlockCode::BadInput, FaultDetail::Line(*origin)),
        ProjectFile::Good(settings) if settings.has_no_hosts() => {
            desired.fault(BlockCode::BadInput, FaultDetail::NoVlans(settings.vlans_origin));
        }
        ProjectFile::Good(_) => {}
    }
    if let Some(origin) = desired.mac.frozen_by {
        desired.fault(BlockCode::BadInput, FaultDetail::Line(origin));
    }
}

/// Notes the sources that every host needs and that are not believed.
fn note_doubts(inventory: &Inventory, desired: &mut DesiredHost) {
    let trust = &inventory.trust;
    if let Some(reason) = trust.hosts.doubt().or(trust.names_lock.doubt()) {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
}

/// What the interfaces of a host are derived from.
#[derive(Clone, Copy)]
struct HostDerivation<'d> {
    /// The inventory.
    inventory: &'d Inventory,
    /// The live A records.
    own_a: OwnALookup<'d>,
    /// The host's reports.
    reports: &'d [MacReport],
    /// The host.
    host: &'d Host,
    /// Its name; without one no interface is derived, but errors in its lines are still found.
    name: Option<&'d Name>,
    /// Its project's settings, where they are good.
    settings: Option<&'d ProjectSettings>,
}

/// Derives backbone and fastbone, whose name may have been made already.
fn derive_interfaces(this: &HostDerivation<'_>, fastbone: Option<Name>, desired: &mut DesiredHost) {
    if let Some((settings, listed)) = this.settings.and_then(|settings| Some((settings, settings.listed()?))) {
        return list_interfaces(this, settings, listed, fastbone, desired);
    }
    // A host without a name has no A records.
    let own_a = this.name.map_or_else(|| Some(Vec::new()), |name| (this.own_a)(InterfaceKind::Backbone, name));
    let of_backbone = this.settings.and_then(|settings| Some((settings, settings.vlans.main()?)));
    let acceptable = match (of_backbone, own_a.as_deref()) {
        // Nothing more can be said of the host than that it has this name.
        (None, _) => AcceptableAddresses::new(),
        (Some((settings, vlan)), Some([])) => by_network(this, settings, vlan, desired),
        (Some((_, vlan)), Some(own_a)) => by_ipv4(this, vlan, own_a, desired),
        (Some((settings, vlan)), None) => {
            // An IPv4 host needs neither a MAC nor a network for this interface: no fault of these is certain.
            let certain = desired.faults.len();
            let acceptable = by_network(this, settings, vlan, desired);
            desired.faults.truncate(certain);
            acceptable
        }
    };
    if let Some(name) = this.name {
        desired.interfaces.push(interface(InterfaceKind::Backbone, name.clone(), acceptable, own_a));
    }
    let Some((settings, vlan)) = this.settings.and_then(|settings| Some((settings, settings.vlans.fastbone()?))) else {
        return;
    };
    let acceptable = by_network(this, settings, vlan, desired);
    let made = fastbone.map(Ok);
    match made.or_else(|| Some(settings.fastbone_name.expand(this.name?.as_name()))) {
        Some(Ok(owner)) => {
            let own_a = (this.own_a)(InterfaceKind::Fastbone, &owner);
            desired.interfaces.push(interface(InterfaceKind::Fastbone, owner, acceptable, own_a));
        }
        Some(Err(error)) => desired.fault(BlockCode::BadInput, FaultDetail::FastboneName(error)),
        None => {}
    }
}

/// Lists the addresses of backbone and fastbone. Nothing of them depends on live DNS.
fn list_interfaces(
    this: &HostDerivation<'_>,
    settings: &ProjectSettings,
    listed: &ListedInterfaces,
    fastbone: Option<Name>,
    desired: &mut DesiredHost,
) {
    if let Some(reason) = this.inventory.trust.addresses.doubt() {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
    let names =
        [(InterfaceKind::Backbone, Some(&listed.backbone)), (InterfaceKind::Fastbone, listed.fastbone.as_ref())];
    let mut has_none = true;
    let mut fastbone = fastbone.map(Ok);
    for (kind, name) in names {
        let Some(name) = name else { continue };
        let (acceptable, v4) = listed_addresses(this, listed, (kind, name), desired);
        has_none &= acceptable.is_empty() && v4.is_empty();
        let owner = match kind {
            InterfaceKind::Backbone => this.name.cloned().map(Ok),
            InterfaceKind::Fastbone => {
                fastbone.take().or_else(|| Some(settings.fastbone_name.expand(this.name?.as_name())))
            }
        };
        let (own_a, lines) = v4.into_iter().unzip();
        match owner {
            Some(Ok(owner)) => desired.interfaces.push(Interface {
                kind,
                owner,
                acceptable,
                own_a,
                listed: Some(lines),
                is_read: true,
            }),
            Some(Err(error)) => desired.fault(BlockCode::BadInput, FaultDetail::FastboneName(error)),
            None => {}
        }
    }
    if has_none {
        desired.fault(BlockCode::NoAddress, FaultDetail::NoAddress);
    }
}

/// The addresses that the inventory lists for an interface, in numeric order, each once.
fn listed_addresses(
    this: &HostDerivation<'_>,
    listed: &ListedInterfaces,
    (kind, name): (InterfaceKind, &str),
    desired: &mut DesiredHost,
) -> (AcceptableAddresses, Vec<(Ipv4Addr, Origin)>) {
    let (mut v6, mut v4) = (AcceptableAddresses::new(), Vec::new());
    let symbols = &this.inventory.symbols;
    let is_backbone = kind == InterfaceKind::Backbone;
    let rows = this.inventory.addresses_of(this.host.inv).iter();
    for row in rows.filter(|row| row.interface.may_be(name, is_backbone, symbols)) {
        let Some(address) = row.address else {
            desired.fault(BlockCode::BadInput, FaultDetail::Line(row.origin));
            continue;
        };
        if !listed.admits(address) {
            desired.fault(BlockCode::BadInput, FaultDetail::OutsideNetworks(address, row.origin));
        }
        match address {
            IpAddr::V6(address) => v6.push((address, row.origin)),
            IpAddr::V4(address) => v4.push((address, row.origin)),
        }
    }
    v6.sort_unstable();
    v6.dedup_by_key(|(address, _)| *address);
    v4.sort_unstable();
    v4.dedup_by_key(|(address, _)| *address);
    (v6, v4)
}

/// Puts an interface together.
fn interface(
    kind: InterfaceKind,
    owner: Name,
    acceptable: AcceptableAddresses,
    own_a: Option<Vec<Ipv4Addr>>,
) -> Interface {
    Interface { kind, owner, acceptable, is_read: own_a.is_some(), own_a: own_a.unwrap_or_default(), listed: None }
}

/// The live A records at a name, in numeric order; none where its zone could not be read.
pub fn live_a(live: &Live, name: &Name) -> Option<Vec<Ipv4Addr>> {
    match live.rrset(name.as_name(), Rtype::A) {
        Some(found) => Some(addresses_v4(found.rrset)),
        None => (!matches!(live.place(name.as_name()), NamePlace::Unknown(_))).then(Vec::new),
    }
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
    this: &HostDerivation<'_>,
    settings: &ProjectSettings,
    vlan: Vlan,
    desired: &mut DesiredHost,
) -> AcceptableAddresses {
    let HostDerivation { inventory, host, .. } = *this;
    if let Some(reason) = doubted_mac_source(inventory, host, desired.mac.active.is_some()) {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
    if let Some(reason) = inventory.trust.l3_tors.doubt() {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
    let active = desired.mac.active;
    let switch = desired.mac.switch_of(host);
    let segment = network::segment(inventory, switch);
    if let (Segment::L2, Some(reason)) = (segment, inventory.trust.net_layout.doubt()) {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
    if active.is_none() {
        desired.fault(BlockCode::NoMac, FaultDetail::NoReport(this.reports.len()));
    }
    let networks = match network::networks(inventory, switch, host.location, vlan) {
        InterfaceNetworks::Known(networks) => networks,
        InterfaceNetworks::Bad(origin) => {
            desired.fault(BlockCode::BadInput, FaultDetail::Line(origin));
            return AcceptableAddresses::new();
        }
    };
    if networks.is_empty() {
        desired.fault(BlockCode::NoNetwork, FaultDetail::Vlan(MissingNetwork { vlan, switch, segment }));
    }
    let Some(active) = active else { return AcceptableAddresses::new() };
    let address = |network| match settings.hbf_project_id {
        Some((project, _)) => with_project_id(network, project, active.mac),
        None => eui64(network, active.mac),
    };
    networks.into_iter().map(|(network, origin)| (address(network), origin)).collect()
}

/// Why a source of MACs that may know the MAC of a host is not believed. It may know it if it last gave it, if the
/// hosts it gave are unknown, or if no other source gives one.
fn doubted_mac_source<'i>(inventory: &'i Inventory, host: &Host, has_mac: bool) -> Option<&'i str> {
    let may_know = |source: &&MacSource| !has_mac || source.gave.as_ref().is_none_or(|gave| gave.contains(&host.inv));
    let mut sources = inventory.mac_sources.iter().filter(may_know);
    sources.find_map(|source| source.trust.doubt())
}

/// The addresses of an IPv4 host's backbone, by its A records and ipv4-map.
fn by_ipv4(
    this: &HostDerivation<'_>,
    vlan: Vlan,
    own_a: &[Ipv4Addr],
    desired: &mut DesiredHost,
) -> AcceptableAddresses {
    let HostDerivation { inventory, host, .. } = *this;
    if let Some(reason) = inventory.trust.ipv4_map.doubt() {
        desired.fault(BlockCode::SourceUntrusted, FaultDetail::Source(reason.to_owned()));
    }
    let mut acceptable = AcceptableAddresses::new();
    for address in own_a {
        match network::ipv4_network(inventory, *address, host.location, vlan) {
            Some(ExportEntry::Good(network, origin)) => acceptable.push((with_ipv4(network, *address), origin)),
            Some(ExportEntry::Bad(origin)) => desired.fault(BlockCode::BadInput, FaultDetail::Line(origin)),
            None => {}
        }
    }
    if acceptable.is_empty() {
        desired.fault(BlockCode::NoIpv4Network, FaultDetail::Ipv4(own_a.to_vec()));
    }
    acceptable
}
