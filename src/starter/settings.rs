//! The text of zonewright.toml: every line of it with what it is for.

use std::fmt::Write as _;

use super::{editors, plain};
use crate::dns::ZoneName;
use crate::dns::reverse::network_of_zone;
use crate::inventory::config::toml::quoted;
use crate::inventory::source::NO_SOURCE;

/// Where the comment behind a setting begins.
const COLUMN: usize = 42;

/// How long a name that no host has keeps its records: over a working day, so that a person sees what the first apply
/// lists, and a lost row of an export is back before anything is deleted.
const DELETE_AFTER: &str = "1d";

/// Why no share of a zone is set, and what the defaults are.
const SHARES: [&str; 2] = [
    "`max_delete` and `max_modify` are not set: a share that is written here is exact, and moving a VLAN of a small \
     fleet deletes most of a zone and creates as much. By default, one plan may delete 10% of the AAAA and PTR of a \
     zone, or 50 RRsets if that is more; it may delete up to 1000 if it creates as many there.",
    "It may modify 30%, or 1000 RRsets if that is more. To set the two: `max_delete = \"10%\"`, `max_modify = \
     \"30%\"`.",
];

/// What the settings are to say.
#[derive(Debug, Default)]
pub struct StarterSettings {
    /// The comment at the top: where this comes from.
    pub head: Vec<String>,
    /// The owner of the records.
    pub owner: String,
    /// Where project files are; one or more.
    pub projects: Vec<String>,
    /// The sources but those of MACs: key, paths, and what they are.
    pub sources: Vec<StarterSource>,
    /// The sources of MACs: name, path and what they are, in the order of preference.
    pub macs: Vec<(String, String, String)>,
    /// The files that state records.
    pub records: Vec<StarterRecords>,
    /// The administrator's halves of the projects.
    pub admins: Vec<StarterAdmin>,
    /// The pools.
    pub pools: Vec<StarterPool>,
    /// The zones.
    pub zones: Vec<StarterZone>,
}

/// One source.
#[derive(Debug)]
pub struct StarterSource {
    /// Its key.
    pub key: &'static str,
    /// Its files; one or more.
    pub paths: Vec<String>,
    /// What it says.
    pub about: &'static str,
}

/// A source of files that state records.
#[derive(Debug)]
pub struct StarterRecords {
    /// What messages call it.
    pub name: &'static str,
    /// Its format.
    pub format: &'static str,
    /// What its files are.
    pub about: &'static str,
    /// Its files; one or more.
    pub paths: Vec<String>,
    /// The id of its project.
    pub project: String,
}

/// The administrator's half of a project.
#[derive(Debug)]
pub struct StarterAdmin {
    /// The id.
    pub id: String,
    /// Where its hosts get their names.
    pub dns_domain: String,
    /// Where they may have names, too.
    pub also_domains: Vec<String>,
    /// What was guessed.
    pub note: Option<String>,
}

/// One pool, with its target.
#[derive(Debug)]
pub struct StarterPool {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: Vec<String>,
    /// The settings of its target, each with what it is for.
    pub target: Vec<(String, String)>,
}

/// One zone.
#[derive(Debug)]
pub struct StarterZone {
    /// The zone.
    pub name: ZoneName,
    /// Its pool.
    pub pool: String,
    /// The TTL that records get, where it is known what the zone's have.
    pub ttl: Option<u32>,
}

impl StarterSettings {
    /// The text.
    pub fn to_text(&self) -> String {
        let mut text = editors::config_line();
        for line in &self.head {
            comment(&mut text, line);
        }
        text.push('\n');
        let owner = format!("owner = {}", quoted(&self.owner));
        set(&mut text, &owner, "our name; kept with every record that zonewright creates");
        set(&mut text, "registry = \"journal\"", "own records are known by the journal, below .zonewright/");
        let about = "how long records stay at a name that no host has: time to see a mistake";
        set(&mut text, &format!("delete_after = \"{DELETE_AFTER}\""), about);
        self.write_sources(&mut text);
        self.write_records(&mut text);
        self.write_admins(&mut text);
        self.write_pools(&mut text);
        self.write_zones(&mut text);
        text.push_str("\n# How much may change before an operator must allow more (docs/guards.md).\n\n[limits]\n");
        set(&mut text, "hosts = [{ period = \"1h\", max = 200 }]", "hosts changed within an hour, over all projects");
        for line in SHARES {
            comment(&mut text, line);
        }
        text
    }

