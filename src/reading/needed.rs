//! Which names the rules of the selected hosts read, and how many these are compared with all names of the zones. Pure.
//!
//! Comes in: the inventory, the hosts whose rules run, and live DNS as far as it is known. Goes out: names, round by
//! round: those of the selected hosts, and those of other hosts whose standing must be known, because these rules could
//! remove their records or because they may share an address.

use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use crate::desired::host;
use crate::desired::{DesiredHost, Interface};
use crate::diff::Selection;
use crate::diff::derive;
use crate::dns::{Name, NameRef, Rtype, reverse};
use crate::inventory::Inventory;
use crate::inventory::model::{Policy, Project, ProjectIndex};
use crate::inventory::value::{Inv, Time};
use crate::live::{Apexes, Live, LiveRrset, LiveZone, ZoneIndex};
use crate::names::holders::held_name;
use crate::names::{HolderRow, NameHolder, NameIndex};
use crate::target::transfer_is_cheaper;

/// How many questions are asked about a name of a host, and about a reverse name, where there are records: SOA, AAAA
/// and A, or SOA and PTR; and one for a neighbour that no host has.
const QUESTIONS: [u64; 2] = [4, 3];

/// How many more where there is a registry TXT: SOA and TXT, and one for a neighbour.
const REGISTRY_QUESTIONS: u64 = 3;

/// How many questions each zone is asked first: SOA, NS and MX of its apex.
const OPENING: u64 = 3;

/// The names that are needed.
pub struct NeededNames<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// The hosts whose rules run.
    selection: &'a Selection,
    /// The clock.
    now: Time,
    /// Which host has which name.
    names: NameIndex,
    /// The derived hosts, in the order of the inventory, as far as the A records at their names are known.
    desired: Vec<DesiredHost>,
    /// Those whose rules run, by their places in the inventory, sorted.
    selected: Vec<usize>,
    /// The other hosts whose standing must be known, by their places in the inventory.
    others: BTreeSet<usize>,
    /// The names, in zones that were read completely, that hold addresses of selected hosts: sorted.
    reached: Vec<Name>,
}

/// What reading one zone would take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadingCost {
    /// Whether any name other than the zone's own is queried.
    pub is_needed: bool,
    /// How many questions must be asked, if all names hold records.
    pub questions: u64,
    /// How many records the inventory has for the zone.
    pub records: u64,
}

impl ReadingCost {
    /// Whether the zone is queried, where it can also be transferred.
    ///
    /// A zone of which nothing is needed is never transferred, however large it is.
    pub fn is_asked(self) -> bool {
        !self.is_needed || !transfer_is_cheaper(self.questions, self.records)
    }
}

