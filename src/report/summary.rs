//! The last line of a check or snapshot.

use crate::claim::{Subject, SubjectFamily};
use crate::snapshot::SnapshotCounts;

/// Counts what was checked and what was found: `12 files, 3 errors, 1 warning`.
pub fn check_summary(files: usize, errors: usize, warnings: usize) -> String {
    format!("{}, {}, {}\n", counted(files, "file"), counted(errors, "error"), counted(warnings, "warning"))
}

/// Counts what was saved: `3 zones with 120 records saved, 1 zone could not be read`; of several targets the copies, too.
pub fn snapshot_summary(counts: SnapshotCounts) -> String {
    let SnapshotCounts { zones, copies, records, unread } = counts;
    let left = match unread {
        0 => String::new(),
        _ if copies > zones => format!(", {unread} more could not be read"),
        _ => format!(", {} could not be read", counted(unread, "zone")),
    };
    let copies = if copies > zones { format!(" in {copies} copies") } else { String::new() };
    format!("{}{copies} with {} saved{left}\n", counted(zones, "zone"), counted(records, "record"))
}

/// A number with what it counts, in the plural where that is right.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {}", plural(number, what))
}

/// How many subjects there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubjectCounts {
    /// Hosts.
    pub hosts: usize,
    /// Pods.
    pub pods: usize,
    /// Endpoints of sets of pods.
    pub endpoints: usize,
    /// Names that files state.
    pub stated: usize,
    /// Names that no host has.
    pub nameless: usize,
}

impl SubjectCounts {
    /// Counts subjects.
    pub fn of<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> SubjectCounts {
        let mut counts = SubjectCounts::default();
        for subject in subjects {
            let count = match subject.family() {
                SubjectFamily::Host(_) => &mut counts.hosts,
                SubjectFamily::Pod(_) => &mut counts.pods,
                SubjectFamily::Endpoints(_) => &mut counts.endpoints,
                SubjectFamily::Stated(_) => &mut counts.stated,
                SubjectFamily::Unclaimed(_) => &mut counts.nameless,
            };
            *count += 1;
        }
        counts
    }

    /// In words: `28 hosts, 3 names in files and 1 unclaimed name`.
    pub fn in_words(self) -> String {
        self.joined(|_, what| what)
    }

    /// In words, where there are so many hosts: `28 of 111 hosts and 3 names in files`.
    pub fn of_fleet(self, fleet: usize) -> String {
        self.joined(|kind, what| match kind {
            0 if fleet > 0 => format!("{} of {}", self.hosts, counted(fleet, "host")),
            _ => what,
        })
    }

    /// How many of these others are these, kind by kind: `27 of 28 hosts and 3 of 3 names in files`.
    pub fn out_of(self, all: SubjectCounts) -> String {
        let done = self.by_kind();
        all.joined(|kind, what| format!("{} of {what}", done[kind].number))
    }

    /// Each kind with its words, hosts first.
    pub fn by_kind(self) -> [SubjectTally; 5] {
        let count = |number, noun, behind| SubjectTally { number, noun, behind };
        [
            count(self.hosts, "host", ""),
            count(self.pods, "pod", ""),
            count(self.endpoints, "endpoint", ""),
            count(self.stated, "name", " in files"),
            count(self.nameless, "unclaimed name", ""),
        ]
    }

    /// The kinds that there are, joined; `say` words one of them by its number and its count in words.
    fn joined(self, say: impl Fn(usize, String) -> String) -> String {
        let said = self.by_kind().into_iter().enumerate().filter(|(_, own)| own.number > 0);
        let said: Vec<String> = said.map(|(kind, own)| say(kind, own.in_words(counted))).collect();
        if said.is_empty() { say(0, counted(0, "host")) } else { listed(&said) }
    }
}

/// How many subjects there are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectTally {
    /// How many.
    pub number: usize,
    /// What one of them is called.
    pub noun: &'static str,
    /// What follows the noun, with a space before it; empty for most.
    pub behind: &'static str,
}

impl SubjectTally {
    /// In words: `3 names in files`; `counted` writes a number and a noun.
    pub fn in_words(self, counted: impl Fn(usize, &str) -> String) -> String {
        format!("{}{}", counted(self.number, self.noun), self.behind)
    }
}

/// Texts in a sentence: `a, b and c`.
pub fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// A serial; a dash where a zone has none, since it does not exist yet.
pub fn serial_text(serial: Option<u32>) -> String {
    serial.map_or_else(|| "-".to_owned(), |serial| serial.to_string())
}

/// What a number counts, in the plural where that is right.
pub fn plural(number: usize, what: &str) -> String {
    if number == 1 { what.to_owned() } else { format!("{what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_counted_by_kind() {
        let subjects = |texts: &[&str]| -> Vec<Subject> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        let all = subjects(&["host:1", "released:2", "record:a/b.", "orphan:main/c."]);
        let counts = SubjectCounts::of(&all);
        assert_eq!(counts.in_words(), "2 hosts, 1 name in files and 1 unclaimed name");
        let done = SubjectCounts::of(&all[1..3]);
        assert_eq!(done.out_of(counts), "1 of 2 hosts, 1 of 1 name in files and 0 of 1 unclaimed name");
        assert_eq!(SubjectCounts::default().in_words(), "0 hosts");
    }

    #[test]
    fn errors_and_warnings_are_counted_apart() {
        assert_eq!(check_summary(1, 0, 0), "1 file, 0 errors, 0 warnings\n");
        assert_eq!(check_summary(12, 1, 2), "12 files, 1 error, 2 warnings\n");
    }
}
