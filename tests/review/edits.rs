//! Edits of the files of a workspace, as people and exports make them.

use crate::world::Files;

/// An edit: what is done, to which row, and with what. Numbers are taken as far as there is something to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// What.
    pub act: Act,
    /// To which row, host or project.
    pub place: u16,
    /// With what.
    pub with: u16,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A network of a switch is another, or that of another row.
    Tor,
    /// A row of l3-tors.txt goes.
    TorGone,
    /// A row of l3-tors.txt is bad.
    TorBad,
    /// A network of a datacenter is another.
    Layout,
    /// A host reports another MAC, or that of another host.
    Mac,
    /// A report goes.
    MacGone,
    /// A host reports another switch.
    Switch,
    /// A row of hosts.csv goes.
    HostGone,
    /// There is one more.
    HostNew,
    /// A host is free.
    HostFree,
    /// A host has another name, or that of another host.
    HostName,
    /// A host has no name.
    HostNameless,
    /// A host is in another project.
    HostProject,
    /// A host is in another datacenter.
    HostPlace,
    /// Automation keeps away from a host.
    HostRestricted,
    /// A row of hosts.csv is bad.
    HostBad,
    /// names.lock gives a name.
    Locked,
    /// names.lock says that a name was given up.
    Released,
    /// A row of names.lock is bad.
    LockBad,
    /// A project's VLAN is another.
    Vlan,
    /// A project has no fastbone.
    NoFastbone,
    /// A project's id in addresses is another.
    Hbf,
    /// A project has a TTL.
    Ttl,
    /// A project has a policy.
    Policy,
    /// A project switches automation off.
    Off,
    /// The administrator does not allow a project's automation.
    Forbidden,
    /// A project's file is bad.
    ProjectBad,
    /// A project's fastbones have other names.
    Fastbone,
    /// A zone has a TTL.
    ZoneTtl,
    /// Only own RRsets of a zone may be changed.
    ZoneOwn,
    /// A zone clears all names.
    ZoneClaims,
    /// Names of a zone are protected.
    ZoneProtects,
    /// A zone is not configured.
    ZoneGone,
    /// Another registry says what is own.
    Registry,
    /// Deletes wait.
    DeleteAfter,
    /// An export is not believed.
    Doubted,
    /// A project is not there at all: neither its settings nor its hosts.
    ProjectGone,
    /// A project has a further domain.
    Domain,
}

impl Act {
    /// All of them.
    pub const ALL: &[Act] = &[
        Act::Tor,
        Act::TorGone,
        Act::TorBad,
        Act::Layout,
        Act::Mac,
        Act::MacGone,
        Act::Switch,
        Act::HostGone,
        Act::HostNew,
        Act::HostFree,
        Act::HostName,
        Act::HostNameless,
        Act::HostProject,
        Act::HostPlace,
        Act::HostRestricted,
        Act::HostBad,
        Act::Locked,
        Act::Released,
        Act::LockBad,
        Act::Vlan,
        Act::NoFastbone,
        Act::Hbf,
        Act::Ttl,
        Act::Policy,
        Act::Off,
        Act::Forbidden,
        Act::ProjectBad,
        Act::Fastbone,
        Act::ZoneTtl,
        Act::ZoneOwn,
        Act::ZoneClaims,
        Act::ZoneProtects,
        Act::ZoneGone,
        Act::Registry,
        Act::DeleteAfter,
        Act::Doubted,
        Act::ProjectGone,
        Act::Domain,
    ];
}

/// How many rows are before the hosts in hosts.csv.
const HEAD: usize = 2;