impl<'a> NeededNames<'a> {
    /// Starts with nothing known of live DNS.
    pub fn new(inventory: &'a Inventory, selection: &'a Selection, now: Time) -> NeededNames<'a> {
        let includes = |host: usize| {
            let host = &inventory.hosts[host];
            selection.includes(host.inv, host.project)
        };
        let selected = (0..inventory.hosts.len()).filter(|place| includes(*place)).collect();
        let desired = derive::whole(inventory, &unread(inventory), now);
        let names = NameIndex::new(inventory);
        NeededNames {
            inventory,
            selection,
            now,
            names,
            desired,
            selected,
            others: BTreeSet::new(),
            reached: Vec::new(),
        }
    }

    /// What reading each zone would take, in the order of the configuration; none where all zones must be read
    /// completely, because the plan searches for names that no host has.
    pub fn extents(&self, apexes: &Apexes) -> Option<Vec<ReadingCost>> {
        if self.selection.is_all() || !self.cleared_domains().is_empty() {
            return None;
        }
        let mut extents =
            vec![ReadingCost { questions: OPENING, ..ReadingCost::default() }; self.inventory.config.zones.len()];
        let config = &self.inventory.config;
        let mut note = |name: NameRef<'_>, questions: Option<u64>, is_held: bool| {
            let Some(ZoneIndex(zone)) = apexes.zone_of(name) else { return };
            let has_registry = config.marking(&config.zones[zone as usize]).registry.reads_texts();
            let extent = &mut extents[zone as usize];
            if let Some(questions) = questions {
                extent.is_needed = true;
                extent.questions += questions + if has_registry { REGISTRY_QUESTIONS } else { 0 };
            }
            extent.records += u64::from(is_held) * if has_registry { 2 } else { 1 };
        };
        let [of_name, of_address] = QUESTIONS;
        self.names().iter().for_each(|name| note(name.as_name(), Some(of_name), false));
        let mut selected = self.selected.iter().peekable();
        for (place, desired) in self.desired.iter().enumerate() {
            let is_selected = selected.next_if_eq(&&place).is_some();
            for interface in &desired.interfaces {
                note(interface.owner.as_name(), None, true);
                for (number, (address, _)) in interface.addresses().enumerate() {
                    if number == 0 || is_selected {
                        let name = reverse::reverse_name(address);
                        note(name.as_name(), is_selected.then_some(of_address), number == 0);
                    }
                }
            }
        }
        Some(extents)
    }

    /// The names that selected hosts have or had, and those in the domains of `sync` projects that any host had:
    /// sorted.
    pub fn names(&self) -> Vec<Name> {
        let inventory = self.inventory;
        if self.selection.is_all() {
            return sorted(self.names.names(inventory));
        }
        let domains = self.cleared_domains();
        let is_cleared = |name: &Name| domains.iter().any(|domain| name.as_name().is_at_or_below(*domain));
        let names = self.names.entries().filter_map(|holder| {
            if self.is_selected(holder) {
                held_name(inventory, holder)
            } else if holder.now || domains.is_empty() {
                None
            } else {
                held_name(inventory, holder).filter(is_cleared)
            }
        });
        sorted(names)
    }

    /// Derives the selected hosts, and the others that matter, by what is known about live DNS now.
    pub fn derive(&mut self, live: &Live) {
        for place in self.selected.iter().chain(&self.others) {
            self.desired[*place] = host::derive(self.inventory, live, &self.inventory.hosts[*place], self.now);
        }
    }

    /// Derives all hosts, as [`NeededNames::derive`] does.
    pub fn derive_all(&mut self, live: &Live) {
        self.desired = derive::whole(self.inventory, live, self.now);
    }

    /// Whether another host could have an address of a selected host because of its A records: addresses are derived
    /// from these, too.
    pub fn may_share_by_ipv4(&self) -> bool {
        let by_ipv4 = |address: &Ipv6Addr| address.segments()[4..6] == [0, 0];
        let may_share = |interface: &Interface| {
            !interface.own_a.is_empty() || interface.acceptable.iter().any(|(address, _)| by_ipv4(address))
        };
        !self.selection.is_all() && self.selected_hosts().any(|host| host.interfaces.iter().any(may_share))
    }

    /// The names of hosts that are not selected: sorted.
    pub fn names_of_rest(&self) -> Vec<Name> {
        let mut selected = self.selected.iter().peekable();
        let hosts = self.desired.iter().enumerate();
        let rest = hosts.filter(|(place, _)| selected.next_if_eq(&place).is_none()).map(|(_, host)| host);
        sorted(rest.flat_map(|host| &host.interfaces).map(|interface| interface.owner.clone()))
    }

    /// The reverse names of all addresses that selected hosts may have, and of those at any of `names`: sorted.
    pub fn reverse_names(&self, live: &Live, names: &[Name]) -> Vec<Name> {
        reverse_names(live, names, self.selected_hosts())
    }

    /// Notes the hosts whose standing matters. They have one of these names, or a name that holds an address of a
    /// selected host, so that their records could be removed; or they may have such an address, too. Gives all their
    /// names: sorted.
    pub fn note_others(&mut self, live: &Live, names: &[Name]) -> Vec<Name> {
        if self.selection.is_all() {
            return Vec::new();
        }
        let own = self.own_addresses();
        self.reached = reached(live, &own);
        let mut met = self.sharing(&own);
        for name in names.iter().chain(&self.reached) {
            met.extend(self.holders(name.as_name()));
        }
        let mut found = Vec::new();
        while let Some(place) = met.pop() {
            if self.selected.binary_search(&place).is_err() && self.others.insert(place) {
                for interface in &self.desired[place].interfaces {
                    // Another host that has the name protects its records, too.
                    met.extend(self.holders(interface.owner.as_name()));
                    found.push(interface.owner.clone());
                }
            }
        }
        sorted(found.into_iter())
    }

    /// The reverse names of all addresses that the others may have, and of those at their names, or at a name that
    /// holds an address of a selected host: sorted.
    pub fn reverse_names_of_others(&self, live: &Live) -> Vec<Name> {
        let hosts = || self.others.iter().map(|place| &self.desired[*place]);
        let names = hosts().flat_map(|host| &host.interfaces).map(|interface| &interface.owner).chain(&self.reached);
        reverse_names(live, &names.cloned().collect::<Vec<Name>>(), hosts())
    }

    /// The selected hosts.
    fn selected_hosts(&self) -> impl Iterator<Item = &DesiredHost> {
        self.selected.iter().map(|place| &self.desired[*place])
    }

    /// The hosts that have a name now.
    fn holders(&self, name: NameRef<'_>) -> Vec<usize> {
        self.names.hosts_now(self.inventory, name).collect()
    }

    /// The addresses that the selected hosts may have.
    fn own_addresses(&self) -> HashSet<IpAddr> {
        let interfaces = self.selected_hosts().flat_map(|host| &host.interfaces);
        interfaces.flat_map(Interface::addresses).map(|(address, _)| address).collect()
    }

    /// The hosts that would have one of these addresses if there were no A records at their names.
    fn sharing(&self, own: &HashSet<IpAddr>) -> Vec<usize> {
        let shares = |host: &DesiredHost| {
            let mut addresses = host.interfaces.iter().flat_map(Interface::addresses);
            addresses.any(|(address, _)| own.contains(&address))
        };
        let hosts = self.desired.iter().enumerate();
        hosts.filter(|(_, host)| shares(host)).map(|(place, _)| place).collect()
    }

    /// Whether a row that gives a name is about a selected host, or about a name that a selected project gave.
    fn is_selected(&self, holder: NameHolder) -> bool {
        let inventory = self.inventory;
        let includes = |inv: Inv, project: ProjectIndex| self.selection.includes(inv, project);
        let host = |place: usize| {
            let host = &inventory.hosts[place];
            includes(host.inv, host.project)
        };
        match holder.by {
            HolderRow::Host(place) => host(place as usize),
            HolderRow::Lock(place) => {
                let row = &inventory.lock[place as usize];
                includes(row.inv, row.project) || inventory.place_of(row.inv).is_some_and(host)
            }
        }
    }

    /// The domains in which names that no host has lose their records; none where single hosts are selected.
    fn cleared_domains(&self) -> Vec<NameRef<'a>> {
        let inventory = self.inventory;
        if self.selection.picks_subjects() {
            return Vec::new();
        }
        let projects = inventory.projects.iter().enumerate();
        let domain = |(place, project): (usize, &'a Project)| {
            let is_sync = project.file.settings().is_some_and(|settings| settings.policy == Policy::Sync);
            let is_selected = self.selection.includes_project(ProjectIndex(place as u32));
            let admin = project.admin.as_ref().filter(|_| is_sync && is_selected)?;
            Some(admin.dns_domain.as_name())
        };
        projects.filter_map(domain).collect()
    }
}

