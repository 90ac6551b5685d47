//! What happens on ordinary days.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;

use zonewright::inventory::value::{Duration, Time};

use crate::dice::Dice;
use crate::fleet::{Fleet, Host, NETWORK, Released, reverse};

/// How many former days are kept, to come back as old exports.
const KEPT: usize = 31;

/// A fleet over many days.
pub struct Life {
    /// The fleet, as it is.
    pub fleet: Fleet,
    /// The fleets of earlier days, the latest last.
    pub past: Vec<Fleet>,
    /// What happens.
    pub dice: Dice,
    /// Which day it is; the first is 0.
    pub day: usize,
    /// The most of each figure of the exports that a day came to, in tenths of a percent.
    pub most: BTreeMap<&'static str, u64>,
    /// What people wrote into zones: the apex and the line.
    notes: Vec<(String, String)>,
    /// How many records were written by hand, so that no name comes twice.
    edits: usize,
}

impl Life {
    /// The first day.
    pub fn new(fleet: Fleet, seed: u64) -> Life {
        Life {
            fleet,
            past: Vec::new(),
            dice: Dice::new(seed),
            day: 0,
            most: BTreeMap::new(),
            notes: Vec::new(),
            edits: 0,
        }
    }

    /// When the exports of a day are applied.
    pub fn now(&self) -> Time {
        let start: Time = "2026-01-01T02:00:00Z".parse().expect("a time");
        // The first apply creates everything: nothing of it counts within a day of the second.
        let days = self.day as u64 + u64::from(self.day > 0);
        start.plus(Duration::from_secs(86_400 * days))
    }

    /// When the exports of the day so many days ago were made: an hour before they are applied.
    pub fn exported(&self, days_ago: u64) -> Time {
        self.now().minus(Duration::from_secs(86_400 * days_ago + 3_600))
    }

    /// Lets a day pass; people's edits are made in all workspaces alike.
    pub fn next_day(&mut self, workspaces: &[&Path]) {
        self.past.push(self.fleet.clone());
        if self.past.len() > KEPT {
            self.past.remove(0);
        }
        self.day += 1;
        let hosts = self.fleet.hosts.len();
        for _ in 0..self.dice.share(hosts, 5) {
            self.cable_anew();
        }
        for _ in 0..self.dice.share(hosts, 2) {
            self.replace_card();
        }
        for _ in 0..self.dice.share(hosts, 3) {
            let (project, switch) = self.release();
            self.fleet.add_host(project, switch);
        }
        for _ in 0..self.dice.share(hosts, 2) {
            self.release();
        }
        if self.day % 20 == 7 {
            self.add_rack();
        }
        if self.day % 30 == 15 {
            self.move_vlan();
        }
        for _ in 0..3 {
            self.edit(workspaces);
        }
        for (figure, found) in self.figures() {
            let most = self.most.entry(figure).or_default();
            *most = found.max(*most);
        }
    }

