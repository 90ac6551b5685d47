//! A small workspace that changes: what hosts.csv and the zones say, and the clock.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The name cooldown, in seconds.
pub const COOLDOWN: i64 = 3_600;

/// The domains, each with a zone of its own but the last.
pub const DOMAINS: [&str; 4] = ["search.example", "web.example", "old.example", "sub.web.example"];

/// The locations that hosts are at.
pub const LOCATIONS: [&str; 3] = ["sas", "SAS", "myt"];

/// A project.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its id.
    pub id: &'static str,
    /// Its domains; new names are below the first.
    pub domains: Vec<&'static str>,
    /// Its template.
    pub template: &'static str,
    /// The text before and after a short name in its fastbone's; `None` where hosts have no fastbone.
    pub fastbone: Option<(&'static str, &'static str)>,
}

/// A host, as hosts.csv has it.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its name, as it is written; may be empty.
    pub name: String,
    /// Its project's place.
    pub project: usize,
    /// Whether it is assigned.
    pub assigned: bool,
    /// Its location.
    pub location: &'static str,
}

/// All but names.lock.
#[derive(Debug, Clone)]
pub struct World {
    /// The projects.
    pub projects: Vec<Project>,
    /// The hosts.
    pub hosts: BTreeMap<u64, Host>,
    /// The records in live DNS: a short name and its domain's place to the type and data.
    pub live: BTreeMap<(String, usize), &'static str>,
    /// The clock, in seconds after the start.
    pub now: i64,
}

/// A time as names.lock has it.
pub fn stamp(seconds: i64) -> String {
    let days = seconds / 86_400 + 1;
    let (hours, minutes) = (seconds % 86_400 / 3_600, seconds % 3_600 / 60);
    format!("2026-10-{days:02}T{hours:02}:{minutes:02}:{:02}Z", seconds % 60)
}

impl World {
    /// Writes what never changes.
    pub fn write_settings(&self, folder: &Path) {
        let mut text = format!(
            "owner = \"fleet-dns\"\nregistry = \"journal\"\nfree_domain = \"free.invalid\"\nname_cooldown = \"{COOLDOWN}s\"\n\
             [sources]\nprojects = \"projects/*.yaml\"\nhosts = \"hosts.csv\"\n\
             [pool.main]\n[[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n"
        );
        fs::create_dir_all(folder.join("projects")).expect("a folder");
        fs::create_dir_all(folder.join("zones")).expect("a folder");
        for Project { id, domains, template, fastbone } in &self.projects {
            writeln!(text, "[project.{id}]\ndns_domain = \"{}\"\nalso_domains = {:?}", domains[0], &domains[1..])
                .expect("a String grows");
            let vlans = match fastbone {
                Some((before, after)) => format!(
                    "vlan_scheme: search\nvlans: {{main: 604, fastbone: 761}}\nfastbone_name: \"{before}{{shortname}}{after}\""
                ),
                None => "vlan_scheme: static\nvlans: {main: 604}".to_owned(),
            };
            let file = format!("id: {id}\nshortname_template: \"{template}\"\n{vlans}\n");
            fs::write(folder.join(format!("projects/{id}.yaml")), file).expect("written");
        }
        for domain in &DOMAINS[..3] {
            writeln!(text, "[[zone]]\nname = \"{domain}\"\npool = \"main\"").expect("a String grows");
        }
        fs::write(folder.join("zonewright.toml"), text).expect("written");
    }

    /// Writes hosts.csv and the zones.
    pub fn write(&self, folder: &Path) {
        let mut text = String::from("inv,name,project,status,location,queue,rack,switch,port,restrictions\n");
        for (inv, Host { name, project, assigned, location }) in &self.hosts {
            let (project, status) = (self.projects[*project].id, if *assigned { "assigned" } else { "free" });
            writeln!(text, "{inv},{name},{project},{status},{location},q,r,s,,").expect("a String grows");
        }
        fs::write(folder.join("hosts.csv"), text).expect("written");
        for (place, apex) in DOMAINS.iter().enumerate().take(3) {
            let mut text =
                format!("{apex}. 60 IN SOA ns.{apex}. h.{apex}. 1 60 60 60 60\n{apex}. 60 IN NS ns.example.com.\n");
            for ((label, domain), data) in &self.live {
                if *domain == place || place == 1 && *domain == 3 {
                    writeln!(text, "{label}.{}. 60 IN {data}", DOMAINS[*domain]).expect("a String grows");
                }
            }
            fs::write(folder.join(format!("zones/{apex}.zone")), text).expect("written");
        }
    }
}
