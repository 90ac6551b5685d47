//! What goes wrong.

use std::collections::BTreeMap;

use super::life::Life;
use crate::fleet::{DATACENTERS, Fleet, Project};

/// A kind of fault.
pub struct Kind {
    /// What goes wrong, for the table.
    pub name: &'static str,
    /// Makes it, in one of five sizes.
    pub make: fn(&mut Life, usize) -> Faulty,
}

/// What a day's exports say when something went wrong.
pub struct Faulty {
    /// How much of it is wrong.
    pub size: String,
    /// The fleet as they say it is.
    pub fleet: Fleet,
    /// How many days ago they were made.
    pub days_ago: u64,
}

/// All kinds.
pub const KINDS: [Kind; 10] = [
    Kind { name: "l3-tors lost its last lines", make: |life, size| of_share(life, size, cut_tors) },
    Kind { name: "l3-tors has the networks of the next switch", make: |life, size| of_share(life, size, shift_tors) },
    Kind { name: "net-layout has the networks of the next datacenter", make: swap_layout },
    Kind { name: "agents report the MAC of the next host", make: |life, size| of_share(life, size, shift_macs) },
    Kind { name: "agents report one MAC", make: |life, size| of_share(life, size, one_mac) },
    Kind { name: "hosts.csv has the name of the next host", make: |life, size| of_share(life, size, shift_names) },
    Kind { name: "hosts.csv has the next datacenter", make: |life, size| of_share(life, size, shift_locations) },
    Kind {
        name: "hosts.csv lost its last rows, a project is under `sync`",
        make: |life, size| of_share(life, size, cut_hosts),
    },
    Kind { name: "a project file has the VLAN of another", make: mistype_vlan },
    Kind { name: "all exports are old", make: come_back },
];

/// What share of rows is concerned, in thousandths.
const SHARES: [usize; 5] = [2, 10, 50, 250, 900];

/// A fault that concerns a share of rows; `make` gets where they begin, and how many they are, in thousandths.
fn of_share(life: &mut Life, size: usize, make: fn(&mut Fleet, usize, usize)) -> Faulty {
    let share = SHARES[size];
    let mut fleet = life.fleet.clone();
    let begin = life.dice.below(1_001 - share);
    make(&mut fleet, begin, share);
    let size = format!("{}.{} % of the rows", share / 10, share % 10);
    Faulty { size, fleet, days_ago: 0 }
}

/// The places of `count` rows that are concerned; one at least.
fn places(count: usize, begin: usize, share: usize) -> std::ops::Range<usize> {
    let length = (count * share).div_ceil(1_000).max(2).min(count);
    let begin = (count * begin / 1_000).min(count - length);
    begin..begin + length
}

/// The last rows are not there.
fn cut_tors(fleet: &mut Fleet, _: usize, share: usize) {
    let lost = (fleet.tors.len() * share).div_ceil(1_000);
    for _ in 0..lost {
        fleet.tors.pop_last();
    }
}

/// Rows have the network of the next switch for the same VLAN.
fn shift_tors(fleet: &mut Fleet, begin: usize, share: usize) {
    let keys: Vec<(usize, u16)> = fleet.tors.keys().copied().collect();
    let keys = &keys[places(keys.len(), begin, share)];
    let step = fleet.projects.iter().flat_map(Project::vlans).count();
    let mut networks: Vec<u64> = keys.iter().map(|key| fleet.tors[key]).collect();
    let by = if networks.len() > step { step } else { 1 };
    networks.rotate_left(by);
    fleet.tors.extend(keys.iter().copied().zip(networks));
}

/// Some VLANs have the networks of the next datacenter.
fn swap_layout(life: &mut Life, size: usize) -> Faulty {
    let mut fleet = life.fleet.clone();
    let vlans: Vec<u16> = fleet.projects.iter().flat_map(Project::vlans).collect();
    let count = [1, 2, 4, 7, vlans.len()][size];
    for vlan in &vlans[..count] {
        let mut networks: Vec<u64> = (0..DATACENTERS.len()).map(|place| fleet.layout[&(place, *vlan)]).collect();
        networks.rotate_left(1);
        let rows = networks.into_iter().enumerate();
        fleet.layout.extend(rows.map(|(place, network)| ((place, *vlan), network)));
    }
    Faulty { size: format!("{count} of {} VLANs", vlans.len()), fleet, days_ago: 0 }
}

/// Hosts have the MACs of those after them.
fn shift_macs(fleet: &mut Fleet, begin: usize, share: usize) {
    let places = places(fleet.hosts.len(), begin, share);
    let mut macs: Vec<u64> = fleet.hosts.values().map(|host| host.mac).collect();
    macs[places].rotate_left(1);
    fleet.hosts.values_mut().zip(macs).for_each(|(host, mac)| host.mac = mac);
}

/// Hosts have one MAC.
fn one_mac(fleet: &mut Fleet, begin: usize, share: usize) {
    let places = places(fleet.hosts.len(), begin, share);
    fleet.hosts.values_mut().skip(places.start).take(places.len()).for_each(|host| host.mac = 0x0200_dead_beef);
}

/// Hosts have the names of those after them that are of the same project.
fn shift_names(fleet: &mut Fleet, begin: usize, share: usize) {
    let places = places(fleet.hosts.len(), begin, share);
    let mut of_projects: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (inv, host) in fleet.hosts.iter().skip(places.start).take(places.len()) {
        of_projects.entry(host.project).or_default().push(*inv);
    }
    for invs in of_projects.into_values() {
        let mut names: Vec<String> = invs.iter().map(|inv| fleet.hosts[inv].name.clone()).collect();
        names.rotate_left(1);
        let named = invs.into_iter().zip(names);
        named.for_each(|(inv, name)| fleet.hosts.get_mut(&inv).expect("it is there").name = name);
    }
}

/// Hosts are in the next datacenter.
fn shift_locations(fleet: &mut Fleet, begin: usize, share: usize) {
    let places = places(fleet.hosts.len(), begin, share);
    let hosts = fleet.hosts.values_mut().skip(places.start).take(places.len());
    hosts.for_each(|host| host.datacenter = (host.datacenter + 1) % DATACENTERS.len());
}

/// The last hosts are not there.
fn cut_hosts(fleet: &mut Fleet, _: usize, share: usize) {
    let lost = (fleet.hosts.len() * share).div_ceil(1_000);
    for _ in 0..lost {
        fleet.hosts.pop_last();
    }
}

/// A project has the main VLAN of the next; the smallest project is the first size.
fn mistype_vlan(life: &mut Life, size: usize) -> Faulty {
    let mut fleet = life.fleet.clone();
    let count = fleet.projects.len();
    let place = count - 1 - size;
    fleet.projects[place].main = fleet.projects[(place + 1) % count].main;
    let hosts = fleet.hosts.values().filter(|host| host.project == place).count();
    let share = hosts * 100 / fleet.hosts.len();
    Faulty { size: format!("{share} % of the hosts"), fleet, days_ago: 0 }
}

/// The exports of another day come again; the project files are today's.
fn come_back(life: &mut Life, size: usize) -> Faulty {
    let days_ago = [1, 3, 7, 14, 30][size].min(life.past.len());
    let mut fleet = life.past[life.past.len() - days_ago].clone();
    fleet.projects.clone_from(&life.fleet.projects);
    Faulty { size: format!("{days_ago} days"), fleet, days_ago: days_ago as u64 }
}