/// Makes an edit.
pub fn edit(files: &mut Files, Edit { act, place, with }: Edit) {
    let (place, with) = (usize::from(place), usize::from(with));
    match act {
        Act::Tor => {
            let other = match with % 3 {
                0 => row(files, "racktables/l3-tors.txt", 1, with / 3).split(' ').nth(2).expect("a network").to_owned(),
                _ => format!("2001:db8:1:{with:x}::/64"),
            };
            cell(files, ("racktables/l3-tors.txt", 1, place), (" ", 2), &other);
        }
        Act::TorGone => lines(files, "racktables/l3-tors.txt", |lines| drop(take(lines, 1, place))),
        Act::TorBad => cell(files, ("racktables/l3-tors.txt", 1, place), (" ", 2), "2001:db8::/63"),
        Act::Layout => lines(files, "racktables/net-layout.xml", |lines| {
            let rows: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].contains("<network>")).collect();
            let line = &mut lines[rows[place % rows.len()]];
            let (before, _) = line.split_once("<network>").expect("it was just found");
            *line = format!("{before}<network>2001:db8:2:{with:x}::/64</network></vlan>");
        }),
        Act::Mac => {
            let mac = match with % 3 {
                0 => between(&row(files, "agents/agent-1.jsonl", 0, with / 3), "\"mac\":\"", "\"").to_owned(),
                _ => format!("02:00:01:00:{:02x}:{:02x}", with / 256, with % 256),
            };
            report(files, place, ("\"mac\":\"", &mac));
        }
        Act::MacGone => lines(files, "agents/agent-1.jsonl", |lines| drop(take(lines, 0, place))),
        Act::Switch => {
            let switch = between(&row(files, "agents/agent-1.jsonl", 0, with), "\"switch\":\"", "\"").to_owned();
            report(files, place, ("\"switch\":\"", &switch));
        }
        Act::HostGone => lines(files, "racktables/hosts.csv", |lines| drop(take(lines, HEAD, place))),
        Act::HostNew => {
            let (inv, old) = (200_000 + with, row(files, "racktables/hosts.csv", HEAD, place));
            let mut cells: Vec<String> = old.split(',').map(str::to_owned).collect();
            let domain = cells[1].split_once('.').map_or("p0.example.net", |(_, domain)| domain).to_owned();
            cells[0] = inv.to_string();
            cells[1] = format!("new-{with}.{domain}");
            let mac = format!("02:00:02:00:{:02x}:{:02x}", with / 256, with % 256);
            let report = format!(
                "{{\"time\":\"{}\",\"inv\":{inv},\"mac\":\"{mac}\",\"switch\":\"{}\",\"port\":\"ge1\"}}",
                crate::world::EXPORTED,
                cells[7]
            );
            lines(files, "racktables/hosts.csv", |lines| lines.push(cells.join(",")));
            lines(files, "agents/agent-1.jsonl", |lines| lines.push(report));
        }
        Act::HostFree => host(files, place, 3, "free"),
        Act::HostName => {
            let own = row(files, "racktables/hosts.csv", HEAD, place);
            let domain = own.split(',').nth(1).and_then(|name| name.split_once('.')).map_or("", |(_, domain)| domain);
            let name = match with % 4 {
                0 => row(files, "racktables/hosts.csv", HEAD, with / 4).split(',').nth(1).expect("a name").to_owned(),
                1 => format!("x{}.{domain}", with % 8),
                _ => format!("other-{with}.{domain}"),
            };
            host(files, place, 1, &name);
        }
        Act::HostNameless => host(files, place, 1, ""),
        Act::HostProject => host(files, place, 2, ["p0", "p1"][with % 2]),
        Act::HostPlace => host(files, place, 4, crate::fleet::DATACENTERS[with % 4]),
        Act::HostRestricted => host(files, place, 9, "automated-dns"),
        Act::HostBad => host(files, place, 3, "gone"),
        Act::Locked | Act::Released => lock(files, act == Act::Released, (place, with)),
        Act::LockBad => files.entry("names.lock".to_owned()).or_default().push_str("bad\trow\n"),
        Act::Vlan => {
            project(files, place, |text| replaced(text, "vlans: {main: 60", &format!("vlans: {{main: 6{}", with % 2)))
        }
        Act::NoFastbone => project(files, place, |text| {
            let text = text.replace("vlan_scheme: search", "vlan_scheme: static");
            let lines = text.lines().map(|line| line.split(", fastbone").next().expect("a part"));
            let closed = |line: &str| {
                if line.starts_with("vlans") {
                    format!("{}}}\n", line.trim_end_matches('}'))
                } else {
                    format!("{line}\n")
                }
            };
            lines.map(closed).collect()
        }),
        Act::Hbf => project(files, place, |text| {
            replaced(text, "hbf_project_id: \"1", &format!("hbf_project_id: \"{}1", with % 9 + 1))
        }),
        Act::Ttl => project(files, place, |text| set(&text, "ttl", ["60", "600", "7200"][with % 3])),
        Act::Policy => {
            let policies = ["create-only", "upsert-only", "repair", "sync"];
            project(files, place, |text| set(&text, "policy", policies[with % 4]));
        }
        Act::Off => project(files, place, |text| set(&text, "automation", "false")),
        Act::Forbidden => {
            let id = format!("[project.p{}]", place % 2);
            settings(files, |text| {
                let (before, after) = text.split_once(&id).map_or((text.as_str(), ""), |parts| parts);
                let after = after.replacen("\"allowed\"", "\"forbidden\"", 1);
                if after.is_empty() { text.clone() } else { format!("{before}{id}{after}") }
            });
        }
        Act::ProjectBad => project(files, place, |text| text + "nonsense: true\n"),
        Act::Fastbone => project(files, place, |text| set(&text, "fastbone_name", "\"f{shortname}\"")),
        Act::ZoneTtl => zone(files, place, &format!("ttl = {}", ["60", "600", "7200"][with % 3])),
        Act::ZoneOwn => settings(files, |text| {
            let at = text.match_indices("permission = \"full\"").map(|(at, _)| at).collect::<Vec<_>>();
            let Some(at) = at.get(place % at.len().max(1)) else { return text };
            format!("{}permission = \"own\"{}", &text[..*at], &text[at + 19..])
        }),
        Act::ZoneClaims => zone(files, place, "claim_addresses = \"all\""),
        Act::ZoneProtects => zone(files, place, &format!("protect = [\"*{}.p*\"]", with % 10)),
        Act::ZoneGone => settings(files, |text| {
            let blocks: Vec<&str> = text.split("[[zone]]\n").collect();
            if blocks.len() < 3 {
                return text;
            }
            let gone = 1 + place % (blocks.len() - 1);
            let settings = |block: &str| block.split_once("\n[").map_or("", |(_, rest)| rest).to_owned();
            let mut kept = String::from(blocks[0]);
            for (number, block) in blocks.iter().enumerate().skip(1) {
                if number == gone {
                    let rest = settings(block);
                    kept += &if rest.is_empty() { rest } else { format!("[{rest}") };
                } else {
                    kept += &format!("[[zone]]\n{block}");
                }
            }
            kept
        }),
        Act::Registry => {
            let registry = ["journal", "txt", "noop"][with % 3];
            top(files, "registry", &format!("\"{registry}\""));
        }
        Act::DeleteAfter => top(files, "delete_after", "\"1d\""),
        Act::Doubted => settings(files, |text| {
            let file = ["hosts.csv", "l3-tors.txt", "net-layout.xml"][place % 3];
            let part = format!("racktables/{file}\"");
            if text.contains(&format!("{part}, max_age")) {
                text
            } else {
                replaced(text, &part, &format!("{part}, max_age = \"{}m\"", [30, 90][with % 2]))
            }
        }),
        Act::ProjectGone => {
            let id = ["p0", "p1"][place % 2];
            files.remove(&format!("projects/{id}.yaml"));
            lines(files, "racktables/hosts.csv", |lines| lines.retain(|line| !line.contains(&format!(",{id},"))));
            settings(files, |text| {
                let blocks: Vec<&str> = text.split("[project.").collect();
                let kept = blocks.iter().skip(1).filter(|block| !block.starts_with(&format!("{id}]")));
                let zones_of_gone: String = blocks
                    .iter()
                    .filter(|block| block.starts_with(&format!("{id}]")))
                    .filter_map(|block| block.split_once("[[zone]]"))
                    .map(|(_, rest)| format!("[[zone]]{rest}"))
                    .collect();
                blocks[0].to_owned()
                    + &zones_of_gone
                    + &kept.map(|block| format!("[project.{block}")).collect::<String>()
            });
        }
        Act::Domain => settings(files, |text| {
            let line = "dns_domain = \"p0.example.net\"\n";
            if text.contains("also_domains") {
                text
            } else {
                replaced(text, line, &format!("{line}also_domains = [\"p1.example.net\"]\n"))
            }
        }),
    }
}

