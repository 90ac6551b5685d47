//! Which lines of the inventory are old, so that they cannot be a new cause.
//!
//! Every change of a project depends on the line of its VLAN, which may be years old: only a new line is a cause.

use std::collections::{HashMap, HashSet};

use crate::diag::split_place;

/// What is known of a line of the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It was there when the whole inventory was last applied.
    Old,
    /// It is new, in an export in which each row is about one host.
    OfOneHost,
    /// It is a new row of l3-tors, for a switch and a VLAN that had another network.
    Replaced,
    /// It is another new line of l3-tors or net-layout.
    Network,
    /// It is new, in any other file.
    Other,
}

/// What a file of the inventory is about, as far as its lines differ as causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSubject {
    /// Each row is about one host: hosts.csv, names.lock, and sources of MACs.
    OneHost,
    /// l3-tors: a row is about a switch and a VLAN.
    Racks,
    /// net-layout: a line is about a datacenter and a VLAN.
    Datacenters,
}

impl FileSubject {
    /// What the files under a key of `[sources]` are about; none where it makes no difference.
    pub fn of(key: &str) -> Option<FileSubject> {
        match key {
            "hosts" | "names_lock" | "mac" => Some(FileSubject::OneHost),
            "l3_tors" => Some(FileSubject::Racks),
            "net_layout" => Some(FileSubject::Datacenters),
            _ => None,
        }
    }
}

/// The lines that were there when the whole inventory was last applied.
#[derive(Debug, Default)]
pub struct OldLines {
    /// What files are about.
    about: HashMap<String, FileSubject>,
    /// The files that have not changed since.
    unchanged: HashSet<String>,
    /// The lines of files that have changed, by number from 1.
    compared: HashMap<String, ComparedLines>,
}

/// The lines of a file that has changed, by number from 1.
#[derive(Debug, Default)]
struct ComparedLines {
    /// Those that were there.
    old: HashSet<usize>,
    /// Those that differ only in their last word from one that was there.
    replaced: HashSet<usize>,
}

impl OldLines {
    /// Without any old line, in files that are about this.
    pub fn new(about: HashMap<String, FileSubject>) -> OldLines {
        OldLines { about, ..OldLines::default() }
    }

    /// Marks all lines of a file as old.
    pub fn unchanged(&mut self, file: &str) {
        self.unchanged.insert(file.to_owned());
    }

    /// Marks the lines of a file as old that were anywhere in the file before: a row that moved says nothing new.
    pub fn compared(&mut self, file: &str, now: &[u8], before: &[u8]) {
        let were: HashSet<&[u8]> = lines(before).collect();
        let keys: HashSet<Vec<&[u8]>> = lines(before).filter_map(key).collect();
        let mut compared = ComparedLines::default();
        for (place, line) in lines(now).enumerate() {
            if were.contains(line) {
                compared.old.insert(place + 1);
            } else if key(line).is_some_and(|key| keys.contains(&key)) {
                compared.replaced.insert(place + 1);
            }
        }
        self.compared.insert(file.to_owned(), compared);
    }

    /// What is known of a place, as `file:line` or `file:line:column`.
    pub fn line(&self, place: &str) -> LineKind {
        let Some((file, line, _)) = split_place(place) else { return LineKind::Other };
        let has = |which: fn(&ComparedLines) -> &HashSet<usize>| {
            self.compared.get(file).is_some_and(|compared| which(compared).contains(&(line as usize)))
        };
        match self.about.get(file) {
            _ if self.unchanged.contains(file) || has(|compared| &compared.old) => LineKind::Old,
            Some(FileSubject::OneHost) => LineKind::OfOneHost,
            Some(FileSubject::Racks) if has(|compared| &compared.replaced) => LineKind::Replaced,
            Some(FileSubject::Racks | FileSubject::Datacenters) => LineKind::Network,
            None => LineKind::Other,
        }
    }
}

/// What a row of l3-tors is about, its switch and VLAN: all words but the last. A comment is no part of a row.
fn key(line: &[u8]) -> Option<Vec<&[u8]>> {
    let row = line.split(|octet| *octet == b'#').next().unwrap_or_default();
    let words = row.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut words: Vec<&[u8]> = words.collect();
    words.pop()?;
    (!words.is_empty()).then_some(words)
}

/// The lines of a file, without line ends.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|octet| *octet == b'\n').map(<[u8]>::trim_ascii_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_moved_is_old_and_one_that_was_edited_is_new() {
        let mut old = OldLines::default();
        old.compared("tors.txt", b"new\nb\r\na\nc 2", b"a\nb\nc 1\n");
        let found: Vec<bool> = (1..=5).map(|line| old.line(&format!("tors.txt:{line}")) == LineKind::Old).collect();
        assert_eq!(found, [false, true, true, false, false]);
    }

    #[test]
    fn a_file_that_did_not_change_has_old_lines_only() {
        let mut old = OldLines::default();
        old.unchanged("projects/a.yaml");
        let found = ["projects/a.yaml:4", "projects/b.yaml:4", "apply"].map(|place| old.line(place));
        assert_eq!(found, [LineKind::Old, LineKind::Other, LineKind::Other]);
    }

    #[test]
    fn a_row_that_gives_a_switch_another_network_replaces_one() {
        let files = [("tors.txt", "l3_tors"), ("layout.xml", "net_layout"), ("hosts.csv", "hosts")];
        let about = files.map(|(file, key)| (file.to_owned(), FileSubject::of(key).unwrap()));
        let mut old = OldLines::new(about.into());
        let before = "# generated: x\ns1 600 2001:db8:0:1::/64\ns2 600 2001:db8:0:2::/64\n";
        let now =
            "# generated: y\ns1  600\t2001:db8:0:9::/64 # moved\ns3 600 2001:db8:0:3::/64\ns2 600 2001:db8:0:2::/64";
        for (file, _) in files {
            old.compared(file, now.as_bytes(), before.as_bytes());
        }
        let of = |file: &str| (2..=4).map(|line| old.line(&format!("{file}:{line}"))).collect::<Vec<_>>();
        assert_eq!(of("tors.txt"), [LineKind::Replaced, LineKind::Network, LineKind::Old]);
        assert_eq!(of("layout.xml"), [LineKind::Network, LineKind::Network, LineKind::Old]);
        assert_eq!(of("hosts.csv"), [LineKind::OfOneHost, LineKind::OfOneHost, LineKind::Old]);
    }
}
