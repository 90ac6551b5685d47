//! A small workspace for the tests of this room.

use std::fs;

use crate::inventory::model::ProjectIndex;
use crate::inventory::value::{Inv, Time};
use crate::inventory::{Inventory, load_workspace};

/// Projects: `search` with fastbones before the name, `web` with fastbones behind it, `long` with fastbones that are
/// too long for a label, `broken` without a file; a released name stays in use for an hour.
const SETTINGS: &str = r#"owner = "fleet-dns"
registry = "journal"
free_domain = "free.invalid"
name_cooldown = "1h"

[sources]
projects = "projects/*.yaml"
hosts = "hosts.csv"

[project.search]
dns_domain = "search.example"
also_domains = ["old.example"]

[project.web]
dns_domain = "web.example"
also_domains = ["search.example"]

[project.long]
dns_domain = "long.example"

[project.broken]
dns_domain = "broken.example"
"#;

/// A time on the day of all tests, as `02:00:00`.
pub fn at(time: &str) -> Time {
    format!("2026-11-20T{time}Z").parse().unwrap()
}

/// The inventory of a workspace with these rows: `inv,name,project,status,location` and, separated by blanks,
/// names.lock with times as `02:00:00`.
pub fn inventory(hosts: &[&str], lock: &[&str]) -> Inventory {
    let row = |row: &&str| {
        let times = |word: &str| if word.contains(':') { format!("2026-11-20T{word}Z") } else { word.to_owned() };
        row.split(' ').map(times).collect::<Vec<_>>().join("\t") + "\n"
    };
    read(SETTINGS, hosts, &lock.iter().map(row).collect::<String>())
}

/// As [`inventory`], with names.lock as it is, and a line before the settings.
pub fn inventory_of(setting: &str, hosts: &[&str], lock: &str) -> Inventory {
    read(&format!("{setting}\n{SETTINGS}"), hosts, lock)
}

/// Writes a workspace and reads it.
fn read(settings: &str, hosts: &[&str], lock: &str) -> Inventory {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("projects")).unwrap();
    put("zonewright.toml", settings.to_owned());
    for (id, template, fastbone) in [
        ("search", "{location}{index:01}", "fb-{shortname}".to_owned()),
        ("web", "x{index:01}", "{shortname}f".to_owned()),
        ("long", "y{index}", format!("{{shortname}}-{}", "z".repeat(61))),
    ] {
        let vlans = "vlan_scheme: search\nvlans: {main: 604, fastbone: 761}";
        let text = format!("id: {id}\nshortname_template: \"{template}\"\nfastbone_name: \"{fastbone}\"\n{vlans}\n");
        put(&format!("projects/{id}.yaml"), text);
    }
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    put("hosts.csv", header.to_owned() + &hosts.iter().map(|row| format!("{row},,,,,\n")).collect::<String>());
    if !lock.is_empty() {
        put("names.lock", lock.to_owned());
    }
    load_workspace(folder.path(), at("02:00:00"), &|_| {}).inventory.unwrap()
}

/// A project by its id.
pub fn project(inventory: &Inventory, id: &str) -> ProjectIndex {
    ProjectIndex(inventory.projects.iter().position(|project| project.id == id).unwrap() as u32)
}

/// Inventory numbers.
pub fn invs<const N: usize>(invs: [u64; N]) -> [Inv; N] {
    invs.map(Inv)
}

/// The rows that come, and the places of those that go, as text.
pub fn shown(edits: &super::LockEdits) -> (Vec<String>, Vec<usize>) {
    let time = |time: Time| time.to_string()["2026-11-20T".len()..].trim_end_matches('Z').to_owned();
    let row = |row: &super::lock::NewRow| {
        let released = row.released.map_or("-".to_owned(), time);
        format!("{} {} {} {} {released}", row.inv, row.name, row.project, time(row.since))
    };
    (edits.new.iter().map(row).collect(), edits.gone.iter().copied().collect())
}

/// The hosts that nothing was done for, with the code.
pub fn refused(outcome: &super::NamesOutcome) -> Vec<(u64, &'static str)> {
    outcome.refused.iter().map(|refusal| (refusal.inv.0, refusal.code.code())).collect()
}