/// Replaces a part where it is there.
fn replaced(text: String, part: &str, by: &str) -> String {
    text.replacen(part, by, 1)
}

/// Changes the lines of a file.
fn lines(files: &mut Files, name: &str, change: impl FnOnce(&mut Vec<String>)) {
    let text = files.get_mut(name).expect("a file of the workspace");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    *text = lines.into_iter().map(|line| line + "\n").collect();
}

/// A row behind the ones that come first; empty where there is none.
fn row(files: &Files, name: &str, head: usize, place: usize) -> String {
    let rows: Vec<&str> = files[name].lines().skip(head).collect();
    rows.get(place % rows.len().max(1)).map(|row| (*row).to_owned()).unwrap_or_default()
}

/// Takes a row out.
fn take(lines: &mut Vec<String>, head: usize, place: usize) -> Option<String> {
    let rows = lines.len() - head;
    (rows > 1).then(|| lines.remove(head + place % rows))
}

/// Sets a cell of a row.
fn cell(files: &mut Files, (name, head, place): (&str, usize, usize), (between, column): (&str, usize), value: &str) {
    lines(files, name, |lines| {
        let rows = lines.len() - head;
        if rows == 0 {
            return;
        }
        let line = &mut lines[head + place % rows];
        let mut cells: Vec<&str> = line.split(between).collect();
        cells[column] = value;
        *line = cells.join(between);
    });
}