/// The names, in zones that were read completely, that hold one of these addresses: sorted.
fn reached(live: &Live, own: &HashSet<IpAddr>) -> Vec<Name> {
    let all = [Rtype::AAAA, Rtype::A].into_iter().flat_map(|rtype| live.rrsets_of(rtype));
    let in_whole = all.filter(|found| live.zone(found.zone).knowledge().is_none());
    let holds = |found: &LiveRrset<'_>| {
        let mut addresses = found.rrset.rdata().filter_map(|rdata| rdata.address());
        addresses.any(|address| own.contains(&address))
    };
    sorted(in_whole.filter(holds).map(|found| found.rrset.owner()))
}

/// The reverse names of all addresses that these hosts may have, and of those at any of `names`: sorted.
fn reverse_names<'h>(live: &Live, names: &[Name], hosts: impl Iterator<Item = &'h DesiredHost>) -> Vec<Name> {
    let wanted = hosts.flat_map(|host| &host.interfaces).flat_map(Interface::addresses);
    let mut addresses: Vec<IpAddr> = wanted.map(|(address, _)| address).collect();
    for (name, rtype) in names.iter().flat_map(|name| [(name, Rtype::AAAA), (name, Rtype::A)]) {
        let found = live.rrset(name.as_name(), rtype).into_iter();
        addresses.extend(found.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.address()));
    }
    sorted(addresses.into_iter().map(reverse::reverse_name))
}

/// Names in order, each once.
pub fn sorted(names: impl Iterator<Item = Name>) -> Vec<Name> {
    let mut names: Vec<Name> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// All configured zones as a draft in which nothing is known yet.
pub fn unread(inventory: &Inventory) -> Live {
    let config = &inventory.config;
    let unknown = config.zones.iter().map(|spec| Arc::new(LiveZone::unknown(spec.name.clone()))).collect();
    Live::draft(unknown, Apexes::new(config.listed_zones().map(|spec| &spec.name)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::load_workspace;

    #[test]
    fn a_zone_is_asked_where_that_is_cheaper_or_nothing_in_it_is_needed() {
        let extent = |is_needed, questions, records| ReadingCost { is_needed, questions, records };
        assert!(extent(true, 7, 39).is_asked());
        assert!(!extent(true, 7, 38).is_asked());
        assert!(extent(false, 3, 0).is_asked());
        assert!(extent(true, 600, 1_000_000).is_asked());
        assert!(!extent(true, 600_000, 1_000_000).is_asked());
    }

    #[test]
    fn the_records_of_zones_are_those_of_the_whole_inventory_and_the_questions_those_about_selected_hosts() {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        let now = "2026-11-20T02:00:00Z".parse().unwrap();
        let inventory = load_workspace(&base, now, &|_| {}).inventory.unwrap();
        let apexes = Apexes::new(inventory.config.zones.iter().map(|spec| &spec.name));
        let extents = |hosts: &[Inv]| {
            let selection = Selection { hosts: hosts.iter().copied().collect(), ..Selection::default() };
            NeededNames::new(&inventory, &selection, now).extents(&apexes)
        };
        assert_eq!(extents(&[]), None);
        let of_one = extents(&[inventory.hosts[0].inv]).unwrap();
        let all: Vec<Inv> = inventory.hosts.iter().map(|host| host.inv).collect();
        let of_all = extents(&all).unwrap();
        let records = |extents: &[ReadingCost]| extents.iter().map(|extent| extent.records).collect::<Vec<u64>>();
        assert_eq!(records(&of_one), records(&of_all));
        let asked = |extents: &[ReadingCost]| extents.iter().map(|extent| extent.questions).sum::<u64>();
        assert!(asked(&of_one) < asked(&of_all));
        assert!(of_one.iter().any(|extent| extent.is_needed));
    }
}