    /// Writes `[sources]`.
    fn write_sources(&self, text: &mut String) {
        text.push_str("\n# Where the inventory is: exports of other systems, each a file, a glob, or a list of such.\n\n[sources]\n");
        set(text, &format!("projects = {}", one_or_list(&self.projects)), "the project owners' files");
        let has_hosts = self.sources.iter().any(|source| source.key == "hosts");
        if !has_hosts {
            set(text, &format!("hosts = {}", quoted(NO_SOURCE)), "there are none; later the export with a row a host");
        }
        for StarterSource { key, paths, about } in &self.sources {
            set(text, &format!("{key} = {}", one_or_list(paths)), about);
        }
        if !has_hosts {
            return;
        }
        if let Some([path]) = self.sources.first().map(|source| &source.paths[..]) {
            let path = quoted(path);
            text.push_str(&format!(
                "# Once exports come regularly, refuse one that is old or has lost much:\n\
                 # hosts = {{ path = {path}, max_age = \"6h\", max_shrink = \"10%\" }}\n"
            ));
        }
        if self.macs.is_empty() {
            text.push_str(
                "\n# Reports of which MAC a host has, JSON lines. There are none yet, so hosts are blocked `no-mac`.\n\
                 # [[sources.mac]]\n# name = \"agent\"\n# path = \"agents/*.jsonl\"\n",
            );
            return;
        }
        text.push_str(
            "\n# Which MAC a host has: the latest report wins; if two have the same time, the source that is listed \
             first wins.\n",
        );
        for (name, path, about) in &self.macs {
            text.push_str("\n[[sources.mac]]\n");
            set(text, &format!("name = {}", quoted(name)), "what messages call it");
            set(text, &format!("path = {}", quoted(path)), about);
        }
    }

    /// Writes `[[sources.records]]`.
    fn write_records(&self, text: &mut String) {
        for StarterRecords { name, format, about, paths, project } in &self.records {
            text.push('\n');
            comment(text, &format!("Records that files state: {about} (docs/records.md)."));
            text.push_str("[[sources.records]]\n");
            set(text, &format!("name = {}", quoted(name)), "what messages call it");
            set(text, &format!("format = {}", quoted(format)), "whose files they are");
            set(text, &format!("path = {}", one_or_list(paths)), "the files");
            set(text, &format!("project = {}", quoted(project)), "whose domains, limits and policy hold for them");
        }
    }

    /// Writes `[project.X]`.
    fn write_admins(&self, text: &mut String) {
        text.push_str(
            "\n# The administrator's halves of the projects; the owners' are in projects/. Hosts of projects that are not here are\n\
             # left alone.\n",
        );
        for StarterAdmin { id, dns_domain, also_domains, note } in &self.admins {
            text.push('\n');
            if let Some(note) = note {
                comment(text, note);
            }
            let _ = writeln!(text, "[project.{}]", key(id));
            set(text, &format!("dns_domain = {}", quoted(dns_domain)), "hosts have their names directly below it");
            if !also_domains.is_empty() {
                let domains: Vec<String> = also_domains.iter().map(|domain| quoted(domain)).collect();
                set(text, &format!("also_domains = [{}]", domains.join(", ")), "or directly below one of these");
            }
            set(text, "automation = \"allowed\"", "with `forbidden` zonewright changes none of its hosts");
        }
    }

    /// Writes `[pool.X]`.
    fn write_pools(&self, text: &mut String) {
        text.push_str("\n# Where live DNS is read from, and changes are written to.\n");
        for StarterPool { name, about, target } in &self.pools {
            text.push('\n');
            for line in about {
                comment(text, line);
            }
            let _ = writeln!(text, "[pool.{name}]\n[[pool.{name}.target]]");
            for (setting, about) in target {
                set(text, setting, about);
            }
        }
    }

    /// Writes `[[zone]]`.
    fn write_zones(&self, text: &mut String) {
        text.push_str(
            "\n# The zones. Nothing outside them is ever changed. With `permission = \"own\"` zonewright removes and changes only what\n\
             # it created itself; with `full` it also fixes what others entered. Change to `full` once its plans are right.\n",
        );
        for StarterZone { name, pool, ttl } in &self.zones {
            text.push_str("\n[[zone]]\n");
            match network_of_zone(name) {
                Some(network) => {
                    let zone = plain(name.as_name());
                    set(text, &format!("network = {}", quoted(&network.to_string())), &format!("reverse: {zone}"));
                }
                None => set(text, &format!("name = {}", quoted(&plain(name.as_name()))), "the zone"),
            }
            set(text, &format!("pool = {}", quoted(pool)), "where it is");
            set(text, "permission = \"own\"", "what others created stays as it is");
            if let Some(ttl) = ttl {
                set(text, &format!("ttl = {ttl}"), "what most of its records have; a project's own TTL wins");
            }
        }
    }
}

/// Writes a comment, broken into lines.
fn comment(text: &mut String, line: &str) {
    text.push_str(&commented(line));
}

/// A comment of one paragraph, broken into lines that begin with `#`.
pub fn commented(paragraph: &str) -> String {
    /// The columns of a line.
    const WIDTH: usize = 118;
    let mut text = String::from("#");
    let mut used = 1;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if used > 1 && used + 1 + length > WIDTH {
            text.push_str("\n#");
            used = 1;
        }
        text.push(' ');
        text.push_str(word);
        used += 1 + length;
    }
    text.push('\n');
    text
}

/// Writes a setting, its comment behind it, or above where there is no room.
fn set(text: &mut String, setting: &str, about: &str) {
    let _ = match about {
        "" => writeln!(text, "{setting}"),
        about if setting.chars().count() < COLUMN => writeln!(text, "{setting:COLUMN$}# {about}"),
        about => writeln!(text, "# {about}:\n{setting}"),
    };
}

/// One text, or a list of several.
fn one_or_list(texts: &[String]) -> String {
    match texts {
        [one] => quoted(one),
        many => format!("[{}]", many.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
    }
}

/// A key as TOML writes it: bare where it can be.
fn key(text: &str) -> String {
    let is_bare = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_bare { text.to_owned() } else { quoted(text) }
}