/// Sets a cell of a host's row.
fn host(files: &mut Files, place: usize, column: usize, value: &str) {
    cell(files, ("racktables/hosts.csv", HEAD, place), (",", column), value);
}

/// The text between two parts of a text.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or(rest, |(part, _)| part)
}

/// Sets a value of a report.
fn report(files: &mut Files, place: usize, (key, value): (&str, &str)) {
    lines(files, "agents/agent-1.jsonl", |lines| {
        let place = place % lines.len();
        let old = between(&lines[place], key, "\"").to_owned();
        lines[place] = lines[place].replacen(&format!("{key}{old}\""), &format!("{key}{value}\""), 1);
    });
}

/// Changes the file of a project.
fn project(files: &mut Files, place: usize, change: impl FnOnce(String) -> String) {
    if let Some(text) = files.get_mut(&format!("projects/p{}.yaml", place % 2)) {
        *text = change(std::mem::take(text));
    }
}

/// Sets a key of a project's file.
fn set(text: &str, key: &str, value: &str) -> String {
    let others = text.lines().filter(|line| !line.starts_with(&format!("{key}:")));
    others.map(|line| format!("{line}\n")).collect::<String>() + &format!("{key}: {value}\n")
}

/// Changes zonewright.toml.
fn settings(files: &mut Files, change: impl FnOnce(String) -> String) {
    let text = files.get_mut("zonewright.toml").expect("every workspace has it");
    *text = change(std::mem::take(text));
}

/// Sets a key of zonewright.toml itself.
fn top(files: &mut Files, key: &str, value: &str) {
    settings(files, |text| {
        let others = text.lines().filter(|line| !line.starts_with(&format!("{key} =")));
        format!("{key} = {value}\n") + &others.map(|line| format!("{line}\n")).collect::<String>()
    });
}

/// Adds a line to a zone's settings, unless its key is there.
fn zone(files: &mut Files, place: usize, line: &str) {
    settings(files, |text| {
        let mut blocks: Vec<String> = text.split("[[zone]]\n").map(str::to_owned).collect();
        let zones = blocks.len() - 1;
        if zones > 0 {
            let block = &mut blocks[1 + place % zones];
            let key = line.split(' ').next().expect("a key");
            let own = block.split("\n[").next().expect("a part").to_owned();
            if !own.contains(key) {
                *block = format!("{line}\n{block}");
            }
        }
        blocks.join("[[zone]]\n")
    });
}

/// Adds a row to names.lock, of a host's own name, or of another.
fn lock(files: &mut Files, released: bool, (place, with): (usize, usize)) {
    let host = row(files, "racktables/hosts.csv", HEAD, place);
    let cells: Vec<&str> = host.split(',').collect();
    let (inv, project) = (cells[0], cells[2]);
    let name = match with % 3 {
        0 if !cells[1].is_empty() => cells[1].to_owned(),
        1 => format!("x{}.{project}.example.net", with % 8),
        _ => format!("locked-{with}.{project}.example.net"),
    };
    let at = if released { "2026-11-20T00:00:00Z" } else { "-" };
    let row = format!("{inv}\t{name}.\t{project}\t2026-01-01T00:00:00Z\t{at}\n");
    let text = files.entry("names.lock".to_owned()).or_default();
    if !text.lines().any(|line| line.starts_with(&format!("{inv}\t"))) {
        text.push_str(&row);
    }
}
