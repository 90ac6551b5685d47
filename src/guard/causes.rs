//! Which lines of the inventory are old, so that they cannot be a new cause.
//!
//! Every change of a project depends on the line of its VLAN, which may be years old: only a new line is a cause.

use std::collections::{HashMap, HashSet};

use crate::diag::split_place;

/// The lines that were there when the whole inventory was last applied.
#[derive(Debug, Default)]
pub struct OldLines {
    /// The files that have not changed since.
    unchanged: HashSet<String>,
    /// The unchanged lines of files that have changed, by number from 1.
    compared: HashMap<String, HashSet<usize>>,
}

impl OldLines {
    /// Marks all lines of a file as old.
    pub fn unchanged(&mut self, file: &str) {
        self.unchanged.insert(file.to_owned());
    }

    /// Marks the lines of a file as old that were anywhere in the file before: a row that moved says nothing new.
    pub fn compared(&mut self, file: &str, now: &[u8], before: &[u8]) {
        let before: HashSet<&[u8]> = lines(before).collect();
        let old = lines(now).enumerate().filter(|(_, line)| before.contains(line));
        self.compared.insert(file.to_owned(), old.map(|(place, _)| place + 1).collect());
    }

    /// Whether a place, as `file:line` or `file:line:column`, is on an old line.
    pub fn has(&self, place: &str) -> bool {
        let Some((file, line, _)) = split_place(place) else { return false };
        let is_same = |lines: &HashSet<usize>| lines.contains(&(line as usize));
        self.unchanged.contains(file) || self.compared.get(file).is_some_and(is_same)
    }
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
        let found: Vec<bool> = (1..=5).map(|line| old.has(&format!("tors.txt:{line}"))).collect();
        assert_eq!(found, [false, true, true, false, false]);
    }

    #[test]
    fn a_file_that_did_not_change_has_old_lines_only() {
        let mut old = OldLines::default();
        old.unchanged("projects/a.yaml");
        assert!(old.has("projects/a.yaml:4") && !old.has("projects/b.yaml:4") && !old.has("apply"));
    }
}