    /// How much of each export is not what it was the day before, in tenths of a percent.
    fn figures(&self) -> [(&'static str, u64); 5] {
        let was = self.past.last().expect("a day went by");
        let now = &self.fleet;
        let share = |count: usize, of: usize| (count * 1_000 / of) as u64;
        let of_hosts = |differs: fn(&Host, &Host) -> bool| {
            let hosts = was.hosts.iter().filter(|(inv, was)| now.hosts.get(inv).is_some_and(|now| differs(was, now)));
            share(hosts.count(), was.hosts.len())
        };
        let of_map = |was: &BTreeMap<(usize, u16), u64>, now: &BTreeMap<(usize, u16), u64>| {
            share(was.iter().filter(|(key, was)| now.get(key).is_some_and(|now| now != *was)).count(), was.len())
        };
        let gone = was.hosts.keys().filter(|inv| !now.hosts.contains_key(inv)).count();
        [
            ("rows of hosts.csv that changed", of_hosts(|was, now| was.switch != now.switch || was.name != now.name)),
            ("rows of hosts.csv that are gone", share(gone, was.hosts.len())),
            ("rows of l3-tors that changed", of_map(&was.tors, &now.tors)),
            ("rows of net-layout that changed", of_map(&was.layout, &now.layout)),
            ("reports that changed", of_hosts(|was, now| was.switch != now.switch || was.mac != now.mac)),
        ]
    }

    /// Any host.
    fn any_host(&mut self) -> u64 {
        let place = self.dice.below(self.fleet.hosts.len());
        *self.fleet.hosts.keys().nth(place).expect("the place is below the count")
    }

    /// A host moves to another switch of its datacenter.
    fn cable_anew(&mut self) {
        let inv = self.any_host();
        let datacenter = self.fleet.hosts[&inv].datacenter;
        let of_it = |place: &usize| self.fleet.switches[*place].datacenter == datacenter;
        let switches: Vec<usize> = (0..self.fleet.switches.len()).filter(of_it).collect();
        let switch = switches[self.dice.below(switches.len())];
        self.fleet.hosts.get_mut(&inv).expect("it is there").switch = switch;
    }

    /// A host gets another network card.
    fn replace_card(&mut self) {
        let inv = self.any_host();
        let mac = 0x0200_8000_0000 + (self.day as u64) * 0x1_0000 + inv % 0x1_0000;
        self.fleet.hosts.get_mut(&inv).expect("it is there").mac = mac;
    }

    /// A host goes, and its name is given up; tells its project and switch.
    fn release(&mut self) -> (usize, usize) {
        let inv = self.any_host();
        let host = self.fleet.hosts.remove(&inv).expect("it is there");
        let at = self.exported(0).to_string();
        self.fleet.released.push(Released { inv, name: host.name, project: host.project, at });
        (host.project, host.switch)
    }

    /// A rack comes, with hosts of all projects.
    fn add_rack(&mut self) {
        let datacenter = self.dice.below(4);
        let is_l3 = self.dice.below(3) > 0;
        let switch = self.fleet.add_switch(datacenter, is_l3);
        for _ in 0..(self.fleet.hosts.len() / 40).min(40) {
            let project = [0, 0, 0, 0, 1, 1, 2, 2, 3, 4][self.dice.below(10)];
            self.fleet.add_host(project, switch);
        }
    }

    /// A VLAN of a project gets new networks in one datacenter.
    fn move_vlan(&mut self) {
        let (project, datacenter) = (self.day / 30 % self.fleet.projects.len(), self.dice.below(4));
        let vlans: Vec<u16> = self.fleet.projects[project].vlans().collect();
        let vlan = vlans[self.dice.below(vlans.len())];
        let Fleet { tors, switches, .. } = &self.fleet;
        let of_it = |(switch, of): &&(usize, u16)| *of == vlan && switches[*switch].datacenter == datacenter;
        let keys: Vec<(usize, u16)> = tors.keys().filter(of_it).copied().collect();
        for key in keys {
            let network = self.fleet.new_network();
            self.fleet.tors.insert(key, network);
        }
        let network = self.fleet.new_network();
        self.fleet.layout.insert((datacenter, vlan), network);
    }

    /// An editor writes a record into a zone, or removes one that was written by hand.
    fn edit(&mut self, workspaces: &[&Path]) {
        if self.notes.len() > 20 && self.dice.below(2) == 0 {
            let (apex, line) = self.notes.remove(self.dice.below(20));
            for workspace in workspaces {
                change(workspace, &apex, |text| text.replacen(&line, "", 1));
            }
            return;
        }
        let inv = self.any_host();
        let host = self.fleet.hosts[&inv].clone();
        let domain = self.fleet.domain(host.project);
        self.edits += 1;
        let number = self.edits;
        let (apex, line, is_kept) = match self.dice.below(5) {
            0 => (domain, format!("www-{number} A 192.0.2.{}\n", number % 250), true),
            1 => (domain.clone(), format!("svc-{number} CNAME {}.{domain}.\n", host.name), true),
            2 => (domain, format!("note-{number} TXT \"day {}\"\n", self.day), true),
            // Another address at a host's name, and a pointer from another address, are wrong and taken away.
            3 => (domain, format!("{} AAAA 2001:db8:ffff::{number:x}\n", host.name), false),
            _ => {
                let address = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 1, number as u16);
                let line = format!("{} PTR {}.{domain}.\n", reverse(address), host.name);
                (NETWORK.1.to_owned(), line, false)
            }
        };
        for workspace in workspaces {
            change(workspace, &apex, |text| text + &line);
        }
        if is_kept {
            self.notes.push((apex, line));
        }
    }
}

/// Changes the file of a zone by hand.
fn change(workspace: &Path, apex: &str, by: impl FnOnce(String) -> String) {
    let file = workspace.join(format!("zones/{apex}.zone"));
    let text = fs::read_to_string(&file).expect("the zone");
    fs::write(&file, by(text)).expect("the zone");
}
